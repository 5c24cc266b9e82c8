/* SPDX-License-Identifier: Apache-2.0 */
#include "config/url.h"

#include <kinformer/error.h>
#include <string.h>

static ki_str cut(ki_str text, size_t from, size_t to)
{
    return (ki_str){text.ptr + from, to - from};
}

/* Where the first of the characters is; the length when there is none. */
static size_t find_any(ki_str text, const char *characters)
{
    size_t i = 0;
    while (i < text.len && strchr(characters, text.ptr[i]) == NULL)
        i++;
    return i;
}

static int is_visible(ki_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] <= ' ' || text.ptr[i] > '~')
            return 0;
    }
    return text.len > 0;
}

static int is_port(ki_str text)
{
    unsigned number = 0;
    if (text.len == 0 || text.len > 5)
        return 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return 0;
        number = number * 10 + (unsigned)(text.ptr[i] - '0');
    }
    return number > 0 && number <= 65535;
}

static int split_host(ki_str text, ki_url *url)
{
    size_t end;
    if (text.len > 0 && text.ptr[0] == '[') {
        end = find_any(text, "]");
        if (end == text.len)
            return KI_ERR_INVALID;
        url->host = cut(text, 1, end++);
    } else {
        end = find_any(text, ":");
        url->host = cut(text, 0, end);
    }
    if (url->host.len == 0 || (end < text.len && text.ptr[end] != ':'))
        return KI_ERR_INVALID;
    if (end == text.len)
        return 0;
    url->port = cut(text, end + 1, text.len);
    return is_port(url->port) ? 0 : KI_ERR_INVALID;
}

int ki_url_split(ki_str text, ki_url *out_url)
{
    ki_url url = {0};
    size_t colon = is_visible(text) ? find_any(text, ":/?#@") : 0;
    if (colon == 0 || text.len - colon < 3 || memcmp(text.ptr + colon, "://", 3) != 0)
        return KI_ERR_INVALID;
    url.scheme = cut(text, 0, colon);
    ki_str rest = cut(text, colon + 3, text.len);
    size_t end = find_any(rest, "/?#");
    url.path = cut(rest, end, rest.len);
    ki_str authority = cut(rest, 0, end);
    size_t at = authority.len;
    while (at > 0 && authority.ptr[at - 1] != '@')
        at--;
    if (at > 0)
        url.user = cut(authority, 0, at - 1);
    if (split_host(cut(authority, at, authority.len), &url) < 0)
        return KI_ERR_INVALID;
    *out_url = url;
    return 0;
}
