#include "base/typestr.h"

#include "base/error.h"

#include <cudacommon/import.h>
#include <cudacommon/pixel.h>
#include <stdbool.h>
#include <string.h>

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

cc_status cc__typestr_parse(const char *function, const char *typestr, cc_pixel_type *out_type)
{
    const char order = typestr[0];
    for (int32_t type = CC_PIXEL_BOOL; type <= CC_PIXEL_COMPLEX128; ++type) {
        const char *known = cc_pixel_type_typestr((cc_pixel_type)type);
        if (order == '\0' || known[0] == '\0' || strcmp(typestr + 1, known + 1) != 0)
            continue;
        const bool has_byte_order = known[0] != '|';
        if (order == '>' && has_byte_order)
            return cc__fail(CC_ERROR_UNSUPPORTED, "%s: typestr = \"%s\", expected native byte order, \"%s\"", function,
                            typestr, known);
        if (order != '<' && order != '=' && order != '|' && order != '>')
            break;
        *out_type = (cc_pixel_type)type;
        return CC_OK;
    }
    return cc__fail(CC_ERROR_PIXEL_TYPE, "%s: typestr = \"%.20s\", expected one of a pixel type, as \"<f4\"", function,
                    typestr);
}

cc_status cc_typestr_parse(const char *typestr, cc_pixel_type *out_type)
{
    static const char *const function = "cc_typestr_parse";
    if (typestr == NULL || out_type == NULL)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: %s = NULL, expected a pointer", function,
                        typestr == NULL ? "typestr" : "out_type");
    return cc__typestr_parse(function, typestr, out_type);
}
