/* Pixels on loan: memory of an image at one place, for somebody who uses it when it likes, until it comes back. */
#ifndef CUDACOMMON_LOAN_H
#define CUDACOMMON_LOAN_H

#include <cudacommon/access.h>
#include <cudacommon/descriptor.h>
#include <cudacommon/device.h>
#include <cudacommon/export.h>
#include <cudacommon/geometry.h>
#include <cudacommon/image.h>
#include <cudacommon/region.h>
#include <cudacommon/status.h>
#include <stdint.h>

CC_BEGIN_DECLS

/*
 * A loan is what an array of another library over an image's pixels stands on. It is no mapping: it excludes nobody. It
 * keeps the pixels alive, also when the image is released, and where they are: while it is out, its memory is not
 * freed, moved, evicted or discarded, and the borrower's array and the image never differ.
 *
 * Reading lent pixels at another place copies them again each time when the borrower may write, after what the borrower
 * has queued. Writing them at another place ends with bringing them to the borrower, in the order of its stream.
 * Writing pixels elsewhere that are lent on the host is refused (CC_ERROR_BUSY), because nobody can tell when the
 * borrower looks. So is a loan of pixels that are lent at another place, when one of the two borrowers may write; and,
 * while a borrower may write, a second mapping at one other place of pixels that are mapped there already, since the
 * copy that it needs would change the first one's.
 *
 * The borrower's stream is known when the caller says so (CC_EXPORT_STREAM_KNOWN). Otherwise the borrower's work is
 * ordered by the legacy default stream, as array libraries expect; and host access waits for the whole device, once for
 * each access while the loan is out, and once after it.
 */
typedef struct cc_loan cc_loan;

/* cc_export_params.flags, beside CC_DESCRIBE_COMPONENT_AXIS: the borrower's work goes into params.stream and nowhere
 * else, and that stream lives until the loan is over. On the host it has no effect. */
#define CC_EXPORT_STREAM_KNOWN 2u

typedef struct cc_export_params {
    uint32_t struct_size; /* set by CC_EXPORT_PARAMS_INIT */
    uint32_t flags;       /* 0, CC_DESCRIBE_COMPONENT_AXIS, CC_EXPORT_STREAM_KNOWN, or both */
    /* What is lent, inside the image's region; NULL: all of it. Borrowed for the call. */
    const cc_region *region;
    int32_t order;     /* a cc_order */
    int32_t access;    /* what the borrower may do, a cc_access: CC_ACCESS_WRITE brings nothing there */
    cc_place place;    /* CC_PLACE_HOST, a device, or CC_DEVICE_CURRENT for the image's */
    uint32_t reserved; /* 0 */
    cc_stream stream; /* of that device: what is pending comes before what is queued in it from now on; 0 on the host */
} cc_export_params;

/* All of the image, C order, for reading and writing, on the image's device, in the legacy default stream. */
#define CC_EXPORT_PARAMS_INIT                                                                                          \
    {                                                                                                                  \
        sizeof(cc_export_params), 0, 0, CC_ORDER_C, CC_ACCESS_READ_WRITE, CC_DEVICE_CURRENT, 0, 0                      \
    }

/**
 * Lends a region at a place, and describes it. Brings there only what is stale, as the map calls do; allocates the
 * place's memory the first time.
 * out_descriptor: initialised with CC_DESCRIPTOR_INIT. data is NULL for an empty region, which is lent too. stream is
 * params.stream; pending is 1 when work that was queued before may still be under way, which params.stream comes after.
 * read_only is 1 when the borrower must not write: for CC_ACCESS_READ, and for pixels wrapped read-only, of which
 * CC_ACCESS_READ_WRITE lends no more than reading.
 * out_loan: to be ended with cc_loan_release() when the borrower does not use the memory any more.
 * Returns CC_OK; CC_ERROR_INVALID_ARGUMENT for NULL, struct_size 0 or one that leaves no room for data, flags, order,
 * access, place, a negative size, or a stream on the host; CC_ERROR_REGION; CC_ERROR_READ_ONLY for CC_ACCESS_WRITE of
 * pixels wrapped read-only; CC_ERROR_BUSY while a writer has pixels of the region, or they are lent at another place
 * and one of the borrowers may write; CC_ERROR_UNINITIALIZED; CC_ERROR_NO_DEVICE; CC_ERROR_INVALID_DEVICE;
 * CC_ERROR_CAPTURE when the stream is being captured; CC_ERROR_OUT_OF_DEVICE_MEMORY; CC_ERROR_OUT_OF_HOST_MEMORY;
 * CC_ERROR_FORKED; CC_ERROR_DEVICE.
 * Ownership: the loan is returned with ownership; data is borrowed until the loan ends.
 * Thread safety: any thread. On the host it blocks until the pixels are there; on a device as cc_image_map_device().
 * Since 2.0.
 * Source: numba-cuda, "CUDA Array Interface (Version 3)", Synchronization; DLPack, "Python Specification".
 */
CC_API cc_status cc_image_export(cc_image *image, const cc_export_params *params, cc_descriptor *out_descriptor,
                                 cc_loan **out_loan);

/**
 * Adds an owner to a loan and returns it, so that it can be passed on. NULL gives NULL.
 * Ownership: returned with ownership, end it with cc_loan_release().
 * Thread safety: any thread. Does not block. Since 2.0.
 */
CC_API cc_loan *cc_loan_retain(cc_loan *loan);

/**
 * Ends one ownership; with the last one the memory has come back. Accepts NULL. Where the borrower's stream is not
 * known, the borrower may leave work on the device behind: it counts as under way until a host access has waited for
 * the device, and memory that nobody uses any more is freed only after such a wait.
 * Ownership: transferred; do not use the loan afterwards.
 * Thread safety: any thread, also one that knows nothing of the library, and while the process exits. Does not wait for
 * a device. Since 2.0.
 */
CC_API void cc_loan_release(cc_loan *loan);

/**
 * The same for a borrower on a device who says where its last work is: others wait for what is queued in `stream` so
 * far, and for nothing else. It counts when it ends the last ownership. The stream may be destroyed afterwards.
 * stream: of the loan's device. One that cannot be marked (it is being captured) is as one that is not known.
 * Ownership, thread safety: as cc_loan_release(). Does not block. Since 2.0.
 */
CC_API void cc_loan_release_in_stream(cc_loan *loan, cc_stream stream);

/* What cc_loan_renew() says. */
typedef enum cc_loan_standing {
    CC_LOAN_STALE = 0,  /* not the same as a new loan, or nobody knows: make a new one */
    CC_LOAN_STANDS = 1, /* the same, and nothing is pending */
    CC_LOAN_PENDING = 2 /* the same, and so is cc_descriptor.pending: 1 */
} cc_loan_standing;

/**
 * Whether a loan of all of an image, on the host or on the image's device, is as good as a new one of the same access
 * in the legacy default stream would be: the same memory, described the same way, with pixels that are up to date and
 * free, and nothing under way on them that this stream would have to be made to wait for. Then it counts as used now.
 * For whoever hands out the same pixels again and again: it moves nothing, and asks a device at most what is done in
 * its default stream.
 * Returns a cc_loan_standing; CC_LOAN_STALE also for NULL, for an image that has other pixels, another region, type or
 * device by now, for an empty region, and where cc_image_export() would fail. Leaves cc_last_error_message() alone.
 * Thread safety: any thread, with an ownership of the loan that lasts for the call. Does not block. Since 2.0.
 */
CC_API int32_t cc_loan_renew(cc_loan *loan, const cc_image *image);

/**
 * The same, but does not ask the device what is done in its default stream, which takes longer than all the rest: where
 * cc_loan_renew() would have to, this is CC_LOAN_PENDING.
 * Thread safety: as cc_loan_renew(). Since 2.0.
 */
CC_API int32_t cc_loan_renew_without_asking(cc_loan *loan, const cc_image *image);

/**
 * Where the lent region is in space, as the image had it when it was lent: index is that of the region's first pixel.
 * out_geometry: initialised with CC_GEOMETRY_INIT.
 * Returns CC_OK; CC_ERROR_INVALID_ARGUMENT for NULL or struct_size 0.
 * Thread safety: any thread. Does not block. Since 2.0.
 */
CC_API cc_status cc_loan_get_geometry(const cc_loan *loan, cc_geometry *out_geometry);

CC_END_DECLS

#endif
