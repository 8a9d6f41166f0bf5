/* Many boxes copied by a kernel that reaches host memory itself, against plain copies. */
#include "cuda_test.h"

#include "support/dense_work.h"
#include "support/plain_work.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER_BYTES ((int64_t)1 << 20)
#define MOST_BOXES 3000

static cc_stream stream;
static unsigned char *device_to;
static unsigned char *device_from;
static unsigned char *host_to; /* registered, as host_from is */
static unsigned char *host_from;
static unsigned char *expected;
static unsigned char *found;
static unsigned char *noise;
static cc__copy works[MOST_BOXES];

static unsigned char *allocate_registered(void)
{
    void *memory = NULL;
    ck_assert_int_eq(posix_memalign(&memory, 4096, BUFFER_BYTES), 0);
    ck_assert_int_eq(backend->host_register(backend, memory, BUFFER_BYTES), CC_OK);
    return memory;
}

static void set_up(void)
{
    stream = must_create_stream(0);
    device_to = must_allocate(0, stream, BUFFER_BYTES);
    device_from = must_allocate(0, stream, BUFFER_BYTES);
    host_to = allocate_registered();
    host_from = allocate_registered();
    expected = malloc(BUFFER_BYTES);
    found = malloc(BUFFER_BYTES);
    noise = malloc(BUFFER_BYTES);
    uint32_t state = 17;
    random_bytes(&state, host_from, BUFFER_BYTES);
    random_bytes(&state, noise, BUFFER_BYTES);
}

static void tear_down(void)
{
    must_free(0, stream, device_to);
    must_free(0, stream, device_from);
    must_synchronize(0, stream);
    backend->stream_destroy(backend, 0, stream);
    ck_assert_int_eq(backend->host_unregister(backend, host_to), CC_OK);
    ck_assert_int_eq(backend->host_unregister(backend, host_from), CC_OK);
    free(host_to);
    free(host_from);
    free(expected);
    free(found);
    free(noise);
}

/* The ways a box can go. */
enum {
    UP,
    DOWN,
    INSIDE,
    WAY_COUNT
};

static unsigned char *destination_of(int way)
{
    return way == DOWN ? host_to : device_to;
}

static unsigned char *source_of(int way)
{
    return way == UP ? host_from : device_from;
}

/* Noise in the source; other noise in the destinations, so that a byte written beside a box shows. */
static void prepare(void)
{
    memcpy(expected, noise, BUFFER_BYTES);
    memcpy(host_to, noise, BUFFER_BYTES);
    must_copy(0, stream, device_to, noise, BUFFER_BYTES);
    must_copy(0, stream, device_from, host_from, BUFFER_BYTES);
    must_synchronize(0, stream);
}

/* What the works, whose spans are in what the way uses, should have done. */
static void compare(int way, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        cc__copy plain = works[i];
        plain.destination.data = expected + (works[i].destination.data - destination_of(way));
        plain.source.data = host_from + (works[i].source.data - source_of(way));
        plain_copy(&plain);
    }
    if (way != DOWN)
        must_copy(0, stream, found, device_to, BUFFER_BYTES);
    must_synchronize(0, stream);
    ck_assert_mem_eq(way == DOWN ? host_to : found, expected, BUFFER_BYTES);
}

static void copy_and_compare(int way, int32_t count)
{
    ck_assert_msg(backend->copy_boxes(backend, 0, stream, works, count) == CC_OK, "%s", cc_last_error_message());
    compare(way, count);
}

static cc__span span_at(unsigned char *pixels, const int64_t stride[CC_MAX_DIMENSION],
                        const int64_t start[CC_MAX_DIMENSION])
{
    cc__span span = {.data = pixels};
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++) {
        span.stride[axis] = stride[axis];
        span.data += start[axis] * stride[axis];
    }
    return span;
}

/* Random cells of a random volume; every other time boxes of many shapes in them. */
static int32_t draw_boxes(uint32_t *state, int way, int32_t round)
{
    static const int64_t pixels[] = {1, 2, 3, 4, 6, 8, 12, 16, 24};
    const int64_t pixel_bytes = pixels[random_below(state, 9)];
    int64_t size[CC_MAX_DIMENSION];
    int64_t cell[CC_MAX_DIMENSION];
    int64_t stride[2][CC_MAX_DIMENSION];
    int64_t at[CC_MAX_DIMENSION];
    int32_t count = 0;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++) {
        size[axis] = 1 + random_below(state, axis == 0 ? 40 : 9);
        cell[axis] = 1 + random_below(state, size[axis]);
    }
    if (round % 4 == 3)
        size[0] = cell[0] = 200 + random_below(state, 300);
    const int64_t to_bytes = random_strides(state, size, pixel_bytes, round % 3 == 0 ? 16 : pixel_bytes, stride[0]);
    const int64_t from_bytes = random_strides(state, size, pixel_bytes, round % 3 == 0 ? 16 : pixel_bytes, stride[1]);
    if (round % 5 == 0)
        memcpy(stride[1], stride[0], sizeof stride[0]);
    if (to_bytes + 32 > BUFFER_BYTES || from_bytes + 32 > BUFFER_BYTES)
        return 0;
    unsigned char *to = destination_of(way) + random_below(state, 32);
    unsigned char *from = source_of(way) + random_below(state, 32);
    for (at[3] = 0; at[3] + cell[3] <= size[3]; at[3] += cell[3])
        for (at[2] = 0; at[2] + cell[2] <= size[2]; at[2] += cell[2])
            for (at[1] = 0; at[1] + cell[1] <= size[1]; at[1] += cell[1])
                for (at[0] = 0; at[0] + cell[0] <= size[0] && count < MOST_BOXES; at[0] += cell[0]) {
                    cc__copy *work = &works[count++];
                    work->pixel_bytes = pixel_bytes;
                    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++)
                        work->size[axis] = round % 2 == 0 ? cell[axis] : 1 + random_below(state, cell[axis]);
                    work->destination = span_at(to, stride[0], at);
                    work->source = span_at(from, stride[1], at);
                }
    return count;
}

/* _i: the way. */
START_TEST(boxes_arrive_whole)
{
    uint32_t state = (uint32_t)_i + 31;
    int64_t boxes = 0;
    const int32_t rounds = getenv("CC_TEST_QUICK") != NULL ? 12 : 120;
    for (int32_t round = 0; round < rounds; round++) {
        prepare();
        int32_t count = draw_boxes(&state, _i, round);
        boxes += count;
        copy_and_compare(_i, count);
    }
    ck_assert_int_gt(boxes, rounds);
}
END_TEST

/* The shape that the benchmarks measure: more boxes than a launch takes, 32 bytes a row. */
START_TEST(small_cubes_arrive_whole)
{
    prepare();
    for (int32_t i = 0; i < 1024; i++) {
        const int64_t stride[CC_MAX_DIMENSION] = {4, 512, 512 * 64, 0};
        const int64_t start[CC_MAX_DIMENSION] = {i % 16 * 8, i / 16 % 16 * 4, i / 256 * 8, 0};
        works[i] = (cc__copy){.destination = span_at(destination_of(_i), stride, start),
                              .source = span_at(source_of(_i), stride, start),
                              .size = {8, 4, 7, 1},
                              .pixel_bytes = 4};
    }
    copy_and_compare(_i, 1024);
}
END_TEST

/* Odd bytes at both ends of rows that are long enough to be moved 16 bytes at a time. */
START_TEST(odd_rows_arrive_whole)
{
    prepare();
    for (int32_t i = 0; i < 64; i++)
        works[i] = (cc__copy){.destination = {destination_of(_i) + i * 4097, {1, 1024, 0, 0}},
                              .source = {source_of(_i) + i * 4097, {1, 2048, 0, 0}},
                              .size = {129 + i * 7, 3, 1, 1},
                              .pixel_bytes = 1};
    copy_and_compare(_i, 64);
}
END_TEST

/* One after another in a stream: what one call writes the next one reads. */
START_TEST(boxes_follow_in_stream_order)
{
    prepare();
    const cc__copy up = dense_copy(device_to, host_from, 4096);
    const cc__copy across = dense_copy(device_from, device_to, 4096);
    const cc__copy down = dense_copy(host_to, device_from, 4096);
    ck_assert_int_eq(backend->copy_boxes(backend, 0, stream, &up, 1), CC_OK);
    ck_assert_int_eq(backend->copy_boxes(backend, 0, stream, &across, 1), CC_OK);
    ck_assert_int_eq(backend->copy_boxes(backend, 0, stream, &down, 1), CC_OK);
    ck_assert_int_eq(backend->copy_boxes(backend, 0, stream, NULL, 0), CC_OK);
    must_synchronize(0, stream);
    ck_assert_mem_eq(host_to, host_from, 4096);
}
END_TEST

START_TEST(every_device_reaches_host_memory)
{
    for (int32_t device = 0; device < backend->device_count; device++) {
        cc_stream own = must_create_stream(device);
        unsigned char *memory = must_allocate(device, own, 4096);
        for (int32_t i = 0; i < 4096; i++)
            host_from[i] = (unsigned char)(i * 7 + device);
        const cc__copy up = dense_copy(memory, host_from, 4096);
        const cc__copy down = dense_copy(host_to, memory, 4096);
        ck_assert_int_eq(backend->copy_boxes(backend, device, own, &up, 1), CC_OK);
        ck_assert_int_eq(backend->copy_boxes(backend, device, own, &down, 1), CC_OK);
        must_synchronize(device, own);
        ck_assert_mem_eq(host_to, host_from, 4096);
        must_free(device, own, memory);
        must_synchronize(device, own);
        backend->stream_destroy(backend, device, own);
    }
}
END_TEST

/* Strided pixels inside a device, whose rows are single pixels: a kernel's work, also for plain copies. */
START_TEST(strided_pixels_are_copied)
{
    prepare();
    works[0] = (cc__copy){.destination = {device_to + 4, {12, 1200, 0, 0}},
                          .source = {device_from, {4, 400, 0, 0}},
                          .size = {100, 50, 1, 1},
                          .pixel_bytes = 4};
    ck_assert_int_eq(backend->copy(backend, 0, stream, &works[0]), CC_OK);
    compare(INSIDE, 1);
}
END_TEST

/* A kernel of ours cannot reach what a caller allocated in a context of their own; the copy engine can. */
START_TEST(memory_of_another_context_is_copied)
{
    CUresult (*create_context)(CUcontext *, unsigned int, CUdevice) = NULL;
    CUresult (*destroy_context)(CUcontext) = NULL;
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    void *address = dlsym(library, "cuCtxCreate_v2");
    memcpy(&create_context, &address, sizeof address);
    address = dlsym(library, "cuCtxDestroy_v2");
    memcpy(&destroy_context, &address, sizeof address);
    CUcontext context = NULL;
    CUdevice device = 0;
    CUdeviceptr memory = 0;
    ck_assert_int_eq(cc__driver.cuDeviceGet(&device, 0), CUDA_SUCCESS);
    ck_assert_int_eq(create_context(&context, 0, device), CUDA_SUCCESS);
    ck_assert_int_eq(cc__driver.cuMemAlloc(&memory, 65536), CUDA_SUCCESS);
    make_none_current();

    prepare();
    must_copy(0, stream, pointer_to(memory), host_from, 65536);
    works[0] = (cc__copy){.destination = {device_to + 4, {12, 1200, 0, 0}},
                          .source = {pointer_to(memory), {4, 400, 0, 0}},
                          .size = {100, 50, 1, 1},
                          .pixel_bytes = 4};
    ck_assert_msg(backend->copy(backend, 0, stream, &works[0]) == CC_OK, "%s", cc_last_error_message());
    must_synchronize(0, stream);
    works[0].source.data = device_from;
    compare(INSIDE, 1);
    ck_assert_int_eq(destroy_context(context), CUDA_SUCCESS);
    make_none_current();
}
END_TEST

int main(void)
{
    int status = cuda_test_start();
    if (status != 0)
        return status;

    Suite *suite = suite_create("cuda_boxes");
    TCase *boxes = tcase_create("boxes");
    tcase_add_checked_fixture(boxes, set_up, tear_down);
    tcase_add_loop_test(boxes, boxes_arrive_whole, 0, WAY_COUNT);
    tcase_add_loop_test(boxes, small_cubes_arrive_whole, 0, WAY_COUNT);
    tcase_add_loop_test(boxes, odd_rows_arrive_whole, 0, WAY_COUNT);
    tcase_add_test(boxes, boxes_follow_in_stream_order);
    tcase_add_test(boxes, every_device_reaches_host_memory);
    tcase_add_test(boxes, strided_pixels_are_copied);
    tcase_add_test(boxes, memory_of_another_context_is_copied);
    suite_add_tcase(suite, boxes);
    return cuda_test_run(suite);
}
