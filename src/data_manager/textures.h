/*
 * Textures of a data manager's pixels: copies in arrays of a device, kept with the pixels until these change there, are
 * given up, or others need the room. A texture that is mapped is in use; its mapping of the pixels keeps writers away,
 * and the device's memory where it is.
 *
 * Arrays cannot be freed in stream order. So what goes while work in a stream may still read it is put aside, and freed
 * when that is known to be done.
 */
#ifndef CC_DATA_MANAGER_TEXTURES_H
#define CC_DATA_MANAGER_TEXTURES_H

#include "base/texture.h"
#include "data_manager/internal.h"

/* One, on one device. Guarded by the data manager's lock. */
typedef struct cc__textured {
    struct cc__textured *next;
    cc__backend *backend;
    int32_t device;
    cc__box box;
    cc__texture_form form;
    cc__texture *texture;
    size_t size_bytes; /* as held on the device, and counted in the budget */
    int32_t users;
    bool is_stale;
    cc__timeline timeline; /* of the arrays: when they were filled, who has read them since */
    cc__fence *spare_fence;
} cc__textured;

/* With the lock held: pixels of the box have other values from now on. */
void cc__textures_age_all(cc__data_manager *manager, const cc__box *box);
static inline void cc__textures_age(cc__data_manager *manager, const cc__box *box)
{
    if (manager->has_textures)
        cc__textures_age_all(manager, box);
}

/* With the lock held: bytes that textures hold at a place that exists. */
size_t cc__textures_bytes(const cc__data_manager *manager, cc_place place);

/*
 * With the lock held: those that nobody uses leave the device. Without it: they are freed, after what reads them.
 * waits: on the host if need be, so that the memory is there; else they are put aside. Returns the bytes.
 */
cc__textured *cc__textures_take_unused(cc__data_manager *manager, const char *function, cc_place place);
size_t cc__textures_free(cc__textured *list, bool waits);

/* With the lock held, before all of a site's textures go with it. */
void cc__textures_report_free(const cc__data_manager *manager, cc_place place);

#endif
