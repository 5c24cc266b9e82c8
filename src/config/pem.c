/* SPDX-License-Identifier: Apache-2.0 */
#include "config/pem.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "util/alloc.h"
#include "util/secret.h"
#include "util/text/base64.h"

static const char begin_mark[] = "-----BEGIN ";
static const char end_mark[] = "-----END ";
static const char dashes[] = "-----";

/* "-----BEGIN name-----", body, "-----END name-----" */
typedef struct block {
    ki_str name;
    ki_str body;
} block;

static const char *find(ki_str text, const char *part)
{
    size_t n = strlen(part);
    for (size_t i = 0; i + n <= text.len; i++)
        if (memcmp(text.ptr + i, part, n) == 0)
            return text.ptr + i;
    return NULL;
}

static ki_str from(ki_str text, const char *at)
{
    assert(at >= text.ptr && at <= text.ptr + text.len);
    return (ki_str){at, text.len - (size_t)(at - text.ptr)};
}

/* Returns 1 with a block, 0 if there are no more, -1 for a block without an end. */
static int take_block(ki_str *text, block *out)
{
    const char *begin = find(*text, begin_mark);
    if (begin == NULL)
        return 0;
    ki_str rest = from(*text, begin + strlen(begin_mark));
    const char *name_end = find(rest, dashes);
    if (name_end == NULL)
        return -1;
    out->name = (ki_str){rest.ptr, (size_t)(name_end - rest.ptr)};
    rest = from(rest, name_end + strlen(dashes));
    const char *end = find(rest, end_mark);
    if (end == NULL)
        return -1;
    out->body = (ki_str){rest.ptr, (size_t)(end - rest.ptr)};
    rest = from(rest, end + strlen(end_mark));
    if (rest.len < out->name.len || memcmp(rest.ptr, out->name.ptr, out->name.len) != 0)
        return -1;
    assert(rest.ptr + rest.len == text->ptr + text->len);
    *text = rest;
    return 1;
}

static bool ends_with(ki_str text, const char *end)
{
    size_t n = strlen(end);
    return text.len >= n && memcmp(text.ptr + text.len - n, end, n) == 0;
}

static bool is_of_kind(const block *b, ki_pem_kind kind)
{
    if (kind == KI_PEM_KEY)
        return ends_with(b->name, "PRIVATE KEY");
    return ki_str_equal(b->name, KI_STR("CERTIFICATE")) ||
           ki_str_equal(b->name, KI_STR("X509 CERTIFICATE")) ||
           ki_str_equal(b->name, KI_STR("TRUSTED CERTIFICATE"));
}

static bool is_locked(const block *b)
{
    return find(b->name, "ENCRYPTED") != NULL || find(b->body, "ENCRYPTED") != NULL;
}

/* Whether this is a complete DER SEQUENCE that begins like a certificate (with a SEQUENCE) or a key (with
 * an INTEGER). A certificate may be followed by OpenSSL's trust data. */
static bool is_der(const unsigned char *bytes, size_t len, ki_pem_kind kind)
{
    unsigned char first = kind == KI_PEM_KEY ? 0x02 : 0x30;
    if (len < 2 || bytes[0] != 0x30)
        return false;
    size_t at = 2, content = bytes[1];
    if (content > 0x84 || content == 0x80)
        return false;
    if (content > 0x80) {
        size_t digits = content - 0x80;
        if (len < 2 + digits)
            return false;
        for (content = 0; digits > 0; digits--)
            content = content << 8 | bytes[at++];
    }
    assert(at <= len);
    return content >= 2 && content <= len - at && bytes[at] == first;
}

static bool is_white(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Spaces are skipped, as in OpenSSL. */
static int check_body(ki_str body, ki_pem_kind kind, bool *out_is_good)
{
    size_t space = KI_BASE64_DECODED_BYTES(body.len), n = 0, len = 0;
    char *text = ki_malloc(body.len + space);
    if (text == NULL)
        return KI_ERR_NO_MEMORY;
    for (size_t i = 0; i < body.len; i++)
        if (!is_white(body.ptr[i]))
            text[n++] = body.ptr[i];
    assert(n <= body.len);
    char *bytes = text + body.len;
    *out_is_good = ki_base64_decode((ki_str){text, n}, bytes, &len) == 0 &&
                   is_der((const unsigned char *)bytes, len, kind);
    assert(len <= space);
    ki_secret_free_bytes(text, body.len + space);
    return 0;
}

int ki_pem_check(ki_str text, ki_pem_kind kind, const char **out_problem)
{
    assert(text.ptr != NULL || text.len == 0);
    bool is_key = kind == KI_PEM_KEY, is_good = false;
    block b;
    int more;
    *out_problem = text.len > 0 && memchr(text.ptr, 0, text.len) != NULL ? "is not text" : NULL;
    if (*out_problem != NULL)
        return 0;
    while ((more = take_block(&text, &b)) > 0) {
        if (!is_of_kind(&b, kind))
            continue;
        if (is_key && is_locked(&b)) {
            *out_problem = "has a key that is encrypted with a passphrase, which is not supported";
            return 0;
        }
        if (check_body(b.body, kind, &is_good) < 0)
            return KI_ERR_NO_MEMORY;
        if (!is_good)
            break;
    }
    if (more < 0)
        *out_problem = "has an incomplete PEM block";
    else if (more > 0)
        *out_problem = is_key ? "has an invalid private key" : "has an invalid certificate";
    else if (!is_good)
        *out_problem = is_key ? "has no private key" : "has no certificate";
    return 0;
}
