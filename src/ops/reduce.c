#include "base/reduce.h"
#include "base/components.h"
#include "base/error.h"
#include "kernels/launch.h"
#include "memory/crew.h"
#include "ops/fit.h"
#include "ops/lent_images.h"
#include "ops/scratch_pixels.h"

#include <cudacommon/access.h>
#include <cudacommon/reductions.h>
#include <fenv.h>
#include <stdatomic.h>
#include <string.h>

/* What a thread is worth starting for, and how many pieces one takes at a time. */
#define BYTES_EACH ((size_t)2 << 20)
#define PIECES_AT_ONCE 8

static const struct {
    cc__reduce_kind kind;
    cc__reduce_end end;
} meanings[] = {
    [CC_REDUCE_SUM] = {CC__REDUCE_SUM, CC__REDUCE_AS_IT_IS},
    [CC_REDUCE_MEAN] = {CC__REDUCE_SUM, CC__REDUCE_MEAN},
    [CC_REDUCE_MINIMUM] = {CC__REDUCE_MINIMUM, CC__REDUCE_AS_IT_IS},
    [CC_REDUCE_MAXIMUM] = {CC__REDUCE_MAXIMUM, CC__REDUCE_AS_IT_IS},
    [CC_REDUCE_VARIANCE] = {CC__REDUCE_MOMENTS, CC__REDUCE_VARIANCE},
    [CC_REDUCE_NORM] = {CC__REDUCE_SQUARES, CC__REDUCE_ROOT},
    [CC_REDUCE_DOT] = {CC__REDUCE_DOT, CC__REDUCE_AS_IT_IS},
};
#define REDUCTIONS ((int32_t)(sizeof meanings / sizeof meanings[0]))

static bool keeps_parts(cc_reduction reduction, const cc_image *input)
{
    return cc__is_complex(input->pixel_type) && (reduction == CC_REDUCE_SUM || reduction == CC_REDUCE_MEAN);
}

static cc_status check_inputs(const char *function, cc_reduction reduction, const cc_image *input,
                              const cc_image *second)
{
    if (input == NULL)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: input = NULL, expected an image", function);
    if ((int32_t)reduction < 0 || (int32_t)reduction >= REDUCTIONS)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: reduction = %d, expected a cc_reduction", function,
                        (int)reduction);
    if (second == NULL && reduction == CC_REDUCE_DOT)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: second = NULL, expected an image", function);
    if (second != NULL && reduction != CC_REDUCE_DOT)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: second is an image, expected NULL but for CC_REDUCE_DOT",
                        function);
    if (cc__box_is_empty(&input->box))
        return cc__fail(CC_ERROR_SIZE, "%s: input has no pixels", function);
    const bool may_be_complex =
        reduction == CC_REDUCE_SUM || reduction == CC_REDUCE_MEAN || reduction == CC_REDUCE_NORM;
    if ((cc__is_complex(input->pixel_type) && !may_be_complex) ||
        (second != NULL && cc__is_complex(second->pixel_type)))
        return cc__fail(CC_ERROR_PIXEL_TYPE, "%s: pixels are complex, expected real ones", function);
    if (second == NULL)
        return CC_OK;
    const cc_status status = cc__fit_size(function, "second", second, input);
    return status == CC_OK ? cc__fit_components(function, "second", second, input) : status;
}

static cc_status check_output(const char *function, cc_reduction reduction, const cc_image *input,
                              const cc_image *output)
{
    const cc_pixel_type type = keeps_parts(reduction, input) ? CC_PIXEL_COMPLEX128 : CC_PIXEL_FLOAT64;
    if (output == NULL)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: output = NULL, expected an image", function);
    if (output->pixel_type != type)
        return cc__fail(CC_ERROR_PIXEL_TYPE, "%s: output has type %s, expected %s", function,
                        cc_pixel_type_name(output->pixel_type), cc_pixel_type_name(type));
    if (cc__box_pixels(&output->box) != 1 || (output->components != 1 && output->components != input->components))
        return cc__fail(CC_ERROR_SIZE, "%s: output has %lld pixels of %d components, expected one of 1 or %d", function,
                        (long long)cc__box_pixels(&output->box), output->components, input->components);
    if (cc__image_is_read_only(output))
        return cc__fail(CC_ERROR_READ_ONLY, "%s: the output's pixels were wrapped read-only", function);
    return CC_OK;
}

static cc_status check_apart(const char *function, const cc_image *input, const cc_image *output)
{
    if (input != NULL && input->manager == output->manager && cc__box_overlaps(&input->box, &output->box))
        return cc__fail(CC_ERROR_BUSY, "%s: output overlaps an input, expected other pixels", function);
    return CC_OK;
}

typedef struct reducing {
    cc__reduce work;
    cc__sequence sequence;
    int64_t piece_count;
    _Atomic int64_t next;
} reducing;

static void take_pieces(void *context)
{
    reducing *all = context;
    fenv_t environment;
    fegetenv(&environment);
    fesetenv(FE_DFL_ENV);
    for (;;) {
        const int64_t first = atomic_fetch_add(&all->next, PIECES_AT_ONCE);
        if (first >= all->piece_count)
            break;
        for (int64_t piece = first; piece < first + PIECES_AT_ONCE && piece < all->piece_count; piece++)
            all->work.scratch[piece] = cc__reduce_piece(&all->work, &all->sequence, piece);
    }
    fesetenv(&environment);
}

static void on_host(const void *argument)
{
    const cc__reduce *work = argument;
    for (int32_t n = 0; n < work->result_count; n++) {
        reducing all = {.work = cc__reduce_part(work, n)};
        cc__sequence_plan(all.work.sources, work->source_count, work->components, work->size, &all.sequence);
        all.piece_count = cc__reduce_pieces(all.sequence.count);
        const size_t bytes = (size_t)all.sequence.count * cc_pixel_type_size_bytes(work->sources[0].type);
        cc__crew_run(cc__crew_size(bytes, BYTES_EACH, CC__CREW_MOST), take_pieces, &all);
        cc__reduce_finish(&all.work, &all.sequence);
    }
}

static cc__kernel_range range_of_source(const cc__reduce *work, int32_t n)
{
    const cc__reduced *source = &work->sources[n];
    const int64_t bytes = (work->result_count - 1) * work->between_bytes[n] +
                          (work->components - 1) * source->component_stride +
                          (int64_t)cc_pixel_type_size_bytes(source->type);
    cc__span span;
    memcpy(&span.data, &source->data, sizeof span.data);
    memcpy(span.stride, source->stride, sizeof span.stride);
    return cc__kernel_range_of(&span, work->size, bytes);
}

static size_t scratch_bytes(const cc__reduce *work)
{
    return (size_t)(work->result_count * cc__reduce_scratch(cc__reduce_count(work))) * sizeof *work->scratch;
}

static int32_t touches(const void *argument, cc__kernel_range out_ranges[CC__KERNEL_RANGES])
{
    const cc__reduce *work = argument;
    int32_t count = 0;
    out_ranges[count++] =
        (cc__kernel_range){(const unsigned char *)work->results, work->result_count * (int64_t)sizeof *work->results};
    out_ranges[count++] = (cc__kernel_range){(const unsigned char *)work->scratch, (int64_t)scratch_bytes(work)};
    for (int32_t n = 0; n < work->source_count; n++)
        out_ranges[count++] = range_of_source(work, n);
    return count;
}

static const cc__kernel reduce_kernel = {.name = "reduce",
                                         .work_bytes = sizeof(cc__reduce),
                                         .on_host = on_host,
                                         .touches = touches,
                                         .launch = CC__LAUNCH(cc__launch_reduce)};

/* Parts of complex components count as components. */
static cc__reduced reduced_of(const cc_image *image, const cc__span *span)
{
    cc__reduced source = {.data = span->data, .type = image->pixel_type};
    if (source.type == CC_PIXEL_COMPLEX64)
        source.type = CC_PIXEL_FLOAT32;
    if (source.type == CC_PIXEL_COMPLEX128)
        source.type = CC_PIXEL_FLOAT64;
    memcpy(source.stride, span->stride, sizeof source.stride);
    source.component_stride = (int64_t)cc_pixel_type_size_bytes(source.type);
    return source;
}

static void plan_work(cc_reduction kind, const cc__lent_images *images, cc__reduce *work)
{
    const cc_image *input = images->inputs[0];
    const int32_t parts = cc__is_complex(input->pixel_type) ? 2 : 1;
    const int32_t components = input->components * parts;
    memset(work, 0, sizeof *work);
    work->kind = meanings[kind].kind;
    work->end = meanings[kind].end;
    work->source_count = images->input_count;
    memcpy(work->size, input->box.size, sizeof work->size);
    for (int32_t n = 0; n < images->input_count; n++) {
        const cc__span span = cc__lent_input(images, n);
        work->sources[n] = reduced_of(images->inputs[n], &span);
        work->between_bytes[n] = work->sources[n].component_stride;
    }
    /* The same products, read once. */
    if (work->kind == CC__REDUCE_DOT && memcmp(&work->sources[0], &work->sources[1], sizeof work->sources[0]) == 0) {
        work->kind = CC__REDUCE_SQUARES;
        work->source_count = 1;
    }
    work->results = (double *)(void *)cc__lent_output(images).data;
    work->result_count = images->output->components * (keeps_parts(kind, input) ? 2 : 1);
    if (images->output->components == 1) {
        /* All together; of complex ones the parts apart, unless both go into the same number. */
        work->components = work->result_count == 2 ? input->components : components;
        if (work->result_count == 2)
            work->sources[0].component_stride *= 2;
    } else {
        work->components = keeps_parts(kind, input) ? 1 : parts;
        if (!keeps_parts(kind, input))
            work->between_bytes[0] *= parts;
    }
}

static cc_status reduce(const char *function, cc_reduction kind, cc_image *input, cc_image *second, cc_image *output,
                        cc_stream stream)
{
    cc__lent_images images = {.function = function,
                              .stream = stream,
                              .inputs = {input, second},
                              .input_count = second != NULL ? 2 : 1,
                              .output = output};
    cc__reduce work;
    void *scratch = NULL;
    cc_status status = check_inputs(function, kind, input, second);
    if (status == CC_OK)
        status = check_output(function, kind, input, output);
    if (status == CC_OK)
        status = check_apart(function, input, output);
    if (status == CC_OK)
        status = check_apart(function, second, output);
    if (status == CC_OK)
        status = cc__lend_images(&images);
    if (status != CC_OK)
        return status;
    plan_work(kind, &images, &work);
    status = cc__scratch_bytes_allocate(&images, scratch_bytes(&work), &scratch);
    work.scratch = scratch;
    if (status == CC_OK)
        status = cc__lent_images_run(&images, &reduce_kernel, &work);
    cc__scratch_bytes_free(&images, scratch);
    cc__lent_images_end(&images);
    return status;
}

cc_status cc_image_reduce(cc_reduction reduction, cc_image *input, cc_image *second, cc_image *output, cc_stream stream)
{
    return reduce("cc_image_reduce", reduction, input, second, output, stream);
}

cc_status cc_image_measure(cc_reduction reduction, cc_image *input, cc_image *second, cc_stream stream,
                           double *out_value)
{
    static const char *const function = "cc_image_measure";
    cc_image_params params = CC_IMAGE_PARAMS_INIT;
    cc_image *output = NULL;
    void *pixel = NULL;
    double value = 0;
    cc_status status = check_inputs(function, reduction, input, second);
    if (status == CC_OK && keeps_parts(reduction, input))
        status = cc__fail(CC_ERROR_PIXEL_TYPE, "%s: pixels are complex, expected real ones", function);
    if (status == CC_OK && out_value == NULL)
        status = cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: out_value = NULL, expected a pointer", function);
    if (status != CC_OK)
        return status;
    params.dimension = 1;
    params.pixel_type = CC_PIXEL_FLOAT64;
    params.region.size[0] = 1;
    params.flags = CC_IMAGE_UNINITIALIZED;
    status = cc_image_create(&params, &output);
    if (status == CC_OK)
        status = reduce(function, reduction, input, second, output, stream);
    if (status == CC_OK)
        status = cc_image_map_host(output, NULL, CC_ACCESS_READ, &pixel);
    if (status == CC_OK) {
        memcpy(&value, pixel, sizeof value);
        status = cc_image_unmap_host(output, pixel);
    }
    if (status == CC_OK)
        *out_value = value;
    cc_image_release(output);
    return status;
}
