#include "base/work.h"

#include "base/past_cache.h"
#include "base/rows.h"

#include <stdbool.h>
#include <string.h>

/* Large enough that a copy runs at full speed, small enough to stay in the nearest cache. */
#define FILL_BLOCK_BYTES 8192

/* Shorter rows have too few whole lines. */
#define PAST_CACHE_ROW_BYTES 512

void cc__work_collapse(int64_t size[CC_MAX_DIMENSION], int64_t stride_a[CC_MAX_DIMENSION],
                       int64_t stride_b[CC_MAX_DIMENSION])
{
    /* The first axis stays first: only along it may pixels lie side by side, and copies ask about it. */
    int32_t last = 0;
    for (int32_t axis = 1; axis < CC_MAX_DIMENSION; axis++) {
        if (size[axis] == 1)
            continue;
        if (stride_a[axis] == size[last] * stride_a[last] &&
            (stride_b == NULL || stride_b[axis] == size[last] * stride_b[last])) {
            size[last] *= size[axis];
            continue;
        }
        last++;
        size[last] = size[axis];
        stride_a[last] = stride_a[axis];
        if (stride_b != NULL)
            stride_b[last] = stride_b[axis];
    }
    for (int32_t axis = last + 1; axis < CC_MAX_DIMENSION; axis++) {
        size[axis] = 1;
        stride_a[axis] = size[last] * stride_a[last];
        if (stride_b != NULL)
            stride_b[axis] = size[last] * stride_b[last];
    }
}

/* One copy per row; inlined with a constant length it becomes one load and one store. */
static inline void copy_each(const cc__rows *rows, unsigned char *destination, const unsigned char *source,
                             size_t length)
{
    for (int64_t row = 0; row < rows->size[0]; row++)
        memcpy(destination + row * rows->stride[0][0], source + row * rows->stride[1][0], length);
}

static void copy_rows(const cc__rows *rows, unsigned char *destination, unsigned char *source, void *argument)
{
    (void)argument;
    switch (rows->length) {
    case 1:
        copy_each(rows, destination, source, 1);
        break;
    case 2:
        copy_each(rows, destination, source, 2);
        break;
    case 4:
        copy_each(rows, destination, source, 4);
        break;
    case 8:
        copy_each(rows, destination, source, 8);
        break;
    default:
        copy_each(rows, destination, source, (size_t)rows->length);
        break;
    }
}

static void copy_rows_past_cache(const cc__rows *rows, unsigned char *destination, unsigned char *source,
                                 void *argument)
{
    (void)argument;
    for (int64_t row = 0; row < rows->size[0]; row++)
        cc__past_cache_move(destination + row * rows->stride[0][0], source + row * rows->stride[1][0],
                            (size_t)rows->length);
}

void cc__copy_part_on_host(const cc__copy *work, bool past_cache)
{
    cc__rows rows;
    cc__rows_plan(CC__ROWS_OF_BYTES, work->pixel_bytes, 1, 1, work->size, work->destination.stride, work->source.stride,
                  &rows);
    cc__rows_each(&rows, work->destination.data, work->source.data,
                  past_cache && rows.length >= PAST_CACHE_ROW_BYTES ? copy_rows_past_cache : copy_rows, NULL);
}

void cc__copy_on_host(const cc__copy *work)
{
    cc__copy_part_on_host(work, false);
}

/* Writes the value once, then what is there again and again. */
static void fill_row(unsigned char *row, size_t length, const unsigned char *value, size_t pixel_bytes)
{
    size_t block = pixel_bytes;
    size_t done = pixel_bytes;
    memcpy(row, value, pixel_bytes);
    while (done < length) {
        size_t next = block < length - done ? block : length - done;
        memcpy(row + done, row, next);
        done += next;
        if (done == 2 * block && done <= FILL_BLOCK_BYTES)
            block = done;
    }
}

typedef struct fill_state {
    const cc__fill *work;
    bool is_one_byte; /* all bytes of the value are the same */
    /* The value again and again: so often that a block may begin anywhere in the first. */
    unsigned char pattern[CC__PAST_CACHE_BLOCK + 2 * CC__MAX_PIXEL_BYTES];
} fill_state;

static void fill_rows_past_cache(const cc__rows *rows, unsigned char *destination, unsigned char *unused,
                                 void *argument)
{
    (void)unused;
    const fill_state *state = argument;
    const int64_t pixel_bytes = state->work->pixel_bytes;
    for (int64_t row = 0; row < rows->size[0]; row++) {
        unsigned char *at = destination + row * rows->stride[0][0];
        for (int64_t done = 0; done < rows->length;) {
            const int64_t part = cc__past_cache_part(at + done, 1, rows->length - done);
            cc__past_cache_copy(at + done, state->pattern + done % pixel_bytes, (size_t)part);
            done += part;
        }
    }
}

static void fill_rows(const cc__rows *rows, unsigned char *destination, unsigned char *unused, void *argument)
{
    (void)unused;
    const fill_state *state = argument;
    const cc__fill *work = state->work;
    for (int64_t row = 0; row < rows->size[0]; row++) {
        unsigned char *at = destination + row * rows->stride[0][0];
        if (state->is_one_byte)
            memset(at, work->value[0], (size_t)rows->length);
        else
            fill_row(at, (size_t)rows->length, work->value, (size_t)work->pixel_bytes);
    }
}

/* One pixel per row; with a constant length it becomes one store. */
static inline void fill_each(const cc__rows *rows, unsigned char *destination, const unsigned char *value,
                             size_t length)
{
    for (int64_t row = 0; row < rows->size[0]; row++)
        memcpy(destination + row * rows->stride[0][0], value, length);
}

static void fill_single_pixels(const cc__rows *rows, unsigned char *destination, unsigned char *unused, void *argument)
{
    (void)unused;
    const unsigned char *value = ((const fill_state *)argument)->work->value;
    switch (rows->length) {
    case 1:
        fill_each(rows, destination, value, 1);
        break;
    case 2:
        fill_each(rows, destination, value, 2);
        break;
    case 4:
        fill_each(rows, destination, value, 4);
        break;
    case 8:
        fill_each(rows, destination, value, 8);
        break;
    default:
        fill_each(rows, destination, value, (size_t)rows->length);
        break;
    }
}

void cc__fill_part_on_host(const cc__fill *work, bool past_cache)
{
    size_t pixel_bytes = (size_t)work->pixel_bytes;
    fill_state state;
    cc__rows_function function = fill_rows;
    cc__rows rows;
    state.work = work;
    state.is_one_byte = memcmp(work->value, work->value + 1, pixel_bytes - 1) == 0;
    cc__rows_plan(CC__ROWS_OF_BYTES, work->pixel_bytes, 1, 1, work->size, work->destination.stride, NULL, &rows);
    if (past_cache && rows.length >= PAST_CACHE_ROW_BYTES) {
        fill_row(state.pattern, sizeof state.pattern / pixel_bytes * pixel_bytes, work->value, pixel_bytes);
        function = fill_rows_past_cache;
    } else if (rows.length == work->pixel_bytes) {
        function = fill_single_pixels;
    }
    cc__rows_each(&rows, work->destination.data, NULL, function, &state);
}

void cc__fill_on_host(const cc__fill *work)
{
    cc__fill_part_on_host(work, false);
}
