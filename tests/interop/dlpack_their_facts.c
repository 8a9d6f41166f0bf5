#include "dlpack_facts.h"

#include <dlpack/dlpack.h>

const dlpack_fact dlpack_their_facts[] = {
    DLPACK_STRUCT_FACTS,
    {"major version", DLPACK_MAJOR_VERSION},
    {"CPU", kDLCPU},
    {"CUDA", kDLCUDA},
    {"CUDA host", kDLCUDAHost},
    {"CUDA managed", kDLCUDAManaged},
    {"int", kDLInt},
    {"uint", kDLUInt},
    {"float", kDLFloat},
    {"bfloat", kDLBfloat},
    {"complex", kDLComplex},
    {"bool", kDLBool},
    {"read-only", DLPACK_FLAG_BITMASK_READ_ONLY},
    {"is copied", DLPACK_FLAG_BITMASK_IS_COPIED},
};
const int32_t dlpack_their_fact_count = sizeof dlpack_their_facts / sizeof dlpack_their_facts[0];
