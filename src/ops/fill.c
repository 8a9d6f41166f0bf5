#include "base/error.h"
#include "memory/pixel_kernels.h"
#include "ops/place.h"
#include "trace/trace.h"

#include <cudacommon/operations.h>
#include <string.h>

cc_status cc_image_fill(cc_image *image, const cc_region *region, const void *value, cc_stream stream)
{
    static const char *const function = "cc_image_fill";
    cc__access_request request = {.function = function, .access = CC_ACCESS_WRITE, .stream = stream};
    cc__fill fill;
    cc__mapping *mapping = NULL;
    cc_status status = cc__image_check(function, image);
    if (status == CC_OK && value == NULL)
        status = cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: value = NULL, expected a pixel", function);
    if (status == CC_OK)
        status = cc__image_box(function, image, region, &request.box);
    if (status == CC_OK && cc__image_is_read_only(image))
        status = cc__fail(CC_ERROR_READ_ONLY, "%s: the pixels were wrapped read-only", function);
    if (status != CC_OK || cc__box_is_empty(&request.box))
        return status;
    if (cc__data_manager_is_whole(image->manager, &request.box)) {
        bool is_noted = true;
        status = cc__data_manager_set_constant(image->manager, function, value, &is_noted);
        if (status != CC_OK || is_noted)
            return status;
    }
    status = cc__operation_place(function, &image, 1, &request.box, &request.place);
    if (status == CC_OK)
        status = cc__data_manager_begin(image->manager, &request, &mapping);
    if (status != CC_OK)
        return status;
    fill.destination = cc__data_manager_span(image->manager, mapping);
    fill.pixel_bytes = (int64_t)cc_pixel_type_size_bytes(image->pixel_type) * image->components;
    memcpy(fill.size, request.box.size, sizeof fill.size);
    memcpy(fill.value, value, (size_t)fill.pixel_bytes);
    status = cc__data_manager_commit(image->manager, mapping, stream, &cc__fill_kernel, &fill);
    cc__data_manager_end(image->manager, mapping, mapping);
    cc__trace_tell();
    return status;
}
