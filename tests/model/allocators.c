#include "allocators.h"

#include "report.h"
#include "support/fixture.h"

#include <stdlib.h>
#include <string.h>

/* Off what was asked for, where that is more. */
#define MISALIGNMENT 8

typedef struct block {
    struct block *next;
    unsigned char *memory; /* as it was given out */
    unsigned char *allocation;
    size_t size_bytes;
    cc_place place;
} block;

struct model_allocator {
    model_allocator *next;
    model_allocators *all;
    int32_t number;
    memory_kind kind;
    int32_t holders;
    int32_t releases;
    block *blocks;
};

static void *get(cc_place place, cc_stream stream, size_t size_bytes, size_t alignment_bytes)
{
    void *memory = NULL;
    if (place == CC_PLACE_HOST)
        return posix_memalign(&memory, alignment_bytes, size_bytes) == 0 ? memory : NULL;
    return fixture_inner->allocate(fixture_inner, place, stream, size_bytes, &memory) == CC_OK ? memory : NULL;
}

static void *allocate(size_t size_bytes, size_t alignment_bytes, cc_place place, cc_stream stream, void *user_data)
{
    model_allocator *self = user_data;
    model_allocators *all = self->all;
    model_check(self->releases == 0 && self->holders > 0, "allocator %d is asked, though nobody has set it",
                (int)self->number);
    model_check((place == CC_PLACE_HOST) == (self->kind == MEMORY_OF_HOST), "allocator %d is asked for memory at %d",
                (int)self->number, (int)place);
    model_check(size_bytes > 0 && alignment_bytes > 0 && (alignment_bytes & (alignment_bytes - 1)) == 0,
                "allocator %d is asked for %zu bytes aligned to %zu", (int)self->number, size_bytes, alignment_bytes);
    const bool fails = random_chance(all->random, all->fail_percent);
    const bool is_misaligned = fails && alignment_bytes > MISALIGNMENT && random_chance(all->random, 50);
    all->failures[self->kind] += fails;
    if (fails && !is_misaligned)
        return NULL;
    unsigned char *allocation = get(place, stream, size_bytes + MISALIGNMENT, alignment_bytes);
    model_check(allocation != NULL, "no memory for the test");
    block *given = malloc(sizeof *given);
    *given = (block){self->blocks, allocation + (is_misaligned ? MISALIGNMENT : 0), allocation, size_bytes, place};
    self->blocks = given;
    all->allocations[self->kind] += !is_misaligned;
    return given->memory;
}

static void give_back(void *memory, size_t size_bytes, cc_place place, cc_stream stream, void *user_data)
{
    model_allocator *self = user_data;
    block **link = &self->blocks;
    model_check(self->releases == 0, "allocator %d gets memory back after its release", (int)self->number);
    while (*link != NULL && (*link)->memory != memory)
        link = &(*link)->next;
    block *given = *link;
    model_check(given != NULL, "allocator %d gets %p, which it never gave", (int)self->number, memory);
    model_check(given->size_bytes == size_bytes && given->place == place,
                "allocator %d gets %zu bytes at %d back, and gave %zu at %d", (int)self->number, size_bytes, (int)place,
                given->size_bytes, (int)given->place);
    *link = given->next;
    if (given->memory == given->allocation)
        ++self->all->frees[self->kind];
    if (place == CC_PLACE_HOST) {
        /* Whoever still uses it gets to see this. */
        memset(given->allocation, 0xDD, size_bytes);
        free(given->allocation);
    } else {
        model_ok(fixture_inner->free(fixture_inner, place, stream, given->allocation));
    }
    free(given);
}

static void release(void *user_data)
{
    model_allocator *self = user_data;
    model_check(self->releases == 0, "allocator %d is released twice", (int)self->number);
    model_check(self->blocks == NULL, "allocator %d is released while memory of it is in use", (int)self->number);
    ++self->releases;
}

model_allocator *allocators_add(model_allocators *all, memory_kind kind, cc_allocator *out_calls)
{
    model_allocator *allocator = calloc(1, sizeof *allocator);
    *allocator = (model_allocator){.next = all->first, .all = all, .number = all->made++, .kind = kind};
    all->first = allocator;
    *out_calls = (cc_allocator)CC_ALLOCATOR_INIT;
    out_calls->allocate = allocate;
    out_calls->free = give_back;
    out_calls->release = release;
    out_calls->user_data = allocator;
    return allocator;
}

void allocators_take_back(model_allocators *all, model_allocator *allocator)
{
    model_allocator **link = &all->first;
    model_check(allocator->releases == 0, "allocator %d was not set, but released", (int)allocator->number);
    while (*link != allocator)
        link = &(*link)->next;
    *link = allocator->next;
    free(allocator);
}

void allocator_hold(model_allocator *allocator)
{
    if (allocator != NULL)
        ++allocator->holders;
}

void allocator_let_go(model_allocator *allocator)
{
    if (allocator != NULL)
        --allocator->holders;
}

void allocators_begin_step(model_allocators *all)
{
    memset(all->allocations, 0, sizeof all->allocations);
    memset(all->frees, 0, sizeof all->frees);
    memset(all->failures, 0, sizeof all->failures);
}

void allocators_check(const model_allocators *all)
{
    for (const model_allocator *allocator = all->first; allocator != NULL; allocator = allocator->next)
        model_check(allocator->releases == (allocator->holders == 0 && allocator->blocks == NULL),
                    "allocator %d with %d holders and %s memory was released %d times", (int)allocator->number,
                    (int)allocator->holders, allocator->blocks == NULL ? "no" : "some", (int)allocator->releases);
}

void allocators_end(model_allocators *all)
{
    while (all->first != NULL) {
        model_allocator *allocator = all->first;
        model_check(allocator->releases == 1, "allocator %d was not released", (int)allocator->number);
        all->first = allocator->next;
        free(allocator);
    }
}
