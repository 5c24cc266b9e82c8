/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/value/quantity.h"

#include <stdio.h>
#include <string.h>

#include "apiserver/value/tree.h"

enum { NUMBER_BYTES = 32 };

int ki_as_quantity_of(const json_t *value, ki_quantity_text *out)
{
    char text[NUMBER_BYTES];
    if (json_is_string(value))
        return ki_quantity_text_parse(ki_as_json_str(value), out);
    if (!json_is_number(value))
        return -1;
    if (json_is_integer(value))
        (void)snprintf(text, sizeof(text), "%lld", (long long)json_integer_value(value));
    else
        (void)snprintf(text, sizeof(text), "%.15g", json_real_value(value));
    return ki_quantity_text_parse(ki_str_of(text), out);
}

json_t *ki_as_quantity_settled(json_t *value)
{
    char text[KI_QUANTITY_TEXT_BYTES];
    ki_quantity_text quantity;
    if (ki_as_quantity_of(value, &quantity) != 0)
        return json_incref(value);
    ki_quantity_text_write(&quantity, text);
    if (json_is_string(value) && strcmp(text, json_string_value(value)) == 0)
        return json_incref(value);
    return json_string_nocheck(text);
}

static long double value_of(const ki_quantity_text *quantity)
{
    long double value = (long double)quantity->number;
    for (int i = 0; i < quantity->exponent; i++)
        value *= 10;
    for (int i = 0; i > quantity->exponent; i--)
        value /= 10;
    return value;
}

int ki_as_quantity_compare(const ki_quantity_text *a, const ki_quantity_text *b)
{
    long double left = value_of(a);
    long double right = value_of(b);
    return left < right ? -1 : left > right;
}
