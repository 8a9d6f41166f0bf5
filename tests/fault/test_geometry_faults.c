/*
 * Derivatives and resampling in which the nth thing fails: an error comes back, the images hold what they held, nothing
 * is left behind, and the same call then works.
 */
#include "memory/crew.h"
#include "support/fault_sequence.h"
#include "support/fixture.h"
#include "support/numbers.h"

#include <string.h>

#define WIDTH 9
#define HEIGHT 5
#define PIXELS (WIDTH * HEIGHT)

typedef struct images {
    cc_image *input;
    cc_image *field;
    cc_image *output;
} images;

/* What is wanted is on the device, so that there is something to fail. */
static images begin(int32_t output_components)
{
    images all;
    all.input = fixture_image(CC_PIXEL_FLOAT32, 1, 2, WIDTH, HEIGHT, 1);
    all.field = fixture_image(CC_PIXEL_FLOAT32, 2, 2, WIDTH, HEIGHT, 1);
    all.output = fixture_image(CC_PIXEL_FLOAT32, output_components, 2, WIDTH, HEIGHT, 1);
    numbers_put_squares(all.input, 3, 1);
    numbers_put_squares(all.field, 0, 0.125F);
    numbers_put_squares(all.output, -1, 0);
    if (fixture_device_count() > 0)
        fixture_ok(cc_image_prefetch(all.input, NULL, 0));
    return all;
}

static void end(images *all)
{
    cc_image_release(all->input);
    cc_image_release(all->field);
    cc_image_release(all->output);
}

static cc_status gradient(const images *all)
{
    return cc_image_gradient(all->input, CC_DIFFERENCE_CENTRAL, 0, all->output, CC_STREAM_DEFAULT);
}

static cc_status warp(const images *all)
{
    return cc_image_warp(all->input, all->field, NULL, all->output, CC_STREAM_DEFAULT);
}

/* With memory of its own for a while, and several launches. */
static cc_status resample_cubic(const images *all)
{
    cc_resample_params params = CC_RESAMPLE_PARAMS_INIT;
    params.interpolation = CC_INTERPOLATION_CUBIC_BSPLINE;
    params.offset[0] = 0.25;
    return cc_image_resample(all->input, &params, all->output, CC_STREAM_DEFAULT);
}

static const struct operation {
    const char *name;
    cc_status (*run)(const images *all);
    int32_t output_components;
} operations[] = {{"gradient", gradient, 2}, {"warp", warp, 1}, {"cubic", resample_cubic, 1}};
#define OPERATIONS ((int32_t)(sizeof operations / sizeof operations[0]))

static void read_all(cc_image *image, float *out)
{
    void *pixels = NULL;
    fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_READ, &pixels));
    memcpy(out, pixels, cc_image_get_size_bytes(image));
    fixture_ok(cc_image_unmap_host(image, pixels));
}

START_TEST(each_fault)
{
    const struct operation *operation = &operations[_i / 2];
    const bool for_ever = _i % 2 != 0;
    const size_t bytes = (size_t)operation->output_components * PIXELS * sizeof(float);
    static float expected[2 * PIXELS], before[2 * PIXELS], found[2 * PIXELS], input[PIXELS], input_now[PIXELS];
    images all = begin(operation->output_components);
    cc__crew_cores = 1;
    read_all(all.input, input);
    read_all(all.output, before);
    fixture_ok(operation->run(&all));
    read_all(all.output, expected);
    ck_assert_mem_ne(expected, before, bytes);
    end(&all);
    for (int64_t nth = 1;; nth++) {
        all = begin(operation->output_components);
        fault_sequence_start(nth, for_ever);
        const cc_status status = operation->run(&all);
        const int64_t count = fault_sequence_stop();
        read_all(all.output, found);
        read_all(all.input, input_now);
        ck_assert_mem_eq(input_now, input, sizeof input);
        ck_assert_msg(memcmp(found, status == CC_OK ? expected : before, bytes) == 0, "%s, fault %lld: %s",
                      operation->name, (long long)nth, cc_status_name(status));
        fixture_ok(operation->run(&all));
        read_all(all.output, found);
        ck_assert_mem_eq(found, expected, bytes);
        end(&all);
        if (count < nth) {
            ck_assert_int_eq(status, CC_OK);
            ck_assert_int_gt(nth, fixture_device_count() > 0 || _i / 2 == 2 ? 1 : 0);
            break;
        }
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("geometry_faults");
    TCase *cases = tcase_create("geometry_faults");
    tcase_add_checked_fixture(cases, fixture_setup, fixture_teardown);
    tcase_add_loop_test(cases, each_fault, 0, 2 * OPERATIONS);
    suite_add_tcase(suite, cases);
    return fixture_run(suite);
}
