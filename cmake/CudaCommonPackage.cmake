# The packages by which others find the library: CMake's (of an install tree and of this build tree) and pkg-config's.
# Nothing in the installed ones names a directory of this machine, so an install tree can be moved.

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(package_dependencies)
if(CUDACOMMON_LIBRARY_TYPE STREQUAL "STATIC" AND CUDACOMMON_HAS_CUDA)
    string(APPEND package_dependencies "include(CMakeFindDependencyMacro)\nfind_dependency(CUDAToolkit)\n")
endif()

set(package_version_file "${PROJECT_BINARY_DIR}/CudaCommonConfigVersion.cmake")
write_basic_package_version_file("${package_version_file}" COMPATIBILITY SameMajorVersion)

if(CUDACOMMON_TOP_LEVEL)
    set(package_source_dir "${PROJECT_SOURCE_DIR}")
    configure_package_config_file(
        cmake/CudaCommonConfig.cmake.in "${PROJECT_BINARY_DIR}/CudaCommonConfig.cmake"
        INSTALL_PREFIX "${PROJECT_BINARY_DIR}"
        INSTALL_DESTINATION "${PROJECT_BINARY_DIR}"
    )
    # The projects in examples/ find this one.
    set(CudaCommon_DIR "${PROJECT_BINARY_DIR}")
endif()

if(CUDACOMMON_INSTALL)
    set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/CudaCommon")
    set(package_source_dir "\${PACKAGE_PREFIX_DIR}")
    configure_package_config_file(
        cmake/CudaCommonConfig.cmake.in "${PROJECT_BINARY_DIR}/installed/CudaCommonConfig.cmake"
        INSTALL_DESTINATION "${package_dir}"
    )
    install(
        TARGETS cudacommon
        EXPORT CudaCommonTargets
        INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
    )
    install(EXPORT CudaCommonTargets NAMESPACE CudaCommon:: DESTINATION "${package_dir}")
    export(EXPORT CudaCommonTargets NAMESPACE CudaCommon:: FILE "${PROJECT_BINARY_DIR}/CudaCommonTargets.cmake")
    install(FILES "${PROJECT_BINARY_DIR}/installed/CudaCommonConfig.cmake" "${package_version_file}"
            DESTINATION "${package_dir}"
    )
    install(DIRECTORY include/cudacommon "${PROJECT_BINARY_DIR}/include/cudacommon"
            DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
            FILES_MATCHING PATTERN "*.h"
    )

    set(pkgconfig_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
    if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
        set(pkgconfig_prefix "${CMAKE_INSTALL_PREFIX}")
        set(pkgconfig_libdir "${CMAKE_INSTALL_LIBDIR}")
    else()
        file(RELATIVE_PATH up "/prefix/${pkgconfig_dir}" "/prefix")
        string(REGEX REPLACE "/$" "" up "${up}")
        set(pkgconfig_prefix "\${pcfiledir}/${up}")
        set(pkgconfig_libdir "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
    endif()
    if(IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
        set(pkgconfig_includedir "${CMAKE_INSTALL_INCLUDEDIR}")
    else()
        set(pkgconfig_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
    endif()
    set(pkgconfig_cflags)
    set(pkgconfig_libs)
    if(CUDACOMMON_LIBRARY_TYPE STREQUAL "STATIC")
        set(pkgconfig_cflags " -DCUDACOMMON_STATIC")
        set(pkgconfig_libs " -pthread -lm")
        if(CUDACOMMON_HAS_CUDA)
            string(APPEND pkgconfig_libs " -lcudart_static -ldl -lrt")
        endif()
    endif()
    configure_file(cmake/cudacommon.pc.in "${PROJECT_BINARY_DIR}/cudacommon.pc" @ONLY)
    install(FILES "${PROJECT_BINARY_DIR}/cudacommon.pc" DESTINATION "${pkgconfig_dir}")
endif()

# Python's wheel holds the library alone, beside the modules that load it: see python/pyproject.toml.
if(SKBUILD)
    install(
        PROGRAMS "$<TARGET_FILE:cudacommon>"
        DESTINATION .
        RENAME "$<TARGET_SONAME_FILE_NAME:cudacommon>"
        COMPONENT python
        EXCLUDE_FROM_ALL
    )
endif()
