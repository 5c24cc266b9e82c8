/* SPDX-License-Identifier: Apache-2.0 */
#include "api/resource/label_syntax.h"

#include <assert.h>
#include <string.h>

#include "util/text/byte.h"

/* Letters and digits, with -, _ and . allowed between them. Reports the first mistake in the text, be it a
 * character or the length. */
static const char *name_fault(ki_str name, size_t *out_at)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        int at_edge = i == 0 || i + 1 == name.len;
        *out_at = i;
        if (i == KI_LABEL_NAME_BYTES_MAX)
            return "no more than 63 characters";
        if (ki_byte_is_letter_or_digit(c) || (!at_edge && (c == '-' || c == '_' || c == '.')))
            continue;
        return at_edge ? "a letter or digit" : "a letter, digit, '-', '_' or '.'";
    }
    return NULL;
}

/* A DNS subdomain: parts separated by dots, each of lower-case letters and digits, with - allowed inside. */
static const char *prefix_fault(ki_str prefix, size_t *out_at)
{
    int part_is_empty = 1;
    for (size_t i = 0; i < prefix.len; i++) {
        char c = prefix.ptr[i];
        int part_ends = i + 1 == prefix.len || prefix.ptr[i + 1] == '.';
        *out_at = i;
        if (i == KI_LABEL_PREFIX_BYTES_MAX)
            return "no more than 253 characters before the '/'";
        if (ki_byte_is_lower_or_digit(c)) {
            part_is_empty = 0;
        } else if (part_is_empty || (c == '-' && part_ends) || (c == '.' && i + 1 == prefix.len)) {
            return "a lower-case letter or digit";
        } else if (c == '.') {
            part_is_empty = 1;
        } else if (c != '-') {
            return "a lower-case letter, digit, '-' or '.'";
        }
    }
    assert(prefix.len <= KI_LABEL_PREFIX_BYTES_MAX);
    *out_at = 0;
    return prefix.len == 0 ? "a prefix before the '/'" : NULL;
}

const char *ki_label_key_fault(ki_str key, size_t *out_at)
{
    assert(out_at != NULL);
    assert(key.ptr != NULL || key.len == 0);
    const char *slash = key.len > 0 ? memchr(key.ptr, '/', key.len) : NULL;
    size_t name_at = slash == NULL ? 0 : (size_t)(slash - key.ptr) + 1;
    if (slash != NULL) {
        const char *fault = prefix_fault((ki_str){key.ptr, name_at - 1}, out_at);
        if (fault != NULL)
            return fault;
    }
    *out_at = name_at;
    if (name_at == key.len)
        return "a letter or digit";
    const char *fault = name_fault((ki_str){key.ptr + name_at, key.len - name_at}, out_at);
    *out_at += name_at;
    assert(fault == NULL || *out_at < key.len);
    return fault;
}

const char *ki_label_value_fault(ki_str value, size_t *out_at)
{
    assert(value.ptr != NULL || value.len == 0);
    return name_fault(value, out_at);
}

bool ki_label_is_prefix(ki_str text)
{
    size_t at;
    return prefix_fault(text, &at) == NULL;
}
