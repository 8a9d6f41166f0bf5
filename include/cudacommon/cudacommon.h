/* The whole library. */
#ifndef CUDACOMMON_H
#define CUDACOMMON_H

#include <cudacommon/access.h>
#include <cudacommon/arithmetic.h>
#include <cudacommon/border.h>
#include <cudacommon/budget.h>
#include <cudacommon/cudacommon_config.h>
#include <cudacommon/derivatives.h>
#include <cudacommon/descriptor.h>
#include <cudacommon/device.h>
#include <cudacommon/dlpack.h>
#include <cudacommon/expression.h>
#include <cudacommon/fft.h>
#include <cudacommon/filter.h>
#include <cudacommon/frames.h>
#include <cudacommon/geometry.h>
#include <cudacommon/image.h>
#include <cudacommon/import.h>
#include <cudacommon/loan.h>
#include <cudacommon/memory.h>
#include <cudacommon/operations.h>
#include <cudacommon/pixel.h>
#include <cudacommon/reductions.h>
#include <cudacommon/region.h>
#include <cudacommon/regions.h>
#include <cudacommon/release_queue.h>
#include <cudacommon/resample.h>
#include <cudacommon/smoothing.h>
#include <cudacommon/state.h>
#include <cudacommon/status.h>
#include <cudacommon/texture.h>
#include <cudacommon/tiles.h>
#include <cudacommon/trace.h>
#include <cudacommon/wrap.h>

#endif
