#include "thread_steps.h"

#include <stdlib.h>
#include <time.h>

#define ARENA_ROWS 512
#define PAGE_BYTES 4096
#define ROW_BYTES ((int64_t)(ROW_PIXELS * sizeof(int32_t)))

part thread_pick_part(thread_state *state, int32_t first_row, int32_t row_count, bool whole_rows)
{
    random_source *random = &state->random;
    part picked = {.region = {{0, 0, 0, 0}, {ROW_PIXELS, 1, 1, 1}}};
    picked.row_count = 1 + (int32_t)random_below(random, row_count);
    picked.first_row = first_row + (int32_t)random_below(random, row_count - picked.row_count + 1);
    if (!whole_rows) {
        picked.region.size[0] = 1 + random_below(random, ROW_PIXELS);
        picked.region.index[0] = random_below(random, ROW_PIXELS - picked.region.size[0] + 1);
    }
    picked.pixels = (int32_t)picked.region.size[0];
    picked.region.index[1] = picked.first_row;
    picked.region.size[1] = picked.row_count;
    return picked;
}

part thread_pick_own_rows(thread_state *state)
{
    return thread_pick_part(state, state->number * ROWS_OF_A_THREAD, ROWS_OF_A_THREAD, true);
}

bool thread_is_fine(thread_state *state, const char *call, cc_status status)
{
    if (status != CC_OK && status != CC_ERROR_BUSY)
        threads_fail(state->rows, "thread %d: %s: %s (%s)", (int)state->number, call, cc_status_name(status),
                     cc_last_error_message());
    return status == CC_OK;
}

/* The handle that all threads have, or the thread's own. */
static cc_image *pick_handle(thread_state *state)
{
    return random_chance(&state->random, 50) ? state->rows->image : state->own;
}

static cc_stream pick_stream(thread_state *state, int32_t device)
{
    const int64_t choice = random_below(&state->random, 4);
    return choice == 0 ? CC_STREAM_DEFAULT : choice == 1 ? CC_STREAM_PER_THREAD : state->streams[device];
}

static bool synchronize(thread_state *state, int32_t device, cc_stream stream)
{
    return fine(state, cc_stream_synchronize(device, stream));
}

/* Rows lie one after another, in the image's memory too. */
static int32_t *row_at(void *rows, int32_t row)
{
    return (int32_t *)rows + (ptrdiff_t)row * ROW_PIXELS;
}

/* Page-locked rows that no work uses. */
int32_t *thread_reserve(thread_state *state, int32_t row_count)
{
    if (state->used + row_count > ARENA_ROWS) {
        for (int32_t device = 0; device < fixture_device_count(); device++) {
            (void)synchronize(state, device, CC_STREAM_DEFAULT);
            (void)synchronize(state, device, CC_STREAM_PER_THREAD);
            (void)synchronize(state, device, state->streams[device]);
        }
        state->used = 0;
    }
    int32_t *rows = row_at(state->arena, state->used);
    state->used += row_count;
    return rows;
}

/* A copy as a kernel would be. The memory of the image is dense, wherever it is. */
void thread_queue_row(thread_state *state, int32_t device, cc_stream stream, void *to, void *from, int64_t bytes)
{
    cc__copy copy = {.size = {bytes, 1, 1, 1}, .pixel_bytes = 1};
    copy.destination.data = to;
    copy.source.data = from;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++)
        copy.destination.stride[axis] = copy.source.stride[axis] = axis == 0 ? 1 : bytes;
    (void)fine(state, fixture_inner->copy(fixture_inner, device, stream, &copy));
}

void thread_check_row(thread_state *state, const char *where, int32_t row, const int32_t *pixels, int32_t count,
                      int32_t earliest)
{
    const int32_t latest = atomic_load(&state->rows->begun[row]);
    const int32_t version = pixels[0] == 0 ? 0 : (pixels[0] - row) / ROW_COUNT;
    for (int32_t i = 0; i < count; i++)
        if (pixels[i] != threads_stamp(row, version)) {
            threads_fail(state->rows, "thread %d on %s: row %d is torn: %d beside %d", (int)state->number, where,
                         (int)row, (int)pixels[0], (int)pixels[i]);
            return;
        }
    if (version < earliest || version > latest)
        threads_fail(state->rows, "thread %d on %s: row %d has version %d, expected %d to %d", (int)state->number,
                     where, (int)row, (int)version, (int)earliest, (int)latest);
}

static void remember_finished(const thread_state *state, const part *read, int32_t out_earliest[ROW_COUNT])
{
    for (int32_t i = 0; i < read->row_count; i++)
        out_earliest[i] = atomic_load(&state->rows->finished[read->first_row + i]);
}

void thread_begin_writing(thread_state *state, const part *written)
{
    for (int32_t i = 0; i < written->row_count; i++) {
        const int32_t row = written->first_row + i;
        atomic_store(&state->rows->begun[row], atomic_load(&state->rows->finished[row]) + 1);
    }
}

void thread_finish_writing(thread_state *state, const part *written)
{
    for (int32_t i = 0; i < written->row_count; i++) {
        const int32_t row = written->first_row + i;
        atomic_store(&state->rows->finished[row], atomic_load(&state->rows->begun[row]));
    }
}

void thread_stamp_rows(const thread_state *state, const part *written, int32_t *out_pixels)
{
    for (int32_t i = 0; i < written->row_count * ROW_PIXELS; i++) {
        const int32_t row = written->first_row + i / ROW_PIXELS;
        out_pixels[i] = threads_stamp(row, atomic_load(&state->rows->begun[row]));
    }
}

/* Lets the others meet this thread's mapping. */
static void linger(thread_state *state)
{
    if (random_chance(&state->random, 20))
        (void)nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
}

static void read_on_host(thread_state *state)
{
    const part read = thread_pick_part(state, 0, ROW_COUNT, false);
    cc_image *image = pick_handle(state);
    int32_t earliest[ROW_COUNT];
    void *pixels = NULL;
    remember_finished(state, &read, earliest);
    if (!fine(state, cc_image_map_host(image, &read.region, CC_ACCESS_READ, &pixels)))
        return;
    for (int32_t pass = 0; pass < 2; pass++) {
        for (int32_t i = 0; i < read.row_count; i++)
            thread_check_row(state, "the host", read.first_row + i, row_at(pixels, i), read.pixels, earliest[i]);
        linger(state);
    }
    (void)fine(state, cc_image_unmap_host(image, pixels));
}

static void write_on_host(thread_state *state)
{
    const part written = thread_pick_own_rows(state);
    cc_image *image = pick_handle(state);
    void *pixels = NULL;
    const cc_access access = random_chance(&state->random, 50) ? CC_ACCESS_WRITE : CC_ACCESS_READ_WRITE;
    thread_begin_writing(state, &written);
    if (!fine(state, cc_image_map_host(image, &written.region, access, &pixels)))
        return;
    for (int32_t i = 0; i < written.row_count && access == CC_ACCESS_READ_WRITE; i++) {
        const int32_t row = written.first_row + i;
        thread_check_row(state, "the host", row, row_at(pixels, i), ROW_PIXELS,
                         atomic_load(&state->rows->finished[row]));
    }
    linger(state);
    thread_stamp_rows(state, &written, pixels);
    if (fine(state, cc_image_unmap_host(image, pixels)))
        thread_finish_writing(state, &written);
}

static void read_on_device(thread_state *state)
{
    const part read = thread_pick_part(state, 0, ROW_COUNT, false);
    cc_image *image = pick_handle(state);
    const int32_t device = cc_image_get_device(image);
    const cc_stream stream = pick_stream(state, device);
    int32_t earliest[ROW_COUNT];
    void *pixels = NULL;
    int32_t *found = thread_reserve(state, read.row_count);
    remember_finished(state, &read, earliest);
    if (!fine(state, cc_image_map_device(image, &read.region, CC_ACCESS_READ, stream, &pixels)))
        return;
    for (int32_t i = 0; i < read.row_count; i++)
        thread_queue_row(state, device, stream, row_at(found, i), row_at(pixels, i),
                         read.pixels * (int64_t)sizeof(int32_t));
    linger(state);
    (void)fine(state, cc_image_unmap_device(image, pixels, stream));
    if (!synchronize(state, device, stream))
        return;
    for (int32_t i = 0; i < read.row_count; i++)
        thread_check_row(state, "a device", read.first_row + i, row_at(found, i), read.pixels, earliest[i]);
}

static void write_on_device(thread_state *state)
{
    const part written = thread_pick_own_rows(state);
    cc_image *image = pick_handle(state);
    const int32_t device = cc_image_get_device(image);
    const cc_stream stream = pick_stream(state, device);
    void *pixels = NULL;
    int32_t *stamps = thread_reserve(state, written.row_count);
    thread_begin_writing(state, &written);
    if (!fine(state, cc_image_map_device(image, &written.region, CC_ACCESS_WRITE, stream, &pixels)))
        return;
    thread_stamp_rows(state, &written, stamps);
    for (int32_t i = 0; i < written.row_count; i++)
        thread_queue_row(state, device, stream, row_at(pixels, i), row_at(stamps, i), ROW_BYTES);
    linger(state);
    if (fine(state, cc_image_unmap_device(image, pixels, stream)))
        thread_finish_writing(state, &written);
}

cc_stream thread_pick_stream(thread_state *state, const cc_image *image)
{
    return fixture_device_count() > 0 ? pick_stream(state, cc_image_get_device(image)) : NULL;
}

static void fill_row(thread_state *state)
{
    part written = thread_pick_own_rows(state);
    cc_image *image = pick_handle(state);
    written.row_count = 1;
    written.region.size[1] = 1;
    thread_begin_writing(state, &written);
    const int32_t stamp = threads_stamp(written.first_row, atomic_load(&state->rows->begun[written.first_row]));
    if (fine(state, cc_image_fill(image, &written.region, &stamp, thread_pick_stream(state, image))))
        thread_finish_writing(state, &written);
}

void thread_add_costs(thread_state *state, cc_image *image)
{
    cc_counters costs = CC_COUNTERS_INIT;
    cc_counters *sum = &state->private_costs;
    (void)fine(state, cc_image_get_counters(image, &costs));
    sum->host_to_device_copies += costs.host_to_device_copies;
    sum->host_to_device_bytes += costs.host_to_device_bytes;
    sum->device_to_host_copies += costs.device_to_host_copies;
    sum->device_to_host_bytes += costs.device_to_host_bytes;
    sum->device_allocations += costs.device_allocations;
}

/* Through an image that nobody else has. */
static void rescale_rows(thread_state *state)
{
    const part written = thread_pick_own_rows(state);
    cc_image_params params = CC_IMAGE_PARAMS_INIT;
    cc_image *input = NULL;
    cc_image *output = NULL;
    void *pixels = NULL;
    params.dimension = 2;
    params.pixel_type = CC_PIXEL_FLOAT64;
    params.region = written.region;
    params.device = cc_image_get_device(state->own);
    thread_begin_writing(state, &written);
    if (!fine(state, cc_image_create(&params, &input)))
        return;
    if (fine(state, cc_image_map_host(input, NULL, CC_ACCESS_WRITE, &pixels))) {
        int32_t stamps[ROWS_OF_A_THREAD * ROW_PIXELS];
        thread_stamp_rows(state, &written, stamps);
        for (int32_t i = 0; i < written.row_count * ROW_PIXELS; i++)
            ((double *)pixels)[i] = stamps[i] - 5;
        (void)fine(state, cc_image_unmap_host(input, pixels));
    }
    if (fine(state, cc_image_create_view(state->own, &written.region, &output)) &&
        fine(state, cc_image_rescale(input, 1, 5, output, thread_pick_stream(state, output))))
        thread_finish_writing(state, &written);
    thread_add_costs(state, input);
    cc_image_release(output);
    cc_image_release(input);
}

static cc_place pick_place(thread_state *state)
{
    return (cc_place)random_below(&state->random, fixture_device_count() + 1) - 1;
}

static void prefetch(thread_state *state)
{
    const part read = thread_pick_part(state, 0, ROW_COUNT, false);
    (void)fine(state, cc_image_prefetch(pick_handle(state), &read.region, pick_place(state)));
}

static void evict(thread_state *state)
{
    const cc_place place = pick_place(state);
    if (place != CC_PLACE_HOST || fixture_device_count() > 0)
        (void)fine(state, cc_image_evict(pick_handle(state), place));
}

static void look(thread_state *state)
{
    cc_image *image = pick_handle(state);
    cc_place_state place_state = CC_PLACE_STATE_INIT;
    cc_region regions[ROW_COUNT];
    int32_t count = 0;
    (void)fine(state, cc_image_get_place_state(image, pick_place(state), &place_state));
    (void)fine(state, cc_image_get_valid_regions(image, pick_place(state), ROW_COUNT, regions, &count));
    const uint64_t generation = cc_image_get_generation(image);
    if (generation < state->generation)
        threads_fail(state->rows, "thread %d: the generation went back", (int)state->number);
    state->generation = generation;
}

/* Only the thread's own handle: the others are being used. */
static void change_handle(thread_state *state)
{
    cc_image *view = NULL;
    if (fixture_device_count() > 0)
        (void)fine(state,
                   cc_image_set_device(state->own, (int32_t)random_below(&state->random, fixture_device_count())));
    if (random_chance(&state->random, 70))
        return;
    const int32_t device = cc_image_get_device(state->own);
    const cc_region whole = cc_image_get_region(state->rows->image);
    if (fine(state, cc_image_create_view(state->rows->image, &whole, &view)) &&
        fine(state, cc_image_graft(state->own, view)) && fixture_device_count() > 0)
        (void)fine(state, cc_image_set_device(state->own, device));
    cc_image_release(view);
}

void *threads_program(void *argument)
{
    thread_state *state = argument;
    void *arena = NULL;
    const int32_t device_count = fixture_device_count();
    const size_t arena_bytes = (ARENA_ROWS * (size_t)ROW_BYTES + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    if (posix_memalign(&arena, PAGE_BYTES, arena_bytes) != 0) {
        threads_fail(state->rows, "no memory for the test");
        return NULL;
    }
    state->arena = arena;
    if (device_count > 0)
        (void)fine(state, fixture_inner->host_register(fixture_inner, arena, arena_bytes));
    for (int32_t device = 0; device < device_count; device++)
        (void)fine(state, fixture_inner->stream_create(fixture_inner, device, &state->streams[device]));

    for (int32_t i = 0; i < state->steps && !atomic_load(&state->rows->has_failed); i++) {
        const int64_t choice = random_below(&state->random, 120);
        const bool on_device = device_count > 0 && random_chance(&state->random, 60);
        if (choice < 32)
            on_device ? read_on_device(state) : read_on_host(state);
        else if (choice < 60)
            on_device ? write_on_device(state) : write_on_host(state);
        else if (choice < 68)
            fill_row(state);
        else if (choice < 76)
            rescale_rows(state);
        else if (choice < 86)
            prefetch(state);
        else if (choice < 92)
            evict(state);
        else if (choice < 96)
            look(state);
        else if (choice < 100)
            change_handle(state);
        else if (choice < 105)
            thread_reduce_row(state);
        else if (choice < 110)
            thread_add_to_rows(state);
        else if (choice < 115)
            thread_filter_rows(state);
        else
            thread_read_texture(state);
    }

    state->used = ARENA_ROWS;
    (void)thread_reserve(state, 1);
    for (int32_t device = 0; device < device_count; device++)
        fixture_inner->stream_destroy(fixture_inner, device, state->streams[device]);
    if (device_count > 0)
        (void)fine(state, fixture_inner->host_unregister(fixture_inner, arena));
    free(arena);
    return NULL;
}
