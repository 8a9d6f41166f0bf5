# What a user can choose. Embedded in another project, only the library is built and none of the parent's settings
# (BUILD_SHARED_LIBS, BUILD_TESTING, CMAKE_BUILD_TYPE) is defined for it.

if(NOT DEFINED CUDACOMMON_ENABLE_CUDA)
    set(CUDACOMMON_ENABLE_CUDA AUTO CACHE STRING "The CUDA backend: AUTO (when there is an nvcc), ON or OFF")
    set_property(CACHE CUDACOMMON_ENABLE_CUDA PROPERTY STRINGS AUTO ON OFF)
endif()
option(CUDACOMMON_BUILD_EXAMPLES "Build the programs in examples/" OFF)
option(CUDACOMMON_BUILD_BENCH "Build the benchmarks in bench/" OFF)
option(CUDACOMMON_INSTALL "Install the library, its headers and its packages" ${CUDACOMMON_TOP_LEVEL})
option(CUDACOMMON_WERROR "Treat warnings as errors" OFF)
set(CUDACOMMON_SANITIZE "" CACHE STRING "Sanitizers for everything built here, as -fsanitize= takes them")
mark_as_advanced(CUDACOMMON_SANITIZE)

set(CUDACOMMON_BUILD_TESTS OFF)
if(CUDACOMMON_TOP_LEVEL)
    option(BUILD_SHARED_LIBS "Build a shared library" ON)
    option(BUILD_TESTING "Build the tests" ON)
    set(CUDACOMMON_BUILD_TESTS ${BUILD_TESTING})

    get_property(multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
    if(NOT multi_config AND NOT CMAKE_BUILD_TYPE)
        set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, RelWithDebInfo, Debug or MinSizeRel" FORCE)
    endif()
    set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
endif()

set(CUDACOMMON_LIBRARY_TYPE SHARED)
if(DEFINED BUILD_SHARED_LIBS AND NOT BUILD_SHARED_LIBS)
    set(CUDACOMMON_LIBRARY_TYPE STATIC)
endif()

if(CUDACOMMON_SANITIZE)
    add_compile_options(
        $<$<COMPILE_LANGUAGE:C,CXX>:-fsanitize=${CUDACOMMON_SANITIZE}>
        $<$<COMPILE_LANGUAGE:C,CXX>:-fno-sanitize-recover=all>
        $<$<COMPILE_LANGUAGE:C,CXX>:-fno-omit-frame-pointer>
    )
    add_link_options(-fsanitize=${CUDACOMMON_SANITIZE})
endif()
