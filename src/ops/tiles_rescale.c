#include "base/error.h"
#include "memory/pixel_kernels.h"
#include "ops/fit.h"
#include "ops/tiles.h"

#include <string.h>

typedef struct rescale {
    double scale;
    double shift;
    const cc_image *input;
    const cc_image *output;
} rescale;

static cc__span span_of(const cc_tile_pixels *pixels)
{
    cc__span span = {.data = pixels->pixels};
    memcpy(span.stride, pixels->strides_bytes, sizeof span.stride);
    return span;
}

static cc_status rescale_tile(const cc_tile *tile, void *user_data)
{
    const rescale *self = user_data;
    cc__backend *backend = cc__backend_get();
    bool has_written = false;
    cc__rescale work = {.destination = span_of(&tile->output),
                        .source = span_of(&tile->inputs[0]),
                        .components = self->output->components,
                        .destination_type = self->output->pixel_type,
                        .source_type = self->input->pixel_type,
                        .scale = self->scale,
                        .shift = self->shift};
    memcpy(work.size, tile->output.region.size, sizeof work.size);
    if (tile->place != CC_PLACE_HOST)
        return backend->run_kernel(backend, tile->place, tile->stream, &cc__rescale_kernel, &work, &has_written);
    cc__rescale_on_host(&work);
    return CC_OK;
}

cc_status cc_tiles_rescale(cc_image *input, double scale, double shift, cc_image *output, const cc_tiles_params *params)
{
    static const char *const function = "cc_tiles_rescale";
    const cc_tiles_params defaults = CC_TILES_PARAMS_INIT;
    cc_tiles_input source = CC_TILES_INPUT_INIT;
    cc_tiles_params known = CC_TILES_PARAMS_INIT;
    rescale self = {scale, shift, input, output};
    cc_status status = cc__fit_rescale(function, input, scale, shift, output);
    if (status == CC_OK)
        status = cc__tiles_read_params(function, params != NULL ? params : &defaults, &known);
    if (status != CC_OK)
        return status;
    source.image = input;
    known.inputs = &source;
    known.input_count = 1;
    known.output = output;
    known.function = rescale_tile;
    return cc__tiles_execute(function, &known, &self);
}
