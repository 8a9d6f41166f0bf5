# The program gives the same files without a device and with one, and says plainly what it cannot read.
file(REMOVE_RECURSE "${DIRECTORY}")
file(MAKE_DIRECTORY "${DIRECTORY}")

foreach(device IN ITEMS none emulated)
    set(ENV{CUDACOMMON_DEVICE} ${device})
    execute_process(
        COMMAND "${PROGRAM}" --spacing 4 --output-prefix "${DIRECTORY}/${device}"
        RESULT_VARIABLE result
        OUTPUT_VARIABLE output
        ERROR_VARIABLE error
    )
    if(error MATCHES "cannot be read as a NIfTI-1 file" AND NOT EXISTS /usr/share/mricron/templates/ch2.nii.gz)
        message("skipped: no volume here (Debian: mricron-data)")
        return()
    endif()
    # 181 x 217 x 181 pixels of 1 mm: the Gaussian's sigma is half the root of 4^2 - 1, and 45 x 54 x 45 pixels remain.
    if(NOT result EQUAL 0 OR NOT error STREQUAL "" OR NOT output MATCHES "sigma 1.94 x 1.94 x 1.94 mm" OR NOT output MATCHES "45 x 54 x 45")
        message(FATAL_ERROR "CUDACOMMON_DEVICE=${device}: ${result}\n${output}${error}")
    endif()
endforeach()
foreach(extension IN ITEMS nii png)
    file(SHA256 "${DIRECTORY}/none.${extension}" without)
    file(SHA256 "${DIRECTORY}/emulated.${extension}" with)
    if(NOT without STREQUAL with)
        message(FATAL_ERROR "the .${extension} files of the two runs differ")
    endif()
endforeach()

execute_process(COMMAND "${PROGRAM}" --spacing 0 RESULT_VARIABLE result ERROR_VARIABLE error OUTPUT_QUIET)
if(NOT result EQUAL 2 OR NOT error MATCHES "^usage")
    message(FATAL_ERROR "--spacing 0: ${result}\n${error}")
endif()
