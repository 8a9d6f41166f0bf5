/* Copies, fills and rescaling by one thread and many, through the caches and past them; and how many threads that is.
 */
#include "base/past_cache.h"
#include "memory/cores.h"
#include "memory/crew.h"
#include "memory/host_work.h"
#include "support/plain_work.h"

#include <check.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#define ROOM_BYTES ((int64_t)5 << 20)

static unsigned char *source;
static unsigned char *found;
static unsigned char *expected;

static void set_up(void)
{
    uint32_t state = 3;
    source = malloc((size_t)ROOM_BYTES);
    found = malloc((size_t)ROOM_BYTES);
    expected = malloc((size_t)ROOM_BYTES);
    random_bytes(&state, source, ROOM_BYTES);
    random_bytes(&state, expected, ROOM_BYTES);
    memcpy(found, expected, (size_t)ROOM_BYTES);
}

static void tear_down(void)
{
    cc__crew_cores = 0;
    cc__past_cache_from_bytes = 0;
    cc__past_cache_is_narrow = false;
    free(source);
    free(found);
    free(expected);
}

/* Every second time past the caches. */
static void choose_way(int32_t round)
{
    static const int32_t cores[] = {1, 3, 7};
    cc__crew_cores = cores[round / 2 % 3];
    cc__past_cache_from_bytes = round % 2 == 0 ? 1 : SIZE_MAX;
    cc__past_cache_is_narrow = round % 4 == 0;
}

/* One long row, rows with gaps, many short rows, a column: all at odd addresses now and then. */
static const int64_t sizes[][CC_MAX_DIMENSION] = {{300001, 1, 1, 1}, {1999, 150, 1, 1}, {70, 61, 67, 1},
                                                  {1, 1, 1, 99991},  {3, 5, 7, 1711},   {1, 1, 1, 1},
                                                  {513, 1, 577, 1},  {100003, 3, 1, 1}};
#define SIZES ((int32_t)(sizeof sizes / sizeof sizes[0]))

static void strides_of(const int64_t size[CC_MAX_DIMENSION], int64_t pixel_bytes, int64_t gap,
                       int64_t stride[CC_MAX_DIMENSION])
{
    stride[0] = pixel_bytes;
    for (int32_t axis = 1; axis < CC_MAX_DIMENSION; axis++)
        stride[axis] = stride[axis - 1] * size[axis - 1] + (axis == 1 ? gap : 0);
}

START_TEST(copies)
{
    int32_t round = 0;
    for (int32_t n = 0; n < SIZES; n++)
        for (int32_t gap = 0; gap < 40; gap += 13, round++) {
            cc__copy work = {.pixel_bytes = n == 4 || gap % 2 == 1 ? 3 : 8};
            memcpy(work.size, sizes[n], sizeof work.size);
            strides_of(work.size, work.pixel_bytes, gap, work.destination.stride);
            strides_of(work.size, work.pixel_bytes, 39 - gap, work.source.stride);
            work.source.data = source + gap;
            work.destination.data = expected + gap;
            plain_copy(&work);
            work.destination.data = found + gap;
            choose_way(round);
            cc__copy_by_crew(&work);
            ck_assert_mem_eq(found, expected, (size_t)ROOM_BYTES);
        }
}
END_TEST

START_TEST(fills)
{
    static const int64_t pixels[] = {1, 4, 12, 8, 5, 992, 3, 16};
    uint32_t state = 9;
    int32_t round = 0;
    for (int32_t n = 0; n < SIZES; n++)
        for (int32_t gap = 0; gap < 40; gap += 13, round++) {
            cc__fill work = {.pixel_bytes = pixels[(n + gap) % 8]};
            memcpy(work.size, sizes[n], sizeof work.size);
            if (work.pixel_bytes == 992) {
                const int64_t few[] = {15, 29, 1, 9};
                memcpy(work.size, few, sizeof few);
            }
            random_bytes(&state, work.value, work.pixel_bytes);
            if (gap == 13)
                memset(work.value, 77, sizeof work.value);
            strides_of(work.size, work.pixel_bytes, gap, work.destination.stride);
            work.destination.data = expected + gap + 7;
            plain_fill(&work);
            work.destination.data = found + gap + 7;
            choose_way(round);
            cc__fill_by_crew(&work);
            ck_assert_mem_eq(found, expected, (size_t)ROOM_BYTES);
        }
}
END_TEST

static double rounded(double value, double least, double greatest)
{
    return value != value ? 0 : fmin(fmax(nearbyint(value), least), greatest);
}

static double component(cc_pixel_type type, const unsigned char *at)
{
    float value;
    uint16_t half;
    switch ((int32_t)type) {
    case CC_PIXEL_UINT8:
        return *at;
    case CC_PIXEL_INT8:
        return (double)(int8_t)*at;
    case CC_PIXEL_UINT16:
        memcpy(&half, at, sizeof half);
        return half;
    }
    memcpy(&value, at, sizeof value);
    return (double)value;
}

static void expect_component(cc_pixel_type type, const unsigned char *at, double value)
{
    double right = value;
    switch ((int32_t)type) {
    case CC_PIXEL_UINT8:
        right = rounded(value, 0, 255);
        break;
    case CC_PIXEL_INT8:
        right = rounded(value, -128, 127);
        break;
    case CC_PIXEL_UINT16:
        right = rounded(value, 0, 65535);
        break;
    case CC_PIXEL_FLOAT32:
        right = (double)(float)value;
        break;
    }
    const double was = component(type, at);
    if (was != right && (was == was || right == right))
        ck_abort_msg("%g is %g, expected %g", value, was, right);
}

START_TEST(rescaling)
{
    static const cc_pixel_type types[] = {CC_PIXEL_FLOAT32, CC_PIXEL_UINT8, CC_PIXEL_INT8, CC_PIXEL_UINT16};
    static const double factors[][2] = {{1.0, 0.0}, {0.1, -0.3}, {-1.5, 200.5}};
    int32_t round = 0;
    for (int32_t from = 0; from < 4; from++)
        for (int32_t to = 0; to < 4; to++)
            for (int32_t f = 0; f < 3; f++, round++) {
                const int64_t *size = sizes[round % 2 == 0 ? 1 : 0];
                cc__rescale work = {.components = 1,
                                    .destination_type = types[to],
                                    .source_type = types[from],
                                    .scale = factors[f][0],
                                    .shift = factors[f][1]};
                memcpy(work.size, size, sizeof work.size);
                strides_of(size, (int64_t)cc_pixel_type_size_bytes(types[to]), round % 7, work.destination.stride);
                strides_of(size, (int64_t)cc_pixel_type_size_bytes(types[from]), 0, work.source.stride);
                work.source.data = source + round % 5;
                work.destination.data = found + round % 11;
                choose_way(round);
                cc__rescale_by_crew(&work);
                for (int64_t j = 0; j < size[1]; j++)
                    for (int64_t i = 0; i < size[0]; i += 1 + (j % 3 == 0 ? 0 : 17))
                        expect_component(
                            types[to],
                            work.destination.data + i * work.destination.stride[0] + j * work.destination.stride[1],
                            component(types[from],
                                      work.source.data + i * work.source.stride[0] + j * work.source.stride[1]) *
                                    work.scale +
                                work.shift);
            }
}
END_TEST

START_TEST(cores_are_those_that_may_be_used)
{
    cpu_set_t before;
    cpu_set_t one;
    int32_t core = 0;
    ck_assert_int_eq(sched_getaffinity(0, sizeof before, &before), 0);
    ck_assert_int_ge(cc__cores_usable(), 1);
    ck_assert_int_le(cc__cores_usable(), CPU_COUNT(&before));
    while (!CPU_ISSET(core, &before))
        core++;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    ck_assert_int_eq(sched_setaffinity(0, sizeof one, &one), 0);
    ck_assert_int_eq(cc__cores_usable(), 1);
    ck_assert_int_eq(cc__crew_size(SIZE_MAX, 1, 8), 1);
    ck_assert_int_eq(sched_setaffinity(0, sizeof before, &before), 0);
}
END_TEST

START_TEST(a_quota_is_cores_rounded_up)
{
    ck_assert_int_eq(cc__cores_of_quota("max 100000\n"), INT32_MAX);
    ck_assert_int_eq(cc__cores_of_quota("100000 100000\n"), 1);
    ck_assert_int_eq(cc__cores_of_quota("150000 100000\n"), 2);
    ck_assert_int_eq(cc__cores_of_quota("20000 100000\n"), 1);
    ck_assert_int_eq(cc__cores_of_quota("1600000 100000\n"), 16);
    ck_assert_int_eq(cc__cores_of_quota(""), INT32_MAX);
    ck_assert_int_eq(cc__cores_of_quota("100000"), INT32_MAX);
    ck_assert_int_eq(cc__cores_of_quota("100000 0"), INT32_MAX);
    ck_assert_int_eq(cc__cores_of_quota("-1 100000"), INT32_MAX);
    ck_assert_int_eq(cc__cores_of_quota("9223372036854775807 1"), INT32_MAX);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("host_work");
    TCase *cases = tcase_create("host_work");
    tcase_set_timeout(cases, 60);
    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_add_test(cases, copies);
    tcase_add_test(cases, fills);
    tcase_add_test(cases, rescaling);
    tcase_add_test(cases, cores_are_those_that_may_be_used);
    tcase_add_test(cases, a_quota_is_cores_rounded_up);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
