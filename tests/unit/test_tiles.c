/* Images worked on tile by tile: the same pixels as at once, wherever they are and however small the tiles. */
#include "memory/budget.h"
#include "ops/tiles.h"
#include "support/byte_pixels.h"
#include "support/expect.h"
#include "support/fixture.h"
#include "support/tile_work.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MOST_BYTES 65536

static cc_image *input, *output;
static unsigned char numbered[MOST_BYTES], expected[MOST_BYTES], before[MOST_BYTES];

static void set_up(void)
{
    fixture_setup();
    input = output = NULL;
}

static void tear_down(void)
{
    cc_image_release(input);
    cc_image_release(output);
    cc__tiles_without_thread = false;
    for (int32_t device = 0; device < fixture_device_count(); ++device)
        ck_assert_uint_eq(cc__budget_held_bytes(device), 0);
    fixture_teardown();
}

static cc_image *image_of(cc_pixel_type type, int32_t components, int32_t dimension, const int64_t size[4])
{
    cc_image_params params = CC_IMAGE_PARAMS_INIT;
    cc_image *image = NULL;
    params.dimension = dimension;
    params.pixel_type = (int32_t)type;
    params.components = components;
    params.device = fixture_device_count() > 0 ? fixture_device_count() - 1 : CC_DEVICE_CURRENT;
    memcpy(params.region.size, size, sizeof params.region.size);
    fixture_ok(cc_image_create(&params, &image));
    return image;
}

static void make_images(cc_pixel_type type, int32_t components, int32_t dimension, int64_t i, int64_t j, int64_t k,
                        int64_t l)
{
    const int64_t size[4] = {i, j, k, l};
    cc_image_release(input);
    cc_image_release(output);
    input = image_of(type, components, dimension, size);
    output = image_of(type, components, dimension, size);
    ck_assert_uint_le(cc_image_get_size_bytes(output), MOST_BYTES);
}

static cc_tiles_params params_of(tile_work *work, const cc_tiles_input *in, size_t limit)
{
    cc_tiles_params params = CC_TILES_PARAMS_INIT;
    params.limit_bytes = limit;
    params.input_count = 1;
    params.inputs = in;
    params.output = output;
    params.function = tile_work_function;
    params.progress = tile_work_progress;
    params.user_data = work;
    return params;
}

static void expect_pixels(cc_image *image, const unsigned char *bytes)
{
    void *pixels = NULL;
    fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_READ, &pixels));
    const size_t count = cc_image_get_size_bytes(image);
    for (size_t i = 0; memcmp(pixels, bytes, count) != 0 && i < count; ++i)
        ck_assert_msg(((unsigned char *)pixels)[i] == bytes[i], "byte %zu is %d, expected %d", i,
                      ((unsigned char *)pixels)[i], bytes[i]);
    fixture_ok(cc_image_unmap_host(image, pixels));
}

static int64_t valid_at(cc_image *image, cc_place place)
{
    cc_place_state state = CC_PLACE_STATE_INIT;
    fixture_ok(cc_image_get_place_state(image, place, &state));
    return state.valid_pixels;
}

static void run_and_compare(tile_work *work, const cc_tiles_params *params)
{
    fixture_ok(cc_tiles_run(params));
    ck_assert_int_eq(work->told, work->tile_count);
    tile_work_expect(work, numbered, expected);
    expect_pixels(output, expected);
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

static cc_status negative_region(const cc_region *out_region, cc_region *in_region, void *user_data)
{
    (void)user_data;
    *in_region = *out_region;
    in_region->size[0] = -1;
    return CC_OK;
}

static cc_status no_function(const cc_tile *tile, void *user_data)
{
    (void)user_data;
    ck_abort_msg("called for tile %lld", (long long)tile->number);
    return CC_OK;
}

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
        fixture_ok(fixture_inner->rescale(fixture_inner, tile->place, tile->stream, &work));
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

/* Tiles that progress was told of are new, and the others are as they were. */
static void expect_done_part(const tile_work *work)
{
    const size_t slice = cc_image_get_size_bytes(output) / (size_t)work->tile_count;
    tile_work_expect(work, numbered, expected);
    memcpy(expected + (size_t)work->told * slice, before + (size_t)work->told * slice,
           cc_image_get_size_bytes(output) - (size_t)work->told * slice);
    expect_pixels(output, expected);
}

START_TEST(cancelled_or_failed_what_is_done_is_done)
{
    for (int32_t kind = 0; kind < 4; ++kind) {
        make_images(CC_PIXEL_UINT8, 1, 3, 16, 16, 16, 1);
        tile_work_number(input, 3, numbered);
        tile_work_number(output, 100, before);
        cc__tiles_without_thread = kind > 1;
        tile_work work = tile_work_of(input, output);
        const cc_tiles_input in = tile_work_input(&work, input);
        const cc_tiles_params params = params_of(&work, &in, 2048);
        work.cancel_at = kind % 2 == 0 ? 3 : 0;
        work.fail_at = kind % 2 == 1 ? 5 : -1;
        work.failure = (cc_status)4711;
        expect_failure(kind % 2 == 0 ? CC_ERROR_CANCELLED : (cc_status)4711, kind % 2 == 0 ? "progress" : "function",
                       cc_tiles_run(&params));
        if (kind % 2 == 0)
            ck_assert_int_ge(work.told, 3);
        else
            ck_assert_int_eq(work.told, 5);
        ck_assert_int_le(work.told, work.calls);
        ck_assert_int_lt(work.told, work.tile_count);
        expect_done_part(&work);
        /* Nothing is left of it. */
        tile_work again = tile_work_of(input, output);
        const cc_tiles_params params_again = params_of(&again, &in, 2048);
        run_and_compare(&again, &params_again);
    }
}
END_TEST

START_TEST(a_mapped_file_is_read)
{
    char name[] = "/tmp/cudacommon-tiles-XXXXXX";
    cc_wrap_params wrap = CC_WRAP_PARAMS_INIT;
    const int file = mkstemp(name);
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(unlink(name), 0);
    make_images(CC_PIXEL_UINT8, 1, 3, 40, 32, 41, 1);
    const size_t count = cc_image_get_size_bytes(input);
    for (size_t i = 0; i < count; ++i)
        numbered[i] = (unsigned char)(i % 241);
    ck_assert_int_eq(write(file, numbered, count), (ssize_t)count);
    wrap.data = mmap(NULL, count, PROT_READ, MAP_PRIVATE, file, 0);
    ck_assert_ptr_ne(wrap.data, MAP_FAILED);
    ck_assert_int_eq(close(file), 0);
    wrap.flags = CC_WRAP_BORROWED | CC_WRAP_READ_ONLY;
    wrap.size_bytes = count;
    fixture_ok(cc_image_wrap_host(input, &wrap));
    tile_work work = tile_work_of(input, output);
    work.shift[2] = -1;
    const cc_tiles_input in = tile_work_input(&work, input);
    cc_tiles_params params = params_of(&work, &in, 20000);
    run_and_compare(&work, &params);
    params.output = input;
    expect_failure(CC_ERROR_BUSY, "output", cc_tiles_run(&params));
    const cc_tiles_input plain = {.struct_size = sizeof plain, .image = input};
    params.inputs = &plain;
    expect_failure(CC_ERROR_READ_ONLY, "output", cc_tiles_run(&params));
    cc_image_release(input);
    input = NULL;
    ck_assert_int_eq(munmap(wrap.data, count), 0);
}
END_TEST

/* Pageable on both sides, with strides, and larger than the chunks that it moves through. */
START_TEST(strided_pageable_memory_on_both_sides)
{
    const int64_t size[4] = {1000, 3, 300, 1}, row = 1500;
    const size_t count = (size_t)(row * (3 * 300 - 1) + 1000);
    unsigned char *memory[2] = {calloc(1, count), calloc(1, count)};
    cc_wrap_params wrap = CC_WRAP_PARAMS_INIT;
    input = image_of(CC_PIXEL_UINT8, 1, 3, size);
    output = image_of(CC_PIXEL_UINT8, 1, 3, size);
    for (size_t i = 0; i < count; ++i)
        memory[0][i] = (unsigned char)(i % 239);
    wrap.flags = CC_WRAP_BORROWED;
    wrap.size_bytes = count;
    wrap.strides_bytes[0] = 1;
    wrap.strides_bytes[1] = row;
    wrap.strides_bytes[2] = 3 * row;
    for (int32_t i = 0; i < 2; ++i) {
        wrap.data = memory[i];
        fixture_ok(cc_image_wrap_host(i == 0 ? input : output, &wrap));
    }
    for (int32_t without = 0; without < 2; ++without) {
        cc__tiles_without_thread = without == 1;
        memset(memory[1], 0, count);
        tile_work work = tile_work_of(input, output);
        const cc_tiles_input in = tile_work_input(&work, input);
        const cc_tiles_params params = params_of(&work, &in, 600000);
        fixture_ok(cc_tiles_run(&params));
        ck_assert_int_gt(work.tile_count, 8);
        for (int64_t i = 0; i < 3 * 300; ++i)
            ck_assert_int_eq(memcmp(memory[0] + i * row, memory[1] + i * row, 1000), 0);
        ck_assert_int_eq(memory[1][1000], 0);
    }
    cc_image_release(input);
    cc_image_release(output);
    input = output = NULL;
    free(memory[0]);
    free(memory[1]);
}
END_TEST

static cc_status look_around(const cc_tile *tile, void *user_data)
{
    const cc_region other = {{0, 0, 0, 0}, {4, 4, 1, 1}};
    void *pixels = NULL;
    (void)user_data;
    expect_failure(CC_ERROR_BUSY, "", cc_image_map_host(output, NULL, CC_ACCESS_READ, &pixels));
    expect_failure(CC_ERROR_BUSY, "", cc_image_map_host(input, &other, CC_ACCESS_WRITE, &pixels));
    expect_failure(CC_ERROR_BUSY, "image", cc_image_resize(output, &other));
    expect_failure(CC_ERROR_BUSY, "image", cc_image_resize(input, &other));
    fixture_ok(cc_image_map_host(input, &other, CC_ACCESS_READ, &pixels));
    fixture_ok(cc_image_unmap_host(input, pixels));
    return tile->number == 2 ? CC_ERROR_SIZE : CC_OK;
}

START_TEST(others_are_kept_out_and_kept_in)
{
    void *pixels = NULL;
    make_images(CC_PIXEL_UINT8, 1, 2, 32, 32, 1, 1);
    tile_work_number(input, 3, numbered);
    tile_work work = tile_work_of(input, output);
    cc_tiles_input in = tile_work_input(&work, input);
    cc_tiles_params params = params_of(&work, &in, 1536);
    fixture_ok(cc_image_map_host(output, NULL, CC_ACCESS_READ, &pixels));
    expect_failure(CC_ERROR_BUSY, "", cc_tiles_run(&params));
    fixture_ok(cc_image_unmap_host(output, pixels));
    fixture_ok(cc_image_map_host(input, NULL, CC_ACCESS_WRITE, &pixels));
    expect_failure(CC_ERROR_BUSY, "", cc_tiles_run(&params));
    fixture_ok(cc_image_unmap_host(input, pixels));
    fixture_ok(cc_image_map_host(input, NULL, CC_ACCESS_READ, &pixels));
    run_and_compare(&work, &params);
    fixture_ok(cc_image_unmap_host(input, pixels));
    params.function = look_around;
    params.progress = NULL;
    ck_assert_int_eq(cc_tiles_run(&params), CC_ERROR_SIZE);

    /* Views of one image. */
    const cc_region halves[2] = {{{0, 0}, {32, 16}}, {{0, 16}, {32, 16}}};
    cc_image *views[3] = {NULL, NULL, NULL};
    fixture_ok(cc_image_create_view(input, &halves[0], &views[0]));
    fixture_ok(cc_image_create_view(input, &halves[1], &views[1]));
    fixture_ok(cc_image_create_view(input, &halves[0], &views[2]));
    fixture_ok(cc_tiles_rescale(views[0], 1, 0, views[1], NULL));
    memcpy(numbered + 512, numbered, 512);
    expect_pixels(input, numbered);
    fixture_ok(cc_tiles_rescale(views[0], 1, 0, views[2], NULL));
    expect_pixels(input, numbered);
    in.image = views[0];
    in.halo_after[1] = 1;
    params.output = views[2];
    expect_failure(CC_ERROR_BUSY, "output", cc_tiles_run(&params));
    in.image = input;
    expect_failure(CC_ERROR_BUSY, "output", cc_tiles_run(&params));
    for (int32_t i = 0; i < 3; ++i)
        cc_image_release(views[i]);
}
END_TEST

static cc_status operate(const cc_tile *tile, void *user_data)
{
    cc_image *from = NULL, *to = NULL, *again = NULL;
    cc_status status = cc_tile_wrap(tile, 0, &from);
    (void)user_data;
    if (status == CC_OK)
        status = cc_tile_wrap(tile, CC_TILE_OUTPUT, &to);
    if (status != CC_OK)
        return status;
    fixture_ok(cc_tile_wrap(tile, 0, &again));
    ck_assert_ptr_eq(again, from);
    const cc_region region = cc_image_get_region(from);
    ck_assert_mem_eq(&region, &tile->inputs[0].region, sizeof region);
    ck_assert_int_eq(cc_image_get_read_only(from), 1);
    ck_assert_int_eq(cc_image_get_read_only(to), 0);
    double spacing[CC_MAX_DIMENSION];
    fixture_ok(cc_image_get_spacing(to, spacing));
    ck_assert_double_eq(spacing[1], 2.5);
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "input", cc_tile_wrap(tile, 1, &again));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "input", cc_tile_wrap(tile, -2, &again));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "tile", cc_tile_wrap(NULL, 0, &again));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "out_image", cc_tile_wrap(tile, 0, NULL));
    /* Where the pixels of the last tiles are written, does not matter. */
    if (tile->number < 2)
        return cc_image_rescale(from, 2, 1, to, tile->stream);
    void *in = NULL, *out = NULL;
    fixture_ok(cc_image_map_host(from, NULL, CC_ACCESS_READ, &in));
    fixture_ok(cc_image_map_host(to, NULL, CC_ACCESS_WRITE, &out));
    for (size_t i = 0; i < cc_image_get_size_bytes(to); ++i)
        ((unsigned char *)out)[i] = (unsigned char)(2 * ((unsigned char *)in)[i] + 1);
    fixture_ok(cc_image_unmap_host(from, in));
    fixture_ok(cc_image_unmap_host(to, out));
    return CC_OK;
}

START_TEST(tiles_are_images_for_operations)
{
    const double spacing[CC_MAX_DIMENSION] = {1, 2.5, 1, 1};
    cc_tiles_input in = CC_TILES_INPUT_INIT;
    cc_tiles_params params = CC_TILES_PARAMS_INIT;
    make_images(CC_PIXEL_UINT8, 1, 2, 32, 32, 1, 1);
    fixture_ok(cc_image_set_spacing(output, spacing));
    for (size_t i = 0; i < 1024; ++i)
        numbered[i] = (unsigned char)(i % 100);
    void *pixels = NULL;
    fixture_ok(cc_image_map_host(input, NULL, CC_ACCESS_WRITE, &pixels));
    memcpy(pixels, numbered, 1024);
    fixture_ok(cc_image_unmap_host(input, pixels));
    in.image = input;
    params.inputs = &in;
    params.input_count = 1;
    params.output = output;
    params.function = operate;
    params.limit_bytes = 1536;
    fixture_ok(cc_tiles_run(&params));
    for (size_t i = 0; i < 1024; ++i)
        expected[i] = (unsigned char)(2 * numbered[i] + 1);
    expect_pixels(output, expected);
}
END_TEST

static cc_status count_calls(const cc_tile *tile, void *user_data)
{
    ck_assert_ptr_nonnull(tile->output.pixels);
    if (tile->input_count > 0) {
        ck_assert_ptr_null(tile->inputs[0].pixels);
        ck_assert_int_eq(tile->inputs[0].region.size[1], 0);
    }
    ++*(int64_t *)user_data;
    return CC_OK;
}

START_TEST(nothing_to_do_and_nothing_to_read)
{
    cc_tiles_input in = CC_TILES_INPUT_INIT;
    cc_tiles_params params = CC_TILES_PARAMS_INIT;
    int64_t calls = 0;
    make_images(CC_PIXEL_UINT8, 1, 2, 32, 0, 1, 1);
    in.image = input;
    params.output = output;
    params.function = count_calls;
    params.user_data = &calls;
    fixture_ok(cc_tiles_run(&params));
    fixture_ok(cc_tiles_rescale(input, 1, 0, output, NULL));
    ck_assert_int_eq(calls, 0);
    cc_image *full = fixture_image(CC_PIXEL_UINT8, 1, 2, 32, 32, 1);
    params.output = full;
    fixture_ok(cc_tiles_run(&params)); /* without any input */
    params.inputs = &in;
    params.input_count = 1;
    fixture_ok(cc_tiles_run(&params)); /* with one that has no pixels */
    ck_assert_int_eq(calls, 2);
    cc_image_release(full);
}
END_TEST

START_TEST(arguments_are_checked)
{
    cc_tiles_input in = CC_TILES_INPUT_INIT;
    cc_tiles_params good = CC_TILES_PARAMS_INIT, bad;
    const cc_status invalid = CC_ERROR_INVALID_ARGUMENT;
    make_images(CC_PIXEL_UINT8, 1, 2, 32, 32, 1, 1);
    in.image = input;
    good.inputs = &in;
    good.input_count = 1;
    good.output = output;
    good.function = no_function;
    expect_failure(invalid, "params", cc_tiles_run(NULL));
#define EXPECT_BAD(status, argument, change)                                                                           \
    do {                                                                                                               \
        bad = good;                                                                                                    \
        change;                                                                                                        \
        expect_failure(status, argument, cc_tiles_run(&bad));                                                          \
    } while (0)
    EXPECT_BAD(invalid, "struct_size", bad.struct_size = 0);
    EXPECT_BAD(invalid, "buffer_count", bad.buffer_count = -1);
    EXPECT_BAD(invalid, "buffer_count", bad.buffer_count = 9);
    EXPECT_BAD(invalid, "input_count", bad.input_count = -1);
    EXPECT_BAD(invalid, "input_count", bad.input_count = CC_TILES_MAX_INPUTS + 1);
    EXPECT_BAD(invalid, "inputs", bad.inputs = NULL);
    EXPECT_BAD(invalid, "output", bad.output = NULL);
    EXPECT_BAD(invalid, "function", bad.function = NULL);
    EXPECT_BAD(invalid, "place", bad.place = -3);
    const cc_status no_such = fixture_device_count() > 0 ? CC_ERROR_INVALID_DEVICE : CC_ERROR_NO_DEVICE;
    EXPECT_BAD(no_such, "", bad.place = 1000);
    cc_tiles_input wrong = in;
#define EXPECT_BAD_INPUT(argument, change)                                                                             \
    do {                                                                                                               \
        wrong = in;                                                                                                    \
        change;                                                                                                        \
        EXPECT_BAD(invalid, argument, bad.inputs = &wrong);                                                            \
    } while (0)
    EXPECT_BAD_INPUT("struct_size", wrong.struct_size = 0);
    EXPECT_BAD_INPUT("image", wrong.image = NULL);
    EXPECT_BAD_INPUT("halo", wrong.halo_before[1] = -1);
    EXPECT_BAD_INPUT("halo", wrong.halo_after[0] = INT64_MIN);
    EXPECT_BAD_INPUT("scale", wrong.scale_numerator[0] = -1);
    EXPECT_BAD_INPUT("scale", wrong.scale_denominator[1] = -2);
    EXPECT_BAD_INPUT("size", wrong.region = negative_region);
    /* Another axis' are not looked at. */
    EXPECT_BAD(CC_ERROR_OUT_OF_DEVICE_MEMORY, "limit", bad.limit_bytes = 511);
    expect_failure(invalid, "input", cc_tiles_rescale(NULL, 1, 0, output, NULL));
    expect_failure(invalid, "output", cc_tiles_rescale(input, 1, 0, NULL, NULL));
    expect_failure(invalid, "scale", cc_tiles_rescale(input, 1.0 / 0.0, 0, output, NULL));
    expect_failure(invalid, "shift", cc_tiles_rescale(input, 1, 0.0 / 0.0, output, NULL));
    cc_image *small = fixture_image(CC_PIXEL_UINT8, 1, 2, 31, 32, 1);
    cc_image *wide = fixture_image(CC_PIXEL_UINT8, 2, 2, 32, 32, 1);
    expect_failure(CC_ERROR_SIZE, "size", cc_tiles_rescale(small, 1, 0, output, NULL));
    expect_failure(CC_ERROR_SIZE, "components", cc_tiles_rescale(wide, 1, 0, output, NULL));
    cc_image_release(small);
    cc_image_release(wide);
}
END_TEST

START_TEST(a_struct_of_an_older_program_is_filled_up)
{
    make_images(CC_PIXEL_UINT8, 1, 2, 32, 32, 1, 1);
    tile_work_number(input, 3, numbered);
    tile_work work = tile_work_of(input, output);
    cc_tiles_input *old = expect_short_struct(offsetof(cc_tiles_input, halo_before));
    old->struct_size = offsetof(cc_tiles_input, halo_before);
    old->image = input;
    const cc_tiles_params params = params_of(&work, old, 1536);
    run_and_compare(&work, &params);
    free(old);
}
END_TEST

START_TEST(undefined_pixels_are_an_error)
{
    make_images(CC_PIXEL_UINT8, 1, 2, 32, 32, 1, 1);
    fixture_ok(cc_image_discard(input, NULL));
    expect_passed_on(CC_ERROR_UNINITIALIZED, cc_tiles_rescale(input, 2, 0, output, NULL));
    fixture_ok(cc_image_discard(output, NULL));
    expect_passed_on(CC_ERROR_UNINITIALIZED, cc_tiles_rescale(output, 2, 0, output, NULL));
    tile_work_number(input, 3, numbered);
    fixture_ok(cc_tiles_rescale(input, 1, 0, output, NULL));
    expect_pixels(output, numbered);
}
END_TEST

typedef struct worker {
    pthread_t thread;
    cc_image *from;
    cc_image *to;
    cc_status status;
} worker;

static void *work_alone(void *argument)
{
    worker *self = argument;
    cc_tiles_params params = CC_TILES_PARAMS_INIT;
    params.limit_bytes = 3000;
    for (int32_t i = 0; i < 5 && self->status == CC_OK; ++i)
        self->status = cc_tiles_rescale(self->from, 1, 0, self->to, &params);
    return NULL;
}

START_TEST(two_threads_write_one_image)
{
    worker workers[2] = {{.status = CC_OK}, {.status = CC_OK}};
    make_images(CC_PIXEL_UINT8, 1, 2, 64, 64, 1, 1);
    tile_work_number(input, 3, numbered);
    for (int32_t i = 0; i < 2; ++i) {
        const cc_region half = {{0, 32 * i}, {64, 32}};
        fixture_ok(cc_image_create_view(input, &half, &workers[i].from));
        fixture_ok(cc_image_create_view(output, &half, &workers[i].to));
    }
    for (int32_t i = 0; i < 2; ++i)
        ck_assert_int_eq(pthread_create(&workers[i].thread, NULL, work_alone, &workers[i]), 0);
    for (int32_t i = 0; i < 2; ++i) {
        ck_assert_int_eq(pthread_join(workers[i].thread, NULL), 0);
        ck_assert_int_eq(workers[i].status, CC_OK);
        cc_image_release(workers[i].from);
        cc_image_release(workers[i].to);
    }
    expect_pixels(output, numbered);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tiles");
    TCase *cases = tcase_create("tiles");
    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_set_timeout(cases, 120);
    tcase_add_loop_test(cases, a_filter_with_halo_is_the_same_in_tiles, 0, 9);
    tcase_add_test(cases, an_output_of_another_grid);
    tcase_add_test(cases, a_callback_says_what_is_needed);
    tcase_add_test(cases, the_output_may_be_the_input);
    tcase_add_test(cases, rescaling_gives_the_same_bits);
    tcase_add_test(cases, each_pixel_moves_once_each_way);
    tcase_add_test(cases, what_is_newest_on_a_device_is_used);
    tcase_add_test(cases, an_input_that_is_only_a_value);
    tcase_add_test(cases, the_limit_is_kept);
    tcase_add_test(cases, images_that_are_in_use_leave_less);
    tcase_add_test(cases, cancelled_or_failed_what_is_done_is_done);
    tcase_add_test(cases, a_mapped_file_is_read);
    tcase_add_test(cases, strided_pageable_memory_on_both_sides);
    tcase_add_test(cases, others_are_kept_out_and_kept_in);
    tcase_add_test(cases, tiles_are_images_for_operations);
    tcase_add_test(cases, nothing_to_do_and_nothing_to_read);
    tcase_add_test(cases, arguments_are_checked);
    tcase_add_test(cases, a_struct_of_an_older_program_is_filled_up);
    tcase_add_test(cases, undefined_pixels_are_an_error);
    tcase_add_test(cases, two_threads_write_one_image);
    suite_add_tcase(suite, cases);
    return fixture_run(suite);
}
