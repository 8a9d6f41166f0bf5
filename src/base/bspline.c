#include "base/components.h"
#include "base/resample.h"
#include "kernels/bspline_math.h"

#include <fenv.h>
#include <string.h>

bool cc__bspline_plan(const cc__resample *work, int32_t axis, cc__bspline *out_work)
{
    /* The first one brings the pixels over, even if it changes nothing. */
    if (axis > 0 && work->source_size[axis] == 1)
        return false;
    out_work->destination = work->source;
    out_work->source = axis == 0 ? work->pixels : work->source;
    out_work->source_type = axis == 0 ? work->pixels_type : work->source_type;
    out_work->in_float32 = work->in_float32;
    out_work->components = work->components;
    out_work->axis = axis;
    memcpy(out_work->size, work->source_size, sizeof out_work->size);
    return true;
}

int64_t cc__bspline_line_count(const cc__bspline *work)
{
    int64_t count = work->components;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++)
        count *= axis == work->axis ? 1 : work->size[axis];
    return count;
}

void cc__bspline_lines(const void *work, int64_t first, int64_t count)
{
    const cc__bspline *self = work;
    const int64_t from_bytes = (int64_t)cc_pixel_type_size_bytes(self->source_type);
    const int64_t to_bytes = self->in_float32 ? 4 : 8;
    const int64_t from_step = self->source.stride[self->axis], to_step = self->destination.stride[self->axis];
    const int64_t length = self->size[self->axis];
    fenv_t environment;
    fegetenv(&environment);
    fesetenv(FE_DFL_ENV);
    for (int64_t line = first; line < first + count; line++) {
        int64_t rest = line / self->components;
        const int64_t component = line % self->components;
        const unsigned char *from = self->source.data + component * from_bytes;
        unsigned char *to = self->destination.data + component * to_bytes;
        for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++) {
            if (axis == self->axis)
                continue;
            from += rest % self->size[axis] * self->source.stride[axis];
            to += rest % self->size[axis] * self->destination.stride[axis];
            rest /= self->size[axis];
        }
        cc__bspline_line(self->in_float32, (int32_t)self->source_type, from, from_step, to, to_step, length);
    }
    fesetenv(&environment);
}
