/*
 * A step that has the library compute pixels: choose images and arguments, know what may be refused, make the call, and
 * know what it moves and what comes out. Choosing, the call and the arithmetic are each operation's own
 * (operations_*.c); the rest is the same for all (operation.c).
 */
#ifndef CC_TESTS_MODEL_OPERATION_H
#define CC_TESTS_MODEL_OPERATION_H

#include "world.h"

#define OPERATION_INPUTS 4
#define OPERATION_STEPS 8

/* Pixels of an output's part, each of which is one of an input, or lies beyond its border. */
typedef struct model_arrangement {
    int64_t at[CC_MAX_DIMENSION]; /* where the part begins, counted from the image's first pixel; the same below */
    int64_t from[CC_MAX_DIMENSION];
    int64_t from_size[CC_MAX_DIMENSION];
    int32_t order[CC_MAX_DIMENSION];  /* the input's axis that an axis of the output is */
    int64_t before[CC_MAX_DIMENSION]; /* pixels of the border before the first */
    int32_t border[CC_MAX_DIMENSION];
    uint32_t flipped;
    unsigned char value[CC_MAX_COMPONENTS * 16];
} model_arrangement;

typedef struct model_operation {
    model_world *world;
    cc_place place; /* where it runs, once that is known */
    model_image *inputs[OPERATION_INPUTS];
    oracle_box read[OPERATION_INPUTS]; /* of the pixels that are shared */
    int32_t input_count;
    model_image *output; /* NULL: a number for the host */
    oracle_box written;
    int32_t apart;   /* so many of the inputs may not be the output, either */
    uint32_t errors; /* of the arguments: statuses */

    /* What a device is asked to do. */
    faulty_operation call;
    int32_t calls;
    bool is_copy;           /* a copy inside the device instead */
    int32_t scratch;        /* pieces of memory to work in */
    bool scratch_is_little; /* and need no room to be made for them */
    bool may_be_less;       /* where a library is not there: CC_ERROR_UNSUPPORTED, when all has been moved */

    /* The arguments of the one or the other. */
    int32_t choice;
    cc_place asked;
    int32_t step_count;
    cc_step steps[OPERATION_STEPS];
    cc_region region;
    double numbers[CC_MAX_DIMENSION];
    double result;
    union {
        cc_pad_params pad;
        cc_resample_params resample;
        cc_gaussian_params gaussian;
        cc_convolve_params convolve;
    } params;
    model_arrangement arrangement;
} model_operation;

/* All pixels of an image, i fastest, one after the other. */
typedef struct operation_pixels {
    value_kind kind;
    int64_t size[CC_MAX_DIMENSION];
    int64_t count;
    int64_t pixel_bytes;
    unsigned char *bytes;
} operation_pixels;

typedef struct operation_kind {
    const char *name;
    /* False when there was nothing to do it to. */
    bool (*prepare)(model_world *world, model_operation *operation);
    /* The call, with these images in the place of the program's. */
    cc_status (*run)(model_operation *operation, cc_image *const inputs[], cc_image *output, cc_stream stream);
    /*
     * Makes the output's pixels from what they were and from the inputs', or the result. False where no simple
     * arithmetic is exact; then the same call is made for images that were never anywhere but on the host. NULL: always
     * so.
     */
    bool (*expect)(const model_operation *operation, const operation_pixels inputs[], operation_pixels *output,
                   double *out_result);
    /* Where it runs, or the errors; NULL: by the rule of operations.h. */
    uint32_t (*choose_place)(const model_operation *operation, cc_place *out_place);
} operation_kind;

extern const operation_kind operation_evaluate;
extern const operation_kind operation_reduce;
extern const operation_kind operation_measure;
extern const operation_kind operation_histogram;
extern const operation_kind operation_paste;
extern const operation_kind operation_crop;
extern const operation_kind operation_pad;
extern const operation_kind operation_flip;
extern const operation_kind operation_permute;
extern const operation_kind operation_interpolate;
extern const operation_kind operation_splat;
extern const operation_kind operation_average;
extern const operation_kind operation_gradient;
extern const operation_kind operation_divergence;
extern const operation_kind operation_laplacian;
extern const operation_kind operation_resample;
extern const operation_kind operation_warp;
extern const operation_kind operation_gaussian;
extern const operation_kind operation_convolve;
extern const operation_kind operation_filter;

/* An image that has pixels, and not too many. NULL when none was found. */
model_image *operation_pick(model_world *world);
/* One of this size and so many components, or a new one, of any type; axes past the dimension have one pixel. `apart`:
 * is rarely the one; or NULL. */
model_image *operation_pick_output(model_world *world, int32_t dimension, const int64_t size[CC_MAX_DIMENSION],
                                   int32_t components, const model_image *apart);
/* All of an image is read, or written. */
void operation_read(model_operation *operation, model_image *image);
void operation_write(model_operation *operation, model_image *image);
bool operation_is_complex(const model_operation *operation);

operation_pixels pixels_take(const model_image *image); /* the caller frees the bytes */
double pixels_get(const operation_pixels *pixels, const int64_t at[CC_MAX_DIMENSION], int32_t component);
void pixels_set(operation_pixels *pixels, const int64_t at[CC_MAX_DIMENSION], int32_t component, double value);
unsigned char *pixels_at(const operation_pixels *pixels, const int64_t at[CC_MAX_DIMENSION]);
void pixels_locate(const operation_pixels *pixels, int64_t pixel, int64_t out_at[CC_MAX_DIMENSION]);
/* Sixteenths of some size, and no -0: then sums of a few of them, halved some times, are exact in any order. */
bool pixels_are_simple(const operation_pixels *pixels);
/* The call for images that only ever are on the host, in these bytes; makes the output's, or the result. */
void operation_compute_on_host(const operation_kind *kind, model_operation *operation, const operation_pixels inputs[],
                               const operation_pixels *output);

#endif
