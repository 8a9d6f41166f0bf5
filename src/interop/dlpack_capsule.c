/* What a PyCapsule with a tensor in it needs of C: names that outlive it, and an end that calls no Python code. */
#include "interop/dlpack.h"

#include <stdatomic.h>
#include <stddef.h>

/* Of the process, as the interpreter is; NULL until a binding says where they are. */
static _Atomic cc_capsule_is_valid_fn capsule_is_valid;
static _Atomic cc_capsule_get_pointer_fn capsule_get_pointer;

const char *cc_dlpack_capsule_name(int32_t is_versioned, int32_t is_used)
{
    static const char *const names[2][2] = {{"dltensor", "used_dltensor"},
                                            {"dltensor_versioned", "used_dltensor_versioned"}};
    return names[is_versioned != 0][is_used != 0];
}

void cc_dlpack_set_capsule_functions(cc_capsule_is_valid_fn is_valid, cc_capsule_get_pointer_fn get_pointer)
{
    atomic_store(&capsule_is_valid, is_valid);
    atomic_store(&capsule_get_pointer, get_pointer);
}

/* The tensor of a capsule that still has this name; NULL of any other. */
static void *untaken(void *capsule, int32_t is_versioned)
{
    const cc_capsule_is_valid_fn is_valid = atomic_load(&capsule_is_valid);
    const cc_capsule_get_pointer_fn get_pointer = atomic_load(&capsule_get_pointer);
    const char *name = cc_dlpack_capsule_name(is_versioned, 0);
    if (is_valid == NULL || get_pointer == NULL || !is_valid(capsule, name))
        return NULL;
    return get_pointer(capsule, name);
}

void cc_dlpack_destroy_capsule(void *capsule)
{
    struct DLManagedTensorVersioned *versioned = untaken(capsule, 1);
    struct DLManagedTensor *legacy = untaken(capsule, 0);
    if (versioned != NULL && versioned->deleter != NULL)
        versioned->deleter(versioned);
    if (legacy != NULL && legacy->deleter != NULL)
        legacy->deleter(legacy);
}
