#include "support/two_devices.h"

#include "support/dense_work.h"

#include <check.h>
#include <string.h>

cc__backend *backend;
cc_stream a0, b0, c1;
unsigned char host_in[BYTES], host_out[BYTES];
unsigned char *memory0, *memory1;
char order[64];
int32_t order_length;

void two_devices_set_up(void)
{
    backend = cc__backend_emulated_create(2);
    ck_assert_ptr_nonnull(backend);
    ck_assert_int_eq(backend->stream_create(backend, 0, &a0), CC_OK);
    ck_assert_int_eq(backend->stream_create(backend, 0, &b0), CC_OK);
    ck_assert_int_eq(backend->stream_create(backend, 1, &c1), CC_OK);
}

void two_devices_set_up_with_memory(void)
{
    two_devices_set_up();
    ck_assert_int_eq(backend->host_register(backend, host_in, BYTES), CC_OK);
    ck_assert_int_eq(backend->host_register(backend, host_out, BYTES), CC_OK);
    memory0 = allocate(0, a0, BYTES);
    memory1 = allocate(1, c1, BYTES);
    synchronize(0, a0);
    synchronize(1, c1);
    memset(host_in, 1, BYTES);
    memset(host_out, 2, BYTES);
    memset(order, 0, sizeof order);
    order_length = 0;
}

void two_devices_tear_down(void)
{
    cc__backend_emulated_destroy(backend);
}

unsigned char *allocate(int32_t device, cc_stream stream, size_t size_bytes)
{
    void *memory = NULL;
    ck_assert_int_eq(backend->allocate(backend, device, stream, size_bytes, &memory), CC_OK);
    ck_assert_uint_eq((uintptr_t)memory % 256, 0);
    return memory;
}

void synchronize(int32_t device, cc_stream stream)
{
    ck_assert_int_eq(backend->stream_synchronize(backend, device, stream), CC_OK);
}

cc__event *record_new(int32_t device, cc_stream stream)
{
    cc__event *event = NULL;
    ck_assert_int_eq(backend->event_create(backend, device, &event), CC_OK);
    ck_assert_int_eq(backend->event_record(backend, device, event, stream), CC_OK);
    return event;
}

void wait_for(int32_t device, cc_stream stream, cc__event *event)
{
    ck_assert_int_eq(backend->stream_wait(backend, device, stream, event), CC_OK);
}

bool is_complete(int32_t device, cc__event *event)
{
    bool complete = false;
    ck_assert_int_eq(backend->event_is_complete(backend, device, event, &complete), CC_OK);
    return complete;
}

void copy(int32_t device, cc_stream stream, void *destination, const void *source)
{
    ck_assert_int_eq(copy_bytes(backend, device, stream, destination, source, BYTES), CC_OK);
}

void note(void *name)
{
    order[order_length++] = *(const char *)name;
}

void launch(int32_t device, cc_stream stream, const char *name)
{
    ck_assert_int_eq(cc__emulated_launch(backend, device, stream, note, (void *)name), CC_OK);
}
