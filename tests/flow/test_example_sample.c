/* SPDX-License-Identifier: Apache-2.0 */
/* sample-controller as a process of its own: what it makes of Foos. */
#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "flow/support/sample_world.h"
#include "support/api_rig.h"
#include "support/patience.h"
#include "support/unit.h"
#include "util/clock.h"

#define MERGE_TYPE "Content-Type: application/merge-patch+json"
#define CONTROLLER "sample-controller"

typedef struct world {
    ki_apiserver *server;
    example_process process;
} world;

static world w;

static int setup(void **state)
{
    (void)state;
    w = (world){.server = sample_server_start()};
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    if (w.process.pid > 0)
        (void)kill(w.process.pid, SIGKILL); /* of a test that failed */
    ki_apiserver_free(w.server);
    return 0;
}

static void patch(const char *path, const char *body)
{
    api_answer answer = api_call(
        w.server, &(api_request){.method = "PATCH", .path = path, .body = body, .headers = {MERGE_TYPE}});
    assert_int_equal(answer.status, 200);
    api_answer_fini(&answer);
}

static void assert_text(const api_answer *answer, const char *path, const char *expected)
{
    assert_string_equal(api_text(answer, path), expected);
}

/* How many such Events there are about a Foo. */
static int has_event(const char *foo, const char *reason, const char *type, const char *message)
{
    api_answer events = api_get(w.server, "/api/v1/namespaces/default/events");
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
    api_post(w.server, FOOS_PATH, json);
}

/* ---- the Deployment ---------------------------------------------------------------------------------- */

static void a_foo_gets_the_deployment_that_it_names(void **state)
{
    (void)state;
    put_foo("foo-1", "web");
    sample_start(&w.process, w.server, "");
    sample_wait_settled(w.server);
    api_answer d = api_get(w.server, DEPLOYMENTS_PATH "/web"), foo = api_get(w.server, FOOS_PATH "/foo-1");
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
    example_end(&w.process); /* events are sent before it ends */
    assert_int_equal(has_event("foo-1", "Synced", "Normal", "Foo synced successfully"), 1);
}

static void changed_replicas_are_restored_with_everything_else(void **state)
{
    (void)state;
    sample_put_foo(w.server, 1, 2);
    sample_start(&w.process, w.server, "");
    sample_wait_settled(w.server);
    patch(DEPLOYMENTS_PATH "/foo-1",
          "{\"metadata\":{\"labels\":{\"mine\":\"1\"}},\"spec\":{\"replicas\":5}}");
    SAMPLE_WAIT_UNTIL(sample_count(w.server, &(sample_query){.method = "PUT",
                                                             .resource = "deployments",
                                                             .user_agent = CONTROLLER,
                                                             .status = 200}) > 0);
    sample_wait_settled(w.server);
    api_answer d = api_get(w.server, DEPLOYMENTS_PATH "/foo-1");
    assert_null(api_at(d.tree, "metadata.labels"));
    api_answer_fini(&d);
    example_end(&w.process);
}

static size_t puts_of_deployments(void)
{
    return sample_count(
        w.server, &(sample_query){.method = "PUT", .resource = "deployments", .user_agent = CONTROLLER});
}

/* The change comes to the controller before the second Foo, which the same worker serves. */
static void what_is_changed_beside_the_replicas_stays(void **state)
{
    (void)state;
    sample_put_foo(w.server, 1, 2);
    sample_start(&w.process, w.server, "--workers 1");
    sample_wait_settled(w.server);
    patch(DEPLOYMENTS_PATH "/foo-1", "{\"metadata\":{\"labels\":{\"mine\":\"1\"}}}");
    sample_put_foo(w.server, 2, 1);
    sample_wait_settled(w.server);
    example_end(&w.process);
    assert_int_equal(puts_of_deployments(), 0);
}

static void a_deployment_that_is_deleted_comes_back(void **state)
{
    (void)state;
    sample_put_foo(w.server, 1, 1);
    sample_start(&w.process, w.server, "");
    sample_wait_settled(w.server);
    assert_int_equal(ki_apiserver_delete(w.server, &KI_APPS_V1_DEPLOYMENTS, "default", "foo-1", NULL), 0);
    SAMPLE_WAIT_UNTIL(ki_apiserver_count(w.server, &KI_APPS_V1_DEPLOYMENTS) == 1);
    sample_wait_settled(w.server);
    example_end(&w.process);
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
    api_post(w.server, DEPLOYMENTS_PATH, json);
    sample_put_foo(w.server, 1, 1);
    sample_start(&w.process, w.server, "");
    sample_put_foo(w.server, 2, 1); /* others do not wait for it */
    SAMPLE_WAIT_UNTIL(ki_apiserver_count(w.server, &KI_APPS_V1_DEPLOYMENTS) == 2);
    SAMPLE_WAIT_UNTIL(has_event("foo-1", "ErrResourceExists", "Warning",
                                "Resource \"foo-1\" already exists and is not managed by Foo"));
    /* Without it the Foo gets one of its own: it was retried. */
    assert_int_equal(ki_apiserver_delete(w.server, &KI_APPS_V1_DEPLOYMENTS, "default", "foo-1", NULL), 0);
    sample_wait_settled(w.server);
    assert_int_equal(puts_of_deployments(), 0);
    example_end(&w.process);
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
    api_post(w.server, FOOS_PATH,
             "{\"apiVersion\":\"samplecontroller.k8s.io/"
             "v1alpha1\",\"kind\":\"Foo\",\"metadata\":{\"name\":\"foo-1\"},"
             "\"spec\":{\"replicas\":1}}");
    sample_put_foo(w.server, 2, 1);
    sample_start(&w.process, w.server, "");
    SAMPLE_WAIT_UNTIL(ki_apiserver_count(w.server, &KI_APPS_V1_DEPLOYMENTS) == 1);
    api_answer foo = api_get(w.server, FOOS_PATH "/foo-1");
    assert_null(api_at(foo.tree, "status"));
    api_answer_fini(&foo);
    patch(FOOS_PATH "/foo-1", "{\"spec\":{\"deploymentName\":\"foo-1\"}}");
    sample_wait_settled(w.server);
    example_end(&w.process);
}

/* ---- what it costs the server ------------------------------------------------------------------------ */

static void two_hundred_foos_take_one_create_each_and_no_conflict(void **state)
{
    (void)state;
    enum { COUNT = 200 };
    sample_start(&w.process, w.server, "--workers 8");
    for (int i = 0; i < COUNT; i++)
        sample_put_foo(w.server, i, 1 + i % 3);
    sample_wait_settled(w.server);
    assert_int_equal(
        sample_count(w.server,
                     &(sample_query){.method = "POST", .resource = "deployments", .user_agent = CONTROLLER}),
        COUNT);
    assert_int_equal(sample_count(w.server, &(sample_query){.user_agent = CONTROLLER, .status = 409}), 0);
    assert_in_range(
        sample_count(w.server,
                     &(sample_query){.method = "PUT", .resource = "foos", .user_agent = CONTROLLER}),
        COUNT, 3 * COUNT);
    example_end(&w.process);
}

static void nothing_is_written_when_nothing_has_to_change(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++)
        sample_put_foo(w.server, i, 1);
    sample_start(&w.process, w.server, "");
    sample_wait_settled(w.server);
    example_end(&w.process);
    uint64_t since = sample_now(w.server);
    sample_start(&w.process, w.server, "");
    SAMPLE_WAIT_UNTIL(sample_count(w.server, &(sample_query){.method = "GET",
                                                             .resource = "deployments",
                                                             .user_agent = CONTROLLER,
                                                             .since = since}) > 0);
    sample_put_foo(w.server, 20, 1); /* after all that the first list brought, or among it */
    sample_wait_settled(w.server);
    example_end(&w.process);
    assert_int_equal(sample_count(w.server, &(sample_query){.method = "POST",
                                                            .resource = "deployments",
                                                            .user_agent = CONTROLLER,
                                                            .since = since}),
                     1);
    assert_in_range(
        sample_count(w.server, &(sample_query){.method = "PUT", .user_agent = CONTROLLER, .since = since}), 1,
        2); /* the status of the new one */
    assert_int_equal(sample_count(w.server, &(sample_query){.method = "POST",
                                                            .resource = "events",
                                                            .user_agent = CONTROLLER,
                                                            .since = since}),
                     1);
}

/* ---- what it says about itself ----------------------------------------------------------------------- */

/* Asks sample-controller itself; the answer is freed with free(). NULL: nothing listens yet. */
static char *ask(const struct sockaddr_in *address, const char *request)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    char *answer = NULL;
    if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0) {
        api_send(fd, request, strlen(request));
        answer = api_receive(fd, NULL, NULL);
    }
    close(fd);
    return answer;
}

static int says(const struct sockaddr_in *address, const char *request, const char *part)
{
    char *answer = ask(address, request);
    int is_so = answer != NULL && strstr(answer, part) != NULL;
    free(answer);
    return is_so;
}

/* At an address of loopback that no other process has. */
static void it_serves_its_metrics(void **state)
{
    (void)state;
    unsigned pid = (unsigned)getpid();
    char flags[128], host[32];
    snprintf(host, sizeof(host), "127.%u.%u.%u", 1 + (pid >> 16) % 254, (pid >> 8) & 255, pid & 255);
    snprintf(flags, sizeof(flags), "--metrics-address %s:9090", host);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(9090)};
    assert_int_equal(inet_pton(AF_INET, host, &address.sin_addr), 1);
    sample_put_foo(w.server, 1, 1);
    sample_start(&w.process, w.server, flags);
    sample_wait_settled(w.server);
    SAMPLE_WAIT_UNTIL(says(&address, "GET /metrics HTTP/1.1\r\n\r\n",
                           "\ncontroller_expectations_total{controller=\"foos\",result=\"timed_out\"} 0\n"));
    assert_true(says(&address, "GET /healthz HTTP/1.1\r\n\r\n", "HTTP/1.1 200 OK\r\n"));
    assert_true(says(&address, "GET /secret HTTP/1.1\r\n\r\n", "HTTP/1.1 404 Not Found\r\n"));
    example_end(&w.process);
}

/* ---- ending ------------------------------------------------------------------------------------------ */

static void a_reconcile_that_runs_ends_before_the_process_does(void **state)
{
    (void)state;
    /* The write is carried out at once, and answered when the fault is gone. */
    assert_int_equal(ki_apiserver_fault(w.server,
                                        &(ki_fault){.action = KI_FAULT_STALL,
                                                    .methods = KI_FAULT_METHOD_POST,
                                                    .path = "/deployments",
                                                    .after_bytes = 1},
                                        NULL),
                     0);
    sample_put_foo(w.server, 1, 1);
    sample_start(&w.process, w.server, "");
    SAMPLE_WAIT_UNTIL(ki_apiserver_count(w.server, &KI_APPS_V1_DEPLOYMENTS) == 1);
    example_signal(&w.process, SIGTERM);
    (void)poll(NULL, 0, 300); /* time to end for one that does not wait */
    ki_apiserver_heal(w.server);
    example_wait(&w.process);
    /* The status was written by the reconcile that had created the Deployment. */
    assert_int_equal(
        sample_count(
            w.server,
            &(sample_query){.method = "PUT", .resource = "foos", .user_agent = CONTROLLER, .status = 200}),
        1);
}

/* Its Deployment is made, but the response is lost, and then nothing of the lease is answered either. Without
 * a limit it would wait for a minute, which is how long a call may take. */
static void a_reconcile_that_hangs_is_cut_off(void **state)
{
    (void)state;
    enum { CALL_MS = 60 * 1000 };
    ki_fault stall = {
        .action = KI_FAULT_STALL, .path = "/deployments", .methods = KI_FAULT_METHOD_POST, .after_bytes = 1};
    assert_int_equal(ki_apiserver_fault(w.server, &stall, NULL), 0);
    sample_put_foo(w.server, 1, 1);
    sample_start(&w.process, w.server,
                 "--stop-timeout 100ms --leader-elect --leader-elect-lease-duration 3s "
                 "--leader-elect-renew-deadline 2s --leader-elect-retry-period 200ms");
    SAMPLE_WAIT_UNTIL(ki_apiserver_count(w.server, &KI_APPS_V1_DEPLOYMENTS) == 1);
    assert_int_equal(
        ki_apiserver_fault(w.server, &(ki_fault){.action = KI_FAULT_STALL, .path = "/leases"}, NULL), 0);
    uint64_t began_ms = ki_clock_now_ms(ki_clock_real());
    example_end(&w.process);
    assert_in_range(ki_clock_now_ms(ki_clock_real()) - began_ms, 0, CALL_MS / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_foo_gets_the_deployment_that_it_names, setup, teardown),
        cmocka_unit_test_setup_teardown(changed_replicas_are_restored_with_everything_else, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_changed_beside_the_replicas_stays, setup, teardown),
        cmocka_unit_test_setup_teardown(a_deployment_that_is_deleted_comes_back, setup, teardown),
        cmocka_unit_test_setup_teardown(a_deployment_without_an_owner_is_left_alone, setup, teardown),
        cmocka_unit_test_setup_teardown(a_deployment_of_another_foo_of_the_same_name_is_left_alone, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_foo_without_a_deployment_name_gets_nothing_until_it_has_one, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(two_hundred_foos_take_one_create_each_and_no_conflict, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(nothing_is_written_when_nothing_has_to_change, setup, teardown),
        cmocka_unit_test_setup_teardown(it_serves_its_metrics, setup, teardown),
        cmocka_unit_test_setup_teardown(a_reconcile_that_runs_ends_before_the_process_does, setup, teardown),
        cmocka_unit_test_setup_teardown(a_reconcile_that_hangs_is_cut_off, setup, teardown),
    };
    return RUN_TESTS(tests);
}
