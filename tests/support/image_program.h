/*
 * Programs that use images in every way that can fail, as lists of steps; each step is one public call. A program knows
 * what its images must hold: it does to plain arrays what the calls and its own kernels do to the images.
 */
#ifndef CC_TESTS_IMAGE_PROGRAM_H
#define CC_TESTS_IMAGE_PROGRAM_H

#include "support/fixture.h"

typedef enum step_kind {
    STEP_CREATE = 0, /* of the program's size; `type` */
    STEP_VIEW = 1,   /* of `part` of `other` */
    STEP_GRAFT = 2,  /* `image` takes over `other` */
    STEP_RESIZE = 3, /* to the size of `part` */
    STEP_WRAP_HOST = 4,
    STEP_WRAP_DEVICE = 5,
    STEP_FILL = 6,
    STEP_RESCALE = 7, /* of `other` into `image`, times 2, less 3 */
    STEP_MAP_HOST = 8,
    STEP_UNMAP_HOST = 9,
    STEP_MAP_DEVICE = 10,
    STEP_UNMAP_DEVICE = 11,
    STEP_MAP_DESCRIPTOR = 12, /* on the device */
    STEP_UNMAP_DESCRIPTOR = 13,
    STEP_PREFETCH = 14,
    STEP_EVICT = 15,
    STEP_SET_DEVICE = 16,
    STEP_VALID_REGIONS = 17,
    STEP_RELEASE = 18,
    STEP_SUBTRACT = 19, /* `image` becomes `image` - `other`, where it is */
    STEP_MEASURE = 20   /* the sum of all pixels must be what it is */
} step_kind;

/* A part of an image: its region, or all of it. */
typedef enum step_part {
    PART_WHOLE = 0,
    PART_ROWS = 1,   /* whole rows */
    PART_BLOCK = 2,  /* inside, touching no border */
    PART_CORNER = 3, /* at the start, overlapping the block */
    PART_SLICE = 4   /* the last slice */
} step_part;

typedef struct program_step {
    step_kind kind;
    int32_t image; /* which of the program's images */
    int32_t other;
    step_part part;
    cc_access access;
    cc_place place;
    cc_pixel_type type; /* int16 or float32 */
} program_step;

#define PROGRAM_IMAGES 6

typedef struct image_program image_program;

/* The images that the program creates have this size, all >= 4. Devices that are not there are left out. */
image_program *image_program_create(int64_t i, int64_t j, int64_t k);

/*
 * One step. With the mapping steps the host, or a kernel in a stream, then does to the pixels what the access allows;
 * readers compare them with what they must be. CC_OK, with nothing called, for a step that concerns a device that is
 * not there, an image that was not made, or a mapping that is not held.
 */
cc_status image_program_do(image_program *program, const program_step *step);

/* Names the step, for messages. */
const char *image_program_describe(const program_step *step);

/* Notes what is valid and mapped where. Check: nothing is less valid now, or otherwise mapped. */
void image_program_note(image_program *program);
void image_program_check_noted(image_program *program, const char *when);
/* Whether some of the image's pixels were on devices alone when noted. */
bool image_program_was_on_device_alone(const image_program *program, int32_t image);

/*
 * Every copy of every pixel is right, looked at where it is and then, all of it, on the host; except what a writer has
 * mapped, which is refused. Looking moves pixels. When the device has failed for good, a refusal to look is accepted,
 * but not for what the host has.
 */
void image_program_check(image_program *program, const char *when, bool device_may_be_lost);

/* Runs what is queued, first what the program itself has queued: what was forgotten shows when it has run. */
void image_program_let_run(image_program *program);

/* Gives everything back. Fails the test when a kernel read something wrong or wrapped memory was not released once. */
void image_program_unmap_all(image_program *program);
void image_program_destroy(image_program *program, const char *when);

#endif
