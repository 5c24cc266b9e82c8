/* SPDX-License-Identifier: Apache-2.0 */
/* Replicas of Deployments become available without a controller. */
#include <kinformer/apiserver.h>
#include <kinformer/resources.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "support/apiserver/api_rig.h"
#include "support/patience.h"
#include "support/unit.h"

#define DEPLOYMENTS "/apis/apps/v1/namespaces/default/deployments"

static int setup(void **state)
{
    *state = api_rig_start(
        &(ki_apiserver_options){.seed = 7, .simulate = KI_SIMULATE_DEPLOYMENTS, .simulate_ms = 1});
    return 0;
}

static void create(ki_apiserver *server, const char *name, int replicas)
{
    char body[512];
    snprintf(
        body, sizeof(body),
        "{\"metadata\":{\"name\":\"%s\"},\"spec\":{\"replicas\":%d,\"selector\":{\"matchLabels\":{\"app\":"
        "\"a\"}},\"template\":{\"metadata\":{\"labels\":{\"app\":\"a\"}},\"spec\":{\"containers\":[{"
        "\"name\":\"c\",\"image\":\"i\"}]}}}}",
        name, replicas);
    api_post(server, DEPLOYMENTS, body);
}

static void patch(ki_apiserver *server, const char *path, const char *body)
{
    api_answer answer =
        api_call(server, &(api_request){.method = "PATCH",
                                        .path = path,
                                        .body = body,
                                        .headers = {"Content-Type: application/merge-patch+json"}});
    assert_int_equal(answer.status, 200);
    api_answer_fini(&answer);
}

/* Waits until the status has this generation, and returns the object. */
static api_answer wait_for(ki_apiserver *server, const char *name, int generation)
{
    char path[128];
    snprintf(path, sizeof(path), DEPLOYMENTS "/%s", name);
    for (int i = 0; i < HANG_MS / 5; i++) {
        api_answer answer = api_get(server, path);
        if (json_integer_value(api_at(answer.tree, "status.observedGeneration")) == generation)
            return answer;
        api_answer_fini(&answer);
        usleep(5 * 1000);
    }
    fail_msg("%s has no status of generation %d", name, generation);
    return (api_answer){0};
}

static void expect_counts(const api_answer *answer, int replicas)
{
    static const char *const names[] = {"replicas", "updatedReplicas", "readyReplicas", "availableReplicas"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const json_t *count = json_object_get(api_at(answer->tree, "status"), names[i]);
        assert_int_equal(json_integer_value(count), replicas);
        assert_int_equal(count == NULL, replicas == 0);
    }
    assert_null(api_at(answer->tree, "status.unavailableReplicas"));
    assert_int_equal(json_array_size(api_at(answer->tree, "status.conditions")), 1);
    assert_string_equal(api_text(answer, "status.conditions.0.type"), "Available");
    assert_string_equal(api_text(answer, "status.conditions.0.status"), "True");
}

static void replicas_become_available_and_follow_the_spec(void **state)
{
    create(*state, "a", 3);
    api_answer answer = wait_for(*state, "a", 1);
    expect_counts(&answer, 3);
    api_answer_fini(&answer);
    patch(*state, DEPLOYMENTS "/a", "{\"spec\":{\"replicas\":5}}");
    answer = wait_for(*state, "a", 2);
    expect_counts(&answer, 5);
    api_answer_fini(&answer);
    patch(*state, DEPLOYMENTS "/a/scale", "{\"spec\":{\"replicas\":0}}");
    answer = wait_for(*state, "a", 3);
    expect_counts(&answer, 0);
    api_answer_fini(&answer);
}

/* The status that another client has written is corrected, and the versions show the order. */
static void each_status_is_a_separate_change(void **state)
{
    char path[256];
    uint64_t before = ki_apiserver_version(*state);
    create(*state, "a", 2);
    api_answer first = wait_for(*state, "a", 1);
    api_answer_fini(&first);
    patch(*state, DEPLOYMENTS "/a/status", "{\"status\":{\"availableReplicas\":1,\"observedGeneration\":0}}");
    api_answer second = wait_for(*state, "a", 1);
    expect_counts(&second, 2);
    api_answer_fini(&second);
    snprintf(path, sizeof(path), DEPLOYMENTS "?watch=1&timeoutSeconds=1&resourceVersion=%llu",
             (unsigned long long)before);
    static const int available[] = {0, 2, 1, 2};
    api_answer history = api_get(*state, path);
    size_t at = 0;
    for (size_t i = 0; i < sizeof(available) / sizeof(available[0]); i++) {
        json_t *event = api_next_event(&history, &at);
        assert_int_equal(json_integer_value(api_at(event, "object.status.availableReplicas")), available[i]);
        json_decref(event);
    }
    assert_null(api_next_event(&history, &at)); /* nothing follows */
    api_answer_fini(&history);
}

static void nothing_is_lost_with_the_history(void **state)
{
    (void)state;
    ki_apiserver *server = api_rig_start(&(ki_apiserver_options){
        .seed = 7, .history_events = 2, .simulate = KI_SIMULATE_DEPLOYMENTS, .simulate_ms = 50});
    char name[16];
    enum { COUNT = 20 };
    for (int i = 0; i < COUNT; i++) {
        snprintf(name, sizeof(name), "d%d", i);
        create(server, name, 1);
        if (i % 5 == 0)
            ki_apiserver_compact(server);
    }
    for (int i = 0; i < COUNT; i++) {
        snprintf(name, sizeof(name), "d%d", i);
        api_answer answer = wait_for(server, name, 1);
        expect_counts(&answer, 1);
        api_answer_fini(&answer);
    }
    ki_apiserver_free(server);
}

static void without_the_option_a_status_stays_empty(void **state)
{
    (void)state;
    ki_error err = {0};
    ki_apiserver *server = api_rig_start(NULL);
    create(server, "a", 1);
    usleep(50 * 1000);
    api_answer answer = api_get(server, DEPLOYMENTS "/a");
    assert_int_equal(json_object_size(api_at(answer.tree, "status")), 0);
    api_answer_fini(&answer);
    ki_apiserver_free(server);
    assert_null(ki_apiserver_start(&(ki_apiserver_options){.simulate = 2}, &err));
    assert_int_equal(err.code, KI_ERR_INVALID);
    assert_non_null(strstr(err.message, "simulate"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, api_rig_stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(replicas_become_available_and_follow_the_spec),
        TEST(each_status_is_a_separate_change),
        cmocka_unit_test(nothing_is_lost_with_the_history),
        cmocka_unit_test(without_the_option_a_status_stays_empty),
    };
    return RUN_TESTS(tests);
}
