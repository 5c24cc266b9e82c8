/* SPDX-License-Identifier: Apache-2.0 */
#include "util/error.h"

#include <stdarg.h>
#include <stdio.h>

static void clean(char *message)
{
    for (unsigned char *p = (unsigned char *)message; *p != 0; p++)
        if (*p < 0x20 || *p == 0x7f)
            *p = '?';
}

KI_PRINTF(4, 0)
static int fail(ki_error *err, int code, uint64_t offset, const char *format, va_list args)
{
    if (err == NULL)
        return code;
    err->code = code;
    err->reserved = 0;
    err->offset = offset;
    if (vsnprintf(err->message, sizeof(err->message), format, args) < 0)
        err->message[0] = 0;
    clean(err->message);
    return code;
}

int ki_fail(ki_error *err, int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fail(err, code, 0, format, args);
    va_end(args);
    return code;
}

int ki_fail_at(ki_error *err, int code, uint64_t offset, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fail(err, code, offset, format, args);
    va_end(args);
    return code;
}

int ki_fail_no_memory(ki_error *err)
{
    return ki_fail(err, KI_ERR_NO_MEMORY, "%s", ki_error_text(KI_ERR_NO_MEMORY));
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
