#include "vectors.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static export_vector *exports;
static geometry_vector *geometries;
static int32_t export_count, geometry_count, other_count;
static const char *current = "the file";

static void refuse(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

static void refuse(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "interop vectors, %s: ", current);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(EXIT_FAILURE);
}

static void check_keys(const json_t *object, const char *const known[])
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        int32_t at = 0;
        while (known[at] != NULL && strcmp(known[at], key) != 0)
            ++at;
        if (known[at] == NULL)
            refuse("%s is not known here", key);
    }
}

static const json_t *member(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (value == NULL)
        refuse("there is no %s", key);
    return value;
}

static int64_t integer(const json_t *value, const char *key)
{
    if (!json_is_integer(value))
        refuse("%s is not a whole number", key);
    return json_integer_value(value);
}

static bool boolean(const json_t *value, const char *key)
{
    if (!json_is_boolean(value))
        refuse("%s is not true or false", key);
    return json_is_true(value);
}

static const char *text(const json_t *value, const char *key)
{
    if (!json_is_string(value))
        refuse("%s is not text", key);
    return json_string_value(value);
}

static int32_t integers(const json_t *value, const char *key, int32_t room, int64_t *out_values)
{
    const int32_t count = (int32_t)json_array_size(value);
    if (!json_is_array(value) || count > room)
        refuse("%s is not a list of at most %d", key, (int)room);
    for (int32_t i = 0; i < count; ++i)
        out_values[i] = integer(json_array_get(value, (size_t)i), key);
    return count;
}

static void numbers(const json_t *value, const char *key, int32_t count, double *out_values)
{
    if (!json_is_array(value) || (int32_t)json_array_size(value) != count)
        refuse("%s is not a list of %d", key, (int)count);
    for (int32_t i = 0; i < count; ++i) {
        const json_t *number = json_array_get(value, (size_t)i);
        if (!json_is_number(number))
            refuse("%s is not a list of numbers", key);
        out_values[i] = json_number_value(number);
    }
}

static cc_pixel_type pixel_type(const char *name)
{
    for (int32_t type = CC_PIXEL_BOOL; type <= CC_PIXEL_COMPLEX128; ++type)
        if (strcmp(cc_pixel_type_name((cc_pixel_type)type), name) == 0)
            return (cc_pixel_type)type;
    refuse("typ = %s is no pixel type", name);
}

/* The names in the file are placeholders for ours. */
static cc_status status_of(const char *name)
{
    static const struct {
        const char *name;
        cc_status status;
    } statuses[] = {{"OK", CC_OK},
                    {"E_OVERFLOW", CC_ERROR_OVERFLOW},
                    {"E_INVALID_ARG", CC_ERROR_INVALID_ARGUMENT},
                    {"E_RANK", CC_ERROR_INVALID_ARGUMENT},
                    {"E_REGION", CC_ERROR_REGION},
                    {"E_ALIGN", CC_ERROR_LAYOUT},
                    {"E_LAYOUT", CC_ERROR_LAYOUT}};
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; ++i)
        if (strcmp(statuses[i].name, name) == 0)
            return statuses[i].status;
    refuse("status = %s is not known here", name);
}

static void read_input(const json_t *input, export_vector *vector)
{
    static const char *const known[] = {"size",  "typ",    "comps",    "order",     "index",
                                        "pitch", "region", "readonly", "comp_axis", NULL};
    const json_t *value;
    check_keys(input, known);
    vector->params = (cc_image_params)CC_IMAGE_PARAMS_INIT;
    vector->params.dimension = integers(member(input, "size"), "size", CC_MAX_DIMENSION, vector->params.region.size);
    vector->params.pixel_type = pixel_type(text(member(input, "typ"), "typ"));
    if ((value = json_object_get(input, "comps")) != NULL)
        vector->params.components = (int32_t)integer(value, "comps");
    if ((value = json_object_get(input, "index")) != NULL)
        (void)integers(value, "index", CC_MAX_DIMENSION, vector->params.region.index);
    if ((value = json_object_get(input, "order")) != NULL)
        vector->order = strcmp(text(value, "order"), "K") == 0 ? CC_ORDER_K : CC_ORDER_C;
    if ((value = json_object_get(input, "pitch")) != NULL)
        vector->pitch_bytes = integer(value, "pitch");
    if ((value = json_object_get(input, "readonly")) != NULL)
        vector->read_only = boolean(value, "readonly");
    if ((value = json_object_get(input, "comp_axis")) != NULL)
        vector->flags = boolean(value, "comp_axis") ? CC_DESCRIBE_COMPONENT_AXIS : 0;
    if ((value = json_object_get(input, "region")) != NULL) {
        vector->has_region = true;
        (void)integers(json_array_get(value, 0), "region", CC_MAX_DIMENSION, vector->region.index);
        (void)integers(json_array_get(value, 1), "region", CC_MAX_DIMENSION, vector->region.size);
    }
}

static void read_expected(const json_t *expect, export_vector *vector)
{
    static const char *const known[] = {"status",
                                        "ndim",
                                        "shape",
                                        "strides_bytes",
                                        "typestr",
                                        "itemsize",
                                        "version",
                                        "cai_strides",
                                        "c_contiguous",
                                        "f_contiguous",
                                        "cai_pointer",
                                        "data_offset_bytes",
                                        "read_only",
                                        "dlpack",
                                        "extent_bytes",
                                        "array_interface_pointer",
                                        "element_count",
                                        "strides_not_compared",
                                        NULL};
    static const char *const known_dlpack[] = {"code",        "bits", "lanes", "strides_elements",
                                               "byte_offset", "data", "flags", NULL};
    int64_t extent[2];
    check_keys(expect, known);
    vector->status = status_of(text(member(expect, "status"), "status"));
    if (vector->status != CC_OK)
        return;
    vector->ndim = (int32_t)integer(member(expect, "ndim"), "ndim");
    if (integers(member(expect, "shape"), "shape", VECTOR_MAX_NDIM, vector->shape) != vector->ndim ||
        integers(member(expect, "strides_bytes"), "strides_bytes", VECTOR_MAX_NDIM, vector->strides_bytes) !=
            vector->ndim)
        refuse("shape or strides_bytes has not ndim entries");
    vector->compares_strides = json_object_get(expect, "strides_not_compared") == NULL;
    const json_t *cai_strides = member(expect, "cai_strides");
    vector->has_cai_strides = !json_is_null(cai_strides);
    if (vector->has_cai_strides)
        (void)integers(cai_strides, "cai_strides", VECTOR_MAX_NDIM, vector->cai_strides);
    snprintf(vector->typestr, sizeof vector->typestr, "%s", text(member(expect, "typestr"), "typestr"));
    vector->itemsize = (int32_t)integer(member(expect, "itemsize"), "itemsize");
    vector->version = (int32_t)integer(member(expect, "version"), "version");
    vector->is_c_contiguous = boolean(member(expect, "c_contiguous"), "c_contiguous");
    vector->is_f_contiguous = boolean(member(expect, "f_contiguous"), "f_contiguous");
    vector->is_read_only = boolean(member(expect, "read_only"), "read_only");
    vector->is_null = strcmp(text(member(expect, "cai_pointer"), "cai_pointer"), "0") == 0;
    vector->data_offset_bytes = integer(member(expect, "data_offset_bytes"), "data_offset_bytes");
    vector->element_count = integer(member(expect, "element_count"), "element_count");
    if (integers(member(expect, "extent_bytes"), "extent_bytes", 2, extent) != 2 || extent[0] != 0)
        refuse("extent_bytes does not begin at the first pixel");
    vector->extent_bytes = extent[1];

    const json_t *dlpack = member(expect, "dlpack");
    check_keys(dlpack, known_dlpack);
    if (integers(member(dlpack, "strides_elements"), "strides_elements", VECTOR_MAX_NDIM, vector->strides_elements) !=
            vector->ndim ||
        integer(member(dlpack, "lanes"), "lanes") != 1 || integer(member(dlpack, "byte_offset"), "byte_offset") != 0)
        refuse("dlpack is not as every row has it");
    vector->element_bits = (int32_t)integer(member(dlpack, "bits"), "bits");
    vector->dlpack_flags = (int32_t)integer(member(dlpack, "flags"), "flags");
}

static void read_geometry(const json_t *row, geometry_vector *vector)
{
    const json_t *input = member(row, "input"), *expect = member(row, "expect");
    cc_image_params *params = &vector->params;
    *params = (cc_image_params)CC_IMAGE_PARAMS_INIT;
    params->pixel_type = CC_PIXEL_UINT8;
    params->dimension =
        integers(member(input, "buffered_index"), "buffered_index", CC_MAX_DIMENSION, params->region.index);
    numbers(member(input, "origin"), "origin", params->dimension, params->origin);
    numbers(member(input, "spacing"), "spacing", params->dimension, params->spacing);
    for (int32_t i = 0; i < params->dimension; ++i) {
        params->region.size[i] = 1;
        numbers(json_array_get(member(input, "direction"), (size_t)i), "direction", params->dimension,
                params->direction[i]);
    }
    (void)integers(member(input, "array_index_C"), "array_index_C", CC_MAX_DIMENSION, vector->array_index);
    (void)integers(member(expect, "image_index"), "image_index", CC_MAX_DIMENSION, vector->image_index);
    numbers(member(expect, "physical_point"), "physical_point", params->dimension, vector->point);
    numbers(member(expect, "array_origin_point"), "array_origin_point", params->dimension, vector->first_point);
}

void vectors_load(const char *path)
{
    json_error_t error;
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (root == NULL)
        refuse("%s, line %d: %s", path, error.line, error.text);
    const json_t *rows = member(root, "vectors");
    const size_t count = json_array_size(rows);
    exports = calloc(count + 1, sizeof *exports);
    geometries = calloc(count + 1, sizeof *geometries);
    if (exports == NULL || geometries == NULL)
        refuse("no memory for %zu rows", count);
    for (size_t i = 0; i < count; ++i) {
        const json_t *row = json_array_get(rows, i);
        const char *kind = text(member(row, "kind"), "kind");
        current = text(member(row, "id"), "id");
        if (strcmp(kind, "export") == 0) {
            export_vector *vector = &exports[export_count++];
            snprintf(vector->id, sizeof vector->id, "%s", current);
            read_input(member(row, "input"), vector);
            read_expected(member(row, "expect"), vector);
        } else if (strcmp(kind, "geometry") == 0) {
            geometry_vector *vector = &geometries[geometry_count++];
            snprintf(vector->id, sizeof vector->id, "%s", current);
            read_geometry(row, vector);
        } else {
            ++other_count;
        }
    }
    json_decref(root);
}

void vectors_free(void)
{
    free(exports);
    free(geometries);
}

int32_t export_vector_count(void)
{
    return export_count;
}

const export_vector *export_vector_at(int32_t at)
{
    return &exports[at];
}

int32_t geometry_vector_count(void)
{
    return geometry_count;
}

const geometry_vector *geometry_vector_at(int32_t at)
{
    return &geometries[at];
}

int32_t other_vector_count(void)
{
    return other_count;
}
