#include "ops/fit.h"

#include "base/error.h"

#include <math.h>

cc_status cc__fit_size(const char *function, const char *name, const cc_image *image, const cc_image *input)
{
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; ++axis)
        if (image->box.size[axis] != input->box.size[axis])
            return cc__fail(CC_ERROR_SIZE, "%s: %s has size[%d] = %lld, expected the input's %lld", function, name,
                            axis, (long long)image->box.size[axis], (long long)input->box.size[axis]);
    return CC_OK;
}

cc_status cc__fit_components(const char *function, const char *name, const cc_image *image, const cc_image *input)
{
    if (image->components != input->components)
        return cc__fail(CC_ERROR_SIZE, "%s: %s has %d components, expected the input's %d", function, name,
                        image->components, input->components);
    return CC_OK;
}

cc_status cc__fit_output(const char *function, const cc_image *input, const cc_image *output)
{
    const cc_status status = cc__fit_components(function, "output", output, input);
    return status == CC_OK ? cc__fit_size(function, "output", output, input) : status;
}

cc_status cc__fit_rescale(const char *function, const cc_image *input, double scale, double shift,
                          const cc_image *output)
{
    if (input == NULL || output == NULL)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: %s = NULL, expected an image", function,
                        input == NULL ? "input" : "output");
    if (!isfinite(scale) || !isfinite(shift))
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: %s = %g, expected a finite value", function,
                        !isfinite(scale) ? "scale" : "shift", !isfinite(scale) ? scale : shift);
    return cc__fit_output(function, input, output);
}
