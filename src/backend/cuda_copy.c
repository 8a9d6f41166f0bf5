#include "backend/copy_plan.h"
#include "backend/cuda_internal.h"

#include <stddef.h>

/* More than can be resident, so that all multiprocessors end together. */
#define BLOCKS_PER_MULTIPROCESSOR 32

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
    cc__cuda_memory found;
    cc_status status = cc__driver_status(cc__cuda_find_memory(memory, &found), "cuPointerGetAttributes", -1);
    if (status == CC_OK)
        *out_owner = found.kind == CC__CUDA_MEMORY_DEVICE && found.device < self->device_count ? found.device : -1;
    return status;
}

/*
 * Memory of two devices, or of one other than the stream's, needs the call that names the contexts: it works whether or
 * not the devices reach each other.
 */
static cc_status find_sides(cc__backend *self, cc__cuda_device *entered, const cc__copy *work, sides *out_sides)
{
    sides found = {.destination = (CUdeviceptr)(uintptr_t)work->destination.data,
                   .source = (CUdeviceptr)(uintptr_t)work->source.data};
    int32_t device = entered->ordinal;
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
        cc__cuda_enable_access(self, entered, to);
    if (from >= 0)
        cc__cuda_enable_access(self, entered, from);
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

static cc_status copy_by_engine(const cc__cuda_launcher *launcher, const sides *base, const cc__copy_plan *plan)
{
    const int32_t device = launcher->device->ordinal;
    cc_status status = CC_OK;
    int64_t step[CC_MAX_DIMENSION] = {0};
    bool more = true;
    while (more && status == CC_OK) {
        int64_t offset[2];
        more = cc__copy_plan_next(plan, step, offset);
        sides at = *base;
        at.destination += (CUdeviceptr)offset[0];
        at.source += (CUdeviceptr)offset[1];
        status = plan->rows == 1 ? copy_row(device, launcher->stream, &at, (size_t)plan->width_bytes)
                                 : copy_block(device, launcher->stream, &at, plan);
        if (status == CC_OK)
            *launcher->base.has_written = true;
    }
    return status;
}

/* Memory of the device, as our context sees it: a kernel reaches no other context's. */
static bool is_memory_of(const cc__cuda_device *device, const void *memory)
{
    cc__cuda_memory found;
    return cc__cuda_find_memory(memory, &found) == CUDA_SUCCESS && found.kind == CC__CUDA_MEMORY_DEVICE &&
           found.device == device->ordinal && (found.context == NULL || found.context == atomic_load(&device->context));
}

static bool is_inside(const cc__cuda_device *device, const cc__copy *work)
{
    return is_memory_of(device, work->destination.data) && is_memory_of(device, work->source.data);
}

static int32_t all_blocks(const cc__cuda_device *device)
{
    return device->multiprocessor_count * BLOCKS_PER_MULTIPROCESSOR;
}

static cc_status copy_box(const cc__cuda_launcher *launcher, const cc__copy *work)
{
    bool is_done = false;
    cc_status status = cc__launch_copy_box(work, &launcher->base, &is_done);
    if (status != CC_OK || is_done)
        return status;
    return cc__launch_copy_boxes(work, 1, all_blocks(launcher->device), &launcher->base);
}

cc_status cc__start_copy(const void *argument, const cc__launcher *base)
{
    const cc__cuda_launcher *launcher = (const cc__cuda_launcher *)base;
    const cc__copy *work = argument;
    cc__backend *backend = cc__backend_cuda();
    sides found;
    cc__copy_plan plan = cc__copy_plan_make(work, launcher->device->max_pitch_bytes);
    /* Inside a device, however long its rows, a box is copied faster by a kernel. */
    if ((plan.rows > 1 || plan.outer_count > 0) && is_inside(launcher->device, work))
        return copy_box(launcher, work);
    cc_status status = find_sides(backend, launcher->device, work, &found);
    if (status == CC_OK)
        status = copy_by_engine(launcher, &found, &plan);
    return status;
}

cc_status cc__cuda_copy(cc__backend *self, int32_t device, cc_stream stream, const cc__copy *work)
{
    cc__cuda_guard guard;
    bool has_written = false;
    cc_status status = cc__cuda_enter(self, device, &guard);
    if (status != CC_OK)
        return status;
    const cc__cuda_launcher launcher = cc__cuda_make_launcher(&guard, stream, &has_written);
    status = cc__start_copy(work, &launcher.base);
    cc__cuda_leave(&guard);
    return status;
}

static cc_status copy_one_by_one(cc__backend *self, int32_t device, cc_stream stream, const cc__copy *works,
                                 int32_t count)
{
    cc_status status = CC_OK;
    for (int32_t i = 0; i < count && status == CC_OK; i++)
        status = cc__cuda_copy(self, device, stream, &works[i]);
    return status;
}

/*
 * Enough to fill the link, also with single bytes. More do not make it faster, and keep the caller's kernels waiting.
 * What holds boxes up is the number of lines of 64 bytes of the host's memory that their rows touch: on H200s each
 * takes 1.2 to 1.6 ns, whatever reads or writes it (a kernel with more or other loads, bulk copies, the copy engine,
 * kernel and engine together), and more where the CPU has just written it, or where only a part of it is written. So
 * for 512 boxes a bare kernel, launch and wait included, takes 53 to 90 us up and 51 to 76 down when they are of 8^3
 * floats, and reaches 0.78 and 0.60 to 0.67 of the link with 32^3 at multiples of 32 bytes, 0.88 to 0.90 and 0.92 to
 * 0.94 on whole lines. To pack them on the device first, with one copy, is no way out: the copy takes 26 us, and then
 * the CPU 580 us to put 8^3 in their places, or 70 with fifteen threads that are awake, and 1.6 ms for 32^3, as each
 * row is a line that it does not have.
 */
#define LINK_BLOCKS 64

cc_status cc__cuda_copy_boxes(cc__backend *self, int32_t device, cc_stream stream, const cc__copy *works, int32_t count)
{
    if (count == 0)
        return cc__cuda_usable();
    if (!cc__cuda_device_at(self, device)->reaches_host)
        return copy_one_by_one(self, device, stream, works, count);
    cc__cuda_guard guard;
    bool has_written = false;
    cc_status status = cc__cuda_enter(self, device, &guard);
    if (status != CC_OK)
        return status;
    const cc__cuda_launcher launcher = cc__cuda_make_launcher(&guard, stream, &has_written);
    int32_t most_blocks = is_inside(guard.device, &works[0]) ? all_blocks(guard.device) : LINK_BLOCKS;
    status = cc__launch_copy_boxes(works, count, most_blocks, &launcher.base);
    cc__cuda_leave(&guard);
    return status;
}
