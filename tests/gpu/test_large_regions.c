/*
 * Regions and frames of more than 2^31 pixels: pixels marked at both ends and around that number are found where they
 * belong. Needs 9 GB on the device; on the host it reads pixel by pixel.
 */
#include "support/fixture.h"

#include <stdlib.h>
#include <string.h>

#ifndef SIZE
#define SIZE INT64_C(1300)
#endif
#define MARKS 13

typedef struct large {
    cc_image *image;
    int64_t size[3];
    int64_t places[MARKS]; /* numbers of pixels as they lie in memory */
} large;

static void locate(const large *of, int64_t place, int64_t out_at[3])
{
    out_at[0] = place % of->size[0];
    out_at[1] = place / of->size[0] % of->size[1];
    out_at[2] = place / of->size[0] / of->size[1];
}

static cc_region pixel_at(cc_image *image, const int64_t at[3])
{
    cc_region region = {{0, 0, 0, 0}, {1, 1, 1, 1}};
    for (int32_t axis = 0; axis < 3; axis++)
        region.index[axis] = cc_image_get_index(image, axis) + at[axis];
    return region;
}

static void expect_at(cc_image *image, const int64_t at[3], unsigned char value)
{
    const cc_region region = pixel_at(image, at);
    void *pixels = NULL;
    fixture_ok(cc_image_map_host(image, &region, CC_ACCESS_READ, &pixels));
    const unsigned char found = *(const unsigned char *)pixels;
    fixture_ok(cc_image_unmap_host(image, pixels));
    ck_assert_msg(found == value, "pixel %lld, %lld, %lld is %u, expected %u", (long long)at[0], (long long)at[1],
                  (long long)at[2], found, value);
}

static cc_image *create(int64_t i, int64_t j, int64_t k)
{
    cc_image *image = fixture_image(CC_PIXEL_UINT8, 1, 3, i, j, k);
    fixture_ok(cc_image_set_device(image, 0));
    return image;
}

/* All 3, but for the marks, which count from 10. False when the device has no room for `images` like it. */
static bool begin_large(large *all, int64_t i, int64_t j, int64_t k, int32_t images)
{
    const int64_t pixels = i * j * k, middle = pixels / 2;
    const int64_t places[MARKS] = {
        0,          1,          i - 1,      i,         i * j - 1, middle - 1, middle, middle + 1, INT64_C(1) << 31,
        pixels / 3, pixels - i, pixels - 2, pixels - 1};
    size_t free_bytes = 0, total_bytes = 0;
    fixture_ok(cc_device_memory_info(0, &free_bytes, &total_bytes));
    if (free_bytes < (size_t)(pixels * images) + ((size_t)1 << 30) && getenv("CC_TEST_REQUIRE_GPU") == NULL)
        return false;
    all->image = create(i, j, k);
    all->size[0] = i;
    all->size[1] = j;
    all->size[2] = k;
    fixture_ok(cc_image_fill(all->image, NULL, &(unsigned char){3}, CC_STREAM_DEFAULT));
    fixture_ok(cc_image_prefetch(all->image, NULL, 0));
    for (int32_t n = 0; n < MARKS; n++) {
        int64_t at[3];
        all->places[n] = places[n] < pixels ? places[n] : pixels - 3;
        locate(all, all->places[n], at);
        const cc_region region = pixel_at(all->image, at);
        fixture_ok(cc_image_fill(all->image, &region, &(unsigned char){(unsigned char)(10 + n)}, CC_STREAM_DEFAULT));
    }
    return true;
}

/* A later mark in the same place has written over an earlier one. */
static unsigned char mark_of(const large *all, int32_t number)
{
    for (int32_t n = MARKS - 1; n >= 0; n--)
        if (all->places[n] == all->places[number])
            return (unsigned char)(10 + n);
    return 3;
}

static void expect_flipped(const large *all, uint32_t axes)
{
    cc_image *made = create(all->size[0], all->size[1], all->size[2]);
    fixture_ok(cc_image_flip(all->image, axes, made, CC_STREAM_DEFAULT));
    for (int32_t n = 0; n < MARKS; n++) {
        int64_t at[3];
        locate(all, all->places[n], at);
        for (int32_t axis = 0; axis < 3; axis++)
            if ((axes >> axis & 1) != 0)
                at[axis] = all->size[axis] - 1 - at[axis];
        expect_at(made, at, mark_of(all, n));
    }
    cc_image_release(made);
}

static void expect_permuted(const large *all, int32_t i, int32_t j, int32_t k)
{
    const int32_t order[CC_MAX_DIMENSION] = {i, j, k, 0};
    cc_image *made = create(all->size[i], all->size[j], all->size[k]);
    fixture_ok(cc_image_permute(all->image, order, made, CC_STREAM_DEFAULT));
    for (int32_t n = 0; n < MARKS; n++) {
        int64_t at[3];
        locate(all, all->places[n], at);
        expect_at(made, (const int64_t[]){at[i], at[j], at[k]}, mark_of(all, n));
    }
    cc_image_release(made);
}

START_TEST(cubes)
{
    large all;
    if (!begin_large(&all, SIZE, SIZE, SIZE, 2))
        return;
    expect_flipped(&all, 1);
    expect_flipped(&all, 7);
    expect_permuted(&all, 1, 0, 2);
    expect_permuted(&all, 2, 1, 0);
    expect_permuted(&all, 0, 2, 1);
    cc_image_release(all.image);
}
END_TEST

START_TEST(borders)
{
    large all;
    cc_pad_params pad = CC_PAD_PARAMS_INIT;
    if (!begin_large(&all, SIZE, SIZE, SIZE, 2))
        return;
    pad.border[0] = CC_BORDER_PERIODIC;
    pad.lower[0] = 3;
    pad.upper[1] = 2;
    pad.value = &(unsigned char){77};
    cc_image *made = create(SIZE + 3, SIZE + 2, SIZE);
    fixture_ok(cc_image_pad(all.image, &pad, made, CC_STREAM_DEFAULT));
    for (int32_t n = 0; n < MARKS; n++) {
        int64_t at[3];
        locate(&all, all.places[n], at);
        expect_at(made, (const int64_t[]){at[0] + 3, at[1], at[2]}, mark_of(&all, n));
        if (at[0] >= SIZE - 3)
            expect_at(made, (const int64_t[]){at[0] + 3 - SIZE, at[1], at[2]}, mark_of(&all, n));
    }
    expect_at(made, (const int64_t[]){SIZE + 2, SIZE + 1, SIZE - 1}, 77);
    cc_image_release(made);
    cc_image_release(all.image);
}
END_TEST

/* One row, and more rows than a launch counts. */
START_TEST(rows)
{
    large all;
    if (!begin_large(&all, SIZE * SIZE * SIZE, 1, 1, 2))
        return;
    expect_flipped(&all, 1);
    cc_image_release(all.image);
    if (!begin_large(&all, 2, SIZE * SIZE, SIZE, 2))
        return;
    expect_flipped(&all, 1);
    cc_image_release(all.image);
}
END_TEST

START_TEST(frames)
{
    large all;
    if (!begin_large(&all, SIZE * SIZE, SIZE, 2, 2))
        return;
    cc_image *made = create(SIZE * SIZE, SIZE, 1);
    fixture_ok(cc_image_splat_frames(made, 0.5, CC_BORDER_REPLICATE, all.image, CC_STREAM_DEFAULT));
    fixture_ok(cc_image_interpolate_frames(all.image, 0.5, CC_BORDER_REPLICATE, made, CC_STREAM_DEFAULT));
    expect_at(made, (const int64_t[]){SIZE * SIZE - 5, SIZE - 1, 0}, 3);
    for (int32_t n = 0; n < MARKS; n++) {
        int64_t at[3];
        unsigned char other = 3;
        locate(&all, all.places[n], at);
        for (int32_t m = 0; m < MARKS; m++)
            if (all.places[m] == all.places[n] + (at[2] == 0 ? 1 : -1) * SIZE * SIZE * SIZE)
                other = mark_of(&all, m);
        at[2] = 0;
        /* Half to even. */
        const int32_t sum = mark_of(&all, n) + other;
        expect_at(made, at, (unsigned char)(sum / 2 + (sum % 2 != 0 && sum / 2 % 2 != 0)));
    }
    cc_image_release(made);
    cc_image_release(all.image);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("large_regions");
    TCase *tcase = tcase_create("large_regions");
    tcase_add_checked_fixture(tcase, fixture_setup, fixture_teardown);
    tcase_set_timeout(tcase, 100);
    tcase_add_test(tcase, cubes);
    tcase_add_test(tcase, borders);
    tcase_add_test(tcase, rows);
    tcase_add_test(tcase, frames);
    suite_add_tcase(suite, tcase);
    return fixture_run(suite);
}
