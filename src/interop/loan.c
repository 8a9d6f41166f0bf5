#include "interop/loan.h"

#include "backend/backend.h"
#include "base/allocate.h"
#include "base/error.h"
#include "image/image_handle.h"
#include "interop/describe.h"
#include "trace/trace.h"

#include <stddef.h>
#include <string.h>

/* Reads the caller's struct as far as it goes; checks what does not depend on the image. */
static cc_status read_params(const char *function, const cc_export_params *params, cc_export_params *out_params)
{
    cc_export_params known = CC_EXPORT_PARAMS_INIT;
    if (params == NULL)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: params = NULL, expected a pointer", function);
    if (params->struct_size < sizeof params->struct_size)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: params.struct_size = %u, expected CC_EXPORT_PARAMS_INIT",
                        function, (unsigned)params->struct_size);
    memcpy(&known, params, params->struct_size < sizeof known ? params->struct_size : sizeof known);
    if ((known.flags & ~(CC_DESCRIBE_COMPONENT_AXIS | CC_EXPORT_STREAM_KNOWN)) != 0)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT,
                        "%s: params.flags = 0x%x, expected CC_DESCRIBE_COMPONENT_AXIS, CC_EXPORT_STREAM_KNOWN or 0",
                        function, (unsigned)known.flags);
    if (known.place < CC_PLACE_HOST && known.place != CC_DEVICE_CURRENT)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: params.place = %d, expected CC_PLACE_HOST or a device",
                        function, known.place);
    if (known.place == CC_PLACE_HOST && known.stream != NULL)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: params.stream = %p, expected 0 on the host", function,
                        (void *)known.stream);
    cc_status status = cc__describe_check_order(function, (cc_order)known.order);
    if (status == CC_OK)
        status = cc__image_check_access(function, (cc_access)known.access);
    if (status == CC_OK)
        *out_params = known;
    return status;
}

static cc_status check_outputs(const char *function, const cc_descriptor *out_descriptor, cc_loan *const *out_loan)
{
    const cc_status status = cc__describe_check_out(function, "out_descriptor", out_descriptor);
    if (status != CC_OK)
        return status;
    /* Without room for the pointer the loan would be of no use. */
    if (out_descriptor->struct_size < offsetof(cc_descriptor, shape))
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: out_descriptor.struct_size = %u, expected at least %zu",
                        function, (unsigned)out_descriptor->struct_size, offsetof(cc_descriptor, shape));
    if (out_loan == NULL)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: out_loan = NULL, expected a pointer", function);
    return CC_OK;
}

/* The device that is meant; one that is named must exist. An empty region needs none. */
static cc_status resolve_place(const char *function, cc_image *image, const cc__box *box, cc_place *place)
{
    if (*place == CC_PLACE_HOST)
        return CC_OK;
    if (*place != CC_DEVICE_CURRENT)
        return cc__box_is_empty(box) ? CC_OK : cc__backend_check_device(cc__backend_get(), function, *place);
    if (!cc__box_is_empty(box))
        return cc__image_resolve_device(function, image, place);
    *place = cc_image_get_device(image);
    return CC_OK;
}

static cc_geometry geometry_of(const cc_image *image, const cc__box *box)
{
    cc_geometry geometry = cc__geometry_of(image->dimension, &image->region, &image->geometry);
    for (int32_t axis = 0; axis < image->dimension; ++axis)
        geometry.index[axis] += box->start[axis] - image->box.start[axis];
    return geometry;
}

static size_t extent_of(const cc_loan *loan)
{
    size_t extent = cc_pixel_type_size_bytes(loan->pixel_type) * (size_t)loan->components;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; ++axis)
        extent += (size_t)(loan->box.size[axis] - 1) * (size_t)loan->stride[axis];
    return extent;
}

static void enlist(cc_loan *loan, unsigned char *pixels)
{
    loan->pixels = pixels;
    loan->size_bytes = extent_of(loan);
    cc__roster_add(CC__ROSTER_LOANS, &loan->live);
}

cc_status cc__loan_create(cc_image *image, const cc_export_params *params, bool asks_pending, size_t own_bytes,
                          cc_descriptor *out_descriptor, cc_loan **out_loan)
{
    static const char *const function = "cc_image_export";
    cc_export_params known = CC_EXPORT_PARAMS_INIT;
    cc__loan_request request = {.function = function};
    unsigned char *pixels = NULL;
    bool is_pending = false;
    cc_status status = cc__image_check(function, image);
    if (status == CC_OK)
        status = read_params(function, params, &known);
    if (status == CC_OK)
        status = check_outputs(function, out_descriptor, out_loan);
    if (status == CC_OK)
        status = cc__image_box(function, image, known.region, &request.box);
    if (status == CC_OK)
        status = resolve_place(function, image, &request.box, &known.place);
    if (status != CC_OK)
        return status;

    const bool is_read_only = cc__image_is_read_only(image);
    if (is_read_only && known.access == CC_ACCESS_READ_WRITE)
        known.access = CC_ACCESS_READ;
    if (is_read_only && known.access == CC_ACCESS_WRITE)
        return cc__fail(CC_ERROR_READ_ONLY, "%s: the pixels were wrapped read-only", function);
    request.place = known.place;
    request.access = (cc_access)known.access;
    request.stream = known.stream;
    request.is_stream_known = (known.flags & CC_EXPORT_STREAM_KNOWN) != 0;

    cc_loan *loan = cc__allocate(sizeof *loan + own_bytes);
    if (loan == NULL)
        return cc__fail(CC_ERROR_OUT_OF_HOST_MEMORY, "%s: no memory for a loan", function);
    atomic_init(&loan->references, 1);
    loan->place = known.place;
    loan->box = request.box;
    loan->dimension = image->dimension;
    loan->pixel_type = image->pixel_type;
    loan->components = image->components;
    loan->device = cc_image_get_device(image);
    loan->geometry = geometry_of(image, &request.box);
    loan->manager = cc__data_manager_retain(image->manager);
    if (!cc__box_is_empty(&request.box)) {
        status = cc__data_manager_lend(loan->manager, &request, &loan->lent, &pixels, loan->stride,
                                       asks_pending ? &is_pending : NULL);
        cc__trace_tell();
    }
    if (status != CC_OK) {
        cc__data_manager_release(loan->manager);
        cc__free(loan);
        return status;
    }
    if (loan->lent != NULL)
        enlist(loan, pixels);
    cc_descriptor descriptor =
        cc__describe(image, &request.box, (cc_order)known.order, known.flags & CC_DESCRIBE_COMPONENT_AXIS, known.place);
    descriptor.data = pixels;
    descriptor.stream = known.stream;
    descriptor.pending = is_pending;
    descriptor.read_only = known.access == CC_ACCESS_READ;
    cc__describe_copy_out(out_descriptor, &descriptor);
    *out_loan = loan;
    return CC_OK;
}

cc_status cc_image_export(cc_image *image, const cc_export_params *params, cc_descriptor *out_descriptor,
                          cc_loan **out_loan)
{
    return cc__loan_create(image, params, true, 0, out_descriptor, out_loan);
}

cc_loan *cc_loan_retain(cc_loan *loan)
{
    if (loan != NULL)
        atomic_fetch_add(&loan->references, 1);
    return loan;
}

static void release(cc_loan *loan, bool in_stream, cc_stream stream)
{
    if (loan == NULL || atomic_fetch_sub(&loan->references, 1) != 1)
        return;
    if (loan->lent != NULL) {
        const int32_t part = cc__roster_lock(CC__ROSTER_LOANS, &loan->live);
        cc__roster_remove(CC__ROSTER_LOANS, part, &loan->live);
        cc__roster_unlock(CC__ROSTER_LOANS, part);
        cc__data_manager_take_back(loan->manager, loan->lent, in_stream, stream);
    }
    cc__data_manager_release_later(loan->manager);
    cc__free(loan);
}

void cc_loan_release(cc_loan *loan)
{
    release(loan, false, NULL);
}

void cc_loan_release_in_stream(cc_loan *loan, cc_stream stream)
{
    release(loan, true, stream);
}

static bool is_loan_of(const cc_loan *loan, const cc_image *image)
{
    return loan->manager == image->manager && cc__box_equal(&loan->box, &image->box) &&
           loan->dimension == image->dimension && loan->pixel_type == image->pixel_type &&
           loan->components == image->components &&
           (loan->place == CC_PLACE_HOST || loan->place == cc_image_get_device(image));
}

static int32_t renew(cc_loan *loan, const cc_image *image, bool asks)
{
    bool is_pending = false;
    if (loan == NULL || image == NULL || loan->lent == NULL || !is_loan_of(loan, image) ||
        !cc__data_manager_renew(loan->manager, loan->lent, asks, &is_pending))
        return CC_LOAN_STALE;
    return is_pending ? CC_LOAN_PENDING : CC_LOAN_STANDS;
}

int32_t cc_loan_renew(cc_loan *loan, const cc_image *image)
{
    return renew(loan, image, true);
}

int32_t cc_loan_renew_without_asking(cc_loan *loan, const cc_image *image)
{
    return renew(loan, image, false);
}

cc_status cc_loan_get_geometry(const cc_loan *loan, cc_geometry *out_geometry)
{
    static const char *const function = "cc_loan_get_geometry";
    if (loan == NULL || out_geometry == NULL)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: %s = NULL, expected a pointer", function,
                        loan == NULL ? "loan" : "out_geometry");
    if (out_geometry->struct_size < sizeof out_geometry->struct_size)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: out_geometry.struct_size = %u, expected CC_GEOMETRY_INIT",
                        function, (unsigned)out_geometry->struct_size);
    cc__geometry_write(&loan->geometry, out_geometry);
    return CC_OK;
}

/* One whose last owner has let go is on its way out of the list. */
static bool retain_if_alive(cc_loan *loan)
{
    int references = atomic_load(&loan->references);
    while (references > 0)
        if (atomic_compare_exchange_weak(&loan->references, &references, references + 1))
            return true;
    return false;
}

static bool holds(const cc_loan *loan, cc_place place, const void *first, size_t bytes)
{
    const uintptr_t from = (uintptr_t)loan->pixels;
    const uintptr_t at = (uintptr_t)first;
    return loan->place == place && at >= from && at - from < loan->size_bytes &&
           bytes <= loan->size_bytes - (size_t)(at - from);
}

cc_loan *cc__loan_find(cc_place place, const void *first, size_t bytes)
{
    cc_loan *found = NULL;
    for (int32_t part = 0; bytes > 0 && found == NULL && part < CC__ROSTER_PARTS; ++part) {
        cc__roster_lock_part(CC__ROSTER_LOANS, part);
        for (cc__roster_entry *at = cc__roster_first(CC__ROSTER_LOANS, part); at != NULL && found == NULL;
             at = at->next) {
            cc_loan *loan = (cc_loan *)(void *)at;
            if (holds(loan, place, first, bytes) && retain_if_alive(loan))
                found = loan;
        }
        cc__roster_unlock(CC__ROSTER_LOANS, part);
    }
    return found;
}
