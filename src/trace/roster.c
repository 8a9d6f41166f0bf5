#include "trace/roster.h"

#include <pthread.h>
#include <stddef.h>

/* Apart from each other by what processors share. */
typedef struct roster_part {
    _Alignas(64) pthread_mutex_t lock;
    cc__roster_entry *first;
} roster_part;

static roster_part parts[CC__ROSTER_COUNT][CC__ROSTER_PARTS];
static pthread_once_t prepared = PTHREAD_ONCE_INIT;

static void lock_all(void)
{
    for (int32_t i = 0; i < CC__ROSTER_COUNT * CC__ROSTER_PARTS; ++i)
        pthread_mutex_lock(&parts[i / CC__ROSTER_PARTS][i % CC__ROSTER_PARTS].lock);
}

static void unlock_all(void)
{
    for (int32_t i = CC__ROSTER_COUNT * CC__ROSTER_PARTS - 1; i >= 0; --i)
        pthread_mutex_unlock(&parts[i / CC__ROSTER_PARTS][i % CC__ROSTER_PARTS].lock);
}

/* A child of fork() has only one of the threads; none of the others may have held a lock when it was made. */
static void prepare(void)
{
    for (int32_t i = 0; i < CC__ROSTER_COUNT * CC__ROSTER_PARTS; ++i)
        pthread_mutex_init(&parts[i / CC__ROSTER_PARTS][i % CC__ROSTER_PARTS].lock, NULL);
    (void)pthread_atfork(lock_all, unlock_all, unlock_all);
}

static int32_t part_of(const cc__roster_entry *entry)
{
    /* Fibonacci hashing; addresses differ least in their lowest bits. Four bits are left. */
    return (int32_t)(((uint64_t)(uintptr_t)entry >> 4) * UINT64_C(0x9E3779B97F4A7C15) >> 60);
}

void cc__roster_lock_part(cc__roster roster, int32_t part)
{
    pthread_once(&prepared, prepare);
    pthread_mutex_lock(&parts[roster][part].lock);
}

int32_t cc__roster_lock(cc__roster roster, const cc__roster_entry *entry)
{
    const int32_t part = part_of(entry);
    cc__roster_lock_part(roster, part);
    return part;
}

void cc__roster_unlock(cc__roster roster, int32_t part)
{
    pthread_mutex_unlock(&parts[roster][part].lock);
}

void cc__roster_add(cc__roster roster, cc__roster_entry *entry)
{
    const int32_t at = cc__roster_lock(roster, entry);
    roster_part *in = &parts[roster][at];
    entry->previous = NULL;
    entry->next = in->first;
    if (in->first != NULL)
        in->first->previous = entry;
    in->first = entry;
    cc__roster_unlock(roster, at);
}

void cc__roster_remove(cc__roster roster, int32_t at, cc__roster_entry *entry)
{
    if (entry->next != NULL)
        entry->next->previous = entry->previous;
    if (entry->previous != NULL)
        entry->previous->next = entry->next;
    else
        parts[roster][at].first = entry->next;
}

cc__roster_entry *cc__roster_first(cc__roster roster, int32_t part)
{
    return parts[roster][part].first;
}
