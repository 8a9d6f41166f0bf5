#include "trace/trace.h"

#include "base/allocate.h"
#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>
#include <unistd.h>

_Atomic uint32_t cc__trace_now = CC__TRACE_UNREAD;

static pthread_once_t environment_once = PTHREAD_ONCE_INIT;
static int log_file = -1;
static struct timespec log_began;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;
static cc_trace_fn callback;
static void *callback_data;
/* Calls under way. Each change of the callback counts in the other of the two, so that the old one's run out. */
static int32_t under_way[2];
static int32_t turn;

/* What a thread has noted, oldest first. */
typedef struct note {
    struct note *next;
    double seconds; /* since the log began */
    cc_trace_event event;
    char label[CC_LABEL_BYTES];
    char reason[CC__TRACE_REASON_BYTES];
} note;

static _Thread_local note *first_note;
static _Thread_local note *last_note;
static _Thread_local int32_t holds;
static _Thread_local int32_t depth; /* callbacks that the thread is in */

static void read_environment(void)
{
    const char *name = getenv("CUDACOMMON_LOG");
    /* Whoever runs a program with more rights than they have does not choose which files it writes. */
    const bool is_allowed = getauxval(AT_SECURE) == 0;
    const int saved_errno = errno;
    if (name != NULL && strcmp(name, "stderr") == 0)
        log_file = STDERR_FILENO;
    else if (name != NULL && name[0] != '\0' && is_allowed)
        log_file = open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    errno = saved_errno;
    (void)clock_gettime(CLOCK_MONOTONIC, &log_began);
    if (log_file >= 0)
        atomic_fetch_or(&cc__trace_now, CC__TRACE_WANTED);
    atomic_fetch_and(&cc__trace_now, ~CC__TRACE_UNREAD);
}

bool cc__trace_find_out(void)
{
    pthread_once(&environment_once, read_environment);
    return (atomic_load_explicit(&cc__trace_now, memory_order_relaxed) & CC__TRACE_WANTED) != 0;
}

void cc_set_trace(cc_trace_fn new_callback, void *user_data)
{
    pthread_once(&environment_once, read_environment);
    pthread_mutex_lock(&lock);
    const int32_t before = turn;
    callback = new_callback;
    callback_data = user_data;
    turn = 1 - turn;
    if (new_callback != NULL || log_file >= 0)
        atomic_fetch_or(&cc__trace_now, CC__TRACE_WANTED);
    else
        atomic_fetch_and(&cc__trace_now, ~CC__TRACE_WANTED);
    /* A callback that waited for itself would wait for ever. */
    while (depth == 0 && under_way[before] > 0)
        pthread_cond_wait(&ended, &lock);
    pthread_mutex_unlock(&lock);
}

/* As much of the text as there is room for. */
static const char *keep(char *out, size_t capacity, const char *text)
{
    const size_t length = strnlen(text, capacity - 1);
    memcpy(out, text, length);
    out[length] = '\0';
    return out;
}

void cc__trace_note(const cc_trace_event *event)
{
    struct timespec now = log_began;
    note *noted = cc__allocate(sizeof *noted);
    if (noted == NULL)
        return;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    noted->seconds = (double)(now.tv_sec - log_began.tv_sec) + (double)(now.tv_nsec - log_began.tv_nsec) * 1e-9;
    noted->event = *event;
    noted->event.label = keep(noted->label, sizeof noted->label, event->label);
    noted->event.reason = keep(noted->reason, sizeof noted->reason, event->reason);
    if (first_note == NULL)
        first_note = noted;
    else
        last_note->next = noted;
    last_note = noted;
    atomic_fetch_add(&cc__trace_now, CC__TRACE_NOTED);
}

void cc__trace_hold(void)
{
    ++holds;
}

void cc__trace_let_go(void)
{
    --holds;
}

static void write_line(const note *noted)
{
    char line[CC__TRACE_LINE_BYTES];
    const int saved_errno = errno;
    const size_t length = cc__trace_format(line, noted->seconds, &noted->event);
    /* One call, so that lines of several threads do not mix. Nobody can be told of a full disk. */
    const ssize_t written = write(log_file, line, length);
    (void)written;
    errno = saved_errno;
}

static void call_back(const cc_trace_event *event)
{
    pthread_mutex_lock(&lock);
    const cc_trace_fn function = callback;
    void *const user_data = callback_data;
    const int32_t mine = turn;
    under_way[mine] += function != NULL;
    pthread_mutex_unlock(&lock);
    if (function == NULL)
        return;
    ++depth;
    function(event, user_data);
    --depth;
    pthread_mutex_lock(&lock);
    if (--under_way[mine] == 0)
        pthread_cond_broadcast(&ended);
    pthread_mutex_unlock(&lock);
}

void cc__trace_tell_noted(void)
{
    if (holds > 0 || first_note == NULL)
        return;
    cc__error_state before;
    cc__error_save(&before);
    note *next = first_note;
    first_note = last_note = NULL;
    while (next != NULL) {
        note *noted = next;
        next = noted->next;
        if (log_file >= 0)
            write_line(noted);
        /* What a callback does itself is not told to it, or it would never end. */
        if (depth == 0)
            call_back(&noted->event);
        cc__free(noted);
        atomic_fetch_sub(&cc__trace_now, CC__TRACE_NOTED);
    }
    cc__error_restore(&before);
}
