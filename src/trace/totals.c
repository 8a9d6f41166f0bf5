#include "trace/totals.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>

/* After what comes first in the struct there are only numbers to add. */
#define FIRST offsetof(cc_counters, host_to_device_copies)
#define NUMBERS ((sizeof(cc_counters) - FIRST) / sizeof(uint64_t))
_Static_assert(FIRST + NUMBERS * sizeof(uint64_t) == sizeof(cc_counters), "counters are numbers of one size");

typedef struct sums {
    uint64_t of[NUMBERS];
} sums;

/* What accounts had when they were closed or reset; each guarded by its part of the roster. */
static sums left_behind[CC__ROSTER_PARTS];

/* Of all that was counted, when the totals were last reset. The lock keeps a reset from coming between. */
static pthread_mutex_t totals_lock = PTHREAD_MUTEX_INITIALIZER;
static sums at_reset;

static void add(sums *sum, const cc_counters *counters)
{
    sums more;
    memcpy(more.of, (const char *)counters + FIRST, sizeof more.of);
    for (size_t i = 0; i < NUMBERS; ++i)
        sum->of[i] += more.of[i];
}

void cc__account_open(cc__account *account, cc__lock *lock, cc_counters *counters)
{
    account->lock = lock;
    account->counters = counters;
    cc__roster_add(CC__ROSTER_PIXELS, &account->entry);
}

void cc__account_close(cc__account *account)
{
    const int32_t part = cc__roster_lock(CC__ROSTER_PIXELS, &account->entry);
    add(&left_behind[part], account->counters);
    cc__roster_remove(CC__ROSTER_PIXELS, part, &account->entry);
    cc__roster_unlock(CC__ROSTER_PIXELS, part);
}

void cc__account_reset(cc__account *account)
{
    const int32_t part = cc__roster_lock(CC__ROSTER_PIXELS, &account->entry);
    cc__lock_take(account->lock);
    add(&left_behind[part], account->counters);
    memset((char *)account->counters + FIRST, 0, sizeof(cc_counters) - FIRST);
    cc__lock_let_go(account->lock);
    cc__roster_unlock(CC__ROSTER_PIXELS, part);
}

/* Since the process began. */
static sums sum_all(void)
{
    sums sum = {{0}};
    for (int32_t part = 0; part < CC__ROSTER_PARTS; ++part) {
        cc__roster_lock_part(CC__ROSTER_PIXELS, part);
        for (size_t i = 0; i < NUMBERS; ++i)
            sum.of[i] += left_behind[part].of[i];
        for (cc__roster_entry *at = cc__roster_first(CC__ROSTER_PIXELS, part); at != NULL; at = at->next) {
            const cc__account *account = (const cc__account *)at;
            cc__lock_take(account->lock);
            add(&sum, account->counters);
            cc__lock_let_go(account->lock);
        }
        cc__roster_unlock(CC__ROSTER_PIXELS, part);
    }
    return sum;
}

cc_counters cc__totals_get(void)
{
    cc_counters totals = CC_COUNTERS_INIT;
    pthread_mutex_lock(&totals_lock);
    sums sum = sum_all();
    for (size_t i = 0; i < NUMBERS; ++i)
        sum.of[i] -= at_reset.of[i];
    pthread_mutex_unlock(&totals_lock);
    memcpy((char *)&totals + FIRST, sum.of, sizeof sum.of);
    return totals;
}

void cc__totals_reset(void)
{
    pthread_mutex_lock(&totals_lock);
    at_reset = sum_all();
    pthread_mutex_unlock(&totals_lock);
}
