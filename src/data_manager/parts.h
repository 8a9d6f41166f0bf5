/* Lending pixels of the host part by part: to work that goes through an image in pieces, with each there in its time.
 */
#ifndef CC_DATA_MANAGER_PARTS_H
#define CC_DATA_MANAGER_PARTS_H

#include "data_manager/data_manager.h"
#include "data_manager/timeline.h"
#include "memory/movement.h"
#include "memory/place_memory.h"

/*
 * Excludes others from the request's box as cc__data_manager_begin() does, and waits for who has it on the host, but
 * brings nothing and changes nothing of what is valid where. A writer gets host memory. Ended by
 * cc__data_manager_end_parts().
 */
cc_status cc__data_manager_begin_parts(cc__data_manager *manager, const cc__access_request *request,
                                       cc__mapping **out_mapping);

/* Makes a part of the mapping's box valid on the host, and waits for it. */
cc_status cc__data_manager_bring_part(cc__data_manager *manager, const cc__mapping *mapping, const cc__box *box);

/* A part was written on the host, and nothing is under way there. OUT_OF_HOST_MEMORY: then it is given up, as below. */
cc_status cc__data_manager_commit_part(cc__data_manager *manager, const cc__box *box);
/* It may have been, or not: who has the pixels elsewhere keeps them, the host does not. */
void cc__data_manager_give_up_part(cc__data_manager *manager, const cc__box *box);

/* The memory on the host, which stays where it is while some of it is lent. */
cc__place_memory cc__data_manager_host_memory(cc__data_manager *manager);

/* What is to be told, and counted, of a part that was moved to a tile on a device or from it. */
void cc__data_manager_count_part(cc__data_manager *manager, const char *function, const cc__box *box,
                                 const cc__movement *movement, uint64_t began);

/* Brings what was written to who has it on loan elsewhere, before the end. As cc__data_manager_commit(). */
cc_status cc__data_manager_finish_parts(cc__data_manager *manager, const cc__mapping *mapping);

/*
 * The fence is NULL, or one without an event for the stream in which copies of the host's pixels may still be under
 * way, because waiting for them failed: whoever uses the pixels next waits for it.
 */
void cc__data_manager_end_parts(cc__data_manager *manager, cc__mapping *mapping, cc__fence *fence);

#endif
