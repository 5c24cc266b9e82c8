/* SPDX-License-Identifier: Apache-2.0 */
#include "json/read.h"

#include <assert.h>
#include <string.h>

#include "json/number.h"
#include "json/skip.h"
#include "json/text.h"
#include "util/text/byte.h"

/* ---- values -------------------------------------------------------------------------------------------- */

ki_json ki_json_of(ki_str text)
{
    if (text.len == 0)
        return (ki_json){0};
    const char *end = text.ptr + text.len;
    const char *at = ki_json_skip_space(text.ptr, end);
    while (end > at && ki_byte_is_space(end[-1]))
        end--;
    return at == end ? (ki_json){0} : (ki_json){{at, (size_t)(end - at)}};
}

ki_json_type ki_json_type_of(ki_json value)
{
    if (value.raw.len == 0)
        return KI_JSON_NONE;
    switch (value.raw.ptr[0]) {
    case '{':
        return KI_JSON_OBJECT;
    case '[':
        return KI_JSON_ARRAY;
    case '"':
        return KI_JSON_STRING;
    case 't':
    case 'f':
        return KI_JSON_BOOL;
    case 'n':
        return KI_JSON_NULL;
    case '-':
        return KI_JSON_NUMBER;
    default:
        return value.raw.ptr[0] >= '0' && value.raw.ptr[0] <= '9' ? KI_JSON_NUMBER : KI_JSON_NONE;
    }
}

/* ---- iteration ----------------------------------------------------------------------------------------- */

/* The values of iter->state: where iter->at is. */
enum {
    BEFORE_FIRST = 0, /* after the opening bracket */
    BEHIND_ITEM = 1,  /* after a value: a comma or the closing bracket comes next */
};

ki_json_iter ki_json_iterate(ki_json container)
{
    ki_json_type type = ki_json_type_of(container);
    if (type != KI_JSON_OBJECT && type != KI_JSON_ARRAY)
        return (ki_json_iter){0};
    return (ki_json_iter){
        .at = container.raw.ptr + 1,
        .limit = container.raw.ptr + container.raw.len,
        .in_object = type == KI_JSON_OBJECT,
        .state = BEFORE_FIRST,
    };
}

/* Moves to the next name or element and returns 1, or past the closing bracket and returns 0. */
static int to_next_item(ki_json_iter *iter)
{
    const char *at = ki_json_skip_space(iter->at, iter->limit);
    if (at == iter->limit)
        return KI_ERR_JSON_SYNTAX;
    if (*at == (iter->in_object ? '}' : ']')) {
        iter->at = at + 1;
        return 0;
    }
    if (iter->state == BEHIND_ITEM) {
        if (*at != ',')
            return KI_ERR_JSON_SYNTAX;
        at = ki_json_skip_space(at + 1, iter->limit);
    }
    iter->at = at;
    return 1;
}

/* Takes a string and the colon after it. */
static int take_name(ki_json_iter *iter, ki_json *out_name)
{
    if (iter->at == iter->limit || *iter->at != '"' || ki_json_iter_take(iter, out_name) < 0)
        return KI_ERR_JSON_SYNTAX;
    const char *at = ki_json_skip_space(iter->at, iter->limit);
    if (at == iter->limit || *at != ':')
        return KI_ERR_JSON_SYNTAX;
    iter->at = ki_json_skip_space(at + 1, iter->limit);
    return 1;
}

int ki_json_iter_to_value(ki_json_iter *iter, ki_json *out_name)
{
    int rc = to_next_item(iter);
    iter->state = BEHIND_ITEM;
    if (rc != 1 || !iter->in_object)
        return rc;
    return take_name(iter, out_name);
}

int ki_json_iter_take(ki_json_iter *iter, ki_json *out_value)
{
    assert(iter != NULL && out_value != NULL);
    size_t len = ki_json_skip_value(iter->at, (size_t)(iter->limit - iter->at));
    if (len == 0)
        return KI_ERR_JSON_SYNTAX;
    *out_value = (ki_json){{iter->at, len}};
    iter->at += len;
    return 1;
}

int ki_json_iter_step(ki_json_iter *iter, ki_json *out_name, ki_json *out_value)
{
    assert(iter != NULL && out_name != NULL);
    if (iter->at == NULL)
        return 0;
    *out_name = (ki_json){0};
    int rc = ki_json_iter_to_value(iter, out_name);
    if (rc == 1)
        rc = ki_json_iter_take(iter, out_value);
    else if (rc == 0 && iter->at != iter->limit)
        rc = KI_ERR_JSON_SYNTAX;
    if (rc != 1)
        *iter = (ki_json_iter){0};
    return rc;
}

int ki_json_next(ki_json_iter *iter, ki_json *out_name, ki_json *out_value)
{
    ki_json name, value;
    if (iter == NULL || ki_json_iter_step(iter, &name, &value) != 1)
        return 0;
    if (out_name != NULL)
        *out_name = name;
    if (out_value != NULL)
        *out_value = value;
    return 1;
}

/* ---- strings ------------------------------------------------------------------------------------------- */

/* A string is complete if its closing quote is the last byte of the value. */
static int is_whole_string(ki_str raw)
{
    return raw.len >= 2 && raw.ptr[0] == '"' && ki_json_skip_string(raw.ptr, raw.len) == raw.len;
}

int ki_json_string(ki_json value, ki_str *out_text)
{
    ki_str raw = value.raw;
    if (out_text == NULL)
        return KI_ERR_INVALID;
    if (raw.len < 2 || raw.ptr[0] != '"')
        return KI_ERR_TYPE;
    size_t plain = ki_json_skip_plain(raw.ptr + 1, raw.len - 1);
    if (plain == raw.len - 2 && raw.ptr[raw.len - 1] == '"') {
        *out_text = (ki_str){raw.ptr + 1, plain};
        return 0;
    }
    return is_whole_string(raw) ? KI_ERR_ESCAPED : KI_ERR_TYPE;
}

int ki_json_string_copy(ki_json value, char *buffer, size_t buffer_bytes, size_t *out_len)
{
    if (out_len == NULL || (buffer == NULL && buffer_bytes != 0))
        return KI_ERR_INVALID;
    if (!is_whole_string(value.raw))
        return KI_ERR_TYPE;
    ki_str raw = ki_json_inside(value);
    if (buffer_bytes < raw.len) {
        size_t needed = ki_json_unescaped_len(raw.ptr, raw.len);
        if (needed == KI_JSON_BAD_ESCAPE)
            return KI_ERR_JSON_ESCAPE;
        if (needed > buffer_bytes)
            return KI_ERR_TOO_LARGE;
    }
    size_t len = ki_json_unescape(raw.ptr, raw.len, buffer);
    if (len == KI_JSON_BAD_ESCAPE)
        return KI_ERR_JSON_ESCAPE;
    *out_len = len;
    return 0;
}

int ki_json_string_equals(ki_json value, ki_str text)
{
    ki_str plain;
    int rc = ki_json_string(value, &plain);
    if (rc != KI_ERR_ESCAPED)
        return rc == 0 && ki_str_equal(plain, text);
    ki_json_spelt raw = {ki_json_inside(value), KI_JSON_RAW};
    return ki_json_text_compare(raw, (ki_json_spelt){text, KI_JSON_PLAIN}) == 0;
}

/* ---- numbers and booleans ------------------------------------------------------------------------------ */

int ki_json_int64(ki_json value, int64_t *out_number)
{
    return out_number == NULL ? KI_ERR_INVALID : ki_json_number_int64(value.raw, out_number);
}

int ki_json_double(ki_json value, double *out_number)
{
    return out_number == NULL ? KI_ERR_INVALID : ki_json_number_double(value.raw, out_number);
}

int ki_json_bool(ki_json value, int *out_flag)
{
    if (out_flag == NULL)
        return KI_ERR_INVALID;
    int is_true = ki_str_equal(value.raw, KI_STR("true"));
    if (!is_true && !ki_str_equal(value.raw, KI_STR("false")))
        return KI_ERR_TYPE;
    *out_flag = is_true;
    return 0;
}
