/* What the demo prints about an image. */
#ifndef REPORT_H
#define REPORT_H

#include <cudacommon/cudacommon.h>
#include <stdbool.h>

void report_geometry(const cc_image *image);
bool report_descriptors(cc_image *image, cc_place place);
bool report_transfers(const char *name, cc_image *image);

#endif
