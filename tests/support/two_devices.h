/* Two emulated devices with three streams, for tests of these themselves, and what such tests do again and again. */
#ifndef CC_TESTS_TWO_DEVICES_H
#define CC_TESTS_TWO_DEVICES_H

#include "backend/emulated.h"

#define BYTES INT64_C(64)

extern cc__backend *backend;
extern cc_stream a0, b0, c1; /* of device 0, 0 and 1 */

/* With memory: registered on the host; on each device, made ready in a0 and c1. */
extern unsigned char host_in[BYTES], host_out[BYTES];
extern unsigned char *memory0, *memory1;

/* What launched functions did, in order. */
extern char order[64];
extern int32_t order_length;

void two_devices_set_up(void);
void two_devices_set_up_with_memory(void);
void two_devices_tear_down(void);

/* All of these must succeed. */
unsigned char *allocate(int32_t device, cc_stream stream, size_t size_bytes);
void synchronize(int32_t device, cc_stream stream);
cc__event *record_new(int32_t device, cc_stream stream);
void wait_for(int32_t device, cc_stream stream, cc__event *event);
bool is_complete(int32_t device, cc__event *event);
/* BYTES of them. */
void copy(int32_t device, cc_stream stream, void *destination, const void *source);
/* Adds the name's first letter to `order`, as a function that is launched or at once. */
void note(void *name);
void launch(int32_t device, cc_stream stream, const char *name);

#endif
