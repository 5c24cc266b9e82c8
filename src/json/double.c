/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <float.h>
#include <kinformer/error.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json/number.h"

/* strtod() and printf() round correctly, but use the locale's decimal point. This does not matter here:
 * strtod() gets an integer with an exponent, and only the digits of printf()'s output are used. */

enum {
    /* The midpoint of two adjacent doubles has fewer digits. Of the digits after these, it only matters
     * whether all of them are 0. */
    DIGITS_DECISIVE = 800,
    DIGITS_EXACT = 15, /* every integer with this many digits is a double */
    DIGITS_MAX = 17,   /* enough to distinguish any two doubles */
    POWER_EXACT = 22,  /* 10^22 is a double, 10^23 is not */
};

/* ---- from text ----------------------------------------------------------------------------------------- */

/* Copies up to `max` significant digits and returns their number. */
static size_t copy_digits(const ki_json_decimal *decimal, char *out, size_t max)
{
    size_t count = 0;
    for (const char *at = decimal->first; at < decimal->end && count < max; at++) {
        if (*at != '.')
            out[count++] = *at;
    }
    return count;
}

/* The integer and the power of ten are exact, so their product or quotient is rounded only once: it is the
 * nearest double. Returns 0 if they are not exact. */
static int read_exactly(const ki_json_decimal *decimal, int64_t power, double *out_number)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (FLT_EVAL_METHOD != 0 || decimal->digits > DIGITS_EXACT || power > POWER_EXACT || power < -POWER_EXACT)
        return 0;
    char digits[DIGITS_EXACT];
    size_t count = copy_digits(decimal, digits, sizeof(digits));
    int64_t integer = 0;
    for (size_t i = 0; i < count; i++)
        integer = integer * 10 + (digits[i] - '0');
    *out_number = power < 0 ? (double)integer / powers[-power] : (double)integer * powers[power];
    return 1;
}

static double read_rounded(const ki_json_decimal *decimal, int64_t scale)
{
    char text[DIGITS_DECISIVE + 32];
    size_t count = copy_digits(decimal, text, DIGITS_DECISIVE);
    if (count < decimal->digits)
        text[count++] = '1'; /* stands for the remaining digits, which are not all zero */
    if (scale > 9999)
        scale = 9999;
    if (scale < -9999)
        scale = -9999;
    snprintf(text + count, sizeof(text) - count, "e%d", (int)scale - (int)count);
    return strtod(text, NULL);
}

int ki_json_number_double(ki_str raw, double *out_number)
{
    assert(out_number != NULL);
    assert(raw.ptr != NULL || raw.len == 0);
    ki_json_decimal decimal;
    if (ki_json_decimal_parse(raw, &decimal) < 0)
        return KI_ERR_TYPE;
    int64_t scale = ki_json_decimal_scale(&decimal);
    double number;
    if (!read_exactly(&decimal, scale - (int64_t)decimal.digits, &number))
        number = read_rounded(&decimal, scale);
    if (isinf(number))
        return KI_ERR_RANGE;
    *out_number = decimal.negative ? -number : number;
    return 0;
}

/* ---- to text ------------------------------------------------------------------------------------------- */

/* 0.d1d2d3… × 10^scale */
typedef struct double_digits {
    char digits[DIGITS_MAX + 1];
    int count;
    int scale;
} double_digits;

static double_digits rounded_to(double magnitude, int count)
{
    char text[64];
    snprintf(text, sizeof(text), "%.*e", count - 1, magnitude);
    double_digits out = {.count = 0};
    const char *at = text;
    for (; *at != 'e'; at++) {
        if (*at >= '0' && *at <= '9')
            out.digits[out.count++] = *at;
    }
    out.scale = (int)strtol(at + 1, NULL, 10) + 1;
    return out;
}

static int reads_back(const double_digits *decimal, double magnitude)
{
    char text[64];
    snprintf(text, sizeof(text), "%.*se%d", decimal->count, decimal->digits, decimal->scale - decimal->count);
    return strtod(text, NULL) == magnitude;
}

/* Turns the decimal into the next larger one with the same number of digits. */
static void step_up(double_digits *decimal)
{
    int at = decimal->count - 1;
    while (at >= 0 && decimal->digits[at] == '9')
        decimal->digits[at--] = '0';
    if (at >= 0) {
        decimal->digits[at]++;
        return;
    }
    decimal->digits[0] = '1';
    decimal->scale++;
}

/* Every decimal of fifteen digits survives the conversion to a double and back. So if a shorter form
 * exists, the fifteen digits end with zeros. Below DBL_MIN this does not hold, because doubles are coarser
 * there. A power of two is closer to the double below it than to the one above. There the nearest decimal
 * may be too low to read back, while the next decimal above reads back. */
static double_digits shortest(double magnitude)
{
    double_digits decimal = {.count = 0};
    for (int count = magnitude < DBL_MIN ? 1 : DIGITS_EXACT; count <= DIGITS_MAX; count++) {
        decimal = rounded_to(magnitude, count);
        if (reads_back(&decimal, magnitude))
            break;
        double_digits above = decimal;
        step_up(&above);
        if (count < DIGITS_MAX && reads_back(&above, magnitude)) {
            decimal = above;
            break;
        }
    }
    while (decimal.count > 1 && decimal.digits[decimal.count - 1] == '0')
        decimal.count--;
    return decimal;
}

static size_t put(char *out, size_t at, const char *bytes, int count)
{
    memcpy(out + at, bytes, (size_t)count);
    return at + (size_t)count;
}

static const char zeros[] = "00000000000000000000";

static size_t format_plain(const double_digits *decimal, char *out, size_t at)
{
    const char *digits = decimal->digits;
    int count = decimal->count;
    int scale = decimal->scale;
    if (scale <= 0) {
        at = put(out, at, "0.", 2);
        at = put(out, at, zeros, -scale);
        return put(out, at, digits, count);
    }
    if (scale >= count) {
        at = put(out, at, digits, count);
        return put(out, at, zeros, scale - count);
    }
    at = put(out, at, digits, scale);
    at = put(out, at, ".", 1);
    return put(out, at, digits + scale, count - scale);
}

static size_t format_with_exponent(const double_digits *decimal, char *out, size_t at)
{
    at = put(out, at, decimal->digits, 1);
    if (decimal->count > 1) {
        at = put(out, at, ".", 1);
        at = put(out, at, decimal->digits + 1, decimal->count - 1);
    }
    char exponent[16];
    int len = snprintf(exponent, sizeof(exponent), "e%+d", decimal->scale - 1);
    return put(out, at, exponent, len);
}

size_t ki_json_double_format(double number, char out[KI_JSON_DOUBLE_BYTES])
{
    assert(isfinite(number));
    size_t at = 0;
    if (signbit(number))
        out[at++] = '-';
    if (number == 0)
        return put(out, at, "0", 1);
    double_digits decimal = shortest(fabs(number));
    if (decimal.scale > 21 || decimal.scale < -5)
        return format_with_exponent(&decimal, out, at);
    return format_plain(&decimal, out, at);
}
