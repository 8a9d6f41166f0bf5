/* Two images and a run over them, for tests of tiles. */
#ifndef CC_TESTS_TILE_FIXTURE_H
#define CC_TESTS_TILE_FIXTURE_H

#include "support/tile_work.h"

#define TILE_FIXTURE_BYTES 65536

/* Released at the end of each test. */
extern cc_image *input, *output;
/* The input's bytes, what the output must become, and what it was. */
extern unsigned char numbered[TILE_FIXTURE_BYTES], expected[TILE_FIXTURE_BYTES], before[TILE_FIXTURE_BYTES];

/* For tcase_add_checked_fixture. tear_down fails the test when device memory is still held. */
void tile_fixture_setup(void);
void tile_fixture_teardown(void);

/* On the last device, if there is one. */
cc_image *image_of(cc_pixel_type type, int32_t components, int32_t dimension, const int64_t size[CC_MAX_DIMENSION]);
/* Both, equal, in the place of those there were. */
void make_images(cc_pixel_type type, int32_t components, int32_t dimension, int64_t i, int64_t j, int64_t k, int64_t l);
/* Of one input, for tile_work_function. */
cc_tiles_params params_of(tile_work *work, const cc_tiles_input *in, size_t limit);
void expect_pixels(cc_image *image, const void *bytes);
/* The output must become what the work says. */
void run_and_compare(tile_work *work, const cc_tiles_params *params);

#endif
