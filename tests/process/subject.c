/*
 * subject MODE: a program that uses images as its mode says. Exit code 0 and no output when the library behaved; else a
 * line on stderr for each thing that was wrong.
 */
#include <cudacommon/cudacommon.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define HANGS_AFTER_SECONDS 60
#define SIZE 64
#define PIXELS ((size_t)SIZE * SIZE)

static atomic_int failures;

static void expect_at(bool holds, const char *what, int line)
{
    if (!holds) {
        fprintf(stderr, "subject:%d: %s (%s)\n", line, what, cc_last_error_message());
        ++failures;
    }
}
#define EXPECT(condition) expect_at((condition), #condition, __LINE__)

static bool has_device(void)
{
    return cc_device_count() > 0;
}

static cc_image *make_image(void)
{
    cc_image_params params = CC_IMAGE_PARAMS_INIT;
    cc_image *image = NULL;
    params.dimension = 2;
    params.pixel_type = CC_PIXEL_UINT8;
    params.region.size[0] = SIZE;
    params.region.size[1] = SIZE;
    EXPECT(cc_image_create(&params, &image) == CC_OK);
    return image;
}

static void write_on_host(cc_image *image, int value)
{
    void *pixels = NULL;
    EXPECT(cc_image_map_host(image, NULL, CC_ACCESS_WRITE, &pixels) == CC_OK);
    if (pixels != NULL)
        memset(pixels, value, PIXELS);
    EXPECT(cc_image_unmap_host(image, pixels) == CC_OK);
}

static void read_on_host(cc_image *image, int value)
{
    void *pixels = NULL;
    EXPECT(cc_image_map_host(image, NULL, CC_ACCESS_READ, &pixels) == CC_OK);
    for (size_t i = 0; pixels != NULL && i < PIXELS; ++i)
        if (((const uint8_t *)pixels)[i] != value) {
            EXPECT(!"the pixels are right");
            break;
        }
    EXPECT(cc_image_unmap_host(image, pixels) == CC_OK);
}

/* Where the image is: on the device when there is one. All pixels become 2 * value + 1, with the work still queued. */
static void work_on_image(cc_image *image, int value)
{
    write_on_host(image, value);
    if (has_device())
        EXPECT(cc_image_prefetch(image, NULL, 0) == CC_OK);
    EXPECT(cc_image_rescale(image, 2, 1, image, CC_STREAM_DEFAULT) == CC_OK);
}

static int devices(void)
{
    printf("%d\n", (int)cc_device_count());
    return 0;
}

/* On a machine where no device can be used, everything but devices works. */
static void host(void)
{
    void *pixels = &failures;
    EXPECT(cc_device_count() == 0);
    cc_image *image = make_image();
    write_on_host(image, 5);
    read_on_host(image, 5);
    EXPECT(cc_image_rescale(image, 2, 1, image, CC_STREAM_DEFAULT) == CC_OK);
    read_on_host(image, 11);
    EXPECT(cc_image_map_device(image, NULL, CC_ACCESS_READ, CC_STREAM_DEFAULT, &pixels) == CC_ERROR_NO_DEVICE);
    EXPECT(pixels == &failures);
    EXPECT(cc_image_prefetch(image, NULL, 0) == CC_ERROR_NO_DEVICE);
    EXPECT(cc_image_set_device(image, 0) == CC_ERROR_NO_DEVICE);
    EXPECT(cc_stream_synchronize(0, CC_STREAM_DEFAULT) == CC_ERROR_NO_DEVICE);
    read_on_host(image, 11);
    cc_image_release(image);
}

/* Images that live until the process ends. */
static struct {
    cc_image *image;
    cc_image *wrapped;
    uint8_t memory[PIXELS];
    void *mapped;
    int released;
    bool is_static; /* released by the destructor, after all handlers */
} last;

static void note_release(void *data, void *user_data)
{
    EXPECT(data == last.memory);
    EXPECT(user_data == &last);
    ++last.released;
}

static void make_last_images(void)
{
    cc_wrap_params wrap = CC_WRAP_PARAMS_INIT;
    wrap.data = last.memory;
    wrap.size_bytes = PIXELS;
    wrap.release = note_release;
    wrap.user_data = &last;
    last.image = make_image();
    last.wrapped = make_image();
    EXPECT(cc_image_wrap_host(last.wrapped, &wrap) == CC_OK);
    work_on_image(last.image, 3);
    work_on_image(last.wrapped, 4);
}

/* Whatever the device still does, nothing ends the process or hangs. */
static void release_last_images(void)
{
    void *pixels = NULL;
    if (last.mapped != NULL && has_device())
        (void)cc_image_unmap_device(last.image, last.mapped, CC_STREAM_DEFAULT);
    if (cc_image_map_host(last.image, NULL, CC_ACCESS_READ, &pixels) == CC_OK)
        EXPECT(cc_image_unmap_host(last.image, pixels) == CC_OK);
    if (cc_image_map_device(last.image, NULL, CC_ACCESS_READ, CC_STREAM_DEFAULT, &pixels) == CC_OK)
        EXPECT(cc_image_unmap_device(last.image, pixels, CC_STREAM_DEFAULT) == CC_OK);
    cc_image *late = make_image();
    write_on_host(late, 6);
    read_on_host(late, 6);
    cc_image_release(late);
    cc_image_release(last.image);
    cc_image_release(last.wrapped);
    last.image = NULL;
    last.wrapped = NULL;
    EXPECT(last.released == 1);
    if (failures > 0)
        _exit(EXIT_FAILURE);
}

__attribute__((destructor)) static void release_static_images(void)
{
    if (last.is_static)
        release_last_images();
}

/* The handler is registered before the library is first used, and so runs after the library's own. */
static void exit_late(void)
{
    EXPECT(atexit(release_last_images) == 0);
    make_last_images();
}

static void exit_early(void)
{
    make_last_images();
    EXPECT(atexit(release_last_images) == 0);
}

static void exit_static(void)
{
    last.is_static = true;
    make_last_images();
}

static void exit_never(void)
{
    make_last_images();
}

static void exit_mapped(void)
{
    exit_late();
    if (has_device())
        EXPECT(cc_image_map_device(last.image, NULL, CC_ACCESS_READ_WRITE, CC_STREAM_DEFAULT, &last.mapped) == CC_OK);
    else
        EXPECT(cc_image_map_host(last.image, NULL, CC_ACCESS_READ_WRITE, &last.mapped) == CC_OK);
}

static void *read_without_end(void *argument)
{
    for (;;)
        read_on_host(argument, 7);
    return NULL;
}

/* Main returns while a thread is in the library. */
static void exit_in_use(void)
{
    pthread_t thread;
    make_last_images();
    read_on_host(last.image, 7);
    EXPECT(pthread_create(&thread, NULL, read_without_end, last.image) == 0);
    (void)usleep(20000);
}

static void *release_in_thread(void *argument)
{
    cc_image_release(argument);
    return NULL;
}

/* The last owner is a thread that has never used a device. */
static void release_elsewhere(void)
{
    pthread_t thread;
    make_last_images();
    EXPECT(pthread_create(&thread, NULL, release_in_thread, last.image) == 0);
    EXPECT(pthread_join(thread, NULL) == 0);
    EXPECT(pthread_create(&thread, NULL, release_in_thread, last.wrapped) == 0);
    EXPECT(pthread_join(thread, NULL) == 0);
    EXPECT(last.released == 1);
}

static void expect_child_to_succeed(pid_t child)
{
    int status = 0;
    EXPECT(child > 0 && waitpid(child, &status, 0) == child);
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* A child is a process like any other when nothing was used before. */
static void fork_before_use(void)
{
    cc_image *image = make_image();
    const pid_t child = fork();
    if (child == 0)
        (void)alarm(HANGS_AFTER_SECONDS / 2);
    work_on_image(image, 3);
    read_on_host(image, 7);
    cc_image_release(image);
    if (child != 0)
        expect_child_to_succeed(child);
}

/* In a child of a process that has used a device the host works; the device works, or is refused. */
static void use_in_child(cc_image *on_both, cc_image *on_device)
{
    void *pixels = NULL;
    cc_status status = CC_OK;
    (void)alarm(HANGS_AFTER_SECONDS / 2);
    const bool is_refused = has_device() && strcmp(cc_device_backend_name(), "cuda") == 0;
    const cc_status expected = is_refused ? CC_ERROR_FORKED : CC_OK;
    read_on_host(on_both, 7);
    if (has_device()) {
        status = cc_image_map_device(on_both, NULL, CC_ACCESS_READ, CC_STREAM_DEFAULT, &pixels);
        EXPECT(status == expected);
        if (status == CC_OK)
            EXPECT(cc_image_unmap_device(on_both, pixels, CC_STREAM_DEFAULT) == CC_OK);
        EXPECT(cc_stream_synchronize(0, CC_STREAM_DEFAULT) == expected);
    }
    status = cc_image_map_host(on_device, NULL, CC_ACCESS_READ, &pixels);
    EXPECT(status == expected);
    if (status == CC_OK)
        EXPECT(cc_image_unmap_host(on_device, pixels) == CC_OK);
    write_on_host(on_both, 9);
    read_on_host(on_both, 9);
    cc_image *fresh = make_image();
    write_on_host(fresh, 10);
    read_on_host(fresh, 10);
    cc_image_release(fresh);
    cc_image_release(on_both);
    cc_image_release(on_device);
}

static void fork_after_use(void)
{
    cc_image *on_both = make_image();
    cc_image *on_device = make_image();
    work_on_image(on_both, 3);
    read_on_host(on_both, 7);
    work_on_image(on_device, 4);
    const pid_t child = fork();
    if (child == 0) {
        use_in_child(on_both, on_device);
        return;
    }
    expect_child_to_succeed(child);
    read_on_host(on_device, 9);
    read_on_host(on_both, 7);
    work_on_image(on_both, 1);
    read_on_host(on_both, 3);
    cc_image_release(on_both);
    cc_image_release(on_device);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } modes[] = {
        {"host", host},
        {"exit-late", exit_late},
        {"exit-early", exit_early},
        {"exit-static", exit_static},
        {"exit-never", exit_never},
        {"exit-mapped", exit_mapped},
        {"exit-in-use", exit_in_use},
        {"release-elsewhere", release_elsewhere},
        {"fork-before-use", fork_before_use},
        {"fork-after-use", fork_after_use},
    };
    (void)alarm(HANGS_AFTER_SECONDS);
    if (argc > 1 && strcmp(argv[1], "devices") == 0)
        return devices();
    for (size_t i = 0; argc > 1 && i < sizeof modes / sizeof *modes; ++i)
        if (strcmp(argv[1], modes[i].name) == 0) {
            modes[i].run();
            return failures;
        }
    fprintf(stderr, "subject: no such mode\n");
    return EXIT_FAILURE;
}
