/*
 * What tests of images share: the backend named by CUDACOMMON_DEVICE ("none", "emulated", "emulated:3", "cuda"),
 * wrapped in the faulty backend, fresh for every test, and a check that a test left nothing behind.
 */
#ifndef CC_TESTS_FIXTURE_H
#define CC_TESTS_FIXTURE_H

#include "backend/backend.h"
#include "support/faulty_backend.h"

#include <check.h>
#include <cudacommon/cudacommon.h>
#include <stdbool.h>

/* The faulty backend that the library uses now, and the one in it. */
extern cc__backend *fixture_backend;
extern cc__backend *fixture_inner;

/* For tcase_add_checked_fixture. teardown fails the test when bookkeeping, pixels, streams or events are still alive.
 */
void fixture_setup(void);
void fixture_teardown(void);

/*
 * Runs a suite as the main function of a test does. 77, saying so, when the backend has no device although
 * CUDACOMMON_DEVICE is "cuda" (1 when CC_TEST_REQUIRE_GPU is set, which turns skips into failures). On "cuda" tests run
 * in one process.
 */
int fixture_run(Suite *suite);

bool fixture_is_emulated(void);
int32_t fixture_device_count(void); /* 0 on "none" */

/* A stream as an application has one. */
cc_stream fixture_stream_create(int32_t device);
void fixture_stream_destroy(int32_t device, cc_stream stream);

/* Queues, in `stream`, what a kernel would do: writes or reads a dense run of bytes. `host` stays alive until
 * synchronised. */
void fixture_device_write(int32_t device, cc_stream stream, void *device_memory, const void *host, size_t size_bytes);
void fixture_device_read(int32_t device, cc_stream stream, void *host, const void *device_memory, size_t size_bytes);

/* An image of this size, all zero, spacing 1; the test fails when it cannot be made. Unused sizes are ignored. */
cc_image *fixture_image(cc_pixel_type type, int32_t components, int32_t dimension, int64_t i, int64_t j, int64_t k);
/* Brings all of it to the first device, if there is one. */
void fixture_bring_to_device(cc_image *image);
cc_counters fixture_counters(cc_image *image);

/* Expects a status, and shows the message when it is another. */
#define fixture_expect(expected, call)                                                                                 \
    do {                                                                                                               \
        const cc_status fixture_status_ = (call);                                                                      \
        ck_assert_msg(fixture_status_ == (expected), "%s: %s, expected %s (%s)", #call,                                \
                      cc_status_name(fixture_status_), cc_status_name(expected), cc_last_error_message());             \
    } while (0)
#define fixture_ok(call) fixture_expect(CC_OK, call)

#endif
