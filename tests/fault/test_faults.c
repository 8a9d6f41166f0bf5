/*
 * Whatever fails, and whenever: the call in progress says so, the images hold what they held, nothing is left behind,
 * and the same call then works.
 */
#include "data_manager/internal.h"
#include "support/fault_sequence.h"
#include "support/image_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define HANGS_AFTER_SECONDS 200

enum {
    A,
    B,
    C,
    V,
    W,
    D
};

/* Every call, every access, every way to share; the last images go while work on them is queued. */
static const program_step every_call[] = {
    {.kind = STEP_CREATE, .image = A, .type = CC_PIXEL_INT16},
    {.kind = STEP_VIEW, .image = V, .other = A, .part = PART_BLOCK},
    {.kind = STEP_CREATE, .image = B, .type = CC_PIXEL_FLOAT32},
    {.kind = STEP_GRAFT, .image = B, .other = A},
    {.kind = STEP_FILL, .image = A},
    {.kind = STEP_MAP_HOST, .image = A, .part = PART_CORNER, .access = CC_ACCESS_READ_WRITE},
    {.kind = STEP_UNMAP_HOST, .image = A},
    {.kind = STEP_VALID_REGIONS, .image = A, .place = CC_PLACE_HOST},
    {.kind = STEP_MAP_DEVICE, .image = A, .part = PART_ROWS, .access = CC_ACCESS_READ_WRITE},
    {.kind = STEP_MAP_HOST, .image = A, .part = PART_SLICE, .access = CC_ACCESS_WRITE},
    {.kind = STEP_UNMAP_HOST, .image = A},
    {.kind = STEP_UNMAP_DEVICE, .image = A},
    {.kind = STEP_MAP_HOST, .image = V, .access = CC_ACCESS_READ},
    {.kind = STEP_UNMAP_HOST, .image = V},
    {.kind = STEP_MAP_DEVICE, .image = V, .access = CC_ACCESS_WRITE},
    {.kind = STEP_UNMAP_DEVICE, .image = V},
    {.kind = STEP_MAP_DEVICE, .image = B, .access = CC_ACCESS_READ},
    {.kind = STEP_MAP_DEVICE, .image = B, .part = PART_CORNER, .access = CC_ACCESS_READ},
    {.kind = STEP_MAP_HOST, .image = B, .access = CC_ACCESS_READ},
    {.kind = STEP_UNMAP_HOST, .image = B},
    {.kind = STEP_UNMAP_DEVICE, .image = B},
    {.kind = STEP_UNMAP_DEVICE, .image = B},
    {.kind = STEP_FILL, .image = A, .part = PART_CORNER},
    {.kind = STEP_CREATE, .image = C, .type = CC_PIXEL_FLOAT32},
    {.kind = STEP_RESCALE, .image = C, .other = A},
    {.kind = STEP_RESCALE, .image = C, .other = C},
    {.kind = STEP_MAP_HOST, .image = C, .part = PART_SLICE, .access = CC_ACCESS_READ},
    {.kind = STEP_UNMAP_HOST, .image = C},
    {.kind = STEP_PREFETCH, .image = C, .place = CC_PLACE_HOST},
    {.kind = STEP_RESCALE, .image = A, .other = C},
    {.kind = STEP_SUBTRACT, .image = C, .other = A},
    {.kind = STEP_SUBTRACT, .image = A, .other = C},
    {.kind = STEP_MEASURE, .image = V},
    {.kind = STEP_MEASURE, .image = C},
    {.kind = STEP_SET_DEVICE, .image = A, .place = 1},
    {.kind = STEP_MAP_DEVICE, .image = A, .part = PART_ROWS, .access = CC_ACCESS_READ_WRITE},
    {.kind = STEP_UNMAP_DEVICE, .image = A},
    {.kind = STEP_PREFETCH, .image = A, .part = PART_BLOCK, .place = 2},
    {.kind = STEP_PREFETCH, .image = A, .place = 0},
    {.kind = STEP_EVICT, .image = A, .place = 1},
    {.kind = STEP_EVICT, .image = A, .place = CC_PLACE_HOST},
    {.kind = STEP_MAP_DESCRIPTOR, .image = A, .access = CC_ACCESS_READ_WRITE},
    {.kind = STEP_UNMAP_DESCRIPTOR, .image = A},
    {.kind = STEP_EVICT, .image = A, .place = 0},
    {.kind = STEP_EVICT, .image = A, .place = 1},
    {.kind = STEP_EVICT, .image = A, .place = 2},
    {.kind = STEP_RESIZE, .image = B, .part = PART_BLOCK},
    {.kind = STEP_FILL, .image = B},
    {.kind = STEP_RESCALE, .image = B, .other = V},
    {.kind = STEP_CREATE, .image = W, .type = CC_PIXEL_FLOAT32},
    {.kind = STEP_WRAP_HOST, .image = W, .place = CC_PLACE_HOST},
    {.kind = STEP_MAP_DEVICE, .image = W, .part = PART_CORNER, .access = CC_ACCESS_READ_WRITE},
    {.kind = STEP_UNMAP_DEVICE, .image = W},
    {.kind = STEP_MAP_HOST, .image = W, .access = CC_ACCESS_READ_WRITE},
    {.kind = STEP_UNMAP_HOST, .image = W},
    {.kind = STEP_FILL, .image = W, .part = PART_ROWS},
    {.kind = STEP_EVICT, .image = W, .place = 0},
    {.kind = STEP_CREATE, .image = D, .type = CC_PIXEL_FLOAT32},
    {.kind = STEP_MAP_DEVICE, .image = D, .access = CC_ACCESS_WRITE},
    {.kind = STEP_UNMAP_DEVICE, .image = D},
    {.kind = STEP_WRAP_DEVICE, .image = D, .place = 0},
    {.kind = STEP_MAP_HOST, .image = D, .part = PART_ROWS, .access = CC_ACCESS_READ_WRITE},
    {.kind = STEP_UNMAP_HOST, .image = D},
    {.kind = STEP_RESCALE, .image = C, .other = D},
    {.kind = STEP_EVICT, .image = D, .place = CC_PLACE_HOST},
    {.kind = STEP_MAP_DEVICE, .image = C, .access = CC_ACCESS_READ_WRITE},
    {.kind = STEP_UNMAP_DEVICE, .image = C},
    {.kind = STEP_RELEASE, .image = C},
    {.kind = STEP_MAP_DEVICE, .image = A, .part = PART_BLOCK, .access = CC_ACCESS_WRITE},
    {.kind = STEP_UNMAP_DEVICE, .image = A},
    {.kind = STEP_PREFETCH, .image = A, .place = CC_PLACE_HOST},
    {.kind = STEP_RELEASE, .image = A},
    {.kind = STEP_MAP_HOST, .image = V, .access = CC_ACCESS_READ},
    {.kind = STEP_UNMAP_HOST, .image = V},
    {.kind = STEP_RELEASE, .image = W},
    {.kind = STEP_RELEASE, .image = D},
};

/* Images large enough for their host memory to be page-locked, so that copies are late in both directions. */
static const program_step page_locked[] = {
    {.kind = STEP_CREATE, .image = A, .type = CC_PIXEL_INT16},
    {.kind = STEP_MAP_HOST, .image = A, .access = CC_ACCESS_WRITE},
    {.kind = STEP_UNMAP_HOST, .image = A},
    {.kind = STEP_PREFETCH, .image = A, .place = 0},
    {.kind = STEP_MAP_HOST, .image = A, .part = PART_ROWS, .access = CC_ACCESS_READ_WRITE},
    {.kind = STEP_UNMAP_HOST, .image = A},
    {.kind = STEP_MAP_DEVICE, .image = A, .part = PART_BLOCK, .access = CC_ACCESS_READ_WRITE},
    {.kind = STEP_UNMAP_DEVICE, .image = A},
    {.kind = STEP_PREFETCH, .image = A, .place = CC_PLACE_HOST},
    {.kind = STEP_EVICT, .image = A, .place = 0},
    {.kind = STEP_PREFETCH, .image = A, .place = 0},
    {.kind = STEP_EVICT, .image = A, .place = CC_PLACE_HOST},
    {.kind = STEP_PREFETCH, .image = A, .place = CC_PLACE_HOST},
    {.kind = STEP_CREATE, .image = C, .type = CC_PIXEL_INT16},
    {.kind = STEP_RESCALE, .image = C, .other = A},
    {.kind = STEP_SET_DEVICE, .image = C, .place = 1},
    {.kind = STEP_MAP_DEVICE, .image = C, .part = PART_ROWS, .access = CC_ACCESS_READ_WRITE},
    {.kind = STEP_UNMAP_DEVICE, .image = C},
    {.kind = STEP_PREFETCH, .image = C, .place = CC_PLACE_HOST},
    {.kind = STEP_RELEASE, .image = C},
    {.kind = STEP_MAP_HOST, .image = A, .part = PART_SLICE, .access = CC_ACCESS_WRITE},
    {.kind = STEP_UNMAP_HOST, .image = A},
    {.kind = STEP_PREFETCH, .image = A, .place = 0},
    {.kind = STEP_RELEASE, .image = A},
};

/* So many readers without a pause that their events are joined into one. Thousands of times it is asked whether one is
 * done.
 */
#define READERS 70
static program_step many_readers[2 * READERS + 6];

typedef struct program_kind {
    const char *name;
    int64_t size[3];
    const program_step *steps;
    size_t step_count;
    bool tidies;     /* with fragmentation so low that accesses tidy up first */
    bool page_locks; /* copies with the host are late */
    fault_set ignored;
} program_kind;

#define STEPS(array) (array), sizeof(array) / sizeof *(array)
static const program_kind kinds[] = {
    {"every call", {8, 6, 4}, STEPS(every_call), false, false, 0},
    {"every call, tidying", {8, 6, 4}, STEPS(every_call), true, false, 0},
    {"many readers", {8, 6, 4}, STEPS(many_readers), false, false, FAULT(FAULTY_EVENT_IS_COMPLETE)},
    {"page-locked", {128, 64, 64}, STEPS(page_locked), false, true, 0},
};
#define KIND_COUNT ((int)(sizeof kinds / sizeof *kinds))

static int32_t cells_before;

static void make_many_readers(void)
{
    program_step *next = many_readers;
    *next++ = (program_step){.kind = STEP_CREATE, .image = A, .type = CC_PIXEL_INT16};
    *next++ = (program_step){.kind = STEP_FILL, .image = A};
    for (int32_t i = 0; i < READERS; ++i) {
        *next++ = (program_step){.kind = STEP_MAP_DEVICE, .image = A, .part = PART_ROWS, .access = CC_ACCESS_READ};
        *next++ = (program_step){.kind = STEP_UNMAP_DEVICE, .image = A};
    }
    *next++ = (program_step){.kind = STEP_MAP_DEVICE, .image = A, .access = CC_ACCESS_READ_WRITE};
    *next++ = (program_step){.kind = STEP_UNMAP_DEVICE, .image = A};
    *next++ = (program_step){.kind = STEP_MAP_HOST, .image = A, .access = CC_ACCESS_READ};
    *next++ = (program_step){.kind = STEP_UNMAP_HOST, .image = A};
}

static void set_up(void)
{
    alarm(HANGS_AFTER_SECONDS);
    cells_before = cc__cells_before_tidying;
    make_many_readers();
    fixture_setup();
}

static void tear_down(void)
{
    fixture_teardown();
    cc__cells_before_tidying = cells_before;
    alarm(0);
}

static image_program *begin(const program_kind *kind)
{
    cc__cells_before_tidying = kind->tidies ? 1 : cells_before;
    fault_sequence_ignore(kind->ignored);
    return image_program_create(kind->size[0], kind->size[1], kind->size[2]);
}

/* Ends the program; what it left behind is found here, and the next one starts afresh. */
static void end(image_program *program, const char *when)
{
    image_program_destroy(program, when);
    fixture_teardown();
    fixture_setup();
}

/*
 * What may fail while a call succeeds, because it can do without:
 * - page-locked memory; the answer to "is it done yet?", which is only asked to forget sooner;
 * - the event that an unmap, a fill or a rescale records: it then waits for the stream instead;
 * - the event or the stream that orders freed memory after the work on it, in calls that let memory go;
 * - what makes bookkeeping smaller: joining events (on unmap), and tidying (in accesses).
 */
static fault_set can_do_without(const program_kind *kind, const program_step *step)
{
    const fault_set always = FAULT(FAULTY_HOST_REGISTER) | FAULT(FAULTY_EVENT_IS_COMPLETE);
    const fault_set letting_go =
        FAULT(FAULTY_STREAM_CREATE) | FAULT(FAULTY_STREAM_WAIT) | FAULT(FAULTY_EVENT_SYNCHRONIZE);
    const fault_set joining =
        FAULT_ALLOCATION | FAULT(FAULTY_EVENT_CREATE) | FAULT(FAULTY_STREAM_CREATE) | FAULT(FAULTY_STREAM_WAIT);
    const fault_set tidying = kind->tidies ? FAULT_EVERYTHING : 0;
    switch (step->kind) {
    case STEP_CREATE:
    case STEP_VIEW:
    case STEP_SET_DEVICE:
    case STEP_VALID_REGIONS:
        return 0;
    case STEP_GRAFT:
    case STEP_RESIZE:
    case STEP_WRAP_HOST:
    case STEP_WRAP_DEVICE:
    case STEP_EVICT:
    case STEP_RELEASE:
        return always | letting_go;
    case STEP_FILL:
    case STEP_RESCALE:
    case STEP_SUBTRACT:
        return always | FAULT(FAULTY_EVENT_RECORD) | tidying;
    case STEP_MEASURE:
        return always | FAULT(FAULTY_EVENT_RECORD) | letting_go | tidying;
    case STEP_MAP_HOST:
    case STEP_MAP_DEVICE:
    case STEP_MAP_DESCRIPTOR:
        return always | tidying;
    case STEP_UNMAP_HOST:
        return 0;
    case STEP_UNMAP_DEVICE:
    case STEP_UNMAP_DESCRIPTOR:
        return always | FAULT(FAULTY_EVENT_RECORD) | (step->image == A ? joining : 0);
    case STEP_PREFETCH:
        return always;
    }
    return 0;
}

static void check_failure(const program_kind *kind, const program_step *step, cc_status status, const char *when)
{
    const fault_set failed = fault_sequence_failed();
    if (status == CC_OK) {
        ck_assert_msg((failed & ~can_do_without(kind, step)) == 0, "%s: the call returned CC_OK", when);
        return;
    }
    const bool is_expected = ((failed & FAULT_ALLOCATION) != 0 && status == CC_ERROR_OUT_OF_HOST_MEMORY) ||
                             ((failed & ~FAULT_ALLOCATION) != 0 && status == CC_ERROR_DEVICE);
    ck_assert_msg(is_expected, "%s: %s", when, cc_status_name(status));
    ck_assert_msg(cc_last_error_message()[0] != '\0', "%s: no message", when);
    if (failed == FAULT_ALLOCATION || (failed & FAULT_ALLOCATION) == 0)
        ck_assert_msg(cc_last_native_error() == (failed == FAULT_ALLOCATION ? 0 : FAULTY_NATIVE_ERROR),
                      "%s: native error %d", when, (int)cc_last_native_error());
}

typedef enum when_to_look {
    LOOK_AFTERWARDS = 0, /* the retry comes first: nothing has put right what the failure left */
    LOOK_FIRST = 1,
    LOOK_LATE = 2 /* first, and again when all that was queued has run */
} when_to_look;

/* Work is queued, but neither an event nor a wait can be had: what it uses may go before it has run, and the device
 * then. */
static bool may_lose_device(void)
{
    const fault_set failed = fault_sequence_failed();
    const fault_set working = FAULT(FAULTY_EVENT_RECORD) | FAULT(FAULTY_STREAM_SYNCHRONIZE);
    const fault_set ordering = FAULT(FAULTY_STREAM_WAIT) | FAULT(FAULTY_STREAM_CREATE);
    return (failed & working) == working ||
           ((failed & FAULT(FAULTY_EVENT_SYNCHRONIZE)) != 0 && (failed & ordering) != 0);
}

/* Whether such work changes the only copy of an image. */
static bool may_lose_pixels(const image_program *program, const program_step *step)
{
    return (step->kind == STEP_FILL || step->kind == STEP_RESCALE || step->kind == STEP_SUBTRACT) &&
           may_lose_device() && image_program_was_on_device_alone(program, step->image);
}

/* Returns how many things could have failed. */
static int64_t run_with_fault(const program_kind *kind, int64_t nth, bool all_of_the_call, when_to_look look)
{
    char when[256] = "at the end";
    image_program *program = begin(kind);
    fault_sequence_start(nth, all_of_the_call);
    bool is_lost = false;
    for (size_t i = 0; i < kind->step_count; ++i) {
        const program_step *step = &kind->steps[i];
        const bool had_failed = fault_sequence_failed() != 0;
        image_program_note(program);
        cc_status status = image_program_do(program, step);
        snprintf(when, sizeof when, "%s, fault %lld, step %zu, %s", kind->name, (long long)nth, i,
                 image_program_describe(step));
        if (had_failed || fault_sequence_failed() == 0) {
            ck_assert_msg(status == CC_OK, "%s: %s (%s)", when, cc_status_name(status), cc_last_error_message());
            continue;
        }
        (void)fault_sequence_stop();
        check_failure(kind, step, status, when);
        is_lost = may_lose_device();
        /* Tidying forgets copies elsewhere, once it has made one that is whole; so does whoever cannot wait. */
        if (status != CC_OK && !kind->tidies && !all_of_the_call)
            image_program_check_noted(program, when);
        if (may_lose_pixels(program, step))
            break;
        if (look != LOOK_AFTERWARDS)
            image_program_check(program, when, is_lost);
        if (look == LOOK_LATE) {
            image_program_let_run(program);
            image_program_check(program, when, is_lost);
        }
        if (is_lost)
            break;
        if (status != CC_OK)
            status = image_program_do(program, step);
        ck_assert_msg(status == CC_OK, "%s, again: %s (%s)", when, cc_status_name(status), cc_last_error_message());
        if (look == LOOK_AFTERWARDS)
            image_program_check(program, when, false);
    }
    const int64_t count = fault_sequence_stop();
    snprintf(when, sizeof when, "%s, fault %lld, at the end", kind->name, (long long)nth);
    if (!is_lost)
        image_program_check(program, when, false);
    end(program, when);
    return count;
}

START_TEST(each_fault_alone)
{
    const program_kind *kind = &kinds[_i];
    const int64_t count = run_with_fault(kind, 0, false, LOOK_AFTERWARDS);
    ck_assert_int_gt(count, 0);
    for (int64_t nth = 1; nth <= count; nth += FAULT_STEP) {
        /* Large images take long to look at: every other fault each way. */
        if (!kind->page_locks || nth % 2 == 0)
            run_with_fault(kind, nth, false, LOOK_FIRST);
        if (!kind->page_locks || nth % 2 != 0)
            run_with_fault(kind, nth, false, LOOK_AFTERWARDS);
    }
}
END_TEST

/*
 * What a call does when one thing has failed may fail too. (Not with page-locked memory: there a copy that is queued,
 * and cannot be waited for, is nothing that a retry could put right.)
 */
START_TEST(the_rest_of_the_call_fails)
{
    const program_kind *kind = &kinds[_i];
    const int64_t count = run_with_fault(kind, 0, false, LOOK_AFTERWARDS);
    for (int64_t nth = 1; nth <= count; nth += FAULT_STEP) {
        run_with_fault(kind, nth, true, LOOK_AFTERWARDS);
        run_with_fault(kind, nth, true, LOOK_LATE);
    }
}
END_TEST

/*
 * Calls that fail are not tried again: the program goes on with what it has. Late copies that nobody can wait for may
 * cost the device, as memory that they use goes away.
 */
static void run_whatever_fails(const program_kind *kind, image_program *program)
{
    for (size_t i = 0; i < kind->step_count; ++i)
        (void)image_program_do(program, &kind->steps[i]);
}

START_TEST(everything_fails_from_one_moment_on)
{
    const program_kind *kind = &kinds[_i];
    const int64_t count = run_with_fault(kind, 0, false, LOOK_AFTERWARDS);
    for (int64_t nth = 1; nth <= count; nth += FAULT_STEP) {
        char when[256];
        snprintf(when, sizeof when, "%s, all from %lld on", kind->name, (long long)nth);
        image_program *program = begin(kind);
        fault_sequence_start(nth, true);
        run_whatever_fails(kind, program);
        (void)fault_sequence_stop();
        image_program_check(program, when, kind->page_locks);
        image_program_let_run(program);
        image_program_check(program, when, kind->page_locks);
        end(program, when);
    }
}
END_TEST

/* What a refusal costs is speed: everything works, and nobody hears of it. */
static void run_without_noticing(const program_kind *kind, image_program *program, const char *when)
{
    for (size_t i = 0; i < kind->step_count; ++i) {
        const cc_status status = image_program_do(program, &kind->steps[i]);
        ck_assert_msg(status == CC_OK, "%s, %s: %s (%s)", when, image_program_describe(&kind->steps[i]),
                      cc_status_name(status), cc_last_error_message());
    }
    (void)fault_sequence_stop();
    image_program_check(program, when, false);
    end(program, when);
}

START_TEST(page_locking_is_refused)
{
    const program_kind *kind = &kinds[_i];
    image_program *program = begin(kind);
    fault_sequence_start_refusing(FAULT(FAULTY_HOST_REGISTER));
    run_without_noticing(kind, program, "no page-locking");
}
END_TEST

START_TEST(peer_access_is_refused)
{
    const program_kind *kind = &kinds[_i];
    image_program *program = begin(kind);
    faulty_backend_refuse_peer_access(fixture_backend, true);
    run_without_noticing(kind, program, "no peer access");
}
END_TEST

START_TEST(nobody_knows_what_is_done)
{
    const program_kind *kind = &kinds[_i];
    image_program *program = begin(kind);
    fault_sequence_ignore(0);
    fault_sequence_start_refusing(FAULT(FAULTY_EVENT_IS_COMPLETE));
    run_without_noticing(kind, program, "no event_is_complete");
}
END_TEST

START_TEST(device_memory_is_exhausted)
{
    const program_kind *kind = &kinds[_i];
    const faulty_rule rule = {FAULTY_ALLOCATE, 1, true, CC_ERROR_OUT_OF_DEVICE_MEMORY, 2};
    image_program *program = begin(kind);
    faulty_backend_add_rule(fixture_backend, &rule);
    int refusals = 0;
    for (size_t i = 0; i < kind->step_count; ++i) {
        const cc_status status = image_program_do(program, &kind->steps[i]);
        ck_assert_msg(status == CC_OK || status == CC_ERROR_OUT_OF_DEVICE_MEMORY, "%s: %s (%s)",
                      image_program_describe(&kind->steps[i]), cc_status_name(status), cc_last_error_message());
        refusals += status != CC_OK;
    }
    ck_assert(refusals > 0 || fixture_device_count() == 0);
    image_program_check(program, "no device memory", false);
    faulty_backend_clear_rules(fixture_backend);
    end(program, "no device memory");
}
END_TEST

START_TEST(one_operation_is_refused)
{
    const program_kind *kind = &kinds[_i % KIND_COUNT];
    const faulty_operation operation = (faulty_operation)(_i / KIND_COUNT);
    char when[128];
    snprintf(when, sizeof when, "%s, no %s", kind->name, faulty_operation_name(operation));
    image_program *program = begin(kind);
    fault_sequence_start_refusing(FAULT(operation));
    run_whatever_fails(kind, program);
    (void)fault_sequence_stop();
    image_program_check(program, when, false);
    image_program_let_run(program);
    image_program_check(program, when, false);
    end(program, when);
}
END_TEST

static void add(Suite *suite, const char *name, const TTest *test, int count)
{
    TCase *tcase = tcase_create(name);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, 2 * HANGS_AFTER_SECONDS);
    tcase_add_loop_test(tcase, test, 0, count);
    suite_add_tcase(suite, tcase);
}

static Suite *faults_suite(void)
{
    Suite *suite = suite_create("faults");
    add(suite, "alone", each_fault_alone, KIND_COUNT);
    add(suite, "rest of the call", the_rest_of_the_call_fails, KIND_COUNT - 1);
    add(suite, "for ever", everything_fails_from_one_moment_on, KIND_COUNT);
    add(suite, "page-locking", page_locking_is_refused, KIND_COUNT);
    add(suite, "peer access", peer_access_is_refused, KIND_COUNT);
    add(suite, "is complete", nobody_knows_what_is_done, KIND_COUNT);
    add(suite, "device memory", device_memory_is_exhausted, KIND_COUNT);
    add(suite, "one operation", one_operation_is_refused, KIND_COUNT * FAULTY_OPERATION_COUNT);
    return suite;
}

int main(void)
{
    return fixture_run(faults_suite());
}
