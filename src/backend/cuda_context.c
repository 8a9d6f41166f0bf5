#include "backend/cuda_context.h"

#include "backend/default_stream.h"
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static cc__cuda_device devices[CC__MAX_DEVICES];

static atomic_bool started;
static atomic_bool forked;
static atomic_bool ending;

static void note_fork(void)
{
    if (atomic_load(&started))
        atomic_store(&forked, true);
}

static void note_end(void)
{
    atomic_store(&ending, true);
}

static bool describe_device(cc__cuda_device *device, int32_t ordinal)
{
    enum {
        MULTIPROCESSORS,
        MAX_PITCH,
        POOLS,
        HOST_POINTERS,
        COUNT
    };
    static const CUdevice_attribute attributes[COUNT] = {
        [MULTIPROCESSORS] = CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
        [MAX_PITCH] = CU_DEVICE_ATTRIBUTE_MAX_PITCH,
        [POOLS] = CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED,
        [HOST_POINTERS] = CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM,
    };
    int values[COUNT] = {0};
    device->ordinal = ordinal;
    if (pthread_mutex_init(&device->lock, NULL) != 0 ||
        cc__driver.cuDeviceGet(&device->handle, ordinal) != CUDA_SUCCESS)
        return false;
    for (int32_t i = 0; i < COUNT; i++) {
        if (cc__driver.cuDeviceGetAttribute(&values[i], attributes[i], device->handle) != CUDA_SUCCESS)
            return false;
    }
    device->multiprocessor_count = values[MULTIPROCESSORS];
    device->max_pitch_bytes = values[MAX_PITCH];
    device->has_pools = values[POOLS] != 0;
    device->reaches_host = values[HOST_POINTERS] != 0;
    return true;
}

/* Why there are no devices. */
static char absence[128];

static const char *absent(const char *format, ...) __attribute__((format(printf, 1, 2)));
static const char *absent(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(absence, sizeof absence, format, arguments);
    va_end(arguments);
    return absence;
}

/* NULL when there are devices, else why there are none. */
static const char *start(int32_t *out_count)
{
    /* The child handler comes before the driver, so that no fork falls between them. */
    if (!cc__driver_load())
        return "the driver's libcuda.so.1 was not found, or is too old";
    if (pthread_atfork(NULL, NULL, note_fork) != 0)
        return "no memory for what is to be done at a fork";
    atomic_store(&started, true);

    /* Kernels need a driver of the toolkit's major version or later. */
    int version = 0;
    int count = 0;
    CUresult result = cc__driver.cuDriverGetVersion(&version);
    if (result == CUDA_SUCCESS && version / 1000 < CUDA_VERSION / 1000)
        return absent("the driver is for CUDA %d.%d, this build of the library needs %d.0 or later", version / 1000,
                      version % 1000 / 10, CUDA_VERSION / 1000);
    if (result == CUDA_SUCCESS)
        result = cc__driver.cuInit(0);
    if (result == CUDA_SUCCESS)
        result = cc__driver.cuDeviceGetCount(&count);
    if (result != CUDA_SUCCESS)
        return absent("cuInit: %s (%d)", cc__driver_words(result), (int)result);
    if (count > CC__MAX_DEVICES)
        count = CC__MAX_DEVICES;
    for (int32_t device = 0; device < count; device++) {
        if (!describe_device(&devices[device], device))
            return absent("device %d cannot be asked what it is", (int)device);
    }
    /* Registered after the driver's own handlers, and so run before them. */
    if (atexit(note_end) != 0)
        return "no memory for what is to be done at exit";
    *out_count = count;
    return count > 0 ? NULL : "the driver has none";
}

void cc__cuda_start(cc__backend *self)
{
    int32_t count = 0;
    self->state = devices;
    self->absence = start(&count);
    self->device_count = count;
}

cc__cuda_device *cc__cuda_device_at(const cc__backend *self, int32_t device)
{
    return (cc__cuda_device *)self->state + device;
}

cc_status cc__cuda_usable(void)
{
    if (atomic_load(&forked))
        return cc__fail(CC_ERROR_FORKED, "CUDA was started before fork() and does not work in the child; first use "
                                         "the device after fork()");
    if (atomic_load(&ending))
        return cc__fail(CC_ERROR_DEVICE, "the process is ending, the device is no longer used");
    return CC_OK;
}

bool cc__cuda_is_over(void)
{
    return atomic_load(&forked) || atomic_load(&ending);
}

static CUresult retain_context(cc__cuda_device *device, CUcontext *out_context)
{
    CUcontext context = atomic_load(&device->context);
    CUresult result = CUDA_SUCCESS;
    if (context == NULL) {
        pthread_mutex_lock(&device->lock);
        context = atomic_load(&device->context);
        if (context == NULL) {
            result = cc__driver.cuDevicePrimaryCtxRetain(&context, device->handle);
            if (result == CUDA_SUCCESS)
                atomic_store(&device->context, context);
        }
        pthread_mutex_unlock(&device->lock);
    }
    if (result == CUDA_SUCCESS)
        *out_context = context;
    return result;
}

static void relax_capture_mode(cc__cuda_guard *guard)
{
    guard->capture_mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    guard->is_relaxed = cc__driver.cuThreadExchangeStreamCaptureMode(&guard->capture_mode) == CUDA_SUCCESS;
}

static void restore_capture_mode(const cc__cuda_guard *guard)
{
    CUstreamCaptureMode mode = guard->capture_mode;
    if (guard->is_relaxed)
        cc__driver.cuThreadExchangeStreamCaptureMode(&mode);
}

static CUresult make_current(cc__cuda_guard *guard, const char **out_function)
{
    CUcontext context = NULL;
    CUcontext current = NULL;
    *out_function = "cuDevicePrimaryCtxRetain";
    CUresult result = retain_context(guard->device, &context);
    if (result != CUDA_SUCCESS)
        return result;
    if (cc__driver.cuCtxGetCurrent(&current) == CUDA_SUCCESS && current == context)
        return CUDA_SUCCESS;
    *out_function = "cuCtxPushCurrent";
    result = cc__driver.cuCtxPushCurrent(context);
    guard->is_pushed = result == CUDA_SUCCESS;
    return result;
}

static CUresult enter(cc__cuda_device *device, cc__cuda_guard *out_guard, const char **out_function)
{
    cc__cuda_guard guard = {.device = device};
    relax_capture_mode(&guard);
    CUresult result = make_current(&guard, out_function);
    if (result == CUDA_SUCCESS)
        *out_guard = guard;
    else
        restore_capture_mode(&guard);
    return result;
}

cc_status cc__cuda_enter(const cc__backend *self, int32_t device, cc__cuda_guard *out_guard)
{
    cc_status status = cc__cuda_usable();
    if (status != CC_OK)
        return status;
    const char *function = NULL;
    CUresult result = enter(cc__cuda_device_at(self, device), out_guard, &function);
    return cc__driver_status(result, function, device);
}

CUresult cc__cuda_enter_to_free(const cc__backend *self, int32_t device, cc__cuda_guard *out_guard)
{
    const char *function = NULL;
    return enter(cc__cuda_device_at(self, device), out_guard, &function);
}

cc_status cc__cuda_enter_stream(const cc__backend *self, int32_t device, cc_stream stream, cc__cuda_guard *out_guard)
{
    cc_status status = cc__cuda_usable();
    if (status != CC_OK)
        return status;
    cc__cuda_guard guard = {.device = cc__cuda_device_at(self, device)};
    CUresult result = CUDA_SUCCESS;
    const char *function = NULL;
    if (cc__is_default_stream(stream))
        result = make_current(&guard, &function);
    if (result == CUDA_SUCCESS)
        *out_guard = guard;
    return cc__driver_status(result, function, device);
}

cc_status cc__cuda_enter_event(const cc__backend *self, int32_t device, cc__cuda_guard *out_guard)
{
    cc_status status = cc__cuda_usable();
    if (status != CC_OK)
        return status;
    cc__cuda_guard guard = {.device = cc__cuda_device_at(self, device)};
    relax_capture_mode(&guard);
    *out_guard = guard;
    return CC_OK;
}

void cc__cuda_leave(const cc__cuda_guard *guard)
{
    CUcontext context = NULL;
    if (guard->is_pushed)
        cc__driver.cuCtxPopCurrent(&context);
    restore_capture_mode(guard);
}

/*
 * cudaSetDevice makes the device's context current (from CUDA 12 on), whichever copy of the runtime the caller uses;
 * a thread that has set nothing uses device 0. Asking our own runtime would tell nothing about the caller's.
 */
cc_status cc__cuda_current_device(cc__backend *self, int32_t *out_device)
{
    cc_status status = cc__cuda_usable();
    if (status != CC_OK)
        return status;
    CUcontext context = NULL;
    CUdevice handle = 0;
    status = CC__CU(-1, cuCtxGetCurrent, &context);
    if (status != CC_OK)
        return status;
    if (context == NULL) {
        *out_device = 0;
        return CC_OK;
    }
    status = CC__CU(-1, cuCtxGetDevice, &handle);
    if (status != CC_OK)
        return status;
    for (int32_t device = 0; device < self->device_count; device++) {
        if (cc__cuda_device_at(self, device)->handle == handle) {
            *out_device = device;
            return CC_OK;
        }
    }
    return cc__fail(CC_ERROR_DEVICE, "cuCtxGetDevice: the current device is none of the %d that are in use",
                    (int)self->device_count);
}

cc_status cc__cuda_any_device(cc__backend *self, int32_t *out_device)
{
    for (int32_t device = 0; device < self->device_count; device++) {
        if (atomic_load(&cc__cuda_device_at(self, device)->context) != NULL && !cc__cuda_is_lost(self, device)) {
            *out_device = device;
            return CC_OK;
        }
    }
    return cc__cuda_current_device(self, out_device);
}

cc_status cc__cuda_context_of(const cc__backend *self, int32_t device, CUcontext *out_context)
{
    CUresult result = retain_context(cc__cuda_device_at(self, device), out_context);
    return cc__driver_status(result, "cuDevicePrimaryCtxRetain", device);
}

/* What the driver says of a context where nothing is queued for it: from then on every call says the same. */
static bool find_lost(const cc__backend *self, int32_t device)
{
    cc__cuda_guard guard;
    const char *function = NULL;
    CUevent event = NULL;
    size_t free_bytes = 0;
    size_t total_bytes = 0;
    CUresult result = enter(cc__cuda_device_at(self, device), &guard, &function);
    if (result != CUDA_SUCCESS)
        return cc__driver_is_final(result);
    result = cc__driver.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING);
    if (result == CUDA_SUCCESS) {
        result = cc__driver.cuEventQuery(event);
        cc__driver.cuEventDestroy(event);
    }
    if (!cc__driver_is_final(result))
        result = cc__driver.cuMemGetInfo(&free_bytes, &total_bytes);
    cc__cuda_leave(&guard);
    return cc__driver_is_final(result);
}

bool cc__cuda_is_lost(cc__backend *self, int32_t device)
{
    cc__cuda_device *asked = cc__cuda_device_at(self, device);
    const uint32_t errors = atomic_load(&cc__driver_final_errors);
    if (atomic_load(&asked->is_lost))
        return true;
    if (errors == atomic_load(&asked->asked_at) || cc__cuda_is_over() || atomic_load(&asked->context) == NULL)
        return false;
    /* A call on one device may fail for what another one has. */
    const bool is_lost = find_lost(self, device);
    if (is_lost)
        atomic_store(&asked->is_lost, true);
    else
        atomic_store(&asked->asked_at, errors);
    return is_lost;
}

bool cc__cuda_has_peer_access(cc__backend *self, int32_t to, int32_t from)
{
    if (to == from)
        return true;
    cc__cuda_device *device = cc__cuda_device_at(self, to);
    unsigned char state = atomic_load(&device->peer[from]);
    if ((state & CC__CUDA_PEER_KNOWN) == 0) {
        int can = 0;
        if (cc__cuda_is_over() || cc__driver.cuDeviceCanAccessPeer(
                                      &can, device->handle, cc__cuda_device_at(self, from)->handle) != CUDA_SUCCESS)
            return false;
        state = (unsigned char)(CC__CUDA_PEER_KNOWN | (can != 0 ? CC__CUDA_PEER_CAN : 0u));
        atomic_fetch_or(&device->peer[from], state);
    }
    return (state & CC__CUDA_PEER_CAN) != 0;
}

/*
 * Opens our pool, which concerns nobody else. cuCtxEnablePeerAccess would make the caller's own attempt to enable it
 * fail, so that is only for devices without pools.
 */
void cc__cuda_enable_access(cc__backend *self, cc__cuda_device *device, int32_t other)
{
    cc__cuda_device *owner = cc__cuda_device_at(self, other);
    if (device == owner || (atomic_load(&device->peer[other]) & CC__CUDA_PEER_ENABLED) != 0 ||
        !cc__cuda_has_peer_access(self, device->ordinal, other))
        return;
    if (owner->has_pools) {
        CUmemoryPool pool = atomic_load(&owner->pool);
        if (pool == NULL)
            return;
        CUmemAccessDesc access = {0};
        access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        access.location.id = device->ordinal;
        access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        cc__driver.cuMemPoolSetAccess(pool, &access, 1);
    } else {
        CUcontext context = atomic_load(&owner->context);
        if (context == NULL)
            return;
        cc__driver.cuCtxEnablePeerAccess(context, 0);
    }
    atomic_fetch_or(&device->peer[other], (unsigned char)CC__CUDA_PEER_ENABLED);
}
