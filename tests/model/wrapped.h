/* Memory of the program's own, wrapped by an image: with a pattern around it and between its pixels, which must stay.
 */
#ifndef CC_TESTS_MODEL_WRAPPED_H
#define CC_TESTS_MODEL_WRAPPED_H

#include "oracle.h"
#include "work.h"

typedef struct wrapped_memory {
    const oracle_pixels *pixels; /* as they are, or were when they went */
    cc_place place;
    bool is_borrowed;
    bool is_registered;
    bool is_compared; /* pixels that the oracle says are newest here are looked at in the end */
    bool may_release; /* no image uses the pixels after the call that is being made */
    int32_t releases;
    unsigned char *allocation;
    size_t allocation_bytes;
    unsigned char *data; /* the first pixel; NULL when there is none */
} wrapped_memory;

/* Memory for pixels whose wrapped_stride and wrapped_bytes are set, holding their newest values. On a device it is
 * written late, in the stream. */
wrapped_memory *wrapped_create(device_work *work, const oracle_pixels *pixels, cc_place place, cc_stream stream);

/* Looks at it once more, and frees it; the record stays. */
void wrapped_free(wrapped_memory *wrapped);

/* The cc_release_fn: frees it, when the time has come. */
void wrapped_release(void *data, void *wrapped);

#endif
