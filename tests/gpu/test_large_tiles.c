/* Volumes larger than the device memory they may have: ten times, pixel by pixel; and, with CC_TEST_LARGE in the
 * environment and RAM for it, 64 GiB. */
#include "memory/budget.h"
#include "support/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB ((size_t)1 << 20)
#define GIB ((size_t)1 << 30)
#define SIDE INT64_C(1024)
#define PLACES 4099

static size_t limit_bytes;

static int32_t check_held(int64_t done, int64_t count, void *user_data)
{
    int64_t *told = user_data;
    ck_assert_int_eq(done, ++*told);
    ck_assert_int_le(done, count);
    ck_assert_uint_le(cc__budget_held_bytes(0), limit_bytes);
    return 0;
}

static cc_image *create(cc_pixel_type type, int64_t slices)
{
    cc_image *image = fixture_image(type, 1, 3, SIDE, SIDE, slices);
    fixture_ok(cc_image_set_device(image, 0));
    return image;
}

static void rescale_in_tiles(cc_image *input, double scale, double shift, cc_image *output)
{
    cc_tiles_params params = CC_TILES_PARAMS_INIT;
    int64_t told = 0;
    params.limit_bytes = limit_bytes;
    params.progress = check_held;
    params.user_data = &told;
    fixture_ok(cc_tiles_rescale(input, scale, shift, output, &params));
    ck_assert_int_ge(told, 10);
}

START_TEST(ten_times_the_limit)
{
    const int64_t slices = 640, count = SIDE * SIDE * slices;
    cc_image *input = create(CC_PIXEL_UINT8, slices), *output = create(CC_PIXEL_UINT16, slices);
    void *in = NULL, *out = NULL;
    int64_t wrong = 0;
    limit_bytes = 64 * MIB;
    fixture_ok(cc_image_map_host(input, NULL, CC_ACCESS_WRITE, &in));
    for (int64_t i = 0; i < count; ++i)
        ((uint8_t *)in)[i] = (uint8_t)(i * 7 + i / 4099);
    fixture_ok(cc_image_unmap_host(input, in));
    rescale_in_tiles(input, 200, 3, output);
    fixture_ok(cc_image_map_host(output, NULL, CC_ACCESS_READ, &out));
    for (int64_t i = 0; i < count; ++i)
        wrong += ((uint16_t *)out)[i] != 200 * (uint8_t)(i * 7 + i / 4099) + 3;
    ck_assert_int_eq(wrong, 0);
    fixture_ok(cc_image_unmap_host(output, out));
    cc_image_release(input);
    cc_image_release(output);
}
END_TEST

/* 0 when nobody says. */
static size_t available_bytes(void)
{
    FILE *file = fopen("/proc/meminfo", "r");
    char line[128];
    unsigned long long kib = 0;
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1)
            break;
    if (file != NULL)
        (void)fclose(file);
    return (size_t)kib << 10;
}

START_TEST(sixty_four_gib_in_place)
{
    const int64_t slices = (int64_t)(64 * GIB) / (SIDE * SIDE), count = SIDE * SIDE * slices;
    if (available_bytes() < 80 * GIB || getenv("CC_TEST_LARGE") == NULL)
        return;
    cc_image *image = create(CC_PIXEL_UINT8, slices);
    uint8_t *pixels = NULL;
    void *mapped = NULL;
    limit_bytes = GIB;
    fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_READ_WRITE, &mapped));
    pixels = mapped;
    for (int64_t n = 0; n < PLACES; ++n)
        pixels[(count - 1) / (PLACES - 1) * n] = (uint8_t)(n % 100);
    fixture_ok(cc_image_unmap_host(image, mapped));
    rescale_in_tiles(image, 2, 1, image);
    fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_READ, &mapped));
    pixels = mapped;
    for (int64_t n = 0; n < PLACES; ++n) {
        ck_assert_int_eq(pixels[(count - 1) / (PLACES - 1) * n], 2 * (n % 100) + 1);
        if (n > 0)
            ck_assert_int_eq(pixels[(count - 1) / (PLACES - 1) * n - 1], 1);
    }
    fixture_ok(cc_image_unmap_host(image, mapped));
    cc_image_release(image);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("large_tiles");
    TCase *cases = tcase_create("large_tiles");
    tcase_add_checked_fixture(cases, fixture_setup, fixture_teardown);
    tcase_set_timeout(cases, 250);
    tcase_add_test(cases, ten_times_the_limit);
    tcase_add_test(cases, sixty_four_gib_in_place);
    suite_add_tcase(suite, cases);
    return fixture_run(suite);
}
