#include "support/fixture.h"

#include "backend/emulated.h"
#include "base/allocate.h"
#include "data_manager/data_manager.h"
#include "memory/transfer_streams.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SKIPPED 77

cc__backend *fixture_backend;
cc__backend *fixture_inner;
static long live_before;

static const char *kind(void)
{
    const char *device = getenv("CUDACOMMON_DEVICE");
    return device != NULL ? device : "none";
}

bool fixture_is_emulated(void)
{
    return strncmp(kind(), "emulated", strlen("emulated")) == 0;
}

static cc__backend *make_inner(void)
{
    if (fixture_is_emulated()) {
        const char *colon = strchr(kind(), ':');
        cc__backend *emulated = cc__backend_emulated_create(colon != NULL ? atoi(colon + 1) : 1);
        const char *seed = getenv("CUDACOMMON_EMULATED_SEED");
        if (emulated != NULL && seed != NULL)
            cc__emulated_set_seed(emulated, strtoull(seed, NULL, 10));
        return emulated;
    }
    if (strcmp(kind(), "cuda") == 0)
        return cc__backend_cuda();
    return cc__backend_none();
}

void fixture_setup(void)
{
    cc__allocate_set_hook(NULL);
    live_before = cc__allocations_live();
    fixture_inner = make_inner();
    ck_assert_ptr_nonnull(fixture_inner);
    fixture_backend = faulty_backend_create(fixture_inner);
    ck_assert_ptr_nonnull(fixture_backend);
    cc__backend_set(fixture_backend);
}

void fixture_teardown(void)
{
    cc__allocate_set_hook(NULL);
    faulty_backend_clear_rules(fixture_backend);
    cc__data_managers_free_leftovers();
    (void)cc__data_managers_free_textures(true);
    cc__transfer_streams_reset();
    cc__backend_set(NULL);
    faulty_backend_destroy(fixture_backend);
    if (fixture_is_emulated()) {
        for (int32_t device = 0; device < fixture_inner->device_count; ++device)
            (void)fixture_inner->stream_synchronize(fixture_inner, device, CC_STREAM_DEFAULT);
        const cc__emulated_live live = cc__emulated_count_live(fixture_inner);
        ck_assert_int_eq(live.allocations, 0);
        ck_assert_int_eq(live.events, 0);
        ck_assert_int_eq(live.registrations, 0);
        cc__backend_emulated_destroy(fixture_inner);
    }
    ck_assert_int_eq(cc__allocations_live(), live_before);
}

int fixture_run(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    int failed = 0;
    if (strcmp(kind(), "cuda") == 0) {
        const cc__backend *cuda = cc__backend_cuda();
        if (cuda == NULL || cuda->device_count == 0) {
            const bool required = getenv("CC_TEST_REQUIRE_GPU") != NULL;
            printf("%s: no GPU here\n", required ? "failed" : "skipped");
            srunner_free(runner);
            return required ? EXIT_FAILURE : SKIPPED;
        }
        srunner_set_fork_status(runner, CK_NOFORK);
    }
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int32_t fixture_device_count(void)
{
    return fixture_backend->device_count;
}

cc_stream fixture_stream_create(int32_t device)
{
    cc_stream stream = NULL;
    fixture_ok(fixture_inner->stream_create(fixture_inner, device, &stream));
    return stream;
}

void fixture_stream_destroy(int32_t device, cc_stream stream)
{
    fixture_inner->stream_destroy(fixture_inner, device, stream);
}

static cc__copy dense_copy(void *destination, const void *source, size_t size_bytes)
{
    cc__copy work = {.size = {(int64_t)size_bytes, 1, 1, 1}, .pixel_bytes = 1};
    work.destination.data = destination;
    work.source.data = (unsigned char *)(uintptr_t)source;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; ++axis)
        work.destination.stride[axis] = work.source.stride[axis] = axis == 0 ? 1 : (int64_t)size_bytes;
    return work;
}

void fixture_device_write(int32_t device, cc_stream stream, void *device_memory, const void *host, size_t size_bytes)
{
    const cc__copy work = dense_copy(device_memory, host, size_bytes);
    fixture_ok(fixture_inner->copy(fixture_inner, device, stream, &work));
}

void fixture_device_read(int32_t device, cc_stream stream, void *host, const void *device_memory, size_t size_bytes)
{
    const cc__copy work = dense_copy(host, device_memory, size_bytes);
    fixture_ok(fixture_inner->copy(fixture_inner, device, stream, &work));
}

cc_image *fixture_image(cc_pixel_type type, int32_t components, int32_t dimension, int64_t i, int64_t j, int64_t k)
{
    cc_image_params params = CC_IMAGE_PARAMS_INIT;
    cc_image *image = NULL;
    params.dimension = dimension;
    params.pixel_type = type;
    params.components = components;
    params.region.size[0] = i;
    params.region.size[1] = j;
    params.region.size[2] = k;
    params.region.size[3] = 1;
    fixture_ok(cc_image_create(&params, &image));
    return image;
}

void fixture_bring_to_device(cc_image *image)
{
    if (fixture_device_count() > 0)
        fixture_ok(cc_image_prefetch(image, NULL, 0));
}

cc_counters fixture_counters(cc_image *image)
{
    cc_counters counters = CC_COUNTERS_INIT;
    fixture_ok(cc_image_get_counters(image, &counters));
    return counters;
}
