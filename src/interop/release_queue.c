/* Tokens of memory that is not needed any more, for bindings. */
#include "base/allocate.h"
#include "base/error.h"

#include <cudacommon/release_queue.h>
#include <pthread.h>
#include <stddef.h>

typedef struct ticket {
    cc_release_queue *queue;
    struct ticket *next; /* among those that came back */
    uint64_t token;
} ticket;

struct cc_release_queue {
    pthread_mutex_t lock;
    ticket *done;
    int64_t owners; /* the caller's, and one for each ticket that is out */
    int32_t is_open;
};

cc_status cc_release_queue_create(cc_release_queue **out_queue)
{
    static const char *const function = "cc_release_queue_create";
    cc_release_queue *queue;
    if (out_queue == NULL)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: out_queue = NULL, expected a pointer", function);
    queue = cc__allocate(sizeof *queue);
    if (queue == NULL || pthread_mutex_init(&queue->lock, NULL) != 0) {
        cc__free(queue);
        return cc__fail(CC_ERROR_OUT_OF_HOST_MEMORY, "%s: no memory for %zu bytes of bookkeeping", function,
                        sizeof *queue);
    }
    queue->owners = 1;
    queue->is_open = 1;
    *out_queue = queue;
    return CC_OK;
}

/* With the lock held, which this gives up. */
static void disown(cc_release_queue *queue)
{
    const int64_t owners = --queue->owners;
    pthread_mutex_unlock(&queue->lock);
    if (owners == 0) {
        pthread_mutex_destroy(&queue->lock);
        cc__free(queue);
    }
}

static void free_tickets(ticket *first)
{
    while (first != NULL) {
        ticket *next = first->next;
        cc__free(first);
        first = next;
    }
}

void cc_release_queue_release(cc_release_queue *queue)
{
    ticket *done;
    if (queue == NULL)
        return;
    pthread_mutex_lock(&queue->lock);
    done = queue->done;
    queue->done = NULL;
    queue->is_open = 0;
    disown(queue);
    free_tickets(done);
}

cc_status cc_release_queue_add(cc_release_queue *queue, uint64_t token, void **out_ticket)
{
    static const char *const function = "cc_release_queue_add";
    ticket *made;
    if (queue == NULL)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: queue = NULL, expected a queue", function);
    if (out_ticket == NULL)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: out_ticket = NULL, expected a pointer", function);
    made = cc__allocate(sizeof *made);
    if (made == NULL)
        return cc__fail(CC_ERROR_OUT_OF_HOST_MEMORY, "%s: no memory for %zu bytes of bookkeeping", function,
                        sizeof *made);
    made->queue = queue;
    made->token = token;
    pthread_mutex_lock(&queue->lock);
    ++queue->owners;
    pthread_mutex_unlock(&queue->lock);
    *out_ticket = made;
    return CC_OK;
}

void cc_release_to_queue(void *data, void *used_ticket)
{
    ticket *used = used_ticket;
    cc_release_queue *queue;
    (void)data;
    if (used == NULL)
        return;
    queue = used->queue;
    pthread_mutex_lock(&queue->lock);
    if (queue->is_open) {
        used->next = queue->done;
        queue->done = used;
        used = NULL;
    }
    disown(queue);
    cc__free(used);
}

int32_t cc_release_queue_take(cc_release_queue *queue, int32_t capacity, uint64_t *out_tokens)
{
    ticket *taken = NULL;
    int32_t count = 0;
    if (queue == NULL || out_tokens == NULL)
        return 0;
    pthread_mutex_lock(&queue->lock);
    while (queue->done != NULL && count < capacity) {
        ticket *first = queue->done;
        queue->done = first->next;
        out_tokens[count++] = first->token;
        first->next = taken;
        taken = first;
    }
    pthread_mutex_unlock(&queue->lock);
    free_tickets(taken);
    return count;
}
