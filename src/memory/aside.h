/*
 * Device memory that streams may still be using though nothing can wait for them, because every way of waiting has
 * failed: put aside, and freed when waiting works again. A device that is lost for good keeps it.
 */
#ifndef CC_MEMORY_ASIDE_H
#define CC_MEMORY_ASIDE_H

#include "memory/place_memory.h"

#define CC__ASIDE_STREAMS 3

typedef struct cc__aside {
    struct cc__aside *next;
    cc__backend *backend;
    int32_t device;
    cc__place_memory memory;
    cc_stream streams[CC__ASIDE_STREAMS];
    cc_stream own; /* one of them, to be destroyed too; or NULL */
} cc__aside;

cc__aside *cc__aside_create(void); /* in time, so that putting aside cannot fail; NULL when there is no memory */
void cc__aside_put(cc__aside *aside);
/* Frees what can be waited for. Blocks. */
void cc__aside_try_again(void);

#endif
