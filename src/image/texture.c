/* The public face of textures: checks arguments, then asks the data manager. */
#include "backend/backend.h"
#include "base/error.h"
#include "image/image_handle.h"
#include "trace/trace.h"

#include <cudacommon/texture.h>
#include <stddef.h>
#include <string.h>

static cc_status read_params(const char *function, const cc_texture_params *params, cc_texture_params *out_params)
{
    const cc_texture_params defaults = CC_TEXTURE_PARAMS_INIT;
    *out_params = defaults;
    if (params == NULL)
        return CC_OK;
    if (params->struct_size < sizeof params->struct_size)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: params.struct_size = %u, expected CC_TEXTURE_PARAMS_INIT",
                        function, (unsigned)params->struct_size);
    memcpy(out_params, params, params->struct_size < sizeof *params ? params->struct_size : sizeof *params);
    if ((out_params->flags & ~(CC_TEXTURE_PER_COMPONENT | CC_TEXTURE_NORMALIZED_COORDINATES)) != 0)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: params.flags = 0x%x, expected CC_TEXTURE_ flags", function,
                        (unsigned)out_params->flags);
    if (out_params->shape < CC_TEXTURE_VOLUME || out_params->shape > CC_TEXTURE_PLANE)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: params.shape = %d, expected a cc_texture_shape", function,
                        (int)out_params->shape);
    return CC_OK;
}

/* As of 2.0, whatever has been added since. */
#define OLDEST_BYTES (offsetof(cc_texture, objects) + sizeof(uint64_t) * CC_TEXTURE_MAX_OBJECTS)

/* Nobody could give back a texture whose struct has no room for all of it. */
static cc_status check_texture(const char *function, const char *name, const cc_texture *texture)
{
    if (texture == NULL)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: %s = NULL, expected a pointer", function, name);
    if (texture->struct_size < OLDEST_BYTES)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: %s.struct_size = %u, expected CC_TEXTURE_INIT", function, name,
                        (unsigned)texture->struct_size);
    return CC_OK;
}

/* As much as the caller's struct has room for; its struct_size stays. */
static void copy_out(const cc_texture *texture, cc_texture *out_texture)
{
    const uint32_t struct_size = out_texture->struct_size;
    memcpy(out_texture, texture, struct_size < sizeof *texture ? struct_size : sizeof *texture);
    out_texture->struct_size = struct_size;
}

static cc_status choose_form(const char *function, const cc_image *image, const cc_texture_params *params,
                             const cc__box *box, cc__texture_form *out_form)
{
    const int32_t axes = params->shape == CC_TEXTURE_PLANE ? 2 : 3;
    for (int32_t axis = axes; axis < CC_MAX_DIMENSION; ++axis)
        if (box->size[axis] > 1)
            return cc__fail(CC_ERROR_SIZE, "%s: size[%d] = %lld, expected 1 in a texture of %d axes", function,
                            (int)axis, (long long)box->size[axis], (int)axes);
    const cc_status status = cc__texture_form_choose(function, image->pixel_type, image->components,
                                                     (params->flags & CC_TEXTURE_PER_COMPONENT) != 0, out_form);
    if (status != CC_OK)
        return status;
    out_form->shape = (cc_texture_shape)params->shape;
    memcpy(out_form->size, box->size, sizeof out_form->size);
    return CC_OK;
}

static cc_region region_of(const cc_image *image, const cc__box *box)
{
    cc_region region;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; ++axis) {
        region.index[axis] = image->region.index[axis] + (box->start[axis] - image->box.start[axis]);
        region.size[axis] = box->size[axis];
    }
    return region;
}

static cc_status map(cc_image *image, cc__access_request *request, const cc__texture_form *form,
                     const cc__sampling *sampling, cc_texture *texture)
{
    cc__texture_use *use = NULL;
    bool is_gone = false;
    cc_status status = cc__image_resolve_device(request->function, image, &request->place);
    if (status != CC_OK)
        return status;
    status = cc__data_manager_map_texture(image->manager, request, form, sampling, &use, texture->objects, &is_gone);
    cc__trace_tell();
    if (is_gone)
        cc__image_destroy(image);
    texture->object_count = form->object_count;
    texture->channels = form->channels;
    texture->device = request->place;
    texture->library = use;
    return status;
}

cc_status cc_image_map_texture(cc_image *image, const cc_region *region, const cc_texture_params *params,
                               cc_stream stream, cc_texture *out_texture)
{
    static const char *const function = "cc_image_map_texture";
    cc__access_request request = {.function = function, .access = CC_ACCESS_READ, .stream = stream};
    cc_texture texture = CC_TEXTURE_INIT;
    cc_texture_params known;
    cc__texture_form form;
    cc__sampling sampling;
    cc_status status = cc__image_check(function, image);
    if (status == CC_OK)
        status = check_texture(function, "out_texture", out_texture);
    if (status == CC_OK)
        status = read_params(function, params, &known);
    if (status == CC_OK)
        status = cc__image_box(function, image, region, &request.box);
    if (status == CC_OK)
        status = choose_form(function, image, &known, &request.box, &form);
    if (status == CC_OK)
        status = cc__sampling_choose(function, &known, form.type, &sampling);
    if (status != CC_OK)
        return status;
    request.owner = &image->owner;
    texture.region = region_of(image, &request.box);
    if (!cc__box_is_empty(&request.box))
        status = map(image, &request, &form, &sampling, &texture);
    if (status == CC_OK)
        copy_out(&texture, out_texture);
    return status;
}

cc_status cc_image_unmap_texture(cc_image *image, cc_texture *texture, cc_stream stream)
{
    static const char *const function = "cc_image_unmap_texture";
    const cc_texture none = CC_TEXTURE_INIT;
    bool is_gone = false;
    cc_status status = cc__image_check(function, image);
    if (status == CC_OK)
        status = check_texture(function, "texture", texture);
    if (status != CC_OK)
        return status;
    if (texture->library != NULL)
        status =
            cc__data_manager_unmap_texture(image->manager, function, &image->owner, texture->library, stream, &is_gone);
    cc__trace_tell();
    if (is_gone)
        cc__image_destroy(image);
    if (status == CC_OK)
        copy_out(&none, texture);
    return status;
}
