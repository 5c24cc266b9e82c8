/* SPDX-License-Identifier: Apache-2.0 */
#include "util/text/quantity_text.h"

#include <assert.h>
#include <stdbool.h>
#include <stdio.h>

enum { KILO_BITS = 10, EXPONENT_MAX = 18, NANO = -9 };

static const struct suffix {
    const char *text;
    int exponent; /* of ten; for the binary form, of two */
    ki_quantity_form form;
} suffixes[] = {
    {"", 0, KI_QUANTITY_DECIMAL},   {"m", -3, KI_QUANTITY_DECIMAL}, {"k", 3, KI_QUANTITY_DECIMAL},
    {"M", 6, KI_QUANTITY_DECIMAL},  {"G", 9, KI_QUANTITY_DECIMAL},  {"T", 12, KI_QUANTITY_DECIMAL},
    {"P", 15, KI_QUANTITY_DECIMAL}, {"E", 18, KI_QUANTITY_DECIMAL}, {"u", -6, KI_QUANTITY_DECIMAL},
    {"n", -9, KI_QUANTITY_DECIMAL}, {"Ki", 10, KI_QUANTITY_BINARY}, {"Mi", 20, KI_QUANTITY_BINARY},
    {"Gi", 30, KI_QUANTITY_BINARY}, {"Ti", 40, KI_QUANTITY_BINARY}, {"Pi", 50, KI_QUANTITY_BINARY},
    {"Ei", 60, KI_QUANTITY_BINARY},
};

/* ---- reading ------------------------------------------------------------------------------------------- */

/* Reads the digits before the suffix. Returns -1 if there are none, 1 if there are too many. */
static int read_number(ki_str text, size_t *at, ki_quantity_text *out)
{
    assert(out->number == 0 && out->exponent == 0);
    bool is_negative = text.len > 0 && text.ptr[0] == '-';
    size_t i = text.len > 0 && (is_negative || text.ptr[0] == '+') ? 1 : 0;
    bool is_fraction = false;
    size_t digits = 0;
    int rc = 0;
    for (; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '.' && !is_fraction) {
            is_fraction = true;
            continue;
        }
        if (c < '0' || c > '9')
            break;
        digits++;
        if (__builtin_mul_overflow(out->number, 10, &out->number) ||
            __builtin_add_overflow(out->number, c - '0', &out->number))
            rc = 1;
        out->exponent -= is_fraction ? 1 : 0;
    }
    out->number = is_negative && rc == 0 ? -out->number : out->number;
    assert(i <= text.len);
    *at = i;
    return digits == 0 ? -1 : rc;
}

/* "e3", "E-3". */
static int read_exponent(ki_str text, ki_quantity_text *out)
{
    bool is_negative = text.len > 1 && text.ptr[1] == '-';
    size_t i = text.len > 1 && (is_negative || text.ptr[1] == '+') ? 2 : 1;
    int exponent = 0;
    if (text.len == 0 || (text.ptr[0] != 'e' && text.ptr[0] != 'E') || i >= text.len)
        return -1;
    for (; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return -1;
        exponent = exponent < 1000 ? exponent * 10 + (text.ptr[i] - '0') : exponent;
    }
    out->exponent += is_negative ? -exponent : exponent;
    out->form = KI_QUANTITY_EXPONENT;
    return 0;
}

static int read_suffix(ki_str text, ki_quantity_text *out)
{
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        const struct suffix *suffix = &suffixes[i];
        if (!ki_str_equal(text, ki_str_of(suffix->text)))
            continue;
        out->form = suffix->form;
        if (suffix->form != KI_QUANTITY_BINARY) {
            out->exponent += suffix->exponent;
            return 0;
        }
        return __builtin_mul_overflow(out->number, (int64_t)1 << suffix->exponent, &out->number) ? 1 : 0;
    }
    return read_exponent(text, out);
}

/* Removes trailing zeros, except those needed for an exponent that is a multiple of three, as suffixes
 * require. Returns false if the quantity is out of range. */
static bool settle(ki_quantity_text *quantity)
{
    while (quantity->number != 0 && quantity->number % 10 == 0) {
        quantity->number /= 10;
        quantity->exponent++;
    }
    if (quantity->number == 0)
        quantity->exponent = 0;
    for (; quantity->exponent % 3 != 0; quantity->exponent--)
        if (__builtin_mul_overflow(quantity->number, 10, &quantity->number))
            return false;
    assert(quantity->number != 0 || quantity->exponent == 0);
    /* The least int64 is refused, because read_number() could not read it again: it reads the digits
     * first. */
    return quantity->number != INT64_MIN && quantity->exponent >= NANO && quantity->exponent <= EXPONENT_MAX;
}

int ki_quantity_text_parse(ki_str text, ki_quantity_text *out)
{
    ki_quantity_text quantity = {0};
    size_t at = 0;
    int rc = read_number(text, &at, &quantity);
    int suffix_rc = rc < 0 ? -1 : read_suffix((ki_str){text.ptr + at, text.len - at}, &quantity);
    if (rc < 0 || suffix_rc < 0)
        return -1;
    if (rc > 0 || suffix_rc > 0 || !settle(&quantity))
        return 1;
    *out = quantity;
    return 0;
}

/* ---- writing ------------------------------------------------------------------------------------------- */

static void write_decimal(const ki_quantity_text *quantity, char out[KI_QUANTITY_TEXT_BYTES])
{
    assert(quantity->exponent % 3 == 0);
    if (quantity->form == KI_QUANTITY_EXPONENT && quantity->exponent != 0) {
        (void)snprintf(out, KI_QUANTITY_TEXT_BYTES, "%llde%d", (long long)quantity->number,
                       quantity->exponent);
        return;
    }
    const char *suffix = "";
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
        if (suffixes[i].form == KI_QUANTITY_DECIMAL && suffixes[i].exponent == quantity->exponent)
            suffix = suffixes[i].text;
    (void)snprintf(out, KI_QUANTITY_TEXT_BYTES, "%lld%s", (long long)quantity->number, suffix);
}

/* Computes the whole number. False if the quantity is not whole or does not fit. */
static bool is_whole(const ki_quantity_text *quantity, int64_t *out)
{
    int64_t number = quantity->number;
    for (int i = 0; i < quantity->exponent; i++)
        if (__builtin_mul_overflow(number, 10, &number))
            return false;
    *out = number;
    return quantity->exponent >= 0;
}

void ki_quantity_text_write(const ki_quantity_text *quantity, char out[KI_QUANTITY_TEXT_BYTES])
{
    static const char *const units[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
    int64_t number = 0;
    size_t unit = 0;
    if (quantity->form != KI_QUANTITY_BINARY || !is_whole(quantity, &number) ||
        (number > -(1 << KILO_BITS) && number < 1 << KILO_BITS)) {
        write_decimal(quantity, out);
        return;
    }
    while (number % (1 << KILO_BITS) == 0) {
        number /= 1 << KILO_BITS;
        unit++;
        assert(unit < sizeof(units) / sizeof(units[0]));
    }
    (void)snprintf(out, KI_QUANTITY_TEXT_BYTES, "%lld%s", (long long)number, units[unit]);
}
