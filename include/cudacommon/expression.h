/* Several operations on pixels in one pass over memory, as a short list of steps. */
#ifndef CUDACOMMON_EXPRESSION_H
#define CUDACOMMON_EXPRESSION_H

#include <cudacommon/device.h>
#include <cudacommon/export.h>
#include <cudacommon/image.h>
#include <cudacommon/status.h>
#include <stdint.h>

CC_BEGIN_DECLS

#define CC_MAX_STEPS 16
#define CC_MAX_INPUTS 8

/*
 * An expression works like a pocket calculator: there is one running value, and each step makes a new one of it and up
 * to two operands, a and b. The first step is LOAD. The last value goes into the output.
 */
typedef enum cc_step_kind {
    CC_STEP_LOAD = 0,     /* a */
    CC_STEP_ADD = 1,      /* value + a */
    CC_STEP_SUBTRACT = 2, /* value - a */
    CC_STEP_MULTIPLY = 3, /* value * a */
    CC_STEP_DIVIDE = 4,   /* value / a */
    CC_STEP_MINIMUM = 5,  /* the lesser of value and a */
    CC_STEP_MAXIMUM = 6,
    CC_STEP_MULTIPLY_ADD = 7, /* value * a, rounded, + b */
    CC_STEP_CLAMP = 8,        /* the maximum of value and a, and of that and b the minimum */
    CC_STEP_WITHIN = 9,       /* 1 when a <= value <= b, else 0 */
    CC_STEP_LESS = 10,        /* 1 when value < a, else 0 */
    CC_STEP_EQUAL = 11,       /* 1 when value == a, else 0 */
    CC_STEP_SELECT = 12,      /* a unless value is 0, then b */
    CC_STEP_NEGATE = 13,
    CC_STEP_ABSOLUTE = 14, /* of a complex value its magnitude */
    CC_STEP_SQUARE = 15,
    CC_STEP_SQUARE_ROOT = 16,
    CC_STEP_REAL = 17,
    CC_STEP_IMAGINARY = 18, /* of a real value 0 */
    CC_STEP_CONJUGATE = 19,
    CC_STEP_ARGUMENT = 20 /* the angle from -pi to pi; of a real value 0 or pi */
} cc_step_kind;

typedef enum cc_operand_kind {
    CC_OPERAND_NONE = 0,
    CC_OPERAND_IMAGE = 1,     /* inputs[number], component by component */
    CC_OPERAND_COMPONENT = 2, /* one component of each pixel of inputs[number] */
    CC_OPERAND_MAGNITUDE = 3, /* the square root of the sum of the squares of each pixel's components */
    CC_OPERAND_VALUE = 4,
    CC_OPERAND_STEP = 5 /* the value after step `number`, an earlier one */
} cc_operand_kind;

/* These two keep their size within 2.x. What is not used is 0. */
typedef struct cc_operand {
    double value;
    int32_t kind; /* a cc_operand_kind */
    int32_t number;
    int32_t component;
    int32_t reserved;
} cc_operand;

typedef struct cc_step {
    int32_t kind; /* a cc_step_kind */
    int32_t reserved;
    cc_operand a;
    cc_operand b;
} cc_step;

/*
 * To write a list of steps:
 *     const cc_step steps[] = {CC_STEP1(CC_STEP_LOAD, CC_TAKE_IMAGE(0)), CC_STEP0(CC_STEP_SQUARE),
 *                              CC_STEP2(CC_STEP_MULTIPLY_ADD, CC_TAKE_VALUE(0.5), CC_TAKE_IMAGE(1))};
 */
#define CC_TAKE_IMAGE(number)                                                                                          \
    {                                                                                                                  \
        0.0, CC_OPERAND_IMAGE, (number), 0, 0                                                                          \
    }
#define CC_TAKE_COMPONENT(number, component)                                                                           \
    {                                                                                                                  \
        0.0, CC_OPERAND_COMPONENT, (number), (component), 0                                                            \
    }
#define CC_TAKE_MAGNITUDE(number)                                                                                      \
    {                                                                                                                  \
        0.0, CC_OPERAND_MAGNITUDE, (number), 0, 0                                                                      \
    }
#define CC_TAKE_VALUE(value)                                                                                           \
    {                                                                                                                  \
        (value), CC_OPERAND_VALUE, 0, 0, 0                                                                             \
    }
#define CC_TAKE_STEP(number)                                                                                           \
    {                                                                                                                  \
        0.0, CC_OPERAND_STEP, (number), 0, 0                                                                           \
    }
#define CC_TAKE_NOTHING                                                                                                \
    {                                                                                                                  \
        0.0, CC_OPERAND_NONE, 0, 0, 0                                                                                  \
    }
#define CC_STEP0(kind)                                                                                                 \
    {                                                                                                                  \
        (kind), 0, CC_TAKE_NOTHING, CC_TAKE_NOTHING                                                                    \
    }
#define CC_STEP1(kind, a)                                                                                              \
    {                                                                                                                  \
        (kind), 0, a, CC_TAKE_NOTHING                                                                                  \
    }
#define CC_STEP2(kind, a, b)                                                                                           \
    {                                                                                                                  \
        (kind), 0, a, b                                                                                                \
    }

/**
 * Computes an expression for every component of every pixel of the output, reading each input once. Where it runs:
 * operations.h. An axis along which an input has one pixel counts for all of the output's, and so does the one
 * component of an input; else sizes and components are the output's. Pixel (0, 0, ...) is the first of each image,
 * whatever its index. Parts of images: views. The output may be one of the inputs, or share exactly its pixels.
 *
 * Arithmetic. Each step rounds once, half to even, and CPU and GPU give the same bits.
 * - One of the images is complex: complex numbers, two float64. A real operand has the imaginary part 0, and only
 *   scales in products and quotients. x / z is x * conj(z) / |z|^2, each operation rounded, z scaled by a power of two
 *   against overflow; x / 0 gives NaN. Steps that order, and SQUARE_ROOT, need real values.
 * - Else, all images are integers (or bool), one has 64 bits, all values are whole numbers, and there is no MAGNITUDE,
 *   SQUARE_ROOT or ARGUMENT: whole numbers. Each step is exact, quotients rounded half to even, then clamped to
 *   [-2^63, 2^64 - 1]. x / 0 gives the end of that range on x's side, 0 / 0 gives 0.
 * - Else float64. A single step on float32 images into one is thereby what float32 arithmetic gives. x / 0 is infinite,
 *   0 / 0 NaN, the square root of a negative number NaN. MINIMUM, MAXIMUM and CLAMP give NaN when an operand is NaN,
 *   and take -0 as less than 0; WITHIN, LESS and EQUAL give 0.
 * The result goes into the output's type as cc_image_rescale() does it. LOAD alone is a cast.
 *
 * Returns CC_OK; CC_ERROR_INVALID_ARGUMENT for NULL, a count or a number out of range, an operand that is missing or
 * too many, no LOAD at first; CC_ERROR_SIZE when an input fits neither way; CC_ERROR_PIXEL_TYPE for a step that needs
 * real values and gets complex ones; CC_ERROR_READ_ONLY; CC_ERROR_BUSY while the output is mapped, an input is being
 * written, or an input overlaps the output otherwise than exactly, or is the output and taken by COMPONENT or
 * MAGNITUDE; CC_ERROR_UNINITIALIZED; CC_ERROR_INVALID_DEVICE; CC_ERROR_CAPTURE; CC_ERROR_OUT_OF_HOST_MEMORY;
 * CC_ERROR_OUT_OF_DEVICE_MEMORY; CC_ERROR_FORKED; CC_ERROR_DEVICE.
 * Allocates what the output needs at that place; brings the stale parts of the inputs there.
 * Ownership: steps and inputs are read before the call returns.
 * Thread safety: any thread. On a device blocks only while pageable memory is copied: `stream` order. Since 2.0.
 * Source: IEEE 754-2019, 4.3.1 roundTiesToEven, 9.6 minimum and maximum; that float64 rounded to float32 is float32
 * arithmetic: Figueroa, "When is double rounding innocuous?", 1995.
 */
CC_API cc_status cc_image_evaluate(const cc_step *steps, int32_t step_count, cc_image *const *inputs,
                                   int32_t input_count, cc_image *output, cc_stream stream);

CC_END_DECLS

#endif
