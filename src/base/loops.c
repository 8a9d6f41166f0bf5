#include "base/loops.h"

#include "kernels/step_math.h"

#include <assert.h>
#include <float.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* Wider intermediate results would round differently from the GPU's. */
static_assert(FLT_EVAL_METHOD == 0, "float and double are computed as they are stored");

#define CC__FOR_EACH_FLOAT32_TYPE(X)                                                                                   \
    X(BOOL, uint8_t)                                                                                                   \
    X(UINT8, uint8_t)                                                                                                  \
    X(INT8, int8_t)                                                                                                    \
    X(UINT16, uint16_t)                                                                                                \
    X(INT16, int16_t)                                                                                                  \
    X(FLOAT16, uint16_t)                                                                                               \
    X(BFLOAT16, uint16_t)                                                                                              \
    X(FLOAT32, uint32_t)

/*
 * cc__minimum() and cc__maximum(), of which compilers make branches, and of pixels as they come every second one is
 * foreseen wrongly. These are the CPU's own instruction twice: it gives its second operand for two zeros and for NaN,
 * so that both orders together have the sign of -0, or all bits of a NaN.
 */
#define LEAST_AND_GREATEST(TYPE, NAME)                                                                                 \
    static inline TYPE least_##NAME(TYPE x, TYPE y)                                                                    \
    {                                                                                                                  \
        const TYPE a = x < y ? x : y;                                                                                  \
        const TYPE b = y < x ? y : x;                                                                                  \
        return cc__##NAME##_of_bits(cc__bits_of_##NAME(a) | cc__bits_of_##NAME(b));                                    \
    }                                                                                                                  \
    static inline TYPE greatest_##NAME(TYPE x, TYPE y)                                                                 \
    {                                                                                                                  \
        return -least_##NAME(-x, -y);                                                                                  \
    }
LEAST_AND_GREATEST(double, float64)
LEAST_AND_GREATEST(float, float32)

#define REAL_MINIMUM(value, a, b) least_float64(value, a)
#define REAL_MAXIMUM(value, a, b) greatest_float64(value, a)
#define REAL_CLAMP(value, a, b) least_float64(greatest_float64(value, a), b)
#define REAL_ADD(value, a, b) cc__real_ADD(value, a, b)
#define REAL_SUBTRACT(value, a, b) cc__real_SUBTRACT(value, a, b)
#define REAL_MULTIPLY(value, a, b) cc__real_MULTIPLY(value, a, b)
#define REAL_DIVIDE(value, a, b) cc__real_DIVIDE(value, a, b)
#define REAL_MULTIPLY_ADD(value, a, b) cc__real_MULTIPLY_ADD(value, a, b)
#define REAL_WITHIN(value, a, b) cc__real_WITHIN(value, a, b)
#define REAL_LESS(value, a, b) cc__real_LESS(value, a, b)
#define REAL_EQUAL(value, a, b) cc__real_EQUAL(value, a, b)
#define REAL_SELECT(value, a, b) cc__real_SELECT(value, a, b)
#define REAL_NEGATE(value, a, b) cc__real_NEGATE(value, a, b)
#define REAL_ABSOLUTE(value, a, b) cc__real_ABSOLUTE(value, a, b)
#define REAL_SQUARE(value, a, b) cc__real_SQUARE(value, a, b)
#define REAL_SQUARE_ROOT(value, a, b) cc__real_SQUARE_ROOT(value, a, b)
#define REAL_IMAGINARY(value, a, b) cc__real_IMAGINARY(value, a, b)
#define REAL_ARGUMENT(value, a, b) cc__real_ARGUMENT(value, a, b)
#define FLOAT32_MINIMUM(value, a) least_float32(value, a)
#define FLOAT32_MAXIMUM(value, a) greatest_float32(value, a)
#define FLOAT32_ADD(value, a) cc__float32_ADD(value, a)
#define FLOAT32_SUBTRACT(value, a) cc__float32_SUBTRACT(value, a)
#define FLOAT32_MULTIPLY(value, a) cc__float32_MULTIPLY(value, a)
#define FLOAT32_DIVIDE(value, a) cc__float32_DIVIDE(value, a)
#define FLOAT32_NEGATE(value, a) cc__float32_NEGATE(value, a)
#define FLOAT32_ABSOLUTE(value, a) cc__float32_ABSOLUTE(value, a)
#define FLOAT32_SQUARE(value, a) cc__float32_SQUARE(value, a)
#define FLOAT32_SQUARE_ROOT(value, a) cc__float32_SQUARE_ROOT(value, a)

/*
 * Sums and differences of integers that end at the type's limits, which is what rounding the float64 ones into the type
 * gives. The second number is shortened first so that the result fits: nothing is wider than the type, and vectors hold
 * as many numbers as they can.
 */
#define LESSER_AND_GREATER(TYPE, HOLDER)                                                                               \
    static inline HOLDER lesser_##TYPE(HOLDER x, HOLDER y)                                                             \
    {                                                                                                                  \
        return x < y ? x : y;                                                                                          \
    }                                                                                                                  \
    static inline HOLDER greater_##TYPE(HOLDER x, HOLDER y)                                                            \
    {                                                                                                                  \
        return x > y ? x : y;                                                                                          \
    }
#define UNSIGNED_INTEGER(TYPE, HOLDER, GREATEST)                                                                       \
    LESSER_AND_GREATER(TYPE, HOLDER)                                                                                   \
    static inline HOLDER sum_##TYPE(HOLDER x, HOLDER y)                                                                \
    {                                                                                                                  \
        return (HOLDER)(x + lesser_##TYPE(y, (HOLDER)((GREATEST)-x)));                                                 \
    }                                                                                                                  \
    static inline HOLDER difference_##TYPE(HOLDER x, HOLDER y)                                                         \
    {                                                                                                                  \
        return (HOLDER)(x - lesser_##TYPE(y, x));                                                                      \
    }
#define SIGNED_INTEGER(TYPE, HOLDER, LEAST, GREATEST)                                                                  \
    LESSER_AND_GREATER(TYPE, HOLDER)                                                                                   \
    static inline HOLDER sum_##TYPE(HOLDER x, HOLDER y)                                                                \
    {                                                                                                                  \
        const HOLDER most = (HOLDER)((GREATEST)-greater_##TYPE(x, 0));                                                 \
        const HOLDER least = (HOLDER)((LEAST)-lesser_##TYPE(x, 0));                                                    \
        return (HOLDER)(x + greater_##TYPE(lesser_##TYPE(y, most), least));                                            \
    }                                                                                                                  \
    static inline HOLDER difference_##TYPE(HOLDER x, HOLDER y)                                                         \
    {                                                                                                                  \
        const HOLDER most = (HOLDER)(lesser_##TYPE(x, -1) - (LEAST));                                                  \
        const HOLDER least = (HOLDER)(greater_##TYPE(x, -1) - (GREATEST));                                             \
        return (HOLDER)(x - greater_##TYPE(lesser_##TYPE(y, most), least));                                            \
    }
UNSIGNED_INTEGER(UINT8, uint8_t, UINT8_MAX)
UNSIGNED_INTEGER(UINT16, uint16_t, UINT16_MAX)
SIGNED_INTEGER(INT8, int8_t, INT8_MIN, INT8_MAX)
SIGNED_INTEGER(INT16, int16_t, INT16_MIN, INT16_MAX)

static void look_up_plain(const unsigned char table[256], const unsigned char *in, unsigned char *out, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        out[i] = table[in[i]];
}

/* Outputs are apart from inputs or the same memory, for which clang would else do one number after the other. */
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed" /* it may do so without vectors */
#define CC__IN_PLACE _Pragma("clang loop vectorize(assume_safety)")
#else
#define CC__IN_PLACE
#endif

static inline double square_at(const unsigned char *source, int64_t i)
{
    uint32_t held;
    memcpy(&held, source + i * (int64_t)sizeof held, sizeof held);
    const double value = cc__load_FLOAT32(held);
    return value * value;
}

/* How many of the first roots are computed elsewhere; of the values alone where `source` is NULL. */
static int64_t roots_plain(const unsigned char *source, const double *values, float lower, float upper,
                           unsigned char *out, int64_t count)
{
    (void)source, (void)values, (void)lower, (void)upper, (void)out, (void)count;
    return 0;
}

#define CC__TARGET
#define CC__VERSION(name) name##_plain
#define CC__VERSION_NAME "plain"
#include "base/loops_body.h"
#undef CC__TARGET
#undef CC__VERSION
#undef CC__VERSION_NAME

#if defined(__x86_64__)

/* Sixteen tables of sixteen; an index that has another upper half gets its 0 by the highest bit. */
__attribute__((target("avx2"))) static void look_up_avx2(const unsigned char table[256], const unsigned char *in,
                                                         unsigned char *out, int64_t count)
{
    int64_t done = 0;
    for (; done + 32 <= count; done += 32) {
        __m256i index;
        memcpy(&index, in + done, sizeof index);
        __m256i found = _mm256_setzero_si256();
        for (int32_t part = 0; part < 16; part++) {
            __m128i sixteen;
            memcpy(&sixteen, table + (size_t)16 * (size_t)part, sizeof sixteen);
            const __m256i both = _mm256_broadcastsi128_si256(sixteen);
            /* 0 to 15 stay below 16; with 112 added all others have the highest bit set. */
            const __m256i place = _mm256_adds_epu8(index, _mm256_set1_epi8(112));
            found = _mm256_or_si256(found, _mm256_shuffle_epi8(both, place));
            index = _mm256_sub_epi8(index, _mm256_set1_epi8(16));
        }
        memcpy(out + done, &found, sizeof found);
    }
    look_up_plain(table, in + done, out + done, count - done);
}

/* CPUs with no more than this have a faster instruction than what several steps would take. */
#define roots_avx2 roots_plain

#define CC__TARGET __attribute__((target("avx2")))
#define CC__VERSION(name) name##_avx2
#define CC__VERSION_NAME "avx2"
#include "base/loops_body.h"
#undef CC__TARGET
#undef CC__VERSION
#undef CC__VERSION_NAME

#define AVX512 "avx512f,avx512bw,avx512dq,avx512vl"

__attribute__((target(AVX512 ",avx512vbmi"))) static void look_up_vbmi(const unsigned char table[256],
                                                                       const unsigned char *in, unsigned char *out,
                                                                       int64_t count)
{
    __m512i part[4];
    memcpy(part, table, sizeof part);
    int64_t done = 0;
    for (; done + 64 <= count; done += 64) {
        const __m512i index = _mm512_loadu_si512(in + done);
        const __m512i low = _mm512_permutex2var_epi8(part[0], index, part[1]);
        const __m512i high = _mm512_permutex2var_epi8(part[2], index, part[3]);
        _mm512_storeu_si512(out + done, _mm512_mask_mov_epi8(low, _mm512_movepi8_mask(index), high));
    }
    look_up_plain(table, in + done, out + done, count - done);
}

static void look_up_avx512(const unsigned char table[256], const unsigned char *in, unsigned char *out, int64_t count)
{
    if (__builtin_cpu_supports("avx512vbmi"))
        look_up_vbmi(table, in, out, count);
    else
        look_up_avx2(table, in, out, count);
}

/*
 * Square roots in float32, as finish_float32() has them, without the CPU's instruction for float64, which takes more
 * time than all else. A root is wanted to 24 bits. From the estimate y = (1 + e) / sqrt(v), |e| < 2^-14, and g = v y
 * follows r = 1 - g y, so that sqrt(v) = g / sqrt(1 - r) = g (1 + r / 2 + 3 r^2 / 8 + 5 r^3 / 16 + ...). |r| < 2^-12.9,
 * and what is left out is less than 2^-40 of the root; rounding on the way adds less than 2^-51. A float64 so close to
 * the root, and the root's own float64, are the same float32, unless a number halfway between two of float32 is as
 * close: one whose last 29 bits are 2^28. Where these bits come within 2^14 of that (2^-39 of the least root and more),
 * the CPU's instruction decides. It also does all that is not in between powers of two where nothing overflows and
 * float32 is not subnormal, but 0, which is its own root.
 */
__attribute__((target(AVX512))) static inline __m512d root_avx512(__m512d v, __mmask8 *are_sure)
{
    const __m512i bits = _mm512_castpd_si512(v);
    const __mmask8 is_not_zero = _mm512_test_epi64_mask(bits, bits);
    const __m512i above = _mm512_maskz_sub_epi64(is_not_zero, bits, _mm512_set1_epi64((1023 - INT64_C(250)) << 52));
    const __m512d y = _mm512_maskz_rsqrt14_pd(is_not_zero, v);
    const __m512d g = _mm512_mul_pd(v, y);
    const __m512d r = _mm512_fnmadd_pd(g, y, _mm512_set1_pd(1.0));
    const __m512d series = _mm512_fmadd_pd(r, _mm512_set1_pd(0.375), _mm512_set1_pd(0.5));
    const __m512d root = _mm512_fmadd_pd(_mm512_mul_pd(g, r), series, g);
    const __m512i off = _mm512_add_epi64(_mm512_castpd_si512(root), _mm512_set1_epi64((1 << 28) + (1 << 14)));
    *are_sure = _mm512_mask_cmplt_epu64_mask(*are_sure, above, _mm512_set1_epi64(INT64_C(500) << 52));
    *are_sure = _mm512_mask_test_epi64_mask(*are_sure, off, _mm512_set1_epi64(0x1fffffff & ~0x7fff));
    return root;
}

/* Apart, since compilers that know how few there are make no vectors. */
__attribute__((target("avx2"), noinline)) static void unsure_roots(const unsigned char *source, const double *values,
                                                                   float lower, float upper, unsigned char *out,
                                                                   int64_t count)
{
    if (source != NULL)
        finish_squares_avx2(source, values, lower, upper, out, count);
    else
        finish_float32_avx2(true, values, lower, upper, out, count);
}

/* Squares of float32 are exact in float64, so that fusing them with the sum rounds as often as two steps do. */
__attribute__((target(AVX512))) static inline __m512d value_avx512(const unsigned char *source, const double *values)
{
    const __m512d value = _mm512_loadu_pd(values);
    if (source == NULL)
        return value;
    const __m512d x = _mm512_cvtps_pd(_mm256_loadu_ps((const float *)(const void *)source));
    return _mm512_fmadd_pd(x, x, value);
}

__attribute__((target(AVX512))) static int64_t roots_avx512(const unsigned char *source, const double *values,
                                                            float lower, float upper, unsigned char *out, int64_t count)
{
    const __m512 least = _mm512_set1_ps(lower);
    const __m512 greatest = _mm512_set1_ps(upper);
    int64_t done = 0;
    if (lower != lower || upper != upper)
        return 0;
    for (; done + 16 <= count; done += 16) {
        __mmask8 are_sure = 0xff;
        const unsigned char *from = source != NULL ? source + 4 * done : NULL;
        const __m512d low = root_avx512(value_avx512(from, values + done), &are_sure);
        const __m512d high = root_avx512(value_avx512(from != NULL ? from + 32 : NULL, values + done + 8), &are_sure);
        if (are_sure != 0xff) {
            unsure_roots(from, values + done, lower, upper, out + 4 * done, 16);
            continue;
        }
        const __m512 both = _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(low)), _mm512_cvtpd_ps(high), 1);
        /* Of two zeros these give the second, and only the limits may be -0. */
        _mm512_storeu_ps(out + 4 * done, _mm512_min_ps(_mm512_max_ps(least, both), greatest));
    }
    return done;
}

#ifdef __clang__
#define CC__TARGET __attribute__((target(AVX512)))
#else
#define CC__TARGET __attribute__((target(AVX512 ",prefer-vector-width=512")))
#endif
#define CC__VERSION(name) name##_avx512
#define CC__VERSION_NAME "avx512"
#include "base/loops_body.h"
#undef CC__TARGET
#undef CC__VERSION
#undef CC__VERSION_NAME

int32_t cc__loops_all(const cc__loops *out_loops[3])
{
    int32_t count = 0;
    out_loops[count++] = &loops_plain;
    if (__builtin_cpu_supports("avx2"))
        out_loops[count++] = &loops_avx2;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        out_loops[count++] = &loops_avx512;
    return count;
}

#else

int32_t cc__loops_all(const cc__loops *out_loops[3])
{
    out_loops[0] = &loops_plain;
    return 1;
}

#endif

const cc__loops *cc__loops_get(void)
{
    const cc__loops *all[3];
    return all[cc__loops_all(all) - 1];
}

#define IS_FLOAT32(NAME, HOLDER) case CC_PIXEL_##NAME:

bool cc__loops_is_float32(cc_pixel_type type)
{
    switch ((int32_t)type) {
        CC__FOR_EACH_FLOAT32_TYPE(IS_FLOAT32)
        return true;
    }
    return false;
}
