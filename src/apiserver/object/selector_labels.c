/* SPDX-License-Identifier: Apache-2.0 */
/* Label selectors: "a, !b, c=d, e in (f,g), h > 1". Kubernetes' error messages depend on how far its parser
 * got, so this parser takes the same steps. */
#include <assert.h>
#include <kinformer/error.h>
#include <stdio.h>
#include <string.h>

#include "apiserver/object/selector_parts.h"
#include "apiserver/value/names.h"
#include "apiserver/value/tree.h"
#include "util/text/byte.h"

enum token {
    TOKEN_END,
    TOKEN_WORD,
    TOKEN_IN,
    TOKEN_NOT_IN,
    TOKEN_COMMA,
    TOKEN_NOT,
    TOKEN_OPEN,
    TOKEN_CLOSE,
    TOKEN_EQUALS,
    TOKEN_NOT_EQUALS,
    TOKEN_GREATER,
    TOKEN_LESS,
};

struct parser {
    ki_str text;
    size_t at; /* after the token */
    enum token token;
    ki_str literal;
    struct ki_as_failure *failure;
};

static bool is_special(char c)
{
    return c != 0 && strchr("=!(),><", c) != NULL;
}

static enum token special_token(ki_str literal)
{
    assert(literal.len > 0 && is_special(literal.ptr[0]));
    switch (literal.ptr[0]) {
    case '=':
        return TOKEN_EQUALS;
    case '!':
        return literal.len == 2 ? TOKEN_NOT_EQUALS : TOKEN_NOT;
    case '(':
        return TOKEN_OPEN;
    case ')':
        return TOKEN_CLOSE;
    case ',':
        return TOKEN_COMMA;
    case '>':
        return TOKEN_GREATER;
    default:
        return TOKEN_LESS;
    }
}

/* Advances to the next token. A NUL ends a word; at the start of a token it ends the text. */
static void advance(struct parser *parser)
{
    assert(parser->at <= parser->text.len);
    const char *text = parser->text.ptr;
    size_t len = parser->text.len;
    size_t at = parser->at;
    while (at < len && ki_byte_is_space(text[at]))
        at++;
    size_t start = at;
    if (at == len || text[at] == 0) {
        parser->token = TOKEN_END;
        parser->literal = (ki_str){0};
        parser->at = len;
        return;
    }
    if (is_special(text[at])) {
        bool is_pair = at + 1 < len && text[at + 1] == '=' && (text[at] == '=' || text[at] == '!');
        parser->at = at + (is_pair ? 2 : 1);
        parser->literal = (ki_str){text + start, parser->at - start};
        parser->token = special_token(parser->literal);
        return;
    }
    while (at < len && !ki_byte_is_space(text[at]) && !is_special(text[at]) && text[at] != 0)
        at++;
    parser->literal = (ki_str){text + start, at - start};
    parser->at = at < len && text[at] == 0 ? at + 1 : at;
    parser->token = ki_str_equal(parser->literal, KI_STR("in"))      ? TOKEN_IN
                    : ki_str_equal(parser->literal, KI_STR("notin")) ? TOKEN_NOT_IN
                                                                     : TOKEN_WORD;
}

/* "in" and "notin" are ordinary words where no operator is possible. */
static bool is_word(const struct parser *parser)
{
    return parser->token == TOKEN_WORD || parser->token == TOKEN_IN || parser->token == TOKEN_NOT_IN;
}

#define UNABLE "unable to parse requirement: "
#define FOUND(parser, words)                                                                                 \
    ki_as_fail_bad_request((parser)->failure, "%sfound '%.*s'%s", UNABLE, KI_STR_ARGS((parser)->literal),    \
                           words)

/* `where` is the field in Kubernetes' message, "<nil>" for a key. */
static int fail_value(struct parser *parser, const char *where, ki_str value,
                      struct ki_as_complaints complaints)
{
    assert(complaints.count > 0);
    ki_buf message;
    ki_buf_init(&message, (size_t)16 * 1024 * 1024);
    int rc = ki_as_quote(&message, value);
    for (size_t i = 0; i < complaints.count && rc == 0; i++) {
        rc = ki_buf_append_str(&message, i == 0 ? KI_STR(": ") : KI_STR("; "));
        if (rc == 0)
            rc = ki_buf_append_str(&message, ki_str_of(complaints.texts[i]));
    }
    if (rc == 0)
        rc = ki_as_fail_bad_request(parser->failure, UNABLE "%s: Invalid value: %.*s", where,
                                    (int)message.len, message.data);
    else
        rc = ki_as_fail_no_memory(parser->failure);
    ki_buf_fini(&message);
    return rc;
}

static int check_values(struct parser *parser, const struct ki_as_requirement *requirement)
{
    for (size_t i = 0; i < requirement->value_count; i++) {
        struct ki_as_complaints complaints = ki_as_check_label_value(requirement->values[i]);
        if (complaints.count == 0)
            continue;
        ki_buf where;
        ki_buf_init(&where, (size_t)1024);
        char index[32];
        int len = snprintf(index, sizeof(index), "values[%zu][", i);
        int rc = ki_buf_append(&where, index, (size_t)len);
        rc = rc < 0 ? rc : ki_buf_append_str(&where, requirement->key);
        rc = rc < 0 ? rc : ki_buf_append(&where, "]", 2);
        rc = rc < 0 ? ki_as_fail_no_memory(parser->failure)
                    : fail_value(parser, where.data, requirement->values[i], complaints);
        ki_buf_fini(&where);
        return rc;
    }
    return 0;
}

static int add_value(struct parser *parser, struct ki_as_requirement *requirement, ki_str value)
{
    int rc = ki_as_requirement_add_value(requirement, value);
    return rc < 0 ? ki_as_fail_no_memory(parser->failure) : 0;
}

/* Parses the values after "(". On return, the current token is ")".
 * If there is nothing between two commas, the value is empty. */
static int parse_list(struct parser *parser, struct ki_as_requirement *requirement)
{
    assert(is_word(parser) || parser->token == TOKEN_COMMA);
    for (;;) {
        if (is_word(parser)) {
            int rc = add_value(parser, requirement, parser->literal);
            if (rc < 0)
                return rc;
            advance(parser);
            if (parser->token == TOKEN_CLOSE)
                return 0;
            if (parser->token != TOKEN_COMMA)
                return FOUND(parser, ", expected: ',' or ')'");
        } else if (parser->token == TOKEN_COMMA) {
            bool is_first = requirement->value_count == 0;
            advance(parser);
            bool is_empty = is_first || parser->token == TOKEN_COMMA || parser->token == TOKEN_CLOSE;
            int rc = is_empty ? add_value(parser, requirement, (ki_str){0}) : 0;
            if (rc < 0 || parser->token == TOKEN_CLOSE)
                return rc;
        } else
            return FOUND(parser, ", expected: ',', or identifier");
    }
}

static int parse_set(struct parser *parser, struct ki_as_requirement *requirement)
{
    if (parser->token != TOKEN_OPEN)
        return FOUND(parser, " expected: '('");
    advance(parser);
    int rc = 0;
    if (parser->token == TOKEN_CLOSE)
        rc = add_value(parser, requirement, (ki_str){0});
    else if (is_word(parser) || parser->token == TOKEN_COMMA)
        rc = parse_list(parser, requirement);
    else
        return FOUND(parser, ", expected: ',', ')' or identifier");
    if (rc == 0)
        advance(parser);
    return rc;
}

static int parse_exact(struct parser *parser, struct ki_as_requirement *requirement)
{
    if (parser->token == TOKEN_END || parser->token == TOKEN_COMMA)
        return add_value(parser, requirement, (ki_str){0});
    if (!is_word(parser))
        return FOUND(parser, ", expected: identifier");
    int rc = add_value(parser, requirement, parser->literal);
    advance(parser);
    return rc;
}

static int parse_number(struct parser *parser, struct ki_as_requirement *requirement)
{
    int rc = parse_exact(parser, requirement);
    assert(rc < 0 || requirement->value_count == 1);
    if (rc < 0 || ki_as_parse_integer(requirement->values[0], &requirement->number))
        return rc;
    static const struct ki_as_complaints not_integer = {
        {"for 'Gt', 'Lt' operators, the value must be an integer"}, 1};
    return fail_value(parser, "values[0]", requirement->values[0], not_integer);
}

static int parse_operation(struct parser *parser, struct ki_as_requirement *requirement)
{
    enum token op = parser->token;
    static const enum ki_as_operator meaning[] = {
        [TOKEN_IN] = KI_AS_IN,           [TOKEN_NOT_IN] = KI_AS_NOT_IN,
        [TOKEN_EQUALS] = KI_AS_IN,       [TOKEN_NOT_EQUALS] = KI_AS_NOT_IN,
        [TOKEN_GREATER] = KI_AS_GREATER, [TOKEN_LESS] = KI_AS_LESS,
    };
    if (op != TOKEN_IN && op != TOKEN_NOT_IN && op < TOKEN_EQUALS)
        return FOUND(parser, ", expected: in, notin, =, ==, !=, gt, lt");
    requirement->op = meaning[op];
    advance(parser);
    if (op == TOKEN_IN || op == TOKEN_NOT_IN)
        return parse_set(parser, requirement);
    if (op == TOKEN_GREATER || op == TOKEN_LESS)
        return parse_number(parser, requirement);
    return parse_exact(parser, requirement);
}

static int parse_requirement(struct parser *parser, struct ki_as_requirement *requirement)
{
    assert(requirement->value_count == 0);
    bool is_negated = parser->token == TOKEN_NOT;
    if (is_negated)
        advance(parser);
    if (!is_word(parser))
        return FOUND(parser, ", expected: identifier");
    requirement->key = parser->literal;
    struct ki_as_complaints complaints = ki_as_check_label_key(requirement->key);
    if (complaints.count > 0)
        return fail_value(parser, "<nil>", requirement->key, complaints);
    advance(parser);
    if (is_negated || parser->token == TOKEN_END || parser->token == TOKEN_COMMA) {
        requirement->op = is_negated ? KI_AS_NOT_EXISTS : KI_AS_EXISTS;
        return 0;
    }
    int rc = parse_operation(parser, requirement);
    return rc < 0 ? rc : check_values(parser, requirement);
}

int ki_as_parse_labels(ki_str text, struct ki_as_requirements *out, struct ki_as_failure *failure)
{
    struct parser parser = {.text = text, .failure = failure};
    advance(&parser);
    while (parser.token != TOKEN_END) {
        if (!is_word(&parser) && parser.token != TOKEN_NOT)
            return ki_as_fail_bad_request(failure,
                                          "found '%.*s', expected: !, identifier, or 'end of string'",
                                          KI_STR_ARGS(parser.literal));
        struct ki_as_requirement *requirement = ki_as_requirements_add(out);
        if (requirement == NULL)
            return ki_as_fail_no_memory(failure);
        int rc = parse_requirement(&parser, requirement);
        if (rc < 0)
            return rc;
        if (parser.token == TOKEN_END)
            return 0;
        if (parser.token != TOKEN_COMMA)
            return ki_as_fail_bad_request(failure, "found '%.*s', expected: ',' or 'end of string'",
                                          KI_STR_ARGS(parser.literal));
        advance(&parser);
        if (!is_word(&parser) && parser.token != TOKEN_NOT)
            return ki_as_fail_bad_request(failure, "found '%.*s', expected: identifier after ','",
                                          KI_STR_ARGS(parser.literal));
    }
    return 0;
}
