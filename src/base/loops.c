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

static void look_up_plain(const unsigned char table[256], const unsigned char *in, unsigned char *out, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        out[i] = table[in[i]];
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
