/*
 * Lists of what is alive in the process. Each list is in parts with a lock of their own, so that threads that make and
 * release images do not meet, and so that both cost the same however many there are.
 */
#ifndef CC_TRACE_ROSTER_H
#define CC_TRACE_ROSTER_H

#include <stdint.h>

typedef enum cc__roster {
    CC__ROSTER_IMAGES = 0, /* handles */
    CC__ROSTER_PIXELS = 1, /* data managers, by their accounts: see totals.h */
    CC__ROSTER_LOANS = 2
} cc__roster;
#define CC__ROSTER_COUNT 3
/* fork() takes all locks at once, and ThreadSanitizer knows at most 64 of a thread. */
#define CC__ROSTER_PARTS 16

/* Part of what is listed. */
typedef struct cc__roster_entry {
    struct cc__roster_entry *next;
    struct cc__roster_entry *previous;
} cc__roster_entry;

void cc__roster_add(cc__roster roster, cc__roster_entry *entry);

/*
 * The part that an entry is in, locked: nothing in it comes, goes, or changes what only changes under this lock. A
 * thread has at most one such lock, and takes no data manager's lock before it.
 */
int32_t cc__roster_lock(cc__roster roster, const cc__roster_entry *entry);
void cc__roster_lock_part(cc__roster roster, int32_t part);
void cc__roster_unlock(cc__roster roster, int32_t part);

/* With the part locked. */
void cc__roster_remove(cc__roster roster, int32_t part, cc__roster_entry *entry);
cc__roster_entry *cc__roster_first(cc__roster roster, int32_t part);

#endif
