#include "support/faulty_state.h"

#include "base/error.h"

#include <inttypes.h>

const char *faulty_operation_name(faulty_operation operation)
{
    static const char *const names[FAULTY_OPERATION_COUNT] = {
        "current_device",      "allocate",        "free",          "host_register",  "host_unregister",
        "memory_device",       "has_peer_access", "stream_create", "stream_destroy", "stream_synchronize",
        "stream_is_capturing", "event_create",    "event_destroy", "event_record",   "event_is_complete",
        "event_synchronize",   "stream_wait",     "copy",          "fill",           "run_kernel",
        "copy_boxes",          "stream_id",       "memory_info",   "trim",           "range_push",
        "range_pop",           "synchronize",     "call",          "texture_create", "texture_update",
        "texture_objects",     "texture_destroy", "stream_is_idle"};
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

faulty_call faulty_begin(cc__backend *backend, faulty_operation operation, int32_t device, const void *what,
                         int64_t bytes)
{
    faulty_call now = {.self = backend->state, .entry = {operation, device, what, bytes, CC_OK, false}};
    now.inner = now.self->inner;
    pthread_mutex_lock(&now.self->lock);
    now.self->counts.calls[operation]++;
    now.self->counts.total_calls++;
    pthread_mutex_unlock(&now.self->lock);
    return now;
}

bool faulty_passes(faulty_call *now)
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
    if (rule.status == CC_ERROR_OUT_OF_DEVICE_MEMORY && now->entry.operation != FAULTY_ALLOCATE &&
        now->entry.operation != FAULTY_TEXTURE_CREATE && now->entry.operation != FAULTY_TEXTURE_UPDATE)
        rule.status = CC_ERROR_DEVICE;
    now->entry.injected = true;
    now->entry.status = cc__fail_native(rule.status, rule.native_error, "%s: made to fail by the test",
                                        faulty_operation_name(now->entry.operation));
    return false;
}

cc_status faulty_end(faulty_call *now, cc_status status)
{
    faulty *self = now->self;
    now->entry.status = status;
    pthread_mutex_lock(&self->lock);
    self->log[self->logged++ % FAULTY_LOG_LENGTH] = now->entry;
    pthread_mutex_unlock(&self->lock);
    return status;
}

/* The question fails for host memory, which must not show in the thread's last message. */
static bool is_device_memory(cc__backend *inner, const void *memory)
{
    int32_t device = 0;
    cc__error_state before;
    cc__error_save(&before);
    const bool is_device = inner->memory_device(inner, memory, &device) == CC_OK;
    cc__error_restore(&before);
    return is_device;
}

void faulty_count_copy(faulty *self, const void *destination, const void *source, int64_t bytes)
{
    faulty_counts *counts = &self->counts;
    const bool to_device = is_device_memory(self->inner, destination);
    const bool from_device = is_device_memory(self->inner, source);
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

void faulty_count_range(faulty *self, faulty_operation operation)
{
    pthread_mutex_lock(&self->lock);
    self->counts.calls[operation]++;
    pthread_mutex_unlock(&self->lock);
}

void faulty_backend_add_rule(cc__backend *backend, const faulty_rule *rule)
{
    faulty *self = backend->state;
    pthread_mutex_lock(&self->lock);
    if (self->rule_count < FAULTY_MAX_RULES)
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

void faulty_backend_fail_late(cc__backend *backend, bool late)
{
    faulty *self = backend->state;
    pthread_mutex_lock(&self->lock);
    self->fails_late = late;
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
    const int64_t first = self->logged > FAULTY_LOG_LENGTH ? self->logged - FAULTY_LOG_LENGTH : 0;
    for (int64_t i = first; i < self->logged; i++) {
        const faulty_log_entry *entry = &self->log[i % FAULTY_LOG_LENGTH];
        fprintf(file, "%" PRId64 " %s device %d, %p, %" PRId64 " bytes: %s%s\n", i,
                faulty_operation_name(entry->operation), (int)entry->device, entry->what, entry->bytes,
                cc_status_name(entry->status), entry->injected ? " (injected)" : "");
    }
    pthread_mutex_unlock(&self->lock);
}
