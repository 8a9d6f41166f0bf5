/* What must happen before pixels can be used at a place. A pure function of the validity; nothing is done here. */
#ifndef CC_DATA_MANAGER_PLAN_H
#define CC_DATA_MANAGER_PLAN_H

#include "data_manager/validity.h"

#include <cudacommon/access.h>
#include <stdbool.h>

typedef enum cc__step_kind {
    CC__STEP_COPY = 0,     /* from `source` */
    CC__STEP_CONSTANT = 1, /* the fill value */
    CC__STEP_ZERO = 2      /* zeros, for pixels never written; only in a plan that asks for it */
} cc__step_kind;

typedef struct cc__step {
    cc__box box;
    cc__step_kind kind;
    cc_place source;
} cc__step;

#define CC__PLAN_INLINE_STEPS 4

static inline bool cc__steps_have_one_origin(const cc__step *a, const cc__step *b)
{
    return a->kind == b->kind && (a->kind != CC__STEP_COPY || a->source == b->source);
}

typedef struct cc__plan {
    cc__step *steps; /* disjoint boxes, as few as joining neighbours gives; those of one origin follow each other */
    int32_t count;
    int32_t capacity;
    cc__step inline_steps[CC__PLAN_INLINE_STEPS];
    int32_t origins;      /* how many there are */
    cc__box around;       /* all steps, if there are any */
    int64_t pixels;       /* of all steps */
    bool reads_undefined; /* some of the pixels were never written */
    const char *asked_by; /* the public function that needs it; NULL until its maker says so */
} cc__plan;

/* Room for steps that one plan leaves to the next: all zero when there is none. */
typedef struct cc__plan_room {
    cc__step *steps;
    int32_t capacity;
} cc__plan_room;

/* Sets of devices, as sources, that `place` can copy from directly. */
typedef struct cc__plan_topology {
    cc__sources peers;
} cc__plan_topology;

typedef enum cc__plan_scope {
    CC__PLAN_STALE = 0,        /* what is stale at the place */
    CC__PLAN_ONLY_AT = 1,      /* what no other place than `only_at` has, for eviction */
    CC__PLAN_STALE_OR_ZERO = 2 /* what is stale, pixels never written as zeros */
} cc__plan_scope;

/*
 * The steps that make the box valid at `place` for reading. A copy comes from the nearest source: for a device a peer,
 * then the host, then another device; for the host the lowest device. `only_at` counts with CC__PLAN_ONLY_AT alone.
 * OUT_OF_HOST_MEMORY.
 */
cc_status cc__plan_make(const cc__validity *validity, const cc__box *box, cc_place place, cc__plan_scope scope,
                        cc_place only_at, const cc__plan_topology *topology, cc__plan *out_plan);
/* The same, in room that is taken when it is needed; the plan has it then. */
cc_status cc__plan_make_in(cc__plan_room *room, const cc__validity *validity, const cc__box *box, cc_place place,
                           cc__plan_scope scope, cc_place only_at, const cc__plan_topology *topology,
                           cc__plan *out_plan);
void cc__plan_init(cc__plan *plan);
void cc__plan_destroy(cc__plan *plan);
/* Destroys the plan, but keeps its room unless there is some, or it is more than is worth keeping. */
void cc__plan_leave(cc__plan *plan, cc__plan_room *room);

/* Where the steps end that have the origin of this one. */
int32_t cc__plan_end_of_origin(const cc__plan *plan, int32_t first);
/* Of so many steps; all of them need no counting. */
int64_t cc__plan_pixels(const cc__plan *plan, int32_t first, int32_t end);

#endif
