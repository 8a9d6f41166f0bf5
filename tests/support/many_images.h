/* Images of which a device may hold only some, each with a value of its own. */
#ifndef CC_TESTS_MANY_IMAGES_H
#define CC_TESTS_MANY_IMAGES_H

#include "support/byte_pixels.h"
#include "support/fixture.h"

#define SIZE 64
#define BYTES ((size_t)SIZE * SIZE)
#define IMAGES 12

extern cc_image *images[IMAGES];

/* Around the fixture's. The images are of the first device, if there is one; nothing is held in the end. */
void many_images_set_up(void);
void many_images_tear_down(void);

/* Of the first device, in images. */
void set_limit(size_t image_count);

bool is_on(cc_image *image, int32_t device);
/* One letter for each of the first images: x for those that have memory on the first device. */
void expect_on_device(const char *expected);

/* Dirty: the device has the only copy. Clean: the host has one too. */
void make_dirty(int32_t image);
void make_clean(int32_t image);

void expect_value(int32_t image);

#endif
