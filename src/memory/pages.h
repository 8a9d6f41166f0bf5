/* Making pages be there. */
#ifndef CC_MEMORY_PAGES_H
#define CC_MEMORY_PAGES_H

#include "memory/crew.h"

#include <stddef.h>

/*
 * Gives the pages of this memory RAM, by several threads, without changing a byte of them, whatever other threads write
 * there meanwhile. Begins and ends at page borders.
 */
void cc__pages_commit(unsigned char *memory, size_t size_bytes);

/*
 * The same beside the caller, from the first page to the last. The threads are there from begin to end: to make or end
 * one waits for those who look at the whole address space, as page-locking does.
 */
typedef struct cc__pages_ahead {
    unsigned char *memory;
    size_t size_bytes;
    size_t committed_bytes; /* by the caller, where there are no threads or one core */
    int32_t started;
    cc__crew_member members[CC__CREW_MOST];
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t changed;
    size_t next;
    int32_t entered;
    size_t at[CC__CREW_MOST]; /* where each thread is; all before that it has done */
} cc__pages_ahead;
void cc__pages_begin_ahead(cc__pages_ahead *ahead, unsigned char *memory, size_t size_bytes);
void cc__pages_wait_ahead(cc__pages_ahead *ahead, size_t end); /* until so many bytes have their RAM */
void cc__pages_end_ahead(cc__pages_ahead *ahead);              /* waits for all of it */

#endif
