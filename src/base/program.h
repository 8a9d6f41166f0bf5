/*
 * An expression over rows without gaps as a program: what a kernel made for it alone depends on, apart from what each
 * launch of that kernel gets. Plain data, so that programs can be compared and found again.
 */
#ifndef CC_BASE_PROGRAM_H
#define CC_BASE_PROGRAM_H

#include "base/evaluate.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CC__PROGRAM_SOURCES 8
#define CC__PROGRAM_VALUES (2 * CC_MAX_STEPS)
#define CC__PROGRAM_THREADS 256 /* of a block */
#define CC__PROGRAM_UNITS 2     /* of a thread at most */

typedef struct cc__program_term {
    uint8_t kind;   /* a cc__term_kind, but MAGNITUDE */
    uint8_t number; /* of the source, the value or the slot */
} cc__program_term;

typedef struct cc__program_step {
    uint8_t kind;  /* a cc_step_kind, or one of the plain ones of kernels/evaluate_dense_plan.h */
    uint8_t keeps; /* 1 and the slot in which the new value is kept; 0: in none */
    uint8_t reals; /* in complex numbers: as in cc__instruction */
    uint8_t reserved;
    cc__program_term a;
    cc__program_term b;
} cc__program_step;

/* Types are cc_pixel_type. Unused bytes are 0. */
typedef struct cc__program {
    uint8_t to_type;
    uint8_t from_type[CC__PROGRAM_SOURCES];
    uint8_t is_single[CC__PROGRAM_SOURCES]; /* one component counts for all */
    uint8_t source_count;
    uint8_t value_count;
    uint8_t step_count;
    uint8_t unit;  /* components that a thread takes side by side, in as few accesses as 16 bytes each allow */
    uint8_t units; /* of a thread at once, a block's threads apart */
    uint8_t is_complex;
    uint8_t reserved;
    cc__program_step steps[CC_MAX_STEPS];
} cc__program;

/* The kernel's only parameter. */
typedef struct cc__program_call {
    unsigned char *to; /* the first unit, also in `from`, but for singles */
    const unsigned char *from[CC__PROGRAM_SOURCES];
    int64_t units;
    int32_t head; /* components before the first unit and after the last, together fewer than a block's threads */
    int32_t tail;
    double value[CC__PROGRAM_VALUES];
} cc__program_call;

/* False when the work is none for a program. Values are not part of it, so that it serves for others. */
bool cc__program_make(const cc__evaluate *work, const cc__lattice *lattice, cc__program *out_program,
                      cc__program_call *out_call);

bool cc__program_is_same(const cc__program *a, const cc__program *b);
uint64_t cc__program_hash(const cc__program *program);

uint32_t cc__program_blocks(const cc__program *program, const cc__program_call *call);
/* That a launch reads and writes. */
int64_t cc__program_bytes(const cc__program *program, const cc__program_call *call);

#ifdef __cplusplus
}
#endif

#endif
