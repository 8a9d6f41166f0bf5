/* A caller's own work on images: where it runs, what it gets, and what is left when it fails. */
#include "backend/emulated.h"
#include "support/byte_pixels.h"
#include "support/expect.h"
#include "support/fault_sequence.h"
#include "support/fixture.h"

#include <stdlib.h>
#include <string.h>

#define WIDTH 13
#define HEIGHT 7

typedef struct seen {
    int32_t calls;
    cc_place place;
    int32_t current_device;
    cc_tile_pixels output;
    cc_tile_pixels inputs[CC_TILES_MAX_INPUTS];
    int32_t input_count;
    cc_stream stream;
    cc_status status; /* to be returned */
    bool works;       /* copies inputs[0] to the output, or, in place, sets row 2 to 9 */
    cc_image *to_release;
} seen;

static void copy_rows(const cc_tile *tile)
{
    const cc_tile_pixels *from = &tile->inputs[0], *to = &tile->output;
    cc__copy work = {.pixel_bytes = 1};
    memcpy(work.size, to->region.size, sizeof work.size);
    work.destination.data = to->pixels;
    work.source.data = from->pixels;
    memcpy(work.destination.stride, to->strides_bytes, sizeof work.destination.stride);
    memcpy(work.source.stride, from->strides_bytes, sizeof work.source.stride);
    if (tile->place == CC_PLACE_HOST)
        cc__copy_on_host(&work);
    else
        fixture_ok(fixture_inner->copy(fixture_inner, tile->place, tile->stream, &work));
}

static void set_row(const cc_tile *tile)
{
    cc__fill work = {.size = {tile->output.region.size[0], 1, 1, 1}, .pixel_bytes = 1, .value = {9}};
    work.destination.data = (unsigned char *)tile->output.pixels + 2 * tile->output.strides_bytes[1];
    memcpy(work.destination.stride, tile->output.strides_bytes, sizeof work.destination.stride);
    if (tile->place == CC_PLACE_HOST)
        cc__fill_on_host(&work);
    else
        fixture_ok(fixture_inner->fill(fixture_inner, tile->place, tile->stream, &work));
}

static cc_status look(const cc_tile *tile, void *user_data)
{
    seen *self = user_data;
    ++self->calls;
    self->place = tile->place;
    self->output = tile->output;
    self->input_count = tile->input_count;
    self->stream = tile->stream;
    for (int32_t i = 0; i < tile->input_count; ++i)
        self->inputs[i] = tile->inputs[i];
    ck_assert_int_eq(tile->number, 0);
    ck_assert_int_eq(tile->count, 1);
    self->current_device = -1;
    if (tile->place != CC_PLACE_HOST)
        fixture_ok(fixture_inner->current_device(fixture_inner, &self->current_device));
    cc_image_release(self->to_release);
    self->to_release = NULL;
    if (self->works && tile->input_count > 0 && tile->inputs[0].pixels == tile->output.pixels)
        set_row(tile);
    else if (self->works)
        copy_rows(tile);
    return self->status;
}

static cc_filter filter_of(seen *self, cc_image *const *inputs, int32_t count, cc_image *output)
{
    cc_filter filter = CC_FILTER_INIT;
    filter.inputs = inputs;
    filter.input_count = count;
    filter.output = output;
    filter.on_device = look;
    filter.on_host = look;
    filter.user_data = self;
    return filter;
}

static cc_image *bytes_image(void)
{
    return fixture_image(CC_PIXEL_UINT8, 1, 2, WIDTH, HEIGHT, 1);
}

/* Where the next tests run: on a device where there is one. */
static cc_place there(void)
{
    return fixture_device_count() > 0 ? 0 : CC_PLACE_HOST;
}

START_TEST(from_one_image_to_another)
{
    seen self = {.works = true};
    cc_image *input = bytes_image(), *output = bytes_image();
    const int64_t index[4] = {-5, 100, 0, 0};
    cc_filter filter = filter_of(&self, &input, 1, output);
    filter.place = there();
    fixture_ok(cc_image_set_index(output, index));
    byte_pixels_write_host(input, NULL, 42);
    cc_image_reset_counters(output);
    fixture_ok(cc_filter_run(&filter));
    ck_assert_int_eq(self.calls, 1);
    ck_assert_int_eq(self.place, there());
    ck_assert_int_eq(self.current_device, there());
    ck_assert_int_eq(self.output.region.index[0], -5);
    ck_assert_int_eq(self.output.region.index[1], 100);
    ck_assert_int_eq(self.output.region.size[1], HEIGHT);
    ck_assert_int_eq(self.inputs[0].region.index[1], 0);
    ck_assert_int_eq(self.inputs[0].strides_bytes[1], WIDTH);
    byte_pixels_expect_host(output, NULL, 42);
    byte_pixels_expect_host(input, NULL, 42);
    /* What was in the output is not brought there. */
    ck_assert_uint_eq(fixture_counters(output).host_to_device_copies, 0);
    ck_assert_uint_eq(fixture_counters(output).fills, 0);
    cc_image_release(input);
    cc_image_release(output);
}
END_TEST

START_TEST(in_place_it_finds_what_was_there)
{
    seen self = {.works = true};
    cc_image *image = bytes_image();
    cc_filter filter = filter_of(&self, &image, 1, image);
    const cc_region row = region_at(0, 2, WIDTH, 1), above = region_at(0, 0, WIDTH, 2),
                    below = region_at(0, 3, WIDTH, HEIGHT - 3);
    filter.place = there();
    byte_pixels_write_host(image, NULL, 5);
    fixture_ok(cc_filter_run(&filter));
    ck_assert_ptr_nonnull(self.output.pixels);
    ck_assert_ptr_eq(self.output.pixels, self.inputs[0].pixels);
    byte_pixels_expect_host(image, &row, 9);
    byte_pixels_expect_host(image, &above, 5);
    byte_pixels_expect_host(image, &below, 5);
    cc_image_release(image);
}
END_TEST

/* Views have their parent's strides, and what is beside them stays; another handle of the same pixels is in place. */
START_TEST(parts_of_images_are_views)
{
    seen self = {.works = true};
    cc_image *parent = bytes_image(), *view = NULL, *same = NULL, *other = NULL, *input = bytes_image(), *part = NULL;
    const cc_region inside = region_at(3, 1, 4, 4), row = region_at(3, 3, 4, 1), beside = region_at(0, 0, 3, HEIGHT),
                    overlapping = region_at(4, 1, 4, 4);
    byte_pixels_write_host(parent, NULL, 5);
    byte_pixels_write_host(input, NULL, 77);
    fixture_ok(cc_image_create_view(parent, &inside, &view));
    fixture_ok(cc_image_create_view(parent, &inside, &same));
    fixture_ok(cc_image_create_view(parent, &overlapping, &other));
    fixture_ok(cc_image_create_view(input, &overlapping, &part));
    cc_filter filter = filter_of(&self, &same, 1, view);
    filter.place = there();
    fixture_ok(cc_filter_run(&filter));
    ck_assert_int_eq(self.output.strides_bytes[1], WIDTH);
    ck_assert_int_eq(self.output.region.index[0], 3);
    byte_pixels_expect_host(parent, &row, 9);
    byte_pixels_expect_host(parent, &beside, 5);
    filter.inputs = &other;
    expect_failure(CC_ERROR_BUSY, "overlaps", cc_filter_run(&filter));
    filter.inputs = &part;
    fixture_ok(cc_filter_run(&filter));
    byte_pixels_expect_host(parent, &inside, 77);
    byte_pixels_expect_host(parent, &beside, 5);
    cc_image_release(parent);
    cc_image_release(view);
    cc_image_release(same);
    cc_image_release(other);
    cc_image_release(input);
    cc_image_release(part);
}
END_TEST

START_TEST(where_it_runs)
{
    seen self = {.place = -7};
    cc_image *image = bytes_image();
    cc_filter filter = filter_of(&self, NULL, 0, image);
    const bool has_device = fixture_device_count() > 0;
    const bool has_gpu = has_device && !fixture_is_emulated();

    fixture_ok(cc_filter_run(&filter));
    ck_assert_int_eq(self.place, has_gpu ? 0 : CC_PLACE_HOST);
    filter.place = CC_PLACE_HOST;
    fixture_ok(cc_filter_run(&filter));
    ck_assert_int_eq(self.place, CC_PLACE_HOST);
    filter.place = CC_DEVICE_CURRENT;
    filter.on_device = NULL;
    fixture_ok(cc_filter_run(&filter));
    ck_assert_int_eq(self.place, CC_PLACE_HOST);
    filter.on_device = look;
    filter.on_host = NULL;
    if (has_device) {
        const int32_t last = fixture_device_count() - 1;
        fixture_ok(cc_image_set_device(image, last));
        fixture_ok(cc_filter_run(&filter));
        ck_assert_int_eq(self.place, last);
        ck_assert_int_eq(self.current_device, last);
        int32_t current = -1;
        fixture_ok(cc_device_get_current(&current));
        ck_assert_int_eq(current, 0);
        filter.place = 0;
        fixture_ok(cc_filter_run(&filter));
        ck_assert_int_eq(self.place, 0);
    } else {
        expect_failure(CC_ERROR_NO_DEVICE, "", cc_filter_run(&filter));
        filter.place = 0;
        expect_failure(CC_ERROR_NO_DEVICE, "", cc_filter_run(&filter));
    }
    cc_image_release(image);
}
END_TEST

/* On the host a borrower would not see what a device writes. */
START_TEST(an_output_lent_on_the_host_is_written_there)
{
    seen self = {.works = true};
    cc_image *image = bytes_image();
    cc_export_params params = CC_EXPORT_PARAMS_INIT;
    cc_descriptor descriptor = CC_DESCRIPTOR_INIT;
    cc_loan *loan = NULL;
    cc_filter filter = filter_of(&self, &image, 1, image);
    params.place = CC_PLACE_HOST;
    fixture_ok(cc_image_export(image, &params, &descriptor, &loan));
    fixture_ok(cc_filter_run(&filter));
    ck_assert_int_eq(self.place, CC_PLACE_HOST);
    ck_assert_int_eq(((unsigned char *)descriptor.data)[2 * WIDTH], 9);
    cc_loan_release(loan);
    cc_image_release(image);
}
END_TEST

/* Else the first mapping is in the way of the second, while a borrower elsewhere may write. */
START_TEST(an_input_given_twice_is_lent_once)
{
    seen self = {.works = true};
    cc_image *image = bytes_image(), *output = bytes_image(), *inputs[] = {image, image};
    cc_export_params params = CC_EXPORT_PARAMS_INIT;
    cc_descriptor descriptor = CC_DESCRIPTOR_INIT;
    cc_tiles_params tiles = CC_TILES_PARAMS_INIT;
    cc_tiles_input both[] = {CC_TILES_INPUT_INIT, CC_TILES_INPUT_INIT};
    cc_loan *loan = NULL;
    cc_filter filter = filter_of(&self, inputs, 2, output);
    params.place = fixture_device_count() > 0 ? 0 : CC_PLACE_HOST;
    filter.place = CC_PLACE_HOST;
    fixture_ok(cc_image_export(image, &params, &descriptor, &loan));
    const cc_counters before = fixture_counters(image);
    fixture_ok(cc_filter_run(&filter));
    const cc_counters after = fixture_counters(image);
    ck_assert_uint_eq(after.device_to_host_copies - before.device_to_host_copies, fixture_device_count() > 0 ? 1 : 0);
    ck_assert_ptr_eq(self.inputs[0].pixels, self.inputs[1].pixels);

    both[0].image = both[1].image = image;
    tiles.inputs = both;
    tiles.input_count = 2;
    tiles.output = output;
    tiles.function = look;
    tiles.user_data = &self;
    tiles.place = CC_PLACE_HOST;
    fixture_ok(cc_tiles_run(&tiles));
    ck_assert_int_eq(self.calls, 2);
    cc_loan_release(loan);
    cc_image_release(image);
    cc_image_release(output);
}
END_TEST

START_TEST(what_is_refused)
{
    seen self = {.works = false};
    cc_image *input = bytes_image(), *output = bytes_image(), *none[] = {input, NULL};
    cc_filter filter = filter_of(&self, &input, 1, output);
    unsigned char memory[WIDTH * HEIGHT] = {0};
    cc_wrap_params wrap = CC_WRAP_PARAMS_INIT;
    void *pixels = NULL;

    expect_failure(CC_ERROR_INVALID_ARGUMENT, "filter = NULL", cc_filter_run(NULL));
    filter.struct_size = 0;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "struct_size", cc_filter_run(&filter));
    filter = filter_of(&self, &input, 1, NULL);
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "output = NULL", cc_filter_run(&filter));
    filter = filter_of(&self, &input, -1, output);
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "input_count = -1", cc_filter_run(&filter));
    filter = filter_of(&self, &input, CC_TILES_MAX_INPUTS + 1, output);
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "input_count = 9", cc_filter_run(&filter));
    filter = filter_of(&self, NULL, 1, output);
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "inputs = NULL", cc_filter_run(&filter));
    filter = filter_of(&self, none, 2, output);
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "inputs[1] = NULL", cc_filter_run(&filter));
    filter = filter_of(&self, &input, 1, output);
    filter.on_device = filter.on_host = NULL;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "on_device and on_host", cc_filter_run(&filter));
    filter = filter_of(&self, &input, 1, output);
    filter.place = -3;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "place = -3", cc_filter_run(&filter));
    filter.place = CC_PLACE_HOST;
    filter.on_host = NULL;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "on_host = NULL", cc_filter_run(&filter));
    filter = filter_of(&self, &input, 1, output);
    filter.place = 0;
    filter.on_device = NULL;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "on_device = NULL", cc_filter_run(&filter));
    filter.on_device = look;
    filter.place = 61;
    expect_failure(fixture_device_count() > 0 ? CC_ERROR_INVALID_DEVICE : CC_ERROR_NO_DEVICE, "",
                   cc_filter_run(&filter));

    filter = filter_of(&self, &input, 1, output);
    fixture_ok(cc_image_map_host(output, NULL, CC_ACCESS_READ, &pixels));
    expect_failure(CC_ERROR_BUSY, "", cc_filter_run(&filter));
    fixture_ok(cc_image_unmap_host(output, pixels));
    fixture_ok(cc_image_map_host(input, NULL, CC_ACCESS_WRITE, &pixels));
    expect_failure(CC_ERROR_BUSY, "", cc_filter_run(&filter));
    fixture_ok(cc_image_unmap_host(input, pixels));
    fixture_ok(cc_image_discard(input, NULL));
    expect_failure(CC_ERROR_UNINITIALIZED, "", cc_filter_run(&filter));
    ck_assert_int_eq(self.calls, 0);

    wrap.flags = CC_WRAP_BORROWED | CC_WRAP_READ_ONLY;
    wrap.data = memory;
    wrap.size_bytes = sizeof memory;
    fixture_ok(cc_image_wrap_host(output, &wrap));
    filter.input_count = 0;
    expect_failure(CC_ERROR_READ_ONLY, "", cc_filter_run(&filter));
    ck_assert_int_eq(self.calls, 0);
    cc_image_release(input);
    cc_image_release(output);
}
END_TEST

/* A program of an older version knows fewer members. */
START_TEST(a_shorter_struct_is_enough)
{
    seen self = {.works = false};
    cc_image *image = bytes_image();
    const cc_filter filter = filter_of(&self, NULL, 0, image);
    const size_t size = offsetof(cc_filter, place);
    cc_filter *shorter = expect_short_struct(size);
    memcpy(shorter, &filter, size);
    shorter->struct_size = (uint32_t)size;
    fixture_ok(cc_filter_run(shorter));
    ck_assert_int_eq(self.calls, 1);
    free(shorter);
    cc_image_release(image);
}
END_TEST

START_TEST(images_without_pixels)
{
    seen self = {.works = false};
    cc_image *empty = fixture_image(CC_PIXEL_UINT8, 1, 2, 0, 3, 1), *image = bytes_image();
    cc_filter filter = filter_of(&self, &empty, 1, image);
    filter.place = there();
    fixture_ok(cc_filter_run(&filter));
    ck_assert_int_eq(self.calls, 1);
    ck_assert_ptr_null(self.inputs[0].pixels);
    ck_assert_int_eq(self.inputs[0].region.size[0], 0);
    ck_assert_int_eq(self.inputs[0].region.size[1], 3);
    filter = filter_of(&self, &image, 1, empty);
    fixture_ok(cc_filter_run(&filter));
    ck_assert_int_eq(self.calls, 1);
    cc_image_release(empty);
    cc_image_release(image);
}
END_TEST

/* Nothing was done: the pixels are where they were, wherever that is, and the message says who has failed. */
START_TEST(a_function_that_fails_at_once)
{
    seen self = {.status = CC_ERROR_LAYOUT};
    cc_image *input = bytes_image(), *output = bytes_image(), *inputs[2] = {input, output};
    const bool in_place = _i % 2 == 1;
    cc_filter filter = filter_of(&self, inputs, 1 + in_place, output);
    filter.place = there();
    byte_pixels_write_host(output, NULL, 3);
    if (_i >= 2 && fixture_device_count() > 0)
        byte_pixels_write_device(output, NULL, 3, CC_STREAM_DEFAULT);
    expect_failure(CC_ERROR_LAYOUT, "function returned CC_ERROR_LAYOUT", cc_filter_run(&filter));
    ck_assert_int_eq(self.calls, 1);
    byte_pixels_expect_host(output, NULL, 3);
    if (fixture_device_count() > 0)
        byte_pixels_expect_device(output, NULL, 3, CC_STREAM_DEFAULT);
    cc_image_release(input);
    cc_image_release(output);
}
END_TEST

/* It has queued a write that is still to come. What the host has is what counts, and nothing is torn. */
START_TEST(a_function_that_fails_half_way)
{
    if (fixture_device_count() == 0)
        return;
    seen self = {.status = CC_ERROR_DEVICE, .works = true};
    cc_image *image = bytes_image();
    cc_filter filter = filter_of(&self, &image, 1, image);
    filter.place = 0;
    byte_pixels_write_host(image, NULL, 3);
    fixture_ok(cc_image_prefetch(image, NULL, 0));
    ck_assert_int_eq(cc_filter_run(&filter), CC_ERROR_DEVICE);
    byte_pixels_expect_host(image, NULL, 3);
    byte_pixels_expect_device(image, NULL, 3, CC_STREAM_DEFAULT);
    /* And memory that goes waits for it. */
    ck_assert_int_eq(cc_filter_run(&filter), CC_ERROR_DEVICE);
    cc_image_release(image);
    fixture_ok(fixture_inner->stream_synchronize(fixture_inner, 0, CC_STREAM_DEFAULT));
}
END_TEST

/* Others' streams wait for the filter's, in both directions. */
START_TEST(streams_are_in_order)
{
    if (fixture_device_count() == 0)
        return;
    seen self = {.works = true};
    cc_image *input = bytes_image(), *output = bytes_image();
    cc_filter filter = filter_of(&self, &input, 1, output);
    const cc_stream before = fixture_stream_create(0), at = fixture_stream_create(0), after = fixture_stream_create(0);
    for (unsigned char value = 1; value < 6; ++value) {
        byte_pixels_write_device(input, NULL, value, before);
        filter.place = 0;
        filter.stream = at;
        fixture_ok(cc_filter_run(&filter));
        ck_assert_ptr_eq(self.stream, at);
        if (value % 2 == 1)
            byte_pixels_expect_device(output, NULL, value, after);
        else
            byte_pixels_expect_host(output, NULL, value);
    }
    fixture_stream_destroy(0, before);
    fixture_stream_destroy(0, at);
    fixture_stream_destroy(0, after);
    cc_image_release(input);
    cc_image_release(output);
}
END_TEST

START_TEST(a_captured_stream_is_refused)
{
    if (!fixture_is_emulated())
        return;
    seen self = {.works = true};
    cc_image *image = bytes_image();
    cc_filter filter = filter_of(&self, &image, 1, image);
    const cc_stream stream = fixture_stream_create(0);
    filter.place = 0;
    filter.stream = stream;
    cc__emulated_set_capturing(fixture_inner, 0, stream, true);
    expect_failure(CC_ERROR_CAPTURE, "", cc_filter_run(&filter));
    ck_assert_int_eq(self.calls, 0);
    cc__emulated_set_capturing(fixture_inner, 0, stream, false);
    fixture_ok(cc_filter_run(&filter));
    fixture_stream_destroy(0, stream);
    cc_image_release(image);
}
END_TEST

/* The last owner of an input lets go of it while it is being read. */
START_TEST(an_image_released_by_the_function)
{
    seen self = {.works = true};
    cc_image *input = bytes_image(), *output = bytes_image();
    cc_filter filter = filter_of(&self, &input, 1, output);
    filter.place = there();
    byte_pixels_write_host(input, NULL, 8);
    self.to_release = cc_image_retain(input);
    fixture_ok(cc_filter_run(&filter));
    byte_pixels_expect_host(output, NULL, 8);
    cc_image_release(input);
    cc_image_release(output);
}
END_TEST

static cc_status rescale_tile(const cc_tile *tile, void *user_data)
{
    cc_image *from = NULL, *to = NULL;
    (void)user_data;
    cc_status status = cc_tile_wrap(tile, 0, &from);
    if (status == CC_OK)
        status = cc_tile_wrap(tile, CC_TILE_OUTPUT, &to);
    return status == CC_OK ? cc_image_rescale(from, 2, 1, to, tile->stream) : status;
}

START_TEST(the_librarys_operations_inside)
{
    cc_image *input = bytes_image(), *output = fixture_image(CC_PIXEL_UINT8, 1, 2, WIDTH, HEIGHT, 1);
    cc_filter filter = filter_of(NULL, &input, 1, output);
    filter.on_device = filter.on_host = rescale_tile;
    filter.place = there();
    byte_pixels_write_host(input, NULL, 20);
    fixture_ok(cc_filter_run(&filter));
    byte_pixels_expect_host(output, NULL, 41);
    cc_image_release(input);
    cc_image_release(output);
}
END_TEST

static bool holds(cc_image *image, const cc_region *region, unsigned char value)
{
    void *pixels = NULL;
    bool is_same = true;
    const int64_t width = region->size[0];
    fixture_ok(cc_image_map_host(image, region, CC_ACCESS_READ, &pixels));
    for (int64_t j = 0; j < region->size[1]; ++j)
        for (int64_t i = 0; i < width; ++i)
            is_same = is_same && ((unsigned char *)pixels)[j * WIDTH + i] == value;
    fixture_ok(cc_image_unmap_host(image, pixels));
    return is_same;
}

/* Each thing that can fail: nothing but the status tells of it, and again it works. The loop runs over ways. */
START_TEST(each_fault)
{
    const cc_region all = region_at(0, 0, WIDTH, HEIGHT), row = region_at(0, 2, WIDTH, 1);
    const bool in_place = _i == 1;
    cc_status status = CC_ERROR_DEVICE;
    int32_t failures = 0;
    for (int64_t nth = 1; status != CC_OK; ++nth) {
        seen self = {.works = true};
        cc_image *input = bytes_image(), *output = in_place ? cc_image_retain(input) : bytes_image();
        cc_filter filter = filter_of(&self, &input, 1, output);
        filter.place = there();
        byte_pixels_write_host(input, NULL, 7);
        if (!in_place)
            byte_pixels_write_host(output, NULL, 4);
        fault_sequence_start(nth, false);
        status = cc_filter_run(&filter);
        (void)fault_sequence_stop();
        failures += status != CC_OK;
        if (status != CC_OK) {
            ck_assert(status == CC_ERROR_DEVICE || status == CC_ERROR_OUT_OF_HOST_MEMORY);
            ck_assert(holds(input, &all, 7));
            ck_assert(holds(output, &all, in_place ? 7 : 4));
            fixture_ok(cc_filter_run(&filter));
        }
        ck_assert(holds(output, &row, in_place ? 9 : 7));
        cc_image_release(input);
        cc_image_release(output);
    }
    ck_assert_int_ge(failures, fixture_device_count() > 0 ? 8 : 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("filter");
    TCase *cases = tcase_create("filter");
    tcase_add_checked_fixture(cases, fixture_setup, fixture_teardown);
    tcase_add_test(cases, from_one_image_to_another);
    tcase_add_test(cases, in_place_it_finds_what_was_there);
    tcase_add_test(cases, parts_of_images_are_views);
    tcase_add_test(cases, where_it_runs);
    tcase_add_test(cases, an_output_lent_on_the_host_is_written_there);
    tcase_add_test(cases, an_input_given_twice_is_lent_once);
    tcase_add_test(cases, what_is_refused);
    tcase_add_test(cases, a_shorter_struct_is_enough);
    tcase_add_test(cases, images_without_pixels);
    tcase_add_loop_test(cases, a_function_that_fails_at_once, 0, 4);
    tcase_add_test(cases, a_function_that_fails_half_way);
    tcase_add_test(cases, streams_are_in_order);
    tcase_add_test(cases, a_captured_stream_is_refused);
    tcase_add_test(cases, an_image_released_by_the_function);
    tcase_add_test(cases, the_librarys_operations_inside);
    tcase_add_loop_test(cases, each_fault, 0, 2);
    suite_add_tcase(suite, cases);
    return fixture_run(suite);
}
