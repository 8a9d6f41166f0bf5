/* Arrays of others as images, against every import row of interop_vectors.json, on the host and on devices. */
#include "import_rows.h"
#include "support/dense_work.h"
#include "support/expect.h"
#include "support/fixture.h"

#include <stdlib.h>
#include <string.h>

/* As many as the file has: a row cannot be lost unnoticed. */
#define IMPORT_ROWS 98
#define ROWS_ONLY_IN_PYTHON 2

/* Larger arrays are described over less memory than they say, and no pixel is looked at. */
#define LARGEST_BYTES ((int64_t)1 << 20)

/* Longer than any row that has no memory of its own needs. */
#define SPARE_BYTES 512

/* V180 alone: components that are not side by side are an array that can be described, but no image. */
static cc_status expected_status(const import_row *row, bool strided)
{
    const bool is_planar =
        row->components > 1 && row->component_stride_bytes != (int64_t)cc_pixel_type_size_bytes(row->type);
    return is_planar && row->status[strided] == CC_OK ? CC_ERROR_LAYOUT : row->status[strided];
}

#define check_row(row, condition) ck_assert_msg(condition, "%s: not %s", (row)->id, #condition)

/* Where the array is, and whoever owns it. */
typedef struct lender {
    cc_place place;
    size_t size_bytes;
    unsigned char *host; /* what the memory holds, or will when the stream has got there */
    unsigned char *memory;
    cc_stream stream;
    bool owns_stream;
    int32_t releases;
} lender;

static unsigned char pattern(int64_t offset)
{
    return (unsigned char)(offset * 7 + 3);
}

static void lender_open(lender *that, const import_row *row, cc_place place)
{
    const bool is_large = row->extent_bytes > LARGEST_BYTES;
    *that = (lender){.place = place, .size_bytes = row->memory_bytes > 0 ? (size_t)row->memory_bytes : SPARE_BYTES};
    ck_assert(is_large || row->first_offset_bytes + row->extent_bytes <= (int64_t)that->size_bytes);
    that->host = malloc(that->size_bytes);
    ck_assert_ptr_nonnull(that->host);
    for (size_t i = 0; i < that->size_bytes; ++i)
        that->host[i] = pattern((int64_t)i);
    that->memory = that->host;
    if (place == CC_PLACE_HOST)
        return;
    void *memory = NULL;
    that->owns_stream = row->stream > 2;
    that->stream = that->owns_stream  ? fixture_stream_create(place)
                   : row->stream == 2 ? CC_STREAM_PER_THREAD
                                      : CC_STREAM_DEFAULT;
    fixture_ok(fixture_inner->allocate(fixture_inner, place, that->stream, that->size_bytes, &memory));
    that->memory = memory;
    /* Under way when the row names a stream: whoever does not wait for it sees other bytes. */
    for (size_t i = 0; i < that->size_bytes; ++i)
        fixture_ok(fill_bytes(fixture_inner, place, that->stream, that->memory + i, that->host[i], 1));
    if (row->stream == 0)
        fixture_ok(cc_stream_synchronize(place, that->stream));
}

static void lender_close(lender *that)
{
    if (that->place != CC_PLACE_HOST) {
        fixture_ok(fixture_inner->free(fixture_inner, that->place, that->stream, that->memory));
        fixture_ok(cc_stream_synchronize(that->place, that->stream));
    }
    if (that->owns_stream)
        fixture_stream_destroy(that->place, that->stream);
    free(that->host);
}

static void count_release(void *data, void *user_data)
{
    (void)data;
    ++((lender *)user_data)->releases;
}

static cc_import_params params_of(const import_row *row, const lender *from, bool strided)
{
    cc_import_params params = CC_IMPORT_PARAMS_INIT;
    params.flags = (strided ? CC_IMPORT_STRIDED : 0) | (row->wants_write ? CC_IMPORT_WRITABLE : 0) |
                   (row->has_strides || row->kind == IMPORT_DLPACK ? 0 : CC_IMPORT_CONTIGUOUS);
    params.dimension = row->dimension;
    params.order = row->order;
    if (row->memory_bytes > 0) {
        params.memory = from->memory;
        params.memory_bytes = (size_t)row->memory_bytes;
    }
    return params;
}

static cc_status import_descriptor(const import_row *row, lender *from, bool strided, cc_image **out_image)
{
    cc_import_params params = params_of(row, from, strided);
    cc_descriptor descriptor = CC_DESCRIPTOR_INIT;
    params.release = count_release;
    params.user_data = from;
    descriptor.ndim = row->ndim;
    for (int32_t axis = 0; axis < row->ndim && axis <= CC_MAX_DIMENSION; ++axis) {
        descriptor.shape[axis] = row->shape[axis];
        /* Without strides: nobody may look at these. */
        descriptor.strides_bytes[axis] = row->has_strides ? row->strides[axis] : -1;
    }
    descriptor.place = from->place == CC_PLACE_HOST ? CC_PLACE_HOST : CC_DEVICE_CURRENT;
    descriptor.data = row->has_data ? from->memory + row->data_offset : NULL;
    descriptor.stream = from->stream;
    descriptor.read_only = row->read_only;
    memcpy(descriptor.typestr, row->typestr, sizeof descriptor.typestr);
    return cc_image_import(&descriptor, &params, out_image);
}

/* A tensor and its owner. The lists are the row's own. */
typedef struct foreign_tensor {
    struct DLManagedTensorVersioned versioned;
    struct DLManagedTensor legacy;
    lender *owner;
    import_row row;
} foreign_tensor;

static void delete_versioned(struct DLManagedTensorVersioned *self)
{
    foreign_tensor *that = self->manager_ctx;
    ++that->owner->releases;
    free(that);
}

static void delete_legacy(struct DLManagedTensor *self)
{
    foreign_tensor *that = self->manager_ctx;
    ++that->owner->releases;
    free(that);
}

static foreign_tensor *tensor_create(const import_row *row, lender *from)
{
    foreign_tensor *that = calloc(1, sizeof *that);
    ck_assert_ptr_nonnull(that);
    that->owner = from;
    that->row = *row;
    cc__dlpack_tensor tensor = {
        .data = row->has_data ? from->memory + row->data_offset : NULL,
        .device = row->device,
        .ndim = row->ndim,
        .dtype = row->element,
        .shape = row->has_shape ? that->row.shape : NULL,
        .strides = row->has_strides ? that->row.strides : NULL,
        .byte_offset = row->byte_offset,
    };
    if (row->version.major != 1)
        memset(&tensor, 0xa5, sizeof tensor); /* nothing that one may look at */
    if (from->place == CC_PLACE_HOST && row->device.device_type != 14 && row->device.device_type != 8 &&
        row->device.device_type != CC__DLPACK_CUDA_HOST)
        tensor.device = (cc__dlpack_device){CC__DLPACK_CPU, 0};
    that->versioned = (struct DLManagedTensorVersioned){row->version, that, delete_versioned, row->flags, tensor};
    that->legacy = (struct DLManagedTensor){tensor, that, delete_legacy};
    return that;
}

static cc_status import_tensor(const import_row *row, lender *from, bool strided, bool is_legacy, cc_image **out_image)
{
    const cc_import_params params = params_of(row, from, strided);
    foreign_tensor *that = tensor_create(row, from);
    const cc_status status = is_legacy ? cc_image_import_dlpack_legacy(&that->legacy, &params, from->stream, out_image)
                                       : cc_image_import_dlpack(&that->versioned, &params, from->stream, out_image);
    if (status != CC_OK && row->version.major == 1) {
        ck_assert_int_eq(from->releases, 0);
        free(that);
    } else if (status != CC_OK) {
        ck_assert_int_eq(from->releases, 1);
        from->releases = 0;
    }
    return status;
}

/* Every byte of every pixel, at a place where the library may have had to copy it to. */
static void check_pixels(const import_row *row, cc_image *image, cc_place place)
{
    const int64_t pixel_bytes = row->components * (int64_t)cc_pixel_type_size_bytes(row->type);
    cc_descriptor descriptor = CC_DESCRIPTOR_INIT;
    unsigned char *copy = NULL;
    int64_t extent = pixel_bytes;
    fixture_ok(cc_image_map_descriptor(image, NULL, CC_ORDER_K, CC_DESCRIBE_COMPONENT_AXIS, place, CC_ACCESS_READ,
                                       CC_STREAM_DEFAULT, &descriptor));
    for (int32_t axis = 0; axis < row->dimension; ++axis)
        extent += (row->size[axis] - 1) * descriptor.strides_bytes[axis + 1];
    const unsigned char *pixels = descriptor.data;
    if (place != CC_PLACE_HOST) {
        copy = malloc((size_t)extent);
        ck_assert_ptr_nonnull(copy);
        fixture_device_read(place, CC_STREAM_DEFAULT, copy, descriptor.data, (size_t)extent);
        fixture_ok(cc_stream_synchronize(place, CC_STREAM_DEFAULT));
        pixels = copy;
    }
    int64_t at[CC_MAX_DIMENSION] = {0, 0, 0, 0};
    for (int32_t axis = 0; axis < row->dimension;) {
        int64_t here = 0, there = row->first_offset_bytes;
        for (int32_t i = 0; i < row->dimension; ++i) {
            here += at[i] * descriptor.strides_bytes[i + 1];
            there += at[i] * row->strides_bytes[i];
        }
        for (int64_t byte = 0; byte < pixel_bytes; ++byte)
            check_row(row, pixels[here + byte] == pattern(there + byte));
        for (axis = 0; axis < row->dimension && ++at[axis] == row->size[axis]; ++axis)
            at[axis] = 0;
    }
    free(copy);
    fixture_ok(cc_image_unmap_descriptor(image, &descriptor));
}

static void check_image(const import_row *row, cc_image *image, lender *from)
{
    cc_descriptor descriptor = CC_DESCRIPTOR_INIT;
    ck_assert_int_eq(cc_image_get_dimension(image), row->dimension);
    check_row(row, cc_image_get_components(image) == row->components);
    check_row(row, cc_image_get_pixel_type(image) == row->type);
    check_row(row, (cc_image_get_read_only(image) != 0) == row->is_read_only);
    check_row(row, (cc_image_get_size_bytes(image) == 0) == row->is_empty);
    fixture_ok(cc_image_describe(image, NULL, CC_ORDER_K, CC_DESCRIBE_COMPONENT_AXIS, from->place, &descriptor));
    for (int32_t axis = 0; axis < row->dimension; ++axis) {
        check_row(row, cc_image_get_size(image, axis) == row->size[axis]);
        check_row(row, cc_image_get_index(image, axis) == 0);
        check_row(row, row->size[axis] == 1 || row->is_empty ||
                           descriptor.strides_bytes[axis + 1] == row->strides_bytes[axis]);
    }
    if (row->is_empty || row->extent_bytes > LARGEST_BYTES)
        return;
    fixture_ok(cc_image_map_descriptor(image, NULL, CC_ORDER_C, 0, from->place, CC_ACCESS_READ, CC_STREAM_DEFAULT,
                                       &descriptor));
    check_row(row, (unsigned char *)descriptor.data - from->memory == row->first_offset_bytes);
    fixture_ok(cc_image_unmap_descriptor(image, &descriptor));
    check_pixels(row, image, CC_PLACE_HOST);
    if (fixture_device_count() > 0)
        check_pixels(row, image, from->place == CC_PLACE_HOST ? cc_image_get_device(image) : from->place);
    if (row->is_read_only)
        expect_failure(CC_ERROR_READ_ONLY, "", cc_image_map_host(image, NULL, CC_ACCESS_WRITE, &(void *){NULL}));
}

static void import_at(const import_row *row, cc_place place, bool strided, bool is_legacy)
{
    lender from;
    cc_image *image = NULL;
    lender_open(&from, row, place);
    expect_forget_message();
    const cc_status status = row->kind == IMPORT_DLPACK ? import_tensor(row, &from, strided, is_legacy, &image)
                                                        : import_descriptor(row, &from, strided, &image);
    ck_assert_msg(status == expected_status(row, strided), "%s: %s, expected %s (%s)", row->id, cc_status_name(status),
                  cc_status_name(expected_status(row, strided)), cc_last_error_message());
    ck_assert_int_eq(from.releases, 0);
    if (status == CC_OK) {
        if (cc_image_get_device(image) == CC_DEVICE_CURRENT && fixture_device_count() > 0)
            fixture_ok(cc_image_set_device(image, fixture_device_count() - 1));
        check_image(row, image, &from);
        ck_assert_int_eq(from.releases, 0);
        cc_image_release(image);
        ck_assert_int_eq(from.releases, 1);
    } else {
        ck_assert_ptr_null(image);
    }
    lender_close(&from);
}

/* The other tensor has no version and no flags. */
static bool has_legacy_form(const import_row *row)
{
    return row->kind == IMPORT_DLPACK && row->version.major == 1 && row->flags == 0;
}

START_TEST(every_row_is_here)
{
    int32_t only_in_python = 0;
    ck_assert_int_eq(import_row_count(), IMPORT_ROWS);
    for (int32_t at = 0; at < IMPORT_ROWS; ++at) {
        only_in_python += import_row_at(at)->only_in_python != NULL;
        for (int32_t other = 0; other < at; ++other)
            ck_assert_str_ne(import_row_at(at)->id, import_row_at(other)->id);
    }
    ck_assert_int_eq(only_in_python, ROWS_ONLY_IN_PYTHON);
}
END_TEST

START_TEST(a_row_on_the_host)
{
    const import_row *row = import_row_at(_i);
    if (row->only_in_python != NULL)
        return;
    for (int32_t strided = 0; strided < 2; ++strided) {
        import_at(row, CC_PLACE_HOST, strided != 0, false);
        if (has_legacy_form(row))
            import_at(row, CC_PLACE_HOST, strided != 0, true);
    }
}
END_TEST

START_TEST(a_row_on_a_device)
{
    const import_row *row = import_row_at(_i);
    const bool is_tensor = row->kind == IMPORT_DLPACK;
    if (row->only_in_python != NULL || row->kind == IMPORT_ARRAY_INTERFACE || row->extent_bytes > LARGEST_BYTES ||
        (is_tensor && row->device.device_type != CC__DLPACK_CUDA && row->device.device_type != CC__DLPACK_CUDA_MANAGED))
        return;
    const int32_t device = is_tensor ? row->device.device_id : fixture_device_count() - 1;
    if (device < 0 || device >= fixture_device_count())
        return;
    for (int32_t strided = 0; strided < 2; ++strided) {
        import_at(row, device, strided != 0, false);
        if (has_legacy_form(row))
            import_at(row, device, strided != 0, true);
    }
}
END_TEST

START_TEST(a_device_that_is_not_here)
{
    const import_row *row = import_row_at(_i);
    lender from;
    cc_image *image = NULL;
    if (row->kind != IMPORT_DLPACK || row->status[0] != CC_OK || row->is_empty ||
        row->device.device_type != CC__DLPACK_CUDA || row->device.device_id < fixture_device_count())
        return;
    lender_open(&from, row, CC_PLACE_HOST);
    foreign_tensor *that = tensor_create(row, &from);
    const cc_import_params params = params_of(row, &from, false);
    that->versioned.dl_tensor.device = row->device;
    expect_failure(fixture_device_count() == 0 ? CC_ERROR_NO_DEVICE : CC_ERROR_INVALID_DEVICE, "",
                   cc_image_import_dlpack(&that->versioned, &params, CC_STREAM_DEFAULT, &image));
    ck_assert_int_eq(from.releases, 0);
    free(that);
    lender_close(&from);
}
END_TEST

START_TEST(a_type_string_of_a_row)
{
    const import_row *row = import_row_at(_i);
    cc_pixel_type type = CC_PIXEL_COMPLEX128;
    if (row->kind == IMPORT_DLPACK)
        return;
    const cc_status status = cc_typestr_parse(row->typestr, &type);
    if (row->status[1] == CC_OK) {
        fixture_ok(status);
        check_row(row, type == row->type);
    } else if (row->status[1] == CC_ERROR_PIXEL_TYPE || row->status[1] == CC_ERROR_UNSUPPORTED) {
        check_row(row, status == row->status[1]);
        check_row(row, type == CC_PIXEL_COMPLEX128);
    } else {
        check_row(row, status == CC_OK);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("import_vectors");
    TCase *tcase = tcase_create("import_vectors");
    import_rows_load(INTEROP_VECTORS);
    tcase_add_checked_fixture(tcase, fixture_setup, fixture_teardown);
    tcase_add_test(tcase, every_row_is_here);
    tcase_add_loop_test(tcase, a_row_on_the_host, 0, import_row_count());
    tcase_add_loop_test(tcase, a_row_on_a_device, 0, import_row_count());
    tcase_add_loop_test(tcase, a_device_that_is_not_here, 0, import_row_count());
    tcase_add_loop_test(tcase, a_type_string_of_a_row, 0, import_row_count());
    suite_add_tcase(suite, tcase);
    const int result = fixture_run(suite);
    import_rows_free();
    return result;
}
