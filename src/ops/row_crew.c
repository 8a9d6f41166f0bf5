#include "ops/row_crew.h"

#include "memory/crew.h"

#include <stdatomic.h>

/* What a thread is worth starting for, and what one takes at a time. */
#define BYTES_EACH ((size_t)512 << 10)
#define BYTES_AT_ONCE ((size_t)64 << 10)

typedef struct shared_rows {
    cc__rows_work function;
    const void *work;
    int64_t row_count;
    int64_t at_once;
    _Atomic int64_t next;
} shared_rows;

static void take_rows(void *context)
{
    shared_rows *all = context;
    for (;;) {
        const int64_t first = atomic_fetch_add(&all->next, all->at_once);
        if (first >= all->row_count)
            return;
        const int64_t left = all->row_count - first;
        all->function(all->work, first, left < all->at_once ? left : all->at_once);
    }
}

void cc__row_crew_run(cc__rows_work function, const void *work, int64_t row_count, size_t row_bytes)
{
    shared_rows all = {.function = function, .work = work, .row_count = row_count};
    all.at_once = row_bytes < BYTES_AT_ONCE ? (int64_t)(BYTES_AT_ONCE / (row_bytes + 1)) + 1 : 1;
    cc__crew_run(cc__crew_size((size_t)row_count * row_bytes, BYTES_EACH, CC__CREW_MOST), take_rows, &all);
}
