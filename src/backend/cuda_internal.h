/* The operations of the CUDA backend, as cuda.c puts them in its table; what each does is said in backend.h. */
#ifndef CC_BACKEND_CUDA_INTERNAL_H
#define CC_BACKEND_CUDA_INTERNAL_H

#include "backend/backend.h"
#include "backend/cuda_context.h"
#include "backend/cuda_driver.h"

/* cuda_memory.c */
cc_status cc__cuda_allocate(cc__backend *self, int32_t device, cc_stream stream, size_t size_bytes, void **out_memory);
cc_status cc__cuda_free(cc__backend *self, int32_t device, cc_stream stream, void *memory);
cc_status cc__cuda_host_register(cc__backend *self, void *memory, size_t size_bytes);
cc_status cc__cuda_host_unregister(cc__backend *self, void *memory);
cc_status cc__cuda_memory_device(cc__backend *self, const void *memory, int32_t *out_device);

/* cuda_stream.c */
cc_status cc__cuda_stream_create(cc__backend *self, int32_t device, cc_stream *out_stream);
void cc__cuda_stream_destroy(cc__backend *self, int32_t device, cc_stream stream);
cc_status cc__cuda_stream_synchronize(cc__backend *self, int32_t device, cc_stream stream);
cc_status cc__cuda_stream_is_capturing(cc__backend *self, int32_t device, cc_stream stream, bool *out_capturing);
cc_status cc__cuda_event_create(cc__backend *self, int32_t device, cc__event **out_event);
void cc__cuda_event_destroy(cc__backend *self, int32_t device, cc__event *event);
cc_status cc__cuda_event_record(cc__backend *self, int32_t device, cc__event *event, cc_stream stream);
cc_status cc__cuda_event_is_complete(cc__backend *self, int32_t device, cc__event *event, bool *out_complete);
cc_status cc__cuda_event_synchronize(cc__backend *self, int32_t device, cc__event *event);
cc_status cc__cuda_stream_wait(cc__backend *self, int32_t device, cc_stream stream, cc__event *event);

/* cuda_copy.c */
cc_status cc__cuda_copy(cc__backend *self, int32_t device, cc_stream stream, const cc__copy *work);

/* cuda_kernel.c */
cc_status cc__cuda_fill(cc__backend *self, int32_t device, cc_stream stream, const cc__fill *work);
cc_status cc__cuda_rescale(cc__backend *self, int32_t device, cc_stream stream, const cc__rescale *work);

typedef enum cc__cuda_memory_kind {
    CC__CUDA_MEMORY_PAGEABLE = 0, /* and whatever else CUDA does not know */
    CC__CUDA_MEMORY_PAGE_LOCKED = 1,
    CC__CUDA_MEMORY_MANAGED = 2,
    CC__CUDA_MEMORY_DEVICE = 3
} cc__cuda_memory_kind;

/* What kind of memory a pointer points at; and for managed and device memory, whose. */
CUresult cc__cuda_find_memory(const void *memory, cc__cuda_memory_kind *out_kind, int32_t *out_device);

#endif
