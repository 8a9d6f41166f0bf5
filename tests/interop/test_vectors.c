/* Descriptors against the worked cases of interop_vectors.json: every export row and every geometry row. */
#include "support/expect.h"
#include "support/fixture.h"
#include "vectors.h"

#include <stdlib.h>
#include <string.h>

/* As many as the file has: a row cannot be lost unnoticed. */
#define EXPORT_ROWS 83
#define GEOMETRY_ROWS 4
#define OTHER_ROWS 129

/* Larger images are only described. */
#define LARGEST_MAPPED_BYTES ((size_t)1 << 20)

#define check_row(vector, condition) ck_assert_msg(condition, "%s: not %s", (vector)->id, #condition)

START_TEST(every_row_is_here)
{
    ck_assert_int_eq(export_vector_count(), EXPORT_ROWS);
    ck_assert_int_eq(geometry_vector_count(), GEOMETRY_ROWS);
    ck_assert_int_eq(other_vector_count(), OTHER_ROWS);
    for (int32_t at = 0; at < EXPORT_ROWS; ++at)
        for (int32_t other = 0; other < at; ++other)
            ck_assert_str_ne(export_vector_at(at)->id, export_vector_at(other)->id);
}
END_TEST

static void check_descriptor(const export_vector *vector, const cc_descriptor *descriptor)
{
    int64_t element_count = 1, extent_bytes = vector->itemsize;
    check_row(vector, descriptor->ndim == vector->ndim);
    check_row(vector, memcmp(descriptor->shape, vector->shape, sizeof vector->shape) == 0);
    check_row(vector, !vector->compares_strides ||
                          memcmp(descriptor->strides_bytes, vector->strides_bytes, sizeof vector->strides_bytes) == 0);
    check_row(vector, strcmp(descriptor->typestr, vector->typestr) == 0);
    check_row(vector, descriptor->itemsize_bytes == vector->itemsize);
    check_row(vector, descriptor->version == vector->version);
    check_row(vector, descriptor->c_contiguous == vector->is_c_contiguous);
    check_row(vector, descriptor->f_contiguous == vector->is_f_contiguous);
    /* What a binding makes of it: strides only where the array is not C-contiguous. */
    check_row(vector, (descriptor->c_contiguous == 0) == vector->has_cai_strides);
    check_row(vector, !vector->has_cai_strides ||
                          memcmp(descriptor->strides_bytes, vector->cai_strides, sizeof vector->cai_strides) == 0);
    for (int32_t axis = 0; axis < descriptor->ndim; ++axis) {
        element_count *= descriptor->shape[axis];
        extent_bytes += (descriptor->shape[axis] - 1) * descriptor->strides_bytes[axis];
        check_row(vector, !vector->compares_strides || descriptor->strides_bytes[axis] % vector->itemsize == 0);
        check_row(vector, !vector->compares_strides ||
                              descriptor->strides_bytes[axis] / vector->itemsize == vector->strides_elements[axis]);
    }
    check_row(vector, element_count == vector->element_count);
    check_row(vector, (element_count == 0 ? 0 : extent_bytes) == vector->extent_bytes);
    check_row(vector, descriptor->itemsize_bytes * 8 == vector->element_bits);
    check_row(vector, vector->dlpack_flags == vector->is_read_only);
}

/* Memory of the caller's for the rows that have a pitch or may only be read. */
typedef struct caller_memory {
    void *data;
    cc_place place;
    cc_image *image;
} caller_memory;

static size_t wrapped_size_bytes(const export_vector *vector, const cc_image *image, int64_t out_strides[4])
{
    const cc_region region = cc_image_get_region(image);
    const int64_t pixel_bytes =
        (int64_t)cc_pixel_type_size_bytes((cc_pixel_type)vector->params.pixel_type) * vector->params.components;
    int64_t size_bytes = pixel_bytes;
    int64_t stride = pixel_bytes;
    for (int32_t axis = 0; axis < vector->params.dimension; ++axis) {
        out_strides[axis] = stride;
        size_bytes += (region.size[axis] - 1) * stride;
        if (axis + 1 < vector->params.dimension)
            stride = axis == 0 && vector->pitch_bytes != 0 ? vector->pitch_bytes : stride * region.size[axis];
    }
    return (size_t)size_bytes;
}

static cc_status wrap(const export_vector *vector, caller_memory *memory)
{
    cc_wrap_params params = CC_WRAP_PARAMS_INIT;
    params.flags = CC_WRAP_BORROWED | (vector->read_only ? CC_WRAP_READ_ONLY : 0);
    params.size_bytes = wrapped_size_bytes(vector, memory->image, params.strides_bytes);
    const size_t memory_bytes = params.size_bytes <= LARGEST_MAPPED_BYTES ? params.size_bytes : 64;
    if (memory->place == CC_PLACE_HOST)
        memory->data = calloc(1, memory_bytes);
    else
        fixture_ok(
            fixture_inner->allocate(fixture_inner, memory->place, CC_STREAM_DEFAULT, memory_bytes, &memory->data));
    params.data = memory->data;
    return memory->place == CC_PLACE_HOST ? cc_image_wrap_host(memory->image, &params)
                                          : cc_image_wrap_device(memory->image, &params, CC_STREAM_DEFAULT);
}

static void free_memory(caller_memory *memory)
{
    cc_image_release(memory->image);
    if (memory->place == CC_PLACE_HOST)
        free(memory->data);
    else if (memory->data != NULL)
        fixture_ok(fixture_inner->free(fixture_inner, memory->place, CC_STREAM_DEFAULT, memory->data));
}

/* The pointer of the descriptor, counted from the first pixel of the image. */
static void check_mapped(const export_vector *vector, caller_memory *memory, const cc_region *region)
{
    const cc_access access = vector->read_only ? CC_ACCESS_READ : CC_ACCESS_READ_WRITE;
    cc_descriptor descriptor = CC_DESCRIPTOR_INIT;
    void *base = NULL;
    fixture_ok(cc_image_map_descriptor(memory->image, region, vector->order, vector->flags, memory->place, access,
                                       CC_STREAM_DEFAULT, &descriptor));
    check_descriptor(vector, &descriptor);
    check_row(vector, descriptor.place == memory->place);
    check_row(vector, descriptor.read_only == vector->is_read_only);
    check_row(vector, (descriptor.data == NULL) == vector->is_null);
    fixture_ok(cc_image_unmap_descriptor(memory->image, &descriptor));
    if (vector->is_null)
        return;
    fixture_ok(memory->place == CC_PLACE_HOST
                   ? cc_image_map_host(memory->image, NULL, CC_ACCESS_READ, &base)
                   : cc_image_map_device(memory->image, NULL, CC_ACCESS_READ, CC_STREAM_DEFAULT, &base));
    check_row(vector, (char *)descriptor.data - (char *)base == vector->data_offset_bytes);
    if (memory->data != NULL)
        check_row(vector, base == memory->data);
    fixture_ok(memory->place == CC_PLACE_HOST ? cc_image_unmap_host(memory->image, base)
                                              : cc_image_unmap_device(memory->image, base, CC_STREAM_DEFAULT));
}

/* Where a row fails is not said, so each step may return its status; the last one's counts. */
static cc_status export_at(const export_vector *vector, cc_place place)
{
    const cc_region *region = vector->has_region ? &vector->region : NULL;
    cc_descriptor descriptor = CC_DESCRIPTOR_INIT;
    caller_memory memory = {.place = place};
    cc_status status = cc_image_create(&vector->params, &memory.image);
    if (status == CC_OK && (vector->pitch_bytes != 0 || vector->read_only))
        status = wrap(vector, &memory);
    if (status == CC_OK)
        status = cc_image_describe(memory.image, region, vector->order, vector->flags, place, &descriptor);
    if (status == CC_OK) {
        check_descriptor(vector, &descriptor);
        check_row(vector, descriptor.data == NULL);
        check_row(vector, descriptor.read_only == vector->is_read_only);
        if (cc_image_get_size_bytes(memory.image) <= LARGEST_MAPPED_BYTES)
            check_mapped(vector, &memory, region);
    }
    free_memory(&memory);
    return status;
}

START_TEST(an_export_row_on_the_host)
{
    const export_vector *vector = export_vector_at(_i);
    const cc_status status = export_at(vector, CC_PLACE_HOST);
    ck_assert_msg(status == vector->status, "%s: %s, expected %s (%s)", vector->id, cc_status_name(status),
                  cc_status_name(vector->status), cc_last_error_message());
}
END_TEST

START_TEST(an_export_row_on_the_last_device)
{
    const export_vector *vector = export_vector_at(_i);
    export_vector on_device = *vector;
    if (fixture_device_count() == 0)
        return;
    on_device.params.device = fixture_device_count() - 1;
    const cc_status status = export_at(&on_device, on_device.params.device);
    ck_assert_msg(status == vector->status, "%s: %s, expected %s (%s)", vector->id, cc_status_name(status),
                  cc_status_name(vector->status), cc_last_error_message());
    fixture_ok(fixture_inner->stream_synchronize(fixture_inner, on_device.params.device, CC_STREAM_DEFAULT));
}
END_TEST

START_TEST(a_geometry_row)
{
    const geometry_vector *vector = geometry_vector_at(_i);
    const int32_t dimension = vector->params.dimension;
    double point[CC_MAX_DIMENSION];
    int64_t index[CC_MAX_DIMENSION] = {0, 0, 0, 0};
    cc_image *image = NULL;
    fixture_ok(cc_image_create(&vector->params, &image));
    for (int32_t axis = 0; axis < dimension; ++axis) {
        index[axis] = cc_image_get_index(image, axis) + vector->array_index[dimension - 1 - axis];
        check_row(vector, index[axis] == vector->image_index[axis]);
    }
    fixture_ok(cc_image_get_point(image, index, point));
    for (int32_t axis = 0; axis < dimension; ++axis)
        check_row(vector, point[axis] == vector->point[axis]);
    fixture_ok(cc_image_get_point(image, vector->params.region.index, point));
    for (int32_t axis = 0; axis < dimension; ++axis)
        check_row(vector, point[axis] == vector->first_point[axis]);
    cc_image_release(image);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("vectors");
    TCase *tcase = tcase_create("vectors");
    vectors_load(INTEROP_VECTORS);
    tcase_add_checked_fixture(tcase, fixture_setup, fixture_teardown);
    tcase_add_test(tcase, every_row_is_here);
    tcase_add_loop_test(tcase, an_export_row_on_the_host, 0, export_vector_count());
    tcase_add_loop_test(tcase, an_export_row_on_the_last_device, 0, export_vector_count());
    tcase_add_loop_test(tcase, a_geometry_row, 0, geometry_vector_count());
    suite_add_tcase(suite, tcase);
    const int result = fixture_run(suite);
    vectors_free();
    return result;
}
