/* SPDX-License-Identifier: Apache-2.0 */
#include "support/json/json_reference.h"

#include <stdlib.h>
#include <string.h>

json_t *json_reference_parse(ki_str text)
{
    const size_t flags = JSON_DECODE_ANY | JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES;
    if (memchr(text.ptr, 0, text.len) != NULL) /* jansson takes a NUL for the end of the text */
        return NULL;
    json_t *reference = json_loadb(text.ptr, text.len, flags, NULL);
    if (reference == NULL)
        reference = json_loadb(text.ptr, text.len, flags | JSON_DECODE_INT_AS_REAL, NULL);
    return reference;
}

/* Returns the unescaped text, for free(); NULL if the value is not a string. */
static char *copy_string(ki_json value, size_t *out_len)
{
    char *text = malloc(value.raw.len + 1);
    if (text == NULL)
        abort();
    if (ki_json_string_copy(value, text, value.raw.len, out_len) == 0) {
        text[*out_len] = 0;
        return text;
    }
    free(text);
    return NULL;
}

static int same_string(ki_json value, const json_t *reference)
{
    size_t len;
    ki_str expected = {json_string_value(reference), json_string_length(reference)};
    ki_str borrowed;
    char *text = copy_string(value, &len);
    int same =
        text != NULL && ki_str_equal((ki_str){text, len}, expected) && ki_json_string_equals(value, expected);
    free(text);
    int rc = ki_json_string(value, &borrowed);
    int escaped = memchr(value.raw.ptr, '\\', value.raw.len) != NULL;
    return same && (escaped ? rc == KI_ERR_ESCAPED : rc == 0 && ki_str_equal(borrowed, expected));
}

static int same_number(ki_json value, const json_t *reference)
{
    int64_t integer;
    double real;
    if (json_is_integer(reference) &&
        (ki_json_int64(value, &integer) != 0 || integer != json_integer_value(reference)))
        return 0;
    return ki_json_double(value, &real) == 0 && real == json_number_value(reference);
}

static int same_array(ki_json value, const json_t *reference)
{
    ki_json_iter iter = ki_json_iterate(value);
    ki_json name, element;
    size_t count = 0;
    while (ki_json_next(&iter, &name, &element)) {
        if (ki_json_type_of(name) != KI_JSON_NONE || count == json_array_size(reference) ||
            !json_reference_same(element, json_array_get(reference, count)))
            return 0;
        count++;
    }
    return count == json_array_size(reference);
}

static int same_object(ki_json value, const json_t *reference)
{
    ki_json_iter iter = ki_json_iterate(value);
    ki_json name, member;
    size_t count = 0;
    while (ki_json_next(&iter, &name, &member)) {
        size_t len;
        char *key = copy_string(name, &len);
        const json_t *expected = key == NULL ? NULL : json_object_get(reference, key);
        ki_json found = ki_json_member(value, (ki_str){key, key == NULL ? 0 : len});
        free(key);
        if (expected == NULL || !json_reference_same(member, expected) || found.raw.ptr != member.raw.ptr ||
            found.raw.len != member.raw.len)
            return 0;
        count++;
    }
    return count == json_object_size(reference);
}

int json_reference_same(ki_json value, const json_t *reference)
{
    int flag;
    switch (ki_json_type_of(value)) {
    case KI_JSON_NULL:
        return json_is_null(reference);
    case KI_JSON_BOOL:
        return json_is_boolean(reference) && ki_json_bool(value, &flag) == 0 &&
               flag == json_is_true(reference);
    case KI_JSON_NUMBER:
        return json_is_number(reference) && same_number(value, reference);
    case KI_JSON_STRING:
        return json_is_string(reference) && same_string(value, reference);
    case KI_JSON_ARRAY:
        return json_is_array(reference) && same_array(value, reference);
    case KI_JSON_OBJECT:
        return json_is_object(reference) && same_object(value, reference);
    case KI_JSON_NONE:
    default:
        return 0;
    }
}
