#include "data_manager/residents.h"

#include "data_manager/internal.h"

#include <pthread.h>

/* A moment is an epoch, which ends when memory is needed, and within it the count of the thread's own uses. */
#define COUNT_BITS 20

typedef struct list {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* `rounds` or `successes` */
    cc__resident *first;    /* the root of a pairing heap */
    int32_t rounds;         /* under way */
    uint64_t successes;
} list;

static list lists[CC__MAX_DEVICES];
static pthread_once_t lists_once = PTHREAD_ONCE_INIT;
static _Atomic uint64_t epoch = 1;

/* A release callback may ask for memory while the thread that it runs on is walking a list. */
static _Thread_local int32_t rounds_of_thread;

static void start_lists(void)
{
    for (int32_t device = 0; device < CC__MAX_DEVICES; ++device) {
        pthread_mutex_init(&lists[device].lock, NULL);
        pthread_cond_init(&lists[device].changed, NULL);
    }
}

static list *lock_list(int32_t device)
{
    (void)pthread_once(&lists_once, start_lists);
    pthread_mutex_lock(&lists[device].lock);
    return &lists[device];
}

static void unlock_list(list *of)
{
    pthread_mutex_unlock(&of->lock);
}

/* One counter for all threads would be written by all of them at every use. */
void cc__resident_use(cc__resident *resident)
{
    static _Thread_local struct {
        uint64_t epoch;
        uint64_t count;
    } mine;
    const uint64_t now = atomic_load_explicit(&epoch, memory_order_relaxed);
    if (mine.epoch != now) {
        mine.epoch = now;
        mine.count = 0;
    }
    if (mine.count < ((uint64_t)1 << COUNT_BITS) - 1)
        ++mine.count;
    atomic_store_explicit(&resident->last_used, now << COUNT_BITS | mine.count, memory_order_relaxed);
}

static bool goes_before(const cc__resident *a, const cc__resident *b)
{
    if (a->priority != b->priority)
        return a->priority < b->priority;
    if (a->is_dirty != b->is_dirty)
        return !a->is_dirty;
    return a->used_by < b->used_by;
}

static cc__resident *meld(cc__resident *a, cc__resident *b)
{
    if (a == NULL || b == NULL)
        return a != NULL ? a : b;
    cc__resident *parent = goes_before(b, a) ? b : a;
    cc__resident *child = parent == a ? b : a;
    child->previous = parent;
    child->next = parent->child;
    if (child->next != NULL)
        child->next->previous = child;
    parent->child = child;
    return parent;
}

static cc__resident *meld_children(cc__resident *parent)
{
    cc__resident *child = parent->child;
    cc__resident *pairs = NULL;
    cc__resident *root = NULL;
    parent->child = NULL;
    while (child != NULL) {
        cc__resident *a = child;
        cc__resident *b = a->next;
        child = b != NULL ? b->next : NULL;
        a->next = a->previous = NULL;
        if (b != NULL)
            b->next = b->previous = NULL;
        a = meld(a, b);
        a->next = pairs;
        pairs = a;
    }
    while (pairs != NULL) {
        cc__resident *pair = pairs;
        pairs = pair->next;
        pair->next = NULL;
        root = meld(root, pair);
    }
    return root;
}

static void push(list *to, cc__resident *resident)
{
    resident->used_by = atomic_load_explicit(&resident->last_used, memory_order_relaxed);
    to->first = meld(to->first, resident);
}

/* Out of the heap, or out of the list of a round. */
static void take_out(list *from, cc__resident *resident)
{
    cc__resident *previous = resident->previous;
    if (resident->next != NULL)
        resident->next->previous = previous;
    if (resident->aside != NULL) {
        if (previous == NULL)
            *resident->aside = resident->next;
        else
            previous->next = resident->next;
        resident->aside = NULL;
    } else if (resident == from->first) {
        from->first = meld_children(resident);
    } else {
        if (previous->child == resident)
            previous->child = resident->next;
        else
            previous->next = resident->next;
        from->first = meld(from->first, meld_children(resident));
    }
    resident->next = resident->previous = NULL;
}

static void set_aside(cc__residents_round *round, cc__resident *resident)
{
    resident->aside = &round->aside;
    resident->next = round->aside;
    if (resident->next != NULL)
        resident->next->previous = resident;
    round->aside = resident;
}

void cc__residents_add(cc__resident *resident, cc__data_manager *manager, int32_t device, int32_t priority)
{
    atomic_fetch_add_explicit(&epoch, 1, memory_order_relaxed);
    cc__resident_use(resident);
    list *to = lock_list(device);
    resident->manager = manager;
    resident->device = device;
    resident->priority = priority;
    resident->is_dirty = false;
    push(to, resident);
    unlock_list(to);
}

void cc__residents_remove(cc__resident *resident)
{
    if (resident->manager == NULL)
        return;
    list *from = lock_list(resident->device);
    take_out(from, resident);
    resident->manager = NULL;
    unlock_list(from);
}

void cc__residents_set_priority(cc__resident *resident, int32_t priority)
{
    if (resident->manager == NULL)
        return;
    list *in = lock_list(resident->device);
    if (resident->aside != NULL) {
        resident->priority = priority;
    } else {
        take_out(in, resident);
        resident->priority = priority;
        push(in, resident);
    }
    unlock_list(in);
}

void cc__residents_set_dirty(cc__resident *resident, bool is_dirty)
{
    if (resident->manager == NULL)
        return;
    list *in = lock_list(resident->device);
    if (resident->is_dirty != is_dirty) {
        take_out(in, resident);
        resident->is_dirty = is_dirty;
        push(in, resident);
    }
    unlock_list(in);
}

void cc__residents_begin(cc__residents_round *round, int32_t device)
{
    round->device = device;
    round->aside = NULL;
    ++rounds_of_thread;
    list *of = lock_list(device);
    ++of->rounds;
    round->successes = of->successes;
    unlock_list(of);
}

/* One whose last owner has let go is on its way out of the list. */
static bool retain_if_alive(cc__data_manager *manager)
{
    int references = atomic_load(&manager->references);
    while (references > 0)
        if (atomic_compare_exchange_weak(&manager->references, &references, references + 1))
            return true;
    return false;
}

cc__resident *cc__residents_next(cc__residents_round *round, cc__data_manager **out_manager, bool *out_is_dirty)
{
    list *of = lock_list(round->device);
    cc__resident *resident = NULL;
    while ((resident = of->first) != NULL) {
        take_out(of, resident);
        if (resident->used_by != atomic_load_explicit(&resident->last_used, memory_order_relaxed)) {
            push(of, resident);
            continue;
        }
        set_aside(round, resident);
        if (retain_if_alive(resident->manager)) {
            *out_manager = resident->manager;
            *out_is_dirty = resident->is_dirty;
            break;
        }
    }
    unlock_list(of);
    return resident;
}

bool cc__residents_end(cc__residents_round *round, bool freed)
{
    atomic_fetch_add_explicit(&epoch, 1, memory_order_relaxed);
    list *of = lock_list(round->device);
    while (round->aside != NULL) {
        cc__resident *resident = round->aside;
        take_out(of, resident);
        push(of, resident);
    }
    --of->rounds;
    --rounds_of_thread;
    of->successes += freed;
    pthread_cond_broadcast(&of->changed);
    const bool others = of->rounds > 0 && rounds_of_thread == 0;
    while (others && of->rounds > 0 && of->successes == round->successes)
        pthread_cond_wait(&of->changed, &of->lock);
    const bool changed = others || of->successes != round->successes;
    unlock_list(of);
    return changed;
}
