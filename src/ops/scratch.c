#include "ops/scratch.h"

#include "backend/backend.h"
#include "base/allocate.h"
#include "base/error.h"

cc_status cc__scratch_allocate(const char *function, cc_place place, cc_stream stream, size_t size_bytes,
                               void **out_memory)
{
    if (place != CC_PLACE_HOST) {
        cc__backend *backend = cc__backend_get();
        return backend->allocate(backend, place, stream, size_bytes, out_memory);
    }
    *out_memory = cc__allocate(size_bytes);
    if (*out_memory == NULL)
        return cc__fail(CC_ERROR_OUT_OF_HOST_MEMORY, "%s: no memory for %zu bytes of intermediate results", function,
                        size_bytes);
    return CC_OK;
}

void cc__scratch_free(cc_place place, cc_stream stream, void *memory)
{
    cc__error_state before;
    if (memory == NULL)
        return;
    if (place == CC_PLACE_HOST) {
        cc__free(memory);
        return;
    }
    cc__backend *backend = cc__backend_get();
    cc__error_save(&before);
    if (backend->free(backend, place, stream, memory) != CC_OK)
        cc__error_restore(&before);
}
