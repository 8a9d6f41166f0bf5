/*
 * Random operations on random images, once on the host and once on the device: the same status and the same bits, but
 * for NaN, which is NaN. CC_MODEL_SEEDS: how many. CC_MODEL_SEED: only this one.
 */
#include "model/random.h"
#include "model/seeds.h"
#include "support/fixture.h"

#include <math.h>
#include <string.h>

#define STREAM CC_STREAM_DEFAULT
#define MOST_INPUTS 3

/* The same pixels twice, as a part of an image with a margin, which must stay as it is. */
typedef struct twins {
    cc_image *whole[2]; /* on the host, on the device */
    cc_image *part[2];
} twins;

typedef struct shape {
    int32_t dimension;
    int64_t size[CC_MAX_DIMENSION];
    int32_t components;
    cc_pixel_type type;
} shape;

/* One operation: what it is given, and on which of the twins. `random` stands at the same number for both. */
typedef struct trial {
    random_source random;
    shape shape; /* of the first input */
    twins inputs[MOST_INPUTS];
    twins output;
    int32_t side;
} trial;

static cc_pixel_type any_type(random_source *random)
{
    return (cc_pixel_type)random_below(random, CC_PIXEL_COMPLEX128 + 1);
}

static double small_number(random_source *random)
{
    return (double)(random_below(random, 801) - 400) / 64;
}

/* Bits of any kind, or numbers as images have them. */
static void scribble(random_source *random, cc_pixel_type type, unsigned char *bytes, size_t count)
{
    const bool is_wild = random_chance(random, 30);
    const bool is_float = type == CC_PIXEL_FLOAT32 || type == CC_PIXEL_COMPLEX64;
    const bool is_double = type == CC_PIXEL_FLOAT64 || type == CC_PIXEL_COMPLEX128;
    for (size_t n = 0; n < count; n++)
        bytes[n] = (unsigned char)(type == CC_PIXEL_BOOL ? random_next(random) & 1 : random_next(random));
    if (is_wild)
        return;
    for (size_t n = 0; is_float && n < count / sizeof(float); n++) {
        const float value = (float)small_number(random);
        memcpy(bytes + n * sizeof value, &value, sizeof value);
    }
    for (size_t n = 0; is_double && n < count / sizeof(double); n++) {
        const double value = small_number(random);
        memcpy(bytes + n * sizeof value, &value, sizeof value);
    }
    /* Half precision between 1/8 and 32. */
    for (size_t n = 0; type == CC_PIXEL_FLOAT16 && n < count / 2; n++)
        bytes[2 * n + 1] = (unsigned char)((bytes[2 * n + 1] & 0x83) | (0x30 + (bytes[2 * n + 1] & 0x1C)));
    for (size_t n = 0; type == CC_PIXEL_BFLOAT16 && n < count / 2; n++)
        bytes[2 * n + 1] = (unsigned char)((bytes[2 * n + 1] & 0x80) | (0x3E + (bytes[2 * n + 1] & 0x03)));
}

static twins create(random_source *random, const shape *of)
{
    twins made = {{NULL, NULL}, {NULL, NULL}};
    cc_image_params params = CC_IMAGE_PARAMS_INIT;
    cc_region part;
    unsigned char *bytes[2];
    params.dimension = of->dimension;
    params.pixel_type = (int32_t)of->type;
    params.components = of->components;
    for (int32_t axis = 0; axis < of->dimension; axis++) {
        const int64_t before = random_chance(random, 40) ? random_below(random, 4) : 0;
        const int64_t after = random_chance(random, 40) ? random_below(random, 4) : 0;
        params.region.index[axis] = random_below(random, 9) - 4;
        params.region.size[axis] = before + of->size[axis] + after;
        params.spacing[axis] = 0.5 + (double)random_below(random, 8) / 4;
        params.origin[axis] = small_number(random);
        part.index[axis] = params.region.index[axis] + before;
        part.size[axis] = of->size[axis];
    }
    for (int32_t side = 0; side < 2; side++) {
        fixture_ok(cc_image_create(&params, &made.whole[side]));
        fixture_ok(cc_image_create_view(made.whole[side], &part, &made.part[side]));
        fixture_ok(cc_image_set_device(made.whole[side], 0));
        fixture_ok(cc_image_set_device(made.part[side], 0));
        fixture_ok(cc_image_map_host(made.whole[side], NULL, CC_ACCESS_WRITE, (void **)&bytes[side]));
    }
    scribble(random, of->type, bytes[0], cc_image_get_size_bytes(made.whole[0]));
    memcpy(bytes[1], bytes[0], cc_image_get_size_bytes(made.whole[0]));
    for (int32_t side = 0; side < 2; side++)
        fixture_ok(cc_image_unmap_host(made.whole[side], bytes[side]));
    fixture_ok(cc_image_prefetch(made.whole[1], NULL, 0));
    return made;
}

static void release(const twins *made)
{
    for (int32_t side = 0; side < 2; side++) {
        cc_image_release(made->part[side]);
        cc_image_release(made->whole[side]);
    }
}

static bool is_nan_at(cc_pixel_type type, const unsigned char *component)
{
    float single;
    double twice;
    uint16_t half;
    switch (type) {
    case CC_PIXEL_FLOAT32:
    case CC_PIXEL_COMPLEX64:
        memcpy(&single, component, sizeof single);
        return isnan(single);
    case CC_PIXEL_FLOAT64:
    case CC_PIXEL_COMPLEX128:
        memcpy(&twice, component, sizeof twice);
        return isnan(twice);
    case CC_PIXEL_FLOAT16:
        memcpy(&half, component, sizeof half);
        return (half & 0x7FFF) > 0x7C00;
    case CC_PIXEL_BFLOAT16:
        memcpy(&half, component, sizeof half);
        return (half & 0x7FFF) > 0x7F80;
    case CC_PIXEL_BOOL:
    case CC_PIXEL_UINT8:
    case CC_PIXEL_INT8:
    case CC_PIXEL_UINT16:
    case CC_PIXEL_INT16:
    case CC_PIXEL_UINT32:
    case CC_PIXEL_INT32:
    case CC_PIXEL_UINT64:
    case CC_PIXEL_INT64:
        break;
    }
    return false;
}

/* -1 when all is the same, else the first number that differs. */
static int64_t first_difference(const twins *made)
{
    const cc_pixel_type type = cc_image_get_pixel_type(made->whole[0]);
    const bool is_complex = type == CC_PIXEL_COMPLEX64 || type == CC_PIXEL_COMPLEX128;
    const size_t bytes = cc_pixel_type_size_bytes(type) / (is_complex ? 2 : 1);
    const int64_t count = (int64_t)(cc_image_get_size_bytes(made->whole[0]) / bytes);
    unsigned char *found[2];
    int64_t first = -1;
    for (int32_t side = 0; side < 2; side++)
        fixture_ok(cc_image_map_host(made->whole[side], NULL, CC_ACCESS_READ, (void **)&found[side]));
    for (int64_t n = 0; n < count && first < 0; n++) {
        const unsigned char *here = found[0] + (size_t)n * bytes, *there = found[1] + (size_t)n * bytes;
        if (memcmp(here, there, bytes) != 0 && !(is_nan_at(type, here) && is_nan_at(type, there)))
            first = n;
    }
    for (int32_t side = 0; side < 2; side++)
        fixture_ok(cc_image_unmap_host(made->whole[side], found[side]));
    return first;
}

static shape any_shape(random_source *random)
{
    static const int64_t longest[] = {5000, 120, 30, 10};
    shape made = {.dimension = 1 + (int32_t)random_below(random, 4), .type = any_type(random)};
    for (int32_t axis = 0; axis < made.dimension; axis++)
        made.size[axis] = 1 + random_below(random, random_chance(random, 10) ? 3 : longest[made.dimension - 1]);
    if (made.dimension > 1 && random_chance(random, 20))
        made.size[0] = 32 * (1 + random_below(random, 24));
    made.components = random_chance(random, 60) ? 1 : 1 + (int32_t)random_below(random, 5);
    return made;
}

/* As the first input, or in part of another kind. */
static shape like(random_source *random, const shape *other)
{
    shape made = *other;
    if (random_chance(random, 50))
        made.type = any_type(random);
    return made;
}

static cc_image *input(const trial *of, int32_t number)
{
    return of->inputs[number].part[of->side];
}

static cc_image *output(const trial *of)
{
    return of->output.part[of->side];
}

/* Both runs take as many random numbers, and the first makes the image. */
static void make_output(trial *of, const shape *wanted)
{
    random_source own = {random_next(&of->random)};
    if (of->output.whole[0] == NULL)
        of->output = create(&own, wanted);
}

static void make_like(trial *of)
{
    const shape wanted = like(&of->random, &of->shape);
    make_output(of, &wanted);
}

/* The first input itself now and then. */
static void make_like_or_in_place(trial *of)
{
    if (!random_chance(&of->random, 25)) {
        make_like(of);
        return;
    }
    for (int32_t side = 0; side < 2 && of->output.whole[side] == NULL; side++) {
        of->output.whole[side] = cc_image_retain(of->inputs[0].whole[side]);
        of->output.part[side] = cc_image_retain(of->inputs[0].part[side]);
    }
}

static cc_status fill(trial *of)
{
    unsigned char value[256];
    make_like_or_in_place(of);
    cc_region region = cc_image_get_region(output(of));
    scribble(&of->random, cc_image_get_pixel_type(output(of)), value, sizeof value);
    for (int32_t axis = 0; axis < of->shape.dimension; axis++) {
        const int64_t first = random_below(&of->random, region.size[axis]);
        region.index[axis] += first;
        region.size[axis] = 1 + random_below(&of->random, region.size[axis] - first);
    }
    return cc_image_fill(output(of), &region, value, STREAM);
}

static cc_status rescale(trial *of)
{
    make_like_or_in_place(of);
    const bool is_cast = random_chance(&of->random, 40);
    const double scale = is_cast ? 1 : small_number(&of->random), shift = is_cast ? 0 : small_number(&of->random);
    return cc_image_rescale(input(of, 0), scale, shift, output(of), STREAM);
}

static cc_operand any_operand(trial *of, int32_t step)
{
    random_source *random = &of->random;
    cc_operand made = {0.0, CC_OPERAND_IMAGE, (int32_t)random_below(random, MOST_INPUTS), 0, 0};
    switch (random_below(random, 8)) {
    case 0:
        made.kind = CC_OPERAND_COMPONENT;
        made.component = (int32_t)random_below(random, cc_image_get_components(input(of, made.number)));
        break;
    case 1:
        made.kind = CC_OPERAND_MAGNITUDE;
        break;
    case 2:
    case 3:
        made.kind = CC_OPERAND_VALUE;
        made.number = 0;
        made.value = random_chance(random, 50) ? (double)(random_below(random, 21) - 10) : small_number(random);
        break;
    case 4:
        if (step > 0) {
            made.kind = CC_OPERAND_STEP;
            made.number = (int32_t)random_below(random, step);
        }
        break;
    default:
        break;
    }
    return made;
}

static int32_t operands_of(int32_t kind)
{
    switch ((cc_step_kind)kind) {
    case CC_STEP_LOAD:
    case CC_STEP_ADD:
    case CC_STEP_SUBTRACT:
    case CC_STEP_MULTIPLY:
    case CC_STEP_DIVIDE:
    case CC_STEP_MINIMUM:
    case CC_STEP_MAXIMUM:
    case CC_STEP_LESS:
    case CC_STEP_EQUAL:
        return 1;
    case CC_STEP_MULTIPLY_ADD:
    case CC_STEP_CLAMP:
    case CC_STEP_WITHIN:
    case CC_STEP_SELECT:
        return 2;
    case CC_STEP_NEGATE:
    case CC_STEP_ABSOLUTE:
    case CC_STEP_SQUARE:
    case CC_STEP_SQUARE_ROOT:
    case CC_STEP_REAL:
    case CC_STEP_IMAGINARY:
    case CC_STEP_CONJUGATE:
    case CC_STEP_ARGUMENT:
        break;
    }
    return 0;
}

static cc_status evaluate(trial *of)
{
    cc_step steps[6] = {{.kind = CC_STEP_LOAD}};
    cc_image *inputs[MOST_INPUTS];
    make_like_or_in_place(of);
    const int32_t count = random_chance(&of->random, 50) ? 2 : 1 + (int32_t)random_below(&of->random, 6);
    for (int32_t step = 0; step < count; step++) {
        steps[step].kind = step == 0 ? CC_STEP_LOAD : (int32_t)random_below(&of->random, CC_STEP_ARGUMENT + 1);
        if (operands_of(steps[step].kind) > 0)
            steps[step].a = any_operand(of, step);
        if (operands_of(steps[step].kind) > 1)
            steps[step].b = any_operand(of, step);
    }
    for (int32_t n = 0; n < MOST_INPUTS; n++)
        inputs[n] = input(of, n);
    return cc_image_evaluate(steps, count, inputs, MOST_INPUTS, output(of), STREAM);
}

static cc_status reduce(trial *of)
{
    const cc_pixel_type type = of->shape.type;
    const bool is_complex = type == CC_PIXEL_COMPLEX64 || type == CC_PIXEL_COMPLEX128;
    const cc_reduction reduction = (cc_reduction)random_below(&of->random, CC_REDUCE_DOT + 1);
    const shape wanted = {.dimension = 1,
                          .size = {1, 1, 1, 1},
                          .components = random_chance(&of->random, 50) ? 1 : of->shape.components,
                          .type = is_complex && reduction != CC_REDUCE_NORM ? CC_PIXEL_COMPLEX128 : CC_PIXEL_FLOAT64};
    make_output(of, &wanted);
    return cc_image_reduce(reduction, input(of, 0), reduction == CC_REDUCE_DOT ? input(of, 1) : NULL, output(of),
                           STREAM);
}

static cc_status histogram(trial *of)
{
    const shape wanted = {.dimension = 1,
                          .size = {1 + random_below(&of->random, random_chance(&of->random, 50) ? 300 : 3000), 1, 1, 1},
                          .components = 1,
                          .type = CC_PIXEL_UINT64};
    make_output(of, &wanted);
    const double lower = random_chance(&of->random, 50) ? 0 : small_number(&of->random);
    const double extent = random_chance(&of->random, 50) ? 256 : 1 + fabs(small_number(&of->random)) * 40;
    return cc_image_histogram(input(of, 0), lower, lower + extent, output(of), STREAM);
}

static cc_status copy_region(trial *of)
{
    make_like(of);
    return cc_image_copy_region(input(of, 0), NULL, output(of), NULL, STREAM);
}

static cc_status flip(trial *of)
{
    make_like(of);
    const uint32_t axes = (uint32_t)random_below(&of->random, INT64_C(1) << of->shape.dimension);
    return cc_image_flip(input(of, 0), axes, output(of), STREAM);
}

static cc_status permute(trial *of)
{
    int32_t order[CC_MAX_DIMENSION] = {0, 1, 2, 3};
    shape wanted = like(&of->random, &of->shape);
    for (int32_t axis = of->shape.dimension - 1; axis > 0; axis--) {
        const int32_t other = (int32_t)random_below(&of->random, axis + 1), swapped = order[axis];
        order[axis] = order[other];
        order[other] = swapped;
    }
    for (int32_t axis = 0; axis < of->shape.dimension; axis++)
        wanted.size[axis] = of->shape.size[order[axis]];
    make_output(of, &wanted);
    return cc_image_permute(input(of, 0), order, output(of), STREAM);
}

static cc_status pad(trial *of)
{
    cc_pad_params params = CC_PAD_PARAMS_INIT;
    shape wanted = like(&of->random, &of->shape);
    unsigned char value[256] = {0};
    for (int32_t axis = 0; axis < of->shape.dimension; axis++) {
        params.border[axis] = (int32_t)random_below(&of->random, CC_BORDER_PERIODIC + 1);
        params.lower[axis] = random_below(&of->random, 5);
        params.upper[axis] = random_below(&of->random, 5);
        wanted.size[axis] += params.lower[axis] + params.upper[axis];
    }
    make_output(of, &wanted);
    scribble(&of->random, wanted.type, value, sizeof value);
    params.value = value;
    return cc_image_pad(input(of, 0), &params, output(of), STREAM);
}

static void make_frame(trial *of)
{
    shape wanted = like(&of->random, &of->shape);
    wanted.size[wanted.dimension - 1] = 1;
    make_output(of, &wanted);
}

static cc_border frame_border(random_source *random)
{
    return random_chance(random, 50) ? CC_BORDER_REPLICATE : CC_BORDER_PERIODIC;
}

static cc_status interpolate_frames(trial *of)
{
    make_frame(of);
    const double position = small_number(&of->random);
    return cc_image_interpolate_frames(input(of, 0), position, frame_border(&of->random), output(of), STREAM);
}

static cc_status average_frames(trial *of)
{
    make_frame(of);
    return cc_image_average_frames(input(of, 0), output(of), STREAM);
}

static cc_status splat_frames(trial *of)
{
    shape wanted = like(&of->random, &of->shape);
    wanted.dimension = wanted.dimension < CC_MAX_DIMENSION ? wanted.dimension + 1 : wanted.dimension;
    wanted.size[wanted.dimension - 1] = 1 + random_below(&of->random, 4);
    make_output(of, &wanted);
    const double position = small_number(&of->random);
    return cc_image_splat_frames(input(of, 0), position, frame_border(&of->random), output(of), STREAM);
}

static int32_t axes_of(const shape *of)
{
    return of->dimension < 3 ? of->dimension : 3;
}

static cc_status gradient(trial *of)
{
    shape wanted = like(&of->random, &of->shape);
    wanted.components = axes_of(&of->shape);
    make_output(of, &wanted);
    const cc_difference difference = (cc_difference)random_below(&of->random, CC_DIFFERENCE_BACKWARD + 1);
    const uint32_t flags = (uint32_t)random_below(&of->random, 4);
    return cc_image_gradient(input(of, 0), difference, flags, output(of), STREAM);
}

static cc_status divergence(trial *of)
{
    shape wanted = like(&of->random, &of->shape);
    wanted.components = 1;
    make_output(of, &wanted);
    const cc_difference difference = (cc_difference)random_below(&of->random, CC_DIFFERENCE_BACKWARD + 1);
    const uint32_t flags = (uint32_t)random_below(&of->random, 4);
    return cc_image_divergence(input(of, 0), difference, flags, output(of), STREAM);
}

static cc_status laplacian(trial *of)
{
    make_like(of);
    return cc_image_laplacian(input(of, 0), (uint32_t)random_below(&of->random, 2) * 2, output(of), STREAM);
}

static cc_resample_params any_transform(trial *of)
{
    cc_resample_params params = CC_RESAMPLE_PARAMS_INIT;
    const bool is_turned = random_chance(&of->random, 40);
    params.interpolation = (int32_t)random_below(&of->random, CC_INTERPOLATION_CUBIC_BSPLINE + 1);
    params.outside = small_number(&of->random);
    for (int32_t row = 0; row < 3; row++) {
        params.offset[row] = small_number(&of->random) / 2;
        for (int32_t column = 0; is_turned && column < 3; column++)
            params.matrix[row][column] += small_number(&of->random) / 16;
    }
    return params;
}

static void make_grid(trial *of)
{
    shape wanted = like(&of->random, &of->shape);
    for (int32_t axis = 0; axis < axes_of(&wanted); axis++)
        wanted.size[axis] = 1 + random_below(&of->random, 2 * wanted.size[axis]);
    make_output(of, &wanted);
}

static cc_status resample(trial *of)
{
    make_grid(of);
    const cc_resample_params params = any_transform(of);
    return cc_image_resample(input(of, 0), &params, output(of), STREAM);
}

static cc_status warp(trial *of)
{
    make_grid(of);
    const cc_resample_params params = any_transform(of);
    return cc_image_warp(input(of, 0), input(of, 2), &params, output(of), STREAM);
}

static cc_status smooth(trial *of)
{
    cc_gaussian_params params = CC_GAUSSIAN_PARAMS_INIT;
    make_like_or_in_place(of);
    params.unit = CC_SIGMA_IN_PIXELS;
    params.border = (int32_t)random_below(&of->random, CC_BORDER_PERIODIC + 1);
    params.border_value = small_number(&of->random);
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++)
        params.sigma[axis] = random_chance(&of->random, 30) ? 0 : (double)random_below(&of->random, 40) / 8;
    return cc_image_smooth_gaussian(input(of, 0), &params, output(of), STREAM);
}

static const struct {
    const char *name;
    cc_status (*run)(trial *of);
    int32_t share;      /* of all trials */
    bool wants_scalars; /* of one component */
    bool wants_vectors; /* of as many components as axes */
} operations[] = {
    {"fill", fill, 2, false, false},
    {"rescale", rescale, 6, false, false},
    {"evaluate", evaluate, 24, false, false},
    {"reduce", reduce, 8, false, false},
    {"histogram", histogram, 4, false, false},
    {"copy", copy_region, 4, false, false},
    {"flip", flip, 4, false, false},
    {"permute", permute, 6, false, false},
    {"pad", pad, 4, false, false},
    {"interpolated frames", interpolate_frames, 2, false, false},
    {"average of frames", average_frames, 2, false, false},
    {"splatted frames", splat_frames, 2, false, false},
    {"gradient", gradient, 3, true, false},
    {"divergence", divergence, 3, false, true},
    {"Laplacian", laplacian, 3, false, false},
    {"resample", resample, 9, false, false},
    {"warp", warp, 5, false, false},
    {"smooth", smooth, 9, false, false},
};
#define OPERATIONS ((int32_t)(sizeof operations / sizeof operations[0]))

static int32_t any_operation(random_source *random)
{
    int64_t all = 0;
    for (int32_t n = 0; n < OPERATIONS; n++)
        all += operations[n].share;
    int64_t at = random_below(random, all);
    int32_t chosen = 0;
    while (at >= operations[chosen].share)
        at -= operations[chosen++].share;
    return chosen;
}

/* The second input fits the first; so does the third, or counts for all along some axes. For a warp it is a field. */
static void make_inputs(trial *of, int32_t operation)
{
    of->shape = any_shape(&of->random);
    if (operations[operation].wants_scalars)
        of->shape.components = 1;
    if (operations[operation].wants_vectors)
        of->shape.components = axes_of(&of->shape);
    shape second = like(&of->random, &of->shape), third = like(&of->random, &of->shape);
    if (operations[operation].run == warp) {
        third.components = axes_of(&third);
        third.type = random_chance(&of->random, 70) ? CC_PIXEL_FLOAT32 : any_type(&of->random);
    } else {
        for (int32_t axis = 0; axis < third.dimension; axis++)
            if (random_chance(&of->random, 15))
                third.size[axis] = 1;
        if (random_chance(&of->random, 30))
            third.components = 1;
    }
    of->inputs[0] = create(&of->random, &of->shape);
    of->inputs[1] = create(&of->random, &second);
    of->inputs[2] = create(&of->random, &third);
}

static void expect_no_device_memory(cc_image *image)
{
    cc_place_state state = CC_PLACE_STATE_INIT;
    fixture_ok(cc_image_get_place_state(image, 0, &state));
    ck_assert_uint_eq(state.memory_bytes, 0);
}

/* Whether pixels are on the device that the host has not: only work there makes them. */
static bool has_work_of_device(cc_image *image)
{
    cc_place_state host = CC_PLACE_STATE_INIT, device = CC_PLACE_STATE_INIT;
    fixture_ok(cc_image_get_place_state(image, CC_PLACE_HOST, &host));
    fixture_ok(cc_image_get_place_state(image, 0, &device));
    return device.valid_pixels > host.valid_pixels;
}

/* Whether the device did it. */
static bool try_one(uint64_t seed)
{
    trial of = {.random = {seed}};
    cc_status status[2];
    const int32_t operation = any_operation(&of.random);
    make_inputs(&of, operation);
    const random_source before = of.random;
    for (of.side = 0; of.side < 2; of.side++) {
        of.random = before;
        status[of.side] = operations[operation].run(&of);
    }
    expect_no_device_memory(of.output.whole[0]);
    const bool is_on_device = has_work_of_device(of.output.whole[1]);
    const int64_t different = first_difference(&of.output);
    ck_assert_msg(
        status[0] == status[1] && different < 0,
        "%s with CC_MODEL_SEED=%llu of %d x %lld x %lld x %lld x %lld %s, to %s: %s and %s, number %lld differs",
        operations[operation].name, (unsigned long long)seed, of.shape.components, (long long)of.shape.size[0],
        (long long)of.shape.size[1], (long long)of.shape.size[2], (long long)of.shape.size[3],
        cc_pixel_type_name(of.shape.type), cc_pixel_type_name(cc_image_get_pixel_type(of.output.whole[0])),
        cc_status_name(status[0]), cc_status_name(status[1]), (long long)different);
    for (int32_t n = 0; n < MOST_INPUTS; n++)
        release(&of.inputs[n]);
    release(&of.output);
    return is_on_device;
}

START_TEST(host_and_device_agree)
{
    const model_seeds seeds = model_seeds_of(1500, 0);
    if (fixture_device_count() == 0)
        return;
    uint64_t on_device = 0;
    for (uint64_t seed = seeds.first; seed < seeds.end; seed++)
        on_device += try_one(seed);
    /* Others are refused on both sides, or have no pixels. */
    if (seeds.end - seeds.first >= 100)
        ck_assert_uint_gt(on_device, (seeds.end - seeds.first) / 2);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("random_operations");
    TCase *tcase = tcase_create("random_operations");
    tcase_add_checked_fixture(tcase, fixture_setup, fixture_teardown);
    tcase_set_timeout(tcase, 100);
    tcase_add_test(tcase, host_and_device_agree);
    suite_add_tcase(suite, tcase);
    return fixture_run(suite);
}
