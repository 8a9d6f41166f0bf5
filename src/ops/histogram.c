#include "base/components.h"
#include "base/error.h"
#include "base/reduce.h"
#include "kernels/launch.h"
#include "memory/crew.h"
#include "ops/lent_images.h"
#include "ops/scratch_pixels.h"

#include <cudacommon/reductions.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

/* What a thread is worth starting for, how many components one takes at a time, and what all may count in. */
#define BYTES_EACH ((size_t)2 << 20)
#define COMPONENTS_AT_ONCE ((int64_t)1 << 17)
#define MOST_ROOM_BYTES ((size_t)64 << 20)
/* Larger ones take longer to add up than pixels to count. */
#define FEWEST_SLOTS 16

static cc_status check(const char *function, const cc_image *input, double lower, double upper, const cc_image *output)
{
    if (input == NULL || output == NULL)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: %s = NULL, expected an image", function,
                        input == NULL ? "input" : "output");
    if (!isfinite(lower) || !isfinite(upper) || !isfinite(upper - lower) || !(lower < upper))
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: lower = %g, upper = %g, expected a finite range", function,
                        lower, upper);
    if (cc__is_complex(input->pixel_type))
        return cc__fail(CC_ERROR_PIXEL_TYPE, "%s: pixels are complex, expected real ones", function);
    if (output->pixel_type != CC_PIXEL_UINT64)
        return cc__fail(CC_ERROR_PIXEL_TYPE, "%s: output has type %s, expected u64", function,
                        cc_pixel_type_name(output->pixel_type));
    if (cc__box_is_empty(&input->box))
        return cc__fail(CC_ERROR_SIZE, "%s: input has no pixels", function);
    const int64_t bins = output->box.size[0];
    if (output->components != 1 || bins < 1 || cc__box_pixels(&output->box) != bins)
        return cc__fail(CC_ERROR_SIZE,
                        "%s: output has %lld pixels of %d components, expected bins along the first axis", function,
                        (long long)cc__box_pixels(&output->box), output->components);
    if (!isfinite((double)bins / (upper - lower)))
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: upper - lower = %g, expected more for %lld bins", function,
                        upper - lower, (long long)bins);
    if (cc__image_is_read_only(output))
        return cc__fail(CC_ERROR_READ_ONLY, "%s: the output's pixels were wrapped read-only", function);
    /* Also where it is the input: bins are set to 0 before anything is counted. */
    if (input->manager == output->manager && cc__box_overlaps(&input->box, &output->box))
        return cc__fail(CC_ERROR_BUSY, "%s: output overlaps the input, expected other pixels", function);
    return CC_OK;
}

typedef struct counting {
    const cc__histogram *work;
    cc__sequence sequence;
    _Atomic int64_t next;
    _Atomic int32_t in_use;
} counting;

static void count_share(void *context)
{
    counting *all = context;
    const cc__histogram *work = all->work;
    uint64_t *counts = work->counts;
    if (work->slots > 1)
        counts = work->scratch + atomic_fetch_add(&all->in_use, 1) * work->bins;
    memset(counts, 0, (size_t)work->bins * sizeof *counts);
    for (;;) {
        const int64_t first = atomic_fetch_add(&all->next, COMPONENTS_AT_ONCE);
        if (first >= all->sequence.count)
            return;
        const int64_t left = all->sequence.count - first;
        cc__histogram_add(work, &all->sequence, first, left < COMPONENTS_AT_ONCE ? left : COMPONENTS_AT_ONCE, counts);
    }
}

static void on_host(const void *argument)
{
    const cc__histogram *work = argument;
    counting all = {.work = work};
    cc__sequence_plan(&work->source, 1, work->components, work->size, &all.sequence);
    cc__crew_run(work->slots, count_share, &all);
    if (work->slots == 1)
        return;
    memcpy(work->counts, work->scratch, (size_t)work->bins * sizeof *work->counts);
    for (int64_t n = work->bins; n < all.in_use * work->bins; n++)
        work->counts[n % work->bins] += work->scratch[n];
}

static size_t slot_bytes(const cc__histogram *work)
{
    return (size_t)work->bins * sizeof *work->counts;
}

static int32_t touches(const void *argument, cc__kernel_range out_ranges[CC__KERNEL_RANGES])
{
    const cc__histogram *work = argument;
    const int64_t bytes =
        (work->components - 1) * work->source.component_stride + (int64_t)cc_pixel_type_size_bytes(work->source.type);
    cc__span span;
    memcpy(&span.data, &work->source.data, sizeof span.data);
    memcpy(span.stride, work->source.stride, sizeof span.stride);
    out_ranges[0] = (cc__kernel_range){(const unsigned char *)work->counts, (int64_t)slot_bytes(work)};
    out_ranges[1] = cc__kernel_range_of(&span, work->size, bytes);
    out_ranges[2] = (cc__kernel_range){(const unsigned char *)work->scratch, work->slots * (int64_t)slot_bytes(work)};
    return work->scratch != NULL ? 3 : 2;
}

static const cc__kernel histogram_kernel = {.name = "histogram",
                                            .work_bytes = sizeof(cc__histogram),
                                            .on_host = on_host,
                                            .touches = touches,
                                            .launch = CC__LAUNCH(cc__launch_histogram)};

static int32_t choose_slots(const cc__histogram *work)
{
    int64_t count = work->components;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++)
        count *= work->size[axis];
    const size_t fitting = MOST_ROOM_BYTES / slot_bytes(work);
    if (fitting < FEWEST_SLOTS)
        return 1;
    return cc__crew_size((size_t)count * cc_pixel_type_size_bytes(work->source.type), BYTES_EACH,
                         fitting < CC__CREW_MOST ? (int32_t)fitting : CC__CREW_MOST);
}

cc_status cc_image_histogram(cc_image *input, double lower, double upper, cc_image *output, cc_stream stream)
{
    static const char *const function = "cc_image_histogram";
    cc__lent_images images = {
        .function = function, .stream = stream, .inputs = {input}, .input_count = 1, .output = output};
    cc__histogram work = {.lower = lower, .upper = upper, .slots = 1};
    void *scratch = NULL;
    cc_status status = check(function, input, lower, upper, output);
    if (status == CC_OK)
        status = cc__lend_images(&images);
    if (status != CC_OK)
        return status;
    const cc__span from = cc__lent_input(&images, 0);
    work.source.data = from.data;
    work.source.type = input->pixel_type;
    work.source.component_stride = (int64_t)cc_pixel_type_size_bytes(input->pixel_type);
    memcpy(work.source.stride, from.stride, sizeof work.source.stride);
    work.components = input->components;
    memcpy(work.size, input->box.size, sizeof work.size);
    work.bins = output->box.size[0];
    const cc__span to = cc__lent_output(&images);
    work.counts = (uint64_t *)(void *)to.data;
    if (work.bins > 1 && to.stride[0] != (int64_t)sizeof *work.counts)
        status = cc__fail(CC_ERROR_LAYOUT, "%s: output has stride[0] = %lld, expected bins side by side", function,
                          (long long)to.stride[0]);
    if (images.place == CC_PLACE_HOST)
        work.slots = choose_slots(&work);
    if (status == CC_OK && (images.place != CC_PLACE_HOST || work.slots > 1))
        status = cc__scratch_bytes_allocate(&images, (size_t)work.slots * slot_bytes(&work), &scratch);
    work.scratch = scratch;
    if (status == CC_OK)
        status = cc__lent_images_run(&images, &histogram_kernel, &work);
    cc__scratch_bytes_free(&images, scratch);
    cc__lent_images_end(&images);
    return status;
}
