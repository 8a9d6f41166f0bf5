/* The kernels that combine frames, run on the CPU, against the host's own path: the same bits for all types. */
#include "support/cuda_on_host.h"

#include "kernels/frames.cu"
#include "support/plain_work.h"
#include "support/rescale_cases.h"

#include <check.h>
#include <stdlib.h>

#define BUFFER_BYTES ((int64_t)1 << 16)

static int32_t packed_launches, row_launches;

static cc_status launch(const cc__launcher *launcher, const void *kernel, uint32_t grid_blocks, uint32_t block_threads,
                        void **arguments)
{
    const cc__frames_launch *plan = arguments[0];
    void (*run)(const cc__frames_launch) = (void (*)(const cc__frames_launch))kernel;
    (void)launcher;
    ck_assert_uint_eq(block_threads, CC__BLOCK_THREADS);
    ck_assert_uint_gt(grid_blocks, 0);
    row_launches += kernel == (const void *)frames_mix_row || kernel == (const void *)frames_average_row;
    packed_launches += plan->packed[0] != 0 && plan->packed[1] != 0;
    cuda_on_host_run(0, grid_blocks, grid_blocks, block_threads, run(*plan));
    return CC_OK;
}

static const cc__launcher launcher = LAUNCHER(launch, 1);

static int64_t bytes_of(cc_pixel_type type)
{
    return (int64_t)cc_pixel_type_size_bytes(type);
}

static void write_cases(uint32_t *state, cc_pixel_type type, int64_t bytes, unsigned char *out)
{
    for (int64_t n = 0; n < bytes / bytes_of(type); n++)
        rescale_case_write(type, n + random_below(state, 5), out + n * bytes_of(type));
}

static bool random_work(uint32_t *state, unsigned char *volume, unsigned char *frames, cc__frames *work)
{
    memset(work, 0, sizeof *work);
    work->way = (int32_t)random_below(state, 3);
    work->components = (int32_t)(1 + random_below(state, 3));
    work->frames_type = (cc_pixel_type)random_below(state, 13);
    work->volume_type = random_below(state, 3) == 0 ? (cc_pixel_type)random_below(state, 13) : work->frames_type;
    work->weights[1] = (double)random_below(state, 8) / 8;
    work->weights[0] = 1 - work->weights[1];
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION - 1; axis++)
        work->size[axis] = 1 + random_below(state, 5);
    work->size[0] *= 1 + random_below(state, 2) * 3;
    work->size[3] = 1;
    if (random_below(state, 3) == 0)
        work->size[0] = 1 + random_below(state, 600);
    const int64_t volume_unit = bytes_of(work->volume_type), frames_unit = bytes_of(work->frames_type);
    const int64_t volume_bytes = random_strides(state, work->size, work->components * volume_unit,
                                                (1 + 3 * random_below(state, 2)) * volume_unit, work->volume.stride);
    const int64_t frame_bytes = random_strides(state, work->size, work->components * frames_unit,
                                               (1 + 3 * random_below(state, 2)) * frames_unit, work->frames.stride);
    work->frame_count = work->way == CC__FRAMES_AVERAGE ? 1 + random_below(state, 6)
                        : work->way == CC__FRAMES_SPLAT ? 1 + random_below(state, 2)
                                                        : 2;
    work->frame_stride = frame_bytes + random_below(state, 3) * frames_unit;
    const int64_t all = work->frame_stride * work->frame_count + 4 * frames_unit;
    if (volume_bytes + 4 * volume_unit > BUFFER_BYTES || all > BUFFER_BYTES)
        return false;
    write_cases(state, work->volume_type, BUFFER_BYTES, volume);
    write_cases(state, work->frames_type, all, frames);
    work->volume.data = volume + random_below(state, 4) / 3 * volume_unit;
    work->frames.data = frames + random_below(state, 4) / 3 * frames_unit;
    if (random_below(state, 3) == 0) {
        work->frames.data += (work->frame_count - 1) * work->frame_stride;
        work->frame_stride = -work->frame_stride;
    }
    return true;
}

START_TEST(any_work_agrees_with_the_host)
{
    unsigned char *buffers[4];
    uint32_t state = 11;
    int32_t done = 0;
    for (int32_t n = 0; n < 4; n++)
        buffers[n] = aligned_alloc(64, BUFFER_BYTES);
    for (int32_t round = 0; round < 800; round++) {
        cc__frames work, other;
        cc__rows rows;
        if (!random_work(&state, buffers[0], buffers[1], &work))
            continue;
        memcpy(buffers[2], buffers[0], BUFFER_BYTES);
        memcpy(buffers[3], buffers[1], BUFFER_BYTES);
        other = work;
        other.volume.data = buffers[2] + (work.volume.data - buffers[0]);
        other.frames.data = buffers[3] + (work.frames.data - buffers[1]);
        cc__frames_plan(&work, &rows);
        for (int64_t row = 0; row < cc__frames_count_rows(&rows); row++) {
            const int64_t half = rows.length / 2;
            cc__frames_row(&work, &rows, row, 0, half);
            cc__frames_row(&work, &rows, row, half, rows.length - half);
        }
        ck_assert_int_eq(cc__launch_frames(&other, &launcher), CC_OK);
        ck_assert_msg(memcmp(buffers[0], buffers[2], BUFFER_BYTES) == 0, "round %d, way %d", round, work.way);
        ck_assert_msg(memcmp(buffers[1], buffers[3], BUFFER_BYTES) == 0, "round %d, way %d", round, work.way);
        done++;
    }
    ck_assert_int_gt(done, 400);
    ck_assert_int_gt(packed_launches, 30);
    for (int32_t n = 0; n < 4; n++)
        free(buffers[n]);
}
END_TEST

/* Rows of several blocks, which end anywhere. */
START_TEST(long_rows)
{
    unsigned char *buffers[3];
    uint32_t state = 12;
    const int32_t launches = row_launches;
    for (int32_t n = 0; n < 3; n++)
        buffers[n] = aligned_alloc(64, BUFFER_BYTES);
    for (int32_t n = 0; n < 12; n++) {
        const int64_t count = 4 * (509 + n / 2 * 3);
        cc__frames work = {.volume = {.data = buffers[0], .stride = {4, 4 * count, 4 * count, 4 * count}},
                           .frames = {.data = buffers[2], .stride = {4, 4 * count, 4 * count, 4 * count}},
                           .frame_stride = 4 * count,
                           .frame_count = n % 2 == 0 ? 2 : 3,
                           .size = {count, 1, 1, 1},
                           .components = 1,
                           .volume_type = CC_PIXEL_FLOAT32,
                           .frames_type = CC_PIXEL_FLOAT32,
                           .way = n % 2 == 0 ? CC__FRAMES_GATHER : CC__FRAMES_AVERAGE,
                           .weights = {0.75, 0.25}};
        cc__rows rows;
        write_cases(&state, CC_PIXEL_FLOAT32, BUFFER_BYTES, buffers[0]);
        write_cases(&state, CC_PIXEL_FLOAT32, BUFFER_BYTES, buffers[2]);
        memcpy(buffers[1], buffers[0], BUFFER_BYTES);
        cc__frames_plan(&work, &rows);
        cc__frames_row(&work, &rows, 0, 0, rows.length);
        work.volume.data = buffers[1];
        ck_assert_int_eq(cc__launch_frames(&work, &launcher), CC_OK);
        ck_assert_mem_eq(buffers[0], buffers[1], BUFFER_BYTES);
    }
    ck_assert_int_eq(row_launches, launches + 12);
    for (int32_t n = 0; n < 3; n++)
        free(buffers[n]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("base_frames_kernel");
    TCase *tcase = tcase_create("base_frames_kernel");
    tcase_add_test(tcase, any_work_agrees_with_the_host);
    tcase_add_test(tcase, long_rows);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
