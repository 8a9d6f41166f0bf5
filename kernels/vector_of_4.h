/* 16 bytes that one instruction moves. */
#ifndef CC_KERNELS_VECTOR_OF_4_H
#define CC_KERNELS_VECTOR_OF_4_H

#include <stdint.h>

typedef struct __align__(16) vector_of_4
{
    uint32_t value[4];
}
vector_of_4;

#endif
