/* SPDX-License-Identifier: Apache-2.0 */
/* sample-controller as a process of its own: what it makes of Foos. */
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "flow/support/sample_world.h"
#include "support/apiserver/api_rig.h"
#include "support/patience.h"
#include "support/unit.h"
#include "util/clock.h"

static void assert_text(const api_answer *answer, const char *path, const char *expected)
{
    assert_string_equal(api_text(answer, path), expected);
}

/* How many such Events there are about a Foo. */
static int has_event(const char *foo, const char *reason, const char *type, const char *message)
{
    api_answer events = api_get(sample.server, "/api/v1/namespaces/default/events");
    size_t i;
    const json_t *event;
    int found = 0;
    json_array_foreach(json_object_get(events.tree, "items"), i, event)
    {
        json_t *wanted =
            json_pack("[s, s, s, s, s, s]", "Foo", foo, reason, type, message, "sample-controller");
        json_t *is =
            json_pack("[O, O, O, O, O, O]", api_at(event, "involvedObject.kind"),
                      api_at(event, "involvedObject.name"), api_at(event, "reason"), api_at(event, "type"),
                      api_at(event, "message"), api_at(event, "source.component"));
        found += json_equal(wanted, is);
        json_decref(wanted);
        json_decref(is);
    }
    api_answer_fini(&events);
    return found;
}

static void put_foo(const char *name, const char *deployment)
{
    char json[256];
    snprintf(json, sizeof(json),
             "{\"apiVersion\":\"samplecontroller.k8s.io/"
             "v1alpha1\",\"kind\":\"Foo\",\"metadata\":{\"name\":\"%s\"},"
             "\"spec\":{\"deploymentName\":\"%s\",\"replicas\":2}}",
             name, deployment);
    api_post(sample.server, FOOS_PATH, json);
}

/* ---- the Deployment ---------------------------------------------------------------------------------- */

static void a_foo_gets_the_deployment_that_it_names(void **state)
{
    (void)state;
    put_foo("foo-1", "web");
    sample_start(&sample.process, sample.server, "");
    sample_wait_settled(sample.server);
    api_answer d = api_get(sample.server, DEPLOYMENTS_PATH "/web"),
               foo = api_get(sample.server, FOOS_PATH "/foo-1");
    assert_null(api_at(d.tree, "metadata.labels"));
    assert_int_equal(json_array_size(api_at(d.tree, "metadata.ownerReferences")), 1);
    assert_text(&d, "metadata.ownerReferences.0.kind", "Foo");
    assert_text(&d, "metadata.ownerReferences.0.apiVersion", "samplecontroller.k8s.io/v1alpha1");
    assert_text(&d, "metadata.ownerReferences.0.uid", api_text(&foo, "metadata.uid"));
    assert_true(json_is_true(api_at(d.tree, "metadata.ownerReferences.0.controller")));
    assert_true(json_is_true(api_at(d.tree, "metadata.ownerReferences.0.blockOwnerDeletion")));
    json_t *labels = json_pack("{s:s, s:s}", "app", "nginx", "controller", "foo-1");
    assert_true(json_equal(api_at(d.tree, "spec.selector.matchLabels"), labels));
    assert_true(json_equal(api_at(d.tree, "spec.template.metadata.labels"), labels));
    json_decref(labels);
    assert_int_equal(json_array_size(api_at(d.tree, "spec.template.spec.containers")), 1);
    assert_text(&d, "spec.template.spec.containers.0.name", "nginx");
    assert_text(&d, "spec.template.spec.containers.0.image", "nginx:latest");
    assert_text(&d, "metadata.managedFields.0.manager", "sample-controller");
    api_answer_fini(&d);
    api_answer_fini(&foo);
    example_end(&sample.process); /* events are sent before it ends */
    assert_int_equal(has_event("foo-1", "Synced", "Normal", "Foo synced successfully"), 1);
}

/* A response is late, so that the event after it has to wait. */
static void events_that_wait_are_sent_before_it_ends(void **state)
{
    (void)state;
    const ki_fault late = {
        .action = KI_FAULT_DELAY, .methods = KI_FAULT_METHOD_POST, .path = "/events", .delay_ms = 1000};
    assert_int_equal(ki_apiserver_fault(sample.server, &late, NULL), 0);
    put_foo("foo-1", "foo-1");
    put_foo("foo-2", "foo-2");
    sample_start(&sample.process, sample.server, "");
    SAMPLE_WAIT_UNTIL(ki_apiserver_count(sample.server, &KI_APPS_V1_DEPLOYMENTS) == 2);
    sample_wait_settled(sample.server);
    example_end(&sample.process);
    assert_int_equal(has_event("foo-1", "Synced", "Normal", "Foo synced successfully"), 1);
    assert_int_equal(has_event("foo-2", "Synced", "Normal", "Foo synced successfully"), 1);
}

/* The first response never comes. */
static void several_workers_do_not_wait_for_each_other(void **state)
{
    (void)state;
    const ki_fault stall = {.action = KI_FAULT_STALL,
                            .methods = KI_FAULT_METHOD_POST,
                            .path = "/deployments",
                            .after_bytes = 1,
                            .times = 1};
    assert_int_equal(ki_apiserver_fault(sample.server, &stall, NULL), 0);
    for (int i = 1; i <= 3; i++)
        sample_put_foo(sample.server, i, 1);
    sample_start(&sample.process, sample.server, "--workers 2");
    SAMPLE_WAIT_UNTIL(ki_apiserver_count(sample.server, &KI_APPS_V1_DEPLOYMENTS) == 3);
    ki_apiserver_clear_faults(sample.server);
    sample_wait_settled(sample.server);
    example_end(&sample.process);
}

static void changed_replicas_are_restored_with_everything_else(void **state)
{
    (void)state;
    sample_put_foo(sample.server, 1, 2);
    sample_start(&sample.process, sample.server, "");
    sample_wait_settled(sample.server);
    sample_patch(DEPLOYMENTS_PATH "/foo-1",
                 "{\"metadata\":{\"labels\":{\"mine\":\"1\"}},\"spec\":{\"replicas\":5}}");
    SAMPLE_WAIT_UNTIL(sample_count(sample.server, &(sample_query){.method = "PUT",
                                                                  .resource = "deployments",
                                                                  .user_agent = CONTROLLER,
                                                                  .status = 200}) > 0);
    sample_wait_settled(sample.server);
    api_answer d = api_get(sample.server, DEPLOYMENTS_PATH "/foo-1");
    assert_null(api_at(d.tree, "metadata.labels"));
    api_answer_fini(&d);
    example_end(&sample.process);
}

static size_t puts_of_deployments(void)
{
    return sample_count(
        sample.server, &(sample_query){.method = "PUT", .resource = "deployments", .user_agent = CONTROLLER});
}

/* The cache is behind, as that of a leader that was paused: the server refuses an update of what it shows. */
static void an_update_of_a_stale_deployment_is_refused_and_retried(void **state)
{
    (void)state;
    ki_fault stall = {
        .on = KI_FAULT_WATCH, .action = KI_FAULT_STALL, .path = "/deployments", .user_agent = CONTROLLER};
    sample_put_foo(sample.server, 1, 2);
    sample_start(&sample.process, sample.server, "");
    sample_wait_settled(sample.server);
    assert_int_equal(ki_apiserver_fault(sample.server, &stall, NULL), 0);
    ki_apiserver_cut(sample.server, 0);
    sample_patch(DEPLOYMENTS_PATH "/foo-1", "{\"metadata\":{\"labels\":{\"mine\":\"1\"}}}");
    sample_put_foo(sample.server, 1, 3);
    SAMPLE_WAIT_UNTIL(puts_of_deployments() > 0);
    api_answer d = api_get(sample.server, DEPLOYMENTS_PATH "/foo-1");
    assert_text(&d, "metadata.labels.mine", "1");
    api_answer_fini(&d);
    ki_apiserver_clear_faults(sample.server);
    sample_wait_settled(sample.server);
    example_end(&sample.process);
    assert_true(sample_count(sample.server, &(sample_query){.method = "PUT",
                                                            .resource = "deployments",
                                                            .user_agent = CONTROLLER,
                                                            .status = 409}) > 0);
}

/* The change comes to the controller before the second Foo, which the same worker serves. */
static void what_is_changed_beside_the_replicas_stays(void **state)
{
    (void)state;
    sample_put_foo(sample.server, 1, 2);
    sample_start(&sample.process, sample.server, "--workers 1");
    sample_wait_settled(sample.server);
    sample_patch(DEPLOYMENTS_PATH "/foo-1", "{\"metadata\":{\"labels\":{\"mine\":\"1\"}}}");
    sample_put_foo(sample.server, 2, 1);
    sample_wait_settled(sample.server);
    example_end(&sample.process);
    assert_int_equal(puts_of_deployments(), 0);
}

static void a_deployment_that_is_deleted_comes_back(void **state)
{
    (void)state;
    sample_put_foo(sample.server, 1, 1);
    sample_start(&sample.process, sample.server, "");
    sample_wait_settled(sample.server);
    assert_int_equal(ki_apiserver_delete(sample.server, &KI_APPS_V1_DEPLOYMENTS, "default", "foo-1", NULL),
                     0);
    SAMPLE_WAIT_UNTIL(ki_apiserver_count(sample.server, &KI_APPS_V1_DEPLOYMENTS) == 1);
    sample_wait_settled(sample.server);
    example_end(&sample.process);
}

static void leave_alone(const char *owners)
{
    char json[1024];
    snprintf(
        json, sizeof(json),
        "{\"metadata\":{\"name\":\"foo-1\",\"ownerReferences\":%s},"
        "\"spec\":{\"replicas\":3,\"selector\":{\"matchLabels\":{\"a\":\"b\"}},"
        "\"template\":{\"metadata\":{\"labels\":{\"a\":\"b\"}},\"spec\":{\"containers\":[{\"name\":\"c\","
        "\"image\":\"i\"}]}}}}",
        owners);
    api_post(sample.server, DEPLOYMENTS_PATH, json);
    sample_put_foo(sample.server, 1, 1);
    sample_start(&sample.process, sample.server, "");
    sample_put_foo(sample.server, 2, 1); /* others do not wait for it */
    SAMPLE_WAIT_UNTIL(ki_apiserver_count(sample.server, &KI_APPS_V1_DEPLOYMENTS) == 2);
    SAMPLE_WAIT_UNTIL(has_event("foo-1", "ErrResourceExists", "Warning",
                                "Resource \"foo-1\" already exists and is not managed by Foo"));
    /* Without it the Foo gets one of its own: it was retried. */
    assert_int_equal(ki_apiserver_delete(sample.server, &KI_APPS_V1_DEPLOYMENTS, "default", "foo-1", NULL),
                     0);
    sample_wait_settled(sample.server);
    assert_int_equal(puts_of_deployments(), 0);
    example_end(&sample.process);
}

static void a_deployment_without_an_owner_is_left_alone(void **state)
{
    (void)state;
    leave_alone("[]");
}

static void a_deployment_of_another_foo_of_the_same_name_is_left_alone(void **state)
{
    (void)state;
    leave_alone("[{\"apiVersion\":\"samplecontroller.k8s.io/v1alpha1\",\"kind\":\"Foo\","
                "\"name\":\"foo-1\",\"uid\":\"of-an-earlier-foo-1\",\"controller\":true}]");
}

static void a_foo_without_a_deployment_name_gets_nothing_until_it_has_one(void **state)
{
    (void)state;
    api_post(sample.server, FOOS_PATH,
             "{\"apiVersion\":\"samplecontroller.k8s.io/"
             "v1alpha1\",\"kind\":\"Foo\",\"metadata\":{\"name\":\"foo-1\"},"
             "\"spec\":{\"replicas\":1}}");
    sample_put_foo(sample.server, 2, 1);
    sample_start(&sample.process, sample.server, "");
    SAMPLE_WAIT_UNTIL(ki_apiserver_count(sample.server, &KI_APPS_V1_DEPLOYMENTS) == 1);
    api_answer foo = api_get(sample.server, FOOS_PATH "/foo-1");
    assert_null(api_at(foo.tree, "status"));
    api_answer_fini(&foo);
    assert_int_equal(/* and nothing is tried for it */
                     sample_count(sample.server,
                                  &(sample_query){.method = "POST", .resource = "deployments"}),
                     1);
    sample_patch(FOOS_PATH "/foo-1", "{\"spec\":{\"deploymentName\":\"foo-1\"}}");
    sample_wait_settled(sample.server);
    example_end(&sample.process);
}

/* ---- what it costs the server ------------------------------------------------------------------------ */

typedef struct period {
    int64_t first_us;
    int64_t last_us;
} period;

static void note_write(const ki_apiserver_request *request, void *user)
{
    period *p = user;
    if (strcmp(request->method, "GET") == 0 || strstr(request->user_agent, CONTROLLER) == NULL)
        return;
    p->first_us = p->first_us == 0 || request->time_us < p->first_us ? request->time_us : p->first_us;
    p->last_us = request->time_us > p->last_us ? request->time_us : p->last_us;
}

/* With 5 requests a second, the creates alone would take 40 s. All writes together must not take half of
 * that; they take less than a second, even under a sanitizer on a busy machine. */
static void assert_writes_are_not_limited(int creates)
{
    period p = {0};
    (void)ki_apiserver_requests(sample.server, 0, note_write, &p);
    assert_true(p.first_us > 0);
    assert_in_range((p.last_us - p.first_us) / 1000, 0, creates * 1000 / 5 / 2);
}

static void two_hundred_foos_take_one_create_each_and_no_conflict(void **state)
{
    (void)state;
    enum { COUNT = 200 };
    sample_start(&sample.process, sample.server, "--workers 8");
    for (int i = 0; i < COUNT; i++)
        sample_put_foo(sample.server, i, 1 + i % 3);
    sample_wait_settled(sample.server);
    assert_int_equal(
        sample_count(sample.server,
                     &(sample_query){.method = "POST", .resource = "deployments", .user_agent = CONTROLLER}),
        COUNT);
    assert_int_equal(sample_count(sample.server, &(sample_query){.user_agent = CONTROLLER, .status = 409}),
                     0);
    assert_in_range(
        sample_count(sample.server,
                     &(sample_query){.method = "PUT", .resource = "foos", .user_agent = CONTROLLER}),
        COUNT, 3 * COUNT);
    assert_writes_are_not_limited(COUNT);
    example_end(&sample.process);
}

static void nothing_is_written_when_nothing_has_to_change(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++)
        sample_put_foo(sample.server, i, 1);
    sample_start(&sample.process, sample.server, "");
    sample_wait_settled(sample.server);
    example_end(&sample.process);
    uint64_t since = sample_now(sample.server);
    sample_start(&sample.process, sample.server, "");
    SAMPLE_WAIT_UNTIL(sample_count(sample.server, &(sample_query){.method = "GET",
                                                                  .resource = "deployments",
                                                                  .user_agent = CONTROLLER,
                                                                  .since = since}) > 0);
    sample_put_foo(sample.server, 20, 1); /* after all that the first list brought, or among it */
    sample_wait_settled(sample.server);
    example_end(&sample.process);
    assert_int_equal(sample_count(sample.server, &(sample_query){.method = "POST",
                                                                 .resource = "deployments",
                                                                 .user_agent = CONTROLLER,
                                                                 .since = since}),
                     1);
    assert_in_range(sample_count(sample.server,
                                 &(sample_query){.method = "PUT", .user_agent = CONTROLLER, .since = since}),
                    1, 2); /* the status of the new one */
    assert_int_equal(sample_count(sample.server, &(sample_query){.method = "POST",
                                                                 .resource = "events",
                                                                 .user_agent = CONTROLLER,
                                                                 .since = since}),
                     1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        sample_test(a_foo_gets_the_deployment_that_it_names),
        sample_test(events_that_wait_are_sent_before_it_ends),
        sample_test(several_workers_do_not_wait_for_each_other),
        sample_test(changed_replicas_are_restored_with_everything_else),
        sample_test(an_update_of_a_stale_deployment_is_refused_and_retried),
        sample_test(what_is_changed_beside_the_replicas_stays),
        sample_test(a_deployment_that_is_deleted_comes_back),
        sample_test(a_deployment_without_an_owner_is_left_alone),
        sample_test(a_deployment_of_another_foo_of_the_same_name_is_left_alone),
        sample_test(a_foo_without_a_deployment_name_gets_nothing_until_it_has_one),
        sample_test(two_hundred_foos_take_one_create_each_and_no_conflict),
        sample_test(nothing_is_written_when_nothing_has_to_change),
    };
    return RUN_TESTS(tests);
}
