#include "oracle.h"

#include <stdlib.h>
#include <string.h>

oracle_pixels *oracle_create(const int64_t size[CC_MAX_DIMENSION], int64_t pixel_bytes, bool undefined)
{
    oracle_pixels *pixels = calloc(1, sizeof *pixels);
    pixels->pixel_bytes = pixel_bytes;
    pixels->count = 1;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++) {
        pixels->size[axis] = size[axis];
        pixels->count *= size[axis];
    }
    const size_t count = (size_t)pixels->count;
    pixels->newest = calloc(count + 1, (size_t)pixel_bytes);
    pixels->valid = calloc(count + 1, sizeof *pixels->valid);
    pixels->is_constant = calloc(count + 1, sizeof *pixels->is_constant);
    pixels->changed = calloc(count + 1, sizeof *pixels->changed);
    pixels->is_undefined = calloc(count + 1, sizeof *pixels->is_undefined);
    for (size_t i = 0; i < count; i++) {
        pixels->is_constant[i] = !undefined;
        pixels->is_undefined[i] = undefined;
    }
    return pixels;
}

void oracle_destroy(oracle_pixels *pixels)
{
    free(pixels->newest);
    free(pixels->valid);
    free(pixels->is_constant);
    free(pixels->is_undefined);
    free(pixels->changed);
    free(pixels);
}

bool oracle_box_has(const oracle_box *box, const int64_t at[CC_MAX_DIMENSION])
{
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++)
        if (at[axis] < box->start[axis] || at[axis] >= box->start[axis] + box->size[axis])
            return false;
    return true;
}

int64_t oracle_box_count(const oracle_box *box)
{
    return box->size[0] * box->size[1] * box->size[2] * box->size[3];
}

bool oracle_boxes_overlap(const oracle_box *a, const oracle_box *b)
{
    int64_t at[CC_MAX_DIMENSION];
    for (int64_t i = 0; i < oracle_box_count(a); i++) {
        int64_t rest = i;
        for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++) {
            at[axis] = a->start[axis] + rest % a->size[axis];
            rest /= a->size[axis];
        }
        if (oracle_box_has(b, at))
            return true;
    }
    return false;
}

oracle_box oracle_whole(const oracle_pixels *pixels)
{
    oracle_box whole = {{0, 0, 0, 0}, {0, 0, 0, 0}};
    memcpy(whole.size, pixels->size, sizeof whole.size);
    return whole;
}

void oracle_locate(const oracle_pixels *pixels, int64_t pixel, int64_t out_at[CC_MAX_DIMENSION])
{
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++) {
        out_at[axis] = pixel % pixels->size[axis];
        pixel /= pixels->size[axis];
    }
}

int64_t oracle_stride(const oracle_pixels *pixels, cc_place place, int32_t axis)
{
    int64_t stride = pixels->pixel_bytes;
    if (pixels->is_wrapped && pixels->wrapped_at == place)
        return pixels->wrapped_stride[axis];
    for (int32_t faster = 0; faster < axis; faster++)
        stride *= pixels->size[faster];
    return stride;
}

int64_t oracle_offset(const oracle_pixels *pixels, cc_place place, const int64_t at[CC_MAX_DIMENSION])
{
    int64_t offset = 0;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++)
        offset += at[axis] * oracle_stride(pixels, place, axis);
    return offset;
}

size_t oracle_memory_bytes(const oracle_pixels *pixels, cc_place place)
{
    if (pixels->is_wrapped && pixels->wrapped_at == place)
        return pixels->wrapped_bytes;
    return pixels->has_memory[place + 1] ? (size_t)(pixels->count * pixels->pixel_bytes) : 0;
}

/* For each pixel of a box: its number, in the order of the pixels. -1 past the last. */
static int64_t next_in_box(const oracle_pixels *pixels, const oracle_box *box, int64_t pixel)
{
    int64_t at[CC_MAX_DIMENSION];
    for (pixel++; pixel < pixels->count; pixel++) {
        oracle_locate(pixels, pixel, at);
        if (oracle_box_has(box, at))
            return pixel;
    }
    return -1;
}

#define FOR_EACH_PIXEL(pixel, of, box)                                                                                 \
    for (int64_t pixel = next_in_box((of), (box), -1); (pixel) >= 0; (pixel) = next_in_box((of), (box), (pixel)))

void oracle_take(const oracle_pixels *pixels, const oracle_box *box, unsigned char *out_bytes, bool *out_known)
{
    const size_t pixel_bytes = (size_t)pixels->pixel_bytes;
    size_t taken = 0;
    FOR_EACH_PIXEL(pixel, pixels, box)
    {
        memcpy(out_bytes + taken * pixel_bytes, pixels->newest + (size_t)pixel * pixel_bytes, pixel_bytes);
        out_known[taken] = !pixels->is_undefined[pixel];
        taken++;
    }
}

void oracle_put(oracle_pixels *pixels, const oracle_box *box, const unsigned char *bytes)
{
    const size_t pixel_bytes = (size_t)pixels->pixel_bytes;
    FOR_EACH_PIXEL(pixel, pixels, box)
    {
        memcpy(pixels->newest + (size_t)pixel * pixel_bytes, bytes, pixel_bytes);
        bytes += pixel_bytes;
    }
}

bool oracle_has_undefined(const oracle_pixels *pixels, const oracle_box *box)
{
    FOR_EACH_PIXEL(pixel, pixels, box)
    if (pixels->is_undefined[pixel])
        return true;
    return false;
}

int64_t oracle_count_valid(const oracle_pixels *pixels, const oracle_box *box, cc_place place)
{
    int64_t count = 0;
    FOR_EACH_PIXEL(pixel, pixels, box)
    count += (pixels->valid[pixel] & ORACLE_BIT(place)) != 0;
    return count;
}

int64_t oracle_count_constant(const oracle_pixels *pixels, const oracle_box *box)
{
    int64_t count = 0;
    FOR_EACH_PIXEL(pixel, pixels, box)
    count += pixels->is_constant[pixel];
    return count;
}

int64_t oracle_count_undefined(const oracle_pixels *pixels, const oracle_box *box)
{
    int64_t count = 0;
    FOR_EACH_PIXEL(pixel, pixels, box)
    count += pixels->is_undefined[pixel];
    return count;
}

uint64_t oracle_last_change(const oracle_pixels *pixels, const oracle_box *box)
{
    uint64_t last = 0;
    FOR_EACH_PIXEL(pixel, pixels, box)
    last = pixels->changed[pixel] > last ? pixels->changed[pixel] : last;
    return last;
}

/* Some of the pixels: how many, and the smallest box around them. */
typedef struct pixel_set {
    int64_t count;
    int64_t first[CC_MAX_DIMENSION];
    int64_t last[CC_MAX_DIMENSION];
} pixel_set;

static void add_to_set(const oracle_pixels *pixels, int64_t pixel, pixel_set *set)
{
    int64_t at[CC_MAX_DIMENSION];
    oracle_locate(pixels, pixel, at);
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++) {
        if (set->count == 0 || at[axis] < set->first[axis])
            set->first[axis] = at[axis];
        if (set->count == 0 || at[axis] > set->last[axis])
            set->last[axis] = at[axis];
    }
    set->count++;
}

static bool is_box(const pixel_set *set)
{
    int64_t around = 1;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++)
        around *= set->last[axis] - set->first[axis] + 1;
    return around == set->count;
}

/* The number of boxes that the set is moved in: one when it is a box; else not more than cells, or pixels. */
static void bound(const pixel_set *set, int64_t cells, int64_t *fewest, int64_t *most)
{
    if (set->count == 0)
        return;
    *fewest += 1;
    *most += is_box(set) ? 1 : cells < set->count ? cells : set->count;
}

static oracle_direction direction(cc_place to, cc_place from)
{
    if (to == CC_PLACE_HOST)
        return ORACLE_DOWN;
    return from == CC_PLACE_HOST ? ORACLE_UP : ORACLE_ACROSS;
}

static cc_place lowest(uint32_t devices)
{
    cc_place device = 0;
    while ((devices & ORACLE_BIT(device)) == 0)
        device++;
    return device;
}

/* For a device: a peer, then the host, then any other device. For the host: any device. The lowest of several. */
static cc_place nearest(uint32_t valid, cc_place place, uint32_t peers)
{
    const uint32_t devices = valid & ~ORACLE_BIT(CC_PLACE_HOST);
    if (place != CC_PLACE_HOST && (devices & peers) != 0)
        return lowest(devices & peers);
    if ((valid & ORACLE_BIT(CC_PLACE_HOST)) != 0)
        return CC_PLACE_HOST;
    return lowest(devices);
}

static void add_copies(const oracle_pixels *pixels, const pixel_set *set, cc_place to, cc_place from, oracle_cost *cost)
{
    const oracle_direction way = direction(to, from);
    cost->bytes[way] += set->count * pixels->pixel_bytes;
    bound(set, cost->cells, &cost->fewest_copies[way], &cost->most_copies[way]);
}

static void give_memory(oracle_pixels *pixels, cc_place place, oracle_cost *cost)
{
    if (pixels->has_memory[place + 1])
        return;
    pixels->has_memory[place + 1] = true;
    if (place == CC_PLACE_HOST)
        cost->host_allocations++;
    else
        cost->device_allocations++;
}

void oracle_bring(oracle_pixels *pixels, const oracle_box *box, cc_place place, bool reads, uint32_t peers,
                  oracle_cost *cost)
{
    pixel_set copied[ORACLE_MAX_PLACES] = {{0, {0}, {0}}};
    pixel_set filled = {0, {0}, {0}};
    int64_t copied_count = 0;
    give_memory(pixels, place, cost);
    FOR_EACH_PIXEL(pixel, pixels, box)
    {
        if (!reads || pixels->is_undefined[pixel] || (pixels->valid[pixel] & ORACLE_BIT(place)) != 0)
            continue;
        if (pixels->is_constant[pixel]) {
            add_to_set(pixels, pixel, &filled);
        } else {
            add_to_set(pixels, pixel, &copied[nearest(pixels->valid[pixel], place, peers) + 1]);
            copied_count++;
        }
        pixels->valid[pixel] |= ORACLE_BIT(place);
    }
    for (cc_place from = CC_PLACE_HOST; from + 1 < ORACLE_MAX_PLACES; from++)
        add_copies(pixels, &copied[from + 1], place, from, cost);
    bound(&filled, cost->cells, &cost->fewest_fills, &cost->most_fills);
    cost->avoided_copies += copied_count == 0;
    cost->avoided_bytes += (oracle_box_count(box) - copied_count) * pixels->pixel_bytes;
}

void oracle_own(oracle_pixels *pixels, const oracle_box *box, cc_place place)
{
    pixels->clock++;
    FOR_EACH_PIXEL(pixel, pixels, box)
    {
        pixels->changed[pixel] = pixels->clock;
        pixels->valid[pixel] = ORACLE_BIT(place);
        pixels->is_constant[pixel] = false;
        pixels->is_undefined[pixel] = false;
    }
}

void oracle_age(oracle_pixels *pixels, const oracle_box *box, cc_place place)
{
    pixels->clock++;
    FOR_EACH_PIXEL(pixel, pixels, box)
    {
        pixels->changed[pixel] = pixels->clock;
        if ((pixels->valid[pixel] & ORACLE_BIT(place)) == 0)
            continue;
        pixels->valid[pixel] = ORACLE_BIT(place);
        pixels->is_constant[pixel] = false;
    }
}

void oracle_set_constant(oracle_pixels *pixels, const unsigned char *value)
{
    pixels->clock++;
    for (int64_t pixel = 0; pixel < pixels->count; pixel++) {
        pixels->changed[pixel] = pixels->clock;
        memcpy(pixels->newest + pixel * pixels->pixel_bytes, value, (size_t)pixels->pixel_bytes);
        pixels->valid[pixel] = 0;
        pixels->is_constant[pixel] = true;
        pixels->is_undefined[pixel] = false;
    }
}

void oracle_forget(oracle_pixels *pixels, const oracle_box *box)
{
    pixels->clock++;
    FOR_EACH_PIXEL(pixel, pixels, box)
    {
        pixels->changed[pixel] = pixels->clock;
        pixels->valid[pixel] = 0;
        pixels->is_constant[pixel] = false;
        pixels->is_undefined[pixel] = true;
    }
}

static bool is_only_at(const oracle_pixels *pixels, int64_t pixel, cc_place place)
{
    return pixels->valid[pixel] == ORACLE_BIT(place) && !pixels->is_constant[pixel];
}

bool oracle_has_only_at(const oracle_pixels *pixels, cc_place place)
{
    for (int64_t pixel = 0; pixel < pixels->count; pixel++)
        if (is_only_at(pixels, pixel, place))
            return true;
    return false;
}

void oracle_evict(oracle_pixels *pixels, cc_place place, cc_place refuge, oracle_cost *cost)
{
    pixel_set moved = {0, {0}, {0}};
    if (oracle_has_only_at(pixels, place))
        give_memory(pixels, refuge, cost);
    for (int64_t pixel = 0; pixel < pixels->count; pixel++) {
        if (is_only_at(pixels, pixel, place)) {
            add_to_set(pixels, pixel, &moved);
            pixels->valid[pixel] |= ORACLE_BIT(refuge);
        }
        pixels->valid[pixel] &= ~ORACLE_BIT(place);
    }
    add_copies(pixels, &moved, refuge, place, cost);
    pixels->has_memory[place + 1] = false;
    cost->evictions++;
}
