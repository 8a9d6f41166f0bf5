/* Which images there are in the process. */
#include "base/error.h"
#include "image/image_handle.h"

#include <string.h>

void cc__image_enlist(cc_image *image)
{
    cc__roster_add(CC__ROSTER_IMAGES, &image->live);
}

void cc__image_strike(cc_image *image, int32_t locked)
{
    cc__roster_remove(CC__ROSTER_IMAGES, locked, &image->live);
}

int32_t cc__image_lock(cc_image *image)
{
    return cc__roster_lock(CC__ROSTER_IMAGES, &image->live);
}

void cc__image_unlock(int32_t locked)
{
    cc__roster_unlock(CC__ROSTER_IMAGES, locked);
}

static cc_live_image look_at(const cc_image *image)
{
    cc_live_image seen = CC_LIVE_IMAGE_INIT;
    seen.pixel_type = (int32_t)image->pixel_type;
    seen.components = image->components;
    seen.dimension = image->dimension;
    seen.device = atomic_load(&image->device);
    seen.image = image;
    seen.region = image->region;
    seen.size_bytes = cc_image_get_size_bytes(image);
    cc__data_manager_survey(image->manager, &image->owner, &seen);
    return seen;
}

cc_status cc_live_images(int32_t capacity, cc_live_image *out_images, int32_t *out_count)
{
    static const char *const function = "cc_live_images";
    uint32_t element_bytes = 0;
    int32_t count = 0;
    if (out_count == NULL)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: out_count = NULL, expected a pointer", function);
    if (capacity < 0)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: capacity = %d, expected >= 0", function, (int)capacity);
    if (capacity > 0 && out_images == NULL)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: out_images = NULL, expected %d elements", function,
                        (int)capacity);
    if (capacity > 0)
        element_bytes = out_images[0].struct_size;
    if (capacity > 0 && element_bytes < sizeof element_bytes)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: out_images[0].struct_size = %u, expected CC_LIVE_IMAGE_INIT",
                        function, (unsigned)element_bytes);

    for (int32_t part = 0; part < CC__ROSTER_PARTS; ++part) {
        cc__roster_lock_part(CC__ROSTER_IMAGES, part);
        for (const cc__roster_entry *at = cc__roster_first(CC__ROSTER_IMAGES, part); at != NULL; at = at->next) {
            if (count < capacity) {
                cc_live_image seen = look_at((const cc_image *)(const void *)at);
                const size_t known = element_bytes < sizeof seen ? element_bytes : sizeof seen;
                seen.struct_size = element_bytes;
                memcpy((char *)out_images + (size_t)count * element_bytes, &seen, known);
            }
            ++count;
        }
        cc__roster_unlock(CC__ROSTER_IMAGES, part);
    }
    *out_count = count;
    return CC_OK;
}
