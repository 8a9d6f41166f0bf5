/* One pass of a filter over lines of pixels, as a kernel of the backends. */
#ifndef CC_OPS_LINE_PASS_H
#define CC_OPS_LINE_PASS_H

#include "base/kernel.h"

/* Its work is a cc__line_filter. */
extern const cc__kernel cc__line_pass;

#endif
