#include "memory/machine.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

size_t cc__machine_memory_bytes(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES);
    return pages > 0 ? (size_t)pages * cc__machine_page_bytes() : (size_t)1 << 30;
}

size_t cc__machine_page_bytes(void)
{
    const long bytes = sysconf(_SC_PAGESIZE);
    return bytes > 0 ? (size_t)bytes : 4096;
}

size_t cc__machine_bytes_from_environment(const char *variable, size_t otherwise)
{
    static const char units[] = "KMGT";
    const char *text = getenv(variable);
    char *end = NULL;
    if (text == NULL || text[0] < '0' || text[0] > '9')
        return otherwise;
    errno = 0;
    const unsigned long long number = strtoull(text, &end, 10);
    unsigned shift = 0;
    if (*end != '\0') {
        const char *unit = strchr(units, *end);
        if (unit == NULL || end[1] != '\0')
            return otherwise;
        shift = 10 * (unsigned)(unit - units + 1);
    }
    if (errno != 0 || number > SIZE_MAX >> shift)
        return SIZE_MAX;
    return (size_t)number << shift;
}
