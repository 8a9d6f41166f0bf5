/*
 * A run over tiles in which the nth thing fails: an error comes back, inputs are untouched, each tile that progress was
 * told of is new, each that was not begun is old, nothing is left behind, and the same run works when tried again.
 */
#include "memory/budget.h"
#include "memory/crew.h"
#include "memory/movement.h"
#include "memory/transfer_streams.h"
#include "ops/tiles.h"
#include "support/fault_sequence.h"
#include "support/fixture.h"
#include "support/tile_work.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define HANGS_AFTER_SECONDS 200

/* Large enough to be page-locked as a whole. */
#define WIDTH 256
#define SLICES 20
#define BYTES ((size_t)WIDTH * WIDTH * SLICES)
#define SLICE ((size_t)WIDTH * WIDTH)

/* Where the pixels are. */
enum {
    OWN,     /* the library's memory, page-locked, and the device's slices of the input to be brought down first */
    WRAPPED, /* pageable memory of the caller's on both sides */
    IMAGED,  /* the function works with images */
    KINDS
};

/* Images can fail in so many more ways, the same ones in each tile, that some of these are enough. */
#define STEP_OF(kind) ((kind) == IMAGED ? 7 : FAULT_STEP)

static cc_image *input, *output;
static unsigned char numbers[BYTES], numbered[BYTES], before[BYTES], after[BYTES];
static unsigned char memory[2][BYTES];
static size_t direct_bytes_before;

/* Once for all runs: numbering takes longer than a run. */
static void make_numbers(void)
{
    cc_image *image = fixture_image(CC_PIXEL_UINT8, 1, 3, WIDTH, WIDTH, SLICES);
    tile_work_number(image, 50, before);
    tile_work_number(image, 3, numbers);
    cc_image_release(image);
}

static void set_up(void)
{
    alarm(HANGS_AFTER_SECONDS);
    fixture_setup();
    cc__crew_cores = 1;
    direct_bytes_before = cc__movement_direct_bytes;
    cc__movement_direct_bytes = 0;
    cc__tiles_without_thread = true;
    make_numbers();
}

static void tear_down(void)
{
    cc__tiles_without_thread = false;
    cc__movement_direct_bytes = direct_bytes_before;
    cc__crew_cores = 0;
    fixture_teardown();
    alarm(0);
}

static cc_image *create(int kind, unsigned char *bytes)
{
    cc_image *image = fixture_image(CC_PIXEL_UINT8, 1, 3, WIDTH, WIDTH, SLICES);
    if (kind == WRAPPED) {
        cc_wrap_params wrap = CC_WRAP_PARAMS_INIT;
        wrap.flags = CC_WRAP_BORROWED;
        wrap.data = bytes;
        wrap.size_bytes = BYTES;
        fixture_ok(cc_image_wrap_host(image, &wrap));
    }
    if (fixture_device_count() > 0)
        fixture_ok(cc_image_set_device(image, 0));
    return image;
}

static void write_pixels(cc_image *image, const unsigned char *bytes)
{
    void *pixels = NULL;
    fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_WRITE, &pixels));
    memcpy(pixels, bytes, BYTES);
    fixture_ok(cc_image_unmap_host(image, pixels));
}

static void begin(int kind)
{
    const unsigned char value = 8;
    const cc_region slice = {{0, 0, 4, 0}, {WIDTH, WIDTH, 3, 1}};
    input = create(kind, memory[0]);
    output = create(kind, memory[1]);
    memcpy(numbered, numbers, BYTES);
    write_pixels(input, numbered);
    write_pixels(output, before);
    if (kind == OWN) {
        fixture_ok(cc_image_prefetch(input, NULL, fixture_device_count() > 0 ? 0 : CC_PLACE_HOST));
        fixture_ok(cc_image_fill(input, &slice, &value, CC_STREAM_DEFAULT));
        memset(numbered + 4 * SLICE, value, 3 * SLICE);
        fixture_ok(cc_image_prefetch(output, NULL, fixture_device_count() > 0 ? 0 : CC_PLACE_HOST));
    }
}

static void end(void)
{
    cc_image_release(input);
    cc_image_release(output);
    cc__aside_try_again();
    for (int32_t device = 0; device < fixture_device_count(); ++device)
        ck_assert_uint_eq(cc__budget_held_bytes(device), 0);
}

static void read_pixels(cc_image *image, unsigned char *out_bytes)
{
    void *pixels = NULL;
    fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_READ, &pixels));
    memcpy(out_bytes, pixels, BYTES);
    fixture_ok(cc_image_unmap_host(image, pixels));
}

/* cc_status as the library gives it, not the test's own failure: its copies may be what fails. */
static cc_status copy_tile(const cc_tile *tile, void *user_data)
{
    tile_work *work = user_data;
    cc_image *from = NULL, *to = NULL;
    ++work->calls;
    work->tile_count = tile->count;
    cc_status status = cc_tile_wrap(tile, 0, &from);
    if (status == CC_OK)
        status = cc_tile_wrap(tile, CC_TILE_OUTPUT, &to);
    return status == CC_OK ? cc_image_rescale(from, 1, 0, to, tile->stream) : status;
}

static cc_status run(int kind, tile_work *work)
{
    cc_tiles_input in = CC_TILES_INPUT_INIT;
    cc_tiles_params params = CC_TILES_PARAMS_INIT;
    *work = tile_work_of(input, output);
    in.image = input;
    params.limit_bytes = 3 * 2 * 2 * SLICE;
    params.inputs = &in;
    params.input_count = 1;
    params.output = output;
    params.function = kind == IMAGED ? copy_tile : tile_work_function;
    params.progress = tile_work_progress;
    params.user_data = work;
    return cc_tiles_run(&params);
}

/* Tiles that have been told of are new. The next may be anything, if it was begun; one that was not is old. */
static void check(int kind, const tile_work *work, const char *when)
{
    read_pixels(input, after);
    ck_assert_msg(memcmp(after, numbered, BYTES) == 0, "%s: the input has changed", when);
    read_pixels(output, after);
    const size_t slices = work->tile_count == 0 ? 0 : SLICES / (size_t)work->tile_count;
    const size_t told = (size_t)work->told * slices * SLICE;
    /* What the device has of the old pixels is not lost. */
    const bool has_copy = kind == OWN && fixture_device_count() > 0;
    const size_t begun = has_copy ? told : (size_t)work->calls * slices * SLICE;
    ck_assert_msg(memcmp(after, numbered, told) == 0, "%s: a tile that was done is not new", when);
    ck_assert_msg(memcmp(after + begun, before + begun, BYTES - begun) == 0, "%s: a tile that was not begun is new",
                  when);
}

static int64_t run_with_fault(int kind, int64_t nth, bool for_ever)
{
    char when[80];
    tile_work work;
    (void)snprintf(when, sizeof when, "kind %d, fault %lld%s", kind, (long long)nth, for_ever ? " and all after" : "");
    begin(kind);
    fault_sequence_start(nth, for_ever);
    cc_status status = run(kind, &work);
    const int64_t count = fault_sequence_stop();
    ck_assert_msg(status == CC_OK || status == CC_ERROR_DEVICE || status == CC_ERROR_OUT_OF_HOST_MEMORY, "%s: %s", when,
                  cc_status_name(status));
    /* Releasing the last tile's images has no status. */
    ck_assert_msg(!for_ever || status != CC_OK || nth > count || kind == IMAGED, "%s: all is well", when);
    if (for_ever && fixture_device_count() > 0)
        cc__transfer_streams_synchronize(fixture_inner, 0);
    check(kind, &work, when);
    if (status != CC_OK) {
        status = run(kind, &work);
        ck_assert_msg(status == CC_OK, "%s, again: %s (%s)", when, cc_status_name(status), cc_last_error_message());
    }
    ck_assert_int_eq(work.told, work.tile_count);
    ck_assert_int_gt(work.tile_count, 4);
    check(kind, &work, when);
    end();
    return count;
}

START_TEST(each_fault)
{
    const int64_t count = run_with_fault(_i, 0, false);
    ck_assert_int_gt(count, fixture_device_count() > 0 ? 50 : 1);
    for (int64_t nth = 1; nth <= count; nth += FAULT_STEP)
        run_with_fault(_i, nth, false);
}
END_TEST

/* tile_work itself works through the inner backend, which does not fail. */
START_TEST(each_fault_and_all_after_it)
{
    const int64_t count = run_with_fault(_i, 0, false);
    for (int64_t nth = 1; nth <= count; nth += STEP_OF(_i))
        run_with_fault(_i, nth, true);
}
END_TEST

/* Nothing of a run that has failed uses the images' memory. */
START_TEST(images_go_at_once_after_a_fault)
{
    const bool for_ever = _i >= KINDS;
    const int64_t count = run_with_fault(_i % KINDS, 0, false);
    tile_work work;
    if (fixture_device_count() == 0)
        return;
    cc_host_set_pool_limit(0);
    for (int64_t nth = 1; nth <= count; nth += STEP_OF(_i % KINDS)) {
        begin(_i % KINDS);
        fault_sequence_start(nth, for_ever);
        (void)run(_i % KINDS, &work);
        (void)fault_sequence_stop();
        end();
        memset(memory[0], 0, BYTES);
        cc__transfer_streams_synchronize(fixture_inner, 0);
        cc_image *other = fixture_image(CC_PIXEL_UINT8, 1, 1, 1, 1, 1);
        fixture_ok(cc_image_prefetch(other, NULL, 0));
        cc_image_release(other);
    }
}
END_TEST

/* With the second thread the order is another each time; no leak, no wrong pixel. */
START_TEST(faults_with_two_threads)
{
    tile_work work;
    if (fixture_device_count() == 0)
        return;
    cc__tiles_without_thread = false;
    for (int64_t nth = 1; nth < 120; nth += FAULT_STEP) {
        begin(_i);
        faulty_backend_fail_nth(fixture_backend, nth, false);
        const cc_status status = run(_i, &work);
        faulty_backend_clear_rules(fixture_backend);
        ck_assert(status == CC_OK || status == CC_ERROR_DEVICE);
        check(_i, &work, "two threads");
        fixture_ok(run(_i, &work));
        check(_i, &work, "two threads, again");
        end();
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tile_faults");
    TCase *cases = tcase_create("tile_faults");
    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_set_timeout(cases, 2 * HANGS_AFTER_SECONDS);
    tcase_add_loop_test(cases, each_fault, 0, KINDS);
    tcase_add_loop_test(cases, each_fault_and_all_after_it, 0, KINDS);
    tcase_add_loop_test(cases, images_go_at_once_after_a_fault, 0, 2 * KINDS);
    tcase_add_loop_test(cases, faults_with_two_threads, 0, KINDS);
    suite_add_tcase(suite, cases);
    return fixture_run(suite);
}
