# Warnings for what is developed here, never for a consumer's build.
add_library(cudacommon_warnings INTERFACE)
target_compile_options(
    cudacommon_warnings
    INTERFACE
        $<$<COMPILE_LANGUAGE:C>:-Wall;-Wextra;-Wpedantic;-Wshadow;-Wstrict-prototypes;-Wmissing-prototypes>
        $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra>
)
if(CUDACOMMON_WERROR)
    target_compile_options(
        cudacommon_warnings
        INTERFACE
            $<$<COMPILE_LANGUAGE:C>:-Werror>
            "$<$<COMPILE_LANGUAGE:CUDA>:SHELL:-Werror all-warnings>"
            $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Werror>
    )
endif()
