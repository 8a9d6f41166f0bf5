#include "dlpack_facts.h"
#include "interop/dlpack_abi.h"

const dlpack_fact dlpack_our_facts[] = {
    DLPACK_STRUCT_FACTS,
    {"major version", CC__DLPACK_MAJOR},
    {"CPU", CC__DLPACK_CPU},
    {"CUDA", CC__DLPACK_CUDA},
    {"CUDA host", CC__DLPACK_CUDA_HOST},
    {"CUDA managed", CC__DLPACK_CUDA_MANAGED},
    {"int", CC__DLPACK_INT},
    {"uint", CC__DLPACK_UINT},
    {"float", CC__DLPACK_FLOAT},
    {"bfloat", CC__DLPACK_BFLOAT},
    {"complex", CC__DLPACK_COMPLEX},
    {"bool", CC__DLPACK_BOOL},
    {"read-only", CC__DLPACK_READ_ONLY},
    {"is copied", CC__DLPACK_IS_COPIED},
};
const int32_t dlpack_our_fact_count = sizeof dlpack_our_facts / sizeof dlpack_our_facts[0];
