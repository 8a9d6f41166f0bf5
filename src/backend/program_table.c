#include "backend/program_table.h"

#include <string.h>

/*
 * A judgement. The driver takes some ten milliseconds for a kernel, and may find it on disk another time; the general
 * kernels lose 2 or 3 ms of an H200's time in these bytes. Who has moved so many is likely to go on.
 */
#define WORTH_BYTES ((int64_t)1 << 34)

enum {
    FREE = 0,
    CLAIMED = 1, /* its program is being written */
    COUNTING = 2,
    MAKING = 3,
    MADE = 4,
    REFUSED = 5
};

/* The program's slot, new if it has none. NULL: there is no room, or somebody is writing where it may be. */
static cc__program_slot *find_slot(cc__program_table *table, const cc__program *program)
{
    const uint64_t hash = cc__program_hash(program);
    for (size_t i = 0; i < CC__PROGRAM_SLOTS; i++) {
        cc__program_slot *one = &table->slots[(hash + i) % CC__PROGRAM_SLOTS];
        int state = atomic_load_explicit(&one->state, memory_order_acquire);
        if (state == FREE && atomic_compare_exchange_strong(&one->state, &state, CLAIMED)) {
            one->hash = hash;
            one->program = *program;
            atomic_store_explicit(&one->state, COUNTING, memory_order_release);
            return one;
        }
        if (state == CLAIMED)
            return NULL;
        if (one->hash == hash && cc__program_is_same(&one->program, program))
            return one;
    }
    return NULL;
}

static void *make(cc__program_slot *one, cc__program_maker maker, void *context)
{
    void *kernel = NULL;
    const cc__program_outcome outcome = maker(context, &one->program, &kernel);
    if (outcome == CC__PROGRAM_MADE)
        one->kernel = kernel;
    atomic_store_explicit(&one->bytes, 0, memory_order_relaxed);
    atomic_store_explicit(&one->state,
                          outcome == CC__PROGRAM_MADE    ? MADE
                          : outcome == CC__PROGRAM_LATER ? COUNTING
                                                         : REFUSED,
                          memory_order_release);
    return kernel;
}

void *cc__program_table_find(cc__program_table *table, const cc__program *program, int64_t bytes, int64_t worth_bytes,
                             cc__program_maker maker, void *context)
{
    cc__program_slot *one = find_slot(table, program);
    if (one == NULL)
        return NULL;
    int state = atomic_load_explicit(&one->state, memory_order_acquire);
    if (state == MADE)
        return one->kernel;
    if (state != COUNTING ||
        atomic_fetch_add_explicit(&one->bytes, bytes, memory_order_relaxed) + bytes < worth_bytes ||
        !atomic_compare_exchange_strong(&one->state, &state, MAKING))
        return NULL;
    return make(one, maker, context);
}

int64_t cc__program_worth_bytes(const char *text)
{
    if (text != NULL && strcmp(text, "never") == 0)
        return INT64_MAX;
    return text != NULL && strcmp(text, "always") == 0 ? 0 : WORTH_BYTES;
}
