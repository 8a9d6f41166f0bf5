#include "base/error.h"
#include "memory/pixel_kernels.h"
#include "ops/fit.h"
#include "ops/place.h"
#include "trace/trace.h"

#include <cudacommon/operations.h>
#include <string.h>

static cc_status check(const char *function, cc_image *input, double scale, double shift, cc_image *output)
{
    const cc_status status = cc__fit_rescale(function, input, scale, shift, output);
    if (status == CC_OK && cc__image_is_read_only(output))
        return cc__fail(CC_ERROR_READ_ONLY, "%s: the output's pixels were wrapped read-only", function);
    return status;
}

cc_status cc_image_rescale(cc_image *input, double scale, double shift, cc_image *output, cc_stream stream)
{
    static const char *const function = "cc_image_rescale";
    cc__access_request request = {.function = function, .stream = stream};
    cc__rescale rescale;
    cc__mapping *source = NULL;
    cc__mapping *destination = NULL;
    cc_image *const images[] = {input, output};

    cc_status status = check(function, input, scale, shift, output);
    if (status != CC_OK || cc__box_is_empty(&output->box))
        return status;
    const bool in_place = input->manager == output->manager && cc__box_equal(&input->box, &output->box);
    status = cc__operation_place(function, images, 2, &output->box, &request.place);
    if (status == CC_OK && !in_place) {
        request.box = output->box;
        request.access = CC_ACCESS_WRITE;
        status = cc__data_manager_check_free(output->manager, &request);
        if (status == CC_OK && input->manager == output->manager && cc__box_overlaps(&input->box, &output->box))
            status =
                cc__fail(CC_ERROR_BUSY, "%s: output overlaps the input, expected the same pixels or others", function);
    }
    if (status == CC_OK && !in_place) {
        request.box = input->box;
        request.access = CC_ACCESS_READ;
        status = cc__data_manager_begin(input->manager, &request, &source);
    }
    if (status != CC_OK)
        return status;
    request.box = output->box;
    request.access = in_place ? CC_ACCESS_READ_WRITE : CC_ACCESS_WRITE;
    status = cc__data_manager_begin(output->manager, &request, &destination);
    if (status != CC_OK)
        goto end;

    rescale.destination = cc__data_manager_span(output->manager, destination);
    rescale.source = in_place ? rescale.destination : cc__data_manager_span(input->manager, source);
    memcpy(rescale.size, output->box.size, sizeof rescale.size);
    rescale.components = output->components;
    rescale.destination_type = output->pixel_type;
    rescale.source_type = input->pixel_type;
    rescale.scale = scale;
    rescale.shift = shift;
    status = cc__data_manager_commit(output->manager, destination, stream, &cc__rescale_kernel, &rescale);
end:
    if (source != NULL)
        cc__data_manager_end(input->manager, source, destination != NULL ? destination : source);
    if (destination != NULL)
        cc__data_manager_end(output->manager, destination, destination);
    cc__trace_tell();
    return status;
}
