#include "support/texture_probe.h"

#include "kernels/launch.h"

#include <cuda_runtime_api.h>
#include <texture_indirect_functions.h>

template <typename Value>
static __device__ float4 fetch(const probe_work &work, int32_t n)
{
    const float *at = work.at[n];
    Value value;
    if (work.shape == CC_TEXTURE_VOLUME)
        value = tex3D<Value>(work.object, at[0], at[1], at[2]);
    else if (work.shape == CC_TEXTURE_LAYERS)
        value = tex2DLayered<Value>(work.object, at[0], at[1], (int)at[2]);
    else
        value = tex2D<Value>(work.object, at[0], at[1]);
    return make_float4((float)value.x, (float)value.y, (float)value.z, (float)value.w);
}

static __global__ void probe_kernel(const probe_work work)
{
    const int32_t n = (int32_t)threadIdx.x;
    if (n >= work.count)
        return;
    const float4 value = !work.is_integer ? fetch<float4>(work, n)
                         : work.is_signed ? fetch<int4>(work, n)
                                          : fetch<uint4>(work, n);
    work.results[n][0] = value.x;
    work.results[n][1] = value.y;
    work.results[n][2] = value.z;
    work.results[n][3] = value.w;
}

cc_status probe_launch(const void *work, const cc__launcher *launcher)
{
    probe_work copy = *(const probe_work *)work;
    void *arguments[] = {&copy};
    return launcher->launch(launcher, (const void *)probe_kernel, 1, PROBE_POINTS, arguments);
}
