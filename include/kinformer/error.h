/* SPDX-License-Identifier: Apache-2.0 */
/* error - the error codes that functions return, and their messages.
 *
 * A function that can fail returns 0 (or a count) on success and one of these negative codes on failure. Most
 * also have a `ki_error *` parameter, which may be NULL; it is written on failure only. Zero it before the
 * first call. Other outputs are written on success only. There is no thread-local last error.
 *
 * A constructor that fails returns NULL. That NULL may be passed on as the object of a call: frees allow it,
 * and other calls fail and change nothing. If such a call has a `ki_error` that already holds an error, the
 * error stays, and its code is returned instead of KI_ERR_INVALID. So after a constructor has failed, the
 * calls that get its NULL report why, also if the constructor is ki_apiserver_start() and a later call uses
 * the URL of that server. This is so only for NULL: if another call fails, such as ki_apiserver_put(), the
 * next failure replaces its error. Test what is returned, not `err.code`: a success does not clear it.
 *
 * Threads: any, for all calls.
 */
#ifndef KI_ERROR_H
#define KI_ERROR_H

#include <kinformer/common.h>

KI_EXTERN_C_BEGIN

/** Every error: X(name, code, short description). The numbers never change. */
#define KI_ERRORS(X)                                                                                         \
    X(INVALID, -1, "invalid argument")                                                                       \
    X(NO_MEMORY, -2, "out of memory")                                                                        \
    X(NOT_FOUND, -3, "not found")                                                                            \
    X(TYPE, -4, "the value has another type")                                                                \
    X(RANGE, -5, "the number is out of range")                                                               \
    X(SYSTEM, -6, "a system call failed")                                                                    \
    X(TOO_LARGE, -7, "a size limit was exceeded")                                                            \
    X(ESCAPED, -8, "the string contains escapes and needs memory to be read")                                \
    X(WOULD_DEADLOCK, -9, "the call would wait for its own thread")                                          \
    X(TIMEOUT, -10, "timed out")                                                                             \
    X(STOPPED, -11, "it has been stopped")                                                                   \
    X(FORKED, -12, "not available in a child of the process that made it")                                   \
    X(JSON_SYNTAX, -20, "JSON: unexpected character")                                                        \
    X(JSON_LITERAL, -21, "JSON: neither a number nor true, false or null")                                   \
    X(JSON_CONTROL, -22, "JSON: unescaped control character in a string")                                    \
    X(JSON_ESCAPE, -23, "JSON: malformed escape or lone surrogate in a string")                              \
    X(JSON_UTF8, -24, "JSON: text is not UTF-8")                                                             \
    X(JSON_DEPTH, -25, "JSON: nested too deeply")                                                            \
    X(JSON_TOO_LARGE, -26, "JSON: value larger than the limit")                                              \
    X(JSON_TRUNCATED, -27, "JSON: text ends inside a value")                                                 \
    X(JSON_TRAILING, -28, "JSON: unexpected text after the value")                                           \
    X(PROTOBUF, -30, "protobuf: malformed message")                                                          \
    X(PROTOBUF_TRUNCATED, -31, "protobuf: the data ends inside a message")                                   \
    X(METADATA, -40, "object metadata is missing or malformed")                                              \
    X(NOT_A_LIST, -41, "the response is not a list")                                                         \
    X(NOT_AN_EVENT, -42, "the value is not a watch event")                                                   \
    X(QUANTITY, -43, "not a Kubernetes quantity")                                                            \
    X(TIMESTAMP, -44, "not an RFC 3339 time")                                                                \
    X(RESOURCE, -45, "no such resource")                                                                     \
    X(SELECTOR, -46, "not a selector")                                                                       \
    X(CONFIG, -60, "the configuration cannot be used")                                                       \
    X(HTTP, -61, "the request failed")                                                                       \
    X(CONFLICT, -62, "the object has changed since it was read")                                             \
    X(ALREADY_EXISTS, -63, "the object already exists")                                                      \
    X(EXPIRED, -64, "the version or the page token has expired")                                             \
    X(FORBIDDEN, -65, "the server does not allow it")                                                        \
    X(UNAUTHORIZED, -66, "the server did not accept the credentials")                                        \
    X(REFUSED, -67, "the program's write gate refused the write")

typedef enum ki_error_code {
    KI_OK = 0,
#define KI_ERROR_ENUM(name, code, text) KI_ERR_##name = code,
    KI_ERRORS(KI_ERROR_ENUM)
#undef KI_ERROR_ENUM
} ki_error_code;

/** The size of a message, with its NUL. A longer message is cut, and ends with "…". */
#define KI_ERROR_MESSAGE_BYTES 480

/** A failure with its message. A plain value: nothing to free. Zeroed, it means "no error". */
typedef struct ki_error {
    int code;                /* a ki_error_code, or 0 */
    uint32_t retry_after_ms; /* how long the server asks to wait, at most 10 min; 0: it does not ask */
    uint64_t offset;         /* of the offending byte, for errors in input; else 0 */
    uint64_t reserved[2];
    char message[KI_ERROR_MESSAGE_BYTES]; /* NUL-terminated, one line, no secret */
} ki_error;

/** "KI_ERR_JSON_DEPTH" for KI_ERR_JSON_DEPTH; "KI_OK" for 0; "KI_ERR_UNKNOWN" for an unknown code. */
KI_API const char *ki_error_name(int code);

/** "JSON: nested too deeply" for KI_ERR_JSON_DEPTH; "success" for 0; "unknown error" for an unknown code. */
KI_API const char *ki_error_text(int code);

KI_EXTERN_C_END

#endif
