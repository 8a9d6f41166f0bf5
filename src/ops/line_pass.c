#include "ops/line_pass.h"

#include "base/line_filter.h"
#include "kernels/launch.h"
#include "memory/crew.h"

#include <stdatomic.h>

/* Products that a thread is worth starting for. */
#define PRODUCTS_EACH ((size_t)1 << 18)

typedef struct passing {
    const cc__line_filter *work;
    cc__line_pieces pieces;
    _Atomic int64_t next;
} passing;

static void take_pieces(void *context)
{
    passing *all = context;
    for (;;) {
        const int64_t piece = atomic_fetch_add(&all->next, 1);
        if (piece >= all->pieces.count)
            return;
        cc__line_piece(all->work, &all->pieces, piece);
    }
}

static void filter_on_host(const void *work)
{
    passing all = {.work = work};
    cc__line_pieces_plan(all.work, &all.pieces);
    const size_t pixels = (size_t)all.pieces.lines.count * (size_t)all.work->images.size[all.work->images.axis];
    cc__crew_run(cc__crew_size(pixels * (size_t)(all.work->radius + 1), PRODUCTS_EACH, CC__CREW_MOST), take_pieces,
                 &all);
}

static int32_t list_ranges(const void *argument, cc__kernel_range out_ranges[CC__KERNEL_RANGES])
{
    const cc__line_filter *work = argument;
    return cc__line_images_ranges(&work->images, work->length, out_ranges);
}

const cc__kernel cc__line_pass = {"line_filter", sizeof(cc__line_filter), filter_on_host, list_ranges,
                                  CC__LAUNCH(cc__launch_line_filter)};
