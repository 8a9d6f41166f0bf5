/* Launchers for kernels that a test runs on the CPU, and one that fails after a number of launches. */
#ifndef CC_TESTS_LAUNCHES_H
#define CC_TESTS_LAUNCHES_H

#include "kernels/launch.h"

static bool launches_have_written;

static inline cc_status launches_find(const cc__launcher *launcher, const void *kernel)
{
    (void)launcher, (void)kernel;
    return CC_OK;
}

/* For a function that runs kernels, on a device of so many multiprocessors. */
#define LAUNCHER(run, multiprocessor_count)                                                                            \
    {                                                                                                                  \
        run, launches_find, multiprocessor_count, &launches_have_written, NULL                                         \
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
    const cc__launcher base = {failing_launch, launches_find, 1, &self->has_written, NULL};
    self->base = base;
    self->run = run;
    self->left = launches;
    self->has_written = false;
}

#endif
