/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/validate/validate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/apiserver/trees.h"
#include "support/unit.h"

/* A widget whose spec.x has this schema and this value. */
static int validated(const char *schema_of_x, const char *x, struct ki_as_failure *failure)
{
    struct ki_as_resource widgets = resource_of("example.com/v1", "widgets", "Widget");
    json_t *tree =
        json_pack("{s:s, s:s, s:{s:s, s:s}, s:{s:o}}", "kind", "Widget", "apiVersion", "example.com/v1",
                  "metadata", "name", "a", "namespace", "d", "spec", "x", tree_of(x));
    widgets.is_custom = true;
    widgets.schema = json_pack("{s:s, s:{s:{s:s, s:{s:o}}}}", "type", "object", "properties", "spec", "type",
                               "object", "properties", "x", tree_of(schema_of_x));
    int rc = ki_as_validate(&widgets, tree, failure);
    json_decref(tree);
    json_decref(widgets.schema);
    return rc;
}

/* NULL: accepted. */
static void checked(const char *schema_of_x, const char *x, const char *message)
{
    struct ki_as_failure failure = {0};
    int rc = validated(schema_of_x, x, &failure);
    if (message == NULL)
        assert_taken(rc, &failure);
    else
        assert_refused(&failure, 422, message);
}

static void is_too_costly(const char *schema_of_x, const char *x)
{
    struct ki_as_failure failure = {0};
    assert_true(validated(schema_of_x, x, &failure) < 0);
    assert_refused_with(&failure, 422, "Forbidden: the object is too costly to validate against its schema");
}

#define INVALID "Widget.example.com \"a\" is invalid: spec.x: Invalid value: "

static void formats_are_checked(void **state)
{
    (void)state;
    checked("{'type':'string','format':'date-time'}", "'2026-01-02t03:04:05z'", NULL);
    checked("{'type':'string','format':'date-time'}", "'x'",
            INVALID "\"x\": spec.x in body must be of type date-time: \"x\"");
    checked("{'type':'integer','format':'int32'}", "2147483647", NULL);
    checked("{'type':'integer','format':'int32'}", "2147483648",
            INVALID "2147483648: spec.x in body must be of type int32: 2147483648");
    checked("{'type':'string','format':'ipv4'}", "'::1'",
            INVALID "\"::1\": spec.x in body must be of type ipv4: \"::1\"");
    checked("{'type':'string','format':'ipv6'}", "'::1'", NULL);
    checked("{'type':'string','format':'of its own'}", "'x'", NULL);
}

static void elements_are_distinguished_by_their_keys(void **state)
{
    static const char schema[] =
        "{'type':'array','x-kubernetes-list-type':'map','x-kubernetes-list-map-keys':['a','b']}";
    (void)state;
    checked(schema, "[{'a':1,'b':1},{'a':1,'b':2}]", NULL);
    checked(schema, "[{'a':1,'b':1},{'a':1,'b':1,'c':2}]",
            "Widget.example.com \"a\" is invalid: spec.x[1]: Duplicate value: {\"a\":1,\"b\":1,\"c\":2}");
}

static void a_real_is_an_integer_if_it_fits_into_one(void **state)
{
    (void)state;
    static const char *const larger[] = {"9223372036854775808.0", "-9223372036854777856.0", "1e300",
                                         "-1e300"};
    checked("{'type':'integer'}", "9223372036854774784.0", NULL);
    checked("{'type':'integer'}", "-9223372036854775808.0", NULL);
    for (size_t i = 0; i < sizeof(larger) / sizeof(larger[0]); i++) {
        checked("{'type':'number'}", larger[i], NULL);
        checked("{'type':'integer'}", larger[i],
                INVALID "\"number\": spec.x in body must be of type integer: \"number\"");
    }
}

static void types_are_checked(void **state)
{
    (void)state;
    checked("{'type':'integer'}", "1", NULL);
    checked("{'type':'integer'}", "1.0", NULL);
    checked("{'type':'number'}", "1", NULL);
    checked("{'type':'integer'}", "'1'",
            INVALID "\"string\": spec.x in body must be of type integer: \"string\"");
    checked("{'type':'integer'}", "1.5",
            INVALID "\"number\": spec.x in body must be of type integer: \"number\"");
    checked("{'type':'string'}", "true",
            INVALID "\"boolean\": spec.x in body must be of type string: \"boolean\"");
    checked("{'type':'string','nullable':true}", "null", NULL);
    checked("{'type':'string'}", "null", INVALID "\"null\": spec.x in body must be of type string: \"null\"");
    checked("{'x-kubernetes-int-or-string':true}", "'50%'", NULL);
    checked("{'x-kubernetes-int-or-string':true}", "5", NULL);
    checked("{}", "{'any':['thing']}", NULL);
}

static void numbers_have_bounds(void **state)
{
    (void)state;
    checked("{'type':'integer','minimum':1,'maximum':3}", "2", NULL);
    checked("{'minimum':1}", "0", INVALID "0: spec.x in body should be greater than or equal to 1");
    checked("{'maximum':3}", "4", INVALID "4: spec.x in body should be less than or equal to 3");
    checked("{'minimum':1,'exclusiveMinimum':true}", "1",
            INVALID "1: spec.x in body should be greater than 1");
    checked("{'multipleOf':5}", "10", NULL);
    checked("{'multipleOf':5}", "7", INVALID "7: spec.x in body should be a multiple of 5");
}

static void strings_have_lengths_and_patterns(void **state)
{
    (void)state;
    checked("{'minLength':1}", "''", INVALID "\"\": spec.x in body should be at least 1 chars long");
    checked("{'maxLength':2}", "'äöü'",
            "Widget.example.com \"a\" is invalid: spec.x: Too long: may not be more than 2 bytes");
    checked("{'maxLength':3}", "'äöü'", NULL);
    checked("{'maxLength':-1}", "'a'",
            "Widget.example.com \"a\" is invalid: spec.x: Too long: value is too long");
    checked("{'pattern':'^[a-z]+$'}", "'abc'", NULL);
    checked("{'pattern':'^[a-z]+$'}", "'Abc'", INVALID "\"Abc\": spec.x in body should match '^[a-z]+$'");
    checked("{'pattern':'^\\\\d+(?:\\\\.\\\\d+)?$'}", "'1.25'", NULL);
    checked("{'pattern':'^\\\\d+(?:\\\\.\\\\d+)?$'}", "'1x25'",
            INVALID "\"1x25\": spec.x in body should match '^\\d+(?:\\.\\d+)?$'");
    checked("{'pattern':'^[\\\\w.-]+$'}", "'a_b.c-d'", NULL);
    checked("{'pattern':'^(?i)(?P<name>x+)$'}", "'xX'", NULL);
}

/* All other requests wait meanwhile. */
static void patterns_must_not_take_long(void **state)
{
    (void)state;
    enum { BYTES = 3 * 1024 * 1024 };
    char *text = malloc(BYTES);
    memset(text, 'a', BYTES);
    text[0] = '\'';
    strcpy(text + BYTES - 2, "'");
    is_too_costly("{'pattern':'^(a|b|c|d|e|f|g|h|i|j)+!$'}", text);
    checked("{'pattern':'^(a+)+$'}", "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'", NULL);
    free(text);
}

static void patterns_must_not_nest_deeply(void **state)
{
    (void)state;
    enum { BYTES = 48 * 1000 };
    char *text = malloc(BYTES);
    memset(text, 'a', BYTES);
    text[0] = '\'';
    strcpy(text + BYTES - 2, "'");
    is_too_costly("{'pattern':'^(?:a|b)*$'}", text);
    strcpy(text + BYTES / 4, "'");
    checked("{'pattern':'^(?:a|b)*$'}", text, NULL);
    free(text);
}

static void sets_must_not_take_long(void **state)
{
    (void)state;
    enum { COUNT = 12000 };
    char *text = malloc((size_t)COUNT * 8 + 3);
    size_t len = 0;
    for (int i = 0; i < COUNT; i++)
        len += (size_t)sprintf(text + len, "%c%d", i == 0 ? '[' : ',', i);
    strcpy(text + len, "]");
    is_too_costly("{'x-kubernetes-list-type':'set'}", text);
    free(text);
}

/* A list with `count` times `element`, which may contain a number; the caller frees it. */
static char *list_of(int count, const char *element)
{
    char *text = malloc((size_t)count * (strlen(element) + 12) + 3);
    size_t len = 0;
    for (int i = 0; i < count; i++) {
        text[len++] = i == 0 ? '[' : ',';
        len += (size_t)sprintf(text + len, "%s", element);
    }
    strcpy(text + len, "]");
    return text;
}

static char *numbers_to(int count)
{
    char *text = malloc((size_t)count * 12 + 3);
    size_t len = 0;
    for (int i = 0; i < count; i++)
        len += (size_t)sprintf(text + len, "%c%d", i == 0 ? '[' : ',', i);
    strcpy(text + len, "]");
    return text;
}

static char *joined(const char *before, char *middle, const char *behind)
{
    char *text = malloc(strlen(before) + strlen(middle) + strlen(behind) + 1);
    (void)sprintf(text, "%s%s%s", before, middle, behind);
    free(middle);
    return text;
}

/* A pattern is compiled once, not for each value; otherwise this would exceed the budget. */
static void patterns_are_compiled_once(void **state)
{
    (void)state;
    char *values = list_of(20000, "''");
    checked("{'items':{'pattern':'^((ab){1000})?$'}}", values, NULL);
    free(values);
}

static void enumerations_must_not_take_long(void **state)
{
    (void)state;
    char *schema = joined("{'items':{'enum':", numbers_to(30000), "}}");
    char *values = list_of(30000, "29999");
    is_too_costly(schema, values);
    free(values);
    values = list_of(1000, "29999");
    checked(schema, values, NULL);
    free(values);
    free(schema);
}

static void combinations_must_not_take_long(void **state)
{
    (void)state;
    char *values = list_of(20000, "1");
    char *schema = joined("{'items':{'anyOf':", list_of(2000, "{'maximum':0}"), "}}");
    is_too_costly(schema, values);
    free(schema);
    schema = joined("{'items':{'allOf':", list_of(2000, "{'maximum':0}"), "}}");
    is_too_costly(schema, values);
    free(schema);
    free(values);
}

/* Errors of the alternatives of a value are not written out. */
static void errors_of_alternatives_are_not_reported(void **state)
{
    (void)state;
    char *values = list_of(100000, "'a'");
    char *schema = joined("{'not':{'anyOf':", list_of(10000, "{'minItems':1000000}"), "}}");
    checked(schema, values, NULL);
    free(schema);
    free(values);
}

/* Each cause would contain the whole list. */
static void error_messages_count_towards_the_budget(void **state)
{
    (void)state;
    char *values = list_of(100000, "'a'");
    char *schema = joined("{'allOf':", list_of(10000, "{'minItems':1000000}"), "}");
    is_too_costly(schema, values);
    free(schema);
    free(values);
}

static void only_listed_values_are_accepted(void **state)
{
    (void)state;
    checked("{'enum':['red','blue']}", "'red'", NULL);
    checked("{'enum':['red','blue']}", "'pink'",
            "Widget.example.com \"a\" is invalid: spec.x: Unsupported value: \"pink\": supported values: "
            "\"red\", \"blue\"");
}

static void lists_are_checked_with_their_elements(void **state)
{
    (void)state;
    checked("{'type':'array','items':{'type':'string'}}", "['a','b']", NULL);
    checked("{'type':'array','items':{'type':'string'}}", "['a',1]",
            "Widget.example.com \"a\" is invalid: spec.x[1]: Invalid value: \"integer\": spec.x[1] in body "
            "must be of type "
            "string: \"integer\"");
    checked("{'minItems':1}", "[]", INVALID "[]: spec.x in body should have at least 1 items");
    checked("{'maxItems':1}", "[1,2]",
            "Widget.example.com \"a\" is invalid: spec.x: Too many: 2: must have at most 1 item");
    checked("{'maxItems':-1}", "[1,2]",
            "Widget.example.com \"a\" is invalid: spec.x: Too many: 2: has too many items");
    checked("{'x-kubernetes-list-type':'set'}", "[1,2,1]",
            "Widget.example.com \"a\" is invalid: spec.x[2]: Duplicate value: 1");
}

static void objects_are_checked_with_their_members(void **state)
{
    (void)state;
    checked("{'type':'object','required':['a'],'properties':{'a':{'type':'string'}}}", "{'a':'b'}", NULL);
    checked("{'type':'object','required':['a'],'properties':{'a':{'type':'string'}}}", "{}",
            "Widget.example.com \"a\" is invalid: spec.x.a: Required value");
    checked("{'type':'object','additionalProperties':{'type':'integer'}}", "{'k':'v'}",
            "Widget.example.com \"a\" is invalid: spec.x.k: Invalid value: \"string\": spec.x.k in body must "
            "be of type "
            "integer: \"string\"");
    checked("{'minProperties':1}", "{}", INVALID "{}: spec.x in body should have at least 1 properties");
}

static void schemas_combine(void **state)
{
    (void)state;
    checked("{'anyOf':[{'type':'string'},{'type':'integer'}]}", "1", NULL);
    checked("{'anyOf':[{'type':'string'},{'type':'integer'}]}", "true",
            INVALID "true: spec.x in body must validate at least one schema (anyOf)");
    checked("{'oneOf':[{'minimum':1},{'minimum':2}]}", "3",
            INVALID "3: spec.x in body must validate one and only one schema (oneOf)");
    checked("{'allOf':[{'minimum':1},{'maximum':2}]}", "3",
            INVALID "3: spec.x in body should be less than or equal to 2");
    checked("{'not':{'type':'string'}}", "'a'",
            INVALID "\"a\": spec.x in body must not validate the schema (not)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_are_checked),
        cmocka_unit_test(a_real_is_an_integer_if_it_fits_into_one),
        cmocka_unit_test(formats_are_checked),
        cmocka_unit_test(elements_are_distinguished_by_their_keys),
        cmocka_unit_test(numbers_have_bounds),
        cmocka_unit_test(strings_have_lengths_and_patterns),
        cmocka_unit_test(patterns_must_not_take_long),
        cmocka_unit_test(patterns_must_not_nest_deeply),
        cmocka_unit_test(sets_must_not_take_long),
        cmocka_unit_test(patterns_are_compiled_once),
        cmocka_unit_test(enumerations_must_not_take_long),
        cmocka_unit_test(combinations_must_not_take_long),
        cmocka_unit_test(errors_of_alternatives_are_not_reported),
        cmocka_unit_test(error_messages_count_towards_the_budget),
        cmocka_unit_test(only_listed_values_are_accepted),
        cmocka_unit_test(lists_are_checked_with_their_elements),
        cmocka_unit_test(objects_are_checked_with_their_members),
        cmocka_unit_test(schemas_combine),
    };
    return RUN_TESTS(tests);
}
