#include "kernels/launch.h"
#include "kernels/resample_math.h"
#include "kernels/tiles.h"

typedef struct bspline_plan {
    cc__bspline work;
    int64_t line_count;
    bool is_packed; /* lines in both images, of float32 */
} bspline_plan;

/*
 * From and to float32, so many pixels at a time: their loads are on their way together, and where pixels of a line are
 * side by side, they are those of whole sectors.
 */
#define RUN 16
#define PACK 4

typedef struct __align__(16) pack
{
    float value[PACK];
}
pack;

static __device__ inline void load_run(const unsigned char *from, int64_t step, bool is_packed, float out[RUN])
{
    if (is_packed) {
        CC__UNROLL
        for (int32_t n = 0; n < RUN / PACK; n++) {
            const pack four = ((const pack *)from)[n];
            CC__UNROLL
            for (int32_t i = 0; i < PACK; i++)
                out[n * PACK + i] = four.value[i];
        }
    } else {
        CC__UNROLL
        for (int32_t n = 0; n < RUN; n++)
            out[n] = *(const float *)(from + n * step);
    }
}

static __device__ inline void store_run(const float run[RUN], unsigned char *to, int64_t step, bool is_packed)
{
    if (is_packed) {
        CC__UNROLL
        for (int32_t n = 0; n < RUN / PACK; n++) {
            pack four;
            CC__UNROLL
            for (int32_t i = 0; i < PACK; i++)
                four.value[i] = run[n * PACK + i];
            ((pack *)to)[n] = four;
        }
    } else {
        CC__UNROLL
        for (int32_t n = 0; n < RUN; n++)
            *(float *)(to + n * step) = run[n];
    }
}

/* As cc__bspline_line_float32(). */
static __device__ inline void do_line(const unsigned char *from, int64_t from_step, unsigned char *to, int64_t to_step,
                                      int64_t count, bool is_packed)
{
    const double pole = CC__BSPLINE_POLE;
    float run[RUN];
    if (count == 1) {
        *(float *)to = (float)(double)*(const float *)from;
        return;
    }
    double value = 6 * cc__bspline_begin_float32(CC_PIXEL_FLOAT32, from, from_step, count);
    double before = value;
    int64_t n = 0;
    for (; n + RUN <= count; n += RUN) {
        load_run(from + n * from_step, from_step, is_packed, run);
        CC__UNROLL
        for (int32_t i = 0; i < RUN; i++) {
            if (i > 0 || n > 0) {
                before = value;
                value = 6 * (double)run[i] + pole * value;
            }
            run[i] = (float)value;
        }
        store_run(run, to + n * to_step, to_step, is_packed);
    }
    for (; n < count; n++) {
        if (n > 0) {
            before = value;
            value = 6 * (double)*(const float *)(from + n * from_step) + pole * value;
        }
        *(float *)(to + n * to_step) = (float)value;
    }
    value = (value + pole * before) * (pole / (pole * pole - 1));
    *(float *)(to + (count - 1) * to_step) = (float)value;
    for (n = count - 1; n % RUN != 0; n--) {
        float *at = (float *)(to + (n - 1) * to_step);
        value = pole * (value - (double)*at);
        *at = (float)value;
    }
    for (; n > 0; n -= RUN) {
        unsigned char *at = to + (n - RUN) * to_step;
        load_run(at, to_step, is_packed, run);
        CC__UNROLL
        for (int32_t i = RUN - 1; i >= 0; i--) {
            value = pole * (value - (double)run[i]);
            run[i] = (float)value;
        }
        store_run(run, at, to_step, is_packed);
    }
}

/* Where lines begin, and how far its pixels are apart. */
typedef struct line_place {
    const unsigned char *from;
    unsigned char *to;
    int64_t from_step;
    int64_t to_step;
    int64_t length;
} line_place;

static __device__ inline line_place place_of(const bspline_plan *plan, int64_t line, int64_t from_bytes,
                                             int64_t to_bytes)
{
    const cc__bspline *work = &plan->work;
    line_place place;
    int64_t rest = line / work->components;
    const int64_t component = line - rest * work->components;
    place.from = work->source.data + component * from_bytes;
    place.to = work->destination.data + component * to_bytes;
    CC__UNROLL
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++) {
        if (axis == work->axis) {
            place.from_step = work->source.stride[axis];
            place.to_step = work->destination.stride[axis];
            place.length = work->size[axis];
            continue;
        }
        const int64_t next = rest / work->size[axis];
        const int64_t at = rest - next * work->size[axis];
        place.from += at * work->source.stride[axis];
        place.to += at * work->destination.stride[axis];
        rest = next;
    }
    return place;
}

/* A thread does a line, and its neighbours those beside it, component after component. */
static __global__ void __launch_bounds__(CC__BLOCK_THREADS) find_coefficients(const __grid_constant__ bspline_plan plan)
{
    const int64_t threads = (int64_t)gridDim.x * CC__BLOCK_THREADS;
    const int32_t type = (int32_t)plan.work.source_type;
    for (int64_t line = (int64_t)blockIdx.x * CC__BLOCK_THREADS + threadIdx.x; line < plan.line_count;
         line += threads) {
        const line_place p = place_of(&plan, line, cc__bytes_of_real(type), plan.work.in_float32 ? 4 : 8);
        if (plan.work.in_float32)
            cc__bspline_line_float32(type, p.from, p.from_step, p.to, p.to_step, p.length);
        else
            cc__bspline_line_float64(type, p.from, p.from_step, p.to, p.to_step, p.length);
    }
}

static __global__ void __launch_bounds__(CC__BLOCK_THREADS, 4)
    find_float32_coefficients(const __grid_constant__ bspline_plan plan)
{
    const int64_t threads = (int64_t)gridDim.x * CC__BLOCK_THREADS;
    for (int64_t line = (int64_t)blockIdx.x * CC__BLOCK_THREADS + threadIdx.x; line < plan.line_count;
         line += threads) {
        const line_place p = place_of(&plan, line, 4, 4);
        if (plan.is_packed)
            do_line(p.from, 4, p.to, 4, p.length, true);
        else
            do_line(p.from, p.from_step, p.to, p.to_step, p.length, false);
    }
}

/* Whether lines begin at a multiple of a pack's size, and their pixels are side by side. */
static bool has_packs(const cc__span *span, int32_t axis)
{
    bool has = (uintptr_t)span->data % sizeof(pack) == 0 && span->stride[axis] == 4;
    for (int32_t other = 0; other < CC_MAX_DIMENSION; other++)
        has = has && (other == axis || span->stride[other] % (int64_t)sizeof(pack) == 0);
    return has;
}

cc_status cc__launch_bspline(const cc__bspline *work, const cc__launcher *launcher)
{
    bspline_plan plan;
    plan.work = *work;
    plan.line_count = cc__bspline_line_count(&plan.work);
    plan.is_packed = has_packs(&plan.work.source, plan.work.axis) && has_packs(&plan.work.destination, plan.work.axis);
    const bool is_float32 = plan.work.in_float32 && plan.work.source_type == CC_PIXEL_FLOAT32;
    const void *kernel = is_float32 ? (const void *)find_float32_coefficients : (const void *)find_coefficients;
    const int64_t blocks = (plan.line_count - 1) / CC__BLOCK_THREADS + 1;
    const int64_t most = (int64_t)launcher->multiprocessor_count * CC__BLOCKS_PER_MULTIPROCESSOR;
    void *arguments[] = {&plan};
    return cc__launch_aside(launcher, kernel, (uint32_t)(blocks < most ? blocks : most), CC__BLOCK_THREADS, arguments);
}
