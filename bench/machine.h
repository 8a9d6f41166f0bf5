/* Where and when a run took place. */
#ifndef BENCH_MACHINE_H
#define BENCH_MACHINE_H

#include <stdint.h>

#define MACHINE_TEXT_BYTES 256

typedef struct machine {
    char gpu[MACHINE_TEXT_BYTES];
    int32_t gpu_count;
    double gpu_memory_bytes;
    char driver[MACHINE_TEXT_BYTES]; /* the kernel module's version */
    char cuda[MACHINE_TEXT_BYTES];   /* the newest CUDA that the driver supports, and the runtime's */
    char cpu[MACHINE_TEXT_BYTES];
    int32_t core_count;
    double memory_bytes;
    char system[MACHINE_TEXT_BYTES];
    char commit[MACHINE_TEXT_BYTES];
    char date[MACHINE_TEXT_BYTES]; /* UTC */
} machine;

/* commit: as given by the user, or NULL to ask the environment (CC_COMMIT), then git; "unknown" when nobody knows. */
void machine_describe(machine *m, const char *commit);

int32_t machine_core_count(void);

/* For what describes parts of it: one line of text; what follows `key`, and blanks and colons, in a file's first line
 * that has it. */
void machine_set(char text[MACHINE_TEXT_BYTES], const char *value);
void machine_find(const char *path, const char *key, char text[MACHINE_TEXT_BYTES]);

#endif
