#include "vectors.h"

#include "json_row.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static export_vector *exports;
static geometry_vector *geometries;
static int32_t export_count, geometry_count, other_count;

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
    row_refuse("status = %s is not known here", name);
}

static void read_input(const json_t *input, export_vector *vector)
{
    static const char *const known[] = {"size",  "typ",    "comps",    "order",     "index",
                                        "pitch", "region", "readonly", "comp_axis", NULL};
    const json_t *value;
    row_check_keys(input, known);
    vector->params = (cc_image_params)CC_IMAGE_PARAMS_INIT;
    vector->params.dimension =
        row_integers(row_member(input, "size"), "size", CC_MAX_DIMENSION, vector->params.region.size);
    vector->params.pixel_type = row_pixel_type(row_text(row_member(input, "typ"), "typ"));
    if ((value = json_object_get(input, "comps")) != NULL)
        vector->params.components = (int32_t)row_integer(value, "comps");
    if ((value = json_object_get(input, "index")) != NULL)
        (void)row_integers(value, "index", CC_MAX_DIMENSION, vector->params.region.index);
    if ((value = json_object_get(input, "order")) != NULL)
        vector->order = strcmp(row_text(value, "order"), "K") == 0 ? CC_ORDER_K : CC_ORDER_C;
    if ((value = json_object_get(input, "pitch")) != NULL)
        vector->pitch_bytes = row_integer(value, "pitch");
    if ((value = json_object_get(input, "readonly")) != NULL)
        vector->read_only = row_boolean(value, "readonly");
    if ((value = json_object_get(input, "comp_axis")) != NULL)
        vector->flags = row_boolean(value, "comp_axis") ? CC_DESCRIBE_COMPONENT_AXIS : 0;
    if ((value = json_object_get(input, "region")) != NULL) {
        vector->has_region = true;
        (void)row_integers(json_array_get(value, 0), "region", CC_MAX_DIMENSION, vector->region.index);
        (void)row_integers(json_array_get(value, 1), "region", CC_MAX_DIMENSION, vector->region.size);
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
    row_check_keys(expect, known);
    vector->status = status_of(row_text(row_member(expect, "status"), "status"));
    if (vector->status != CC_OK)
        return;
    vector->ndim = (int32_t)row_integer(row_member(expect, "ndim"), "ndim");
    if (row_integers(row_member(expect, "shape"), "shape", VECTOR_MAX_NDIM, vector->shape) != vector->ndim ||
        row_integers(row_member(expect, "strides_bytes"), "strides_bytes", VECTOR_MAX_NDIM, vector->strides_bytes) !=
            vector->ndim)
        row_refuse("shape or strides_bytes has not ndim entries");
    vector->compares_strides = json_object_get(expect, "strides_not_compared") == NULL;
    const json_t *cai_strides = row_member(expect, "cai_strides");
    vector->has_cai_strides = !json_is_null(cai_strides);
    if (vector->has_cai_strides)
        (void)row_integers(cai_strides, "cai_strides", VECTOR_MAX_NDIM, vector->cai_strides);
    snprintf(vector->typestr, sizeof vector->typestr, "%s", row_text(row_member(expect, "typestr"), "typestr"));
    vector->itemsize = (int32_t)row_integer(row_member(expect, "itemsize"), "itemsize");
    vector->version = (int32_t)row_integer(row_member(expect, "version"), "version");
    vector->is_c_contiguous = row_boolean(row_member(expect, "c_contiguous"), "c_contiguous");
    vector->is_f_contiguous = row_boolean(row_member(expect, "f_contiguous"), "f_contiguous");
    vector->is_read_only = row_boolean(row_member(expect, "read_only"), "read_only");
    vector->is_null = strcmp(row_text(row_member(expect, "cai_pointer"), "cai_pointer"), "0") == 0;
    vector->data_offset_bytes = row_integer(row_member(expect, "data_offset_bytes"), "data_offset_bytes");
    vector->element_count = row_integer(row_member(expect, "element_count"), "element_count");
    if (row_integers(row_member(expect, "extent_bytes"), "extent_bytes", 2, extent) != 2 || extent[0] != 0)
        row_refuse("extent_bytes does not begin at the first pixel");
    vector->extent_bytes = extent[1];

    const json_t *dlpack = row_member(expect, "dlpack");
    row_check_keys(dlpack, known_dlpack);
    if (row_integers(row_member(dlpack, "strides_elements"), "strides_elements", VECTOR_MAX_NDIM,
                     vector->strides_elements) != vector->ndim ||
        row_integer(row_member(dlpack, "lanes"), "lanes") != 1 ||
        row_integer(row_member(dlpack, "byte_offset"), "byte_offset") != 0)
        row_refuse("dlpack is not as every row has it");
    vector->element_code = (int32_t)row_integer(row_member(dlpack, "code"), "code");
    vector->element_bits = (int32_t)row_integer(row_member(dlpack, "bits"), "bits");
    vector->dlpack_flags = (int32_t)row_integer(row_member(dlpack, "flags"), "flags");
}

static void read_geometry(const json_t *row, geometry_vector *vector)
{
    const json_t *input = row_member(row, "input"), *expect = row_member(row, "expect");
    cc_image_params *params = &vector->params;
    *params = (cc_image_params)CC_IMAGE_PARAMS_INIT;
    params->pixel_type = CC_PIXEL_UINT8;
    params->dimension =
        row_integers(row_member(input, "buffered_index"), "buffered_index", CC_MAX_DIMENSION, params->region.index);
    row_numbers(row_member(input, "origin"), "origin", params->dimension, params->origin);
    row_numbers(row_member(input, "spacing"), "spacing", params->dimension, params->spacing);
    for (int32_t i = 0; i < params->dimension; ++i) {
        params->region.size[i] = 1;
        row_numbers(json_array_get(row_member(input, "direction"), (size_t)i), "direction", params->dimension,
                    params->direction[i]);
    }
    (void)row_integers(row_member(input, "array_index_C"), "array_index_C", CC_MAX_DIMENSION, vector->array_index);
    (void)row_integers(row_member(expect, "image_index"), "image_index", CC_MAX_DIMENSION, vector->image_index);
    row_numbers(row_member(expect, "physical_point"), "physical_point", params->dimension, vector->point);
    row_numbers(row_member(expect, "array_origin_point"), "array_origin_point", params->dimension, vector->first_point);
}

void vectors_load(const char *path)
{
    json_error_t error;
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (root == NULL)
        row_refuse("%s, line %d: %s", path, error.line, error.text);
    const json_t *rows = row_member(root, "vectors");
    const size_t count = json_array_size(rows);
    exports = calloc(count + 1, sizeof *exports);
    geometries = calloc(count + 1, sizeof *geometries);
    if (exports == NULL || geometries == NULL)
        row_refuse("no memory for %zu rows", count);
    for (size_t i = 0; i < count; ++i) {
        const json_t *row = json_array_get(rows, i);
        const char *kind = row_text(row_member(row, "kind"), "kind");
        const char *id = row_text(row_member(row, "id"), "id");
        row_begin(id);
        if (strcmp(kind, "export") == 0) {
            export_vector *vector = &exports[export_count++];
            snprintf(vector->id, sizeof vector->id, "%s", id);
            read_input(row_member(row, "input"), vector);
            read_expected(row_member(row, "expect"), vector);
        } else if (strcmp(kind, "geometry") == 0) {
            geometry_vector *vector = &geometries[geometry_count++];
            snprintf(vector->id, sizeof vector->id, "%s", id);
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
