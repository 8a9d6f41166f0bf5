#include "ops/place.h"

#include "backend/backend.h"
#include "data_manager/loans.h"

cc_status cc__operation_place(const char *function, cc_image *const images[], int32_t image_count,
                              const cc__box *written, cc_place *out_place)
{
    bool has_host_memory = false;
    *out_place = CC_PLACE_HOST;
    if (cc__backend_get()->device_count == 0 ||
        cc__data_manager_is_lent(images[image_count - 1]->manager, CC_PLACE_HOST, written))
        return CC_OK;
    for (int32_t i = 0; i < image_count; ++i) {
        if (cc__data_manager_has_device_memory(images[i]->manager))
            return cc__image_resolve_device(function, images[i], out_place);
        has_host_memory = has_host_memory || cc__data_manager_has_memory(images[i]->manager, CC_PLACE_HOST);
    }
    return has_host_memory ? CC_OK : cc__image_resolve_device(function, images[image_count - 1], out_place);
}
