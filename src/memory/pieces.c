#include "memory/pieces.h"

cc__span *cc__copy_side(cc__copy *work, cc__side side)
{
    return side == CC__SIDE_DESTINATION ? &work->destination : &work->source;
}

const cc__span *cc__copy_side_of(const cc__copy *work, cc__side side)
{
    return side == CC__SIDE_DESTINATION ? &work->destination : &work->source;
}

int64_t cc__copy_bytes(const cc__copy *work)
{
    int64_t bytes = work->pixel_bytes;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; ++axis)
        bytes *= work->size[axis];
    return bytes;
}

int64_t cc__copy_extent(const cc__copy *work, cc__side side)
{
    const cc__span *span = cc__copy_side_of(work, side);
    int64_t extent = work->pixel_bytes;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; ++axis)
        extent += (work->size[axis] - 1) * span->stride[axis];
    return extent;
}

/* From the pixel `at` along the axis on, `size` of them. */
static cc__copy slab(const cc__copy *work, int32_t axis, int64_t at, int64_t size)
{
    cc__copy part = *work;
    part.destination.data += at * work->destination.stride[axis];
    part.source.data += at * work->source.stride[axis];
    part.size[axis] = size;
    return part;
}

typedef struct cutter {
    cc__side side;
    const unsigned char *base;
    const cc__range *ranges;
    int32_t count;
    cc__take_piece take;
    void *context;
} cutter;

/* What a byte lies in: a range, or the gap before the next. */
typedef struct stretch {
    size_t end;
    bool is_in_range;
} stretch;

static stretch find_stretch(const cutter *self, size_t at)
{
    int32_t low = 0;
    int32_t high = self->count;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (self->ranges[middle].end <= at)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == self->count)
        return (stretch){PTRDIFF_MAX, false};
    if (self->ranges[low].first > at)
        return (stretch){self->ranges[low].first, false};
    return (stretch){self->ranges[low].end, true};
}

/* The axis with the longest stride; -1 when there is but one pixel. */
static int32_t slowest_axis(const cc__copy *work, cc__side side)
{
    const cc__span *span = cc__copy_side_of(work, side);
    int32_t slowest = -1;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; ++axis)
        if (work->size[axis] > 1 && (slowest < 0 || span->stride[axis] > span->stride[slowest]))
            slowest = axis;
    return slowest;
}

static cc_status cut(const cutter *self, const cc__copy *work);

static cc_status cut_pixel(const cutter *self, const cc__copy *work, stretch here, int64_t room)
{
    cc__copy head = *work;
    cc__copy tail = *work;
    head.pixel_bytes = room;
    tail.pixel_bytes -= room;
    tail.destination.data += room;
    tail.source.data += room;
    const cc_status status = self->take(self->context, &head, here.is_in_range);
    return status == CC_OK ? cut(self, &tail) : status;
}

static cc_status cut(const cutter *self, const cc__copy *work) /* NOLINT(misc-no-recursion): an axis deeper each time */
{
    const cc__span *span = cc__copy_side_of(work, self->side);
    const int64_t extent = cc__copy_extent(work, self->side);
    size_t first = (size_t)(span->data - self->base);
    stretch here = find_stretch(self, first);
    if ((size_t)extent <= here.end - first)
        return self->take(self->context, work, here.is_in_range);

    const int32_t axis = slowest_axis(work, self->side);
    if (axis < 0)
        return cut_pixel(self, work, here, (int64_t)(here.end - first));
    const int64_t stride = span->stride[axis];
    const int64_t extent_of_one = extent - (work->size[axis] - 1) * stride;
    cc_status status = CC_OK;
    for (int64_t at = 0; status == CC_OK && at < work->size[axis];) {
        const size_t byte = first + (size_t)(at * stride);
        here = find_stretch(self, byte);
        const size_t room = here.end - byte;
        int64_t fitting = 0;
        if (room >= (size_t)extent_of_one)
            fitting = 1 + (int64_t)((room - (size_t)extent_of_one) / (size_t)stride);
        if (fitting > work->size[axis] - at)
            fitting = work->size[axis] - at;
        const cc__copy piece = slab(work, axis, at, fitting > 0 ? fitting : 1);
        status = fitting > 0 ? self->take(self->context, &piece, here.is_in_range) : cut(self, &piece);
        at += piece.size[axis];
    }
    return status;
}

cc_status cc__pieces_at_borders(const cc__copy *work, cc__side side, const unsigned char *base, const cc__range *ranges,
                                int32_t count, cc__take_piece take, void *context)
{
    const cutter self = {side, base, ranges, count, take, context};
    return cut(&self, work);
}

cc__parts cc__parts_plan(const cc__copy *work, int64_t most_bytes)
{
    cc__parts parts = {.axis = CC_MAX_DIMENSION - 1, .step = work->size[CC_MAX_DIMENSION - 1], .count = 1};
    int64_t bytes = work->pixel_bytes;
    int32_t axis = 0;
    while (axis < CC_MAX_DIMENSION && bytes * work->size[axis] <= most_bytes)
        bytes *= work->size[axis++];
    if (axis == CC_MAX_DIMENSION)
        return parts;
    parts.axis = axis;
    parts.step = most_bytes / bytes;
    parts.count = (work->size[axis] - 1) / parts.step + 1;
    for (++axis; axis < CC_MAX_DIMENSION; ++axis)
        parts.count *= work->size[axis];
    return parts;
}

cc__copy cc__parts_get(const cc__copy *work, const cc__parts *parts, int64_t at)
{
    const int64_t along = (work->size[parts->axis] - 1) / parts->step + 1;
    const int64_t start = at % along * parts->step;
    const int64_t left = work->size[parts->axis] - start;
    cc__copy part = slab(work, parts->axis, start, left < parts->step ? left : parts->step);
    at /= along;
    for (int32_t axis = parts->axis + 1; axis < CC_MAX_DIMENSION; ++axis) {
        part = slab(&part, axis, at % work->size[axis], 1);
        at /= work->size[axis];
    }
    return part;
}
