/* What a loan is made of, and how one is found by the memory that is lent. For this room. */
#ifndef CC_INTEROP_LOAN_H
#define CC_INTEROP_LOAN_H

#include "data_manager/loans.h"
#include "trace/roster.h"

#include <cudacommon/loan.h>
#include <stdatomic.h>

struct cc_loan {
    cc__roster_entry live; /* first, so that it is the loan's address; not in the list when the region is empty */
    atomic_int references;
    cc__data_manager *manager; /* kept alive as long as the loan is */
    cc__lent *lent;            /* NULL when the region is empty */
    cc_place place;
    cc__box box;                      /* of the data manager's pixels */
    const unsigned char *pixels;      /* the box's first; NULL when it is empty */
    size_t size_bytes;                /* from there to the end of the box's last pixel */
    int64_t stride[CC_MAX_DIMENSION]; /* bytes, of i, j, k, l */
    int32_t dimension;
    cc_pixel_type pixel_type;
    int32_t components;
    int32_t device;       /* that the image had, or CC_DEVICE_CURRENT */
    cc_geometry geometry; /* of the box, when it was lent */
};

/*
 * cc_image_export() of a loan with so many bytes of its user's own behind it, all zero, which live as long as it does.
 * asks_pending false: for whoever has no use for cc_descriptor.pending, which is 0 then.
 */
cc_status cc__loan_create(cc_image *image, const cc_export_params *params, bool asks_pending, size_t own_bytes,
                          cc_descriptor *out_descriptor, cc_loan **out_loan);
static inline void *cc__loan_own(cc_loan *loan)
{
    return loan + 1;
}

/* The loan whose memory at the place holds all of these bytes, retained; NULL when there is none, or bytes is 0. */
cc_loan *cc__loan_find(cc_place place, const void *first, size_t bytes);

#endif
