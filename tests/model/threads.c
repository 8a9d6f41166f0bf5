#include "threads.h"

#include "report.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

int32_t threads_stamp(int32_t row, int32_t version)
{
    return version == 0 ? 0 : version * ROW_COUNT + row;
}

void threads_fail(shared_rows *rows, const char *format, ...)
{
    va_list arguments;
    pthread_mutex_lock(&rows->lock);
    if (!atomic_load(&rows->has_failed)) {
        va_start(arguments, format);
        vsnprintf(rows->message, sizeof rows->message, format, arguments);
        va_end(arguments);
    }
    atomic_store(&rows->has_failed, true);
    pthread_mutex_unlock(&rows->lock);
}

static void check_rows(const shared_rows *rows, const int32_t *pixels, const char *where)
{
    for (int32_t row = 0; row < ROW_COUNT; row++)
        for (int32_t i = 0; i < ROW_PIXELS; i++)
            model_check(pixels[row * ROW_PIXELS + i] == threads_stamp(row, rows->finished[row]),
                        "in the end row %d is %d on %s, expected version %d of %d", (int)row,
                        (int)pixels[row * ROW_PIXELS + i], where, (int)rows->finished[row], ROW_COUNT);
}

/* Nobody else is there any more: the pixels are the last ones written, everywhere. */
static void check_end(shared_rows *rows)
{
    void *pixels = NULL;
    int32_t copy[ROW_COUNT * ROW_PIXELS];
    for (int32_t device = 0; device < fixture_device_count(); device++) {
        model_ok(cc_image_set_device(rows->image, device));
        model_ok(cc_image_map_device(rows->image, NULL, CC_ACCESS_READ, CC_STREAM_DEFAULT, &pixels));
        fixture_device_read(device, CC_STREAM_DEFAULT, copy, pixels, sizeof copy);
        model_ok(cc_image_unmap_device(rows->image, pixels, CC_STREAM_DEFAULT));
        model_ok(cc_stream_synchronize(device, CC_STREAM_DEFAULT));
        check_rows(rows, copy, "a device");
    }
    model_ok(cc_image_map_host(rows->image, NULL, CC_ACCESS_READ, &pixels));
    check_rows(rows, pixels, "the host");
    model_ok(cc_image_unmap_host(rows->image, pixels));
}

static void add_costs(cc_counters *sum, const cc_counters *costs)
{
    sum->host_to_device_copies += costs->host_to_device_copies;
    sum->host_to_device_bytes += costs->host_to_device_bytes;
    sum->device_to_host_copies += costs->device_to_host_copies;
    sum->device_to_host_bytes += costs->device_to_host_bytes;
    sum->device_to_device_copies += costs->device_to_device_copies;
    sum->device_to_device_bytes += costs->device_to_device_bytes;
    sum->device_allocations += costs->device_allocations;
}

void threads_run(shared_rows *rows, uint64_t seed, int32_t steps, cc_counters *out_private_costs)
{
    const cc_region whole = cc_image_get_region(rows->image);
    thread_state *states = calloc(THREAD_COUNT, sizeof *states);
    pthread_mutex_init(&rows->lock, NULL);
    for (int32_t i = 0; i < THREAD_COUNT; i++) {
        thread_state *state = &states[i];
        state->rows = rows;
        state->number = i;
        state->steps = steps;
        state->random.state = seed * 1000003u + (uint64_t)i;
        model_ok(cc_image_create_view(rows->image, &whole, &state->own));
    }
    for (int32_t i = 0; i < THREAD_COUNT; i++)
        model_check(pthread_create(&states[i].thread, NULL, threads_program, &states[i]) == 0, "no thread");
    for (int32_t i = 0; i < THREAD_COUNT; i++)
        (void)pthread_join(states[i].thread, NULL);
    model_check(!atomic_load(&rows->has_failed), "%s", rows->message);
    check_end(rows);
    for (int32_t i = 0; i < THREAD_COUNT; i++) {
        cc_image_release(states[i].own);
        add_costs(out_private_costs, &states[i].private_costs);
    }
    pthread_mutex_destroy(&rows->lock);
    free(states);
}
