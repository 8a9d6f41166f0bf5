#include "base/convolve.h"

#include "base/components.h"
#include "base/error.h"
#include "kernels/launch.h"
#include "memory/crew.h"
#include "ops/fit.h"
#include "ops/lent_images.h"
#include "ops/scratch_pixels.h"

#include <cudacommon/fft.h>
#include <stdatomic.h>
#include <string.h>

/* Of the lines that are transformed at once on a device. */
#define BATCH_BYTES (INT64_C(64) << 20)
/* Numbers of lines that a thread is worth starting for. */
#define NUMBERS_EACH ((size_t)1 << 14)

typedef struct convolving {
    cc__convolve_plan plan;
    _Atomic int32_t next_slot;
    _Atomic int64_t next_line;
} convolving;

static void take_lines(void *context)
{
    convolving *all = context;
    cc__convolve_slot slot;
    cc__convolve_open_slot(&all->plan, atomic_fetch_add(&all->next_slot, 1), &slot);
    for (;;) {
        const int64_t line = atomic_fetch_add(&all->next_line, 1);
        if (line >= all->plan.lines.count)
            return;
        cc__convolve_line(&all->plan, &slot, line);
    }
}

static void convolve_on_host(const void *argument)
{
    const cc__convolve *work = argument;
    convolving all;
    cc__convolve_begin(work, &all.plan);
    atomic_init(&all.next_slot, 0);
    atomic_init(&all.next_line, 0);
    const size_t numbers = (size_t)all.plan.lines.count * (size_t)work->length;
    cc__crew_run(cc__crew_size(numbers, NUMBERS_EACH, work->slots), take_lines, &all);
}

static int32_t list_ranges(const void *argument, cc__kernel_range out_ranges[CC__KERNEL_RANGES])
{
    const cc__convolve *work = argument;
    const cc__span filter = {(unsigned char *)work->filter, {work->filter_step, 0, 0, 0}};
    const int64_t size[CC_MAX_DIMENSION] = {work->filter_size, 1, 1, 1};
    const int32_t count = cc__line_images_ranges(&work->images, work->images.size[work->images.axis], out_ranges);
    out_ranges[count] = cc__kernel_range_of(&filter, size, (int64_t)cc_pixel_type_size_bytes(work->filter_type));
    out_ranges[count + 1] = (cc__kernel_range){work->scratch, work->scratch_bytes};
    return count + 2;
}

static const cc__kernel convolve_kernel = {"convolve", sizeof(cc__convolve), convolve_on_host, list_ranges,
                                           CC__LAUNCH(cc__start_convolve)};

static cc_status fail_value(const char *function, const char *name, int64_t value, const char *expected)
{
    return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: %s = %lld, expected %s", function, name, (long long)value,
                    expected);
}

static cc_status read_params(const char *function, const cc_convolve_params *params, cc_convolve_params *out_params)
{
    const cc_convolve_params defaults = CC_CONVOLVE_PARAMS_INIT;
    if (params == NULL)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: params = NULL, expected a pointer", function);
    if (params->struct_size < sizeof params->struct_size)
        return fail_value(function, "params.struct_size", params->struct_size, "CC_CONVOLVE_PARAMS_INIT");
    *out_params = defaults;
    memcpy(out_params, params, params->struct_size < sizeof *params ? params->struct_size : sizeof *params);
    if (out_params->domain != CC_FILTER_IN_SPACE && out_params->domain != CC_FILTER_IN_FREQUENCY)
        return fail_value(function, "params.domain", out_params->domain, "a cc_filter_domain");
    return CC_OK;
}

static cc_status check_images(const char *function, const cc_image *input, const cc_image *filter,
                              const cc_image *output)
{
    if (input == NULL || filter == NULL || output == NULL)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: %s = NULL, expected an image", function,
                        input == NULL    ? "input"
                        : filter == NULL ? "filter"
                                         : "output");
    if (cc__is_complex(input->pixel_type) || cc__is_complex(output->pixel_type))
        return cc__fail(CC_ERROR_PIXEL_TYPE, "%s: %s has complex pixels, expected real ones", function,
                        cc__is_complex(input->pixel_type) ? "input" : "output");
    const cc_status status = cc__fit_output(function, input, output);
    if (status != CC_OK)
        return status;
    if (filter->components != 1 || filter->box.size[0] < 1)
        return cc__fail(CC_ERROR_SIZE, "%s: filter has %lld pixels of %d components, expected a line of one", function,
                        (long long)filter->box.size[0], filter->components);
    for (int32_t axis = 1; axis < CC_MAX_DIMENSION; ++axis)
        if (filter->box.size[axis] != 1)
            return cc__fail(CC_ERROR_SIZE, "%s: filter has size[%d] = %lld, expected 1", function, axis,
                            (long long)filter->box.size[axis]);
    if (cc__image_is_read_only(output))
        return cc__fail(CC_ERROR_READ_ONLY, "%s: the output's pixels were wrapped read-only", function);
    return CC_OK;
}

/* The next even number made of 2, 3 and 5. */
static int64_t fast_length(int64_t least)
{
    int64_t best = INT64_MAX;
    for (int64_t fives = 2; fives < 2 * least || fives == 2; fives *= 5)
        for (int64_t threes = fives; threes < 2 * least || threes == fives; threes *= 3) {
            int64_t length = threes;
            while (length < least)
                length *= 2;
            best = length < best ? length : best;
        }
    return best;
}

static cc_status plan_in_space(const char *function, const cc_convolve_params *params, int64_t size, cc__convolve *work)
{
    work->centre = params->centre == -1 ? work->filter_size / 2 : params->centre;
    if (work->centre < 0 || work->centre >= work->filter_size)
        return fail_value(function, "params.centre", work->centre, "a pixel of the filter");
    const int64_t after = work->filter_size - 1 - work->centre;
    const int64_t least = size + (work->centre > after ? work->centre : after);
    if (params->length != 0 && params->length < least)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: params.length = %lld, expected at least %lld", function,
                        (long long)params->length, (long long)least);
    if (least > CC_CONVOLVE_MAX_LENGTH || params->length > CC_CONVOLVE_MAX_LENGTH)
        return cc__fail(CC_ERROR_UNSUPPORTED, "%s: the transforms would be %lld pixels long, expected at most %d",
                        function, (long long)(params->length != 0 ? params->length : least), CC_CONVOLVE_MAX_LENGTH);
    work->length = params->length != 0 ? params->length : fast_length(least);
    return CC_OK;
}

static cc_status plan_in_frequency(const char *function, const cc_convolve_params *params, int64_t size,
                                   cc__convolve *work)
{
    const int64_t length = params->length != 0 ? params->length : 2 * (work->filter_size - 1);
    if (length < size || length < 1 || length / 2 + 1 != work->filter_size)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT,
                        "%s: params.length = %lld with a filter of %lld pixels, expected a length of at least %lld and "
                        "length / 2 + 1 pixels",
                        function, (long long)length, (long long)work->filter_size, (long long)size);
    if (length > CC_CONVOLVE_MAX_LENGTH)
        return cc__fail(CC_ERROR_UNSUPPORTED, "%s: the transforms would be %lld pixels long, expected at most %d",
                        function, (long long)length, CC_CONVOLVE_MAX_LENGTH);
    work->in_frequency = 1;
    work->length = length;
    return CC_OK;
}

static cc_status plan_work(const char *function, const cc_convolve_params *params, const cc_image *input,
                           const cc_image *filter, const cc_image *output, cc__convolve *work)
{
    const bool is_narrow = cc_pixel_type_size_bytes(input->pixel_type) <= 2 || input->pixel_type == CC_PIXEL_FLOAT32;
    if (params->axis < 0 || params->axis >= input->dimension)
        return fail_value(function, "params.axis", params->axis, "an axis of the input");
    if (cc__is_complex(filter->pixel_type) && params->domain == CC_FILTER_IN_SPACE)
        return cc__fail(CC_ERROR_PIXEL_TYPE, "%s: filter has complex pixels in space, expected real ones", function);
    work->images.source_type = input->pixel_type;
    work->images.destination_type = output->pixel_type;
    work->images.components = input->components;
    work->images.axis = params->axis;
    memcpy(work->images.size, input->box.size, sizeof work->images.size);
    work->filter_type = filter->pixel_type;
    work->filter_size = filter->box.size[0];
    work->is_wide = !is_narrow;
    const int64_t size = input->box.size[params->axis];
    return params->domain == CC_FILTER_IN_SPACE ? plan_in_space(function, params, size, work)
                                                : plan_in_frequency(function, params, size, work);
}

/* Batches of equal size, so that one plan of the device's library does for all of them. */
static void plan_scratch(cc_place place, cc__convolve *work)
{
    int64_t lines = work->images.components;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++)
        lines *= axis == work->images.axis ? 1 : work->images.size[axis];
    const int64_t fitting = BATCH_BYTES / cc__convolve_line_bytes(work);
    const int64_t most = fitting < 1 ? 1 : fitting < lines ? fitting : lines;
    const int64_t batches = (lines - 1) / most + 1;
    work->batch = (lines - 1) / batches + 1;
    const size_t numbers = (size_t)lines * (size_t)work->length;
    work->slots = cc__crew_size(numbers, NUMBERS_EACH, CC__CREW_MOST);
    const int64_t slots_bytes = work->slots * cc__convolve_slot_bytes(work);
    const int64_t batch_bytes = place == CC_PLACE_HOST ? 0 : work->batch * cc__convolve_line_bytes(work);
    work->scratch_bytes = cc__convolve_response_bytes(work) + (slots_bytes > batch_bytes ? slots_bytes : batch_bytes);
}

cc_status cc_image_convolve_axis(cc_image *input, cc_image *filter, const cc_convolve_params *params, cc_image *output,
                                 cc_stream stream)
{
    static const char *const function = "cc_image_convolve_axis";
    cc__lent_images images = {
        .function = function, .stream = stream, .inputs = {input, filter}, .input_count = 2, .output = output};
    cc__convolve work;
    cc_convolve_params known;
    cc__place_memory scratch = {0};
    memset(&work, 0, sizeof work);
    cc_status status = check_images(function, input, filter, output);
    if (status == CC_OK)
        status = read_params(function, params, &known);
    if (status == CC_OK)
        status = plan_work(function, &known, input, filter, output, &work);
    if (status != CC_OK || cc__box_is_empty(&output->box))
        return status;
    status = cc__lend_images(&images);
    if (status != CC_OK)
        return status;
    plan_scratch(images.place, &work);
    work.images.source = cc__lent_input(&images, 0);
    work.images.destination = cc__lent_output(&images);
    const cc__span filter_span = cc__lent_input(&images, 1);
    work.filter = filter_span.data;
    work.filter_step = filter_span.stride[0];
    status = cc__scratch_pixels_allocate(&images, (const int64_t[CC_MAX_DIMENSION]){work.scratch_bytes, 1, 1, 1},
                                         CC_PIXEL_UINT8, 1, &scratch);
    work.scratch = scratch.pixels;
    if (status == CC_OK)
        status = cc__lent_images_run(&images, &convolve_kernel, &work);
    cc__scratch_pixels_free(&images, &scratch);
    cc__lent_images_end(&images);
    return status;
}
