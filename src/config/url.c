/* SPDX-License-Identifier: Apache-2.0 */
#include "config/url.h"

#include <arpa/inet.h>
#include <assert.h>
#include <curl/curl.h>
#include <string.h>

#include "util/alloc.h"
#include "util/secret.h"
#include "util/text/byte.h"

static ki_str cut(ki_str text, size_t from, size_t to)
{
    return (ki_str){text.ptr + from, to - from};
}

/* The position of the first of these characters; the length of the text if it contains none. */
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
    assert(out_url != NULL);
    assert(text.ptr != NULL || text.len == 0);
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
    assert(url.host.len > 0 && url.host.ptr > text.ptr);
    *out_url = url;
    return 0;
}

int ki_url_check(const char *text, ki_url *out_url)
{
    assert(out_url != NULL);
    ki_url url;
    if (ki_url_split(ki_str_of(text), &url) < 0)
        return KI_ERR_INVALID;
    bool is_address = url.host.ptr[-1] == '['; /* which may contain a zone after a '%' */
    if (!is_address && memchr(url.host.ptr, '%', url.host.len) != NULL)
        return KI_ERR_INVALID;
    CURLU *parsed = curl_url();
    if (parsed == NULL)
        return KI_ERR_NO_MEMORY;
    CURLUcode code = curl_url_set(parsed, CURLUPART_URL, text, CURLU_NON_SUPPORT_SCHEME);
    curl_url_cleanup(parsed);
    if (code == CURLUE_OUT_OF_MEMORY)
        return KI_ERR_NO_MEMORY;
    if (code != CURLUE_OK)
        return KI_ERR_INVALID;
    *out_url = url;
    return 0;
}

/* ---- hosts --------------------------------------------------------------------------------------------- */

/* Labels separated by dots, with an optional trailing dot. */
static bool is_name(ki_str text)
{
    enum { NAME_BYTES_MAX = 253, LABEL_BYTES_MAX = 63 };
    size_t label = 0;
    if (text.len > 1 && text.ptr[text.len - 1] == '.')
        text.len--;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '.' ? label == 0 : !ki_byte_is_letter_or_digit(c) && c != '-' && c != '_')
            return false;
        label = c == '.' ? 0 : label + 1;
        if (label > LABEL_BYTES_MAX)
            return false;
    }
    return label > 0 && text.len <= NAME_BYTES_MAX;
}

static bool is_v6(ki_str text)
{
    char address[INET6_ADDRSTRLEN + 1];
    struct in6_addr bytes;
    if (text.len > 2 && text.ptr[0] == '[' && text.ptr[text.len - 1] == ']')
        text = cut(text, 1, text.len - 1);
    if (text.len >= sizeof(address))
        return false;
    memcpy(address, text.ptr, text.len);
    address[text.len] = 0;
    return inet_pton(AF_INET6, address, &bytes) == 1;
}

/* is_name() also accepts IPv4 addresses. */
bool ki_url_is_host(const char *text)
{
    return is_name(ki_str_of(text)) || is_v6(ki_str_of(text));
}

/* ---- escapes ------------------------------------------------------------------------------------------- */

int ki_url_decode(ki_str text, char **out_text)
{
    assert(text.ptr != NULL || text.len == 0);
    char *decoded = ki_malloc(text.len + 1);
    size_t len = 0;
    bool is_good = true;
    if (decoded == NULL)
        return KI_ERR_NO_MEMORY;
    for (size_t i = 0; i < text.len && is_good; i++) {
        unsigned byte = (unsigned char)text.ptr[i];
        if (byte == '%') {
            is_good =
                text.len - i > 2 && ki_byte_hex(text.ptr[i + 1]) < 16 && ki_byte_hex(text.ptr[i + 2]) < 16;
            byte = is_good ? ki_byte_hex(text.ptr[i + 1]) * 16 + ki_byte_hex(text.ptr[i + 2]) : 0;
            i += 2;
        }
        is_good = is_good && byte >= ' ' && byte != 0x7f;
        decoded[len++] = (char)byte;
    }
    decoded[len] = 0;
    if (!is_good) {
        ki_secret_free_bytes(decoded, len);
        return KI_ERR_INVALID;
    }
    *out_text = decoded;
    return 0;
}

char *ki_url_encode(const char *text)
{
    static const char digits[] = "0123456789ABCDEF";
    char *encoded = ki_malloc(strlen(text) * 3 + 1);
    char *at = encoded;
    if (encoded == NULL)
        return NULL;
    for (; *text != 0; text++) {
        if (ki_byte_is_letter_or_digit(*text)) {
            *at++ = *text;
            continue;
        }
        *at++ = '%';
        *at++ = digits[(unsigned char)*text / 16];
        *at++ = digits[(unsigned char)*text % 16];
    }
    *at = 0;
    return encoded;
}
