/* Allocators of a program's own, that fail now and then, and know what they have given out. */
#ifndef CC_TESTS_MODEL_ALLOCATORS_H
#define CC_TESTS_MODEL_ALLOCATORS_H

#include "random.h"

#include <cudacommon/memory.h>

/* Which memory an allocator is for. */
typedef enum memory_kind {
    MEMORY_OF_HOST = 0,
    MEMORY_OF_DEVICE = 1
} memory_kind;

typedef struct model_allocator model_allocator;

/* All allocators of one program, and what they did in one step. */
typedef struct model_allocators {
    random_source *random;
    int32_t fail_percent;
    int32_t made;
    model_allocator *first;
    int64_t allocations[2];
    int64_t frees[2];
    int64_t failures[2];
} model_allocators;

/* For one call that sets it. What it is given as out_calls lives as long as `all`. */
model_allocator *allocators_add(model_allocators *all, memory_kind kind, cc_allocator *out_calls);
/* The call has failed: nobody will ever use it. */
void allocators_take_back(model_allocators *all, model_allocator *allocator);

/* The process, or pixels, get new memory from it from now on, or not any more. Both accept NULL. */
void allocator_hold(model_allocator *allocator);
void allocator_let_go(model_allocator *allocator);

void allocators_begin_step(model_allocators *all);
/* Each that nobody uses any more has been told so, and no other. */
void allocators_check(const model_allocators *all);
/* All are over. */
void allocators_end(model_allocators *all);

#endif
