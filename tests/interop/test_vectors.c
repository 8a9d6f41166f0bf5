/* What leaves, and comes back, against the worked cases of interop_vectors.json: every export and geometry row. */
#include "interop/dlpack_abi.h"
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

/* What else is known of the pixels: where they are in space, counted from the first pixel of the image. */
static void check_geometry(const export_vector *vector, const caller_memory *memory, const cc_region *region,
                           const cc_geometry *geometry)
{
    double spacing[CC_MAX_DIMENSION];
    fixture_ok(cc_image_get_spacing(memory->image, spacing));
    check_row(vector, geometry->dimension == vector->params.dimension);
    for (int32_t axis = 0; axis < geometry->dimension; ++axis) {
        check_row(vector,
                  geometry->index[axis] == (region != NULL ? region->index[axis] : vector->params.region.index[axis]));
        check_row(vector, geometry->spacing[axis] == spacing[axis]);
    }
}

/* What came back is the same pixels, described in the same way, whichever way it went. */
static void check_returned(const export_vector *vector, caller_memory *memory, const cc_region *region,
                           cc_image *returned)
{
    cc_descriptor descriptor = CC_DESCRIPTOR_INIT;
    cc_geometry geometry = CC_GEOMETRY_INIT;
    cc_live_image lives[4] = {CC_LIVE_IMAGE_INIT};
    int32_t count = 0;
    fixture_ok(cc_image_get_geometry(returned, &geometry));
    check_geometry(vector, memory, region, &geometry);
    check_row(vector, cc_image_get_components(returned) == vector->params.components);
    check_row(vector, (cc_image_get_read_only(returned) != 0) == vector->is_read_only);
    fixture_ok(cc_image_describe(returned, NULL, vector->order, vector->flags, memory->place, &descriptor));
    if (!vector->is_null)
        check_descriptor(vector, &descriptor);
    fixture_ok(cc_live_images(4, lives, &count));
    ck_assert_int_eq(count, 2);
    check_row(vector, vector->is_null || lives[0].pixels_id == lives[1].pixels_id);
    cc_image_release(returned);
}

static cc_import_params import_params_of(const export_vector *vector)
{
    cc_import_params params = CC_IMPORT_PARAMS_INIT;
    params.dimension = vector->params.dimension;
    params.order = vector->order;
    params.flags = CC_IMPORT_STRIDED;
    return params;
}

static void count_release(void *data, void *user_data)
{
    (void)data;
    ++*(int32_t *)user_data;
}

static void check_lent(const export_vector *vector, caller_memory *memory, const cc_export_params *params)
{
    cc_import_params import_params = import_params_of(vector);
    cc_descriptor descriptor = CC_DESCRIPTOR_INIT;
    cc_geometry geometry = CC_GEOMETRY_INIT;
    cc_loan *loan = NULL;
    cc_image *returned = NULL;
    int32_t releases = 0;
    fixture_ok(cc_image_export(memory->image, params, &descriptor, &loan));
    check_descriptor(vector, &descriptor);
    check_row(vector, descriptor.read_only == vector->is_read_only);
    check_row(vector, (descriptor.data == NULL) == vector->is_null);
    fixture_ok(cc_loan_get_geometry(loan, &geometry));
    check_geometry(vector, memory, params->region, &geometry);
    import_params.release = count_release;
    import_params.user_data = &releases;
    /* Without pixels there is no memory to know them by. */
    if (vector->is_null)
        import_params.geometry = &geometry;
    fixture_ok(cc_image_import(&descriptor, &import_params, &returned));
    check_row(vector, vector->is_null || releases == 1);
    check_returned(vector, memory, params->region, returned);
    ck_assert_int_eq(releases, 1);
    cc_loan_release(loan);
}

static void check_tensor(const export_vector *vector, const caller_memory *memory, const cc__dlpack_tensor *tensor)
{
    check_row(vector, tensor->ndim == vector->ndim);
    check_row(vector, memcmp(tensor->shape, vector->shape, (size_t)vector->ndim * sizeof(int64_t)) == 0);
    check_row(vector, !vector->compares_strides || memcmp(tensor->strides, vector->strides_elements,
                                                          (size_t)vector->ndim * sizeof(int64_t)) == 0);
    check_row(vector, tensor->dtype.code == vector->element_code && tensor->dtype.bits == vector->element_bits &&
                          tensor->dtype.lanes == 1);
    check_row(vector, tensor->byte_offset == 0);
    check_row(vector, (tensor->data == NULL) == vector->is_null);
    if (memory->place == CC_PLACE_HOST)
        check_row(vector, tensor->device.device_type == CC__DLPACK_CPU && tensor->device.device_id == 0);
    else
        check_row(vector, tensor->device.device_type == CC__DLPACK_CUDA && tensor->device.device_id == memory->place);
}

static void check_dlpack(const export_vector *vector, caller_memory *memory, const cc_export_params *params)
{
    const cc_import_params import_params = import_params_of(vector);
    cc_geometry geometry = CC_GEOMETRY_INIT;
    struct DLManagedTensorVersioned *tensor = NULL;
    struct DLManagedTensor *legacy = NULL;
    cc_image *returned = NULL;
    fixture_ok(cc_image_export_dlpack(memory->image, params, 0, &tensor));
    check_row(vector, tensor->version.major == 1 && tensor->flags == (uint64_t)vector->dlpack_flags);
    check_tensor(vector, memory, &tensor->dl_tensor);
    fixture_ok(cc_dlpack_get_geometry(tensor, &geometry));
    check_geometry(vector, memory, params->region, &geometry);
    fixture_ok(cc_image_import_dlpack(tensor, &import_params, CC_STREAM_DEFAULT, &returned));
    check_returned(vector, memory, params->region, returned);

    if (vector->is_read_only) {
        expect_failure(CC_ERROR_READ_ONLY, "", cc_image_export_dlpack_legacy(memory->image, params, 0, &legacy));
        fixture_ok(cc_image_export_dlpack_legacy(memory->image, params, CC_DLPACK_FORCE, &legacy));
        check_tensor(vector, memory, &legacy->dl_tensor);
        legacy->deleter(legacy);
        return;
    }
    fixture_ok(cc_image_export_dlpack_legacy(memory->image, params, 0, &legacy));
    check_tensor(vector, memory, &legacy->dl_tensor);
    fixture_ok(cc_dlpack_get_geometry_legacy(legacy, &geometry));
    check_geometry(vector, memory, params->region, &geometry);
    fixture_ok(cc_image_import_dlpack_legacy(legacy, &import_params, CC_STREAM_DEFAULT, &returned));
    check_returned(vector, memory, params->region, returned);
}

/* Out as a loan and as tensors, and back in again. */
static void check_both_ways(const export_vector *vector, caller_memory *memory, const cc_region *region)
{
    cc_export_params params = CC_EXPORT_PARAMS_INIT;
    params.region = region;
    params.order = (int32_t)vector->order;
    params.flags = vector->flags;
    params.place = memory->place;
    check_lent(vector, memory, &params);
    check_dlpack(vector, memory, &params);
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
        if (cc_image_get_size_bytes(memory.image) <= LARGEST_MAPPED_BYTES)
            check_both_ways(vector, &memory, region);
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

    /* The same of the image that comes back from a tensor. */
    cc_export_params params = CC_EXPORT_PARAMS_INIT;
    cc_import_params import_params = CC_IMPORT_PARAMS_INIT;
    struct DLManagedTensorVersioned *tensor = NULL;
    cc_image *returned = NULL;
    params.place = CC_PLACE_HOST;
    import_params.dimension = dimension;
    fixture_ok(cc_image_export_dlpack(image, &params, 0, &tensor));
    cc_image_release(image);
    fixture_ok(cc_image_import_dlpack(tensor, &import_params, CC_STREAM_DEFAULT, &returned));
    fixture_ok(cc_image_get_point(returned, index, point));
    for (int32_t axis = 0; axis < dimension; ++axis) {
        check_row(vector, cc_image_get_index(returned, axis) == vector->params.region.index[axis]);
        check_row(vector, point[axis] == vector->point[axis]);
    }
    cc_image_release(returned);
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
