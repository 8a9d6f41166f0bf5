#include "support/expect.h"

#include "base/allocate.h"
#include "base/error.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char forgotten[] = "no message since";

void expect_forget_message(void)
{
    (void)cc__fail(CC_OK, "%s", forgotten);
}

void expect_failed(cc_status actual, cc_status expected, const char *argument, const char *call, const char *file,
                   int line)
{
    const char *message = cc_last_error_message();
    ck_assert_msg(actual == expected, "%s:%d: %s: %s, expected %s (%s)", file, line, call, cc_status_name(actual),
                  cc_status_name(expected), message);
    ck_assert_msg(strcmp(message, forgotten) != 0, "%s:%d: %s left no message", file, line, call);
    ck_assert_msg(message[0] != '\0' && strpbrk(message, "\r\n") == NULL, "%s:%d: %s: not one line: \"%s\"", file, line,
                  call, message);
    if (argument == NULL)
        return;
    const size_t name_length = strcspn(call, "(");
    ck_assert_msg(strncmp(message, call, name_length) == 0 && message[name_length] == ':',
                  "%s:%d: %s: does not begin with the function: \"%s\"", file, line, call, message);
    ck_assert_msg(strstr(message, argument) != NULL, "%s:%d: %s: does not name %s: \"%s\"", file, line, call, argument,
                  message);
}

void *expect_short_struct(size_t size_bytes)
{
    void *memory = malloc(size_bytes);
    ck_assert_ptr_nonnull(memory);
    memset(memory, 0x55, size_bytes);
    return memory;
}

static atomic_long allocations_left;

static bool refuse_when_none_left(size_t size_bytes)
{
    (void)size_bytes;
    return atomic_fetch_sub(&allocations_left, 1) <= 0;
}

bool expect_is_out_of_memory(cc_status status)
{
    return status == CC_ERROR_OUT_OF_HOST_MEMORY || status == CC_ERROR_DEVICE;
}

void expect_allocations_to_fail_from(long nth)
{
    atomic_store(&allocations_left, nth - 1);
    cc__allocate_set_hook(refuse_when_none_left);
}
