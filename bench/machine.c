#include "machine.h"

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static void set(char text[MACHINE_TEXT_BYTES], const char *value)
{
    snprintf(text, MACHINE_TEXT_BYTES, "%s", value);
    text[strcspn(text, "\n")] = '\0';
}

/* What follows `key`, and blanks and colons, on the first line that has it. */
static void find_in_file(const char *path, const char *key, char text[MACHINE_TEXT_BYTES])
{
    char line[512];
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return;
    while (fgets(line, sizeof line, file) != NULL) {
        const char *found = strstr(line, key);
        if (found != NULL) {
            found += strlen(key);
            set(text, found + strspn(found, " \t:"));
            break;
        }
    }
    fclose(file);
}

static void describe_gpu(machine *m)
{
    struct cudaDeviceProp properties;
    int count = 0, driver = 0, runtime = 0;
    if (cudaGetDeviceCount(&count) == cudaSuccess && count > 0 &&
        cudaGetDeviceProperties(&properties, 0) == cudaSuccess) {
        set(m->gpu, properties.name);
        m->gpu_memory_bytes = (double)properties.totalGlobalMem;
    }
    m->gpu_count = count;
    (void)cudaDriverGetVersion(&driver);
    (void)cudaRuntimeGetVersion(&runtime);
    snprintf(m->cuda, sizeof m->cuda, "%d.%d, runtime %d.%d", driver / 1000, driver % 1000 / 10, runtime / 1000,
             runtime % 1000 / 10);
    find_in_file("/proc/driver/nvidia/version", "Kernel Module", m->driver);
    /* "Open Kernel Module for x86_64  580.10  Release Build ..." and "Kernel Module  580.10  Fri ..." */
    for (char *word = strtok(m->driver, " \t"); word != NULL; word = strtok(NULL, " \t")) {
        if (word[0] >= '0' && word[0] <= '9') {
            memmove(m->driver, word, strlen(word) + 1);
            break;
        }
    }
}

static void describe_commit(machine *m, const char *commit)
{
    if (commit == NULL)
        commit = getenv("CC_COMMIT");
    if (commit != NULL && commit[0] != '\0') {
        set(m->commit, commit);
        return;
    }
    set(m->commit, "unknown");
    FILE *git = popen("git describe --always --abbrev=40 --dirty --exclude '*' 2>/dev/null", "r"); /* NOLINT: our own */
    if (git == NULL)
        return;
    char line[MACHINE_TEXT_BYTES];
    if (fgets(line, sizeof line, git) != NULL)
        set(m->commit, line);
    pclose(git);
}

int32_t machine_core_count(void)
{
    const long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (int32_t)count : 1;
}

void machine_describe(machine *m, const char *commit)
{
    struct utsname system;
    const time_t now = time(NULL);
    struct tm utc;
    *m = (machine){.core_count = machine_core_count()};
    set(m->gpu, "none");
    set(m->driver, "unknown");
    set(m->cpu, "unknown");
    describe_gpu(m);
    find_in_file("/proc/cpuinfo", "model name", m->cpu);
    m->memory_bytes = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    if (uname(&system) == 0)
        snprintf(m->system, sizeof m->system, "%.60s %.90s", system.sysname, system.release);
    if (gmtime_r(&now, &utc) != NULL)
        strftime(m->date, sizeof m->date, "%Y-%m-%dT%H:%M:%SZ", &utc);
    describe_commit(m, commit);
}
