/* How many cores this process may use. */
#ifndef CC_MEMORY_CORES_H
#define CC_MEMORY_CORES_H

#include <stddef.h>
#include <stdint.h>

/* Those the calling thread may run on, as far as its control group lets it use so many; at least 1. */
int32_t cc__cores_usable(void);

/*
 * A control group's cpu.max ("max 100000", "150000 100000"): its time for each period of time, in cores, rounded up.
 * INT32_MAX when it says nothing.
 */
int32_t cc__cores_of_quota(const char *text);

#endif
