/* What the kernels do beside the transforms, run on the CPU, against plain loops. */
#include "support/cuda_blocks_on_host.h"

#include "kernels/convolve.cu"
#include "support/plain_work.h"
#include "support/rescale_cases.h"

#include <math.h>
#include <stdlib.h>

#define BUFFER_BYTES ((int64_t)1 << 17)

typedef struct call {
    const void *kernel;
    void **arguments;
} call;

static void run_kernel(void *context)
{
    const call *now = context;
    if (now->kernel == (const void *)take_filter_float || now->kernel == (const void *)take_filter_double)
        ((void (*)(const cc__filter_plan))now->kernel)(*(const cc__filter_plan *)now->arguments[0]);
    else if (now->kernel == (const void *)multiply_float || now->kernel == (const void *)multiply_double)
        ((void (*)(const cc__multiply_plan))now->kernel)(*(const cc__multiply_plan *)now->arguments[0]);
    else
        ((void (*)(const cc__lines_plan_of_tiles))now->kernel)(*(const cc__lines_plan_of_tiles *)now->arguments[0]);
}

static cc_status launch(const cc__launcher *launcher, const void *kernel, uint32_t grid_blocks, uint32_t block_threads,
                        void **arguments)
{
    call now = {kernel, arguments};
    (void)launcher;
    ck_assert_uint_eq(block_threads, CC__BLOCK_THREADS);
    ck_assert_uint_gt(grid_blocks, 0);
    cuda_blocks_run(grid_blocks, run_kernel, &now);
    return CC_OK;
}

static const cc__launcher launcher = LAUNCHER(launch, 1);

static int64_t bytes_of(cc_pixel_type type)
{
    return (int64_t)cc_pixel_type_size_bytes(type);
}

static double number_at(const void *numbers, bool is_wide, int64_t n)
{
    return is_wide ? ((const double *)numbers)[n] : (double)((const float *)numbers)[n];
}

/* Where component `c` of the line's pixel at `p` is; lines are numbered components first. */
static int64_t place(const cc__line_images *images, const cc__span *span, int64_t component_bytes, int64_t line,
                     int64_t p)
{
    int64_t at = line % images->components * component_bytes + p * span->stride[images->axis];
    line /= images->components;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++) {
        if (axis == images->axis)
            continue;
        at += line % images->size[axis] * span->stride[axis];
        line /= images->size[axis];
    }
    return at;
}

/* Lines go into the buffer with zeros behind them, and come out again: all of them, in batches, and nothing else. */
START_TEST(lines_go_in_and_out)
{
    static unsigned char source[BUFFER_BYTES], found[BUFFER_BYTES], expected[BUFFER_BYTES], buffer[BUFFER_BYTES];
    static const cc_pixel_type types[] = {CC_PIXEL_FLOAT32, CC_PIXEL_UINT8, CC_PIXEL_INT16, CC_PIXEL_FLOAT64};
    uint32_t state = 3;
    for (int32_t round = 0; round < 12; round++) {
        cc__convolve work = {.is_wide = (int32_t)random_below(&state, 2)};
        cc__line_images *images = &work.images;
        int64_t lines = images->components = (int32_t)(1 + random_below(&state, 3));
        images->axis = (int32_t)random_below(&state, CC_MAX_DIMENSION);
        for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++)
            images->size[axis] = 1 + random_below(&state, axis == images->axis ? 40 : 4);
        for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++)
            lines *= axis == images->axis ? 1 : images->size[axis];
        const int64_t size = images->size[images->axis];
        work.length = size + random_below(&state, 40);
        work.batch = 30 + random_below(&state, 60);
        images->source_type = images->destination_type = types[random_below(&state, 4)];
        const int64_t component = bytes_of(images->source_type), pixel = component * images->components;
        random_strides(&state, images->size, pixel, component, images->source.stride);
        random_strides(&state, images->size, pixel, component, images->destination.stride);
        for (int64_t n = 0; n < BUFFER_BYTES / component; n++) {
            const float as_float = (float)(n % 97);
            const double as_double = (double)(n % 89);
            if (images->source_type == CC_PIXEL_FLOAT32)
                memcpy(source + 4 * n, &as_float, 4);
            else if (images->source_type == CC_PIXEL_FLOAT64)
                memcpy(source + 8 * n, &as_double, 8);
            else
                source[component * n] = (unsigned char)(n % 101);
        }
        memset(expected, 0xA5, sizeof expected);
        memset(found, 0xA5, sizeof found);
        images->source.data = source;
        images->destination.data = found;
        for (int64_t line = 0; line < lines; line++)
            for (int64_t p = 0; p < size; p++)
                memcpy(expected + place(images, &images->destination, component, line, p),
                       source + place(images, &images->source, component, line, p), (size_t)component);
        for (int64_t first = 0; first < lines; first += work.batch) {
            const int64_t count = lines - first < work.batch ? lines - first : work.batch;
            const int64_t pitch = 2 * (work.length / 2 + 1);
            memset(buffer, 0x7f, sizeof buffer);
            ck_assert_int_eq(cc__launch_take_lines(&work, first, count, buffer, &launcher), CC_OK);
            bool is_zero = true;
            for (int64_t line = 0; line < count; line++)
                for (int64_t p = size; p < work.length; p++)
                    is_zero = is_zero && number_at(buffer, work.is_wide != 0, line * pitch + p) == 0;
            ck_assert(is_zero);
            ck_assert_int_eq(cc__launch_give_lines(&work, first, count, buffer, &launcher), CC_OK);
        }
        ck_assert_msg(memcmp(expected, found, sizeof found) == 0, "round %d, axis %d", round, images->axis);
    }
}
END_TEST

/* A filter of 5 weights with 3 of them at and behind the pixel, on a circle of 8. */
START_TEST(a_filter_in_space)
{
    static const int16_t weights[] = {1, 2, 3, 4, 5};
    static const double expected[] = {3, 4, 5, 0, 0, 0, 1, 2};
    double response[10];
    for (int32_t is_wide = 0; is_wide < 2; is_wide++) {
        const cc__convolve work = {.filter = (const unsigned char *)weights,
                                   .filter_step = 2,
                                   .filter_size = 5,
                                   .filter_type = CC_PIXEL_INT16,
                                   .centre = 2,
                                   .length = 8,
                                   .is_wide = is_wide,
                                   .scratch = (unsigned char *)response};
        ck_assert_int_eq(cc__launch_take_filter(&work, &launcher), CC_OK);
        for (int64_t n = 0; n < 8; n++)
            ck_assert(number_at(response, is_wide != 0, n) == expected[n]);
    }
}
END_TEST

/* (1 + 2i) times (3 + i), divided by the length; what is real by nature stays so. */
START_TEST(factors_in_frequency)
{
    static const float factors[] = {3, NAN, 3, 1, 3, 1, 3, INFINITY};
    static const double even[] = {3, 0, 1, 7, 1, 7, 3, 0};
    double response[8], lines[16];
    for (int32_t round = 0; round < 4; round++) {
        const bool is_wide = round % 2 != 0, is_odd = round / 2 != 0;
        float narrow[16];
        cc__convolve work = {.filter = (const unsigned char *)factors,
                             .filter_step = 8,
                             .filter_size = is_odd ? 3 : 4,
                             .filter_type = CC_PIXEL_COMPLEX64,
                             .length = is_odd ? 5 : 6,
                             .in_frequency = 1,
                             .is_wide = is_wide,
                             .scratch = (unsigned char *)response};
        const int64_t numbers = 2 * work.filter_size;
        for (int64_t n = 0; n < 2 * numbers; n++) {
            const bool is_first = n % numbers < 2, is_last = !is_odd && n % numbers >= numbers - 2;
            lines[n] = n % 2 == 0 ? 1 : is_first || is_last ? 0 : 2;
            narrow[n] = (float)lines[n];
        }
        ck_assert_int_eq(cc__launch_take_filter(&work, &launcher), CC_OK);
        ck_assert_int_eq(cc__launch_multiply_lines(&work, 2, is_wide ? (void *)lines : (void *)narrow, &launcher),
                         CC_OK);
        for (int64_t n = 0; n < 2 * numbers; n++) {
            const double found = number_at(is_wide ? (void *)lines : (void *)narrow, is_wide, n);
            const double expected = even[n % numbers] / (double)work.length;
            ck_assert_msg(fabs(found - expected) < 1e-6, "number %d is %g, expected %g", (int)n, found, expected);
        }
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("convolve_kernel");
    TCase *tcase = tcase_create("convolve_kernel");
    tcase_add_test(tcase, lines_go_in_and_out);
    tcase_add_test(tcase, a_filter_in_space);
    tcase_add_test(tcase, factors_in_frequency);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
