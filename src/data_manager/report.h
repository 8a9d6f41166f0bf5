/* What is told of pixels: to the counters, to the trace, and to who asks. */
#ifndef CC_DATA_MANAGER_REPORT_H
#define CC_DATA_MANAGER_REPORT_H

#include "data_manager/transfer.h"

#include <cudacommon/trace.h>

uint64_t cc__report_clock(void); /* nanoseconds */

/*
 * With the lock held. What they say is told to the trace when the thread calls cc__trace_tell without it.
 * transfer: one that has succeeded, with what finish left of it. `began`: by the clock.
 */
void cc__report_transfer(const cc__transfer *transfer, uint64_t began);
/* A place has got memory that no transfer asked for. */
void cc__report_allocation(const cc__data_manager *manager, cc_place place, const cc__place_memory *memory,
                           const char *function, const char *reason);
/* Memory of a place is about to go; function "" for nobody's. */
void cc__report_free(const cc__data_manager *manager, cc_place place, const cc__place_memory *memory,
                     const char *function, const char *reason);
/* The same, for pixels that were taken from a place and are still at another. */
void cc__report_eviction(cc__data_manager *manager, cc_place place, const cc__place_memory *memory,
                         const char *function, const char *reason);
/* What moved between the host and a tile of the device's, which is nobody's copy of the pixels. */
typedef struct cc__report_tile {
    const char *function;
    int32_t device;
    bool is_up;
    cc__box box;
    const cc__tally *moved;
    uint64_t locked_bytes;
    uint64_t began; /* by the clock */
} cc__report_tile;
void cc__report_tile_moved(cc__data_manager *manager, const cc__report_tile *tile);
/* Memory for tiles: CC_TRACE_ALLOCATE, or CC_TRACE_FREE. */
void cc__report_tile_memory(const cc__data_manager *manager, cc_trace_kind kind, int32_t device, uint64_t bytes,
                            const char *function);

/* The same for the arrays of a texture. */
void cc__report_texture(const cc__data_manager *manager, cc_trace_kind kind, int32_t device, uint64_t bytes,
                        const char *function);

#endif
