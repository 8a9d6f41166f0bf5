/* Hundreds of boxes brought at once: in two parts, of which either may fail. */
#include "support/fixture.h"

#include <stdlib.h>
#include <string.h>

#define WIDTH 1280
#define HEIGHT 1280
#define CELL 64
#define BOX 8

enum {
    COLUMNS = WIDTH / CELL,
    COUNT = COLUMNS * (HEIGHT / CELL),
    BYTES = BOX * BOX * COUNT + BOX
};

static unsigned char expected[HEIGHT][WIDTH];
static unsigned char found[HEIGHT][WIDTH];

/* The boxes lie at other places in each cell; the middle one is larger than the rest. */
static cc_region box_of(int32_t i)
{
    const cc_region box = {{(int64_t)(i % COLUMNS) * CELL + i % 37, (int64_t)(i / COLUMNS) * CELL + i % 41, 0, 0},
                           {BOX, i == COUNT / 2 ? BOX + 1 : BOX, 1, 1}};
    return box;
}

static unsigned char value_of(int32_t round, int64_t x, int64_t y)
{
    return (unsigned char)(INT64_C(131) * round + x * 7 + y * 13);
}

static void expect_box(int32_t round, const cc_region *box)
{
    for (int64_t y = box->index[1]; y < box->index[1] + box->size[1]; ++y)
        for (int64_t x = box->index[0]; x < box->index[0] + box->size[0]; ++x)
            expected[y][x] = value_of(round, x, y);
}

static void write_on_host(cc_image *image, int32_t round)
{
    for (int32_t i = 0; i < COUNT; ++i) {
        const cc_region box = box_of(i);
        void *pixels = NULL;
        expect_box(round, &box);
        fixture_ok(cc_image_map_host(image, &box, CC_ACCESS_WRITE, &pixels));
        for (int64_t row = 0; row < box.size[1]; ++row)
            memcpy((unsigned char *)pixels + row * WIDTH, &expected[box.index[1] + row][box.index[0]], BOX);
        fixture_ok(cc_image_unmap_host(image, pixels));
    }
}

static void write_on_device(cc_image *image, int32_t round)
{
    for (int32_t i = 0; i < COUNT; ++i) {
        const cc_region box = box_of(i);
        void *pixels = NULL;
        expect_box(round, &box);
        fixture_ok(cc_image_map_device(image, &box, CC_ACCESS_WRITE, CC_STREAM_DEFAULT, &pixels));
        for (int64_t row = 0; row < box.size[1]; ++row)
            fixture_device_write(0, CC_STREAM_DEFAULT, (unsigned char *)pixels + row * WIDTH,
                                 &expected[box.index[1] + row][box.index[0]], BOX);
        fixture_ok(cc_image_unmap_device(image, pixels, CC_STREAM_DEFAULT));
    }
}

static cc_status look_on_device(cc_image *image)
{
    void *pixels = NULL;
    const cc_status status = cc_image_map_device(image, NULL, CC_ACCESS_READ, CC_STREAM_DEFAULT, &pixels);
    if (status != CC_OK)
        return status;
    fixture_device_read(0, CC_STREAM_DEFAULT, found, pixels, sizeof found);
    fixture_ok(cc_image_unmap_device(image, pixels, CC_STREAM_DEFAULT));
    fixture_ok(cc_stream_synchronize(0, CC_STREAM_DEFAULT));
    ck_assert_mem_eq(found, expected, sizeof expected);
    return CC_OK;
}

static cc_status look_on_host(cc_image *image)
{
    void *pixels = NULL;
    const cc_status status = cc_image_map_host(image, NULL, CC_ACCESS_READ, &pixels);
    if (status != CC_OK)
        return status;
    ck_assert_mem_eq(pixels, expected, sizeof expected);
    fixture_ok(cc_image_unmap_host(image, pixels));
    return CC_OK;
}

/* Current on both sides, and page-locked. */
static cc_image *create(void)
{
    void *pixels = NULL;
    cc_image *image = fixture_image(CC_PIXEL_UINT8, 1, 2, WIDTH, HEIGHT, 1);
    fixture_ok(cc_image_set_device(image, 0));
    for (int64_t y = 0; y < HEIGHT; ++y)
        for (int64_t x = 0; x < WIDTH; ++x)
            expected[y][x] = value_of(0, x, y);
    fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_WRITE, &pixels));
    memcpy(pixels, expected, sizeof expected);
    fixture_ok(cc_image_unmap_host(image, pixels));
    fixture_ok(look_on_device(image));
    cc_image_reset_counters(image);
    faulty_backend_reset_counts(fixture_backend);
    return image;
}

static int64_t launches(void)
{
    return faulty_backend_counts(fixture_backend).calls[FAULTY_COPY_BOXES];
}

START_TEST(every_box_moves_once)
{
    if (fixture_device_count() == 0)
        return;
    cc_image *image = create();
    write_on_host(image, 1);
    fixture_ok(look_on_device(image));
    cc_counters counters = fixture_counters(image);
    ck_assert_uint_eq(counters.host_to_device_copies, COUNT);
    ck_assert_uint_eq(counters.host_to_device_bytes, BYTES);
    ck_assert_uint_eq(counters.host_to_device_paths[CC_PATH_KERNEL].copies, COUNT);
    ck_assert_int_eq(launches(), 2);

    write_on_device(image, 2);
    fixture_ok(look_on_host(image));
    counters = fixture_counters(image);
    ck_assert_uint_eq(counters.host_to_device_copies, COUNT);
    ck_assert_uint_eq(counters.device_to_host_copies, COUNT);
    ck_assert_uint_eq(counters.device_to_host_bytes, BYTES);
    ck_assert_int_eq(launches(), 4);
    cc_image_release(image);
}
END_TEST

/* Whether the first part fails, or the second when the first is under way. */
START_TEST(either_part_may_fail)
{
    const faulty_rule rule = {FAULTY_COPY_BOXES, _i + 1, false, CC_ERROR_DEVICE, FAULTY_NATIVE_ERROR};
    if (fixture_device_count() == 0)
        return;
    cc_image *image = create();
    write_on_host(image, 3);
    faulty_backend_add_rule(fixture_backend, &rule);
    ck_assert_int_eq(look_on_device(image), CC_ERROR_DEVICE);
    faulty_backend_clear_rules(fixture_backend);
    fixture_ok(look_on_host(image));
    fixture_ok(look_on_device(image));

    write_on_device(image, 4);
    faulty_backend_add_rule(fixture_backend, &rule);
    ck_assert_int_eq(look_on_host(image), CC_ERROR_DEVICE);
    faulty_backend_clear_rules(fixture_backend);
    fixture_ok(look_on_device(image));
    fixture_ok(look_on_host(image));
    cc_image_release(image);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("many_boxes");
    TCase *tcase = tcase_create("many_boxes");
    tcase_add_checked_fixture(tcase, fixture_setup, fixture_teardown);
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, every_box_moves_once);
    tcase_add_loop_test(tcase, either_part_may_fail, 0, 2);
    suite_add_tcase(suite, tcase);
    return fixture_run(suite);
}
