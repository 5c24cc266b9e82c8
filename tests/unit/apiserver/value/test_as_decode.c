/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/value/decode.h"

#include <string.h>

#include "support/unit.h"

static void the_last_of_two_members_counts(void **state)
{
    (void)state;
    json_error_t error = {0};
    json_t *tree = ki_as_decode_body(KI_STR("{\"a\":1,\"a\":2}"), &error);
    assert_int_equal(json_integer_value(json_object_get(tree, "a")), 2);
    json_decref(tree);
}

static void an_empty_body_is_an_error(void **state)
{
    (void)state;
    json_error_t error = {0};
    assert_null(ki_as_decode((ki_str){0}, &error));
    assert_true(error.text[0] != '\0');
}

/* `levels` nested arrays, preceded by brackets in a string. */
static json_t *decode_levels(int levels, json_error_t *error)
{
    char text[2 * 2100 + 32] = "[\"[[\\\"[[\",";
    size_t len = strlen(text);
    memset(text + len, '[', (size_t)levels - 1);
    memset(text + len + levels - 1, ']', (size_t)levels);
    return ki_as_decode_body((ki_str){text, len + 2 * (size_t)levels - 1}, error);
}

static void bodies_deeper_than_2000_levels_are_refused(void **state)
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
        cmocka_unit_test(the_last_of_two_members_counts),
        cmocka_unit_test(an_empty_body_is_an_error),
        cmocka_unit_test(bodies_deeper_than_2000_levels_are_refused),
    };
    return RUN_TESTS(tests);
}
