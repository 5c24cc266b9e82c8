/* SPDX-License-Identifier: Apache-2.0 */
/* The same text has the same result with every kernel and in every split. */
#include <stdlib.h>
#include <string.h>

#include "support/decode/bodies.h"
#include "support/json/json_generator.h"
#include "support/json/json_samples.h"
#include "support/json/scan_run.h"
#include "support/unit.h"

/* ---- expected results ---------------------------------------------------------------------------------- */

/* Removes white space between tokens; valid text only. */
static size_t minify(ki_str text, char *out)
{
    int in_string = 0;
    size_t len = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (!in_string && (c == ' ' || c == '\t' || c == '\n' || c == '\r'))
            continue;
        out[len++] = c;
        if (in_string && c == '\\')
            out[len++] = text.ptr[++i];
        else if (c == '"')
            in_string = !in_string;
    }
    return len;
}

/* The kept texts of all values of a run, one after the other. */
static size_t kept_of_all(const scan_run *run, char *out)
{
    size_t len = 0;
    for (size_t i = 0; i < run->protocol_len; i++)
        if (run->protocol[i] != '\n')
            out[len++] = run->protocol[i];
    return len;
}

static void assert_minified(const scan_run *run, ki_str text)
{
    char *expected = malloc(text.len + 1);
    char *kept = malloc(run->protocol_len + 1);
    assert_true(expected != NULL && kept != NULL);
    size_t expected_len = minify(text, expected);
    size_t kept_len = kept_of_all(run, kept);
    assert_true(ki_str_equal((ki_str){kept, kept_len}, (ki_str){expected, expected_len}));
    free(expected);
    free(kept);
}

/* ---- runs ---------------------------------------------------------------------------------------------- */

typedef struct bench {
    scan_run reference; /* the scalar kernel, text in one piece */
    scan_run other;
    ki_random random;
} bench;

static int setup(void **state)
{
    bench *b = calloc(1, sizeof(*b));
    if (b == NULL)
        return -1;
    scan_run_init(&b->reference);
    scan_run_init(&b->other);
    b->reference.kernel = &ki_json_kernel_scalar;
    ki_random_init(&b->random, 1);
    *state = b;
    return 0;
}

static int teardown(void **state)
{
    bench *b = *state;
    scan_run_fini(&b->reference);
    scan_run_fini(&b->other);
    free(b);
    return 0;
}

/* Uses each kernel in turn. */
static void take_next_kernel(bench *b)
{
    const ki_json_kernel *const *kernel = ki_json_kernels();
    while (*kernel != NULL && *kernel != b->other.kernel)
        kernel++;
    b->other.kernel = *kernel == NULL || kernel[1] == NULL ? ki_json_kernels()[0] : kernel[1];
}

static void assert_same(bench *b, ki_str text, scan_split split)
{
    scan_run_text(&b->other, text, split);
    if (!scan_run_same(&b->reference, &b->other))
        fail_msg("%s, first %zu, others %zu, random %d: %s at %llu, not %s at %llu: %.*s",
                 b->other.kernel->name, split.first, split.others, split.random != NULL,
                 ki_error_name(b->other.code), (unsigned long long)b->other.offset,
                 ki_error_name(b->reference.code), (unsigned long long)b->reference.offset,
                 (int)(text.len < 300 ? text.len : 300), text.ptr);
}

/* Runs the reference, and then all kernels in a few splits. */
static void assert_all_same(bench *b, ki_str text)
{
    scan_run_text(&b->reference, text, (scan_split){0});
    for (const ki_json_kernel *const *kernel = ki_json_kernels(); *kernel != NULL; kernel++) {
        b->other.kernel = *kernel;
        assert_same(b, text, (scan_split){0});
        assert_same(b, text, (scan_split){.first = 1 + ki_random_below(&b->random, text.len + 1)});
        if (ki_random_below(&b->random, 6) == 0)
            assert_same(b, text, (scan_split){.random = &b->random});
        if (ki_random_below(&b->random, 30) == 0)
            assert_same(b, text, (scan_split){.others = 1});
    }
}

/* ---- every token at every position of a block ---------------------------------------------------------- */

enum { PADS = 131 };

static void assert_end(bench *b, ki_str text, int code, uint64_t offset)
{
    assert_all_same(b, text);
    if (b->reference.code != code || b->reference.offset != offset)
        fail_msg("%s at %llu, not %s at %llu: %.*s", ki_error_name(b->reference.code),
                 (unsigned long long)b->reference.offset, ki_error_name(code), (unsigned long long)offset,
                 KI_STR_ARGS(text));
    if (code == 0)
        assert_minified(&b->reference, text);
}

/* Builds around[0], `pad` bytes of `fill`, around[1], the text and around[2] in one block of memory. */
static void pad_and_assert(bench *b, const char *const around[3], int fill, size_t pad, ki_str text,
                           json_bad end)
{
    size_t before = strlen(around[0]);
    size_t after = strlen(around[1]);
    size_t behind = end.code == 0 ? strlen(around[2]) : 0;
    size_t start = before + pad + after;
    size_t len = start + text.len + behind;
    char *padded = malloc(len);
    assert_non_null(padded);
    memcpy(padded, around[0], before);
    memset(padded + before, fill, pad);
    memcpy(padded + before + pad, around[1], after);
    memcpy(padded + start, text.ptr, text.len);
    memcpy(padded + start + text.len, around[2], behind);
    assert_end(b, (ki_str){padded, len}, end.code, end.code == 0 ? len : start + end.offset);
    free(padded);
}

static void sweep(bench *b, ki_str text, int code, uint64_t offset)
{
    static const char *const alone[3] = {"", "", ""};
    static const char *const behind_string[3] = {"[\"", "\",", "]"};
    static const char *const behind_blanks[3] = {"{\"a\":", "", "}"};
    static const char *const in_string[3] = {"[\"", "", "]"};
    scan_run_text(&b->reference, text, (scan_split){0});
    int is_one_value = code == 0 || b->reference.values == 0;
    json_bad end = {text, code, offset};
    for (size_t pad = 0; pad < PADS; pad++) {
        pad_and_assert(b, alone, ' ', pad, text, end);
        if (!is_one_value)
            continue; /* an array cannot contain a second value */
        pad_and_assert(b, behind_string, 'a', pad, text, end);
        pad_and_assert(b, behind_blanks, '\n', pad, text, end);
        if (text.ptr[0] == '"' && offset > 0) {
            json_bad rest = {{0}, code, offset - 1};
            pad_and_assert(b, in_string, '~', pad, (ki_str){text.ptr + 1, text.len - 1}, rest);
        }
    }
}

static void valid_tokens_are_valid_at_every_position_of_a_block(void **state)
{
    for (size_t i = 0; i < json_good_count; i++)
        sweep(*state, json_good_samples[i].text, 0, json_good_samples[i].text.len);
}

static void malformed_tokens_are_refused_at_every_position_of_a_block(void **state)
{
    for (size_t i = 0; i < json_bad_count; i++)
        sweep(*state, json_bad_samples[i].text, json_bad_samples[i].code, json_bad_samples[i].offset);
}

/* A run of backslashes across the end of a block, which decides whether the quote after it closes the
 * string. */
static void runs_of_backslashes_cross_blocks(void **state)
{
    char text[300];
    for (size_t pad = 0; pad < 70; pad++) {
        for (size_t run = 0; run < 140; run++) {
            size_t len = 0;
            text[len++] = '[';
            text[len++] = '"';
            memset(text + len, 'a', pad);
            len += pad;
            memset(text + len, '\\', run);
            len += run;
            memcpy(text + len, "\"]", 2);
            len += 2;
            assert_all_same(*state, (ki_str){text, len});
            assert_int_equal(((bench *)*state)->reference.code, run % 2 == 0 ? 0 : KI_ERR_JSON_TRUNCATED);
        }
    }
}

static void long_white_space_is_allowed_between_any_two_tokens(void **state)
{
    static const char *const tokens[] = {"{",     "\"a\"", ":", "[",     "1", ",", "true", ",",
                                         "\"b\"", "]",     ",", "\"c\"", ":", "{", "}",    "}"};
    enum { COUNT = sizeof(tokens) / sizeof(tokens[0]) };
    char text[600];
    for (size_t gap = 0; gap <= COUNT; gap++) {
        for (size_t blanks = 0; blanks < 200; blanks++) {
            size_t len = 0;
            for (size_t i = 0; i <= COUNT; i++) {
                memset(text + len, " \t\n\r"[blanks % 4], i == gap ? blanks : 0);
                len += i == gap ? blanks : 0;
                memcpy(text + len, i < COUNT ? tokens[i] : "", i < COUNT ? strlen(tokens[i]) : 0);
                len += i < COUNT ? strlen(tokens[i]) : 0;
            }
            assert_end(*state, (ki_str){text, len}, 0, len);
        }
    }
}

/* ---- whole documents ----------------------------------------------------------------------------------- */

static void recorded_bodies_are_accepted_in_every_split(void **state)
{
    bench *b = *state;
    recorded_bodies bodies = recorded_bodies_load();
    for (size_t i = 0; i < bodies.count; i++) {
        const recorded_body *body = &bodies.list[i];
        assert_all_same(b, body->text);
        if (!body->is_json)
            continue;
        if (b->reference.code != 0)
            fail_msg("%s: %s", body->name, ki_error_name(b->reference.code));
        assert_minified(&b->reference, body->text);
        for (size_t others = 1; others < 200; others += 9) {
            take_next_kernel(b);
            assert_same(b, body->text, (scan_split){.others = others});
        }
    }
    recorded_bodies_free(&bodies);
}

/* All cuts of small bodies, some of large ones, with each kernel in turn. */
static void recorded_bodies_may_be_cut_anywhere(void **state)
{
    bench *b = *state;
    recorded_bodies bodies = recorded_bodies_load();
    for (size_t i = 0; i < bodies.count; i++) {
        ki_str text = bodies.list[i].text;
        size_t step = text.len < 4000 ? 1 : text.len < 10000 ? 5 : 61;
        scan_run_text(&b->reference, text, (scan_split){0});
        for (size_t cut = 1; cut < text.len; cut += step) {
            take_next_kernel(b);
            assert_same(b, text, (scan_split){.first = cut});
        }
    }
    recorded_bodies_free(&bodies);
}

/* A truncated body is never accepted. */
static void a_recorded_body_without_its_end_is_truncated(void **state)
{
    bench *b = *state;
    recorded_bodies bodies = recorded_bodies_load();
    for (size_t i = 0; i < bodies.count; i++) {
        ki_str text = bodies.list[i].text;
        scan_run_text(&b->reference, text, (scan_split){0});
        if (!bodies.list[i].is_json || b->reference.values != 1 || text.len > 8000)
            continue;
        b->other.kernel = ki_json_kernel_best();
        for (size_t len = 1; len + 2 < text.len; len++) {
            scan_run_text(&b->other, (ki_str){text.ptr, len}, (scan_split){0});
            assert_int_equal(b->other.code, KI_ERR_JSON_TRUNCATED);
            assert_int_equal(b->other.offset, len);
        }
    }
    recorded_bodies_free(&bodies);
}

static void generated_values_are_accepted_in_every_split(void **state)
{
    static const unsigned styles[] = {0, JSON_SPACES, JSON_RESPELT, JSON_INDENTED,
                                      JSON_SPACES | JSON_RESPELT | JSON_DUPLICATES};
    bench *b = *state;
    for (uint64_t seed = 0; seed < 1200; seed++) {
        ki_random random;
        ki_random_init(&random, seed);
        json_limits limits = {.depth = (int)(seed % 7),
                              .items = 7,
                              .chars = seed % 3 == 0 ? 150 : 20,
                              .nul = 1,
                              .wild_numbers = seed % 5 == 0};
        json_node *node = json_node_random(&random, &limits);
        size_t len;
        char *text = json_node_print(node, &random, styles[seed % 5], &len);
        assert_all_same(b, (ki_str){text, len});
        assert_int_equal(b->reference.code, 0);
        assert_int_equal(b->reference.values, 1);
        assert_minified(&b->reference, (ki_str){text, len});
        free(text);
        json_node_free(node);
    }
}

/* Flips, inserts and removes a few bytes to which JSON is sensitive. */
static size_t damage(ki_random *random, char *text, size_t len)
{
    static const char bytes[] = "\"\"\"\\\\{}[],:0123456789-+.eEtfnu \n\t\r\x01\x80\xc3\xa9\xff";
    for (uint64_t n = 1 + ki_random_below(random, 3); n > 0 && len > 1; n--) {
        size_t at = ki_random_below(random, len);
        char byte = bytes[ki_random_below(random, sizeof(bytes))];
        switch (ki_random_below(random, 3)) {
        case 0:
            text[at] = byte;
            break;
        case 1:
            memmove(text + at + 1, text + at, len++ - at);
            text[at] = byte;
            break;
        default:
            memmove(text + at, text + at + 1, --len - at);
            break;
        }
    }
    return len;
}

static void damaged_values_have_the_same_result(void **state)
{
    bench *b = *state;
    size_t refused = 0;
    for (uint64_t seed = 0; seed < 12000; seed++) {
        ki_random random;
        ki_random_init(&random, seed);
        json_limits limits = {.depth = (int)(seed % 5), .items = 5, .chars = 12};
        json_node *node = json_node_random(&random, &limits);
        size_t len;
        char *text = json_node_print(node, &random, seed % 2 == 0 ? JSON_SPACES : 0, &len);
        char *damaged = malloc(len + 4);
        assert_non_null(damaged);
        memcpy(damaged, text, len);
        len = damage(&random, damaged, len);
        assert_all_same(b, (ki_str){damaged, len});
        refused += b->reference.code != 0;
        free(damaged);
        free(text);
        json_node_free(node);
    }
    assert_true(refused > 3000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(valid_tokens_are_valid_at_every_position_of_a_block, setup, teardown),
        cmocka_unit_test_setup_teardown(malformed_tokens_are_refused_at_every_position_of_a_block, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(runs_of_backslashes_cross_blocks, setup, teardown),
        cmocka_unit_test_setup_teardown(long_white_space_is_allowed_between_any_two_tokens, setup, teardown),
        cmocka_unit_test_setup_teardown(recorded_bodies_are_accepted_in_every_split, setup, teardown),
        cmocka_unit_test_setup_teardown(recorded_bodies_may_be_cut_anywhere, setup, teardown),
        cmocka_unit_test_setup_teardown(a_recorded_body_without_its_end_is_truncated, setup, teardown),
        cmocka_unit_test_setup_teardown(generated_values_are_accepted_in_every_split, setup, teardown),
        cmocka_unit_test_setup_teardown(damaged_values_have_the_same_result, setup, teardown),
    };
    return RUN_TESTS(tests);
}
