/*
 * Who is told what happens to pixels: the callback of cc_set_trace(), and the log that CUDACOMMON_LOG asks for. Events
 * are noted where they happen, and told when the thread holds nothing that the callback could need.
 */
#ifndef CC_TRACE_TRACE_H
#define CC_TRACE_TRACE_H

#include <cudacommon/trace.h>
#include <stdatomic.h>
#include <stdbool.h>

/* 0: nothing to do. Else the sum of what there is. */
extern _Atomic uint32_t cc__trace_now;
#define CC__TRACE_UNREAD 1u /* nobody has looked at the environment yet */
#define CC__TRACE_WANTED 2u /* somebody wants events */
#define CC__TRACE_NOTED 4u  /* for each event that is not told yet */

bool cc__trace_find_out(void);
void cc__trace_tell_noted(void);

/* Whether anybody wants events. When nobody does this is one load; so is cc__trace_tell. */
static inline bool cc__trace_is_on(void)
{
    return atomic_load_explicit(&cc__trace_now, memory_order_relaxed) != 0 && cc__trace_find_out();
}

/*
 * Copies the event, its label (cut to CC_LABEL_BYTES) and its reason (cut to CC__TRACE_REASON_BYTES); locks may be
 * held. An event for which there is no memory is lost.
 */
#define CC__TRACE_REASON_BYTES 96
void cc__trace_note(const cc_trace_event *event);

/* Between these, cc__trace_tell does nothing on this thread: others may be waiting for what it is at. They nest. */
void cc__trace_hold(void);
void cc__trace_let_go(void);

/* Without any lock held: tells what this thread has noted. Leaves the thread's error message as it is. */
static inline void cc__trace_tell(void)
{
    if (atomic_load_explicit(&cc__trace_now, memory_order_relaxed) != 0)
        cc__trace_tell_noted();
}

/* One line of the log, ending in a newline, cut to what there is room for. Returns its length. Pure. */
#define CC__TRACE_LINE_BYTES 768
size_t cc__trace_format(char line[CC__TRACE_LINE_BYTES], double seconds, const cc_trace_event *event);

#endif
