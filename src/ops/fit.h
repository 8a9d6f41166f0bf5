/* Whether images fit together. Each names `function` in its message. */
#ifndef CC_OPS_FIT_H
#define CC_OPS_FIT_H

#include "image/image_handle.h"

/* `name`: the argument that has to be like the input. SIZE. */
cc_status cc__fit_size(const char *function, const char *name, const cc_image *image, const cc_image *input);
cc_status cc__fit_components(const char *function, const char *name, const cc_image *image, const cc_image *input);

/* Both, for the output. */
cc_status cc__fit_output(const char *function, const cc_image *input, const cc_image *output);

/* For output = input * scale + shift: also INVALID_ARGUMENT, for NULL and for what is not finite. */
cc_status cc__fit_rescale(const char *function, const cc_image *input, double scale, double shift,
                          const cc_image *output);

#endif
