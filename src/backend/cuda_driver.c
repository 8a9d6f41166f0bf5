#include "backend/cuda_driver.h"

#include "base/error.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#define SYMBOL_TEXT(name) #name
#define SYMBOL(name) {SYMBOL_TEXT(name), offsetof(cc__driver_table, name)},

cc__driver_table cc__driver;
cc__driver_extras cc__driver_more;
_Atomic uint32_t cc__driver_final_errors;

static const struct {
    const char *name;
    size_t offset;
} symbols[] = {CC__DRIVER_FUNCTIONS(SYMBOL)};

static const struct {
    const char *name;
    size_t offset;
} extra_symbols[] = {{"cuStreamGetId", offsetof(cc__driver_extras, stream_get_id)},
                     {"cuDeviceGetUuid_v2", offsetof(cc__driver_extras, device_get_uuid)}};

/* ISO C has no conversion from an object pointer to a function pointer. */
static void set_function(void *table, size_t offset, const void *address)
{
    memcpy((unsigned char *)table + offset, &address, sizeof address);
}

bool cc__driver_load(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return false;
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        void *address = dlsym(library, symbols[i].name);
        if (address == NULL)
            return false;
        set_function(&cc__driver, symbols[i].offset, address);
    }
    for (size_t i = 0; i < sizeof extra_symbols / sizeof extra_symbols[0]; i++)
        set_function(&cc__driver_more, extra_symbols[i].offset, dlsym(library, extra_symbols[i].name));
    return true;
}

bool cc__driver_is_final(CUresult result)
{
    static const CUresult final[] = {CUDA_ERROR_ECC_UNCORRECTABLE,
                                     CUDA_ERROR_NVLINK_UNCORRECTABLE,
                                     CUDA_ERROR_ILLEGAL_ADDRESS,
                                     CUDA_ERROR_LAUNCH_TIMEOUT,
                                     CUDA_ERROR_ASSERT,
                                     CUDA_ERROR_HARDWARE_STACK_ERROR,
                                     CUDA_ERROR_ILLEGAL_INSTRUCTION,
                                     CUDA_ERROR_MISALIGNED_ADDRESS,
                                     CUDA_ERROR_INVALID_ADDRESS_SPACE,
                                     CUDA_ERROR_INVALID_PC,
                                     CUDA_ERROR_LAUNCH_FAILED};
    for (size_t i = 0; i < sizeof final / sizeof final[0]; i++)
        if (final[i] == result)
            return true;
    return false;
}

static cc_status meaning(CUresult result)
{
    if (result >= CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED && result <= CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD)
        return CC_ERROR_CAPTURE;
    if (result == CUDA_ERROR_INVALID_DEVICE)
        return CC_ERROR_INVALID_DEVICE;
    /* Of the handles that calls are given, streams alone are not the library's own. */
    if (result == CUDA_ERROR_INVALID_HANDLE)
        return CC_ERROR_STREAM;
    return CC_ERROR_DEVICE;
}

const char *cc__driver_words(CUresult result)
{
    const char *text = NULL;
    return cc__driver.cuGetErrorString(result, &text) == CUDA_SUCCESS && text != NULL ? text : "unknown error";
}

cc_status cc__driver_status(CUresult result, const char *function, int32_t device)
{
    if (result == CUDA_SUCCESS)
        return CC_OK;
    if (cc__driver_is_final(result))
        atomic_fetch_add(&cc__driver_final_errors, 1);
    const char *text = cc__driver_words(result);
    if (device < 0)
        return cc__fail_native(meaning(result), (int32_t)result, "%s: %s (%d)", function, text, (int)result);
    return cc__fail_native(meaning(result), (int32_t)result, "%s: %s (%d), device %d", function, text, (int)result,
                           (int)device);
}

cc_status cc__driver_free_status(CUresult result, const char *function, int32_t device)
{
    if (result == CUDA_ERROR_DEINITIALIZED || result == CUDA_ERROR_CONTEXT_IS_DESTROYED)
        return CC_OK;
    return cc__driver_status(result, function, device);
}
