/* Steps in complex numbers. */
#include "base/ptx_step.h"

#include "kernels/step_math.h"

#include <cudacommon/expression.h>

static const cc__ptx_number none = {-1, -1};

static cc__ptx_number number_of(int32_t real, int32_t imaginary)
{
    return (cc__ptx_number){real, imaginary};
}

static int32_t add(cc__ptx *ptx, int32_t x, int32_t y)
{
    return cc__ptx_operate(ptx, "add.rn", x, y);
}

static int32_t subtract(cc__ptx *ptx, int32_t x, int32_t y)
{
    return cc__ptx_operate(ptx, "sub.rn", x, y);
}

static int32_t multiply(cc__ptx *ptx, int32_t x, int32_t y)
{
    return cc__ptx_operate(ptx, "mul.rn", x, y);
}

static int32_t divide(cc__ptx *ptx, int32_t x, int32_t y)
{
    return cc__ptx_operate(ptx, "div.rn", x, y);
}

static int32_t word(cc__ptx *ptx, const char *operation, int32_t x, int64_t number)
{
    const int32_t r = cc__ptx_register(ptx, CC__PTX_32);
    cc__ptx_put(ptx, "%s %%r%d, %%r%d, %lld;\n", operation, r, x, (long long)number);
    return r;
}

static int32_t words(cc__ptx *ptx, const char *operation, int32_t x, int32_t y)
{
    const int32_t r = cc__ptx_register(ptx, CC__PTX_32);
    cc__ptx_put(ptx, "%s %%r%d, %%r%d, %%r%d;\n", operation, r, x, y);
    return r;
}

/* The word, or the number where it is 0. */
static int32_t word_unless(cc__ptx *ptx, const char *test, int32_t x, int64_t than, int32_t value, int64_t number)
{
    const int32_t p = cc__ptx_register(ptx, CC__PTX_PREDICATE);
    const int32_t r = cc__ptx_register(ptx, CC__PTX_32);
    cc__ptx_put(ptx, "setp.%s.u32 %%p%d, %%r%d, %lld;\n", test, p, x, (long long)than);
    cc__ptx_put(ptx, "selp.b32 %%r%d, %lld, %%r%d, %%p%d;\n", r, (long long)number, value, p);
    return r;
}

/* A power of two of which only the upper half is not 0. */
static int32_t of_upper_half(cc__ptx *ptx, int32_t upper)
{
    const int32_t lower = cc__ptx_register(ptx, CC__PTX_32);
    const int32_t d = cc__ptx_register(ptx, CC__PTX_FLOAT64);
    cc__ptx_put(ptx, "mov.u32 %%r%d, 0;\n", lower);
    cc__ptx_put(ptx, "mov.b64 %%d%d, {%%r%d, %%r%d};\n", d, lower, upper);
    return d;
}

/* cc__complex_scale(), whose upper half comes out too. */
static int32_t scale_of(cc__ptx *ptx, cc__ptx_number z, int32_t *out_upper)
{
    int32_t half[2][2];
    const int32_t part[2] = {z.real, z.imaginary};
    for (int32_t i = 0; i < 2; i++) {
        const int32_t lower = cc__ptx_register(ptx, CC__PTX_32);
        const int32_t upper = cc__ptx_register(ptx, CC__PTX_32);
        cc__ptx_put(ptx, "mov.b64 {%%r%d, %%r%d}, %%d%d;\n", lower, upper, part[i]);
        half[i][0] = lower;
        half[i][1] = word(ptx, "and.b32", upper, 0x7fffffff);
    }
    const int32_t lower = words(ptx, "or.b32", half[0][0], half[1][0]);
    const int32_t upper = words(ptx, "or.b32", half[0][1], half[1][1]);
    const int32_t any = words(ptx, "or.b32", lower, upper);
    const int32_t exponent = word(ptx, "shr.u32", words(ptx, "max.u32", half[0][1], half[1][1]), 20);
    const int32_t negative = word(ptx, "sub.u32", exponent, 2046);
    const int32_t zero = cc__ptx_register(ptx, CC__PTX_32);
    cc__ptx_put(ptx, "mov.u32 %%r%d, 0;\n", zero);
    const int32_t inverse = words(ptx, "sub.u32", zero, negative);
    const int32_t clamped = word(ptx, "min.s32", word(ptx, "max.s32", inverse, 1), 2045);
    const int32_t shifted = word(ptx, "shl.b32", clamped, 20);
    const int32_t finite = word_unless(ptx, "eq", exponent, 0x7ff, shifted, 0x3ff00000);
    *out_upper = word_unless(ptx, "eq", any, 0, finite, 0x3ff00000);
    return of_upper_half(ptx, *out_upper);
}

static int32_t sum_of_squares(cc__ptx *ptx, cc__ptx_number z)
{
    const int32_t real = multiply(ptx, z.real, z.real);
    const int32_t imaginary = multiply(ptx, z.imaginary, z.imaginary);
    return add(ptx, real, imaginary);
}

static cc__ptx_number scaled(cc__ptx *ptx, cc__ptx_number z, int32_t factor)
{
    const int32_t real = multiply(ptx, z.real, factor);
    const int32_t imaginary = multiply(ptx, z.imaginary, factor);
    return number_of(real, imaginary);
}

/* cc__complex_magnitude() */
static int32_t magnitude(cc__ptx *ptx, cc__ptx_number z)
{
    int32_t upper = 0;
    const int32_t scale = scale_of(ptx, z, &upper);
    const cc__ptx_number small = scaled(ptx, z, scale);
    const int32_t top = cc__ptx_register(ptx, CC__PTX_32);
    cc__ptx_put(ptx, "mov.u32 %%r%d, %lld;\n", top, 2046LL << 20);
    const int32_t inverse = of_upper_half(ptx, words(ptx, "sub.u32", top, upper));
    const int32_t root = cc__ptx_operate_alone(ptx, "sqrt.rn", sum_of_squares(ptx, small));
    const int32_t finite = multiply(ptx, root, inverse);

    const int32_t x = cc__ptx_operate_alone(ptx, "abs", z.real);
    const int32_t y = cc__ptx_operate_alone(ptx, "abs", z.imaginary);
    const int32_t either = cc__ptx_select(ptx, cc__ptx_compare(ptx, "eq", x, x), x, y);
    const int32_t second = cc__ptx_select(ptx, cc__ptx_compare(ptx, "gt", y, x), y, either);
    const int32_t larger = cc__ptx_select(ptx, cc__ptx_compare(ptx, "gt", x, y), x, second);
    const int32_t first = cc__ptx_compare_number(ptx, "gt", x, 0x1.fffffffffffffp+1023);
    const int32_t without =
        cc__ptx_select(ptx, cc__ptx_compare_number(ptx, "gt", y, 0x1.fffffffffffffp+1023), larger, finite);
    return cc__ptx_select(ptx, first, larger, without);
}

static cc__ptx_number product(cc__ptx *ptx, cc__ptx_number x, cc__ptx_number y, int32_t reals)
{
    if ((reals & CC__A_IS_REAL) != 0)
        return scaled(ptx, x, y.real);
    if ((reals & CC__VALUE_IS_REAL) != 0)
        return scaled(ptx, y, x.real);
    const int32_t real_real = multiply(ptx, x.real, y.real);
    const int32_t both_imaginary = multiply(ptx, x.imaginary, y.imaginary);
    const int32_t real = subtract(ptx, real_real, both_imaginary);
    const int32_t one = multiply(ptx, x.real, y.imaginary);
    const int32_t other = multiply(ptx, x.imaginary, y.real);
    return number_of(real, add(ptx, one, other));
}

static cc__ptx_number quotient(cc__ptx *ptx, cc__ptx_number x, cc__ptx_number y, int32_t reals)
{
    int32_t upper = 0;
    if ((reals & CC__A_IS_REAL) != 0) {
        const int32_t real = divide(ptx, x.real, y.real);
        return number_of(real, (reals & CC__VALUE_IS_REAL) != 0 ? cc__ptx_constant(ptx, 0.0)
                                                                : divide(ptx, x.imaginary, y.real));
    }
    const int32_t scale = scale_of(ptx, y, &upper);
    const cc__ptx_number z = scaled(ptx, y, scale);
    const int32_t square = sum_of_squares(ptx, z);
    int32_t real = multiply(ptx, x.real, z.real);
    int32_t imaginary = multiply(ptx, x.real, z.imaginary);
    if ((reals & CC__VALUE_IS_REAL) != 0) {
        imaginary = cc__ptx_operate_alone(ptx, "neg", imaginary);
    } else {
        real = add(ptx, real, multiply(ptx, x.imaginary, z.imaginary));
        imaginary = subtract(ptx, multiply(ptx, x.imaginary, z.real), imaginary);
    }
    real = multiply(ptx, divide(ptx, real, square), scale);
    return number_of(real, multiply(ptx, divide(ptx, imaginary, square), scale));
}

int32_t cc__ptx_is_other_than_zero(cc__ptx *ptx, cc__ptx_number value)
{
    const int32_t imaginary =
        cc__ptx_select_numbers(ptx, cc__ptx_compare_number(ptx, "neu", value.imaginary, 0.0), 1.0, 0.0);
    const int32_t one = cc__ptx_constant(ptx, 1.0);
    return cc__ptx_select(ptx, cc__ptx_compare_number(ptx, "neu", value.real, 0.0), one, imaginary);
}

static cc__ptx_number equal(cc__ptx *ptx, cc__ptx_number x, cc__ptx_number y)
{
    const int32_t zero = cc__ptx_constant(ptx, 0.0);
    const int32_t imaginary =
        cc__ptx_select_numbers(ptx, cc__ptx_compare(ptx, "eq", x.imaginary, y.imaginary), 1.0, 0.0);
    return number_of(cc__ptx_select(ptx, cc__ptx_compare(ptx, "eq", x.real, y.real), imaginary, zero), zero);
}

static cc__ptx_number choose(cc__ptx *ptx, cc__ptx_number value, cc__ptx_number a, cc__ptx_number b)
{
    const int32_t p = cc__ptx_compare_number(ptx, "neu", cc__ptx_is_other_than_zero(ptx, value), 0.0);
    const int32_t real = cc__ptx_select(ptx, p, a.real, b.real);
    return number_of(real, cc__ptx_select(ptx, p, a.imaginary, b.imaginary));
}

/* The sign of the imaginary part is turned; that of a real number is 0. */
static cc__ptx_number turned(cc__ptx *ptx, int32_t real, int32_t imaginary, int32_t reals)
{
    return number_of(real, (reals & CC__VALUE_IS_REAL) != 0 ? cc__ptx_constant(ptx, 0.0)
                                                            : cc__ptx_operate_alone(ptx, "neg", imaginary));
}

cc__ptx_number cc__ptx_complex_step(cc__ptx *ptx, int32_t kind, cc__ptx_number value, cc__ptx_number a,
                                    cc__ptx_number b, int32_t reals)
{
    cc__ptx_number made = none;
    switch (kind) {
    case CC_STEP_LOAD:
        return a;
    case CC_STEP_ADD:
        made.real = add(ptx, value.real, a.real);
        made.imaginary = add(ptx, value.imaginary, a.imaginary);
        return made;
    case CC_STEP_SUBTRACT:
        made.real = subtract(ptx, value.real, a.real);
        made.imaginary = subtract(ptx, value.imaginary, a.imaginary);
        return made;
    case CC_STEP_MULTIPLY:
        return product(ptx, value, a, reals);
    case CC_STEP_DIVIDE:
        return quotient(ptx, value, a, reals);
    case CC_STEP_MULTIPLY_ADD:
        return cc__ptx_complex_step(ptx, CC_STEP_ADD, product(ptx, value, a, reals), b, b, reals);
    case CC_STEP_EQUAL:
        return equal(ptx, value, a);
    case CC_STEP_SELECT:
        return choose(ptx, value, a, b);
    case CC_STEP_NEGATE:
        return turned(ptx, cc__ptx_operate_alone(ptx, "neg", value.real), value.imaginary, reals);
    case CC_STEP_CONJUGATE:
        return turned(ptx, value.real, value.imaginary, reals);
    case CC_STEP_ABSOLUTE:
        made.real =
            (reals & CC__VALUE_IS_REAL) != 0 ? cc__ptx_operate_alone(ptx, "abs", value.real) : magnitude(ptx, value);
        made.imaginary = cc__ptx_constant(ptx, 0.0);
        return made;
    case CC_STEP_SQUARE:
        return product(ptx, value, value, (reals & CC__VALUE_IS_REAL) != 0 ? 3 : 0);
    case CC_STEP_REAL:
        return number_of(value.real, cc__ptx_constant(ptx, 0.0));
    case CC_STEP_IMAGINARY:
        return number_of(value.imaginary, cc__ptx_constant(ptx, 0.0));
    }
    return number_of(cc__ptx_real_step(ptx, kind, value.real, a.real, b.real), value.imaginary);
}
