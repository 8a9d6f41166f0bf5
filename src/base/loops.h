/* The loops over components side by side that operations on the CPU are made of, in a version for this very CPU. */
#ifndef CC_BASE_LOOPS_H
#define CC_BASE_LOOPS_H

#include <cudacommon/expression.h>
#include <cudacommon/pixel.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Every version gives the same bits: none fuses, and vectors round as single numbers do. Real types only; `count`
 * components, which need not be aligned. Outputs are apart from inputs or the same memory.
 */
typedef struct cc__loops {
    const char *name;
    void (*load)(cc_pixel_type type, const unsigned char *source, int64_t count, double *out);
    void (*store)(cc_pixel_type type, const double *values, unsigned char *destination, int64_t count);
    /* A step of real numbers; a and b are read where it has these operands. */
    void (*step)(cc_step_kind kind, const double *value, const double *a, const double *b, double *out, int64_t count);
    void (*scale_and_shift)(double *values, double scale, double shift, int64_t count);
    /* For types that cc__loops_is_float32() knows. The first goes by way of float64, into the bits of float32. */
    void (*scale_into_float32)(cc_pixel_type type, const unsigned char *source, double scale, double shift,
                               unsigned char *out, int64_t count);
    void (*load_float32)(cc_pixel_type type, const unsigned char *source, int64_t count, float *out);
    void (*store_float32)(cc_pixel_type type, const unsigned char *values, unsigned char *destination, int64_t count);
    /* A step of CC__FOR_EACH_FLOAT32_STEP, into the bits of float32; `a` NULL: `constant`. */
    void (*step_float32)(cc_step_kind kind, const unsigned char *value, const unsigned char *a, float constant,
                         unsigned char *out, int64_t count);
    /* ADD, SUBTRACT, MINIMUM or MAXIMUM of integers of 8 or 16 bits, into the same type. */
    void (*step_integer)(cc_step_kind kind, cc_pixel_type type, const unsigned char *value, const unsigned char *a,
                         unsigned char *out, int64_t count);
    /* Float32 components, squared; `added` to each where it is not NULL. */
    void (*load_squares)(const unsigned char *source, const double *added, int64_t count, double *out);
    /* The values, or their square roots, as float32 no less than `lower` and no more than `upper`; its bits. */
    void (*finish_float32)(bool is_root, const double *values, float lower, float upper, unsigned char *out,
                           int64_t count);
    /* The same of the roots of float32 components, squared, with `added` to each. */
    void (*finish_squares)(const unsigned char *source, const double *added, float lower, float upper,
                           unsigned char *out, int64_t count);
    /* Elements of `bytes` (1, 2, 4, 8) in reverse: `last` is the source's element for the first of the destination. */
    void (*reverse)(unsigned char *destination, const unsigned char *last, int64_t bytes, int64_t count);
    /* out[i] = table[in[i]], of 256 entries. */
    void (*look_up)(const unsigned char table[256], const unsigned char *in, unsigned char *out, int64_t count);
} cc__loops;

const cc__loops *cc__loops_get(void);

/* All versions that this CPU can run, the last is the one to use. */
int32_t cc__loops_all(const cc__loops *out_loops[3]);

/* The type's values are all float32's, and pixel_math.h rounds float32 into it as it does float64. */
bool cc__loops_is_float32(cc_pixel_type type);

#endif
