/* Which axis of an image runs along which axis of the patient. */
#ifndef ORIENTATION_H
#define ORIENTATION_H

#include <cudacommon/cudacommon.h>
#include <stdbool.h>

enum {
    TOWARDS_LEFT,
    TOWARDS_BACK,
    TOWARDS_HEAD
};

typedef struct orientation {
    int axis[3];      /* the image axis nearest to left, back and head */
    bool reversed[3]; /* whether its indices go the other way */
} orientation;

/* Oblique images get the nearest axes; each image axis is used once. */
orientation orientation_of(const cc_image *image);

#endif
