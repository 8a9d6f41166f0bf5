/* The steps of a random program: each makes one call, or a few that belong together, and tells the oracle. False when
 * there was nothing to do it to. */
#ifndef CC_TESTS_MODEL_STEPS_H
#define CC_TESTS_MODEL_STEPS_H

#include "world.h"

/* steps_access.c */
bool step_map_host(model_world *world);
bool step_map_device(model_world *world);
bool step_write(model_world *world); /* some pixels of a mapping */
bool step_unmap(model_world *world);
bool step_unmap_wrongly(model_world *world);
bool step_synchronize(model_world *world);

/* steps_image.c */
bool step_create(model_world *world);
model_image *step_create_like(model_world *world, const model_image *other); /* of any type; NULL: there are enough */
model_image *step_create_of(model_world *world, value_kind kind, int32_t dimension, const int64_t *size);
bool step_view(model_world *world);
bool step_graft(model_world *world);
bool step_resize(model_world *world);
bool step_set_device(model_world *world);
bool step_set_index(model_world *world);
bool step_retain(model_world *world);
bool step_release(model_world *world);

/* steps_wrap.c */
bool step_wrap_host(model_world *world);
bool step_wrap_device(model_world *world);

/* steps_pixels.c */
bool step_prefetch(model_world *world);
bool step_evict(model_world *world);
bool step_fill(model_world *world);
bool step_rescale(model_world *world);
bool step_copy_region(model_world *world);
bool step_subtract(model_world *world);

/* Where an operation runs, by the rule of operations.h; in steps_pixels.c. */
uint32_t world_operation_place(const model_world *world, model_image *const images[], int32_t count,
                               const oracle_box *written, cc_place *out_place);

/* operation.c: one of many that compute pixels */
bool step_operation(model_world *world);

/* steps_texture.c */
bool step_map_texture(model_world *world);

/* steps_tiles.c */
bool step_tiles(model_world *world);

/* steps_loan.c */
bool step_lend(model_world *world);
bool step_borrow(model_world *world); /* the borrower reads or writes */
bool step_return(model_world *world);
bool step_renew(model_world *world);

/* steps_memory.c: only where memory is short */
bool step_limit(model_world *world);
bool step_priority(model_world *world);
bool step_discard(model_world *world);
bool step_trim(model_world *world);
bool step_host_limits(model_world *world);
bool step_allocator(model_world *world);
bool step_scatter(model_world *world); /* small boxes, written one after the other */

#endif
