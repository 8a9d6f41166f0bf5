#include "support/faulty_backend.h"

#include "base/error.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define MAX_RULES 8
#define LOG_LENGTH 256

typedef struct log_entry {
    faulty_operation operation;
    int32_t device;
    const void *what; /* the stream; for memory and events, those */
    int64_t bytes;
    cc_status status;
    bool injected;
} log_entry;

typedef struct faulty {
    cc__backend table;
    cc__backend *inner;
    pthread_mutex_t lock;
    faulty_rule rules[MAX_RULES]; /* nth counts down */
    int32_t rule_count;
    faulty_hook hook;
    bool refuses_peer_access;
    faulty_counts counts;
    log_entry log[LOG_LENGTH];
    int64_t logged;
} faulty;

/* One call, from the moment it comes in. */
typedef struct call {
    faulty *self;
    cc__backend *inner;
    log_entry entry;
} call;

const char *faulty_operation_name(faulty_operation operation)
{
    static const char *const names[FAULTY_OPERATION_COUNT] = {
        "current_device",      "allocate",        "free",          "host_register",  "host_unregister",
        "memory_device",       "has_peer_access", "stream_create", "stream_destroy", "stream_synchronize",
        "stream_is_capturing", "event_create",    "event_destroy", "event_record",   "event_is_complete",
        "event_synchronize",   "stream_wait",     "copy",          "fill",           "rescale"};
    return operation < FAULTY_OPERATION_COUNT ? names[operation] : "any";
}

static bool rule_means(const faulty_rule *rule, faulty_operation operation)
{
    if (rule->operation == operation || rule->operation == FAULTY_ANY_OR_FREE)
        return true;
    return rule->operation == FAULTY_ANY && operation != FAULTY_FREE && operation != FAULTY_HOST_UNREGISTER;
}

/* The rule that fires for this operation, or NULL. All that mean it count it. */
static const faulty_rule *apply_rules(faulty *self, faulty_operation operation)
{
    const faulty_rule *fired = NULL;
    for (int32_t i = 0; i < self->rule_count; i++) {
        faulty_rule *rule = &self->rules[i];
        if (!rule_means(rule, operation))
            continue;
        if (rule->nth > 0)
            rule->nth--;
        else if (!rule->for_ever)
            continue;
        if (rule->nth == 0 && !fired)
            fired = rule;
    }
    return fired;
}

static call begin(cc__backend *backend, faulty_operation operation, int32_t device, const void *what, int64_t bytes)
{
    call now = {.self = backend->state, .entry = {operation, device, what, bytes, CC_OK, false}};
    now.inner = now.self->inner;
    pthread_mutex_lock(&now.self->lock);
    now.self->counts.calls[operation]++;
    now.self->counts.total_calls++;
    pthread_mutex_unlock(&now.self->lock);
    return now;
}

/* For what can fail. False: it has, and the call ends with entry.status. */
static bool passes(call *now)
{
    faulty *self = now->self;
    faulty_rule rule = {now->entry.operation, 1, false, CC_ERROR_DEVICE, FAULTY_NATIVE_ERROR};
    pthread_mutex_lock(&self->lock);
    const faulty_hook hook = self->hook;
    const faulty_rule *fired = apply_rules(self, now->entry.operation);
    if (fired)
        rule = *fired;
    pthread_mutex_unlock(&self->lock);
    if (!fired && (hook == NULL || !hook(now->entry.operation)))
        return true;
    pthread_mutex_lock(&self->lock);
    self->counts.failures++;
    pthread_mutex_unlock(&self->lock);
    if (rule.status == CC_ERROR_OUT_OF_DEVICE_MEMORY && now->entry.operation != FAULTY_ALLOCATE)
        rule.status = CC_ERROR_DEVICE;
    now->entry.injected = true;
    now->entry.status = cc__fail_native(rule.status, rule.native_error, "%s: made to fail by the test",
                                        faulty_operation_name(now->entry.operation));
    return false;
}

static cc_status end(call *now, cc_status status)
{
    faulty *self = now->self;
    now->entry.status = status;
    pthread_mutex_lock(&self->lock);
    self->log[self->logged++ % LOG_LENGTH] = now->entry;
    pthread_mutex_unlock(&self->lock);
    return status;
}

static cc_status faulty_current_device(cc__backend *self, int32_t *out_device)
{
    call now = begin(self, FAULTY_CURRENT_DEVICE, CC_PLACE_HOST, NULL, 0);
    return end(&now, passes(&now) ? now.inner->current_device(now.inner, out_device) : now.entry.status);
}

static cc_status faulty_allocate(cc__backend *self, int32_t device, cc_stream stream, size_t size_bytes,
                                 void **out_memory)
{
    call now = begin(self, FAULTY_ALLOCATE, device, stream, (int64_t)size_bytes);
    return end(&now, passes(&now) ? now.inner->allocate(now.inner, device, stream, size_bytes, out_memory)
                                  : now.entry.status);
}

static cc_status faulty_free(cc__backend *self, int32_t device, cc_stream stream, void *memory)
{
    call now = begin(self, FAULTY_FREE, device, memory, 0);
    return end(&now, passes(&now) ? now.inner->free(now.inner, device, stream, memory) : now.entry.status);
}

static cc_status faulty_host_register(cc__backend *self, void *memory, size_t size_bytes)
{
    call now = begin(self, FAULTY_HOST_REGISTER, CC_PLACE_HOST, memory, (int64_t)size_bytes);
    return end(&now, passes(&now) ? now.inner->host_register(now.inner, memory, size_bytes) : now.entry.status);
}

static cc_status faulty_host_unregister(cc__backend *self, void *memory)
{
    call now = begin(self, FAULTY_HOST_UNREGISTER, CC_PLACE_HOST, memory, 0);
    return end(&now, passes(&now) ? now.inner->host_unregister(now.inner, memory) : now.entry.status);
}

static cc_status faulty_memory_device(cc__backend *self, const void *memory, int32_t *out_device)
{
    call now = begin(self, FAULTY_MEMORY_DEVICE, CC_PLACE_HOST, memory, 0);
    return end(&now, passes(&now) ? now.inner->memory_device(now.inner, memory, out_device) : now.entry.status);
}

static bool faulty_has_peer_access(cc__backend *self, int32_t to, int32_t from)
{
    call now = begin(self, FAULTY_HAS_PEER_ACCESS, to, NULL, 0);
    pthread_mutex_lock(&now.self->lock);
    const bool refuses = now.self->refuses_peer_access;
    pthread_mutex_unlock(&now.self->lock);
    end(&now, CC_OK);
    return !refuses && now.inner->has_peer_access(now.inner, to, from);
}

static cc_status faulty_stream_create(cc__backend *self, int32_t device, cc_stream *out_stream)
{
    call now = begin(self, FAULTY_STREAM_CREATE, device, NULL, 0);
    return end(&now, passes(&now) ? now.inner->stream_create(now.inner, device, out_stream) : now.entry.status);
}

static void faulty_stream_destroy(cc__backend *self, int32_t device, cc_stream stream)
{
    call now = begin(self, FAULTY_STREAM_DESTROY, device, stream, 0);
    now.inner->stream_destroy(now.inner, device, stream);
    end(&now, CC_OK);
}

static cc_status faulty_stream_synchronize(cc__backend *self, int32_t device, cc_stream stream)
{
    call now = begin(self, FAULTY_STREAM_SYNCHRONIZE, device, stream, 0);
    return end(&now, passes(&now) ? now.inner->stream_synchronize(now.inner, device, stream) : now.entry.status);
}

static cc_status faulty_stream_is_capturing(cc__backend *self, int32_t device, cc_stream stream, bool *out_capturing)
{
    call now = begin(self, FAULTY_STREAM_IS_CAPTURING, device, stream, 0);
    return end(&now, passes(&now) ? now.inner->stream_is_capturing(now.inner, device, stream, out_capturing)
                                  : now.entry.status);
}

static cc_status faulty_event_create(cc__backend *self, int32_t device, cc__event **out_event)
{
    call now = begin(self, FAULTY_EVENT_CREATE, device, NULL, 0);
    return end(&now, passes(&now) ? now.inner->event_create(now.inner, device, out_event) : now.entry.status);
}

static void faulty_event_destroy(cc__backend *self, int32_t device, cc__event *event)
{
    call now = begin(self, FAULTY_EVENT_DESTROY, device, event, 0);
    now.inner->event_destroy(now.inner, device, event);
    end(&now, CC_OK);
}

static cc_status faulty_event_record(cc__backend *self, int32_t device, cc__event *event, cc_stream stream)
{
    call now = begin(self, FAULTY_EVENT_RECORD, device, stream, 0);
    return end(&now, passes(&now) ? now.inner->event_record(now.inner, device, event, stream) : now.entry.status);
}

static cc_status faulty_event_is_complete(cc__backend *self, int32_t device, cc__event *event, bool *out_complete)
{
    call now = begin(self, FAULTY_EVENT_IS_COMPLETE, device, event, 0);
    return end(&now,
               passes(&now) ? now.inner->event_is_complete(now.inner, device, event, out_complete) : now.entry.status);
}

static cc_status faulty_event_synchronize(cc__backend *self, int32_t device, cc__event *event)
{
    call now = begin(self, FAULTY_EVENT_SYNCHRONIZE, device, event, 0);
    return end(&now, passes(&now) ? now.inner->event_synchronize(now.inner, device, event) : now.entry.status);
}

static cc_status faulty_stream_wait(cc__backend *self, int32_t device, cc_stream stream, cc__event *event)
{
    call now = begin(self, FAULTY_STREAM_WAIT, device, stream, 0);
    return end(&now, passes(&now) ? now.inner->stream_wait(now.inner, device, stream, event) : now.entry.status);
}

/* The question fails for host memory, which must not show in the thread's last message. */
static bool is_device_memory(cc__backend *inner, const void *memory)
{
    int32_t device = 0;
    char message[512];
    const int32_t native_error = cc_last_native_error();
    snprintf(message, sizeof message, "%s", cc_last_error_message());
    if (inner->memory_device(inner, memory, &device) == CC_OK)
        return true;
    cc__fail_native(CC_ERROR_POINTER, native_error, "%s", message);
    return false;
}

static int64_t box_bytes(const int64_t size[CC_MAX_DIMENSION], int64_t pixel_bytes)
{
    return size[0] * size[1] * size[2] * size[3] * pixel_bytes;
}

static void count_copy(faulty *self, bool to_device, bool from_device, int64_t bytes)
{
    faulty_counts *counts = &self->counts;
    pthread_mutex_lock(&self->lock);
    if (to_device && from_device) {
        counts->device_to_device_copies++;
        counts->device_to_device_bytes += bytes;
    } else if (to_device) {
        counts->host_to_device_copies++;
        counts->host_to_device_bytes += bytes;
    } else if (from_device) {
        counts->device_to_host_copies++;
        counts->device_to_host_bytes += bytes;
    }
    pthread_mutex_unlock(&self->lock);
}

static cc_status faulty_copy(cc__backend *self, int32_t device, cc_stream stream, const cc__copy *work)
{
    call now = begin(self, FAULTY_COPY, device, stream, box_bytes(work->size, work->pixel_bytes));
    if (!passes(&now))
        return end(&now, now.entry.status);
    const bool to_device = is_device_memory(now.inner, work->destination.data);
    const bool from_device = is_device_memory(now.inner, work->source.data);
    cc_status status = now.inner->copy(now.inner, device, stream, work);
    if (status == CC_OK)
        count_copy(now.self, to_device, from_device, now.entry.bytes);
    return end(&now, status);
}

static cc_status faulty_fill(cc__backend *self, int32_t device, cc_stream stream, const cc__fill *work)
{
    call now = begin(self, FAULTY_FILL, device, stream, box_bytes(work->size, work->pixel_bytes));
    return end(&now, passes(&now) ? now.inner->fill(now.inner, device, stream, work) : now.entry.status);
}

static cc_status faulty_rescale(cc__backend *self, int32_t device, cc_stream stream, const cc__rescale *work)
{
    const int64_t pixel_bytes = work->components * (int64_t)cc_pixel_type_size_bytes(work->destination_type);
    call now = begin(self, FAULTY_RESCALE, device, stream, box_bytes(work->size, pixel_bytes));
    return end(&now, passes(&now) ? now.inner->rescale(now.inner, device, stream, work) : now.entry.status);
}

cc__backend *faulty_backend_create(cc__backend *inner)
{
    faulty *self = calloc(1, sizeof *self);
    if (!self)
        return NULL;
    self->inner = inner;
    self->table = (cc__backend){.name = inner->name,
                                .state = self,
                                .device_count = inner->device_count,
                                .current_device = faulty_current_device,
                                .allocate = faulty_allocate,
                                .free = faulty_free,
                                .host_register = faulty_host_register,
                                .host_unregister = faulty_host_unregister,
                                .memory_device = faulty_memory_device,
                                .has_peer_access = faulty_has_peer_access,
                                .stream_create = faulty_stream_create,
                                .stream_destroy = faulty_stream_destroy,
                                .stream_synchronize = faulty_stream_synchronize,
                                .stream_is_capturing = faulty_stream_is_capturing,
                                .event_create = faulty_event_create,
                                .event_destroy = faulty_event_destroy,
                                .event_record = faulty_event_record,
                                .event_is_complete = faulty_event_is_complete,
                                .event_synchronize = faulty_event_synchronize,
                                .stream_wait = faulty_stream_wait,
                                .copy = faulty_copy,
                                .fill = faulty_fill,
                                .rescale = faulty_rescale};
    pthread_mutex_init(&self->lock, NULL);
    return &self->table;
}

void faulty_backend_destroy(cc__backend *backend)
{
    if (!backend)
        return;
    faulty *self = backend->state;
    pthread_mutex_destroy(&self->lock);
    free(self);
}

void faulty_backend_add_rule(cc__backend *backend, const faulty_rule *rule)
{
    faulty *self = backend->state;
    pthread_mutex_lock(&self->lock);
    if (self->rule_count < MAX_RULES)
        self->rules[self->rule_count++] = *rule;
    pthread_mutex_unlock(&self->lock);
}

void faulty_backend_clear_rules(cc__backend *backend)
{
    faulty *self = backend->state;
    pthread_mutex_lock(&self->lock);
    self->rule_count = 0;
    pthread_mutex_unlock(&self->lock);
}

void faulty_backend_fail_nth(cc__backend *backend, int64_t nth, bool for_ever)
{
    const faulty_rule rule = {FAULTY_ANY, nth, for_ever, CC_ERROR_DEVICE, FAULTY_NATIVE_ERROR};
    faulty_backend_clear_rules(backend);
    faulty_backend_add_rule(backend, &rule);
}

void faulty_backend_set_hook(cc__backend *backend, faulty_hook hook)
{
    faulty *self = backend->state;
    pthread_mutex_lock(&self->lock);
    self->hook = hook;
    pthread_mutex_unlock(&self->lock);
}

void faulty_backend_refuse_peer_access(cc__backend *backend, bool refuse)
{
    faulty *self = backend->state;
    pthread_mutex_lock(&self->lock);
    self->refuses_peer_access = refuse;
    pthread_mutex_unlock(&self->lock);
}

faulty_counts faulty_backend_counts(cc__backend *backend)
{
    faulty *self = backend->state;
    pthread_mutex_lock(&self->lock);
    const faulty_counts counts = self->counts;
    pthread_mutex_unlock(&self->lock);
    return counts;
}

void faulty_backend_reset_counts(cc__backend *backend)
{
    faulty *self = backend->state;
    pthread_mutex_lock(&self->lock);
    self->counts = (faulty_counts){0};
    pthread_mutex_unlock(&self->lock);
}

void faulty_backend_print_log(cc__backend *backend, FILE *file)
{
    faulty *self = backend->state;
    pthread_mutex_lock(&self->lock);
    const int64_t first = self->logged > LOG_LENGTH ? self->logged - LOG_LENGTH : 0;
    for (int64_t i = first; i < self->logged; i++) {
        const log_entry *entry = &self->log[i % LOG_LENGTH];
        fprintf(file, "%" PRId64 " %s device %d, %p, %" PRId64 " bytes: %s%s\n", i,
                faulty_operation_name(entry->operation), (int)entry->device, entry->what, entry->bytes,
                cc_status_name(entry->status), entry->injected ? " (injected)" : "");
    }
    pthread_mutex_unlock(&self->lock);
}
