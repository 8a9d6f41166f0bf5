#include "backend/cuda_fft.h"

#include "base/allocate.h"
#include "base/error.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Plans that are kept. */
#define PLANS 32

/* As cufft.h has them, of which the toolkit's version need not be the one that is found. */
enum {
    CUFFT_OK = 0,
    CUFFT_NO_MEMORY = 2,
    CUFFT_R2C = 0x2a,
    CUFFT_C2R = 0x2c,
    CUFFT_D2Z = 0x6a,
    CUFFT_Z2D = 0x6c
};

typedef struct cufft_functions {
    int (*create)(int *out_handle);
    int (*destroy)(int handle);
    int (*set_auto_allocation)(int handle, int automatic);
    int (*make_plan)(int handle, int rank, long long *sizes, long long *input_embedding, long long input_stride,
                     long long input_distance, long long *output_embedding, long long output_stride,
                     long long output_distance, int type, long long batch, size_t *out_work_bytes);
    int (*set_stream)(int handle, CUstream stream);
    int (*set_work_area)(int handle, void *work);
    int (*run[4])(int handle, void *input, void *output); /* forward and inverse of float, then of double */
} cufft_functions;

struct cc__fft_plan {
    cc__fft_kind kind;
    size_t work_bytes;
    uint64_t used; /* when, counted in uses; 0: there is none */
    int handle;
    bool is_taken;
    bool is_kept; /* one of the table */
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static cufft_functions cufft;
static bool has_cufft;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of what follows; never held during a call of cuFFT */
static cc__fft_plan plans[PLANS];
static uint64_t uses;

static bool find(void *library, const char *name, void *out_function)
{
    void *symbol = dlsym(library, name);
    /* ISO C has no conversion from an object's pointer to a function's. */
    memcpy(out_function, &symbol, sizeof symbol);
    return symbol != NULL;
}

static void load(void)
{
    /* Those of CUDA 13, 12 and 11 have the same interface. The linker often does not know where a toolkit is. */
    static const char *const names[] = {"libcufft.so.12", "libcufft.so.11", "libcufft.so.10", "libcufft.so",
                                        "/usr/local/cuda/lib64/libcufft.so"};
    const char *named = getenv("CUDACOMMON_CUFFT");
    void *library = named != NULL && named[0] != '\0' ? dlopen(named, RTLD_NOW | RTLD_LOCAL) : NULL;
    for (size_t n = 0; n < sizeof names / sizeof names[0] && library == NULL; n++)
        library = dlopen(names[n], RTLD_NOW | RTLD_LOCAL);
    has_cufft = library != NULL && find(library, "cufftCreate", &cufft.create) &&
                find(library, "cufftDestroy", &cufft.destroy) &&
                find(library, "cufftSetAutoAllocation", &cufft.set_auto_allocation) &&
                find(library, "cufftMakePlanMany64", &cufft.make_plan) &&
                find(library, "cufftSetStream", &cufft.set_stream) &&
                find(library, "cufftSetWorkArea", &cufft.set_work_area) &&
                find(library, "cufftExecR2C", &cufft.run[0]) && find(library, "cufftExecC2R", &cufft.run[1]) &&
                find(library, "cufftExecD2Z", &cufft.run[2]) && find(library, "cufftExecZ2D", &cufft.run[3]);
}

static cc_status fail(int result, const char *what, const cc__fft_kind *kind)
{
    const cc_status status = result == CUFFT_NO_MEMORY ? CC_ERROR_OUT_OF_DEVICE_MEMORY : CC_ERROR_DEVICE;
    return cc__fail(status, "%s: result %d, device %d, %lld lines of %lld", what, result, (int)kind->device,
                    (long long)kind->batch, (long long)kind->length);
}

static bool is_same(const cc__fft_kind *a, const cc__fft_kind *b)
{
    return a->length == b->length && a->batch == b->batch && a->device == b->device && a->is_wide == b->is_wide &&
           a->is_inverse == b->is_inverse;
}

static cc_status make(cc__fft_plan *plan)
{
    const cc__fft_kind *kind = &plan->kind;
    const long long spectrum = kind->length / 2 + 1;
    const int type =
        kind->is_wide ? (kind->is_inverse ? CUFFT_Z2D : CUFFT_D2Z) : (kind->is_inverse ? CUFFT_C2R : CUFFT_R2C);
    long long size = kind->length;
    long long numbers = 2 * spectrum;
    long long complex_numbers = spectrum;
    const char *what = "cufftCreate";
    int result = cufft.create(&plan->handle);
    if (result != CUFFT_OK)
        return fail(result, what, kind);
    what = "cufftSetAutoAllocation";
    result = cufft.set_auto_allocation(plan->handle, 0);
    if (result == CUFFT_OK) {
        what = "cufftMakePlanMany64";
        result = kind->is_inverse ? cufft.make_plan(plan->handle, 1, &size, &complex_numbers, 1, spectrum, &numbers, 1,
                                                    2 * spectrum, type, kind->batch, &plan->work_bytes)
                                  : cufft.make_plan(plan->handle, 1, &size, &numbers, 1, 2 * spectrum, &complex_numbers,
                                                    1, spectrum, type, kind->batch, &plan->work_bytes);
    }
    if (result == CUFFT_OK)
        return CC_OK;
    cufft.destroy(plan->handle);
    return fail(result, what, kind);
}

/* One of the same kind that is free, or else the place of the one used longest ago, which is no plan then. NULL: all
 * are taken. */
static cc__fft_plan *choose(const cc__fft_kind *kind)
{
    cc__fft_plan *oldest = NULL;
    for (int32_t n = 0; n < PLANS; n++) {
        cc__fft_plan *plan = &plans[n];
        if (plan->is_taken)
            continue;
        if (plan->used != 0 && is_same(&plan->kind, kind))
            return plan;
        /* A plan ends on the device where it was made. */
        if ((plan->used == 0 || plan->kind.device == kind->device) && (oldest == NULL || plan->used < oldest->used))
            oldest = plan;
    }
    return oldest;
}

cc_status cc__fft_plan_take(const char *function, const cc__fft_kind *kind, cc__fft_plan **out_plan)
{
    pthread_once(&once, load);
    if (!has_cufft)
        return cc__fail(
            CC_ERROR_UNSUPPORTED,
            "%s: libcufft.so was not found, expected it for images on a device; name it in CUDACOMMON_CUFFT", function);
    pthread_mutex_lock(&lock);
    cc__fft_plan *plan = choose(kind);
    const bool is_made = plan != NULL && plan->used != 0 && is_same(&plan->kind, kind);
    const bool is_another = plan != NULL && plan->used != 0 && !is_made;
    if (plan != NULL)
        plan->is_taken = true;
    pthread_mutex_unlock(&lock);
    if (is_made) {
        *out_plan = plan;
        return CC_OK;
    }
    if (plan == NULL) {
        plan = cc__allocate(sizeof *plan);
        if (plan == NULL)
            return cc__fail(CC_ERROR_OUT_OF_HOST_MEMORY, "%s: no memory for a plan of transforms", function);
    } else {
        /* Frees device memory, which waits for the work that uses it. */
        if (is_another)
            cufft.destroy(plan->handle);
        memset(plan, 0, sizeof *plan);
        plan->is_kept = true;
        plan->is_taken = true;
    }
    plan->kind = *kind;
    const cc_status status = make(plan);
    if (status == CC_OK) {
        *out_plan = plan;
        return CC_OK;
    }
    if (!plan->is_kept) {
        cc__free(plan);
        return status;
    }
    pthread_mutex_lock(&lock);
    plan->used = 0;
    plan->is_taken = false;
    pthread_mutex_unlock(&lock);
    return status;
}

void cc__fft_plan_give_back(cc__fft_plan *plan)
{
    if (!plan->is_kept) {
        cufft.destroy(plan->handle);
        cc__free(plan);
        return;
    }
    pthread_mutex_lock(&lock);
    plan->used = ++uses;
    plan->is_taken = false;
    pthread_mutex_unlock(&lock);
}

size_t cc__fft_plan_work_bytes(const cc__fft_plan *plan)
{
    return plan->work_bytes;
}

cc_status cc__fft_plan_run(cc__fft_plan *plan, CUstream stream, void *work, void *lines)
{
    const cc__fft_kind *kind = &plan->kind;
    int result = cufft.set_stream(plan->handle, stream);
    if (result != CUFFT_OK)
        return fail(result, "cufftSetStream", kind);
    if (plan->work_bytes > 0)
        result = cufft.set_work_area(plan->handle, work);
    if (result != CUFFT_OK)
        return fail(result, "cufftSetWorkArea", kind);
    result = cufft.run[(kind->is_wide ? 2 : 0) + (kind->is_inverse ? 1 : 0)](plan->handle, lines, lines);
    return result == CUFFT_OK ? CC_OK : fail(result, "cufftExec", kind);
}
