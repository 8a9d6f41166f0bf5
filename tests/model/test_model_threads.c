/*
 * Several threads on the same images. A seed (see seeds.h) gives the threads the same programs again, but not the same
 * moments.
 */
#include "report.h"
#include "seeds.h"
#include "threads.h"

#include "data_manager/internal.h"

#include <stdlib.h>
#include <string.h>

#define USUAL_SEEDS 100
#define USUAL_STEPS 250
#define FEW_CELLS 6
#define PAGE_BYTES ((size_t)4096)

/* Memory that the image wraps, and how often it was given back. */
typedef struct loan {
    cc_place place;
    bool is_registered;
    void *memory;
    atomic_int releases;
} loan;

static void give_back(void *data, void *user_data)
{
    loan *lent = user_data;
    atomic_fetch_add(&lent->releases, 1);
    if (lent->is_registered)
        (void)fixture_inner->host_unregister(fixture_inner, data);
    if (lent->place == CC_PLACE_HOST) {
        free(data);
        return;
    }
    (void)fixture_inner->free(fixture_inner, lent->place, CC_STREAM_DEFAULT, data);
    (void)fixture_inner->stream_synchronize(fixture_inner, lent->place, CC_STREAM_DEFAULT);
}

/* Zeros of the caller's, on the host (page-locked when there is a device) or on a device. */
static void wrap(cc_image *image, loan *lent, cc_place place)
{
    cc_wrap_params params = CC_WRAP_PARAMS_INIT;
    params.size_bytes = cc_image_get_size_bytes(image);
    params.release = give_back;
    params.user_data = lent;
    memset(lent, 0, sizeof *lent);
    lent->place = place;
    model_check(params.size_bytes <= PAGE_BYTES, "more than a page");
    if (place == CC_PLACE_HOST) {
        model_check(posix_memalign(&lent->memory, PAGE_BYTES, PAGE_BYTES) == 0, "no memory for the test");
        memset(lent->memory, 0, PAGE_BYTES);
        lent->is_registered = fixture_device_count() > 0;
        if (lent->is_registered)
            model_ok(fixture_inner->host_register(fixture_inner, lent->memory, PAGE_BYTES));
        params.data = lent->memory;
        model_ok(cc_image_wrap_host(image, &params));
        return;
    }
    static const unsigned char zeros[PAGE_BYTES];
    model_ok(fixture_inner->allocate(fixture_inner, place, CC_STREAM_DEFAULT, PAGE_BYTES, &lent->memory));
    fixture_device_write(place, CC_STREAM_DEFAULT, lent->memory, zeros, PAGE_BYTES);
    params.data = lent->memory;
    model_ok(cc_image_wrap_device(image, &params, CC_STREAM_DEFAULT));
}

static cc_image *create_rows(void)
{
    cc_image *image = fixture_image(CC_PIXEL_INT32, 1, 2, ROW_PIXELS, (int64_t)ROW_COUNT, 1);
    if (fixture_device_count() > 0)
        model_ok(cc_image_set_device(image, 0));
    return image;
}

static void check_counts(const cc_counters *costs, const cc_counters *private_costs)
{
    const faulty_counts seen = faulty_backend_counts(fixture_backend);
    const int64_t said[] = {(int64_t)(costs->host_to_device_copies + private_costs->host_to_device_copies),
                            (int64_t)(costs->host_to_device_bytes + private_costs->host_to_device_bytes),
                            (int64_t)(costs->device_to_host_copies + private_costs->device_to_host_copies),
                            (int64_t)(costs->device_to_host_bytes + private_costs->device_to_host_bytes),
                            (int64_t)(costs->device_to_device_copies + private_costs->device_to_device_copies),
                            (int64_t)(costs->device_to_device_bytes + private_costs->device_to_device_bytes),
                            (int64_t)(costs->device_allocations + private_costs->device_allocations)};
    const int64_t counted[] = {seen.host_to_device_copies, seen.host_to_device_bytes,    seen.device_to_host_copies,
                               seen.device_to_host_bytes,  seen.device_to_device_copies, seen.device_to_device_bytes,
                               seen.calls[FAULTY_ALLOCATE]};
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++)
        model_check(said[i] == counted[i], "counter %zu is %lld, but the backend saw %lld", i, (long long)said[i],
                    (long long)counted[i]);
}

static void run_program(const char *test, uint64_t seed, int32_t steps)
{
    random_source random = {.state = seed};
    shared_rows rows;
    loan lent = {0};
    cc_counters private_costs = CC_COUNTERS_INIT;
    report_begin(test, seed, steps);
    fixture_setup();
    memset(&rows, 0, sizeof rows);
    rows.image = create_rows();
    const int64_t kind = random_below(&random, 4);
    const bool is_wrapped = kind < 2;
    if (is_wrapped) {
        const bool on_device = kind == 1 && fixture_device_count() > 0;
        wrap(rows.image, &lent, on_device ? (cc_place)random_below(&random, fixture_device_count()) : CC_PLACE_HOST);
    }
    threads_run(&rows, seed, steps, &private_costs);
    const cc_counters costs = fixture_counters(rows.image);
    check_counts(&costs, &private_costs);
    cc_image_release(rows.image);
    model_check(lent.releases == is_wrapped, "wrapped memory was released %d times", (int)lent.releases);
    fixture_teardown();
    report_end();
}

static void run(const char *test)
{
    const model_seeds seeds = model_seeds_of(USUAL_SEEDS, USUAL_STEPS);
    for (uint64_t seed = seeds.first; seed < seeds.end; seed++)
        run_program(test, seed, seeds.steps);
}

START_TEST(threads_on_one_image)
{
    run("threads_on_one_image");
}
END_TEST

START_TEST(threads_on_one_image_that_tidies)
{
    const int32_t usual = cc__cells_before_tidying;
    cc__cells_before_tidying = FEW_CELLS;
    run("threads_on_one_image_that_tidies");
    cc__cells_before_tidying = usual;
}
END_TEST

static void *release_image(void *image)
{
    cc_image_release(image);
    return NULL;
}

/* Whichever thread is last gives the memory back, once. */
START_TEST(threads_release_together)
{
    fixture_setup();
    for (int32_t round = 0; round < 50; round++) {
        pthread_t threads[THREAD_COUNT];
        cc_image *image = create_rows();
        const cc_region whole = cc_image_get_region(image);
        loan lent;
        wrap(image, &lent, round % 2 == 0 || fixture_device_count() == 0 ? CC_PLACE_HOST : 0);
        for (int32_t i = 0; i < THREAD_COUNT; i++) {
            cc_image *view = NULL;
            if (i % 2 == 0)
                model_ok(cc_image_create_view(image, &whole, &view));
            else
                view = cc_image_retain(image);
            model_check(pthread_create(&threads[i], NULL, release_image, view) == 0, "no thread");
        }
        cc_image_release(image);
        for (int32_t i = 0; i < THREAD_COUNT; i++)
            (void)pthread_join(threads[i], NULL);
        model_check(lent.releases == 1, "wrapped memory was released %d times", (int)lent.releases);
    }
    fixture_teardown();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("model_threads");
    TCase *tcase = tcase_create("threads");
    tcase_set_timeout(tcase, 0);
    tcase_add_test(tcase, threads_on_one_image);
    tcase_add_test(tcase, threads_on_one_image_that_tidies);
    tcase_add_test(tcase, threads_release_together);
    suite_add_tcase(suite, tcase);
    return fixture_run(suite);
}
