#include "wrapped.h"

#include "report.h"
#include "support/fixture.h"

#include <stdlib.h>
#include <string.h>

#define GUARD_BYTES ((size_t)64)
#define PATTERN 0x5A
#define PAGE_BYTES ((size_t)4096)

static bool is_used(const oracle_pixels *pixels, int64_t pixel)
{
    return !pixels->is_undefined[pixel] && (pixels->valid[pixel] & ORACLE_BIT(pixels->wrapped_at)) != 0;
}

static size_t position(const oracle_pixels *pixels, int64_t pixel)
{
    int64_t at[CC_MAX_DIMENSION];
    oracle_locate(pixels, pixel, at);
    return GUARD_BYTES + (size_t)oracle_offset(pixels, pixels->wrapped_at, at);
}

static void write_image(const oracle_pixels *pixels, unsigned char *bytes, size_t size_bytes)
{
    const size_t pixel_bytes = (size_t)pixels->pixel_bytes;
    memset(bytes, PATTERN, size_bytes);
    for (int64_t pixel = 0; pixel < pixels->count; pixel++)
        memcpy(bytes + position(pixels, pixel), pixels->newest + (size_t)pixel * pixel_bytes, pixel_bytes);
}

static void write_device(device_work *work, const wrapped_memory *wrapped, cc_stream stream, const unsigned char *bytes)
{
    const work_box all = {.memory = wrapped->allocation,
                          .stride = {1, 1, 1, 1},
                          .size = {(int64_t)wrapped->allocation_bytes, 1, 1, 1},
                          .pixel_bytes = 1};
    work_write(work, wrapped->place, stream, &all, bytes);
}

wrapped_memory *wrapped_create(device_work *work, const oracle_pixels *pixels, cc_place place, cc_stream stream)
{
    wrapped_memory *wrapped = calloc(1, sizeof *wrapped);
    const size_t needed = GUARD_BYTES + pixels->wrapped_bytes + GUARD_BYTES;
    wrapped->pixels = pixels;
    wrapped->place = place;
    if (pixels->count == 0)
        return wrapped;
    wrapped->allocation_bytes = (needed + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    if (place == CC_PLACE_HOST) {
        void *memory = NULL;
        model_check(posix_memalign(&memory, PAGE_BYTES, wrapped->allocation_bytes) == 0, "no memory for the test");
        wrapped->allocation = memory;
        write_image(pixels, wrapped->allocation, wrapped->allocation_bytes);
        /* Page-locked by the program, it is copied late too. */
        wrapped->is_registered = fixture_device_count() > 0 && random_chance(work->random, 70);
        if (wrapped->is_registered)
            model_ok(fixture_inner->host_register(fixture_inner, wrapped->allocation, wrapped->allocation_bytes));
    } else {
        void *memory = NULL;
        model_ok(fixture_inner->allocate(fixture_inner, place, stream, wrapped->allocation_bytes, &memory));
        wrapped->allocation = memory;
        unsigned char *bytes = malloc(wrapped->allocation_bytes);
        write_image(pixels, bytes, wrapped->allocation_bytes);
        write_device(work, wrapped, stream, bytes);
        free(bytes);
    }
    wrapped->data = wrapped->allocation + GUARD_BYTES;
    return wrapped;
}

/* Every byte is the pattern, or of a pixel; and pixels that were newest here are right. */
static void verify(const wrapped_memory *wrapped, const unsigned char *bytes)
{
    const oracle_pixels *pixels = wrapped->pixels;
    const size_t pixel_bytes = (size_t)pixels->pixel_bytes;
    bool *is_pixel = calloc(wrapped->allocation_bytes, sizeof *is_pixel);
    for (int64_t pixel = 0; pixel < pixels->count; pixel++) {
        const size_t at = position(pixels, pixel);
        for (size_t i = 0; i < pixel_bytes; i++)
            is_pixel[at + i] = true;
        model_check(!wrapped->is_compared || !is_used(pixels, pixel) ||
                        memcmp(bytes + at, pixels->newest + (size_t)pixel * pixel_bytes, pixel_bytes) == 0,
                    "wrapped memory of place %d has pixel %lld wrong at the end", (int)wrapped->place,
                    (long long)pixel);
    }
    for (size_t i = 0; i < wrapped->allocation_bytes; i++)
        model_check(is_pixel[i] || bytes[i] == PATTERN, "wrapped memory of place %d has byte %zu overwritten",
                    (int)wrapped->place, i);
    free(is_pixel);
}

void wrapped_free(wrapped_memory *wrapped)
{
    if (wrapped->allocation == NULL)
        return;
    if (wrapped->place == CC_PLACE_HOST) {
        verify(wrapped, wrapped->allocation);
        if (wrapped->is_registered)
            model_ok(fixture_inner->host_unregister(fixture_inner, wrapped->allocation));
        free(wrapped->allocation);
    } else {
        /* Without waiting for any stream but this one: the library says that the device has finished. */
        const size_t size_bytes = wrapped->allocation_bytes;
        unsigned char *bytes = malloc(size_bytes);
        cc_stream stream = NULL;
        cc__copy copy = {.destination = {bytes, {1, 1, 1, 1}},
                         .source = {wrapped->allocation, {1, 1, 1, 1}},
                         .size = {(int64_t)size_bytes, 1, 1, 1},
                         .pixel_bytes = 1};
        model_ok(fixture_inner->stream_create(fixture_inner, wrapped->place, &stream));
        model_ok(fixture_inner->copy(fixture_inner, wrapped->place, stream, &copy));
        model_ok(fixture_inner->stream_synchronize(fixture_inner, wrapped->place, stream));
        verify(wrapped, bytes);
        free(bytes);
        model_ok(fixture_inner->free(fixture_inner, wrapped->place, stream, wrapped->allocation));
        model_ok(fixture_inner->stream_synchronize(fixture_inner, wrapped->place, stream));
        fixture_inner->stream_destroy(fixture_inner, wrapped->place, stream);
    }
    wrapped->allocation = NULL;
}

void wrapped_release(void *data, void *user_data)
{
    wrapped_memory *wrapped = user_data;
    model_check(data == wrapped->data, "a release callback got data = %p, expected %p", data, (void *)wrapped->data);
    model_check(wrapped->releases == 0, "a release callback was called twice");
    model_check(wrapped->may_release, "a release callback was called while an image uses the memory");
    wrapped->releases++;
    wrapped_free(wrapped);
}
