/* Operations by name: each is a short list of steps. */
#include "base/error.h"
#include "ops/expression.h"

#include <cudacommon/arithmetic.h>

/* Numbers of the inputs. */
#define FIRST CC_TAKE_IMAGE(0)
#define SECOND CC_TAKE_IMAGE(1)

static cc_status evaluate_one(const char *function, const cc_step *steps, int32_t step_count, cc_image *input,
                              cc_image *output, cc_stream stream)
{
    if (input == NULL)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: input = NULL, expected an image", function);
    return cc__evaluate_images(function, steps, step_count, &input, 1, output, stream);
}

static cc_status evaluate_two(const char *function, const cc_step *steps, int32_t step_count, cc_image *first,
                              cc_image *second, cc_image *output, cc_stream stream)
{
    cc_image *const inputs[] = {first, second};
    if (first == NULL || second == NULL)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: %s = NULL, expected an image", function,
                        first == NULL ? "first" : "second");
    return cc__evaluate_images(function, steps, step_count, inputs, 2, output, stream);
}

static cc_status one_step(const char *function, cc_step_kind kind, cc_image *input, cc_image *output, cc_stream stream)
{
    const cc_step steps[] = {CC_STEP1(CC_STEP_LOAD, FIRST), CC_STEP0(kind)};
    return evaluate_one(function, steps, 2, input, output, stream);
}

static cc_status one_value(const char *function, cc_step_kind kind, cc_image *input, double value, cc_image *output,
                           cc_stream stream)
{
    const cc_step steps[] = {CC_STEP1(CC_STEP_LOAD, FIRST), CC_STEP1(kind, CC_TAKE_VALUE(value))};
    return evaluate_one(function, steps, 2, input, output, stream);
}

static cc_status two_images(const char *function, cc_step_kind kind, cc_image *first, cc_image *second,
                            cc_image *output, cc_stream stream)
{
    const cc_step steps[] = {CC_STEP1(CC_STEP_LOAD, FIRST), CC_STEP1(kind, SECOND)};
    return evaluate_two(function, steps, 2, first, second, output, stream);
}

cc_status cc_image_cast(cc_image *input, cc_image *output, cc_stream stream)
{
    const cc_step steps[] = {CC_STEP1(CC_STEP_LOAD, FIRST)};
    return evaluate_one("cc_image_cast", steps, 1, input, output, stream);
}

cc_status cc_image_add(cc_image *first, cc_image *second, cc_image *output, cc_stream stream)
{
    return two_images("cc_image_add", CC_STEP_ADD, first, second, output, stream);
}

cc_status cc_image_add_value(cc_image *input, double value, cc_image *output, cc_stream stream)
{
    return one_value("cc_image_add_value", CC_STEP_ADD, input, value, output, stream);
}

cc_status cc_image_subtract(cc_image *first, cc_image *second, cc_image *output, cc_stream stream)
{
    return two_images("cc_image_subtract", CC_STEP_SUBTRACT, first, second, output, stream);
}

cc_status cc_image_subtract_value(cc_image *input, double value, cc_image *output, cc_stream stream)
{
    return one_value("cc_image_subtract_value", CC_STEP_SUBTRACT, input, value, output, stream);
}

cc_status cc_image_multiply(cc_image *first, cc_image *second, cc_image *output, cc_stream stream)
{
    return two_images("cc_image_multiply", CC_STEP_MULTIPLY, first, second, output, stream);
}

cc_status cc_image_multiply_value(cc_image *input, double value, cc_image *output, cc_stream stream)
{
    return one_value("cc_image_multiply_value", CC_STEP_MULTIPLY, input, value, output, stream);
}

cc_status cc_image_divide(cc_image *first, cc_image *second, cc_image *output, cc_stream stream)
{
    return two_images("cc_image_divide", CC_STEP_DIVIDE, first, second, output, stream);
}

cc_status cc_image_divide_value(cc_image *input, double value, cc_image *output, cc_stream stream)
{
    return one_value("cc_image_divide_value", CC_STEP_DIVIDE, input, value, output, stream);
}

cc_status cc_image_minimum(cc_image *first, cc_image *second, cc_image *output, cc_stream stream)
{
    return two_images("cc_image_minimum", CC_STEP_MINIMUM, first, second, output, stream);
}

cc_status cc_image_minimum_value(cc_image *input, double value, cc_image *output, cc_stream stream)
{
    return one_value("cc_image_minimum_value", CC_STEP_MINIMUM, input, value, output, stream);
}

cc_status cc_image_maximum(cc_image *first, cc_image *second, cc_image *output, cc_stream stream)
{
    return two_images("cc_image_maximum", CC_STEP_MAXIMUM, first, second, output, stream);
}

cc_status cc_image_maximum_value(cc_image *input, double value, cc_image *output, cc_stream stream)
{
    return one_value("cc_image_maximum_value", CC_STEP_MAXIMUM, input, value, output, stream);
}

cc_status cc_image_axpy(double a, cc_image *x, cc_image *y, cc_stream stream)
{
    static const char *const function = "cc_image_axpy";
    const cc_step steps[] = {CC_STEP1(CC_STEP_LOAD, FIRST), CC_STEP2(CC_STEP_MULTIPLY_ADD, CC_TAKE_VALUE(a), SECOND)};
    cc_image *const inputs[] = {x, y};
    if (x == NULL || y == NULL)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: %s = NULL, expected an image", function, x == NULL ? "x" : "y");
    return cc__evaluate_images(function, steps, 2, inputs, 2, y, stream);
}

cc_status cc_image_negate(cc_image *input, cc_image *output, cc_stream stream)
{
    return one_step("cc_image_negate", CC_STEP_NEGATE, input, output, stream);
}

cc_status cc_image_square(cc_image *input, cc_image *output, cc_stream stream)
{
    return one_step("cc_image_square", CC_STEP_SQUARE, input, output, stream);
}

cc_status cc_image_square_root(cc_image *input, cc_image *output, cc_stream stream)
{
    return one_step("cc_image_square_root", CC_STEP_SQUARE_ROOT, input, output, stream);
}

cc_status cc_image_absolute(cc_image *input, cc_image *output, cc_stream stream)
{
    return one_step("cc_image_absolute", CC_STEP_ABSOLUTE, input, output, stream);
}

cc_status cc_image_real(cc_image *input, cc_image *output, cc_stream stream)
{
    return one_step("cc_image_real", CC_STEP_REAL, input, output, stream);
}

cc_status cc_image_imaginary(cc_image *input, cc_image *output, cc_stream stream)
{
    return one_step("cc_image_imaginary", CC_STEP_IMAGINARY, input, output, stream);
}

cc_status cc_image_argument(cc_image *input, cc_image *output, cc_stream stream)
{
    return one_step("cc_image_argument", CC_STEP_ARGUMENT, input, output, stream);
}

cc_status cc_image_conjugate(cc_image *input, cc_image *output, cc_stream stream)
{
    return one_step("cc_image_conjugate", CC_STEP_CONJUGATE, input, output, stream);
}

cc_status cc_image_clamp(cc_image *input, double lower, double upper, cc_image *output, cc_stream stream)
{
    const cc_step steps[] = {CC_STEP1(CC_STEP_LOAD, FIRST),
                             CC_STEP2(CC_STEP_CLAMP, CC_TAKE_VALUE(lower), CC_TAKE_VALUE(upper))};
    return evaluate_one("cc_image_clamp", steps, 2, input, output, stream);
}

cc_status cc_image_threshold(cc_image *input, double lower, double upper, double inside, double outside,
                             cc_image *output, cc_stream stream)
{
    const cc_step steps[] = {CC_STEP1(CC_STEP_LOAD, FIRST),
                             CC_STEP2(CC_STEP_WITHIN, CC_TAKE_VALUE(lower), CC_TAKE_VALUE(upper)),
                             CC_STEP2(CC_STEP_SELECT, CC_TAKE_VALUE(inside), CC_TAKE_VALUE(outside))};
    return evaluate_one("cc_image_threshold", steps, 3, input, output, stream);
}

static cc_status one_component(const char *function, const cc_step *step, cc_image *input, cc_image *output,
                               cc_stream stream)
{
    if (output != NULL && output->components != 1)
        return cc__fail(CC_ERROR_SIZE, "%s: output has %d components, expected 1", function, output->components);
    return evaluate_one(function, step, 1, input, output, stream);
}

cc_status cc_image_magnitude(cc_image *input, cc_image *output, cc_stream stream)
{
    const cc_step step = CC_STEP1(CC_STEP_LOAD, CC_TAKE_MAGNITUDE(0));
    return one_component("cc_image_magnitude", &step, input, output, stream);
}

cc_status cc_image_component(cc_image *input, int32_t component, cc_image *output, cc_stream stream)
{
    const cc_step step = CC_STEP1(CC_STEP_LOAD, CC_TAKE_COMPONENT(0, component));
    return one_component("cc_image_component", &step, input, output, stream);
}
