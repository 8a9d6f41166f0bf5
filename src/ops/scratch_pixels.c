#include "ops/scratch_pixels.h"

#include "base/allocate.h"
#include "base/error.h"
#include "data_manager/eviction.h"

#include <string.h>

cc_status cc__scratch_pixels_allocate(const cc__lent_images *images, const int64_t size[CC_MAX_DIMENSION],
                                      cc_pixel_type type, int32_t components, cc__place_memory *out_memory)
{
    cc__layout layout;
    cc_status status = cc__layout_dense(images->function, size, type, components, &layout);
    if (status != CC_OK)
        return status;
    if (images->place == CC_PLACE_HOST)
        status = cc__host_memory_allocate(&layout, NULL, out_memory);
    else
        status = cc__eviction_allocate(cc__backend_get(), images->place, images->stream, &layout, NULL, out_memory);
    return cc__fail_for(images->function, status);
}

cc__span cc__scratch_pixels_span(const cc__place_memory *memory)
{
    cc__span span = {.data = memory->pixels};
    memcpy(span.stride, memory->stride, sizeof span.stride);
    return span;
}

void cc__scratch_pixels_free(const cc__lent_images *images, cc__place_memory *memory)
{
    cc__error_state before;
    if (memory->pixels == NULL)
        return;
    cc__error_save(&before);
    if (images->place == CC_PLACE_HOST)
        cc__host_memory_free(memory, true);
    else
        cc__device_memory_free(cc__backend_get(), images->place, images->stream, memory);
    cc__error_restore(&before);
}

cc_status cc__scratch_bytes_allocate(const cc__lent_images *images, size_t bytes, void **out_memory)
{
    if (images->place != CC_PLACE_HOST) {
        cc__backend *backend = cc__backend_get();
        return cc__fail_for(images->function,
                            backend->allocate(backend, images->place, images->stream, bytes, out_memory));
    }
    void *memory = cc__allocate(bytes);
    if (memory == NULL)
        return cc__fail(CC_ERROR_OUT_OF_HOST_MEMORY, "%s: no memory for %zu bytes of partial results", images->function,
                        bytes);
    *out_memory = memory;
    return CC_OK;
}

void cc__scratch_bytes_free(const cc__lent_images *images, void *memory)
{
    cc__error_state before;
    if (images->place == CC_PLACE_HOST || memory == NULL) {
        cc__free(memory);
        return;
    }
    cc__backend *backend = cc__backend_get();
    cc__error_save(&before);
    if (backend->free(backend, images->place, images->stream, memory) != CC_OK)
        cc__error_restore(&before);
}
