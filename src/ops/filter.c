/* A caller's function on whole images, each of them lent as the only tile there is. */
#include "base/error.h"
#include "data_manager/loans.h"
#include "ops/tiles.h"
#include "trace/trace.h"

#include <cudacommon/filter.h>
#include <string.h>

static const char *const function = "cc_filter_run";

static cc_status fail_argument(const char *name, int64_t value, const char *expected)
{
    return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: %s = %lld, expected %s", function, name, (long long)value,
                    expected);
}

static cc_status read_filter(const cc_filter *filter, cc_filter *out_filter)
{
    const cc_filter defaults = CC_FILTER_INIT;
    if (filter == NULL)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: filter = NULL, expected a pointer", function);
    if (filter->struct_size < sizeof filter->struct_size)
        return fail_argument("filter.struct_size", filter->struct_size, "CC_FILTER_INIT");
    *out_filter = defaults;
    memcpy(out_filter, filter, filter->struct_size < sizeof *filter ? filter->struct_size : sizeof *filter);
    if (out_filter->output == NULL)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: filter.output = NULL, expected an image", function);
    if (out_filter->on_device == NULL && out_filter->on_host == NULL)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: filter.on_device and on_host are NULL, expected a function",
                        function);
    if (out_filter->input_count < 0 || out_filter->input_count > CC_TILES_MAX_INPUTS)
        return fail_argument("filter.input_count", out_filter->input_count, "0 to CC_TILES_MAX_INPUTS");
    if (out_filter->input_count > 0 && out_filter->inputs == NULL)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: filter.inputs = NULL, expected %d images", function,
                        (int)out_filter->input_count);
    for (int32_t i = 0; i < out_filter->input_count; ++i)
        if (out_filter->inputs[i] == NULL)
            return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: filter.inputs[%d] = NULL, expected an image", function,
                            (int)i);
    return CC_OK;
}

static cc_status set_images(const cc_filter *filter, cc__tiles_run *run)
{
    cc__tiles_image *output = &run->output;
    *output = cc__tiles_image_of(filter->output);
    for (int32_t i = 0; i < filter->input_count; ++i) {
        cc__tiles_image *input = &run->sources[i];
        *input = cc__tiles_image_of(filter->inputs[i]);
        if (input->manager != output->manager || !cc__box_overlaps(&input->box, &output->box))
            continue;
        run->job.sources[i].is_output = cc__box_equal(&input->box, &output->box);
        if (!run->job.sources[i].is_output)
            return cc__fail(CC_ERROR_BUSY,
                            "%s: filter.output overlaps filter.inputs[%d], expected the same pixels or others",
                            function, (int)i);
    }
    if (cc__image_is_read_only(filter->output))
        return cc__fail(CC_ERROR_READ_ONLY, "%s: the output's pixels were wrapped read-only", function);
    return CC_OK;
}

/* A kernel cannot run on an emulated device; a borrower on the host would not see what is written elsewhere. */
static bool prefers_host(const cc_filter *filter, const cc__tiles_run *run)
{
    return filter->on_host != NULL && (filter->on_device == NULL || run->backend->device_count == 0 ||
                                       strcmp(run->backend->name, "emulated") == 0 ||
                                       cc__data_manager_is_lent(run->output.manager, CC_PLACE_HOST, &run->output.box));
}

static cc_status choose_place(const cc_filter *filter, cc__tiles_run *run)
{
    run->backend = cc__backend_get();
    run->place = filter->place;
    if (filter->place < CC_DEVICE_CURRENT)
        return fail_argument("filter.place", filter->place, "a device, CC_PLACE_HOST or CC_DEVICE_CURRENT");
    if (filter->place == CC_DEVICE_CURRENT) {
        run->place = CC_PLACE_HOST;
        return prefers_host(filter, run) ? CC_OK : cc__image_resolve_device(function, filter->output, &run->place);
    }
    if (filter->place == CC_PLACE_HOST && filter->on_host == NULL)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: filter.on_host = NULL, expected a function for the host",
                        function);
    if (filter->place != CC_PLACE_HOST && filter->on_device == NULL)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: filter.on_device = NULL, expected a function for device %d",
                        function, (int)filter->place);
    return filter->place == CC_PLACE_HOST ? CC_OK : cc__backend_check_device(run->backend, function, filter->place);
}

static cc__access_request request_for(const cc__tiles_run *run, const cc__tiles_image *image)
{
    cc__access_request request = {
        .function = function, .box = image->box, .place = run->place, .stream = run->up, .access = CC_ACCESS_READ};
    if (image == &run->output)
        request.access = CC_ACCESS_WRITE;
    for (int32_t i = 0; image == &run->output && i < run->params.input_count; ++i)
        if (run->job.sources[i].is_output)
            request.access = CC_ACCESS_READ_WRITE;
    return request;
}

static bool is_lent_by_itself(const cc__tiles_run *run, int32_t input)
{
    return !run->job.sources[input].is_output && !cc__box_is_empty(&run->sources[input].box) &&
           cc__tiles_first_alike(run, input) == input;
}

static cc_status lend_image(const cc__tiles_run *run, cc__tiles_image *image)
{
    const cc__access_request request = request_for(run, image);
    return cc__data_manager_begin(image->manager, &request, &image->mapping);
}

/* Nothing moves for one image when another cannot be had. */
static cc_status lend(cc__tiles_run *run)
{
    cc__access_request request = request_for(run, &run->output);
    cc_status status = cc__data_manager_check_free(run->output.manager, &request);
    for (int32_t i = 0; status == CC_OK && i < run->params.input_count; ++i) {
        request = request_for(run, &run->sources[i]);
        if (is_lent_by_itself(run, i))
            status = cc__data_manager_check_free(run->sources[i].manager, &request);
    }
    for (int32_t i = 0; status == CC_OK && i < run->params.input_count; ++i)
        if (is_lent_by_itself(run, i))
            status = lend_image(run, &run->sources[i]);
    return status == CC_OK ? lend_image(run, &run->output) : status;
}

static void end_image(const cc__tiles_image *image, const cc__mapping *worker)
{
    if (image->mapping != NULL)
        cc__data_manager_end(image->manager, image->mapping, worker != NULL ? worker : image->mapping);
}

static void end(const cc__tiles_run *run)
{
    for (int32_t i = 0; i < run->params.input_count; ++i)
        end_image(&run->sources[i], run->output.mapping);
    end_image(&run->output, run->output.mapping);
}

static void set_pixels(const cc__tiles_image *image, cc_tile_pixels *out_pixels, cc__box *out_box)
{
    *out_box = image->box;
    out_pixels->region = image->region;
    if (image->mapping == NULL)
        return;
    const cc__span span = cc__data_manager_span(image->manager, image->mapping);
    out_pixels->pixels = span.data;
    memcpy(out_pixels->strides_bytes, span.stride, sizeof out_pixels->strides_bytes);
}

static void set_tile(cc__tiles_run *run, cc__tile *tile)
{
    memset(tile, 0, sizeof *tile);
    tile->run = run;
    tile->public.struct_size = sizeof tile->public;
    tile->public.place = run->place;
    tile->public.stream = run->place == CC_PLACE_HOST ? CC_STREAM_DEFAULT : run->up;
    tile->public.count = 1;
    tile->public.inputs = tile->inputs;
    tile->public.input_count = run->params.input_count;
    tile->public.library = tile;
    set_pixels(&run->output, &tile->public.output, &tile->boxes[CC_TILES_MAX_INPUTS]);
    for (int32_t i = 0; i < run->params.input_count; ++i) {
        const bool is_output = run->job.sources[i].is_output;
        const cc__tiles_image *lent = is_output ? &run->output : &run->sources[cc__tiles_first_alike(run, i)];
        set_pixels(lent, &tile->inputs[i], &tile->boxes[i]);
        tile->inputs[i].region = run->sources[i].region;
    }
}

static cc_status carry_out(cc__tiles_run *run)
{
    cc__tile tile;
    cc_status status = lend(run);
    if (status != CC_OK) {
        end(run);
        return status;
    }
    set_tile(run, &tile);
    status = cc__tile_work(&tile);
    status = cc__data_manager_settle(run->output.manager, run->output.mapping, run->up, status);
    end(run);
    cc__tile_release_images(&tile);
    return status;
}

/* The function may give an image other pixels. */
static void hold(const cc__tiles_run *run)
{
    (void)cc__data_manager_retain(run->output.manager);
    for (int32_t i = 0; i < run->params.input_count; ++i)
        (void)cc__data_manager_retain(run->sources[i].manager);
}

static void let_go(const cc__tiles_run *run)
{
    for (int32_t i = 0; i < run->params.input_count; ++i)
        cc__data_manager_release(run->sources[i].manager);
    cc__data_manager_release(run->output.manager);
}

cc_status cc_filter_run(const cc_filter *filter)
{
    cc_filter known;
    cc__tiles_run run = {.function = function};
    cc_status status = read_filter(filter, &known);
    if (status != CC_OK)
        return status;
    run.params.input_count = known.input_count;
    run.up = known.stream;
    run.function_data = known.user_data;
    status = set_images(&known, &run);
    if (status == CC_OK)
        status = choose_place(&known, &run);
    if (status != CC_OK || cc__box_is_empty(&run.output.box))
        return status;
    run.params.function = run.place == CC_PLACE_HOST ? known.on_host : known.on_device;
    hold(&run);
    status = carry_out(&run);
    let_go(&run);
    cc__trace_tell();
    return status;
}
