/* The image handle: a region of pixels with its geometry. Where the pixels are is in access.h. */
#ifndef CUDACOMMON_IMAGE_H
#define CUDACOMMON_IMAGE_H

#include <cudacommon/device.h>
#include <cudacommon/export.h>
#include <cudacommon/pixel.h>
#include <cudacommon/region.h>
#include <cudacommon/status.h>
#include <stdint.h>

CC_BEGIN_DECLS

/*
 * An image shares its pixels with its views and grafts, and has its own region and geometry.
 *
 * Thread safety of every function on an image, unless it says otherwise: pixels may be mapped, unmapped, filled and
 * queried through the same handle from any thread at once. What sets the handle itself (region, geometry, device,
 * resize, graft, wrap) must not run at the same time as another call on the same handle.
 */
typedef struct cc_image cc_image;

/* cc_image_params.flags: pixels start undefined instead of zero; to read one before it is written is an error. */
#define CC_IMAGE_UNINITIALIZED 1u

typedef struct cc_image_params {
    uint32_t struct_size;             /* set by CC_IMAGE_PARAMS_INIT */
    int32_t dimension;                /* 1 to CC_MAX_DIMENSION */
    int32_t pixel_type;               /* a cc_pixel_type */
    int32_t components;               /* 1 to CC_MAX_COMPONENTS values per pixel, side by side in memory */
    int32_t device;                   /* the device that cc_image_map_device uses, or CC_DEVICE_CURRENT */
    uint32_t flags;                   /* 0 or CC_IMAGE_UNINITIALIZED */
    cc_region region;                 /* pixels */
    double spacing[CC_MAX_DIMENSION]; /* millimetres between pixel centres, > 0 */
    double origin[CC_MAX_DIMENSION];  /* millimetres, where the pixel with index 0 is */
    double direction[CC_MAX_DIMENSION][CC_MAX_DIMENSION]; /* columns are the directions of the image's axes */
} cc_image_params;

/* dimension 0 (must be set), bool, 1 component, current device, zeros, spacing 1, origin 0, identity direction. */
#define CC_IMAGE_PARAMS_INIT                                                                                           \
    {                                                                                                                  \
        sizeof(cc_image_params), 0, CC_PIXEL_BOOL, 1, CC_DEVICE_CURRENT, 0, {{0, 0, 0, 0}, {0, 0, 0, 0}},              \
            {1, 1, 1, 1}, {0, 0, 0, 0},                                                                                \
        {                                                                                                              \
            {1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0},                                                                  \
            {                                                                                                          \
                0, 0, 0, 1                                                                                             \
            }                                                                                                          \
        }                                                                                                              \
    }

/**
 * Makes an image. Its pixels are zero (or undefined, with CC_IMAGE_UNINITIALIZED).
 * Allocates only the handle: pixel memory comes when a place first needs it. Needs no device and touches none.
 * params: see the struct; a params.device >= 0 is checked when a device is first used.
 * Returns CC_OK; CC_ERROR_INVALID_ARGUMENT for NULL, struct_size 0, dimension, negative size, components, flags, a
 * spacing that is not > 0, a value that is not finite, or a direction without inverse; CC_ERROR_PIXEL_TYPE for an
 * unknown type; CC_ERROR_OVERFLOW when pixels, bytes or index + size leave 63 bits; CC_ERROR_OUT_OF_HOST_MEMORY.
 * Ownership: returned with ownership, end it with cc_image_release().
 * Thread safety: any thread. Does not block. Since 2.0.
 * Source: ITK Software Guide, "Defining Origin and Spacing": point = origin + direction * (spacing .* index).
 */
CC_API cc_status cc_image_create(const cc_image_params *params, cc_image **out_image);

/**
 * With what cc_image_create() makes another image like this one: of its type, region and geometry, on its device
 * (CC_DEVICE_CURRENT when that is not decided yet). flags is 0; what is to differ, change. Copies no pixels, allocates
 * nothing.
 * out_params: initialised with CC_IMAGE_PARAMS_INIT.
 * Returns CC_OK; CC_ERROR_INVALID_ARGUMENT for NULL or struct_size 0.
 * Does not block. Since 2.0.
 * Source: itk::ImageBase::CopyInformation().
 */
CC_API cc_status cc_image_get_params(const cc_image *image, cc_image_params *out_params);

/**
 * Adds an owner to an image and returns it, so that it can be passed on. NULL gives NULL.
 * Ownership: returned with ownership, end it with cc_image_release().
 * Thread safety: any thread. Does not block. Since 2.0.
 */
CC_API cc_image *cc_image_retain(cc_image *image);

/**
 * Ends one ownership. The last one frees the handle, and the pixels unless a view or graft still uses them.
 * A live mapping is an owner too: the image goes when the last one is unmapped. Accepts NULL.
 * Ownership: transferred; do not use the handle afterwards.
 * Thread safety: any thread, also while the process exits. Blocks only while copies into or out of the pixels' host
 * memory are under way. Since 2.0.
 */
CC_API void cc_image_release(cc_image *image);

/**
 * Makes a view: an image over part of the same pixels, coherent with it in both directions. Its region is `region`;
 * spacing, origin and direction are the image's, so that each pixel keeps its place in space.
 * Allocates only the handle; copies no pixels.
 * region: inside the image's region.
 * Returns CC_OK; CC_ERROR_INVALID_ARGUMENT for NULL or a negative size; CC_ERROR_REGION; CC_ERROR_OUT_OF_HOST_MEMORY.
 * Ownership: returned with ownership; it keeps the pixels alive by itself.
 * Does not block. Since 2.0.
 */
CC_API cc_status cc_image_create_view(cc_image *image, const cc_region *region, cc_image **out_view);

/**
 * Makes `image` share the pixels of `source` and take over its region, pixel type, device and geometry; what `image`
 * held before is let go. Afterwards the two are coherent, and each sets its own region index and geometry.
 * Copies no pixels.
 * Returns CC_OK; CC_ERROR_INVALID_ARGUMENT for NULL; CC_ERROR_BUSY while `image` is mapped.
 * Ownership: both handles stay with the caller; the pixels live as long as one of them.
 * Does not block, except as cc_image_release() does. Since 2.0.
 * Source: itk::Image::Graft().
 */
CC_API cc_status cc_image_graft(cc_image *image, const cc_image *source);

/**
 * Gives the image new pixels, all zero, for another region. Views and grafts keep the old ones.
 * Allocates and copies nothing; the old pixels are freed if this was their last image.
 * Returns CC_OK; CC_ERROR_INVALID_ARGUMENT for NULL or a negative size; CC_ERROR_OVERFLOW; CC_ERROR_BUSY while `image`
 * is mapped; CC_ERROR_OUT_OF_HOST_MEMORY.
 * Does not block, except as cc_image_release() does. Since 2.0.
 */
CC_API cc_status cc_image_resize(cc_image *image, const cc_region *region);

/**
 * Moves the image to another device: from now on cc_image_map_device() uses this one.
 * Moves no pixels by itself; the next device access copies what is needed, from the nearest place that has it.
 * device: 0 to cc_device_count() - 1.
 * Returns CC_OK; CC_ERROR_INVALID_ARGUMENT for NULL; CC_ERROR_NO_DEVICE; CC_ERROR_INVALID_DEVICE.
 * Does not block once the driver is initialised. Since 2.0.
 */
CC_API cc_status cc_image_set_device(cc_image *image, int32_t device);

/* The device that cc_image_map_device() uses; CC_DEVICE_CURRENT until that is decided, and for NULL. Since 2.0. */
CC_API int32_t cc_image_get_device(const cc_image *image);

/* The number of axes, 1 to CC_MAX_DIMENSION; 0 for NULL. Since 2.0. */
CC_API int32_t cc_image_get_dimension(const cc_image *image);

/* The type of one component; CC_PIXEL_BOOL for NULL. Since 2.0. */
CC_API cc_pixel_type cc_image_get_pixel_type(const cc_image *image);

/* The number of components of one pixel; 0 for NULL. Since 2.0. */
CC_API int32_t cc_image_get_components(const cc_image *image);

/* The image's region, in pixels; all zero for NULL. Since 2.0. */
CC_API cc_region cc_image_get_region(const cc_image *image);

/* The number of pixels along an axis (0 = i, fastest): 1 past the image's dimension; 0 for NULL or no such axis.
 * Since 2.0. */
CC_API int64_t cc_image_get_size(const cc_image *image, int32_t axis);

/* The index of the first pixel along an axis; 0 past the image's dimension, for NULL or no such axis. Since 2.0. */
CC_API int64_t cc_image_get_index(const cc_image *image, int32_t axis);

/* The number of bytes that the image's pixels are, size_bytes = pixels * components * bytes of one; 0 for NULL.
 * Since 2.0. */
CC_API size_t cc_image_get_size_bytes(const cc_image *image);

/* 1 when the pixels may only be read (wrapped with CC_WRAP_READ_ONLY), else 0. Since 2.0. */
CC_API int32_t cc_image_get_read_only(const cc_image *image);

/**
 * Numbers the contents: changes whenever pixels of the image, or of those it shares, may have changed, and never comes
 * back to an earlier value. For caches of what was computed from an image. 0 for NULL.
 * Thread safety: any thread. Does not block. Since 2.0.
 */
CC_API uint64_t cc_image_get_generation(cc_image *image);

/**
 * Sets the index of the first pixel. Touches no pixels, and no view or graft.
 * Returns CC_OK; CC_ERROR_INVALID_ARGUMENT for NULL; CC_ERROR_OVERFLOW when index + size leaves 63 bits;
 * CC_ERROR_BUSY while `image` is mapped.
 * Does not block. Since 2.0.
 */
CC_API cc_status cc_image_set_index(cc_image *image, const int64_t index[CC_MAX_DIMENSION]);

/**
 * Sets or gets the geometry. Touches no pixels, and no view or graft. Entries past the image's dimension are ignored on
 * the way in, and are spacing 1, origin 0, identity on the way out.
 * Units: millimetres, unless the application means another unit throughout. direction is 16 values, 4 rows of 4,
 * as params.direction[0] points at: rows are axes of space, columns are axes of the image.
 * Returns CC_OK; CC_ERROR_INVALID_ARGUMENT for NULL, a value that is not finite, a spacing that is not > 0, or a
 * direction without inverse.
 * Does not block. Since 2.0.
 */
CC_API cc_status cc_image_set_spacing(cc_image *image, const double spacing[CC_MAX_DIMENSION]);
CC_API cc_status cc_image_set_origin(cc_image *image, const double origin[CC_MAX_DIMENSION]);
CC_API cc_status cc_image_set_direction(cc_image *image, const double *direction);
CC_API cc_status cc_image_get_spacing(const cc_image *image, double out_spacing[CC_MAX_DIMENSION]);
CC_API cc_status cc_image_get_origin(const cc_image *image, double out_origin[CC_MAX_DIMENSION]);
CC_API cc_status cc_image_get_direction(const cc_image *image, double *out_direction);

/**
 * Where a pixel is in space: origin + direction * (spacing .* index), with the absolute index; the index need not lie
 * in the image's region. Entries of out_point past the image's dimension are 0. Returns CC_OK;
 * CC_ERROR_INVALID_ARGUMENT for NULL. Does not block. Since 2.0. Source: ITK Software Guide, "Defining Origin and
 * Spacing".
 */
CC_API cc_status cc_image_get_point(const cc_image *image, const int64_t index[CC_MAX_DIMENSION],
                                    double out_point[CC_MAX_DIMENSION]);

/**
 * A pointer that the application hangs on the handle; the library never looks at it. Views and grafts do not take it
 * over. Ownership: stays with the caller. cc_image_get_user_pointer(NULL) is NULL. Does not block. Since 2.0.
 * cc_image_set_user_pointer returns CC_OK; CC_ERROR_INVALID_ARGUMENT when image is NULL.
 */
CC_API cc_status cc_image_set_user_pointer(cc_image *image, void *user_pointer);
CC_API void *cc_image_get_user_pointer(const cc_image *image);

CC_END_DECLS

#endif
