#include "base/past_cache.h"
#include "kernels/launch.h"
#include "memory/crew.h"
#include "ops/expression.h"
#include "ops/lent_images.h"

#include <string.h>

/* What a thread is worth starting for, and how many segments one takes at a time. */
#define BYTES_EACH ((size_t)2 << 20)
#define SEGMENTS_AT_ONCE 32

typedef struct evaluation {
    const cc__evaluate *work;
    cc__lattice lattice;
    cc__crew_shares shares; /* of segments */
} evaluation;

static void take_segments(void *context)
{
    evaluation *all = context;
    int64_t first = 0;
    int64_t count = 0;
    while (cc__crew_shares_take(&all->shares, &first, &count))
        cc__evaluate_segments(all->work, &all->lattice, first, count);
}

static bool is_in_place(const cc__evaluate *work)
{
    for (int32_t i = 0; i < work->source_count; i++)
        if (work->sources[i].data == work->destination.data)
            return true;
    return false;
}

static void on_host(const void *argument)
{
    const cc__evaluate *work = argument;
    evaluation all = {.work = work};
    cc__evaluate_plan(work, &all.lattice);
    const size_t bytes = cc__evaluate_bytes(work, &all.lattice);
    all.lattice.is_in_place = is_in_place(work);
    all.lattice.is_far = cc__past_cache_pays(bytes);
    const int32_t threads = cc__crew_size(bytes, BYTES_EACH, CC__CREW_MOST);
    cc__crew_shares_make(&all.shares, all.lattice.rows * all.lattice.segments, SEGMENTS_AT_ONCE,
                         CC__SEGMENT * cc_pixel_type_size_bytes(work->destination_type), threads);
    cc__crew_run(threads, take_segments, &all);
}

/* From the first byte of the first component to the last that a result is made of. */
static int64_t source_bytes(const cc__evaluate *work, const cc__source *source)
{
    const int64_t component = (int64_t)cc_pixel_type_size_bytes(source->type);
    const int64_t across = (work->components - 1) * source->component_stride;
    const int64_t within = (source->components - 1) * component;
    return (across > within ? across : within) + component;
}

_Static_assert(1 + CC__MAX_SOURCES <= CC__KERNEL_RANGES, "an expression tells of all that it touches");

static int32_t touches(const void *argument, cc__kernel_range out_ranges[CC__KERNEL_RANGES])
{
    const cc__evaluate *work = argument;
    out_ranges[0] = cc__kernel_range_of(&work->destination, work->size,
                                        work->components * (int64_t)cc_pixel_type_size_bytes(work->destination_type));
    for (int32_t i = 0; i < work->source_count; i++) {
        const cc__source *source = &work->sources[i];
        cc__span span;
        memcpy(&span.data, &source->data, sizeof span.data);
        memcpy(span.stride, source->stride, sizeof span.stride);
        out_ranges[1 + i] = cc__kernel_range_of(&span, work->size, source_bytes(work, source));
    }
    return 1 + work->source_count;
}

static const cc__kernel evaluate_kernel = {.name = "evaluate",
                                           .work_bytes = sizeof(cc__evaluate),
                                           .on_host = on_host,
                                           .touches = touches,
                                           .launch = CC__LAUNCH(cc__start_evaluate)};

/* The images that the steps take, each once; the sources then count in these. */
static void choose_inputs(cc__expression *expression, cc_image *const *inputs, cc__lent_images *images)
{
    int32_t place_of[CC_MAX_INPUTS];
    for (int32_t i = 0; i < CC_MAX_INPUTS; i++)
        place_of[i] = -1;
    for (int32_t i = 0; i < expression->work.source_count; i++) {
        int32_t *place = &place_of[expression->input[i]];
        if (*place < 0) {
            *place = images->input_count++;
            images->inputs[*place] = inputs[expression->input[i]];
        }
        expression->input[i] = *place;
    }
}

cc_status cc_image_evaluate(const cc_step *steps, int32_t step_count, cc_image *const *inputs, int32_t input_count,
                            cc_image *output, cc_stream stream)
{
    return cc__evaluate_images("cc_image_evaluate", steps, step_count, inputs, input_count, output, stream);
}

cc_status cc__evaluate_images(const char *function, const cc_step *steps, int32_t step_count, cc_image *const *inputs,
                              int32_t input_count, cc_image *output, cc_stream stream)
{
    cc__lent_images images = {.function = function, .stream = stream, .output = output};
    cc__expression expression;
    cc__evaluate *work = &expression.work;
    cc_status status = cc__expression_check(function, steps, step_count, inputs, input_count, output, &expression);
    if (status != CC_OK || cc__box_is_empty(&output->box))
        return status;
    choose_inputs(&expression, inputs, &images);
    status = cc__lend_images(&images);
    if (status != CC_OK)
        return status;
    work->destination = cc__lent_output(&images);
    for (int32_t i = 0; i < work->source_count; i++) {
        const cc__span span = cc__lent_input(&images, expression.input[i]);
        const int64_t *size = images.inputs[expression.input[i]]->box.size;
        work->sources[i].data = span.data + expression.offset_bytes[i];
        for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++)
            work->sources[i].stride[axis] = size[axis] == 1 ? 0 : span.stride[axis];
    }
    cc__evaluate_by_parts(work);
    status = cc__lent_images_run(&images, &evaluate_kernel, work);
    cc__lent_images_end(&images);
    return status;
}
