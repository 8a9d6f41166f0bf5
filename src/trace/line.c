/* What a line of the log looks like; docs/observing.md describes it. */
#include "trace/trace.h"

#include <stdarg.h>
#include <stdio.h>

/* A text that is written piece by piece, and cut where there is no more room. */
typedef struct text {
    char *bytes;
    size_t length;
    size_t capacity; /* with the final 0 */
} text;

__attribute__((format(printf, 2, 3))) static void append(text *to, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(to->bytes + to->length, to->capacity - to->length, format, arguments);
    va_end(arguments);
    if (length > 0)
        to->length += (size_t)length;
    if (to->length > to->capacity - 1)
        to->length = to->capacity - 1;
}

/* In quotes, with nothing in it that would end the quotes or the line. */
static void append_quoted(text *to, const char *string)
{
    append(to, "\"");
    for (const char *at = string; *at != '\0'; ++at) {
        const unsigned char byte = (unsigned char)*at;
        append(to, "%c", byte < 0x20 || byte == 0x7F || byte == '"' || byte == '\\' ? '?' : *at);
    }
    append(to, "\"");
}

static void append_place(text *to, const char *name, cc_place place)
{
    if (place == CC_PLACE_HOST)
        append(to, " %s=host", name);
    else
        append(to, " %s=device:%d", name, (int)place);
}

static void append_numbers(text *to, const int64_t numbers[CC_MAX_DIMENSION])
{
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; ++axis)
        append(to, axis == 0 ? "%lld" : ",%lld", (long long)numbers[axis]);
}

static const char *name_of(cc_trace_kind kind)
{
    switch (kind) {
    case CC_TRACE_COPY_TO_DEVICE:
    case CC_TRACE_COPY_TO_HOST:
    case CC_TRACE_COPY_BETWEEN_DEVICES:
        return "copy";
    case CC_TRACE_FILL:
        return "fill";
    case CC_TRACE_ALLOCATE:
        return "allocate";
    case CC_TRACE_FREE:
        return "free";
    case CC_TRACE_EVICT:
        return "evict";
    case CC_TRACE_REGISTER:
        return "register";
    }
    return "event";
}

static const char *path_of(cc_copy_path path)
{
    switch (path) {
    case CC_PATH_ENGINE:
        return "engine";
    case CC_PATH_KERNEL:
        return "kernel";
    case CC_PATH_STAGED:
        return "staged";
    case CC_PATH_PLAIN:
        return "plain";
    }
    return "other";
}

static bool is_copy(cc_trace_kind kind)
{
    return kind == CC_TRACE_COPY_TO_DEVICE || kind == CC_TRACE_COPY_TO_HOST || kind == CC_TRACE_COPY_BETWEEN_DEVICES;
}

size_t cc__trace_format(char line[CC__TRACE_LINE_BYTES], double seconds, const cc_trace_event *event)
{
    const cc_trace_kind kind = (cc_trace_kind)event->kind;
    text to = {.bytes = line, .capacity = CC__TRACE_LINE_BYTES - 1};
    append(&to, "cudacommon %.6f %s", seconds, name_of(kind));
    append_place(&to, "from", event->from);
    append_place(&to, "to", event->to);
    append(&to, " bytes=%llu", (unsigned long long)event->bytes);
    if (event->box_count > 0) {
        append(&to, " boxes=%d in=", (int)event->box_count);
        append_numbers(&to, event->box.index);
        append(&to, "+");
        append_numbers(&to, event->box.size);
    }
    if (is_copy(kind))
        append(&to, " path=%s", path_of((cc_copy_path)event->path));
    append(&to, " pixels=%llu label=", (unsigned long long)event->pixels_id);
    append_quoted(&to, event->label);
    append(&to, " for=%s why=", event->function[0] != '\0' ? event->function : "-");
    append_quoted(&to, event->reason);
    line[to.length] = '\n';
    line[to.length + 1] = '\0';
    return to.length + 1;
}
