/* SPDX-License-Identifier: Apache-2.0 */
#include "http/response_head.h"

#include <assert.h>
#include <curl/curl.h>
#include <string.h>

#include "util/text/str.h"
#include "util/units.h"

/* The text up to the first byte of `ends`. */
static ki_str until(ki_str text, const char *ends)
{
    size_t n = 0;
    while (n < text.len && strchr(ends, text.ptr[n]) == NULL)
        n++;
    return (ki_str){text.ptr, n};
}

static void copy(char *out, size_t out_bytes, ki_str text)
{
    size_t n = text.len < out_bytes - 1 ? text.len : out_bytes - 1;
    if (n > 0)
        memcpy(out, text.ptr, n);
    out[n] = 0;
}

static uint32_t seconds_of_number(ki_str text)
{
    uint32_t seconds = 0;
    for (size_t i = 0; i < text.len && seconds < KI_RETRY_AFTER_SECONDS_MAX; i++)
        seconds = seconds * 10 + (uint32_t)(text.ptr[i] - '0');
    return seconds;
}

/* An invalid or past date is ignored. */
static uint32_t seconds_until_date(ki_str text, const ki_clock *clock)
{
    char date[64];
    copy(date, sizeof(date), text);
    int64_t at = curl_getdate(date, NULL);
    int64_t now = ki_clock_wall_ns(clock) / (int64_t)KI_NS_PER_S;
    if (at < 0 || at <= now)
        return 0;
    return at - now > KI_RETRY_AFTER_SECONDS_MAX ? KI_RETRY_AFTER_SECONDS_MAX : (uint32_t)(at - now);
}

static void take_retry_after(ki_response_head *head, ki_str value, const ki_clock *clock)
{
    uint32_t seconds = ki_str_is_number(value) ? seconds_of_number(value) : seconds_until_date(value, clock);
    head->retry_after_seconds =
        seconds < KI_RETRY_AFTER_SECONDS_MAX ? seconds : (uint32_t)KI_RETRY_AFTER_SECONDS_MAX;
}

static size_t user_length(ki_str authority)
{
    for (size_t i = authority.len; i > 0; i--)
        if (authority.ptr[i - 1] == '@')
            return i;
    return 0;
}

/* Masking recognises a truncated secret by this mark (util/text/mask.h). */
static void mark_cut(ki_response_head *head, size_t whole)
{
    static const char mark[] = "…";
    if (whole >= sizeof(head->location))
        memcpy(head->location + sizeof(head->location) - sizeof(mark), mark, sizeof(mark));
}

/* "https://user:secret@host/path?token=secret" becomes "https://host/path". */
static void take_location(ki_response_head *head, ki_str value)
{
    ki_str url = until(value, "?#");
    size_t scheme = until(url, ":/").len;
    if (scheme + 3 > url.len || memcmp(url.ptr + scheme, "://", 3) != 0)
        scheme = url.len >= 2 && memcmp(url.ptr, "//", 2) == 0 ? 0 : SIZE_MAX;
    if (scheme == SIZE_MAX) {
        copy(head->location, sizeof(head->location), url);
        mark_cut(head, url.len);
        return;
    }
    ki_str before = {url.ptr, scheme == 0 ? 2 : scheme + 3};
    ki_str rest = {url.ptr + before.len, url.len - before.len};
    size_t user = user_length(until(rest, "/"));
    char host[sizeof(head->location)];
    copy(host, sizeof(host), (ki_str){rest.ptr + user, rest.len - user});
    copy(head->location, sizeof(head->location), before);
    size_t used = strlen(head->location);
    copy(head->location + used, sizeof(head->location) - used, ki_str_of(host));
    mark_cut(head, before.len + rest.len - user);
}

static void take_coding(ki_response_head *head, ki_str value)
{
    if (ki_str_is_word(value, "gzip") || ki_str_is_word(value, "x-gzip"))
        head->is_gzip = true;
    else if (value.len > 0 && !ki_str_is_word(value, "identity"))
        head->has_other_coding = true;
}

static void take_field(ki_response_head *head, ki_str line, const ki_clock *clock)
{
    ki_str name = until(line, ":");
    if (name.len == line.len)
        return;
    ki_str value = ki_str_trim((ki_str){line.ptr + name.len + 1, line.len - name.len - 1});
    if (ki_str_is_word(name, "Content-Type"))
        copy(head->content_type, sizeof(head->content_type), ki_str_trim(until(value, ";")));
    else if (ki_str_is_word(name, "Retry-After"))
        take_retry_after(head, value, clock);
    else if (ki_str_is_word(name, "Location"))
        take_location(head, value);
    else if (ki_str_is_word(name, "Content-Encoding"))
        take_coding(head, value);
}

/* "HTTP/1.1 200 OK" or "HTTP/2 200". Another status line begins another head: the previous one was an
 * interim response. */
static bool take_status(ki_response_head *head, ki_str line)
{
    if (line.len < 5 || memcmp(line.ptr, "HTTP/", 5) != 0)
        return false;
    ki_str version = until(line, " ");
    ki_str code = ki_str_trim((ki_str){line.ptr + version.len, line.len - version.len});
    *head = (ki_response_head){.bytes = head->bytes, .bytes_max = head->bytes_max};
    for (size_t i = 0; i < 3 && i < code.len && code.ptr[i] >= '0' && code.ptr[i] <= '9'; i++)
        head->status = head->status * 10 + (code.ptr[i] - '0');
    return true;
}

int ki_response_head_line(ki_response_head *head, ki_str line, const ki_clock *clock)
{
    assert(head != NULL);
    assert(line.ptr != NULL || line.len == 0);
    head->bytes += line.len;
    if (head->bytes > head->bytes_max)
        return KI_ERR_TOO_LARGE;
    if (head->is_complete)
        return 0;
    ki_str text = ki_str_trim(line);
    if (text.len == 0)
        head->is_complete = head->status >= 200;
    else if (!take_status(head, text))
        take_field(head, text, clock);
    return 0;
}
