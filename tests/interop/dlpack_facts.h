/*
 * What is compared between our words for DLPack's ABI and a dlpack.h. The names of structs and members are the same in
 * both, so that the same list is compiled twice, in programs of their own; numbers have a name in each.
 */
#ifndef CC_TESTS_DLPACK_FACTS_H
#define CC_TESTS_DLPACK_FACTS_H

#include <stddef.h>
#include <stdint.h>

typedef struct dlpack_fact {
    const char *name;
    uint64_t value;
} dlpack_fact;

extern const dlpack_fact dlpack_our_facts[];
extern const dlpack_fact dlpack_their_facts[];
extern const int32_t dlpack_our_fact_count;
extern const int32_t dlpack_their_fact_count;

#define FACT(expression)                                                                                               \
    {                                                                                                                  \
#expression, expression                                                                                        \
    }
#define MEMBER(type, member) ((type *)0)->member
#define IS(kind, type, member) FACT(_Generic(MEMBER(type, member), kind : 1, default : 0))

/* Offset and size of a member of the tensor, in both structs. */
#define IN_BOTH(member)                                                                                                \
    FACT(offsetof(struct DLManagedTensor, member)), FACT(offsetof(struct DLManagedTensorVersioned, member)),           \
        FACT(sizeof(MEMBER(struct DLManagedTensor, member)))

/* clang-format off */
#define DLPACK_STRUCT_FACTS                                                                                            \
    FACT(sizeof(struct DLManagedTensor)),                                                                              \
    FACT(sizeof(struct DLManagedTensorVersioned)),                                                                     \
    IN_BOTH(manager_ctx),                                                                                              \
    IN_BOTH(deleter),                                                                                                  \
    IN_BOTH(dl_tensor),                                                                                                \
    IN_BOTH(dl_tensor.data),                                                                                           \
    IN_BOTH(dl_tensor.device),                                                                                         \
    IN_BOTH(dl_tensor.device.device_type),                                                                             \
    IN_BOTH(dl_tensor.device.device_id),                                                                               \
    IN_BOTH(dl_tensor.ndim),                                                                                           \
    IN_BOTH(dl_tensor.dtype),                                                                                          \
    IN_BOTH(dl_tensor.dtype.code),                                                                                     \
    IN_BOTH(dl_tensor.dtype.bits),                                                                                     \
    IN_BOTH(dl_tensor.dtype.lanes),                                                                                    \
    IN_BOTH(dl_tensor.shape),                                                                                          \
    IN_BOTH(dl_tensor.strides),                                                                                        \
    IN_BOTH(dl_tensor.byte_offset),                                                                                    \
    FACT(offsetof(struct DLManagedTensorVersioned, version.major)),                                                    \
    FACT(offsetof(struct DLManagedTensorVersioned, version.minor)),                                                    \
    FACT(sizeof(MEMBER(struct DLManagedTensorVersioned, version))),                                                    \
    FACT(offsetof(struct DLManagedTensorVersioned, flags)),                                                            \
    FACT(sizeof(MEMBER(struct DLManagedTensorVersioned, flags))),                                                      \
    IS(int32_t, struct DLManagedTensor, dl_tensor.ndim),                                                               \
    IS(int32_t, struct DLManagedTensor, dl_tensor.device.device_id),                                                   \
    IS(uint8_t, struct DLManagedTensor, dl_tensor.dtype.code),                                                         \
    IS(int64_t *, struct DLManagedTensor, dl_tensor.shape),                                                            \
    IS(int64_t *, struct DLManagedTensor, dl_tensor.strides),                                                          \
    IS(uint64_t, struct DLManagedTensor, dl_tensor.byte_offset),                                                       \
    IS(uint64_t, struct DLManagedTensorVersioned, flags),                                                              \
    IS(uint32_t, struct DLManagedTensorVersioned, version.major)
/* clang-format on */

#endif
