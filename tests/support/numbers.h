/* Images made of plain numbers, and back: for types of which every value used is exact as a double. */
#ifndef CC_TESTS_NUMBERS_H
#define CC_TESTS_NUMBERS_H

#include "support/fixture.h"

/* One component, as C converts it; the first part only for complex types, the other is left. */
void numbers_store(cc_pixel_type type, double value, void *component);
double numbers_load(cc_pixel_type type, const void *component);

/* An image of these numbers, component by component; parts of complex types count on their own. */
cc_image *numbers_image(cc_pixel_type type, int32_t components, int64_t i, int64_t j, const double *values);

/* Into an image that is there. */
void numbers_put(cc_image *image, const double *values);

/* The nth number is first + step * (n * n mod 17). */
void numbers_put_squares(cc_image *image, double first, double step);

/* How many numbers an image holds, and what they are, read on the host; free() takes the list. */
int64_t numbers_count(const cc_image *image);
double *numbers_of(cc_image *image);

/* Fails the test, saying where, unless these are the image's numbers; NaN is NaN, and -0 is not 0. */
void numbers_expect(cc_image *image, const double *expected);

#endif
