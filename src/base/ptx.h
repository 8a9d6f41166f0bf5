/*
 * PTX, the assembly text that every driver compiles for its device: writing it, and what the pixel types are in it.
 * The rounding of every operation is written down, so that no compiler fuses two.
 */
#ifndef CC_BASE_PTX_H
#define CC_BASE_PTX_H

#include <cudacommon/pixel.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Registers are counted for each kind, and each is written once: %p0, %r0, %l0, %d0, %f0, %h0. */
typedef enum cc__ptx_kind {
    CC__PTX_PREDICATE = 0,
    CC__PTX_32 = 1,
    CC__PTX_64 = 2,
    CC__PTX_FLOAT64 = 3,
    CC__PTX_FLOAT32 = 4,
    CC__PTX_16 = 5
} cc__ptx_kind;
#define CC__PTX_KINDS 6

/* A text without memory (capacity 0) is only counted. */
typedef struct cc__ptx {
    char *text;
    size_t capacity;
    size_t length; /* of the whole text, also where it does not fit */
    int32_t registers[CC__PTX_KINDS];
    int32_t labels;
} cc__ptx;

#if defined(__GNUC__)
#define CC__PTX_FORMAT __attribute__((format(printf, 2, 3)))
#else
#define CC__PTX_FORMAT
#endif

void cc__ptx_put(cc__ptx *ptx, const char *format, ...) CC__PTX_FORMAT;
int32_t cc__ptx_register(cc__ptx *ptx, cc__ptx_kind kind);

/* A number as a literal. */
typedef struct cc__ptx_literal {
    char text[20];
} cc__ptx_literal;
cc__ptx_literal cc__ptx_float64(double value);

/* Predicates and choices: TEST is eq, lt, ... of float64. */
int32_t cc__ptx_compare(cc__ptx *ptx, const char *test, int32_t x, int32_t y);
int32_t cc__ptx_compare_number(cc__ptx *ptx, const char *test, int32_t x, double y);
int32_t cc__ptx_select(cc__ptx *ptx, int32_t predicate, int32_t x, int32_t y);
int32_t cc__ptx_select_numbers(cc__ptx *ptx, int32_t predicate, double x, double y);

/* Components side by side as they come from memory: registers of float64, or words that hold one or more. */
#define CC__PTX_MOST_WORDS 4
typedef struct cc__ptx_pack {
    cc_pixel_type type;
    int32_t count; /* components; their bytes are 1, 2, 4, 8 or 16 */
    int32_t word[CC__PTX_MOST_WORDS];
} cc__ptx_pack;

/* The pack whose address is in a 64-bit register, and so many bytes behind it. predicate: -1 where there is none. */
cc__ptx_pack cc__ptx_load(cc__ptx *ptx, cc_pixel_type type, int32_t count, int32_t address, int64_t offset,
                          int32_t predicate);
void cc__ptx_store(cc__ptx *ptx, const cc__ptx_pack *pack, int32_t address, int64_t offset);

/* As kernels/pixel_math.h has them: cc__load_X() of a component, and cc__store_X() of all. */
int32_t cc__ptx_component(cc__ptx *ptx, const cc__ptx_pack *pack, int32_t n);
cc__ptx_pack cc__ptx_pack_of(cc__ptx *ptx, cc_pixel_type type, int32_t count, const int32_t *values);

#ifdef __cplusplus
}
#endif

#endif
