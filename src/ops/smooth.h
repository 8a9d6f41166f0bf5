/* For tests: how much memory a smoothing may use for slices that are under way. */
#ifndef CC_OPS_SMOOTH_H
#define CC_OPS_SMOOTH_H

#include <stdint.h>

extern int64_t cc__smooth_scratch_bytes;

#endif
