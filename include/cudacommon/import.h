/* Arrays of other libraries as images, without a copy. */
#ifndef CUDACOMMON_IMPORT_H
#define CUDACOMMON_IMPORT_H

#include <cudacommon/descriptor.h>
#include <cudacommon/export.h>
#include <cudacommon/geometry.h>
#include <cudacommon/image.h>
#include <cudacommon/pixel.h>
#include <cudacommon/status.h>
#include <cudacommon/wrap.h>
#include <stddef.h>
#include <stdint.h>

CC_BEGIN_DECLS

/* Take strided pixels too: positive strides in any order of axes, no two pixels overlapping. Without it the pixels must
 * be dense, i fastest. */
#define CC_IMPORT_STRIDED 1u
/* CC_WRAP_REUSED. */
#define CC_IMPORT_REUSED 2u
/* The memory stays the caller's and outlives the image's use of it; needed when there is no release callback. */
#define CC_IMPORT_BORROWED 4u
/* Where the memory is an image's that was lent: do not take over where in space those pixels are. */
#define CC_IMPORT_OWN_GEOMETRY 8u
/* The pixels will be written: memory that must not be is refused now. */
#define CC_IMPORT_WRITABLE 16u
/* The elements lie one after another, last axis of the descriptor fastest; its strides_bytes are not looked at. */
#define CC_IMPORT_CONTIGUOUS 32u

typedef struct cc_import_params {
    uint32_t struct_size;        /* set by CC_IMPORT_PARAMS_INIT */
    uint32_t flags;              /* CC_IMPORT_... */
    int32_t dimension;           /* of the image, 1 to CC_MAX_DIMENSION: never guessed */
    int32_t order;               /* a cc_order: how the array lists its axes */
    const cc_geometry *geometry; /* of that dimension; or NULL */
    cc_release_fn release;       /* or NULL, with CC_IMPORT_BORROWED; called with the descriptor's data */
    void *user_data;             /* for release */
    const void *memory;          /* the allocation that all pixels must lie in; NULL when it is not known */
    size_t memory_bytes;         /* of it */
} cc_import_params;

/* dimension 0 (must be set), dense, C order. */
#define CC_IMPORT_PARAMS_INIT                                                                                          \
    {                                                                                                                  \
        sizeof(cc_import_params), 0, 0, CC_ORDER_C, 0, 0, 0, 0, 0                                                      \
    }

/**
 * Makes an image over memory of somebody else's, which counts as the newest copy of the pixels. Copies no pixels.
 *
 * An array of `dimension` axes is an image of one component. With one axis more, that is the component axis: the last
 * in CC_ORDER_C, the first in CC_ORDER_K, its elements side by side.
 *
 * Memory that belongs to an image, and is on loan from it (loan.h), comes back as a view: the same pixels, coherent
 * with that image, with the index, spacing, origin and direction that they had when they were lent. So it does when it
 * is a box of the lent pixels with the same strides, type and components. The release callback is then called before
 * this returns, as the view keeps the pixels alive by itself. Other parts of lent memory (another dimension, every
 * second row, axes exchanged) become an image over the loan, which the callback should keep alive.
 *
 * descriptor: place is CC_PLACE_HOST, a device, or CC_DEVICE_CURRENT for whichever device the memory is on; stream: on
 * a device, what is queued there now comes before every use; typestr says the element type, and where it is "",
 * pixel_type; both 0 or agreeing otherwise. Members that only follow from others (itemsize_bytes, c_contiguous and so
 * on) are not looked at. Strides along axes of one element, and of an array without any, mean nothing. data: aligned to
 * an element; NULL only for an array without elements.
 * params.geometry: NULL for that of the lent pixels, or index 0, spacing 1, origin 0, identity.
 * Returns CC_OK; CC_ERROR_INVALID_ARGUMENT for NULL, struct_size 0, flags, neither release nor CC_IMPORT_BORROWED, or
 * both, dimension, order, ndim, place, a negative extent, components that are not 1 to CC_MAX_COMPONENTS, data NULL, or
 * what cc_image_set_geometry() refuses; CC_ERROR_PIXEL_TYPE; CC_ERROR_UNSUPPORTED for another byte order;
 * CC_ERROR_OVERFLOW when extents or strides leave 63 bits; CC_ERROR_LAYOUT for strides that are 0, negative,
 * overlapping, or no multiple of an element, for components that are not side by side, for pixels that are not dense
 * without CC_IMPORT_STRIDED, and for a misaligned pointer; CC_ERROR_SIZE when pixels lie outside of params.memory;
 * CC_ERROR_READ_ONLY for CC_IMPORT_WRITABLE of read-only memory; CC_ERROR_NO_DEVICE; CC_ERROR_INVALID_DEVICE when the
 * memory is on another device than the descriptor says; CC_ERROR_POINTER when it is on none; CC_ERROR_CAPTURE when the
 * stream is being captured; CC_ERROR_OUT_OF_HOST_MEMORY; CC_ERROR_FORKED; CC_ERROR_DEVICE.
 * Ownership: the image is returned with ownership. The memory is transferred on success to the release callback, which
 * is called once, on any thread, when no image uses the memory any more and the device has finished with it as far as
 * the library knows; or borrowed (CC_IMPORT_BORROWED) until no image uses it. On failure nothing was taken.
 * Thread safety: any thread. Does not block. Since 2.0.
 * Source: numba-cuda, "CUDA Array Interface (Version 3)"; NumPy, "The array interface protocol".
 */
CC_API cc_status cc_image_import(const cc_descriptor *descriptor, const cc_import_params *params, cc_image **out_image);

/**
 * The pixel type of a type string: a byte order ("<", "=", "|", or ">" where there is one byte), a kind and a number of
 * bytes, as cc_pixel_type_typestr() writes it. Allocates nothing.
 * Returns CC_OK; CC_ERROR_INVALID_ARGUMENT for NULL; CC_ERROR_UNSUPPORTED for a known type in big-endian byte order;
 * CC_ERROR_PIXEL_TYPE for everything else, "<V2" (as which some libraries describe bfloat16) among it.
 * Thread safety: any thread. Does not block. Since 2.0. Source: NumPy, "The array interface protocol", typestr.
 */
CC_API cc_status cc_typestr_parse(const char *typestr, cc_pixel_type *out_type);

CC_END_DECLS

#endif
