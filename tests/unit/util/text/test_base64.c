/* SPDX-License-Identifier: Apache-2.0 */
#include "util/text/base64.h"

#include <kinformer/error.h>
#include <string.h>

#include "support/unit.h"

/* RFC 4648, section 10, and the two characters that its examples do not contain. */
static const struct {
    const char *bytes;
    const char *text;
} pairs[] = {
    {"", ""},
    {"f", "Zg=="},
    {"fo", "Zm8="},
    {"foo", "Zm9v"},
    {"foob", "Zm9vYg=="},
    {"fooba", "Zm9vYmE="},
    {"foobar", "Zm9vYmFy"},
    {"\xfb\xff\xbf", "+/+/"},
};
enum { PAIRS = sizeof(pairs) / sizeof(pairs[0]) };

static void assert_decodes(const char *text, const char *bytes)
{
    char out[64];
    size_t len = 99;
    assert_int_equal(ki_base64_decode(ki_str_of(text), out, &len), 0);
    assert_int_equal(len, strlen(bytes));
    assert_memory_equal(out, bytes, len);
}

static void the_examples_of_the_rfc_are_decoded(void **state)
{
    (void)state;
    for (size_t i = 0; i < PAIRS; i++)
        assert_decodes(pairs[i].text, pairs[i].bytes);
}

static void the_examples_of_the_rfc_are_encoded(void **state)
{
    (void)state;
    for (size_t i = 0; i < PAIRS; i++) {
        char out[64];
        size_t len = ki_base64_encode(ki_str_of(pairs[i].bytes), out);
        assert_int_equal(len, KI_BASE64_ENCODED_BYTES(strlen(pairs[i].bytes)));
        assert_int_equal(len, strlen(pairs[i].text));
        assert_memory_equal(out, pairs[i].text, len);
    }
}

static void line_ends_are_ignored_anywhere(void **state)
{
    (void)state;
    assert_decodes("\nZm9\r\nvYg=\n=\n\n", "foob");
    assert_decodes("\r\n", "");
}

static void all_bytes_survive_a_round_trip(void **state)
{
    (void)state;
    char bytes[256], text[KI_BASE64_ENCODED_BYTES(256)], again[KI_BASE64_DECODED_BYTES(sizeof(text))];
    size_t len = 0;
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (char)i;
    for (size_t n = 0; n <= sizeof(bytes); n++) {
        size_t text_len = ki_base64_encode((ki_str){bytes, n}, text);
        assert_int_equal(ki_base64_decode((ki_str){text, text_len}, again, &len), 0);
        assert_int_equal(len, n);
        assert_memory_equal(again, bytes, n);
    }
}

static void anything_else_is_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "Z",        "Zg",   "Zg=",     "Zm9",       "====",  "=Zg=",  "Z===",
        "Zg==Zg==", "Zg=g", "Zh==",    "Zm9=",      "Zm 9v", "Zm9v ", "\tZg==",
        "Zm-v",     "Zm_v", "Zg==\nZ", "Zm9vYg==X", "Zm9v*", "Zg===", "Zm8=\n\n=",
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        char out[64];
        size_t len = 99;
        if (ki_base64_decode(ki_str_of(wrong[i]), out, &len) != KI_ERR_INVALID)
            fail_msg("\"%s\" was not refused", wrong[i]);
        assert_int_equal(len, 99);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_examples_of_the_rfc_are_decoded),
        cmocka_unit_test(the_examples_of_the_rfc_are_encoded),
        cmocka_unit_test(line_ends_are_ignored_anywhere),
        cmocka_unit_test(all_bytes_survive_a_round_trip),
        cmocka_unit_test(anything_else_is_refused),
    };
    return RUN_TESTS(tests);
}
