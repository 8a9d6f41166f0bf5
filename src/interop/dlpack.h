/* What the two directions of DLPack share. For this room. */
#ifndef CC_INTEROP_DLPACK_H
#define CC_INTEROP_DLPACK_H

#include "interop/dlpack_abi.h"

#include <cudacommon/dlpack.h>

/* The loan of a tensor that came from this library; NULL for one that did not. */
const cc_loan *cc__dlpack_loan(const struct DLManagedTensorVersioned *tensor);
const cc_loan *cc__dlpack_loan_legacy(const struct DLManagedTensor *tensor);

#endif
