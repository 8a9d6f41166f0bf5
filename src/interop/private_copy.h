/* Pixels of a region once more, for somebody who wants them alone. */
#ifndef CC_INTEROP_PRIVATE_COPY_H
#define CC_INTEROP_PRIVATE_COPY_H

#include <cudacommon/loan.h>

/*
 * An image of the region's size, index and geometry, with its pixels copied to the place: in the stream, or, on the
 * host, now. Of params: struct_size is whole; region, place, stream. Returned with ownership.
 */
cc_status cc__private_copy_create(const char *function, cc_image *image, const cc_export_params *params,
                                  cc_image **out_copy);

#endif
