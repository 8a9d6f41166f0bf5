/* load LIBRARY: opens it, uses it on the host, closes it. Exit code 0 and no output when it behaved. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static int driver_is_mapped(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[4096];
    int found = 0;
    while (maps && fgets(line, sizeof(line), maps))
        found |= strstr(line, "libcuda.so") || strstr(line, "/dev/nvidia");
    if (maps)
        fclose(maps);
    return found;
}

int main(int argc, char **argv)
{
    int round;
    for (round = 0; round < 2; ++round) {
        void *library = dlopen(argc > 1 ? argv[1] : "", RTLD_NOW | RTLD_LOCAL);
        if (!library) {
            fprintf(stderr, "%s\n", dlerror());
            return 1;
        }
        int32_t (*version)(void) = NULL;
        int32_t (*device_count)(void) = NULL;
        *(void **)&version = dlsym(library, "cc_version");
        *(void **)&device_count = dlsym(library, "cc_device_count");
        if (!version || version() < 20000) {
            fprintf(stderr, "cc_version\n");
            return 1;
        }
        if (driver_is_mapped()) {
            fprintf(stderr, "loading the library loaded the driver\n");
            return 1;
        }
        if (!device_count || device_count() != 0) {
            fprintf(stderr, "cc_device_count is not 0 without devices\n");
            return 1;
        }
        if (dlclose(library) != 0) {
            fprintf(stderr, "%s\n", dlerror());
            return 1;
        }
    }
    return 0;
}
