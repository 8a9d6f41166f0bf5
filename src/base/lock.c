#include "base/lock.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* As long as a short critical section lasts; then the processor is worth more than the wait. */
#define LOOKS_BEFORE_SLEEP 200

/*
 * The longest that a thread sleeps beside a free lock. That happens when the holder is interrupted just between looking
 * for sleepers and letting go, and stays away for longer than the sleeper-to-be looks.
 */
#define LONGEST_SLEEP_NANOSECONDS 1000000

static void sleep_on(_Atomic uint32_t *word, uint32_t value, const struct timespec *longest)
{
    const int saved_errno = errno;
    (void)syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, longest, NULL, 0);
    errno = saved_errno;
}

/* The word's memory may be gone: then the kernel finds nobody there, or somebody who looks again. */
static void wake(_Atomic uint32_t *word, int count)
{
    const int saved_errno = errno;
    (void)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
    errno = saved_errno;
}

static void pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static bool try_to_take(cc__lock *lock)
{
    uint32_t is_held = 0;
    return atomic_load_explicit(&lock->is_held, memory_order_relaxed) == 0 &&
           atomic_compare_exchange_strong_explicit(&lock->is_held, &is_held, 1, memory_order_acquire,
                                                   memory_order_relaxed);
}

static bool take_soon(cc__lock *lock)
{
    for (int32_t look = 0; look < LOOKS_BEFORE_SLEEP; ++look) {
        if (try_to_take(lock))
            return true;
        pause_briefly();
    }
    return false;
}

void cc__lock_take_contended(cc__lock *lock)
{
    static const struct timespec longest = {0, LONGEST_SLEEP_NANOSECONDS};
    if (take_soon(lock))
        return;
    atomic_fetch_add(&lock->sleepers, 1);
    while (!take_soon(lock))
        sleep_on(&lock->is_held, 1, &longest);
    atomic_fetch_sub(&lock->sleepers, 1);
}

void cc__lock_wake(cc__lock *lock)
{
    wake(&lock->is_held, 1);
}

void cc__lock_wait(cc__lock *lock)
{
    const uint32_t changes = atomic_load_explicit(&lock->changes, memory_order_relaxed);
    cc__lock_let_go(lock);
    sleep_on(&lock->changes, changes, NULL);
    cc__lock_take(lock);
}

void cc__lock_tell(cc__lock *lock)
{
    atomic_fetch_add_explicit(&lock->changes, 1, memory_order_relaxed);
    wake(&lock->changes, INT_MAX);
}
