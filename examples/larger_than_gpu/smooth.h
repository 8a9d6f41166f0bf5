/* A filter that needs a pixel on each side, for cc_tiles_run(). */
#ifndef SMOOTH_H
#define SMOOTH_H

#include <cudacommon/cudacommon.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where the tiles can be: a GPU, when this was built with nvcc and there is one, else the host. */
cc_place smooth_place(void);

/* The function for a tile with one input of floats. */
cc_status smooth_tile(const cc_tile *tile, void *user_data);

/* The kernel's side: a cudaError_t, 0 for success. */
int smooth_launch(const cc_tile *tile);

#ifdef __cplusplus
}
#endif

#endif
