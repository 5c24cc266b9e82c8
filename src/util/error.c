/* SPDX-License-Identifier: Apache-2.0 */
#include "util/error.h"

#include <stdarg.h>
#include <stdio.h>

#include "util/text/one_line.h"

void ki_error_set(ki_error *err, int code, uint64_t offset, const char *format, ...)
{
    char message[KI_ERROR_MESSAGE_BYTES +
                 4]; /* longer than the message, so that ki_one_line can cut it between two characters */
    va_list args;
    if (err == NULL)
        return;
    err->code = code;
    err->retry_after_ms = 0;
    err->offset = offset;
    va_start(args, format);
    if (vsnprintf(message, sizeof(message), format, args) < 0)
        message[0] = 0;
    va_end(args);
    ki_one_line_cut(err->message, sizeof(err->message), ki_str_of(message));
}

int ki_fail_missing(ki_error *err, const char *what)
{
    if (err != NULL && err->code < 0)
        return err->code;
    return ki_fail(err, KI_ERR_INVALID, "%s", what);
}

const char *ki_error_name(int code)
{
    switch (code) {
    case KI_OK:
        return "KI_OK";
#define KI_ERROR_CASE(name, number, text)                                                                    \
    case KI_ERR_##name:                                                                                      \
        return "KI_ERR_" #name;
        KI_ERRORS(KI_ERROR_CASE)
#undef KI_ERROR_CASE
    default:
        return "KI_ERR_UNKNOWN";
    }
}

const char *ki_error_text(int code)
{
    switch (code) {
    case KI_OK:
        return "success";
#define KI_ERROR_CASE(name, number, text)                                                                    \
    case KI_ERR_##name:                                                                                      \
        return text;
        KI_ERRORS(KI_ERROR_CASE)
#undef KI_ERROR_CASE
    default:
        return "unknown error";
    }
}
