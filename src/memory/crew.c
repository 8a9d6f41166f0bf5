#include "memory/crew.h"

#include "memory/cores.h"

#include <pthread.h>
#include <signal.h>

#define HUGE_BYTES ((size_t)2 << 20)
/* Large shares that are cut up for the end, when not all threads have the same left to do. */
#define LAST_EACH ((int64_t)2)

int32_t cc__crew_cores;

/*
 * One after the other they take about 15 us to make, in which one that is there works on some 150 KB: n threads are
 * done first when each has n times as much, n / 16 of what 16 of them would have.
 */
#define FEW 16

static int32_t threads_for(size_t shares)
{
    size_t count = shares < FEW ? shares : FEW;
    while (count >= FEW && count < CC__CREW_MOST && (count + 1) * (count + 1) / FEW <= shares)
        ++count;
    return (int32_t)count;
}

int32_t cc__crew_size(size_t bytes, size_t bytes_each, int32_t most)
{
    const int32_t wanted = threads_for(bytes / bytes_each);
    if (wanted < most)
        most = wanted;
    if (most <= 1)
        return 1;
    const int32_t cores = cc__crew_cores > 0 ? cc__crew_cores : cc__cores_usable();
    return most < cores ? most : cores;
}

void cc__crew_shares_make(cc__crew_shares *out_shares, int64_t count, int64_t usual, size_t item_bytes, int32_t threads)
{
    const int64_t large = (int64_t)(HUGE_BYTES / item_bytes);
    const int64_t first = large > usual ? count / large - LAST_EACH * threads : 0;
    out_shares->count = count;
    out_shares->usual = usual;
    out_shares->large = large;
    out_shares->large_shares = first > 0 ? first : 0;
    atomic_init(&out_shares->next, 0);
}

bool cc__crew_shares_take(cc__crew_shares *shares, int64_t *out_first, int64_t *out_count)
{
    const int64_t number = atomic_fetch_add(&shares->next, 1);
    const int64_t after = number - shares->large_shares;
    const int64_t first =
        after < 0 ? number * shares->large : shares->large_shares * shares->large + after * shares->usual;
    const int64_t wanted = after < 0 ? shares->large : shares->usual;
    const int64_t left = shares->count - first;
    if (left <= 0)
        return false;
    *out_first = first;
    *out_count = wanted < left ? wanted : left;
    return true;
}

static void *start(void *argument)
{
    const cc__crew_member *self = argument;
    self->work(self->context);
    return NULL;
}

/* What a fault in the thread itself raises cannot wait. */
static void block_signals(sigset_t *out_before)
{
    sigset_t blocked;
    sigfillset(&blocked);
    sigdelset(&blocked, SIGSEGV);
    sigdelset(&blocked, SIGBUS);
    sigdelset(&blocked, SIGFPE);
    sigdelset(&blocked, SIGILL);
    pthread_sigmask(SIG_SETMASK, &blocked, out_before);
}

/* The caller has blocked signals. */
static bool start_member(cc__crew_member *member, cc__crew_work work, void *context)
{
    member->work = work;
    member->context = context;
    return pthread_create(&member->thread, NULL, start, member) == 0;
}

bool cc__crew_start(cc__crew_member *member, cc__crew_work work, void *context)
{
    sigset_t before;
    block_signals(&before);
    const bool started = start_member(member, work, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

void cc__crew_join(cc__crew_member *member)
{
    pthread_join(member->thread, NULL);
}

void cc__crew_run(int32_t size, cc__crew_work work, void *context)
{
    cc__crew_member members[CC__CREW_MOST - 1];
    int32_t started = 0;
    if (size > 1) {
        sigset_t before;
        block_signals(&before);
        while (started < size - 1 && started < CC__CREW_MOST - 1 && start_member(&members[started], work, context))
            ++started;
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    work(context);
    for (int32_t i = 0; i < started; ++i)
        cc__crew_join(&members[i]);
}
