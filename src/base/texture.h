/* What a texture is made of and how it is read, as plain data. */
#ifndef CC_BASE_TEXTURE_H
#define CC_BASE_TEXTURE_H

#include <cudacommon/pixel.h>
#include <cudacommon/texture.h>
#include <stdbool.h>

/* The arrays: object n has the values that begin n * element_bytes after the start of each pixel. */
typedef struct cc__texture_form {
    int64_t size[3]; /* > 0; the third counts layers, or is 1 */
    cc_texture_shape shape;
    cc_pixel_type type; /* of a value: an integer of up to 32 bits, float16 or float32 */
    int32_t channels;   /* values of one element: 1, 2 or 4 */
    int32_t object_count;
    int64_t element_bytes;
} cc__texture_form;

typedef struct cc__sampling {
    cc_texture_filter filter;
    cc_texture_read read;
    cc_texture_address address[3];
    bool has_normalized_coordinates;
} cc__sampling;

/* Without a size. PIXEL_TYPE, UNSUPPORTED. */
cc_status cc__texture_form_choose(const char *function, cc_pixel_type type, int32_t components, bool per_component,
                                  cc__texture_form *out_form);
/* INVALID_ARGUMENT, PIXEL_TYPE: what the hardware cannot do with values of this type. `params` are whole. */
cc_status cc__sampling_choose(const char *function, const cc_texture_params *params, cc_pixel_type type,
                              cc__sampling *out_sampling);

bool cc__texture_form_equal(const cc__texture_form *a, const cc__texture_form *b);
bool cc__sampling_equal(const cc__sampling *a, const cc__sampling *b);
/* Of all arrays, as the library counts it; a device may round up. */
size_t cc__texture_form_bytes(const cc__texture_form *form);

#endif
