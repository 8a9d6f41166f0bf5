/* Arrays of other libraries as images: over their memory, or, when that is an image's own, over its pixels. */
#include "interop/import.h"

#include "backend/backend.h"
#include "base/allocate.h"
#include "base/error.h"
#include "base/typestr.h"
#include "image/image_handle.h"
#include "interop/lent_part.h"

#include <string.h>

cc_status cc__import_read_params(const char *function, const cc_import_params *params, cc_import_params *out_params)
{
    const uint32_t known_flags = CC_IMPORT_STRIDED | CC_IMPORT_REUSED | CC_IMPORT_BORROWED | CC_IMPORT_OWN_GEOMETRY |
                                 CC_IMPORT_WRITABLE | CC_IMPORT_CONTIGUOUS;
    cc_import_params known = CC_IMPORT_PARAMS_INIT;
    if (params == NULL)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: params = NULL, expected a pointer", function);
    if (params->struct_size < sizeof params->struct_size)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: params.struct_size = %u, expected CC_IMPORT_PARAMS_INIT",
                        function, (unsigned)params->struct_size);
    memcpy(&known, params, params->struct_size < sizeof known ? params->struct_size : sizeof known);
    if ((known.flags & ~known_flags) != 0)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: params.flags = 0x%x, expected CC_IMPORT_... values", function,
                        (unsigned)known.flags);
    *out_params = known;
    return CC_OK;
}

cc_status cc__import_place(const char *function, const cc__foreign *foreign, bool is_empty, cc_place *out_place)
{
    cc__backend *backend = cc__backend_get();
    cc_place place = foreign->place;
    if (place == CC_PLACE_HOST) {
        *out_place = place;
        return CC_OK;
    }
    cc_status status = cc__backend_check_device(backend, function, place == CC_DEVICE_CURRENT ? 0 : place);
    if (status == CC_OK && !is_empty)
        status = cc__fail_for(function, backend->memory_device(backend, foreign->array.data, &place));
    else if (status == CC_OK && place == CC_DEVICE_CURRENT)
        status = backend->current_device(backend, &place);
    if (status == CC_OK && foreign->place != CC_DEVICE_CURRENT && place != foreign->place)
        status = cc__fail(CC_ERROR_INVALID_DEVICE, "%s: data = %p is memory of device %d, expected of %d", function,
                          (const void *)foreign->array.data, place, foreign->place);
    if (status == CC_OK)
        *out_place = place;
    return status;
}

/* The caller's own geometry, or NULL when it leaves that to the lender. */
static cc_status read_geometry(const char *function, const cc__array_image *array, const cc_import_params *params,
                               cc_geometry *known, const cc_geometry **out_geometry)
{
    cc_region region = {{0, 0, 0, 0}, {1, 1, 1, 1}};
    *out_geometry = (params->flags & CC_IMPORT_OWN_GEOMETRY) != 0 ? known : NULL;
    if (params->geometry == NULL)
        return CC_OK;
    cc_status status = cc__geometry_read(function, "params.geometry", array->dimension, params->geometry, known);
    memcpy(region.index, known->index, sizeof region.index);
    memcpy(region.size, array->layout.size, sizeof region.size);
    if (status == CC_OK)
        status = cc__region_check(function, "params.geometry", array->dimension, &region, &region);
    if (status == CC_OK)
        *out_geometry = known;
    return status;
}

/* All of a handle but the pixels it stands for. */
static cc_image *create_handle(const cc__array_image *array, const cc_geometry *geometry, bool read_only,
                               int32_t device)
{
    cc__geometry values;
    cc_image *image = cc__allocate(sizeof *image);
    if (image == NULL)
        return NULL;
    memcpy(values.spacing, geometry->spacing, sizeof values.spacing);
    memcpy(values.origin, geometry->origin, sizeof values.origin);
    memcpy(values.direction, geometry->direction, sizeof values.direction);
    atomic_init(&image->owner.references, 1);
    atomic_init(&image->device, device);
    image->dimension = array->dimension;
    image->pixel_type = array->type;
    image->components = array->components;
    image->geometry = cc__geometry_pad(array->dimension, &values);
    image->read_only = read_only;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; ++axis) {
        image->region.index[axis] = axis < array->dimension ? geometry->index[axis] : 0;
        image->region.size[axis] = array->layout.size[axis];
    }
    return image;
}

/* An image over memory that the library knows nothing of. The release callback is its from here on. */
static cc_status import_memory(const char *function, const cc__foreign *foreign, const cc__array_image *array,
                               const cc_import_params *params, cc_place place, cc_image *image)
{
    const cc__wrapped_memory wrapped = {
        .place = place,
        .pixels = foreign->array.data,
        .size_bytes = (size_t)array->layout.extent_bytes,
        .read_only = foreign->read_only,
        .reused = (params->flags & CC_IMPORT_REUSED) != 0,
        .release = foreign->release,
        .user_data = foreign->user_data,
        .stream = foreign->stream,
    };
    image->box = cc__box_of_size(array->layout.size);
    return cc__data_manager_create_wrapped(function, &array->layout, &wrapped, &image->manager);
}

/* An image over the pixels that were lent. */
static cc_status import_lent(const char *function, const cc__foreign *foreign, const cc_loan *loan, const cc__box *box,
                             cc_image *image)
{
    cc_status status = CC_OK;
    if (loan->place != CC_PLACE_HOST)
        status = cc__data_manager_order_after(loan->manager, function, box, loan->place, foreign->stream);
    if (status != CC_OK)
        return status;
    image->box = *box;
    image->manager = cc__data_manager_retain(loan->manager);
    return CC_OK;
}

cc_status cc__import(const char *function, const cc__foreign *foreign, const cc_import_params *params,
                     cc_image **out_image)
{
    cc_geometry own = CC_GEOMETRY_INIT;
    cc_geometry lenders = CC_GEOMETRY_INIT;
    const cc_geometry *geometry = NULL;
    cc__array_image array;
    cc__box box;
    cc_place place = CC_PLACE_HOST;
    cc_loan *loan = NULL;
    cc_image *image = NULL;
    bool is_ours = false;

    cc_status status = cc__array_to_image(function, &foreign->array, params, &array);
    if (status == CC_OK && foreign->read_only && (params->flags & CC_IMPORT_WRITABLE) != 0)
        status =
            cc__fail(CC_ERROR_READ_ONLY, "%s: the memory is read-only, expected CC_IMPORT_WRITABLE memory", function);
    if (status == CC_OK)
        status = read_geometry(function, &array, params, &own, &geometry);
    if (status == CC_OK)
        status = cc__import_place(function, foreign, array.layout.extent_bytes == 0, &place);
    if (status != CC_OK)
        return status;

    loan = cc__loan_find(place, foreign->array.data, (size_t)array.layout.extent_bytes);
    if (loan != NULL)
        is_ours = cc__lent_part_find(loan, &array, foreign->array.data, &box, &lenders);
    if (geometry == NULL && is_ours)
        geometry = &lenders;
    if (geometry == NULL && foreign->lender_geometry != NULL && foreign->lender_geometry->dimension == array.dimension)
        geometry = foreign->lender_geometry;
    if (geometry == NULL)
        geometry = &own;
    const int32_t device = is_ours && place == CC_PLACE_HOST ? loan->device
                           : place == CC_PLACE_HOST          ? CC_DEVICE_CURRENT
                                                             : place;
    image = create_handle(&array, geometry, foreign->read_only, device);
    if (image == NULL) {
        status = cc__fail(CC_ERROR_OUT_OF_HOST_MEMORY, "%s: no memory for the handle", function);
        goto end;
    }
    status = is_ours ? import_lent(function, foreign, loan, &box, image)
                     : import_memory(function, foreign, &array, params, place, image);
    if (status != CC_OK) {
        cc__free(image);
        goto end;
    }
    cc__image_enlist(image);
    *out_image = image;
    if (is_ours && foreign->release != NULL)
        foreign->release(foreign->array.data, foreign->user_data);
end:
    cc_loan_release(loan);
    return status;
}

static cc_status find_type(const char *function, const cc_descriptor *descriptor, cc_pixel_type *out_type)
{
    char typestr[sizeof descriptor->typestr + 1] = {0};
    memcpy(typestr, descriptor->typestr, sizeof descriptor->typestr);
    *out_type = (cc_pixel_type)descriptor->pixel_type;
    if (typestr[0] != '\0') {
        const cc_status status = cc__typestr_parse(function, typestr, out_type);
        if (status != CC_OK)
            return status;
        if (descriptor->pixel_type != 0 && descriptor->pixel_type != (int32_t)*out_type)
            return cc__fail(CC_ERROR_PIXEL_TYPE, "%s: descriptor.pixel_type = %d, expected that of typestr \"%s\", %d",
                            function, descriptor->pixel_type, typestr, (int)*out_type);
    }
    if (cc_pixel_type_size_bytes(*out_type) == 0)
        return cc__fail(CC_ERROR_PIXEL_TYPE, "%s: descriptor.pixel_type = %d, expected a cc_pixel_type", function,
                        descriptor->pixel_type);
    return CC_OK;
}

static cc_status read_descriptor(const char *function, const cc_descriptor *descriptor, const cc_import_params *params,
                                 cc__foreign *out_foreign)
{
    cc_descriptor known = CC_DESCRIPTOR_INIT;
    cc__foreign foreign = {.release = params->release, .user_data = params->user_data};
    if (descriptor->struct_size < sizeof descriptor->struct_size)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: descriptor.struct_size = %u, expected CC_DESCRIPTOR_INIT",
                        function, (unsigned)descriptor->struct_size);
    memcpy(&known, descriptor, descriptor->struct_size < sizeof known ? descriptor->struct_size : sizeof known);
    if (known.ndim < 0 || known.ndim > CC_MAX_DIMENSION + 1)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: descriptor.ndim = %d, expected 1 to %d", function, known.ndim,
                        CC_MAX_DIMENSION + 1);
    if (known.place < CC_PLACE_HOST && known.place != CC_DEVICE_CURRENT)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: descriptor.place = %d, expected CC_PLACE_HOST or a device",
                        function, known.place);
    const cc_status status = find_type(function, &known, &foreign.array.type);
    if (status != CC_OK)
        return status;
    foreign.array.data = known.data;
    foreign.array.ndim = known.ndim;
    memcpy(foreign.array.shape, known.shape, sizeof foreign.array.shape);
    memcpy(foreign.array.strides_bytes, known.strides_bytes, sizeof foreign.array.strides_bytes);
    if ((params->flags & CC_IMPORT_CONTIGUOUS) != 0 && !cc__array_make_contiguous(&foreign.array))
        return cc__fail(CC_ERROR_OVERFLOW, "%s: descriptor.shape has more elements than 63 bits of bytes", function);
    foreign.read_only = known.read_only != 0;
    foreign.place = known.place;
    foreign.stream = known.place == CC_PLACE_HOST ? NULL : known.stream;
    *out_foreign = foreign;
    return CC_OK;
}

cc_status cc_image_import(const cc_descriptor *descriptor, const cc_import_params *params, cc_image **out_image)
{
    static const char *const function = "cc_image_import";
    cc_import_params known;
    cc__foreign foreign;
    if (descriptor == NULL || out_image == NULL)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: %s = NULL, expected a pointer", function,
                        descriptor == NULL ? "descriptor" : "out_image");
    cc_status status = cc__import_read_params(function, params, &known);
    if (status == CC_OK && (known.release == NULL) != ((known.flags & CC_IMPORT_BORROWED) != 0))
        status =
            cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: params.release = %s CC_IMPORT_BORROWED, expected one of the two",
                     function, known.release == NULL ? "NULL without" : "a callback with");
    if (status == CC_OK)
        status = read_descriptor(function, descriptor, &known, &foreign);
    if (status == CC_OK)
        status = cc__import(function, &foreign, &known, out_image);
    return status;
}
