/* What an application's function does with the pixels of a filter or a tile: looks at all of its inputs, and makes
 * output = first input * scale + shift. */
#ifndef CC_TESTS_MODEL_TILE_FUNCTION_H
#define CC_TESTS_MODEL_TILE_FUNCTION_H

#include "world.h"

typedef struct tile_task {
    model_world *world;
    const char *name;
    cc_place place;
    model_image *const *inputs;
    int32_t input_count;
    const model_image *output;
    double scale;
    double shift;
    void (*on_tile)(void *context, const cc_tile *tile); /* or NULL */
    void *context;
} tile_task;

/* The cc_tile_fn; its user data is a tile_task. */
cc_status tile_function(const cc_tile *tile, void *user_data);

/* A tile's pixels, as the oracle counts them. */
oracle_box tile_box(const model_image *image, const cc_tile_pixels *pixels);

#endif
