#include "support/numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STORE(C_TYPE)                                                                                                  \
    {                                                                                                                  \
        const C_TYPE as_type = (C_TYPE)value;                                                                          \
        memcpy(component, &as_type, sizeof as_type);                                                                   \
        break;                                                                                                         \
    }

#define LOAD(C_TYPE)                                                                                                   \
    {                                                                                                                  \
        C_TYPE as_type;                                                                                                \
        memcpy(&as_type, component, sizeof as_type);                                                                   \
        return (double)as_type;                                                                                        \
    }

void numbers_store(cc_pixel_type type, double value, void *component)
{
    switch (type) {
    case CC_PIXEL_BOOL:
    case CC_PIXEL_UINT8:
        STORE(uint8_t)
    case CC_PIXEL_INT8:
        STORE(int8_t)
    case CC_PIXEL_UINT16:
        STORE(uint16_t)
    case CC_PIXEL_INT16:
        STORE(int16_t)
    case CC_PIXEL_UINT32:
        STORE(uint32_t)
    case CC_PIXEL_INT32:
        STORE(int32_t)
    case CC_PIXEL_UINT64:
        STORE(uint64_t)
    case CC_PIXEL_INT64:
        STORE(int64_t)
    case CC_PIXEL_FLOAT32:
    case CC_PIXEL_COMPLEX64:
        STORE(float)
    case CC_PIXEL_FLOAT64:
    case CC_PIXEL_COMPLEX128:
        STORE(double)
    case CC_PIXEL_FLOAT16:
    case CC_PIXEL_BFLOAT16:
        break;
    }
}

double numbers_load(cc_pixel_type type, const void *component)
{
    switch (type) {
    case CC_PIXEL_BOOL:
    case CC_PIXEL_UINT8:
        LOAD(uint8_t)
    case CC_PIXEL_INT8:
        LOAD(int8_t)
    case CC_PIXEL_UINT16:
        LOAD(uint16_t)
    case CC_PIXEL_INT16:
        LOAD(int16_t)
    case CC_PIXEL_UINT32:
        LOAD(uint32_t)
    case CC_PIXEL_INT32:
        LOAD(int32_t)
    case CC_PIXEL_UINT64:
        LOAD(uint64_t)
    case CC_PIXEL_INT64:
        LOAD(int64_t)
    case CC_PIXEL_FLOAT32:
    case CC_PIXEL_COMPLEX64:
        LOAD(float)
    case CC_PIXEL_FLOAT64:
    case CC_PIXEL_COMPLEX128:
        LOAD(double)
    case CC_PIXEL_FLOAT16:
    case CC_PIXEL_BFLOAT16:
        break;
    }
    ck_abort_msg("numbers of type %s are not plain", cc_pixel_type_name(type));
    return 0;
}

static size_t number_bytes(cc_pixel_type type)
{
    const bool is_complex = type == CC_PIXEL_COMPLEX64 || type == CC_PIXEL_COMPLEX128;
    return cc_pixel_type_size_bytes(type) / (is_complex ? 2 : 1);
}

int64_t numbers_count(const cc_image *image)
{
    return (int64_t)(cc_image_get_size_bytes(image) / number_bytes(cc_image_get_pixel_type(image)));
}

void numbers_put(cc_image *image, const double *values)
{
    const cc_pixel_type type = cc_image_get_pixel_type(image);
    const int64_t count = numbers_count(image);
    void *pixels = NULL;
    fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_WRITE, &pixels));
    for (int64_t n = 0; n < count; ++n)
        numbers_store(type, values[n], (unsigned char *)pixels + (size_t)n * number_bytes(type));
    fixture_ok(cc_image_unmap_host(image, pixels));
}

void numbers_put_squares(cc_image *image, double first, double step)
{
    const int64_t count = numbers_count(image);
    double *values = malloc((size_t)count * sizeof *values);
    ck_assert_ptr_nonnull(values);
    for (int64_t n = 0; n < count; ++n)
        values[n] = first + step * (double)(n * n % 17);
    numbers_put(image, values);
    free(values);
}

cc_image *numbers_image(cc_pixel_type type, int32_t components, int64_t i, int64_t j, const double *values)
{
    cc_image *image = fixture_image(type, components, 2, i, j, 1);
    numbers_put(image, values);
    return image;
}

double *numbers_of(cc_image *image)
{
    const cc_pixel_type type = cc_image_get_pixel_type(image);
    const int64_t count = numbers_count(image);
    double *numbers = malloc((size_t)count * sizeof *numbers);
    void *pixels = NULL;
    ck_assert_ptr_nonnull(numbers);
    fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_READ, &pixels));
    for (int64_t n = 0; n < count; ++n)
        numbers[n] = numbers_load(type, (unsigned char *)pixels + (size_t)n * number_bytes(type));
    fixture_ok(cc_image_unmap_host(image, pixels));
    return numbers;
}

void numbers_expect(cc_image *image, const double *expected)
{
    double *found = numbers_of(image);
    for (int64_t n = 0; n < numbers_count(image); ++n) {
        const bool same =
            isnan(expected[n]) ? isnan(found[n]) : found[n] == expected[n] && signbit(found[n]) == signbit(expected[n]);
        if (!same)
            ck_abort_msg("number %lld is %.17g, expected %.17g", (long long)n, found[n], expected[n]);
    }
    free(found);
}
