/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/value/yaml_scalar.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_BYTES_MAX = 128 };

static bool is_one_of(ki_str text, const char *const *words)
{
    while (*words != NULL && !ki_str_equal(text, ki_str_of(*words)))
        words++;
    return *words != NULL;
}

/* Copies the text without underscores. False if it is too long for a number, or contains a NUL. */
static bool clean(ki_str text, char out[NUMBER_BYTES_MAX])
{
    size_t len = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '_')
            continue;
        if (len + 1 >= NUMBER_BYTES_MAX || text.ptr[i] == 0)
            return false;
        out[len++] = text.ptr[i];
    }
    out[len] = 0;
    return true;
}

/* The base given by the prefix, and the digits after it. A single zero means octal, as in C. */
static int base_of(const char *digits, const char **out_rest)
{
    static const struct {
        char letter;
        int base;
    } prefixes[] = {{'x', 16}, {'X', 16}, {'b', 2}, {'B', 2}, {'o', 8}, {'O', 8}};
    *out_rest = digits;
    if (digits[0] != '0' || digits[1] == 0)
        return 10;
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        if (digits[1] == prefixes[i].letter) {
            *out_rest = digits + 2;
            return prefixes[i].base;
        }
    }
    *out_rest = digits + 1;
    return 8;
}

static json_t *integer(const char *text)
{
    bool is_negative = text[0] == '-';
    const char *digits = NULL;
    int base = base_of(text + (text[0] == '-' || text[0] == '+' ? 1 : 0), &digits);
    char *end = NULL;
    if (!(digits[0] >= '0' && digits[0] <= '9') &&
        (base != 16 || digits[0] == 0 || strchr("abcdefABCDEF", digits[0]) == NULL))
        return NULL;
    errno = 0;
    unsigned long long value = strtoull(digits, &end, base);
    if (*end != 0 || errno != 0)
        return NULL;
    if (is_negative && value == (unsigned long long)INT64_MAX + 1)
        return json_integer(INT64_MIN);
    if (value <= (unsigned long long)INT64_MAX)
        return json_integer(is_negative ? -(json_int_t)value : (json_int_t)value);
    return json_real(is_negative ? -(double)value : (double)value);
}

/* [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)? */
static bool is_float(const char *text)
{
    text += text[0] == '-' || text[0] == '+' ? 1 : 0;
    size_t whole = strspn(text, "0123456789");
    text += whole;
    size_t fraction = text[0] == '.' ? strspn(text + 1, "0123456789") : 0;
    if (whole == 0 && fraction == 0)
        return false;
    text += text[0] == '.' ? fraction + 1 : 0;
    if (text[0] == 'e' || text[0] == 'E') {
        text += text[1] == '-' || text[1] == '+' ? 2 : 1;
        size_t exponent = strspn(text, "0123456789");
        if (exponent == 0)
            return false;
        text += exponent;
    }
    return *text == 0;
}

/* Whole numbers become integers, so that clients see no fraction. */
static json_t *real(const char *text)
{
    errno = 0;
    double value = strtod(text, NULL);
    if (isinf(value))
        return NULL;
    if (value == floor(value) && fabs(value) < 9e18)
        return json_integer((json_int_t)value);
    return json_real(value);
}

static json_t *number(ki_str text)
{
    char cleaned[NUMBER_BYTES_MAX];
    if (text.len == 0 || strchr("+-.0123456789", text.ptr[0]) == NULL || !clean(text, cleaned))
        return NULL;
    json_t *value = integer(cleaned);
    if (value == NULL && is_float(cleaned))
        value = real(cleaned);
    return value;
}

json_t *ki_as_yaml_resolve(ki_str text, bool *out_is_unsupported)
{
    static const char *const nothing[] = {"", "~", "null", "Null", "NULL", NULL};
    static const char *const yes[] = {"y",    "Y",    "yes", "Yes", "YES", "true",
                                      "True", "TRUE", "on",  "On",  "ON",  NULL};
    static const char *const no[] = {"n",     "N",     "no",  "No",  "NO",  "false",
                                     "False", "FALSE", "off", "Off", "OFF", NULL};
    static const char *const unsupported[] = {".nan",  ".NaN",  ".NAN",  ".inf",  ".Inf",  ".INF", "+.inf",
                                              "+.Inf", "+.INF", "-.inf", "-.Inf", "-.INF", NULL};
    *out_is_unsupported = is_one_of(text, unsupported);
    if (*out_is_unsupported)
        return NULL;
    if (is_one_of(text, nothing))
        return json_null();
    if (is_one_of(text, yes))
        return json_true();
    if (is_one_of(text, no))
        return json_false();
    json_t *value = number(text);
    return value != NULL ? value : json_stringn(text.len > 0 ? text.ptr : "", text.len);
}
