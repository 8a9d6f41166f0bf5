/* A random program while it runs: its images and mappings, what the oracle says of them, and what the call made now may
 * return and cost. */
#ifndef CC_TESTS_MODEL_WORLD_H
#define CC_TESTS_MODEL_WORLD_H

#include "oracle.h"
#include "random.h"
#include "report.h"
#include "value.h"
#include "work.h"
#include "wrapped.h"

#include "support/fixture.h"

#define WORLD_IMAGES 12
#define WORLD_MAPPINGS 10
#define WORLD_LOANS 6

#define MODEL_TEXTURES 16

typedef struct model_pressure model_pressure;

/* A copy of pixels in a texture, as they were at some time. */
typedef struct model_texture {
    int32_t number;
    cc_place place;
    oracle_box box;
    cc_texture_shape shape;
    int32_t channels; /* of each object */
    uint64_t clock;
} model_texture;

typedef struct model_pixels {
    oracle_pixels *oracle;
    int32_t handles; /* images that share them, and loans */
    wrapped_memory *wrapped;
    cc_counters counters; /* as they were last seen */
    uint64_t generation;
    bool has_changed;                         /* since then */
    unsigned char *memory[ORACLE_MAX_PLACES]; /* the first pixel, as far as a mapping has shown it */

    model_texture textures[MODEL_TEXTURES];
    int32_t texture_count;
    int32_t made_textures;

    /* Where memory is short: see pressure.h. */
    int32_t priority;
    uint64_t used[ORACLE_MAX_PLACES];
    struct model_allocator *allocators[2];
} model_pixels;

typedef struct model_image {
    int32_t number;
    cc_image *handle;
    model_pixels *pixels;
    oracle_box box;
    cc_region region;
    int32_t dimension;
    value_kind kind;
    int32_t device;
    int32_t owners; /* 0: released, but still mapped */
    int32_t mappings;
} model_image;

typedef struct model_mapping {
    model_image *image;
    cc_place place;
    cc_access access;
    oracle_box box;
    unsigned char *memory;
    cc_stream stream;
    bool is_returned; /* but still lent: another reader started at the same pixel */
    bool needs_all;   /* its pixels must all be written before it ends */

    bool is_texture;
    cc_texture texture;
    cc_texture_shape texture_shape;
    int32_t texture_number;
} model_mapping;

/* Pixels that somebody has without a mapping. */
typedef struct model_loan {
    cc_loan *handle;
    model_pixels *pixels;
    value_kind kind;
    cc_place place;
    bool writes;
    bool is_stream_known;
    oracle_box box;
    unsigned char *memory;
    cc_stream stream; /* when it is known */
} model_loan;

/* What a call costs one set of pixels. */
typedef struct model_cost {
    model_pixels *pixels;
    bool is_of_the_step; /* else the pixels have left a device to make room */
    oracle_cost cost;
} model_cost;

typedef struct model_world {
    random_source random;
    device_work work;
    bool tidies;          /* the library forgets what is valid where; then only bytes and bounds are compared */
    bool may_be_huge;     /* one image may have pixels that are page-locked */
    int32_t region_style; /* 0: any, 1: small, 2: mostly whole */
    int32_t most_mappings;
    int32_t device_count;
    int32_t current_device;
    uint32_t peers[ORACLE_MAX_PLACES];
    model_pressure *pressure; /* NULL: memory is not short */
    uint64_t uses;            /* of devices, so far */
    int32_t step;
    int32_t made_images;
    model_image *images[WORLD_IMAGES];
    int32_t image_count;
    model_mapping mappings[WORLD_MAPPINGS];
    int32_t mapping_count;
    model_loan loans[WORLD_LOANS]; /* the latest first */
    int32_t loan_count;

    /* Of the step. */
    faulty_counts before;
    model_cost costs[WORLD_IMAGES + 2];
    int32_t cost_count;
    int64_t device_calls[FAULTY_OPERATION_COUNT]; /* what devices were asked to do, beside moving pixels */
    int64_t device_scratch;                       /* pieces of memory that they worked in, and gave back */
    int64_t device_frees;
    cc_place worked_at;
} model_world;

void world_begin(model_world *world, uint64_t seed, bool tidies);

/* Around each step. end compares costs, and the state of one image at one place. */
void world_begin_step(model_world *world);
void world_end_step(model_world *world);

/* Statuses as a set. No error expected is OK expected. True when the call succeeded. */
#define STATUS(status) (1u << (status))
bool world_expect(model_world *world, const char *call, cc_status status, uint32_t errors);

/* NULL when there is none. */
model_image *world_pick_image(model_world *world);
model_image *world_image_of(const model_world *world, const model_pixels *pixels);
model_image *world_add_image(model_world *world); /* an empty record with one owner; NULL when there are enough */

/* A region as an argument: of the image, or not quite. */
typedef struct model_region {
    const cc_region *argument; /* NULL: all of the image */
    cc_region region;
    oracle_box box;  /* when there are no errors */
    uint32_t errors; /* statuses */
    bool is_empty;
} model_region;
void world_pick_region(model_world *world, const model_image *image, bool may_be_null, model_region *out_region);

/* The device that a call would use, or the errors it would give. And what the call has made of it. */
uint32_t world_device(const model_world *world, const model_image *image, cc_place *out_place);
void world_note_device(model_world *world, model_image *image, bool was_used);
/* The errors of a place that is named. */
uint32_t world_place_errors(const model_world *world, cc_place place);

/* BUSY, when somebody has pixels of the box and one of the two writes. */
uint32_t world_conflicts(const model_world *world, const model_pixels *pixels, const oracle_box *box, cc_access access);
bool world_has_mapping(const model_world *world, const model_pixels *pixels, bool only_writers, cc_place place);
int32_t world_count_mappings(const model_world *world, const model_pixels *pixels, cc_place place);

/* Where the step's costs for these pixels are counted; asked for before the call. */
oracle_cost *world_cost(model_world *world, model_image *image);

/* Pixels of an image that a call gives others, or ends: before the call, and after it has succeeded. */
void world_expect_drop(model_pixels *pixels);
void world_drop(model_world *world, model_pixels *pixels);
void world_forget_drop(model_pixels *pixels); /* after it has failed */
model_pixels *world_add_pixels(oracle_pixels *oracle);
/* The image is gone when nobody owns or maps it; called before each release and unmap, and after. */
bool world_is_last_use(const model_image *image);
void world_forget_image(model_world *world, model_image *image);

/* A box in memory, as the program reaches it. */
work_box world_span(const model_mapping *mapping, const oracle_box *box);

int64_t world_random_size(model_world *world, int32_t dimension, int64_t most_pixels,
                          int64_t out_size[CC_MAX_DIMENSION]);
void world_random_values(model_world *world, value_kind kind, int64_t count, unsigned char *out_bytes);

/* In steps_texture.c. */
cc_status world_unmap_texture(model_world *world, model_mapping *mapping, cc_stream stream);
void world_evict_textures(const model_world *world, model_pixels *pixels, cc_place place);

/* In loans.c. What borrowers may have written is valid with them alone: at the beginning of a step, and its end. */
void world_age_loans(const model_world *world);
/* NULL when nobody has the pixels but mappings. */
struct cc__data_manager *world_manager_of(const model_world *world, const model_pixels *pixels);
/* Of pixels on loan, else NULL. */
struct cc__data_manager *world_lender_of(const model_world *world, const model_pixels *pixels);
/* Copies since then are not compared with what the backend has seen. */
void world_note_copies(model_world *world, const cc_counters *before, struct cc__data_manager *manager);
/* Whether a borrower may write, or may still be writing. */
bool world_may_be_written(const model_world *world, const model_pixels *pixels);
/* A loan of pixels of the box: at the place; NULL when there is none. */
const model_loan *world_find_loan(const model_world *world, const model_pixels *pixels, const oracle_box *box,
                                  cc_place place);
/* BUSY, when a borrower on the host would not see a write at the place, or somebody there has an older copy. */
uint32_t world_loan_conflicts(const model_world *world, const model_pixels *pixels, const oracle_box *box,
                              cc_place place, cc_access access);
/* BUSY, when the place's memory is lent, or was and is still looked at. */
uint32_t world_lent_errors(const model_world *world, const model_pixels *pixels, cc_place place);
int32_t world_count_loans(const model_world *world, const model_pixels *pixels, cc_place place);
/* What was written at a place is brought to the borrowers elsewhere. */
void world_bring_back(model_world *world, model_pixels *pixels, const oracle_box *box, cc_place place,
                      oracle_cost *cost);
work_box world_loan_span(const model_loan *loan, const oracle_box *box);

/* Compares everything the library says about an image with the oracle. */
void world_compare_state(model_world *world, model_image *image, cc_place place);

#endif
