/* Boxes of memory on the host, into dense pixels and out of them: what work_each_run() calls for every run of bytes. */
#ifndef CC_TESTS_MODEL_HOST_RUN_H
#define CC_TESTS_MODEL_HOST_RUN_H

#include <stdint.h>
#include <string.h>

typedef struct host_run {
    unsigned char *memory;
    unsigned char *dense;
} host_run;

static inline void host_gather(void *context, int64_t memory, int64_t dense, int64_t bytes)
{
    const host_run *run = context;
    memcpy(run->dense + dense, run->memory + memory, (size_t)bytes);
}

static inline void host_scatter(void *context, int64_t memory, int64_t dense, int64_t bytes)
{
    const host_run *run = context;
    memcpy(run->memory + memory, run->dense + dense, (size_t)bytes);
}

#endif
