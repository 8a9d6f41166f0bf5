/* What every failing call owes its caller: the status, and one line that begins with its name and names the argument.
 */
#ifndef CC_TESTS_EXPECT_H
#define CC_TESTS_EXPECT_H

#include <check.h>
#include <cudacommon/status.h>
#include <stdbool.h>
#include <stddef.h>

/* `call` is a call of a public function, written out. `argument` is found in the message; "" for whatever it says. */
#define expect_failure(expected, argument, call)                                                                       \
    do {                                                                                                               \
        expect_forget_message();                                                                                       \
        expect_failed((call), (expected), (argument), #call, __FILE__, __LINE__);                                      \
    } while (0)

/* The same for a status that the public function passes on from below: the message is one line, in anybody's name. */
#define expect_passed_on(expected, call)                                                                               \
    do {                                                                                                               \
        expect_forget_message();                                                                                       \
        expect_failed((call), (expected), NULL, #call, __FILE__, __LINE__);                                            \
    } while (0)

/* Puts a message of the test's own in the place of the last one, so that an old one is not taken for a new one. */
void expect_forget_message(void);
void expect_failed(cc_status actual, cc_status expected, const char *argument, const char *call, const char *file,
                   int line);

/*
 * Memory for a struct as short as that of a program compiled against another version, its bytes 0x55. It ends where the
 * struct does, so that the sanitizers see who goes further. free() takes it back.
 */
void *expect_short_struct(size_t size_bytes);

/* Every allocation of the library from the nth on (1: the next) fails, until cc__allocate_set_hook(NULL). */
void expect_allocations_to_fail_from(long nth);

/* Whether that is what the status says: CC_ERROR_DEVICE too, where a backend's own bookkeeping found no memory. */
bool expect_is_out_of_memory(cc_status status);

#endif
