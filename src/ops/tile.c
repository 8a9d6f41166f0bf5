/* One tile: which pixels it is about, where they are, and the caller's function on them. */
#include "base/error.h"
#include "data_manager/parts.h"
#include "ops/tiles.h"

#include <cudacommon/wrap.h>
#include <string.h>

static const cc__tiles_image *image_of(const cc__tiles_run *run, int32_t input)
{
    return input == CC_TILE_OUTPUT ? &run->output : &run->sources[input];
}

static cc_tile_pixels *pixels_of(cc__tile *tile, int32_t input)
{
    return input == CC_TILE_OUTPUT ? &tile->public.output : &tile->inputs[input];
}

static int32_t slot_of(const cc__tiles_run *run, int32_t input)
{
    const bool is_output = input == CC_TILE_OUTPUT || run->job.sources[input].is_output;
    return is_output ? CC_TILES_MAX_INPUTS : input;
}

/* `box` counts from the image's first pixel. */
static void set_region(cc__tile *tile, int32_t input, const cc__box *box)
{
    const cc__tiles_image *image = image_of(tile->run, input);
    cc_tile_pixels *pixels = pixels_of(tile, input);
    cc__box *absolute = &tile->boxes[input == CC_TILE_OUTPUT ? CC_TILES_MAX_INPUTS : input];
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; ++axis) {
        pixels->region.index[axis] = image->region.index[axis] + box->start[axis];
        pixels->region.size[axis] = box->size[axis];
        absolute->start[axis] = image->box.start[axis] + box->start[axis];
        absolute->size[axis] = box->size[axis];
    }
}

cc_status cc__tile_begin(cc__tile *tile, cc__tiles_run *run, int64_t number)
{
    const cc__box output = cc__tiles_plan_box(&run->job, &run->plan, number);
    memset(tile, 0, sizeof *tile);
    tile->run = run;
    tile->public.struct_size = sizeof tile->public;
    tile->public.place = run->place;
    tile->public.number = number;
    tile->public.count = run->plan.tile_count;
    tile->public.inputs = tile->inputs;
    tile->public.input_count = run->params.input_count;
    tile->public.library = tile;
    set_region(tile, CC_TILE_OUTPUT, &output);
    for (int32_t i = 0; i < run->params.input_count; ++i) {
        cc__box box;
        const cc_status status = cc__tiles_source_box(&run->job.sources[i], &output, &box);
        if (status != CC_OK)
            return status;
        set_region(tile, i, &box);
    }
    return CC_OK;
}

static bool is_empty(const cc_tile_pixels *pixels)
{
    const cc__box box = cc__box_of_size(pixels->region.size);
    return cc__box_is_empty(&box);
}

void cc__tile_set_dense(cc__tile *tile, int32_t input, unsigned char *memory)
{
    cc_tile_pixels *pixels = pixels_of(tile, input);
    int64_t stride = image_of(tile->run, input)->pixel_bytes;
    pixels->pixels = is_empty(pixels) ? NULL : memory;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; ++axis) {
        pixels->strides_bytes[axis] = stride;
        stride *= pixels->region.size[axis];
    }
}

void cc__tile_set_in_image(cc__tile *tile, int32_t input)
{
    cc_tile_pixels *pixels = pixels_of(tile, input);
    if (is_empty(pixels)) {
        cc__tile_set_dense(tile, input, NULL);
        return;
    }
    const cc__place_memory memory = cc__data_manager_host_memory(image_of(tile->run, input)->manager);
    pixels->pixels = cc__place_memory_span(&memory, &tile->boxes[slot_of(tile->run, input)]).data;
    memcpy(pixels->strides_bytes, memory.stride, sizeof pixels->strides_bytes);
}

/* A function that fails for a reason of the library's has said it already; one of its own has not. */
static cc_status call(void *context)
{
    cc__tile *tile = context;
    const cc__tiles_run *run = tile->run;
    cc__error_state before;
    cc__error_save(&before);
    const cc_status status = run->params.function(&tile->public, run->function_data);
    if (status != CC_OK && strcmp(before.message, cc_last_error_message()) == 0)
        return cc__fail(status, "%s: function returned %s (%d) for tile %lld of %lld", run->function,
                        cc_status_name(status), (int)status, (long long)tile->public.number,
                        (long long)tile->public.count);
    return status;
}

/* Whatever place the library's operations have worked on, the pixels are to be here. */
static cc_status bring_home(cc__tile *tile)
{
    cc_image *image = tile->images[CC_TILES_MAX_INPUTS];
    cc__mapping *mapping = NULL;
    if (image == NULL)
        return CC_OK;
    const cc__access_request request = {.function = tile->run->function,
                                        .box = image->box,
                                        .place = tile->public.place,
                                        .access = CC_ACCESS_READ,
                                        .stream = tile->public.stream};
    const cc_status status = cc__data_manager_begin(image->manager, &request, &mapping);
    if (status == CC_OK)
        cc__data_manager_end(image->manager, mapping, mapping);
    return status;
}

cc_status cc__tile_work(cc__tile *tile)
{
    cc__backend *backend = tile->run->backend;
    const cc_place place = tile->public.place;
    const cc_status status = place == CC_PLACE_HOST ? call(tile) : backend->call(backend, place, call, tile);
    return status == CC_OK ? bring_home(tile) : status;
}

void cc__tile_release_images(cc__tile *tile)
{
    for (int32_t i = 0; i <= CC_TILES_MAX_INPUTS; ++i) {
        cc_image_release(tile->images[i]);
        tile->images[i] = NULL;
    }
}

static cc_status create_image(cc__tile *tile, int32_t input, cc_image **out_image)
{
    const cc_tile_pixels *pixels = pixels_of(tile, input);
    const cc__tiles_image *of = image_of(tile->run, input);
    cc_image_params params = CC_IMAGE_PARAMS_INIT;
    cc_wrap_params wrap = CC_WRAP_PARAMS_INIT;
    cc_image *image = NULL;
    params.dimension = of->image->dimension;
    params.pixel_type = (int32_t)of->image->pixel_type;
    params.components = of->image->components;
    params.device = tile->public.place == CC_PLACE_HOST ? CC_DEVICE_CURRENT : tile->public.place;
    params.region = pixels->region;
    memcpy(params.spacing, of->image->geometry.spacing, sizeof params.spacing);
    memcpy(params.origin, of->image->geometry.origin, sizeof params.origin);
    memcpy(params.direction, of->image->geometry.direction, sizeof params.direction);
    cc_status status = cc_image_create(&params, &image);
    if (status != CC_OK)
        return status;

    const bool is_read_only = slot_of(tile->run, input) != CC_TILES_MAX_INPUTS;
    wrap.flags = CC_WRAP_BORROWED | (is_read_only ? CC_WRAP_READ_ONLY : 0);
    wrap.data = pixels->pixels;
    memcpy(wrap.strides_bytes, pixels->strides_bytes, sizeof wrap.strides_bytes);
    if (pixels->pixels != NULL) {
        wrap.size_bytes = (size_t)of->pixel_bytes;
        for (int32_t axis = 0; axis < CC_MAX_DIMENSION; ++axis)
            wrap.size_bytes += (size_t)((pixels->region.size[axis] - 1) * pixels->strides_bytes[axis]);
    }
    status = tile->public.place == CC_PLACE_HOST ? cc_image_wrap_host(image, &wrap)
                                                 : cc_image_wrap_device(image, &wrap, tile->public.stream);
    if (status == CC_OK)
        *out_image = image;
    else
        cc_image_release(image);
    return status;
}

cc_status cc_tile_wrap(const cc_tile *tile, int32_t input, cc_image **out_image)
{
    static const char *const function = "cc_tile_wrap";
    if (tile == NULL || out_image == NULL)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: %s = NULL, expected a pointer", function,
                        tile == NULL ? "tile" : "out_image");
    if (input != CC_TILE_OUTPUT && (input < 0 || input >= tile->input_count))
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: input = %d, expected 0 to %d or CC_TILE_OUTPUT", function,
                        (int)input, (int)tile->input_count - 1);
    cc__tile *self = tile->library;
    cc_image **image = &self->images[slot_of(self->run, input)];
    cc_status status = CC_OK;
    if (*image == NULL)
        status = create_image(self, input, image);
    if (status == CC_OK)
        *out_image = *image;
    return status;
}
