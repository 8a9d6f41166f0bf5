#include <cudacommon/pixel.h>

size_t cc_pixel_type_size_bytes(cc_pixel_type type)
{
    switch (type) {
    case CC_PIXEL_BOOL:
    case CC_PIXEL_UINT8:
    case CC_PIXEL_INT8:
        return 1;
    case CC_PIXEL_UINT16:
    case CC_PIXEL_INT16:
    case CC_PIXEL_FLOAT16:
    case CC_PIXEL_BFLOAT16:
        return 2;
    case CC_PIXEL_UINT32:
    case CC_PIXEL_INT32:
    case CC_PIXEL_FLOAT32:
        return 4;
    case CC_PIXEL_UINT64:
    case CC_PIXEL_INT64:
    case CC_PIXEL_FLOAT64:
    case CC_PIXEL_COMPLEX64:
        return 8;
    case CC_PIXEL_COMPLEX128:
        return 16;
    }
    return 0;
}

const char *cc_pixel_type_name(cc_pixel_type type)
{
    switch (type) {
    case CC_PIXEL_BOOL:
        return "bool";
    case CC_PIXEL_UINT8:
        return "u8";
    case CC_PIXEL_INT8:
        return "i8";
    case CC_PIXEL_UINT16:
        return "u16";
    case CC_PIXEL_INT16:
        return "i16";
    case CC_PIXEL_UINT32:
        return "u32";
    case CC_PIXEL_INT32:
        return "i32";
    case CC_PIXEL_UINT64:
        return "u64";
    case CC_PIXEL_INT64:
        return "i64";
    case CC_PIXEL_FLOAT16:
        return "f16";
    case CC_PIXEL_BFLOAT16:
        return "bf16";
    case CC_PIXEL_FLOAT32:
        return "f32";
    case CC_PIXEL_FLOAT64:
        return "f64";
    case CC_PIXEL_COMPLEX64:
        return "c64";
    case CC_PIXEL_COMPLEX128:
        return "c128";
    }
    return "unknown";
}

const char *cc_pixel_type_typestr(cc_pixel_type type)
{
    switch (type) {
    case CC_PIXEL_BOOL:
        return "|b1";
    case CC_PIXEL_UINT8:
        return "|u1";
    case CC_PIXEL_INT8:
        return "|i1";
    case CC_PIXEL_UINT16:
        return "<u2";
    case CC_PIXEL_INT16:
        return "<i2";
    case CC_PIXEL_UINT32:
        return "<u4";
    case CC_PIXEL_INT32:
        return "<i4";
    case CC_PIXEL_UINT64:
        return "<u8";
    case CC_PIXEL_INT64:
        return "<i8";
    case CC_PIXEL_FLOAT16:
        return "<f2";
    case CC_PIXEL_BFLOAT16:
        return "";
    case CC_PIXEL_FLOAT32:
        return "<f4";
    case CC_PIXEL_FLOAT64:
        return "<f8";
    case CC_PIXEL_COMPLEX64:
        return "<c8";
    case CC_PIXEL_COMPLEX128:
        return "<c16";
    }
    return "";
}
