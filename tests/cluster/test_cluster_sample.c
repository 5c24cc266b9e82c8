/* SPDX-License-Identifier: Apache-2.0 */
/* Two sample-controllers on a real control plane: they have only the rights of their manifest, and run beside
 * the deployment controller of Kubernetes. There are no kubelets, so the test marks pods as ready. */
#include <kinformer.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/cluster.h"
#include "flow/support/example_process.h"
#include "support/patience.h"
#include "support/unit.h"
#include "util/clock.h"

enum { LEASE_MS = 5000, RETRY_MS = 500 };

#define FLAGS                                                                                                \
    "--leader-elect --leader-elect-lease-duration 5s --leader-elect-renew-deadline 4s "                      \
    "--leader-elect-retry-period 500ms --leader-elect-resource-namespace sample-controller "
#define MANIFESTS "\"$KI_EXAMPLE_SOURCES\"/sample-controller"
#define ACCOUNT "system:serviceaccount:sample-controller:sample-controller"

static example_process a, b;

/* ---- helpers ----------------------------------------------------------------------------------------- */

#define WAIT_UNTIL(condition)                                                                                \
    do {                                                                                                     \
        uint64_t until_ms = ki_clock_now_ms(ki_clock_real()) + HANG_MS;                                      \
        while (!(condition)) {                                                                               \
            if (ki_clock_now_ms(ki_clock_real()) > until_ms)                                                 \
                fail_msg("not within %d ms: %s", HANG_MS, #condition);                                       \
            (void)poll(NULL, 0, 100);                                                                        \
        }                                                                                                    \
    } while (0)

/* Returns what `kubectl get` prints for a JSON path; "" if there is no such object.
 * Valid until the next call. */
static const char *get(const char *what, const char *path)
{
    static char text[4096];
    char line[512];
    (void)snprintf(line, sizeof(line), "kubectl get -n shop --ignore-not-found %s -o jsonpath='%s'", what,
                   path);
    FILE *pipe = popen(line, "re");
    assert_non_null(pipe);
    size_t n = fread(text, 1, sizeof(text) - 1, pipe);
    text[n] = 0;
    assert_int_equal(pclose(pipe), 0);
    return text;
}

static int is(const char *what, const char *path, const char *expected)
{
    return strcmp(get(what, path), expected) == 0;
}

static void put_foo(const char *name, int replicas)
{
    cluster_run(
        "kubectl apply -f - >/dev/null <<END\n"
        "{apiVersion: samplecontroller.k8s.io/v1alpha1, kind: Foo, metadata: {namespace: shop, name: %s},"
        " spec: {deploymentName: %s-web, replicas: %d}}\nEND",
        name, name, replicas);
}

/* Does what a kubelet would do. */
static int make_pods_ready(const char *foo)
{
    return cluster_try("for pod in $(kubectl get pods -n shop -l controller=%s -o name); do"
                       " kubectl patch -n shop $pod --subresource status -p "
                       "'{\"status\":{\"phase\":\"Running\",\"conditions\":[{\"type\":\"Ready\","
                       "\"status\":\"True\"}]}}' >/dev/null || exit 1; done",
                       foo) == 0;
}

static void start(example_process *p, const char *identity)
{
    char line[1024];
    (void)snprintf(line, sizeof(line),
                   "--kubeconfig %s/sample.kubeconfig " FLAGS "--leader-elect-identity %s",
                   getenv("KI_CLUSTER"), identity);
    example_start(p, "sample-controller", line);
}

#define LEASE "-n sample-controller lease sample-controller"

/* ---- the audit log: it has every request of the account ---------------------------------------------- */

typedef struct audit {
    size_t writes[2];   /* by a and b, to Foos, Deployments and Events */
    size_t forbidden;   /* by both */
    char last_of_a[32]; /* when a's last write arrived */
    char first_of_b[32];
    char b_leads[32]; /* when the response to b's first write of the Lease was complete */
} audit;

static const char *text_at(const json_t *event, const char *name)
{
    const char *text = json_string_value(json_object_get(event, name));
    return text == NULL ? "" : text;
}

/* All times have the same length, so they can be compared as strings. */
static void judge(audit *log, const json_t *event)
{
    const json_t *object = json_object_get(event, "objectRef");
    const char *end = strrchr(text_at(event, "userAgent"), ' '), *verb = text_at(event, "verb");
    json_int_t code = json_integer_value(json_object_get(json_object_get(event, "responseStatus"), "code"));
    if (end == NULL || strcmp(text_at(event, "stage"), "ResponseComplete") != 0)
        return;
    int is_b = strcmp(end, " b") == 0;
    log->forbidden += code == 403;
    if (strcmp(verb, "create") != 0 && strcmp(verb, "update") != 0 && strcmp(verb, "patch") != 0)
        return;
    if (strcmp(text_at(object, "resource"), "leases") == 0) {
        if (is_b && code < 300 && log->b_leads[0] == 0)
            (void)snprintf(log->b_leads, sizeof(log->b_leads), "%s", text_at(event, "stageTimestamp"));
        return;
    }
    const char *came = text_at(event, "requestReceivedTimestamp");
    log->writes[is_b]++;
    if (!is_b && strcmp(came, log->last_of_a) > 0)
        (void)snprintf(log->last_of_a, sizeof(log->last_of_a), "%s", came);
    if (is_b && (log->first_of_b[0] == 0 || strcmp(came, log->first_of_b) < 0))
        (void)snprintf(log->first_of_b, sizeof(log->first_of_b), "%s", came);
}

static audit read_audit(void)
{
    audit log = {0};
    char path[1024];
    (void)snprintf(path, sizeof(path), "%s/audit.log", getenv("KI_CLUSTER"));
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    json_t *event;
    while ((event = json_loadf(file, JSON_DISABLE_EOF_CHECK, NULL)) != NULL) {
        judge(&log, event);
        json_decref(event);
    }
    (void)fclose(file);
    return log;
}

/* ---- setup and teardown ------------------------------------------------------------------------------ */

/* The account's token has the rights that rbac.yaml gives, and no others. */
static int setup(void **state)
{
    (void)state;
    cluster_run("kubectl create namespace shop >/dev/null");
    cluster_run("kubectl apply -f " MANIFESTS "/crd.yaml -f " MANIFESTS "/rbac.yaml >/dev/null");
    cluster_run("kubectl wait --for condition=established crd foos.samplecontroller.k8s.io >/dev/null");
    cluster_run(
        "token=$(kubectl create token -n sample-controller sample-controller) &&"
        " sed \"s/bob-token/$token/\" \"$KI_CLUSTER/bob.kubeconfig\" >\"$KI_CLUSTER/sample.kubeconfig\"");
    assert_int_not_equal(cluster_try("kubectl auth can-i delete deployments --as " ACCOUNT " >/dev/null"), 0);
    start(&a, "a");
    WAIT_UNTIL(is(LEASE, "{.spec.holderIdentity}", "a"));
    start(&b, "b");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        example_process *p = i == 0 ? &a : &b;
        if (p->pid > 0)
            (void)kill(p->pid, SIGKILL); /* it is still running if a test failed */
    }
    return 0;
}

/* ---- one controller leads ---------------------------------------------------------------------------- */

static void a_foo_gets_its_deployment_and_a_status_that_follows_the_pods(void **state)
{
    (void)state;
    put_foo("one", 2);
    WAIT_UNTIL(is("foo one", "{.status.availableReplicas}", "0"));
    assert_true(is("deployment one-web", "{.metadata.labels}", ""));
    assert_true(is("deployment one-web", "{.spec.replicas}", "2"));
    assert_true(is("deployment one-web", "{.spec.selector.matchLabels}",
                   "{\"app\":\"nginx\",\"controller\":\"one\"}"));
    assert_true(is("deployment one-web", "{.spec.template.metadata.labels}",
                   "{\"app\":\"nginx\",\"controller\":\"one\"}"));
    assert_true(is("deployment one-web", "{range .spec.template.spec.containers[*]}{.name} {.image};{end}",
                   "nginx nginx:latest;"));
    assert_true(
        is("deployment one-web",
           "{range .metadata.ownerReferences[*]}{.kind} {.name} {.controller} {.blockOwnerDeletion};{end}",
           "Foo one true true;"));
    WAIT_UNTIL(make_pods_ready("one") && is("foo one", "{.status.availableReplicas}", "2"));
    put_foo("one", 3);
    WAIT_UNTIL(is("deployment one-web", "{.spec.replicas}", "3"));
    WAIT_UNTIL(make_pods_ready("one") && is("foo one", "{.status.availableReplicas}", "3"));
    assert_int_equal(cluster_try("kubectl scale -n shop deployment one-web --replicas 1 >/dev/null"), 0);
    WAIT_UNTIL(is("deployment one-web", "{.spec.replicas}", "3"));
}

static int shows(const char *line)
{
    return cluster_try("kubectl get events -n shop 2>/dev/null | grep -qE '%s'", line) == 0;
}

static void kubectl_shows_the_controllers_events(void **state)
{
    (void)state;
    cluster_run("kubectl create deployment -n shop two-web --image other >/dev/null");
    put_foo("two", 1);
    WAIT_UNTIL(shows("Normal +Synced +foo/one +Foo synced successfully"));
    WAIT_UNTIL(shows("Warning +ErrResourceExists +foo/two +Resource \"two-web\" already exists"));
    assert_true(is("deployment two-web", "{.spec.template.spec.containers[0].image}", "other"));
    assert_true(is("deployment two-web", "{.metadata.ownerReferences}", ""));
    cluster_run("kubectl delete -n shop foo two >/dev/null");
}

/* ---- the other controller takes over ----------------------------------------------------------------- */

static int64_t lease_time_ms(const char *path)
{
    ki_timestamp time = {0};
    assert_int_equal(ki_timestamp_parse(ki_str_of(get(LEASE, path)), &time), 0);
    return time.seconds * 1000 + time.nanos / (1000 * 1000);
}

static void the_other_takes_over_from_a_killed_leader(void **state)
{
    (void)state;
    put_foo("three", 1); /* the leader may be reconciling it when it is killed */
    example_kill(&a);
    assert_true(is(LEASE, "{.spec.holderIdentity}", "a"));
    int64_t renewed_ms = lease_time_ms("{.spec.renewTime}");
    put_foo("four", 1);
    WAIT_UNTIL(is(LEASE, "{.spec.holderIdentity}", "b"));
    int64_t took_ms = lease_time_ms("{.spec.acquireTime}") - renewed_ms;
    print_message("taken over after %lld ms\n", (long long)took_ms);
    assert_in_range(took_ms, LEASE_MS, LEASE_MS + 22 * RETRY_MS / 10 + AT_ONCE_MS);
    assert_true(is(LEASE, "{.spec.leaseTransitions}", "1"));
    WAIT_UNTIL(is("foo four", "{.status.availableReplicas}", "0"));
    WAIT_UNTIL(make_pods_ready("three") && is("foo three", "{.status.availableReplicas}", "1"));
}

static void each_writes_only_while_it_leads_and_has_the_needed_rights(void **state)
{
    (void)state;
    example_end(&b);
    assert_true(is(LEASE, "{.spec.holderIdentity}", "")); /* released */
    audit log = read_audit();
    assert_true(log.writes[0] > 0 && log.writes[1] > 0);
    assert_true(strcmp(log.last_of_a, log.b_leads) < 0);
    assert_true(strcmp(log.b_leads, log.first_of_b) <= 0);
    assert_int_equal(log.forbidden, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_foo_gets_its_deployment_and_a_status_that_follows_the_pods),
        cmocka_unit_test(kubectl_shows_the_controllers_events),
        cmocka_unit_test(the_other_takes_over_from_a_killed_leader),
        cmocka_unit_test(each_writes_only_while_it_leads_and_has_the_needed_rights),
    };
    return cmocka_run_group_tests_name(__FILE__, tests, setup, teardown);
}
