/* Arithmetic that says when it leaves its type instead of wrapping. Each returns false on overflow. */
#ifndef CC_BASE_CHECKED_H
#define CC_BASE_CHECKED_H

#include <stdbool.h>
#include <stdint.h>

static inline bool cc__checked_add(int64_t a, int64_t b, int64_t *out)
{
    return !__builtin_add_overflow(a, b, out);
}

static inline bool cc__checked_multiply(int64_t a, int64_t b, int64_t *out)
{
    return !__builtin_mul_overflow(a, b, out);
}

#endif
