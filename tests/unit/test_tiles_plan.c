/* How work is cut into tiles, for all small cases, against counting pixel by pixel. */
#include "ops/tiles_plan.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define MOST_PIXELS 4096

static const cc_status map_fails = CC_ERROR_REGION;

static void set_plain(cc__tiles_source *source, const int64_t size[CC_MAX_DIMENSION], int64_t pixel_bytes)
{
    memset(source, 0, sizeof *source);
    memcpy(source->size, size, sizeof source->size);
    source->pixel_bytes = pixel_bytes;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; ++axis)
        source->numerator[axis] = source->denominator[axis] = 1;
}

static int64_t floor_divide(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* From the definition, output pixel by output pixel: those of the input between *first and *end. */
static void naive_needs(const cc__tiles_source *source, const cc__box *output, int32_t axis, int64_t *first,
                        int64_t *end)
{
    const int64_t n = source->numerator[axis], d = source->denominator[axis];
    *first = INT64_MAX;
    *end = INT64_MIN;
    for (int64_t at = output->start[axis]; at < output->start[axis] + output->size[axis]; ++at) {
        for (int64_t in = 0; in < source->size[axis]; ++in) {
            const int64_t low = floor_divide(at * n, d) + source->offset[axis] - source->halo_before[axis];
            const int64_t high = -floor_divide(-(at + 1) * n, d) + source->offset[axis] + source->halo_after[axis];
            if (in < low || in >= high)
                continue;
            *first = in < *first ? in : *first;
            *end = in + 1 > *end ? in + 1 : *end;
        }
    }
}

static void check_source_box(const cc__tiles_source *source, const cc__box *output, int64_t room)
{
    cc__box box;
    ck_assert_int_eq(cc__tiles_source_box(source, output, &box), CC_OK);
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; ++axis) {
        int64_t first, end;
        naive_needs(source, output, axis, &first, &end);
        if (first == INT64_MAX) {
            ck_assert_int_eq(box.size[axis], 0);
            ck_assert(box.start[axis] >= 0 && box.start[axis] <= source->size[axis]);
            continue;
        }
        ck_assert_int_eq(box.start[axis], first);
        ck_assert_int_eq(box.size[axis], end - first);
    }
    ck_assert_int_le(cc__box_pixels(&box) * source->pixel_bytes, room);
}

static int64_t room_of(const cc__tiles_job *job, const cc__tiles_plan *plan, int32_t source)
{
    if (job->sources[source].is_output)
        return plan->buffer_bytes - plan->output_offset;
    for (int32_t next = source + 1; next < job->source_count; ++next)
        if (!job->sources[next].is_output)
            return plan->source_offset[next] - plan->source_offset[source];
    return plan->output_offset - plan->source_offset[source];
}

/* Every output pixel is in one tile, every tile and what it needs has room, and all is within the limit. */
static void check_plan(const cc__tiles_job *job, const cc__tiles_plan *plan)
{
    static unsigned char seen[MOST_PIXELS];
    const cc__box whole = cc__box_of_size(job->size);
    const int64_t pixels = cc__box_pixels(&whole);
    ck_assert_int_le(pixels, MOST_PIXELS);
    memset(seen, 0, sizeof seen);
    ck_assert_int_ge(plan->buffer_count, 1);
    ck_assert_int_le(plan->buffer_count, job->buffer_count);
    ck_assert_int_le(plan->buffer_bytes * plan->buffer_count, job->limit_bytes);
    ck_assert_int_eq(plan->buffer_bytes % CC__TILES_ALIGNMENT, 0);
    for (int64_t number = 0; number < plan->tile_count; ++number) {
        const cc__box box = cc__tiles_plan_box(job, plan, number);
        ck_assert(!cc__box_is_empty(&box) && cc__box_contains(&whole, &box));
        for (int64_t at = 0; at < cc__box_pixels(&box); ++at) {
            int64_t rest = at, place = 0, stride = 1;
            for (int32_t axis = 0; axis < CC_MAX_DIMENSION; ++axis) {
                place += (box.start[axis] + rest % box.size[axis]) * stride;
                rest /= box.size[axis];
                stride *= job->size[axis];
            }
            ck_assert_int_eq(seen[place]++, 0);
        }
        ck_assert_int_le(cc__box_pixels(&box) * job->pixel_bytes, plan->buffer_bytes - plan->output_offset);
        for (int32_t i = 0; i < job->source_count; ++i) {
            ck_assert_int_eq(plan->source_offset[i] % CC__TILES_ALIGNMENT, 0);
            check_source_box(&job->sources[i], &box, room_of(job, plan, i));
        }
    }
    for (int64_t at = 0; at < pixels; ++at)
        ck_assert_int_eq(seen[at], 1);
    /* Slower axes are cut to single slices before faster ones are cut at all. */
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; ++axis)
        for (int32_t slower = axis + 1; slower < CC_MAX_DIMENSION; ++slower)
            ck_assert(plan->step[axis] == job->size[axis] || plan->step[slower] == 1);
}

static int64_t aligned(int64_t bytes)
{
    return (bytes + CC__TILES_ALIGNMENT - 1) / CC__TILES_ALIGNMENT * CC__TILES_ALIGNMENT;
}

/* The bytes of a buffer for tiles of this size away from the borders, of a job with one source of scale 1. */
static int64_t naive_buffer(const cc__tiles_job *job, const int64_t step[CC_MAX_DIMENSION])
{
    int64_t in = job->sources[0].pixel_bytes, out = job->pixel_bytes;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; ++axis) {
        const int64_t length = step[axis] + job->sources[0].halo_before[axis] + job->sources[0].halo_after[axis];
        in *= length < job->sources[0].size[axis] ? length : job->sources[0].size[axis];
        out *= step[axis];
    }
    return aligned(in) + aligned(out);
}

/* No plan of thicker tiles, or of whole slices, would have fitted with so many buffers. */
static void check_thickest(const cc__tiles_job *job, const cc__tiles_plan *plan, int32_t buffers)
{
    const int64_t most = job->limit_bytes / buffers;
    int64_t step[CC_MAX_DIMENSION];
    memcpy(step, job->size, sizeof step);
    for (int32_t axis = CC_MAX_DIMENSION - 1; axis >= 0; --axis) {
        int64_t best = 0;
        for (int64_t thickness = 1; thickness <= job->size[axis]; ++thickness) {
            step[axis] = thickness;
            if (naive_buffer(job, step) <= most)
                best = thickness;
        }
        step[axis] = 1;
        if (best == 0 || job->size[axis] == 1)
            continue;
        ck_assert_int_eq(plan->tile_counts[axis], (job->size[axis] - 1) / best + 1);
        return;
    }
}

START_TEST(small_sizes_are_cut_right)
{
    const int64_t halos[3][2] = {{0, 0}, {1, 1}, {2, 0}};
    const int64_t limits[] = {512, 600, 1024, 1536, 2048, 3000, 4096, 6144, 9000, 1000000};
    for (int64_t shape = 0; shape < 5 * 4 * 3 * 2; ++shape) {
        const int64_t size[CC_MAX_DIMENSION] = {1 + shape % 5 * 3, 1 + shape / 5 % 4 * 2, 1 + shape / 20 % 3 * 3,
                                                1 + shape / 60};
        for (int32_t halo = 0; halo < 3; ++halo) {
            for (size_t limit = 0; limit < sizeof limits / sizeof limits[0]; ++limit) {
                cc__tiles_job job = {.pixel_bytes = 20, .source_count = 1, .buffer_count = 3};
                cc__tiles_plan plan;
                bool fits = false;
                const int64_t one[CC_MAX_DIMENSION] = {1, 1, 1, 1};
                memcpy(job.size, size, sizeof job.size);
                set_plain(&job.sources[0], size, 12);
                for (int32_t axis = 0; axis < CC_MAX_DIMENSION; ++axis) {
                    job.sources[0].halo_before[axis] = halos[halo][0];
                    job.sources[0].halo_after[axis] = halos[halo][1];
                }
                job.limit_bytes = limits[limit];
                job.aim_bytes = INT64_MAX;
                ck_assert_int_eq(cc__tiles_plan_make(&job, &plan, &fits), CC_OK);
                ck_assert_int_eq(fits, naive_buffer(&job, one) <= job.limit_bytes);
                if (!fits)
                    continue;
                check_plan(&job, &plan);
                int32_t buffers = 3;
                while (buffers > 1 && naive_buffer(&job, one) > job.limit_bytes / buffers)
                    --buffers;
                check_thickest(&job, &plan, buffers);
            }
        }
    }
}
END_TEST

START_TEST(other_grids_get_what_they_need)
{
    const int32_t scales[][2] = {{1, 1}, {2, 1}, {1, 2}, {3, 2}, {2, 3}, {5, 7}, {4, 4}};
    for (size_t scale = 0; scale < sizeof scales / sizeof scales[0]; ++scale) {
        for (int64_t offset = -4; offset <= 4; offset += 2) {
            for (int64_t limit = 768; limit < 6000; limit += 700) {
                const int64_t size[CC_MAX_DIMENSION] = {7, 5, 4, 1};
                const int64_t other[CC_MAX_DIMENSION] = {9, 4, 6, 1};
                cc__tiles_job job = {.pixel_bytes = 4, .source_count = 3, .buffer_count = 2, .aim_bytes = 1};
                cc__tiles_plan plan;
                bool fits = false;
                memcpy(job.size, size, sizeof job.size);
                set_plain(&job.sources[0], other, 16);
                set_plain(&job.sources[1], size, 4);
                set_plain(&job.sources[2], other, 1);
                job.sources[1].is_output = true;
                for (int32_t axis = 0; axis < 3; ++axis) {
                    job.sources[0].numerator[axis] = scales[scale][0];
                    job.sources[0].denominator[axis] = scales[scale][1];
                    job.sources[0].offset[axis] = offset;
                    job.sources[0].halo_after[axis] = 1;
                    job.sources[2].offset[axis] = -offset;
                }
                job.limit_bytes = limit;
                ck_assert_int_eq(cc__tiles_plan_make(&job, &plan, &fits), CC_OK);
                if (fits)
                    check_plan(&job, &plan);
                ck_assert(fits || limit < 3 * 256 + 16 * 64);
            }
        }
    }
}
END_TEST

START_TEST(extremes_do_not_overflow)
{
    const int64_t size[CC_MAX_DIMENSION] = {INT64_C(1) << 40, 1 << 20, 1, 1};
    cc__tiles_job job = {.pixel_bytes = 4, .source_count = 1, .buffer_count = 8, .aim_bytes = 1 << 25};
    cc__tiles_plan plan;
    bool fits = false;
    memcpy(job.size, size, sizeof job.size);
    set_plain(&job.sources[0], size, 4);
    job.limit_bytes = INT64_C(1) << 30;
    ck_assert_int_eq(cc__tiles_plan_make(&job, &plan, &fits), CC_OK);
    ck_assert(fits);
    ck_assert_int_eq(plan.step[1], 1);
    ck_assert_int_eq(plan.buffer_bytes <= 1 << 25, 1);
    job.sources[0].halo_before[0] = INT64_MAX;
    job.sources[0].halo_after[1] = INT64_MAX;
    ck_assert_int_eq(cc__tiles_plan_make(&job, &plan, &fits), CC_OK);
    ck_assert(!fits);
    job.sources[0].halo_before[0] = job.sources[0].halo_after[1] = 0;
    job.sources[0].numerator[0] = INT32_MAX;
    job.sources[0].offset[0] = INT64_MAX;
    job.sources[0].offset[1] = INT64_MIN;
    const cc__box all = cc__box_of_size(size);
    cc__box box;
    ck_assert_int_eq(cc__tiles_source_box(&job.sources[0], &all, &box), CC_OK);
    ck_assert_int_eq(box.size[0], 0);
    ck_assert_int_eq(box.size[1], 0);
    job.sources[0].offset[0] = job.sources[0].offset[1] = 0;
    ck_assert_int_eq(cc__tiles_source_box(&job.sources[0], &all, &box), CC_OK);
    ck_assert(cc__box_equal(&box, &all));
}
END_TEST

/* Tiles are as small as the aim, but not where the halo would be most of what is read. */
START_TEST(a_halo_makes_tiles_thicker_than_the_aim)
{
    const int64_t size[CC_MAX_DIMENSION] = {16, 16, 1024, 1};
    cc__tiles_job job = {.pixel_bytes = 4, .source_count = 1, .buffer_count = 3, .aim_bytes = 16384};
    cc__tiles_plan plan;
    bool fits = false;
    memcpy(job.size, size, sizeof job.size);
    set_plain(&job.sources[0], size, 4);
    job.limit_bytes = INT64_C(1) << 30;
    ck_assert_int_eq(cc__tiles_plan_make(&job, &plan, &fits), CC_OK);
    ck_assert(fits);
    ck_assert_int_eq(plan.step[2], 8);
    job.sources[0].halo_before[2] = job.sources[0].halo_after[2] = 4;
    ck_assert_int_eq(cc__tiles_plan_make(&job, &plan, &fits), CC_OK);
    ck_assert_int_ge(plan.step[2], 64);
    ck_assert_int_lt(plan.step[2], 128);
    job.limit_bytes = 3 * (16 * 16 * 4 * (20 + 28));
    ck_assert_int_eq(cc__tiles_plan_make(&job, &plan, &fits), CC_OK);
    ck_assert_int_le(plan.step[2], 20);
    ck_assert_int_ge(plan.step[2], 19);
}
END_TEST

static cc_status map_mirrored(void *context, const cc__box *output, int64_t out_first[CC_MAX_DIMENSION],
                              int64_t out_end[CC_MAX_DIMENSION])
{
    const int64_t *size = context;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; ++axis) {
        out_first[axis] = size[axis] - output->start[axis] - output->size[axis];
        out_end[axis] = size[axis] - output->start[axis] + 2;
    }
    return CC_OK;
}

static cc_status map_failing(void *context, const cc__box *output, int64_t out_first[CC_MAX_DIMENSION],
                             int64_t out_end[CC_MAX_DIMENSION])
{
    (void)context, (void)output, (void)out_first, (void)out_end;
    return map_fails;
}

START_TEST(a_map_decides)
{
    int64_t size[CC_MAX_DIMENSION] = {3, 4, 10, 1};
    cc__tiles_job job = {.pixel_bytes = 4, .source_count = 1, .buffer_count = 1, .aim_bytes = INT64_MAX};
    cc__tiles_plan plan;
    bool fits = false;
    memcpy(job.size, size, sizeof job.size);
    set_plain(&job.sources[0], size, 100);
    job.sources[0].map = map_mirrored;
    job.sources[0].context = size;
    job.limit_bytes = 6144 + 256;
    ck_assert_int_eq(cc__tiles_plan_make(&job, &plan, &fits), CC_OK);
    ck_assert(fits);
    ck_assert_int_eq(plan.step[2], 3);
    for (int64_t number = 0; number < plan.tile_count; ++number) {
        const cc__box output = cc__tiles_plan_box(&job, &plan, number);
        cc__box box;
        ck_assert_int_eq(cc__tiles_source_box(&job.sources[0], &output, &box), CC_OK);
        ck_assert_int_eq(box.start[2], 10 - output.start[2] - output.size[2]);
        ck_assert_int_le(cc__box_pixels(&box) * 100, plan.output_offset);
    }
    job.sources[0].map = map_failing;
    ck_assert_int_eq(cc__tiles_plan_make(&job, &plan, &fits), map_fails);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tiles_plan");
    TCase *cases = tcase_create("tiles_plan");
    tcase_set_timeout(cases, 120);
    tcase_add_test(cases, small_sizes_are_cut_right);
    tcase_add_test(cases, other_grids_get_what_they_need);
    tcase_add_test(cases, extremes_do_not_overflow);
    tcase_add_test(cases, a_halo_makes_tiles_thicker_than_the_aim);
    tcase_add_test(cases, a_map_decides);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
