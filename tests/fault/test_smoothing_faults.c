/*
 * Smoothing and convolution in which the nth thing fails: an error comes back, the images hold what they held, nothing
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
    cc_image *filter;
    cc_image *output;
} images;

static void read_all(cc_image *image, float *out)
{
    void *pixels = NULL;
    fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_READ, &pixels));
    memcpy(out, pixels, cc_image_get_size_bytes(image));
    fixture_ok(cc_image_unmap_host(image, pixels));
}

/* What is read is on the device, so that there is something to fail. */
static images begin(bool in_place)
{
    images all;
    all.input = fixture_image(CC_PIXEL_FLOAT32, 1, 2, WIDTH, HEIGHT, 1);
    all.filter = fixture_image(CC_PIXEL_FLOAT32, 1, 1, 3, 1, 1);
    all.output = in_place ? cc_image_retain(all.input) : fixture_image(CC_PIXEL_FLOAT32, 1, 2, WIDTH, HEIGHT, 1);
    numbers_put_squares(all.filter, 0.25F, 0.125F);
    numbers_put_squares(all.output, -1, 0);
    numbers_put_squares(all.input, 3, 1);
    if (fixture_device_count() > 0)
        fixture_ok(cc_image_prefetch(all.input, NULL, 0));
    return all;
}

static void end(images *all)
{
    cc_image_release(all->input);
    cc_image_release(all->filter);
    cc_image_release(all->output);
}

static cc_status smooth(const images *all)
{
    cc_gaussian_params params = CC_GAUSSIAN_PARAMS_INIT;
    params.sigma[0] = params.sigma[1] = 0.75;
    return cc_image_smooth_gaussian(all->input, &params, all->output, CC_STREAM_DEFAULT);
}

static cc_status convolve(const images *all)
{
    const cc_convolve_params params = CC_CONVOLVE_PARAMS_INIT;
    return cc_image_convolve_axis(all->input, all->filter, &params, all->output, CC_STREAM_DEFAULT);
}

static const struct operation {
    const char *name;
    cc_status (*run)(const images *all);
    bool in_place;
} operations[] = {{"smooth", smooth, false},
                  {"smooth in place", smooth, true},
                  {"convolve", convolve, false},
                  {"convolve in place", convolve, true}};
#define OPERATIONS ((int32_t)(sizeof operations / sizeof operations[0]))

START_TEST(each_fault)
{
    const struct operation *operation = &operations[_i / 2];
    const bool for_ever = _i % 2 != 0;
    static float expected[PIXELS], before[PIXELS], found[PIXELS];
    images all = begin(operation->in_place);
    cc__crew_cores = 1;
    read_all(all.output, before);
    fixture_ok(operation->run(&all));
    read_all(all.output, expected);
    ck_assert_mem_ne(expected, before, sizeof before);
    end(&all);
    for (int64_t nth = 1;; nth++) {
        all = begin(operation->in_place);
        fault_sequence_start(nth, for_ever);
        const cc_status status = operation->run(&all);
        const int64_t count = fault_sequence_stop();
        /* When every event fails, nobody can wait for what was queued in place before its pixels are written again. */
        if (fixture_device_count() > 0)
            fixture_ok(cc_stream_synchronize(0, CC_STREAM_DEFAULT));
        read_all(all.output, found);
        ck_assert_msg(memcmp(found, status == CC_OK ? expected : before, sizeof found) == 0, "%s, fault %lld: %s",
                      operation->name, (long long)nth, cc_status_name(status));
        if (status != CC_OK) {
            fixture_ok(operation->run(&all));
            read_all(all.output, found);
            ck_assert_mem_eq(found, expected, sizeof found);
        }
        end(&all);
        if (count < nth) {
            ck_assert_int_eq(status, CC_OK);
            ck_assert_int_gt(nth, 1);
            break;
        }
    }
    cc__crew_cores = 0;
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("smoothing_faults");
    TCase *cases = tcase_create("smoothing_faults");
    tcase_add_checked_fixture(cases, fixture_setup, fixture_teardown);
    tcase_add_loop_test(cases, each_fault, 0, 2 * OPERATIONS);
    suite_add_tcase(suite, cases);
    return fixture_run(suite);
}
