#include "base/host_fft.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

bool cc__host_fft_is_hidden;

/* The functions of kiss_fftr.h, version 131, whose plans lie in the caller's memory. */
typedef struct kiss_functions {
    void *(*allocate)(int length, int is_inverse, void *memory, size_t *size_bytes);
    void (*forward)(void *plan, const void *line, void *spectrum);
    void (*inverse)(void *plan, const void *spectrum, void *line);
} kiss_functions;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static kiss_functions known[2]; /* of float and double; allocate is NULL without the library */

static bool find(void *library, const char *name, void *out_function)
{
    void *symbol = dlsym(library, name);
    /* ISO C has no conversion from an object's pointer to a function's. */
    memcpy(out_function, &symbol, sizeof symbol);
    return symbol != NULL;
}

static void load(const char *path, kiss_functions *out_functions)
{
    kiss_functions functions;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return;
    if (find(library, "kiss_fftr_alloc", &functions.allocate) && find(library, "kiss_fftr", &functions.forward) &&
        find(library, "kiss_fftri", &functions.inverse))
        *out_functions = functions;
    else
        dlclose(library);
}

static void load_all(void)
{
    load("libkissfft-float.so.131", &known[0]);
    load("libkissfft-double.so.131", &known[1]);
}

static const kiss_functions *functions_of(bool is_wide)
{
    pthread_once(&once, load_all);
    return &known[is_wide ? 1 : 0];
}

bool cc__host_fft_has(int64_t length, bool is_wide)
{
    static const int64_t factors[] = {2, 3, 5};
    if (length % 2 != 0 || cc__host_fft_is_hidden)
        return false;
    for (size_t n = 0; n < sizeof factors / sizeof factors[0]; n++)
        while (length % factors[n] == 0)
            length /= factors[n];
    return length == 1 && functions_of(is_wide)->allocate != NULL;
}

/* Twiddles of half the length, a buffer, super-twiddles for a quarter: 2.5 numbers for each of the line's, and heads.
 */
size_t cc__host_fft_plan_bytes(int64_t length, bool is_wide)
{
    return ((size_t)length * 3 * (is_wide ? sizeof(double) : sizeof(float)) + 1024) / 16 * 16;
}

cc__host_fft *cc__host_fft_plan(int64_t length, bool is_wide, bool is_inverse, void *memory, size_t size_bytes)
{
    return functions_of(is_wide)->allocate((int)length, is_inverse ? 1 : 0, memory, &size_bytes);
}

void cc__host_fft_forward(cc__host_fft *plan, bool is_wide, const void *line, void *spectrum)
{
    functions_of(is_wide)->forward(plan, line, spectrum);
}

void cc__host_fft_inverse(cc__host_fft *plan, bool is_wide, const void *spectrum, void *line)
{
    functions_of(is_wide)->inverse(plan, spectrum, line);
}
