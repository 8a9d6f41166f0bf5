#include <cudacommon/cudacommon_config.h>

int32_t cc_version(void)
{
    return CUDACOMMON_VERSION;
}

const char *cc_version_string(void)
{
    return CUDACOMMON_VERSION_STRING;
}
