#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "memory/cores.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_BYTES 512
#define ROOT "/sys/fs/cgroup"

int32_t cc__cores_of_quota(const char *text)
{
    char *end = NULL;
    const long long quota = strtoll(text, &end, 10);
    const bool has_quota = end != text && quota > 0;
    const long long period = has_quota ? strtoll(end, NULL, 10) : 0;
    if (period <= 0 || quota / period >= INT32_MAX)
        return INT32_MAX;
    return (int32_t)(quota / period + (quota % period != 0 ? 1 : 0));
}

static bool read_line(const char *path, char *line, int32_t size)
{
    FILE *file = fopen(path, "re");
    const bool is_read = file != NULL && fgets(line, size, file) != NULL;
    if (file != NULL)
        (void)fclose(file);
    return is_read;
}

/* The group's own limit and those of the groups around it; version 2 of control groups, which has one tree. */
static int32_t cores_of_groups(void)
{
    char line[PATH_BYTES];
    char path[PATH_BYTES + sizeof ROOT + 16];
    char quota[64];
    int32_t cores = INT32_MAX;
    if (!read_line("/proc/self/cgroup", line, sizeof line) || strncmp(line, "0::/", 4) != 0)
        return cores;
    line[strcspn(line, "\n")] = '\0';
    char *group = line + 3;
    for (;;) {
        (void)snprintf(path, sizeof path, "%s%s/cpu.max", ROOT, group);
        const int32_t own = read_line(path, quota, sizeof quota) ? cc__cores_of_quota(quota) : INT32_MAX;
        if (own < cores)
            cores = own;
        char *last = strrchr(group, '/');
        if (last == NULL)
            return cores;
        *last = '\0';
    }
}

static int32_t cores_allowed(void)
{
#ifdef CPU_COUNT
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
        return CPU_COUNT(&allowed);
#endif
    /* More cores than a cpu_set_t has bits for. */
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 && online < INT32_MAX ? (int32_t)online : 1;
}

int32_t cc__cores_usable(void)
{
    /* Affinity may change from call to call, a quota hardly ever, and asking for it opens files. */
    static _Atomic int32_t quota;
    int32_t most = atomic_load_explicit(&quota, memory_order_relaxed);
    if (most == 0) {
        most = cores_of_groups();
        atomic_store_explicit(&quota, most, memory_order_relaxed);
    }
    const int32_t allowed = cores_allowed();
    const int32_t cores = allowed < most ? allowed : most;
    return cores > 1 ? cores : 1;
}
