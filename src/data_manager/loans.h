/*
 * Pixels that somebody uses when it likes, without mapping them. The state is under the data manager's lock; what it
 * means for everybody else is decided here, and docs/interop.md says it in words.
 */
#ifndef CC_DATA_MANAGER_LOANS_H
#define CC_DATA_MANAGER_LOANS_H

#include "data_manager/data_manager.h"

typedef struct cc__lent cc__lent;

typedef struct cc__loan_request {
    const char *function; /* for messages */
    cc__box box;          /* not empty */
    cc_place place;       /* a device exists */
    cc_access access;
    cc_stream stream; /* on a device */
    bool is_stream_known;
} cc__loan_request;

/*
 * The whole of cc_image_export() after checking arguments. The caller keeps the data manager alive until take_back.
 * out_pixels: the box's first. out_stride: of the place's memory. out_pending: see cc_descriptor;
 * NULL when nobody wants to know, which spares a question to the device.
 */
cc_status cc__data_manager_lend(cc__data_manager *manager, const cc__loan_request *request, cc__lent **out_lent,
                                unsigned char **out_pixels, int64_t out_stride[CC_MAX_DIMENSION], bool *out_pending);
/* Whether what is lent is as a new loan of it would be; see cc_loan_renew(), and for asks false
 * cc_loan_renew_without_asking(). out_pending stays as it is on the host. */
bool cc__data_manager_renew(cc__data_manager *manager, const cc__lent *lent, bool asks, bool *out_pending);
/* Cannot fail, and waits for no device. in_stream: the borrower's last work is in `stream`. */
void cc__data_manager_take_back(cc__data_manager *manager, cc__lent *lent, bool in_stream, cc_stream stream);

/* Questions. */
/* Whether pixels of the box are lent at the place. */
bool cc__data_manager_is_lent(cc__data_manager *manager, cc_place place, const cc__box *box);

#endif
