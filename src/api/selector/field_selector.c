/* SPDX-License-Identifier: Apache-2.0 */
/* Field selectors: terms separated by commas, with a backslash as the escape character. */
#include <assert.h>
#include <kinformer/selector.h>
#include <stdlib.h>
#include <string.h>

#include "api/resource/bounded_text.h"
#include "api/selector/selector_error.h"
#include "json/text.h"
#include "util/alloc.h"
#include "util/error.h"

/* Slices of the text. The value keeps its escapes: only characters that must be escaped can be escaped, so
 * each value has exactly one spelling. */
typedef struct term {
    ki_str field;
    ki_str value;
    int negated;
} term;

/* Returns the end of the term that begins at `at`: the next unescaped comma, or the end of the text. */
static size_t term_end(ki_str text, size_t at)
{
    assert(at <= text.len);
    while (at < text.len && text.ptr[at] != ',')
        at += text.ptr[at] == '\\' ? 2 : 1;
    return at < text.len ? at : text.len;
}

static int is_special(char c)
{
    return c == '\\' || c == ',' || c == '=';
}

static int check_value(ki_str text, size_t at, size_t end, ki_error *err)
{
    assert(at <= end && end <= text.len);
    for (; at < end; at++) {
        if (text.ptr[at] == '=')
            return ki_selector_fail(err, text, at, "a backslash before '='");
        if (text.ptr[at] != '\\')
            continue;
        at++;
        if (at == end || !is_special(text.ptr[at]))
            return ki_selector_fail(err, text, at, "'\\', ',' or '=' after a backslash");
    }
    return 0;
}

/* The name of a field has no escapes, so the first operator ends it. */
static int parse_term(ki_str text, size_t at, size_t end, term *out_term, ki_error *err)
{
    assert(at < end && end <= text.len);
    size_t op = at;
    while (op < end && text.ptr[op] != '=' &&
           !(text.ptr[op] == '!' && op + 1 < end && text.ptr[op + 1] == '='))
        op++;
    if (op == end)
        return ki_selector_fail(err, text, end, "=, == or !=");
    if (op == at)
        return ki_selector_fail(err, text, at, "a field");
    int is_long = text.ptr[op] == '!' || (op + 1 < end && text.ptr[op + 1] == '=');
    size_t value = op + 1 + (size_t)is_long;
    int rc = check_value(text, value, end, err);
    if (rc < 0)
        return rc;
    *out_term = (term){.field = {text.ptr + at, op - at},
                       .value = {text.ptr + value, end - value},
                       .negated = text.ptr[op] == '!'};
    return 0;
}

/* Empty terms are ignored, as on the server. */
static int parse_terms(ki_str text, term *terms, size_t *out_count, ki_error *err)
{
    size_t count = 0;
    for (size_t at = 0; at < text.len;) {
        size_t end = term_end(text, at);
        if (end > at) {
            int rc = parse_term(text, at, end, &terms[count], err);
            if (rc < 0)
                return rc;
            count++;
        }
        at = end + 1;
    }
    *out_count = count;
    return 0;
}

static int compare_terms(const void *left, const void *right)
{
    const term *a = left;
    const term *b = right;
    int order = ki_str_compare(a->field, b->field);
    if (order == 0)
        order = a->negated - b->negated;
    return order != 0 ? order : ki_str_compare(a->value, b->value);
}

static int put_terms(const term *terms, size_t count, char *buffer, size_t buffer_bytes)
{
    ki_bounded_text out = ki_bounded_text_in(buffer, buffer_bytes);
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && compare_terms(&terms[i - 1], &terms[i]) == 0)
            continue;
        if (i > 0)
            ki_bounded_put_byte(&out, ',');
        ki_bounded_put(&out, terms[i].field);
        ki_bounded_put(&out, terms[i].negated ? KI_STR("!=") : KI_STR("="));
        ki_bounded_put(&out, terms[i].value);
    }
    return ki_bounded_finish(&out);
}

/* With any other text, a server rejects the request or finds nothing, because the values of objects are
 * UTF-8. */
static int check_utf8(ki_str text, ki_error *err)
{
    size_t valid = ki_utf8_valid_len(text.ptr, text.len);
    return valid == text.len ? 0 : ki_selector_fail(err, text, valid, "UTF-8");
}

int ki_field_selector_format(ki_str text, char *buffer, size_t buffer_bytes, ki_error *err)
{
    if (buffer == NULL && buffer_bytes > 0)
        return ki_fail(err, KI_ERR_INVALID, "the buffer for the field selector is NULL");
    if (text.len > KI_SELECTOR_BYTES_MAX)
        return ki_fail(err, KI_ERR_TOO_LARGE, "a selector of %zu bytes is too long", text.len);
    int rc = check_utf8(text, err);
    if (rc < 0)
        return rc;
    size_t terms_max = 1;
    for (size_t i = 0; i < text.len; i++)
        terms_max += text.ptr[i] == ',';
    term *terms = ki_malloc(terms_max * sizeof(*terms));
    if (terms == NULL)
        return ki_fail_no_memory(err);
    size_t count = 0;
    rc = parse_terms(text, terms, &count, err);
    if (rc == 0) {
        qsort(terms, count, sizeof(*terms), compare_terms);
        rc = put_terms(terms, count, buffer, buffer_bytes);
    }
    ki_free(terms);
    return rc;
}
