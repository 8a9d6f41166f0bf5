/*
 * Which programs a device has kernels for. Making one takes longer than many launches of the kernels that do any
 * expression, so a program gets its own when it has moved enough. Looking up takes no lock.
 */
#ifndef CC_BACKEND_PROGRAM_TABLE_H
#define CC_BACKEND_PROGRAM_TABLE_H

#include "base/program.h"

#include <stdatomic.h>
#include <stdint.h>

/* More programs than these have no kernel; one is the same for all values that its steps have. */
#define CC__PROGRAM_SLOTS 256

typedef struct cc__program_slot {
    atomic_int state;
    _Atomic int64_t bytes;
    uint64_t hash; /* this and what follows is written once */
    cc__program program;
    void *kernel;
} cc__program_slot;

/* All zero where there are no programs. */
typedef struct cc__program_table {
    cc__program_slot slots[CC__PROGRAM_SLOTS];
} cc__program_table;

typedef enum cc__program_outcome {
    CC__PROGRAM_MADE = 0,
    CC__PROGRAM_LATER = 1,  /* not now: counting begins again */
    CC__PROGRAM_REFUSED = 2 /* never */
} cc__program_outcome;

typedef cc__program_outcome (*cc__program_maker)(void *context, const cc__program *program, void **out_kernel);

/*
 * The program's kernel, which this call makes if the program has moved `worth_bytes` with these `bytes`; NULL when
 * there is none, or another thread is about to have one. Whoever is not lucky does without: nobody waits.
 */
void *cc__program_table_find(cc__program_table *table, const cc__program *program, int64_t bytes, int64_t worth_bytes,
                             cc__program_maker maker, void *context);

/* The text of CUDACOMMON_COMPILE, which may be NULL, as worth_bytes: "never" INT64_MAX, "always" 0. */
int64_t cc__program_worth_bytes(const char *text);

#endif
