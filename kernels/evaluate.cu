/* Expressions on the GPU: single steps in float32 at the speed of memory, and any list of steps. */
#include "kernels/evaluate_dense.h"
#include "kernels/evaluate_plan.h"
#include "kernels/launch.h"
#include "kernels/step_math.h"

/* Short names for this file. */
#define PACK CC__GENERAL_PACK
#define WIDE_PACK CC__GENERAL_WIDE_PACK
#define AHEAD CC__GENERAL_AHEAD
#define VECTORS CC__DIRECT_VECTORS

typedef struct __align__(16) vector_of_4
{
    uint32_t value[4];
}
vector_of_4;

#include "kernels/evaluate_shallow.h"
#include "kernels/evaluate_table.h"

/* One function for each direct kernel: bits of the result of x and y. */
#define DEFINE_DIRECT(NAME, HAS_Y, RESULT)                                                                             \
    static __device__ inline uint32_t direct_##NAME(const cc__direct_plan *plan, uint32_t x_bits, uint32_t y_bits)     \
    {                                                                                                                  \
        float x = cc__float32_of_bits(x_bits);                                                                         \
        float y = cc__float32_of_bits(y_bits);                                                                         \
        (void)y, (void)plan;                                                                                           \
        return RESULT;                                                                                                 \
    }                                                                                                                  \
                                                                                                                       \
    static __device__ inline void direct_single_##NAME(const cc__direct_plan *plan, int64_t n)                         \
    {                                                                                                                  \
        uint32_t x = ((const uint32_t *)plan->x)[n];                                                                   \
        uint32_t y = (HAS_Y) ? ((const uint32_t *)plan->y)[n] : 0;                                                     \
        ((uint32_t *)plan->to)[n] = direct_##NAME(plan, x, y);                                                         \
    }                                                                                                                  \
                                                                                                                       \
    static __global__ void __launch_bounds__(CC__BLOCK_THREADS)                                                        \
        evaluate_direct_##NAME(const __grid_constant__ cc__direct_plan plan)                                           \
    {                                                                                                                  \
        const int64_t step = (int64_t)gridDim.x * CC__DIRECT_TILE;                                                     \
        int32_t thread = (int32_t)threadIdx.x;                                                                         \
        for (int64_t first = (int64_t)blockIdx.x * CC__DIRECT_TILE + thread; first < plan.vectors; first += step) {    \
            vector_of_4 x[VECTORS];                                                                                    \
            vector_of_4 y[VECTORS];                                                                                    \
            CC__UNROLL                                                                                                 \
            for (int32_t i = 0; i < VECTORS; i++) {                                                                    \
                int64_t n = first + i * CC__BLOCK_THREADS;                                                             \
                if (n < plan.vectors) {                                                                                \
                    x[i] = ((const vector_of_4 *)plan.x)[n];                                                           \
                    if (HAS_Y)                                                                                         \
                        y[i] = ((const vector_of_4 *)plan.y)[n];                                                       \
                    else                                                                                               \
                        y[i] = x[i];                                                                                   \
                }                                                                                                      \
            }                                                                                                          \
            CC__UNROLL                                                                                                 \
            for (int32_t i = 0; i < VECTORS; i++) {                                                                    \
                int64_t n = first + i * CC__BLOCK_THREADS;                                                             \
                if (n < plan.vectors) {                                                                                \
                    vector_of_4 made;                                                                                  \
                    CC__UNROLL                                                                                         \
                    for (int32_t j = 0; j < 4; j++)                                                                    \
                        made.value[j] = direct_##NAME(&plan, x[i].value[j], y[i].value[j]);                            \
                    ((vector_of_4 *)plan.to)[n] = made;                                                                \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
        if (blockIdx.x == 0 && thread < plan.head)                                                                     \
            direct_single_##NAME(&plan, thread - plan.head);                                                           \
        if (blockIdx.x == 0 && thread < plan.tail)                                                                     \
            direct_single_##NAME(&plan, 4 * plan.vectors + thread);                                                    \
    }

#define DEFINE_STEP(NAME)                                                                                              \
    DEFINE_DIRECT(two_##NAME, 1, cc__store_float32(cc__float32_##NAME(x, y)))                                          \
    DEFINE_DIRECT(value_##NAME, 0, cc__store_float32(cc__float32_##NAME(x, (float)plan->a)))
CC__FOR_EACH_FLOAT32_STEP(DEFINE_STEP)
DEFINE_DIRECT(axpy, 1, cc__store_FLOAT32(cc__scale_and_shift((double)x, plan->a, (double)y)))
DEFINE_DIRECT(scale, 0, cc__store_FLOAT32(cc__scale_and_shift((double)x, plan->a, plan->b)))

#define CASE_STEP(NAME)                                                                                                \
    case CC_STEP_##NAME:                                                                                               \
        return form == CC__DIRECT_TWO ? (const void *)evaluate_direct_two_##NAME                                       \
                                      : (const void *)evaluate_direct_value_##NAME;

static const void *direct_kernel(cc__direct_form form, int32_t kind)
{
    if (form == CC__DIRECT_AXPY)
        return (const void *)evaluate_direct_axpy;
    if (form == CC__DIRECT_SCALE)
        return (const void *)evaluate_direct_scale;
    switch (kind) {
        CC__FOR_EACH_FLOAT32_STEP(CASE_STEP)
    }
    return NULL;
}

/* Where a thread's pack is: its row's place along each axis, its first component, and how many of the pack exist. */
typedef struct place_of_pack {
    int32_t at[CC_MAX_DIMENSION];
    int64_t first;
    int32_t count;
} place_of_pack;

/* False when the thread has nothing to do in the tile. */
static __device__ inline bool find_position(const cc__general_plan *plan, int64_t tile, int32_t pack,
                                            place_of_pack *out)
{
    const cc__tiles *tiles = &plan->tiles;
    int32_t row;
    int64_t piece;
    int32_t thread = (int32_t)threadIdx.x;
    cc__tiles_begin(tiles, tile, &row, &piece);
    piece += thread & ((1 << tiles->width_log2) - 1);
    row += thread >> tiles->width_log2;
    if (row >= tiles->rows || piece >= tiles->pieces)
        return false;
    out->first = piece * pack;
    out->count = plan->length - out->first < pack ? (int32_t)(plan->length - out->first) : pack;
    CC__UNROLL
    for (int32_t i = 0; i < CC_MAX_DIMENSION; i++) {
        int32_t next = i + 1 < tiles->axes ? cc__divide(row, &tiles->size[i]) : 0;
        out->at[i] = i < tiles->axes ? row - next * tiles->size[i].value : 0;
        row = next;
    }
    return true;
}

static __device__ inline int64_t offset_of(const cc__general_plan *plan, int32_t span, const place_of_pack *position)
{
    int64_t offset = position->first * plan->step[span];
    CC__UNROLL
    for (int32_t i = 0; i < CC_MAX_DIMENSION; i++)
        offset += position->at[i] * plan->stride[span][i];
    return offset;
}

#define DEFINE_ACCESS(BITS, ALIGNMENT)                                                                                 \
    typedef struct __align__(ALIGNMENT) pack_of_##BITS                                                                 \
    {                                                                                                                  \
        uint##BITS##_t value[PACK];                                                                                    \
    }                                                                                                                  \
    pack_of_##BITS;                                                                                                    \
                                                                                                                       \
    static __device__ inline void read_##BITS(const unsigned char *from, int64_t step, bool packed, int32_t count,     \
                                              uint64_t out[PACK])                                                      \
    {                                                                                                                  \
        if (packed && count == PACK) {                                                                                 \
            pack_of_##BITS whole = *(const pack_of_##BITS *)from;                                                      \
            CC__UNROLL                                                                                                 \
            for (int32_t i = 0; i < PACK; i++)                                                                         \
                out[i] = whole.value[i];                                                                               \
        } else {                                                                                                       \
            CC__UNROLL                                                                                                 \
            for (int32_t i = 0; i < PACK; i++)                                                                         \
                out[i] = i < count ? *(const uint##BITS##_t *)(from + i * step) : 0;                                   \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    static __device__ inline void write_##BITS(unsigned char *to, int64_t step, bool packed, int32_t count,            \
                                               const uint##BITS##_t values[PACK])                                      \
    {                                                                                                                  \
        if (packed && count == PACK) {                                                                                 \
            pack_of_##BITS whole;                                                                                      \
            CC__UNROLL                                                                                                 \
            for (int32_t i = 0; i < PACK; i++)                                                                         \
                whole.value[i] = values[i];                                                                            \
            *(pack_of_##BITS *)to = whole;                                                                             \
        } else {                                                                                                       \
            CC__UNROLL                                                                                                 \
            for (int32_t i = 0; i < PACK; i++) {                                                                       \
                if (i < count)                                                                                         \
                    *(uint##BITS##_t *)(to + i * step) = values[i];                                                    \
            }                                                                                                          \
        }                                                                                                              \
    }

DEFINE_ACCESS(8, 4)
DEFINE_ACCESS(16, 8)
DEFINE_ACCESS(32, 16)
DEFINE_ACCESS(64, 16)

static __device__ inline int32_t bytes_of_real(cc_pixel_type type)
{
    switch ((int32_t)type) {
#define BYTES(NAME, HOLDER, BITS)                                                                                      \
    case CC_PIXEL_##NAME:                                                                                              \
        return (BITS) / 8;
        CC__FOR_EACH_TYPE_UP_TO_16_BITS(BYTES)
        CC__FOR_EACH_TYPE_OF_32_BITS(BYTES)
#undef BYTES
    }
    return 8;
}

/* The bits of a pack of a source, one component in each. */
static __device__ inline void read_source(const cc__general_plan *plan, int32_t n, const place_of_pack *position,
                                          int64_t skip_bytes, uint64_t out[PACK])
{
    const cc__source *source = &plan->work.sources[n];
    const unsigned char *from = source->data + offset_of(plan, 1 + n, position) + skip_bytes;
    int64_t step = plan->step[1 + n];
    bool packed = (plan->packed >> (1 + n) & 1) != 0 && skip_bytes == 0;
    switch (bytes_of_real(source->type)) {
    case 1:
        read_8(from, step, packed, position->count, out);
        break;
    case 2:
        read_16(from, step, packed, position->count, out);
        break;
    case 4:
        read_32(from, step, packed, position->count, out);
        break;
    default:
        read_64(from, step, packed, position->count, out);
        break;
    }
}

#define LOAD_REAL(NAME, HOLDER, BITS)                                                                                  \
    case CC_PIXEL_##NAME:                                                                                              \
        CC__UNROLL                                                                                                     \
        for (int32_t i = 0; i < PACK; i++)                                                                             \
            out[i] = cc__load_##NAME((HOLDER)bits[i]);                                                                 \
        break;

static __device__ inline void convert(cc_pixel_type type, const uint64_t bits[PACK], double out[PACK])
{
    switch ((int32_t)type) {
        CC__FOR_EACH_TYPE_UP_TO_16_BITS(LOAD_REAL)
        CC__FOR_EACH_TYPE_OF_32_BITS(LOAD_REAL)
        CC__FOR_EACH_TYPE_OF_64_BITS(LOAD_REAL)
    }
}

/* One component of each pixel, or the magnitude of all. */
static __device__ inline void load_source(const cc__general_plan *plan, const cc__term *term,
                                          const place_of_pack *position, const uint64_t ahead[AHEAD][PACK],
                                          double out[PACK])
{
    const cc__source *source = &plan->work.sources[term->number];
    bool is_magnitude = term->kind == CC__TERM_MAGNITUDE;
    int32_t count = is_magnitude ? source->components : 1;
    double sum[PACK];
    CC__UNROLL
    for (int32_t i = 0; i < PACK; i++)
        sum[i] = 0.0;
    for (int32_t k = 0; k < count; k++) {
        uint64_t bits[PACK];
        double value[PACK];
        CC__UNROLL
        for (int32_t i = 0; i < PACK; i++) {
            bits[i] = 0;
            value[i] = 0.0;
        }
        if (k == 0 && term->number < AHEAD) {
            /* Masks, not choices: the compiler would put the array into memory to choose from. */
            CC__UNROLL
            for (int32_t n = 0; n < AHEAD; n++) {
                uint64_t mask = term->number == n ? UINT64_MAX : 0;
                CC__UNROLL
                for (int32_t i = 0; i < PACK; i++)
                    bits[i] |= ahead[n][i] & mask;
            }
        } else {
            read_source(plan, term->number, position, k * bytes_of_real(source->type), bits);
        }
        convert(source->type, bits, value);
        CC__UNROLL
        for (int32_t i = 0; i < PACK; i++)
            sum[i] = is_magnitude ? sum[i] + value[i] * value[i] : value[i];
    }
    CC__UNROLL
    for (int32_t i = 0; i < PACK; i++)
        out[i] = is_magnitude ? cc__square_root(sum[i]) : sum[i];
}

static __device__ inline void load_term(const cc__general_plan *plan, const cc__term *term,
                                        const place_of_pack *position, const uint64_t ahead[AHEAD][PACK],
                                        double slots[CC_MAX_STEPS][PACK], double out[PACK])
{
    switch (term->kind) {
    case CC__TERM_SOURCE:
    case CC__TERM_MAGNITUDE:
        load_source(plan, term, position, ahead, out);
        break;
    case CC__TERM_SLOT:
        CC__UNROLL
        for (int32_t i = 0; i < PACK; i++)
            out[i] = slots[term->number][i];
        break;
    default:
        CC__UNROLL
        for (int32_t i = 0; i < PACK; i++)
            out[i] = term->value;
        break;
    }
}

#define REAL_STEP(NAME)                                                                                                \
    case CC_STEP_##NAME:                                                                                               \
        CC__UNROLL                                                                                                     \
        for (int32_t i = 0; i < PACK; i++)                                                                             \
            value[i] = cc__real_##NAME(value[i], a[i], b[i]);                                                          \
        break;

static __device__ inline void make_real_step(int32_t kind, double value[PACK], const double a[PACK],
                                             const double b[PACK])
{
    switch (kind) {
    case CC_STEP_LOAD:
        CC__UNROLL
        for (int32_t i = 0; i < PACK; i++)
            value[i] = a[i];
        break;
        CC__FOR_EACH_REAL_STEP(REAL_STEP)
    }
}

#define STORE_REAL(NAME, HOLDER, BITS)                                                                                 \
    case CC_PIXEL_##NAME: {                                                                                            \
        uint##BITS##_t bits[PACK];                                                                                     \
        CC__UNROLL                                                                                                     \
        for (int32_t i = 0; i < PACK; i++)                                                                             \
            bits[i] = (uint##BITS##_t)cc__store_##NAME(value[i]);                                                      \
        write_##BITS(to, plan->step[0], (plan->packed & 1) != 0, position->count, bits);                               \
        break;                                                                                                         \
    }

static __device__ inline void store_real(const cc__general_plan *plan, const place_of_pack *position,
                                         const double value[PACK])
{
    unsigned char *to = plan->work.destination.data + offset_of(plan, 0, position);
    switch ((int32_t)plan->work.destination_type) {
        CC__FOR_EACH_TYPE_UP_TO_16_BITS(STORE_REAL)
        CC__FOR_EACH_TYPE_OF_32_BITS(STORE_REAL)
        CC__FOR_EACH_TYPE_OF_64_BITS(STORE_REAL)
    }
}

/* With three blocks on a multiprocessor enough is under way to keep the memory busy. */
static __global__ void __launch_bounds__(CC__BLOCK_THREADS, 3)
    evaluate_real(const __grid_constant__ cc__general_plan plan)
{
    double slots[CC_MAX_STEPS][PACK];
    for (int64_t tile = blockIdx.x; tile < plan.tiles.count; tile += gridDim.x) {
        place_of_pack position;
        uint64_t ahead[AHEAD][PACK];
        double value[PACK];
        if (!find_position(&plan, tile, PACK, &position))
            continue;
        CC__UNROLL
        for (int32_t n = 0; n < AHEAD; n++) {
            CC__UNROLL
            for (int32_t i = 0; i < PACK; i++)
                ahead[n][i] = 0;
            if (n < plan.work.source_count)
                read_source(&plan, n, &position, 0, ahead[n]);
        }
        CC__UNROLL
        for (int32_t i = 0; i < PACK; i++)
            value[i] = 0.0;
        for (int32_t s = 0; s < plan.work.step_count; s++) {
            const cc__instruction *step = &plan.work.steps[s];
            double a[PACK];
            double b[PACK];
            load_term(&plan, &step->a, &position, ahead, slots, a);
            load_term(&plan, &step->b, &position, ahead, slots, b);
            make_real_step(step->kind, value, a, b);
            if (step->slot >= 0) {
                CC__UNROLL
                for (int32_t i = 0; i < PACK; i++)
                    slots[step->slot][i] = value[i];
            }
        }
        store_real(&plan, &position, value);
    }
}

#define LOAD_PART(NAME, HOLDER, BITS)                                                                                  \
    case CC_PIXEL_##NAME:                                                                                              \
        out.real = cc__load_##NAME(*(const HOLDER *)from);                                                             \
        break;

static __device__ inline cc__complex load_complex(cc_pixel_type type, const unsigned char *from)
{
    cc__complex out = {0.0, 0.0};
    switch ((int32_t)type) {
        CC__FOR_EACH_TYPE_UP_TO_16_BITS(LOAD_PART)
        CC__FOR_EACH_TYPE_OF_32_BITS(LOAD_PART)
        CC__FOR_EACH_TYPE_OF_64_BITS(LOAD_PART)
    case CC_PIXEL_COMPLEX64:
        out.real = cc__load_FLOAT32(((const uint32_t *)from)[0]);
        out.imaginary = cc__load_FLOAT32(((const uint32_t *)from)[1]);
        break;
    case CC_PIXEL_COMPLEX128:
        out.real = cc__load_FLOAT64(((const uint64_t *)from)[0]);
        out.imaginary = cc__load_FLOAT64(((const uint64_t *)from)[1]);
        break;
    }
    return out;
}

#define STORE_PART(NAME, HOLDER, BITS)                                                                                 \
    case CC_PIXEL_##NAME:                                                                                              \
        *(HOLDER *)to = cc__store_##NAME(value.real);                                                                  \
        break;

static __device__ inline void store_complex(cc_pixel_type type, cc__complex value, unsigned char *to)
{
    /* A complex value is 0 when both parts are. */
    if (type == CC_PIXEL_BOOL)
        value.real = value.real != 0.0 || value.imaginary != 0.0 ? 1.0 : 0.0;
    switch ((int32_t)type) {
        CC__FOR_EACH_TYPE_UP_TO_16_BITS(STORE_PART)
        CC__FOR_EACH_TYPE_OF_32_BITS(STORE_PART)
        CC__FOR_EACH_TYPE_OF_64_BITS(STORE_PART)
    case CC_PIXEL_COMPLEX64:
        ((uint32_t *)to)[0] = cc__store_FLOAT32(value.real);
        ((uint32_t *)to)[1] = cc__store_FLOAT32(value.imaginary);
        break;
    case CC_PIXEL_COMPLEX128:
        ((uint64_t *)to)[0] = cc__store_FLOAT64(value.real);
        ((uint64_t *)to)[1] = cc__store_FLOAT64(value.imaginary);
        break;
    }
}

#define LOAD_WHOLE(NAME, HOLDER, LEAST, GREATEST)                                                                      \
    case CC_PIXEL_##NAME:                                                                                              \
        return *(const HOLDER *)from;

static __device__ inline cc__whole load_whole(cc_pixel_type type, const unsigned char *from)
{
    switch ((int32_t)type) {
        CC__FOR_EACH_WHOLE_TYPE(LOAD_WHOLE)
    }
    return *from != 0;
}

#define STORE_WHOLE(NAME, HOLDER, LEAST, GREATEST)                                                                     \
    case CC_PIXEL_##NAME:                                                                                              \
        *(HOLDER *)to = cc__store_whole_##NAME(value);                                                                 \
        return;

static __device__ inline void store_whole(cc_pixel_type type, cc__whole value, unsigned char *to)
{
    switch ((int32_t)type) {
        CC__FOR_EACH_WHOLE_TYPE(STORE_WHOLE)
    }
    *to = value != 0;
}

static __device__ inline cc__complex complex_of_value(double value)
{
    return cc__complex_of(value, 0.0);
}

/* In the order of the components, as the CPU adds them. */
static __device__ inline cc__complex complex_magnitude(const cc__source *source, const unsigned char *from,
                                                       int64_t component_bytes)
{
    double sum = 0.0;
    for (int32_t k = 0; k < source->components; k++) {
        cc__complex z = load_complex(source->type, from + k * component_bytes);
        sum = sum + (z.real * z.real + z.imaginary * z.imaginary);
    }
    return cc__complex_of(cc__square_root(sum), 0.0);
}

/* Steps on values that are real although others of the expression are not. */
#define COMPLEX_ORDER_STEP(NAME)                                                                                       \
    case CC_STEP_##NAME:                                                                                               \
        return cc__complex_of(cc__real_##NAME(value.real, a.real, b.real), value.imaginary);
#define COMPLEX_STEP(NAME)                                                                                             \
    case CC_STEP_##NAME:                                                                                               \
        return cc__complex_##NAME(value, a, b, reals);

static __device__ inline cc__complex make_complex_step(int32_t kind, cc__complex value, cc__complex a, cc__complex b,
                                                       int32_t reals)
{
    switch (kind) {
    case CC_STEP_LOAD:
        return a;
        CC__FOR_EACH_COMPLEX_STEP(COMPLEX_STEP)
        COMPLEX_ORDER_STEP(MINIMUM)
        COMPLEX_ORDER_STEP(MAXIMUM)
        COMPLEX_ORDER_STEP(CLAMP)
        COMPLEX_ORDER_STEP(WITHIN)
        COMPLEX_ORDER_STEP(LESS)
        COMPLEX_ORDER_STEP(SQUARE_ROOT)
    }
    return value;
}

#define WHOLE_STEP(NAME)                                                                                               \
    case CC_STEP_##NAME:                                                                                               \
        return cc__whole_##NAME(value, a, b);

static __device__ inline cc__whole make_whole_step(int32_t kind, cc__whole value, cc__whole a, cc__whole b,
                                                   int32_t reals)
{
    (void)reals;
    switch (kind) {
    case CC_STEP_LOAD:
        return a;
        CC__FOR_EACH_WHOLE_STEP(WHOLE_STEP)
    }
    return value;
}

/* Never asked for: magnitudes are not whole. */
static __device__ inline cc__whole whole_magnitude(const cc__source *source, const unsigned char *from,
                                                   int64_t component_bytes)
{
    (void)source, (void)from, (void)component_bytes;
    return 0;
}

static __device__ inline int64_t bytes_of(cc_pixel_type type)
{
    return type == CC_PIXEL_COMPLEX128 ? 16 : type == CC_PIXEL_COMPLEX64 ? 8 : bytes_of_real(type);
}

/* The same for complex and whole numbers, one component after the other. */
#define DEFINE_WIDE(NAME, NUMBER, OF_VALUE)                                                                            \
    static __device__ inline NUMBER load_##NAME##_term(const cc__general_plan *plan, const cc__term *term,             \
                                                       const place_of_pack *position, int32_t i,                       \
                                                       NUMBER slots[CC_MAX_STEPS][WIDE_PACK])                          \
    {                                                                                                                  \
        if (term->kind == CC__TERM_SLOT)                                                                               \
            return slots[term->number][i];                                                                             \
        if (term->kind != CC__TERM_SOURCE && term->kind != CC__TERM_MAGNITUDE)                                         \
            return OF_VALUE(term->value);                                                                              \
        const cc__source *source = &plan->work.sources[term->number];                                                  \
        const unsigned char *from =                                                                                    \
            source->data + offset_of(plan, 1 + term->number, position) + i * plan->step[1 + term->number];             \
        if (term->kind == CC__TERM_MAGNITUDE)                                                                          \
            return NAME##_magnitude(source, from, bytes_of(source->type));                                             \
        return load_##NAME(source->type, from);                                                                        \
    }                                                                                                                  \
                                                                                                                       \
    static __global__ void __launch_bounds__(CC__BLOCK_THREADS)                                                        \
        evaluate_##NAME(const __grid_constant__ cc__general_plan plan)                                                 \
    {                                                                                                                  \
        NUMBER slots[CC_MAX_STEPS][WIDE_PACK];                                                                         \
        for (int64_t tile = blockIdx.x; tile < plan.tiles.count; tile += gridDim.x) {                                  \
            place_of_pack position;                                                                                    \
            NUMBER value[WIDE_PACK];                                                                                   \
            if (!find_position(&plan, tile, WIDE_PACK, &position))                                                     \
                continue;                                                                                              \
            CC__UNROLL                                                                                                 \
            for (int32_t i = 0; i < WIDE_PACK; i++)                                                                    \
                value[i] = OF_VALUE(0.0);                                                                              \
            for (int32_t s = 0; s < plan.work.step_count; s++) {                                                       \
                const cc__instruction *step = &plan.work.steps[s];                                                     \
                NUMBER a[WIDE_PACK];                                                                                   \
                NUMBER b[WIDE_PACK];                                                                                   \
                CC__UNROLL                                                                                             \
                for (int32_t i = 0; i < WIDE_PACK; i++) {                                                              \
                    int32_t j = i < position.count ? i : 0;                                                            \
                    a[i] = load_##NAME##_term(&plan, &step->a, &position, j, slots);                                   \
                    b[i] = load_##NAME##_term(&plan, &step->b, &position, j, slots);                                   \
                }                                                                                                      \
                CC__UNROLL                                                                                             \
                for (int32_t i = 0; i < WIDE_PACK; i++) {                                                              \
                    value[i] = make_##NAME##_step(step->kind, value[i], a[i], b[i], step->reals);                      \
                    if (step->slot >= 0)                                                                               \
                        slots[step->slot][i] = value[i];                                                               \
                }                                                                                                      \
            }                                                                                                          \
            unsigned char *to = plan.work.destination.data + offset_of(&plan, 0, &position);                           \
            CC__UNROLL                                                                                                 \
            for (int32_t i = 0; i < WIDE_PACK; i++) {                                                                  \
                if (i < position.count)                                                                                \
                    store_##NAME(plan.work.destination_type, value[i], to + i * plan.step[0]);                         \
            }                                                                                                          \
        }                                                                                                              \
    }

DEFINE_WIDE(complex, cc__complex, complex_of_value)
DEFINE_WIDE(whole, cc__whole, cc__whole_of_float64)

/* LOAD alone between equal types: the bits, parts of complex ones each on its own. */
#define COPY_BITS(BITS)                                                                                                \
    {                                                                                                                  \
        uint64_t bits[PACK];                                                                                           \
        uint##BITS##_t narrow[PACK];                                                                                   \
        read_##BITS(from, plan.step[1 + n], packed, position.count, bits);                                             \
        CC__UNROLL                                                                                                     \
        for (int32_t i = 0; i < PACK; i++)                                                                             \
            narrow[i] = (uint##BITS##_t)bits[i];                                                                       \
        write_##BITS(to, plan.step[0], packed, position.count, narrow);                                                \
        break;                                                                                                         \
    }

#define COPY_PARTS(BITS)                                                                                               \
    {                                                                                                                  \
        for (int32_t i = 0; i < position.count; i++) {                                                                 \
            const uint##BITS##_t *parts = (const uint##BITS##_t *)(from + i * plan.step[1 + n]);                       \
            uint##BITS##_t real = parts[0];                                                                            \
            uint##BITS##_t imaginary = parts[1];                                                                       \
            ((uint##BITS##_t *)(to + i * plan.step[0]))[0] = real;                                                     \
            ((uint##BITS##_t *)(to + i * plan.step[0]))[1] = imaginary;                                                \
        }                                                                                                              \
        break;                                                                                                         \
    }

static __global__ void __launch_bounds__(CC__BLOCK_THREADS) evaluate_copy(const __grid_constant__ cc__general_plan plan)
{
    const int32_t n = plan.work.steps[0].a.number;
    const bool packed = (plan.packed & 1) != 0 && (plan.packed >> (1 + n) & 1) != 0;
    for (int64_t tile = blockIdx.x; tile < plan.tiles.count; tile += gridDim.x) {
        place_of_pack position;
        if (!find_position(&plan, tile, PACK, &position))
            continue;
        unsigned char *to = plan.work.destination.data + offset_of(&plan, 0, &position);
        const unsigned char *from = plan.work.sources[n].data + offset_of(&plan, 1 + n, &position);
        switch (bytes_of_real(plan.work.destination_type)) {
        case 1:
            COPY_BITS(8)
        case 2:
            COPY_BITS(16)
        case 4:
            COPY_BITS(32)
        default:
            if (plan.work.destination_type == CC_PIXEL_COMPLEX64) {
                COPY_PARTS(32)
            }
            if (plan.work.destination_type == CC_PIXEL_COMPLEX128) {
                COPY_PARTS(64)
            }
            COPY_BITS(64)
        }
    }
}

static cc_status launch_direct(const cc__direct_plan *plan, const void *kernel, const cc__launcher *launcher)
{
    int64_t tiles = plan->vectors / CC__DIRECT_TILE + 1;
    void *arguments[] = {(void *)plan};
    return launcher->launch(launcher, kernel,
                            (uint32_t)(tiles < CC__DIRECT_MOST_BLOCKS ? tiles : CC__DIRECT_MOST_BLOCKS),
                            CC__BLOCK_THREADS, arguments);
}

static const void *general_kernel(const cc__evaluate *work)
{
    if (cc__evaluate_is_copy(work))
        return (const void *)evaluate_copy;
    switch (work->numbers) {
    case CC__NUMBERS_REAL:
        return (const void *)evaluate_real;
    case CC__NUMBERS_COMPLEX:
        return (const void *)evaluate_complex;
    case CC__NUMBERS_WHOLE:
        return (const void *)evaluate_whole;
    }
    return NULL;
}

/* Leaves the first half of the rows in `plan`, and begins another with the others. */
static void split_rows(const cc__general_plan *plan, cc__rows *rows, cc__general_plan *out_second, cc__rows *out_rest)
{
    int64_t unused[2];
    int32_t axis = rows->axes - 1;
    while (rows->size[axis] == 1)
        axis--;
    cc__rows_split(rows, out_rest, unused);
    *out_second = *plan;
    out_second->work.destination.data += rows->size[axis] * plan->stride[0][axis];
    for (int32_t n = 0; n < plan->work.source_count; n++)
        out_second->work.sources[n].data += rows->size[axis] * plan->stride[1 + n][axis];
}

static cc_status launch_rows(cc__general_plan *plan, const void *kernel, int32_t pack, cc__rows rows,
                             const cc__launcher *launcher)
{
    int64_t pieces = (rows.length - 1) / pack + 1;
    if (!cc__tiles_plan(&rows, pieces, CC__GENERAL_TILE_LOG2, &plan->tiles)) {
        cc__rows rest;
        cc__general_plan second;
        split_rows(plan, &rows, &second, &rest);
        cc_status status = launch_rows(plan, kernel, pack, rows, launcher);
        return status == CC_OK ? launch_rows(&second, kernel, pack, rest, launcher) : status;
    }
    void *arguments[] = {plan};
    return launcher->launch(launcher, kernel, cc__tiles_blocks(&plan->tiles, launcher->multiprocessor_count),
                            CC__BLOCK_THREADS, arguments);
}

static cc_status launch_general(const cc__evaluate *work, const cc__lattice *lattice, const cc__launcher *launcher)
{
    cc__general_plan general;
    cc__rows rows;
    cc__general_plan_make(work, lattice, &general, &rows);
    bool is_packed = work->numbers == CC__NUMBERS_REAL || cc__evaluate_is_copy(work);
    return launch_rows(&general, general_kernel(work), is_packed ? PACK : WIDE_PACK, rows, launcher);
}

/* Some components of the only row. */
static cc_status launch_part(const cc__evaluate *work, const cc__lattice *lattice, int64_t first, int64_t count,
                             const cc__launcher *launcher)
{
    cc__evaluate part = *work;
    cc__lattice row = *lattice;
    if (count == 0)
        return CC_OK;
    row.length = count;
    part.destination.data += first * lattice->step[0];
    for (int32_t n = 0; n < work->source_count; n++)
        part.sources[n].data += first * lattice->step[1 + n];
    return launch_general(&part, &row, launcher);
}

static cc_status launch_dense(const cc__evaluate *work, const cc__lattice *lattice, const cc__dense_plan *plan,
                              const cc__launcher *launcher)
{
    const int64_t most = (int64_t)launcher->multiprocessor_count * CC__DENSE_BLOCKS;
    const int64_t tile =
        (int64_t)CC__BLOCK_THREADS * (plan->is_wide != 0 ? CC__DENSE_WIDE_PACKS : CC__DENSE_NARROW_PACKS);
    const int64_t blocks = (plan->packs - 1) / tile + 1;
    const void *kernel = plan->is_wide != 0 ? (const void *)wide_evaluate : (const void *)narrow_evaluate;
    void *arguments[] = {(void *)plan};
    cc_status status = launcher->find(launcher, kernel);
    if (status == CC_OK)
        status = launch_part(work, lattice, 0, plan->head, launcher);
    if (status == CC_OK)
        status = launch_part(work, lattice, lattice->length - plan->tail, plan->tail, launcher);
    if (status == CC_OK)
        status =
            launcher->launch(launcher, kernel, (uint32_t)(blocks < most ? blocks : most), CC__BLOCK_THREADS, arguments);
    return status;
}

/* A tile for each block. */
static cc_status launch_shallow(const cc__shallow_plan *plan, const cc__launcher *launcher)
{
    const void *kernel = plan->is_wide != 0 ? (const void *)wide_one_step : (const void *)narrow_one_step;
    if (plan->source_count == 2)
        kernel = plan->is_wide != 0 ? (const void *)wide_two_step : (const void *)narrow_two_step;
    if (cc__shallow_is_float32_cast(plan))
        kernel = (const void *)float32_cast_step;
    const int64_t tile =
        (int64_t)CC__BLOCK_THREADS * (plan->source_count == 2 ? CC__SHALLOW_UNITS_OF_TWO : CC__SHALLOW_UNITS);
    void *arguments[] = {(void *)plan};
    return launcher->launch(launcher, kernel, (uint32_t)(plan->units.count / tile + 1), CC__BLOCK_THREADS, arguments);
}

/* As many blocks as fit at once, since each makes a table. */
static cc_status launch_table(const cc__table_plan *plan, cc_pixel_type type, const cc__launcher *launcher)
{
    const int64_t bytes = (int64_t)cc_pixel_type_size_bytes(type);
    const int64_t most = (int64_t)launcher->multiprocessor_count * CC__TABLE_BLOCKS;
    const int64_t blocks = plan->units.count / TABLE_TILE + 1;
    const void *kernel = bytes == 1   ? (const void *)evaluate_table_8
                         : bytes == 2 ? (const void *)evaluate_table_16
                                      : (const void *)evaluate_table_32;
    void *arguments[] = {(void *)plan};
    return launcher->launch(launcher, kernel, (uint32_t)(blocks < most ? blocks : most), CC__BLOCK_THREADS, arguments);
}

cc_status cc__launch_evaluate_row(const cc__evaluate *work, const cc__launcher *launcher, bool *out_done)
{
    cc__lattice lattice;
    cc__dense_plan dense;
    cc__direct_plan direct;
    cc__shallow_plan shallow;
    cc__table_plan table;
    cc__program program;
    cc__program_call call;
    cc__evaluate_plan(work, &lattice);
    cc__direct_form form = cc__direct_plan_make(work, &lattice, &direct);
    *out_done = true;
    if (form != CC__DIRECT_NONE)
        return launch_direct(&direct, direct_kernel(form, work->steps[1].kind), launcher);
    *out_done = false;
    if (cc__evaluate_is_copy(work))
        return CC_OK;
    *out_done = true;
    if (cc__table_plan_make(work, &lattice, &table))
        return launch_table(&table, work->destination_type, launcher);
    if (cc__shallow_plan_make(work, &lattice, &shallow))
        return launch_shallow(&shallow, launcher);
    if (launcher->launch_program != NULL && cc__program_make(work, &lattice, &program, &call)) {
        const cc_status status = launcher->launch_program(launcher, &program, &call, out_done);
        if (status != CC_OK || *out_done)
            return status;
        *out_done = true;
    }
    if (cc__dense_plan_make(work, &lattice, &dense))
        return launch_dense(work, &lattice, &dense, launcher);
    *out_done = false;
    return CC_OK;
}

cc_status cc__launch_evaluate(const void *argument, const cc__launcher *launcher)
{
    const cc__evaluate *work = (const cc__evaluate *)argument;
    cc__lattice lattice;
    bool is_done = false;
    const cc_status status = cc__launch_evaluate_row(work, launcher, &is_done);
    if (is_done)
        return status;
    cc__evaluate_plan(work, &lattice);
    return launch_general(work, &lattice, launcher);
}
