/* A volume ten times larger than the device memory it may have, through a point operation, as a part of the link. */
#include "bench.h"
#include "pixels.h"

#include <stdlib.h>

#define SCALE 0.75
#define SHIFT 3.0
#define TIMES_THE_LIMIT 10
#define CHECKED 1009

typedef struct streaming {
    bench *b;
    cc_image *input;
    cc_image *output;
    size_t limit_bytes;
} streaming;

static double stream_once(void *context)
{
    const streaming *s = context;
    cc_tiles_params params = CC_TILES_PARAMS_INIT;
    params.limit_bytes = s->limit_bytes;
    const double begin = clock_seconds();
    CC(cc_tiles_rescale(s->input, SCALE, SHIFT, s->output, &params));
    return clock_seconds() - begin;
}

static void check(const streaming *s, const char *name)
{
    const int64_t count = (int64_t)(cc_image_get_size_bytes(s->input) / sizeof(float));
    float *input = image_map_host(s->input, NULL, CC_ACCESS_READ);
    float *output = image_map_host(s->output, NULL, CC_ACCESS_READ);
    for (int64_t n = 0; n < CHECKED; ++n) {
        const int64_t at = (count - 1) * n / (CHECKED - 1);
        const float expected = (float)((double)input[at] * SCALE + SHIFT);
        if (output[at] != expected)
            bench_fail("%s: pixel %lld is %.9g, expected %.9g", name, (long long)at, (double)output[at],
                       (double)expected);
    }
    image_unmap_host(s->output, output);
    image_unmap_host(s->input, input);
}

static cc_image *wrap(const bench *b, size_t bytes, void **out_memory)
{
    cc_wrap_params params = CC_WRAP_PARAMS_INIT;
    cc_image *image = image_create_volume(b, bytes);
    *out_memory = malloc(bytes);
    if (*out_memory == NULL)
        bench_fail("malloc");
    params.flags = CC_WRAP_BORROWED;
    params.data = *out_memory;
    params.size_bytes = bytes;
    CC(cc_image_wrap_host(image, &params));
    return image;
}

void library_tiles(bench *b)
{
    streaming s = {.b = b, .limit_bytes = (b->quick ? 64 : 384) * MIB};
    const size_t bytes = s.limit_bytes * TIMES_THE_LIMIT;
    void *memory[2];
    s.input = image_create_volume(b, bytes);
    s.output = image_create_volume(b, bytes);
    image_write_host(b, s.input, bench_next_seed(b));
    bench_measure(b, "library.tiles.owned", 2.0 * (double)bytes, 1, 5, stream_once, &s);
    check(&s, "library.tiles.owned");
    cc_image_release(s.output);
    cc_image_release(s.input);
    CC(cc_device_trim(b->device, 0));

    s.input = wrap(b, bytes, &memory[0]);
    s.output = wrap(b, bytes, &memory[1]);
    image_write_host(b, s.input, bench_next_seed(b));
    bench_measure(b, "library.tiles.pageable", 2.0 * (double)bytes, 1, 3, stream_once, &s);
    check(&s, "library.tiles.pageable");
    cc_image_release(s.output);
    cc_image_release(s.input);
    free(memory[0]);
    free(memory[1]);
}
