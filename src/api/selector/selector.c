/* SPDX-License-Identifier: Apache-2.0 */
/* Matches labels, and writes a selector as text. */
#include <assert.h>
#include <kinformer/selector.h>

#include "api/resource/bounded_text.h"
#include "api/resource/label_syntax.h"
#include "api/selector/selector_layout.h"
#include "util/alloc.h"
#include "util/sorted.h"

/* The selector that matches nothing is a contradiction, not a special case, so that it also matches nothing
 * when its text is sent to a server. */
static const ki_requirement contradiction[] = {
    {.key = {"nothing", 7}, .op = KI_SELECTOR_EXISTS},
    {.key = {"nothing", 7}, .op = KI_SELECTOR_NOT_EXISTS},
};
static const ki_selector everything = {NULL, 0};
static const ki_selector nothing = {contradiction, sizeof(contradiction) / sizeof(contradiction[0])};

const ki_selector *ki_selector_everything(void)
{
    return &everything;
}

const ki_selector *ki_selector_nothing(void)
{
    return &nothing;
}

int ki_selector_is_everything(const ki_selector *selector)
{
    return selector != NULL && selector->count == 0;
}

void ki_selector_free(ki_selector *selector)
{
    ki_free(selector);
}

/* ---- matching ------------------------------------------------------------------------------------------ */

/* Reads the text of a label, and unescapes it into the buffer if necessary. Returns 0 if the label is not a
 * string, or is longer than a label's value can be: then it equals no value in a selector. */
static int label_text(ki_json label, char buffer[KI_LABEL_NAME_BYTES_MAX], ki_str *out_text)
{
    ki_str text = {buffer, 0};
    int rc = ki_json_string(label, &text);
    if (rc == KI_ERR_ESCAPED) {
        text.ptr = buffer;
        rc = ki_json_string_copy(label, buffer, KI_LABEL_NAME_BYTES_MAX, &text.len);
    }
    if (rc < 0 || text.len > KI_LABEL_NAME_BYTES_MAX)
        return 0;
    *out_text = text;
    return 1;
}

/* Reads an optional sign and digits. The number must fit in an int64; leading zeros are ignored. */
static int read_integer(ki_str text, int64_t *out_number)
{
    size_t at = text.len > 0 && (text.ptr[0] == '-' || text.ptr[0] == '+');
    int negative = at > 0 && text.ptr[0] == '-';
    if (at == text.len)
        return 0;
    int64_t number = 0; /* kept negative, because INT64_MIN has no positive counterpart */
    for (; at < text.len; at++) {
        char c = text.ptr[at];
        if (c < '0' || c > '9' || __builtin_mul_overflow(number, 10, &number) ||
            __builtin_sub_overflow(number, c - '0', &number))
            return 0;
    }
    if (!negative && number == INT64_MIN)
        return 0;
    *out_number = negative ? number : -number;
    return 1;
}

static int value_satisfies(const ki_requirement *requirement, ki_str text)
{
    int64_t number;
    switch (requirement->op) {
    case KI_SELECTOR_IN:
        return ki_sorted_has(requirement->values, requirement->value_count, text);
    case KI_SELECTOR_NOT_IN:
        return !ki_sorted_has(requirement->values, requirement->value_count, text);
    case KI_SELECTOR_GREATER:
        return read_integer(text, &number) && number > requirement->bound;
    case KI_SELECTOR_LESS:
        return read_integer(text, &number) && number < requirement->bound;
    case KI_SELECTOR_EXISTS:
    case KI_SELECTOR_NOT_EXISTS:
        break;
    }
    return requirement->op == KI_SELECTOR_EXISTS;
}

static int label_satisfies(const ki_requirement *requirement, ki_json label)
{
    int is_negative = requirement->op == KI_SELECTOR_NOT_IN || requirement->op == KI_SELECTOR_NOT_EXISTS;
    if (ki_json_type_of(label) == KI_JSON_NONE)
        return is_negative;
    if (requirement->op == KI_SELECTOR_EXISTS || requirement->op == KI_SELECTOR_NOT_EXISTS)
        return !is_negative;
    char buffer[KI_LABEL_NAME_BYTES_MAX];
    ki_str text;
    return label_text(label, buffer, &text) ? value_satisfies(requirement, text) : is_negative;
}

int ki_selector_matches_labels(const ki_selector *selector, ki_json labels)
{
    if (selector == NULL)
        return 0;
    for (size_t i = 0; i < selector->count; i++) {
        const ki_requirement *requirement = &selector->requirements[i];
        if (!label_satisfies(requirement, ki_json_member(labels, requirement->key)))
            return 0;
    }
    return 1;
}

int ki_selector_matches(const ki_selector *selector, const ki_object *object)
{
    if (selector == NULL || object == NULL)
        return 0;
    return selector->count == 0 || ki_selector_matches_labels(selector, ki_object_labels(object));
}

/* ---- text ---------------------------------------------------------------------------------------------- */

static void put_number(ki_bounded_text *out, int64_t number)
{
    assert(number >= 0);
    char digits[20];
    size_t count = 0;
    do {
        digits[count++] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    while (count > 0)
        ki_bounded_put_byte(out, digits[--count]);
}

static void put_values(ki_bounded_text *out, const ki_requirement *requirement)
{
    assert(requirement->value_count > 0);
    int negated = requirement->op == KI_SELECTOR_NOT_IN;
    if (requirement->value_count == 1) {
        ki_bounded_put(out, negated ? KI_STR("!=") : KI_STR("="));
        ki_bounded_put(out, requirement->values[0]);
        return;
    }
    ki_bounded_put(out, negated ? KI_STR(" notin (") : KI_STR(" in ("));
    for (size_t i = 0; i < requirement->value_count; i++) {
        if (i > 0)
            ki_bounded_put_byte(out, ',');
        ki_bounded_put(out, requirement->values[i]);
    }
    ki_bounded_put_byte(out, ')');
}

static void put_requirement(ki_bounded_text *out, const ki_requirement *requirement)
{
    if (requirement->op == KI_SELECTOR_NOT_EXISTS)
        ki_bounded_put_byte(out, '!');
    ki_bounded_put(out, requirement->key);
    if (requirement->op == KI_SELECTOR_IN || requirement->op == KI_SELECTOR_NOT_IN)
        put_values(out, requirement);
    if (requirement->op == KI_SELECTOR_GREATER || requirement->op == KI_SELECTOR_LESS) {
        ki_bounded_put_byte(out, requirement->op == KI_SELECTOR_GREATER ? '>' : '<');
        put_number(out, requirement->bound);
    }
}

int ki_selector_format(const ki_selector *selector, char *buffer, size_t buffer_bytes)
{
    if (selector == NULL || (buffer == NULL && buffer_bytes > 0))
        return KI_ERR_INVALID;
    ki_bounded_text out = ki_bounded_text_in(buffer, buffer_bytes);
    for (size_t i = 0; i < selector->count; i++) {
        if (i > 0)
            ki_bounded_put_byte(&out, ',');
        put_requirement(&out, &selector->requirements[i]);
    }
    return ki_bounded_finish(&out);
}
