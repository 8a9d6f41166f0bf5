/* What an image program is made of; for its own files. */
#ifndef CC_TESTS_IMAGE_PROGRAM_STATE_H
#define CC_TESTS_IMAGE_PROGRAM_STATE_H

#include "support/image_pixels.h"
#include "support/image_program.h"

#define PROGRAM_DEVICES 8
#define PROGRAM_LENT 4

typedef struct program_lent {
    void *pixels;
    cc_region region;
    cc_access access;
    int32_t device; /* CC_PLACE_HOST on the host */
    cc_descriptor descriptor;
    step_kind unmap;
} program_lent;

typedef struct program_image {
    cc_image *image;
    image_pixels *pixels;
    cc_region region;
    int32_t device;
    program_lent lent[PROGRAM_LENT];
    int32_t lent_count;
    cc_place_state noted[PROGRAM_DEVICES + 1]; /* the host first */
} program_image;

/* Memory that the program gives to an image. */
typedef struct program_memory {
    struct program_memory *next;
    void *data;
    cc_place place;
    int32_t released;
    bool is_taken;
} program_memory;

struct image_program {
    int64_t size[3];
    int32_t device_count;
    program_image images[PROGRAM_IMAGES];
    cc_stream streams[PROGRAM_DEVICES];
    image_pixels *pixels; /* all there are and were */
    pixel_touch *touches;
    program_memory *memories;
    double seed;
};

/* Does the touch in the device's stream, as a kernel would. */
void image_program_launch(image_program *program, int32_t device, pixel_touch *touch);

#endif
