/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/object/selector.h"

#include <string.h>

#include "support/apiserver/trees.h"
#include "support/unit.h"

/* A constant expression even for a pedantic compiler. */
#define TEXT(literal)                                                                                        \
    {                                                                                                        \
        literal, sizeof(literal) - 1                                                                         \
    }

static const struct ki_as_pair labels[] = {
    {TEXT("app"), TEXT("web")},
    {TEXT("empty"), TEXT("")},
    {TEXT("example.com/tier"), TEXT("front")},
    {TEXT("size"), TEXT("12")},
};
static const struct ki_as_pair fields[] = {
    {TEXT("spec.nodeName"), TEXT("node-1")},
    {TEXT("status.phase"), TEXT("Running")},
};
static const struct ki_as_object object = {
    .name = TEXT("a"),
    .ns = TEXT("default"),
    .labels = labels,
    .label_count = 4,
    .fields = fields,
    .field_count = 2,
};

static bool matches(const char *label_text, const char *field_text)
{
    struct ki_as_resource pods = resource_of("v1", "pods", "Pod");
    struct ki_as_selector *selector = NULL;
    struct ki_as_failure failure = {0};
    int rc = ki_as_selector_parse(ki_str_of(label_text), ki_str_of(field_text), &pods, &selector, &failure);
    assert_taken(rc, &failure);
    bool answer = ki_as_selector_matches(selector, &object);
    ki_as_selector_free(selector);
    return answer;
}

static void refused(const char *label_text, const char *message)
{
    struct ki_as_resource pods = resource_of("v1", "pods", "Pod");
    struct ki_as_selector *selector = NULL;
    struct ki_as_failure failure = {0};
    assert_int_equal(ki_as_selector_parse(ki_str_of(label_text), (ki_str){0}, &pods, &selector, &failure),
                     -1);
    assert_null(selector);
    assert_refused(&failure, 400, message);
}

static void refused_of(struct ki_as_resource resource, const char *field_text, const char *message)
{
    struct ki_as_selector *selector = NULL;
    struct ki_as_failure failure = {0};
    assert_int_equal(ki_as_selector_parse((ki_str){0}, ki_str_of(field_text), &resource, &selector, &failure),
                     -1);
    assert_refused(&failure, 400, message);
}

static void an_empty_selector_matches_everything(void **state)
{
    (void)state;
    struct ki_as_resource pods = resource_of("v1", "pods", "Pod");
    struct ki_as_selector *selector = (struct ki_as_selector *)&pods;
    struct ki_as_failure failure = {0};
    assert_taken(ki_as_selector_parse(KI_STR(" "), KI_STR(","), &pods, &selector, &failure), &failure);
    assert_null(selector);
    assert_true(ki_as_selector_matches(NULL, &object));
    assert_int_equal(ki_as_selector_name(NULL).len, 0);
}

static void equality_needs_the_value(void **state)
{
    (void)state;
    assert_true(matches("app=web", ""));
    assert_true(matches("app==web", ""));
    assert_true(matches(" app = web , size == 12 ", ""));
    assert_false(matches("app=db", ""));
    assert_false(matches("missing=web", ""));
    assert_true(matches("empty=", ""));
    assert_true(matches("empty=,app=web", ""));
    assert_false(matches("missing=", ""));
    assert_true(matches("example.com/tier=front", ""));
}

static void inequality_matches_objects_without_the_label(void **state)
{
    (void)state;
    assert_true(matches("app!=db", ""));
    assert_true(matches("missing!=x", ""));
    assert_false(matches("app!=web", ""));
}

static void sets_match_any_of_their_values(void **state)
{
    (void)state;
    assert_true(matches("app in (db, web)", ""));
    assert_true(matches("app in (web,web)", ""));
    assert_false(matches("app in (db,cache)", ""));
    assert_false(matches("missing in (a)", ""));
    assert_true(matches("app notin (db)", ""));
    assert_true(matches("missing notin (db)", ""));
    assert_false(matches("app notin (db,web)", ""));
    assert_true(matches("empty in ()", ""));
    assert_true(matches("empty in (,x)", ""));
    assert_true(matches("empty in (x,)", ""));
    assert_true(matches("empty in (x,,y)", ""));
    assert_false(matches("app in ()", ""));
}

static void operator_words_are_names_elsewhere(void **state)
{
    (void)state;
    assert_false(matches("in", ""));
    assert_false(matches("in in (in,notin)", ""));
    assert_true(matches("notin notin (in)", ""));
    assert_false(matches("app=in", ""));
}

static void existence_needs_only_the_key(void **state)
{
    (void)state;
    assert_true(matches("app", ""));
    assert_false(matches("missing", ""));
    assert_true(matches("!missing,app", ""));
    assert_false(matches("!app", ""));
    assert_true(matches("! missing", ""));
}

static void numbers_compare_as_integers(void **state)
{
    (void)state;
    assert_true(matches("size>9", ""));
    assert_false(matches("size>12", ""));
    assert_true(matches("size<13", ""));
    assert_false(matches("app>1", ""));
    assert_false(matches("missing<1", ""));
    assert_true(matches("size<9223372036854775807", ""));
}

static void fields_match_by_value(void **state)
{
    (void)state;
    assert_true(matches("", "metadata.name=a"));
    assert_true(matches("", "metadata.namespace==default,spec.nodeName=node-1"));
    assert_false(matches("", "metadata.name!=a"));
    assert_true(matches("", "status.phase!=Failed,"));
    assert_true(matches("app=web", "status.phase=Running"));
    assert_false(matches("app=db", "status.phase=Running"));
    assert_true(matches("", "spec.host=node-1"));
    assert_true(matches("", "status.podIP="));
    assert_true(matches("", "status.podIP!=1.2.3.4"));
    assert_false(matches("", "metadata.name=a\\,b\\=c\\\\"));
}

static void the_name_is_known_if_it_is_required(void **state)
{
    (void)state;
    struct ki_as_resource pods = resource_of("v1", "pods", "Pod");
    struct ki_as_selector *selector = NULL;
    struct ki_as_failure failure = {0};
    assert_taken(ki_as_selector_parse((ki_str){0}, KI_STR("status.phase=x,metadata.name=b\\,c"), &pods,
                                      &selector, &failure),
                 &failure);
    assert_true(ki_str_equal(ki_as_selector_name(selector), KI_STR("b,c")));
    ki_as_selector_free(selector);
    assert_taken(ki_as_selector_parse((ki_str){0}, KI_STR("metadata.name!=b"), &pods, &selector, &failure),
                 &failure);
    assert_int_equal(ki_as_selector_name(selector).len, 0);
    ki_as_selector_free(selector);
}

#define QUALIFIED                                                                                            \
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric " \
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "                  \
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"

static void bad_syntax_is_reported_as_by_kubernetes(void **state)
{
    (void)state;
    refused("a=b==c", "found '==', expected: ',' or 'end of string'");
    refused("a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt");
    refused("=a", "found '=', expected: !, identifier, or 'end of string'");
    refused(",", "found ',', expected: !, identifier, or 'end of string'");
    refused("a,", "found '', expected: identifier after ','");
    refused("a,=", "found '=', expected: identifier after ','");
    refused("!", "unable to parse requirement: found '', expected: identifier");
    refused("!a=b", "found '=', expected: ',' or 'end of string'");
    refused("a in", "unable to parse requirement: found '' expected: '('");
    refused("a in b", "unable to parse requirement: found 'b' expected: '('");
    refused("a in (b", "unable to parse requirement: found '', expected: ',' or ')'");
    refused("a in (b c)", "unable to parse requirement: found 'c', expected: ',' or ')'");
    refused("a in (=)", "unable to parse requirement: found '=', expected: ',', ')' or identifier");
    refused("a in (b,=)", "unable to parse requirement: found '=', expected: ',', or identifier");
    refused("a=(", "unable to parse requirement: found '(', expected: identifier");
    refused("a===b", "unable to parse requirement: found '=', expected: identifier");
}

static void bad_keys_and_values_are_reported_as_by_kubernetes(void **state)
{
    (void)state;
    refused("-a", "unable to parse requirement: <nil>: Invalid value: \"-a\": name part " QUALIFIED);
    refused("/a", "unable to parse requirement: <nil>: Invalid value: \"/a\": prefix part must be non-empty");
    refused("a/", "unable to parse requirement: <nil>: Invalid value: \"a/\": name part must be non-empty; "
                  "name part " QUALIFIED);
    refused("a/b/c",
            "unable to parse requirement: <nil>: Invalid value: \"a/b/c\": a valid label key " QUALIFIED
            " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')");
    refused("a=b_", "unable to parse requirement: values[0][a]: Invalid value: \"b_\": a valid label must be "
                    "an empty string or "
                    "consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
                    "alphanumeric character "
                    "(e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
                    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')");
    refused(
        "a>b",
        "unable to parse requirement: values[0]: Invalid value: \"b\": for 'Gt', 'Lt' operators, the value "
        "must be an integer");
    refused("a>9223372036854775808",
            "unable to parse requirement: values[0]: Invalid value: \"9223372036854775808\": "
            "for 'Gt', 'Lt' operators, the value must be an integer");
}

static void long_keys_and_values_are_refused(void **state)
{
    (void)state;
    char text[80] = "a=";
    memset(text + 2, 'b', 64);
    struct ki_as_resource pods = resource_of("v1", "pods", "Pod");
    struct ki_as_selector *selector = NULL;
    struct ki_as_failure failure = {0};
    assert_int_equal(ki_as_selector_parse((ki_str){text, 66}, (ki_str){0}, &pods, &selector, &failure), -1);
    assert_refused_with(&failure, 400, "must be no more than 63 bytes");
    assert_taken(ki_as_selector_parse((ki_str){text, 65}, (ki_str){0}, &pods, &selector, &failure), &failure);
    ki_as_selector_free(selector);
    assert_int_equal(ki_as_selector_parse((ki_str){text + 2, 64}, (ki_str){0}, &pods, &selector, &failure),
                     -1);
    assert_refused_with(&failure, 400, "name part must be no more than 63 bytes");
}

static void bad_fields_are_reported_as_by_their_kind(void **state)
{
    (void)state;
    struct ki_as_resource pods = resource_of("v1", "pods", "Pod");
    struct ki_as_resource custom = resource_of("example.com/v1", "widgets", "Widget");
    custom.is_custom = true;
    refused_of(pods, "spec.nothing=1", "field label not supported: spec.nothing");
    refused_of(custom, "spec.size=1", "field label not supported: spec.size");
    refused_of(resource_of("v1", "cluster/nodes", "Node"), "metadata.namespace=a",
               "field label not supported: metadata.namespace");
    refused_of(resource_of("batch/v1", "jobs", "Job"), "spec.x=1",
               "field label \"spec.x\" not supported for Job");
    refused_of(resource_of("apps/v1", "deployments", "Deployment"), "spec.x=1",
               "\"spec.x\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"");
    refused_of(pods, "metadata.name", "invalid selector: 'metadata.name'; can't understand 'metadata.name'");
    refused_of(pods, "metadata.name=a,b", "invalid selector: 'metadata.name=a,b'; can't understand 'b'");
    refused_of(pods, "metadata.name=a=b", "invalid field selector: unescaped character in value: 61");
    refused_of(pods, "metadata.name=a\\x", "invalid field selector: invalid escape sequence: \\x");
    refused_of(pods, "metadata.name=a\\", "invalid field selector: invalid escape sequence: \\");
}

static bool parses(void *user)
{
    struct ki_as_selector *selector = NULL;
    struct ki_as_failure failure = {0};
    int rc = ki_as_selector_parse(KI_STR("a in (c,b,d,e),f,!g,h=i,j!=k,l>1"),
                                  KI_STR("metadata.name=x,status.phase!=y"), user, &selector, &failure);
    if (rc == 0)
        ki_as_selector_free(selector);
    else
        assert_int_equal(failure.code, 500);
    ki_as_failure_fini(&failure);
    return rc == 0;
}

static bool refuses(void *user)
{
    struct ki_as_selector *selector = NULL;
    struct ki_as_failure failure = {0};
    int rc = ki_as_selector_parse(KI_STR("a=b_"), (ki_str){0}, user, &selector, &failure);
    assert_int_equal(rc, -1);
    bool is_said = failure.status != NULL;
    ki_as_failure_fini(&failure);
    return is_said;
}

static void out_of_memory_is_a_failure_like_others(void **state)
{
    (void)state;
    struct ki_as_resource pods = resource_of("v1", "pods", "Pod");
    assert_survives_no_memory(parses, &pods);
    assert_survives_no_memory(refuses, &pods);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_selector_matches_everything),
        cmocka_unit_test(equality_needs_the_value),
        cmocka_unit_test(inequality_matches_objects_without_the_label),
        cmocka_unit_test(sets_match_any_of_their_values),
        cmocka_unit_test(operator_words_are_names_elsewhere),
        cmocka_unit_test(existence_needs_only_the_key),
        cmocka_unit_test(numbers_compare_as_integers),
        cmocka_unit_test(fields_match_by_value),
        cmocka_unit_test(the_name_is_known_if_it_is_required),
        cmocka_unit_test(bad_syntax_is_reported_as_by_kubernetes),
        cmocka_unit_test(bad_keys_and_values_are_reported_as_by_kubernetes),
        cmocka_unit_test(long_keys_and_values_are_refused),
        cmocka_unit_test(bad_fields_are_reported_as_by_their_kind),
        cmocka_unit_test(out_of_memory_is_a_failure_like_others),
    };
    return RUN_TESTS(tests);
}
