/* How a run over tiles is called, what it refuses, who else may use the images, and how it ends early. */
#include "ops/tiles.h"
#include "support/expect.h"
#include "support/fixture.h"
#include "support/tile_fixture.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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

START_TEST(borrowers_see_it_and_are_seen)
{
    cc_export_params params = CC_EXPORT_PARAMS_INIT;
    cc_descriptor arrays[2] = {CC_DESCRIPTOR_INIT, CC_DESCRIPTOR_INIT};
    cc_loan *loans[2] = {NULL, NULL};
    make_images(CC_PIXEL_UINT8, 1, 2, 32, 32, 1, 1);
    if (fixture_device_count() == 0)
        return;
    const int32_t device = cc_image_get_device(output);
    tile_work_number(input, 3, numbered);
    tile_work_number(output, 90, before);
    params.stream = fixture_stream_create(device);
    params.flags = CC_EXPORT_STREAM_KNOWN;
    fixture_ok(cc_image_export(input, &params, &arrays[0], &loans[0]));
    fixture_ok(cc_image_export(output, &params, &arrays[1], &loans[1]));
    for (unsigned seed = 0; seed < 2; ++seed) {
        cc_tiles_params small = CC_TILES_PARAMS_INIT;
        small.limit_bytes = 1536;
        for (size_t i = 0; i < 1024; ++i)
            numbered[i] = (unsigned char)(i * 3 + seed);
        fixture_device_write(device, params.stream, arrays[0].data, numbered, 1024);
        fixture_ok(cc_tiles_rescale(input, 1, 0, output, &small));
        memset(expected, 0, 1024);
        fixture_device_read(device, params.stream, expected, arrays[1].data, 1024);
        fixture_ok(cc_stream_synchronize(device, params.stream));
        ck_assert_mem_eq(expected, numbered, 1024);
        expect_pixels(output, numbered);
    }
    cc_loan_release(loans[0]);
    cc_loan_release(loans[1]);
    fixture_stream_destroy(device, params.stream);
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
    Suite *suite = suite_create("tiles_use");
    TCase *cases = tcase_create("tiles_use");
    tcase_add_checked_fixture(cases, tile_fixture_setup, tile_fixture_teardown);
    tcase_set_timeout(cases, 120);
    tcase_add_test(cases, cancelled_or_failed_what_is_done_is_done);
    tcase_add_test(cases, a_mapped_file_is_read);
    tcase_add_test(cases, strided_pageable_memory_on_both_sides);
    tcase_add_test(cases, others_are_kept_out_and_kept_in);
    tcase_add_test(cases, tiles_are_images_for_operations);
    tcase_add_test(cases, nothing_to_do_and_nothing_to_read);
    tcase_add_test(cases, arguments_are_checked);
    tcase_add_test(cases, a_struct_of_an_older_program_is_filled_up);
    tcase_add_test(cases, undefined_pixels_are_an_error);
    tcase_add_test(cases, borrowers_see_it_and_are_seen);
    tcase_add_test(cases, two_threads_write_one_image);
    suite_add_tcase(suite, cases);
    return fixture_run(suite);
}
