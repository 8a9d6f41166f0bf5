#include "report.h"

#include <check.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Sanitizers end the process themselves; where they are linked, they say when. */
extern void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static struct {
    char replay[160];
    char step[512];
    size_t length;
    bool traces;
    bool is_running;
    bool handles_crashes;
    struct sigaction previous[4];
} report;

static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGABRT};

static void print_replay(void)
{
    if (!report.is_running)
        return;
    report.is_running = false;
    const char *const lines[] = {report.replay, report.step};
    for (int i = 0; i < 2; i++) {
        if (write(STDERR_FILENO, lines[i], strlen(lines[i])) < 0 || write(STDERR_FILENO, "\n", 1) < 0)
            return;
    }
}

/* Says the seed; then the fault comes again, for whoever handled it before. */
static void on_crash(int signal_number)
{
    print_replay();
    for (int i = 0; i < 4; i++)
        (void)sigaction(crashes[i], &report.previous[i], NULL);
    (void)raise(signal_number);
}

static void handle_crashes(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_crash;
    for (int i = 0; i < 4; i++)
        (void)sigaction(crashes[i], &action, &report.previous[i]);
    if (__sanitizer_set_death_callback != NULL)
        __sanitizer_set_death_callback(print_replay);
    report.handles_crashes = true;
}

void report_begin(const char *test, uint64_t seed, int32_t steps)
{
    if (!report.handles_crashes)
        handle_crashes();
    const char *device = getenv("CUDACOMMON_DEVICE");
    const char *eager = getenv("CUDACOMMON_EMULATED_SEED");
    snprintf(report.replay, sizeof report.replay,
             "%s failed; again: CC_MODEL_SEED=%" PRIu64 " CC_MODEL_STEPS=%" PRId32
             " CC_MODEL_TRACE=1 CUDACOMMON_DEVICE=%s%s%s",
             test, seed, steps, device != NULL ? device : "none", eager != NULL ? " CUDACOMMON_EMULATED_SEED=" : "",
             eager != NULL ? eager : "");
    report.step[0] = '\0';
    report.length = 0;
    report.traces = getenv("CC_MODEL_TRACE") != NULL;
    report.is_running = true;
}

void report_end(void)
{
    report.is_running = false;
}

static void append(const char *format, va_list arguments)
{
    const size_t room = sizeof report.step - report.length;
    const int length = vsnprintf(report.step + report.length, room, format, arguments);
    if (length > 0)
        report.length += (size_t)length < room ? (size_t)length : room - 1;
}

static void append_text(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void append_text(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    append(format, arguments);
    va_end(arguments);
}

void report_step(int32_t number, const char *format, ...)
{
    va_list arguments;
    report.length = 0;
    append_text("step %" PRId32 ": ", number);
    va_start(arguments, format);
    append(format, arguments);
    va_end(arguments);
    if (report.traces)
        fprintf(stderr, "%s\n", report.step);
}

void report_note(const char *format, ...)
{
    const size_t before = report.length;
    va_list arguments;
    append_text("; ");
    va_start(arguments, format);
    append(format, arguments);
    va_end(arguments);
    if (report.traces)
        fprintf(stderr, "    %s\n", report.step + before + 2);
}

void report_failure(const char *file, int line, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    print_replay();
    fflush(NULL);
    ck_abort_msg("%s:%d: %s", file, line, text);
}
