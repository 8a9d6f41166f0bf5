#include "ops/tiles.h"

#include "base/error.h"
#include "data_manager/parts.h"
#include "memory/transfer_streams.h"
#include "trace/trace.h"

#include <string.h>

#define USUAL_BUFFERS 3
#define MOST_BUFFERS 8

static cc_status fail_argument(const char *function, const char *name, int64_t value, const char *expected)
{
    return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: %s = %lld, expected %s", function, name, (long long)value,
                    expected);
}

cc_status cc__tiles_read_params(const char *function, const cc_tiles_params *params, cc_tiles_params *out_params)
{
    const cc_tiles_params defaults = CC_TILES_PARAMS_INIT;
    if (params == NULL)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: params = NULL, expected a pointer", function);
    if (params->struct_size < sizeof params->struct_size)
        return fail_argument(function, "params.struct_size", params->struct_size, "CC_TILES_PARAMS_INIT");
    *out_params = defaults;
    memcpy(out_params, params, params->struct_size < sizeof *params ? params->struct_size : sizeof *params);
    if (out_params->buffer_count < 0 || out_params->buffer_count > MOST_BUFFERS)
        return fail_argument(function, "params.buffer_count", out_params->buffer_count, "0 to 8");
    if (out_params->buffer_count == 0)
        out_params->buffer_count = USUAL_BUFFERS;
    return CC_OK;
}

cc__tiles_image cc__tiles_image_of(cc_image *image)
{
    return (cc__tiles_image){.image = image,
                             .manager = image->manager,
                             .dimension = image->dimension,
                             .region = image->region,
                             .box = image->box,
                             .pixel_bytes = (int64_t)cc_pixel_type_size_bytes(image->pixel_type) * image->components};
}

/* Elements are as large as the first says, and those of an older caller are filled up. */
static cc_status read_inputs(cc__tiles_run *run)
{
    const cc_tiles_input defaults = CC_TILES_INPUT_INIT;
    const int32_t count = run->params.input_count;
    if (count < 0 || count > CC_TILES_MAX_INPUTS)
        return fail_argument(run->function, "params.input_count", count, "0 to CC_TILES_MAX_INPUTS");
    if (count > 0 && run->params.inputs == NULL)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: params.inputs = NULL, expected %d inputs", run->function,
                        (int)count);
    const size_t size = count > 0 ? run->params.inputs[0].struct_size : 0;
    if (count > 0 && size < sizeof run->params.inputs[0].struct_size)
        return fail_argument(run->function, "params.inputs[0].struct_size", (int64_t)size, "CC_TILES_INPUT_INIT");
    for (int32_t i = 0; i < count; ++i) {
        const unsigned char *from = (const unsigned char *)run->params.inputs + (size_t)i * size;
        run->inputs[i] = defaults;
        memcpy(&run->inputs[i], from, size < sizeof defaults ? size : sizeof defaults);
        if (run->inputs[i].image == NULL)
            return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: params.inputs[%d].image = NULL, expected an image",
                            run->function, (int)i);
        run->sources[i] = cc__tiles_image_of(run->inputs[i].image);
    }
    return CC_OK;
}

static int64_t difference(int64_t a, int64_t b)
{
    int64_t result = 0;
    return __builtin_sub_overflow(a, b, &result) ? (a < b ? INT64_MIN : INT64_MAX) : result;
}

/* The caller speaks of regions in the images' indices, the plan of boxes from their first pixels. */
static cc_status map_by_callback(void *context, const cc__box *output, int64_t out_first[CC_MAX_DIMENSION],
                                 int64_t out_end[CC_MAX_DIMENSION])
{
    const cc__tiles_context *self = context;
    const cc__tiles_run *run = self->run;
    const cc_tiles_input *input = &run->inputs[self->input];
    cc_region asked;
    cc_region needed = {{0, 0, 0, 0}, {1, 1, 1, 1}};
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; ++axis) {
        asked.index[axis] = run->output.region.index[axis] + output->start[axis];
        asked.size[axis] = output->size[axis];
    }
    const cc_status status = input->region(&asked, &needed, input->user_data);
    if (status != CC_OK)
        return status;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; ++axis) {
        const bool is_used = axis < run->sources[self->input].dimension;
        const int64_t start = run->sources[self->input].region.index[axis];
        const int64_t first = is_used ? difference(needed.index[axis], start) : 0;
        const int64_t size = is_used ? needed.size[axis] : 1;
        if (size < 0)
            return cc__fail(CC_ERROR_INVALID_ARGUMENT,
                            "%s: params.inputs[%d].region gave size[%d] = %lld, expected >= 0", run->function,
                            (int)self->input, (int)axis, (long long)size);
        out_first[axis] = first;
        out_end[axis] = first > 0 && size > INT64_MAX - first ? INT64_MAX : first + size;
    }
    return CC_OK;
}

static cc_status set_map(cc__tiles_run *run, int32_t number)
{
    const cc_tiles_input *input = &run->inputs[number];
    cc__tiles_source *source = &run->job.sources[number];
    memcpy(source->size, run->sources[number].box.size, sizeof source->size);
    source->pixel_bytes = run->sources[number].pixel_bytes;
    if (input->region != NULL) {
        run->contexts[number] = (cc__tiles_context){run, number};
        source->map = map_by_callback;
        source->context = &run->contexts[number];
        return CC_OK;
    }
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; ++axis) {
        const bool is_used = axis < run->sources[number].dimension;
        source->numerator[axis] = is_used && input->scale_numerator[axis] != 0 ? input->scale_numerator[axis] : 1;
        source->denominator[axis] = is_used && input->scale_denominator[axis] != 0 ? input->scale_denominator[axis] : 1;
        source->halo_before[axis] = is_used ? input->halo_before[axis] : 0;
        source->halo_after[axis] = is_used ? input->halo_after[axis] : 0;
        source->offset[axis] = is_used ? input->offset[axis] : 0;
        if (source->numerator[axis] < 0 || source->denominator[axis] < 0)
            return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: params.inputs[%d] has scale[%d] = %d / %d, expected > 0",
                            run->function, (int)number, (int)axis, (int)source->numerator[axis],
                            (int)source->denominator[axis]);
        if (source->halo_before[axis] < 0 || source->halo_after[axis] < 0)
            return cc__fail(CC_ERROR_INVALID_ARGUMENT,
                            "%s: params.inputs[%d] has halo[%d] = %lld before, %lld after, expected >= 0",
                            run->function, (int)number, (int)axis, (long long)source->halo_before[axis],
                            (long long)source->halo_after[axis]);
    }
    return CC_OK;
}

static bool is_as_it_is(const cc__tiles_source *source)
{
    bool same = source->map == NULL;
    for (int32_t axis = 0; same && axis < CC_MAX_DIMENSION; ++axis)
        same = source->numerator[axis] == source->denominator[axis] && source->halo_before[axis] == 0 &&
               source->halo_after[axis] == 0 && source->offset[axis] == 0;
    return same;
}

static cc_status check_overlap(cc__tiles_run *run, int32_t number)
{
    const cc__tiles_image *source = &run->sources[number];
    const cc__tiles_image *output = &run->output;
    if (source->manager != output->manager || !cc__box_overlaps(&source->box, &output->box))
        return CC_OK;
    run->job.sources[number].is_output =
        cc__box_equal(&source->box, &output->box) && is_as_it_is(&run->job.sources[number]);
    if (run->job.sources[number].is_output)
        return CC_OK;
    return cc__fail(CC_ERROR_BUSY,
                    "%s: output overlaps params.inputs[%d], expected other pixels, or the same without halo and scale",
                    run->function, (int)number);
}

static cc_status set_up(cc__tiles_run *run)
{
    cc__tiles_job *job = &run->job;
    cc_status status = CC_OK;
    if (run->params.output == NULL)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: params.output = NULL, expected an image", run->function);
    if (run->params.function == NULL)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: params.function = NULL, expected a function", run->function);
    run->output = cc__tiles_image_of(run->params.output);
    memcpy(job->size, run->output.box.size, sizeof job->size);
    job->pixel_bytes = run->output.pixel_bytes;
    job->source_count = run->params.input_count;
    job->buffer_count = run->params.buffer_count;
    for (int32_t i = 0; status == CC_OK && i < run->params.input_count; ++i)
        status = set_map(run, i);
    for (int32_t i = 0; status == CC_OK && i < run->params.input_count; ++i)
        status = check_overlap(run, i);
    if (status == CC_OK && cc__image_is_read_only(run->params.output))
        status = cc__fail(CC_ERROR_READ_ONLY, "%s: the output's pixels were wrapped read-only", run->function);
    return status;
}

static cc_status choose_place(cc__tiles_run *run)
{
    const cc_place wanted = run->params.place;
    run->backend = cc__backend_get();
    run->place = CC_PLACE_HOST;
    if (wanted < CC_DEVICE_CURRENT)
        return fail_argument(run->function, "params.place", wanted, "a device, CC_PLACE_HOST or CC_DEVICE_CURRENT");
    if (wanted == CC_PLACE_HOST || (wanted == CC_DEVICE_CURRENT && run->backend->device_count == 0))
        return CC_OK;
    if (wanted == CC_DEVICE_CURRENT)
        return cc__image_resolve_device(run->function, run->params.output, &run->place);
    run->place = wanted;
    return cc__backend_check_device(run->backend, run->function, wanted);
}

static cc__access_request request_for(const cc__tiles_run *run, const cc__tiles_image *image)
{
    cc__access_request request = {
        .function = run->function, .owner = &image->image->owner, .box = image->box, .place = CC_PLACE_HOST};
    if (image == &run->output)
        request.access = CC_ACCESS_WRITE;
    for (int32_t i = 0; image == &run->output && i < run->params.input_count; ++i)
        if (run->job.sources[i].is_output)
            request.access = CC_ACCESS_READ_WRITE;
    return request;
}

int32_t cc__tiles_first_alike(const cc__tiles_run *run, int32_t input)
{
    int32_t first = 0;
    while (run->sources[first].manager != run->sources[input].manager ||
           !cc__box_equal(&run->sources[first].box, &run->sources[input].box))
        ++first;
    return first;
}

/* An input that is the output is written, and mapped once; so are inputs that are the same pixels. */
static bool is_mapped_by_itself(const cc__tiles_run *run, int32_t input)
{
    return !run->job.sources[input].is_output && !cc__box_is_empty(&run->sources[input].box) &&
           cc__tiles_first_alike(run, input) == input;
}

static cc_status check_free(const cc__tiles_run *run)
{
    cc__access_request request = request_for(run, &run->output);
    cc_status status = cc__data_manager_check_free(run->output.manager, &request);
    for (int32_t i = 0; status == CC_OK && i < run->params.input_count; ++i) {
        if (!is_mapped_by_itself(run, i))
            continue;
        request = request_for(run, &run->sources[i]);
        status = cc__data_manager_check_free(run->sources[i].manager, &request);
    }
    return status;
}

static cc_status begin_image(const cc__tiles_run *run, cc__tiles_image *image)
{
    const cc__access_request request = request_for(run, image);
    cc_status status = CC_OK;
    if (run->place != CC_PLACE_HOST)
        status = cc__fence_create_for_default_stream(run->backend, run->place, &image->fence);
    if (status == CC_OK)
        status = cc__data_manager_begin_parts(image->manager, &request, &image->mapping);
    return status;
}

static cc_status begin_images(cc__tiles_run *run)
{
    cc_status status = begin_image(run, &run->output);
    for (int32_t i = 0; status == CC_OK && i < run->params.input_count; ++i)
        if (is_mapped_by_itself(run, i))
            status = begin_image(run, &run->sources[i]);
    return status;
}

static void end_image(cc__tiles_image *image, bool is_over)
{
    if (image->mapping != NULL)
        cc__data_manager_end_parts(image->manager, image->mapping, is_over ? NULL : image->fence);
    cc__fence_release(image->fence);
}

static void end_images(cc__tiles_run *run)
{
    for (int32_t i = 0; i < run->params.input_count; ++i)
        end_image(&run->sources[i], run->is_read);
    end_image(&run->output, run->is_read && run->is_written);
}

/* Mapped, they stay; with the caller's last reference gone, too. */
static void hold(const cc__tiles_run *run)
{
    (void)cc_image_retain(run->output.image);
    for (int32_t i = 0; i < run->params.input_count; ++i)
        (void)cc_image_retain(run->sources[i].image);
}

static void let_go(const cc__tiles_run *run)
{
    for (int32_t i = 0; i < run->params.input_count; ++i)
        cc_image_release(run->sources[i].image);
    cc_image_release(run->output.image);
}

/* Borrowers get what is written also when the run ends early. */
static cc_status finish(const cc__tiles_run *run, cc_status run_status)
{
    cc__error_state before;
    if (run->output.mapping == NULL)
        return run_status;
    cc__error_save(&before);
    const cc_status status = cc__data_manager_finish_parts(run->output.manager, run->output.mapping);
    if (run_status == CC_OK)
        return status;
    cc__error_restore(&before);
    return run_status;
}

static cc_status carry_out(cc__tiles_run *run)
{
    const bool is_on_device = run->place != CC_PLACE_HOST;
    const size_t limit = run->params.limit_bytes;
    cc_status status = check_free(run);
    if (status == CC_OK && !is_on_device)
        status = cc__tiles_plan_for(run, limit == 0 || limit > INT64_MAX ? INT64_MAX : (int64_t)limit);
    if (status == CC_OK && is_on_device)
        status = run->backend->check_usable(run->backend);
    if (status == CC_OK && is_on_device)
        status = cc__transfer_stream_get_for(run->backend, run->place, CC__TRAFFIC_UP, &run->up);
    if (status == CC_OK && is_on_device)
        status = cc__tiles_allocate(run);
    if (status == CC_OK)
        status = begin_images(run);
    if (status == CC_OK)
        status = is_on_device ? cc__tiles_run_on_device(run) : cc__tiles_run_on_host(run);
    status = finish(run, status);
    end_images(run);
    cc__tiles_free(run);
    return status;
}

cc_status cc__tiles_execute(const char *function, const cc_tiles_params *params, void *function_data)
{
    cc__tiles_run run = {
        .function = function, .params = *params, .function_data = function_data, .is_read = true, .is_written = true};
    cc_status status = read_inputs(&run);
    if (status == CC_OK)
        status = set_up(&run);
    if (status == CC_OK)
        status = choose_place(&run);
    if (status != CC_OK || cc__box_is_empty(&run.output.box))
        return status;
    hold(&run);
    status = carry_out(&run);
    let_go(&run);
    cc__trace_tell();
    return status;
}

cc_status cc__tiles_bring(const cc__tiles_run *run, int32_t input, const cc__box *box)
{
    const cc__tiles_image *image =
        run->job.sources[input].is_output ? &run->output : &run->sources[cc__tiles_first_alike(run, input)];
    return cc__data_manager_bring_part(image->manager, image->mapping, box);
}

void cc__tiles_tell(cc__tiles_run *run, int64_t done)
{
    while (run->told < done) {
        ++run->told;
        if (run->params.progress != NULL &&
            run->params.progress(run->told, run->plan.tile_count, run->params.user_data) != 0)
            run->is_cancelled = true;
    }
}

cc_status cc__tiles_fail_cancelled(const cc__tiles_run *run)
{
    return cc__fail(CC_ERROR_CANCELLED, "%s: progress cancelled it after %lld of %lld tiles", run->function,
                    (long long)run->told, (long long)run->plan.tile_count);
}

cc_status cc_tiles_run(const cc_tiles_params *params)
{
    cc_tiles_params known = CC_TILES_PARAMS_INIT;
    const cc_status status = cc__tiles_read_params("cc_tiles_run", params, &known);
    return status == CC_OK ? cc__tiles_execute("cc_tiles_run", &known, known.user_data) : status;
}
