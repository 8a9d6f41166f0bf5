#include "memory/budget.h"

#include "base/error.h"

#include <stdatomic.h>

static struct {
    atomic_size_t limit_bytes;
    atomic_size_t headroom_bytes;
    atomic_size_t held_bytes;
} devices[CC__MAX_DEVICES];

void cc__budget_set(int32_t device, const cc__budget *budget)
{
    atomic_store(&devices[device].limit_bytes, budget->limit_bytes);
    atomic_store(&devices[device].headroom_bytes, budget->headroom_bytes);
}

cc__budget cc__budget_get(int32_t device)
{
    return (cc__budget){.limit_bytes = atomic_load(&devices[device].limit_bytes),
                        .headroom_bytes = atomic_load(&devices[device].headroom_bytes)};
}

size_t cc__budget_held_bytes(int32_t device)
{
    return atomic_load(&devices[device].held_bytes);
}

/* What the driver cannot tell is not held against the caller. */
static bool get_memory(cc__backend *backend, int32_t device, size_t *out_free_bytes, size_t *out_total_bytes)
{
    cc__error_state before;
    cc__error_save(&before);
    const bool known = backend->memory_info(backend, device, out_free_bytes, out_total_bytes) == CC_OK;
    cc__error_restore(&before);
    return known;
}

static cc_status check_headroom(cc__backend *backend, int32_t device, size_t size_bytes)
{
    const size_t headroom_bytes = atomic_load(&devices[device].headroom_bytes);
    size_t free_bytes = 0;
    size_t total_bytes = 0;
    if (headroom_bytes == 0)
        return CC_OK;
    for (int32_t attempt = 0; attempt < 2; ++attempt) {
        if (!get_memory(backend, device, &free_bytes, &total_bytes) ||
            (free_bytes >= headroom_bytes && free_bytes - headroom_bytes >= size_bytes))
            return CC_OK;
        /* The driver does not count as free what the library's pool keeps for reuse. */
        if (attempt == 0) {
            const cc_status status = backend->trim(backend, device, 0);
            if (status != CC_OK)
                return status;
        }
    }
    return cc__fail(CC_ERROR_OUT_OF_DEVICE_MEMORY,
                    "device memory: %zu bytes, but device %d has %zu free and a headroom of %zu", size_bytes, device,
                    free_bytes, headroom_bytes);
}

cc_status cc__budget_take(cc__backend *backend, int32_t device, size_t size_bytes)
{
    size_t held_bytes = atomic_load(&devices[device].held_bytes);
    do {
        const size_t limit_bytes = atomic_load(&devices[device].limit_bytes);
        if (limit_bytes != 0 && (held_bytes > limit_bytes || size_bytes > limit_bytes - held_bytes))
            return cc__fail(CC_ERROR_OUT_OF_DEVICE_MEMORY,
                            "device memory: %zu bytes, but images hold %zu of at most %zu on device %d", size_bytes,
                            held_bytes, limit_bytes, device);
    } while (!atomic_compare_exchange_weak(&devices[device].held_bytes, &held_bytes, held_bytes + size_bytes));
    const cc_status status = check_headroom(backend, device, size_bytes);
    if (status != CC_OK)
        cc__budget_give_back(device, size_bytes);
    return status;
}

void cc__budget_give_back(int32_t device, size_t size_bytes)
{
    atomic_fetch_sub(&devices[device].held_bytes, size_bytes);
}

size_t cc__budget_excess(int32_t device, size_t size_bytes)
{
    const size_t limit_bytes = atomic_load(&devices[device].limit_bytes);
    const size_t held_bytes = atomic_load(&devices[device].held_bytes);
    if (limit_bytes == 0 || size_bytes > limit_bytes)
        return limit_bytes == 0 ? 0 : held_bytes;
    return held_bytes > limit_bytes - size_bytes ? held_bytes - (limit_bytes - size_bytes) : 0;
}

bool cc__budget_could_hold(cc__backend *backend, int32_t device, size_t size_bytes)
{
    const cc__budget budget = cc__budget_get(device);
    size_t free_bytes = 0;
    size_t total_bytes = 0;
    if (budget.limit_bytes != 0 && size_bytes > budget.limit_bytes)
        return false;
    if (!get_memory(backend, device, &free_bytes, &total_bytes))
        return true;
    return budget.headroom_bytes <= total_bytes && size_bytes <= total_bytes - budget.headroom_bytes;
}
