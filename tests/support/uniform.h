/* Images of float32 in which all pixels are the same number. */
#ifndef CC_TESTS_UNIFORM_H
#define CC_TESTS_UNIFORM_H

#include "support/fixture.h"

cc_image *uniform_image(int64_t i, int64_t j); /* two axes, all zero */

/* Set all pixels, where the name says, without reading them. */
void uniform_write_on_host(cc_image *image, float value);
void uniform_write_on_device(cc_image *image, float value);

/* Read all pixels there, and fail the test when one is another number. */
void uniform_expect_on_host(cc_image *image, float value);
void uniform_expect_on_device(cc_image *image, float value);

/* Memory for as many pixels as the image has, all `value`; it is the caller's. */
float *uniform_memory(const cc_image *image, float value);
/* The same on a device; the caller gives it back. */
void *uniform_device_memory(const cc_image *image, int32_t device, float value);
void uniform_free_device_memory(int32_t device, void *memory);

/* To wrap memory that stays the caller's. */
cc_wrap_params uniform_borrowed(const cc_image *image, void *memory);

/* Of this image at this place; on a device that is not there, nothing. */
cc_place_state uniform_state(cc_image *image, cc_place place);

#endif
