#include "base/past_cache.h"

#include <stdatomic.h>
#include <string.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define LINE 64
/* Where the system does not say how large the last cache is. */
#define USUAL_CACHE_BYTES ((size_t)32 << 20)

size_t cc__past_cache_from_bytes;
bool cc__past_cache_is_narrow;

static size_t last_cache_bytes(void)
{
    static _Atomic size_t known;
    size_t bytes = atomic_load_explicit(&known, memory_order_relaxed);
    if (bytes != 0)
        return bytes;
    bytes = USUAL_CACHE_BYTES;
#ifdef _SC_LEVEL3_CACHE_SIZE
    const long level3 = sysconf(_SC_LEVEL3_CACHE_SIZE);
    if (level3 > 0)
        bytes = (size_t)level3;
#endif
    atomic_store_explicit(&known, bytes, memory_order_relaxed);
    return bytes;
}

bool cc__past_cache_pays(size_t moved_bytes)
{
    return moved_bytes >= (cc__past_cache_from_bytes > 0 ? cc__past_cache_from_bytes : last_cache_bytes());
}

int64_t cc__past_cache_part(const unsigned char *destination, int64_t component_bytes, int64_t left)
{
    const int64_t before = (int64_t)(-(uintptr_t)destination % LINE);
    int64_t part = before / component_bytes;
    if (part == 0)
        part = CC__PAST_CACHE_BLOCK / component_bytes;
    return part < left ? part : left;
}

#if defined(__x86_64__)

/* Whole lines; those of the destination begin at one. */
static inline void move_lines(unsigned char *destination, const unsigned char *source, size_t bytes, bool is_far)
{
    for (size_t done = 0; done < bytes; done += LINE) {
        const __m128i *from = (const __m128i *)(const void *)(source + done);
        __m128i *to = (__m128i *)(void *)(destination + done);
        if (is_far)
            cc__past_cache_foresee(source + done, LINE);
        const __m128i a = _mm_loadu_si128(from);
        const __m128i b = _mm_loadu_si128(from + 1);
        const __m128i c = _mm_loadu_si128(from + 2);
        const __m128i d = _mm_loadu_si128(from + 3);
        _mm_stream_si128(to, a);
        _mm_stream_si128(to + 1, b);
        _mm_stream_si128(to + 2, c);
        _mm_stream_si128(to + 3, d);
    }
}

/* A line by one store is never written in parts. */
__attribute__((target("avx512f"))) static inline void move_lines_avx512(unsigned char *destination,
                                                                        const unsigned char *source, size_t bytes,
                                                                        bool is_far)
{
    for (size_t done = 0; done < bytes; done += LINE) {
        if (is_far)
            cc__past_cache_foresee(source + done, LINE);
        _mm512_stream_si512((__m512i *)(void *)(destination + done), _mm512_loadu_si512(source + done));
    }
}

static inline void move(unsigned char *destination, const unsigned char *source, size_t bytes, bool is_far)
{
    const size_t before = (size_t)(-(uintptr_t)destination % LINE);
    if (bytes < before + LINE) {
        memcpy(destination, source, bytes);
        return;
    }
    const size_t whole = (bytes - before) / LINE * LINE;
    const size_t end = before + whole;
    memcpy(destination, source, before);
    if (__builtin_cpu_supports("avx512f") && !cc__past_cache_is_narrow)
        move_lines_avx512(destination + before, source + before, whole, is_far);
    else
        move_lines(destination + before, source + before, whole, is_far);
    memcpy(destination + end, source + end, bytes - end);
}

void cc__past_cache_copy(unsigned char *destination, const unsigned char *source, size_t bytes)
{
    move(destination, source, bytes, false);
}

void cc__past_cache_move(unsigned char *destination, const unsigned char *source, size_t bytes)
{
    move(destination, source, bytes, true);
}

void cc__past_cache_end(void)
{
    _mm_sfence();
}

#else

void cc__past_cache_copy(unsigned char *destination, const unsigned char *source, size_t bytes)
{
    memcpy(destination, source, bytes);
}

void cc__past_cache_move(unsigned char *destination, const unsigned char *source, size_t bytes)
{
    memcpy(destination, source, bytes);
}

void cc__past_cache_end(void)
{
}

#endif
