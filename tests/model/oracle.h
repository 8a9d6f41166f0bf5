/*
 * What images must hold and what each call must cost, found in the most obvious way: pixel by pixel, from the promises
 * in the public headers, with none of the library's code. Places are numbered from 0 here: the host, then the devices.
 */
#ifndef CC_TESTS_MODEL_ORACLE_H
#define CC_TESTS_MODEL_ORACLE_H

#include <cudacommon/cudacommon.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ORACLE_MAX_PLACES 9
#define ORACLE_BIT(place) (1u << ((place) + 1))

/* A box of pixels, counted from the first one that is shared. Always four axes. */
typedef struct oracle_box {
    int64_t start[CC_MAX_DIMENSION];
    int64_t size[CC_MAX_DIMENSION];
} oracle_box;

/* The pixels that images share. */
typedef struct oracle_pixels {
    int64_t size[CC_MAX_DIMENSION];
    int64_t count;
    int64_t pixel_bytes;
    unsigned char *newest; /* count * pixel_bytes, i fastest */
    uint32_t *valid;       /* of each pixel, the places that hold its newest value: ORACLE_BIT */
    bool *is_constant;     /* of each pixel: equal to the fill value */
    bool *is_undefined;    /* of each pixel: never written */
    bool has_memory[ORACLE_MAX_PLACES];
    uint64_t *changed; /* of each pixel: when it was last written, or may have been */
    uint64_t clock;

    bool is_wrapped;
    bool read_only;
    cc_place wrapped_at;
    int64_t wrapped_stride[CC_MAX_DIMENSION];
    size_t wrapped_bytes;
} oracle_pixels;

/* The three directions of copies. */
typedef enum oracle_direction {
    ORACLE_UP = 0,
    ORACLE_DOWN = 1,
    ORACLE_ACROSS = 2
} oracle_direction;

/* What a call costs the pixels. Bytes are exact; the number of boxes that they are moved in has bounds. */
typedef struct oracle_cost {
    int64_t bytes[3];
    int64_t of_tiles[3]; /* of these, what moves wherever the pixels are */
    int64_t fewest_copies[3];
    int64_t most_copies[3];
    int64_t fewest_fills;
    int64_t most_fills;
    int64_t avoided_copies;
    int64_t avoided_bytes;
    int64_t evictions;
    int64_t host_allocations;
    int64_t device_allocations;
    int64_t texture_updates;
    int64_t cells; /* in how many boxes the library kept the pixels before */
} oracle_cost;

/* Zeros, or undefined pixels. */
oracle_pixels *oracle_create(const int64_t size[CC_MAX_DIMENSION], int64_t pixel_bytes, bool undefined);
void oracle_destroy(oracle_pixels *pixels);

bool oracle_box_has(const oracle_box *box, const int64_t at[CC_MAX_DIMENSION]);
int64_t oracle_box_count(const oracle_box *box);
bool oracle_boxes_overlap(const oracle_box *a, const oracle_box *b);
oracle_box oracle_whole(const oracle_pixels *pixels);
void oracle_locate(const oracle_pixels *pixels, int64_t pixel, int64_t out_at[CC_MAX_DIMENSION]);
/* The bytes from the first pixel to another, and how many bytes there are, in the memory at a place. */
int64_t oracle_offset(const oracle_pixels *pixels, cc_place place, const int64_t at[CC_MAX_DIMENSION]);
int64_t oracle_stride(const oracle_pixels *pixels, cc_place place, int32_t axis);
size_t oracle_memory_bytes(const oracle_pixels *pixels, cc_place place);

/* The newest bytes of a box, i fastest, and which of them are known (not undefined); and new ones for it. */
void oracle_take(const oracle_pixels *pixels, const oracle_box *box, unsigned char *out_bytes, bool *out_known);
void oracle_put(oracle_pixels *pixels, const oracle_box *box, const unsigned char *bytes);

bool oracle_has_undefined(const oracle_pixels *pixels, const oracle_box *box);
int64_t oracle_count_valid(const oracle_pixels *pixels, const oracle_box *box, cc_place place);
int64_t oracle_count_constant(const oracle_pixels *pixels, const oracle_box *box);
int64_t oracle_count_undefined(const oracle_pixels *pixels, const oracle_box *box);

uint64_t oracle_last_change(const oracle_pixels *pixels, const oracle_box *box);

/* An access brings what is stale (if it reads) and gives the place memory. `peers`: the places with direct access. */
void oracle_bring(oracle_pixels *pixels, const oracle_box *box, cc_place place, bool reads, uint32_t peers,
                  oracle_cost *cost);
/* A write leaves the place as the only one that has the box. */
void oracle_own(oracle_pixels *pixels, const oracle_box *box, cc_place place);
void oracle_set_constant(oracle_pixels *pixels, const unsigned char *value);
/* A borrower may have written: where the place has pixels of the box, it is the only one. */
void oracle_age(oracle_pixels *pixels, const oracle_box *box, cc_place place);
/* The box is undefined from now on. */
void oracle_forget(oracle_pixels *pixels, const oracle_box *box);
/* Whether some pixels are at the place alone. */
bool oracle_has_only_at(const oracle_pixels *pixels, cc_place place);
void oracle_evict(oracle_pixels *pixels, cc_place place, cc_place refuge, oracle_cost *cost);

#endif
