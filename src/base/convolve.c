#include "base/convolve.h"

#include "base/components.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

#define TWO_PI 6.283185307179586

static int64_t number_bytes(const cc__convolve *work)
{
    return work->is_wide ? (int64_t)sizeof(double) : (int64_t)sizeof(float);
}

/* So that what follows is aligned for everybody. */
static int64_t rounded(int64_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

int64_t cc__convolve_response_bytes(const cc__convolve *work)
{
    return rounded((work->length / 2 + 1) * 2 * (int64_t)sizeof(double));
}

int64_t cc__convolve_line_bytes(const cc__convolve *work)
{
    return (work->length / 2 + 1) * 2 * number_bytes(work);
}

int64_t cc__convolve_slot_bytes(const cc__convolve *work)
{
    return 3 * rounded(work->length * (int64_t)sizeof(double)) + rounded(cc__convolve_line_bytes(work)) +
           2 * rounded((int64_t)cc__host_fft_plan_bytes(work->length, work->is_wide != 0));
}

static void lay_out_slot(const cc__convolve *work, int32_t number, cc__convolve_slot *out_slot)
{
    unsigned char *at = work->scratch + cc__convolve_response_bytes(work) + number * cc__convolve_slot_bytes(work);
    const int64_t values_bytes = rounded(work->length * (int64_t)sizeof(double));
    const int64_t plan_bytes = rounded((int64_t)cc__host_fft_plan_bytes(work->length, work->is_wide != 0));
    out_slot->values = (double *)(void *)at;
    out_slot->results = (double *)(void *)(at + values_bytes);
    out_slot->line = at + 2 * values_bytes;
    out_slot->spectrum = at + 3 * values_bytes;
    out_slot->plan_memory[0] = at + 3 * values_bytes + rounded(cc__convolve_line_bytes(work));
    out_slot->plan_memory[1] = (unsigned char *)out_slot->plan_memory[0] + plan_bytes;
}

static bool plan_slot(const cc__convolve *work, cc__convolve_slot *slot)
{
    const bool is_wide = work->is_wide != 0;
    const size_t bytes = cc__host_fft_plan_bytes(work->length, is_wide);
    for (int32_t n = 0; n < 2; n++) {
        slot->plans[n] = cc__host_fft_plan(work->length, is_wide, n == 1, slot->plan_memory[n], bytes);
        if (slot->plans[n] == NULL)
            return false;
    }
    return true;
}

void cc__convolve_open_slot(const cc__convolve_plan *plan, int32_t number, cc__convolve_slot *out_slot)
{
    lay_out_slot(plan->work, number, out_slot);
    if (plan->by_fft)
        (void)plan_slot(plan->work, out_slot);
}

static void to_numbers(const cc__convolve *work, const double *values, int64_t count, void *out_numbers)
{
    const cc_pixel_type type = work->is_wide ? CC_PIXEL_FLOAT64 : CC_PIXEL_FLOAT32;
    cc__components_store(type, values, NULL, out_numbers, number_bytes(work), count);
}

/* In space on the way round: what weighs the pixel itself comes first, what weighs those after it from the end on. */
static void place_filter(const cc__convolve *work, double *out_circle)
{
    const int64_t before = work->filter_size - work->centre; /* and the pixel itself */
    memset(out_circle, 0, (size_t)work->length * sizeof *out_circle);
    cc__components_load(work->filter_type, work->filter + work->centre * work->filter_step, work->filter_step, before,
                        out_circle, NULL);
    cc__components_load(work->filter_type, work->filter, work->filter_step, work->centre,
                        out_circle + work->length - work->centre, NULL);
}

/* The factors, real and imaginary parts apart; those that must be real are. */
static void load_factors(const cc__convolve *work, double *out_real, double *out_imaginary)
{
    memset(out_imaginary, 0, (size_t)work->filter_size * sizeof *out_imaginary);
    cc__components_load(work->filter_type, work->filter, work->filter_step, work->filter_size, out_real, out_imaginary);
    out_imaginary[0] = 0;
    if (work->length % 2 == 0)
        out_imaginary[work->filter_size - 1] = 0;
}

/* The spectrum, in the numbers of the transforms. */
static void make_spectrum(const cc__convolve *work, const cc__convolve_slot *slot)
{
    if (!work->in_frequency) {
        place_filter(work, slot->values);
        to_numbers(work, slot->values, work->length, slot->line);
        cc__host_fft_forward(slot->plans[0], work->is_wide != 0, slot->line, work->scratch);
        return;
    }
    load_factors(work, slot->values, slot->results);
    const cc_pixel_type type = work->is_wide ? CC_PIXEL_COMPLEX128 : CC_PIXEL_COMPLEX64;
    cc__components_store(type, slot->values, slot->results, work->scratch, 2 * number_bytes(work), work->filter_size);
}

/* The filter in space, from the factors by the sum that defines it. */
static void make_circle(const cc__convolve *work, const cc__convolve_slot *slot, double *out_circle)
{
    const int64_t length = work->length;
    double *cosines = slot->line; /* of length doubles in either case */
    double *real = slot->values, *imaginary = slot->results;
    load_factors(work, real, imaginary);
    for (int64_t n = 0; n < length; n++)
        cosines[n] = cos(TWO_PI * (double)n / (double)length);
    for (int64_t n = 0; n < length; n++) {
        double sum = real[0];
        for (int64_t f = 1; f < work->filter_size; f++) {
            const int64_t turn = f * n % length;
            const double weight = 2 * f == length ? 1.0 : 2.0;
            /* A sine is a cosine a quarter of a turn before, which is a pixel only for some lengths. */
            const double sine = length % 4 == 0 ? cosines[(turn + 3 * (length / 4)) % length]
                                                : sin(TWO_PI * (double)turn / (double)length);
            sum += weight * (real[f] * cosines[turn] - imaginary[f] * sine);
        }
        out_circle[n] = sum / (double)length;
    }
}

void cc__convolve_begin(const cc__convolve *work, cc__convolve_plan *out_plan)
{
    cc__convolve_slot slot;
    fenv_t environment;
    fegetenv(&environment);
    fesetenv(FE_DFL_ENV);
    out_plan->work = work;
    cc__lines_plan(&work->images, &out_plan->lines);
    lay_out_slot(work, 0, &slot);
    out_plan->by_fft = cc__host_fft_has(work->length, work->is_wide != 0) && plan_slot(work, &slot);
    out_plan->before = work->in_frequency ? work->length - 1 : work->filter_size - 1 - work->centre;
    out_plan->after = work->in_frequency ? work->length - 1 : work->centre;
    if (out_plan->by_fft)
        make_spectrum(work, &slot);
    else if (work->in_frequency)
        make_circle(work, &slot, (double *)(void *)work->scratch);
    else
        place_filter(work, (double *)(void *)work->scratch);
    fesetenv(&environment);
}

#define DEFINE_MULTIPLY(NUMBER)                                                                                        \
    static void multiply_##NUMBER(const cc__convolve *work, NUMBER spectrum[])                                         \
    {                                                                                                                  \
        const NUMBER *factors = (const NUMBER *)(const void *)work->scratch;                                           \
        const NUMBER scale = 1 / (NUMBER)work->length;                                                                 \
        for (int64_t n = 0; n < 2 * (work->length / 2 + 1); n += 2) {                                                  \
            const NUMBER real = spectrum[n] * factors[n] - spectrum[n + 1] * factors[n + 1];                           \
            const NUMBER imaginary = spectrum[n] * factors[n + 1] + spectrum[n + 1] * factors[n];                      \
            spectrum[n] = real * scale;                                                                                \
            spectrum[n + 1] = imaginary * scale;                                                                       \
        }                                                                                                              \
    }

DEFINE_MULTIPLY(float)
DEFINE_MULTIPLY(double)

static void filter_by_fft(const cc__convolve *work, const cc__convolve_slot *slot, int64_t size)
{
    const bool is_wide = work->is_wide != 0;
    const cc_pixel_type type = is_wide ? CC_PIXEL_FLOAT64 : CC_PIXEL_FLOAT32;
    memset(slot->line, 0, (size_t)(work->length * number_bytes(work)));
    to_numbers(work, slot->values, size, slot->line);
    cc__host_fft_forward(slot->plans[0], is_wide, slot->line, slot->spectrum);
    if (is_wide)
        multiply_double(work, slot->spectrum);
    else
        multiply_float(work, slot->spectrum);
    cc__host_fft_inverse(slot->plans[1], is_wide, slot->spectrum, slot->line);
    cc__components_load(type, slot->line, number_bytes(work), size, slot->results, NULL);
}

/* As a transform would, an infinity takes all of the line with it. */
static double surplus(const double *values, int64_t size)
{
    double sum = 0;
    for (int64_t n = 0; n < size; n++)
        sum += values[n] * 0.0;
    return sum;
}

static void filter_by_sums(const cc__convolve_plan *plan, const cc__convolve_slot *slot, int64_t size)
{
    const cc__convolve *work = plan->work;
    const double *circle = (const double *)(const void *)work->scratch;
    const double zero = surplus(slot->values, size);
    for (int64_t p = 0; p < size; p++) {
        const int64_t first = p > plan->before ? p - plan->before : 0;
        const int64_t last = size - 1 - p > plan->after ? p + plan->after : size - 1;
        double sum = zero;
        for (int64_t q = first; q <= p; q++)
            sum += circle[p - q] * slot->values[q];
        for (int64_t q = p + 1; q <= last; q++)
            sum += circle[work->length + p - q] * slot->values[q];
        slot->results[p] = sum;
    }
}

void cc__convolve_line(const cc__convolve_plan *plan, const cc__convolve_slot *slot, int64_t line)
{
    const cc__convolve *work = plan->work;
    const cc__line_images *images = &work->images;
    const int64_t size = images->size[images->axis];
    fenv_t environment;
    fegetenv(&environment);
    fesetenv(FE_DFL_ENV);
    cc__components_load(images->source_type, images->source.data + cc__lines_offset(&plan->lines, 0, line),
                        plan->lines.step[0], size, slot->values, NULL);
    if (plan->by_fft)
        filter_by_fft(work, slot, size);
    else
        filter_by_sums(plan, slot, size);
    cc__components_store(images->destination_type, slot->results, NULL,
                         images->destination.data + cc__lines_offset(&plan->lines, 1, line), plan->lines.step[1], size);
    fesetenv(&environment);
}
