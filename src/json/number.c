/* SPDX-License-Identifier: Apache-2.0 */
#include "json/number.h"

#include <assert.h>
#include <kinformer/error.h>
#include <string.h>

#include "util/text/byte.h"

/* ---- parsing ------------------------------------------------------------------------------------------- */

static const char *skip_digits(const char *at, const char *end)
{
    while (at < end && ki_byte_is_digit(*at))
        at++;
    return at;
}

/* The parts of the text, each a run of digits. */
typedef struct number_parts {
    ki_str whole;
    ki_str fraction;
    ki_str exponent;
} number_parts;

/* Takes a run of digits into *out_part and returns the position after it; NULL if there is no digit. */
static const char *take_digits(const char *at, const char *end, ki_str *out_part)
{
    const char *behind = skip_digits(at, end);
    *out_part = (ki_str){at, (size_t)(behind - at)};
    return behind == at ? NULL : behind;
}

/* `at` is the byte after e or E. */
static const char *take_exponent(const char *at, const char *end, ki_json_decimal *out, number_parts *parts)
{
    if (at < end && (*at == '-' || *at == '+'))
        out->exponent_negative = *at++ == '-';
    return take_digits(at, end, &parts->exponent);
}

static int split(ki_str raw, ki_json_decimal *out, number_parts *parts)
{
    if (raw.len == 0)
        return 0;
    const char *at = raw.ptr;
    const char *end = raw.ptr + raw.len;
    if (*at == '-') {
        out->negative = 1;
        at++;
    }
    at = take_digits(at, end, &parts->whole);
    if (at == NULL || (parts->whole.len > 1 && parts->whole.ptr[0] == '0'))
        return 0;
    if (at < end && *at == '.')
        at = take_digits(at + 1, end, &parts->fraction);
    if (at != NULL && at < end && (*at == 'e' || *at == 'E'))
        at = take_exponent(at + 1, end, out, parts);
    return at == end;
}

static ki_str without_leading_zeros(ki_str digits)
{
    while (digits.len > 0 && digits.ptr[0] == '0') {
        digits.ptr++;
        digits.len--;
    }
    return digits;
}

static ki_str without_trailing_zeros(ki_str digits)
{
    while (digits.len > 0 && digits.ptr[digits.len - 1] == '0')
        digits.len--;
    return digits;
}

/* Sets first, end, digits and point for the range from the first to the last digit that is not 0. */
static void set_significant(ki_json_decimal *out, const number_parts *parts)
{
    ki_str whole = without_leading_zeros(parts->whole);
    ki_str fraction = without_trailing_zeros(parts->fraction);
    if (whole.len > 0) {
        ki_str digits = fraction.len > 0 ? whole : without_trailing_zeros(whole);
        out->first = whole.ptr;
        out->end = fraction.len > 0 ? fraction.ptr + fraction.len : digits.ptr + digits.len;
        out->digits = digits.len + fraction.len;
        out->point = (int64_t)whole.len;
    } else {
        ki_str digits = without_leading_zeros(fraction);
        out->first = digits.ptr;
        out->end = digits.len == 0 ? digits.ptr : digits.ptr + digits.len;
        out->digits = digits.len;
        out->point = -(int64_t)(fraction.len - digits.len);
    }
}

int ki_json_decimal_parse(ki_str raw, ki_json_decimal *out)
{
    assert(raw.ptr != NULL || raw.len == 0);
    ki_json_decimal decimal = {0};
    number_parts parts = {0};
    if (!split(raw, &decimal, &parts))
        return KI_ERR_TYPE;
    set_significant(&decimal, &parts);
    decimal.exponent = without_leading_zeros(parts.exponent);
    *out = decimal;
    return 0;
}

int64_t ki_json_decimal_scale(const ki_json_decimal *decimal)
{
    assert(decimal != NULL);
    if (decimal->digits == 0)
        return 0;
    int64_t exponent = 0;
    for (size_t i = 0; i < decimal->exponent.len; i++) {
        if (exponent >= KI_JSON_EXPONENT_MAX / 10)
            exponent = KI_JSON_EXPONENT_MAX;
        else
            exponent = exponent * 10 + (decimal->exponent.ptr[i] - '0');
    }
    if (decimal->exponent_negative)
        exponent = -exponent;
    int64_t scale = decimal->point + exponent;
    if (scale > KI_JSON_EXPONENT_MAX)
        return KI_JSON_EXPONENT_MAX;
    return scale < -KI_JSON_EXPONENT_MAX ? -KI_JSON_EXPONENT_MAX : scale;
}

/* ---- equality ------------------------------------------------------------------------------------------ */

static int same_digits(const ki_json_decimal *a, const ki_json_decimal *b)
{
    if (a->digits != b->digits)
        return 0;
    const char *left = a->first;
    const char *right = b->first;
    for (size_t i = 0; i < a->digits; i++) {
        left += *left == '.';
        right += *right == '.';
        if (*left++ != *right++)
            return 0;
    }
    return 1;
}

/* The digit at 10^place of an exponent, with the exponent's sign. */
static int64_t exponent_digit(const ki_json_decimal *decimal, size_t place)
{
    if (place >= decimal->exponent.len)
        return 0;
    int64_t digit = decimal->exponent.ptr[decimal->exponent.len - 1 - place] - '0';
    return decimal->exponent_negative ? -digit : digit;
}

/* Subtracts the exponents digit by digit, the highest first. Each step turns a difference d into 10 d plus
 * at most 18, or minus at most 18. So once it is larger than the positions of the points, which are limited
 * by the lengths of the texts, it stays larger. */
static int same_scale(const ki_json_decimal *a, const ki_json_decimal *b)
{
    const int64_t hopeless = KI_JSON_EXPONENT_MAX / 10;
    size_t places = a->exponent.len > b->exponent.len ? a->exponent.len : b->exponent.len;
    int64_t difference = 0;
    while (places > 0) {
        places--;
        difference = difference * 10 + exponent_digit(a, places) - exponent_digit(b, places);
        if (difference > hopeless || difference < -hopeless)
            return 0;
    }
    return difference == b->point - a->point;
}

int ki_json_number_equal(ki_str a, ki_str b)
{
    assert((a.ptr != NULL || a.len == 0) && (b.ptr != NULL || b.len == 0));
    ki_json_decimal left, right;
    if (ki_json_decimal_parse(a, &left) < 0 || ki_json_decimal_parse(b, &right) < 0)
        return KI_ERR_TYPE;
    if (left.digits == 0 || right.digits == 0)
        return left.digits == right.digits;
    return left.negative == right.negative && same_digits(&left, &right) && same_scale(&left, &right);
}

/* ---- int64 --------------------------------------------------------------------------------------------- */

enum { INT64_DIGITS = 19 };

static int with_sign(uint64_t magnitude, int negative, int64_t *out_number)
{
    if (magnitude > (uint64_t)INT64_MAX + (negative ? 1 : 0))
        return KI_ERR_RANGE;
    *out_number = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
    return 0;
}

/* Reads a number that has only digits, like most numbers in Kubernetes. Returns 0 for others. */
static int read_short(ki_str raw, int64_t *out_number)
{
    if (raw.len == 0 || raw.len >= INT64_DIGITS || raw.ptr[0] == '0' || !ki_byte_is_digit(raw.ptr[0]))
        return 0;
    int64_t number = 0;
    for (size_t i = 0; i < raw.len; i++) {
        if (!ki_byte_is_digit(raw.ptr[i]))
            return 0;
        number = number * 10 + (raw.ptr[i] - '0');
    }
    *out_number = number;
    return 1;
}

int ki_json_number_int64(ki_str raw, int64_t *out_number)
{
    assert(raw.ptr != NULL || raw.len == 0);
    ki_json_decimal decimal;
    if (read_short(raw, out_number))
        return 0;
    if (ki_json_decimal_parse(raw, &decimal) < 0)
        return KI_ERR_TYPE;
    int64_t scale = ki_json_decimal_scale(&decimal);
    if (decimal.digits > 0 && (scale < 0 || (uint64_t)scale < decimal.digits))
        return KI_ERR_TYPE;
    if (scale > INT64_DIGITS)
        return KI_ERR_RANGE;
    uint64_t magnitude = 0;
    const char *at = decimal.first;
    for (int64_t i = 0; i < scale; i++) {
        if (at < decimal.end && *at == '.')
            at++;
        magnitude = magnitude * 10 + (at < decimal.end ? (uint64_t)(*at++ - '0') : 0);
    }
    return with_sign(magnitude, decimal.negative, out_number);
}
