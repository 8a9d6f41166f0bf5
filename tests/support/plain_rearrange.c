#include "support/plain_rearrange.h"

#include "support/plain_work.h"
#include "support/rescale_cases.h"

#include <cudacommon/border.h>
#include <string.h>

int64_t plain_border(int64_t border, int64_t at, int64_t size)
{
    /* A walk from pixel 0, which turns round at the mirrors. */
    int64_t place = 0;
    int64_t step = 1;
    if (at >= 0 && at < size)
        return at;
    if (border == CC_BORDER_CONSTANT)
        return -1;
    if (border == CC_BORDER_REPLICATE)
        return at < 0 ? 0 : size - 1;
    if (border == CC_BORDER_REFLECT && size == 1)
        return 0;
    /* Backwards from pixel 0 is forwards in an image that is turned round. */
    const bool is_backwards = at < 0;
    int64_t left = at;
    if (is_backwards && border == CC_BORDER_PERIODIC) {
        while (left < 0)
            left += size;
        return left;
    }
    if (is_backwards)
        left = border == CC_BORDER_REFLECT ? -at : -at - 1;
    for (; left > 0; left--) {
        place += step;
        if (place != size && place != -1)
            continue;
        if (border == CC_BORDER_PERIODIC) {
            place = 0;
        } else {
            step = -step;
            place += border == CC_BORDER_REFLECT ? 2 * step : step;
        }
    }
    return place;
}

void plain_rearrange(const cc__rearrange *work)
{
    const cc__rearrange_axis *axes = work->axes;
    const size_t bytes = (size_t)work->components * cc_pixel_type_size_bytes(work->to_type);
    int64_t at[CC_MAX_DIMENSION];
    for (at[3] = 0; at[3] < axes[3].size; at[3]++)
        for (at[2] = 0; at[2] < axes[2].size; at[2]++)
            for (at[1] = 0; at[1] < axes[1].size; at[1]++)
                for (at[0] = 0; at[0] < axes[0].size; at[0]++) {
                    unsigned char *to = work->to;
                    const unsigned char *from = work->from;
                    bool is_value = false;
                    for (int32_t i = 0; i < CC_MAX_DIMENSION; i++) {
                        const int64_t found = plain_border(axes[i].border, at[i] - axes[i].before, axes[i].from_size);
                        is_value = is_value || found < 0;
                        to += at[i] * axes[i].to_stride;
                        from += found * axes[i].from_stride;
                    }
                    memcpy(to, is_value ? work->value : from, bytes);
                }
}

static int64_t bytes_of(cc_pixel_type type)
{
    return (int64_t)cc_pixel_type_size_bytes(type);
}

static void random_sizes(uint32_t *state, random_kind kind, int64_t size[CC_MAX_DIMENSION])
{
    for (int32_t i = 0; i < CC_MAX_DIMENSION; i++)
        size[i] = random_below(state, 3) == 0 ? 1 : 1 + random_below(state, 5);
    if (kind == RANDOM_SQUARES) {
        size[random_below(state, 2)] = 8 + random_below(state, 70);
        size[2 + random_below(state, 2)] = 8 + random_below(state, 70);
    } else if (random_below(state, 2) == 0) {
        size[random_below(state, 2)] = 1 + random_below(state, 150);
    }
}

/* Without gaps, or with any. */
static int64_t choose_strides(uint32_t *state, const int64_t size[CC_MAX_DIMENSION], int64_t pixel_bytes,
                              int64_t alignment, int64_t out_stride[CC_MAX_DIMENSION])
{
    if (random_below(state, 3) == 0)
        return random_strides(state, size, pixel_bytes, alignment, out_stride);
    int64_t stride = pixel_bytes;
    for (int32_t i = 0; i < CC_MAX_DIMENSION; i++) {
        out_stride[i] = stride;
        stride *= size[i];
    }
    return stride;
}

static void random_order(uint32_t *state, int32_t order[CC_MAX_DIMENSION])
{
    for (int32_t i = 0; i < CC_MAX_DIMENSION; i++)
        order[i] = i;
    for (int32_t i = CC_MAX_DIMENSION - 1; i > 0; i--) {
        const int32_t other = (int32_t)random_below(state, i + 1);
        const int32_t axis = order[i];
        order[i] = order[other];
        order[other] = axis;
    }
}

bool random_rearrange(uint32_t *state, random_kind kind, unsigned char *from, unsigned char *to, int64_t most,
                      cc__rearrange *out_work, int64_t *out_bytes)
{
    int64_t from_size[CC_MAX_DIMENSION], from_stride[CC_MAX_DIMENSION];
    int64_t to_size[CC_MAX_DIMENSION], to_stride[CC_MAX_DIMENSION];
    int32_t order[CC_MAX_DIMENSION] = {0, 1, 2, 3};
    const bool has_border = kind != RANDOM_SQUARES && random_below(state, 3) > 0;
    memset(out_work, 0, sizeof *out_work);
    out_work->components = random_below(state, 2) == 0 ? 1 : (int32_t)(1 + random_below(state, 5));
    out_work->from_type = (cc_pixel_type)random_below(state, 15);
    out_work->to_type = kind == RANDOM_CASTS ? (cc_pixel_type)random_below(state, 15) : out_work->from_type;
    if (kind == RANDOM_CASTS && out_work->to_type == out_work->from_type)
        out_work->to_type = (cc_pixel_type)((out_work->to_type + 1) % 15);
    random_sizes(state, kind, from_size);
    if (kind == RANDOM_SQUARES || random_below(state, 3) == 0)
        random_order(state, order);
    for (int32_t i = 0; i < CC_MAX_DIMENSION; i++) {
        cc__rearrange_axis *axis = &out_work->axes[i];
        axis->from_size = from_size[order[i]];
        axis->size = axis->from_size;
        if (has_border && random_below(state, 2) == 0) {
            axis->border = random_below(state, 5);
            axis->before = random_below(state, random_below(state, 8) == 0 ? 3 * axis->from_size : 4);
            axis->size += axis->before + random_below(state, 4);
        }
        to_size[i] = axis->size;
    }
    const int64_t from_unit = bytes_of(out_work->from_type), to_unit = bytes_of(out_work->to_type);
    const int64_t from_bytes =
        choose_strides(state, from_size, out_work->components * from_unit, from_unit, from_stride);
    const int64_t to_bytes = choose_strides(state, to_size, out_work->components * to_unit, to_unit, to_stride);
    *out_bytes = to_bytes + 3 * to_unit;
    if (from_bytes + 3 * from_unit > most || *out_bytes > most)
        return false;
    for (int64_t n = 0; n < (from_bytes + 3 * from_unit) / from_unit; n++)
        rescale_case_write(out_work->from_type, n + random_below(state, 3), from + n * from_unit);
    for (int32_t c = 0; c < out_work->components; c++)
        rescale_case_write(out_work->to_type, 7 + c * (int32_t)random_below(state, 2), out_work->value + c * to_unit);
    out_work->from = from + random_below(state, 4) * from_unit;
    out_work->to = to + random_below(state, 4) * to_unit;
    for (int32_t i = 0; i < CC_MAX_DIMENSION; i++) {
        cc__rearrange_axis *axis = &out_work->axes[i];
        axis->to_stride = to_stride[i];
        axis->from_stride = from_stride[order[i]];
        if (random_below(state, 3) == 0) {
            out_work->from += (axis->from_size - 1) * axis->from_stride;
            axis->from_stride = -axis->from_stride;
        }
    }
    return true;
}
