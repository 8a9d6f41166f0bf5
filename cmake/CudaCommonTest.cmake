# Tests, under CTest.

# Check's own limit of four seconds is less than a busy machine needs; CTest has another.
set(cudacommon_test_environment CK_DEFAULT_TIMEOUT=60)
if(CUDACOMMON_SANITIZE)
    # Check's forks hide what is left at the end, and threads do not survive them.
    list(
        APPEND cudacommon_test_environment
        CK_FORK=no
        CK_TIMEOUT_MULTIPLIER=5
        ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1:allocator_may_return_null=1
        UBSAN_OPTIONS=print_stacktrace=1
        TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1:allocator_may_return_null=1
    )
endif()

#[[
cudacommon_add_test(
    NAME name               the test is called <label>.<name>
    LABEL label             unit, model, fault or gpu
    SOURCES file...         a program of its own; a test that names the same program again reuses it
    [INTERNAL]              links the rooms' own functions (cc__), not the shared library
    [ONE_THREAD]            has no second thread, so that the thread sanitizer need not see all of it
    [DEVICES device...]     one test for each, with CUDACOMMON_DEVICE set to it; cuda gets the label gpu;
                            emulated~7 sets CUDACOMMON_EMULATED_SEED=7 too
    [ENVIRONMENT VAR=value...]
    [TIMEOUT seconds]
)
Without DEVICES a test sees none, except those labelled gpu, which see CUDA. A gpu test that finds no GPU exits with 77;
with CC_TEST_REQUIRE_GPU=1 in the environment it fails instead.
]]
function(cudacommon_add_test)
    cmake_parse_arguments(PARSE_ARGV 0 arg "INTERNAL;ONE_THREAD" "NAME;LABEL;TIMEOUT" "SOURCES;DEVICES;ENVIRONMENT")
    list(GET arg_SOURCES 0 first)
    get_filename_component(program "${first}" NAME_WE)
    if(NOT TARGET ${program})
        add_executable(${program} ${arg_SOURCES})
        set_target_properties(${program} PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF)
        target_link_libraries(${program} PRIVATE cudacommon_test_support cudacommon_settings)
        if(arg_INTERNAL)
            target_link_libraries(${program} PRIVATE cudacommon_internal)
        else()
            target_link_libraries(${program} PRIVATE CudaCommon::CudaCommon)
        endif()
    endif()

    if(arg_DEVICES)
        foreach(device IN LISTS arg_DEVICES)
            set(label ${arg_LABEL})
            if(device STREQUAL "cuda")
                set(label gpu)
            endif()
            cudacommon_register_test("${label}.${arg_NAME}@${device}" ${device})
        endforeach()
    elseif(arg_LABEL STREQUAL "gpu")
        set(label gpu)
        cudacommon_register_test("gpu.${arg_NAME}" cuda)
    else()
        set(label ${arg_LABEL})
        cudacommon_register_test("${label}.${arg_NAME}" none)
    endif()
endfunction()

# Reads label, program and the arguments from its caller.
function(cudacommon_register_test name device)
    add_test(NAME "${name}" COMMAND ${program})
    string(REGEX MATCH "^([^~]*)~?(.*)$" matched "${device}")
    set(environment "CUDACOMMON_DEVICE=${CMAKE_MATCH_1}" ${cudacommon_test_environment} ${arg_ENVIRONMENT})
    if(CMAKE_MATCH_2)
        list(APPEND environment "CUDACOMMON_EMULATED_SEED=${CMAKE_MATCH_2}")
    endif()
    set(timeout 300)
    if(CUDACOMMON_SANITIZE)
        set(timeout 900)
        set(one_in 5)
        if(arg_ONE_THREAD AND CUDACOMMON_SANITIZE MATCHES "thread")
            set(one_in 25)
        endif()
        list(APPEND environment "CC_TEST_SHARE=${one_in}")
    endif()
    if(label STREQUAL "gpu")
        # CUDA does not work in a forked child; free memory is counted, so one at a time.
        list(APPEND environment CK_FORK=no)
        set_tests_properties("${name}" PROPERTIES SKIP_RETURN_CODE 77 RESOURCE_LOCK gpu)
        string(REPLACE ";" " " assignments "${environment}")
        set_property(
            GLOBAL APPEND_STRING
            PROPERTY cudacommon_gpu_tests "${name}\t$<TARGET_FILE:${program}>\t${assignments}\n"
        )
    endif()
    if(arg_TIMEOUT)
        set(timeout ${arg_TIMEOUT})
    endif()
    set_tests_properties(
        "${name}" PROPERTIES LABELS ${label} ENVIRONMENT "${environment}" TIMEOUT ${timeout}
    )
endfunction()

# Lists the gpu tests for scripts/gpu-check, one a line: name, program, environment, separated by tabs.
function(cudacommon_write_gpu_tests file)
    get_property(lines GLOBAL PROPERTY cudacommon_gpu_tests)
    file(GENERATE OUTPUT "${file}" CONTENT "${lines}")
endfunction()
