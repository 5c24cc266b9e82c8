/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/decode.h"

#include <string.h>

#include "support/trees.h"
#include "support/unit.h"
#include "util/random.h"

static const char *const texts[] = {
    "{}",
    "[]",
    " { \"a\" : [ 1 , -2 , 0 , true , false , null , {} , [] ] , \"b\" : \"c\" } \n",
    "{\"a\":1,\"a\":2}",
    "{\"a\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e4\\u20ac\"}",
    "{\"a\":\"\\ud83d\\ude00\"}",
    "{\"a\":\"\\ud83d\"}",
    "{\"a\":\"\\u0000\"}",
    "{\"a\":\"\\u00g0\"}",
    "{\"a\":\"\\x\"}",
    "{\"a\":\"\xc3\xa4\"}",
    "{\"\xc3\xa4\":\"\\\"\"}",
    "{\"a\":\"\xff\"}",
    "{\"a\\n\":1}",
    "{\"a\":\"\n\"}",
    "{\"a\":\"\\\n\"}",
    "[1.5,1e3,-0,-0.0,0.1]",
    "[123456789012345678,1234567890123456789,-9223372036854775808,99999999999999999999]",
    "[01]",
    "[-]",
    "[1",
    "[1,]",
    "[,]",
    "{\"a\"}",
    "{\"a\":}",
    "{\"a\":1,}",
    "{a:1}",
    "[tru]",
    "[nul",
    "[\"a",
    "[\"a\\",
    "[\"a\\u00",
    "[] x",
    "1",
    "\"a\"",
    "",
    "  ",
    "[1}",
    "{\"metadata\":{\"annotations\":{\"last\":\"{\\\"a\\\":1}\\n\"}}}",
};

static void assert_same(const char *text, size_t len)
{
    json_error_t expected_error = {0};
    json_error_t error = {0};
    json_t *expected = json_loadb(text, len, 0, &expected_error);
    json_t *tree = ki_as_decode((ki_str){text, len}, &error);
    assert_int_equal(tree == NULL, expected == NULL);
    if (tree != NULL)
        assert_true(json_equal(tree, expected));
    else
        assert_string_equal(error.text, expected_error.text);
    json_decref(tree);
    json_decref(expected);
}

static void it_reads_what_jansson_reads(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        assert_same(texts[i], strlen(texts[i]));
}

static void it_refuses_every_cut_as_jansson_does(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        for (size_t len = 0; len < strlen(texts[i]); len++)
            assert_same(texts[i], len);
}

static void it_agrees_on_texts_with_a_wrong_byte(void **state)
{
    (void)state;
    ki_random random;
    ki_random_init(&random, 11);
    for (int round = 0; round < 20000; round++) {
        char text[160];
        const char *from = texts[ki_random_below(&random, sizeof(texts) / sizeof(texts[0]))];
        size_t len = strlen(from);
        memcpy(text, from, len + 1);
        if (len == 0)
            continue;
        static const char bytes[] = "\"\\{}[],:0u1-.e\n\xff ";
        text[ki_random_below(&random, len)] = bytes[ki_random_below(&random, sizeof(bytes) - 1)];
        assert_same(text, len);
    }
}

static void depth_is_bounded(void **state)
{
    (void)state;
    static char text[10000];
    memset(text, '[', 5000);
    memset(text + 5000, ']', 5000);
    assert_same(text, sizeof(text));
    assert_same(text + 5000 - 2048, 4096);
    assert_same(text + 5000 - 2049, 4098);
}

static bool decode(void *user)
{
    (void)user;
    json_t *tree = ki_as_decode(KI_STR("{\"a\":[1,\"b\\n\",\"c\"],\"d\":{}}"), NULL);
    bool is_read = tree != NULL;
    json_decref(tree);
    return is_read;
}

static void without_memory_jansson_has_its_turn(void **state)
{
    (void)state;
    assert_survives_no_memory(decode, NULL);
}

/* `levels` arrays, one in the other, with something in front that is none. */
static json_t *decode_levels(int levels, json_error_t *error)
{
    char text[2 * 2100 + 32] = "[\"[[\\\"[[\",";
    size_t len = strlen(text);
    memset(text + len, '[', (size_t)levels - 1);
    memset(text + len + levels - 1, ']', (size_t)levels);
    return ki_as_decode_body((ki_str){text, len + 2 * (size_t)levels - 1}, NULL, error);
}

static void bodies_are_less_deep_than_what_is_stored(void **state)
{
    (void)state;
    json_error_t error = {0};
    json_t *tree = decode_levels(2000, &error);
    assert_non_null(tree);
    json_decref(tree);
    assert_null(decode_levels(2001, &error));
    assert_string_equal(error.text, "nested deeper than 2000 levels");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_reads_what_jansson_reads),
        cmocka_unit_test(it_refuses_every_cut_as_jansson_does),
        cmocka_unit_test(it_agrees_on_texts_with_a_wrong_byte),
        cmocka_unit_test(depth_is_bounded),
        cmocka_unit_test(bodies_are_less_deep_than_what_is_stored),
        cmocka_unit_test(without_memory_jansson_has_its_turn),
    };
    return RUN_TESTS(tests);
}
