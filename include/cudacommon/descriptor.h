/* Pixels as other array libraries describe them: pointer, shape, strides, type string. */
#ifndef CUDACOMMON_DESCRIPTOR_H
#define CUDACOMMON_DESCRIPTOR_H

#include <cudacommon/access.h>
#include <cudacommon/device.h>
#include <cudacommon/export.h>
#include <cudacommon/image.h>
#include <cudacommon/region.h>
#include <cudacommon/status.h>
#include <stddef.h>
#include <stdint.h>

CC_BEGIN_DECLS

/* The order in which axes are listed. The memory is the same. */
typedef enum cc_order {
    CC_ORDER_C = 0, /* slowest first: (l, k, j, i, component), as NumPy and itk.PyBuffer list them */
    CC_ORDER_K = 1  /* the exact reversal, kept axes: (component, i, j, k, l) */
} cc_order;

/* List the component axis even when there is one component. It is always listed when there are more. */
#define CC_DESCRIBE_COMPONENT_AXIS 1u

typedef struct cc_descriptor {
    uint32_t struct_size; /* set by CC_DESCRIPTOR_INIT */
    int32_t version;      /* 3, of the CUDA array interface */
    int32_t ndim;         /* entries of shape and strides in use */
    cc_place place;       /* where data is: CC_PLACE_HOST or a device */
    void *data;           /* the region's first pixel; NULL when the region is empty or only described */
    cc_stream stream;     /* the stream in which data may be used; 0 on the host */
    int64_t shape[CC_MAX_DIMENSION + 1];
    int64_t strides_bytes[CC_MAX_DIMENSION + 1]; /* always filled, also when contiguous */
    char typestr[8];                             /* "<f4"; "" for bfloat16, which has none */
    int32_t pixel_type;                          /* a cc_pixel_type: the element type */
    int32_t itemsize_bytes;                      /* bytes of one element */
    int32_t read_only;                           /* 1 when the elements must not be written */
    int32_t c_contiguous;                        /* 1 when the elements lie one after another, last axis fastest */
    int32_t f_contiguous;                        /* the same, first axis fastest; both may be 1 */
    uint32_t pending; /* 1 when work that stream comes after may be under way: whoever uses data elsewhere must wait */
} cc_descriptor;

#define CC_DESCRIPTOR_INIT                                                                                             \
    {                                                                                                                  \
        sizeof(cc_descriptor), 0, 0, CC_PLACE_HOST, 0, 0, {0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0, 0, 0},  \
            0, 0, 0, 0, 0, 0                                                                                           \
    }

/**
 * Describes a region without touching it: everything but the pointer. Allocates, copies and waits for nothing.
 * region: inside the image's region, or NULL for all of it. place: the side whose strides are meant (they differ only
 * when memory with its own strides was wrapped); on a device that need not exist, or CC_DEVICE_CURRENT for the image's.
 * flags: 0 or CC_DESCRIBE_COMPONENT_AXIS. out_descriptor: initialised with CC_DESCRIPTOR_INIT; data NULL, stream 0.
 * Returns CC_OK; CC_ERROR_INVALID_ARGUMENT for NULL, struct_size 0, order, flags, place, or a negative size;
 * CC_ERROR_REGION.
 * Thread safety: any thread. Does not block. Since 2.0.
 * Source: numba-cuda, "CUDA Array Interface (Version 3)"; NumPy, "The array interface protocol"; ITK PyBuffer.
 */
CC_API cc_status cc_image_describe(cc_image *image, const cc_region *region, cc_order order, uint32_t flags,
                                   cc_place place, cc_descriptor *out_descriptor);

/**
 * Maps a region, as cc_image_map_host() or cc_image_map_device() do, and describes it, pointer included.
 * place: CC_PLACE_HOST, or the image's device (cc_image_get_device()), or CC_DEVICE_CURRENT for whichever that is.
 * stream: on a device, where the pixels will be used; on the host 0.
 * out_descriptor: read_only is 1 for CC_ACCESS_READ and for pixels wrapped read-only.
 * Returns what cc_image_describe() and the map call return; CC_ERROR_INVALID_ARGUMENT when struct_size leaves no room
 * for data; CC_ERROR_INVALID_DEVICE for a device that is not the image's. Ownership: data is borrowed until
 * cc_image_unmap_descriptor(). Thread safety: any thread. Blocks as the map call does. Since 2.0.
 */
CC_API cc_status cc_image_map_descriptor(cc_image *image, const cc_region *region, cc_order order, uint32_t flags,
                                         cc_place place, cc_access access, cc_stream stream,
                                         cc_descriptor *out_descriptor);

/**
 * Gives back what cc_image_map_descriptor() lent: the unmap call for the descriptor's place, data and stream.
 * Returns what that call returns; CC_ERROR_INVALID_ARGUMENT for NULL or struct_size 0.
 * Thread safety: any thread. Does not block. Since 2.0.
 */
CC_API cc_status cc_image_unmap_descriptor(cc_image *image, const cc_descriptor *descriptor);

CC_END_DECLS

#endif
