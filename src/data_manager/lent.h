/* What is lent of a data manager's pixels, and what that means for whoever uses them otherwise; for this room. */
#ifndef CC_DATA_MANAGER_LENT_H
#define CC_DATA_MANAGER_LENT_H

#include "data_manager/internal.h"
#include "data_manager/loans.h"

/*
 * A borrower that may write counts as having just written whenever somebody looks elsewhere. That does not end with the
 * loan: as long as somebody elsewhere has a copy in his hands, or the last of the borrower's work is not known to be
 * done, what other places get is not kept. Then the loan has ended and is still in the list.
 */
struct cc__lent {
    struct cc__lent *next;
    cc_place place;
    cc__box box;
    bool writes;
    bool has_ended;
    cc_stream stream; /* on a device: the borrower's, or the legacy default for one that is not known */
    uint64_t stream_id;
    bool is_stream_known;
    cc__fence *fence; /* on a device, while the loan is out: standing in the place's timeline */
    bool owes;        /* it has ended, and nobody knows when the borrower's last work is done */
};

/* Pure decisions. NULL: nothing stands in the way. */
/* Another borrower, elsewhere, who would not see what the new one writes, or the other way round. */
const cc__lent *cc__lent_find_rival(const cc__lent *list, const cc__box *box, cc_place place, bool writes);
/* A borrower whom a write at the place cannot reach. */
const cc__lent *cc__lent_find_unreachable(const cc__lent *list, const cc__box *box, cc_place place);
/* Somebody who has pixels at the place that would have to be copied there again. */
const cc__mapping *cc__lent_find_onlooker(const cc__lent *list, const cc__mappings *mappings, const cc__box *box,
                                          cc_place place);
/* A loan that is out, of pixels of the box: at the place, or, for CC_DEVICE_CURRENT, at any. */
const cc__lent *cc__lent_find(const cc__lent *list, const cc__box *box, cc_place place);
/* A borrower who may write pixels of the box at the place; also one whose loan has ended. */
const cc__lent *cc__lent_find_writer(const cc__lent *list, const cc__box *box, cc_place place);
/* What borrowers may have written of the box is valid with them alone. OUT_OF_HOST_MEMORY. */
cc_status cc__lent_age(cc__validity *validity, const cc__lent *list, const cc__box *box);

/*
 * All that follows with the lock held; `manager->loans` is not NULL.
 * admit: what an access must know before it begins: BUSY, OUT_OF_HOST_MEMORY. Copies that it may not use are not valid
 * afterwards.
 */
cc_status cc__loans_admit(cc__data_manager *manager, const char *function, const cc__box *box, cc_place place,
                          cc_access access);
cc_status cc__loans_fail_busy(const char *function, const cc__lent *lent);

/* Lets the borrowers' streams wait for what is under way on the box where they have it. CAPTURE, DEVICE,
 * OUT_OF_HOST_MEMORY. */
cc_status cc__loans_follow(cc__data_manager *manager, const cc__box *box);
/* Brings what a mapping has written to the borrowers elsewhere; the lock is given up meanwhile. As bring. */
cc_status cc__loans_bring_back(cc__data_manager *manager, const char *function, const cc__mapping *mapping);
/* The end of an application's mapping, but for taking it out: notes the use, brings back, follows. On failure the
 * mapping is as before. */
cc_status cc__loans_end_use(cc__data_manager *manager, const char *function, cc__mapping *mapping, cc_stream stream);

/* The following also without any loan, since a borrower may have left work behind. The lock is given up meanwhile. */
/* Before pixels are copied to the host: waits for devices on which a borrower of unknown stream may be writing them. */
cc_status cc__loans_wait_for_devices(cc__data_manager *manager, const cc__mapping *mapping);
/* Whether such work may be left on a device by loans that have ended; waits for it. */
bool cc__loans_owe(const cc__data_manager *manager, cc_place device);
cc_status cc__loans_pay(cc__data_manager *manager, cc_place device);

/* What a borrower may have written is valid with him alone; for whoever asks what is valid where. */
void cc__loans_forget_copies(cc__data_manager *manager);

/* Ended loans that nobody has to know of any more leave the list; `except` does not count as an onlooker. */
void cc__loans_forget_ended(cc__data_manager *manager, const cc__mapping *except);
/* Whether a borrower may write now, or may still be writing. */
bool cc__loans_may_write(const cc__data_manager *manager);
void cc__loans_destroy(cc__data_manager *manager);

#endif
