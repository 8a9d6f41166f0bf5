/* Writing memory that will not be looked at soon: past the caches, which saves reading each line before it is changed.
 */
#ifndef CC_BASE_PAST_CACHE_H
#define CC_BASE_PAST_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* For tests: from how many bytes on it pays; 0 (the default): when the last cache cannot hold them. */
extern size_t cc__past_cache_from_bytes;
/* For tests: stores of 16 bytes, also where the CPU has wider ones. */
extern bool cc__past_cache_is_narrow;

/* Whether what an operation leaves would be gone from the caches at its end. moved_bytes: all that it reads and writes.
 */
bool cc__past_cache_pays(size_t moved_bytes);

/*
 * What is computed before it is written, at most: little, so that reading goes on meanwhile. Whole lines are written
 * when all parts of a row but the first begin at one.
 */
#define CC__PAST_CACHE_BLOCK 1024
/* How many of `left` components go into the part that begins at `destination`; > 0. */
int64_t cc__past_cache_part(const unsigned char *destination, int64_t component_bytes, int64_t left);

#define CC__PAST_CACHE_AHEAD 4096
/*
 * Asks for what a part will read a few parts later: while one is computed the CPU's own foresight comes to an end. Any
 * address will do.
 */
static inline void cc__past_cache_foresee(const unsigned char *source, int64_t bytes)
{
    for (int64_t line = 0; line < bytes; line += 64)
        __builtin_prefetch(source + CC__PAST_CACHE_AHEAD + line);
}

/* As memcpy(), from a source that is in the cache already. */
void cc__past_cache_copy(unsigned char *destination, const unsigned char *source, size_t bytes);
/* The same from far away: asks for what comes CC__PAST_CACHE_AHEAD later, in this row or in the next ones. */
void cc__past_cache_move(unsigned char *destination, const unsigned char *source, size_t bytes);

/* After the last copy of a thread, before another one is told. */
void cc__past_cache_end(void);

#endif
