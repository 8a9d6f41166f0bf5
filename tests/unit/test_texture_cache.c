/* When textures are made and when they are used again, what they wait for, what waits for them, and when they go. */
#include "backend/emulated.h"
#include "data_manager/data_manager.h"
#include "memory/budget.h"
#include "support/byte_pixels.h"
#include "support/expect.h"
#include "support/fault_sequence.h"
#include "support/fixture.h"
#include "support/plain_work.h"
#include "support/texture_probe.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 16
#define HEIGHT 16
#define BYTES ((size_t)WIDTH * HEIGHT)

static cc_image *bytes_image(void)
{
    return fixture_image(CC_PIXEL_UINT8, 1, 2, WIDTH, HEIGHT, 1);
}

static cc_texture map_in(cc_image *image, const cc_region *region, cc_stream stream)
{
    cc_texture texture = CC_TEXTURE_INIT;
    fixture_ok(cc_image_map_texture(image, region, NULL, stream, &texture));
    return texture;
}

static void unmap_in(cc_image *image, cc_texture *texture, cc_stream stream)
{
    fixture_ok(cc_image_unmap_texture(image, texture, stream));
}

/* Its first pixel, and one that is elsewhere. */
static probe queue(const cc_texture *texture, cc_stream stream)
{
    float at[2][3] = {{0.5f, 0.5f, 0.5f}, {3.5f, 2.5f, 0.5f}};
    return probe_queue(texture, 0, CC_TEXTURE_VOLUME, CC_PIXEL_UINT8, stream, at, 2);
}

static void expect(const probe *queued, unsigned char value)
{
    float values[2][4];
    probe_read(queued, values);
    ck_assert_msg(values[0][0] == (float)value && values[1][0] == (float)value, "%g and %g, expected %d",
                  (double)values[0][0], (double)values[1][0], (int)value);
}

static void expect_now(cc_image *image, const cc_region *region, unsigned char value)
{
    cc_texture texture = map_in(image, region, CC_STREAM_DEFAULT);
    const probe queued = queue(&texture, CC_STREAM_DEFAULT);
    expect(&queued, value);
    unmap_in(image, &texture, CC_STREAM_DEFAULT);
}

static uint64_t updates(cc_image *image)
{
    return fixture_counters(image).texture_updates;
}

static cc_place_state state_of(cc_image *image, cc_place place)
{
    cc_place_state state = CC_PLACE_STATE_INIT;
    fixture_ok(cc_image_get_place_state(image, place, &state));
    return state;
}

static size_t texture_bytes(cc_image *image)
{
    return (size_t)state_of(image, 0).texture_bytes;
}

START_TEST(made_again_only_when_pixels_have_changed)
{
    const cc_region part = region_at(0, 0, 8, 8), beside = region_at(8, 8, 8, 8);
    const unsigned char value = 6;
    if (fixture_device_count() == 0)
        return;
    cc_image *image = bytes_image(), *view = NULL;
    fixture_ok(cc_image_create_view(image, &part, &view));
    byte_pixels_write_host(image, NULL, 1);
    expect_now(image, NULL, 1);
    expect_now(image, NULL, 1);
    ck_assert_uint_eq(updates(image), 1);
    ck_assert_uint_eq(texture_bytes(image), BYTES);

    /* Another way of reading is no other texture; another box is, and of the view it is the same. */
    cc_texture_params params = CC_TEXTURE_PARAMS_INIT;
    cc_texture texture = CC_TEXTURE_INIT, second = map_in(image, NULL, CC_STREAM_DEFAULT);
    params.address[0] = CC_TEXTURE_CLAMP;
    fixture_ok(cc_image_map_texture(image, NULL, &params, CC_STREAM_DEFAULT, &texture));
    ck_assert_uint_ne(texture.objects[0], second.objects[0]);
    unmap_in(image, &second, CC_STREAM_DEFAULT);
    unmap_in(image, &texture, CC_STREAM_DEFAULT);
    ck_assert_uint_eq(updates(image), 1);
    expect_now(view, NULL, 1);
    expect_now(image, &part, 1);
    ck_assert_uint_eq(updates(image), 2);

    /* Written beside the view: its texture stays. On the host, on the device, by fills of a part and of all. */
    byte_pixels_write_host(image, &beside, 2);
    expect_now(view, NULL, 1);
    ck_assert_uint_eq(updates(image), 2);
    expect_now(image, &beside, 2);
    ck_assert_uint_eq(updates(image), 3);
    byte_pixels_write_device(image, NULL, 3, CC_STREAM_DEFAULT);
    expect_now(view, NULL, 3);
    ck_assert_uint_eq(updates(image), 4);
    byte_pixels_write_host(view, NULL, 4);
    expect_now(view, NULL, 4);
    fixture_ok(cc_image_fill(image, &part, &(unsigned char){5}, CC_STREAM_DEFAULT));
    expect_now(view, NULL, 5);
    fixture_ok(cc_image_fill(image, NULL, &value, CC_STREAM_DEFAULT));
    expect_now(view, NULL, 6);
    fixture_ok(cc_image_rescale(view, 2, 1, view, CC_STREAM_DEFAULT));
    expect_now(view, NULL, 13);
    /* Three boxes of one size have used the same arrays as long as the others' were old. */
    ck_assert_uint_eq(updates(image), 8);
    ck_assert_uint_eq(texture_bytes(image), BYTES + 2 * 64);
    cc_image_release(view);
    cc_image_release(image);
}
END_TEST

START_TEST(written_tile_by_tile)
{
    if (fixture_device_count() == 0)
        return;
    cc_image *input = bytes_image(), *output = bytes_image();
    byte_pixels_write_host(input, NULL, 9);
    byte_pixels_write_host(output, NULL, 1);
    expect_now(output, NULL, 1);
    fixture_ok(cc_tiles_rescale(input, 3, 0, output, NULL));
    expect_now(output, NULL, 27);
    cc_image_release(input);
    cc_image_release(output);
}
END_TEST

START_TEST(a_mapping_for_reading)
{
    void *pixels = NULL;
    const cc_region part = region_at(0, 0, 4, 4), beside = region_at(8, 8, 2, 2);
    if (fixture_device_count() == 0)
        return;
    cc_image *image = bytes_image();
    byte_pixels_write_device(image, NULL, 1, CC_STREAM_DEFAULT);
    cc_texture texture = map_in(image, &part, CC_STREAM_DEFAULT);
    expect_failure(CC_ERROR_BUSY, "read", cc_image_map_host(image, NULL, CC_ACCESS_WRITE, &pixels));
    expect_failure(CC_ERROR_BUSY, "read",
                   cc_image_map_device(image, &part, CC_ACCESS_READ_WRITE, CC_STREAM_DEFAULT, &pixels));
    expect_failure(CC_ERROR_BUSY, "", cc_image_evict(image, 0));
    expect_failure(CC_ERROR_BUSY, "", cc_image_resize(image, &part));
    byte_pixels_expect_host(image, NULL, 1);
    byte_pixels_expect_device(image, &part, 1, CC_STREAM_DEFAULT);
    byte_pixels_write_device(image, &beside, 2, CC_STREAM_DEFAULT);
    ck_assert_int_eq(state_of(image, 0).mapping_count, 1);
    /* A reader that begins at the same pixel ends by itself. */
    fixture_ok(cc_image_map_device(image, &part, CC_ACCESS_READ, CC_STREAM_DEFAULT, &pixels));
    unmap_in(image, &texture, CC_STREAM_DEFAULT);
    fixture_ok(cc_image_unmap_device(image, pixels, CC_STREAM_DEFAULT));
    ck_assert_int_eq(state_of(image, 0).mapping_count, 0);

    fixture_ok(cc_image_map_host(image, &part, CC_ACCESS_WRITE, &pixels));
    expect_failure(CC_ERROR_BUSY, "written", cc_image_map_texture(image, NULL, NULL, CC_STREAM_DEFAULT, &texture));
    fixture_ok(cc_image_unmap_host(image, pixels));
    fixture_ok(cc_image_discard(image, NULL));
    expect_failure(CC_ERROR_UNINITIALIZED, "", cc_image_map_texture(image, NULL, NULL, CC_STREAM_DEFAULT, &texture));
    cc_image_release(image);
}
END_TEST

/* The stream reads on after the image is gone, and the arrays go only after it. */
START_TEST(an_image_released_at_once)
{
    if (fixture_device_count() == 0)
        return;
    const cc_stream stream = fixture_stream_create(0);
    cc_image *image = bytes_image();
    byte_pixels_write_host(image, NULL, 7);
    cc_texture texture = map_in(image, NULL, stream);
    const probe queued = queue(&texture, stream);
    if (_i == 0) {
        unmap_in(image, &texture, stream);
        cc_image_release(image);
    } else {
        cc_image_release(image); /* the mapping keeps it */
        unmap_in(image, &texture, stream);
    }
    (void)cc__data_managers_free_textures(false);
    ck_assert_uint_eq(cc__budget_held_bytes(0), 0);
    expect(&queued, 7);
    (void)cc__data_managers_free_textures(true);
    ck_assert(!cc__data_managers_free_textures(true));
    fixture_stream_destroy(0, stream);
}
END_TEST

/*
 * All of it late: what was written before comes first, and what is read from the old texture comes before the new. The
 * loop runs over who writes: the library, by the fill value, or a stream that is waited for at once.
 */
START_TEST(streams_wait_for_each_other)
{
    enum {
        ROUNDS = 5
    };
    probe first_read[ROUNDS], second_read[ROUNDS];
    if (fixture_device_count() == 0)
        return;
    const cc_stream write = fixture_stream_create(0), read = fixture_stream_create(0), other = fixture_stream_create(0);
    cc_image *image = bytes_image();
    byte_pixels_write_device(image, NULL, 0, write);
    for (int32_t round = 0; round < ROUNDS; ++round) {
        const unsigned char value = (unsigned char)(round + 1);
        if (_i == 0) {
            fixture_ok(cc_image_fill(image, NULL, &value, write));
        } else {
            byte_pixels_write_device(image, NULL, value, write);
            fixture_ok(cc_stream_synchronize(0, write));
        }
        cc_texture first = map_in(image, NULL, read), second = map_in(image, NULL, other);
        ck_assert_uint_eq(first.objects[0], second.objects[0]);
        first_read[round] = queue(&first, read);
        second_read[round] = queue(&second, other);
        unmap_in(image, &first, read);
        unmap_in(image, &second, other);
    }
    ck_assert_uint_eq(updates(image), ROUNDS);
    ck_assert_uint_eq(texture_bytes(image), BYTES);
    for (int32_t round = ROUNDS - 1; round >= 0; --round)
        expect(&first_read[round], (unsigned char)(round + 1));
    for (int32_t round = ROUNDS - 1; round >= 0; --round)
        expect(&second_read[round], (unsigned char)(round + 1));
    fixture_stream_destroy(0, write);
    fixture_stream_destroy(0, read);
    fixture_stream_destroy(0, other);
    cc_image_release(image);
}
END_TEST

/* While a borrower may write, nobody knows whether the texture is old; also one that is mapped. */
START_TEST(pixels_on_loan)
{
    cc_export_params params = CC_EXPORT_PARAMS_INIT;
    cc_descriptor lent = CC_DESCRIPTOR_INIT;
    cc_loan *loan = NULL;
    unsigned char bytes[BYTES];
    if (fixture_device_count() == 0)
        return;
    cc_image *image = bytes_image();
    byte_pixels_write_device(image, NULL, 1, CC_STREAM_DEFAULT);
    expect_now(image, NULL, 1);
    fixture_ok(cc_image_export(image, &params, &lent, &loan));
    for (unsigned char value = 2; value < 4; ++value) {
        memset(bytes, value, sizeof bytes);
        fixture_device_write(0, CC_STREAM_DEFAULT, lent.data, bytes, sizeof bytes);
        expect_now(image, NULL, value);
    }
    cc_texture texture = map_in(image, NULL, CC_STREAM_DEFAULT);
    memset(bytes, 4, sizeof bytes);
    fixture_device_write(0, CC_STREAM_DEFAULT, lent.data, bytes, sizeof bytes);
    expect_now(image, NULL, 4);
    const probe queued = queue(&texture, CC_STREAM_DEFAULT);
    expect(&queued, 3);
    unmap_in(image, &texture, CC_STREAM_DEFAULT);
    memset(bytes, 5, sizeof bytes);
    fixture_device_write(0, CC_STREAM_DEFAULT, lent.data, bytes, sizeof bytes);
    cc_loan_release(loan);
    expect_now(image, NULL, 5);
    ck_assert_uint_le(texture_bytes(image), 2 * BYTES);

    /* And one who only reads changes nothing. */
    byte_pixels_expect_host(image, NULL, 5);
    cc_image_reset_counters(image);
    params.access = CC_ACCESS_READ;
    expect_now(image, NULL, 5);
    const uint64_t before = updates(image);
    fixture_ok(cc_image_export(image, &params, &lent, &loan));
    expect_now(image, NULL, 5);
    ck_assert_uint_eq(updates(image), before);
    cc_loan_release(loan);
    cc_image_release(image);
}
END_TEST

static size_t device_bytes(const cc_image *image)
{
    cc_live_image live[8];
    int32_t count = 0;
    live[0].struct_size = sizeof live[0];
    fixture_ok(cc_live_images(8, live, &count));
    for (int32_t i = 0; i < count; ++i)
        if (live[i].image == image)
            return (size_t)live[i].device_bytes;
    return 0;
}

START_TEST(counted_and_evicted_with_the_pixels)
{
    if (fixture_device_count() == 0)
        return;
    cc_image *image = bytes_image();
    byte_pixels_write_host(image, NULL, 3);
    expect_now(image, NULL, 3);
    ck_assert_uint_eq(state_of(image, 0).memory_bytes, BYTES);
    ck_assert_uint_eq(texture_bytes(image), BYTES);
    ck_assert_uint_eq(device_bytes(image), 2 * BYTES);
    ck_assert_uint_eq(state_of(image, CC_PLACE_HOST).texture_bytes, 0);
    ck_assert_uint_eq(cc__budget_held_bytes(0), 2 * BYTES);
    fixture_ok(cc_image_evict(image, 0));
    ck_assert_uint_eq(texture_bytes(image), 0);
    ck_assert_uint_eq(cc__budget_held_bytes(0), 0);
    expect_now(image, NULL, 3);
    ck_assert_uint_eq(updates(image), 2);
    fixture_ok(cc_image_discard(image, NULL));
    ck_assert_uint_eq(cc__budget_held_bytes(0), 0);
    cc_image_release(image);
}
END_TEST

static void no_release(void *data, void *user_data)
{
    (void)data, (void)user_data;
}

/* Wrapped memory stays, its textures go: when asked for, and when others need the room. */
START_TEST(textures_of_wrapped_memory)
{
    void *memory = NULL;
    unsigned char bytes[BYTES];
    cc_wrap_params wrap = CC_WRAP_PARAMS_INIT;
    if (fixture_device_count() == 0)
        return;
    cc_image *image = bytes_image(), *other = bytes_image();
    memset(bytes, 8, sizeof bytes);
    fixture_ok(fixture_inner->allocate(fixture_inner, 0, CC_STREAM_DEFAULT, BYTES, &memory));
    fixture_device_write(0, CC_STREAM_DEFAULT, memory, bytes, sizeof bytes);
    wrap.data = memory;
    wrap.size_bytes = BYTES;
    wrap.release = no_release;
    fixture_ok(cc_image_wrap_device(image, &wrap, CC_STREAM_DEFAULT));
    expect_now(image, NULL, 8);
    ck_assert_uint_eq(cc__budget_held_bytes(0), BYTES);
    fixture_ok(cc_image_evict(image, 0));
    ck_assert_uint_eq(cc__budget_held_bytes(0), 0);
    for (int32_t round = 0; round < 2; ++round) {
        expect_now(image, NULL, 8);
        fixture_ok(cc_device_set_limit(0, BYTES, 0));
        byte_pixels_write_device(other, NULL, 1, CC_STREAM_DEFAULT);
        ck_assert_uint_eq(texture_bytes(image), 0);
        fixture_ok(cc_device_set_limit(0, 0, 0));
        fixture_ok(cc_image_evict(other, 0));
    }
    cc_image_release(image);
    cc_image_release(other);
    fixture_ok(fixture_inner->free(fixture_inner, 0, CC_STREAM_DEFAULT, memory));
}
END_TEST

/* What can be made again goes first; what is mapped does not go. */
START_TEST(given_up_when_others_need_room)
{
    if (fixture_device_count() == 0)
        return;
    cc_image *image = bytes_image(), *other = bytes_image(), *third = bytes_image();
    cc_texture texture = CC_TEXTURE_INIT;
    void *pixels = NULL;
    byte_pixels_write_device(image, NULL, 3, CC_STREAM_DEFAULT);
    byte_pixels_expect_host(image, NULL, 3);
    expect_now(image, NULL, 3);
    fixture_ok(cc_device_set_limit(0, 2 * BYTES, 0));
    byte_pixels_write_device(other, NULL, 4, CC_STREAM_DEFAULT);
    ck_assert_uint_eq(texture_bytes(image), 0);
    ck_assert_uint_eq(state_of(image, 0).memory_bytes, BYTES);
    ck_assert_uint_eq(fixture_counters(image).evictions, 0);

    /* A texture makes others leave too, and while it is mapped there is no more room. */
    texture = map_in(image, NULL, CC_STREAM_DEFAULT);
    ck_assert_uint_eq(state_of(other, 0).memory_bytes, 0);
    expect_passed_on(CC_ERROR_OUT_OF_DEVICE_MEMORY,
                     cc_image_map_device(third, NULL, CC_ACCESS_WRITE, CC_STREAM_DEFAULT, &pixels));
    const probe queued = queue(&texture, CC_STREAM_DEFAULT);
    expect(&queued, 3);
    unmap_in(image, &texture, CC_STREAM_DEFAULT);
    byte_pixels_write_device(third, NULL, 5, CC_STREAM_DEFAULT);
    byte_pixels_expect_host(other, NULL, 4);
    byte_pixels_expect_host(image, NULL, 3);
    fixture_ok(cc_device_set_limit(0, 0, 0));
    cc_image_release(image);
    cc_image_release(other);
    cc_image_release(third);
}
END_TEST

/* Where the device itself is full, what still waits for a stream is waited for. */
START_TEST(a_full_device_waits_for_what_goes)
{
    if (!fixture_is_emulated())
        return;
    const cc_stream stream = fixture_stream_create(0);
    cc_image *image = bytes_image(), *other = bytes_image();
    byte_pixels_write_host(image, NULL, 6);
    cc_texture texture = map_in(image, NULL, stream);
    const probe queued = queue(&texture, stream);
    unmap_in(image, &texture, stream);
    cc_image_release(image);
    cc__emulated_set_memory_limit(fixture_inner, BYTES + BYTES / 2 + PROBE_POINTS * sizeof(float[4]));
    byte_pixels_write_device(other, NULL, 1, CC_STREAM_DEFAULT);
    ck_assert(!cc__data_managers_free_textures(false));
    cc__emulated_set_memory_limit(fixture_inner, 0);
    expect(&queued, 6);
    cc_image_release(other);
    fixture_stream_destroy(0, stream);
}
END_TEST

START_TEST(captured_streams_are_refused)
{
    if (!fixture_is_emulated())
        return;
    const cc_stream stream = fixture_stream_create(0);
    cc_image *image = bytes_image();
    cc_texture texture = CC_TEXTURE_INIT;
    cc__emulated_set_capturing(fixture_inner, 0, stream, true);
    expect_failure(CC_ERROR_CAPTURE, "", cc_image_map_texture(image, NULL, NULL, stream, &texture));
    cc__emulated_set_capturing(fixture_inner, 0, stream, false);
    texture = map_in(image, NULL, stream);
    cc__emulated_set_capturing(fixture_inner, 0, stream, true);
    expect_passed_on(CC_ERROR_CAPTURE, cc_image_unmap_texture(image, &texture, stream));
    cc__emulated_set_capturing(fixture_inner, 0, stream, false);
    ck_assert_int_eq(texture.object_count, 1);
    ck_assert_int_eq(state_of(image, 0).mapping_count, 1);
    unmap_in(image, &texture, stream);
    fixture_stream_destroy(0, stream);
    cc_image_release(image);
}
END_TEST

START_TEST(each_device_has_its_own)
{
    if (fixture_device_count() < 2)
        return;
    cc_image *image = bytes_image();
    byte_pixels_write_host(image, NULL, 3);
    expect_now(image, NULL, 3);
    fixture_ok(cc_image_set_device(image, 1));
    expect_now(image, NULL, 3);
    ck_assert_uint_eq(state_of(image, 1).texture_bytes, BYTES);
    ck_assert_uint_eq(updates(image), 2);
    byte_pixels_write_device(image, NULL, 4, CC_STREAM_DEFAULT);
    fixture_ok(cc_image_set_device(image, 0));
    expect_now(image, NULL, 4);
    ck_assert_uint_eq(updates(image), 3);
    cc_image_release(image);
}
END_TEST

/* Round by round each thing fails once: an error comes back, nothing leaks, and again it works. */
START_TEST(each_fault)
{
    cc_status status = CC_ERROR_DEVICE;
    int64_t failures = 0;
    const bool for_ever = _i == 1;
    if (fixture_device_count() == 0)
        return;
    for (int64_t nth = 1; status != CC_OK; nth += FAULT_STEP) {
        const cc_stream stream = fixture_stream_create(0);
        cc_image *image = fixture_image(CC_PIXEL_UINT8, 3, 2, WIDTH, HEIGHT, 1);
        unsigned char value[3] = {1, 1, 1};
        fixture_ok(cc_image_fill(image, NULL, value, CC_STREAM_DEFAULT));
        cc_texture texture = CC_TEXTURE_INIT;
        bool has_failed = false;
        fault_sequence_start(nth, for_ever);
        for (unsigned char round = 0; round < 3; ++round) {
            if (round == 2) {
                (void)memset(value, 2, sizeof value);
                status = cc_image_fill(image, NULL, value, CC_STREAM_DEFAULT);
                if (status != CC_OK)
                    break;
            }
            status = cc_image_map_texture(image, NULL, NULL, stream, &texture);
            if (status == CC_OK)
                status = cc_image_unmap_texture(image, &texture, stream);
            if (status != CC_OK)
                break;
        }
        (void)fault_sequence_stop();
        has_failed = status != CC_OK;
        failures += has_failed;
        if (has_failed)
            ck_assert(status == CC_ERROR_DEVICE || status == CC_ERROR_OUT_OF_HOST_MEMORY ||
                      status == CC_ERROR_OUT_OF_DEVICE_MEMORY);
        if (texture.library != NULL)
            unmap_in(image, &texture, stream);
        ck_assert_int_eq(state_of(image, 0).mapping_count, 0);
        texture = map_in(image, NULL, stream);
        const probe queued = queue(&texture, stream);
        unmap_in(image, &texture, stream);
        expect(&queued, value[0]);
        cc_image_release(image);
        ck_assert_uint_eq(cc__budget_held_bytes(0), 0);
        fixture_stream_destroy(0, stream);
    }
    ck_assert_int_ge(failures * FAULT_STEP, 15);
}
END_TEST

/* Memory that the driver does not give is asked for again when others have left. */
START_TEST(arrays_for_which_there_is_no_memory)
{
    if (fixture_device_count() == 0)
        return;
    const faulty_rule once = {FAULTY_TEXTURE_CREATE, 1, false, CC_ERROR_OUT_OF_DEVICE_MEMORY, 2};
    const faulty_rule always = {FAULTY_TEXTURE_CREATE, 1, true, CC_ERROR_OUT_OF_DEVICE_MEMORY, 2};
    cc_image *image = bytes_image(), *other = bytes_image();
    cc_texture texture = CC_TEXTURE_INIT;
    byte_pixels_write_device(other, NULL, 1, CC_STREAM_DEFAULT);
    byte_pixels_write_device(image, NULL, 2, CC_STREAM_DEFAULT);
    faulty_backend_add_rule(fixture_backend, &once);
    expect_now(image, NULL, 2);
    ck_assert_uint_eq(state_of(other, 0).memory_bytes, 0);
    byte_pixels_write_device(image, NULL, 2, CC_STREAM_DEFAULT);
    fixture_ok(cc_image_evict(image, 0));
    faulty_backend_clear_rules(fixture_backend);
    faulty_backend_add_rule(fixture_backend, &always);
    expect_passed_on(CC_ERROR_OUT_OF_DEVICE_MEMORY,
                     cc_image_map_texture(image, NULL, NULL, CC_STREAM_DEFAULT, &texture));
    faulty_backend_clear_rules(fixture_backend);
    expect_now(image, NULL, 2);
    cc_image_release(image);
    cc_image_release(other);
}
END_TEST

/* The same for what the pixels pass through: others leave, and a second time it is not asked again. */
START_TEST(no_memory_to_pass_through)
{
    if (fixture_device_count() == 0)
        return;
    const faulty_rule once = {FAULTY_TEXTURE_UPDATE, 1, false, CC_ERROR_OUT_OF_DEVICE_MEMORY, 2};
    const faulty_rule always = {FAULTY_TEXTURE_UPDATE, 1, true, CC_ERROR_OUT_OF_DEVICE_MEMORY, 2};
    const faulty_rule full = {FAULTY_ALLOCATE, 1, false, CC_ERROR_OUT_OF_DEVICE_MEMORY, 2};
    cc_image *image = bytes_image(), *other = bytes_image();
    cc_texture texture = CC_TEXTURE_INIT;
    byte_pixels_write_device(other, NULL, 1, CC_STREAM_DEFAULT);
    byte_pixels_write_device(image, NULL, 2, CC_STREAM_DEFAULT);
    faulty_backend_add_rule(fixture_backend, &once);
    faulty_backend_add_rule(fixture_backend, &full);
    expect_now(image, NULL, 2);
    ck_assert_uint_eq(state_of(other, 0).memory_bytes, 0);
    byte_pixels_write_device(image, NULL, 3, CC_STREAM_DEFAULT);
    faulty_backend_clear_rules(fixture_backend);
    faulty_backend_add_rule(fixture_backend, &always);
    expect_passed_on(CC_ERROR_OUT_OF_DEVICE_MEMORY,
                     cc_image_map_texture(image, NULL, NULL, CC_STREAM_DEFAULT, &texture));
    faulty_backend_clear_rules(fixture_backend);
    ck_assert_int_eq(state_of(image, 0).mapping_count, 0);
    expect_now(image, NULL, 3);
    cc_image_release(image);
    cc_image_release(other);
}
END_TEST

/* A program of random steps, with plain bytes beside the image that say what it must hold. */
#define PROGRAM_STREAMS 3
#define PROGRAM_STEPS 150
#define PROGRAM_SEEDS 12
#define MOST_MAPPED 3

typedef struct program_texture {
    cc_texture texture;
    cc_region region;
    cc_stream stream; /* where it is read */
} program_texture;

typedef struct expected_probe {
    probe queued;
    float values[4];
} expected_probe;

typedef struct program {
    uint32_t random;
    cc_image *image;
    cc_stream streams[PROGRAM_STREAMS];
    unsigned char pixels[HEIGHT][WIDTH];
    program_texture mapped[MOST_MAPPED];
    int32_t mapped_count;
    expected_probe probes[PROGRAM_STEPS];
    int32_t probe_count;
    int32_t writes;
} program;

static int64_t below(program *self, int64_t count)
{
    return random_below(&self->random, count);
}

static cc_region any_region(program *self)
{
    /* Few sizes, so that the same come again. */
    static const int64_t sizes[] = {WIDTH, 8, 5};
    const int64_t size_i = sizes[below(self, 3)], size_j = sizes[below(self, 3)];
    return region_at(below(self, 2) * (WIDTH - size_i), below(self, 2) * (HEIGHT - size_j), size_i, size_j);
}

static bool overlaps(const cc_region *a, const cc_region *b)
{
    return a->index[0] < b->index[0] + b->size[0] && b->index[0] < a->index[0] + a->size[0] &&
           a->index[1] < b->index[1] + b->size[1] && b->index[1] < a->index[1] + a->size[1];
}

/* On the host, on the device, or by a fill, of a region that no texture has now. */
static void program_write(program *self)
{
    const unsigned char value = (unsigned char)++self->writes;
    cc_region region = any_region(self);
    for (int32_t i = 0; i < self->mapped_count; ++i)
        if (overlaps(&region, &self->mapped[i].region))
            return;
    const cc_stream stream = self->streams[below(self, PROGRAM_STREAMS)];
    switch (below(self, 3)) {
    case 0:
        byte_pixels_write_host(self->image, &region, value);
        break;
    case 1:
        byte_pixels_write_device(self->image, &region, value, stream);
        break;
    default:
        fixture_ok(cc_image_fill(self->image, &region, &value, stream));
    }
    for (int64_t j = 0; j < region.size[1]; ++j)
        memset(&self->pixels[region.index[1] + j][region.index[0]], value, (size_t)region.size[0]);
}

static void program_map(program *self)
{
    if (self->mapped_count == MOST_MAPPED)
        return;
    program_texture *mapped = &self->mapped[self->mapped_count++];
    const cc_stream stream = self->streams[below(self, PROGRAM_STREAMS)];
    expected_probe *expected = &self->probes[self->probe_count++];
    float at[4][3];
    mapped->region = any_region(self);
    mapped->stream = stream;
    mapped->texture = map_in(self->image, &mapped->region, stream);
    for (int32_t n = 0; n < 4; ++n) {
        const int64_t i = below(self, mapped->region.size[0]), j = below(self, mapped->region.size[1]);
        at[n][0] = (float)i + 0.5f;
        at[n][1] = (float)j + 0.5f;
        at[n][2] = 0.5f;
        expected->values[n] = self->pixels[mapped->region.index[1] + j][mapped->region.index[0] + i];
    }
    expected->queued = probe_queue(&mapped->texture, 0, CC_TEXTURE_VOLUME, CC_PIXEL_UINT8, stream, at, 4);
}

/* Where it was read, or in a stream that comes after that. */
static void program_unmap(program *self, int32_t which)
{
    program_texture *mapped = &self->mapped[which];
    cc_stream stream = mapped->stream;
    if (below(self, 2) == 0) {
        stream = self->streams[below(self, PROGRAM_STREAMS)];
        fixture_ok(cc_stream_wait(0, stream, mapped->stream));
    }
    unmap_in(self->image, &mapped->texture, stream);
    *mapped = self->mapped[--self->mapped_count];
}

static void program_check_probes(program *self)
{
    for (int32_t i = self->probe_count - 1; i >= 0; --i) {
        float values[4][4];
        probe_read(&self->probes[i].queued, values);
        for (int32_t n = 0; n < 4; ++n)
            ck_assert_msg(values[n][0] == self->probes[i].values[n], "probe %d, point %d: %g, expected %g", i, n,
                          (double)values[n][0], (double)self->probes[i].values[n]);
    }
    self->probe_count = 0;
}

static void program_step(program *self)
{
    switch (below(self, 8)) {
    case 0:
    case 1:
    case 2:
        program_write(self);
        break;
    case 3:
    case 4:
        program_map(self);
        break;
    case 5:
    case 6:
        if (self->mapped_count > 0)
            program_unmap(self, (int32_t)below(self, self->mapped_count));
        break;
    default:
        if (self->mapped_count == 0 && below(self, 3) == 0)
            fixture_ok(cc_image_evict(self->image, 0));
        else if (below(self, 6) == 0)
            program_check_probes(self);
    }
}

START_TEST(random_programs)
{
    if (fixture_device_count() == 0)
        return;
    for (uint32_t seed = 1; seed <= PROGRAM_SEEDS; ++seed) {
        program *self = calloc(1, sizeof *self);
        self->random = seed * 2654435761u;
        self->image = bytes_image();
        for (int32_t i = 0; i < PROGRAM_STREAMS; ++i)
            self->streams[i] = fixture_stream_create(0);
        for (int32_t step = 0; step < PROGRAM_STEPS; ++step)
            program_step(self);
        while (self->mapped_count > 0)
            program_unmap(self, 0);
        cc_image_release(self->image);
        program_check_probes(self);
        ck_assert_uint_eq(cc__budget_held_bytes(0), 0);
        for (int32_t i = 0; i < PROGRAM_STREAMS; ++i)
            fixture_stream_destroy(0, self->streams[i]);
        free(self);
    }
}
END_TEST

#define THREADS 4
#define TURNS 12

typedef struct reader {
    pthread_t thread;
    cc_image *image;
    cc_stream stream;
    atomic_int *wrong;
} reader;

static void *read_often(void *argument)
{
    reader *self = argument;
    for (int32_t turn = 0; turn < TURNS; ++turn) {
        cc_texture texture = CC_TEXTURE_INIT;
        cc_texture_params params = CC_TEXTURE_PARAMS_INIT;
        float values[1][4], at[1][3] = {{3.5f, 2.5f, 0.5f}};
        params.address[0] = turn % 2;
        if (cc_image_map_texture(self->image, NULL, &params, self->stream, &texture) != CC_OK) {
            atomic_fetch_add(self->wrong, 1);
            continue;
        }
        const probe queued = probe_queue(&texture, 0, CC_TEXTURE_VOLUME, CC_PIXEL_UINT8, self->stream, at, 1);
        if (cc_image_unmap_texture(self->image, &texture, self->stream) != CC_OK)
            atomic_fetch_add(self->wrong, 1);
        if (turn % 5 == 4)
            (void)cc_image_evict(self->image, 0); /* refused while others have it */
        probe_read(&queued, values);
        atomic_fetch_add(self->wrong, values[0][0] != 9);
    }
    return NULL;
}

/* All want the same at once, while it is thrown away again and again. */
START_TEST(threads)
{
    atomic_int wrong = 0;
    reader readers[THREADS];
    if (fixture_device_count() == 0)
        return;
    cc_image *image = bytes_image();
    byte_pixels_write_host(image, NULL, 9);
    for (int32_t i = 0; i < THREADS; ++i) {
        readers[i].image = image;
        readers[i].stream = fixture_stream_create(0);
        readers[i].wrong = &wrong;
        ck_assert_int_eq(pthread_create(&readers[i].thread, NULL, read_often, &readers[i]), 0);
    }
    for (int32_t i = 0; i < THREADS; ++i) {
        ck_assert_int_eq(pthread_join(readers[i].thread, NULL), 0);
        fixture_stream_destroy(0, readers[i].stream);
    }
    ck_assert_int_eq(atomic_load(&wrong), 0);
    cc_image_release(image);
    ck_assert_uint_eq(cc__budget_held_bytes(0), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("texture_cache");
    TCase *cases = tcase_create("texture_cache");
    tcase_add_checked_fixture(cases, fixture_setup, fixture_teardown);
    tcase_add_test(cases, made_again_only_when_pixels_have_changed);
    tcase_add_test(cases, written_tile_by_tile);
    tcase_add_test(cases, a_mapping_for_reading);
    tcase_add_loop_test(cases, an_image_released_at_once, 0, 2);
    tcase_add_loop_test(cases, streams_wait_for_each_other, 0, 2);
    tcase_add_test(cases, pixels_on_loan);
    tcase_add_test(cases, counted_and_evicted_with_the_pixels);
    tcase_add_test(cases, textures_of_wrapped_memory);
    tcase_add_test(cases, given_up_when_others_need_room);
    tcase_add_test(cases, a_full_device_waits_for_what_goes);
    tcase_add_test(cases, captured_streams_are_refused);
    tcase_add_test(cases, each_device_has_its_own);
    tcase_add_loop_test(cases, each_fault, 0, 2);
    tcase_add_test(cases, arrays_for_which_there_is_no_memory);
    tcase_add_test(cases, no_memory_to_pass_through);
    tcase_add_test(cases, random_programs);
    tcase_add_test(cases, threads);
    suite_add_tcase(suite, cases);
    return fixture_run(suite);
}
