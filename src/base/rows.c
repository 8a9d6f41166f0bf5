#include "base/rows.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct axis {
    int64_t size;
    int64_t stride[2];
} axis;

void cc__rows_plan(cc__rows_of of, int64_t count, int64_t step_a, int64_t step_b, const int64_t size[CC_MAX_DIMENSION],
                   const int64_t stride_a[CC_MAX_DIMENSION], const int64_t stride_b[CC_MAX_DIMENSION],
                   cc__rows *out_rows)
{
    axis axes[CC_MAX_DIMENSION + 1];
    int32_t used = 0;
    int32_t fixed = 0;
    if (of == CC__ROWS_OF_BYTES || count > 1) {
        axes[used++] = (axis){count, {step_a, step_b}};
        fixed = 1;
    }
    for (int32_t i = 0; i < CC_MAX_DIMENSION; i++) {
        if (size[i] == 1)
            continue;
        axis next = {size[i], {stride_a[i], stride_b != NULL ? stride_b[i] : stride_a[i]}};
        int32_t at = used++;
        for (; at > fixed && axes[at - 1].stride[0] > next.stride[0]; at--)
            axes[at] = axes[at - 1];
        axes[at] = next;
    }
    if (used == 0)
        axes[used++] = (axis){1, {step_a, step_b}};

    int32_t last = 0;
    for (int32_t i = 1; i < used; i++) {
        axis *row = &axes[last];
        if (axes[i].stride[0] == row->size * row->stride[0] && axes[i].stride[1] == row->size * row->stride[1])
            row->size *= axes[i].size;
        else
            axes[++last] = axes[i];
    }

    cc__rows rows = {.length = axes[0].size, .step = {axes[0].stride[0], axes[0].stride[1]}, .axes = last};
    for (int32_t i = 0; i < CC_MAX_DIMENSION; i++) {
        bool is_used = i < last;
        rows.size[i] = is_used ? axes[i + 1].size : 1;
        rows.stride[0][i] = is_used ? axes[i + 1].stride[0] : 0;
        rows.stride[1][i] = is_used ? axes[i + 1].stride[1] : 0;
    }
    *out_rows = rows;
}

void cc__rows_each(const cc__rows *rows, unsigned char *a, unsigned char *b, cc__rows_function function, void *argument)
{
    int64_t at[CC_MAX_DIMENSION] = {0, 0, 0, 0};
    int64_t offset[2] = {0, 0};
    for (;;) {
        function(rows, a + offset[0], b != NULL ? b + offset[1] : NULL, argument);
        int32_t i = 1;
        for (; i < rows->axes && i < CC_MAX_DIMENSION; i++) {
            offset[0] += rows->stride[0][i];
            offset[1] += rows->stride[1][i];
            if (++at[i] < rows->size[i])
                break;
            offset[0] -= rows->stride[0][i] * rows->size[i];
            offset[1] -= rows->stride[1][i] * rows->size[i];
            at[i] = 0;
        }
        if (i >= rows->axes)
            return;
    }
}
