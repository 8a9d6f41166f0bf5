/* What a profiler sees of the library's ranges. Needs no GPU: the test takes the profiler's place. */
#include "backend/backend.h"

#include <check.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* NVTX's own interface to profilers; not every toolkit has its header. */
enum {
    TABLE_OF_CALLBACKS = 1,
    MODULE_OF_DOMAINS = 5,
    RANGE_PUSH = 4,
    RANGE_POP = 5,
    DOMAIN_CREATE = 12
};
typedef void (*any_function)(void);
typedef struct callback_table {
    size_t struct_size;
    int (*get_functions)(int module, any_function ***out_functions, unsigned int *out_size);
} callback_table;
typedef const void *(*get_table)(uint32_t id);
typedef struct range_attributes {
    uint16_t version;
    uint16_t size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type;
    int32_t reserved;
    uint64_t payload;
    int32_t message_type;
    const char *message;
} range_attributes;

static int domain;
static bool is_attached;
static char seen[256];

static void note(const char *what, const char *name)
{
    const size_t length = strlen(seen);
    snprintf(seen + length, sizeof seen - length, "%s%s;", what, name);
}

static void *create_domain(const char *name)
{
    note("domain ", name);
    return &domain;
}

static int push(void *in, const range_attributes *attributes)
{
    note(in == &domain ? "push " : "stray push ", attributes->message);
    return 0;
}

static int pop(void *in)
{
    note(in == &domain ? "pop" : "stray pop", "");
    return 0;
}

static int attach(get_table get)
{
    any_function **functions = NULL;
    unsigned int size = 0;
    const callback_table *callbacks = get(TABLE_OF_CALLBACKS);
    if (callbacks == NULL || callbacks->get_functions(MODULE_OF_DOMAINS, &functions, &size) != 1 ||
        size <= DOMAIN_CREATE)
        return 0;
    *functions[DOMAIN_CREATE] = (any_function)create_domain;
    *functions[RANGE_PUSH] = (any_function)push;
    *functions[RANGE_POP] = (any_function)pop;
    is_attached = true;
    return 1;
}

/* NVTX looks for this name before anything is attached from outside. */
extern int (*InitializeInjectionNvtx2_fnptr)(get_table get);
int (*InitializeInjectionNvtx2_fnptr)(get_table get) = attach;

static cc__backend *cuda;

START_TEST(ranges_are_seen)
{
    cuda->range_push(cuda, "outer");
    cuda->range_push(cuda, "inner");
    cuda->range_pop(cuda);
    cuda->range_push(cuda, "next");
    cuda->range_pop(cuda);
    cuda->range_pop(cuda);
    ck_assert_str_eq(seen, "domain CudaCommon;push first;pop;push outer;push inner;pop;push next;pop;pop;");
}
END_TEST

int main(void)
{
    cuda = cc__backend_cuda();
    cuda->range_push(cuda, "first");
    cuda->range_pop(cuda);
    if (!is_attached) {
        printf("skipped: this toolkit has no NVTX\n");
        return 77;
    }
    Suite *suite = suite_create("cuda_ranges");
    TCase *cases = tcase_create("ranges");
    tcase_add_test(cases, ranges_are_seen);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
