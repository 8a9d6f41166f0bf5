#include "backend/backend.h"
#include "base/allocate.h"
#include "base/components.h"
#include "base/error.h"
#include "memory/crew.h"
#include "ops/lent_images.h"

#include <cudacommon/reductions.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

/* What a thread is worth starting for, how many components one takes at a time, and what all may count in. */
#define BYTES_EACH ((size_t)2 << 20)
#define COMPONENTS_AT_ONCE ((int64_t)1 << 17)
#define MOST_ROOM_BYTES ((size_t)64 << 20)

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
    cc_place place;
    cc_stream stream;
    cc__histogram work;
    cc__sequence sequence;
    _Atomic int64_t next;
    int32_t crew;
    uint64_t *room; /* bins for each of the crew; NULL for a crew of one, which counts in the output */
    _Atomic int32_t in_use;
} counting;

static void count_share(void *context)
{
    counting *all = context;
    uint64_t *counts = all->work.counts;
    if (all->room != NULL)
        counts = all->room + atomic_fetch_add(&all->in_use, 1) * all->work.bins;
    for (;;) {
        const int64_t first = atomic_fetch_add(&all->next, COMPONENTS_AT_ONCE);
        if (first >= all->sequence.count)
            return;
        const int64_t left = all->sequence.count - first;
        cc__histogram_add(&all->work, &all->sequence, first, left < COMPONENTS_AT_ONCE ? left : COMPONENTS_AT_ONCE,
                          counts);
    }
}

static cc_status count(void *context)
{
    counting *all = context;
    if (all->place != CC_PLACE_HOST) {
        cc__backend *backend = cc__backend_get();
        return backend->histogram(backend, all->place, all->stream, &all->work);
    }
    memset(all->work.counts, 0, (size_t)all->work.bins * sizeof *all->work.counts);
    cc__crew_run(all->crew, count_share, all);
    for (int64_t n = 0; all->room != NULL && n < all->crew * all->work.bins; n++)
        all->work.counts[n % all->work.bins] += all->room[n];
    return CC_OK;
}

static cc_status choose_crew(const char *function, counting *all)
{
    const size_t bytes = (size_t)all->sequence.count * cc_pixel_type_size_bytes(all->work.source.type);
    const size_t each = (size_t)all->work.bins * sizeof *all->room;
    all->crew = cc__crew_size(bytes, BYTES_EACH, CC__CREW_MOST);
    if (all->crew == 1 || each > MOST_ROOM_BYTES / CC__CREW_MOST) {
        all->crew = 1;
        return CC_OK;
    }
    all->room = cc__allocate((size_t)all->crew * each);
    if (all->room == NULL)
        return cc__fail(CC_ERROR_OUT_OF_HOST_MEMORY, "%s: no memory to count in", function);
    return CC_OK;
}

cc_status cc_image_histogram(cc_image *input, double lower, double upper, cc_image *output, cc_stream stream)
{
    static const char *const function = "cc_image_histogram";
    cc__lent_images images = {
        .function = function, .stream = stream, .inputs = {input}, .input_count = 1, .output = output};
    counting all = {.stream = stream, .work = {.lower = lower, .upper = upper}};
    cc_status status = check(function, input, lower, upper, output);
    if (status == CC_OK)
        status = cc__lend_images(&images);
    if (status != CC_OK)
        return status;
    const cc__span from = cc__lent_input(&images, 0);
    cc__histogram *work = &all.work;
    all.place = images.place;
    work->source.data = from.data;
    work->source.type = input->pixel_type;
    work->source.component_stride = (int64_t)cc_pixel_type_size_bytes(input->pixel_type);
    memcpy(work->source.stride, from.stride, sizeof work->source.stride);
    work->components = input->components;
    memcpy(work->size, input->box.size, sizeof work->size);
    work->bins = output->box.size[0];
    const cc__span to = cc__lent_output(&images);
    work->counts = (uint64_t *)(void *)to.data;
    if (work->bins > 1 && to.stride[0] != (int64_t)sizeof *work->counts)
        status = cc__fail(CC_ERROR_LAYOUT, "%s: output has stride[0] = %lld, expected bins side by side", function,
                          (long long)to.stride[0]);
    if (status == CC_OK && all.place == CC_PLACE_HOST) {
        cc__sequence_plan(&work->source, 1, work->components, work->size, &all.sequence);
        status = choose_crew(function, &all);
    }
    if (status == CC_OK)
        status = cc__lent_images_commit(&images, count, &all);
    cc__lent_images_end(&images);
    cc__free(all.room);
    return status;
}
