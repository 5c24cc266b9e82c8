/* SPDX-License-Identifier: Apache-2.0 */
#include "support/json/json_strict.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 1000 };

/* The text must be valid JSON. */
static int is_too_deep(ki_str text)
{
    int depth = 0;
    int in_string = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '"')
            in_string = !in_string;
        else if (in_string)
            i += c == '\\';
        else if (c == '{' || c == '[')
            depth++;
        else if (c == '}' || c == ']')
            depth--;
        if (depth > DEPTH_MAX)
            return 1;
    }
    return 0;
}

/* Replaces the number that ends before `end` by 0 or -0 and spaces. Returns 0 if there is none. */
static int replace_number(char *text, size_t end)
{
    size_t start = end;
    int has_sign = 0; /* a minus that is not part of an exponent begins the number */
    while (start > 0 && !has_sign && text[start - 1] != 0 &&
           strchr("0123456789+-.eE", text[start - 1]) != NULL) {
        start--;
        has_sign = text[start] == '-' && (start == 0 || (text[start - 1] != 'e' && text[start - 1] != 'E'));
    }
    start += (size_t)has_sign;
    if (start == end)
        return 0;
    memset(text + start, ' ', end - start);
    text[start] = '0';
    return 1;
}

static int is_escaped(const char *text, size_t at)
{
    size_t backslashes = 0;
    while (backslashes < at && text[at - 1 - backslashes] == '\\')
        backslashes++;
    return backslashes % 2 == 1;
}

/* Replaces the last \u0000 before `end` by \u0001. Returns 0 if there is none. */
static int replace_nul(char *text, size_t end)
{
    for (size_t at = end; at >= 6; at--) {
        char *escape = text + at - 6;
        if (memcmp(escape, "\\u0000", 6) == 0 && !is_escaped(text, at - 6)) {
            escape[5] = '1';
            return 1;
        }
    }
    return 0;
}

int json_strict_accepts(ki_str text)
{
    if (text.len == 0 || memchr(text.ptr, 0, text.len) != NULL)
        return 0;
    char *copy = malloc(text.len);
    if (copy == NULL)
        abort();
    memcpy(copy, text.ptr, text.len);
    json_t *value = NULL;
    for (int goes_on = 1; goes_on && value == NULL;) {
        json_error_t error;
        value = json_loadb(copy, text.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
        if (value != NULL)
            break;
        size_t end = (size_t)error.position;
        goes_on = (json_error_code(&error) == json_error_numeric_overflow && replace_number(copy, end)) ||
                  (json_error_code(&error) == json_error_null_byte_in_key && replace_nul(copy, end));
    }
    int accepted = value != NULL && !is_too_deep(text);
    json_decref(value);
    free(copy);
    return accepted;
}
