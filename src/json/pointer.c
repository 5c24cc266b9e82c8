/* SPDX-License-Identifier: Apache-2.0 */
#include <kinformer/json.h>
#include <string.h>

#include "json/skip.h"
#include "json/text.h"

/* A lookup needs only the beginning of each container on its path, not the end. So it reads each byte at
 * most once, and none after the value that it finds. */

/* ---- names --------------------------------------------------------------------------------------------- */

/* 1 if the text between the quotes of a JSON string, with escapes if `escaped`,
 * means the same as `wanted`. */
static int name_matches(ki_str raw, int escaped, ki_json_spelt wanted)
{
    if (!escaped && wanted.spelling == KI_JSON_PLAIN)
        return ki_str_equal(raw, wanted.text);
    return ki_json_text_compare((ki_json_spelt){raw, KI_JSON_RAW}, wanted) == 0;
}

/* Skips the name and the colon at `at`. Returns where the value begins, or NULL if there is no name or no
 * colon. */
static const char *match_name(const char *at, const char *end, ki_json_spelt wanted, int *out_matches)
{
    if (at == end || *at != '"')
        return NULL;
    size_t plain = ki_json_skip_plain(at + 1, (size_t)(end - at - 1));
    int escaped = at + 1 + plain < end && at[1 + plain] == '\\';
    size_t len = escaped ? ki_json_skip_string(at, (size_t)(end - at)) : plain + 2;
    if (len == 0 || len >= (size_t)(end - at))
        return NULL;
    *out_matches = name_matches((ki_str){at + 1, len - 2}, escaped, wanted);
    at = ki_json_skip_space(at + len, end);
    return at < end && *at == ':' ? ki_json_skip_space(at + 1, end) : NULL;
}

/* Skips the value and the comma at `at`. Returns where the next item begins, or NULL if there is none. */
static const char *next_item(const char *at, const char *end)
{
    size_t len = ki_json_skip_value(at, (size_t)(end - at));
    if (len == 0)
        return NULL;
    at = ki_json_skip_space(at + len, end);
    return at < end && *at == ',' ? ki_json_skip_space(at + 1, end) : NULL;
}

/* `at` is after the opening brace. Returns where the value of the member begins, or NULL. */
static const char *find_member(const char *at, const char *end, ki_json_spelt name)
{
    at = ki_json_skip_space(at, end);
    while (at != NULL) {
        int matches = 0;
        at = match_name(at, end, name, &matches);
        if (at == NULL || matches)
            return at;
        at = next_item(at, end);
    }
    return NULL;
}

/* ---- indexes ------------------------------------------------------------------------------------------- */

/* An index is digits without a leading zero, as in RFC 6901. If it overflows, it is past the end of any
 * array. */
static int parse_index(ki_str token, size_t *out_index)
{
    if (token.len == 0 || token.len > 18 || (token.ptr[0] == '0' && token.len > 1))
        return 0;
    uint64_t index = 0;
    for (size_t i = 0; i < token.len; i++) {
        if (token.ptr[i] < '0' || token.ptr[i] > '9')
            return 0;
        index = index * 10 + (uint64_t)(token.ptr[i] - '0');
    }
    *out_index = (size_t)index;
    return index <= SIZE_MAX;
}

/* `at` is after the opening bracket. Returns where the element begins, or NULL. */
static const char *find_element(const char *at, const char *end, ki_str token)
{
    size_t index;
    if (!parse_index(token, &index))
        return NULL;
    at = ki_json_skip_space(at, end);
    for (; at != NULL && index > 0; index--)
        at = next_item(at, end);
    return at;
}

/* ---- lookups ------------------------------------------------------------------------------------------- */

static ki_json value_at(const char *at, const char *end)
{
    size_t len = at == NULL ? 0 : ki_json_skip_value(at, (size_t)(end - at));
    return len == 0 ? (ki_json){0} : (ki_json){{at, len}};
}

ki_json ki_json_member(ki_json object, ki_str name)
{
    if (ki_json_type_of(object) != KI_JSON_OBJECT)
        return (ki_json){0};
    const char *end = object.raw.ptr + object.raw.len;
    ki_json_spelt wanted = {name, KI_JSON_PLAIN};
    return value_at(find_member(object.raw.ptr + 1, end, wanted), end);
}

/* Every tilde must be followed by 0 or 1. */
static int token_is_well_formed(ki_str token, int *out_has_escapes)
{
    const char *end = token.ptr + token.len;
    const char *at = token.ptr;
    *out_has_escapes = 0;
    while (at < end && (at = memchr(at, '~', (size_t)(end - at))) != NULL) {
        if (end - at < 2 || (at[1] != '0' && at[1] != '1'))
            return 0;
        *out_has_escapes = 1;
        at += 2;
    }
    return 1;
}

/* Finds a child of the value that begins at `at`: the member or element that `token` names. Returns where
 * it begins, or NULL if there is none. */
static const char *find_child(const char *at, const char *end, ki_str token)
{
    int escaped;
    if (at == end || !token_is_well_formed(token, &escaped))
        return NULL;
    if (*at == '[')
        return find_element(at + 1, end, token);
    if (*at == '{')
        return find_member(at + 1, end, (ki_json_spelt){token, escaped ? KI_JSON_POINTER : KI_JSON_PLAIN});
    return NULL;
}

ki_json ki_json_find_str(ki_json value, ki_str pointer)
{
    if (pointer.len == 0 || value.raw.len == 0)
        return value;
    const char *end = value.raw.ptr + value.raw.len;
    const char *at = value.raw.ptr;
    const char *pointer_end = pointer.ptr + pointer.len;
    const char *slash = pointer.ptr;
    if (*slash != '/')
        return (ki_json){0};
    while (at != NULL && slash < pointer_end) {
        const char *token = slash + 1;
        const char *next = memchr(token, '/', (size_t)(pointer_end - token));
        slash = next == NULL ? pointer_end : next;
        at = find_child(at, end, (ki_str){token, (size_t)(slash - token)});
    }
    return value_at(at, end);
}

ki_json ki_json_find(ki_json value, const char *pointer)
{
    return pointer == NULL ? (ki_json){0} : ki_json_find_str(value, ki_str_of(pointer));
}
