/* One run over tiles: what takes part, how it is cut, and the two ways of carrying it out. */
#ifndef CC_OPS_TILES_H
#define CC_OPS_TILES_H

#include "backend/backend.h"
#include "data_manager/parts.h"
#include "image/image_handle.h"
#include "memory/aside.h"
#include "ops/tiles_plan.h"

#include <cudacommon/tiles.h>

/* An image that takes part, as it was when the run began. */
typedef struct cc__tiles_image {
    cc_image *image;
    cc__data_manager *manager;
    int32_t dimension;
    cc_region region;
    cc__box box; /* of the data manager's pixels */
    int64_t pixel_bytes;
    cc__mapping *mapping; /* NULL for one without pixels, and for an input that is the output */
    cc__fence *fence;     /* on a device: for copies that could not be waited for */
} cc__tiles_image;

typedef struct cc__tiles_run cc__tiles_run;

cc__tiles_image cc__tiles_image_of(cc_image *image);
/* The first input with the same pixels, which is mapped for all of them. */
int32_t cc__tiles_first_alike(const cc__tiles_run *run, int32_t input);

/* For the callback that says what of an input is needed. */
typedef struct cc__tiles_context {
    const cc__tiles_run *run;
    int32_t input;
} cc__tiles_context;

struct cc__tiles_run {
    const char *function;
    cc_tiles_params params;
    cc_tiles_input inputs[CC_TILES_MAX_INPUTS]; /* the caller's, all of them whole */
    cc__tiles_image sources[CC_TILES_MAX_INPUTS];
    cc__tiles_context contexts[CC_TILES_MAX_INPUTS];
    cc__tiles_image output;
    cc__tiles_job job;
    cc__tiles_plan plan;
    cc_place place;
    cc__backend *backend;
    void *function_data;     /* for the function, in the place of the params' */
    cc_stream up;            /* on a device: where inputs are brought up; of a filter, the caller's */
    cc__place_memory memory; /* of all buffers, there */
    cc__aside *aside;        /* takes the memory when it cannot be freed */
    bool is_read;            /* false: copies of the inputs' pixels may be under way still */
    bool is_written;         /* the same for the output's */
    int64_t told;            /* tiles that progress knows of */
    bool is_cancelled;
};

/* A tile as the caller's function sees it, and the images that it has asked for. */
typedef struct cc__tile {
    cc_tile public;
    cc__tiles_run *run;
    cc__box boxes[CC_TILES_MAX_INPUTS + 1]; /* of the data managers' pixels; the output's is last */
    cc_tile_pixels inputs[CC_TILES_MAX_INPUTS];
    cc_image *images[CC_TILES_MAX_INPUTS + 1];
} cc__tile;

/* Which pixels the tile is about. Only a region callback fails. */
cc_status cc__tile_begin(cc__tile *tile, cc__tiles_run *run, int64_t number);
/* Where they are: where the memory begins, dense on a device, with the image's strides on the host. */
void cc__tile_set_dense(cc__tile *tile, int32_t input, unsigned char *memory); /* input: or CC_TILE_OUTPUT */
void cc__tile_set_in_image(cc__tile *tile, int32_t input);
/* Calls the caller's function, with the device current; then its images' pixels are in the tile's memory, in the tile's
 * stream. */
cc_status cc__tile_work(cc__tile *tile);
void cc__tile_release_images(cc__tile *tile); /* nothing of the tile is under way */

/* Makes pixels of an input, as its data manager counts them, valid on the host. */
cc_status cc__tiles_bring(const cc__tiles_run *run, int32_t input, const cc__box *box);

/* Tells progress, and notes whether it cancels. */
void cc__tiles_tell(cc__tiles_run *run, int64_t done);
cc_status cc__tiles_fail_cancelled(const cc__tiles_run *run);

/* All tiles, on the host or through `memory` on a device. */
cc_status cc__tiles_run_on_host(cc__tiles_run *run);
cc_status cc__tiles_run_on_device(cc__tiles_run *run);

/*
 * Cuts the run into tiles that fit the limit, or what the device has to give, and gets memory for the buffers, usable
 * in run->up. OUT_OF_DEVICE_MEMORY.
 */
cc_status cc__tiles_allocate(cc__tiles_run *run);
void cc__tiles_free(cc__tiles_run *run);
/* The plan alone. */
cc_status cc__tiles_plan_for(cc__tiles_run *run, int64_t limit_bytes);

/* What cc_tiles_run() does: params are whole; function_data is for its function. */
cc_status cc__tiles_execute(const char *function, const cc_tiles_params *params, void *function_data);
/* Reads what a caller wrote. INVALID_ARGUMENT for struct_size 0. */
cc_status cc__tiles_read_params(const char *function, const cc_tiles_params *params, cc_tiles_params *out_params);

/* For tests: as if the system gave no thread for moving pixels down. */
extern bool cc__tiles_without_thread;

#endif
