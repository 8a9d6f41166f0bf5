/* Stands in for the CUDA backend in a build without CUDA. */
#include "backend/backend.h"

cc__backend *cc__backend_cuda(void)
{
    return NULL;
}
