/* SPDX-License-Identifier: Apache-2.0 */
/* Random selectors and labels, compared with a plain model: a list of requirements,
 * each a list of strings. */
#include <kinformer/selector.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/unit.h"
#include "util/random.h"

enum { ROUNDS = 20000, REQUIREMENTS_MAX = 4, VALUES_MAX = 4, LABELS_MAX = 4, TEXT_BYTES = 2048 };

/* Few keys, so that they coincide; some are prefixes of others. */
static const char *const keys[] = {"a", "ab", "b", "in", "notin", "example.com/a", "a-b"};
static const char *const texts[] = {"", "a", "aa", "ab", "in", "B", "1", "2", "10", "010", "a-b_c.d"};

enum { KEYS = sizeof(keys) / sizeof(keys[0]), TEXTS = sizeof(texts) / sizeof(texts[0]) };

typedef enum model_op {
    EQUAL,
    DOUBLE_EQUAL,
    NOT_EQUAL,
    IN,
    NOT_IN,
    EXISTS,
    NOT_EXISTS,
    GREATER,
    LESS
} model_op;

typedef struct model_requirement {
    const char *key;
    model_op op;
    const char *values[VALUES_MAX];
    size_t value_count;
} model_requirement;

typedef struct model {
    model_requirement requirements[REQUIREMENTS_MAX];
    size_t requirement_count;
    const char *label_keys[LABELS_MAX];
    const char *label_values[LABELS_MAX];
    size_t label_count;
} model;

/* ---- the model ----------------------------------------------------------------------------------------- */

static const char *model_label(const model *m, const char *key)
{
    for (size_t i = 0; i < m->label_count; i++)
        if (strcmp(m->label_keys[i], key) == 0)
            return m->label_values[i];
    return NULL;
}

static int model_has(const model_requirement *r, const char *value)
{
    for (size_t i = 0; i < r->value_count; i++)
        if (strcmp(r->values[i], value) == 0)
            return 1;
    return 0;
}

static int is_number(const char *text)
{
    return text[0] != 0 && strspn(text, "0123456789") == strlen(text);
}

static int model_holds(const model *m, const model_requirement *r)
{
    const char *label = model_label(m, r->key);
    switch (r->op) {
    case EQUAL:
    case DOUBLE_EQUAL:
    case IN:
        return label != NULL && model_has(r, label);
    case NOT_EQUAL:
    case NOT_IN:
        return label == NULL || !model_has(r, label);
    case EXISTS:
        return label != NULL;
    case NOT_EXISTS:
        return label == NULL;
    case GREATER:
        return label != NULL && is_number(label) && atol(label) > atol(r->values[0]);
    default:
        return label != NULL && is_number(label) && atol(label) < atol(r->values[0]);
    }
}

static int model_matches(const model *m)
{
    for (size_t i = 0; i < m->requirement_count; i++)
        if (!model_holds(m, &m->requirements[i]))
            return 0;
    return 1;
}

/* ---- random selectors ---------------------------------------------------------------------------------- */

static model_requirement random_requirement(ki_random *random)
{
    model_requirement r = {.key = keys[ki_random_below(random, KEYS)],
                           .op = (model_op)ki_random_below(random, LESS + 1)};
    if (r.op == EXISTS || r.op == NOT_EXISTS)
        return r;
    r.value_count = r.op == IN || r.op == NOT_IN ? 1 + ki_random_below(random, VALUES_MAX) : 1;
    for (size_t i = 0; i < r.value_count; i++)
        r.values[i] = texts[ki_random_below(random, TEXTS)];
    while ((r.op == GREATER || r.op == LESS) && !is_number(r.values[0]))
        r.values[0] = texts[ki_random_below(random, TEXTS)];
    return r;
}

static model random_model(ki_random *random)
{
    model m = {.requirement_count = ki_random_below(random, REQUIREMENTS_MAX + 1)};
    for (size_t i = 0; i < m.requirement_count; i++)
        m.requirements[i] = random_requirement(random);
    size_t tries = ki_random_below(random, LABELS_MAX + 1);
    for (size_t i = 0; i < tries; i++) {
        const char *key = keys[ki_random_below(random, KEYS)];
        if (model_label(&m, key) != NULL)
            continue;
        m.label_keys[m.label_count] = key;
        m.label_values[m.label_count++] = texts[ki_random_below(random, TEXTS)];
    }
    return m;
}

/* ---- as text ------------------------------------------------------------------------------------------- */

typedef struct text {
    char bytes[TEXT_BYTES];
    size_t len;
} text;

static void put(text *out, const char *more)
{
    size_t len = strlen(more);
    assert_true(out->len + len < sizeof(out->bytes));
    memcpy(out->bytes + out->len, more, len + 1);
    out->len += len;
}

static void put_space(text *out, ki_random *random, int is_needed)
{
    static const char *const spaces[] = {" ", "\t", "\n", "\r", "  "};
    if (is_needed || ki_random_below(random, 4) == 0)
        put(out, spaces[ki_random_below(random, 5)]);
}

/* Writes a requirement with random white space where it is allowed, and where words need it. */
static void put_requirement(text *out, ki_random *random, const model_requirement *r)
{
    static const char *const symbols[] = {"=", "==", "!=", "in", "notin", "", "", ">", "<"};
    int is_set = r->op == IN || r->op == NOT_IN;
    put_space(out, random, 0);
    if (r->op == NOT_EXISTS)
        put(out, "!");
    put_space(out, random, 0);
    put(out, r->key);
    put_space(out, random, is_set);
    put(out, symbols[r->op]);
    put_space(out, random, 0);
    if (is_set)
        put(out, "(");
    for (size_t i = 0; i < r->value_count; i++) {
        put_space(out, random, 0);
        put(out, i > 0 ? "," : "");
        put_space(out, random, 0);
        put(out, r->values[i]);
    }
    put_space(out, random, 0);
    if (is_set)
        put(out, ")");
    put_space(out, random, 0);
}

/* Begins with a random requirement, so that two texts of one model differ. */
static text selector_text(const model *m, ki_random *random)
{
    text out = {.len = 0};
    size_t first = m->requirement_count > 0 ? ki_random_below(random, m->requirement_count) : 0;
    out.bytes[0] = 0;
    for (size_t i = 0; i < m->requirement_count; i++) {
        if (i > 0)
            put(&out, ",");
        put_requirement(&out, random, &m->requirements[(first + i) % m->requirement_count]);
    }
    return out;
}

static void put_json_string(text *out, ki_random *random, const char *string)
{
    put(out, "\"");
    for (; *string != 0; string++) {
        char piece[8];
        int escaped = ki_random_below(random, 4) == 0;
        snprintf(piece, sizeof(piece), escaped ? "\\u%04x" : "%c", (unsigned char)*string);
        put(out, piece);
    }
    put(out, "\"");
}

static text labels_json(const model *m, ki_random *random)
{
    text out = {.len = 0};
    put(&out, "{");
    for (size_t i = 0; i < m->label_count; i++) {
        put(&out, i > 0 ? "," : "");
        put_json_string(&out, random, m->label_keys[i]);
        put(&out, ":");
        put_json_string(&out, random, m->label_values[i]);
    }
    put(&out, "}");
    return out;
}

/* ---- tests --------------------------------------------------------------------------------------------- */

static ki_selector *parsed(const text *t)
{
    ki_error err = {0};
    ki_selector *selector = ki_selector_parse((ki_str){t->bytes, t->len}, &err);
    if (selector == NULL)
        fail_msg("\"%s\" is refused: %s", t->bytes, err.message);
    return selector;
}

static void formatted(const ki_selector *selector, text *out)
{
    int len = ki_selector_format(selector, out->bytes, sizeof(out->bytes));
    assert_in_range(len, 0, sizeof(out->bytes) - 1);
    out->len = (size_t)len;
    assert_int_equal(strlen(out->bytes), out->len);
}

static void random_selectors_match_as_the_model_does(void **state)
{
    (void)state;
    ki_random random;
    size_t matched = 0;
    ki_random_init(&random, 4);
    for (size_t i = 0; i < ROUNDS; i++) {
        model m = random_model(&random);
        text selector = selector_text(&m, &random);
        text labels = labels_json(&m, &random);
        ki_selector *s = parsed(&selector);
        int matches = ki_selector_matches_labels(s, ki_json_of((ki_str){labels.bytes, labels.len}));
        if (matches != model_matches(&m))
            fail_msg("round %zu: \"%s\" and %s: %d", i, selector.bytes, labels.bytes, matches);
        matched += (size_t)matches;
        ki_selector_free(s);
    }
    assert_in_range(matched, ROUNDS / 10, ROUNDS - ROUNDS / 10);
}

static void canonical_text_reads_back_and_is_shared(void **state)
{
    (void)state;
    ki_random random;
    ki_random_init(&random, 5);
    for (size_t i = 0; i < ROUNDS; i++) {
        model m = random_model(&random);
        text spellings[2] = {selector_text(&m, &random), selector_text(&m, &random)};
        text canonical[3];
        for (size_t k = 0; k < 2; k++) {
            ki_selector *s = parsed(&spellings[k]);
            formatted(s, &canonical[k]);
            ki_selector_free(s);
        }
        ki_selector *again = parsed(&canonical[0]);
        formatted(again, &canonical[2]);
        ki_selector_free(again);
        assert_string_equal(canonical[0].bytes, canonical[1].bytes);
        assert_string_equal(canonical[0].bytes, canonical[2].bytes);
    }
}

/* A changed character gives another selector or an error, and nothing worse. */
static void damaged_text_is_read_or_refused_at_a_position_inside_it(void **state)
{
    (void)state;
    static const char damage[] = "=!<>(), \t\na-/.A5\xc3$";
    ki_random random;
    ki_random_init(&random, 6);
    for (size_t i = 0; i < ROUNDS; i++) {
        model m = random_model(&random);
        text t = selector_text(&m, &random);
        if (t.len == 0)
            continue;
        t.bytes[ki_random_below(&random, t.len)] = damage[ki_random_below(&random, sizeof(damage) - 1)];
        ki_error err = {0};
        ki_selector *s = ki_selector_parse((ki_str){t.bytes, t.len}, &err);
        if (s == NULL) {
            assert_int_equal(err.code, KI_ERR_SELECTOR);
            assert_in_range(err.offset, 0, t.len);
        }
        ki_selector_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_selectors_match_as_the_model_does),
        cmocka_unit_test(canonical_text_reads_back_and_is_shared),
        cmocka_unit_test(damaged_text_is_read_or_refused_at_a_position_inside_it),
    };
    return RUN_TESTS(tests);
}
