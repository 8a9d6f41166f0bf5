/* Reductions of pixels in memory, as plain data, and how the CPU does them. */
#ifndef CC_BASE_REDUCE_H
#define CC_BASE_REDUCE_H

#include "base/work.h"
#include "kernels/reduce_math.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Components of a real type; parts of complex ones count as components of their own. */
typedef struct cc__reduced {
    const unsigned char *data;
    int64_t stride[CC_MAX_DIMENSION];
    int64_t component_stride;
    cc_pixel_type type;
    int32_t reserved;
} cc__reduced;

typedef struct cc__reduce {
    cc__reduced sources[2]; /* the second for dot products */
    int32_t source_count;
    int32_t components;
    int64_t size[CC_MAX_DIMENSION]; /* > 0 */
    cc__reduce_kind kind;
    cc__reduce_end end;
    int32_t result_count; /* > 0 */
    int32_t reserved;
    int64_t between_bytes[2]; /* from the sources of a result to those of the next */
    double *results;          /* side by side */
    cc__partial *scratch;     /* room for cc__reduce_scratch() of each result, at the same place */
} cc__reduce;

typedef struct cc__histogram {
    cc__reduced source;
    int32_t components;
    int32_t slots; /* how many threads of the CPU may count at once */
    int64_t size[CC_MAX_DIMENSION];
    double lower;
    double upper;
    int64_t bins;
    uint64_t *counts;  /* side by side */
    uint64_t *scratch; /* as many for each slot, at the same place; NULL: the only slot counts in `counts` */
} cc__histogram;

/* The components in their order, as rows. Counted like sources. */
typedef struct cc__sequence {
    int64_t count;  /* of all components */
    int64_t length; /* of a row */
    int32_t axes;
    int32_t reserved;
    int64_t step[2];
    int64_t size[CC_MAX_DIMENSION];
    int64_t stride[2][CC_MAX_DIMENSION];
} cc__sequence;

void cc__sequence_plan(const cc__reduced *sources, int32_t source_count, int32_t components,
                       const int64_t size[CC_MAX_DIMENSION], cc__sequence *out_sequence);

/* Of these the sums of a piece, and of its squares or products, are exact in float64 as well as in integers. */
static inline bool cc__is_small_integer(cc_pixel_type type)
{
    return type == CC_PIXEL_BOOL || type == CC_PIXEL_UINT8 || type == CC_PIXEL_INT8 || type == CC_PIXEL_UINT16 ||
           type == CC_PIXEL_INT16;
}

/*
 * Pieces of so many components; room for all their partial results: for those of all levels one after the other, or for
 * those of the first, for each piece of these CC__REDUCE_PARTS, and for a number.
 */
#define CC__REDUCE_PARTS 4
int64_t cc__reduce_pieces(int64_t count);
int64_t cc__reduce_scratch(int64_t count);
/* What one result is made of: as a work of its own. */
int64_t cc__reduce_count(const cc__reduce *work);
cc__reduce cc__reduce_part(const cc__reduce *work, int32_t number);

/* Where the component numbered `first` of source n is; so many, at most `most`, follow each other from there on. */
const unsigned char *cc__sequence_run(const cc__sequence *sequence, const cc__reduced *source, int32_t n, int64_t first,
                                      int64_t most, int64_t *out_length);

/* One piece of the components, of the first result. */
cc__partial cc__reduce_piece(const cc__reduce *work, const cc__sequence *sequence, int64_t piece);
/* The same of one source of small integers. */
cc__partial cc__reduce_small_piece(const cc__reduce *work, const cc__sequence *sequence, int64_t piece);
/* All levels above the first, whose results are in the scratch, and the end; of the first result. */
void cc__reduce_finish(const cc__reduce *work, const cc__sequence *sequence);
void cc__reduce_on_host(const cc__reduce *work);

/* Adds the components `first` to `first + count` to `counts`. */
void cc__histogram_add(const cc__histogram *work, const cc__sequence *sequence, int64_t first, int64_t count,
                       uint64_t *counts);
void cc__histogram_on_host(const cc__histogram *work);

#ifdef __cplusplus
}
#endif

#endif
