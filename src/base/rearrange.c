#include "base/rearrange.h"

#include "base/components.h"
#include "base/loops.h"
#include "base/past_cache.h"
#include "kernels/border_math.h"
#include "kernels/pixel_math.h"

#include <fenv.h>
#include <string.h>

/* Components that are converted together: they stay in the nearest cache. */
#define BLOCK 256

bool cc__rearrange_is_inside(const cc__rearrange_axis *axis)
{
    return axis->before <= 0 && axis->size - axis->before <= axis->from_size;
}

static int64_t pixel_bytes_of(const cc__rearrange *work, cc_pixel_type type)
{
    return work->components * (int64_t)cc_pixel_type_size_bytes(type);
}

static int64_t magnitude(int64_t value)
{
    return value < 0 ? -value : value;
}

/* An axis of one pixel adds nothing but a distance, unless the pixel is the border's. */
static void settle_single(cc__rearrange *work, cc__rearrange_axis *axis)
{
    const int64_t at = axis->size == 1 ? cc__border_find((int32_t)axis->border, -axis->before, axis->from_size) : -1;
    if (at < 0)
        return;
    work->from += at * axis->from_stride;
    axis->from_size = 1;
    axis->before = 0;
}

static bool is_single(const cc__rearrange_axis *axis)
{
    return axis->size == 1 && cc__rearrange_is_inside(axis);
}

static bool comes_before(const cc__rearrange_axis *a, const cc__rearrange_axis *b)
{
    return !is_single(a) && (is_single(b) || a->to_stride < b->to_stride);
}

static void sort_axes(cc__rearrange_axis axes[CC_MAX_DIMENSION])
{
    for (int32_t i = 1; i < CC_MAX_DIMENSION; i++) {
        const cc__rearrange_axis axis = axes[i];
        int32_t at = i;
        for (; at > 0 && comes_before(&axis, &axes[at - 1]); at--)
            axes[at] = axes[at - 1];
        axes[at] = axis;
    }
}

static bool goes_on(const cc__rearrange_axis *a, const cc__rearrange_axis *b)
{
    return cc__rearrange_is_inside(a) && cc__rearrange_is_inside(b) && b->to_stride == a->size * a->to_stride &&
           b->from_stride == a->size * a->from_stride;
}

static const cc__rearrange_axis no_axis = {.size = 1, .from_size = 1};

static void merge_axes(cc__rearrange *work)
{
    cc__rearrange_axis *axes = work->axes;
    int32_t last = 0;
    for (int32_t i = 0; i < CC_MAX_DIMENSION; i++) {
        if (!cc__rearrange_is_inside(&axes[i]))
            continue;
        work->from -= axes[i].before * axes[i].from_stride;
        axes[i].before = 0;
        axes[i].from_size = axes[i].size;
    }
    for (int32_t i = 1; i < CC_MAX_DIMENSION; i++) {
        const cc__rearrange_axis next = axes[i];
        axes[i] = no_axis;
        if (is_single(&next))
            continue;
        if (goes_on(&axes[last], &next)) {
            axes[last].size *= next.size;
            axes[last].from_size = axes[last].size;
        } else {
            axes[++last] = next;
        }
    }
}

/* Whether it does not matter which component of the value a component gets. */
static bool is_value_even(const cc__rearrange *work)
{
    const int64_t bytes = (int64_t)cc_pixel_type_size_bytes(work->to_type);
    bool is_used = false;
    for (int32_t i = 0; i < CC_MAX_DIMENSION; i++)
        is_used = is_used || (work->axes[i].border == CC_BORDER_CONSTANT && !cc__rearrange_is_inside(&work->axes[i]));
    return !is_used || memcmp(work->value, work->value + bytes, (size_t)(bytes * (work->components - 1))) == 0;
}

/* Rows of pixels side by side are rows of components. */
static void merge_components(cc__rearrange *work)
{
    cc__rearrange_axis *row = &work->axes[0];
    const int64_t to_bytes = pixel_bytes_of(work, work->to_type);
    const int64_t from_bytes = pixel_bytes_of(work, work->from_type);
    if (is_single(row)) {
        row->to_stride = to_bytes;
        row->from_stride = from_bytes;
    }
    if (!cc__rearrange_is_inside(row) || row->to_stride != to_bytes || row->from_stride != from_bytes ||
        !is_value_even(work))
        return;
    row->size *= work->components;
    row->from_size = row->size;
    row->to_stride /= work->components;
    row->from_stride /= work->components;
    work->components = 1;
}

/* The largest power of two up to 16 that everything is a multiple of. */
static void choose_units(cc__rearrange *work)
{
    const int64_t bytes = pixel_bytes_of(work, work->to_type);
    uint64_t multiples = 16 | (uint64_t)bytes | (uint64_t)(uintptr_t)work->to | (uint64_t)(uintptr_t)work->from;
    for (int32_t i = 0; i < CC_MAX_DIMENSION; i++)
        multiples |= (uint64_t)work->axes[i].to_stride | (uint64_t)work->axes[i].from_stride;
    work->unit_bytes = (int32_t)(multiples & (~multiples + 1));
    work->units = (int32_t)(bytes / work->unit_bytes);
}

void cc__rearrange_normalize(cc__rearrange *work)
{
    cc__rearrange_axis *axes = work->axes;
    for (int32_t i = 0; i < CC_MAX_DIMENSION; i++)
        settle_single(work, &axes[i]);
    sort_axes(axes);
    merge_axes(work);
    if (work->components > 1)
        merge_components(work);
    choose_units(work);

    int32_t nearest = 0;
    for (int32_t i = 1; i < CC_MAX_DIMENSION; i++)
        if (!is_single(&axes[i]) && magnitude(axes[i].from_stride) < magnitude(axes[nearest].from_stride))
            nearest = i;
    if (nearest > 1) {
        const cc__rearrange_axis axis = axes[nearest];
        memmove(&axes[2], &axes[1], (size_t)(nearest - 1) * sizeof axis);
        axes[1] = axis;
    }
}

int64_t cc__rearrange_rows(const cc__rearrange *work)
{
    return work->axes[1].size * work->axes[2].size * work->axes[3].size;
}

/* A part of a row on the way from the source to the destination. */
typedef struct row_part {
    const cc__rearrange *work;
    unsigned char *to;         /* the row's first pixel */
    const unsigned char *from; /* the source's first pixel along the row; NULL: all pixels are the border's value */
} row_part;

static row_part find_row(const cc__rearrange *work, int64_t row)
{
    row_part part = {work, work->to, work->from};
    for (int32_t i = 1; i < CC_MAX_DIMENSION; i++) {
        const cc__rearrange_axis *axis = &work->axes[i];
        const int64_t at = row % axis->size;
        const int64_t found = cc__border_find((int32_t)axis->border, at - axis->before, axis->from_size);
        row /= axis->size;
        part.to += at * axis->to_stride;
        if (found < 0)
            part.from = NULL;
        else if (part.from != NULL)
            part.from += found * axis->from_stride;
    }
    return part;
}

/* Inlined with a constant number of bytes each copy becomes a load and a store. */
static inline void copy_each(unsigned char *to, int64_t to_stride, const unsigned char *from, int64_t from_stride,
                             int64_t count, size_t bytes)
{
    for (int64_t i = 0; i < count; i++)
        memcpy(to + i * to_stride, from + i * from_stride, bytes);
}

/* The source's go backwards; the first is at `from`. */
static void reverse_pixels(const cc__rearrange *work, unsigned char *to, const unsigned char *from, int64_t bytes,
                           int64_t count)
{
    const cc__loops *loops = cc__loops_get();
    unsigned char block[CC__PAST_CACHE_BLOCK] __attribute__((aligned(64)));
    if (work->past_cache == 0) {
        loops->reverse(to, from, bytes, count);
        return;
    }
    /* What is read next is before this, or of short rows in the next ones. */
    const int64_t back = count * bytes > CC__PAST_CACHE_AHEAD ? 2 * CC__PAST_CACHE_AHEAD : 0;
    for (int64_t done = 0; done < count;) {
        const int64_t part = cc__past_cache_part(to + done * bytes, bytes, count - done);
        cc__past_cache_foresee(from - (done + part - 1) * bytes - back, part * bytes);
        loops->reverse(block, from - done * bytes, bytes, part);
        cc__past_cache_copy(to + done * bytes, block, (size_t)(part * bytes));
        done += part;
    }
}

static void copy_pixels(const cc__rearrange *work, unsigned char *to, int64_t to_stride, const unsigned char *from,
                        int64_t from_stride, int64_t count)
{
    const int64_t bytes = (int64_t)work->units * work->unit_bytes;
    if (to_stride == bytes && from_stride == bytes) {
        if (work->past_cache != 0)
            cc__past_cache_move(to, from, (size_t)(count * bytes));
        else
            memcpy(to, from, (size_t)(count * bytes));
        return;
    }
    if (to_stride == bytes && from_stride == -bytes && bytes <= 8 && (bytes & (bytes - 1)) == 0) {
        reverse_pixels(work, to, from, bytes, count);
        return;
    }
    switch (bytes) {
    case 1:
        copy_each(to, to_stride, from, from_stride, count, 1);
        break;
    case 2:
        copy_each(to, to_stride, from, from_stride, count, 2);
        break;
    case 4:
        copy_each(to, to_stride, from, from_stride, count, 4);
        break;
    case 8:
        copy_each(to, to_stride, from, from_stride, count, 8);
        break;
    case 16:
        copy_each(to, to_stride, from, from_stride, count, 16);
        break;
    default:
        copy_each(to, to_stride, from, from_stride, count, (size_t)bytes);
        break;
    }
}

/* 64-bit integers of the other sign, which float64 cannot hold. */
static bool is_wide(const cc__rearrange *work)
{
    return (work->to_type == CC_PIXEL_UINT64 && work->from_type == CC_PIXEL_INT64) ||
           (work->to_type == CC_PIXEL_INT64 && work->from_type == CC_PIXEL_UINT64);
}

static void cast_wide(cc_pixel_type to_type, unsigned char *to, int64_t to_stride, const unsigned char *from,
                      int64_t from_stride, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, from + i * from_stride, sizeof bits);
        if (to_type == CC_PIXEL_UINT64)
            bits = cc__clamp_INT64_to_UINT64((int64_t)bits);
        else
            bits = (uint64_t)cc__clamp_UINT64_to_INT64(bits);
        memcpy(to + i * to_stride, &bits, sizeof bits);
    }
}

/* One component of each pixel. */
static void cast_component(const cc__rearrange *work, unsigned char *to, int64_t to_stride, const unsigned char *from,
                           int64_t from_stride, int64_t count)
{
    double real[BLOCK];
    double imaginary[BLOCK] = {0};
    if (is_wide(work)) {
        cast_wide(work->to_type, to, to_stride, from, from_stride, count);
        return;
    }
    for (int64_t done = 0; done < count; done += BLOCK) {
        const int64_t some = count - done < BLOCK ? count - done : BLOCK;
        cc__components_load(work->from_type, from + done * from_stride, from_stride, some, real, imaginary);
        /* A complex value is 0 when both parts are. */
        if (work->to_type == CC_PIXEL_BOOL && cc__is_complex(work->from_type))
            for (int64_t i = 0; i < some; i++)
                real[i] = real[i] != 0.0 || imaginary[i] != 0.0 ? 1.0 : 0.0;
        cc__components_store(work->to_type, real, imaginary, to + done * to_stride, to_stride, some);
    }
}

static void move_pixels(const cc__rearrange *work, unsigned char *to, int64_t to_stride, const unsigned char *from,
                        int64_t from_stride, int64_t count)
{
    if (work->to_type == work->from_type) {
        copy_pixels(work, to, to_stride, from, from_stride, count);
        return;
    }
    const int64_t to_bytes = (int64_t)cc_pixel_type_size_bytes(work->to_type);
    const int64_t from_bytes = (int64_t)cc_pixel_type_size_bytes(work->from_type);
    for (int32_t c = 0; c < work->components; c++)
        cast_component(work, to + c * to_bytes, to_stride, from + c * from_bytes, from_stride, count);
}

/* Pixels outside the source along the row, one after the other. */
static void make_border(const row_part *part, int64_t first, int64_t end)
{
    const cc__rearrange *work = part->work;
    const cc__rearrange_axis *axis = &work->axes[0];
    const int64_t value_bytes = pixel_bytes_of(work, work->to_type);
    for (int64_t i = first; i < end; i++) {
        const int64_t found =
            part->from == NULL ? -1 : cc__border_find((int32_t)axis->border, i - axis->before, axis->from_size);
        unsigned char *to = part->to + i * axis->to_stride;
        if (found < 0)
            memcpy(to, work->value, (size_t)value_bytes);
        else
            move_pixels(work, to, axis->to_stride, part->from + found * axis->from_stride, axis->from_stride, 1);
    }
}

void cc__rearrange_row(const cc__rearrange *work, int64_t row, int64_t first, int64_t count)
{
    const cc__rearrange_axis *axis = &work->axes[0];
    const row_part part = find_row(work, row);
    const int64_t end = first + count;
    int64_t inner = axis->before > first ? axis->before : first;
    int64_t inner_end = axis->before + axis->from_size < end ? axis->before + axis->from_size : end;
    /* The caller's rounding mode must neither change results nor be changed; where nothing is rounded asking takes
     * longer than copying a short row. */
    const bool is_rounded = work->to_type != work->from_type;
    fenv_t environment;
    if (part.from == NULL || inner >= inner_end) {
        inner = end;
        inner_end = end;
    }
    if (is_rounded) {
        fegetenv(&environment);
        fesetenv(FE_DFL_ENV);
    }
    make_border(&part, first, inner);
    if (inner < inner_end)
        move_pixels(work, part.to + inner * axis->to_stride, axis->to_stride,
                    part.from + (inner - axis->before) * axis->from_stride, axis->from_stride, inner_end - inner);
    make_border(&part, inner_end, end);
    if (is_rounded)
        fesetenv(&environment);
}
