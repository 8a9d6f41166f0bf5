# Decides whether the CUDA backend is built (CUDACOMMON_HAS_CUDA) and for which architectures. Nothing else in the
# project asks for a toolkit.

set(CUDACOMMON_HAS_CUDA OFF)
string(TOUPPER "${CUDACOMMON_ENABLE_CUDA}" cuda_wanted)
if(NOT cuda_wanted MATCHES "^(AUTO|ON|OFF|TRUE|FALSE|YES|NO|1|0)$")
    message(FATAL_ERROR "CUDACOMMON_ENABLE_CUDA = ${CUDACOMMON_ENABLE_CUDA}, expected AUTO, ON or OFF")
endif()

if(cuda_wanted STREQUAL "AUTO" OR cuda_wanted)
    # nvcc's usual home is often not in PATH.
    if(NOT CMAKE_CUDA_COMPILER AND "$ENV{CUDACXX}" STREQUAL "")
        find_program(
            CUDACOMMON_NVCC nvcc
            HINTS ENV CUDA_HOME ENV CUDA_PATH
            PATHS /usr/local/cuda
            PATH_SUFFIXES bin
            DOC "The CUDA compiler"
        )
        mark_as_advanced(CUDACOMMON_NVCC)
        if(CUDACOMMON_NVCC)
            set(ENV{CUDACXX} "${CUDACOMMON_NVCC}")
        endif()
    endif()
    include(CheckLanguage)
    check_language(CUDA)
    if(CMAKE_CUDA_COMPILER)
        set(CUDACOMMON_HAS_CUDA ON)
    elseif(NOT cuda_wanted STREQUAL "AUTO")
        message(
            FATAL_ERROR
            "CUDACOMMON_ENABLE_CUDA is ON, but no working nvcc was found. Put nvcc into PATH, set CUDACXX or "
            "CMAKE_CUDA_COMPILER to it, or set CUDACOMMON_ENABLE_CUDA to AUTO or OFF."
        )
    endif()
endif()

if(CUDACOMMON_HAS_CUDA)
    # By default the major architectures of the toolkit, and PTX of the newest for those to come.
    set(default_architectures OFF)
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND "$ENV{CUDAARCHS}" STREQUAL "")
        set(default_architectures ON)
        if(CMAKE_VERSION VERSION_GREATER_EQUAL 3.23)
            set(CMAKE_CUDA_ARCHITECTURES all-major)
        endif()
    endif()
    enable_language(CUDA)
    find_package(CUDAToolkit REQUIRED)
    if(default_architectures AND CMAKE_VERSION VERSION_LESS 3.23)
        if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 12.8)
            set(CMAKE_CUDA_ARCHITECTURES 80-real 90-real 100-real 120)
        elseif(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 11.8)
            set(CMAKE_CUDA_ARCHITECTURES 50-real 60-real 70-real 80-real 90)
        else()
            set(CMAKE_CUDA_ARCHITECTURES 50-real 60-real 70-real 80)
        endif()
    endif()
    message(
        STATUS "CUDA backend: nvcc ${CMAKE_CUDA_COMPILER_VERSION}, architectures ${CMAKE_CUDA_ARCHITECTURES}"
    )
else()
    message(STATUS "CUDA backend: none")
endif()
