/* Values of pixels: random ones, and what rescaling makes of them, by the sentences of operations.h. */
#ifndef CC_TESTS_MODEL_VALUE_H
#define CC_TESTS_MODEL_VALUE_H

#include "random.h"

#include <cudacommon/pixel.h>

/* A kind of pixel that the programs use. */
typedef struct value_kind {
    cc_pixel_type type;
    int32_t components;
} value_kind;

/* Pixels of 1 to 16 bytes; or, rarely, of 1024, so that a small image is worth page-locking. */
value_kind value_kind_random(random_source *source);
value_kind value_kind_huge(void);
/* Another type with as many components. */
cc_pixel_type value_type_random(random_source *source);

void value_random(random_source *source, cc_pixel_type type, int32_t components, unsigned char *out_pixel);

/* first - second; a real component's imaginary part is 0. */
void value_subtract(cc_pixel_type first_type, const unsigned char *first, cc_pixel_type second_type,
                    const unsigned char *second, cc_pixel_type to, int32_t components, unsigned char *out_pixel);
/* One component; of a complex one the real part, and an imaginary part of 0. */
double value_get(cc_pixel_type type, const unsigned char *component);
void value_set(cc_pixel_type type, double value, unsigned char *out_component);
bool value_is_complex(cc_pixel_type type);
void value_rescale(cc_pixel_type from, const unsigned char *pixel, double scale, double shift, cc_pixel_type to,
                   int32_t components, unsigned char *out_pixel);

#endif
