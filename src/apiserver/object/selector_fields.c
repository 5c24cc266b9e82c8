/* SPDX-License-Identifier: Apache-2.0 */
/* Field selectors: terms separated by commas, each "field=value", "field==value" or "field!=value". In a
 * value, a backslash escapes a backslash, a comma or an equals sign. */
#include <assert.h>
#include <kinformer/error.h>
#include <string.h>

#include "apiserver/object/fields.h"
#include "apiserver/object/selector_parts.h"
#include "util/text/byte.h"

struct term {
    ki_str field;
    char *value;
    size_t value_len;
    bool is_negated;
};

/* Splits the term at the first operator: names of fields cannot contain escapes. */
/* The value is unescaped in place later on. NOLINTNEXTLINE(readability-non-const-parameter) */
static bool split(char *text, size_t len, struct term *out)
{
    assert(len > 0);
    for (size_t i = 0; i < len; i++) {
        bool is_followed = i + 1 < len && text[i + 1] == '=';
        if (text[i] != '=' && !(text[i] == '!' && is_followed))
            continue;
        size_t skip = is_followed ? 2 : 1;
        *out = (struct term){{text, i}, text + i + skip, len - i - skip, text[i] == '!'};
        return true;
    }
    return false;
}

/* The length of the character at `text`, for error messages. */
static size_t character_len(const char *text, size_t len)
{
    assert(len > 0);
    size_t bytes = 1;
    while (bytes < len && bytes < 4 && ki_byte_is_continuation(text[bytes]))
        bytes++;
    return bytes;
}

static int unescape(struct term *term, struct ki_as_failure *failure)
{
    size_t len = 0;
    for (size_t i = 0; i < term->value_len; i++) {
        char c = term->value[i];
        if (c == ',' || c == '=')
            return ki_as_fail_bad_request(failure, "invalid field selector: unescaped character in value: %d",
                                          c);
        if (c == '\\') {
            size_t left = term->value_len - i - 1;
            const char *next = term->value + i + 1;
            if (left == 0)
                return ki_as_fail_bad_request(failure, "invalid field selector: invalid escape sequence: \\");
            if (*next != '\\' && *next != ',' && *next != '=')
                return ki_as_fail_bad_request(failure,
                                              "invalid field selector: invalid escape sequence: \\%.*s",
                                              (int)character_len(next, left), next);
            c = *next;
            i++;
        }
        term->value[len++] = c;
    }
    assert(len <= term->value_len);
    term->value_len = len;
    return 0;
}

static int add_term(struct term *term, const struct ki_as_resource *resource, struct ki_as_requirements *out,
                    struct ki_as_failure *failure)
{
    int rc = unescape(term, failure);
    ki_str field = {0};
    if (rc == 0)
        rc = ki_as_field_resolve(resource, term->field, &field, failure);
    if (rc < 0)
        return rc;
    struct ki_as_requirement *requirement = ki_as_requirements_add(out);
    if (requirement == NULL)
        return ki_as_fail_no_memory(failure);
    requirement->key = field;
    requirement->op = term->is_negated ? KI_AS_NOT_IN : KI_AS_IN;
    rc = ki_as_requirement_add_value(requirement, (ki_str){term->value, term->value_len});
    return rc < 0 ? ki_as_fail_no_memory(failure) : 0;
}

/* The end of the term that starts at `start`: an unescaped comma, or the end of the text. */
static size_t term_end(const char *text, size_t len, size_t start)
{
    bool is_escaped = false;
    size_t i = start;
    for (; i < len && (is_escaped || text[i] != ','); i++)
        is_escaped = !is_escaped && text[i] == '\\';
    return i;
}

int ki_as_parse_fields(char *text, size_t len, const struct ki_as_resource *resource,
                       struct ki_as_requirements *out, struct ki_as_failure *failure)
{
    for (size_t start = 0; start < len;) {
        size_t end = term_end(text, len, start);
        assert(end >= start && end <= len);
        struct term term;
        if (end > start) {
            if (!split(text + start, end - start, &term))
                return ki_as_fail_bad_request(failure, "invalid selector: '%.*s'; can't understand '%.*s'",
                                              (int)len, text, (int)(end - start), text + start);
            int rc = add_term(&term, resource, out, failure);
            if (rc < 0)
                return rc;
        }
        start = end + 1;
    }
    return 0;
}
