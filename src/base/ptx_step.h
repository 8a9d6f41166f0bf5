/* The steps of expressions in PTX: kernels/step_math.h, operation by operation. */
#ifndef CC_BASE_PTX_STEP_H
#define CC_BASE_PTX_STEP_H

#include "base/ptx.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Registers of float64. */
typedef struct cc__ptx_number {
    int32_t real;
    int32_t imaginary;
} cc__ptx_number;

int32_t cc__ptx_operate(cc__ptx *ptx, const char *operation, int32_t x, int32_t y);
int32_t cc__ptx_operate_alone(cc__ptx *ptx, const char *operation, int32_t x);
int32_t cc__ptx_constant(cc__ptx *ptx, double value);

/* cc__real_X(); the kind may also be one of the plain ones of kernels/evaluate_dense_plan.h. */
int32_t cc__ptx_real_step(cc__ptx *ptx, int32_t kind, int32_t value, int32_t a, int32_t b);

/* 1 where one part is not 0, else 0. */
int32_t cc__ptx_is_other_than_zero(cc__ptx *ptx, cc__ptx_number value);

/* cc__complex_X(), and for steps that order cc__real_X() of the real parts. */
cc__ptx_number cc__ptx_complex_step(cc__ptx *ptx, int32_t kind, cc__ptx_number value, cc__ptx_number a,
                                    cc__ptx_number b, int32_t reals);

#ifdef __cplusplus
}
#endif

#endif
