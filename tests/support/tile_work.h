/*
 * A filter for tests of tiles that needs no kernel: out(p) = in(p * factor + shift), and one value where that is beyond
 * the input. Copies and a fill, in the tile's stream or on the host.
 */
#ifndef CC_TESTS_TILE_WORK_H
#define CC_TESTS_TILE_WORK_H

#include <cudacommon/cudacommon.h>
#include <stdbool.h>

#define TILE_WORK_OUTSIDE 0x4d

typedef struct tile_work {
    int64_t factor[CC_MAX_DIMENSION]; /* > 0 */
    int64_t shift[CC_MAX_DIMENSION];
    cc_region input; /* all of the image; indices count from its first pixel, as the output's do */
    cc_region output;
    int64_t pixel_bytes;
    bool expects_least; /* the input's region is what this needs, and no more */

    int64_t fail_at; /* the tile for which it returns `failure`; -1 for none */
    cc_status failure;
    int64_t cancel_at; /* the same for progress; 0 for none */
    int64_t calls;
    int64_t told;
    size_t limit_bytes;     /* more than that is never held on the device; 0: any number is */
    size_t most_held_bytes; /* found */
    int64_t tile_count;
    cc_place place;
} tile_work;

tile_work tile_work_of(const cc_image *input, const cc_image *output);
/* The input that tells the library what it needs. */
cc_tiles_input tile_work_input(const tile_work *work, cc_image *image);
cc_status tile_work_function(const cc_tile *tile, void *user_data);
int32_t tile_work_progress(int64_t done, int64_t count, void *user_data);

/* What the whole output must be: of pixels that lie dense. */
void tile_work_expect(const tile_work *work, const unsigned char *input, unsigned char *out_expected);

/* Numbers the bytes of a dense image on the host, from `seed` on, and keeps a copy of them. */
void tile_work_number(cc_image *image, unsigned seed, unsigned char *out_bytes);

#endif
