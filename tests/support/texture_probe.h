/* What a kernel reads from a texture: by a real one on a GPU, by what the emulated device makes of it there. */
#ifndef CC_TESTS_TEXTURE_PROBE_H
#define CC_TESTS_TEXTURE_PROBE_H

#include "base/kernel.h"

#include <cudacommon/pixel.h>
#include <cudacommon/texture.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PROBE_POINTS 16

/* Of one kernel, with one thread for each point. */
typedef struct probe_work {
    void *backend; /* of the emulated device */
    uint64_t object;
    int32_t shape;     /* a cc_texture_shape */
    int32_t is_signed; /* of integers */
    int32_t is_integer;
    int32_t count;
    float at[PROBE_POINTS][3];
    float (*results)[4]; /* memory of the device */
} probe_work;

cc_status probe_launch(const void *work, const struct cc__launcher *launcher);

typedef struct probe {
    int32_t device;
    cc_stream stream;
    int32_t count;
    float (*results)[4];
} probe;

/* Queues it. `type`: of the values that the texture gives, CC_PIXEL_FLOAT32 for those that are normalised. */
probe probe_queue(const cc_texture *texture, int32_t object, cc_texture_shape shape, cc_pixel_type type,
                  cc_stream stream, float (*at)[3], int32_t count);
/* Waits for it. Values are NaN where there was no texture any more. */
void probe_read(const probe *queued, float (*out_values)[4]);

#ifdef __cplusplus
}
#endif

#endif
