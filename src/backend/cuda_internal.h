/* The operations of the CUDA backend, as cuda.c puts them in its table; what each does is said in backend.h. */
#ifndef CC_BACKEND_CUDA_INTERNAL_H
#define CC_BACKEND_CUDA_INTERNAL_H

#include "backend/backend.h"
#include "backend/cuda_context.h"
#include "backend/cuda_driver.h"
#include "kernels/launch.h"

/* cuda_memory.c */
cc_status cc__cuda_allocate(cc__backend *self, int32_t device, cc_stream stream, size_t size_bytes, void **out_memory);
cc_status cc__cuda_free(cc__backend *self, int32_t device, cc_stream stream, void *memory);
cc_status cc__cuda_host_register(cc__backend *self, void *memory, size_t size_bytes);
cc_status cc__cuda_host_unregister(cc__backend *self, void *memory);
bool cc__cuda_host_is_locked(cc__backend *self, const void *memory, size_t size_bytes);
cc_status cc__cuda_memory_device(cc__backend *self, const void *memory, int32_t *out_device);
cc_status cc__cuda_trim(cc__backend *self, int32_t device, size_t keep_bytes);

/* cuda_memory_info.c */
cc_status cc__cuda_memory_info(cc__backend *self, int32_t device, size_t *out_free_bytes, size_t *out_total_bytes);

/* cuda_stream.c */
cc_status cc__cuda_stream_create(cc__backend *self, int32_t device, cc_stream *out_stream);
void cc__cuda_stream_destroy(cc__backend *self, int32_t device, cc_stream stream);
cc_status cc__cuda_stream_synchronize(cc__backend *self, int32_t device, cc_stream stream);
cc_status cc__cuda_stream_is_capturing(cc__backend *self, int32_t device, cc_stream stream, bool *out_capturing);
cc_status cc__cuda_stream_is_idle(cc__backend *self, int32_t device, cc_stream stream, bool *out_idle);
cc_status cc__cuda_synchronize(cc__backend *self, int32_t device);
uint64_t cc__cuda_stream_id(cc__backend *self, int32_t device, cc_stream stream);
/* For a stream that has been entered. */
cc_status cc__cuda_ask_capturing(int32_t device, CUstream stream, bool *out_capturing);

/* cuda_event.c */
cc_status cc__cuda_event_create(cc__backend *self, int32_t device, cc__event **out_event);
void cc__cuda_event_destroy(cc__backend *self, int32_t device, cc__event *event);
cc_status cc__cuda_event_record(cc__backend *self, int32_t device, cc__event *event, cc_stream stream);
cc_status cc__cuda_event_is_complete(cc__backend *self, int32_t device, cc__event *event, bool *out_complete);
cc_status cc__cuda_event_synchronize(cc__backend *self, int32_t device, cc__event *event);
cc_status cc__cuda_stream_wait(cc__backend *self, int32_t device, cc_stream stream, cc__event *event);

/* cuda_copy.c */
cc_status cc__cuda_copy(cc__backend *self, int32_t device, cc_stream stream, const cc__copy *work);
cc_status cc__cuda_copy_boxes(cc__backend *self, int32_t device, cc_stream stream, const cc__copy *works,
                              int32_t count);

/* cuda_kernel.c */
cc_status cc__cuda_fill(cc__backend *self, int32_t device, cc_stream stream, const cc__fill *work);
cc_status cc__cuda_run_kernel(cc__backend *self, int32_t device, cc_stream stream, const cc__kernel *kernel,
                              const void *work, bool *out_has_written);

cc_status cc__cuda_call(cc__backend *self, int32_t device, cc_status (*function)(void *context), void *context);

/* cuda_texture.c */
cc_status cc__cuda_texture_create(cc__backend *self, int32_t device, const cc__texture_form *form,
                                  cc__texture **out_texture);
cc_status cc__cuda_texture_update(cc__backend *self, int32_t device, cc_stream stream, cc__texture *texture,
                                  const cc__span *source);
cc_status cc__cuda_texture_objects(cc__backend *self, int32_t device, cc__texture *texture,
                                   const cc__sampling *sampling, uint64_t out_objects[CC_TEXTURE_MAX_OBJECTS]);
void cc__cuda_texture_destroy(cc__backend *self, int32_t device, cc__texture *texture);

/* Starts kernels in a stream of the device that is entered. */
typedef struct cc__cuda_launcher {
    cc__launcher base; /* first, so that either pointer is the other */
    cc__cuda_device *device;
    CUstream stream;
} cc__cuda_launcher;
cc__cuda_launcher cc__cuda_make_launcher(const cc__cuda_guard *guard, CUstream stream, bool *has_written);

/* cuda_program.c */
cc_status cc__cuda_launch_program(const cc__launcher *launcher, const cc__program *program,
                                  const cc__program_call *call, bool *out_done);

/* cuda_range_nvtx.c, or cuda_range_none.c where the toolkit has no NVTX */
void cc__cuda_range_push(cc__backend *self, const char *name);
void cc__cuda_range_pop(cc__backend *self);

typedef enum cc__cuda_memory_kind {
    CC__CUDA_MEMORY_PAGEABLE = 0, /* and whatever else CUDA does not know */
    CC__CUDA_MEMORY_PAGE_LOCKED = 1,
    CC__CUDA_MEMORY_MANAGED = 2,
    CC__CUDA_MEMORY_DEVICE = 3
} cc__cuda_memory_kind;

typedef struct cc__cuda_memory {
    cc__cuda_memory_kind kind;
    int32_t device;    /* of device and managed memory */
    CUcontext context; /* that it belongs to; NULL: to the whole device, as memory of pools does */
} cc__cuda_memory;

/* What kind of memory a pointer points at, and whose it is. */
CUresult cc__cuda_find_memory(const void *memory, cc__cuda_memory *out_memory);

#endif
