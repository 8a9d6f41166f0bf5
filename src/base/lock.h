/*
 * A mutex that costs one atomic operation to take and a plain store to let go, and what waits for a change under it.
 * Everything that maps pixels takes one twice, and nearly always finds it free.
 */
#ifndef CC_BASE_LOCK_H
#define CC_BASE_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* All zero is one that nobody holds. Needs no destruction. */
typedef struct cc__lock {
    _Atomic uint32_t is_held;
    _Atomic uint32_t sleepers;
    _Atomic uint32_t changes;
} cc__lock;

/* Not for use outside of lock.c, but for what follows. */
void cc__lock_take_contended(cc__lock *lock);
void cc__lock_wake(cc__lock *lock);

/* With the lock held, which is given up meanwhile: waits for a cc__lock_tell(), or for nothing at all. */
void cc__lock_wait(cc__lock *lock);
/* With the lock held: wakes all who wait. */
void cc__lock_tell(cc__lock *lock);

#if defined(__SANITIZE_THREAD__)
#define CC__LOCK_CHECKS_ORDER
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CC__LOCK_CHECKS_ORDER
#endif
#endif

/* ThreadSanitizer sees by itself that the lock excludes; in which order locks are taken it must be told. */
#ifdef CC__LOCK_CHECKS_ORDER
#include <sanitizer/tsan_interface.h>
#define CC__LOCK_TELL(event, ...) __tsan_mutex_##event(__VA_ARGS__)
#else
#define CC__LOCK_TELL(event, ...) ((void)0)
#endif

static inline void cc__lock_take(cc__lock *lock)
{
    CC__LOCK_TELL(pre_lock, lock, 0);
    if (atomic_exchange_explicit(&lock->is_held, 1, memory_order_acquire) != 0)
        cc__lock_take_contended(lock);
    CC__LOCK_TELL(post_lock, lock, 0, 0);
}

/*
 * Nothing of the lock is looked at once it is free: whoever takes it next may free it. So a thread that goes to sleep
 * between the two lines is not seen; see cc__lock_take_contended().
 */
static inline void cc__lock_let_go(cc__lock *lock)
{
    CC__LOCK_TELL(pre_unlock, lock, 0);
    const uint32_t sleepers = atomic_load_explicit(&lock->sleepers, memory_order_relaxed);
    atomic_store_explicit(&lock->is_held, 0, memory_order_release);
    if (sleepers != 0)
        cc__lock_wake(lock);
    CC__LOCK_TELL(post_unlock, lock, 0);
}

#endif
