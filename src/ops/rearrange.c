#include "ops/rearrange.h"

#include "base/error.h"
#include "base/past_cache.h"
#include "kernels/launch.h"
#include "memory/crew.h"
#include "memory/pixel_kernels.h"
#include "ops/lent_images.h"

#include <string.h>

/* What a thread is worth starting for, and how many pixels of a row one takes at a time. */
#define BYTES_EACH ((size_t)2 << 20)
#define PIXELS_AT_ONCE ((int64_t)1 << 16)

typedef struct sharing {
    const cc__rearrange *work;
    int64_t parts_of_row;
    cc__crew_shares shares; /* of the parts of all rows */
} sharing;

static void take_parts(void *context)
{
    sharing *all = context;
    const int64_t row_size = all->work->axes[0].size;
    int64_t first = 0;
    int64_t count = 0;
    while (cc__crew_shares_take(&all->shares, &first, &count))
        for (int64_t part = first; part < first + count; part++) {
            const int64_t begin = part % all->parts_of_row * PIXELS_AT_ONCE;
            const int64_t left = row_size - begin;
            cc__rearrange_row(all->work, part / all->parts_of_row, begin,
                              left < PIXELS_AT_ONCE ? left : PIXELS_AT_ONCE);
        }
    cc__past_cache_end();
}

static void on_host(const void *work)
{
    cc__rearrange mine = *(const cc__rearrange *)work;
    const cc__rearrange *rearrange = &mine;
    const int64_t row_size = rearrange->axes[0].size;
    sharing all = {.work = rearrange, .parts_of_row = (row_size - 1) / PIXELS_AT_ONCE + 1};
    const int64_t rows = cc__rearrange_rows(rearrange);
    const size_t bytes =
        (size_t)(rows * row_size) * (size_t)rearrange->components *
        (cc_pixel_type_size_bytes(rearrange->to_type) + cc_pixel_type_size_bytes(rearrange->from_type));
    mine.past_cache = cc__past_cache_pays(bytes);
    const int32_t threads = cc__crew_size(bytes, BYTES_EACH, CC__CREW_MOST);
    const int64_t part_size = row_size < PIXELS_AT_ONCE ? row_size : PIXELS_AT_ONCE;
    const size_t pixel_bytes = (size_t)rearrange->components * cc_pixel_type_size_bytes(rearrange->to_type);
    cc__crew_shares_make(&all.shares, rows * all.parts_of_row, 1 + PIXELS_AT_ONCE / row_size,
                         (size_t)part_size * pixel_bytes, threads);
    cc__crew_run(threads, take_parts, &all);
}

static int32_t touches(const void *work, cc__kernel_range out_ranges[CC__KERNEL_RANGES])
{
    const cc__rearrange *rearrange = work;
    cc__span to = {.data = rearrange->to};
    cc__span from;
    int64_t to_size[CC_MAX_DIMENSION];
    int64_t from_size[CC_MAX_DIMENSION];
    memcpy(&from.data, &rearrange->from, sizeof from.data);
    for (int32_t i = 0; i < CC_MAX_DIMENSION; i++) {
        const cc__rearrange_axis *axis = &rearrange->axes[i];
        to.stride[i] = axis->to_stride;
        to_size[i] = axis->size;
        from.stride[i] = axis->from_stride;
        from_size[i] = axis->from_size;
    }
    out_ranges[0] = cc__kernel_range_of(&to, to_size,
                                        rearrange->components * (int64_t)cc_pixel_type_size_bytes(rearrange->to_type));
    out_ranges[1] = cc__kernel_range_of(
        &from, from_size, rearrange->components * (int64_t)cc_pixel_type_size_bytes(rearrange->from_type));
    return 2;
}

static const cc__kernel rearrange_kernel = {.name = "rearrange",
                                            .work_bytes = sizeof(cc__rearrange),
                                            .on_host = on_host,
                                            .touches = touches,
                                            .launch = CC__LAUNCH(cc__launch_rearrange)};

/* Pixel for pixel, in order. */
static bool is_plain(const cc__arrangement *all)
{
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++)
        if (all->order[axis] != axis || all->before[axis] != 0 || all->from.size[axis] != all->to.size[axis])
            return false;
    return all->flipped == 0;
}

static bool has_same_pixels(const cc__arrangement *all)
{
    return all->input->manager == all->output->manager && cc__box_equal(&all->from, &all->to);
}

static void make_work(const cc__arrangement *all, const cc__span *from, const cc__span *to, cc__rearrange *out_work)
{
    memset(out_work, 0, sizeof *out_work);
    out_work->to = to->data;
    out_work->from = from->data;
    out_work->to_type = all->output->pixel_type;
    out_work->from_type = all->input->pixel_type;
    out_work->components = all->output->components;
    if (all->value != NULL)
        memcpy(out_work->value, all->value, (size_t)out_work->components * cc_pixel_type_size_bytes(out_work->to_type));
    for (int32_t i = 0; i < CC_MAX_DIMENSION; i++) {
        cc__rearrange_axis *axis = &out_work->axes[i];
        const int32_t source = all->order[i];
        axis->size = all->to.size[i];
        axis->to_stride = to->stride[i];
        axis->from_size = all->from.size[source];
        axis->from_stride = from->stride[source];
        axis->before = all->before[i];
        axis->border = all->border[i];
        if ((all->flipped >> i & 1) != 0) {
            out_work->from += (axis->from_size - 1) * axis->from_stride;
            axis->from_stride = -axis->from_stride;
        }
    }
    cc__rearrange_normalize(out_work);
}

/* A box as it is, for which a device has faster ways. */
static cc_status run_plain(const cc__arrangement *all, const cc__lent_images *images, const cc__span *from,
                           const cc__span *to)
{
    const cc_pixel_type to_type = all->output->pixel_type;
    if (all->input->pixel_type == to_type) {
        cc__copy copy = {.destination = *to,
                         .source = *from,
                         .pixel_bytes = all->output->components * (int64_t)cc_pixel_type_size_bytes(to_type)};
        memcpy(copy.size, all->to.size, sizeof copy.size);
        return cc__lent_images_run(images, &cc__copy_kernel, &copy);
    }
    cc__rescale cast = {.destination = *to,
                        .source = *from,
                        .components = all->output->components,
                        .destination_type = to_type,
                        .source_type = all->input->pixel_type,
                        .scale = 1.0};
    memcpy(cast.size, all->to.size, sizeof cast.size);
    return cc__lent_images_run(images, &cc__rescale_kernel, &cast);
}

cc_status cc__arrange(const cc__arrangement *all)
{
    cc__lent_images images = {.function = all->function,
                              .stream = all->stream,
                              .inputs = {all->input},
                              .input_count = 1,
                              .output = all->output,
                              .input_boxes = {&all->from},
                              .output_box = &all->to};
    if (has_same_pixels(all) && !is_plain(all))
        return cc__fail(CC_ERROR_BUSY, "%s: output is the input, expected other pixels", all->function);
    cc_status status = cc__lend_images(&images);
    if (status != CC_OK)
        return status;
    const cc__span from = cc__lent_input(&images, 0);
    const cc__span to = cc__lent_output(&images);
    if (has_same_pixels(all)) {
        status = cc__lent_images_run(&images, NULL, NULL);
    } else if (images.place != CC_PLACE_HOST && is_plain(all)) {
        status = run_plain(all, &images, &from, &to);
    } else {
        cc__rearrange work;
        make_work(all, &from, &to, &work);
        status = cc__lent_images_run(&images, &rearrange_kernel, &work);
    }
    cc__lent_images_end(&images);
    return status;
}
