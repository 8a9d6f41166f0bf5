/* The library's own streams: a few for each device, shared by all images, made when first needed. */
#ifndef CC_MEMORY_TRANSFER_STREAMS_H
#define CC_MEMORY_TRANSFER_STREAMS_H

#include "backend/backend.h"

/* What a stream is for. Pixels on their way up do not wait for those on their way down, nor for anything else. */
typedef enum cc__traffic {
    CC__TRAFFIC_OTHER = 0,
    CC__TRAFFIC_UP = 1,
    CC__TRAFFIC_DOWN = 2
} cc__traffic;
#define CC__TRAFFIC_COUNT 3

/* One of the device's streams, in turn, so that one slow producer does not hold up everybody's copies. */
cc_status cc__transfer_stream_get(cc__backend *backend, int32_t device, cc_stream *out_stream);
cc_status cc__transfer_stream_get_for(cc__backend *backend, int32_t device, cc__traffic traffic, cc_stream *out_stream);

/* Waits for what is queued in those of the device; a stream that fails is found by whoever uses it next. */
void cc__transfer_streams_synchronize(cc__backend *backend, int32_t device);

/* For tests, before a backend goes away: no image is alive. Waits for what is queued, and gives back what this room
 * keeps for reuse. */
void cc__transfer_streams_reset(void);

#endif
