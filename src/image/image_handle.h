/* What an image is made of: geometry over a box of a data manager. For this room, and for interop and ops. */
#ifndef CC_IMAGE_IMAGE_HANDLE_H
#define CC_IMAGE_IMAGE_HANDLE_H

#include "data_manager/data_manager.h"
#include "trace/roster.h"

#include <cudacommon/geometry.h>
#include <cudacommon/image.h>
#include <stdatomic.h>
#include <stdbool.h>

typedef struct cc__geometry {
    double spacing[CC_MAX_DIMENSION];
    double origin[CC_MAX_DIMENSION];
    double direction[CC_MAX_DIMENSION][CC_MAX_DIMENSION];
} cc__geometry;

struct cc_image {
    cc__roster_entry live;  /* first, so that it is the image's address */
    cc__owner owner;        /* references, and of mappings */
    _Atomic int32_t device; /* CC_DEVICE_CURRENT until decided */
    cc__data_manager *manager;
    cc__box box; /* of the data manager's pixels */
    cc_region region;
    int32_t dimension;
    cc_pixel_type pixel_type;
    int32_t components;
    bool read_only; /* this handle, whatever others of the same pixels may do */
    cc__geometry geometry;
    void *user_pointer;
};

/* The arguments that many calls share. Each names `function` in its message. */
cc_status cc__image_check(const char *function, const cc_image *image);
cc_status cc__image_check_access(const char *function, cc_access access);
cc_status cc__image_check_unmapped(const char *function, cc_image *image);
/* Whether the pixels must not be written through this handle. */
bool cc__image_is_read_only(const cc_image *image);
/* region NULL is all of the image. out_box: of the data manager's pixels. */
cc_status cc__image_box(const char *function, const cc_image *image, const cc_region *region, cc__box *out_box);
/* The device of the image, deciding it if it was open; it exists. NO_DEVICE, INVALID_DEVICE. */
cc_status cc__image_resolve_device(const char *function, cc_image *image, int32_t *out_device);

/* Ends an image that has no reference and no mapping any more. */
void cc__image_destroy(cc_image *image);

/* In live.c. Between lock and unlock nobody who lists images looks at this one. */
void cc__image_enlist(cc_image *image);
int32_t cc__image_lock(cc_image *image);
void cc__image_strike(cc_image *image, int32_t locked); /* with it locked */
void cc__image_unlock(int32_t locked);

/* In geometry.c. */
cc_status cc__geometry_check(const char *function, int32_t dimension, const cc__geometry *geometry);
cc__geometry cc__geometry_pad(int32_t dimension, const cc__geometry *geometry);
/* As much of the caller's struct as it has, defaults for the rest; checks struct_size, dimension and values, not the
 * index. `name`: the argument. */
cc_status cc__geometry_read(const char *function, const char *name, int32_t dimension, const cc_geometry *geometry,
                            cc_geometry *out_geometry);
/* As much as the caller's struct has room for; its struct_size stays. */
void cc__geometry_write(const cc_geometry *geometry, cc_geometry *out_geometry);
/* What cc_image_get_geometry() says of a handle's region and geometry. */
cc_geometry cc__geometry_of(int32_t dimension, const cc_region *region, const cc__geometry *geometry);

#endif
