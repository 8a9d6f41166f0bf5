/* Where an image is in space, in one piece: what goes with pixels when they leave for another library and come back. */
#ifndef CUDACOMMON_GEOMETRY_H
#define CUDACOMMON_GEOMETRY_H

#include <cudacommon/export.h>
#include <cudacommon/image.h>
#include <cudacommon/region.h>
#include <cudacommon/status.h>
#include <stdint.h>

CC_BEGIN_DECLS

/* Entries past the dimension are ignored on the way in, and are index 0, spacing 1, origin 0, identity on the way out.
 */
typedef struct cc_geometry {
    uint32_t struct_size;                                 /* set by CC_GEOMETRY_INIT */
    int32_t dimension;                                    /* 1 to CC_MAX_DIMENSION */
    int64_t index[CC_MAX_DIMENSION];                      /* of the first pixel */
    double spacing[CC_MAX_DIMENSION];                     /* millimetres between pixel centres, > 0 */
    double origin[CC_MAX_DIMENSION];                      /* millimetres, where the pixel with index 0 is */
    double direction[CC_MAX_DIMENSION][CC_MAX_DIMENSION]; /* columns are the directions of the image's axes */
} cc_geometry;

/* dimension 0 (must be set), index 0, spacing 1, origin 0, identity direction. */
#define CC_GEOMETRY_INIT                                                                                               \
    {                                                                                                                  \
        sizeof(cc_geometry), 0, {0, 0, 0, 0}, {1, 1, 1, 1}, {0, 0, 0, 0},                                              \
        {                                                                                                              \
            {1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0},                                                                  \
            {                                                                                                          \
                0, 0, 0, 1                                                                                             \
            }                                                                                                          \
        }                                                                                                              \
    }

/**
 * The image's dimension, index, spacing, origin and direction. Copies no pixels, allocates nothing.
 * out_geometry: initialised with CC_GEOMETRY_INIT.
 * Returns CC_OK; CC_ERROR_INVALID_ARGUMENT for NULL or struct_size 0.
 * Thread safety: as everything on an image (image.h). Does not block. Since 2.0.
 */
CC_API cc_status cc_image_get_geometry(const cc_image *image, cc_geometry *out_geometry);

/**
 * Sets index, spacing, origin and direction together, or none of them. Touches no pixels, and no view or graft.
 * geometry: of the image's dimension; a member that its struct_size leaves out is as in CC_GEOMETRY_INIT.
 * Returns CC_OK; CC_ERROR_INVALID_ARGUMENT for NULL, struct_size 0, another dimension, a value that is not finite, a
 * spacing that is not > 0, or a direction without inverse; CC_ERROR_OVERFLOW when index + size leaves 63 bits;
 * CC_ERROR_BUSY when the index would change while `image` is mapped.
 * Thread safety: as everything that sets the handle (image.h). Does not block. Since 2.0.
 */
CC_API cc_status cc_image_set_geometry(cc_image *image, const cc_geometry *geometry);

CC_END_DECLS

#endif
