#include "backend/cuda_fft.h"
#include "backend/cuda_internal.h"
#include "base/error.h"
#include "kernels/convolve_launch.h"

#include <string.h>

/* More lines than this are done in several parts. */
#define MOST_LINES (INT64_C(1) << 30)

/* The transforms of a work: both directions of a batch, and forward for the filter in space. */
typedef struct convolving {
    const cc__convolve *work;
    const cc__cuda_launcher *launcher;
    cc__fft_plan *filter;
    cc__fft_plan *forward;
    cc__fft_plan *inverse;
    void *area;
    unsigned char *batch;
} convolving;

static cc_status take_plans(convolving *all)
{
    static const char *const function = "cc_image_convolve_axis";
    const cc__convolve *work = all->work;
    cc__fft_kind kind = {work->length, work->batch, all->launcher->device->ordinal, work->is_wide != 0, false};
    cc_status status = cc__fft_plan_take(function, &kind, &all->forward);
    kind.is_inverse = true;
    if (status == CC_OK)
        status = cc__fft_plan_take(function, &kind, &all->inverse);
    kind.is_inverse = false;
    kind.batch = 1;
    if (status == CC_OK && !work->in_frequency)
        status = cc__fft_plan_take(function, &kind, &all->filter);
    return status;
}

/* For all three, which run one after the other. */
static cc_status allocate_area(convolving *all)
{
    cc__fft_plan *const plans[] = {all->filter, all->forward, all->inverse};
    size_t most = 0;
    for (size_t n = 0; n < sizeof plans / sizeof plans[0]; n++)
        if (plans[n] != NULL && cc__fft_plan_work_bytes(plans[n]) > most)
            most = cc__fft_plan_work_bytes(plans[n]);
    if (most == 0)
        return CC_OK;
    return cc__cuda_allocate(cc__backend_cuda(), all->launcher->device->ordinal, all->launcher->stream, most,
                             &all->area);
}

static cc_status run_batch(const convolving *all, int64_t first, int64_t count)
{
    const cc__convolve *work = all->work;
    const cc__launcher *launcher = &all->launcher->base;
    cc_status status = cc__launch_take_lines(work, first, count, all->batch, launcher);
    if (status == CC_OK)
        status = cc__fft_plan_run(all->forward, all->launcher->stream, all->area, all->batch);
    if (status == CC_OK)
        status = cc__launch_multiply_lines(work, count, all->batch, launcher);
    if (status == CC_OK)
        status = cc__fft_plan_run(all->inverse, all->launcher->stream, all->area, all->batch);
    if (status == CC_OK)
        status = cc__launch_give_lines(work, first, count, all->batch, launcher);
    return status;
}

/* A batch that is not full transforms what the last one left, which nobody takes. */
static cc_status run_part(const convolving *all)
{
    cc__lines lines;
    cc_status status = CC_OK;
    cc__lines_plan(&all->work->images, &lines);
    if (lines.count > MOST_LINES) {
        cc__convolve half = *all->work;
        cc__convolve rest = half;
        int64_t first = 0;
        convolving part = *all;
        rest.images = cc__line_images_split(&half.images, &first);
        part.work = &half;
        status = run_part(&part);
        part.work = &rest;
        return status == CC_OK ? run_part(&part) : status;
    }
    for (int64_t first = 0; first < lines.count && status == CC_OK; first += all->work->batch) {
        const int64_t left = lines.count - first;
        status = run_batch(all, first, left < all->work->batch ? left : all->work->batch);
    }
    return status;
}

static void give_back(const convolving *all)
{
    cc__fft_plan *const plans[] = {all->filter, all->forward, all->inverse};
    cc__error_state before;
    cc__error_save(&before);
    if (all->area != NULL &&
        cc__cuda_free(cc__backend_cuda(), all->launcher->device->ordinal, all->launcher->stream, all->area) != CC_OK)
        cc__error_restore(&before);
    for (size_t n = 0; n < sizeof plans / sizeof plans[0]; n++)
        if (plans[n] != NULL)
            cc__fft_plan_give_back(plans[n]);
}

cc_status cc__start_convolve(const void *work, const cc__launcher *launcher)
{
    convolving all = {.work = work, .launcher = (const cc__cuda_launcher *)launcher};
    all.batch = all.work->scratch + cc__convolve_response_bytes(all.work);
    cc_status status = take_plans(&all);
    if (status == CC_OK)
        status = allocate_area(&all);
    if (status == CC_OK)
        status = cc__launch_take_filter(all.work, launcher);
    if (status == CC_OK && all.filter != NULL)
        status = cc__fft_plan_run(all.filter, all.launcher->stream, all.area, all.work->scratch);
    if (status == CC_OK)
        status = run_part(&all);
    give_back(&all);
    return status;
}
