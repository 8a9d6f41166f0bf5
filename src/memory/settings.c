/* What callers ask and decide about memory of the library's own. */
#include "base/error.h"
#include "memory/chunks.h"
#include "memory/host_pool.h"
#include "memory/page_locking.h"

#include <cudacommon/memory.h>
#include <string.h>

cc_status cc_host_get_memory_state(cc_host_memory_state *out_state)
{
    static const char *const function = "cc_host_get_memory_state";
    cc_host_memory_state state = CC_HOST_MEMORY_STATE_INIT;
    if (out_state == NULL)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: out_state = NULL, expected a pointer", function);
    if (out_state->struct_size < sizeof out_state->struct_size)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: out_state.struct_size = %u, expected CC_HOST_MEMORY_STATE_INIT",
                        function, (unsigned)out_state->struct_size);
    state.struct_size = out_state->struct_size;
    state.locked_bytes = cc__page_locking_bytes();
    state.locked_limit_bytes = cc__page_locking_limit();
    state.pooled_bytes = cc__host_pool_bytes();
    state.pool_limit_bytes = cc__host_pool_limit();
    state.staging_bytes = cc__chunks_bytes();
    memcpy(out_state, &state, out_state->struct_size < sizeof state ? out_state->struct_size : sizeof state);
    return CC_OK;
}

void cc_host_set_locked_limit(size_t limit_bytes)
{
    cc__page_locking_set_limit(limit_bytes);
}

void cc_host_set_pool_limit(size_t limit_bytes)
{
    cc__host_pool_set_limit(limit_bytes);
}

void cc_host_trim(size_t keep_bytes)
{
    cc__host_pool_trim(keep_bytes);
    if (keep_bytes == 0)
        cc__chunks_trim();
}
