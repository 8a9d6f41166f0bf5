#include "base/smooth.h"

#include <cudacommon/border.h>
#include <stdbool.h>
#include <string.h>

/* Less than this would keep a GPU waiting for the next launch. */
#define LEAST_SLICES 16

static cc_pixel_type number_type(const cc__smooth *work)
{
    return work->is_wide ? CC_PIXEL_FLOAT64 : CC_PIXEL_FLOAT32;
}

static int64_t pixel_bytes(const cc__smooth *work)
{
    return (int64_t)cc_pixel_type_size_bytes(number_type(work)) * work->images.components;
}

static int64_t slices(const cc__smooth *work)
{
    return work->images.size[work->passes[0].axis];
}

static int64_t slabs(const cc__smooth *work)
{
    return (slices(work) - 1) / work->slab + 1;
}

static bool is_delayed(const cc__smooth *work)
{
    return work->in_place && work->slab < slices(work);
}

/* Two slabs of the first pass in place, and one more when passes go between slabs. */
void cc__smooth_plan_slabs(cc__smooth *work, int64_t most_bytes)
{
    const cc__smooth_pass *first = &work->passes[0];
    const int64_t all = slices(work);
    int64_t slice_bytes = pixel_bytes(work);
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++)
        slice_bytes *= axis == first->axis ? 1 : work->images.size[axis];
    work->slab = all;
    work->slab_bytes = 0;
    work->slab_memories = 0;
    if (work->pass_count == 1)
        return;
    const int64_t between = work->pass_count > 2 ? 1 : 0;
    /* The last slices of a periodic axis need the first ones, which must not be written before. */
    if (!work->in_place || work->border != CC_BORDER_PERIODIC) {
        const int64_t least = 2 * (int64_t)first->radius > LEAST_SLICES ? 2 * (int64_t)first->radius : LEAST_SLICES;
        const int64_t fitting = most_bytes / (between + (work->in_place ? 2 : 1)) / slice_bytes;
        const int64_t wanted = fitting > least ? fitting : least;
        work->slab = wanted < all ? wanted : all;
    }
    work->slab_memories = between + (is_delayed(work) ? 2 : 1);
    work->slab_bytes = work->slab * slice_bytes;
}

int64_t cc__smooth_steps(const cc__smooth *work)
{
    return slabs(work) * work->pass_count;
}

/* Slabs one after the other, or in place a first pass ahead. */
static void find_step(const cc__smooth *work, int64_t number, int64_t *out_slab, int32_t *out_pass)
{
    const int64_t count = work->pass_count;
    *out_slab = number / count;
    *out_pass = (int32_t)(number % count);
    if (!is_delayed(work))
        return;
    if (number == 0)
        return;
    *out_slab = (number - 1) / count;
    *out_pass = (int32_t)((number - 1) % count);
    if (*out_slab == slabs(work) - 1)
        *out_pass += 1;
    else if (*out_pass == 0)
        *out_slab += 1;
}

static cc__span memory_at(const cc__smooth *work, int64_t number, const int64_t size[CC_MAX_DIMENSION])
{
    cc__span span = {.data = work->scratch + number * work->slab_bytes};
    int64_t stride = pixel_bytes(work);
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++) {
        span.stride[axis] = stride;
        stride *= size[axis];
    }
    return span;
}

void cc__smooth_step(const cc__smooth *work, int64_t number, cc__line_filter *out_filter)
{
    const int32_t across = work->passes[0].axis;
    cc__line_images *images = &out_filter->images;
    int64_t slab = 0;
    int32_t pass = 0;
    find_step(work, number, &slab, &pass);
    memset(out_filter, 0, sizeof *out_filter);
    *images = work->images;
    images->axis = work->passes[pass].axis;
    out_filter->radius = work->passes[pass].radius;
    memcpy(out_filter->weight, work->passes[pass].weight, sizeof out_filter->weight);
    out_filter->border = work->border;
    out_filter->border_value = work->border_value;
    out_filter->is_wide = work->is_wide;

    const int64_t first = slab * work->slab;
    const int64_t left = images->size[across] - first;
    images->size[across] = left < work->slab ? left : work->slab;
    /* Passes go to and fro between the slab's own memory and the last one. */
    const int64_t own = is_delayed(work) ? slab % 2 : 0;
    const int64_t memories[2] = {own, work->slab_memories - 1};
    if (pass > 0) {
        images->source = memory_at(work, memories[(pass + 1) % 2], images->size);
        images->source_type = number_type(work);
        out_filter->length = images->size[images->axis];
    } else {
        out_filter->length = work->images.size[across];
        out_filter->first = first;
    }
    if (pass < work->pass_count - 1) {
        images->destination = memory_at(work, memories[pass % 2], images->size);
        images->destination_type = number_type(work);
    } else {
        images->destination.data += first * images->destination.stride[across];
    }
}
