/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "cli/resource_list.h"
#include "support/failing_allocator.h"
#include "support/unit.h"

static cli_resource_list parse(const char *text)
{
    ki_error err = {0};
    cli_resource_list list = {0};
    int rc = cli_resource_list_parse(text, &list, &err);
    assert_string_equal(err.message, "");
    assert_int_equal(rc, 0);
    return list;
}

static void resources_are_named_as_kubectl_accepts_them(void **state)
{
    (void)state;
    cli_resource_list list = parse("pods,SVC,deployments.apps,Node");
    assert_int_equal(list.count, 4);
    assert_string_equal(list.items[0].name, "pods");
    assert_string_equal(list.items[1].name, "services");
    assert_string_equal(list.items[2].name, "deployments.apps");
    assert_int_equal(list.items[3].resource->scope, KI_SCOPE_CLUSTER);
    cli_resource_list_fini(&list);
}

static void a_custom_resource_is_named_in_full(void **state)
{
    (void)state;
    cli_resource_list list = parse("widgets.v1.example.com");
    assert_int_equal(list.count, 1);
    assert_string_equal(list.items[0].name, "widgets.example.com");
    assert_string_equal(list.items[0].resource->group, "example.com");
    assert_string_equal(list.items[0].resource->version, "v1");
    cli_resource_list_fini(&list);
}

static void a_resource_named_twice_is_listed_once(void **state)
{
    (void)state;
    cli_resource_list list = parse("pods,po,pod,widgets.v1.example.com,services,widgets.v1.example.com");
    assert_int_equal(list.count, 3);
    cli_resource_list_fini(&list);
}

static void resources_with_the_same_plural_have_different_names(void **state)
{
    (void)state;
    cli_resource_list list =
        parse("events.v1.,events.v1.events.k8s.io,hpa.v1.autoscaling,hpa.v2.autoscaling");
    assert_int_equal(list.count, 4);
    assert_string_equal(list.items[0].name, "events");
    assert_string_equal(list.items[1].name, "events.events.k8s.io");
    assert_string_equal(list.items[2].name, "horizontalpodautoscalers.v1.autoscaling");
    assert_string_equal(list.items[3].name, "horizontalpodautoscalers.v2.autoscaling");
    cli_resource_list_fini(&list);
}

static void an_impossible_name_is_refused_with_a_hint(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {{"pod_z", "pod_z"},      {"pods,non sense", "non sense"},
                                           {"", "empty name"},      {"pods,", "empty name"},
                                           {",pods", "empty name"}, {"pods, services", "services"}};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        ki_error err = {0};
        cli_resource_list list = {.count = 77};
        assert_int_equal(cli_resource_list_parse(wrong[i][0], &list, &err), KI_ERR_INVALID);
        assert_non_null(strstr(err.message, wrong[i][1]));
        assert_int_equal(list.count, 77);
    }
}

static void a_resource_with_a_slash_is_refused_with_a_hint(void **state)
{
    (void)state;
    ki_error err = {0};
    cli_resource_list list = {0};
    char text[900] = "pod/";
    assert_int_equal(cli_resource_list_parse("pod/web-0", &list, &err), KI_ERR_INVALID);
    assert_string_equal(err.message,
                        "\"pod/web-0\": to follow one object, give its name as a separate argument: "
                        "`kinformer watch pod web-0`");
    assert_int_equal(cli_resource_list_parse("pod/", &list, &err), KI_ERR_INVALID);
    assert_string_equal(err.message, "\"pod/\": to follow one object, give its name as a separate argument: "
                                     "`kinformer watch pod NAME`");
    assert_int_equal(cli_resource_list_parse("/web-0", &list, &err), KI_ERR_INVALID);
    assert_non_null(strstr(err.message, "`kinformer watch RESOURCE web-0`"));
    memset(text + 4, 'x', 800);
    assert_int_equal(cli_resource_list_parse(text, &list, &err), KI_ERR_INVALID);
    assert_non_null(strstr(err.message, "`kinformer watch pod xxx"));
    assert_string_equal(err.message + strlen(err.message) - 5, "x\xe2\x80\xa6`");
}

static void a_name_that_a_server_might_know_is_left_for_discovery(void **state)
{
    (void)state;
    ki_error err = {0};
    cli_resource_list list = parse("pods,widgets,wd,widgets.example.com,widgets");
    const ki_resource like = {"example.com", "v1", "widgets", "Widget", KI_SCOPE_NAMESPACED, 0};
    assert_int_equal(list.count, 4);
    assert_string_equal(list.items[1].name, "widgets");
    assert_null(list.items[1].resource);
    for (cli_resource *item; (item = cli_resource_list_wanted(&list)) != NULL;)
        cli_resource_list_resolve(&list, item, ki_resource_new(&like, &err));
    assert_int_equal(list.count, 2);
    assert_string_equal(list.items[1].resource->group, "example.com");
    cli_resource_list_fini(&list);
}

static void an_unknown_name_gets_a_hint(void **state)
{
    (void)state;
    ki_error err = {0};
    cli_resource_list list = parse("podz");
    assert_int_equal(cli_resource_list_fail_unknown(&list.items[0], "No", &err), KI_ERR_INVALID);
    assert_non_null(strstr(err.message, "did you mean \"pods\"? No; "));
    assert_non_null(strstr(err.message, "widgets.v1.example.com"));
    cli_resource_list_fini(&list);
    list = parse("wdx");
    assert_int_equal(cli_resource_list_fail_unknown(&list.items[0], "No", &err), KI_ERR_INVALID);
    assert_non_null(strstr(err.message, "\"wdx\". No; "));
    cli_resource_list_fini(&list);
}

static void when_out_of_memory_no_list_is_created(void **state)
{
    (void)state;
    for (size_t n = 1;; n++) {
        ki_error err = {0};
        cli_resource_list list = {0};
        failing_allocator_fail_at(n);
        int rc = cli_resource_list_parse("pods,widgets.v1.example.com,gadgets.v2.example.com", &list, &err);
        if (!failing_allocator_has_failed()) {
            assert_int_equal(rc, 0);
            cli_resource_list_fini(&list);
            break;
        }
        assert_int_equal(rc, KI_ERR_NO_MEMORY);
        assert_null(list.items);
    }
    failing_allocator_fail_at(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(resources_are_named_as_kubectl_accepts_them),
        WITH_MEMORY_CHECK(a_custom_resource_is_named_in_full),
        WITH_MEMORY_CHECK(a_resource_named_twice_is_listed_once),
        WITH_MEMORY_CHECK(resources_with_the_same_plural_have_different_names),
        WITH_MEMORY_CHECK(an_impossible_name_is_refused_with_a_hint),
        WITH_MEMORY_CHECK(a_resource_with_a_slash_is_refused_with_a_hint),
        WITH_MEMORY_CHECK(a_name_that_a_server_might_know_is_left_for_discovery),
        WITH_MEMORY_CHECK(an_unknown_name_gets_a_hint),
        WITH_MEMORY_CHECK(when_out_of_memory_no_list_is_created),
    };
    return RUN_TESTS(tests);
}
