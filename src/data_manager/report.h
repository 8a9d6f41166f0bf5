/* What is told of pixels: to the counters, to the trace, and to who asks. */
#ifndef CC_DATA_MANAGER_REPORT_H
#define CC_DATA_MANAGER_REPORT_H

#include "data_manager/transfer.h"

uint64_t cc__report_clock(void); /* nanoseconds */

/*
 * With the lock held. What they say is told to the trace when the thread calls cc__trace_tell without it.
 * transfer: one that has succeeded, with what finish left of it. `began`: by the clock.
 */
void cc__report_transfer(const cc__transfer *transfer, uint64_t began);
/* Memory of a place is about to go; function "" for nobody's. */
void cc__report_free(const cc__data_manager *manager, cc_place place, const cc__place_memory *memory,
                     const char *function, const char *reason);
/* The same, for pixels that were taken from a place and are still at another. */
void cc__report_eviction(cc__data_manager *manager, cc_place place, const cc__place_memory *memory,
                         const char *function, const char *reason);

#endif
