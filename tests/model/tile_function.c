#include "tile_function.h"

#include "host_run.h"
#include "support/dense_work.h"

#include <stdlib.h>
#include <string.h>

oracle_box tile_box(const model_image *image, const cc_tile_pixels *pixels)
{
    oracle_box box;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++) {
        box.start[axis] = image->box.start[axis] + pixels->region.index[axis] - image->region.index[axis];
        box.size[axis] = pixels->region.size[axis];
    }
    return box;
}

static work_box span_of(const model_image *image, const cc_tile_pixels *pixels)
{
    work_box span = {.memory = pixels->pixels, .pixel_bytes = image->pixels->oracle->pixel_bytes};
    memcpy(span.stride, pixels->strides_bytes, sizeof span.stride);
    memcpy(span.size, pixels->region.size, sizeof span.size);
    return span;
}

static void check_input(const tile_task *work, const cc_tile *tile, int32_t input)
{
    const model_image *image = work->inputs[input];
    const oracle_box box = tile_box(image, &tile->inputs[input]);
    const work_box span = span_of(image, &tile->inputs[input]);
    const size_t count = (size_t)oracle_box_count(&box), bytes = count * (size_t)span.pixel_bytes;
    unsigned char *expected = malloc(bytes + 1), *found = malloc(bytes + 1);
    bool *known = malloc(count + 1);
    char what[64];
    snprintf(what, sizeof what, "%s in step %d", work->name, (int)work->world->step);
    oracle_take(image->pixels->oracle, &box, expected, known);
    if (count == 0) {
        model_check(span.memory == NULL, "%s gave an input without pixels memory", what);
    } else if (tile->place == CC_PLACE_HOST) {
        work_each_run(&span, host_gather, &(host_run){span.memory, found});
        model_check(memcmp(found, expected, bytes) == 0, "%s gave input %d wrong pixels", what, (int)input);
    } else {
        work_read(&work->world->work, tile->place, tile->stream, &span, expected, known, what);
    }
    free(expected);
    free(found);
    free(known);
}

/* The first input's pixels that lie where the output's do. */
static work_box source_of(const tile_task *work, const cc_tile *tile)
{
    const model_image *input = work->inputs[0], *output = work->output;
    work_box source = span_of(input, &tile->inputs[0]);
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++) {
        const int64_t to = tile->output.region.index[axis] - output->region.index[axis];
        const int64_t from = tile->inputs[0].region.index[axis] - input->region.index[axis];
        model_check(from <= to && to + tile->output.region.size[axis] <= from + source.size[axis],
                    "%s gave input 0 too few pixels along axis %d", work->name, (int)axis);
        source.memory += (to - from) * source.stride[axis];
        source.size[axis] = tile->output.region.size[axis];
    }
    return source;
}

static void write_on_host(const tile_task *work, const work_box *source, const work_box *destination)
{
    const int64_t count = source->size[0] * source->size[1] * source->size[2] * source->size[3];
    unsigned char *from = malloc((size_t)(count * source->pixel_bytes));
    unsigned char *to = malloc((size_t)(count * destination->pixel_bytes));
    work_each_run(source, host_gather, &(host_run){source->memory, from});
    for (int64_t i = 0; i < count; i++)
        value_rescale(work->inputs[0]->kind.type, from + i * source->pixel_bytes, work->scale, work->shift,
                      work->output->kind.type, work->output->kind.components, to + i * destination->pixel_bytes);
    work_each_run(destination, host_scatter, &(host_run){destination->memory, to});
    free(from);
    free(to);
}

static void write_on_device(const tile_task *work, const cc_tile *tile, const work_box *source,
                            const work_box *destination)
{
    cc__rescale rescale = {.components = work->output->kind.components,
                           .destination_type = work->output->kind.type,
                           .source_type = work->inputs[0]->kind.type,
                           .scale = work->scale,
                           .shift = work->shift};
    rescale.destination.data = destination->memory;
    rescale.source.data = source->memory;
    memcpy(rescale.destination.stride, destination->stride, sizeof rescale.destination.stride);
    memcpy(rescale.source.stride, source->stride, sizeof rescale.source.stride);
    memcpy(rescale.size, source->size, sizeof rescale.size);
    model_ok(queue_kernel(fixture_inner, tile->place, tile->stream, &cc__rescale_kernel, &rescale));
}

cc_status tile_function(const cc_tile *tile, void *user_data)
{
    const tile_task *work = user_data;
    model_check(tile->place == work->place, "%s works at %d, expected %d", work->name, (int)tile->place,
                (int)work->place);
    model_check(tile->input_count == work->input_count, "%s has %d inputs", work->name, (int)tile->input_count);
    for (int32_t i = 0; i < work->input_count; i++)
        check_input(work, tile, i);
    const work_box source = source_of(work, tile), destination = span_of(work->output, &tile->output);
    if (tile->place == CC_PLACE_HOST)
        write_on_host(work, &source, &destination);
    else
        write_on_device(work, tile, &source, &destination);
    if (work->on_tile != NULL)
        work->on_tile(work->context, tile);
    return CC_OK;
}
