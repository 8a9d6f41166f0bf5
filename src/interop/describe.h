/* How pixels are described to other libraries: what mapping and lending have in common. */
#ifndef CC_INTEROP_DESCRIBE_H
#define CC_INTEROP_DESCRIBE_H

#include "image/image_handle.h"

#include <cudacommon/descriptor.h>

/* Everything but the pointer and the stream. */
cc_descriptor cc__describe(cc_image *image, const cc__box *box, cc_order order, uint32_t flags, cc_place place);
/* As much as the caller's struct has room for; its struct_size stays. */
void cc__describe_copy_out(cc_descriptor *out_descriptor, const cc_descriptor *descriptor);

/* Arguments. */
cc_status cc__describe_check_order(const char *function, cc_order order);
cc_status cc__describe_check_out(const char *function, const char *name, const cc_descriptor *descriptor);

#endif
