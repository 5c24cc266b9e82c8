/* SPDX-License-Identifier: Apache-2.0 */
#include <kinformer/key.h>
#include <limits.h>
#include <string.h>

#include "api/resource/bounded_text.h"

static const char *find_slash(ki_str text)
{
    return text.len == 0 ? NULL : memchr(text.ptr, '/', text.len);
}

int ki_key_join(ki_str ns, ki_str name, char *buffer, size_t buffer_bytes)
{
    if (name.len == 0 || (buffer == NULL && buffer_bytes > 0))
        return KI_ERR_INVALID;
    if (ns.len >= INT_MAX || name.len >= INT_MAX - ns.len)
        return KI_ERR_TOO_LARGE;
    if (find_slash(ns) != NULL || find_slash(name) != NULL)
        return KI_ERR_INVALID;
    ki_bounded_text key = ki_bounded_text_in(buffer, buffer_bytes);
    if (ns.len > 0) {
        ki_bounded_put(&key, ns);
        ki_bounded_put_byte(&key, '/');
    }
    ki_bounded_put(&key, name);
    return ki_bounded_finish(&key);
}

int ki_key_split(ki_str key, ki_str *out_ns, ki_str *out_name)
{
    if (out_ns == NULL || out_name == NULL)
        return KI_ERR_INVALID;
    const char *slash = find_slash(key);
    if (slash == NULL) {
        *out_ns = (ki_str){0};
        *out_name = key;
        return 0;
    }
    ki_str ns = {key.ptr, (size_t)(slash - key.ptr)};
    ki_str name = {slash + 1, key.len - ns.len - 1};
    if (find_slash(name) != NULL)
        return KI_ERR_INVALID;
    *out_ns = ns;
    *out_name = name;
    return 0;
}
