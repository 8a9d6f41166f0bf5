/* Textures: CUDA arrays, filled from pixels on the device, and the texture objects that kernels read them by. */
#include "backend/cuda_internal.h"
#include "base/allocate.h"
#include "base/error.h"

#include <stdint.h>
#include <string.h>

/* Pixels whose values do not follow each other go through this much memory at a time. */
#define SLAB_BYTES ((int64_t)CC__TEXTURE_PASSAGE_BYTES)

typedef struct cc__sampler {
    struct cc__sampler *next;
    cc__sampling sampling;
    int32_t object_count; /* so many have been made */
    CUtexObject objects[CC_TEXTURE_MAX_OBJECTS];
} cc__sampler;

struct cc__texture {
    cc__texture_form form;
    int32_t array_count; /* so many have been made */
    CUarray arrays[CC_TEXTURE_MAX_OBJECTS];
    cc__sampler *samplers;
};

/* Along i, j, k; a plane has one slice anyway. */
static CUdevice_attribute limit_of(cc_texture_shape shape, int32_t axis)
{
    static const CUdevice_attribute limits[3][3] = {
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT,
         CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_HEIGHT,
         CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT,
         CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT}};
    return limits[shape][axis];
}

static cc_status check_size(const cc__cuda_device *device, const cc__texture_form *form)
{
    for (int32_t axis = 0; axis < 3; axis++) {
        int most = 0;
        const cc_status status =
            CC__CU(device->ordinal, cuDeviceGetAttribute, &most, limit_of(form->shape, axis), device->handle);
        if (status != CC_OK)
            return status;
        if (form->size[axis] > most)
            return cc__fail(CC_ERROR_UNSUPPORTED, "texture_create: size[%d] = %lld, device %d has at most %d",
                            (int)axis, (long long)form->size[axis], (int)device->ordinal, most);
    }
    return CC_OK;
}

static CUarray_format format_of(cc_pixel_type type)
{
    switch (type) {
    case CC_PIXEL_INT8:
        return CU_AD_FORMAT_SIGNED_INT8;
    case CC_PIXEL_UINT16:
        return CU_AD_FORMAT_UNSIGNED_INT16;
    case CC_PIXEL_INT16:
        return CU_AD_FORMAT_SIGNED_INT16;
    case CC_PIXEL_UINT32:
        return CU_AD_FORMAT_UNSIGNED_INT32;
    case CC_PIXEL_INT32:
        return CU_AD_FORMAT_SIGNED_INT32;
    case CC_PIXEL_FLOAT16:
        return CU_AD_FORMAT_HALF;
    case CC_PIXEL_FLOAT32:
        return CU_AD_FORMAT_FLOAT;
    case CC_PIXEL_BOOL:
    case CC_PIXEL_UINT8:
    case CC_PIXEL_UINT64:
    case CC_PIXEL_INT64:
    case CC_PIXEL_BFLOAT16:
    case CC_PIXEL_FLOAT64:
    case CC_PIXEL_COMPLEX64:
    case CC_PIXEL_COMPLEX128:
        break;
    }
    return CU_AD_FORMAT_UNSIGNED_INT8;
}

static CUresult create_array(const cc__texture_form *form, CUarray *out_array)
{
    CUDA_ARRAY3D_DESCRIPTOR description = {.Width = (size_t)form->size[0],
                                           .Height = (size_t)form->size[1],
                                           .Depth = form->shape == CC_TEXTURE_PLANE ? 0 : (size_t)form->size[2],
                                           .Format = format_of(form->type),
                                           .NumChannels = (unsigned int)form->channels,
                                           .Flags = form->shape == CC_TEXTURE_LAYERS ? CUDA_ARRAY3D_LAYERED : 0};
    return cc__driver.cuArray3DCreate(out_array, &description);
}

static CUresult create_arrays(cc__texture *texture)
{
    CUresult result = CUDA_SUCCESS;
    while (result == CUDA_SUCCESS && texture->array_count < texture->form.object_count) {
        result = create_array(&texture->form, &texture->arrays[texture->array_count]);
        texture->array_count += result == CUDA_SUCCESS;
    }
    return result;
}

static void drop(cc__texture *texture)
{
    for (cc__sampler *sampler = texture->samplers, *next; sampler != NULL; sampler = next) {
        next = sampler->next;
        for (int32_t n = 0; n < sampler->object_count; n++)
            cc__driver.cuTexObjectDestroy(sampler->objects[n]);
        cc__free(sampler);
    }
    for (int32_t n = 0; n < texture->array_count; n++)
        cc__driver.cuArrayDestroy(texture->arrays[n]);
    texture->samplers = NULL;
    texture->array_count = 0;
}

static cc_status fill_in(cc__backend *self, const cc__cuda_guard *guard, cc__texture *texture)
{
    const int32_t device = guard->device->ordinal;
    cc_status status = check_size(guard->device, &texture->form);
    if (status != CC_OK)
        return status;
    CUresult result = create_arrays(texture);
    if (result == CUDA_ERROR_OUT_OF_MEMORY) {
        /* Arrays do not come out of the pool, which may be keeping what they need. */
        drop(texture);
        status = cc__cuda_trim(self, device, 0);
        if (status != CC_OK)
            return status;
        result = create_arrays(texture);
    }
    if (result == CUDA_ERROR_OUT_OF_MEMORY)
        return cc__fail_native(CC_ERROR_OUT_OF_DEVICE_MEMORY, (int32_t)result,
                               "cuArray3DCreate: out of memory (%d), device %d, size_bytes = %zu", (int)result,
                               (int)device, cc__texture_form_bytes(&texture->form));
    return cc__driver_status(result, "cuArray3DCreate", device);
}

cc_status cc__cuda_texture_create(cc__backend *self, int32_t device, const cc__texture_form *form,
                                  cc__texture **out_texture)
{
    cc__cuda_guard guard;
    cc__texture *texture = cc__allocate(sizeof *texture);
    if (texture == NULL)
        return cc__fail(CC_ERROR_OUT_OF_HOST_MEMORY, "texture_create: no memory for the handle");
    texture->form = *form;
    cc_status status = cc__cuda_enter(self, device, &guard);
    if (status == CC_OK) {
        status = fill_in(self, &guard, texture);
        if (status != CC_OK)
            drop(texture);
        cc__cuda_leave(&guard);
    }
    if (status == CC_OK)
        *out_texture = texture;
    else
        cc__free(texture);
    return status;
}

void cc__cuda_texture_destroy(cc__backend *self, int32_t device, cc__texture *texture)
{
    cc__cuda_guard guard;
    if (!cc__cuda_is_over() && cc__cuda_enter_to_free(self, device, &guard) == CUDA_SUCCESS) {
        drop(texture);
        cc__cuda_leave(&guard);
    }
    for (cc__sampler *sampler = texture->samplers, *next; sampler != NULL; sampler = next) {
        next = sampler->next;
        cc__free(sampler);
    }
    cc__free(texture);
}

/* Some rows of some slices of one array. */
typedef struct part {
    CUarray array;
    int64_t row;
    int64_t slice;
    int64_t rows;
    int64_t slices;
} part;

/* The source's elements follow each other along i, its rows lie pitch_bytes apart, its slices slice_rows rows. */
static cc_status copy_part(int32_t device, CUstream stream, const cc__texture_form *form, const part *to,
                           const unsigned char *source, int64_t pitch_bytes, int64_t slice_rows)
{
    CUDA_MEMCPY3D block = {
        .srcMemoryType = CU_MEMORYTYPE_DEVICE,
        .srcDevice = (CUdeviceptr)(uintptr_t)source,
        .srcPitch = (size_t)pitch_bytes,
        .srcHeight = (size_t)slice_rows,
        .dstMemoryType = CU_MEMORYTYPE_ARRAY,
        .dstArray = to->array,
        .dstY = (size_t)to->row,
        .dstZ = (size_t)to->slice,
        .WidthInBytes = (size_t)(form->size[0] * form->element_bytes),
        .Height = (size_t)to->rows,
        .Depth = (size_t)to->slices,
    };
    return CC__CU(device, cuMemcpy3DAsync, &block, stream);
}

/* Strides along axes of one pixel mean nothing. */
static int64_t stride_along(const cc__texture_form *form, const cc__span *source, int32_t axis)
{
    if (form->size[axis] > 1)
        return source->stride[axis];
    return axis == 0 ? form->element_bytes : stride_along(form, source, axis - 1) * form->size[axis - 1];
}

/* Whether the driver's copy can read the pixels where they are. */
static bool has_rows(const cc__texture_form *form, const cc__span *source, int64_t max_pitch_bytes)
{
    const int64_t pitch_bytes = stride_along(form, source, 1);
    return stride_along(form, source, 0) == form->element_bytes && pitch_bytes >= form->size[0] * form->element_bytes &&
           pitch_bytes <= max_pitch_bytes && stride_along(form, source, 2) >= pitch_bytes * form->size[1];
}

static cc_status copy_rows(int32_t device, CUstream stream, const cc__texture *texture, const cc__span *source)
{
    const cc__texture_form *form = &texture->form;
    const int64_t pitch_bytes = stride_along(form, source, 1);
    const int64_t slice_bytes = stride_along(form, source, 2);
    const bool at_once = slice_bytes % pitch_bytes == 0;
    part to = {.array = texture->arrays[0], .rows = form->size[1], .slices = at_once ? form->size[2] : 1};
    cc_status status = CC_OK;
    for (; to.slice < form->size[2] && status == CC_OK; to.slice += to.slices)
        status = copy_part(device, stream, form, &to, source->data + to.slice * slice_bytes, pitch_bytes,
                           at_once ? slice_bytes / pitch_bytes : form->size[1]);
    return status;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Part of one object's values, side by side in the slab, and from there into the array. */
static cc_status copy_through(cc__backend *self, int32_t device, CUstream stream, const cc__texture *texture, int32_t n,
                              const part *to, const cc__span *source, unsigned char *slab)
{
    const cc__texture_form *form = &texture->form;
    const int64_t row_bytes = form->size[0] * form->element_bytes;
    part at = *to;
    at.array = texture->arrays[n];
    cc__copy work = {.destination = {slab, {form->element_bytes, row_bytes, row_bytes * to->rows, row_bytes}},
                     .source = *source,
                     .size = {form->size[0], to->rows, to->slices, 1},
                     .pixel_bytes = form->element_bytes};
    work.source.data += n * form->element_bytes + to->row * source->stride[1] + to->slice * source->stride[2];
    const cc_status status = cc__cuda_copy(self, device, stream, &work);
    return status == CC_OK ? copy_part(device, stream, form, &at, slab, row_bytes, to->rows) : status;
}

/* All objects of a part one after the other, so that the pixels come from the cache. */
static cc_status copy_in_slabs(cc__backend *self, int32_t device, CUstream stream, const cc__texture *texture,
                               const cc__span *source)
{
    const cc__texture_form *form = &texture->form;
    const int64_t row_bytes = form->size[0] * form->element_bytes;
    const int64_t rows = least(form->size[1], SLAB_BYTES / row_bytes > 0 ? SLAB_BYTES / row_bytes : 1);
    const int64_t whole_slices = SLAB_BYTES / (row_bytes * rows) > 0 ? SLAB_BYTES / (row_bytes * rows) : 1;
    const int64_t slices = rows == form->size[1] ? least(form->size[2], whole_slices) : 1;
    void *slab = NULL;
    part to;
    cc_status status = cc__cuda_allocate(self, device, stream, (size_t)(row_bytes * rows * slices), &slab);
    if (status != CC_OK)
        return status;
    for (to.slice = 0; to.slice < form->size[2] && status == CC_OK; to.slice += slices) {
        for (to.row = 0; to.row < form->size[1] && status == CC_OK; to.row += rows) {
            to.rows = least(rows, form->size[1] - to.row);
            to.slices = least(slices, form->size[2] - to.slice);
            for (int32_t n = 0; n < form->object_count && status == CC_OK; n++)
                status = copy_through(self, device, stream, texture, n, &to, source, slab);
        }
    }
    const cc_status freed = cc__cuda_free(self, device, stream, slab);
    return status == CC_OK ? freed : status;
}

cc_status cc__cuda_texture_update(cc__backend *self, int32_t device, cc_stream stream, cc__texture *texture,
                                  const cc__span *source)
{
    cc__cuda_guard guard;
    cc_status status = cc__cuda_enter(self, device, &guard);
    if (status != CC_OK)
        return status;
    if (texture->form.object_count == 1 && has_rows(&texture->form, source, guard.device->max_pitch_bytes))
        status = copy_rows(device, stream, texture, source);
    else
        status = copy_in_slabs(self, device, stream, texture, source);
    cc__cuda_leave(&guard);
    return status;
}

static CUaddress_mode address_mode_of(cc_texture_address address)
{
    switch (address) {
    case CC_TEXTURE_BORDER:
        break;
    case CC_TEXTURE_CLAMP:
        return CU_TR_ADDRESS_MODE_CLAMP;
    case CC_TEXTURE_WRAP:
        return CU_TR_ADDRESS_MODE_WRAP;
    case CC_TEXTURE_MIRROR:
        return CU_TR_ADDRESS_MODE_MIRROR;
    }
    return CU_TR_ADDRESS_MODE_BORDER;
}

static CUDA_TEXTURE_DESC describe(const cc__texture_form *form, const cc__sampling *sampling)
{
    const bool is_float = form->type == CC_PIXEL_FLOAT16 || form->type == CC_PIXEL_FLOAT32;
    CUDA_TEXTURE_DESC description;
    memset(&description, 0, sizeof description);
    for (int32_t axis = 0; axis < 3; axis++)
        description.addressMode[axis] = address_mode_of(sampling->address[axis]);
    description.filterMode = sampling->filter == CC_TEXTURE_LINEAR ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT;
    if (!is_float && sampling->read == CC_TEXTURE_ELEMENT)
        description.flags |= CU_TRSF_READ_AS_INTEGER;
    if (sampling->has_normalized_coordinates)
        description.flags |= CU_TRSF_NORMALIZED_COORDINATES;
    return description;
}

static cc_status create_sampler(int32_t device, cc__texture *texture, const cc__sampling *sampling,
                                cc__sampler **out_sampler)
{
    const CUDA_TEXTURE_DESC description = describe(&texture->form, sampling);
    cc_status status = CC_OK;
    cc__sampler *sampler = cc__allocate(sizeof *sampler);
    if (sampler == NULL)
        return cc__fail(CC_ERROR_OUT_OF_HOST_MEMORY, "texture_objects: no memory for them");
    sampler->sampling = *sampling;
    while (status == CC_OK && sampler->object_count < texture->form.object_count) {
        CUDA_RESOURCE_DESC resource;
        memset(&resource, 0, sizeof resource);
        resource.resType = CU_RESOURCE_TYPE_ARRAY;
        resource.res.array.hArray = texture->arrays[sampler->object_count];
        status =
            CC__CU(device, cuTexObjectCreate, &sampler->objects[sampler->object_count], &resource, &description, NULL);
        sampler->object_count += status == CC_OK;
    }
    if (status != CC_OK) {
        for (int32_t n = 0; n < sampler->object_count; n++)
            cc__driver.cuTexObjectDestroy(sampler->objects[n]);
        cc__free(sampler);
        return status;
    }
    sampler->next = texture->samplers;
    texture->samplers = sampler;
    *out_sampler = sampler;
    return CC_OK;
}

cc_status cc__cuda_texture_objects(cc__backend *self, int32_t device, cc__texture *texture,
                                   const cc__sampling *sampling, uint64_t out_objects[CC_TEXTURE_MAX_OBJECTS])
{
    cc__cuda_guard guard;
    cc__sampler *sampler = texture->samplers;
    while (sampler != NULL && !cc__sampling_equal(&sampler->sampling, sampling))
        sampler = sampler->next;
    if (sampler == NULL) {
        cc_status status = cc__cuda_enter(self, device, &guard);
        if (status != CC_OK)
            return status;
        status = create_sampler(device, texture, sampling, &sampler);
        cc__cuda_leave(&guard);
        if (status != CC_OK)
            return status;
    }
    for (int32_t n = 0; n < sampler->object_count; n++)
        out_objects[n] = (uint64_t)sampler->objects[n];
    return CC_OK;
}
