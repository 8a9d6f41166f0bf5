/* Release callbacks for languages that cannot be called from any thread at any time: noted now, looked at later. */
#ifndef CUDACOMMON_RELEASE_QUEUE_H
#define CUDACOMMON_RELEASE_QUEUE_H

#include <cudacommon/export.h>
#include <cudacommon/status.h>
#include <stdint.h>

CC_BEGIN_DECLS

/*
 * An image over memory that an object of another language owns (a NumPy array) keeps that object alive until its
 * release callback. The callback comes from any thread, perhaps after the language's runtime has ended, so it must not
 * be that language's code. The binding keeps the object under a number, passes cc_release_to_queue as the release
 * callback with a ticket for the number as its user_data, and when it suits it asks the queue which numbers are done.
 */
typedef struct cc_release_queue cc_release_queue;

/**
 * Makes an empty queue. Allocates bookkeeping only.
 * Returns CC_OK; CC_ERROR_INVALID_ARGUMENT for NULL; CC_ERROR_OUT_OF_HOST_MEMORY.
 * Ownership: returned with ownership, end it with cc_release_queue_release().
 * Thread safety: any thread. Does not block. Since 2.0.
 */
CC_API cc_status cc_release_queue_create(cc_release_queue **out_queue);

/**
 * Ends the ownership of a queue. Tickets that are out stay good, and come to nothing. Accepts NULL.
 * Ownership: transferred; do not use the queue afterwards.
 * Thread safety: any thread. Does not block. Since 2.0.
 */
CC_API void cc_release_queue_release(cc_release_queue *queue);

/**
 * Makes a ticket, to be the user_data of one release callback. Allocates it, so that the callback cannot fail.
 * token: what the queue gives back; any number.
 * Returns CC_OK; CC_ERROR_INVALID_ARGUMENT for NULL; CC_ERROR_OUT_OF_HOST_MEMORY.
 * Ownership: returned with ownership; the one call of cc_release_to_queue() takes it. When the memory was not taken
 * over after all, make that call yourself. Thread safety: any thread. Does not block. Since 2.0.
 */
CC_API cc_status cc_release_queue_add(cc_release_queue *queue, uint64_t token, void **out_ticket);

/**
 * A cc_release_fn: puts the ticket's token into its queue. data is not looked at. ticket: of cc_release_queue_add().
 * Allocates nothing, calls nothing back.
 * Thread safety: any thread, also while the process exits. Does not block. Since 2.0.
 */
CC_API void cc_release_to_queue(void *data, void *ticket);

/**
 * Takes tokens out of the queue, in no particular order.
 * capacity: how many out_tokens can hold. Returns how many there were, at most capacity; 0 for NULL.
 * Thread safety: any thread. Does not block. Since 2.0.
 */
CC_API int32_t cc_release_queue_take(cc_release_queue *queue, int32_t capacity, uint64_t *out_tokens);

CC_END_DECLS

#endif
