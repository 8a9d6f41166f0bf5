/* DLPack tensors out of images and images out of tensors: what is shared, who is told, and how it ends. */
#include "backend/emulated.h"
#include "foreign_tensor.h"
#include "support/expect.h"
#include "support/fixture.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define SIZE_I 5
#define SIZE_J 4
#define SIZE_K 3
#define PIXELS (SIZE_I * SIZE_J * SIZE_K)

static const cc_geometry geometry = {
    .struct_size = sizeof(cc_geometry),
    .dimension = 3,
    .index = {-7, 5, 100},
    .spacing = {0.5, 2, 3, 1},
    .origin = {-10, 20, 30, 0},
    .direction = {{0, -1, 0, 0}, {1, 0, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}},
};

static cc_image *image;
static cc_place place; /* where tensors are: the host, or the last device */
static cc_export_params params;
static cc_import_params import_params;

/* Pixel n is n. */
static void set_up(void)
{
    fixture_setup();
    image = fixture_image(CC_PIXEL_FLOAT32, 1, 3, SIZE_I, SIZE_J, SIZE_K);
    fixture_ok(cc_image_set_geometry(image, &geometry));
    if (fixture_device_count() > 0)
        fixture_ok(cc_image_set_device(image, fixture_device_count() - 1));
    place = fixture_device_count() - 1;
    params = (cc_export_params)CC_EXPORT_PARAMS_INIT;
    params.place = place;
    import_params = (cc_import_params)CC_IMPORT_PARAMS_INIT;
    import_params.dimension = 3;
    void *pixels = NULL;
    fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_WRITE, &pixels));
    for (int32_t i = 0; i < PIXELS; ++i)
        ((float *)pixels)[i] = (float)i;
    fixture_ok(cc_image_unmap_host(image, pixels));
}

static void tear_down(void)
{
    cc_image_release(image);
    image = NULL;
    fixture_teardown();
}

static int32_t loan_count(cc_image *of)
{
    cc_place_state state = CC_PLACE_STATE_INIT;
    fixture_ok(cc_image_get_place_state(of, place, &state));
    return state.loan_count;
}

static float value_of(cc_image *of, int64_t i, int64_t j, int64_t k)
{
    const cc_region first = cc_image_get_region(of);
    const cc_region pixel = {{first.index[0] + i, first.index[1] + j, first.index[2] + k, 0}, {1, 1, 1, 1}};
    void *pixels = NULL;
    fixture_ok(cc_image_map_host(of, &pixel, CC_ACCESS_READ, &pixels));
    const float value = *(float *)pixels;
    fixture_ok(cc_image_unmap_host(of, pixels));
    return value;
}

static const float written[] = {1000, 2000};

/* What the tensor's user does, in a stream, late as a kernel is: sets one element. */
static void write_element(const cc__dlpack_tensor *tensor, int64_t element, cc_stream stream, const float *value)
{
    float *at = (float *)(void *)((char *)tensor->data + tensor->byte_offset) + element;
    cc__fill work = {.destination = {.data = (unsigned char *)at, .stride = {sizeof *at}},
                     .size = {1, 1, 1, 1},
                     .pixel_bytes = sizeof *at};
    memcpy(work.value, value, sizeof *value);
    if (place == CC_PLACE_HOST)
        *at = *value;
    else
        fixture_ok(fixture_inner->fill(fixture_inner, place, stream, &work));
}

static float read_element(const cc__dlpack_tensor *tensor, int64_t element, cc_stream stream)
{
    const float *at = (const float *)(const void *)((char *)tensor->data + tensor->byte_offset) + element;
    float value = 0;
    if (place == CC_PLACE_HOST)
        return *at;
    fixture_device_read(place, stream, &value, at, sizeof value);
    fixture_ok(cc_stream_synchronize(place, stream));
    return value;
}

static struct DLManagedTensorVersioned *lend(void)
{
    struct DLManagedTensorVersioned *tensor = NULL;
    fixture_ok(cc_image_export_dlpack(image, &params, 0, &tensor));
    return tensor;
}

static cc_image *take_in(struct DLManagedTensorVersioned *tensor)
{
    cc_image *imported = NULL;
    fixture_ok(cc_image_import_dlpack(tensor, &import_params, CC_STREAM_DEFAULT, &imported));
    return imported;
}

START_TEST(the_image_and_the_tensor_are_the_same_pixels)
{
    struct DLManagedTensorVersioned *tensor = lend();
    ck_assert_int_eq(loan_count(image), 1);
    ck_assert_float_eq(read_element(&tensor->dl_tensor, 7, CC_STREAM_DEFAULT), 7);
    write_element(&tensor->dl_tensor, 7, CC_STREAM_DEFAULT, &written[0]);
    ck_assert_float_eq(value_of(image, 2, 1, 0), 1000);
    write_element(&tensor->dl_tensor, 7, CC_STREAM_DEFAULT, &written[1]);
    ck_assert_float_eq(value_of(image, 2, 1, 0), 2000);
    tensor->deleter(tensor);
    ck_assert_int_eq(loan_count(image), 0);
    ck_assert_float_eq(value_of(image, 2, 1, 0), 2000);
}
END_TEST

START_TEST(what_comes_back_is_a_view_with_its_place_in_space)
{
    cc_geometry got = CC_GEOMETRY_INIT;
    struct DLManagedTensorVersioned *tensor = lend();
    write_element(&tensor->dl_tensor, 0, CC_STREAM_DEFAULT, &written[0]);
    cc_image *view = take_in(tensor);
    /* The view keeps the pixels, so that the loan is over. */
    ck_assert_int_eq(loan_count(image), 0);
    fixture_ok(cc_image_get_geometry(view, &got));
    ck_assert_mem_eq(&got, &geometry, sizeof got);
    ck_assert_int_eq(cc_image_get_device(view), cc_image_get_device(image));
    ck_assert_float_eq(value_of(view, 0, 0, 0), 1000);
    /* Coherent both ways, also without the image. */
    const float value = 5;
    fixture_ok(cc_image_fill(view, NULL, &value, CC_STREAM_DEFAULT));
    ck_assert_float_eq(value_of(image, 4, 3, 2), 5);
    cc_image_release(image);
    image = NULL;
    ck_assert_float_eq(value_of(view, 4, 3, 2), 5);
    cc_image_release(view);
}
END_TEST

START_TEST(a_box_of_it_comes_back_as_that_box)
{
    foreign_tensor array;
    cc_geometry got = CC_GEOMETRY_INIT;
    foreign_tensor_over(&array, lend());
    foreign_tensor_cut(&array, 0, 1, 2, 1); /* k */
    foreign_tensor_cut(&array, 1, 2, 1, 1); /* j: one row, whose stride no longer means anything */
    foreign_tensor_cut(&array, 2, 3, 2, 1); /* i */
    array.strides[1] = 12345;
    import_params.flags = CC_IMPORT_STRIDED;
    fixture_ok(cc_dlpack_get_geometry(&array.versioned, &got));
    ck_assert_int_eq(got.index[0], -7 + 3);
    ck_assert_int_eq(got.index[1], 5 + 2);
    ck_assert_int_eq(got.index[2], 100 + 1);
    cc_image *view = take_in(&array.versioned);
    ck_assert_int_eq(array.deletions, 1);
    ck_assert_int_eq(loan_count(image), 0);
    for (int32_t axis = 0; axis < 3; ++axis)
        ck_assert_int_eq(cc_image_get_index(view, axis), got.index[axis]);
    ck_assert_float_eq(value_of(view, 0, 0, 0), 3 + 2 * SIZE_I + 1 * SIZE_I * SIZE_J);
    ck_assert_float_eq(value_of(view, 1, 0, 1), 4 + 2 * SIZE_I + 2 * SIZE_I * SIZE_J);
    fixture_ok(cc_image_fill(view, NULL, &written[1], CC_STREAM_DEFAULT));
    ck_assert_float_eq(value_of(image, 4, 2, 2), 2000);
    ck_assert_float_eq(value_of(image, 2, 2, 2), 2 + 2 * SIZE_I + 2 * SIZE_I * SIZE_J);
    cc_image_release(view);
}
END_TEST

START_TEST(a_box_of_a_lent_region_counts_from_that_region)
{
    const cc_region region = {{-6, 6, 101, 0}, {3, 3, 2, 1}};
    foreign_tensor array;
    params.region = &region;
    params.order = CC_ORDER_K;
    foreign_tensor_over(&array, lend());
    foreign_tensor_cut(&array, 0, 1, 2, 1); /* i */
    import_params.flags = CC_IMPORT_STRIDED;
    import_params.order = CC_ORDER_K;
    cc_geometry got = CC_GEOMETRY_INIT;
    fixture_ok(cc_dlpack_get_geometry_legacy(&array.legacy, &got));
    ck_assert_int_eq(got.index[0], -5);
    ck_assert_int_eq(got.index[2], 101);
    cc_image *view = take_in(&array.versioned);
    ck_assert_int_eq(cc_image_get_index(view, 0), -5);
    ck_assert_int_eq(cc_image_get_index(view, 1), 6);
    ck_assert_float_eq(value_of(view, 0, 0, 0), 2 + 1 * SIZE_I + 1 * SIZE_I * SIZE_J);
    cc_image_release(view);
}
END_TEST

typedef enum other_part {
    OTHER_STEP = 0,
    OTHER_DIMENSION = 1,
    OTHER_TYPE = 2,
    OTHER_AXES = 3,
    OTHER_PARTS = 4
} other_part;

/* Memory that is lent, but not as a box of pixels: an image over the loan, which ends with that image. */
START_TEST(any_other_part_of_it_is_an_image_over_the_loan)
{
    foreign_tensor array;
    cc_geometry got = CC_GEOMETRY_INIT;
    foreign_tensor_over(&array, lend());
    import_params.flags = CC_IMPORT_STRIDED;
    switch ((other_part)_i) {
    case OTHER_STEP:
        foreign_tensor_cut(&array, 1, 0, 2, 2);
        break;
    case OTHER_DIMENSION:
        foreign_tensor_cut(&array, 0, 1, 1, 1);
        array.versioned.dl_tensor.ndim = 2;
        array.versioned.dl_tensor.shape = array.shape + 1;
        array.versioned.dl_tensor.strides = array.strides + 1;
        import_params.dimension = 2;
        break;
    case OTHER_TYPE:
        array.versioned.dl_tensor.dtype.code = CC__DLPACK_INT;
        break;
    case OTHER_AXES:
        import_params.order = CC_ORDER_K;
        break;
    case OTHER_PARTS:
        break;
    }
    cc_image *over = take_in(&array.versioned);
    ck_assert_int_eq(array.deletions, 0);
    ck_assert_int_eq(loan_count(image), 1);
    fixture_ok(cc_image_get_geometry(over, &got));
    ck_assert_int_eq(got.index[0], 0);
    ck_assert_double_eq(got.spacing[0], 1);
    if (_i == OTHER_STEP)
        ck_assert_float_eq(value_of(over, 1, 1, 0), 1 + 2 * SIZE_I);
    if (_i == OTHER_DIMENSION)
        ck_assert_float_eq(value_of(over, 1, 0, 0), 1 + SIZE_I * SIZE_J);
    cc_image_release(over);
    ck_assert_int_eq(array.deletions, 1);
    ck_assert_int_eq(loan_count(image), 0);
}
END_TEST

START_TEST(more_than_the_lent_region_is_not_a_part_of_it)
{
    const cc_region region = {{-7, 5, 100, 0}, {3, 3, 2, 1}};
    foreign_tensor array;
    params.region = &region;
    foreign_tensor_over(&array, lend());
    /* Two rows of four pixels: of lent memory, but the fourth is not of the region. */
    foreign_tensor_cut(&array, 0, 0, 1, 1);
    foreign_tensor_cut(&array, 1, 0, 2, 1);
    foreign_tensor_cut(&array, 2, 0, 4, 1);
    import_params.flags = CC_IMPORT_STRIDED;
    cc_image *over = take_in(&array.versioned);
    ck_assert_int_eq(array.deletions, 0);
    ck_assert_int_eq(cc_image_get_index(over, 0), 0);
    cc_image_release(over);
    ck_assert_int_eq(array.deletions, 1);
}
END_TEST

/* From the second component on, the strides are those of pixels, but these are none. */
START_TEST(pixels_that_begin_inside_of_a_pixel_are_others)
{
    foreign_tensor array;
    cc_geometry got = CC_GEOMETRY_INIT;
    cc_image_release(image);
    image = fixture_image(CC_PIXEL_FLOAT32, 2, 3, SIZE_I, SIZE_J, SIZE_K);
    if (place != CC_PLACE_HOST)
        fixture_ok(cc_image_set_device(image, place));
    foreign_tensor_over(&array, lend());
    foreign_tensor_cut(&array, 2, 0, SIZE_I - 1, 1);
    array.versioned.dl_tensor.byte_offset = sizeof(float);
    import_params.flags = CC_IMPORT_STRIDED;
    expect_failure(CC_ERROR_UNSUPPORTED, "on loan", cc_dlpack_get_geometry(&array.versioned, &got));
    cc_image *over = take_in(&array.versioned);
    ck_assert_int_eq(array.deletions, 0);
    cc_image_release(over);
    ck_assert_int_eq(array.deletions, 1);
}
END_TEST

START_TEST(the_callers_geometry_goes_before_the_lenders)
{
    cc_geometry own = geometry, got = CC_GEOMETRY_INIT;
    own.index[1] = 77;
    own.spacing[0] = 9;
    import_params.geometry = &own;
    cc_image *view = take_in(lend());
    fixture_ok(cc_image_get_geometry(view, &got));
    ck_assert_mem_eq(&got, &own, sizeof got);
    ck_assert_float_eq(value_of(view, 1, 0, 0), 1);
    cc_image_release(view);

    import_params.geometry = NULL;
    import_params.flags = CC_IMPORT_OWN_GEOMETRY;
    view = take_in(lend());
    fixture_ok(cc_image_get_geometry(view, &got));
    ck_assert_int_eq(got.index[0], 0);
    ck_assert_double_eq(got.origin[1], 0);
    fixture_ok(cc_image_fill(view, NULL, &written[0], CC_STREAM_DEFAULT));
    ck_assert_float_eq(value_of(image, 0, 0, 0), 1000);
    cc_image_release(view);
}
END_TEST

START_TEST(a_tensor_of_strangers_has_no_geometry)
{
    const int64_t shape[] = {2, 3, 4};
    float memory[24] = {0};
    foreign_tensor array;
    cc_geometry got = CC_GEOMETRY_INIT;
    foreign_tensor_init(&array, CC_PLACE_HOST, memory, 3, shape);
    expect_failure(CC_ERROR_UNSUPPORTED, "on loan", cc_dlpack_get_geometry(&array.versioned, &got));
    expect_failure(CC_ERROR_UNSUPPORTED, "on loan", cc_dlpack_get_geometry_legacy(&array.legacy, &got));
    array.versioned.dl_tensor.dtype.lanes = 4;
    expect_failure(CC_ERROR_UNSUPPORTED, "on loan", cc_dlpack_get_geometry(&array.versioned, &got));
    array.versioned.version.major = 2;
    expect_failure(CC_ERROR_UNSUPPORTED, "version", cc_dlpack_get_geometry(&array.versioned, &got));
    ck_assert_int_eq(got.dimension, 0);
    ck_assert_int_eq(array.deletions, 0);
}
END_TEST

START_TEST(nothing_is_missing_where_there_are_no_pixels)
{
    cc_geometry got = CC_GEOMETRY_INIT;
    const cc_region region = {{-7, 6, 101, 0}, {5, 0, 2, 1}};
    params.region = &region;
    struct DLManagedTensorVersioned *tensor = lend();
    ck_assert_ptr_null(tensor->dl_tensor.data);
    ck_assert_int_eq(tensor->dl_tensor.shape[1], 0);
    fixture_ok(cc_dlpack_get_geometry(tensor, &got));
    ck_assert_int_eq(got.index[1], 6);
    cc_image *empty = take_in(tensor);
    ck_assert_int_eq(cc_image_get_index(empty, 2), 101);
    ck_assert_int_eq(cc_image_get_size(empty, 1), 0);
    cc_image_release(empty);
}
END_TEST

static void *delete_in_thread(void *tensor)
{
    struct DLManagedTensorVersioned *that = tensor;
    that->deleter(that);
    return NULL;
}

START_TEST(a_tensor_outlives_its_image_and_ends_in_another_thread)
{
    pthread_t thread;
    struct DLManagedTensorVersioned *tensor = lend();
    cc_image_release(image);
    image = NULL;
    ck_assert_float_eq(read_element(&tensor->dl_tensor, 59, CC_STREAM_DEFAULT), 59);
    write_element(&tensor->dl_tensor, 59, CC_STREAM_DEFAULT, &written[0]);
    ck_assert_int_eq(pthread_create(&thread, NULL, delete_in_thread, tensor), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
}
END_TEST

#define THREADS 4
#define ROUNDS 50

static void *export_and_import(void *unused)
{
    (void)unused;
    for (int32_t round = 0; round < ROUNDS; ++round) {
        struct DLManagedTensorVersioned *tensor = NULL;
        cc_image *view = NULL;
        cc_export_params read = params;
        read.access = CC_ACCESS_READ;
        if (cc_image_export_dlpack(image, &read, 0, &tensor) != CC_OK)
            return "export";
        if (cc_image_import_dlpack(tensor, &import_params, CC_STREAM_DEFAULT, &view) != CC_OK)
            return "import";
        if (!cc_image_get_read_only(view) || cc_image_get_index(view, 0) != -7)
            return "view";
        cc_image_release(view);
    }
    return NULL;
}

START_TEST(threads_export_and_import_at_once)
{
    pthread_t threads[THREADS];
    for (int32_t i = 0; i < THREADS; ++i)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, export_and_import, NULL), 0);
    for (int32_t i = 0; i < THREADS; ++i) {
        void *failed = NULL;
        ck_assert_int_eq(pthread_join(threads[i], &failed), 0);
        ck_assert_msg(failed == NULL, "%s", (const char *)failed);
    }
    ck_assert_int_eq(loan_count(image), 0);
}
END_TEST

START_TEST(a_tensor_may_have_no_deleter)
{
    const int64_t shape[] = {1, 1, 2};
    float memory[2] = {1, 2};
    foreign_tensor array;
    cc_image *over = NULL;
    foreign_tensor_init(&array, CC_PLACE_HOST, memory, 3, shape);
    array.versioned.deleter = NULL;
    array.legacy.deleter = NULL;
    over = take_in(&array.versioned);
    cc_image_release(over);
    fixture_ok(cc_image_import_dlpack_legacy(&array.legacy, &import_params, CC_STREAM_DEFAULT, &over));
    cc_image_release(over);
    array.versioned.version.major = 0;
    expect_failure(CC_ERROR_UNSUPPORTED, "version.major",
                   cc_image_import_dlpack(&array.versioned, &import_params, CC_STREAM_DEFAULT, &over));
}
END_TEST

START_TEST(a_borrowed_tensor_stays_the_callers)
{
    const int64_t shape[] = {1, 1, 2};
    float memory[2] = {1, 2};
    foreign_tensor array;
    cc_image *over = NULL;
    foreign_tensor_init(&array, CC_PLACE_HOST, memory, 3, shape);
    import_params.flags = CC_IMPORT_BORROWED;
    over = take_in(&array.versioned);
    cc_image_release(over);
    array.versioned.version.major = 9;
    expect_failure(CC_ERROR_UNSUPPORTED, "version.major",
                   cc_image_import_dlpack(&array.versioned, &import_params, CC_STREAM_DEFAULT, &over));
    ck_assert_int_eq(array.deletions, 0);
    import_params.flags = 0;
    expect_failure(CC_ERROR_UNSUPPORTED, "version.major = 9",
                   cc_image_import_dlpack(&array.versioned, &import_params, CC_STREAM_DEFAULT, &over));
    ck_assert_int_eq(array.deletions, 1);
}
END_TEST

START_TEST(what_was_lent_for_reading_comes_back_read_only)
{
    void *pixels = NULL;
    cc_image *inner = NULL;
    cc_image *grafted = fixture_image(CC_PIXEL_FLOAT32, 1, 3, 1, 1, 1);
    struct DLManagedTensorVersioned *tensor = NULL;
    struct DLManagedTensor *legacy = NULL;
    params.access = CC_ACCESS_READ;
    tensor = lend();
    ck_assert_uint_eq(tensor->flags, CC__DLPACK_READ_ONLY);
    expect_failure(CC_ERROR_READ_ONLY, "CC_DLPACK_FORCE", cc_image_export_dlpack_legacy(image, &params, 0, &legacy));
    import_params.flags = CC_IMPORT_WRITABLE;
    expect_failure(CC_ERROR_READ_ONLY, "CC_IMPORT_WRITABLE",
                   cc_image_import_dlpack(tensor, &import_params, CC_STREAM_DEFAULT, &inner));
    import_params.flags = 0;
    cc_image *view = take_in(tensor);
    ck_assert_int_eq(cc_image_get_read_only(view), 1);
    ck_assert_int_eq(cc_image_get_read_only(image), 0);
    const cc_region region = cc_image_get_region(view);
    fixture_ok(cc_image_create_view(view, &region, &inner));
    fixture_ok(cc_image_graft(grafted, view));
    cc_image *const read_only[] = {view, inner, grafted};
    for (int32_t i = 0; i < 3; ++i) {
        expect_failure(CC_ERROR_READ_ONLY, "", cc_image_map_host(read_only[i], NULL, CC_ACCESS_READ_WRITE, &pixels));
        expect_failure(CC_ERROR_READ_ONLY, "", cc_image_fill(read_only[i], NULL, written, CC_STREAM_DEFAULT));
        expect_failure(CC_ERROR_READ_ONLY, "", cc_image_rescale(image, 1, 0, read_only[i], CC_STREAM_DEFAULT));
        expect_failure(CC_ERROR_READ_ONLY, "", cc_image_discard(read_only[i], NULL));
        params.access = CC_ACCESS_READ_WRITE;
        fixture_ok(cc_image_export_dlpack(read_only[i], &params, 0, &tensor));
        ck_assert_uint_eq(tensor->flags, CC__DLPACK_READ_ONLY);
        tensor->deleter(tensor);
    }
    /* New pixels are the handle's own. */
    fixture_ok(cc_image_resize(grafted, &region));
    ck_assert_int_eq(cc_image_get_read_only(grafted), 0);
    fixture_ok(cc_image_fill(image, NULL, &written[0], CC_STREAM_DEFAULT));
    ck_assert_float_eq(value_of(view, 0, 0, 0), 1000);
    cc_image_release(grafted);
    cc_image_release(inner);
    cc_image_release(view);
}
END_TEST

START_TEST(a_copy_belongs_to_the_tensor)
{
    const cc_region region = {{-6, 6, 101, 0}, {3, 2, 2, 1}};
    struct DLManagedTensorVersioned *tensor = NULL;
    struct DLManagedTensor *legacy = NULL;
    cc_geometry got = CC_GEOMETRY_INIT;
    params.region = &region;
    params.access = CC_ACCESS_READ;
    fixture_ok(cc_image_export_dlpack(image, &params, CC_DLPACK_COPY, &tensor));
    ck_assert_int_eq(loan_count(image), 0);
    ck_assert_uint_eq(tensor->flags, CC__DLPACK_IS_COPIED);
    ck_assert_int_eq(tensor->dl_tensor.shape[2], 3);
    ck_assert_int_eq(tensor->dl_tensor.strides[1], 3);
    fixture_ok(cc_dlpack_get_geometry(tensor, &got));
    ck_assert_int_eq(got.index[2], 101);
    ck_assert_double_eq(got.spacing[2], 3);
    ck_assert_float_eq(read_element(&tensor->dl_tensor, 0, CC_STREAM_DEFAULT), 1 + SIZE_I + SIZE_I * SIZE_J);
    ck_assert_float_eq(read_element(&tensor->dl_tensor, 11, CC_STREAM_DEFAULT), 3 + 2 * SIZE_I + 2 * SIZE_I * SIZE_J);
    write_element(&tensor->dl_tensor, 0, CC_STREAM_DEFAULT, &written[0]);
    ck_assert_float_eq(value_of(image, 1, 1, 1), 1 + SIZE_I + SIZE_I * SIZE_J);
    cc_image *copy = take_in(tensor);
    ck_assert_float_eq(value_of(copy, 0, 0, 0), 1000);
    ck_assert_int_eq(cc_image_get_index(copy, 0), -6);
    cc_image_release(copy);

    fixture_ok(cc_image_export_dlpack_legacy(image, &params, CC_DLPACK_COPY, &legacy));
    ck_assert_float_eq(read_element(&legacy->dl_tensor, 0, CC_STREAM_DEFAULT), 1 + SIZE_I + SIZE_I * SIZE_J);
    legacy->deleter(legacy);
}
END_TEST

START_TEST(a_copy_on_the_host_of_pixels_on_a_device)
{
    struct DLManagedTensorVersioned *tensor = NULL;
    const cc_stream stream = place == CC_PLACE_HOST ? NULL : fixture_stream_create(place);
    fixture_ok(cc_image_fill(image, NULL, &written[1], stream));
    params.place = CC_PLACE_HOST;
    fixture_ok(cc_image_export_dlpack(image, &params, CC_DLPACK_COPY, &tensor));
    ck_assert_int_eq(tensor->dl_tensor.device.device_type, CC__DLPACK_CPU);
    ck_assert_float_eq(((float *)tensor->dl_tensor.data)[PIXELS - 1], 2000);
    tensor->deleter(tensor);
    if (place != CC_PLACE_HOST)
        fixture_stream_destroy(place, stream);
}
END_TEST

START_TEST(a_copy_of_what_is_not_there)
{
    const cc_region region = {{-7, 5, 100, 0}, {0, 2, 2, 1}};
    struct DLManagedTensorVersioned *tensor = NULL;
    cc_image_params undefined = CC_IMAGE_PARAMS_INIT;
    cc_image *nothing = NULL;
    params.region = &region;
    fixture_ok(cc_image_export_dlpack(image, &params, CC_DLPACK_COPY, &tensor));
    ck_assert_ptr_null(tensor->dl_tensor.data);
    tensor->deleter(tensor);

    undefined.dimension = 1;
    undefined.region.size[0] = 3;
    undefined.flags = CC_IMAGE_UNINITIALIZED;
    fixture_ok(cc_image_create(&undefined, &nothing));
    params.region = NULL;
    params.place = CC_PLACE_HOST;
    expect_failure(CC_ERROR_UNINITIALIZED, "", cc_image_export_dlpack(nothing, &params, CC_DLPACK_COPY, &tensor));
    cc_image_release(nothing);

    void *pixels = NULL;
    fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_WRITE, &pixels));
    expect_failure(CC_ERROR_BUSY, "", cc_image_export_dlpack(image, &params, CC_DLPACK_COPY, &tensor));
    fixture_ok(cc_image_unmap_host(image, pixels));
}
END_TEST

START_TEST(streams_come_after_each_other)
{
    struct DLManagedTensorVersioned *tensor = NULL;
    cc_image *view = NULL;
    if (place == CC_PLACE_HOST)
        return;
    const cc_stream before = fixture_stream_create(place), during = fixture_stream_create(place);
    const cc_stream after = fixture_stream_create(place);
    /* Late work before the export; the tensor's user works in a stream of its own, and so late that the import and
     * the end of the tensor come first. */
    fixture_ok(cc_image_fill(image, NULL, &written[0], before));
    params.stream = during;
    tensor = lend();
    ck_assert_float_eq(read_element(&tensor->dl_tensor, 3, during), 1000);
    write_element(&tensor->dl_tensor, 3, during, &written[1]);
    fixture_ok(cc_image_import_dlpack(tensor, &import_params, during, &view));
    void *pixels = NULL;
    float seen = 0;
    fixture_ok(cc_image_map_device(view, NULL, CC_ACCESS_READ, after, &pixels));
    fixture_device_read(place, after, &seen, (float *)pixels + 3, sizeof seen);
    fixture_ok(cc_image_unmap_device(view, pixels, after));
    fixture_ok(cc_stream_synchronize(place, after));
    ck_assert_float_eq(seen, 2000);
    ck_assert_float_eq(value_of(view, 3, 0, 0), 2000);
    ck_assert_float_eq(value_of(image, 3, 0, 0), 2000);
    cc_image_release(view);
    fixture_stream_destroy(place, before);
    fixture_stream_destroy(place, during);
    fixture_stream_destroy(place, after);
}
END_TEST

/* Nobody but the stream that is named knows of the work: a stranger's tensor. */
START_TEST(what_a_strangers_stream_does_comes_first)
{
    const int64_t shape[] = {1, 2, 2};
    const float values[] = {1, 2, 3, 4};
    foreign_tensor array;
    void *memory = NULL;
    cc_image *over = NULL;
    if (place == CC_PLACE_HOST)
        return;
    const cc_stream theirs = fixture_stream_create(place);
    fixture_ok(fixture_inner->allocate(fixture_inner, place, theirs, sizeof values, &memory));
    fixture_device_write(place, theirs, memory, values, sizeof values);
    foreign_tensor_init(&array, place, memory, 3, shape);
    write_element(&array.versioned.dl_tensor, 3, theirs, &written[0]);
    if (fixture_is_emulated()) {
        cc__emulated_set_capturing(fixture_inner, place, theirs, true);
        expect_failure(CC_ERROR_CAPTURE, "stream",
                       cc_image_import_dlpack(&array.versioned, &import_params, theirs, &over));
        cc__emulated_set_capturing(fixture_inner, place, theirs, false);
        ck_assert_int_eq(array.deletions, 0);
    }
    fixture_ok(cc_image_import_dlpack(&array.versioned, &import_params, theirs, &over));
    ck_assert_float_eq(value_of(over, 1, 1, 0), 1000);
    cc_image_release(over);
    ck_assert_int_eq(array.deletions, 1);
    fixture_ok(fixture_inner->free(fixture_inner, place, theirs, memory));
    fixture_ok(cc_stream_synchronize(place, theirs));
    fixture_stream_destroy(place, theirs);
}
END_TEST

START_TEST(a_tensor_on_another_device_than_it_says)
{
    const int64_t shape[] = {1, 2, 2};
    float values[] = {1, 2, 3, 4};
    foreign_tensor array;
    cc_image *over = NULL;
    foreign_tensor_init(&array, 0, values, 3, shape);
    if (place == CC_PLACE_HOST) {
        expect_failure(CC_ERROR_NO_DEVICE, "",
                       cc_image_import_dlpack(&array.versioned, &import_params, CC_STREAM_DEFAULT, &over));
        return;
    }
    expect_failure(CC_ERROR_POINTER, "memory",
                   cc_image_import_dlpack(&array.versioned, &import_params, CC_STREAM_DEFAULT, &over));
    array.versioned.dl_tensor.device.device_id = fixture_device_count();
    expect_failure(CC_ERROR_INVALID_DEVICE, "",
                   cc_image_import_dlpack(&array.versioned, &import_params, CC_STREAM_DEFAULT, &over));
    array.versioned.dl_tensor.device.device_id = -1;
    expect_failure(CC_ERROR_INVALID_DEVICE, "",
                   cc_image_import_dlpack(&array.versioned, &import_params, CC_STREAM_DEFAULT, &over));
    if (fixture_device_count() > 1) {
        foreign_tensor_over(&array, lend());
        array.versioned.dl_tensor.device.device_id = 0;
        expect_failure(CC_ERROR_INVALID_DEVICE, "",
                       cc_image_import_dlpack(&array.versioned, &import_params, CC_STREAM_DEFAULT, &over));
        ck_assert_int_eq(array.deletions, 0);
        /* Managed memory: some name the device, some 0. */
        array.versioned.dl_tensor.device.device_type = CC__DLPACK_CUDA_MANAGED;
        over = take_in(&array.versioned);
        ck_assert_int_eq(cc_image_get_device(over), place);
        cc_image_release(over);
    }
}
END_TEST

START_TEST(bad_tensors_are_refused_and_stay_the_callers)
{
    static const struct {
        cc_status status;
        const char *argument;
        cc__dlpack_tensor change; /* members that are not 0 replace the good ones */
    } cases[] = {
        {CC_ERROR_INVALID_ARGUMENT, "ndim", {.ndim = 6}},
        {CC_ERROR_INVALID_ARGUMENT, "ndim", {.ndim = 5}},
        {CC_ERROR_INVALID_ARGUMENT, "ndim", {.ndim = 2}},
        {CC_ERROR_INVALID_ARGUMENT, "ndim", {.ndim = INT32_MIN}},
        {CC_ERROR_UNSUPPORTED, "lanes", {.dtype = {CC__DLPACK_FLOAT, 32, 2}}},
        {CC_ERROR_UNSUPPORTED, "bits", {.dtype = {CC__DLPACK_INT, 4, 1}}},
        {CC_ERROR_PIXEL_TYPE, "bits", {.dtype = {CC__DLPACK_FLOAT, 8, 1}}},
        {CC_ERROR_UNSUPPORTED, "device_type", {.device = {10, 0}}},
        {CC_ERROR_UNSUPPORTED, "device_type", {.device = {-1, 0}}},
        {CC_ERROR_OVERFLOW, "byte_offset", {.byte_offset = UINT64_MAX}},
        {CC_ERROR_LAYOUT, "data", {.byte_offset = 2}},
    };
    const int64_t shape[] = {2, 3, 4};
    float memory[25] = {0};
    foreign_tensor array;
    cc_image *over = NULL;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        const cc__dlpack_tensor *change = &cases[i].change;
        foreign_tensor_init(&array, CC_PLACE_HOST, memory, 3, shape);
        cc__dlpack_tensor *tensor = &array.versioned.dl_tensor;
        tensor->ndim = change->ndim != 0 ? change->ndim : tensor->ndim;
        tensor->dtype = change->dtype.lanes != 0 ? change->dtype : tensor->dtype;
        tensor->device = change->device.device_type != 0 ? change->device : tensor->device;
        tensor->byte_offset = change->byte_offset;
        expect_failure(cases[i].status, cases[i].argument,
                       cc_image_import_dlpack(&array.versioned, &import_params, CC_STREAM_DEFAULT, &over));
        array.legacy.dl_tensor = *tensor;
        expect_failure(cases[i].status, cases[i].argument,
                       cc_image_import_dlpack_legacy(&array.legacy, &import_params, CC_STREAM_DEFAULT, &over));
        ck_assert_int_eq(array.deletions, 0);
        ck_assert_ptr_null(over);
    }
    /* Broadcast along the slowest axis, and flipped along the fastest one. */
    foreign_tensor_init(&array, CC_PLACE_HOST, memory + 3, 3, shape);
    array.strides[0] = 0;
    import_params.flags = CC_IMPORT_STRIDED;
    expect_failure(CC_ERROR_LAYOUT, "strides_bytes",
                   cc_image_import_dlpack(&array.versioned, &import_params, CC_STREAM_DEFAULT, &over));
    array.strides[0] = 12;
    array.strides[2] = -1;
    expect_failure(CC_ERROR_LAYOUT, "strides_bytes",
                   cc_image_import_dlpack(&array.versioned, &import_params, CC_STREAM_DEFAULT, &over));
    ck_assert_int_eq(array.deletions, 0);
}
END_TEST

START_TEST(arguments_that_are_none)
{
    const int64_t shape[] = {2, 3, 4};
    float memory[24] = {0};
    foreign_tensor array;
    cc_image *over = NULL;
    struct DLManagedTensorVersioned *tensor = NULL;
    struct DLManagedTensor *legacy = NULL;
    cc_geometry got = CC_GEOMETRY_INIT;
    foreign_tensor_init(&array, CC_PLACE_HOST, memory, 3, shape);
    struct DLManagedTensorVersioned *versioned = &array.versioned;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "image = NULL", cc_image_export_dlpack(NULL, &params, 0, &tensor));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "params = NULL", cc_image_export_dlpack(image, NULL, 0, &tensor));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "out_tensor = NULL", cc_image_export_dlpack(image, &params, 0, NULL));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "dlpack_flags",
                   cc_image_export_dlpack(image, &params, CC_DLPACK_FORCE, &tensor));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "image = NULL", cc_image_export_dlpack_legacy(NULL, &params, 0, &legacy));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "params = NULL", cc_image_export_dlpack_legacy(image, NULL, 0, &legacy));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "out_tensor = NULL",
                   cc_image_export_dlpack_legacy(image, &params, 0, NULL));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "dlpack_flags",
                   cc_image_export_dlpack_legacy(image, &params, 4, &legacy));
    cc_export_params bad = params;
    bad.struct_size = 0;
    expect_passed_on(CC_ERROR_INVALID_ARGUMENT, cc_image_export_dlpack(image, &bad, 0, &tensor));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "struct_size",
                   cc_image_export_dlpack(image, &bad, CC_DLPACK_COPY, &tensor));
    bad = params;
    bad.place = -3;
    expect_passed_on(CC_ERROR_INVALID_ARGUMENT, cc_image_export_dlpack(image, &bad, 0, &tensor));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "place", cc_image_export_dlpack(image, &bad, CC_DLPACK_COPY, &tensor));
    bad.place = fixture_device_count();
    const cc_status missing = fixture_device_count() == 0 ? CC_ERROR_NO_DEVICE : CC_ERROR_INVALID_DEVICE;
    expect_failure(missing, "", cc_image_export_dlpack(image, &bad, CC_DLPACK_COPY, &tensor));
    expect_passed_on(missing, cc_image_export_dlpack(image, &bad, 0, &tensor));

    expect_failure(CC_ERROR_INVALID_ARGUMENT, "tensor = NULL",
                   cc_image_import_dlpack(NULL, &import_params, NULL, &over));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "params = NULL", cc_image_import_dlpack(versioned, NULL, NULL, &over));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "out_image = NULL",
                   cc_image_import_dlpack(versioned, &import_params, NULL, NULL));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "tensor = NULL",
                   cc_image_import_dlpack_legacy(NULL, &import_params, NULL, &over));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "params = NULL",
                   cc_image_import_dlpack_legacy(&array.legacy, NULL, NULL, &over));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "out_image = NULL",
                   cc_image_import_dlpack_legacy(&array.legacy, &import_params, NULL, NULL));
    cc_import_params bad_import = import_params;
    bad_import.struct_size = 0;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "struct_size",
                   cc_image_import_dlpack(versioned, &bad_import, NULL, &over));
    bad_import = import_params;
    bad_import.flags = 1u << 30;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "flags", cc_image_import_dlpack(versioned, &bad_import, NULL, &over));
    bad_import.flags = 0;
    bad_import.release = (cc_release_fn)(void (*)(void))abort;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "params.release",
                   cc_image_import_dlpack(versioned, &bad_import, NULL, &over));

    expect_failure(CC_ERROR_INVALID_ARGUMENT, "tensor = NULL", cc_dlpack_get_geometry(NULL, &got));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "out_geometry = NULL", cc_dlpack_get_geometry(versioned, NULL));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "tensor = NULL", cc_dlpack_get_geometry_legacy(NULL, &got));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "out_geometry = NULL",
                   cc_dlpack_get_geometry_legacy(&array.legacy, NULL));
    got.struct_size = 0;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "struct_size", cc_dlpack_get_geometry(versioned, &got));
    ck_assert_int_eq(array.deletions, 0);
    ck_assert_ptr_null(over);
    ck_assert_ptr_null(tensor);
    ck_assert_ptr_null(legacy);
}
END_TEST

/* A capsule as PyCapsule_New makes one: a name and a pointer. */
typedef struct fake_capsule {
    const char *name;
    void *pointer;
} fake_capsule;

static int fake_is_valid(void *capsule, const char *name)
{
    return strcmp(((fake_capsule *)capsule)->name, name) == 0;
}

static void *fake_get_pointer(void *capsule, const char *name)
{
    return fake_is_valid(capsule, name) ? ((fake_capsule *)capsule)->pointer : NULL;
}

START_TEST(a_capsule_ends_the_tensor_that_nobody_took)
{
    const int64_t shape[] = {1};
    foreign_tensor array;
    foreign_tensor_init(&array, CC_PLACE_HOST, NULL, 1, shape);
    fake_capsule versioned = {cc_dlpack_capsule_name(1, 0), &array.versioned};
    fake_capsule legacy = {cc_dlpack_capsule_name(0, 0), &array.legacy};
    ck_assert_str_eq(versioned.name, "dltensor_versioned");
    ck_assert_str_eq(legacy.name, "dltensor");
    ck_assert_str_eq(cc_dlpack_capsule_name(1, 1), "used_dltensor_versioned");
    ck_assert_str_eq(cc_dlpack_capsule_name(0, 1), "used_dltensor");
    cc_dlpack_destroy_capsule(&versioned);
    ck_assert_int_eq(array.deletions, 0); /* nobody said how to look into it */
    cc_dlpack_set_capsule_functions(fake_is_valid, fake_get_pointer);
    cc_dlpack_destroy_capsule(&versioned);
    ck_assert_int_eq(array.deletions, 1);
    cc_dlpack_destroy_capsule(&legacy);
    ck_assert_int_eq(array.deletions, 2);
    /* Taken: it is the consumer's. */
    versioned.name = cc_dlpack_capsule_name(1, 1);
    legacy.name = cc_dlpack_capsule_name(0, 1);
    cc_dlpack_destroy_capsule(&versioned);
    cc_dlpack_destroy_capsule(&legacy);
    ck_assert_int_eq(array.deletions, 2);
    array.versioned.deleter = NULL;
    array.legacy.deleter = NULL;
    versioned.name = cc_dlpack_capsule_name(1, 0);
    legacy.name = cc_dlpack_capsule_name(0, 0);
    cc_dlpack_destroy_capsule(&versioned);
    cc_dlpack_destroy_capsule(&legacy);
    ck_assert_int_eq(array.deletions, 2);

    versioned.pointer = lend();
    ck_assert_int_eq(loan_count(image), 1);
    cc_dlpack_destroy_capsule(&versioned);
    ck_assert_int_eq(loan_count(image), 0);
    cc_dlpack_set_capsule_functions(NULL, NULL);
}
END_TEST

START_TEST(ten_thousand_tensors_leave_nothing_behind)
{
    for (int32_t i = 0; i < 10000; ++i) {
        struct DLManagedTensorVersioned *tensor = lend();
        tensor->deleter(tensor);
    }
    ck_assert_int_eq(loan_count(image), 0);
    if (fixture_is_emulated())
        ck_assert_int_lt(cc__emulated_count_live(fixture_inner).events, 100);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("dlpack");
    TCase *tcase = tcase_create("dlpack");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, the_image_and_the_tensor_are_the_same_pixels);
    tcase_add_test(tcase, what_comes_back_is_a_view_with_its_place_in_space);
    tcase_add_test(tcase, a_box_of_it_comes_back_as_that_box);
    tcase_add_test(tcase, a_box_of_a_lent_region_counts_from_that_region);
    tcase_add_loop_test(tcase, any_other_part_of_it_is_an_image_over_the_loan, 0, OTHER_PARTS);
    tcase_add_test(tcase, more_than_the_lent_region_is_not_a_part_of_it);
    tcase_add_test(tcase, pixels_that_begin_inside_of_a_pixel_are_others);
    tcase_add_test(tcase, the_callers_geometry_goes_before_the_lenders);
    tcase_add_test(tcase, a_tensor_of_strangers_has_no_geometry);
    tcase_add_test(tcase, nothing_is_missing_where_there_are_no_pixels);
    tcase_add_test(tcase, a_tensor_outlives_its_image_and_ends_in_another_thread);
    tcase_add_test(tcase, threads_export_and_import_at_once);
    tcase_add_test(tcase, a_tensor_may_have_no_deleter);
    tcase_add_test(tcase, a_borrowed_tensor_stays_the_callers);
    tcase_add_test(tcase, what_was_lent_for_reading_comes_back_read_only);
    tcase_add_test(tcase, a_copy_belongs_to_the_tensor);
    tcase_add_test(tcase, a_copy_on_the_host_of_pixels_on_a_device);
    tcase_add_test(tcase, a_copy_of_what_is_not_there);
    tcase_add_test(tcase, streams_come_after_each_other);
    tcase_add_test(tcase, what_a_strangers_stream_does_comes_first);
    tcase_add_test(tcase, a_tensor_on_another_device_than_it_says);
    tcase_add_test(tcase, bad_tensors_are_refused_and_stay_the_callers);
    tcase_add_test(tcase, arguments_that_are_none);
    tcase_add_test(tcase, a_capsule_ends_the_tensor_that_nobody_took);
    tcase_add_test(tcase, ten_thousand_tensors_leave_nothing_behind);
    suite_add_tcase(suite, tcase);
    return fixture_run(suite);
}
