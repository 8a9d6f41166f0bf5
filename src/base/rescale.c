#include "base/components.h"
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
    bool is_cast; /* nothing to compute: every value keeps its sign of zero, which adding 0 would take */
    buffer values;
} rescale_state;

static void compute(const cc__rescale *work, int64_t count, buffer *values)
{
    for (int64_t i = 0; i < count; i++)
        values->real[i] = cc__scale_and_shift(values->real[i], work->scale, work->shift);
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

static void copy_pixels(const cc__rescale *work)
{
    if (work->destination.data == work->source.data)
        return;
    cc__copy copy = {.destination = work->destination, .source = work->source};
    memcpy(copy.size, work->size, sizeof copy.size);
    copy.pixel_bytes = (int64_t)cc_pixel_type_size_bytes(work->source_type) * work->components;
    cc__copy_on_host(&copy);
}

void cc__rescale_on_host(const cc__rescale *work)
{
    bool is_cast = work->scale == 1.0 && work->shift == 0.0;
    if (is_cast && work->destination_type == work->source_type) {
        copy_pixels(work);
        return;
    }

    cc__rows rows;
    cc__rows_plan(CC__ROWS_OF_ELEMENTS, work->components, (int64_t)cc_pixel_type_size_bytes(work->destination_type),
                  (int64_t)cc_pixel_type_size_bytes(work->source_type), work->size, work->destination.stride,
                  work->source.stride, &rows);
    rescale_state state = {.work = work, .is_cast = is_cast};
    cc__rows_function function = rescale_rows;
    /* Float64 holds all other integers exactly, and clamps to them as they would. */
    if (is_cast && work->destination_type == CC_PIXEL_UINT64 && work->source_type == CC_PIXEL_INT64)
        function = signed_to_unsigned_rows;
    if (is_cast && work->destination_type == CC_PIXEL_INT64 && work->source_type == CC_PIXEL_UINT64)
        function = unsigned_to_signed_rows;

    /* The caller's rounding mode, flushing of subnormals or trapping must neither change results nor be changed. */
    fenv_t environment;
    fegetenv(&environment);
    fesetenv(FE_DFL_ENV);
    cc__rows_each(&rows, work->destination.data, work->source.data, function, &state);
    fesetenv(&environment);
}
