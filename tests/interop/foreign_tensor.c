#include "foreign_tensor.h"

#include <string.h>

static void end_it(foreign_tensor *that)
{
    atomic_fetch_add(&that->deletions, 1);
    if (that->base != NULL)
        that->base->deleter(that->base);
    that->base = NULL;
}

static void delete_versioned(struct DLManagedTensorVersioned *self)
{
    end_it(self->manager_ctx);
}

static void delete_legacy(struct DLManagedTensor *self)
{
    end_it(self->manager_ctx);
}

static void set_tensor(foreign_tensor *that, const cc__dlpack_tensor *tensor)
{
    that->versioned.dl_tensor = *tensor;
    that->legacy.dl_tensor = *tensor;
}

static void init(foreign_tensor *that, const cc__dlpack_tensor *tensor)
{
    that->base = NULL;
    atomic_init(&that->deletions, 0);
    that->versioned = (struct DLManagedTensorVersioned){
        .version = {1, 1}, .manager_ctx = that, .deleter = delete_versioned, .dl_tensor = *tensor};
    that->legacy = (struct DLManagedTensor){.dl_tensor = *tensor, .manager_ctx = that, .deleter = delete_legacy};
}

void foreign_tensor_init(foreign_tensor *that, cc_place place, void *data, int32_t ndim, const int64_t *shape)
{
    int64_t stride = 1;
    const cc__dlpack_tensor tensor = {
        .data = data,
        .device = {place == CC_PLACE_HOST ? CC__DLPACK_CPU : CC__DLPACK_CUDA, place == CC_PLACE_HOST ? 0 : place},
        .ndim = ndim,
        .dtype = {CC__DLPACK_FLOAT, 32, 1},
        .shape = that->shape,
        .strides = that->strides,
    };
    init(that, &tensor);
    for (int32_t axis = ndim - 1; axis >= 0; --axis) {
        that->shape[axis] = shape[axis];
        that->strides[axis] = stride;
        stride *= shape[axis];
    }
}

void foreign_tensor_over(foreign_tensor *that, struct DLManagedTensorVersioned *base)
{
    cc__dlpack_tensor tensor = base->dl_tensor;
    const size_t bytes = (size_t)tensor.ndim * sizeof that->shape[0];
    memcpy(that->shape, tensor.shape, bytes);
    memcpy(that->strides, tensor.strides, bytes);
    tensor.shape = that->shape;
    tensor.strides = that->strides;
    init(that, &tensor);
    that->base = base;
}

void foreign_tensor_cut(foreign_tensor *that, int32_t axis, int64_t first, int64_t size, int64_t step)
{
    cc__dlpack_tensor tensor = that->versioned.dl_tensor;
    /* Some libraries say it in the pointer, some here. */
    tensor.byte_offset += (uint64_t)(first * that->strides[axis] * (tensor.dtype.bits / 8));
    that->shape[axis] = size;
    that->strides[axis] *= step;
    set_tensor(that, &tensor);
}
