# The program gives the same files without a device and with one, and says plainly what it cannot read.
file(REMOVE_RECURSE "${DIRECTORY}")
file(MAKE_DIRECTORY "${DIRECTORY}")

foreach(device IN ITEMS none emulated)
    set(ENV{CUDACOMMON_DEVICE} ${device})
    execute_process(
        COMMAND "${VOLUME}" --output-prefix "${DIRECTORY}/${device}"
        RESULT_VARIABLE result
        OUTPUT_VARIABLE output
        ERROR_VARIABLE error
    )
    if(error MATCHES "cannot be read as a NIfTI-1 file" AND NOT EXISTS /usr/share/mricron/templates/ch2.nii.gz)
        message("skipped: no volume here (Debian: mricron-data)")
        return()
    endif()
    if(NOT result EQUAL 0 OR NOT error STREQUAL "")
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

file(WRITE "${DIRECTORY}/broken.nii" "not a volume")
foreach(file IN ITEMS broken.nii absent.nii)
    execute_process(COMMAND "${VOLUME}" "${DIRECTORY}/${file}" RESULT_VARIABLE result ERROR_VARIABLE error OUTPUT_QUIET)
    if(NOT result EQUAL 1 OR NOT error MATCHES "${file}: cannot be read as a NIfTI-1 file\n$")
        message(FATAL_ERROR "${file}: ${result}\n${error}")
    endif()
endforeach()
