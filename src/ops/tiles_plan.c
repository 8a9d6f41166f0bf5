#include "ops/tiles_plan.h"

#include "base/checked.h"

#include <string.h>

/* A tile's halo may make it read an eighth more than there is, before larger ones are tried. */
#define MOST_OVERHEAD 1.125

static int64_t add(int64_t a, int64_t b)
{
    int64_t sum = 0;
    if (!cc__checked_add(a, b, &sum))
        return b > 0 ? INT64_MAX : INT64_MIN;
    return sum;
}

static int64_t multiply(int64_t a, int64_t b)
{
    int64_t product = 0;
    return cc__checked_multiply(a, b, &product) ? product : INT64_MAX;
}

/* at * numerator / denominator, rounded down or up, for at >= 0; the parts of `at` keep the products small. */
static int64_t scale(int64_t at, int32_t numerator, int32_t denominator, bool up)
{
    const int64_t rest = at % denominator * numerator + (up ? denominator - 1 : 0);
    return add(multiply(at / denominator, numerator), rest / denominator);
}

cc_status cc__tiles_source_box(const cc__tiles_source *source, const cc__box *output, cc__box *out_box)
{
    int64_t first[CC_MAX_DIMENSION];
    int64_t end[CC_MAX_DIMENSION];
    if (source->map != NULL) {
        const cc_status status = source->map(source->context, output, first, end);
        if (status != CC_OK)
            return status;
    }
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; ++axis) {
        if (source->map == NULL) {
            const int32_t numerator = source->numerator[axis];
            const int32_t denominator = source->denominator[axis];
            const int64_t start = scale(output->start[axis], numerator, denominator, false);
            const int64_t stop = scale(output->start[axis] + output->size[axis], numerator, denominator, true);
            first[axis] = add(add(start, source->offset[axis]), -source->halo_before[axis]);
            end[axis] = add(add(stop, source->offset[axis]), source->halo_after[axis]);
        }
        const int64_t size = source->size[axis];
        const int64_t start = first[axis] < 0 ? 0 : first[axis] > size ? size : first[axis];
        const int64_t stop = end[axis] > size ? size : end[axis];
        out_box->start[axis] = start;
        out_box->size[axis] = stop > start ? stop - start : 0;
    }
    return CC_OK;
}

static void count_tiles(const cc__tiles_job *job, cc__tiles_plan *plan)
{
    plan->tile_count = 1;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; ++axis) {
        plan->tile_counts[axis] = (job->size[axis] - 1) / plan->step[axis] + 1;
        plan->tile_count *= plan->tile_counts[axis];
    }
}

cc__box cc__tiles_plan_box(const cc__tiles_job *job, const cc__tiles_plan *plan, int64_t number)
{
    cc__box box;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; ++axis) {
        box.start[axis] = number % plan->tile_counts[axis] * plan->step[axis];
        box.size[axis] = job->size[axis] - box.start[axis];
        if (box.size[axis] > plan->step[axis])
            box.size[axis] = plan->step[axis];
        number /= plan->tile_counts[axis];
    }
    return box;
}

/* At least as many bytes as any tile of the plan needs of the source. */
static cc_status largest(const cc__tiles_job *job, const cc__tiles_plan *plan, const cc__tiles_source *source,
                         int64_t *out_bytes)
{
    int64_t most = 0;
    if (source->map == NULL) {
        most = source->pixel_bytes;
        for (int32_t axis = 0; axis < CC_MAX_DIMENSION; ++axis) {
            int64_t length = scale(plan->step[axis], source->numerator[axis], source->denominator[axis], true);
            length = add(length, source->denominator[axis] > 1);
            length = add(add(length, source->halo_before[axis]), source->halo_after[axis]);
            most *= length < source->size[axis] ? length : source->size[axis];
        }
    }
    for (int64_t number = 0; source->map != NULL && number < plan->tile_count; ++number) {
        const cc__box output = cc__tiles_plan_box(job, plan, number);
        cc__box box;
        const cc_status status = cc__tiles_source_box(source, &output, &box);
        if (status != CC_OK)
            return status;
        const int64_t bytes = cc__box_pixels(&box) * source->pixel_bytes;
        most = bytes > most ? bytes : most;
    }
    *out_bytes = most;
    return CC_OK;
}

static int64_t align(int64_t bytes)
{
    const int64_t above = add(bytes, CC__TILES_ALIGNMENT - 1);
    return above - above % CC__TILES_ALIGNMENT;
}

/* Of `step`: how many tiles there are, and where everything lies in a buffer. */
static cc_status lay_out(const cc__tiles_job *job, cc__tiles_plan *plan)
{
    int64_t output_bytes = job->pixel_bytes;
    int64_t used = 0;
    count_tiles(job, plan);
    for (int32_t i = 0; i < job->source_count; ++i) {
        int64_t bytes = 0;
        plan->source_offset[i] = used;
        if (job->sources[i].is_output)
            continue;
        const cc_status status = largest(job, plan, &job->sources[i], &bytes);
        if (status != CC_OK)
            return status;
        used = add(used, align(bytes));
    }
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; ++axis)
        output_bytes *= plan->step[axis];
    plan->output_offset = used;
    plan->buffer_bytes = add(used, align(output_bytes));
    for (int32_t i = 0; i < job->source_count; ++i)
        if (job->sources[i].is_output)
            plan->source_offset[i] = plan->output_offset;
    return CC_OK;
}

/* The thickest tiles along an axis of which a buffer is within `most_bytes`: at least 1, which fits or is wanted
 * anyway. */
static cc_status find_thickest(const cc__tiles_job *job, cc__tiles_plan *plan, int32_t axis, int64_t most_bytes)
{
    int64_t fits = 1;
    int64_t too_thick = job->size[axis] + 1;
    int64_t thickness = job->size[axis];
    while (fits + 1 < too_thick) {
        plan->step[axis] = thickness;
        const cc_status status = lay_out(job, plan);
        if (status != CC_OK)
            return status;
        if (plan->buffer_bytes <= most_bytes)
            fits = thickness;
        else
            too_thick = thickness;
        thickness = fits + (too_thick - fits) / 2;
    }
    plan->step[axis] = fits;
    return lay_out(job, plan);
}

/* How often the pixels that the whole output needs are read, in all. */
static cc_status find_overhead(const cc__tiles_job *job, const cc__tiles_plan *plan, double *out_overhead)
{
    const cc__box whole = cc__box_of_size(job->size);
    double read = 0;
    double needed = 0;
    for (int32_t i = 0; i < job->source_count; ++i) {
        int64_t bytes = 0;
        cc__box box;
        cc_status status = largest(job, plan, &job->sources[i], &bytes);
        if (status == CC_OK)
            status = cc__tiles_source_box(&job->sources[i], &whole, &box);
        if (status != CC_OK)
            return status;
        read += (double)bytes * (double)plan->tile_count;
        needed += (double)cc__box_pixels(&box) * (double)job->sources[i].pixel_bytes;
    }
    *out_overhead = needed > 0 ? read / needed : 1;
    return CC_OK;
}

/* As thick as keeps everything busy; thicker, if there is room, where the halo costs too much. */
static cc_status choose_thickness(const cc__tiles_job *job, cc__tiles_plan *plan, int32_t axis)
{
    const int64_t most = plan->step[axis];
    double overhead = 0;
    cc_status status = CC_OK;
    if (plan->buffer_bytes > job->aim_bytes)
        status = find_thickest(job, plan, axis, job->aim_bytes);
    while (status == CC_OK && plan->step[axis] < most) {
        status = find_overhead(job, plan, &overhead);
        if (status != CC_OK || overhead <= MOST_OVERHEAD)
            break;
        plan->step[axis] = plan->step[axis] < most / 2 ? plan->step[axis] * 2 : most;
        status = lay_out(job, plan);
    }
    return status;
}

/* As many tiles, but all of about the same size. */
static cc_status even_out(const cc__tiles_job *job, cc__tiles_plan *plan, int32_t axis, int64_t most_bytes)
{
    const cc__tiles_plan before = *plan;
    plan->step[axis] = (job->size[axis] - 1) / plan->tile_counts[axis] + 1;
    const cc_status status = lay_out(job, plan);
    if (status == CC_OK && (plan->buffer_bytes > most_bytes || plan->tile_count > before.tile_count))
        *plan = before;
    return status;
}

static cc_status make(const cc__tiles_job *job, int64_t most_bytes, cc__tiles_plan *plan, bool *out_fits)
{
    int32_t axis = CC_MAX_DIMENSION - 1;
    cc_status status = CC_OK;
    *out_fits = false;
    memcpy(plan->step, job->size, sizeof plan->step);
    for (;; --axis) {
        const bool is_last = axis == 0;
        if (job->size[axis] == 1 && !is_last)
            continue;
        plan->step[axis] = 1;
        status = lay_out(job, plan);
        if (status != CC_OK)
            return status;
        if (plan->buffer_bytes <= most_bytes || is_last)
            break;
    }
    if (plan->buffer_bytes > most_bytes)
        return CC_OK;
    *out_fits = true;
    status = find_thickest(job, plan, axis, most_bytes);
    if (status == CC_OK)
        status = choose_thickness(job, plan, axis);
    if (status == CC_OK)
        status = even_out(job, plan, axis, most_bytes);
    return status;
}

cc_status cc__tiles_plan_make(const cc__tiles_job *job, cc__tiles_plan *out_plan, bool *out_fits)
{
    for (int32_t count = job->buffer_count; count > 0; --count) {
        const cc_status status = make(job, job->limit_bytes / count, out_plan, out_fits);
        if (status != CC_OK || *out_fits) {
            out_plan->buffer_count = count < out_plan->tile_count ? count : (int32_t)out_plan->tile_count;
            return status;
        }
    }
    return CC_OK;
}
