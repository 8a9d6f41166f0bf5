/* A caller's own work on whole images: mapped, worked on where the GPU is or on the host, and given back. */
#ifndef CUDACOMMON_FILTER_H
#define CUDACOMMON_FILTER_H

#include <cudacommon/device.h>
#include <cudacommon/export.h>
#include <cudacommon/image.h>
#include <cudacommon/status.h>
#include <cudacommon/tiles.h>
#include <stdint.h>

CC_BEGIN_DECLS

/*
 * A filter makes one image from others, by a function for the GPU, one for the host, or both. It is written as for
 * cc_tiles_run(), and sees all of each image as the only tile there is: the same functions do for images of any size.
 *
 * In place: the output is also an input. Then both have the same pointer, and the function gets what was there.
 */
typedef struct cc_filter {
    uint32_t struct_size;    /* set by CC_FILTER_INIT */
    int32_t input_count;     /* 0 to CC_TILES_MAX_INPUTS */
    cc_image *const *inputs; /* may be NULL when there is none */
    cc_image *output;        /* every pixel of it is written */
    cc_tile_fn on_device;    /* queues the work in tile->stream; or NULL */
    cc_tile_fn on_host;      /* does it; or NULL */
    void *user_data;         /* for both */
    cc_place place;          /* a device, CC_PLACE_HOST, or CC_DEVICE_CURRENT for the rule of cc_filter_run() */
    uint32_t reserved;       /* 0 */
    cc_stream stream;        /* of that device; on the host it is ignored */
} cc_filter;

#define CC_FILTER_INIT                                                                                                 \
    {                                                                                                                  \
        sizeof(cc_filter), 0, 0, 0, 0, 0, 0, CC_DEVICE_CURRENT, 0, 0                                                   \
    }

/**
 * Runs a filter: maps the inputs for reading and the output for writing (in place for both), calls one of the two
 * functions on this thread, once, and gives everything back. Parts of images: views.
 *
 * Where: at filter->place. CC_DEVICE_CURRENT is the output's device, when there are devices and a function for them;
 * else the host. On emulated devices, where no kernel runs, and for an output that is lent on the host (loan.h), it is
 * the host when there is a function for that.
 *
 * On a device that device is the thread's current one during the call, so that `kernel<<<grid, block, 0,
 * tile->stream>>>` is all the function needs; it should return CC_OK or CC_ERROR_DEVICE. Work that it queues elsewhere,
 * tile->stream waits for when it returns. An input without pixels has NULL. tile->number is 0 and tile->count 1.
 *
 * When the function fails, what it returned is returned. Pixels of the output that are valid elsewhere too are as they
 * were, so are those of which it wrote none.
 *
 * filter: read before the call returns only. An output without pixels is CC_OK, and calls nothing.
 * Returns CC_OK; CC_ERROR_INVALID_ARGUMENT for NULL, struct_size 0, input_count, place, no function, or none for the
 * place asked for; CC_ERROR_READ_ONLY; CC_ERROR_BUSY while the output is mapped or an input is being written, or when
 * an input overlaps the output otherwise than exactly; CC_ERROR_UNINITIALIZED; CC_ERROR_NO_DEVICE, also when there is
 * no device and no on_host; CC_ERROR_INVALID_DEVICE; CC_ERROR_CAPTURE; CC_ERROR_OUT_OF_HOST_MEMORY;
 * CC_ERROR_OUT_OF_DEVICE_MEMORY; CC_ERROR_FORKED; CC_ERROR_DEVICE; what the function returned.
 * Allocates what the output needs at that place; brings the stale parts of the inputs there.
 * Ownership: all stays the caller's, and is used during the call only.
 * Thread safety: any thread. On a device in stream order; blocks only while pageable memory is copied, other images
 * leave the device to make room, or until the work is done when the function has called cc_tile_wrap(). Since 2.0.
 * Source: itk::CudaImageToImageFilter, itk::CudaInPlaceImageFilter.
 */
CC_API cc_status cc_filter_run(const cc_filter *filter);

CC_END_DECLS

#endif
