#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char last_message[CC__MESSAGE_BYTES];
static _Thread_local int32_t last_native_error;

/* Cuts a message that was too long, between characters, and shows that it was cut. */
static void mark_cut(char message[CC__MESSAGE_BYTES])
{
    static const char mark[] = "...";
    size_t end = CC__MESSAGE_BYTES - sizeof mark;
    while (end > 0 && ((unsigned char)message[end] & 0xC0) == 0x80)
        end--;
    memcpy(message + end, mark, sizeof mark);
}

static void store(int32_t native_error, const char *format, va_list arguments)
{
    /* By way of a buffer, because an argument may be the last message itself. */
    char message[CC__MESSAGE_BYTES];
    int saved_errno = errno;
    int length = vsnprintf(message, sizeof message, format, arguments);
    if (length < 0)
        message[0] = '\0';
    else if ((size_t)length >= sizeof message)
        mark_cut(message);
    for (char *c = message; *c != '\0'; c++) {
        if (*c == '\n' || *c == '\r')
            *c = ' ';
    }
    memcpy(last_message, message, strlen(message) + 1);
    last_native_error = native_error;
    errno = saved_errno;
}

cc_status cc__fail(cc_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    store(0, format, arguments);
    va_end(arguments);
    return status;
}

cc_status cc__fail_native(cc_status status, int32_t native_error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    store(native_error, format, arguments);
    va_end(arguments);
    return status;
}

cc_status cc__fail_for(const char *function, cc_status status)
{
    if (status == CC_OK || function == NULL)
        return status;
    return cc__fail_native(status, last_native_error, "%s: %s", function, last_message);
}

void cc__error_save(cc__error_state *out_state)
{
    out_state->native_error = last_native_error;
    memcpy(out_state->message, last_message, strlen(last_message) + 1);
}

void cc__error_restore(const cc__error_state *state)
{
    last_native_error = state->native_error;
    memcpy(last_message, state->message, strlen(state->message) + 1);
}

const char *cc_last_error_message(void)
{
    return last_message;
}

int32_t cc_last_native_error(void)
{
    return last_native_error;
}

const char *cc_status_name(cc_status status)
{
    switch (status) {
    case CC_OK:
        return "CC_OK";
    case CC_ERROR_INVALID_ARGUMENT:
        return "CC_ERROR_INVALID_ARGUMENT";
    case CC_ERROR_OVERFLOW:
        return "CC_ERROR_OVERFLOW";
    case CC_ERROR_REGION:
        return "CC_ERROR_REGION";
    case CC_ERROR_PIXEL_TYPE:
        return "CC_ERROR_PIXEL_TYPE";
    case CC_ERROR_SIZE:
        return "CC_ERROR_SIZE";
    case CC_ERROR_LAYOUT:
        return "CC_ERROR_LAYOUT";
    case CC_ERROR_BUSY:
        return "CC_ERROR_BUSY";
    case CC_ERROR_READ_ONLY:
        return "CC_ERROR_READ_ONLY";
    case CC_ERROR_UNINITIALIZED:
        return "CC_ERROR_UNINITIALIZED";
    case CC_ERROR_NO_DEVICE:
        return "CC_ERROR_NO_DEVICE";
    case CC_ERROR_INVALID_DEVICE:
        return "CC_ERROR_INVALID_DEVICE";
    case CC_ERROR_POINTER:
        return "CC_ERROR_POINTER";
    case CC_ERROR_STREAM:
        return "CC_ERROR_STREAM";
    case CC_ERROR_CAPTURE:
        return "CC_ERROR_CAPTURE";
    case CC_ERROR_OUT_OF_HOST_MEMORY:
        return "CC_ERROR_OUT_OF_HOST_MEMORY";
    case CC_ERROR_OUT_OF_DEVICE_MEMORY:
        return "CC_ERROR_OUT_OF_DEVICE_MEMORY";
    case CC_ERROR_DEVICE:
        return "CC_ERROR_DEVICE";
    case CC_ERROR_FORKED:
        return "CC_ERROR_FORKED";
    case CC_ERROR_UNSUPPORTED:
        return "CC_ERROR_UNSUPPORTED";
    case CC_ERROR_CANCELLED:
        return "CC_ERROR_CANCELLED";
    }
    return "CC_ERROR_UNKNOWN";
}
