/* Memory for the time of an operation, where its images are. */
#ifndef CC_OPS_SCRATCH_H
#define CC_OPS_SCRATCH_H

#include <cudacommon/device.h>
#include <cudacommon/status.h>
#include <stddef.h>

/* Undefined on a device, where it is the stream's. OUT_OF_HOST_MEMORY, or what the backend says. */
cc_status cc__scratch_allocate(const char *function, cc_place place, cc_stream stream, size_t size_bytes,
                               void **out_memory);
/* After the work that uses it is queued; accepts NULL. Leaves the last error as it is. */
void cc__scratch_free(cc_place place, cc_stream stream, void *memory);

#endif
