#include "support/plain_work.h"

#include <string.h>

int64_t random_below(uint32_t *state, int64_t count)
{
    *state = *state * 1664525u + 1013904223u;
    return (int64_t)((*state >> 8) % (uint32_t)count);
}

void random_bytes(uint32_t *state, void *memory, int64_t size_bytes)
{
    unsigned char *bytes = memory;
    for (int64_t i = 0; i < size_bytes; i++)
        bytes[i] = (unsigned char)random_below(state, 256);
}

int64_t random_strides(uint32_t *state, const int64_t size[CC_MAX_DIMENSION], int64_t pixel_bytes, int64_t alignment,
                       int64_t out_stride[CC_MAX_DIMENSION])
{
    int32_t order[CC_MAX_DIMENSION] = {0, 1, 2, 3};
    for (int32_t i = CC_MAX_DIMENSION - 1; i > 0 && random_below(state, 2) == 0; i--) {
        int32_t other = (int32_t)random_below(state, i + 1);
        int32_t kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
    int64_t next = pixel_bytes;
    for (int32_t i = 0; i < CC_MAX_DIMENSION; i++) {
        if (random_below(state, 3) == 0)
            next += random_below(state, 4) * pixel_bytes;
        if (random_below(state, 6) == 0)
            next += random_below(state, 5) * alignment;
        out_stride[order[i]] = next;
        next *= size[order[i]];
    }
    return next;
}

static int64_t offset_of(const int64_t at[CC_MAX_DIMENSION], const int64_t stride[CC_MAX_DIMENSION])
{
    return at[0] * stride[0] + at[1] * stride[1] + at[2] * stride[2] + at[3] * stride[3];
}

void plain_copy(const cc__copy *work)
{
    int64_t at[CC_MAX_DIMENSION];
    for (at[3] = 0; at[3] < work->size[3]; at[3]++)
        for (at[2] = 0; at[2] < work->size[2]; at[2]++)
            for (at[1] = 0; at[1] < work->size[1]; at[1]++)
                for (at[0] = 0; at[0] < work->size[0]; at[0]++)
                    memcpy(work->destination.data + offset_of(at, work->destination.stride),
                           work->source.data + offset_of(at, work->source.stride), (size_t)work->pixel_bytes);
}

void plain_fill(const cc__fill *work)
{
    int64_t at[CC_MAX_DIMENSION];
    for (at[3] = 0; at[3] < work->size[3]; at[3]++)
        for (at[2] = 0; at[2] < work->size[2]; at[2]++)
            for (at[1] = 0; at[1] < work->size[1]; at[1]++)
                for (at[0] = 0; at[0] < work->size[0]; at[0]++)
                    memcpy(work->destination.data + offset_of(at, work->destination.stride), work->value,
                           (size_t)work->pixel_bytes);
}
