/* Pixel types: what one component of a pixel is. */
#ifndef CUDACOMMON_PIXEL_H
#define CUDACOMMON_PIXEL_H

#include <cudacommon/export.h>
#include <cudacommon/status.h>
#include <stddef.h>
#include <stdint.h>

CC_BEGIN_DECLS

/* The most components one pixel can have. */
#define CC_MAX_COMPONENTS 64

/* Integers are two's complement, floats IEEE 754, complex is real then imaginary; all in native byte order. */
typedef enum cc_pixel_type {
    CC_PIXEL_BOOL = 0, /* one byte, 0 or 1 */
    CC_PIXEL_UINT8 = 1,
    CC_PIXEL_INT8 = 2,
    CC_PIXEL_UINT16 = 3,
    CC_PIXEL_INT16 = 4,
    CC_PIXEL_UINT32 = 5,
    CC_PIXEL_INT32 = 6,
    CC_PIXEL_UINT64 = 7,
    CC_PIXEL_INT64 = 8,
    CC_PIXEL_FLOAT16 = 9,
    CC_PIXEL_BFLOAT16 = 10,
    CC_PIXEL_FLOAT32 = 11,
    CC_PIXEL_FLOAT64 = 12,
    CC_PIXEL_COMPLEX64 = 13,
    CC_PIXEL_COMPLEX128 = 14
} cc_pixel_type;

/**
 * Bytes of one component (complex counts as one component: 8 or 16). 0 for an unknown type.
 * Thread safety: any thread. Does not block. Since 2.0.
 */
CC_API size_t cc_pixel_type_size_bytes(cc_pixel_type type);

/**
 * A short name: "bool", "u8", "i16", "f32", "bf16", "c64" and so on; "unknown" for an unknown type.
 * Ownership: a static string. Thread safety: any thread. Does not block. Since 2.0.
 */
CC_API const char *cc_pixel_type_name(cc_pixel_type type);

/**
 * The NumPy type string, little-endian hosts: "|u1", "<f4", "<c8". "" for bfloat16, which has none, and for an unknown
 * type.
 * Ownership: a static string. Thread safety: any thread. Does not block. Since 2.0.
 * Source: NumPy, "The array interface protocol", typestr.
 */
CC_API const char *cc_pixel_type_typestr(cc_pixel_type type);

CC_END_DECLS

#endif
