#include "memory/paths.h"

#include "backend/copy_plan.h"
#include "memory/pieces.h"

/*
 * What the two cost, measured on an H200, 2026-11-30: 1 to 512 boxes of 1^3 to 128^3 floats in a 512^3 volume, and rows
 * of 32 B to 16 KiB. The engine is held up by the calls, by the rows, or by the link, which stops shortly before each
 * slice; the kernel by the rows or the link. bench/cc_bench shows the crossover.
 */
static const struct {
    double engine_call_ns;
    double engine_slice_ns;
    double engine_row_ns;
    double engine_bytes_per_ns;
    double kernel_launch_ns; /* once for all boxes */
    double kernel_box_ns;
    double kernel_row_ns;
    double kernel_bytes_per_ns;
} cost = {.engine_call_ns = 2500,
          .engine_slice_ns = 90,
          .engine_row_ns = 1.65,
          .engine_bytes_per_ns = 55,
          .kernel_launch_ns = 6000,
          .kernel_box_ns = 80,
          .kernel_row_ns = 1.8,
          .kernel_bytes_per_ns = 51};

/* No device that has a copy engine takes longer pitches. */
#define MAX_PITCH_BYTES INT32_MAX

void cc__tally_add(cc__tally *tally, cc__path path, int64_t boxes, int64_t bytes)
{
    tally->boxes[path] += (uint64_t)boxes;
    tally->bytes[path] += (uint64_t)bytes;
}

void cc__tally_join(cc__tally *tally, const cc__tally *other)
{
    for (int32_t path = 0; path < CC__PATH_COUNT; ++path) {
        tally->boxes[path] += other->boxes[path];
        tally->bytes[path] += other->bytes[path];
    }
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* What the kernel saves for one box, its launch aside; 0 or less when it is slower. */
static double find_saved_ns(const cc__copy *work)
{
    const cc__copy_plan plan = cc__copy_plan_make(work, MAX_PITCH_BYTES);
    const double bytes = (double)cc__copy_bytes(work);
    const double rows = bytes / (double)plan.width_bytes;
    double calls = 1;
    for (int32_t axis = 0; axis < plan.outer_count; ++axis)
        calls *= (double)plan.outer_size[axis];
    const double slices = plan.slices > 1 ? calls * (double)plan.slices : 0;
    const double link_ns = bytes / cost.engine_bytes_per_ns + slices * cost.engine_slice_ns;
    const double engine_ns = larger(calls * cost.engine_call_ns, larger(link_ns, rows * cost.engine_row_ns));
    return engine_ns - cost.kernel_box_ns - larger(bytes / cost.kernel_bytes_per_ns, rows * cost.kernel_row_ns);
}

static bool are_alike(const cc__copy *a, const cc__copy *b)
{
    int64_t different = a->pixel_bytes ^ b->pixel_bytes;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; ++axis)
        different |= (a->size[axis] ^ b->size[axis]) | (a->destination.stride[axis] ^ b->destination.stride[axis]) |
                     (a->source.stride[axis] ^ b->source.stride[axis]);
    return different == 0;
}

int32_t cc__paths_choose(cc__copy *works, int32_t count)
{
    double all_saved_ns = 0;
    double saved = 0;
    int32_t chosen = 0;
    cc__copy last;
    for (int32_t i = 0; i < count; ++i) {
        if (i == 0 || !are_alike(&works[i], &last)) {
            last = works[i];
            saved = find_saved_ns(&last);
        }
        if (saved <= 0)
            continue;
        all_saved_ns += saved;
        if (i != chosen) {
            const cc__copy other = works[chosen];
            works[chosen] = works[i];
            works[i] = other;
        }
        ++chosen;
    }
    return all_saved_ns > cost.kernel_launch_ns ? chosen : 0;
}

cc_status cc__paths_queue(cc__backend *backend, int32_t device, cc_stream stream, cc__copy *works, int32_t count,
                          cc__tally *tally)
{
    const int32_t chosen = cc__paths_choose(works, count);
    cc_status status = CC_OK;
    if (chosen > 0)
        status = backend->copy_boxes(backend, device, stream, works, chosen);
    for (int32_t i = chosen; status == CC_OK && i < count; ++i)
        status = backend->copy(backend, device, stream, &works[i]);
    for (int32_t i = 0; tally != NULL && i < count; ++i)
        cc__tally_add(tally, i < chosen ? CC__PATH_KERNEL : CC__PATH_ENGINE, 1, cc__copy_bytes(&works[i]));
    return status;
}
