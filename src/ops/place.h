/* Where an operation runs, and the mappings it holds meanwhile. */
#ifndef CC_OPS_PLACE_H
#define CC_OPS_PLACE_H

#include "image/image_handle.h"

/* The rule of operations.h. The output is the last of the images; written: of its data manager's pixels. */
cc_status cc__operation_place(const char *function, cc_image *const images[], int32_t image_count,
                              const cc__box *written, cc_place *out_place);

#endif
