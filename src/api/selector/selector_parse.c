/* SPDX-License-Identifier: Apache-2.0 */
/* Parses a label selector: tokens one at a time, one function per rule of the grammar.
 *
 *   selector    = "" | requirement { "," requirement }
 *   requirement = "!" key | key [ ( "=" | "==" | "!=" | ">" | "<" ) value | ( "in" | "notin" ) set ]
 *   set         = "(" value { "," value } ")"
 *
 * A value may be empty. "in" and "notin" are ordinary words where no operator is allowed: "in in (in)" has a
 * key, an operator and a value.
 */
#include <assert.h>
#include <kinformer/selector.h>
#include <stdlib.h>
#include <string.h>

#include "api/resource/label_syntax.h"
#include "api/selector/selector_error.h"
#include "api/selector/selector_layout.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/text/byte.h"

typedef enum token_type {
    TOKEN_END,
    TOKEN_WORD,
    TOKEN_NOT,
    TOKEN_EQUAL,
    TOKEN_NOT_EQUAL,
    TOKEN_GREATER,
    TOKEN_LESS,
    TOKEN_OPEN,
    TOKEN_CLOSE,
    TOKEN_COMMA,
} token_type;

/* The arrays of the output are allocated once, large enough for any text of this length. */
typedef struct parser {
    ki_str text;
    size_t behind;    /* the position where the search for the next token begins */
    token_type token; /* the current token */
    ki_str lexeme;
    ki_requirement *requirements;
    size_t requirement_count;
    ki_str *values;
    size_t value_count;
    ki_error *err;
} parser;

/* ---- tokens -------------------------------------------------------------------------------------------- */

static int is_symbol(char c)
{
    return c == '=' || c == '!' || c == '>' || c == '<' || c == '(' || c == ')' || c == ',';
}

static token_type symbol_type(char c, int equal_follows)
{
    assert(is_symbol(c));
    switch (c) {
    case '=':
        return TOKEN_EQUAL;
    case '!':
        return equal_follows ? TOKEN_NOT_EQUAL : TOKEN_NOT;
    case '>':
        return TOKEN_GREATER;
    case '<':
        return TOKEN_LESS;
    case '(':
        return TOKEN_OPEN;
    case ')':
        return TOKEN_CLOSE;
    default:
        return TOKEN_COMMA;
    }
}

/* The longest token wins: "!=" before "!", "==" before "=". */
static void advance(parser *p)
{
    assert(p->behind <= p->text.len);
    size_t at = p->behind;
    while (at < p->text.len && ki_byte_is_space(p->text.ptr[at]))
        at++;
    size_t end = at;
    if (at == p->text.len) {
        p->token = TOKEN_END;
    } else if (is_symbol(p->text.ptr[at])) {
        char c = p->text.ptr[at];
        int equal_follows = at + 1 < p->text.len && p->text.ptr[at + 1] == '=';
        p->token = symbol_type(c, equal_follows);
        end = at + 1 + (size_t)(equal_follows && (c == '=' || c == '!'));
    } else {
        p->token = TOKEN_WORD;
        while (end < p->text.len && !is_symbol(p->text.ptr[end]) && !ki_byte_is_space(p->text.ptr[end]))
            end++;
    }
    p->lexeme = (ki_str){p->text.ptr + at, end - at};
    p->behind = end;
}

/* Reports what was expected at a byte of the current token. */
static int expected_at(const parser *p, size_t at, const char *what)
{
    return ki_selector_fail(p->err, p->text, (size_t)(p->lexeme.ptr - p->text.ptr) + at, what);
}

static int expected(const parser *p, const char *what)
{
    return expected_at(p, 0, what);
}

/* ---- rules --------------------------------------------------------------------------------------------- */

static int parse_key(parser *p, ki_str *out_key)
{
    size_t at;
    if (p->token != TOKEN_WORD)
        return expected(p, "a key");
    const char *fault = ki_label_key_fault(p->lexeme, &at);
    if (fault != NULL)
        return expected_at(p, at, fault);
    *out_key = p->lexeme;
    advance(p);
    return 0;
}

/* Takes the current word as a value, or an empty value. */
static int parse_value(parser *p)
{
    size_t at;
    ki_str value = {p->lexeme.ptr, 0};
    if (p->token == TOKEN_WORD) {
        value = p->lexeme;
        const char *fault = ki_label_value_fault(value, &at);
        if (fault != NULL)
            return expected_at(p, at, fault);
        advance(p);
    }
    p->values[p->value_count++] = value;
    return 0;
}

static int parse_exact_value(parser *p)
{
    if (p->token != TOKEN_WORD && p->token != TOKEN_COMMA && p->token != TOKEN_END)
        return expected(p, "a value");
    return parse_value(p);
}

static int parse_set(parser *p)
{
    if (p->token != TOKEN_OPEN)
        return expected(p, "'('");
    do {
        advance(p);
        int rc = parse_value(p);
        if (rc < 0)
            return rc;
    } while (p->token == TOKEN_COMMA);
    if (p->token != TOKEN_CLOSE)
        return expected(p, "',' or ')'");
    advance(p);
    return 0;
}

/* A label value cannot begin with a sign, so neither can a bound. */
static int parse_bound(parser *p, int64_t *out_bound)
{
    int64_t bound = 0;
    if (p->token != TOKEN_WORD)
        return expected(p, "a whole number");
    for (size_t i = 0; i < p->lexeme.len; i++) {
        char c = p->lexeme.ptr[i];
        if (i == KI_LABEL_NAME_BYTES_MAX)
            return expected_at(p, i, "no more than 63 characters");
        if (c < '0' || c > '9')
            return expected_at(p, i, "a whole number");
        if (__builtin_mul_overflow(bound, 10, &bound) || __builtin_add_overflow(bound, c - '0', &bound))
            return expected(p, "a number up to 9223372036854775807");
    }
    *out_bound = bound;
    advance(p);
    return 0;
}

/* Sets the operator and skips it; EXISTS if there is none. */
static int parse_operator(parser *p, ki_requirement *requirement)
{
    int is_word = p->token == TOKEN_WORD;
    if (p->token == TOKEN_END || p->token == TOKEN_COMMA)
        return 0;
    if (p->token == TOKEN_EQUAL || (is_word && ki_str_equal(p->lexeme, KI_STR("in"))))
        requirement->op = KI_SELECTOR_IN;
    else if (p->token == TOKEN_NOT_EQUAL || (is_word && ki_str_equal(p->lexeme, KI_STR("notin"))))
        requirement->op = KI_SELECTOR_NOT_IN;
    else if (p->token == TOKEN_GREATER)
        requirement->op = KI_SELECTOR_GREATER;
    else if (p->token == TOKEN_LESS)
        requirement->op = KI_SELECTOR_LESS;
    else
        return expected(p, "an operator (=, ==, !=, in, notin, >, <), ',' or the end");
    advance(p);
    return 0;
}

static int compare_text(const void *a, const void *b)
{
    return ki_str_compare(*(const ki_str *)a, *(const ki_str *)b);
}

/* Gives the requirement all values from index `before` on, sorted and without duplicates. */
static void take_values(parser *p, size_t before, ki_requirement *requirement)
{
    assert(before < p->value_count);
    ki_str *values = p->values + before;
    size_t count = p->value_count - before;
    size_t kept = 0;
    qsort(values, count, sizeof(*values), compare_text);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || !ki_str_equal(values[kept - 1], values[i]))
            values[kept++] = values[i];
    p->value_count = before + kept;
    requirement->values = values;
    requirement->value_count = kept;
}

static int parse_operand(parser *p, int is_set, ki_requirement *requirement)
{
    size_t before = p->value_count;
    if (requirement->op == KI_SELECTOR_EXISTS)
        return 0;
    if (requirement->op == KI_SELECTOR_GREATER || requirement->op == KI_SELECTOR_LESS)
        return parse_bound(p, &requirement->bound);
    int rc = is_set ? parse_set(p) : parse_exact_value(p);
    if (rc == 0)
        take_values(p, before, requirement);
    return rc;
}

static int parse_requirement(parser *p)
{
    ki_requirement requirement = {.op = KI_SELECTOR_EXISTS};
    int is_negated = p->token == TOKEN_NOT;
    if (is_negated)
        advance(p);
    int rc = parse_key(p, &requirement.key);
    int is_set = p->token == TOKEN_WORD;
    if (rc == 0 && is_negated) {
        requirement.op = KI_SELECTOR_NOT_EXISTS;
    } else if (rc == 0) {
        rc = parse_operator(p, &requirement);
        if (rc == 0)
            rc = parse_operand(p, is_set, &requirement);
    }
    if (rc == 0)
        p->requirements[p->requirement_count++] = requirement;
    return rc;
}

static int parse_requirements(parser *p)
{
    advance(p);
    if (p->token == TOKEN_END)
        return 0;
    for (;;) {
        if (p->token != TOKEN_WORD && p->token != TOKEN_NOT)
            return expected(p, "a key or '!'");
        int rc = parse_requirement(p);
        if (rc < 0 || p->token == TOKEN_END)
            return rc;
        if (p->token != TOKEN_COMMA)
            return expected(p, "',' or the end");
        advance(p);
    }
}

/* ---- the whole ----------------------------------------------------------------------------------------- */

static int compare_values(const ki_requirement *a, const ki_requirement *b)
{
    for (size_t i = 0; i < a->value_count && i < b->value_count; i++) {
        int order = ki_str_compare(a->values[i], b->values[i]);
        if (order != 0)
            return order;
    }
    return (a->value_count > b->value_count) - (a->value_count < b->value_count);
}

static int compare_requirements(const void *left, const void *right)
{
    const ki_requirement *a = left;
    const ki_requirement *b = right;
    int order = ki_str_compare(a->key, b->key);
    if (order == 0)
        order = (a->op > b->op) - (a->op < b->op);
    if (order == 0)
        order = (a->bound > b->bound) - (a->bound < b->bound);
    return order != 0 ? order : compare_values(a, b);
}

static size_t sort_requirements(ki_requirement *requirements, size_t count)
{
    size_t kept = 0;
    qsort(requirements, count, sizeof(*requirements), compare_requirements);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || compare_requirements(&requirements[kept - 1], &requirements[i]) != 0)
            requirements[kept++] = requirements[i];
    return kept;
}

/* Every requirement but the first follows a comma, and every value follows a symbol. So this many
 * requirements, and this many values, are enough. */
static size_t slots_needed(ki_str text)
{
    size_t slots = 1;
    for (size_t i = 0; i < text.len; i++)
        slots += (size_t)is_symbol(text.ptr[i]);
    return slots;
}

ki_selector *ki_selector_parse(ki_str text, ki_error *err)
{
    if (text.len > KI_SELECTOR_BYTES_MAX) {
        ki_fail(err, KI_ERR_TOO_LARGE, "a selector of %zu bytes is too long", text.len);
        return NULL;
    }
    size_t slots = slots_needed(text);
    size_t slot_bytes = sizeof(ki_requirement) + sizeof(ki_str);
    ki_selector *selector = ki_malloc(sizeof(*selector) + slots * slot_bytes + text.len);
    if (selector == NULL) {
        ki_fail_no_memory(err);
        return NULL;
    }
    parser p = {.requirements = (ki_requirement *)(selector + 1), .err = err};
    p.values = (ki_str *)(p.requirements + slots);
    char *copy = (char *)(p.values + slots);
    if (text.len > 0)
        memcpy(copy, text.ptr, text.len);
    p.text = (ki_str){copy, text.len};
    if (parse_requirements(&p) < 0) {
        ki_selector_free(selector);
        return NULL;
    }
    assert(p.requirement_count <= slots && p.value_count <= slots);
    selector->requirements = p.requirements;
    selector->count = sort_requirements(p.requirements, p.requirement_count);
    return selector;
}
