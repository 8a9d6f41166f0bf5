/*
 * The counters of all pixels together: those of what is alive, summed when asked for, and what others left behind.
 * Counting itself knows nothing of it, and costs nothing for it.
 */
#ifndef CC_TRACE_TOTALS_H
#define CC_TRACE_TOTALS_H

#include "base/lock.h"
#include "trace/roster.h"

#include <cudacommon/state.h>

/* Part of whoever has counters. */
typedef struct cc__account {
    cc__roster_entry entry; /* first, so that it is the account's address */
    cc__lock *lock;         /* guards the counters */
    cc_counters *counters;
} cc__account;

void cc__account_open(cc__account *account, cc__lock *lock, cc_counters *counters);
void cc__account_close(cc__account *account); /* nobody counts any more; what was counted stays in the totals */
void cc__account_reset(cc__account *account); /* its counters begin at 0 again; the totals stay */

cc_counters cc__totals_get(void);
void cc__totals_reset(void);

#endif
