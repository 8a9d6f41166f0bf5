#include "memory/pixel_kernels.h"

#include "kernels/launch.h"
#include "memory/host_work.h"

static void copy_on_host(const void *work)
{
    cc__copy_by_crew(work);
}

static int32_t copy_touches(const void *work, cc__kernel_range out_ranges[CC__KERNEL_RANGES])
{
    const cc__copy *copy = work;
    out_ranges[0] = cc__kernel_range_of(&copy->destination, copy->size, copy->pixel_bytes);
    out_ranges[1] = cc__kernel_range_of(&copy->source, copy->size, copy->pixel_bytes);
    return 2;
}

const cc__kernel cc__copy_kernel = {.name = "copy",
                                    .work_bytes = sizeof(cc__copy),
                                    .on_host = copy_on_host,
                                    .touches = copy_touches,
                                    .launch = CC__LAUNCH(cc__start_copy)};

static void fill_on_host(const void *work)
{
    cc__fill_by_crew(work);
}

static int32_t fill_touches(const void *work, cc__kernel_range out_ranges[CC__KERNEL_RANGES])
{
    const cc__fill *fill = work;
    out_ranges[0] = cc__kernel_range_of(&fill->destination, fill->size, fill->pixel_bytes);
    return 1;
}

const cc__kernel cc__fill_kernel = {.name = "fill",
                                    .work_bytes = sizeof(cc__fill),
                                    .on_host = fill_on_host,
                                    .touches = fill_touches,
                                    .launch = CC__LAUNCH(cc__start_fill)};

static void rescale_on_host(const void *work)
{
    cc__rescale_by_crew(work);
}

static int32_t rescale_touches(const void *work, cc__kernel_range out_ranges[CC__KERNEL_RANGES])
{
    const cc__rescale *rescale = work;
    out_ranges[0] =
        cc__kernel_range_of(&rescale->destination, rescale->size,
                            rescale->components * (int64_t)cc_pixel_type_size_bytes(rescale->destination_type));
    out_ranges[1] = cc__kernel_range_of(&rescale->source, rescale->size,
                                        rescale->components * (int64_t)cc_pixel_type_size_bytes(rescale->source_type));
    return 2;
}

const cc__kernel cc__rescale_kernel = {.name = "rescale",
                                       .work_bytes = sizeof(cc__rescale),
                                       .on_host = rescale_on_host,
                                       .touches = rescale_touches,
                                       .launch = CC__LAUNCH(cc__launch_rescale)};
