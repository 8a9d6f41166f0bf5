/* Type strings, as array libraries write them. */
#ifndef CC_BASE_TYPESTR_H
#define CC_BASE_TYPESTR_H

#include <cudacommon/pixel.h>
#include <cudacommon/status.h>

/* cc_typestr_parse() for a caller that names itself in messages, and has checked its pointers. */
cc_status cc__typestr_parse(const char *function, const char *typestr, cc_pixel_type *out_type);

#endif
