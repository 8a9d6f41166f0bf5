/*
 * The rows of interop_vectors.json about Python's __dlpack__ and about attributes, as far as C can say the same: which
 * tensor a call ends in, its flags and device, and which stream comes first. What is said in Python alone is listed,
 * with the reason, and tested there.
 */
#include "interop/dlpack_abi.h"
#include "json_row.h"
#include "support/expect.h"
#include "support/fixture.h"

#include <stdlib.h>
#include <string.h>

#define PROTOCOL_ROWS 24
#define ATTRIBUTE_ROWS 7

static json_t *root;
static const json_t *rows[PROTOCOL_ROWS + ATTRIBUTE_ROWS];
static int32_t row_count;

static const struct {
    const char *id;
    const char *reason;
} only_in_python[] = {
    {"V246", "a cc_stream of 0 is the legacy default stream, which Python calls 1"},
    {"V254", "whether a copy is wanted is two functions' difference here; copy=False is the binding's to refuse"},
    {"V256", "pixels can be lent on another device: that they should not be is the protocol's rule"},
    {"V251", "host memory of an image is exported as kDLCPU, page-locked or not"},
    {"V263", "the same"},
    {"V264", "no memory of an image is managed but what was wrapped, and that is exported as kDLCUDA"},
    {"V265", "which attributes an object has"},
    {"V266", "which attributes an object has"},
    {"V272", "which attributes an object has"},
    {"V273", "which attributes an object has"},
};

static const char *id_of(const json_t *row)
{
    return row_text(row_member(row, "id"), "id");
}

static bool is_only_in_python(const json_t *row)
{
    for (size_t i = 0; i < sizeof only_in_python / sizeof only_in_python[0]; ++i)
        if (strcmp(id_of(row), only_in_python[i].id) == 0)
            return true;
    return false;
}

#define check_row(row, condition) ck_assert_msg(condition, "%s: not %s", id_of(row), #condition)

/* Where the row's image is; CC_DEVICE_CURRENT when this machine has no such place. */
static cc_place place_of(const char *image)
{
    int32_t device = 0;
    if (strncmp(image, "CPU", 3) == 0)
        return CC_PLACE_HOST;
    ck_assert(strncmp(image, "CUDA", 4) == 0);
    if (image[4] == ':')
        device = image[5] - '0';
    return device < fixture_device_count() ? device : CC_DEVICE_CURRENT;
}

/* The memory that a read-only image is over; on a device the fixture's. */
static float zeros[2];

static cc_image *image_of(const char *text, cc_place place, void **out_memory)
{
    cc_image *image = fixture_image(CC_PIXEL_FLOAT32, 1, 1, 2, 1, 1);
    *out_memory = NULL;
    if (place != CC_PLACE_HOST)
        fixture_ok(cc_image_set_device(image, place));
    if (strstr(text, "read-only") == NULL)
        return image;
    cc_wrap_params wrap = CC_WRAP_PARAMS_INIT;
    wrap.flags = CC_WRAP_BORROWED | CC_WRAP_READ_ONLY;
    wrap.size_bytes = sizeof zeros;
    wrap.data = zeros;
    if (place != CC_PLACE_HOST) {
        fixture_ok(fixture_inner->allocate(fixture_inner, place, CC_STREAM_DEFAULT, sizeof zeros, out_memory));
        fixture_device_write(place, CC_STREAM_DEFAULT, *out_memory, zeros, sizeof zeros);
        wrap.data = *out_memory;
    }
    fixture_ok(place == CC_PLACE_HOST ? cc_image_wrap_host(image, &wrap)
                                      : cc_image_wrap_device(image, &wrap, CC_STREAM_DEFAULT));
    return image;
}

/* What a binding makes of the arguments of __dlpack__. */
typedef struct call {
    cc_export_params params;
    uint32_t dlpack_flags;
    cc_stream own_stream; /* to be destroyed */
} call;

static call call_of(const json_t *arguments, cc_place place)
{
    static const char *const known[] = {"max_version", "stream", "dl_device", "copy", NULL};
    call made = {.params = CC_EXPORT_PARAMS_INIT};
    const json_t *stream = json_object_get(arguments, "stream"), *device = json_object_get(arguments, "dl_device");
    const json_t *copy = json_object_get(arguments, "copy");
    made.params.place = place;
    if (json_is_string(arguments)) /* "__dlpack_device__" */
        return made;
    row_check_keys(arguments, known);
    if (json_is_integer(stream) && json_integer_value(stream) == 2)
        made.params.stream = CC_STREAM_PER_THREAD;
    if (json_is_integer(stream) && json_integer_value(stream) > 2 && place != CC_PLACE_HOST)
        made.params.stream = made.own_stream = fixture_stream_create(place);
    if (json_is_integer(stream) && json_integer_value(stream) > 2 && place == CC_PLACE_HOST)
        made.params.stream = CC_STREAM_PER_THREAD; /* any that is not 0 */
    if (json_is_true(copy))
        made.dlpack_flags = CC_DLPACK_COPY;
    if (device != NULL && json_integer_value(json_array_get(device, 0)) == CC__DLPACK_CPU && place != CC_PLACE_HOST) {
        made.params.place = CC_PLACE_HOST;
        made.params.stream = NULL;
        made.dlpack_flags = CC_DLPACK_COPY;
    }
    return made;
}

static void check_device(const json_t *row, const json_t *expected, const cc__dlpack_device *device)
{
    if (expected == NULL)
        return;
    check_row(row, json_integer_value(json_array_get(expected, 0)) == device->device_type);
    check_row(row, json_integer_value(json_array_get(expected, 1)) == device->device_id);
}

/* Work that is late in a stream of its own when the tensor is made: its user, in the stream that was asked for, sees
 * what it wrote. */
static void check_order(const json_t *row, const call *made, const cc__dlpack_tensor *tensor)
{
    float seen[2] = {0, 0};
    if (made->params.place == CC_PLACE_HOST) {
        memcpy(seen, tensor->data, sizeof seen);
    } else {
        fixture_device_read(made->params.place, made->params.stream, seen, tensor->data, sizeof seen);
        fixture_ok(cc_stream_synchronize(made->params.place, made->params.stream));
    }
    check_row(row, seen[0] > 41 && seen[0] < 43 && seen[1] > 41 && seen[1] < 43);
}

START_TEST(a_row_of_the_protocol)
{
    static const float value = 42;
    const json_t *row = rows[_i], *input = row_member(row, "input"), *expect = row_member(row, "expect");
    const char *text = row_text(row_member(input, "image"), "image");
    const json_t *capsule = json_object_get(expect, "capsule"), *flags = json_object_get(expect, "flags");
    const cc_place place = place_of(text);
    void *memory = NULL;
    if (is_only_in_python(row) || place == CC_DEVICE_CURRENT)
        return;
    cc_image *image = image_of(text, place, &memory);
    call made = call_of(row_member(input, "call"), place);
    const cc_stream writer = place != CC_PLACE_HOST ? fixture_stream_create(place) : NULL;
    if (!cc_image_get_read_only(image))
        fixture_ok(cc_image_fill(image, &(cc_region){{0}, {2}}, &value, writer));

    if (json_object_get(expect, "error") != NULL) {
        struct DLManagedTensor *tensor = NULL;
        expect_passed_on(CC_ERROR_INVALID_ARGUMENT, cc_image_export_dlpack_legacy(image, &made.params, 0, &tensor));
    } else if (capsule != NULL && strcmp(json_string_value(capsule), "dltensor_versioned") != 0) {
        struct DLManagedTensor *tensor = NULL;
        check_row(row, strcmp(json_string_value(capsule), cc_dlpack_capsule_name(0, 0)) == 0);
        fixture_ok(cc_image_export_dlpack_legacy(image, &made.params, made.dlpack_flags, &tensor));
        check_order(row, &made, &tensor->dl_tensor);
        tensor->deleter(tensor);
    } else {
        struct DLManagedTensorVersioned *tensor = NULL;
        fixture_ok(cc_image_export_dlpack(image, &made.params, made.dlpack_flags, &tensor));
        check_row(row, tensor->version.major == 1);
        check_row(row, flags == NULL || tensor->flags == (uint64_t)json_integer_value(flags));
        check_device(row, json_object_get(expect, "device"), &tensor->dl_tensor.device);
        check_device(row, json_object_get(expect, "value"), &tensor->dl_tensor.device);
        if (!cc_image_get_read_only(image))
            check_order(row, &made, &tensor->dl_tensor);
        tensor->deleter(tensor);
    }

    cc_image_release(image);
    if (memory != NULL)
        fixture_ok(fixture_inner->free(fixture_inner, place, CC_STREAM_DEFAULT, memory));
    if (made.own_stream != NULL)
        fixture_stream_destroy(place, made.own_stream);
    if (writer != NULL)
        fixture_stream_destroy(place, writer);
}
END_TEST

/* The stream of __cuda_array_interface__: what cc_image_export() says is pending, and in which stream it was asked. */
START_TEST(a_row_of_an_attribute)
{
    const json_t *row = rows[PROTOCOL_ROWS + _i], *input = row_member(row, "input");
    const json_t *value = json_object_get(row_member(row, "expect"), "value");
    cc_export_params params = CC_EXPORT_PARAMS_INIT;
    cc_descriptor descriptor = CC_DESCRIPTOR_INIT;
    cc_loan *loan = NULL;
    void *pixels = NULL;
    if (is_only_in_python(row) || fixture_device_count() == 0)
        return;
    check_row(row,
              strcmp(row_text(row_member(input, "attribute"), "attribute"), "__cuda_array_interface__.stream") == 0);
    if (json_is_integer(value) && json_integer_value(value) == 2)
        params.stream = CC_STREAM_PER_THREAD;
    params.place = 0;
    cc_image *image = fixture_image(CC_PIXEL_FLOAT32, 1, 1, 2, 1, 1);
    fixture_ok(cc_image_set_device(image, 0));
    const cc_stream writer = json_is_integer(value) ? params.stream : CC_STREAM_PER_THREAD;
    fixture_ok(cc_image_map_device(image, NULL, CC_ACCESS_WRITE, writer, &pixels));
    fixture_ok(cc_image_unmap_device(image, pixels, writer));
    if (!json_is_integer(value))
        fixture_ok(cc_stream_synchronize(0, writer));
    fixture_ok(cc_image_export(image, &params, &descriptor, &loan));
    check_row(row, descriptor.stream == params.stream);
    check_row(row, (descriptor.pending != 0) == json_is_integer(value));
    cc_loan_release(loan);
    cc_image_release(image);
    fixture_ok(cc_stream_synchronize(0, params.stream));
}
END_TEST

START_TEST(every_row_is_here)
{
    int32_t found = 0;
    for (int32_t i = 0; i < row_count; ++i)
        found += is_only_in_python(rows[i]);
    ck_assert_int_eq(found, sizeof only_in_python / sizeof only_in_python[0]);
}
END_TEST

/* Protocol rows first, in the order of the file. */
static void load(const char *path)
{
    json_error_t error;
    root = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (root == NULL)
        row_refuse("%s, line %d: %s", path, error.line, error.text);
    const json_t *vectors = row_member(root, "vectors");
    for (int32_t pass = 0; pass < 2; ++pass) {
        for (size_t i = 0; i < json_array_size(vectors); ++i) {
            const json_t *row = json_array_get(vectors, i);
            const char *kind = row_text(row_member(row, "kind"), "kind");
            if (strcmp(kind, pass == 0 ? "dlpack_protocol" : "attribute") != 0)
                continue;
            if (row_count == PROTOCOL_ROWS + ATTRIBUTE_ROWS)
                row_refuse("there are more rows than %d", (int)row_count);
            rows[row_count++] = row;
        }
        if (row_count != (pass == 0 ? PROTOCOL_ROWS : PROTOCOL_ROWS + ATTRIBUTE_ROWS))
            row_refuse("there are %d rows", (int)row_count);
    }
}

int main(void)
{
    Suite *suite = suite_create("protocol_vectors");
    TCase *tcase = tcase_create("protocol_vectors");
    load(INTEROP_VECTORS);
    tcase_add_checked_fixture(tcase, fixture_setup, fixture_teardown);
    tcase_add_test(tcase, every_row_is_here);
    tcase_add_loop_test(tcase, a_row_of_the_protocol, 0, PROTOCOL_ROWS);
    tcase_add_loop_test(tcase, a_row_of_an_attribute, 0, ATTRIBUTE_ROWS);
    suite_add_tcase(suite, tcase);
    const int result = fixture_run(suite);
    json_decref(root);
    return result;
}
