#include "content.h"

#include <pthread.h>
#include <stdbool.h>

#define THREAD_LIMIT 64

typedef struct part {
    pthread_t thread;
    float *pixels;
    int64_t begin;
    int64_t end;
    uint32_t seed;
    bool has_thread;
} part;

static void *write_part(void *context)
{
    const part *p = context;
    for (int64_t position = p->begin; position < p->end; ++position)
        p->pixels[position] = content_pixel(p->seed, position);
    return NULL;
}

void content_write(float *pixels, int64_t count, uint32_t seed, int32_t core_count)
{
    part parts[THREAD_LIMIT];
    const int32_t part_count = core_count < 1 ? 1 : core_count < THREAD_LIMIT ? core_count : THREAD_LIMIT;
    for (int32_t i = 0; i < part_count; ++i) {
        part *p = &parts[i];
        *p = (part){
            .pixels = pixels, .begin = count / part_count * i, .end = count / part_count * (i + 1), .seed = seed};
        if (i == part_count - 1)
            p->end = count;
        p->has_thread = pthread_create(&p->thread, NULL, write_part, p) == 0;
        if (!p->has_thread)
            (void)write_part(p);
    }
    for (int32_t i = 0; i < part_count; ++i) {
        if (parts[i].has_thread)
            pthread_join(parts[i].thread, NULL);
    }
}
