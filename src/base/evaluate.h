/* An expression over pixels in memory, as plain data, and how the CPU computes it. */
#ifndef CC_BASE_EVALUATE_H
#define CC_BASE_EVALUATE_H

#include "base/work.h"

#include <cudacommon/expression.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An input of the expression; one that is used in several ways counts for each. */
#define CC__MAX_SOURCES 16

typedef struct cc__source {
    const unsigned char *data;
    int64_t stride[CC_MAX_DIMENSION]; /* 0 along an axis where one pixel counts for all */
    int64_t component_stride;         /* bytes to the next component of the result's; 0 where one counts for all */
    cc_pixel_type type;
    int32_t components; /* side by side, of which a magnitude is taken */
} cc__source;

typedef enum cc__term_kind {
    CC__TERM_NONE = 0,
    CC__TERM_SOURCE = 1,
    CC__TERM_MAGNITUDE = 2, /* of a source's components */
    CC__TERM_VALUE = 3,
    CC__TERM_SLOT = 4 /* an earlier value that was kept */
} cc__term_kind;

typedef struct cc__term {
    double value;
    int32_t kind;   /* a cc__term_kind */
    int32_t number; /* of the source or slot */
} cc__term;

typedef struct cc__instruction {
    cc__term a;
    cc__term b;
    int32_t kind;  /* a cc_step_kind */
    int32_t reals; /* in complex numbers: CC__VALUE_IS_REAL and CC__A_IS_REAL where they hold */
    int32_t slot;  /* where the new value is kept; -1: nowhere */
    int32_t reserved;
} cc__instruction;

/* What the running value is, and so the arithmetic; see cc_image_evaluate(). */
typedef enum cc__numbers {
    CC__NUMBERS_REAL = 0,
    CC__NUMBERS_COMPLEX = 1,
    CC__NUMBERS_WHOLE = 2
} cc__numbers;

typedef struct cc__evaluate {
    cc__span destination;
    cc_pixel_type destination_type;
    int32_t components; /* of the destination */
    int64_t size[CC_MAX_DIMENSION];
    cc__numbers numbers;
    int32_t source_count;
    int32_t step_count;
    cc__source sources[CC__MAX_SOURCES]; /* each apart from the destination, or the same pixels in the same way */
    cc__instruction steps[CC_MAX_STEPS];
} cc__evaluate;

/* The result's components as rows that all spans have in common. [0] is the destination's, [1 + n] source n's. */
#define CC__MAX_SPANS (1 + CC__MAX_SOURCES)
typedef struct cc__lattice {
    int64_t length; /* components of a row */
    int64_t step[CC__MAX_SPANS];
    int32_t axes;                   /* along which there is more than one row */
    int64_t size[CC_MAX_DIMENSION]; /* rows along each, nearest first; unused ones 1 */
    int64_t stride[CC__MAX_SPANS][CC_MAX_DIMENSION];
    int64_t rows;
    int64_t segments; /* a row is cut into so many, all but the last with CC__SEGMENT components */
    bool is_far;      /* on the host: so much that the caches do not hold it, see base/past_cache.h */
    bool is_in_place; /* the same, into a source */
} cc__lattice;

#define CC__SEGMENT 4096

void cc__evaluate_plan(const cc__evaluate *work, cc__lattice *out_lattice);
/* What the work reads and writes, about. */
size_t cc__evaluate_bytes(const cc__evaluate *work, const cc__lattice *lattice);
/* Segments `first` to `first + count` of lattice.rows * lattice.segments, which need not be done in order. */
void cc__evaluate_segments(const cc__evaluate *work, const cc__lattice *lattice, int64_t first, int64_t count);
void cc__evaluate_on_host(const cc__evaluate *work);

/* `count` components of each span from these places on; for the files of the evaluation. */
typedef struct cc__places {
    unsigned char *destination;
    const unsigned char *source[CC__MAX_SOURCES];
} cc__places;

/* Where a thread keeps values on the way, so many at a time that they stay in the nearest cache. */
#define CC__REGISTER_VALUES 256
/* Values that are spread over a register once for all components; more are spread again each time. */
#define CC__SPREAD_VALUES 4
typedef struct cc__registers {
    double value[CC__REGISTER_VALUES];
    double a[CC__REGISTER_VALUES];
    double b[CC__REGISTER_VALUES];
    double spread[CC__SPREAD_VALUES][CC__REGISTER_VALUES];
    double slot[CC_MAX_STEPS][CC__REGISTER_VALUES];
} cc__registers;
/* Spreads the values. */
void cc__evaluate_prepare(const cc__evaluate *work, cc__registers *out_registers);
void cc__evaluate_real(const cc__evaluate *work, const cc__lattice *lattice, const cc__places *places, int64_t count,
                       cc__registers *registers);
/* Whether it writes past the caches itself, while it computes: what ends with a root takes so long that writing must
 * not come after it. */
bool cc__evaluate_ends_past_cache(const cc__evaluate *work, const cc__lattice *lattice);
void cc__evaluate_complex(const cc__evaluate *work, const cc__lattice *lattice, const cc__places *places,
                          int64_t count);
/* The same results in real numbers, where the steps do to both parts of each number the same and leave them apart. */
void cc__evaluate_by_parts(cc__evaluate *work);
void cc__evaluate_whole(const cc__evaluate *work, const cc__lattice *lattice, const cc__places *places, int64_t count);

/* Casts and single steps in float32, where that gives the same bits and components lie side by side: false elsewhere.
 */
bool cc__evaluate_is_narrow(const cc__evaluate *work, const cc__lattice *lattice);
void cc__evaluate_narrow(const cc__evaluate *work, const cc__lattice *lattice, const cc__places *places, int64_t count);

/* LOAD alone, between equal types: the bits as they are. */
bool cc__evaluate_is_copy(const cc__evaluate *work);
void cc__evaluate_copy(const cc__evaluate *work, const cc__lattice *lattice, const cc__places *places, int64_t count);

/* Whether the only step, after LOAD, may be computed in float32: see Figueroa in cudacommon/expression.h. */
bool cc__evaluate_is_float32(const cc__evaluate *work);

#ifdef __cplusplus
}
#endif

#endif
