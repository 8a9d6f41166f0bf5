/* How a failure is reported: a status, and one line about it for this thread. */
#ifndef CC_BASE_ERROR_H
#define CC_BASE_ERROR_H

#include <cudacommon/status.h>

/* Both store the message for cc_last_error_message() and return `status`, so that a failing check is one line. */
cc_status cc__fail(cc_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));
cc_status cc__fail_native(cc_status status, int32_t native_error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts the public function's name before what a room that does not know it has said. Returns `status`; CC_OK, and
 * function NULL, say nothing. */
cc_status cc__fail_for(const char *function, cc_status status);

/*
 * For a call whose failure the library can do without: what cc_last_error_message() and cc_last_native_error() say is
 * saved before it, and restored after it.
 */
#define CC__MESSAGE_BYTES 512
typedef struct cc__error_state {
    int32_t native_error;
    char message[CC__MESSAGE_BYTES];
} cc__error_state;
void cc__error_save(cc__error_state *out_state);
void cc__error_restore(const cc__error_state *state);

#endif
