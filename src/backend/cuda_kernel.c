#include "backend/cuda_internal.h"
#include "base/error.h"
#include "base/evaluate.h"
#include "base/rows.h"

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * nvcc registers kernels with the runtime, so only the runtime knows what a host symbol is called on a device. It uses
 * the context that is current. An error that it leaves pending is ours and is cleared, unless the caller has one.
 */
static cc_status look_up(int32_t device, const void *symbol, CUfunction *out_function)
{
    cudaError_t pending = cudaPeekAtLastError();
    cudaFunction_t function = NULL;
    cudaError_t error = cudaGetFuncBySymbol(&function, symbol);
    if (error != cudaSuccess) {
        if (pending == cudaSuccess)
            (void)cudaGetLastError();
        return cc__fail_native(CC_ERROR_DEVICE, (int32_t)error, "cudaGetFuncBySymbol: %s (%d), device %d",
                               cudaGetErrorString(error), (int)error, (int)device);
    }
    *out_function = (CUfunction)function;
    return CC_OK;
}

/* The slot of a symbol, claimed if it has none yet. False when all are taken. */
static bool find_slot(cc__cuda_device *device, const void *symbol, cc__cuda_kernel **out_slot)
{
    size_t start = (size_t)(((uintptr_t)symbol >> 4) * 0x9E3779B97F4A7C15u >> 32);
    for (size_t i = 0; i < CC__CUDA_KERNEL_SLOTS; i++) {
        cc__cuda_kernel *slot = &device->kernels[(start + i) % CC__CUDA_KERNEL_SLOTS];
        const void *owner = NULL;
        if (atomic_compare_exchange_strong(&slot->symbol, &owner, symbol) || owner == symbol) {
            *out_slot = slot;
            return true;
        }
    }
    return false;
}

static cc_status find_function(cc__cuda_device *device, const void *symbol, CUfunction *out_function)
{
    cc__cuda_kernel *slot = NULL;
    bool has_slot = find_slot(device, symbol, &slot);
    CUfunction function = has_slot ? atomic_load(&slot->function) : NULL;
    if (function == NULL) {
        cc_status status = look_up(device->ordinal, symbol, &function);
        if (status != CC_OK)
            return status;
        if (has_slot)
            atomic_store(&slot->function, function);
    }
    *out_function = function;
    return CC_OK;
}

static cc_status find(const cc__launcher *launcher, const void *kernel)
{
    CUfunction function = NULL;
    return find_function(((const cc__cuda_launcher *)launcher)->device, kernel, &function);
}

static cc_status launch(const cc__launcher *launcher, const void *kernel, uint32_t grid_blocks, uint32_t block_threads,
                        void **arguments)
{
    const cc__cuda_launcher *self = (const cc__cuda_launcher *)launcher;
    CUfunction function = NULL;
    cc_status status = find_function(self->device, kernel, &function);
    if (status == CC_OK)
        status = CC__CU(self->device->ordinal, cuLaunchKernel, function, grid_blocks, 1, 1, block_threads, 1, 1, 0,
                        self->stream, arguments, NULL);
    if (status == CC_OK)
        *launcher->has_written = true;
    return status;
}

cc__cuda_launcher cc__cuda_make_launcher(const cc__cuda_guard *guard, CUstream stream, bool *has_written)
{
    *has_written = false;
    return (cc__cuda_launcher){
        {launch, find, guard->device->multiprocessor_count, has_written, cc__cuda_launch_program},
        guard->device,
        stream};
}

/* How many bytes of the value one element of a memset holds: 1, 2 or 4; 0 when a memset cannot do the work. */
static int64_t memset_width(const cc__fill *work, const cc__rows *rows)
{
    if (rows->axes > 0)
        return 0;
    for (int64_t width = 1; width <= 4; width *= 2) {
        if (work->pixel_bytes % width == 0 && (uintptr_t)work->destination.data % (uintptr_t)width == 0 &&
            memcmp(work->value, work->value + width, (size_t)(work->pixel_bytes - width)) == 0)
            return width;
    }
    return 0;
}

static cc_status set_row(int32_t device, CUstream stream, const cc__fill *work, int64_t row_bytes, int64_t width)
{
    CUdeviceptr destination = (CUdeviceptr)(uintptr_t)work->destination.data;
    size_t count = (size_t)(row_bytes / width);
    if (width == 1)
        return CC__CU(device, cuMemsetD8Async, destination, work->value[0], count, stream);
    if (width == 2) {
        uint16_t value;
        memcpy(&value, work->value, sizeof value);
        return CC__CU(device, cuMemsetD16Async, destination, value, count, stream);
    }
    uint32_t value;
    memcpy(&value, work->value, sizeof value);
    return CC__CU(device, cuMemsetD32Async, destination, value, count, stream);
}

cc_status cc__start_fill(const void *argument, const cc__launcher *launcher)
{
    const cc__cuda_launcher *self = (const cc__cuda_launcher *)launcher;
    const cc__fill *work = argument;
    cc__rows rows;
    cc__rows_plan(CC__ROWS_OF_BYTES, work->pixel_bytes, 1, 1, work->size, work->destination.stride, NULL, &rows);
    const int64_t width = memset_width(work, &rows);
    return width != 0 ? set_row(self->device->ordinal, self->stream, work, rows.length, width)
                      : cc__launch_fill(work, launcher);
}

cc_status cc__cuda_fill(cc__backend *self, int32_t device, cc_stream stream, const cc__fill *work)
{
    cc__cuda_guard guard;
    bool has_written = false;
    cc_status status = cc__cuda_enter(self, device, &guard);
    if (status != CC_OK)
        return status;
    const cc__cuda_launcher launcher = cc__cuda_make_launcher(&guard, stream, &has_written);
    status = cc__start_fill(work, &launcher.base);
    cc__cuda_leave(&guard);
    return status;
}

/* A copy of equal types is one for the driver when all of it is copied pixel for pixel. */
static bool is_plain_copy(const cc__evaluate *work, cc__copy *out_copy)
{
    const int64_t component_bytes = (int64_t)cc_pixel_type_size_bytes(work->destination_type);
    if (!cc__evaluate_is_copy(work))
        return false;
    const cc__source *source = &work->sources[work->steps[0].a.number];
    if (work->components > 1 && source->component_stride != component_bytes)
        return false;
    memset(out_copy, 0, sizeof *out_copy);
    for (int32_t i = 0; i < CC_MAX_DIMENSION; i++) {
        if (work->size[i] > 1 && source->stride[i] == 0)
            return false;
        out_copy->source.stride[i] = source->stride[i];
    }
    out_copy->destination = work->destination;
    memcpy(&out_copy->source.data, &source->data, sizeof source->data);
    memcpy(out_copy->size, work->size, sizeof out_copy->size);
    out_copy->pixel_bytes = work->components * component_bytes;
    return true;
}

cc_status cc__start_evaluate(const void *work, const cc__launcher *launcher)
{
    cc__copy copy;
    if (!is_plain_copy(work, &copy))
        return cc__launch_evaluate(work, launcher);
    return copy.source.data == copy.destination.data ? CC_OK : cc__start_copy(&copy, launcher);
}

cc_status cc__cuda_run_kernel(cc__backend *self, int32_t device, cc_stream stream, const cc__kernel *kernel,
                              const void *work, bool *out_has_written)
{
    cc__cuda_guard guard;
    *out_has_written = false;
    cc_status status = cc__cuda_enter(self, device, &guard);
    if (status != CC_OK)
        return status;
    const cc__cuda_launcher launcher = cc__cuda_make_launcher(&guard, stream, out_has_written);
    status = kernel->launch(work, &launcher.base);
    cc__cuda_leave(&guard);
    return status;
}

cc_status cc__cuda_call(cc__backend *self, int32_t device, cc_status (*function)(void *context), void *context)
{
    cc__cuda_guard guard;
    /* As for work in the default stream: the capture mode is the caller's, and the function is too. */
    cc_status status = cc__cuda_enter_stream(self, device, CC_STREAM_DEFAULT, &guard);
    if (status != CC_OK)
        return status;
    status = function(context);
    cc__cuda_leave(&guard);
    return status;
}
