#include "memory/host_work.h"

#include "base/past_cache.h"
#include "memory/crew.h"

#include <string.h>

/* What a thread is worth starting for, and about how much one takes at a time. */
#define BYTES_EACH ((size_t)1 << 20)
#define BYTES_AT_ONCE ((size_t)512 << 10)
/* Parts for each thread at least, where there are so many, so that all end at about the same time. */
#define PARTS_EACH ((int64_t)8)

typedef struct sharing {
    void (*part)(const struct sharing *all, int64_t first, int64_t count);
    const void *work;
    bool past_cache;
    int32_t axis; /* along which the box is cut */
    cc__crew_shares shares;
} sharing;

static void take_parts(void *context)
{
    sharing *all = context;
    int64_t first = 0;
    int64_t count = 0;
    while (cc__crew_shares_take(&all->shares, &first, &count))
        all->part(all, first, count);
    if (all->past_cache)
        cc__past_cache_end();
}

/*
 * Across the farthest axis that has enough to cut, or else the longest: cut across a near one, parts are many short
 * rows. `stride` is the destination's.
 */
static void share(sharing *all, const int64_t size[CC_MAX_DIMENSION], const int64_t stride[CC_MAX_DIMENSION],
                  size_t bytes, size_t destination_bytes)
{
    const int32_t threads = cc__crew_size(bytes, BYTES_EACH, CC__CREW_MOST);
    const int64_t wanted = (int64_t)(bytes / BYTES_AT_ONCE) + 1;
    const int64_t enough = wanted < PARTS_EACH * threads ? wanted : PARTS_EACH * threads;
    int64_t farthest = -1;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++) {
        const int64_t distance = stride[axis] < 0 ? -stride[axis] : stride[axis];
        const bool is_enough = size[axis] >= enough;
        if (is_enough ? distance > farthest : farthest < 0 && size[axis] > size[all->axis])
            all->axis = axis;
        if (is_enough && distance > farthest)
            farthest = distance;
    }
    const int64_t count = size[all->axis];
    cc__crew_shares_make(&all->shares, count, (count - 1) / wanted + 1, destination_bytes / (size_t)count, threads);
    cc__crew_run(threads, take_parts, all);
}

static size_t count_pixels(const int64_t size[CC_MAX_DIMENSION])
{
    return (size_t)(size[0] * size[1] * size[2] * size[3]);
}

static void copy_part(const sharing *all, int64_t first, int64_t count)
{
    cc__copy part = *(const cc__copy *)all->work;
    part.size[all->axis] = count;
    part.destination.data += first * part.destination.stride[all->axis];
    part.source.data += first * part.source.stride[all->axis];
    cc__copy_part_on_host(&part, all->past_cache);
}

void cc__copy_by_crew(const cc__copy *work)
{
    const size_t bytes = count_pixels(work->size) * (size_t)work->pixel_bytes;
    sharing all = {.part = copy_part, .work = work, .past_cache = cc__past_cache_pays(2 * bytes)};
    share(&all, work->size, work->destination.stride, 2 * bytes, bytes);
}

static void fill_part(const sharing *all, int64_t first, int64_t count)
{
    cc__fill part = *(const cc__fill *)all->work;
    part.size[all->axis] = count;
    part.destination.data += first * part.destination.stride[all->axis];
    cc__fill_part_on_host(&part, all->past_cache);
}

void cc__fill_by_crew(const cc__fill *work)
{
    const size_t bytes = count_pixels(work->size) * (size_t)work->pixel_bytes;
    sharing all = {.part = fill_part, .work = work, .past_cache = cc__past_cache_pays(bytes)};
    share(&all, work->size, work->destination.stride, bytes, bytes);
}

static void rescale_part(const sharing *all, int64_t first, int64_t count)
{
    cc__rescale part = *(const cc__rescale *)all->work;
    part.size[all->axis] = count;
    part.destination.data += first * part.destination.stride[all->axis];
    part.source.data += first * part.source.stride[all->axis];
    cc__rescale_part_on_host(&part, all->past_cache);
}

void cc__rescale_by_crew(const cc__rescale *work)
{
    const size_t components = count_pixels(work->size) * (size_t)work->components;
    const size_t to_bytes = components * cc_pixel_type_size_bytes(work->destination_type);
    const size_t bytes = to_bytes + components * cc_pixel_type_size_bytes(work->source_type);
    /* In place the lines are read anyway. */
    const bool past_cache = work->destination.data != work->source.data && cc__past_cache_pays(bytes);
    sharing all = {.part = rescale_part, .work = work, .past_cache = past_cache};
    share(&all, work->size, work->destination.stride, bytes, to_bytes);
}
