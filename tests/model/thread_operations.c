/* Operations on the rows that all threads share: on their own in place, and on everybody's. */
#include "thread_steps.h"

#include "support/texture_probe.h"

#include <string.h>

/* A row that is torn has no whole version. */
void thread_reduce_row(thread_state *state)
{
    const part read = thread_pick_part(state, (int32_t)random_below(&state->random, (int64_t)ROW_COUNT), 1, true);
    const int32_t earliest = atomic_load(&state->rows->finished[read.first_row]);
    cc_image_params params = CC_IMAGE_PARAMS_INIT;
    cc_image *row = NULL, *result = NULL;
    void *pixel = NULL;
    params.dimension = 1;
    params.pixel_type = CC_PIXEL_FLOAT64;
    params.region.size[0] = 1;
    params.device = cc_image_get_device(state->own);
    if (!fine(state, cc_image_create(&params, &result)))
        return;
    if (fine(state, cc_image_create_view(state->own, &read.region, &row)) &&
        fine(state, cc_image_reduce(CC_REDUCE_MEAN, row, NULL, result, thread_pick_stream(state, row))) &&
        fine(state, cc_image_map_host(result, NULL, CC_ACCESS_READ, &pixel))) {
        double mean = 0;
        memcpy(&mean, pixel, sizeof mean);
        const int32_t all[] = {(int32_t)mean};
        if (mean != all[0])
            threads_fail(state->rows, "thread %d: row %d is torn, with a mean of %g", (int)state->number,
                         (int)read.first_row, mean);
        thread_check_row(state, "a reduction", read.first_row, all, 1, earliest);
        (void)fine(state, cc_image_unmap_host(result, pixel));
    }
    /* Where the result is, there was memory to work in. */
    thread_add_costs(state, result);
    const cc_counters costs = fixture_counters(result);
    state->private_costs.device_allocations += costs.device_allocations * (pixel != NULL);
    cc_image_release(row);
    cc_image_release(result);
}

/* From one version to the next; the first stamp is another one. */
void thread_add_to_rows(thread_state *state)
{
    static const cc_step steps[] = {CC_STEP1(CC_STEP_LOAD, CC_TAKE_IMAGE(0)),
                                    CC_STEP1(CC_STEP_ADD, CC_TAKE_VALUE(ROW_COUNT))};
    const part written = thread_pick_own_rows(state);
    cc_image *rows = NULL;
    for (int32_t i = 0; i < written.row_count; i++)
        if (atomic_load(&state->rows->finished[written.first_row + i]) == 0)
            return;
    thread_begin_writing(state, &written);
    if (fine(state, cc_image_create_view(state->own, &written.region, &rows)) &&
        fine(state, cc_image_evaluate(steps, 2, &rows, 1, rows, thread_pick_stream(state, rows))))
        thread_finish_writing(state, &written);
    cc_image_release(rows);
}

typedef struct filtering {
    thread_state *state;
    const part *written;
} filtering;

static cc_status stamp_tile(const cc_tile *tile, void *user_data)
{
    const filtering *self = user_data;
    thread_state *state = self->state;
    const int32_t count = self->written->row_count;
    unsigned char *to = tile->output.pixels;
    int32_t *stamps = thread_reserve(state, count);
    thread_stamp_rows(state, self->written, stamps);
    for (int32_t i = 0; i < count; i++) {
        unsigned char *row = to + i * tile->output.strides_bytes[1];
        int32_t *stamp = stamps + (ptrdiff_t)i * ROW_PIXELS;
        if (tile->place == CC_PLACE_HOST)
            memcpy(row, stamp, ROW_PIXELS * sizeof *stamp);
        else
            thread_queue_row(state, tile->place, tile->stream, row, stamp, (int64_t)(ROW_PIXELS * sizeof *stamp));
    }
    return CC_OK;
}

void thread_filter_rows(thread_state *state)
{
    const part written = thread_pick_own_rows(state);
    filtering self = {state, &written};
    cc_filter filter = CC_FILTER_INIT;
    cc_image *rows = NULL;
    thread_begin_writing(state, &written);
    if (!fine(state, cc_image_create_view(state->own, &written.region, &rows)))
        return;
    const bool on_device = fixture_device_count() > 0 && random_chance(&state->random, 60);
    filter.inputs = &rows;
    filter.input_count = random_chance(&state->random, 50) ? 1 : 0;
    filter.output = rows;
    filter.on_device = on_device ? stamp_tile : NULL;
    filter.on_host = on_device ? NULL : stamp_tile;
    filter.user_data = &self;
    filter.stream = thread_pick_stream(state, rows);
    if (fine(state, cc_filter_run(&filter)))
        thread_finish_writing(state, &written);
    cc_image_release(rows);
}

void thread_read_texture(thread_state *state)
{
    if (fixture_device_count() == 0)
        return;
    const part read = thread_pick_part(state, 0, ROW_COUNT, true);
    const int32_t row = (int32_t)random_below(&state->random, read.row_count);
    const int32_t earliest = atomic_load(&state->rows->finished[read.first_row + row]);
    const cc_stream stream = thread_pick_stream(state, state->own);
    cc_texture_params params = CC_TEXTURE_PARAMS_INIT;
    cc_texture texture = CC_TEXTURE_INIT;
    float at[ROW_PIXELS][3], values[ROW_PIXELS][4];
    int32_t pixels[ROW_PIXELS];
    params.shape = CC_TEXTURE_PLANE;
    if (!fine(state, cc_image_map_texture(state->own, &read.region, &params, stream, &texture)))
        return;
    for (int32_t i = 0; i < ROW_PIXELS; i++) {
        at[i][0] = (float)i + 0.5f;
        at[i][1] = (float)row + 0.5f;
        at[i][2] = 0;
    }
    const probe queued = probe_queue(&texture, 0, CC_TEXTURE_PLANE, CC_PIXEL_INT32, stream, at, ROW_PIXELS);
    (void)fine(state, cc_image_unmap_texture(state->own, &texture, stream));
    probe_read(&queued, values);
    for (int32_t i = 0; i < ROW_PIXELS; i++)
        pixels[i] = (int32_t)values[i][0];
    thread_check_row(state, "a texture", read.first_row + row, pixels, ROW_PIXELS, earliest);
}
