/* SPDX-License-Identifier: Apache-2.0 */
/* Events are the same objects in v1 and in events.k8s.io/v1; some fields have different names. */
#include <kinformer/resources.h>
#include <string.h>

#include "support/apiserver/api_rig.h"
#include "support/unit.h"

#define OLD "/api/v1/namespaces/default/events"
#define NEW "/apis/events.k8s.io/v1/namespaces/default/events"

static const char old_event[] =
    "{\"metadata\":{\"name\":\"a\"},\"involvedObject\":{\"kind\":\"Pod\",\"name\":\"web\",\"namespace\":"
    "\"default\"},\"reason\":\"Started\",\"message\":\"it runs\",\"count\":3,\"type\":\"Normal\",\"source\":{"
    "\"component\":\"kubelet\"},\"firstTimestamp\":\"2026-01-01T00:00:00Z\",\"lastTimestamp\":"
    "\"2026-01-02T00:00:00Z\",\"reportingComponent\":\"kubelet\",\"reportingInstance\":\"n1\"}";
static const char new_event[] =
    "{\"metadata\":{\"name\":\"b\"},\"regarding\":{\"kind\":\"Pod\",\"name\":\"db\",\"namespace\":"
    "\"default\"},"
    "\"reason\":\"Killed\",\"note\":\"it stops\",\"type\":\"Normal\",\"action\":\"Kill\",\"eventTime\":"
    "\"2026-01-01T00:00:00.000000Z\",\"reportingController\":\"x.io/c\",\"reportingInstance\":\"c-1\"}";

static int setup(void **state)
{
    ki_apiserver *server = api_rig_start(NULL);
    *state = server;
    api_post(server, OLD, old_event);
    api_post(server, NEW, new_event);
    return 0;
}

static void an_event_of_v1_is_shown_with_the_new_names(void **state)
{
    api_answer answer = api_get(*state, NEW "/a");
    assert_int_equal(answer.status, 200);
    assert_string_equal(api_text(&answer, "apiVersion"), "events.k8s.io/v1");
    assert_string_equal(api_text(&answer, "regarding.name"), "web");
    assert_string_equal(api_text(&answer, "note"), "it runs");
    assert_int_equal(json_integer_value(api_at(answer.tree, "deprecatedCount")), 3);
    assert_string_equal(api_text(&answer, "deprecatedSource.component"), "kubelet");
    assert_string_equal(api_text(&answer, "deprecatedFirstTimestamp"), "2026-01-01T00:00:00Z");
    assert_string_equal(api_text(&answer, "deprecatedLastTimestamp"), "2026-01-02T00:00:00Z");
    assert_string_equal(api_text(&answer, "reportingController"), "kubelet");
    assert_null(api_at(answer.tree, "involvedObject"));
    assert_null(api_at(answer.tree, "message"));
    api_answer_fini(&answer);
}

static void a_new_event_is_shown_with_the_names_of_v1(void **state)
{
    api_answer answer = api_get(*state, OLD "/b");
    assert_int_equal(answer.status, 200);
    assert_string_equal(api_text(&answer, "apiVersion"), "v1");
    assert_string_equal(api_text(&answer, "involvedObject.name"), "db");
    assert_string_equal(api_text(&answer, "message"), "it stops");
    assert_string_equal(api_text(&answer, "reportingComponent"), "x.io/c");
    assert_string_equal(api_text(&answer, "eventTime"), "2026-01-01T00:00:00.000000Z");
    assert_null(api_at(answer.tree, "regarding"));
    api_answer_fini(&answer);
}

/* Go always writes them, and typed clients need them. */
static void unset_fields_are_present(void **state)
{
    static const char *const unset[][2] = {{OLD "/c", "firstTimestamp"},
                                           {OLD "/c", "lastTimestamp"},
                                           {OLD "/c", "eventTime"},
                                           {NEW "/c", "deprecatedFirstTimestamp"},
                                           {NEW "/c", "deprecatedLastTimestamp"},
                                           {NEW "/c", "eventTime"}};
    api_post(*state, OLD,
             "{\"metadata\":{\"name\":\"c\"},\"involvedObject\":{\"namespace\":\"default\"},"
             "\"lastTimestamp\":null}");
    for (size_t i = 0; i < sizeof(unset) / sizeof(unset[0]); i++) {
        api_answer answer = api_get(*state, unset[i][0]);
        assert_true(json_is_null(api_at(answer.tree, unset[i][1])));
        assert_null(strstr(answer.body, "f:eventTime"));
        api_answer_fini(&answer);
    }
    api_answer answer = api_get(*state, OLD "/c");
    assert_int_equal(json_object_size(api_at(answer.tree, "source")), 0);
    assert_true(json_is_object(api_at(answer.tree, "source")));
    assert_string_equal(api_text(&answer, "reportingComponent"), "");
    assert_string_equal(api_text(&answer, "reportingInstance"), "");
    api_answer_fini(&answer);
}

static void lists_of_both_groups_have_all_events(void **state)
{
    api_answer answer = api_get(*state, OLD);
    assert_int_equal(json_array_size(api_at(answer.tree, "items")), 2);
    assert_string_equal(api_text(&answer, "items.1.involvedObject.name"), "db");
    api_answer_fini(&answer);
    answer = api_get(*state, NEW);
    assert_int_equal(json_array_size(api_at(answer.tree, "items")), 2);
    assert_string_equal(api_text(&answer, "items.0.regarding.name"), "web");
    assert_null(api_at(answer.tree, "items.0.kind"));
    api_answer_fini(&answer);
}

static void selectors_use_the_names_of_their_group(void **state)
{
    api_answer answer =
        api_get(*state, NEW "?fieldSelector=regarding.name%3Dweb,reportingController%3Dkubelet");
    assert_int_equal(json_array_size(api_at(answer.tree, "items")), 1);
    assert_string_equal(api_text(&answer, "items.0.metadata.name"), "a");
    api_answer_fini(&answer);
    answer = api_get(*state, OLD "?fieldSelector=involvedObject.name%3Ddb");
    assert_int_equal(json_array_size(api_at(answer.tree, "items")), 1);
    assert_string_equal(api_text(&answer, "items.0.metadata.name"), "b");
    api_answer_fini(&answer);
    answer = api_get(*state, NEW "?fieldSelector=involvedObject.name%3Dweb");
    assert_int_equal(answer.status, 400);
    api_answer_fini(&answer);
}

static void a_patch_in_one_group_is_visible_in_the_other(void **state)
{
    api_answer answer =
        api_call(*state, &(api_request){.method = "PATCH",
                                        .path = NEW "/a?fieldValidation=Strict",
                                        .body = "{\"note\":\"it ran\",\"deprecatedCount\":4}",
                                        .headers = {"Content-Type: application/merge-patch+json"}});
    assert_int_equal(answer.status, 200);
    assert_string_equal(api_text(&answer, "note"), "it ran");
    api_answer_fini(&answer);
    answer = api_get(*state, OLD "/a");
    assert_string_equal(api_text(&answer, "message"), "it ran");
    assert_int_equal(json_integer_value(api_at(answer.tree, "count")), 4);
    assert_string_equal(api_text(&answer, "source.component"), "kubelet");
    api_answer_fini(&answer);
}

static void watches_of_both_groups_get_all_events(void **state)
{
    api_answer answer = api_get(*state, NEW "?watch=1&timeoutSeconds=1&resourceVersion=0");
    size_t at = 0;
    json_t *event = api_next_event(&answer, &at);
    assert_string_equal(json_string_value(api_at(event, "object.regarding.name")), "web");
    assert_string_equal(json_string_value(api_at(event, "object.apiVersion")), "events.k8s.io/v1");
    json_decref(event);
    event = api_next_event(&answer, &at);
    assert_string_equal(json_string_value(api_at(event, "object.note")), "it stops");
    json_decref(event);
    api_answer_fini(&answer);
}

static void a_table_has_the_columns_of_events(void **state)
{
    static const char accept[] = "Accept: application/json;as=Table;v=v1;g=meta.k8s.io";
    api_answer answer = api_call(*state, &(api_request){.path = NEW, .headers = {accept}});
    assert_int_equal(json_array_size(api_at(answer.tree, "rows")), 2);
    assert_non_null(strstr(answer.body, "\"pod/web\""));
    assert_non_null(strstr(answer.body, "\"it runs\""));
    api_answer_fini(&answer);
}

static void a_delete_in_one_group_deletes_in_both(void **state)
{
    api_answer answer = api_call(*state, &(api_request){.method = "DELETE", .path = NEW "/a"});
    assert_int_equal(answer.status, 200);
    api_answer_fini(&answer);
    answer = api_get(*state, OLD "/a");
    assert_int_equal(answer.status, 404);
    api_answer_fini(&answer);
    assert_int_equal(ki_apiserver_count(*state, &KI_CORE_V1_EVENTS), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, api_rig_stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_event_of_v1_is_shown_with_the_new_names),
        TEST(a_new_event_is_shown_with_the_names_of_v1),
        TEST(unset_fields_are_present),
        TEST(lists_of_both_groups_have_all_events),
        TEST(selectors_use_the_names_of_their_group),
        TEST(a_patch_in_one_group_is_visible_in_the_other),
        TEST(watches_of_both_groups_get_all_events),
        TEST(a_table_has_the_columns_of_events),
        TEST(a_delete_in_one_group_deletes_in_both),
    };
    return RUN_TESTS(tests);
}
