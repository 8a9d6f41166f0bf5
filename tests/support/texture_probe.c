#include "support/texture_probe.h"

#include "backend/emulated.h"
#include "support/dense_work.h"
#include "support/fixture.h"

#include <math.h>
#include <string.h>

static void probe_on_host(const void *work)
{
    const probe_work *self = work;
    for (int32_t n = 0; n < self->count; ++n)
        if (!cc__emulated_fetch(self->backend, self->object, self->at[n], self->results[n]))
            for (int32_t i = 0; i < 4; ++i)
                self->results[n][i] = NAN;
}

static int32_t probe_touches(const void *work, cc__kernel_range out_ranges[CC__KERNEL_RANGES])
{
    const probe_work *self = work;
    out_ranges[0].first = (const unsigned char *)self->results;
    out_ranges[0].size_bytes = (int64_t)sizeof *self->results * self->count;
    return 1;
}

static const cc__kernel kernel = {.name = "probe",
                                  .work_bytes = sizeof(probe_work),
                                  .on_host = probe_on_host,
                                  .touches = probe_touches,
                                  .launch = CC__LAUNCH(probe_launch)};

probe probe_queue(const cc_texture *texture, int32_t object, cc_texture_shape shape, cc_pixel_type type,
                  cc_stream stream, float (*at)[3], int32_t count)
{
    probe queued = {.device = texture->device, .stream = stream, .count = count};
    void *memory = NULL;
    ck_assert_int_lt(object, texture->object_count);
    ck_assert_int_le(count, PROBE_POINTS);
    fixture_ok(fixture_inner->allocate(fixture_inner, queued.device, stream, PROBE_POINTS * sizeof(float[4]), &memory));
    queued.results = memory;
    probe_work work = {.backend = fixture_inner,
                       .object = texture->objects[object],
                       .shape = (int32_t)shape,
                       .is_signed = type == CC_PIXEL_INT8 || type == CC_PIXEL_INT16 || type == CC_PIXEL_INT32,
                       .is_integer = type != CC_PIXEL_FLOAT32 && type != CC_PIXEL_FLOAT16,
                       .count = count,
                       .results = queued.results};
    memcpy(work.at, at, (size_t)count * sizeof *at);
    fixture_ok(queue_kernel(fixture_inner, queued.device, stream, &kernel, &work));
    return queued;
}

void probe_read(const probe *queued, float (*out_values)[4])
{
    fixture_device_read(queued->device, queued->stream, out_values, queued->results,
                        (size_t)queued->count * sizeof *out_values);
    fixture_ok(fixture_inner->stream_synchronize(fixture_inner, queued->device, queued->stream));
    fixture_ok(fixture_inner->free(fixture_inner, queued->device, queued->stream, queued->results));
}
