/*
 * Arrays in and out, with the nth thing failing: a call that fails has taken nothing and given nothing, no deleter ran,
 * the pixels are what they were, and the call works when it is tried again.
 */
#include "interop/foreign_tensor.h"
#include "support/fault_sequence.h"
#include "support/fixture.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define HANGS_AFTER_SECONDS 200

#define SIZE_I 6
#define SIZE_J 5
#define PIXELS (SIZE_I * SIZE_J)

static const float values[] = {3, 4, 5, 6};

static struct {
    cc_place place; /* where arrays are: the host, or the last device */
    cc_stream stream;
    cc_image *image;
    float value; /* all its pixels */
    cc_image *view;
    struct DLManagedTensorVersioned *tensor;
    struct DLManagedTensor *legacy;
    foreign_tensor stranger;
    void *memory; /* the stranger's */
    cc_image *over;
    int32_t releases;
} now;

static cc_export_params export_params(void)
{
    cc_export_params params = CC_EXPORT_PARAMS_INIT;
    params.place = now.place;
    params.stream = now.stream;
    return params;
}

static cc_import_params import_params(void)
{
    cc_import_params params = CC_IMPORT_PARAMS_INIT;
    params.dimension = 2;
    return params;
}

static cc_status create(void)
{
    cc_image_params params = CC_IMAGE_PARAMS_INIT;
    params.dimension = 2;
    params.pixel_type = CC_PIXEL_FLOAT32;
    params.region = (cc_region){{7, -8}, {SIZE_I, SIZE_J}};
    params.device = now.place == CC_PLACE_HOST ? CC_DEVICE_CURRENT : now.place;
    return cc_image_create(&params, &now.image);
}

static cc_status fill_image(void)
{
    const cc_status status = cc_image_fill(now.image, NULL, &values[0], now.stream);
    now.value = status == CC_OK ? values[0] : now.value;
    return status;
}

static cc_status export_versioned(void)
{
    const cc_export_params params = export_params();
    return cc_image_export_dlpack(now.image, &params, 0, &now.tensor);
}

static cc_status export_legacy(void)
{
    const cc_export_params params = export_params();
    return cc_image_export_dlpack_legacy(now.image, &params, 0, &now.legacy);
}

static cc_status export_copy(void)
{
    const cc_export_params params = export_params();
    return cc_image_export_dlpack(now.image, &params, CC_DLPACK_COPY, &now.tensor);
}

static cc_status export_copy_to_host(void)
{
    cc_export_params params = export_params();
    params.place = CC_PLACE_HOST;
    params.stream = NULL;
    return cc_image_export_dlpack_legacy(now.image, &params, CC_DLPACK_COPY, &now.legacy);
}

static cc_status import_versioned(void)
{
    const cc_import_params params = import_params();
    const cc_status status = cc_image_import_dlpack(now.tensor, &params, now.stream, &now.view);
    now.tensor = status == CC_OK ? NULL : now.tensor;
    return status;
}

static cc_status import_legacy(void)
{
    const cc_import_params params = import_params();
    const cc_status status = cc_image_import_dlpack_legacy(now.legacy, &params, now.stream, &now.view);
    now.legacy = status == CC_OK ? NULL : now.legacy;
    return status;
}

static cc_status fill_view(void)
{
    const cc_status status = cc_image_fill(now.view, NULL, &values[1], now.stream);
    now.value = status == CC_OK ? values[1] : now.value;
    return status;
}

static cc_status release_view(void)
{
    cc_image_release(now.view);
    now.view = NULL;
    return CC_OK;
}

static cc_status import_stranger(void)
{
    const cc_import_params params = import_params();
    const cc_status status = cc_image_import_dlpack(&now.stranger.versioned, &params, now.stream, &now.over);
    ck_assert_int_eq(now.stranger.deletions, 0);
    return status;
}

static cc_status read_stranger(void)
{
    void *pixels = NULL;
    const cc_status status = cc_image_map_host(now.over, NULL, CC_ACCESS_READ, &pixels);
    if (status != CC_OK)
        return status;
    for (int32_t i = 0; i < PIXELS; ++i)
        ck_assert_float_eq(((const float *)pixels)[i], (float)i);
    return cc_image_unmap_host(now.over, pixels);
}

static cc_status release_stranger(void)
{
    cc_image_release(now.over);
    now.over = NULL;
    ck_assert_int_eq(now.stranger.deletions, 1);
    atomic_store(&now.stranger.deletions, 0);
    return CC_OK;
}

static void count_release(void *data, void *user_data)
{
    (void)user_data;
    ck_assert_ptr_eq(data, now.memory);
    ++now.releases;
}

static cc_status import_descriptor(void)
{
    cc_import_params params = import_params();
    cc_descriptor descriptor = CC_DESCRIPTOR_INIT;
    params.release = count_release;
    params.flags = CC_IMPORT_CONTIGUOUS;
    descriptor.ndim = 2;
    descriptor.shape[0] = SIZE_J;
    descriptor.shape[1] = SIZE_I;
    strcpy(descriptor.typestr, "<f4");
    descriptor.data = now.memory;
    descriptor.place = now.place == CC_PLACE_HOST ? now.place : CC_DEVICE_CURRENT;
    descriptor.stream = now.stream;
    const cc_status status = cc_image_import(&descriptor, &params, &now.over);
    ck_assert_int_eq(now.releases, 0);
    return status;
}

static cc_status release_descriptor(void)
{
    cc_image_release(now.over);
    now.over = NULL;
    ck_assert_int_eq(now.releases, 1);
    now.releases = 0;
    return CC_OK;
}

static cc_status wait_for_stream(void)
{
    return now.place == CC_PLACE_HOST ? CC_OK : cc_stream_wait(now.place, now.stream, CC_STREAM_DEFAULT);
}

static cc_status (*const steps[])(void) = {
    create,           fill_image,          export_versioned, import_versioned,   fill_view,       release_view,
    export_legacy,    import_legacy,       fill_image,       release_view,       export_copy,     import_versioned,
    release_view,     export_copy_to_host, import_legacy,    release_view,       import_stranger, read_stranger,
    release_stranger, import_descriptor,   read_stranger,    release_descriptor, wait_for_stream,
};
#define STEPS ((int32_t)(sizeof steps / sizeof *steps))

static void begin(void)
{
    const int64_t shape[] = {SIZE_J, SIZE_I};
    static float host[PIXELS];
    memset(&now, 0, sizeof now);
    now.place = fixture_device_count() - 1;
    now.memory = host;
    for (int32_t i = 0; i < PIXELS; ++i)
        host[i] = (float)i;
    if (now.place != CC_PLACE_HOST) {
        now.stream = fixture_stream_create(now.place);
        fixture_ok(fixture_inner->allocate(fixture_inner, now.place, now.stream, sizeof host, &now.memory));
        fixture_device_write(now.place, now.stream, now.memory, host, sizeof host);
    }
    foreign_tensor_init(&now.stranger, now.place, now.memory, 2, shape);
}

static void end(void)
{
    cc_image_release(now.view);
    cc_image_release(now.over);
    if (now.tensor != NULL)
        now.tensor->deleter(now.tensor);
    if (now.legacy != NULL)
        now.legacy->deleter(now.legacy);
    cc_image_release(now.image);
    if (now.place != CC_PLACE_HOST) {
        fixture_ok(fixture_inner->free(fixture_inner, now.place, now.stream, now.memory));
        (void)fixture_inner->stream_synchronize(fixture_inner, now.place, now.stream);
        fixture_stream_destroy(now.place, now.stream);
    }
    fixture_teardown();
    fixture_setup();
}

static void check(const char *when)
{
    float *pixels = NULL;
    int32_t wrong = 0;
    if (now.image == NULL)
        return;
    fixture_ok(cc_image_map_host(now.image, NULL, CC_ACCESS_READ, (void **)&pixels));
    for (int32_t i = 0; i < PIXELS; ++i)
        wrong += pixels[i] < now.value || pixels[i] > now.value;
    ck_assert_msg(wrong == 0, "%s: %d pixels are not %g", when, (int)wrong, (double)now.value);
    fixture_ok(cc_image_unmap_host(now.image, pixels));
}

/* Returns how many things could have failed. */
static int64_t run_with_fault(int64_t nth, bool all_of_the_call, bool looks_first)
{
    char when[128];
    begin();
    fault_sequence_start(nth, all_of_the_call);
    for (int32_t i = 0; i < STEPS; ++i) {
        const bool had_failed = fault_sequence_failed() != 0;
        cc_status status = steps[i]();
        snprintf(when, sizeof when, "fault %lld, step %d", (long long)nth, (int)i);
        if (had_failed || fault_sequence_failed() == 0) {
            ck_assert_msg(status == CC_OK, "%s: %s (%s)", when, cc_status_name(status), cc_last_error_message());
            continue;
        }
        (void)fault_sequence_stop();
        ck_assert_msg(status == CC_OK || status == CC_ERROR_DEVICE || status == CC_ERROR_OUT_OF_HOST_MEMORY, "%s: %s",
                      when, cc_status_name(status));
        if (looks_first)
            check(when);
        if (status != CC_OK)
            status = steps[i]();
        ck_assert_msg(status == CC_OK, "%s, again: %s (%s)", when, cc_status_name(status), cc_last_error_message());
        check(when);
    }
    const int64_t count = fault_sequence_stop();
    check("at the end");
    end();
    return count;
}

/* Memory that was lent is rather lost than freed when the wait for the whole device before that fails. */
static void set_up(void)
{
    alarm(HANGS_AFTER_SECONDS);
    fixture_setup();
    fault_sequence_ignore(FAULT(FAULTY_SYNCHRONIZE));
}

static void tear_down(void)
{
    fault_sequence_ignore(0);
    fixture_teardown();
    alarm(0);
}

START_TEST(each_fault)
{
    const int64_t count = run_with_fault(0, false, false);
    ck_assert_int_gt(count, 10);
    for (int64_t nth = 1; nth <= count; ++nth) {
        run_with_fault(nth, _i == 1, false);
        run_with_fault(nth, _i == 1, true);
    }
}
END_TEST

/* Everything fails from one moment on; what there was is there still when that is over. */
START_TEST(for_ever)
{
    const int64_t count = run_with_fault(0, false, false);
    for (int64_t nth = 1; nth <= count; ++nth) {
        bool is_over = false;
        begin();
        fault_sequence_start(nth, true);
        for (int32_t i = 0; i < STEPS && !is_over; ++i)
            is_over = steps[i]() != CC_OK;
        (void)fault_sequence_stop();
        check("when it is over");
        end();
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("interop_faults");
    TCase *tcase = tcase_create("interop_faults");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, 2 * HANGS_AFTER_SECONDS);
    tcase_add_loop_test(tcase, each_fault, 0, 2);
    tcase_add_test(tcase, for_ever);
    suite_add_tcase(suite, tcase);
    return fixture_run(suite);
}
