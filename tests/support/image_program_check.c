/* Whether a program's images hold what they must. */
#include "support/image_program.h"
#include "support/image_program_state.h"

#include <stdlib.h>
#include <string.h>

#define MOST_REGIONS 256

static cc_place_state state_of(const program_image *image, cc_place place)
{
    cc_place_state state = CC_PLACE_STATE_INIT;
    fixture_ok(cc_image_get_place_state(image->image, place, &state));
    return state;
}

void image_program_note(image_program *program)
{
    for (int32_t i = 0; i < PROGRAM_IMAGES; ++i)
        for (cc_place place = CC_PLACE_HOST; program->images[i].image != NULL && place < program->device_count; ++place)
            program->images[i].noted[place + 1] = state_of(&program->images[i], place);
}

void image_program_check_noted(image_program *program, const char *when)
{
    for (int32_t i = 0; i < PROGRAM_IMAGES; ++i) {
        for (cc_place place = CC_PLACE_HOST; program->images[i].image != NULL && place < program->device_count;
             ++place) {
            const cc_place_state before = program->images[i].noted[place + 1];
            const cc_place_state now = state_of(&program->images[i], place);
            ck_assert_msg(now.mapping_count == before.mapping_count, "%s: image %d has %d mappings at place %d, not %d",
                          when, (int)i, (int)now.mapping_count, (int)place, (int)before.mapping_count);
            ck_assert_msg(now.valid_pixels >= before.valid_pixels, "%s: image %d has %lld pixels at place %d, not %lld",
                          when, (int)i, (long long)now.valid_pixels, (int)place, (long long)before.valid_pixels);
        }
    }
}

bool image_program_was_on_device_alone(const image_program *program, int32_t image)
{
    const cc_region *region = &program->images[image].region;
    const cc_place_state *host = &program->images[image].noted[0];
    const int64_t pixels = region->size[0] * region->size[1] * region->size[2];
    return host->valid_pixels < pixels && host->constant_pixels < pixels;
}

static bool overlap(const cc_region *a, const cc_region *b)
{
    for (int32_t axis = 0; axis < 3; ++axis)
        if (a->index[axis] >= b->index[axis] + b->size[axis] || b->index[axis] >= a->index[axis] + a->size[axis])
            return false;
    return true;
}

static bool is_being_written(const image_program *program, const image_pixels *pixels, const cc_region *region)
{
    for (int32_t i = 0; i < PROGRAM_IMAGES; ++i) {
        const program_image *image = &program->images[i];
        for (int32_t at = 0; image->pixels == pixels && at < image->lent_count; ++at)
            if (image->lent[at].access != CC_ACCESS_READ && overlap(&image->lent[at].region, region))
                return true;
    }
    return false;
}

static void compare(const program_image *image, const cc_region *region, pixel_touch *touch, cc_place place,
                    const char *when)
{
    ck_assert_msg(touch->wrong == 0, "%s: %lld pixels of %s, from (%lld, %lld, %lld) on, are wrong at place %d", when,
                  (long long)touch->wrong, image->pixels->type == CC_PIXEL_INT16 ? "an int16 image" : "a float32 image",
                  (long long)region->index[0], (long long)region->index[1], (long long)region->index[2], (int)place);
    free(touch);
}

/* Not by way of the program's streams: the check must not be ordered after what the library should be ordered after. */
static cc_status look_on_device(program_image *image, const cc_region *region, int32_t device, const char *when)
{
    void *pixels = NULL;
    fixture_ok(cc_image_set_device(image->image, device));
    const cc_stream stream = fixture_stream_create(device);
    const cc_status status = cc_image_map_device(image->image, region, CC_ACCESS_READ, stream, &pixels);
    if (status == CC_OK) {
        pixel_touch *touch = pixel_touch_create(image->pixels, region, CC_ACCESS_READ, 0, pixels);
        unsigned char *on_host = malloc(pixel_touch_extent_bytes(touch));
        ck_assert_ptr_nonnull(on_host);
        fixture_device_read(device, stream, on_host, pixels, pixel_touch_extent_bytes(touch));
        fixture_ok(fixture_inner->stream_synchronize(fixture_inner, device, stream));
        touch->memory = on_host;
        pixel_touch_run(touch);
        free(on_host);
        compare(image, region, touch, device, when);
        fixture_ok(cc_image_unmap_device(image->image, pixels, stream));
    }
    fixture_stream_destroy(device, stream);
    fixture_ok(cc_image_set_device(image->image, image->device));
    return status;
}

static cc_status look_on_host(const program_image *image, const cc_region *region, const char *when)
{
    void *pixels = NULL;
    const cc_status status = cc_image_map_host(image->image, region, CC_ACCESS_READ, &pixels);
    if (status == CC_OK) {
        pixel_touch *touch = pixel_touch_create(image->pixels, region, CC_ACCESS_READ, 0, pixels);
        pixel_touch_run(touch);
        compare(image, region, touch, CC_PLACE_HOST, when);
        fixture_ok(cc_image_unmap_host(image->image, pixels));
    }
    return status;
}

static void check_where_it_is(image_program *program, program_image *image, cc_place place, const char *when,
                              bool device_may_be_lost)
{
    cc_region regions[MOST_REGIONS];
    int32_t count = 0;
    fixture_ok(cc_image_get_valid_regions(image->image, place, MOST_REGIONS, regions, &count));
    ck_assert_int_le(count, MOST_REGIONS);
    for (int32_t i = 0; i < count; ++i) {
        if (is_being_written(program, image->pixels, &regions[i]))
            continue;
        const cc_status status = place == CC_PLACE_HOST ? look_on_host(image, &regions[i], when)
                                                        : look_on_device(image, &regions[i], place, when);
        ck_assert_msg(status == CC_OK || (device_may_be_lost && place != CC_PLACE_HOST && status == CC_ERROR_DEVICE),
                      "%s: pixels that are at place %d cannot be looked at: %s (%s)", when, (int)place,
                      cc_status_name(status), cc_last_error_message());
    }
}

void image_program_check(image_program *program, const char *when, bool device_may_be_lost)
{
    for (int32_t i = 0; i < PROGRAM_IMAGES; ++i)
        for (cc_place place = CC_PLACE_HOST; program->images[i].image != NULL && place < program->device_count; ++place)
            check_where_it_is(program, &program->images[i], place, when, device_may_be_lost);
    for (int32_t i = 0; i < PROGRAM_IMAGES; ++i) {
        program_image *image = &program->images[i];
        if (image->image == NULL)
            continue;
        const bool is_written = is_being_written(program, image->pixels, &image->region);
        const cc_status status = look_on_host(image, &image->region, when);
        ck_assert_msg(
            status == (is_written ? CC_ERROR_BUSY : CC_OK) || (device_may_be_lost && status == CC_ERROR_DEVICE),
            "%s: reading all of image %d: %s (%s)", when, (int)i, cc_status_name(status), cc_last_error_message());
    }
}
