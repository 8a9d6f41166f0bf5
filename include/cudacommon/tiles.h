/* Images larger than the device: work that goes through them tile by tile, moving pixels both ways meanwhile. */
#ifndef CUDACOMMON_TILES_H
#define CUDACOMMON_TILES_H

#include <cudacommon/device.h>
#include <cudacommon/export.h>
#include <cudacommon/image.h>
#include <cudacommon/region.h>
#include <cudacommon/status.h>
#include <stddef.h>
#include <stdint.h>

CC_BEGIN_DECLS

/* The most input images of one run. */
#define CC_TILES_MAX_INPUTS 8

/* Pixels of one image, for one tile. Does not grow in later versions. */
typedef struct cc_tile_pixels {
    void *pixels;                            /* the region's first; NULL when it is empty */
    int64_t strides_bytes[CC_MAX_DIMENSION]; /* bytes to the next pixel along i, j, k, l */
    cc_region region;                        /* which pixels they are, in the image's indices */
} cc_tile_pixels;

/*
 * What the caller's function gets. On a device the pixels are in memory of the tile's own: those of the inputs are
 * there, those of the output hold nothing of meaning, except where the output is the input. On the host they are the
 * images' own pixels, and the function must not write to an input.
 */
typedef struct cc_tile {
    uint32_t struct_size; /* of the library's; later versions add members at the end */
    cc_place place;       /* CC_PLACE_HOST, or the device that the pixels are on */
    cc_stream stream;     /* for all work on them; on the host CC_STREAM_DEFAULT, of no meaning */
    int64_t number;       /* 0 to count - 1, in the order in which they are worked on */
    int64_t count;
    cc_tile_pixels output;        /* to be written, every pixel; never empty */
    const cc_tile_pixels *inputs; /* input_count of them; the halo is in them, as far as it is inside the image */
    int32_t input_count;
    int32_t reserved;
    void *library; /* the library's own */
} cc_tile;

/*
 * Works on one tile: on a device it queues the work in tile->stream, on the host it does it. Called on the thread that
 * called cc_tiles_run(), one tile after the other, no lock held; a device that the pixels are on is that thread's
 * current one during the call. Whatever it queues elsewhere, tile->stream waits for when it returns. Anything but CC_OK
 * stops the run, which returns it. tile and all that it points at are borrowed for the call.
 */
typedef cc_status (*cc_tile_fn)(const cc_tile *tile, void *user_data);

/* Called on the same thread for each tile that has been written, in order; `done` of `count` have. Anything but 0
 * cancels the run. */
typedef int32_t (*cc_tiles_progress_fn)(int64_t done, int64_t count, void *user_data);

/*
 * Which pixels of an input a region of the output needs, both in the images' own indices; may be called any number of
 * times, in any order, for any region inside the output, and says the same each time. What lies outside the input is
 * cut off. Anything but CC_OK ends the run before the first tile.
 */
typedef cc_status (*cc_tiles_region_fn)(const cc_region *output_region, cc_region *out_input_region, void *user_data);

/*
 * An input. Without a callback, counted from the first pixel of each image, and along each axis: the output's pixels
 * a to b - 1 need the input's from floor(a * scale) + offset - halo_before to ceil(b * scale) + offset + halo_after,
 * without that last one, where scale is numerator / denominator. So scale 2 is for an output of half the resolution,
 * and the halo is what a neighbourhood adds. What lies outside the input is cut off: at the border of the image the
 * function gets fewer pixels, sees so in the region, and decides what is beyond.
 */
typedef struct cc_tiles_input {
    uint32_t struct_size; /* set by CC_TILES_INPUT_INIT; in the first element for all */
    uint32_t reserved;
    cc_image *image;
    int64_t halo_before[CC_MAX_DIMENSION];       /* pixels of the input, >= 0 */
    int64_t halo_after[CC_MAX_DIMENSION];        /* the same, towards higher indices */
    int32_t scale_numerator[CC_MAX_DIMENSION];   /* > 0, or 0 for 1 */
    int32_t scale_denominator[CC_MAX_DIMENSION]; /* the same */
    int64_t offset[CC_MAX_DIMENSION];            /* pixels of the input */
    cc_tiles_region_fn region;                   /* or NULL; in the place of all of the above but image */
    void *user_data;                             /* for region */
} cc_tiles_input;

#define CC_TILES_INPUT_INIT                                                                                            \
    {                                                                                                                  \
        sizeof(cc_tiles_input), 0, 0, {0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}, 0, 0       \
    }

typedef struct cc_tiles_params {
    uint32_t struct_size; /* set by CC_TILES_PARAMS_INIT */
    cc_place place;       /* a device, CC_PLACE_HOST, or CC_DEVICE_CURRENT: the output's device if there is one */
    size_t limit_bytes;   /* the most device memory for all tiles at once; 0: half of what the device may give */
    int32_t buffer_count; /* tiles under way at once: 1 to 8, or 0 for 3; fewer where they do not fit */
    int32_t input_count;  /* 0 to CC_TILES_MAX_INPUTS */
    const cc_tiles_input *inputs; /* may be NULL when there is none */
    cc_image *output;
    cc_tile_fn function;
    cc_tiles_progress_fn progress; /* or NULL */
    void *user_data;               /* for function and progress */
} cc_tiles_params;

#define CC_TILES_PARAMS_INIT                                                                                           \
    {                                                                                                                  \
        sizeof(cc_tiles_params), CC_DEVICE_CURRENT, 0, 0, 0, 0, 0, 0, 0, 0                                             \
    }

/**
 * Computes all of the output from the inputs, tile by tile: while a tile is worked on, the next come up and the last
 * goes down. The images get no device memory; the tiles do, within limit_bytes, cc_device_set_limit() and what the
 * device has, and it counts as held by images. Others' leaves for it as in budget.h. Parts of images: views.
 *
 * The output is cut along the slowest axis, and along further ones where one slice does not fit. Tiles are no larger
 * than keeps everything busy, unless a halo makes large ones worth it. With the output's place on the host the tiles
 * are the same, and the function works on the images' host pixels.
 *
 * The output may be an input, or share exactly its pixels, when that input is as it is: no halo, scale 1, no offset, no
 * callback. Then both pointers of a tile are the same. Input pixels are brought to the host as they are needed; written
 * ones are up to date on the host and nowhere else. Pixels of the inputs on devices stay as valid as they are.
 *
 * When it fails or is cancelled, the tiles that progress was told of are written, and they stay so; the others, and
 * what is valid where of them, are as they were, except that the tile which was being moved down, or, on the host,
 * worked on when it failed may hold pixels of both. Tiles already handed to the device when the function fails or
 * progress cancels are still written and told of.
 *
 * Meanwhile the images count as mapped: the output for writing, the inputs for reading.
 * params: read before the call returns only. An output without pixels is CC_OK, and calls nothing.
 *
 * Returns CC_OK; CC_ERROR_INVALID_ARGUMENT for NULL, struct_size 0, a count or halo or scale out of its range, or
 * place; CC_ERROR_READ_ONLY; CC_ERROR_BUSY while the output is mapped or an input is being written, or when the output
 * overlaps an input otherwise than as above; CC_ERROR_UNINITIALIZED; CC_ERROR_NO_DEVICE; CC_ERROR_INVALID_DEVICE;
 * CC_ERROR_OUT_OF_DEVICE_MEMORY when a tile of one pixel with what it needs is too large; CC_ERROR_OUT_OF_HOST_MEMORY;
 * CC_ERROR_CANCELLED; CC_ERROR_FORKED; CC_ERROR_DEVICE; what the function or a region callback returned.
 * Allocates host memory for the images where they have none, and the tiles on the device.
 * Ownership: images, inputs and user_data stay the caller's, and are used during the call only.
 * Thread safety: any thread, also several runs at once, as long as they write different pixels. One more thread works
 * for the run. Blocks until the last tile is written. Since 2.0.
 */
CC_API cc_status cc_tiles_run(const cc_tiles_params *params);

/* For cc_tile_wrap(): the output. */
#define CC_TILE_OUTPUT (-1)

/**
 * The pixels of a tile as an image, for the library's own operations, inside the caller's function: it wraps the tile's
 * memory and has the tile's region and the geometry of the image that the pixels are of. An input's is read-only,
 * unless it is the output. Asked for twice, it is the same image.
 * input: 0 to tile->input_count - 1, or CC_TILE_OUTPUT.
 * Returns CC_OK; CC_ERROR_INVALID_ARGUMENT for NULL or input; CC_ERROR_OUT_OF_HOST_MEMORY; CC_ERROR_DEVICE.
 * Copies nothing; allocates the handle.
 * Ownership: the run's; borrowed until the function returns, unmapped by then.
 * Thread safety: the thread of the function. Does not block. Since 2.0.
 */
CC_API cc_status cc_tile_wrap(const cc_tile *tile, int32_t input, cc_image **out_image);

/**
 * cc_image_rescale() for images that need not fit on the device: with the same values.
 * params: place, limit_bytes, buffer_count, progress and user_data are used, the rest is left as it is; or NULL for
 * none of them. Returns as cc_tiles_run(), CC_ERROR_INVALID_ARGUMENT also for scale or shift not finite, and
 * CC_ERROR_SIZE when sizes or components differ.
 * Ownership, thread safety and blocking: as cc_tiles_run(). Since 2.0.
 */
CC_API cc_status cc_tiles_rescale(cc_image *input, double scale, double shift, cc_image *output,
                                  const cc_tiles_params *params);

CC_END_DECLS

#endif
