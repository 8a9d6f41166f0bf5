/*
 * Programs that are short of memory: small limits on what devices hold, so that images leave them all the time, limits
 * on page-locked memory, and callers' allocators. The trace says which pixels leave; the oracle says whether they may.
 */
#ifndef CC_TESTS_MODEL_PRESSURE_H
#define CC_TESTS_MODEL_PRESSURE_H

#include "allocators.h"
#include "world.h"

#include <cudacommon/trace.h>

typedef struct model_pressure {
    model_world *world;
    model_allocators allocators;
    model_allocator *of_process[2]; /* by memory_kind */
    size_t limit_bytes[ORACLE_MAX_PLACES];
    size_t held_before[ORACLE_MAX_PLACES];
    size_t locked_before;
    int64_t expected_allocations[2]; /* from allocators of the program's own, by memory_kind */
    bool refuses_locking;
} model_pressure;

void pressure_begin(model_world *world);
void pressure_end(model_world *world);

void pressure_begin_step(model_world *world);
void pressure_end_step(model_world *world);

/* Whether a call may have failed so because memory was short. */
bool pressure_excuses(const model_world *world, cc_status status);

/* What allocators of the program's own have given and taken back in the step. */
int64_t pressure_allocations(const model_world *world, memory_kind kind);
/* Pixels got memory so many times: from where they should. */
void pressure_note_allocations(model_world *world, const model_pixels *pixels, memory_kind kind, int64_t count);
int64_t pressure_frees(const model_world *world, memory_kind kind);

/* A device uses pixels now. */
void pressure_note_use(model_world *world, model_pixels *pixels, cc_place place);
/* Pixels that nobody has any more. */
void pressure_note_drop(model_pixels *pixels);
/* An operation that failed for another image may have brought this input: whether it has. */
bool pressure_note_input(model_world *world, model_image *input, cc_place place, oracle_cost *cost);

/* By the oracle's account. */
size_t pressure_held(const model_world *world, int32_t device);

#endif
