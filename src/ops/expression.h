/* From a caller's steps to work that a place can do: what is wrong with them, and what they mean. */
#ifndef CC_OPS_EXPRESSION_H
#define CC_OPS_EXPRESSION_H

#include "base/evaluate.h"
#include "image/image_handle.h"

/* Which input a source of the work is, and where in its pixels it begins. */
typedef struct cc__expression {
    cc__evaluate work; /* all but where pixels are: data, and the strides of what is not 0 there */
    int32_t input[CC__MAX_SOURCES];
    int64_t offset_bytes[CC__MAX_SOURCES];
    bool is_by_component[CC__MAX_SOURCES]; /* taken as the output is, one component for one */
} cc__expression;

/* INVALID_ARGUMENT, SIZE, PIXEL_TYPE, READ_ONLY, each naming `function`; BUSY where inputs and output overlap wrongly.
 */
cc_status cc__expression_check(const char *function, const cc_step *steps, int32_t step_count, cc_image *const *inputs,
                               int32_t input_count, const cc_image *output, cc__expression *out_expression);

/* cc_image_evaluate() in the name of another function. */
cc_status cc__evaluate_images(const char *function, const cc_step *steps, int32_t step_count, cc_image *const *inputs,
                              int32_t input_count, cc_image *output, cc_stream stream);

#endif
