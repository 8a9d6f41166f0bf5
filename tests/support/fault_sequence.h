/*
 * What can fail while a program runs, numbered from 1 in the order in which it happens: operations of the fixture's
 * backend (less those that give back) and allocations of the library. For programs of one thread.
 */
#ifndef CC_TESTS_FAULT_SEQUENCE_H
#define CC_TESTS_FAULT_SEQUENCE_H

#include "support/faulty_backend.h"
#include "support/share.h"

#include <stdbool.h>
#include <stdint.h>

/* From one fault that is tried to the next. */
#define FAULT_STEP share_one_in()

/* A set of what can fail: one bit for each faulty_operation, one for allocations, and one for callers'
 * allocators. */
typedef uint64_t fault_set;
#define FAULT(operation) ((fault_set)1 << (operation))
#define FAULT_ALLOCATION ((fault_set)1 << FAULTY_OPERATION_COUNT)
#define FAULT_ALLOCATOR ((fault_set)1 << (FAULTY_OPERATION_COUNT + 1))
#define FAULT_EVERYTHING (~(fault_set)0)

/* These are not among what can fail, until told otherwise; 0: all are. */
void fault_sequence_ignore(fault_set kinds);

/* Counts from now on. The nth fails (0: none), with for_ever also all after it. */
void fault_sequence_start(int64_t nth, bool for_ever);
/* From now on all of a kind fail, and nothing else. */
void fault_sequence_start_refusing(fault_set kinds);
/* Nothing fails any more. Returns how many there were, failures included. */
int64_t fault_sequence_stop(void);

/* Asked by an allocator of the test's own, which is among what can fail, each time that it is to give memory. */
bool fault_sequence_allocator_fails(void);

/* The kinds that have failed since the start. */
fault_set fault_sequence_failed(void);

#endif
