#include "support/fault_sequence.h"

#include "base/allocate.h"
#include "support/fixture.h"

static struct {
    bool is_running;
    int64_t count;
    int64_t nth;
    bool for_ever;
    fault_set ignored;
    fault_set refused;
    fault_set failed;
} sequence;

static bool fails(fault_set kind)
{
    if ((sequence.ignored & kind) != 0)
        return false;
    ++sequence.count;
    const bool is_meant =
        sequence.nth > 0 && (sequence.count == sequence.nth || (sequence.for_ever && sequence.count > sequence.nth));
    if (!is_meant && (sequence.refused & kind) == 0)
        return false;
    sequence.failed |= kind;
    return true;
}

/* What gives back has nobody to tell when it fails, and what it should free is lost. */
static bool operation_fails(faulty_operation operation)
{
    return operation != FAULTY_FREE && operation != FAULTY_HOST_UNREGISTER && fails(FAULT(operation));
}

static bool allocation_fails(size_t size_bytes)
{
    (void)size_bytes;
    return fails(FAULT_ALLOCATION);
}

bool fault_sequence_allocator_fails(void)
{
    return sequence.is_running && fails(FAULT_ALLOCATOR);
}

void fault_sequence_ignore(fault_set kinds)
{
    sequence.ignored = kinds;
}

static void start(int64_t nth, bool for_ever, fault_set refused)
{
    sequence.count = 0;
    sequence.nth = nth;
    sequence.for_ever = for_ever;
    sequence.refused = refused;
    sequence.failed = 0;
    sequence.is_running = true;
    faulty_backend_set_hook(fixture_backend, operation_fails);
    cc__allocate_set_hook(allocation_fails);
}

void fault_sequence_start(int64_t nth, bool for_ever)
{
    start(nth, for_ever, 0);
}

void fault_sequence_start_refusing(fault_set kinds)
{
    start(0, false, kinds);
}

int64_t fault_sequence_stop(void)
{
    sequence.is_running = false;
    faulty_backend_set_hook(fixture_backend, NULL);
    cc__allocate_set_hook(NULL);
    return sequence.count;
}

fault_set fault_sequence_failed(void)
{
    return sequence.failed;
}
