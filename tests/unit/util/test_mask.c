/* SPDX-License-Identifier: Apache-2.0 */
/* What is left of a text when our secrets are taken out of it. */
#include "util/mask.h"

#include <stdio.h>
#include <string.h>

#include "support/unit.h"

#define CUT "\xe2\x80\xa6"

static const char *masked(const char *text, const char *secret)
{
    static char room[256];
    size_t len = strlen(text);
    memcpy(room, text, len);
    room[ki_mask_secret(room, len, secret)] = 0;
    return room;
}

static void a_secret_is_masked_wherever_it_stands(void **state)
{
    (void)state;
    assert_string_equal(masked("abcdefghi", "abcdefghi"), "<masked>");
    assert_string_equal(masked("Bearer abcdefgh, twice: abcdefghabcdefgh.", "abcdefgh"),
                        "Bearer <masked>, twice: <masked><masked>.");
    assert_string_equal(masked("abcdefg and abcdef", "abcdef"), "***g and ***");
    assert_string_equal(masked("ababababc", "abababc"), "ab***");
}

static void other_text_stays(void **state)
{
    (void)state;
    assert_string_equal(masked("", "abcdefgh"), "");
    assert_string_equal(masked("abcdefg and more", "abcdefgh"), "abcdefg and more");
    assert_string_equal(masked("ends with abcde", "abcdefgh"), "ends with abcde");
    assert_string_equal(masked("no secret", NULL), "no secret");
}

static void a_word_too_short_for_a_secret_stays(void **state)
{
    (void)state;
    assert_string_equal(masked("admin is admin", "admin"), "admin is admin");
}

static void a_secret_that_was_cut_is_masked(void **state)
{
    (void)state;
    assert_string_equal(masked("sent abcdefgh", "abcdefghijkl"), "sent <masked>");
    assert_string_equal(masked("sent abcdefgh" CUT, "abcdefghijkl"), "sent <masked>" CUT);
    assert_string_equal(masked("sent abcdefgh" CUT " (see it)", "abcdefghijkl"),
                        "sent <masked>" CUT " (see it)");
    assert_string_equal(masked("sent abcdef", "abcdefghijkl"), "sent ***");
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
        cmocka_unit_test(a_secret_is_masked_wherever_it_stands),
        cmocka_unit_test(other_text_stays),
        cmocka_unit_test(a_word_too_short_for_a_secret_stays),
        cmocka_unit_test(a_secret_that_was_cut_is_masked),
        cmocka_unit_test(errors_and_texts_are_masked_in_place),
        cmocka_unit_test(without_secrets_nothing_is_masked),
    };
    return RUN_TESTS(tests);
}
