/* What lets the same code compile as C for the CPU and as CUDA for the GPU. */
#ifndef CC_KERNELS_SHARED_H
#define CC_KERNELS_SHARED_H

#ifdef __CUDACC__
#define CC__SHARED static inline __host__ __device__
#else
#define CC__SHARED static inline
#endif

/* For loops whose arrays must stay in registers. */
#ifdef __CUDA_ARCH__
#define CC__UNROLL _Pragma("unroll")
#else
#define CC__UNROLL
#endif

#endif
