/*
 * Axes that change places where pixels have 1 or 2 bytes: squares of 128 bytes a side, whose parts of 4 x 4 bytes a
 * thread turns in its registers, so that all other moves are of 4 bytes and more.
 */
#ifndef CC_KERNELS_BYTE_SQUARES_H
#define CC_KERNELS_BYTE_SQUARES_H

#include "kernels/byte_word.h"
#include "kernels/tiles.h"

#define BYTE_ROW_WORDS 8 /* of 16 bytes */
#define BYTE_GROUPS (CC__BLOCK_THREADS / BYTE_ROW_WORDS)

/*
 * Words of `grain` bytes, 16 or 4, are what both sides have at multiples of their size; the first `bytes` are there.
 * All of these are constants but for `bytes`.
 */
static __device__ inline byte_word load_bytes_of_square(const unsigned char *at, int32_t bytes, int32_t grain)
{
    byte_word word = {{0, 0, 0, 0}};
    if (grain == 16) {
        if (bytes > 0)
            word = *(const byte_word *)at;
        return word;
    }
    CC__UNROLL
    for (int32_t i = 0; i < 4; i++)
        if (4 * i < bytes)
            word.part[i] = *(const uint32_t *)(at + (int64_t)4 * i);
    return word;
}

static __device__ inline void store_bytes_of_square(unsigned char *at, const byte_word *word, int32_t bytes,
                                                    int32_t grain)
{
    if (grain == 16) {
        if (bytes > 0)
            *(byte_word *)at = *word;
        return;
    }
    CC__UNROLL
    for (int32_t i = 0; i < 4; i++)
        if (4 * i < bytes)
            *(uint32_t *)(at + (int64_t)4 * i) = word->part[i];
}

/* 4 bytes of each of 4 / unit_bytes rows become so many pixels of 4 rows' bytes. */
static __device__ inline void turn_bytes(const uint32_t in[4], uint32_t out[4], int32_t unit_bytes)
{
    if (unit_bytes == 2) {
        out[0] = pick_bytes(in[0], in[1], 0x5410);
        out[1] = pick_bytes(in[0], in[1], 0x7632);
        return;
    }
    const uint32_t a = pick_bytes(in[0], in[1], 0x5140), b = pick_bytes(in[0], in[1], 0x7362);
    const uint32_t c = pick_bytes(in[2], in[3], 0x5140), d = pick_bytes(in[2], in[3], 0x7362);
    out[0] = pick_bytes(a, c, 0x5410);
    out[1] = pick_bytes(a, c, 0x7632);
    out[2] = pick_bytes(b, d, 0x5410);
    out[3] = pick_bytes(b, d, 0x7632);
}

/*
 * A row of the square for each pixel along the source's rows. Its words change places by the row's number, so that no
 * two threads that have a turn at once want the same bank.
 */
static __device__ inline void load_byte_square(const unsigned char *from, int64_t stride, int32_t width, int32_t height,
                                               byte_word *square, int32_t unit_bytes, int32_t grain)
{
    const int32_t rows = 4 / unit_bytes, pixels = 16 / unit_bytes;
    const int32_t column = (int32_t)threadIdx.x % BYTE_ROW_WORDS, group = (int32_t)threadIdx.x / BYTE_ROW_WORDS;
    uint32_t *words = (uint32_t *)square;
    byte_word held[4];
    CC__UNROLL
    for (int32_t n = 0; n < rows; n++) {
        const int32_t row = group * rows + n;
        const int32_t bytes = row < width ? (height - column * pixels) * unit_bytes : 0;
        held[n] = load_bytes_of_square(from + row * stride + (int64_t)column * 16, bytes, grain);
    }
    CC__UNROLL
    for (int32_t part = 0; part < 4; part++) {
        uint32_t in[4] = {0, 0, 0, 0}, out[4];
        CC__UNROLL
        for (int32_t n = 0; n < rows; n++)
            in[n] = held[n].part[part];
        turn_bytes(in, out, unit_bytes);
        CC__UNROLL
        for (int32_t n = 0; n < rows; n++)
            words[(column * pixels + part * rows + n) * 4 * BYTE_ROW_WORDS + (group ^ 4 * column)] = out[n];
    }
}

static __device__ inline void store_byte_square(unsigned char *to, int64_t stride, int32_t width, int32_t height,
                                                const byte_word *square, int32_t unit_bytes, int32_t grain)
{
    const int32_t rows = 4 / unit_bytes, pixels = 16 / unit_bytes;
    const int32_t column = (int32_t)threadIdx.x % BYTE_ROW_WORDS, group = (int32_t)threadIdx.x / BYTE_ROW_WORDS;
    byte_word held[4];
    CC__UNROLL
    for (int32_t n = 0; n < rows; n++) {
        const int32_t row = n * BYTE_GROUPS + group;
        held[n] = square[row * BYTE_ROW_WORDS + (column ^ row / pixels)];
    }
    CC__UNROLL
    for (int32_t n = 0; n < rows; n++) {
        const int32_t row = n * BYTE_GROUPS + group;
        const int32_t bytes = row < height ? (width - column * pixels) * unit_bytes : 0;
        store_bytes_of_square(to + row * stride + (int64_t)column * 16, &held[n], bytes, grain);
    }
}

#endif
