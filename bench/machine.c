#include "machine.h"

#include "device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

void machine_set(char text[MACHINE_TEXT_BYTES], const char *value)
{
    snprintf(text, MACHINE_TEXT_BYTES, "%s", value);
    text[strcspn(text, "\n")] = '\0';
}

/* What follows `key`, and blanks and colons, on the first line that has it. */
void machine_find(const char *path, const char *key, char text[MACHINE_TEXT_BYTES])
{
    char line[512];
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return;
    while (fgets(line, sizeof line, file) != NULL) {
        const char *found = strstr(line, key);
        if (found != NULL) {
            found += strlen(key);
            machine_set(text, found + strspn(found, " \t:"));
            break;
        }
    }
    fclose(file);
}

static void describe_commit(machine *m, const char *commit)
{
    if (commit == NULL)
        commit = getenv("CC_COMMIT");
    if (commit != NULL && commit[0] != '\0') {
        machine_set(m->commit, commit);
        return;
    }
    machine_set(m->commit, "unknown");
    FILE *git = popen("git describe --always --abbrev=40 --dirty --exclude '*' 2>/dev/null", "r"); /* NOLINT: our own */
    if (git == NULL)
        return;
    char line[MACHINE_TEXT_BYTES];
    if (fgets(line, sizeof line, git) != NULL)
        machine_set(m->commit, line);
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
    machine_set(m->gpu, "none");
    machine_set(m->driver, "unknown");
    machine_set(m->cpu, "unknown");
    device_describe(m);
    machine_find("/proc/cpuinfo", "model name", m->cpu);
    m->memory_bytes = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    if (uname(&system) == 0)
        snprintf(m->system, sizeof m->system, "%.60s %.90s", system.sysname, system.release);
    if (gmtime_r(&now, &utc) != NULL)
        strftime(m->date, sizeof m->date, "%Y-%m-%dT%H:%M:%SZ", &utc);
    describe_commit(m, commit);
}
