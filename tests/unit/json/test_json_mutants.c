/* SPDX-License-Identifier: Apache-2.0 */
/* Hundreds of thousands of texts that are JSON or almost JSON: the scanner accepts those that another strict
 * parser accepts. support/json/json_strict.h lists where that parser differs from RFC 8259. The environment
 * variable KI_MUTANTS sets the number of texts. */
#include <kinformer/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/decode/bodies.h"
#include "support/json/json_generator.h"
#include "support/json/json_samples.h"
#include "support/json/json_strict.h"
#include "support/json/scan_run.h"
#include "support/unit.h"

enum { MUTANTS = 500000, BYTES_MAX = 4096, TOKENS_MAX = 512 };

/* ---- documents ----------------------------------------------------------------------------------------- */

typedef struct documents {
    char **texts;
    size_t *lengths;
    size_t count;
    size_t cap;
} documents;

static void add_document(documents *all, ki_str text)
{
    if (all->count == all->cap) {
        all->cap = 2 * all->cap + 64;
        all->texts = realloc(all->texts, all->cap * sizeof(*all->texts));
        all->lengths = realloc(all->lengths, all->cap * sizeof(*all->lengths));
    }
    assert_true(all->texts != NULL && all->lengths != NULL);
    char *copy = malloc(text.len + 1);
    assert_non_null(copy);
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = 0;
    all->texts[all->count] = copy;
    all->lengths[all->count++] = text.len;
}

static void free_documents(documents *all)
{
    for (size_t i = 0; i < all->count; i++)
        free(all->texts[i]);
    free(all->texts);
    free(all->lengths);
}

/* All containers of a recorded response that are neither tiny nor large. */
static void add_parts(documents *all, ki_json value)
{
    ki_json_iter iter = ki_json_iterate(value);
    ki_json item;
    if (value.raw.len >= 20 && value.raw.len <= 500 && ki_json_type_of(value) >= KI_JSON_ARRAY)
        add_document(all, value.raw);
    while (ki_json_next(&iter, NULL, &item))
        add_parts(all, item);
}

static void add_recorded(documents *all)
{
    recorded_bodies bodies = recorded_bodies_load();
    for (size_t i = 0; i < bodies.count; i++)
        if (bodies.list[i].is_json)
            add_parts(all, ki_json_of(bodies.list[i].text));
    recorded_bodies_free(&bodies);
    assert_true(all->count > 500);
}

static void add_generated(documents *all)
{
    static const unsigned styles[] = {0, JSON_SPACES, JSON_RESPELT, JSON_INDENTED,
                                      JSON_SPACES | JSON_RESPELT | JSON_DUPLICATES};
    for (uint64_t seed = 0; seed < 1000; seed++) {
        ki_random random;
        ki_random_init(&random, seed);
        json_limits limits = {
            .depth = (int)(seed % 5), .items = 4, .chars = 12, .nul = 1, .wild_numbers = seed % 10 == 0};
        json_node *node = json_node_random(&random, &limits);
        size_t len;
        char *text = json_node_print(node, &random, styles[seed % 5], &len);
        if (len <= BYTES_MAX / 4)
            add_document(all, (ki_str){text, len});
        free(text);
        json_node_free(node);
    }
}

static documents make_documents(void)
{
    documents all = {0};
    add_recorded(&all);
    add_generated(&all);
    for (size_t i = 0; i < json_good_count; i++)
        add_document(&all, json_good_samples[i].text);
    return all;
}

/* ---- mutations ----------------------------------------------------------------------------------------- */

typedef struct mutant {
    char text[BYTES_MAX];
    size_t len;
    size_t start[TOKENS_MAX + 1]; /* of the tokens; the last entry is the end */
    size_t tokens;
    ki_random random;
} mutant;

static size_t below(mutant *m, size_t bound)
{
    return (size_t)ki_random_below(&m->random, bound);
}

/* Replaces `removed` bytes at `at`; does nothing if there is no space. */
static void replace(mutant *m, size_t at, size_t removed, ki_str by)
{
    if (m->len - removed + by.len > BYTES_MAX)
        return;
    memmove(m->text + at + by.len, m->text + at + removed, m->len - at - removed);
    if (by.len > 0)
        memcpy(m->text + at, by.ptr, by.len);
    m->len += by.len - removed;
}

static char interesting_byte(mutant *m)
{
    static const char bytes[] = "\"\"\"\\\\\\{}[],:,:0123456789--++..eEtrufalsnbu/ "
                                "\t\n\r\f\v\x7f\x80\xbf\xc3\xa9\xe2\xed\xf0\xf4\xff";
    return bytes[below(m, sizeof(bytes))];
}

static void mutate_byte(mutant *m)
{
    size_t at = below(m, m->len);
    size_t other = below(m, m->len);
    char byte = interesting_byte(m);
    switch (below(m, 7)) {
    case 0:
        m->text[at] = (char)(m->text[at] ^ (1 << below(m, 8)));
        break;
    case 1:
        m->text[at] = byte;
        break;
    case 2:
        replace(m, at, 0, (ki_str){&byte, 1});
        break;
    case 3:
        replace(m, at, 1, (ki_str){0});
        break;
    case 4:
        byte = m->text[at];
        m->text[at] = m->text[other];
        m->text[other] = byte;
        break;
    case 5:
        replace(m, at, 0, KI_STR(" \n"));
        break;
    default:
        if (below(m, 4) == 0)
            m->len = 1 + at;
        else
            replace(m, at, m->len - at < 8 ? m->len - at : below(m, 8), (ki_str){0});
        break;
    }
}

/* Removes or duplicates a structural character. */
static void mutate_structure(mutant *m)
{
    size_t from = below(m, m->len);
    for (size_t i = 0; i < m->len; i++) {
        size_t at = (from + i) % m->len;
        char c = m->text[at];
        if (c == 0 || strchr("{}[],:\"\\", c) == NULL)
            continue;
        if (below(m, 2) == 0)
            replace(m, at, 1, (ki_str){0});
        else
            replace(m, at, 0, (ki_str){&c, 1});
        return;
    }
}

/* Finds where tokens begin, as far as the text is well-formed. */
static void find_tokens(mutant *m)
{
    m->tokens = 0;
    for (size_t at = 0; at < m->len && m->tokens < TOKENS_MAX; m->tokens++) {
        m->start[m->tokens] = at;
        char c = m->text[at++];
        if (c == '"') {
            while (at < m->len && m->text[at] != '"')
                at += m->text[at] == '\\' ? 2 : 1;
            at++;
        } else if (c != 0 && strchr("{}[],: \t\r\n", c) == NULL) {
            while (at < m->len && (m->text[at] == 0 || strchr("{}[],: \t\r\n\"", m->text[at]) == NULL))
                at++;
        }
    }
    m->start[m->tokens] = m->len;
}

static ki_str random_token(mutant *m)
{
    static const char *const tokens[] = {"{",
                                         "}",
                                         "[",
                                         "]",
                                         ",",
                                         ":",
                                         "\"a\"",
                                         "\"\"",
                                         "0",
                                         "-1",
                                         "12",
                                         "1.5",
                                         "1e5",
                                         "true",
                                         "false",
                                         "null",
                                         "[]",
                                         "{}",
                                         "[1]",
                                         " ",
                                         "\n",
                                         "\"\\n\"",
                                         "\"a\":",
                                         ",1",
                                         ",\"a\":2",
                                         "\"\\ud83d\\ude00\"",
                                         "\"\\u0000\"",
                                         "01",
                                         "1.",
                                         "-",
                                         "1e",
                                         "tru",
                                         "nulll",
                                         "+1",
                                         ".5",
                                         "\"\\ud800\"",
                                         "\"\\x\"",
                                         "\"\xff\"",
                                         "\"\xc3\xa9\"",
                                         "\"\t\"",
                                         "NaN",
                                         "'a'",
                                         "//",
                                         "\"a",
                                         "\\",
                                         "9223372036854775808",
                                         "1e400",
                                         "-0",
                                         "0e0",
                                         "\x7f",
                                         "\xef\xbb\xbf",
                                         "{\"a\":1}",
                                         "[{}]",
                                         "\"\\/\""};
    return ki_str_of(tokens[below(m, sizeof(tokens) / sizeof(tokens[0]))]);
}

static void mutate_token(mutant *m)
{
    find_tokens(m);
    size_t i = below(m, m->tokens);
    size_t j = below(m, m->tokens);
    size_t at = m->start[i];
    size_t len = m->start[i + 1] > m->len ? m->len - at : m->start[i + 1] - at;
    size_t other_end = m->start[j + 1] > m->len ? m->len : m->start[j + 1];
    char other[BYTES_MAX];
    ki_str copy = {other, other_end - m->start[j]};
    memcpy(other, m->text + m->start[j], copy.len);
    switch (below(m, 5)) {
    case 0:
        replace(m, at, len, random_token(m));
        break;
    case 1:
        replace(m, at, 0, random_token(m));
        break;
    case 2:
        replace(m, at, len, (ki_str){0});
        break;
    case 3:
        replace(m, at, len, copy);
        break;
    default:
        replace(m, at, 0, copy);
        break;
    }
}

/* Changes that usually leave the text valid: white space between tokens,
 * another value in place of a value. */
static void mutate_gently(mutant *m)
{
    static const char *const values[] = {
        "0", "-1.5e3", "true", "null", "\"b\"", "\"\\u00e9\\n\"", "[]", "{}", "[1,\"a\",{\"b\":null}]"};
    find_tokens(m);
    size_t i = below(m, m->tokens);
    size_t at = m->start[i];
    char c = m->text[at];
    if (below(m, 3) == 0 || c == 0 || strchr("{}[],: \t\r\n", c) != NULL)
        replace(m, at, 0, below(m, 2) == 0 ? KI_STR(" ") : KI_STR("\r\n\t"));
    else if (c != '"' && m->start[i + 1] <= m->len)
        replace(m, at, m->start[i + 1] - at, ki_str_of(values[below(m, sizeof(values) / sizeof(values[0]))]));
    else
        replace(m, at + 1, 0, below(m, 2) == 0 ? KI_STR("x") : KI_STR("\\ud83d\\ude00"));
}

static void make_mutant(mutant *m, const documents *all, uint64_t seed)
{
    ki_random_init(&m->random, seed);
    size_t which = below(m, all->count);
    m->len = all->lengths[which];
    memcpy(m->text, all->texts[which], m->len);
    for (size_t n = 1 + below(m, 8) / 3; n > 0 && m->len > 0; n--) {
        switch (below(m, 5)) {
        case 0:
            mutate_byte(m);
            break;
        case 1:
            mutate_structure(m);
            break;
        case 2:
            mutate_gently(m);
            break;
        default:
            mutate_token(m);
            break;
        }
    }
}

/* ---- verdicts ------------------------------------------------------------------------------------------ */

static int is_accepted(const scan_run *run)
{
    return run->code == 0 && run->values == 1;
}

/* The verdict of all kernels for the whole text, and of one kernel for a random split. */
static int scan_mutant(scan_run *run, scan_run *other, ki_str text, ki_random *random)
{
    const ki_json_kernel *const *kernels = ki_json_kernels();
    run->kernel = kernels[0];
    scan_run_text(run, text, (scan_split){0});
    size_t count = 1;
    for (; kernels[count] != NULL; count++) {
        other->kernel = kernels[count];
        scan_run_text(other, text, (scan_split){0});
        assert_true(scan_run_same(run, other));
    }
    other->kernel = kernels[ki_random_below(random, count)];
    scan_run_text(other, text, (scan_split){.random = random});
    assert_true(scan_run_same(run, other));
    return is_accepted(run);
}

/* The end of the container that the text begins with, determined byte by byte from nesting and strings
 * alone. */
static size_t framed_len(ki_str text)
{
    size_t depth = 0;
    int in_string = 0;
    for (size_t at = 0; at < text.len; at++) {
        char c = text.ptr[at];
        if (in_string && c == '\\') {
            at++;
        } else if (c == '"') {
            in_string = !in_string;
        } else if (!in_string && (c == '{' || c == '[')) {
            depth++;
        } else if (!in_string && (c == '}' || c == ']') && --depth == 0) {
            return at + 1;
        }
    }
    return 0;
}

/* A single refused value ends where its brackets end. */
static int is_framed(const scan_run *lenient, ki_str text)
{
    while (text.len > 0 && strchr(" \t\r\n", text.ptr[0]) != NULL)
        text = (ki_str){text.ptr + 1, text.len - 1};
    size_t len = framed_len(text);
    while (len > 0 && len < text.len && text.ptr[len] != 0 && strchr(" \t\r\n", text.ptr[len]) != NULL)
        len++;
    return lenient->refused == 0 || !is_accepted(lenient) || len == text.len;
}

/* Uses a low depth limit, so that some texts are too deep. Returns whether the text was refused and its end
 * found. */
static int scan_leniently(scan_run *run, scan_run *other, ki_str text, ki_random *random)
{
    const ki_json_limits limits = {.depth_max = 1 + (uint32_t)ki_random_below(random, 6)};
    run->limits = other->limits = limits;
    (void)scan_mutant(run, other, text, random);
    scan_run strict = *run;
    strict.protocol = NULL;
    run->is_lenient = other->is_lenient = 1;
    int is_good = scan_mutant(run, other, text, random);
    if (!scan_run_lenient_agrees(&strict, run))
        fail_msg("%s at %llu, leniently %s at %llu, refused %s at %llu: %.*s", ki_error_name(strict.code),
                 (unsigned long long)strict.offset, ki_error_name(run->code), (unsigned long long)run->offset,
                 ki_error_name(run->refused), (unsigned long long)run->refused_offset, KI_STR_ARGS(text));
    assert_true(is_framed(run, text));
    run->is_lenient = other->is_lenient = 0;
    run->limits = other->limits = (ki_json_limits){0};
    return is_good && run->refused != 0;
}

static size_t number_of_mutants(void)
{
    const char *wanted = getenv("KI_MUTANTS");
    return wanted == NULL ? MUTANTS : (size_t)strtoul(wanted, NULL, 10);
}

static void mutants_are_judged_as_by_a_strict_parser(void **state)
{
    (void)state;
    documents all = make_documents();
    mutant *m = malloc(sizeof(*m));
    assert_non_null(m);
    scan_run run, other;
    scan_run_init(&run);
    scan_run_init(&other);
    size_t count = number_of_mutants();
    size_t accepted = 0;
    size_t refused = 0;
    for (uint64_t seed = 0; seed < count; seed++) {
        make_mutant(m, &all, seed);
        ki_str text = {m->text, m->len};
        int is_good = scan_mutant(&run, &other, text, &m->random);
        if (is_good != json_strict_accepts(text))
            fail_msg("mutant %llu is %s (%s at %llu): %.*s", (unsigned long long)seed,
                     is_good ? "accepted" : "refused", ki_error_name(run.code),
                     (unsigned long long)run.offset, KI_STR_ARGS(text));
        accepted += (size_t)is_good;
        if (seed % 4 == 0)
            refused += (size_t)scan_leniently(&run, &other, text, &m->random);
    }
    printf("%zu mutants of %zu documents, %zu of them accepted; of a fourth %zu refused\n", count, all.count,
           accepted, refused);
    assert_true(count == 0 || (accepted > count / 10 && accepted < count - count / 4));
    assert_true(count == 0 || refused > count / 100);
    scan_run_fini(&run);
    scan_run_fini(&other);
    free(m);
    free_documents(&all);
}

/* ---- the reference itself ------------------------------------------------------------------------------ */

static void the_documents_are_valid_before_they_are_changed(void **state)
{
    (void)state;
    documents all = make_documents();
    scan_run run;
    scan_run_init(&run);
    for (size_t i = 0; i < all.count; i++) {
        ki_str text = {all.texts[i], all.lengths[i]};
        assert_int_equal(scan_run_text(&run, text, (scan_split){0}), 0);
        if (!is_accepted(&run) || !json_strict_accepts(text))
            fail_msg("%.*s", KI_STR_ARGS(text));
    }
    scan_run_fini(&run);
    free_documents(&all);
}

static void the_samples_are_judged_as_by_a_strict_parser(void **state)
{
    (void)state;
    for (size_t i = 0; i < json_good_count; i++)
        assert_int_equal(json_strict_accepts(json_good_samples[i].text), 1);
    for (size_t i = 0; i < json_bad_count; i++)
        assert_int_equal(json_strict_accepts(json_bad_samples[i].text), 0);
}

/* Each case of support/json/json_strict.h. */
static void known_differences_of_the_reference_are_corrected(void **state)
{
    (void)state;
    static const char *const good[] = {"9223372036854775808",
                                       "[-9223372036854775809,1]",
                                       "[1e400,-1E+999]",
                                       "{\"a\":12345678901234567890.5e999}",
                                       "{\"\\u0000\":1}",
                                       "{\"a\\\\\\u0000b\\u0000\":1}",
                                       "[{\"\\u0000\":99999999999999999999},99999999999999999999]"};
    static const char *const bad[] = {
        "[99999999999999999999", "99999999999999999999x",    "[1e400,]", "{\"\\u0000\"}",
        "{\"\\u0000\":01}",      "[99999999999999999999 1]", "1-9e911"};
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        assert_int_equal(json_strict_accepts(ki_str_of(good[i])), 1);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(json_strict_accepts(ki_str_of(bad[i])), 0);
    assert_int_equal(json_strict_accepts(KI_STR("[1\0]")), 0);
    assert_int_equal(json_strict_accepts(KI_STR("true\0")), 0);
    char deep[2002];
    memset(deep, '[', 1001);
    memset(deep + 1001, ']', 1001);
    assert_int_equal(json_strict_accepts((ki_str){deep, 2002}), 0);
    assert_int_equal(json_strict_accepts((ki_str){deep + 1, 2000}), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_samples_are_judged_as_by_a_strict_parser),
        cmocka_unit_test(known_differences_of_the_reference_are_corrected),
        cmocka_unit_test(the_documents_are_valid_before_they_are_changed),
        cmocka_unit_test(mutants_are_judged_as_by_a_strict_parser),
    };
    return RUN_TESTS(tests);
}
