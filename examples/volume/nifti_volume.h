/* NIfTI-1 files as images: the pixels, and where they are in space. */
#ifndef NIFTI_VOLUME_H
#define NIFTI_VOLUME_H

#include <cudacommon/cudacommon.h>
#include <stdbool.h>

typedef struct nifti_volume {
    cc_image *image; /* the pixels as the file stores them; end it with cc_image_release() */
    double slope;    /* value = stored * slope + intercept */
    double intercept;
    int space_code; /* NIFTI_XFORM_...: which space the geometry refers to, 0 when the file does not say */
} nifti_volume;

/*
 * Reads a 3-D or 4-D file of scalars, or of RGB or RGBA pixels (3 or 4 components). The image wraps the memory that the
 * NIfTI library read the pixels into, with 0 where the file has NaN or infinity. On failure returns false after saying
 * why on stderr.
 */
bool nifti_volume_read(const char *path, nifti_volume *out_volume);

/*
 * Writes a float image of 3 or 4 dimensions as one uncompressed file, `path` ending in ".nii". Components go where
 * NIfTI has them, on its fifth axis. On failure returns false after saying why on stderr.
 */
bool nifti_volume_write(const char *path, cc_image *image, int space_code);

#endif
