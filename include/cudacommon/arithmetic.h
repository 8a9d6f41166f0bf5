/* Arithmetic on images, component by component, done where the pixels are. Several steps at once: expression.h. */
#ifndef CUDACOMMON_ARITHMETIC_H
#define CUDACOMMON_ARITHMETIC_H

#include <cudacommon/device.h>
#include <cudacommon/export.h>
#include <cudacommon/image.h>
#include <cudacommon/status.h>

CC_BEGIN_DECLS

/*
 * Each of these is cc_image_evaluate() with the step of its name. That says what holds for all: the types may differ,
 * what the arithmetic is and how results are rounded and clamped into the output's type; the output may be an input; an
 * input's axis with one pixel, and its one component, count for all of the output's; which errors are returned and why;
 * where it runs; that any thread may call it and what it waits for. NULL is CC_ERROR_INVALID_ARGUMENT.
 */

/** output = input, cast. Between equal types a copy. Since 2.0. */
CC_API cc_status cc_image_cast(cc_image *input, cc_image *output, cc_stream stream);

/** output = first + second. Since 2.0. */
CC_API cc_status cc_image_add(cc_image *first, cc_image *second, cc_image *output, cc_stream stream);

/** output = input + value. Since 2.0. */
CC_API cc_status cc_image_add_value(cc_image *input, double value, cc_image *output, cc_stream stream);

/** output = first - second. Since 2.0. */
CC_API cc_status cc_image_subtract(cc_image *first, cc_image *second, cc_image *output, cc_stream stream);

/** output = input - value. Since 2.0. */
CC_API cc_status cc_image_subtract_value(cc_image *input, double value, cc_image *output, cc_stream stream);

/** output = first * second. Since 2.0. */
CC_API cc_status cc_image_multiply(cc_image *first, cc_image *second, cc_image *output, cc_stream stream);

/** output = input * value. Since 2.0. */
CC_API cc_status cc_image_multiply_value(cc_image *input, double value, cc_image *output, cc_stream stream);

/** output = first / second. Since 2.0. */
CC_API cc_status cc_image_divide(cc_image *first, cc_image *second, cc_image *output, cc_stream stream);

/** output = input / value. Since 2.0. */
CC_API cc_status cc_image_divide_value(cc_image *input, double value, cc_image *output, cc_stream stream);

/** output = the lesser of first and second. Since 2.0. */
CC_API cc_status cc_image_minimum(cc_image *first, cc_image *second, cc_image *output, cc_stream stream);

/** output = the lesser of input and value. Since 2.0. */
CC_API cc_status cc_image_minimum_value(cc_image *input, double value, cc_image *output, cc_stream stream);

/** output = the greater of first and second. Since 2.0. */
CC_API cc_status cc_image_maximum(cc_image *first, cc_image *second, cc_image *output, cc_stream stream);

/** output = the greater of input and value. Since 2.0. */
CC_API cc_status cc_image_maximum_value(cc_image *input, double value, cc_image *output, cc_stream stream);

/** y = a * x + y, with two roundings; y as it was before. Since 2.0. */
CC_API cc_status cc_image_axpy(double a, cc_image *x, cc_image *y, cc_stream stream);

/** output = -input. Since 2.0. */
CC_API cc_status cc_image_negate(cc_image *input, cc_image *output, cc_stream stream);

/** output = input * input. Since 2.0. */
CC_API cc_status cc_image_square(cc_image *input, cc_image *output, cc_stream stream);

/** output = the square root of input, which must be real. Since 2.0. */
CC_API cc_status cc_image_square_root(cc_image *input, cc_image *output, cc_stream stream);

/** output = the absolute value of input, of complex ones the magnitude. Since 2.0. */
CC_API cc_status cc_image_absolute(cc_image *input, cc_image *output, cc_stream stream);

/** output = the real part of input. Since 2.0. */
CC_API cc_status cc_image_real(cc_image *input, cc_image *output, cc_stream stream);

/** output = the imaginary part of input; 0 for a real type. Since 2.0. */
CC_API cc_status cc_image_imaginary(cc_image *input, cc_image *output, cc_stream stream);

/** output = the angle of input as a complex number, -pi to pi. Since 2.0. */
CC_API cc_status cc_image_argument(cc_image *input, cc_image *output, cc_stream stream);

/** output = the complex conjugate of input. Since 2.0. */
CC_API cc_status cc_image_conjugate(cc_image *input, cc_image *output, cc_stream stream);

/** output = input, but no less than `lower` and no more than `upper`; NaN stays. Since 2.0. */
CC_API cc_status cc_image_clamp(cc_image *input, double lower, double upper, cc_image *output, cc_stream stream);

/** output = `inside` where lower <= input <= upper, else (also for NaN) `outside`. Since 2.0. */
CC_API cc_status cc_image_threshold(cc_image *input, double lower, double upper, double inside, double outside,
                                    cc_image *output, cc_stream stream);

/** The output has one component: the square root of the sum of the squares of the input's. Since 2.0. */
CC_API cc_status cc_image_magnitude(cc_image *input, cc_image *output, cc_stream stream);

/** The output has one component: the input's component of that number. Since 2.0. */
CC_API cc_status cc_image_component(cc_image *input, int32_t component, cc_image *output, cc_stream stream);

CC_END_DECLS

#endif
