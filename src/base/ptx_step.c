#include "base/ptx_step.h"

#include "kernels/evaluate_dense_plan.h"

int32_t cc__ptx_operate(cc__ptx *ptx, const char *operation, int32_t x, int32_t y)
{
    const int32_t d = cc__ptx_register(ptx, CC__PTX_FLOAT64);
    cc__ptx_put(ptx, "%s.f64 %%d%d, %%d%d, %%d%d;\n", operation, d, x, y);
    return d;
}

int32_t cc__ptx_operate_alone(cc__ptx *ptx, const char *operation, int32_t x)
{
    const int32_t d = cc__ptx_register(ptx, CC__PTX_FLOAT64);
    cc__ptx_put(ptx, "%s.f64 %%d%d, %%d%d;\n", operation, d, x);
    return d;
}

/* cc__minimum() and cc__maximum(). */
static int32_t limit(cc__ptx *ptx, const char *test, const char *join, int32_t x, int32_t y)
{
    const int32_t bits_of_x = cc__ptx_register(ptx, CC__PTX_64);
    const int32_t bits_of_y = cc__ptx_register(ptx, CC__PTX_64);
    const int32_t bits = cc__ptx_register(ptx, CC__PTX_64);
    const int32_t both = cc__ptx_register(ptx, CC__PTX_FLOAT64);
    const int32_t chosen = cc__ptx_select(ptx, cc__ptx_compare(ptx, test, x, y), x, y);
    cc__ptx_put(ptx, "mov.b64 %%l%d, %%d%d;\n", bits_of_x, x);
    cc__ptx_put(ptx, "mov.b64 %%l%d, %%d%d;\n", bits_of_y, y);
    cc__ptx_put(ptx, "%s.b64 %%l%d, %%l%d, %%l%d;\n", join, bits, bits_of_x, bits_of_y);
    cc__ptx_put(ptx, "mov.b64 %%d%d, %%l%d;\n", both, bits);
    const int32_t ordered = cc__ptx_select(ptx, cc__ptx_compare(ptx, "eq", x, y), both, chosen);
    return cc__ptx_select(ptx, cc__ptx_compare(ptx, "eq", x, x), ordered, x);
}

static int32_t minimum(cc__ptx *ptx, int32_t x, int32_t y)
{
    return limit(ptx, "lt", "or", x, y);
}

static int32_t maximum(cc__ptx *ptx, int32_t x, int32_t y)
{
    return limit(ptx, "gt", "and", x, y);
}

/* cc__dense_plain_minimum() and cc__dense_plain_maximum(). */
static int32_t plain_limit(cc__ptx *ptx, const char *test, int32_t value, int32_t a)
{
    return cc__ptx_select(ptx, cc__ptx_compare(ptx, test, value, a), a, value);
}

static int32_t within(cc__ptx *ptx, int32_t value, int32_t a, int32_t b)
{
    const int32_t above = cc__ptx_compare(ptx, "le", a, value);
    const int32_t both = cc__ptx_register(ptx, CC__PTX_PREDICATE);
    cc__ptx_put(ptx, "setp.le.and.f64 %%p%d, %%d%d, %%d%d, %%p%d;\n", both, value, b, above);
    return cc__ptx_select_numbers(ptx, both, 1.0, 0.0);
}

int32_t cc__ptx_constant(cc__ptx *ptx, double value)
{
    const int32_t d = cc__ptx_register(ptx, CC__PTX_FLOAT64);
    cc__ptx_put(ptx, "mov.f64 %%d%d, %s;\n", d, cc__ptx_float64(value).text);
    return d;
}

int32_t cc__ptx_real_step(cc__ptx *ptx, int32_t kind, int32_t value, int32_t a, int32_t b)
{
    switch (kind) {
    case CC_STEP_LOAD:
        return a;
    case CC_STEP_ADD:
        return cc__ptx_operate(ptx, "add.rn", value, a);
    case CC_STEP_SUBTRACT:
        return cc__ptx_operate(ptx, "sub.rn", value, a);
    case CC_STEP_MULTIPLY:
        return cc__ptx_operate(ptx, "mul.rn", value, a);
    case CC_STEP_DIVIDE:
        return cc__ptx_operate(ptx, "div.rn", value, a);
    case CC_STEP_MINIMUM:
        return minimum(ptx, value, a);
    case CC_STEP_MAXIMUM:
        return maximum(ptx, value, a);
    case CC_STEP_MULTIPLY_ADD:
        return cc__ptx_operate(ptx, "add.rn", cc__ptx_operate(ptx, "mul.rn", value, a), b);
    case CC_STEP_CLAMP:
        return minimum(ptx, maximum(ptx, value, a), b);
    case CC_STEP_WITHIN:
        return within(ptx, value, a, b);
    case CC_STEP_LESS:
        return cc__ptx_select_numbers(ptx, cc__ptx_compare(ptx, "lt", value, a), 1.0, 0.0);
    case CC_STEP_EQUAL:
        return cc__ptx_select_numbers(ptx, cc__ptx_compare(ptx, "eq", value, a), 1.0, 0.0);
    case CC_STEP_SELECT:
        return cc__ptx_select(ptx, cc__ptx_compare_number(ptx, "neu", value, 0.0), a, b);
    case CC_STEP_NEGATE:
        return cc__ptx_operate_alone(ptx, "neg", value);
    case CC_STEP_ABSOLUTE:
        return cc__ptx_operate_alone(ptx, "abs", value);
    case CC_STEP_SQUARE:
        return cc__ptx_operate(ptx, "mul.rn", value, value);
    case CC_STEP_SQUARE_ROOT:
        return cc__ptx_operate_alone(ptx, "sqrt.rn", value);
    case CC_STEP_IMAGINARY:
        return cc__ptx_constant(ptx, 0.0);
    case CC__DENSE_PLAIN_MINIMUM:
        return plain_limit(ptx, "gt", value, a);
    case CC__DENSE_PLAIN_MAXIMUM:
        return plain_limit(ptx, "le", value, a);
    case CC__DENSE_PLAIN_CLAMP:
        return plain_limit(ptx, "gt", plain_limit(ptx, "le", value, a), b);
    }
    return value;
}
