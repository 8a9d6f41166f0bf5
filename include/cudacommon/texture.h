/* Images as CUDA textures: interpolated and cached reads inside kernels, rebuilt only when the pixels have changed. */
#ifndef CUDACOMMON_TEXTURE_H
#define CUDACOMMON_TEXTURE_H

#include <cudacommon/device.h>
#include <cudacommon/export.h>
#include <cudacommon/image.h>
#include <cudacommon/region.h>
#include <cudacommon/status.h>
#include <stdint.h>

CC_BEGIN_DECLS

/* How many axes a kernel reads along. The others have one pixel. */
typedef enum cc_texture_shape {
    CC_TEXTURE_VOLUME = 0, /* i, j, k: tex3D(object, x, y, z), also for a single slice */
    CC_TEXTURE_LAYERS = 1, /* a stack of projections: tex2DLayered(object, x, y, k), nothing between layers */
    CC_TEXTURE_PLANE = 2   /* i, j: tex2D(object, x, y) */
} cc_texture_shape;

typedef enum cc_texture_filter {
    CC_TEXTURE_POINT = 0, /* the pixel that the coordinate is in */
    CC_TEXTURE_LINEAR = 1 /* between pixels; the hardware's weights have 8 bits behind the point */
} cc_texture_filter;

/* What is beyond the border. The last two are for normalised coordinates. */
typedef enum cc_texture_address {
    CC_TEXTURE_BORDER = 0, /* zeros */
    CC_TEXTURE_CLAMP = 1,  /* the nearest pixel */
    CC_TEXTURE_WRAP = 2,   /* the image once more */
    CC_TEXTURE_MIRROR = 3  /* the image turned round */
} cc_texture_address;

typedef enum cc_texture_read {
    CC_TEXTURE_ELEMENT = 0,   /* the pixel's own type; float16 is read as float */
    CC_TEXTURE_NORMALIZED = 1 /* integers of 8 and 16 bits as float: 0 to 1, or -1 to 1 */
} cc_texture_read;

/* cc_texture_params.flags */
#define CC_TEXTURE_PER_COMPONENT 1u          /* one object for each component, also of pixels with 2 and 4 */
#define CC_TEXTURE_NORMALIZED_COORDINATES 2u /* from 0 to 1 along each axis but that of the layers */

typedef struct cc_texture_params {
    uint32_t struct_size; /* set by CC_TEXTURE_PARAMS_INIT */
    uint32_t flags;
    int32_t shape;      /* a cc_texture_shape */
    int32_t filter;     /* a cc_texture_filter */
    int32_t read;       /* a cc_texture_read */
    int32_t address[3]; /* a cc_texture_address along i, j, k */
} cc_texture_params;

/* A volume, by the nearest pixel, zeros around it. */
#define CC_TEXTURE_PARAMS_INIT                                                                                         \
    {                                                                                                                  \
        sizeof(cc_texture_params), 0, CC_TEXTURE_VOLUME, CC_TEXTURE_POINT, CC_TEXTURE_ELEMENT,                         \
        {                                                                                                              \
            CC_TEXTURE_BORDER, CC_TEXTURE_BORDER, CC_TEXTURE_BORDER                                                    \
        }                                                                                                              \
    }

/* The most objects for one image: components that do not fit into one. */
#define CC_TEXTURE_MAX_OBJECTS 16

/* A mapped texture. The centre of the region's first pixel is at (0.5, 0.5, 0.5). */
typedef struct cc_texture {
    uint32_t struct_size; /* set by CC_TEXTURE_INIT */
    int32_t object_count; /* 0 for a region without pixels */
    int32_t channels;     /* values that one read of an object gives: 1, 2 or 4 */
    int32_t device;
    cc_region region;                         /* which pixels it has, in the image's indices */
    void *library;                            /* the library's own */
    uint64_t objects[CC_TEXTURE_MAX_OBJECTS]; /* each a cudaTextureObject_t */
} cc_texture;

#define CC_TEXTURE_INIT                                                                                                \
    {                                                                                                                  \
        sizeof(cc_texture), 0, 0, CC_PLACE_HOST, {{0, 0, 0, 0}, {0, 0, 0, 0}}, 0,                                      \
        {                                                                                                              \
            0                                                                                                          \
        }                                                                                                              \
    }

/**
 * Lends a region as a texture on the image's device, for reading by kernels in `stream`. To the rest of the library it
 * is a mapping for reading: until it ends, others may read the pixels and nobody may write them.
 *
 * One texture object has the components of a pixel when these are 1, 2 or 4; else there is one for each component. A
 * complex component is two values. The texture is a copy in memory of its own on the device, made in stream order from
 * the pixels that are there; it is kept with them, and the next call for the same region and shape has it at once,
 * until the pixels have changed. While a borrower may write the pixels (loan.h) it is made anew each time. Filter,
 * address and read cost nothing to change. What is kept counts as held on the device, goes with the image's memory
 * there (cc_image_evict()), and, when nobody has it mapped, as soon as others need room.
 *
 * region: inside the image's region, or NULL for all of it; along axes that the shape does not have, one pixel.
 * params: NULL is CC_TEXTURE_PARAMS_INIT. stream: of the image's device. out_texture: initialised with CC_TEXTURE_INIT.
 *
 * Returns CC_OK; CC_ERROR_INVALID_ARGUMENT for NULL, struct_size 0 or one without room for the objects, an unknown
 * value or flag, a negative size, or wrap or mirror without normalised coordinates; CC_ERROR_REGION; CC_ERROR_SIZE for
 * pixels along an axis that the shape does not have; CC_ERROR_PIXEL_TYPE for what a texture cannot hold (64-bit
 * numbers, bfloat16, complex128), linear filtering of integers that are not normalised, or normalised 32-bit integers:
 * cast first; CC_ERROR_UNSUPPORTED for more than CC_TEXTURE_MAX_OBJECTS objects, or an axis longer than the device's
 * textures can be; CC_ERROR_BUSY; CC_ERROR_UNINITIALIZED; CC_ERROR_NO_DEVICE; CC_ERROR_INVALID_DEVICE;
 * CC_ERROR_CAPTURE; CC_ERROR_OUT_OF_DEVICE_MEMORY; CC_ERROR_OUT_OF_HOST_MEMORY; CC_ERROR_FORKED; CC_ERROR_DEVICE.
 * Ownership: the objects are borrowed until cc_image_unmap_texture(). The image stays alive until then.
 * Thread safety: any thread; the caller's current device and pending CUDA error are untouched.
 * Blocks as cc_image_map_device() does, and for the driver when it makes a texture for the first time. Since 2.0.
 * Source: CUDA C++ Programming Guide, "Texture Fetching".
 */
CC_API cc_status cc_image_map_texture(cc_image *image, const cc_region *region, const cc_texture_params *params,
                                      cc_stream stream, cc_texture *out_texture);

/**
 * Gives back what cc_image_map_texture() lent. What was queued in `stream` so far may still read the texture, also when
 * the image is released at once; it is changed or freed only after that.
 * texture: as it came; has no objects afterwards. One without pixels may be given back or not. stream: where it was
 * used, on the device it was mapped on; may be destroyed afterwards.
 * Returns CC_OK; CC_ERROR_INVALID_ARGUMENT for NULL, struct_size 0, or a texture that this image has not mapped;
 * CC_ERROR_CAPTURE when the stream is being captured; CC_ERROR_OUT_OF_HOST_MEMORY; CC_ERROR_FORKED; CC_ERROR_DEVICE.
 * When it fails, the mapping still stands.
 * Thread safety: any thread, not only the one that mapped. Does not block. Since 2.0.
 */
CC_API cc_status cc_image_unmap_texture(cc_image *image, cc_texture *texture, cc_stream stream);

CC_END_DECLS

#endif
