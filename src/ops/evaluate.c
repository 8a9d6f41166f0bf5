#include "backend/backend.h"
#include "base/past_cache.h"
#include "memory/crew.h"
#include "ops/expression.h"
#include "ops/lent_images.h"

#include <stdatomic.h>
#include <string.h>

/* What a thread is worth starting for, and how many segments one takes at a time. */
#define BYTES_EACH ((size_t)2 << 20)
#define SEGMENTS_AT_ONCE 32

typedef struct evaluation {
    cc_place place;
    cc_stream stream;
    const cc__evaluate *work;
    cc__lattice lattice;
    int64_t segment_count;
    _Atomic int64_t next;
} evaluation;

static void take_segments(void *context)
{
    evaluation *all = context;
    for (;;) {
        const int64_t first = atomic_fetch_add(&all->next, SEGMENTS_AT_ONCE);
        if (first >= all->segment_count)
            return;
        const int64_t left = all->segment_count - first;
        cc__evaluate_segments(all->work, &all->lattice, first, left < SEGMENTS_AT_ONCE ? left : SEGMENTS_AT_ONCE);
    }
}

/* Then the lines are read anyway. */
static bool is_in_place(const cc__evaluate *work)
{
    for (int32_t i = 0; i < work->source_count; i++)
        if (work->sources[i].data == work->destination.data)
            return true;
    return false;
}

static cc_status run(void *context)
{
    evaluation *all = context;
    if (all->place != CC_PLACE_HOST) {
        cc__backend *backend = cc__backend_get();
        return backend->evaluate(backend, all->place, all->stream, all->work);
    }
    cc__evaluate_plan(all->work, &all->lattice);
    all->segment_count = all->lattice.rows * all->lattice.segments;
    const size_t bytes = cc__evaluate_bytes(all->work, &all->lattice);
    all->lattice.past_cache = !is_in_place(all->work) && cc__past_cache_pays(bytes);
    cc__crew_run(cc__crew_size(bytes, BYTES_EACH, CC__CREW_MOST), take_segments, all);
    return CC_OK;
}

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
    evaluation all = {.place = images.place, .stream = stream, .work = work};
    status = cc__lent_images_commit(&images, run, &all);
    cc__lent_images_end(&images);
    return status;
}
