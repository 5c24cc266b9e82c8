/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/request/continue_token.h"

#include <assert.h>
#include <string.h>

#include "apiserver/object/text.h"
#include "util/alloc.h"
#include "util/text/base64.h"

enum { TOKEN_BYTES_MAX = 8 * 1024 };

/* ---- writing ------------------------------------------------------------------------------------------- */

static int put_start(ki_str ns, ki_str name, ki_buf *out)
{
    assert(name.len > 0);
    int rc = ki_buf_append_str(out, ns);
    if (rc == 0 && ns.len > 0)
        rc = ki_buf_append_byte(out, '/');
    if (rc == 0)
        rc = ki_buf_append_str(out, name);
    return rc == 0 ? ki_buf_append_byte(out, 0) : rc;
}

static int put_json(int64_t version, ki_str start, ki_buf *out)
{
    assert(version != 0 && start.len > 0);
    json_t *tree = json_pack("{s:s, s:I, s:s%}", "v", "meta.k8s.io/v1", "rv", (json_int_t)version, "start",
                             start.ptr, start.len);
    int rc = ki_as_text_tree(out, tree);
    json_decref(tree);
    return rc;
}

static int put_base64url(ki_str bytes, ki_buf *out)
{
    int rc = ki_buf_reserve(out, KI_BASE64_ENCODED_BYTES(bytes.len) + 1);
    if (rc < 0)
        return rc;
    char *text = out->data + out->len;
    size_t len = ki_base64_encode(bytes, text);
    while (len > 0 && text[len - 1] == '=')
        len--;
    for (size_t i = 0; i < len; i++)
        text[i] = (char)(text[i] == '+' ? '-' : text[i] == '/' ? '_' : text[i]);
    text[len] = 0;
    out->len += len;
    return 0;
}

int ki_as_continue_write(int64_t version, ki_str ns, ki_str name, ki_buf *out)
{
    ki_buf start;
    ki_buf json;
    ki_buf_init(&start, TOKEN_BYTES_MAX);
    ki_buf_init(&json, TOKEN_BYTES_MAX);
    int rc = put_start(ns, name, &start);
    if (rc == 0)
        rc = put_json(version, ki_buf_str(&start), &json);
    if (rc == 0)
        rc = put_base64url(ki_buf_str(&json), out);
    ki_buf_fini(&start);
    ki_buf_fini(&json);
    return rc < 0 ? KI_ERR_NO_MEMORY : 0;
}

/* ---- reading ------------------------------------------------------------------------------------------- */

static int refuse(struct ki_as_failure *failure, const char *why)
{
    return ki_as_fail_bad_request(failure, "invalid continue token: continue key is not valid: %s", why);
}

/* Converts to the standard alphabet, with padding. */
static size_t to_base64(ki_str token, char *out)
{
    assert(token.len <= TOKEN_BYTES_MAX);
    for (size_t i = 0; i < token.len; i++)
        out[i] = (char)(token.ptr[i] == '-' ? '+' : token.ptr[i] == '_' ? '/' : token.ptr[i]);
    size_t len = token.len;
    while (len % 4 != 0)
        out[len++] = '=';
    assert(len % 4 == 0 && len <= TOKEN_BYTES_MAX + 4);
    return len;
}

static int take_start(const json_t *tree, struct ki_as_continue *out, struct ki_as_failure *failure)
{
    const json_t *start = json_object_get(tree, "start");
    const char *text = json_string_value(start);
    size_t len = json_string_length(start);
    if (len > 0 && text[0] == '/') {
        text++;
        len--;
    }
    if (len > 0 && text[len - 1] == 0)
        len--;
    if (len == 0 || memchr(text, 0, len) != NULL)
        return refuse(failure, "encoded start key empty (version meta.k8s.io/v1)");
    char *after = ki_malloc(len + 1);
    if (after == NULL)
        return ki_as_fail_no_memory(failure);
    memcpy(after, text, len);
    after[len] = 0;
    out->after = after;
    return 0;
}

static int take_tree(const json_t *tree, struct ki_as_continue *out, struct ki_as_failure *failure)
{
    const char *encoding = json_string_value(json_object_get(tree, "v"));
    const json_t *version = json_object_get(tree, "rv");
    if (encoding == NULL || strcmp(encoding, "meta.k8s.io/v1") != 0)
        return refuse(failure, "server does not recognize this encoded version");
    if (!json_is_integer(version) || json_integer_value(version) == 0 || json_integer_value(version) < -1)
        return refuse(failure, "incorrect encoded start resourceVersion (version meta.k8s.io/v1)");
    int rc = take_start(tree, out, failure);
    if (rc == 0)
        out->version = json_integer_value(version);
    return rc;
}

int ki_as_continue_read(ki_str token, struct ki_as_continue *out, struct ki_as_failure *failure)
{
    assert(out != NULL && failure != NULL);
    char text[TOKEN_BYTES_MAX + 4];
    char json[KI_BASE64_DECODED_BYTES(TOKEN_BYTES_MAX + 4)];
    json_error_t error;
    size_t len = 0;
    if (token.len > TOKEN_BYTES_MAX)
        return refuse(failure, "the token is too long");
    if (ki_base64_decode((ki_str){text, to_base64(token, text)}, json, &len) < 0)
        return refuse(failure, "illegal base64 data");
    json_t *tree = json_loadb(json, len, JSON_ALLOW_NUL, &error);
    if (tree == NULL)
        return refuse(failure, error.text);
    int rc = take_tree(tree, out, failure);
    json_decref(tree);
    return rc;
}
