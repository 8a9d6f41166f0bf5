/*
 * The pixels that images share: where each is newest, the memory at each place, who has which, and what is under way.
 * Boxes are counted from the first pixel. Works from any thread; see docs/architecture.md for the flow.
 */
#ifndef CC_DATA_MANAGER_DATA_MANAGER_H
#define CC_DATA_MANAGER_DATA_MANAGER_H

#include "base/box.h"
#include "base/kernel.h"
#include "base/layout.h"
#include "base/texture.h"
#include "base/work.h"

#include <cudacommon/access.h>
#include <cudacommon/state.h>
#include <cudacommon/status.h>
#include <cudacommon/wrap.h>
#include <stdatomic.h>
#include <stdbool.h>

typedef struct cc__data_manager cc__data_manager;
typedef struct cc__mapping cc__mapping;
typedef struct cc__texture_use cc__texture_use;
typedef struct cc__allocator cc__allocator;

/* Zeros, or undefined pixels. No pixel memory yet. OUT_OF_HOST_MEMORY. */
cc_status cc__data_manager_create(const cc__layout *layout, bool undefined, cc__data_manager **out_manager);

/* Memory that somebody else owns; `layout` says how its pixels lie. The release callback is taken over on success. */
typedef struct cc__wrapped_memory {
    cc_place place;
    unsigned char *pixels;
    size_t size_bytes;
    bool undefined;
    bool read_only;
    bool reused; /* on the host: worth page-locking in place */
    cc_release_fn release;
    void *user_data;
    cc_stream stream; /* on a device: what is queued here comes first */
} cc__wrapped_memory;
cc_status cc__data_manager_create_wrapped(const char *function, const cc__layout *layout,
                                          const cc__wrapped_memory *wrapped, cc__data_manager **out_manager);

/* What is queued in the stream now may use the box's pixels, and comes before every later use of them; the device's
 * memory is there. CAPTURE, OUT_OF_HOST_MEMORY, DEVICE. */
cc_status cc__data_manager_order_after(cc__data_manager *manager, const char *function, const cc__box *box,
                                       int32_t device, cc_stream stream);

/* Where memory that the host, or devices, need from now on comes from; the reference is taken over on success. BUSY
 * when there is such memory already. */
cc_status cc__data_manager_set_allocator(cc__data_manager *manager, const char *function, bool on_host,
                                         cc__allocator *allocator);

cc__data_manager *cc__data_manager_retain(cc__data_manager *manager);
void cc__data_manager_release(cc__data_manager *manager); /* accepts NULL */
/*
 * The same for a thread that must not wait for a device: the last owner's pixels then go with free_leftovers, which
 * waits, and which is called where memory is wanted. No lock is held.
 */
void cc__data_manager_release_later(cc__data_manager *manager);
void cc__data_managers_free_leftovers(void);

/*
 * Whose unmap call ends a mapping: part of an image. It lives as long as it has a reference or a mapping; the last
 * reference goes, as mappings come and go, with the data manager's lock held, so that a mapping need not count in it.
 */
typedef struct cc__owner {
    _Atomic uint32_t references;
} cc__owner;

/* What a caller wants: the box is not empty; the device exists. */
typedef struct cc__access_request {
    const char *function;   /* for messages */
    const cc__owner *owner; /* NULL for the library's own use */
    cc__box box;
    cc_place place;
    cc_access access;
    cc_stream stream; /* on a device */
} cc__access_request;

/*
 * The whole of cc_image_map_host / _map_device after checking arguments, and of their unmap calls. is_gone: the owner
 * has no reference and no mapping any more, so nobody else will find it; it is the caller's to end.
 */
cc_status cc__data_manager_map(cc__data_manager *manager, const cc__access_request *request, void **out_pixels,
                               bool *out_is_gone);
cc_status cc__data_manager_unmap(cc__data_manager *manager, const char *function, const cc__owner *owner, bool on_host,
                                 void *pixels, cc_stream stream, bool *out_is_gone);
/*
 * The same for a texture of the box, on a device, for reading. The form has the box's size. unmap: INVALID_ARGUMENT for
 * a use that is none of the owner's; else it is gone when that has succeeded.
 */
cc_status cc__data_manager_map_texture(cc__data_manager *manager, const cc__access_request *request,
                                       const cc__texture_form *form, const cc__sampling *sampling,
                                       cc__texture_use **out_use, uint64_t out_objects[CC_TEXTURE_MAX_OBJECTS],
                                       bool *out_is_gone);
cc_status cc__data_manager_unmap_texture(cc__data_manager *manager, const char *function, const cc__owner *owner,
                                         const cc__texture_use *use, cc_stream stream, bool *out_is_gone);
/* Frees textures that nobody has any more, as far as nothing reads them; `waits` for that on the host. Returns whether
 * any went. */
bool cc__data_managers_free_textures(bool waits);
/* Takes one reference away. Returns what is_gone says. */
bool cc__data_manager_disown(cc__data_manager *manager, cc__owner *owner);
/* How many mappings the owner has. */
int32_t cc__data_manager_count_mappings(cc__data_manager *manager, const cc__owner *owner);

/*
 * The same in steps, for operations: begin lends the pixels but leaves what is valid where as it is; commit does the
 * work (kernel NULL: there is none), notes it for others to wait for and, when that succeeds, records the write; end
 * gives the pixels back, whatever happened. worker: the mapping that was committed for the work that used these pixels,
 * which may be this one. On the host the work cannot fail and runs without the lock; on a device it only queues.
 */
cc_status cc__data_manager_begin(cc__data_manager *manager, const cc__access_request *request,
                                 cc__mapping **out_mapping);
/* CC_ERROR_BUSY or UNINITIALIZED when begin would be refused: for an operation on several images, before it moves
 * anything for the first. */
cc_status cc__data_manager_check_free(cc__data_manager *manager, const cc__access_request *request);
cc__span cc__data_manager_span(cc__data_manager *manager, const cc__mapping *mapping);
cc_status cc__data_manager_commit(cc__data_manager *manager, cc__mapping *mapping, cc_stream stream,
                                  const cc__kernel *kernel, const void *work);
/*
 * In the place of commit, for work that somebody else has done or queued, with this status, which is passed on. When
 * that, or noting it, has failed, the pixels' copy at the place is forgotten as far as there are others.
 */
cc_status cc__data_manager_settle(cc__data_manager *manager, cc__mapping *mapping, cc_stream stream,
                                  cc_status work_status);
void cc__data_manager_end(cc__data_manager *manager, cc__mapping *mapping, const cc__mapping *worker);

/* Makes every pixel the same value, by noting it. BUSY while anything is mapped. out_noted: false, and nothing is
 * changed, while pixels are lent, since the borrower has to see it. */
cc_status cc__data_manager_set_constant(cc__data_manager *manager, const char *function, const void *value,
                                        bool *out_noted);

cc_status cc__data_manager_prefetch(cc__data_manager *manager, const char *function, const cc__box *box,
                                    cc_place place);
/* Makes the box's pixels undefined. BUSY while any of them is mapped; READ_ONLY; OUT_OF_HOST_MEMORY. */
cc_status cc__data_manager_discard(cc__data_manager *manager, const char *function, const cc__box *box);
/* Higher stays longer on a device when memory is short. */
void cc__data_manager_set_priority(cc__data_manager *manager, int32_t priority);
int32_t cc__data_manager_priority(cc__data_manager *manager);
/* Gives up what is held on the device beyond its limit, as far as it is not in use. */
void cc__data_managers_keep_limit(int32_t device);
/* fallback_device: where host-only pixels go; -1 for nowhere. */
cc_status cc__data_manager_evict(cc__data_manager *manager, const char *function, cc_place place,
                                 int32_t fallback_device);

/* Questions. */
bool cc__data_manager_is_whole(const cc__data_manager *manager, const cc__box *box);
bool cc__data_manager_is_read_only(const cc__data_manager *manager);
void cc__data_manager_get_strides(cc__data_manager *manager, cc_place place, int64_t out_stride[CC_MAX_DIMENSION]);
uint64_t cc__data_manager_generation(cc__data_manager *manager);
cc_counters cc__data_manager_counters(cc__data_manager *manager);
void cc__data_manager_reset_counters(cc__data_manager *manager);
void cc__data_manager_set_label(cc__data_manager *manager, const char *label); /* shorter than CC_LABEL_BYTES */
void cc__data_manager_get_label(cc__data_manager *manager, char out_label[CC_LABEL_BYTES]);
/* pixels_id, host_bytes, device_bytes, label; and the owner's mapping_count. */
void cc__data_manager_survey(cc__data_manager *manager, const cc__owner *owner, cc_live_image *out_image);
/* memory_bytes, locked_bytes, mapping_count, loan_count, and of the box valid_pixels and constant_pixels. */
cc_place_state cc__data_manager_place_state(cc__data_manager *manager, cc_place place, const cc__box *box);
/* The parts of the box that are valid at the place; at most `capacity` are written. OUT_OF_HOST_MEMORY. */
cc_status cc__data_manager_valid_boxes(cc__data_manager *manager, cc_place place, const cc__box *box, int32_t capacity,
                                       cc__box *out_boxes, int32_t *out_count);
bool cc__data_manager_has_memory(cc__data_manager *manager, cc_place place);
bool cc__data_manager_has_device_memory(cc__data_manager *manager); /* on any */

#endif
