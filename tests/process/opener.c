/* opener LIBRARY: loads the library, uses an image on the host, and sees that this starts and opens nothing. */
#include <cudacommon/cudacommon.h>
#include <dirent.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define HANGS_AFTER_SECONDS 60

static int failures;

static void expect(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "opener: %s\n", what);
        ++failures;
    }
}

static int count_entries(const char *directory)
{
    int count = 0;
    DIR *entries = opendir(directory);
    while (entries != NULL && readdir(entries) != NULL)
        ++count;
    if (entries != NULL)
        closedir(entries);
    return count;
}

static int count_threads(void)
{
    return count_entries("/proc/self/task");
}

static int count_files(void)
{
    return count_entries("/proc/self/fd");
}

static bool has_driver(void)
{
    char line[4096];
    bool found = false;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
        found = found || strstr(line, "libcuda.so") != NULL || strstr(line, "/dev/nvidia") != NULL;
    if (maps != NULL)
        fclose(maps);
    return found;
}

/* ISO C converts no object pointer to a function pointer. */
static void find(void *library, const char *name, void *function, size_t size)
{
    void *address = dlsym(library, name);
    expect(address != NULL, name);
    memcpy(function, &address, size);
}
#define FIND(library, function) find((library), "cc_" #function, &(function), sizeof(function))

static void use_on_host(void *library)
{
    int32_t (*version)(void) = NULL;
    cc_status (*image_create)(const cc_image_params *, cc_image **) = NULL;
    cc_status (*image_fill)(cc_image *, const cc_region *, const void *, cc_stream) = NULL;
    cc_status (*image_map_host)(cc_image *, const cc_region *, cc_access, void **) = NULL;
    cc_status (*image_unmap_host)(cc_image *, void *) = NULL;
    void (*image_release)(cc_image *) = NULL;
    FIND(library, version);
    FIND(library, image_create);
    FIND(library, image_fill);
    FIND(library, image_map_host);
    FIND(library, image_unmap_host);
    FIND(library, image_release);
    if (failures > 0)
        return;

    cc_image_params params = CC_IMAGE_PARAMS_INIT;
    cc_image *image = NULL;
    void *pixels = NULL;
    const uint8_t value = 42;
    params.dimension = 2;
    params.pixel_type = CC_PIXEL_UINT8;
    params.region.size[0] = 100;
    params.region.size[1] = 100;
    expect(version() >= 20000, "cc_version");
    expect(image_create(&params, &image) == CC_OK, "cc_image_create");
    expect(image_fill(image, NULL, &value, CC_STREAM_DEFAULT) == CC_OK, "cc_image_fill");
    expect(image_map_host(image, NULL, CC_ACCESS_READ_WRITE, &pixels) == CC_OK, "cc_image_map_host");
    expect(pixels != NULL && memchr(pixels, 0, 10000) == NULL && *(const uint8_t *)pixels == value, "the pixels");
    expect(image_unmap_host(image, pixels) == CC_OK, "cc_image_unmap_host");
    image_release(image);
}

int main(int argc, char **argv)
{
    (void)alarm(HANGS_AFTER_SECONDS);
    const int threads = count_threads();
    const int files = count_files();
    void *library = dlopen(argc > 1 ? argv[1] : "", RTLD_NOW | RTLD_LOCAL);
    expect(library != NULL, "dlopen");
    expect(count_threads() == threads, "loading started a thread");
    expect(count_files() == files, "loading opened a file");
    if (library != NULL)
        use_on_host(library);
    expect(count_threads() == threads, "use on the host started a thread");
    expect(count_files() == files, "use on the host opened a file");
    expect(!has_driver(), "use on the host loaded the driver");
    return failures;
}
