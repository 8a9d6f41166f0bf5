#include "support/tile_work.h"

#include "base/work.h"
#include "memory/budget.h"
#include "support/fixture.h"

#include <string.h>

tile_work tile_work_of(const cc_image *input, const cc_image *output)
{
    tile_work work = {.factor = {1, 1, 1, 1}, .fail_at = -1, .expects_least = true};
    work.input = cc_image_get_region(input);
    work.output = cc_image_get_region(output);
    work.pixel_bytes =
        cc_image_get_components(output) * (int64_t)cc_pixel_type_size_bytes(cc_image_get_pixel_type(output));
    return work;
}

cc_tiles_input tile_work_input(const tile_work *work, cc_image *image)
{
    cc_tiles_input input = CC_TILES_INPUT_INIT;
    input.image = image;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; ++axis) {
        input.scale_numerator[axis] = (int32_t)work->factor[axis];
        if (work->factor[axis] != 1)
            input.offset[axis] = work->shift[axis];
        else if (work->shift[axis] < 0)
            input.halo_before[axis] = -work->shift[axis];
        else
            input.halo_after[axis] = work->shift[axis];
    }
    return input;
}

/* The pixels of a region of the output, from the first on, whose input is inside the image. */
static cc_region inside_of(const tile_work *work, const cc_region *output)
{
    cc_region inside = *output;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; ++axis) {
        inside.size[axis] = 0;
        for (int64_t i = 0; i < output->size[axis]; ++i) {
            const int64_t at =
                (output->index[axis] + i - work->output.index[axis]) * work->factor[axis] + work->shift[axis];
            if (at < 0 || at >= work->input.size[axis])
                continue;
            if (inside.size[axis]++ == 0)
                inside.index[axis] = output->index[axis] + i;
        }
    }
    return inside;
}

static bool is_empty(const cc_region *region)
{
    return region->size[0] == 0 || region->size[1] == 0 || region->size[2] == 0 || region->size[3] == 0;
}

static unsigned char *pixel_of(const cc_tile_pixels *pixels, const int64_t index[CC_MAX_DIMENSION])
{
    unsigned char *at = pixels->pixels;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; ++axis) {
        ck_assert_int_ge(index[axis], pixels->region.index[axis]);
        ck_assert_int_lt(index[axis], pixels->region.index[axis] + pixels->region.size[axis]);
        at += (index[axis] - pixels->region.index[axis]) * pixels->strides_bytes[axis];
    }
    return at;
}

/* Clipped at the border, and nowhere else. */
static void check_region(const tile_work *work, const cc_tile *tile)
{
    for (int32_t axis = 0; work->expects_least && axis < CC_MAX_DIMENSION; ++axis) {
        const int64_t shift = work->shift[axis];
        const bool moves = work->factor[axis] != 1;
        const int64_t start = (tile->output.region.index[axis] - work->output.index[axis]) * work->factor[axis];
        int64_t first = start + (moves || shift < 0 ? shift : 0);
        int64_t end = start + tile->output.region.size[axis] * work->factor[axis] + (moves || shift > 0 ? shift : 0);
        first = first < 0 ? 0 : first;
        end = end > work->input.size[axis] ? work->input.size[axis] : end;
        ck_assert_int_eq(tile->inputs[0].region.size[axis], end > first ? end - first : 0);
        if (end > first)
            ck_assert_int_eq(tile->inputs[0].region.index[axis], first + work->input.index[axis]);
    }
}

static void note_held(tile_work *work)
{
    if (work->place == CC_PLACE_HOST)
        return;
    const size_t held = cc__budget_held_bytes(work->place);
    if (held > work->most_held_bytes)
        work->most_held_bytes = held;
    ck_assert_msg(work->limit_bytes == 0 || held <= work->limit_bytes, "%zu bytes held, the limit is %zu", held,
                  work->limit_bytes);
}

static void set_outside(const tile_work *work, const cc_tile *tile)
{
    cc__fill fill = {.destination = {.data = tile->output.pixels}, .pixel_bytes = work->pixel_bytes};
    memcpy(fill.destination.stride, tile->output.strides_bytes, sizeof fill.destination.stride);
    memcpy(fill.size, tile->output.region.size, sizeof fill.size);
    memset(fill.value, TILE_WORK_OUTSIDE, (size_t)work->pixel_bytes);
    if (tile->place == CC_PLACE_HOST)
        cc__fill_on_host(&fill);
    else
        fixture_ok(fixture_inner->fill(fixture_inner, tile->place, tile->stream, &fill));
}

static void copy_inside(const tile_work *work, const cc_tile *tile, const cc_region *inside)
{
    cc__copy copy = {.pixel_bytes = work->pixel_bytes};
    int64_t from[CC_MAX_DIMENSION];
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; ++axis) {
        from[axis] = (inside->index[axis] - work->output.index[axis]) * work->factor[axis] + work->shift[axis] +
                     work->input.index[axis];
        copy.destination.stride[axis] = tile->output.strides_bytes[axis];
        copy.source.stride[axis] = tile->inputs[0].strides_bytes[axis] * work->factor[axis];
        copy.size[axis] = inside->size[axis];
        const int64_t last = from[axis] + (copy.size[axis] - 1) * work->factor[axis];
        ck_assert_int_lt(last, tile->inputs[0].region.index[axis] + tile->inputs[0].region.size[axis]);
    }
    copy.destination.data = pixel_of(&tile->output, inside->index);
    copy.source.data = pixel_of(&tile->inputs[0], from);
    if (tile->place == CC_PLACE_HOST)
        cc__copy_on_host(&copy);
    else
        fixture_ok(fixture_inner->copy(fixture_inner, tile->place, tile->stream, &copy));
}

cc_status tile_work_function(const cc_tile *tile, void *user_data)
{
    tile_work *work = user_data;
    if (tile->place != CC_PLACE_HOST) {
        int32_t current = -1;
        fixture_ok(fixture_inner->current_device(fixture_inner, &current));
        ck_assert_int_eq(current, tile->place);
    }
    work->place = tile->place;
    work->tile_count = tile->count;
    ck_assert_int_eq(tile->number, work->calls);
    ck_assert_int_lt(tile->number, tile->count);
    ck_assert_int_eq(tile->input_count, 1);
    note_held(work);
    check_region(work, tile);
    if (work->calls++ == work->fail_at)
        return work->failure;
    const cc_region inside = inside_of(work, &tile->output.region);
    set_outside(work, tile);
    if (!is_empty(&inside))
        copy_inside(work, tile, &inside);
    return CC_OK;
}

int32_t tile_work_progress(int64_t done, int64_t count, void *user_data)
{
    tile_work *work = user_data;
    ck_assert_int_eq(done, work->told + 1);
    ck_assert_int_eq(count, work->tile_count);
    ck_assert_int_le(done, work->calls);
    note_held(work);
    work->told = done;
    return done == work->cancel_at;
}

void tile_work_expect(const tile_work *work, const unsigned char *input, unsigned char *out_expected)
{
    const int64_t *in = work->input.size, *out = work->output.size;
    const int64_t pixels = out[0] * out[1] * out[2] * out[3];
    for (int64_t pixel = 0; pixel < pixels; ++pixel) {
        unsigned char *to = out_expected + pixel * work->pixel_bytes;
        int64_t rest = pixel, from = 0, stride = 1;
        bool is_inside = true;
        for (int32_t axis = 0; axis < CC_MAX_DIMENSION; ++axis) {
            const int64_t at = rest % out[axis] * work->factor[axis] + work->shift[axis];
            rest /= out[axis];
            is_inside = is_inside && at >= 0 && at < in[axis];
            from += at * stride;
            stride *= in[axis];
        }
        if (is_inside)
            memcpy(to, input + from * work->pixel_bytes, (size_t)work->pixel_bytes);
        else
            memset(to, TILE_WORK_OUTSIDE, (size_t)work->pixel_bytes);
    }
}

void tile_work_number(cc_image *image, unsigned seed, unsigned char *out_bytes)
{
    const size_t count = cc_image_get_size_bytes(image);
    void *pixels = NULL;
    for (size_t i = 0; i < count; ++i)
        out_bytes[i] = (unsigned char)((i * 31 + i / 251 + seed) % 253);
    fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_WRITE, &pixels));
    memcpy(pixels, out_bytes, count);
    fixture_ok(cc_image_unmap_host(image, pixels));
}
