/* SPDX-License-Identifier: Apache-2.0 */
#include "config/redact.h"

#include <assert.h>
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "util/text/one_line.h"
#include "util/text/str.h"

static const char mask[] = "<masked>";

static bool is_secret_name(ki_str name)
{
    static const char *const names[] = {
        "authorization", "proxy-authorization", "cookie", "set-cookie", "x-api-key",
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (ki_str_is_word(name, names[i]))
            return true;
    }
    return false;
}

/* Returns a scheme that is not secret. After any other word, the rest may be the second half of the
 * secret. */
static ki_str scheme_of(ki_str value)
{
    static const char *const schemes[] = {"Bearer ", "Basic ", "Negotiate "};
    for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
        size_t len = strlen(schemes[i]);
        if (value.len > len && strncasecmp(value.ptr, schemes[i], len) == 0)
            return (ki_str){value.ptr, len};
    }
    return (ki_str){0};
}

static size_t join(char *out, size_t out_bytes, ki_str before, ki_str middle, ki_str after)
{
    char text[512];
    int len = snprintf(text, sizeof(text), "%.*s%.*s%s%.*s", KI_STR_ARGS(before), KI_STR_ARGS(middle), mask,
                       KI_STR_ARGS(after));
    size_t used = len < 0 ? 0 : (size_t)len < sizeof(text) ? (size_t)len : sizeof(text) - 1;
    return ki_one_line(out, out_bytes, (ki_str){text, used});
}

/* An address in the response may have a token in its query. */
static ki_str without_query(ki_str line)
{
    for (size_t i = 0; i < line.len; i++)
        if (line.ptr[i] == '?' || line.ptr[i] == '#')
            return (ki_str){line.ptr, i};
    return line;
}

/* The address begins after the colon of the name; it may lack a scheme: "//user:secret@host/". */
static size_t redact_location(char *out, size_t out_bytes, ki_str line, size_t begin)
{
    char address[512];
    while (begin < line.len && (line.ptr[begin] == ' ' || line.ptr[begin] == '\t'))
        begin++;
    if (begin > line.len)
        begin = line.len;
    size_t used = ki_redact_url(address, sizeof(address), (ki_str){line.ptr + begin, line.len - begin});
    char text[640];
    int len = snprintf(text, sizeof(text), "%.*s%.*s", (int)(begin < 64 ? begin : 64), line.ptr, (int)used,
                       address);
    return ki_one_line(out, out_bytes, (ki_str){text, len < 0 ? 0 : (size_t)len});
}

size_t ki_redact_header(char *out, size_t out_bytes, ki_str line)
{
    assert(out_bytes > 0);
    while (line.len > 0 && (line.ptr[line.len - 1] == '\n' || line.ptr[line.len - 1] == '\r'))
        line.len--;
    const char *colon = line.len > 0 ? memchr(line.ptr, ':', line.len) : NULL;
    size_t name_len = colon == NULL ? 0 : (size_t)(colon - line.ptr);
    if (ki_str_is_word((ki_str){line.ptr, name_len}, "location"))
        return redact_location(out, out_bytes, without_query(line), name_len + 1);
    if (!is_secret_name((ki_str){line.ptr, name_len}))
        return ki_one_line(out, out_bytes, line);
    size_t begin = name_len + 1;
    while (begin < line.len && line.ptr[begin] == ' ')
        begin++;
    ki_str value = {line.ptr + begin, line.len - begin};
    return join(out, out_bytes, (ki_str){line.ptr, begin}, scheme_of(value), (ki_str){0});
}

size_t ki_redact_url(char *out, size_t out_bytes, ki_str url)
{
    assert(out_bytes > 0);
    size_t begin = 0, end = 0, at = 0;
    while (begin + 3 <= url.len && memcmp(url.ptr + begin, "://", 3) != 0)
        begin++;
    begin = begin + 3 <= url.len ? begin + 3 : 0;
    if (begin == 0 && url.len >= 2 && memcmp(url.ptr, "//", 2) == 0)
        begin = 2;
    for (end = begin; end < url.len && strchr("/?#", url.ptr[end]) == NULL; end++)
        at = url.ptr[end] == '@' ? end : at;
    if (at == 0)
        return ki_one_line(out, out_bytes, url);
    return join(out, out_bytes, (ki_str){url.ptr, begin}, (ki_str){0}, (ki_str){url.ptr + at, url.len - at});
}

/* ---- an invalid address -------------------------------------------------------------------------------- */

/* The length of "https://" or "http://"; 0 if there is none. Any other text before "://" may be a user. */
static size_t scheme_len(ki_str url)
{
    static const char *const schemes[] = {"https://", "http://"};
    for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
        size_t len = strlen(schemes[i]);
        if (url.len >= len && strncasecmp(url.ptr, schemes[i], len) == 0)
            return len;
    }
    return 0;
}

/* How much of the host and port is shown. A label longer than DNS allows may be a token. After a colon there
 * may be a port, a part of an IPv6 address, or the password of a user without an '@'. */
static size_t shown_len(ki_str host)
{
    enum { LABEL_BYTES_MAX = 63 };
    size_t begin = 0, label = 0;
    while (begin < host.len && host.ptr[begin] != ':' && host.ptr[begin] != '%') {
        label = host.ptr[begin++] == '.' ? 0 : label + 1;
        if (label > LABEL_BYTES_MAX)
            return 0;
    }
    for (size_t i = begin; i < host.len; i++)
        if (!isxdigit((unsigned char)host.ptr[i]) && strchr(":.]", host.ptr[i]) == NULL)
            return begin;
    return host.len;
}

size_t ki_redact_invalid_url(char *out, size_t out_bytes, ki_str url)
{
    char text[512];
    size_t scheme = scheme_len(url), begin = scheme;
    for (size_t i = scheme; i < url.len; i++)
        begin = url.ptr[i] == '@' ? i : begin;
    size_t end = begin;
    while (end < url.len && strchr("/?#", url.ptr[end]) == NULL)
        end++;
    size_t shown = shown_len((ki_str){url.ptr + begin, end - begin});
    int len = snprintf(text, sizeof(text), "%.*s%s%.*s%s%s", (int)scheme, url.ptr, begin > scheme ? mask : "",
                       (int)(shown < 256 ? shown : 256), url.ptr + begin, begin + shown < end ? mask : "",
                       end + 1 < url.len ? "/…" : "");
    return ki_one_line_cut(out, out_bytes, (ki_str){text, len < 0 ? 0 : (size_t)len});
}
