#include "backend/copy_plan.h"
#include "backend/cuda_internal.h"

#include <stddef.h>

/* The two sides of a copy, as the driver wants to hear of them. */
typedef struct sides {
    CUdeviceptr destination;
    CUdeviceptr source;
    bool between_devices; /* then the contexts are those of the memory's devices */
    CUcontext destination_context;
    CUcontext source_context;
} sides;

/* The device whose memory it is; -1 for memory that the driver finds by its address alone. */
static cc_status find_owner(cc__backend *self, const void *memory, int32_t *out_owner)
{
    cc__cuda_memory_kind kind = CC__CUDA_MEMORY_PAGEABLE;
    int32_t owner = -1;
    cc_status status = cc__driver_status(cc__cuda_find_memory(memory, &kind, &owner), "cuPointerGetAttributes", -1);
    if (status == CC_OK)
        *out_owner = kind == CC__CUDA_MEMORY_DEVICE && owner < self->device_count ? owner : -1;
    return status;
}

/*
 * Memory of two devices, or of one other than the stream's, needs the call that names the contexts: it works whether or
 * not the devices reach each other.
 */
static cc_status find_sides(cc__backend *self, const cc__cuda_guard *guard, const cc__copy *work, sides *out_sides)
{
    sides found = {.destination = (CUdeviceptr)(uintptr_t)work->destination.data,
                   .source = (CUdeviceptr)(uintptr_t)work->source.data};
    int32_t device = guard->device->ordinal;
    int32_t to = -1;
    int32_t from = -1;
    cc_status status = CC_OK;
    if (self->device_count > 1) {
        status = find_owner(self, work->destination.data, &to);
        if (status == CC_OK)
            status = find_owner(self, work->source.data, &from);
    }
    if (status == CC_OK && to >= 0 && from >= 0 && (to != device || from != device)) {
        found.between_devices = true;
        status = cc__cuda_context_of(self, to, &found.destination_context);
        if (status == CC_OK)
            status = cc__cuda_context_of(self, from, &found.source_context);
    }
    if (status != CC_OK)
        return status;
    if (to >= 0)
        cc__cuda_enable_access(self, guard, to);
    if (from >= 0)
        cc__cuda_enable_access(self, guard, from);
    *out_sides = found;
    return CC_OK;
}

static cc_status copy_row(int32_t device, CUstream stream, const sides *at, size_t size_bytes)
{
    if (at->between_devices)
        return CC__CU(device, cuMemcpyPeerAsync, at->destination, at->destination_context, at->source,
                      at->source_context, size_bytes, stream);
    return CC__CU(device, cuMemcpyAsync, at->destination, at->source, size_bytes, stream);
}

static cc_status copy_block(int32_t device, CUstream stream, const sides *at, const cc__copy_plan *plan)
{
    if (at->between_devices) {
        CUDA_MEMCPY3D_PEER block = {
            .dstMemoryType = CU_MEMORYTYPE_DEVICE,
            .dstDevice = at->destination,
            .dstContext = at->destination_context,
            .dstPitch = (size_t)plan->pitch[0],
            .dstHeight = (size_t)plan->slice_rows[0],
            .srcMemoryType = CU_MEMORYTYPE_DEVICE,
            .srcDevice = at->source,
            .srcContext = at->source_context,
            .srcPitch = (size_t)plan->pitch[1],
            .srcHeight = (size_t)plan->slice_rows[1],
            .WidthInBytes = (size_t)plan->width_bytes,
            .Height = (size_t)plan->rows,
            .Depth = (size_t)plan->slices,
        };
        return CC__CU(device, cuMemcpy3DPeerAsync, &block, stream);
    }
    CUDA_MEMCPY3D block = {
        .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
        .dstDevice = at->destination,
        .dstPitch = (size_t)plan->pitch[0],
        .dstHeight = (size_t)plan->slice_rows[0],
        .srcMemoryType = CU_MEMORYTYPE_UNIFIED,
        .srcDevice = at->source,
        .srcPitch = (size_t)plan->pitch[1],
        .srcHeight = (size_t)plan->slice_rows[1],
        .WidthInBytes = (size_t)plan->width_bytes,
        .Height = (size_t)plan->rows,
        .Depth = (size_t)plan->slices,
    };
    return CC__CU(device, cuMemcpy3DAsync, &block, stream);
}

cc_status cc__cuda_copy(cc__backend *self, int32_t device, cc_stream stream, const cc__copy *work)
{
    cc__cuda_guard guard;
    cc_status status = cc__cuda_enter(self, device, &guard);
    if (status != CC_OK)
        return status;
    sides base;
    status = find_sides(self, &guard, work, &base);
    if (status == CC_OK) {
        cc__copy_plan plan = cc__copy_plan_make(work, guard.device->max_pitch_bytes);
        int64_t step[CC_MAX_DIMENSION] = {0};
        bool more = true;
        while (more && status == CC_OK) {
            int64_t offset[2];
            more = cc__copy_plan_next(&plan, step, offset);
            sides at = base;
            at.destination += (CUdeviceptr)offset[0];
            at.source += (CUdeviceptr)offset[1];
            status = plan.rows == 1 ? copy_row(device, stream, &at, (size_t)plan.width_bytes)
                                    : copy_block(device, stream, &at, &plan);
        }
    }
    cc__cuda_leave(&guard);
    return status;
}
