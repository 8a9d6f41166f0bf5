#include "base/frames.h"
#include "base/components.h"
#include "base/error.h"
#include "kernels/launch.h"
#include "memory/crew.h"
#include "ops/lent_images.h"
#include "ops/rearrange.h"

#include <cudacommon/frames.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

/* What a thread is worth starting for, and how many components of a row one takes at a time. */
#define BYTES_EACH ((size_t)2 << 20)
#define COMPONENTS_AT_ONCE ((int64_t)1 << 14)

typedef struct sharing {
    const cc__frames *work;
    cc__rows rows;
    int64_t parts; /* of all rows */
    int64_t parts_of_row;
    int64_t at_once;
    _Atomic int64_t next;
} sharing;

static void take_parts(void *context)
{
    sharing *all = context;
    for (;;) {
        const int64_t first = atomic_fetch_add(&all->next, all->at_once);
        for (int64_t part = first; part < first + all->at_once; part++) {
            if (part >= all->parts)
                return;
            const int64_t begin = part % all->parts_of_row * COMPONENTS_AT_ONCE;
            const int64_t left = all->rows.length - begin;
            cc__frames_row(all->work, &all->rows, part / all->parts_of_row, begin,
                           left < COMPONENTS_AT_ONCE ? left : COMPONENTS_AT_ONCE);
        }
    }
}

static void on_host(const void *work)
{
    const cc__frames *frames = work;
    sharing all = {.work = frames};
    cc__frames_plan(frames, &all.rows);
    const int64_t rows = cc__frames_count_rows(&all.rows);
    all.parts_of_row = (all.rows.length - 1) / COMPONENTS_AT_ONCE + 1;
    all.parts = rows * all.parts_of_row;
    all.at_once = 1 + COMPONENTS_AT_ONCE / all.rows.length;
    const size_t bytes = (size_t)(rows * all.rows.length) *
                         (cc_pixel_type_size_bytes(frames->volume_type) +
                          cc_pixel_type_size_bytes(frames->frames_type) * (size_t)frames->frame_count);
    cc__crew_run(cc__crew_size(bytes, BYTES_EACH, CC__CREW_MOST), take_parts, &all);
}

/* Frames are apart from each other: each has a range, or, where there are many, all have one. */
static int32_t touches(const void *work, cc__kernel_range out_ranges[CC__KERNEL_RANGES])
{
    const cc__frames *frames = work;
    const int64_t frame_bytes = frames->components * (int64_t)cc_pixel_type_size_bytes(frames->frames_type);
    const int64_t reach = (frames->frame_count - 1) * frames->frame_stride;
    out_ranges[0] = cc__kernel_range_of(&frames->volume, frames->size,
                                        frames->components * (int64_t)cc_pixel_type_size_bytes(frames->volume_type));
    out_ranges[1] = cc__kernel_range_of(&frames->frames, frames->size, frame_bytes);
    out_ranges[1].size_bytes += reach < 0 ? -reach : reach;
    if (reach < 0)
        out_ranges[1].first += reach;
    return 2;
}

static const cc__kernel frames_kernel = {.name = "frames",
                                         .work_bytes = sizeof(cc__frames),
                                         .on_host = on_host,
                                         .touches = touches,
                                         .launch = CC__LAUNCH(cc__launch_frames)};

/* The frames around a position, counted from the first of the image. */
typedef struct neighbours {
    int64_t frame[2];
    double weights[2];
    int32_t count; /* 1: the second does not count */
} neighbours;

static cc_status check(const char *function, const cc_image *frames, const char *frames_name, const cc_image *volume,
                       const char *volume_name, const cc_image *output)
{
    if (frames == NULL || volume == NULL)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: %s = NULL, expected an image", function,
                        frames == NULL ? frames_name : volume_name);
    if (frames->dimension < 2)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: %s has 1 dimension, expected 2 or more", function, frames_name);
    if (frames->components != volume->components)
        return cc__fail(CC_ERROR_SIZE, "%s: %s has %d components, expected the %d of %s", function, volume_name,
                        volume->components, frames->components, frames_name);
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++) {
        const int64_t expected = axis < frames->dimension - 1 ? frames->box.size[axis] : 1;
        if (volume->box.size[axis] != expected)
            return cc__fail(CC_ERROR_SIZE, "%s: %s has size[%d] = %lld, expected %lld, as a frame of %s", function,
                            volume_name, axis, (long long)volume->box.size[axis], (long long)expected, frames_name);
    }
    if (frames->box.size[frames->dimension - 1] == 0)
        return cc__fail(CC_ERROR_SIZE, "%s: %s has no frame, expected 1 or more", function, frames_name);
    if (cc__is_complex(frames->pixel_type) != cc__is_complex(volume->pixel_type))
        return cc__fail(CC_ERROR_PIXEL_TYPE, "%s: %s is %s and %s is %s, expected both complex or neither", function,
                        frames_name, cc_pixel_type_name(frames->pixel_type), volume_name,
                        cc_pixel_type_name(volume->pixel_type));
    if (cc__image_is_read_only(output))
        return cc__fail(CC_ERROR_READ_ONLY, "%s: the output's pixels were wrapped read-only", function);
    return CC_OK;
}

static cc_status find_neighbours(const char *function, const cc_image *frames, double position, cc_border border,
                                 neighbours *out)
{
    const int32_t last_axis = frames->dimension - 1;
    const int64_t count = frames->box.size[last_axis];
    if (!isfinite(position))
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: position = %g, expected a finite value", function, position);
    if (border != CC_BORDER_REPLICATE && border != CC_BORDER_PERIODIC)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT,
                        "%s: border = %d, expected CC_BORDER_REPLICATE or CC_BORDER_PERIODIC", function, (int)border);
    double at = position - (double)frames->region.index[last_axis];
    if (border == CC_BORDER_PERIODIC) {
        at = fmod(at, (double)count);
        /* What is added to a tiny number below zero leaves the whole period. */
        if (at < 0)
            at += (double)count;
        if (at >= (double)count)
            at = 0;
    } else {
        at = at > 0 ? at : 0;
        at = at < (double)(count - 1) ? at : (double)(count - 1);
    }
    const double below = floor(at);
    out->frame[0] = (int64_t)below;
    out->frame[1] = out->frame[0] + 1 < count ? out->frame[0] + 1 : 0;
    out->weights[1] = at - below;
    out->weights[0] = 1.0 - out->weights[1];
    out->count = out->weights[1] > 0 && out->frame[0] != out->frame[1] ? 2 : 1;
    if (out->count == 1)
        out->weights[0] = 1.0;
    return CC_OK;
}

/* The box of `count` frames, from one on. */
static cc__box frames_box(const cc_image *frames, int64_t first, int64_t count)
{
    cc__box box = frames->box;
    box.start[frames->dimension - 1] += first;
    box.size[frames->dimension - 1] = count;
    return box;
}

/* What is said by the images; where they are follows. */
static void begin_work(const cc_image *frames, const cc_image *volume, cc__frames_way way, cc__frames *out_work)
{
    const bool is_complex = cc__is_complex(frames->pixel_type);
    memset(out_work, 0, sizeof *out_work);
    memcpy(out_work->size, volume->box.size, sizeof out_work->size);
    out_work->components = volume->components * (is_complex ? 2 : 1);
    out_work->volume_type = volume->pixel_type;
    out_work->frames_type = frames->pixel_type;
    if (is_complex) {
        out_work->volume_type = volume->pixel_type == CC_PIXEL_COMPLEX64 ? CC_PIXEL_FLOAT32 : CC_PIXEL_FLOAT64;
        out_work->frames_type = frames->pixel_type == CC_PIXEL_COMPLEX64 ? CC_PIXEL_FLOAT32 : CC_PIXEL_FLOAT64;
    }
    out_work->way = way;
}

static cc_status finish(cc__lent_images *images, const cc__frames *work)
{
    const cc_status status = cc__lent_images_run(images, &frames_kernel, work);
    cc__lent_images_end(images);
    return status;
}

/* One frame as it is. */
static cc_status copy_frame(const char *function, cc_image *input, int64_t frame, cc_image *output, cc_stream stream)
{
    cc__arrangement all = {.function = function,
                           .stream = stream,
                           .input = input,
                           .output = output,
                           .from = frames_box(input, frame, 1),
                           .to = output->box};
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++)
        all.order[axis] = axis;
    return cc__arrange(&all);
}

cc_status cc_image_interpolate_frames(cc_image *input, double position, cc_border border, cc_image *output,
                                      cc_stream stream)
{
    static const char *const function = "cc_image_interpolate_frames";
    neighbours near;
    cc__frames work;
    cc_status status = check(function, input, "input", output, "output", output);
    if (status == CC_OK)
        status = find_neighbours(function, input, position, border, &near);
    if (status != CC_OK || cc__box_is_empty(&output->box))
        return status;
    if (near.count == 1)
        return copy_frame(function, input, near.frame[0], output, stream);
    const cc__box boxes[] = {frames_box(input, near.frame[0], 1), frames_box(input, near.frame[1], 1)};
    cc__lent_images images = {.function = function,
                              .stream = stream,
                              .inputs = {input, input},
                              .input_count = 2,
                              .output = output,
                              .input_boxes = {&boxes[0], &boxes[1]}};
    status = cc__lend_images(&images);
    if (status != CC_OK)
        return status;
    begin_work(input, output, CC__FRAMES_GATHER, &work);
    work.volume = cc__lent_output(&images);
    work.frames = cc__lent_input(&images, 0);
    work.frame_stride = cc__lent_input(&images, 1).data - work.frames.data;
    work.frame_count = 2;
    memcpy(work.weights, near.weights, sizeof work.weights);
    return finish(&images, &work);
}

cc_status cc_image_splat_frames(cc_image *input, double position, cc_border border, cc_image *output, cc_stream stream)
{
    static const char *const function = "cc_image_splat_frames";
    neighbours near;
    cc__frames work;
    cc_status status = check(function, output, "output", input, "input", output);
    if (status == CC_OK)
        status = find_neighbours(function, output, position, border, &near);
    if (status != CC_OK || cc__box_is_empty(&input->box))
        return status;
    const int32_t last_axis = output->dimension - 1;
    const int64_t apart = near.count == 2 ? near.frame[1] - near.frame[0] : 0;
    const int64_t first = apart < 0 ? near.frame[1] : near.frame[0];
    const cc__box box = frames_box(output, first, 1 + (apart < 0 ? -apart : apart));
    /* The output is an input too, for its pixels are read. */
    cc__lent_images images = {.function = function,
                              .stream = stream,
                              .inputs = {input, output},
                              .input_count = 2,
                              .output = output,
                              .input_boxes = {NULL, &box},
                              .output_box = &box};
    if (input->manager == output->manager && cc__box_overlaps(&input->box, &box))
        return cc__fail(CC_ERROR_BUSY, "%s: input overlaps the output's frames, expected other pixels", function);
    status = cc__lend_images(&images);
    if (status != CC_OK)
        return status;
    begin_work(output, input, CC__FRAMES_SPLAT, &work);
    work.volume = cc__lent_input(&images, 0);
    work.frames = cc__lent_output(&images);
    work.frames.data += (near.frame[0] - first) * work.frames.stride[last_axis];
    work.frame_stride = apart * work.frames.stride[last_axis];
    work.frame_count = near.count;
    memcpy(work.weights, near.weights, sizeof work.weights);
    return finish(&images, &work);
}

cc_status cc_image_average_frames(cc_image *input, cc_image *output, cc_stream stream)
{
    static const char *const function = "cc_image_average_frames";
    cc__frames work;
    cc_status status = check(function, input, "input", output, "output", output);
    if (status != CC_OK || cc__box_is_empty(&output->box))
        return status;
    if (input->manager == output->manager && cc__box_overlaps(&input->box, &output->box))
        return cc__fail(CC_ERROR_BUSY, "%s: output overlaps the input, expected other pixels", function);
    cc__lent_images images = {
        .function = function, .stream = stream, .inputs = {input}, .input_count = 1, .output = output};
    status = cc__lend_images(&images);
    if (status != CC_OK)
        return status;
    begin_work(input, output, CC__FRAMES_AVERAGE, &work);
    work.volume = cc__lent_output(&images);
    work.frames = cc__lent_input(&images, 0);
    work.frame_stride = work.frames.stride[input->dimension - 1];
    work.frame_count = input->box.size[input->dimension - 1];
    return finish(&images, &work);
}
