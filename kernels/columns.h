/*
 * How the pixels of a box are shared out when each thread goes along a column of them, so that what it computes for one
 * serves the next. Plain arithmetic, so that it runs on the CPU too.
 */
#ifndef CC_KERNELS_COLUMNS_H
#define CC_KERNELS_COLUMNS_H

#include "kernels/tiles.h"

/* Pixels of a column: more where there are enough columns, since beginning one costs as much as several pixels. */
#define CC__COLUMN_LEAST_DEPTH 8
#define CC__COLUMN_MOST_DEPTH 64

/* Rows of columns that one thread may take, side by side: what neighbours share it then needs once. */
#define CC__COLUMN_ROWS 4

/* Threads that a multiprocessor has at once, and how often its threads should end and others begin. */
#define CC__COLUMN_RESIDENT 2048
#define CC__COLUMN_WAVES 8

/*
 * A block takes a patch of CC__BLOCK_THREADS columns: 2^width_log2 elements along the rows, and so many rows. An
 * element is one component of a pixel. Columns go along the third axis, or along the second where the third has one
 * pixel.
 */
typedef struct cc__columns {
    int64_t width;  /* elements of a row */
    int64_t still;  /* rows along the axis that columns do not go along */
    int64_t moving; /* pixels along the one that they go along */
    int64_t count;  /* of patches */
    int64_t patches[3];
    int32_t march; /* the axis of columns: 1 or 2 */
    int32_t width_log2;
    int32_t rows; /* of a thread, if there are so many */
    int32_t depth;
    int32_t components;
    cc__divisor divisor[3]; /* by patches, where there are few enough */
    cc__divisor by_components;
} cc__columns;

typedef struct cc__column {
    int64_t pixel; /* along the first axis */
    int32_t component;
    int64_t still; /* its first row */
    int64_t first; /* along `march`, and behind the last */
    int64_t end;
    int64_t volume; /* along the fourth axis */
} cc__column;

static inline int64_t cc__columns_ceiling(int64_t a, int64_t b)
{
    return a / b + (a % b != 0);
}

static inline void cc__columns_cut(cc__columns *columns, int64_t volumes, int32_t depth)
{
    columns->depth = depth;
    columns->patches[2] = cc__columns_ceiling(columns->moving, depth);
    columns->count = columns->patches[0] * columns->patches[1] * columns->patches[2] * volumes;
    for (int32_t n = 0; n < 3; n++)
        columns->divisor[n] = cc__divisor_of(columns->patches[n] <= INT32_MAX ? (int32_t)columns->patches[n] : 1);
}

static inline void cc__columns_plan(const int64_t size[CC_MAX_DIMENSION], int32_t components, int32_t rows,
                                    int32_t multiprocessor_count, cc__columns *out)
{
    const int32_t block_log2 = 8;
    int32_t width_log2 = components == 1 ? 6 : 7;
    out->march = size[2] > 1 ? 2 : 1;
    out->width = size[0] * components;
    out->still = size[3 - out->march];
    out->moving = size[out->march];
    out->components = components;
    out->rows = rows;
    while (width_log2 > 0 && (INT64_C(1) << (width_log2 - 1)) >= out->width)
        width_log2--;
    while (width_log2 < block_log2 && (INT64_C(1) << (block_log2 - width_log2 - 1)) * rows >= out->still)
        width_log2++;
    out->width_log2 = width_log2;
    out->patches[0] = cc__columns_ceiling(out->width, INT64_C(1) << width_log2);
    out->patches[1] = cc__columns_ceiling(out->still, (INT64_C(1) << (block_log2 - width_log2)) * rows);
    const int64_t wanted = (int64_t)multiprocessor_count * (CC__COLUMN_RESIDENT / CC__BLOCK_THREADS) * CC__COLUMN_WAVES;
    cc__columns_cut(out, size[3], CC__COLUMN_LEAST_DEPTH);
    while (out->count > 2 * wanted && out->depth < CC__COLUMN_MOST_DEPTH)
        cc__columns_cut(out, size[3], 2 * out->depth);
    out->by_components = cc__divisor_of(components);
}

static inline uint32_t cc__columns_blocks(const cc__columns *columns, int32_t multiprocessor_count)
{
    const int64_t most = (int64_t)multiprocessor_count * CC__BLOCKS_PER_MULTIPROCESSOR;
    return (uint32_t)(columns->count < most ? columns->count : most);
}

/* False when the thread has no column in the patch. */
CC__SHARED bool cc__columns_find(const cc__columns *columns, int64_t patch, int32_t thread, cc__column *out)
{
    int64_t at[3];
    CC__UNROLL
    for (int32_t n = 0; n < 3; n++) {
        const int64_t next = columns->count <= INT32_MAX ? cc__divide((int32_t)patch, &columns->divisor[n])
                                                         : patch / columns->patches[n];
        at[n] = patch - next * columns->patches[n];
        patch = next;
    }
    const int64_t element = (at[0] << columns->width_log2) + (thread & ((1 << columns->width_log2) - 1));
    out->still = ((at[1] << (8 - columns->width_log2)) + (thread >> columns->width_log2)) * columns->rows;
    out->pixel = element;
    out->component = 0;
    if (columns->components > 1) {
        out->pixel = columns->width <= INT32_MAX ? cc__divide((int32_t)element, &columns->by_components)
                                                 : element / columns->components;
        out->component = (int32_t)(element - out->pixel * columns->components);
    }
    out->first = at[2] * columns->depth;
    out->end = columns->moving - out->first < columns->depth ? columns->moving : out->first + columns->depth;
    out->volume = patch;
    return element < columns->width && out->still < columns->still;
}

#endif
