/* Which backend is behind the library. */
#include "backend/backend.h"
#include "backend/emulated.h"
#include "base/error.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static pthread_once_t chosen_once = PTHREAD_ONCE_INIT;
static _Atomic(cc__backend *) chosen;
static _Atomic(cc__backend *) replacement;

/* Digits only: strtoull alone would also take blanks and signs. 0 for anything else; the largest when it is larger. */
static uint64_t parse_number(const char *text)
{
    return text[strspn(text, "0123456789")] == '\0' ? strtoull(text, NULL, 10) : 0;
}

/* NULL when the text asks for something else. */
static cc__backend *create_emulated(const char *text)
{
    static const char name[] = "emulated";
    const size_t length = sizeof name - 1;
    if (strncmp(text, name, length) != 0 || (text[length] != '\0' && text[length] != ':'))
        return NULL;
    const uint64_t device_count = text[length] == ':' ? parse_number(text + length + 1) : 1;
    if (device_count > INT32_MAX)
        return NULL;

    cc__backend *backend = cc__backend_emulated_create((int32_t)device_count);
    const char *seed = getenv("CUDACOMMON_EMULATED_SEED");
    if (backend && seed)
        cc__emulated_set_seed(backend, parse_number(seed));
    return backend;
}

static cc__backend *find(void)
{
    const char *text = getenv("CUDACOMMON_DEVICE");
    cc__backend *none = cc__backend_none();
    cc__backend *backend = NULL;
    if (text && strcmp(text, "none") == 0) {
        none->absence = "CUDACOMMON_DEVICE=none";
        return none;
    }
    if (text)
        backend = create_emulated(text);
    if (!backend)
        backend = cc__backend_cuda();
    if (backend && backend->device_count > 0)
        return backend;
    none->absence = backend ? backend->absence : "this build of the library has no CUDA";
    return none;
}

static void choose(void)
{
    atomic_store(&chosen, find());
}

cc__backend *cc__backend_get(void)
{
    cc__backend *backend = atomic_load(&replacement);
    if (!backend)
        backend = atomic_load(&chosen);
    if (backend)
        return backend;
    pthread_once(&chosen_once, choose);
    return atomic_load(&chosen);
}

void cc__backend_set(cc__backend *backend)
{
    atomic_store(&replacement, backend);
}

cc_status cc__backend_check_device(cc__backend *backend, const char *function, int32_t device)
{
    if (backend->device_count == 0)
        return cc__fail(CC_ERROR_NO_DEVICE, "%s: device = %d, but there are no devices%s%s", function, (int)device,
                        backend->absence != NULL ? ": " : "", backend->absence != NULL ? backend->absence : "");
    if (device < 0 || device >= backend->device_count)
        return cc__fail(CC_ERROR_INVALID_DEVICE, "%s: device = %d, must be 0 to %d", function, (int)device,
                        (int)(backend->device_count - 1));
    return CC_OK;
}
