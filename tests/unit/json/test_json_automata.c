/* SPDX-License-Identifier: Apache-2.0 */
/* Escapes, UTF-8, numbers and words: each automaton compared with a model that is written differently. */
#include <stdio.h>
#include <string.h>

#include "json/escape.h"
#include "json/literal.h"
#include "json/text.h"
#include "json/utf8.h"
#include "support/unit.h"
#include "util/random.h"

enum { NO_MISTAKE = 64 };

/* ---- UTF-8 --------------------------------------------------------------------------------------------- */

static int ranges_meet(uint32_t low, uint32_t high, uint32_t from, uint32_t to)
{
    return low <= to && from <= high;
}

/* Whether these bytes begin a character: some code point of the right size begins with them. */
static int begins_character(const uint8_t *bytes, unsigned n)
{
    unsigned size = bytes[0] < 0x80             ? 1
                    : (bytes[0] & 0xe0) == 0xc0 ? 2
                    : (bytes[0] & 0xf0) == 0xe0 ? 3
                    : (bytes[0] & 0xf8) == 0xf0 ? 4
                                                : 0;
    if (size == 0 || n > size)
        return 0;
    uint32_t low = size == 1 ? bytes[0] : bytes[0] & (0x7fu >> size);
    for (unsigned i = 1; i < n; i++) {
        if ((bytes[i] & 0xc0) != 0x80)
            return 0;
        low = low << 6 | (bytes[i] & 0x3f);
    }
    uint32_t missing = 6 * (size - n);
    uint32_t high = (low + 1) << missing;
    low <<= missing;
    high -= 1;
    switch (size) {
    case 1:
        return 1;
    case 2:
        return ranges_meet(low, high, 0x80, 0x7ff);
    case 3:
        return ranges_meet(low, high, 0x800, 0xd7ff) || ranges_meet(low, high, 0xe000, 0xffff);
    default:
        return ranges_meet(low, high, 0x10000, 0x10ffff);
    }
}

static unsigned size_of_lead(uint8_t lead)
{
    return lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

static unsigned model_utf8(const uint8_t *bytes, unsigned n)
{
    for (unsigned start = 0; start < n;) {
        unsigned size = size_of_lead(bytes[start]);
        for (unsigned i = 1; i <= size && start + i <= n; i++)
            if (!begins_character(bytes + start, i))
                return start + i - 1;
        start += size;
    }
    return NO_MISTAKE;
}

/* Checks the bytes in one piece, and in two. */
static void assert_utf8(const uint8_t *bytes, unsigned n)
{
    unsigned expected = model_utf8(bytes, n);
    for (unsigned cut = 0; cut < n; cut++) {
        ki_utf8 utf8 = {0};
        unsigned at = cut == 0 ? NO_MISTAKE : ki_utf8_check(&utf8, bytes, cut);
        if (at == NO_MISTAKE) {
            at = ki_utf8_check(&utf8, bytes + cut, n - cut);
            at = at == NO_MISTAKE ? NO_MISTAKE : at + cut;
        }
        if (at != expected)
            fail_msg("%02x %02x %02x %02x, cut at %u: error at %u, not %u", bytes[0], bytes[1], bytes[2],
                     bytes[3], cut, at, expected);
    }
}

static void every_code_point_is_valid_utf8(void **state)
{
    (void)state;
    for (uint32_t code_point = 0; code_point <= 0x10ffff; code_point++) {
        char text[4];
        ki_utf8 utf8 = {0};
        if (code_point == 0xd800)
            code_point = 0xe000;
        unsigned len = (unsigned)ki_utf8_encode(code_point, text);
        assert_true(ki_utf8_check(&utf8, (const uint8_t *)text, len) == NO_MISTAKE && utf8.need == 0);
    }
}

static void every_two_bytes_are_judged_as_by_the_model(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 0x10000; i++) {
        const uint8_t bytes[4] = {(uint8_t)(i >> 8), (uint8_t)i, 'a', 'b'};
        assert_utf8(bytes, 4);
    }
}

static void every_three_bytes_are_judged_as_by_the_model(void **state)
{
    (void)state;
    static const uint8_t thirds[] = {0,    'a',  0x7f, 0x80, 0x8f, 0x90, 0x9f,
                                     0xa0, 0xbf, 0xc0, 0xc2, 0xe1, 0xff};
    for (unsigned i = 0xc000; i < 0x10000; i++) {
        for (size_t third = 0; third < sizeof(thirds); third++) {
            const uint8_t bytes[4] = {(uint8_t)(i >> 8), (uint8_t)i, thirds[third], 'a'};
            assert_utf8(bytes, 4);
        }
    }
}

static void every_four_bytes_are_judged_as_by_the_model(void **state)
{
    (void)state;
    static const uint8_t others[] = {0x7f, 0x80, 0xbf, 0xc0};
    for (unsigned i = 0xe000; i < 0x10000; i++) {
        for (unsigned other = 0; other < 16; other++) {
            const uint8_t bytes[5] = {(uint8_t)(i >> 8), (uint8_t)i, others[other % 4], others[other / 4],
                                      0x80};
            assert_utf8(bytes, 5);
        }
    }
}

/* ---- escapes ------------------------------------------------------------------------------------------- */

static void escaped_bytes_are_found_as_by_the_model(void **state)
{
    (void)state;
    ki_random random;
    ki_random_init(&random, 1);
    for (int i = 0; i < 100000; i++) {
        uint64_t backslash = ki_random_next(&random);
        if (i % 3 == 0)
            backslash |= ki_random_next(&random) | ki_random_next(&random);
        uint64_t carry = ki_random_below(&random, 2);
        uint64_t expected = 0;
        uint64_t escaped = carry;
        for (unsigned at = 0; at < 64; at++) {
            expected |= escaped << at;
            escaped = !escaped && (backslash >> at & 1);
        }
        uint64_t out_carry = 7;
        assert_true(ki_escape_find(backslash, carry, &out_carry) == expected);
        assert_int_equal(out_carry, escaped);
    }
}

/* The position of the first error between the quotes of a string,
 * or the length if an escape is unfinished; in two pieces. */
static unsigned check_escapes(const char *text, unsigned cut, int *rewritable)
{
    unsigned n = (unsigned)strlen(text);
    unsigned at = 0;
    ki_escape escape = {0};
    uint64_t carry = 0;
    for (unsigned from = 0; from < n; from = at) {
        at = from == 0 && cut > 0 ? cut : n;
        uint64_t backslash = 0;
        for (unsigned i = from; i < at; i++)
            backslash |= (uint64_t)(text[i] == '\\') << (i - from);
        uint64_t next = 0;
        uint64_t escaped = ki_escape_find(backslash, carry, &next);
        carry = escaped >> (at - from) & 1;
        unsigned mistake =
            ki_escape_check(&escape, (const uint8_t *)text + from, at - from, escaped, rewritable);
        if (mistake != NO_MISTAKE)
            return from + mistake;
    }
    return escape.state == KI_ESCAPE_NONE ? NO_MISTAKE : n;
}

static void assert_escapes(const char *text, unsigned expected, int expected_rewritable)
{
    for (unsigned cut = 0; cut < strlen(text); cut++) {
        int rewritable = 0;
        unsigned mistake = check_escapes(text, cut, &rewritable);
        if (mistake != expected || (expected == NO_MISTAKE && rewritable != expected_rewritable))
            fail_msg("%s, cut at %u: error at %u, not %u", text, cut, mistake, expected);
    }
}

static int is_surrogate(unsigned unit)
{
    return unit >= 0xd800 && unit <= 0xdfff;
}

static void every_unit_is_valid_unless_it_is_a_surrogate(void **state)
{
    (void)state;
    for (unsigned unit = 0; unit <= 0xffff; unit++) {
        char text[16];
        snprintf(text, sizeof(text), unit % 2 == 0 ? "\\u%04x" : "\\u%04X", unit);
        unsigned expected = !is_surrogate(unit) ? NO_MISTAKE : unit < 0xdc00 ? 6 : 5;
        int rewritable = 0;
        assert_int_equal(check_escapes(text, unit % 6, &rewritable), expected);
        assert_int_equal(rewritable, 1);
    }
}

static void a_high_surrogate_needs_a_low_one(void **state)
{
    (void)state;
    static const unsigned units[] = {0x0000, 0x0041, 0xd7ff, 0xd800, 0xd801, 0xdbff,
                                     0xdc00, 0xdc01, 0xdfff, 0xe000, 0xffff};
    enum { COUNT = sizeof(units) / sizeof(units[0]) };
    for (size_t i = 0; i < COUNT; i++) {
        for (size_t j = 0; j < COUNT; j++) {
            char text[32];
            snprintf(text, sizeof(text), "\\u%04x\\u%04x", units[i], units[j]);
            int first_high = units[i] >= 0xd800 && units[i] < 0xdc00;
            int second_low = units[j] >= 0xdc00 && units[j] < 0xe000;
            unsigned expected = NO_MISTAKE;
            if (is_surrogate(units[i]) && !first_high)
                expected = 5;
            else if (first_high != second_low)
                expected = 11;
            else if (!first_high && is_surrogate(units[j]))
                expected = 12;
            assert_escapes(text, expected, 1);
        }
    }
}

static void only_eight_characters_and_u_may_follow_a_backslash(void **state)
{
    (void)state;
    for (int c = 1; c < 256; c++) {
        char text[] = {'a', '\\', (char)c, 'a', 0};
        int is_simple = strchr("\"\\/bfnrt", c) != NULL;
        unsigned expected = is_simple ? NO_MISTAKE : c == 'u' ? 4 : 2;
        assert_escapes(text, expected, c == '/');
    }
}

static void only_hexadecimal_digits_follow_u(void **state)
{
    (void)state;
    for (int c = 1; c < 256; c++) {
        for (unsigned at = 2; at < 6; at++) {
            char text[] = "\\u0000";
            text[at] = (char)c;
            int is_digit = strchr("0123456789abcdefABCDEF", c) != NULL;
            assert_escapes(text, is_digit ? NO_MISTAKE : at, 1);
        }
    }
}

/* ---- numbers and words --------------------------------------------------------------------------------- */

static const char *skip_digits(const char *at)
{
    while (*at >= '0' && *at <= '9')
        at++;
    return at;
}

/* The grammar of RFC 8259. */
static int is_number(const char *text)
{
    const char *at = text + (*text == '-');
    const char *digits = at;
    at = *at == '0' ? at + 1 : skip_digits(at);
    if (at == digits)
        return 0;
    if (*at == '.') {
        const char *fraction = ++at;
        at = skip_digits(at);
        if (at == fraction)
            return 0;
    }
    if (*at == 'e' || *at == 'E') {
        at++;
        at += *at == '+' || *at == '-';
        const char *exponent = at;
        at = skip_digits(at);
        if (at == exponent)
            return 0;
    }
    return *at == 0;
}

static int is_literal(const char *text)
{
    return is_number(text) || strcmp(text, "true") == 0 || strcmp(text, "false") == 0 ||
           strcmp(text, "null") == 0;
}

static int accepts(const char *text)
{
    uint32_t state = KI_LITERAL_START;
    for (; *text != 0 && state != KI_LITERAL_BAD; text++)
        state = ki_literal_step(state, (uint8_t)*text);
    return ki_literal_may_end(state);
}

/* Tries every text of up to `len` letters of the alphabet. */
static size_t try_all(const char *alphabet, char *text, size_t at, size_t len)
{
    text[at] = 0;
    if (accepts(text) != is_literal(text))
        fail_msg("%s: %d", text, accepts(text));
    size_t good = (size_t)is_literal(text);
    for (const char *c = alphabet; at < len && *c != 0; c++) {
        text[at] = *c;
        good += try_all(alphabet, text, at + 1, len);
    }
    return good;
}

static void numbers_follow_the_grammar(void **state)
{
    (void)state;
    char text[16];
    assert_true(try_all("01-+.eE", text, 0, 6) > 1000);
    assert_true(try_all("07-.e", text, 0, 7) > 1000);
}

static void the_only_words_are_true_false_and_null(void **state)
{
    (void)state;
    char text[16];
    assert_int_equal(try_all("truefalsn", text, 0, 5), 3);
    assert_int_equal(
        accepts("True") + accepts("nul") + accepts("falsee") + accepts("true1") + accepts("1true"), 0);
}

static void no_other_byte_occurs_in_a_literal(void **state)
{
    (void)state;
    for (int c = 1; c < 256; c++) {
        const char texts[][4] = {{(char)c, 0},
                                 {'1', (char)c, 0},
                                 {'1', (char)c, '1', 0},
                                 {'-', (char)c, 0},
                                 {'0', '.', (char)c, 0}};
        for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
            assert_int_equal(accepts(texts[i]), is_literal(texts[i]));
    }
    for (uint32_t from = 0; from < KI_LITERAL_STATES; from++)
        assert_int_equal(ki_literal_step(from, 0), KI_LITERAL_BAD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_point_is_valid_utf8),
        cmocka_unit_test(every_two_bytes_are_judged_as_by_the_model),
        cmocka_unit_test(every_three_bytes_are_judged_as_by_the_model),
        cmocka_unit_test(every_four_bytes_are_judged_as_by_the_model),
        cmocka_unit_test(escaped_bytes_are_found_as_by_the_model),
        cmocka_unit_test(every_unit_is_valid_unless_it_is_a_surrogate),
        cmocka_unit_test(a_high_surrogate_needs_a_low_one),
        cmocka_unit_test(only_eight_characters_and_u_may_follow_a_backslash),
        cmocka_unit_test(only_hexadecimal_digits_follow_u),
        cmocka_unit_test(numbers_follow_the_grammar),
        cmocka_unit_test(the_only_words_are_true_false_and_null),
        cmocka_unit_test(no_other_byte_occurs_in_a_literal),
    };
    return RUN_TESTS(tests);
}
