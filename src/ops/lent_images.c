#include "ops/lent_images.h"

#include "base/error.h"
#include "ops/place.h"
#include "trace/trace.h"

#include <string.h>

static const cc__box *input_box(const cc__lent_images *images, int32_t input)
{
    return images->input_boxes[input] != NULL ? images->input_boxes[input] : &images->inputs[input]->box;
}

static const cc__box *output_box(const cc__lent_images *images)
{
    return images->output_box != NULL ? images->output_box : &images->output->box;
}

static bool is_output(const cc__lent_images *images, int32_t input)
{
    return images->inputs[input]->manager == images->output->manager &&
           cc__box_equal(input_box(images, input), output_box(images));
}

/* The first input with the same pixels, which is lent for all of them. */
static int32_t first_alike(const cc__lent_images *images, int32_t input)
{
    int32_t first = 0;
    while (images->inputs[first]->manager != images->inputs[input]->manager ||
           !cc__box_equal(input_box(images, first), input_box(images, input)))
        first++;
    return first;
}

static bool overlaps_output(const cc__lent_images *images, int32_t input)
{
    return images->inputs[input]->manager == images->output->manager &&
           cc__box_overlaps(input_box(images, input), output_box(images));
}

/* Nothing moves for one image when another cannot be had. */
static cc_status check_free(const cc__lent_images *images, cc_access output_access, cc__access_request *request)
{
    request->access = output_access;
    request->box = *output_box(images);
    cc_status status = cc__data_manager_check_free(images->output->manager, request);
    request->access = CC_ACCESS_READ;
    for (int32_t i = 0; i < images->input_count && status == CC_OK; i++) {
        if (is_output(images, i))
            continue;
        if (overlaps_output(images, i))
            return cc__fail(CC_ERROR_BUSY, "%s: output overlaps an input, expected the same pixels or others",
                            images->function);
        request->box = *input_box(images, i);
        status = cc__data_manager_check_free(images->inputs[i]->manager, request);
    }
    return status;
}

static cc_status lend(cc__lent_images *images, cc_access output_access, cc__access_request *request)
{
    cc_status status = CC_OK;
    request->access = CC_ACCESS_READ;
    for (int32_t i = 0; i < images->input_count && status == CC_OK; i++) {
        if (is_output(images, i) || first_alike(images, i) != i)
            continue;
        request->box = *input_box(images, i);
        status = cc__data_manager_begin(images->inputs[i]->manager, request, &images->input_mappings[i]);
    }
    if (status != CC_OK)
        return status;
    request->access = output_access;
    request->box = *output_box(images);
    return cc__data_manager_begin(images->output->manager, request, &images->output_mapping);
}

cc_status cc__lend_images(cc__lent_images *images)
{
    cc__access_request request = {.function = images->function, .stream = images->stream};
    cc_access output_access = CC_ACCESS_WRITE;
    cc_image *all[CC_MAX_INPUTS + 1];
    memcpy(all, images->inputs, sizeof images->inputs);
    all[images->input_count] = images->output;
    for (int32_t i = 0; i < images->input_count; i++)
        if (is_output(images, i))
            output_access = CC_ACCESS_READ_WRITE;
    cc_status status =
        cc__operation_place(images->function, all, images->input_count + 1, output_box(images), &request.place);
    images->place = request.place;
    if (status == CC_OK)
        status = check_free(images, output_access, &request);
    if (status == CC_OK)
        status = lend(images, output_access, &request);
    if (status != CC_OK)
        cc__lent_images_end(images);
    return status;
}

cc__span cc__lent_output(const cc__lent_images *images)
{
    return cc__data_manager_span(images->output->manager, images->output_mapping);
}

cc__span cc__lent_input(const cc__lent_images *images, int32_t input)
{
    if (is_output(images, input))
        return cc__lent_output(images);
    const cc__mapping *mapping = images->input_mappings[first_alike(images, input)];
    return cc__data_manager_span(images->inputs[input]->manager, mapping);
}

cc_status cc__lent_images_run(const cc__lent_images *images, const cc__kernel *kernel, const void *work)
{
    return cc__data_manager_commit(images->output->manager, images->output_mapping, images->stream, kernel, work);
}

void cc__lent_images_end(cc__lent_images *images)
{
    for (int32_t i = 0; i < images->input_count; i++) {
        cc__mapping *mapping = images->input_mappings[i];
        if (mapping != NULL)
            cc__data_manager_end(images->inputs[i]->manager, mapping,
                                 images->output_mapping != NULL ? images->output_mapping : mapping);
        images->input_mappings[i] = NULL;
    }
    if (images->output_mapping != NULL)
        cc__data_manager_end(images->output->manager, images->output_mapping, images->output_mapping);
    images->output_mapping = NULL;
    cc__trace_tell();
}
