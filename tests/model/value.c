#include "value.h"

#include <math.h>
#include <string.h>

static const value_kind kinds[] = {{CC_PIXEL_BOOL, 1},    {CC_PIXEL_UINT8, 1},   {CC_PIXEL_UINT8, 3},
                                   {CC_PIXEL_INT16, 1},   {CC_PIXEL_INT16, 3},   {CC_PIXEL_FLOAT32, 1},
                                   {CC_PIXEL_FLOAT32, 3}, {CC_PIXEL_FLOAT64, 1}, {CC_PIXEL_COMPLEX64, 1},
                                   {CC_PIXEL_INT32, 1},   {CC_PIXEL_FLOAT64, 2}, {CC_PIXEL_UINT16, 1}};

#define KIND_COUNT ((int64_t)(sizeof kinds / sizeof kinds[0]))

value_kind value_kind_random(random_source *source)
{
    return kinds[random_below(source, KIND_COUNT)];
}

value_kind value_kind_huge(void)
{
    return (value_kind){CC_PIXEL_COMPLEX128, CC_MAX_COMPONENTS};
}

cc_pixel_type value_type_random(random_source *source)
{
    return kinds[random_below(source, KIND_COUNT)].type;
}

/* A component as numbers: the imaginary part of a real one is 0. */
typedef struct number {
    double real;
    double imaginary;
} number;

static number load(cc_pixel_type type, const unsigned char *bytes)
{
    number value = {0, 0};
    union {
        uint8_t u8;
        uint16_t u16;
        int16_t i16;
        int32_t i32;
        uint64_t u64;
        float f32[2];
        double f64[2];
    } as;
    memcpy(&as, bytes, cc_pixel_type_size_bytes(type));
    if (type == CC_PIXEL_BOOL || type == CC_PIXEL_UINT8)
        value.real = as.u8;
    else if (type == CC_PIXEL_UINT16)
        value.real = as.u16;
    else if (type == CC_PIXEL_INT16)
        value.real = as.i16;
    else if (type == CC_PIXEL_INT32)
        value.real = as.i32;
    else if (type == CC_PIXEL_UINT64)
        value.real = (double)as.u64;
    else if (type == CC_PIXEL_FLOAT32)
        value.real = as.f32[0];
    else if (type == CC_PIXEL_FLOAT64)
        value.real = as.f64[0];
    else if (type == CC_PIXEL_COMPLEX64)
        value = (number){as.f32[0], as.f32[1]};
    else
        value = (number){as.f64[0], as.f64[1]};
    return value;
}

/* Half to even, then into the range. */
static double to_integer(double value, double lowest, double highest)
{
    const double rounded = nearbyint(value);
    return rounded < lowest ? lowest : rounded > highest ? highest : rounded;
}

static void store(cc_pixel_type type, number value, unsigned char *bytes)
{
    union {
        uint8_t u8;
        uint16_t u16;
        int16_t i16;
        int32_t i32;
        uint64_t u64;
        float f32[2];
        double f64[2];
    } as;
    memset(&as, 0, sizeof as);
    if (type == CC_PIXEL_BOOL)
        as.u8 = value.real != 0 || value.imaginary != 0;
    else if (type == CC_PIXEL_UINT8)
        as.u8 = (uint8_t)to_integer(value.real, 0, 255);
    else if (type == CC_PIXEL_UINT16)
        as.u16 = (uint16_t)to_integer(value.real, 0, 65535);
    else if (type == CC_PIXEL_INT16)
        as.i16 = (int16_t)to_integer(value.real, -32768, 32767);
    else if (type == CC_PIXEL_INT32)
        as.i32 = (int32_t)to_integer(value.real, -2147483648.0, 2147483647.0);
    else if (type == CC_PIXEL_UINT64)
        as.u64 = value.real >= 0x1p64 ? UINT64_MAX : (uint64_t)to_integer(value.real, 0, 0x1.fffffffffffffp63);
    else if (type == CC_PIXEL_FLOAT32 || type == CC_PIXEL_COMPLEX64)
        as.f32[0] = (float)value.real, as.f32[1] = (float)value.imaginary;
    else
        as.f64[0] = value.real, as.f64[1] = value.imaginary;
    memcpy(bytes, &as, cc_pixel_type_size_bytes(type));
}

bool value_is_complex(cc_pixel_type type)
{
    return type == CC_PIXEL_COMPLEX64 || type == CC_PIXEL_COMPLEX128;
}

/* Quarters, which every float holds exactly. */
static double random_number(random_source *source, cc_pixel_type type)
{
    const double quarters = (double)(random_below(source, 80001) - 40000) / 4;
    if (type == CC_PIXEL_BOOL)
        return quarters > 0;
    if (type == CC_PIXEL_UINT8)
        return fabs(quarters) / 40;
    return type == CC_PIXEL_UINT16 || type == CC_PIXEL_UINT64 ? fabs(quarters) : quarters;
}

void value_random(random_source *source, cc_pixel_type type, int32_t components, unsigned char *out_pixel)
{
    for (int32_t i = 0; i < components; i++) {
        const double real = random_number(source, type);
        const double imaginary = value_is_complex(type) ? random_number(source, type) : 0;
        store(type, (number){real, imaginary}, out_pixel + (size_t)i * cc_pixel_type_size_bytes(type));
    }
}

void value_rescale(cc_pixel_type from, const unsigned char *pixel, double scale, double shift, cc_pixel_type to,
                   int32_t components, unsigned char *out_pixel)
{
    for (int32_t i = 0; i < components; i++) {
        number value = load(from, pixel + (size_t)i * cc_pixel_type_size_bytes(from));
        if (scale != 1 || shift != 0) {
            value.real = value.real * scale + shift;
            if (value_is_complex(from))
                value.imaginary = value.imaginary * scale;
        }
        store(to, value, out_pixel + (size_t)i * cc_pixel_type_size_bytes(to));
    }
}

void value_subtract(cc_pixel_type first_type, const unsigned char *first, cc_pixel_type second_type,
                    const unsigned char *second, cc_pixel_type to, int32_t components, unsigned char *out_pixel)
{
    for (int32_t i = 0; i < components; i++) {
        const number x = load(first_type, first + (size_t)i * cc_pixel_type_size_bytes(first_type));
        const number y = load(second_type, second + (size_t)i * cc_pixel_type_size_bytes(second_type));
        store(to, (number){x.real - y.real, x.imaginary - y.imaginary},
              out_pixel + (size_t)i * cc_pixel_type_size_bytes(to));
    }
}

double value_get(cc_pixel_type type, const unsigned char *component)
{
    return load(type, component).real;
}

void value_set(cc_pixel_type type, double value, unsigned char *out_component)
{
    store(type, (number){value, 0}, out_component);
}
