/*
 * Components on which rescaling goes wrong if it can: zeros, halves, limits of every other type, subnormals,
 * infinities, NaNs; and factors that show an intermediate rounded too often or too seldom.
 * tests/data/make_rescale_reference reads the lists in this file, so that the reference has these cases too.
 */
#ifndef CC_TESTS_RESCALE_CASES_H
#define CC_TESTS_RESCALE_CASES_H

#include <cudacommon/pixel.h>
#include <stdint.h>
#include <string.h>

/* Bits of a component. */
static const uint64_t rescale_cases_bool[] = {0x00, 0x01};

static const uint64_t rescale_cases_8_bits[] = {0x00, 0x01, 0x02, 0x03, 0x05, 0x2a, 0x7e, 0x7f,
                                                0x80, 0x81, 0xaa, 0xd6, 0xfd, 0xfe, 0xff};

static const uint64_t rescale_cases_16_bits[] = {0x0000, 0x0001, 0x0002, 0x0003, 0x007f, 0x0080, 0x0081, 0x00fe, 0x00ff,
                                                 0x0100, 0x0101, 0x03e8, 0x0fff, 0x1001, 0x7ffe, 0x7fff, 0x8000, 0x8001,
                                                 0xfc18, 0xff7f, 0xff80, 0xff81, 0xfffd, 0xfffe, 0xffff};

static const uint64_t rescale_cases_32_bits[] = {
    0x00000000, 0x00000001, 0x00000002, 0x00000003, 0x0000007f, 0x00000080, 0x000000ff, 0x00000100, 0x00007fff,
    0x00008000, 0x0000ffff, 0x00010000, 0x00ffffff, 0x01000001, 0x01000003, 0x7ffffffe, 0x7fffffff, 0x80000000,
    0x80000001, 0xff000001, 0xfffeffff, 0xffff7fff, 0xffff8000, 0xffffff7f, 0xffffff80, 0xfffffffd, 0xffffffff};

/* Around 2^24, 2^32, 2^53 and the limits, where float64 and float32 no longer hold every integer. */
static const uint64_t rescale_cases_64_bits[] = {
    0x0000000000000000, 0x0000000000000001, 0x0000000000000003, 0x000000000000007f, 0x00000000000000ff,
    0x000000000000ffff, 0x0000000001000001, 0x000000007fffffff, 0x0000000080000000, 0x00000000ffffffff,
    0x0000000100000000, 0x001fffffffffffff, 0x0020000000000000, 0x0020000000000001, 0x0020000000000003,
    0x0040000000000002, 0x0040000000000006, 0x7ffffffffffffc00, 0x7ffffffffffffdff, 0x7ffffffffffffe00,
    0x7ffffffffffffffe, 0x7fffffffffffffff, 0x8000000000000000, 0x8000000000000001, 0xfffffffffffff800,
    0xfffffffffffffbff, 0xfffffffffffffc00, 0xffdfffffffffffff, 0xffffffff7fffffff, 0xffffffff80000000,
    0xffffffffffff7fff, 0xffffffffffffff80, 0xfffffffffffffffe, 0xffffffffffffffff};

static const uint64_t rescale_cases_float16[] = {
    0x0000, 0x8000, 0x0001, 0x8001, 0x0002, 0x03ff, 0x83ff, 0x0400, 0x8400, 0x3555, 0x3800, 0xb800,
    0x3801, 0x37ff, 0x3c00, 0xbc00, 0x3e00, 0xbe00, 0x4100, 0xc100, 0x57f8, 0x5bf8, 0x5bfc, 0x6400,
    0x77ff, 0x7800, 0xf800, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7c01, 0x7e00, 0x7fff, 0xfe00, 0xffff};

static const uint64_t rescale_cases_bfloat16[] = {
    0x0000, 0x8000, 0x0001, 0x8001, 0x007f, 0x0080, 0x8080, 0x3380, 0x3300, 0x3f00, 0xbf00, 0x3f80,
    0xbf80, 0x3fc0, 0x4020, 0xc020, 0x42ff, 0x437f, 0x4380, 0x477f, 0x4780, 0x4f00, 0x4f80, 0x5f00,
    0xdf00, 0x5f80, 0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7f81, 0x7fc0, 0x7fff, 0xffc0, 0xffff};

static const uint64_t rescale_cases_float32[] = {
    0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff, 0x00800000, 0x80800000, 0x33000000, 0x33000001,
    0x32ffffff, 0x33800000, 0x33c00000, 0x387fffff, 0x3eaaaaab, 0x3effffff, 0x3f000000, 0xbf000000, 0x3f000001,
    0x3f800000, 0xbf800000, 0x3f801000, 0x3f801001, 0x3f803000, 0x3f808000, 0x3f808001, 0x3f818000, 0x3fc00000,
    0x40200000, 0xc0200000, 0x42fe0000, 0x42ff0000, 0x43000000, 0xc3008000, 0x437f8000, 0x43800000, 0x46fffe00,
    0x46ffff00, 0x47000000, 0xc7000080, 0x477fdfff, 0x477fe000, 0x477fef00, 0x477ff000, 0x477fff80, 0x47800000,
    0x4effffff, 0x4f000000, 0xcf000000, 0xcf000001, 0x4f7fffff, 0x4f800000, 0x5effffff, 0x5f000000, 0xdf000000,
    0x5f7fffff, 0x5f800000, 0x7f7f7fff, 0x7f7f8000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7f800001,
    0x7fc00000, 0x7fffffff, 0xffc00000, 0xffffffff};

static const uint64_t rescale_cases_float64[] = {
    0x0000000000000000, 0x8000000000000000, 0x0000000000000001, 0x8000000000000001, 0x000fffffffffffff,
    0x0010000000000000, /* around 0 and the least normal one */
    0x3690000000000000, 0x3690000000000001, 0x368fffffffffffff, 0x36a0000000000000, 0x36a8000000000000,
    0x380fffffe0000000, 0x380ffffff0000000, 0xb6a8000000000000, /* float32: 2^-150, 2^-149, subnormal */
    0x3790000000000000, 0x3790000000000001, 0x37a8000000000000, 0x380fc00000000000, 0x380fe00000000000,
    0xb790000000000001, /* bfloat16: 2^-134, 1.5 * 2^-133, subnormal */
    0x3e60000000000000, 0x3e60000000000001, 0x3e5fffffffffffff, 0x3e78000000000000, 0x3f0ff80000000000,
    0x3f0ffc0000000000, 0xbe60000000000001, /* float16: 2^-25, 1.5 * 2^-24, subnormal */
    0x3fdfffffffffffff, 0x3fe0000000000000, 0x3fe0000000000001, 0xbfdfffffffffffff, 0xbfe0000000000000,
    0xbfe0000000000001, 0x3ff0000000000000, 0xbff0000000000000, 0x3ff8000000000000, 0xbff8000000000000,
    0x4004000000000000, 0xc004000000000000, 0x3fd5555555555555, /* halves */
    0x3ff0020000000000, 0x3ff0020000000001, 0x3ff001ffffffffff, 0x3ff0060000000000, 0x3ff0100000000000,
    0x3ff0100000000001, 0x3ff00fffffffffff, 0x3ff0300000000000, 0x3ff0000010000000, 0x3ff0000010000001,
    0x3ff0000030000000, /* halfway in float16, bfloat16, float32, and a bit beside: one rounding, not two */
    0x405fa00000000000, 0x405fe00000000000, 0xc060000000000000, 0xc060080000000000, 0xc060100000000001,
    0x406fd00000000000, 0x406fe00000000000, 0x406ff00000000000, 0x4070000000000000, /* 8 bits */
    0x40dfffa000000000, 0x40dfffc000000000, 0x40dfffe000000000, 0xc0e0000000000000, 0xc0e0001000000001,
    0x40efffd000000000, 0x40efffe000000000, 0x40effff000000000, 0x40f0000000000000, /* 16 bits */
    0x40effc0000000000, 0x40effdffffffffff, 0x40effe0000000000, 0xc0effe0000000000, /* 65504, 65520 */
    0x41dfffffffa00000, 0x41dfffffffc00000, 0x41dfffffffe00000, 0x41e0000000000000, 0xc1e0000000000000,
    0xc1e0000000100000, 0xc1e0000000200000, 0x41efffffffd00000, 0x41efffffffe00000, 0x41effffffff00000,
    0x41f0000000000000, /* 32 bits */
    0x431ffffffffffffe, 0x431fffffffffffff, 0x4320000000000001, 0x4320000000000003, 0x432fffffffffffff,
    0x4330000000000001, 0xc31fffffffffffff, 0xc32fffffffffffff, 0x4340000000000000, /* 2^51, 2^52, 2^53 */
    0x43dfffffffffffff, 0x43e0000000000000, 0xc3dfffffffffffff, 0xc3e0000000000000, 0xc3e0000000000001,
    0x43efffffffffffff, 0x43f0000000000000, /* 64 bits */
    0x47efdfffffffffff, 0x47efe00000000000, 0x47eff00000000000, 0x47efffffe0000000, 0x47efffffefffffff,
    0x47effffff0000000, 0xc7effffff0000000, 0x47f0000000000000, /* the greatest bfloat16 and float32 */
    0x7fefffffffffffff, 0xffefffffffffffff, 0x7ff0000000000000, 0xfff0000000000000, 0x7ff0000000000001,
    0x7ff8000000000000, 0x7fffffffffffffff, 0xfff8000000000000, 0xffffffffffffffff};

/* Scale and shift. The first is a cast. With {0.1, -0.3}, 3 gives another result where the two are fused. */
static const double rescale_factors[][2] = {
    {1.0, 0.0},     {1.0, -0.0},    {0.5, 0.0},        {-1.0, 0.0}, {0.1, -0.3},        {1.0, 0.5},
    {0x1p63, -1.0}, {1e300, 1e300}, {-1e-320, 1e-320}, {0.0, 0.0},  {1.0 / 3.0, 100.0}, {-257.5, 0.25},
};

#define RESCALE_FACTORS ((int32_t)(sizeof rescale_factors / sizeof rescale_factors[0]))
#define RESCALE_LIST(list) (*out_count = (int32_t)(sizeof(list) / sizeof(list)[0]), (list))

/* The list for a type; for a complex one, that of its parts. */
static inline const uint64_t *rescale_case_list(cc_pixel_type type, int32_t *out_count)
{
    switch (type) {
    case CC_PIXEL_BOOL:
        return RESCALE_LIST(rescale_cases_bool);
    case CC_PIXEL_UINT8:
    case CC_PIXEL_INT8:
        return RESCALE_LIST(rescale_cases_8_bits);
    case CC_PIXEL_UINT16:
    case CC_PIXEL_INT16:
        return RESCALE_LIST(rescale_cases_16_bits);
    case CC_PIXEL_UINT32:
    case CC_PIXEL_INT32:
        return RESCALE_LIST(rescale_cases_32_bits);
    case CC_PIXEL_UINT64:
    case CC_PIXEL_INT64:
        return RESCALE_LIST(rescale_cases_64_bits);
    case CC_PIXEL_FLOAT16:
        return RESCALE_LIST(rescale_cases_float16);
    case CC_PIXEL_BFLOAT16:
        return RESCALE_LIST(rescale_cases_bfloat16);
    case CC_PIXEL_FLOAT32:
    case CC_PIXEL_COMPLEX64:
        return RESCALE_LIST(rescale_cases_float32);
    case CC_PIXEL_FLOAT64:
    case CC_PIXEL_COMPLEX128:
        return RESCALE_LIST(rescale_cases_float64);
    }
    *out_count = 0;
    return 0;
}

/* Writes case number `number`, which may be any >= 0: they repeat. Complex parts are paired differently every round. */
static inline void rescale_case_write(cc_pixel_type type, int64_t number, void *out_component)
{
    int32_t count;
    const uint64_t *list = rescale_case_list(type, &count);
    size_t bytes = cc_pixel_type_size_bytes(type);
    int64_t round = number / count;
    if (type == CC_PIXEL_COMPLEX64 || type == CC_PIXEL_COMPLEX128) {
        bytes /= 2;
        memcpy((unsigned char *)out_component + bytes, &list[(number * 5 + round) % count], bytes);
    }
    memcpy(out_component, &list[number % count], bytes);
}

#endif
