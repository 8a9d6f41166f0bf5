/* Images as DLPack tensors and DLPack tensors as images. Needs no DLPack header; works with any. */
#ifndef CUDACOMMON_DLPACK_H
#define CUDACOMMON_DLPACK_H

#include <cudacommon/device.h>
#include <cudacommon/export.h>
#include <cudacommon/geometry.h>
#include <cudacommon/image.h>
#include <cudacommon/import.h>
#include <cudacommon/loan.h>
#include <cudacommon/status.h>
#include <stdint.h>

CC_BEGIN_DECLS

struct DLManagedTensor;          /* of DLPack before 1.0, which many libraries still exchange */
struct DLManagedTensorVersioned; /* of DLPack 1.x */

/* Export a copy of the pixels, which belongs to the tensor alone; its geometry is the image's. */
#define CC_DLPACK_COPY 1u
/* Export read-only pixels as a struct DLManagedTensor too, which cannot say that they are. */
#define CC_DLPACK_FORCE 2u

/**
 * Lends a region as a DLPack tensor, as cc_image_export() does; or makes one of a copy of it. Shape, strides and device
 * are those of cc_image_export(); strides are always there, byte_offset is 0, the version is 1.0. On the host the
 * device is kDLCPU, also when the memory is page-locked. The tensor's read-only flag is set for CC_ACCESS_READ and for
 * pixels wrapped read-only, but not for a copy.
 * params: access means nothing for a copy. stream: where the tensor's user may begin. dlpack_flags: 0 or
 * CC_DLPACK_COPY. Returns what cc_image_export() returns; CC_ERROR_INVALID_ARGUMENT for dlpack_flags. Allocates the
 * tensor, and with CC_DLPACK_COPY memory for the pixels at the place. Ownership: the tensor is returned with ownership;
 * its deleter ends it, once, on any thread, also after Python has gone. It is a loan: the pixels stay where they are
 * until then, whatever becomes of the image. Thread safety: any thread. Blocks as cc_image_export() does. Since 2.0.
 * Source: dmlc/dlpack, "C API (dlpack.h)".
 */
CC_API cc_status cc_image_export_dlpack(cc_image *image, const cc_export_params *params, uint32_t dlpack_flags,
                                        struct DLManagedTensorVersioned **out_tensor);

/**
 * The same for users of DLPack before 1.0. dlpack_flags: also CC_DLPACK_FORCE.
 * Returns as cc_image_export_dlpack(), and CC_ERROR_READ_ONLY for pixels that must not be written, without
 * CC_DLPACK_FORCE or CC_DLPACK_COPY. Since 2.0.
 */
CC_API cc_status cc_image_export_dlpack_legacy(cc_image *image, const cc_export_params *params, uint32_t dlpack_flags,
                                               struct DLManagedTensor **out_tensor);

/**
 * Makes an image over the memory of a DLPack tensor, as cc_image_import() does, memory that is on loan from an image
 * included. Honours byte_offset, strides (NULL: compact, last axis fastest), read-only and the device. Copies nothing.
 * params: release and user_data are 0: the tensor's deleter (which may be NULL) is called instead, or, with
 * CC_IMPORT_BORROWED, nothing. stream: on a device, what is queued there now comes before every use.
 * Returns what cc_image_import() returns; CC_ERROR_UNSUPPORTED for a major version other than 1 (the deleter has then
 * been called, nothing else was touched), for kinds of device other than kDLCPU, kDLCUDA, kDLCUDAHost and
 * kDLCUDAManaged, for lanes other than 1 and elements of less than a byte; CC_ERROR_PIXEL_TYPE for other element types.
 * Ownership: the tensor is transferred on success, and with an unknown major version; on other failures it stays the
 * caller's.
 * Thread safety: any thread. Does not block. Since 2.0. Source: dmlc/dlpack, "C API (dlpack.h)".
 */
CC_API cc_status cc_image_import_dlpack(struct DLManagedTensorVersioned *tensor, const cc_import_params *params,
                                        cc_stream stream, cc_image **out_image);

/* The same for a tensor of DLPack before 1.0, which has no version and is taken as writable. Since 2.0. */
CC_API cc_status cc_image_import_dlpack_legacy(struct DLManagedTensor *tensor, const cc_import_params *params,
                                               cc_stream stream, cc_image **out_image);

/**
 * Where in space the pixels of a tensor are, which DLPack has no room for: of one that came from
 * cc_image_export_dlpack(), or whose memory, with the same strides, is part of pixels on loan from an image.
 * out_geometry: initialised with CC_GEOMETRY_INIT. Allocates nothing.
 * Returns CC_OK; CC_ERROR_INVALID_ARGUMENT for NULL or struct_size 0; CC_ERROR_UNSUPPORTED for another tensor.
 * Ownership: the tensor stays the caller's. Thread safety: any thread. Does not block. Since 2.0.
 */
CC_API cc_status cc_dlpack_get_geometry(const struct DLManagedTensorVersioned *tensor, cc_geometry *out_geometry);
CC_API cc_status cc_dlpack_get_geometry_legacy(const struct DLManagedTensor *tensor, cc_geometry *out_geometry);

/*
 * For a Python binding without code of its own in C. A PyCapsule needs a name that outlives it and a destructor that
 * can run while the interpreter goes away: these are both, and no Python code is called.
 */

/**
 * The name of a capsule: "dltensor", "dltensor_versioned", and with is_used what the consumer renames it to.
 * Ownership: a static string. Thread safety: any thread. Does not block. Since 2.0.
 */
CC_API const char *cc_dlpack_capsule_name(int32_t is_versioned, int32_t is_used);

/**
 * Says where PyCapsule_IsValid and PyCapsule_GetPointer are, for cc_dlpack_destroy_capsule(). Once, before the first
 * capsule is made; NULL for both: capsules are left alone.
 * Thread safety: any thread. Does not block. Since 2.0.
 */
typedef int (*cc_capsule_is_valid_fn)(void *capsule, const char *name);
typedef void *(*cc_capsule_get_pointer_fn)(void *capsule, const char *name);
CC_API void cc_dlpack_set_capsule_functions(cc_capsule_is_valid_fn is_valid, cc_capsule_get_pointer_fn get_pointer);

/**
 * A PyCapsule_Destructor: calls the deleter of a tensor that nobody has taken, whose capsule still has its first name;
 * one that was renamed belongs to its consumer. For capsules of both names.
 * Thread safety: as Python calls it. Blocks as cc_loan_release() does. Since 2.0.
 * Source: DLPack, "Python Specification for DLPack".
 */
CC_API void cc_dlpack_destroy_capsule(void *capsule);

CC_END_DECLS

#endif
