/* Questions about where an image's pixels are. */
#include "backend/backend.h"
#include "base/allocate.h"
#include "base/error.h"
#include "image/image_handle.h"
#include "trace/totals.h"

#include <string.h>

static cc_status check_place(const char *function, cc_place place)
{
    if (place >= CC_PLACE_HOST)
        return CC_OK;
    return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: place = %d, expected CC_PLACE_HOST or a device", function, place);
}

static cc_status check_out(const char *function, const char *name, const void *out, uint32_t struct_size)
{
    if (out == NULL)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: %s = NULL, expected a pointer", function, name);
    if (struct_size < sizeof struct_size)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: %s.struct_size = %u, expected its _INIT macro", function, name,
                        (unsigned)struct_size);
    return CC_OK;
}

/* Fills as much of the caller's struct as the caller knows of; its struct_size stays. */
static void copy_out(void *out, uint32_t out_size, const void *filled, size_t filled_size)
{
    const size_t size = out_size < filled_size ? out_size : filled_size;
    memcpy((char *)out + sizeof out_size, (const char *)filled + sizeof out_size, size - sizeof out_size);
}

cc_status cc_image_get_place_state(cc_image *image, cc_place place, cc_place_state *out_state)
{
    static const char *const function = "cc_image_get_place_state";
    cc_status status = cc__image_check(function, image);
    if (status == CC_OK)
        status = check_place(function, place);
    if (status == CC_OK)
        status = check_out(function, "out_state", out_state, out_state != NULL ? out_state->struct_size : 0);
    if (status != CC_OK)
        return status;
    const cc_place_state state = cc__data_manager_place_state(image->manager, place, &image->box);
    copy_out(out_state, out_state->struct_size, &state, sizeof state);
    return CC_OK;
}

cc_status cc_image_get_valid_regions(cc_image *image, cc_place place, int32_t capacity, cc_region *out_regions,
                                     int32_t *out_count)
{
    static const char *const function = "cc_image_get_valid_regions";
    cc__box *boxes = NULL;
    int32_t count = 0;
    cc_status status = cc__image_check(function, image);
    if (status == CC_OK)
        status = check_place(function, place);
    if (status == CC_OK && capacity < 0)
        status = cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: capacity = %d, expected >= 0", function, capacity);
    if (status == CC_OK && (out_count == NULL || (out_regions == NULL && capacity > 0)))
        status = cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: %s = NULL, expected a pointer", function,
                          out_count == NULL ? "out_count" : "out_regions");
    if (status != CC_OK)
        return status;
    status = cc__data_manager_valid_boxes(image->manager, place, &image->box, 0, NULL, &count);
    capacity = capacity < count ? capacity : count;
    if (status == CC_OK && capacity > 0) {
        boxes = cc__allocate((size_t)capacity * sizeof *boxes);
        if (boxes == NULL)
            return cc__fail(CC_ERROR_OUT_OF_HOST_MEMORY, "%s: no memory for %d boxes", function, capacity);
    }
    if (status == CC_OK)
        status = cc__data_manager_valid_boxes(image->manager, place, &image->box, capacity, boxes, &count);
    for (int32_t i = 0; status == CC_OK && i < count && i < capacity; ++i) {
        for (int32_t axis = 0; axis < CC_MAX_DIMENSION; ++axis) {
            out_regions[i].index[axis] = image->region.index[axis] + (boxes[i].start[axis] - image->box.start[axis]);
            out_regions[i].size[axis] = boxes[i].size[axis];
        }
    }
    if (status == CC_OK)
        *out_count = count;
    cc__free(boxes);
    return status;
}

cc_status cc_image_get_counters(cc_image *image, cc_counters *out_counters)
{
    static const char *const function = "cc_image_get_counters";
    cc_status status = cc__image_check(function, image);
    if (status == CC_OK)
        status =
            check_out(function, "out_counters", out_counters, out_counters != NULL ? out_counters->struct_size : 0);
    if (status != CC_OK)
        return status;
    const cc_counters counters = cc__data_manager_counters(image->manager);
    copy_out(out_counters, out_counters->struct_size, &counters, sizeof counters);
    return CC_OK;
}

cc_status cc_image_reset_counters(cc_image *image)
{
    const cc_status status = cc__image_check("cc_image_reset_counters", image);
    if (status == CC_OK)
        cc__data_manager_reset_counters(image->manager);
    return status;
}

cc_status cc_get_total_counters(cc_counters *out_counters)
{
    const cc_status status = check_out("cc_get_total_counters", "out_counters", out_counters,
                                       out_counters != NULL ? out_counters->struct_size : 0);
    if (status != CC_OK)
        return status;
    const cc_counters totals = cc__totals_get();
    copy_out(out_counters, out_counters->struct_size, &totals, sizeof totals);
    return CC_OK;
}

void cc_reset_total_counters(void)
{
    cc__totals_reset();
}

cc_status cc_image_set_label(cc_image *image, const char *label)
{
    static const char *const function = "cc_image_set_label";
    const char *text = label != NULL ? label : "";
    const cc_status status = cc__image_check(function, image);
    if (status != CC_OK)
        return status;
    if (strlen(text) >= CC_LABEL_BYTES)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: label has %zu bytes, expected at most %d", function,
                        strlen(text), CC_LABEL_BYTES - 1);
    cc__data_manager_set_label(image->manager, text);
    return CC_OK;
}

cc_status cc_image_get_label(cc_image *image, char out_label[CC_LABEL_BYTES])
{
    static const char *const function = "cc_image_get_label";
    const cc_status status = cc__image_check(function, image);
    if (status != CC_OK)
        return status;
    if (out_label == NULL)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: out_label = NULL, expected %d bytes", function, CC_LABEL_BYTES);
    cc__data_manager_get_label(image->manager, out_label);
    return CC_OK;
}

cc_status cc_device_memory_info(int32_t device, size_t *out_free_bytes, size_t *out_total_bytes)
{
    static const char *const function = "cc_device_memory_info";
    cc__backend *backend = cc__backend_get();
    size_t free_bytes = 0;
    size_t total_bytes = 0;
    if (out_free_bytes == NULL || out_total_bytes == NULL)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: %s = NULL, expected a pointer", function,
                        out_free_bytes == NULL ? "out_free_bytes" : "out_total_bytes");
    cc_status status = cc__backend_check_device(backend, function, device);
    if (status == CC_OK)
        status = backend->memory_info(backend, device, &free_bytes, &total_bytes);
    if (status != CC_OK)
        return status;
    *out_free_bytes = free_bytes;
    *out_total_bytes = total_bytes;
    return CC_OK;
}
