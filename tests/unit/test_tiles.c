/* Images worked on tile by tile: the same pixels as at once, wherever they are and however small the tiles. */
#include "memory/budget.h"
#include "ops/tiles.h"
#include "support/byte_pixels.h"
#include "support/dense_work.h"
#include "support/fixture.h"
#include "support/tile_fixture.h"

#include <stdlib.h>
#include <string.h>

static int64_t valid_at(cc_image *image, cc_place place)
{
    cc_place_state state = CC_PLACE_STATE_INIT;
    fixture_ok(cc_image_get_place_state(image, place, &state));
    return state.valid_pixels;
}

/* The loop runs over shapes. */
START_TEST(a_filter_with_halo_is_the_same_in_tiles)
{
    static const struct {
        cc_pixel_type type;
        int32_t components, dimension;
        int64_t size[4], shift[4];
    } shapes[] = {
        {CC_PIXEL_UINT8, 1, 1, {1000, 1, 1, 1}, {3}},          {CC_PIXEL_UINT8, 1, 2, {37, 61, 1, 1}, {-1, 2}},
        {CC_PIXEL_UINT16, 1, 3, {17, 13, 19, 1}, {1, -2, 3}},  {CC_PIXEL_UINT8, 3, 3, {11, 14, 9, 1}, {0, 0, 0}},
        {CC_PIXEL_FLOAT32, 2, 4, {5, 7, 6, 9}, {1, 0, -1, 2}}, {CC_PIXEL_FLOAT64, 1, 3, {33, 31, 1, 1}, {-2, 1, 0}},
        {CC_PIXEL_UINT8, 1, 3, {1, 1, 300, 1}, {0, 0, -7}},    {CC_PIXEL_COMPLEX128, 4, 2, {16, 9, 1, 1}, {40, 0}},
        {CC_PIXEL_UINT8, 5, 3, {1, 1, 1, 1}, {0, 1, 0}},
    };
    const size_t limits[] = {0, 20000, 6000, 3000};
    make_images(shapes[_i].type, shapes[_i].components, shapes[_i].dimension, shapes[_i].size[0], shapes[_i].size[1],
                shapes[_i].size[2], shapes[_i].size[3]);
    tile_work_number(input, 7, numbered);
    for (size_t limit = 0; limit < sizeof limits / sizeof limits[0]; ++limit) {
        for (int32_t buffers = 0; buffers < 5; buffers += limit == 0 ? 4 : 1) {
            for (int32_t place = 0; place < 2; ++place) {
                tile_work work = tile_work_of(input, output);
                memcpy(work.shift, shapes[_i].shift, sizeof work.shift);
                work.limit_bytes = limits[limit];
                const cc_tiles_input in = tile_work_input(&work, input);
                cc_tiles_params params = params_of(&work, &in, limits[limit]);
                params.buffer_count = buffers;
                params.place = place == 0 ? CC_DEVICE_CURRENT : CC_PLACE_HOST;
                run_and_compare(&work, &params);
            }
        }
    }
}
END_TEST

START_TEST(an_output_of_another_grid)
{
    const int64_t factors[][4] = {{2, 2, 2, 1}, {1, 3, 2, 1}, {3, 1, 1, 1}};
    for (size_t i = 0; i < sizeof factors / sizeof factors[0]; ++i) {
        const int64_t in_size[4] = {24, 17, 20, 1}, out_size[4] = {9, 8, 11, 1}, index[4] = {-5, 100, 3, 0};
        cc_image_release(input);
        cc_image_release(output);
        input = image_of(CC_PIXEL_UINT16, 1, 3, in_size);
        output = image_of(CC_PIXEL_UINT16, 1, 3, out_size);
        fixture_ok(cc_image_set_index(input, index));
        tile_work_number(input, 3, numbered);
        tile_work work = tile_work_of(input, output);
        memcpy(work.factor, factors[i], sizeof work.factor);
        work.shift[1] = factors[i][1] > 1 ? 1 : 0;
        const cc_tiles_input in = tile_work_input(&work, input);
        const cc_tiles_params params = params_of(&work, &in, 4096);
        run_and_compare(&work, &params);
        ck_assert_int_gt(work.tile_count, 4);
    }
}
END_TEST

typedef struct mirrored {
    int64_t size;
    int64_t calls;
    cc_status status;
} mirrored;

static cc_status mirrored_region(const cc_region *out_region, cc_region *in_region, void *user_data)
{
    mirrored *self = user_data;
    ++self->calls;
    *in_region = *out_region;
    in_region->index[1] = self->size - out_region->index[1] - out_region->size[1];
    return self->status;
}

static cc_status check_mirrored(const cc_tile *tile, void *user_data)
{
    const cc_region *in = &tile->inputs[0].region, *out = &tile->output.region;
    (void)user_data;
    ck_assert_int_eq(in->index[1], 64 - out->index[1] - out->size[1]);
    ck_assert_int_eq(in->size[1], out->size[1]);
    return CC_OK;
}

START_TEST(a_callback_says_what_is_needed)
{
    mirrored self = {.size = 64};
    cc_tiles_input in = CC_TILES_INPUT_INIT;
    cc_tiles_params params = params_of(NULL, &in, 4096);
    make_images(CC_PIXEL_UINT8, 1, 2, 32, 64, 1, 1);
    tile_work_number(input, 3, numbered);
    in.image = input;
    in.region = mirrored_region;
    in.user_data = &self;
    params.output = output;
    params.function = check_mirrored;
    params.progress = NULL;
    fixture_ok(cc_tiles_run(&params));
    ck_assert_int_gt(self.calls, 1);
    self.status = CC_ERROR_REGION;
    ck_assert_int_eq(cc_tiles_run(&params), CC_ERROR_REGION);
}
END_TEST

static cc_status in_place_function(const cc_tile *tile, void *user_data)
{
    int64_t *calls = user_data;
    ++*calls;
    ck_assert_ptr_eq(tile->inputs[0].pixels, tile->output.pixels);
    ck_assert_mem_eq(&tile->inputs[0].region, &tile->output.region, sizeof(cc_region));
    cc__rescale work = {.destination = {.data = tile->output.pixels},
                        .source = {.data = tile->output.pixels},
                        .components = 1,
                        .destination_type = CC_PIXEL_UINT8,
                        .source_type = CC_PIXEL_UINT8,
                        .scale = 1,
                        .shift = 2};
    memcpy(work.size, tile->output.region.size, sizeof work.size);
    memcpy(work.source.stride, tile->output.strides_bytes, sizeof work.source.stride);
    memcpy(work.destination.stride, tile->output.strides_bytes, sizeof work.destination.stride);
    if (tile->place == CC_PLACE_HOST)
        cc__rescale_on_host(&work);
    else
        fixture_ok(queue_kernel(fixture_inner, tile->place, tile->stream, &cc__rescale_kernel, &work));
    return CC_OK;
}

START_TEST(the_output_may_be_the_input)
{
    for (int32_t buffers = 1; buffers < 5; ++buffers) {
        int64_t calls = 0;
        cc_tiles_input in[2] = {CC_TILES_INPUT_INIT, CC_TILES_INPUT_INIT};
        cc_tiles_params params = CC_TILES_PARAMS_INIT;
        cc__tiles_without_thread = buffers == 4;
        make_images(CC_PIXEL_UINT8, 1, 3, 16, 16, 40, 1);
        tile_work_number(input, 9, numbered);
        in[0].image = in[1].image = input;
        params.limit_bytes = 4096;
        params.buffer_count = buffers;
        params.input_count = 2;
        params.inputs = in;
        params.output = input;
        params.function = in_place_function;
        params.user_data = &calls;
        fixture_ok(cc_tiles_run(&params));
        ck_assert_int_gt(calls, 2);
        for (size_t i = 0; i < 16 * 16 * 40; ++i)
            expected[i] = (unsigned char)(numbered[i] + 2);
        expect_pixels(input, expected);
    }
}
END_TEST

START_TEST(rescaling_gives_the_same_bits)
{
    for (int32_t place = 0; place < 2; ++place) {
        cc_tiles_params params = CC_TILES_PARAMS_INIT;
        const int64_t size[4] = {31, 17, 23, 1};
        cc_image *plain = image_of(CC_PIXEL_FLOAT32, 1, 3, size);
        cc_image_release(input);
        cc_image_release(output);
        input = image_of(CC_PIXEL_UINT16, 1, 3, size);
        output = image_of(CC_PIXEL_FLOAT32, 1, 3, size);
        tile_work_number(input, 1, numbered);
        params.limit_bytes = 10000;
        params.place = place == 0 ? CC_DEVICE_CURRENT : CC_PLACE_HOST;
        fixture_ok(cc_image_rescale(input, 0.37, -5, plain, CC_STREAM_DEFAULT));
        fixture_ok(cc_tiles_rescale(input, 0.37, -5, output, &params));
        void *pixels = NULL;
        fixture_ok(cc_image_map_host(plain, NULL, CC_ACCESS_READ, &pixels));
        expect_pixels(output, pixels);
        fixture_ok(cc_image_unmap_host(plain, pixels));
        fixture_ok(cc_tiles_rescale(input, 1, 0, output, NULL));
        fixture_ok(cc_image_rescale(input, 1, 0, plain, CC_STREAM_DEFAULT));
        fixture_ok(cc_image_map_host(plain, NULL, CC_ACCESS_READ, &pixels));
        expect_pixels(output, pixels);
        fixture_ok(cc_image_unmap_host(plain, pixels));
        cc_image_release(plain);
    }
}
END_TEST

START_TEST(each_pixel_moves_once_each_way)
{
    const size_t bytes = 32 * 32 * 16;
    make_images(CC_PIXEL_UINT8, 1, 3, 32, 32, 16, 1);
    tile_work_number(input, 3, numbered);
    tile_work work = tile_work_of(input, output);
    const cc_tiles_input in = tile_work_input(&work, input);
    const cc_tiles_params params = params_of(&work, &in, 8192);
    const uint64_t generation = cc_image_get_generation(output);
    run_and_compare(&work, &params);
    ck_assert_uint_ne(cc_image_get_generation(output), generation);
    const uint64_t up = fixture_counters(input).host_to_device_bytes;
    const uint64_t down = fixture_counters(output).device_to_host_bytes;
    ck_assert_uint_eq(up, fixture_device_count() > 0 ? bytes : 0);
    ck_assert_uint_eq(down, fixture_device_count() > 0 ? bytes : 0);
    ck_assert_uint_eq(fixture_counters(input).device_allocations, 0);
    ck_assert_int_eq(valid_at(input, CC_PLACE_HOST), (int64_t)bytes);
    ck_assert_int_eq(valid_at(output, CC_PLACE_HOST), (int64_t)bytes);
}
END_TEST

START_TEST(what_is_newest_on_a_device_is_used)
{
    make_images(CC_PIXEL_UINT8, 1, 3, 32, 32, 8, 1);
    if (fixture_device_count() == 0)
        return;
    tile_work work = tile_work_of(input, output);
    const cc_tiles_input in = tile_work_input(&work, input);
    cc_tiles_params params = params_of(&work, &in, 8192);
    params.place = 0;
    tile_work_number(input, 3, numbered);
    byte_pixels_write_device(output, NULL, 5, CC_STREAM_DEFAULT);
    const cc_region slice = {{0, 0, 3, 0}, {32, 32, 2, 1}};
    byte_pixels_write_device(input, &slice, 200, CC_STREAM_DEFAULT);
    memset(numbered + 3 * 1024, 200, 2 * 1024);
    fixture_ok(cc_image_prefetch(input, NULL, cc_image_get_device(input)));
    run_and_compare(&work, &params);
    /* The input's copy is as good as before, the output's is not. */
    ck_assert_int_eq(valid_at(input, cc_image_get_device(input)), 8192);
    ck_assert_int_eq(valid_at(output, cc_image_get_device(output)), 0);
    byte_pixels_expect_device(input, &slice, 200, CC_STREAM_DEFAULT);
}
END_TEST

/* Large enough to be page-locked: then all copies are late. */
#define LOCKED_WIDTH 256
#define LOCKED_SLICES 20
#define LOCKED_BYTES ((size_t)LOCKED_WIDTH * LOCKED_WIDTH * LOCKED_SLICES)

static void make_locked_images(unsigned char *out_bytes)
{
    const int64_t size[4] = {LOCKED_WIDTH, LOCKED_WIDTH, LOCKED_SLICES, 1};
    cc_image_release(input);
    cc_image_release(output);
    input = image_of(CC_PIXEL_UINT8, 1, 3, size);
    output = image_of(CC_PIXEL_UINT8, 1, 3, size);
    tile_work_number(output, 8, out_bytes);
    tile_work_number(input, 3, out_bytes);
    for (int32_t i = 0; fixture_device_count() > 0 && i < 2; ++i) {
        cc_place_state state = CC_PLACE_STATE_INIT;
        cc_image *image = i == 0 ? input : output;
        fixture_ok(cc_image_prefetch(image, NULL, cc_image_get_device(image)));
        fixture_ok(cc_image_get_place_state(image, CC_PLACE_HOST, &state));
        ck_assert_uint_ge(state.locked_bytes, LOCKED_BYTES);
    }
}

START_TEST(page_locked_memory_on_both_sides)
{
    unsigned char *in_bytes = malloc(LOCKED_BYTES), *out_bytes = malloc(LOCKED_BYTES);
    for (int32_t buffers = 1; buffers < 6; ++buffers) {
        cc__tiles_without_thread = buffers == 5;
        make_locked_images(in_bytes);
        tile_work work = tile_work_of(input, output);
        work.shift[2] = 1;
        work.shift[1] = -3;
        const cc_tiles_input in = tile_work_input(&work, input);
        cc_tiles_params params = params_of(&work, &in, (size_t)800 << 10);
        params.buffer_count = buffers % 5;
        fixture_ok(cc_tiles_run(&params));
        ck_assert_int_ge(work.tile_count, 4);
        tile_work_expect(&work, in_bytes, out_bytes);
        expect_pixels(output, out_bytes);

        int64_t calls = 0;
        const cc_tiles_input same = {.struct_size = sizeof same, .image = input};
        params.inputs = &same;
        params.output = input;
        params.function = in_place_function;
        params.progress = NULL;
        params.user_data = &calls;
        fixture_ok(cc_tiles_run(&params));
        ck_assert_int_gt(calls, 1);
        for (size_t i = 0; i < LOCKED_BYTES; ++i)
            in_bytes[i] = (unsigned char)(in_bytes[i] + 2);
        expect_pixels(input, in_bytes);
    }
    free(in_bytes);
    free(out_bytes);
}
END_TEST

/* Copies that others have queued from and to the same memory come first. */
START_TEST(late_copies_of_others_come_first)
{
    unsigned char *in_bytes = malloc(LOCKED_BYTES);
    cc_tiles_params params = CC_TILES_PARAMS_INIT;
    params.limit_bytes = (size_t)800 << 10;
    if (fixture_device_count() > 0) {
        make_locked_images(in_bytes);
        const int32_t device = cc_image_get_device(input);
        const cc_stream stream = fixture_stream_create(device);
        void *pixels = NULL;
        /* The input is late on its way to the host, and the output's old pixels are on their way from there. */
        fixture_ok(cc_image_map_device(input, NULL, CC_ACCESS_WRITE, stream, &pixels));
        for (size_t i = 0; i < LOCKED_BYTES; ++i)
            in_bytes[i] = (unsigned char)(i % 201);
        fixture_device_write(device, stream, pixels, in_bytes, LOCKED_BYTES);
        fixture_ok(cc_image_unmap_device(input, pixels, stream));
        fixture_ok(cc_image_prefetch(input, NULL, CC_PLACE_HOST));
        unsigned char *old_bytes = malloc(LOCKED_BYTES), *found = malloc(LOCKED_BYTES);
        tile_work_number(output, 77, old_bytes);
        fixture_ok(cc_image_map_device(output, NULL, CC_ACCESS_READ, stream, &pixels));
        fixture_ok(cc_image_unmap_device(output, pixels, stream));
        fixture_ok(cc_tiles_rescale(input, 1, 0, output, &params));
        /* In the device's memory, which is there still. */
        fixture_device_read(device, stream, found, pixels, LOCKED_BYTES);
        fixture_ok(cc_stream_synchronize(device, stream));
        ck_assert_mem_eq(found, old_bytes, LOCKED_BYTES);
        expect_pixels(output, in_bytes);
        free(old_bytes);
        free(found);
        fixture_stream_destroy(device, stream);
    }
    free(in_bytes);
}
END_TEST

START_TEST(an_input_that_is_only_a_value)
{
    const unsigned char value = 77;
    make_images(CC_PIXEL_UINT8, 1, 2, 64, 64, 1, 1);
    fixture_ok(cc_image_fill(input, NULL, &value, CC_STREAM_DEFAULT));
    memset(numbered, value, 4096);
    tile_work work = tile_work_of(input, output);
    const cc_tiles_input in = tile_work_input(&work, input);
    const cc_tiles_params params = params_of(&work, &in, 3000);
    run_and_compare(&work, &params);
}
END_TEST

START_TEST(the_limit_is_kept)
{
    make_images(CC_PIXEL_UINT8, 1, 3, 32, 32, 32, 1);
    tile_work_number(input, 3, numbered);
    for (int32_t by_library = 0; by_library < 2; ++by_library) {
        tile_work work = tile_work_of(input, output);
        work.shift[2] = 2;
        work.limit_bytes = 30000;
        const cc_tiles_input in = tile_work_input(&work, input);
        const cc_tiles_params params = params_of(&work, &in, by_library ? 0 : 30000);
        const int32_t device = cc_image_get_device(output);
        if (by_library && device >= 0)
            fixture_ok(cc_device_set_limit(device, 30000, 0));
        run_and_compare(&work, &params);
        if (device < 0)
            return;
        ck_assert_uint_gt(work.most_held_bytes, by_library ? 7000 : 15000);
        ck_assert_uint_eq(cc__budget_held_bytes(device), 0);
        fixture_ok(cc_device_set_limit(device, 0, 0));
    }
}
END_TEST

START_TEST(images_that_are_in_use_leave_less)
{
    make_images(CC_PIXEL_UINT8, 1, 3, 32, 32, 32, 1);
    if (fixture_device_count() == 0)
        return;
    cc_image *idle = fixture_image(CC_PIXEL_UINT8, 1, 2, 64, 150, 1);
    cc_image *used = fixture_image(CC_PIXEL_UINT8, 1, 2, 64, 150, 1);
    const int32_t device = cc_image_get_device(output);
    void *pixels = NULL;
    fixture_ok(cc_image_set_device(idle, device));
    fixture_ok(cc_image_set_device(used, device));
    byte_pixels_write_host(idle, NULL, 3);
    fixture_ok(cc_image_prefetch(idle, NULL, device));
    fixture_ok(cc_image_map_device(used, NULL, CC_ACCESS_WRITE, CC_STREAM_DEFAULT, &pixels));
    fixture_ok(cc_device_set_limit(device, 24000, 0));
    tile_work_number(input, 3, numbered);
    tile_work work = tile_work_of(input, output);
    work.limit_bytes = 24000;
    const cc_tiles_input in = tile_work_input(&work, input);
    const cc_tiles_params params = params_of(&work, &in, 100000);
    run_and_compare(&work, &params);
    ck_assert_uint_gt(work.most_held_bytes, 10000);
    ck_assert_int_eq(valid_at(idle, device), 0);
    fixture_ok(cc_image_unmap_device(used, pixels, CC_STREAM_DEFAULT));
    cc_image_release(idle);
    cc_image_release(used);
    fixture_ok(cc_device_set_limit(device, 0, 0));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tiles");
    TCase *cases = tcase_create("tiles");
    tcase_add_checked_fixture(cases, tile_fixture_setup, tile_fixture_teardown);
    tcase_set_timeout(cases, 120);
    tcase_add_loop_test(cases, a_filter_with_halo_is_the_same_in_tiles, 0, 9);
    tcase_add_test(cases, an_output_of_another_grid);
    tcase_add_test(cases, a_callback_says_what_is_needed);
    tcase_add_test(cases, the_output_may_be_the_input);
    tcase_add_test(cases, rescaling_gives_the_same_bits);
    tcase_add_test(cases, each_pixel_moves_once_each_way);
    tcase_add_test(cases, what_is_newest_on_a_device_is_used);
    tcase_add_test(cases, page_locked_memory_on_both_sides);
    tcase_add_test(cases, late_copies_of_others_come_first);
    tcase_add_test(cases, an_input_that_is_only_a_value);
    tcase_add_test(cases, the_limit_is_kept);
    tcase_add_test(cases, images_that_are_in_use_leave_less);
    suite_add_tcase(suite, cases);
    return fixture_run(suite);
}
