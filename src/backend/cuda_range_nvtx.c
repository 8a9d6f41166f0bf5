/* Ranges for a profiler to show. NVTX loads nothing unless one is attached, and then a call costs a test and a jump. */
#include "backend/cuda_internal.h"

#include <nvtx3/nvToolsExt.h>
#include <pthread.h>

static nvtxDomainHandle_t domain;

static void create_domain(void)
{
    domain = nvtxDomainCreateA("CudaCommon");
}

void cc__cuda_range_push(cc__backend *self, const char *name)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)self;
    pthread_once(&once, create_domain);
    if (domain == NULL)
        return;
    nvtxEventAttributes_t attributes = {0};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
    attributes.message.ascii = name;
    nvtxDomainRangePushEx(domain, &attributes);
}

void cc__cuda_range_pop(cc__backend *self)
{
    (void)self;
    if (domain != NULL)
        nvtxDomainRangePop(domain);
}
