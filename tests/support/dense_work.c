#include "support/dense_work.h"

cc__copy dense_copy(void *destination, const void *source, int64_t size_bytes)
{
    const cc__copy work = {.destination = {destination, {1, size_bytes, size_bytes, size_bytes}},
                           .source = {(unsigned char *)source, {1, size_bytes, size_bytes, size_bytes}},
                           .size = {size_bytes, 1, 1, 1},
                           .pixel_bytes = 1};
    return work;
}

cc__copy box_copy(unsigned char *destination, unsigned char *source, const int64_t image[CC_MAX_DIMENSION],
                  const int64_t at[CC_MAX_DIMENSION], const int64_t size[CC_MAX_DIMENSION], int64_t pixel_bytes)
{
    cc__copy work = {.pixel_bytes = pixel_bytes};
    int64_t stride = pixel_bytes;
    int64_t offset = 0;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; ++axis) {
        work.size[axis] = size[axis];
        work.source.stride[axis] = work.destination.stride[axis] = stride;
        offset += at[axis] * stride;
        stride *= image[axis];
    }
    work.source.data = source + offset;
    work.destination.data = destination + offset;
    return work;
}

cc__fill dense_fill(void *destination, unsigned char value, int64_t size_bytes)
{
    const cc__fill work = {.destination = {destination, {1, size_bytes, size_bytes, size_bytes}},
                           .size = {size_bytes, 1, 1, 1},
                           .pixel_bytes = 1,
                           .value = {value}};
    return work;
}

cc_status copy_bytes(cc__backend *backend, int32_t device, cc_stream stream, void *destination, const void *source,
                     int64_t size_bytes)
{
    const cc__copy work = dense_copy(destination, source, size_bytes);
    return backend->copy(backend, device, stream, &work);
}

cc_status fill_bytes(cc__backend *backend, int32_t device, cc_stream stream, void *destination, unsigned char value,
                     int64_t size_bytes)
{
    const cc__fill work = dense_fill(destination, value, size_bytes);
    return backend->fill(backend, device, stream, &work);
}

cc_status queue_kernel(cc__backend *backend, int32_t device, cc_stream stream, const cc__kernel *kernel,
                       const void *work)
{
    bool has_written = false;
    return backend->run_kernel(backend, device, stream, kernel, work, &has_written);
}

bool bytes_are(const void *memory, unsigned char value, size_t size_bytes)
{
    const unsigned char *bytes = memory;
    for (size_t i = 0; i < size_bytes; i++)
        if (bytes[i] != value)
            return false;
    return true;
}
