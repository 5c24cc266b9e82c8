/* SPDX-License-Identifier: Apache-2.0 */
/* Removing our secrets from texts. */
#include "util/text/mask.h"

#include <stdio.h>
#include <string.h>

#include "support/unit.h"
#include "util/text/base64.h"

#define CUT "\xe2\x80\xa6"

static const char *masked(const char *text, const char *secret)
{
    static char buffer[256];
    size_t len = strlen(text);
    memcpy(buffer, text, len);
    buffer[ki_mask_secret(buffer, len, secret)] = 0;
    return buffer;
}

static void a_secret_is_masked_at_any_position(void **state)
{
    (void)state;
    assert_string_equal(masked("abcdefghi", "abcdefghi"), "<masked>");
    assert_string_equal(masked("Bearer abcdefgh, twice: abcdefghabcdefgh.", "abcdefgh"),
                        "Bearer <masked>, twice: <masked><masked>.");
    assert_string_equal(masked("abcdefg and abcdef", "abcdef"), "***g and ***");
    assert_string_equal(masked("ababababc", "abababc"), "ab***");
}

static void other_text_is_kept(void **state)
{
    (void)state;
    assert_string_equal(masked("", "abcdefgh"), "");
    assert_string_equal(masked("abcdefg and more", "abcdefgh"), "abcdefg and more");
    assert_string_equal(masked("ends with abcde", "abcdefgh"), "ends with abcde");
    assert_string_equal(masked("no secret", NULL), "no secret");
}

static void a_word_too_short_for_a_secret_is_kept(void **state)
{
    (void)state;
    assert_string_equal(masked("admin is admin", "admin"), "admin is admin");
}

static void a_truncated_secret_is_masked(void **state)
{
    (void)state;
    assert_string_equal(masked("sent abcdefgh", "abcdefghijkl"), "sent <masked>");
    assert_string_equal(masked("sent abcdefgh" CUT, "abcdefghijkl"), "sent <masked>" CUT);
    assert_string_equal(masked("sent abcdefgh" CUT " (see it)", "abcdefghijkl"),
                        "sent <masked>" CUT " (see it)");
    assert_string_equal(masked("sent abcdef", "abcdefghijkl"), "sent ***");
}

/* The base64 of the secret, with these bytes before and after it. */
static const char *encoded(const char *before, const char *secret, const char *behind)
{
    static char text[256];
    char bytes[128];
    int len = snprintf(bytes, sizeof(bytes), "%s%s%s", before, secret, behind);
    text[ki_base64_encode((ki_str){bytes, (size_t)len}, text)] = 0;
    return text;
}

static void a_secret_in_base64_is_masked(void **state)
{
    (void)state;
    assert_string_equal(masked("Basic czNjcmV0LXdvcmQ=", "s3cret-word"), "Basic <masked>");
    assert_string_equal(masked("\"czNjcmV0LXdvcmQ\"", "s3cret-word"), "\"<masked>\"");
    assert_string_equal(masked("(Pz8/fn5-Pz8_)", "???~~~???"), "(<masked>)"); /* in either alphabet */
}

/* Whatever surrounds the secret, the remaining text does not reveal its first or last character. */
static void a_secret_among_other_bytes_in_base64_is_masked(void **state)
{
    (void)state;
    static const char *const around[] = {"", "u", "us", "bob", "bob:", "alice", "alice:", "a:b:c:d"};
    static const char *const secrets[] = {"s3cret",  "13cret",   "s3cres",   "s3cret-", "13cret-",
                                          "s3cret.", "s3cret-w", "13cret-w", "s3cret-x"};
    for (size_t i = 0; i < sizeof(around) / sizeof(around[0]); i++)
        for (size_t j = 0; j < sizeof(around) / sizeof(around[0]); j++)
            for (size_t k = 0; k < sizeof(secrets) / sizeof(secrets[0]); k += 3) {
                char first[256];
                const char *left = masked(encoded(around[i], secrets[k], around[j]), secrets[k]);
                assert_true(strstr(left, "***") != NULL || strstr(left, "<masked>") != NULL);
                snprintf(first, sizeof(first), "%s", left);
                for (size_t other = k + 1; other < k + 3; other++)
                    assert_string_equal(masked(encoded(around[i], secrets[other], around[j]), secrets[other]),
                                        first);
            }
}

static void other_base64_is_kept(void **state)
{
    (void)state;
    assert_string_equal(masked("czNjcmV0LVdvcmQ=", "s3cret-word"), "czNjcmV0LVdvcmQ=");
    assert_string_equal(masked("aGVsbG8gd29ybGQ=", "s3cret-word"), "aGVsbG8gd29ybGQ=");
    assert_string_equal(masked("czNjcm", "s3cret-word"), "***"); /* truncated */
    assert_string_equal(masked("sent czNjcmV0" CUT, "s3cret-word"), "sent <masked>" CUT);
}

static void an_escaped_secret_is_masked(void **state)
{
    (void)state;
    assert_string_equal(masked("?t=s3cret%2Fword%2b&x", "s3cret/word+"), "?t=<masked>&x");
    assert_string_equal(masked("?t=%73%33%63%72%65%74", "s3cret"), "?t=<masked>");
    assert_string_equal(masked("{\"t\":\"s3\\\"cret\\/wo\\\\rd\"}", "s3\"cret/wo\\rd"),
                        "{\"t\":\"<masked>\"}");
    assert_string_equal(masked("\"s3cret\\u003cword\\u003E\"", "s3cret<word>"), "\"<masked>\"");
    assert_string_equal(masked("\"caf\\u00e9 \\u20ac s3cret\"", "caf\xc3\xa9 \xe2\x82\xac s3cret"),
                        "\"<masked>\"");
    assert_string_equal(masked("'s3cret\\x3cword'", "s3cret<word"), "'<masked>'");
    assert_string_equal(masked("correct+horse%20battery", "correct horse battery"), "<masked>");
    assert_string_equal(masked("s3cret?word", "s3cret\tword"), "<masked>"); /* messages contain no tabs */
}

/* A secret that contains a '%' or a '\\' itself is also found. */
static void a_secret_that_looks_escaped_is_masked(void **state)
{
    (void)state;
    assert_string_equal(masked("is s3cret%41!", "s3cret%41"), "is <masked>!");
    assert_string_equal(masked("is s3cret%2541!", "s3cret%41"), "is <masked>!");
    assert_string_equal(masked("is s3cret\\\\n!", "s3cret\\n"), "is <masked>!");
    assert_string_equal(masked("is s3cret\\n!", "s3cret\\n"), "is <masked>!");
}

static void a_truncated_escaped_secret_is_masked(void **state)
{
    (void)state;
    assert_string_equal(masked("t=s3%63ret%2Fwo" CUT, "s3cret/word"), "t=<masked>" CUT);
    assert_string_equal(masked("t=s3cret%2" CUT, "s3cret/word"), "t=<masked>" CUT);
    assert_string_equal(masked("t=s3cret\\u00", "s3cret<word"), "t=<masked>");
    assert_string_equal(masked("t=s3cret\\", "s3cret\"word"), "t=***");
}

static void escaped_base64_is_masked(void **state)
{
    (void)state;
    assert_string_equal(masked("?b=czNjcmV0LXdvcmQ%3D&c", "s3cret-word"), "?b=<masked>&c");
    assert_string_equal(masked("(Pz8%2Ffn5%2BPz8%2f)", "???~~~???"), "(<masked>)");
    assert_string_equal(masked("\"Pz8\\/fn5\\u002bPz8\\/\"", "???~~~???"), "\"<masked>\"");
    assert_string_equal(masked("Pz8%2Ffn5%2" CUT, "???~~~???"), "<masked>" CUT);
}

static void other_escapes_are_kept(void **state)
{
    (void)state;
    assert_string_equal(masked("s3cret%2Gword s3cret%2", "s3cret/word+"), "s3cret%2Gword <masked>");
    assert_string_equal(masked("s3cret%2Eword \\u12 \\x %", "s3cret/word"), "s3cret%2Eword \\u12 \\x %");
    assert_string_equal(masked("s3cret\\qword", "s3cretqword"), "s3cret\\qword");
}

static size_t hide_word(char *text, size_t len, const void *user)
{
    return ki_mask_secret(text, len, user);
}

static void errors_and_texts_are_masked_in_place(void **state)
{
    (void)state;
    const ki_mask mask = {hide_word, "abcdefgh"};
    ki_error err = {.code = KI_ERR_INVALID};
    char memory[] = "x abcdefgh y";
    ki_str text = {memory + 2, 8};
    snprintf(err.message, sizeof(err.message), "it was abcdefgh!");
    ki_mask_error(&mask, &err);
    assert_string_equal(err.message, "it was <masked>!");
    ki_mask_text(&mask, memory, &text);
    assert_true(ki_str_equal(text, KI_STR("<masked>")));
    assert_string_equal(memory, "x <masked> y");
}

static void without_secrets_nothing_is_masked(void **state)
{
    (void)state;
    const ki_mask mask = {0};
    ki_error err = {.message = "abc"};
    ki_str text = {0};
    ki_mask_error(&mask, &err);
    ki_mask_text(&mask, NULL, &text);
    assert_string_equal(err.message, "abc");
    assert_null(text.ptr);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_secret_is_masked_at_any_position),
        cmocka_unit_test(other_text_is_kept),
        cmocka_unit_test(a_word_too_short_for_a_secret_is_kept),
        cmocka_unit_test(a_truncated_secret_is_masked),
        cmocka_unit_test(a_secret_in_base64_is_masked),
        cmocka_unit_test(a_secret_among_other_bytes_in_base64_is_masked),
        cmocka_unit_test(other_base64_is_kept),
        cmocka_unit_test(an_escaped_secret_is_masked),
        cmocka_unit_test(a_secret_that_looks_escaped_is_masked),
        cmocka_unit_test(a_truncated_escaped_secret_is_masked),
        cmocka_unit_test(escaped_base64_is_masked),
        cmocka_unit_test(other_escapes_are_kept),
        cmocka_unit_test(errors_and_texts_are_masked_in_place),
        cmocka_unit_test(without_secrets_nothing_is_masked),
    };
    return RUN_TESTS(tests);
}
