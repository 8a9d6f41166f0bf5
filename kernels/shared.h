/* What lets the same code compile as C for the CPU and as CUDA for the GPU. */
#ifndef CC_KERNELS_SHARED_H
#define CC_KERNELS_SHARED_H

#ifdef __CUDACC__
#define CC__SHARED static inline __host__ __device__
#else
#define CC__SHARED static inline
#endif

/* A kernel's parameter that is read where it lies, also with an index; older devices copy it. */
#if defined(__CUDACC__) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 700
#define __grid_constant__
#endif

/* For what is seldom called and would make its callers large. */
#ifdef __CUDACC__
#define CC__NOT_INLINE __noinline__
#else
#define CC__NOT_INLINE __attribute__((noinline))
#endif

/* As CC__SHARED, for such. */
#ifdef __CUDACC__
#define CC__SHARED_APART static __noinline__ __host__ __device__
#else
#define CC__SHARED_APART static __attribute__((noinline))
#endif

/* For loops whose arrays must stay in registers. */
#ifdef __CUDA_ARCH__
#define CC__UNROLL _Pragma("unroll")
#else
#define CC__UNROLL
#endif

/*
 * Loads before this are under way when what follows begins; compilers put some of them nearer to their use, behind what
 * waits for others. All threads of a warp must come here.
 */
#ifdef __CUDA_ARCH__
#define CC__LOADS_FIRST() __syncwarp()
#else
#define CC__LOADS_FIRST() ((void)0)
#endif

/* For compilers that do not see that what was not loaded is not used. */
#ifdef __CUDA_ARCH__
#define CC__CLEAR(array) ((void)0)
#else
#define CC__CLEAR(array) memset(array, 0, sizeof(array))
#endif

#endif
