/*
 * Memory on the host that pixels are in, and which parts of it are page-locked. Address space is there for all of it
 * from the start; RAM comes where bytes are touched, and page-locking where bytes move between here and devices.
 */
#ifndef CC_MEMORY_HOST_MEMORY_H
#define CC_MEMORY_HOST_MEMORY_H

#include "backend/backend.h"
#include "memory/allocators.h"
#include "memory/pieces.h"

#include <cudacommon/status.h>
#include <pthread.h>
#include <stdbool.h>

typedef enum cc__host_owner {
    CC__HOST_OWNER_LIBRARY = 0,
    CC__HOST_OWNER_ALLOCATOR = 1, /* it comes from an allocator of the caller's, and goes back there */
    CC__HOST_OWNER_CALLER = 2     /* it is never freed here */
} cc__host_owner;

/* A part that the backend knows as one piece of page-locked memory; no copy may cross its border. */
typedef struct cc__locked_range {
    cc__range bytes;
    bool is_pending; /* a thread is locking it, without holding the lock below */
} cc__locked_range;

#define CC__HOST_FIRST_RANGES 2

typedef struct cc__host_memory {
    unsigned char *bytes;
    size_t size_bytes;     /* in use */
    size_t capacity_bytes; /* owned */
    cc__host_owner owner;
    cc__allocator *allocator;
    bool is_zero;       /* as it was given out; memory that is used again is not */
    cc__range lockable; /* whole pages that nobody else's data is on */
    size_t grain_bytes; /* ranges are made to end at multiples of it, where they can */

    pthread_mutex_t lock;     /* guards what follows; never held while pages are locked or bytes are copied */
    pthread_cond_t changed;   /* a pending range has been decided */
    cc__locked_range *ranges; /* in order, disjoint; each stays until the memory is given back */
    int32_t range_count;
    int32_t range_capacity;
    cc__locked_range first_ranges[CC__HOST_FIRST_RANGES]; /* room for those that most memory has */
    cc__backend *backend;                                 /* whose ranges they are */
    size_t locked_bytes;
    uint64_t staged_bytes; /* that moved through other memory because these were not locked */
    int32_t direct_users;  /* threads that let the driver copy pageable bytes: nothing is locked meanwhile */
    bool is_refused;       /* pageable for good, but for what is locked already */

    struct cc__host_memory *next; /* while it is kept for reuse; or of all that is wrapped */
} cc__host_memory;

/*
 * Memory for so many bytes: from the allocator; or, when that is NULL, what was kept for reuse, or new pages.
 * OUT_OF_HOST_MEMORY. destroy: nothing uses it any more, or `is_settled` is false: a copy may still write to it,
 * because waiting for it failed; then it is not used again.
 */
cc_status cc__host_memory_create(size_t size_bytes, cc__allocator *allocator, cc__host_memory **out_memory);
/* The caller's memory. OUT_OF_HOST_MEMORY. */
cc_status cc__host_memory_wrap(unsigned char *bytes, size_t size_bytes, cc__host_memory **out_memory);
/* Whether some of these bytes are of wrapped memory, which the library may lock, and unlock again. */
bool cc__host_memory_may_lock(const unsigned char *bytes, size_t size_bytes);
void cc__host_memory_destroy(cc__host_memory *memory, bool is_settled);
/* The same, for memory that is not to be kept for reuse. */
void cc__host_memory_drop(cc__host_memory *memory);

/*
 * Page-locks what is not yet locked of these bytes, each gap as one piece, and waits for other threads that are locking
 * some of them. What cannot be locked stays pageable; nothing is reported. Returns how many bytes this call has locked.
 * Where there is much to lock it is done in several pieces, and while one is being locked the next gets its RAM.
 */
size_t cc__host_memory_lock(cc__host_memory *memory, cc__backend *backend, cc__range bytes);
/*
 * The same, and gives `take` the ranges as soon as they are locked, in order, from the first byte to the end or to
 * where it cannot go on; ends when `take` returns false. take may be NULL.
 */
typedef bool (*cc__take_range)(void *context, cc__range locked);
size_t cc__host_memory_lock_each(cc__host_memory *memory, cc__backend *backend, cc__range bytes, cc__take_range take,
                                 void *context);
/* The size of those pieces, a multiple of 2 MiB, and whether so many bytes are worth several. For tests to lower. */
extern size_t cc__host_memory_piece_bytes;
bool cc__host_memory_locks_in_pieces(size_t size_bytes);

typedef enum cc__locking {
    CC__LOCKING_NONE = 0,  /* all pageable */
    CC__LOCKING_WHOLE = 1, /* inside one locked range */
    CC__LOCKING_PARTS = 2
} cc__locking;
cc__locking cc__host_memory_locking(cc__host_memory *memory, cc__range bytes);
/* In one range. */
static inline bool cc__host_memory_is_all_locked(cc__host_memory *memory)
{
    return cc__host_memory_locking(memory, (cc__range){0, memory->size_bytes}) == CC__LOCKING_WHOLE;
}

/* The locked ranges that share a byte with these, in order; the caller frees the array. They stay locked as long as the
 * memory is there; others may be added. OUT_OF_HOST_MEMORY. */
cc_status cc__host_memory_ranges(cc__host_memory *memory, cc__range bytes, cc__range **out_ranges, int32_t *out_count);

size_t cc__host_memory_locked_bytes(cc__host_memory *memory);

/* Whether the driver may be given any of the bytes as pageable ones: none is locked, and none will be before the end.
 */
bool cc__host_memory_begin_direct(cc__host_memory *memory);
void cc__host_memory_end_direct(cc__host_memory *memory);

/* Notes that so many bytes could not move in place. Returns how many that makes in all. */
uint64_t cc__host_memory_note_staged(cc__host_memory *memory, size_t bytes);

#endif
