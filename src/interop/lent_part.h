/* Lent memory that comes back: which of the lent pixels it is. Arithmetic on a loan. */
#ifndef CC_INTEROP_LENT_PART_H
#define CC_INTEROP_LENT_PART_H

#include "interop/array.h"
#include "interop/loan.h"

/*
 * Whether the image's pixels, the first of them at `data`, are a box of the lent ones: the same type, components,
 * dimension and strides. If so that box, of the data manager's pixels, and where in space it is.
 */
bool cc__lent_part_find(const cc_loan *loan, const cc__array_image *image, const unsigned char *data, cc__box *out_box,
                        cc_geometry *out_geometry);

#endif
