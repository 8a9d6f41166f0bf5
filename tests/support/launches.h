/* Launchers for kernels that a test runs on the CPU, and one that fails after a number of launches. */
#ifndef CC_TESTS_LAUNCHES_H
#define CC_TESTS_LAUNCHES_H

#include "kernels/launch.h"

#include <check.h>
#include <string.h>

static bool launches_have_written;

static inline cc_status launches_find(const cc__launcher *launcher, const void *kernel)
{
    (void)launcher, (void)kernel;
    return CC_OK;
}

/* For a function that runs kernels, on a device of so many multiprocessors. */
#define LAUNCHER(run, multiprocessors)                                                                                 \
    {                                                                                                                  \
        .launch = (run), .find = launches_find, .multiprocessor_count = (multiprocessors),                             \
        .has_written = &launches_have_written                                                                          \
    }

typedef struct failing_launcher {
    cc__launcher base; /* first, so that either pointer is the other */
    cc__launch_fn run;
    int64_t left; /* launches that succeed */
    bool has_written;
} failing_launcher;

static inline cc_status failing_launch(const cc__launcher *launcher, const void *kernel, uint32_t grid_blocks,
                                       uint32_t block_threads, void **arguments)
{
    failing_launcher *self = (failing_launcher *)launcher;
    if (self->left == 0)
        return CC_ERROR_DEVICE;
    self->left--;
    self->has_written = true;
    return self->run(launcher, kernel, grid_blocks, block_threads, arguments);
}

static inline void failing_launcher_init(failing_launcher *self, cc__launch_fn run, int64_t launches)
{
    self->base = (cc__launcher){
        .launch = failing_launch, .find = launches_find, .multiprocessor_count = 1, .has_written = &self->has_written};
    self->run = run;
    self->left = launches;
    self->has_written = false;
}

typedef struct failures {
    int64_t launches; /* of the work when none fails */
    int64_t torn;     /* how many of their failures may leave a part of the output written */
} failures;

/*
 * Fails each launch of a work in turn. The output, which holds these bytes before, then still does, or the launcher
 * says that it may not. The last time nothing fails.
 */
static inline failures fail_each_launch(cc_status (*start)(const void *work, const cc__launcher *launcher),
                                        const void *work, cc__launch_fn run, unsigned char *output, size_t bytes,
                                        const unsigned char *before)
{
    failures seen = {0, 0};
    for (;; seen.launches++) {
        failing_launcher launcher;
        failing_launcher_init(&launcher, run, seen.launches);
        memcpy(output, before, bytes);
        const cc_status status = start(work, &launcher.base);
        if (status == CC_OK)
            return seen;
        ck_assert_int_eq(status, CC_ERROR_DEVICE);
        ck_assert_msg(launcher.has_written || memcmp(output, before, bytes) == 0,
                      "launch %d failed, and the output has changed", (int)seen.launches);
        seen.torn += launcher.has_written;
    }
}

#endif
