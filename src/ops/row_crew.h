/* Rows of an operation on the host, shared out among threads. */
#ifndef CC_OPS_ROW_CREW_H
#define CC_OPS_ROW_CREW_H

#include <stddef.h>
#include <stdint.h>

/* Does rows `first` to `first + count` of the work; called from several threads. */
typedef void (*cc__rows_work)(const void *work, int64_t first, int64_t count);

/* row_bytes: what a row moves or is worth, which decides how many threads there are. */
void cc__row_crew_run(cc__rows_work function, const void *work, int64_t row_count, size_t row_bytes);

#endif
