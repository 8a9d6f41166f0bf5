/* Two GPUs: what a copy between them can do, and one image brought from one to the other, valid on both. */
#include "bench.h"
#include "kernels.h"
#include "pixels.h"

#define BYTES (512 * MIB)

typedef struct pair {
    bench *b;
    int32_t second;
    cudaStream_t second_stream;
    void *from;
    void *to;
    cc_image *image;
    probes look; /* of the second device */
} pair;

static double copy_to_second(void *context)
{
    const pair *p = context;
    const double begin = clock_seconds();
    CUDA(cudaMemcpyPeerAsync(p->to, p->second, p->from, p->b->device, BYTES, p->second_stream));
    CUDA(cudaStreamSynchronize(p->second_stream));
    return clock_seconds() - begin;
}

static bool begin_pair(bench *b, pair *p, const char *group)
{
    *p = (pair){.b = b, .second = b->device + 1};
    if (b->device_count < 2) {
        bench_note(b, "%s: needs two GPUs, there is one", group);
        return false;
    }
    CUDA(cudaSetDevice(p->second));
    CUDA(cudaStreamCreateWithFlags(&p->second_stream, cudaStreamNonBlocking));
    CUDA(cudaSetDevice(b->device));
    return true;
}

/* The error that says it is on already is no error. */
static void enable_peer_access(int32_t device, int32_t peer)
{
    int can_access = 0;
    CUDA(cudaDeviceCanAccessPeer(&can_access, device, peer));
    if (!can_access)
        return;
    CUDA(cudaSetDevice(device));
    const cudaError_t error = cudaDeviceEnablePeerAccess(peer, 0);
    if (error == cudaErrorPeerAccessAlreadyEnabled)
        (void)cudaGetLastError();
    else
        CUDA(error);
}

void limits_peer(bench *b)
{
    pair p;
    if (!begin_pair(b, &p, "limits.peer"))
        return;
    enable_peer_access(p.second, b->device);
    enable_peer_access(b->device, p.second);
    CUDA(cudaSetDevice(p.second));
    CUDA(cudaMalloc(&p.to, BYTES));
    CUDA(cudaSetDevice(b->device));
    CUDA(cudaMalloc(&p.from, BYTES));
    CUDA(kernel_content(p.from, (int64_t)(BYTES / sizeof(float)), bench_next_seed(b), b->stream));
    CUDA(cudaStreamSynchronize(b->stream));
    bench_measure(b, "limits.peer.copy.512MiB", (double)BYTES, 3, 20, copy_to_second, &p);
    CUDA(cudaFree(p.from));
    CUDA(cudaFree(p.to));
    CUDA(cudaStreamDestroy(p.second_stream));
}

static void check_valid_on(const pair *p, int32_t device)
{
    cc_place_state state = CC_PLACE_STATE_INIT;
    CC(cc_image_get_place_state(p->image, device, &state));
    if (state.valid_pixels != (int64_t)(BYTES / sizeof(float)))
        bench_fail("%lld pixels are valid on device %d", (long long)state.valid_pixels, (int)device);
}

static double image_to_second(void *context)
{
    const pair *p = context;
    const uint32_t seed = bench_next_seed(p->b);
    CC(cc_image_set_device(p->image, p->b->device));
    image_write_device(p->image, seed, p->b->stream);
    CUDA(cudaStreamSynchronize(p->b->stream));

    CC(cc_image_set_device(p->image, p->second));
    const double begin = clock_seconds();
    float *pixels = image_map_device(p->image, NULL, CC_ACCESS_READ, p->second_stream);
    CUDA(cudaStreamSynchronize(p->second_stream));
    const double seconds = clock_seconds() - begin;
    check_valid_on(p, p->b->device);
    check_valid_on(p, p->second);
    CUDA(cudaSetDevice(p->second));
    probes_check_device(&p->look, pixels, seed, p->second_stream, "an image brought to another GPU");
    CUDA(cudaSetDevice(p->b->device));
    image_unmap_device(p->image, pixels, p->second_stream);
    return seconds;
}

void library_devices(bench *b)
{
    pair p;
    if (!begin_pair(b, &p, "library.devices"))
        return;
    CUDA(cudaSetDevice(p.second));
    probes_spread(&p.look, (int64_t)(BYTES / sizeof(float)));
    CUDA(cudaSetDevice(b->device));
    p.image = image_create_volume(b, BYTES);
    bench_measure(b, "library.devices.copy.512MiB", (double)BYTES, 2, 15, image_to_second, &p);
    cc_image_release(p.image);
    CUDA(cudaSetDevice(p.second));
    probes_release(&p.look);
    CUDA(cudaStreamDestroy(p.second_stream));
    CUDA(cudaSetDevice(b->device));
}
