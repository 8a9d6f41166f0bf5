/* Kernels for programs: their text, which the driver compiles when a program is used enough. */
#include "backend/cuda_internal.h"
#include "backend/program_table.h"
#include "base/allocate.h"
#include "base/program_text.h"

#include <stdlib.h>

/* CUDACOMMON_COMPILE, read once. */
static _Atomic int64_t worth_bytes = -1;

static int64_t find_worth_bytes(void)
{
    int64_t worth = atomic_load(&worth_bytes);
    if (worth < 0) {
        worth = cc__program_worth_bytes(getenv("CUDACOMMON_COMPILE"));
        atomic_store(&worth_bytes, worth);
    }
    return worth;
}

/* Loading a module takes device memory, and none of ours belongs in a graph. */
static bool is_capturing(CUstream stream)
{
    CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
    return cc__driver.cuStreamIsCapturing(stream, &capture) != CUDA_SUCCESS || capture != CU_STREAM_CAPTURE_STATUS_NONE;
}

/* Asks the driver directly, since what it refuses here is nobody's error. */
static cc__program_outcome make(void *context, const cc__program *program, void **out_kernel)
{
    const cc__cuda_launcher *launcher = context;
    CUmodule module = NULL;
    CUfunction function = NULL;
    if (is_capturing(launcher->stream))
        return CC__PROGRAM_LATER;
    char *text = cc__program_text(program);
    if (text == NULL)
        return CC__PROGRAM_LATER;
    CUresult result = cc__driver.cuModuleLoadData(&module, text);
    cc__free(text);
    if (result == CUDA_SUCCESS) {
        result = cc__driver.cuModuleGetFunction(&function, module, CC__PROGRAM_ENTRY);
        if (result != CUDA_SUCCESS)
            cc__driver.cuModuleUnload(module);
    }
    if (result == CUDA_ERROR_OUT_OF_MEMORY)
        return CC__PROGRAM_LATER;
    *out_kernel = function;
    return result == CUDA_SUCCESS ? CC__PROGRAM_MADE : CC__PROGRAM_REFUSED;
}

cc_status cc__cuda_launch_program(const cc__launcher *launcher, const cc__program *program,
                                  const cc__program_call *call, bool *out_done)
{
    const cc__cuda_launcher *self = (const cc__cuda_launcher *)launcher;
    const int64_t worth = find_worth_bytes();
    CUfunction function = NULL;
    if (worth != INT64_MAX)
        function = cc__program_table_find(&self->device->programs, program, cc__program_bytes(program, call), worth,
                                          make, (void *)self);
    *out_done = function != NULL;
    if (function == NULL)
        return CC_OK;
    void *arguments[] = {(void *)call};
    const cc_status status = CC__CU(self->device->ordinal, cuLaunchKernel, function, cc__program_blocks(program, call),
                                    1, 1, CC__PROGRAM_THREADS, 1, 1, 0, self->stream, arguments, NULL);
    if (status == CC_OK)
        *launcher->has_written = true;
    return status;
}
