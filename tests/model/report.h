/* How a random program tells what it does, and which seed to run again when something is wrong. */
#ifndef CC_TESTS_MODEL_REPORT_H
#define CC_TESTS_MODEL_REPORT_H

#include <cudacommon/status.h>
#include <stdint.h>

/* A program begins: from here on, a failure or a crash prints the seed. */
void report_begin(const char *test, uint64_t seed, int32_t steps);
void report_end(void);

/* What is done next. Printed at once when CC_MODEL_TRACE is set, else only when it fails. */
void report_step(int32_t number, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* More about the step. */
void report_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Ends the test. */
_Noreturn void report_failure(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#define model_check(condition, ...)                                                                                    \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            report_failure(__FILE__, __LINE__, __VA_ARGS__);                                                           \
    } while (0)

#define model_ok(call)                                                                                                 \
    do {                                                                                                               \
        const cc_status model_status_ = (call);                                                                        \
        model_check(model_status_ == CC_OK, "%s: %s (%s)", #call, cc_status_name(model_status_),                       \
                    cc_last_error_message());                                                                          \
    } while (0)

#endif
