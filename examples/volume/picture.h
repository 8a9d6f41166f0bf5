/* A volume as a picture: its three middle slices side by side. */
#ifndef PICTURE_H
#define PICTURE_H

#include <cudacommon/cudacommon.h>
#include <stdbool.h>

/*
 * Writes an 8-bit grey PNG: axial, coronal and sagittal, head up, the patient's left on the right and the face on the
 * left, pixels square in millimetres, black and white where the darkest and brightest half percent of the pixels begin.
 * image: floats, 3 or 4 dimensions. On failure returns false after saying why on stderr.
 */
bool picture_write(const char *path, cc_image *image);

#endif
