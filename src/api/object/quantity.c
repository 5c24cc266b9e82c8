/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <kinformer/quantity.h>

#include <math.h>

#include "util/text/byte.h"

/* __extension__ silences -Wpedantic: 2^63 units in billionths need 93 bits. */
__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;

enum { NANOS_PER_UNIT = 1000000000, NANOS_PER_MILLI = 1000000 };

/* The parsed text, before anything is computed. The digits are in the text, with or without a point. */
typedef struct parsed_text {
    const char *digits;
    size_t digit_count;
    size_t point; /* the number of digits before the point */
    int negative;
    int32_t exponent; /* a power of ten: 3 for the suffix k */
    unsigned shift;   /* a power of two: 10 for the suffix Ki */
} parsed_text;

static unsigned digit_at(const parsed_text *number, size_t index)
{
    assert(index < number->digit_count);
    return (unsigned)(number->digits[index < number->point ? index : index + 1] - '0');
}

static size_t count_digits(ki_str text)
{
    size_t count = 0;
    while (count < text.len && ki_byte_is_digit(text.ptr[count]))
        count++;
    return count;
}

static ki_str skip(ki_str text, size_t count)
{
    assert(count <= text.len);
    return (ki_str){text.ptr + count, text.len - count};
}

/* If the text begins with a sign, moves `rest` past it and returns 1. */
static int take_sign(ki_str *rest, int *out_negative)
{
    *out_negative = rest->len > 0 && rest->ptr[0] == '-';
    if (!*out_negative && (rest->len == 0 || rest->ptr[0] != '+'))
        return 0;
    *rest = skip(*rest, 1);
    return 1;
}

/* Like Kubernetes, refuses an exponent that does not fit an int32 instead of clamping it. */
static int read_exponent(ki_str text, int32_t *out_exponent)
{
    int negative;
    take_sign(&text, &negative);
    if (text.len == 0 || count_digits(text) != text.len)
        return KI_ERR_QUANTITY;
    int64_t value = 0;
    for (size_t i = 0; i < text.len; i++) {
        value = value * 10 + (text.ptr[i] - '0');
        if (value > INT32_MAX)
            return KI_ERR_QUANTITY;
    }
    *out_exponent = (int32_t)(negative ? -value : value);
    return 0;
}

/* "E" alone is exa, "Ei" is exbi, "E3" and "e3" are exponents: the longest reading wins. */
static int read_suffix(ki_str text, parsed_text *number)
{
    static const struct {
        char letter;
        int exponent;
        unsigned shift; /* if an i follows the letter; 0 if none may follow */
    } suffixes[] = {
        {'n', -9, 0}, {'u', -6, 0}, {'m', -3, 0},  {'k', 3, 0},   {'K', 0, 10},
        {'M', 6, 20}, {'G', 9, 30}, {'T', 12, 40}, {'P', 15, 50}, {'E', 18, 60},
    };
    if (text.len == 0)
        return 0;
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        if (suffixes[i].letter != text.ptr[0])
            continue;
        if (text.len == 1 && suffixes[i].exponent != 0) {
            number->exponent = suffixes[i].exponent;
            return 0;
        }
        if (text.len == 2 && text.ptr[1] == 'i' && suffixes[i].shift != 0) {
            number->shift = suffixes[i].shift;
            return 0;
        }
    }
    if (text.ptr[0] != 'e' && text.ptr[0] != 'E')
        return KI_ERR_QUANTITY;
    return read_exponent(skip(text, 1), &number->exponent);
}

static int read_text(ki_str text, parsed_text *out_number)
{
    parsed_text number = {0};
    take_sign(&text, &number.negative);
    number.digits = text.ptr;
    number.point = count_digits(text);
    number.digit_count = number.point;
    text = skip(text, number.point);
    if (text.len > 0 && text.ptr[0] == '.') {
        size_t fraction = count_digits(skip(text, 1));
        number.digit_count += fraction;
        text = skip(text, 1 + fraction);
    }
    if (number.digit_count == 0 || read_suffix(text, &number) < 0)
        return KI_ERR_QUANTITY;
    *out_number = number;
    return 0;
}

/* Returns the number that the digits before place `end` form, times 2^shift; INT64_MAX if it is larger.
 * Zeros are assumed after the last digit. */
static uint64_t whole_units(const parsed_text *number, int64_t end)
{
    assert(number->shift <= 60);
    uint64_t limit = (uint64_t)INT64_MAX >> number->shift;
    uint64_t value = 0;
    for (int64_t i = 0; i < end; i++) {
        int written = (uint64_t)i < number->digit_count;
        if (!written && value == 0)
            return 0;
        uint64_t digit = written ? digit_at(number, (size_t)i) : 0;
        if (digit > limit || value > (limit - digit) / 10)
            return INT64_MAX;
        value = value * 10 + digit;
    }
    return value << number->shift;
}

/* Returns the fraction that the digits from place `start` on form, times 2^shift, in billionths, rounded
 * up. The result is exact for any number of digits: for a whole number n, floor((n + y) / 10) equals
 * floor((n + floor(y)) / 10). So each step, from the last digit to the first, needs only the floor of the
 * step before, and one bit that records whether anything was lost. */
static uint128 fraction_nanos(const parsed_text *number, int64_t start)
{
    uint128 unit = (uint128)NANOS_PER_UNIT << number->shift;
    uint128 value = 0;
    int lost = 0;
    int64_t i = (int64_t)number->digit_count - 1;
    for (; i >= start && i >= 0; i--) {
        value += digit_at(number, (size_t)i) * unit;
        lost |= value % 10 != 0;
        value /= 10;
    }
    /* Places left of the first digit are zeros; once the value is 0 they change nothing. */
    for (; i >= start && value != 0; i--) {
        lost |= value % 10 != 0;
        value /= 10;
    }
    return value + (lost ? 1 : 0);
}

int ki_quantity_parse(ki_str text, ki_quantity *out_quantity)
{
    parsed_text number;
    if (out_quantity == NULL)
        return KI_ERR_INVALID;
    if (text.len == 0 || read_text(text, &number) < 0)
        return KI_ERR_QUANTITY;
    /* An exponent of ten only moves the point. */
    int64_t point = (int64_t)number.point + number.exponent;
    uint64_t units = whole_units(&number, point);
    uint128 nanos = units < INT64_MAX ? fraction_nanos(&number, point) : 0;
    nanos += (uint128)units * NANOS_PER_UNIT;
    if (nanos > (uint128)INT64_MAX * NANOS_PER_UNIT)
        nanos = (uint128)INT64_MAX * NANOS_PER_UNIT;
    int64_t whole = (int64_t)(nanos / NANOS_PER_UNIT);
    int32_t part = (int32_t)(nanos % NANOS_PER_UNIT);
    *out_quantity = (ki_quantity){
        .units = number.negative ? -whole : whole,
        .nanos = number.negative ? -part : part,
    };
    return 0;
}

static int128 total_nanos(ki_quantity quantity)
{
    return (int128)quantity.units * NANOS_PER_UNIT + quantity.nanos;
}

static int64_t divide_away_from_zero(int128 nanos, int32_t divisor)
{
    assert(divisor > 0);
    int128 quotient = nanos / divisor;
    if (nanos % divisor != 0)
        quotient += nanos < 0 ? -1 : 1;
    if (quotient > INT64_MAX)
        return INT64_MAX;
    return quotient < INT64_MIN ? INT64_MIN : (int64_t)quotient;
}

int64_t ki_quantity_value(ki_quantity quantity)
{
    return divide_away_from_zero(total_nanos(quantity), NANOS_PER_UNIT);
}

int64_t ki_quantity_milli_value(ki_quantity quantity)
{
    return divide_away_from_zero(total_nanos(quantity), NANOS_PER_MILLI);
}

/* Dividing the nearest double by 1e9 would round twice. Here the quotient has at least 90 bits, and its
 * last bit is set if there is a remainder. So only the conversion to a double rounds. */
double ki_quantity_double(ki_quantity quantity)
{
    int128 nanos = total_nanos(quantity);
    if (nanos == 0)
        return 0.0;
    uint128 magnitude = nanos < 0 ? -(uint128)nanos : (uint128)nanos;
    int shift = 0;
    while (magnitude >> 126 == 0) {
        magnitude <<= 1;
        shift++;
    }
    uint128 quotient = magnitude / NANOS_PER_UNIT;
    if (magnitude % NANOS_PER_UNIT != 0)
        quotient |= 1;
    double value = ldexp((double)quotient, -shift);
    return nanos < 0 ? -value : value;
}

int ki_quantity_compare(ki_quantity a, ki_quantity b)
{
    int128 left = total_nanos(a);
    int128 right = total_nanos(b);
    return (left > right) - (left < right);
}
