#include "import_rows.h"

#include "json_row.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static import_row *rows;
static int32_t row_count;

/* The names in the file are placeholders for ours. */
static cc_status status_of(const char *name, const import_row *row)
{
    static const struct {
        const char *name;
        cc_status status;
    } statuses[] = {{"OK", CC_OK},
                    {"E_OVERFLOW", CC_ERROR_OVERFLOW},
                    {"E_INVALID_ARG", CC_ERROR_INVALID_ARGUMENT},
                    {"E_RANK", CC_ERROR_INVALID_ARGUMENT},
                    {"E_NULL", CC_ERROR_INVALID_ARGUMENT},
                    {"E_STREAM", CC_ERROR_INVALID_ARGUMENT},
                    {"E_REGION", CC_ERROR_SIZE},
                    {"E_ALIGN", CC_ERROR_LAYOUT},
                    {"E_LAYOUT", CC_ERROR_LAYOUT},
                    {"E_DTYPE", CC_ERROR_PIXEL_TYPE},
                    {"E_ENDIAN", CC_ERROR_UNSUPPORTED},
                    {"E_DEVICE", CC_ERROR_UNSUPPORTED},
                    {"E_VERSION", CC_ERROR_UNSUPPORTED},
                    {"E_READONLY", CC_ERROR_READ_ONLY}};
    /* Decision 9 of interop.md: these are unsupported, not unknown. */
    if (strcmp(name, "E_DTYPE") == 0 && row->kind == IMPORT_DLPACK &&
        (row->element.lanes != 1 || row->element.bits % 8 != 0))
        return CC_ERROR_UNSUPPORTED;
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; ++i)
        if (strcmp(statuses[i].name, name) == 0)
            return statuses[i].status;
    row_refuse("status = %s is not known here", name);
}

/* "alloc+64", or "NULL". */
static void read_pointer(const char *data, import_row *row)
{
    row->has_data = strcmp(data, "NULL") != 0;
    if (row->has_data && sscanf(data, "alloc+%lld", (long long *)&row->data_offset) != 1)
        row_refuse("data = %s is not known here", data);
}

static void read_array_interface(const json_t *input, import_row *row)
{
    static const char *const known[] = {"alloc_bytes", "data",    "image_dim", "mask",    "order",      "shape",
                                        "stream",      "strides", "typestr",   "version", "want_write", NULL};
    const json_t *strides = row_member(input, "strides"), *data = row_member(input, "data");
    const json_t *stream = row_member(input, "stream");
    row_check_keys(input, known);
    row->has_shape = true;
    row->ndim = row_integers(row_member(input, "shape"), "shape", ROW_MAX_NDIM, row->shape);
    row->has_strides = !json_is_null(strides);
    if (row->has_strides && row_integers(strides, "strides", ROW_MAX_NDIM, row->strides) != row->ndim)
        row->only_in_python = "a cc_descriptor has one ndim for both lists";
    read_pointer(row_text(json_array_get(data, 0), "data"), row);
    row->read_only = row_boolean(json_array_get(data, 1), "data");
    snprintf(row->typestr, sizeof row->typestr, "%s", row_text(row_member(input, "typestr"), "typestr"));
    (void)row_integer(row_member(input, "version"), "version");
    if (row_boolean(row_member(input, "mask"), "mask"))
        row->only_in_python = "a cc_descriptor has no mask";
    if (!json_is_null(stream)) {
        row->stream = row_integer(stream, "stream");
        if (row->stream == 0)
            row->only_in_python = "a cc_stream of 0 is the legacy default stream";
    }
}

static void read_tensor(const json_t *input, import_row *row)
{
    static const char *const known[] = {
        "alloc_bytes", "byte_offset", "data",  "device",           "dtype",   "flags",      "image_dim",
        "ndim",        "order",       "shape", "strides_elements", "version", "want_write", NULL};
    const json_t *shape = row_member(input, "shape"), *strides = row_member(input, "strides_elements");
    const json_t *type = row_member(input, "dtype");
    int64_t pair[2];
    row_check_keys(input, known);
    row->ndim = (int32_t)row_integer(row_member(input, "ndim"), "ndim");
    row->has_shape = json_is_array(shape);
    if (row->has_shape)
        (void)row_integers(shape, "shape", ROW_MAX_NDIM, row->shape);
    row->has_strides = !json_is_null(strides);
    if (row->has_strides)
        (void)row_integers(strides, "strides_elements", ROW_MAX_NDIM, row->strides);
    row->element.code = (uint8_t)row_integer(row_member(type, "code"), "code");
    row->element.bits = (uint8_t)row_integer(row_member(type, "bits"), "bits");
    row->element.lanes = (uint16_t)row_integer(row_member(type, "lanes"), "lanes");
    read_pointer(row_text(row_member(input, "data"), "data"), row);
    row->byte_offset = (uint64_t)row_integer(row_member(input, "byte_offset"), "byte_offset");
    (void)row_integers(row_member(input, "device"), "device", 2, pair);
    row->device = (cc__dlpack_device){(int32_t)pair[0], (int32_t)pair[1]};
    (void)row_integers(row_member(input, "version"), "version", 2, pair);
    row->version = (cc__dlpack_version){(uint32_t)pair[0], (uint32_t)pair[1]};
    row->flags = (uint64_t)row_integer(row_member(input, "flags"), "flags");
    row->read_only = (row->flags & CC__DLPACK_READ_ONLY) != 0;
}

static void read_facts(const json_t *facts, import_row *row)
{
    static const char *const known[] = {"component_stride_bytes",
                                        "component_type",
                                        "components",
                                        "empty",
                                        "extent_bytes",
                                        "first_pixel_offset_bytes",
                                        "image_size",
                                        "image_strides_bytes",
                                        "layout",
                                        "read_only",
                                        NULL};
    int64_t extent[2];
    row_check_keys(facts, known);
    if (row_integers(row_member(facts, "image_size"), "image_size", CC_MAX_DIMENSION, row->size) != row->dimension ||
        row_integers(row_member(facts, "image_strides_bytes"), "image_strides_bytes", CC_MAX_DIMENSION,
                     row->strides_bytes) != row->dimension)
        row_refuse("image_size or image_strides_bytes has not image_dim entries");
    row->components = (int32_t)row_integer(row_member(facts, "components"), "components");
    row->type = row_pixel_type(row_text(row_member(facts, "component_type"), "component_type"));
    row->component_stride_bytes = row_integer(row_member(facts, "component_stride_bytes"), "component_stride_bytes");
    row->first_offset_bytes = row_integer(row_member(facts, "first_pixel_offset_bytes"), "first_pixel_offset_bytes");
    (void)row_integers(row_member(facts, "extent_bytes"), "extent_bytes", 2, extent);
    row->extent_bytes = extent[1];
    row->is_empty = row_boolean(row_member(facts, "empty"), "empty");
    row->is_read_only = row_boolean(row_member(facts, "read_only"), "read_only");
}

static void read_expected(const json_t *expect, import_row *row)
{
    static const char *const known[] = {"facts", "status", "wait_on", "copied_by_producer", "must_also", NULL};
    const json_t *status = row_member(expect, "status"), *facts = json_object_get(expect, "facts");
    const json_t *copied = json_object_get(expect, "copied_by_producer");
    row_check_keys(expect, known);
    row->status[0] = status_of(row_text(row_member(status, "dense_only"), "dense_only"), row);
    row->status[1] = status_of(row_text(row_member(status, "allow_strided"), "allow_strided"), row);
    if (facts != NULL)
        read_facts(facts, row);
    else if (row->status[0] == CC_OK || row->status[1] == CC_OK)
        row_refuse("there are no facts");
    if (copied != NULL && row_boolean(copied, "copied_by_producer") != ((row->flags & CC__DLPACK_IS_COPIED) != 0))
        row_refuse("copied_by_producer is not what the flags say");
}

void import_rows_load(const char *path)
{
    json_error_t error;
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (root == NULL)
        row_refuse("%s, line %d: %s", path, error.line, error.text);
    const json_t *vectors = row_member(root, "vectors");
    rows = calloc(json_array_size(vectors) + 1, sizeof *rows);
    if (rows == NULL)
        row_refuse("no memory for the rows");
    for (size_t i = 0; i < json_array_size(vectors); ++i) {
        static const char *const kinds[] = {"import_cai", "import_array_interface", "import_dlpack"};
        const json_t *vector = json_array_get(vectors, i);
        const json_t *input = row_member(vector, "input"), *memory = json_object_get(input, "alloc_bytes");
        int32_t kind = 0;
        while (kind < 3 && strcmp(row_text(row_member(vector, "kind"), "kind"), kinds[kind]) != 0)
            ++kind;
        if (kind == 3)
            continue;
        import_row *row = &rows[row_count++];
        snprintf(row->id, sizeof row->id, "%s", row_text(row_member(vector, "id"), "id"));
        row_begin(row->id);
        row->kind = (import_kind)kind;
        row->dimension = (int32_t)row_integer(row_member(input, "image_dim"), "image_dim");
        row->order = strcmp(row_text(row_member(input, "order"), "order"), "K") == 0 ? CC_ORDER_K : CC_ORDER_C;
        row->wants_write = row_boolean(row_member(input, "want_write"), "want_write");
        row->memory_bytes = json_is_null(memory) ? 0 : row_integer(memory, "alloc_bytes");
        if (row->kind == IMPORT_DLPACK)
            read_tensor(input, row);
        else
            read_array_interface(input, row);
        read_expected(row_member(vector, "expect"), row);
    }
    json_decref(root);
}

void import_rows_free(void)
{
    free(rows);
}

int32_t import_row_count(void)
{
    return row_count;
}

const import_row *import_row_at(int32_t at)
{
    return &rows[at];
}
