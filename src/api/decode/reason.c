/* SPDX-License-Identifier: Apache-2.0 */
#include "api/decode/reason.h"

#include <kinformer/informer.h>
#include <string.h>

static const char *const reason_names[] = {
#define REASON_NAME(name, text) text,
    KI_REASONS(REASON_NAME)
#undef REASON_NAME
};

static const char *const phase_names[] = {"STOPPED", "LISTING", "STREAMING_LIST", "WATCHING", "BACKING_OFF"};

const char *ki_reason_name(ki_reason reason)
{
    size_t i = (size_t)reason;
    return i < sizeof(reason_names) / sizeof(reason_names[0]) ? reason_names[i] : "";
}

const char *ki_phase_name(ki_phase phase)
{
    size_t i = (size_t)phase;
    return i < sizeof(phase_names) / sizeof(phase_names[0]) ? phase_names[i] : "";
}

static int contains(ki_str text, ki_str part)
{
    for (size_t at = 0; at + part.len <= text.len; at++)
        if (memcmp(text.ptr + at, part.ptr, part.len) == 0)
            return 1;
    return 0;
}

/* Servers report this in three ways, depending on their version: by the reason of a cause, by the message of
 * a cause, or in the message of the Status. The last two count only with a timeout. */
static int is_version_too_large(int code, const ki_status *status)
{
    const ki_str phrase = KI_STR("Too large resource version");
    if (ki_status_has_cause(status, "ResourceVersionTooLarge"))
        return 1;
    if (code != 504 && !ki_str_equal(status->reason, KI_STR("Timeout")))
        return 0;
    for (size_t i = 0; i < status->cause_count; i++)
        if (ki_str_equal(status->causes[i].message, phrase))
            return 1;
    return contains(status->message, phrase);
}

/* A Status in a stream may have a reason and no code. */
static int code_of_word(ki_str word)
{
    static const struct {
        ki_str word;
        int code;
    } words[] = {
        {{"Expired", 7}, 410},
        {{"Gone", 4}, 410},
        {{"TooManyRequests", 15}, 429},
        {{"Unauthorized", 12}, 401},
        {{"Forbidden", 9}, 403},
        {{"NotFound", 8}, 404},
        {{"BadRequest", 10}, 400},
        {{"Invalid", 7}, 422},
        {{"InternalError", 13}, 500},
        {{"Timeout", 7}, 504},
        {{"ServiceUnavailable", 18}, 503},
    };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (ki_str_equal(words[i].word, word))
            return words[i].code;
    return 0;
}

static ki_reason reason_of_code(int code)
{
    switch (code) {
    case 401:
        return KI_REASON_UNAUTHORIZED;
    case 403:
        return KI_REASON_FORBIDDEN;
    case 404:
        return KI_REASON_NOT_FOUND;
    case 410:
        return KI_REASON_EXPIRED;
    case 429:
        return KI_REASON_TOO_MANY_REQUESTS;
    default:
        break;
    }
    if (code >= 300 && code < 400)
        return KI_REASON_REDIRECTED;
    if (code >= 400 && code < 500)
        return KI_REASON_BAD_REQUEST;
    return code >= 500 && code < 600 ? KI_REASON_SERVER_ERROR : KI_REASON_OTHER;
}

ki_reason ki_reason_of_status(int http_status, const ki_status *status)
{
    int code = http_status >= 200 && http_status < 300 ? status->http_status : http_status;
    if (code == 0)
        code = code_of_word(status->reason);
    return is_version_too_large(code, status) ? KI_REASON_VERSION_TOO_LARGE : reason_of_code(code);
}

int ki_reason_is_transport(ki_reason reason)
{
    switch (reason) {
    case KI_REASON_TOO_MANY_OPEN_FILES:
    case KI_REASON_CONNECTION_REFUSED:
    case KI_REASON_CONNECTION_LOST:
    case KI_REASON_DNS:
    case KI_REASON_TLS:
    case KI_REASON_TIMEOUT:
    case KI_REASON_SILENT:
        return 1;
    default:
        return 0;
    }
}

int ki_reason_is_before_sending(ki_reason reason)
{
    return reason == KI_REASON_CONNECTION_REFUSED || reason == KI_REASON_DNS || reason == KI_REASON_TLS ||
           reason == KI_REASON_NO_CREDENTIALS || reason == KI_REASON_NO_MEMORY ||
           reason == KI_REASON_TOO_MANY_OPEN_FILES;
}

int ki_reason_is_ours(ki_reason reason)
{
    return reason == KI_REASON_NO_MEMORY || reason == KI_REASON_TOO_MANY_OPEN_FILES ||
           reason == KI_REASON_NO_CREDENTIALS || reason == KI_REASON_PACED;
}
