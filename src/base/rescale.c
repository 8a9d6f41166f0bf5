#include "base/components.h"
#include "base/loops.h"
#include "base/past_cache.h"
#include "base/rows.h"
#include "base/work.h"
#include "kernels/pixel_math.h"

#include <fenv.h>
#include <stdbool.h>
#include <string.h>

/* Small enough that both parts stay in the nearest cache. */
#define BUFFER_COMPONENTS 256

typedef struct buffer {
    double real[BUFFER_COMPONENTS];
    double imaginary[BUFFER_COMPONENTS];
} buffer;

typedef struct rescale_state {
    const cc__rescale *work;
    const cc__loops *loops;
    bool is_cast; /* nothing to compute: every value keeps its sign of zero, which adding 0 would take */
    bool is_float32;
    bool into_float32; /* in one pass */
    bool past_cache;
    bool has_table;
    buffer values;
    float float32[BUFFER_COMPONENTS];
    unsigned char block[CC__PAST_CACHE_BLOCK] __attribute__((aligned(64)));
    unsigned char table[256]; /* the result for each source of one byte */
} rescale_state;

static void compute(const cc__rescale *work, int64_t count, buffer *values)
{
    cc__loops_get()->scale_and_shift(values->real, work->scale, work->shift, count);
    if (!cc__is_complex(work->source_type))
        return;
    for (int64_t i = 0; i < count; i++)
        values->imaginary[i] *= work->scale;
}

static void rescale_piece(rescale_state *state, unsigned char *destination, int64_t destination_step,
                          const unsigned char *source, int64_t source_step, int64_t count)
{
    const cc__rescale *work = state->work;
    buffer *values = &state->values;
    if (state->is_float32) {
        if (work->source_type != CC_PIXEL_FLOAT32) {
            state->loops->load_float32(work->source_type, source, count, state->float32);
            source = (const unsigned char *)state->float32;
        }
        state->loops->store_float32(work->destination_type, source, destination, count);
        return;
    }
    if (state->into_float32) {
        state->loops->scale_into_float32(work->source_type, source, work->scale, work->shift, destination, count);
        return;
    }
    cc__components_load(work->source_type, source, source_step, count, values->real, values->imaginary);
    if (!state->is_cast)
        compute(work, count, values);
    /* A complex value is 0 when both parts are. */
    if (work->destination_type == CC_PIXEL_BOOL && cc__is_complex(work->source_type)) {
        for (int64_t i = 0; i < count; i++)
            values->real[i] = values->real[i] != 0.0 || values->imaginary[i] != 0.0 ? 1.0 : 0.0;
    }
    cc__components_store(work->destination_type, values->real, values->imaginary, destination, destination_step, count);
}

/* Components side by side in both. */
static void rescale_dense_rows(const cc__rows *rows, unsigned char *destination, unsigned char *source, void *argument)
{
    rescale_state *state = argument;
    const int64_t most = rows->step[0] <= 4 ? BUFFER_COMPONENTS : CC__PAST_CACHE_BLOCK / rows->step[0];
    for (int64_t row = 0; row < rows->size[0]; row++) {
        unsigned char *to = destination + row * rows->stride[0][0];
        const unsigned char *from = source + row * rows->stride[1][0];
        for (int64_t done = 0; done < rows->length;) {
            unsigned char *at = to + done * rows->step[0];
            int64_t count = rows->length - done;
            if (state->has_table && !state->past_cache) {
                state->loops->look_up(state->table, from, to, count);
                break;
            }
            if (state->past_cache)
                count = cc__past_cache_part(at, rows->step[0], count);
            if (state->past_cache)
                cc__past_cache_foresee(from + done * rows->step[1], count * rows->step[1]);
            unsigned char *into = state->past_cache ? state->block : at;
            if (state->has_table) {
                state->loops->look_up(state->table, from + done, into, count);
            } else {
                count = count < most ? count : most;
                rescale_piece(state, into, rows->step[0], from + done * rows->step[1], rows->step[1], count);
            }
            if (state->past_cache)
                cc__past_cache_copy(at, into, (size_t)(count * rows->step[0]));
            done += count;
        }
    }
}

static void rescale_rows(const cc__rows *rows, unsigned char *destination, unsigned char *source, void *argument)
{
    for (int64_t row = 0; row < rows->size[0]; row++) {
        unsigned char *to = destination + row * rows->stride[0][0];
        const unsigned char *from = source + row * rows->stride[1][0];
        for (int64_t done = 0; done < rows->length; done += BUFFER_COMPONENTS) {
            int64_t left = rows->length - done;
            rescale_piece(argument, to + done * rows->step[0], rows->step[0], from + done * rows->step[1],
                          rows->step[1], left < BUFFER_COMPONENTS ? left : BUFFER_COMPONENTS);
        }
    }
}

static void signed_to_unsigned_rows(const cc__rows *rows, unsigned char *destination, unsigned char *source,
                                    void *unused)
{
    (void)unused;
    for (int64_t row = 0; row < rows->size[0]; row++) {
        for (int64_t i = 0; i < rows->length; i++) {
            int64_t value;
            memcpy(&value, source + row * rows->stride[1][0] + i * rows->step[1], sizeof value);
            uint64_t clamped = cc__clamp_INT64_to_UINT64(value);
            memcpy(destination + row * rows->stride[0][0] + i * rows->step[0], &clamped, sizeof clamped);
        }
    }
}

static void unsigned_to_signed_rows(const cc__rows *rows, unsigned char *destination, unsigned char *source,
                                    void *unused)
{
    (void)unused;
    for (int64_t row = 0; row < rows->size[0]; row++) {
        for (int64_t i = 0; i < rows->length; i++) {
            uint64_t value;
            memcpy(&value, source + row * rows->stride[1][0] + i * rows->step[1], sizeof value);
            int64_t clamped = cc__clamp_UINT64_to_INT64(value);
            memcpy(destination + row * rows->stride[0][0] + i * rows->step[0], &clamped, sizeof clamped);
        }
    }
}

static void copy_pixels(const cc__rescale *work, bool past_cache)
{
    if (work->destination.data == work->source.data)
        return;
    cc__copy copy = {.destination = work->destination, .source = work->source};
    memcpy(copy.size, work->size, sizeof copy.size);
    copy.pixel_bytes = (int64_t)cc_pixel_type_size_bytes(work->source_type) * work->components;
    cc__copy_part_on_host(&copy, past_cache);
}

/* From one byte to one there are 256 results. */
static void make_table(rescale_state *state)
{
    unsigned char all[256];
    for (int32_t i = 0; i < 256; i++)
        all[i] = (unsigned char)i;
    rescale_piece(state, state->table, 1, all, 1, 256);
    state->has_table = true;
}

static cc__rows_function choose(const cc__rescale *work, const cc__rows *rows, rescale_state *state, bool past_cache)
{
    const int64_t to_bytes = (int64_t)cc_pixel_type_size_bytes(work->destination_type);
    const int64_t from_bytes = (int64_t)cc_pixel_type_size_bytes(work->source_type);
    /* Float64 holds all other integers exactly, and clamps to them as they would. */
    if (state->is_cast && work->destination_type == CC_PIXEL_UINT64 && work->source_type == CC_PIXEL_INT64)
        return signed_to_unsigned_rows;
    if (state->is_cast && work->destination_type == CC_PIXEL_INT64 && work->source_type == CC_PIXEL_UINT64)
        return unsigned_to_signed_rows;
    if (rows->step[0] != to_bytes || rows->step[1] != from_bytes)
        return rescale_rows;
    state->past_cache = past_cache;
    state->is_float32 =
        state->is_cast && cc__loops_is_float32(work->destination_type) && cc__loops_is_float32(work->source_type);
    state->into_float32 =
        !state->is_cast && work->destination_type == CC_PIXEL_FLOAT32 && cc__loops_is_float32(work->source_type);
    if (to_bytes == 1 && from_bytes == 1)
        make_table(state);
    return rescale_dense_rows;
}

void cc__rescale_part_on_host(const cc__rescale *work, bool past_cache)
{
    bool is_cast = work->scale == 1.0 && work->shift == 0.0;
    if (is_cast && work->destination_type == work->source_type) {
        copy_pixels(work, past_cache);
        return;
    }

    cc__rows rows;
    cc__rows_plan(CC__ROWS_OF_ELEMENTS, work->components, (int64_t)cc_pixel_type_size_bytes(work->destination_type),
                  (int64_t)cc_pixel_type_size_bytes(work->source_type), work->size, work->destination.stride,
                  work->source.stride, &rows);
    rescale_state state;
    state.work = work;
    state.loops = cc__loops_get();
    state.is_cast = is_cast;
    state.is_float32 = false;
    state.into_float32 = false;
    state.past_cache = false;
    state.has_table = false;
    memset(state.values.imaginary, 0, sizeof state.values.imaginary); /* what a real source has */

    /* The caller's rounding mode, flushing of subnormals or trapping must neither change results nor be changed. */
    fenv_t environment;
    fegetenv(&environment);
    fesetenv(FE_DFL_ENV);
    const cc__rows_function function = choose(work, &rows, &state, past_cache);
    cc__rows_each(&rows, work->destination.data, work->source.data, function, &state);
    fesetenv(&environment);
}

void cc__rescale_on_host(const cc__rescale *work)
{
    cc__rescale_part_on_host(work, false);
}
