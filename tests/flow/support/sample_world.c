/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/support/sample_world.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/apiserver/api_rig.h"
#include "support/patience.h"
#include "support/unit.h"
#include "util/clock.h"

static const ki_resource foos = {"samplecontroller.k8s.io", "v1alpha1", "foos", "Foo",
                                 KI_SCOPE_NAMESPACED,       0};

sample_world sample;

ki_apiserver *sample_server_start(void)
{
    char path[1024];
    ki_error err = {0};
    assert_non_null(getenv("KI_EXAMPLE_SOURCES"));
    snprintf(path, sizeof(path), "%s/sample-controller/crd.yaml", getenv("KI_EXAMPLE_SOURCES"));
    ki_apiserver *server =
        api_rig_start(&(ki_apiserver_options){.seed = 7, .simulate = KI_SIMULATE_DEPLOYMENTS});
    if (ki_apiserver_load(server, path, NULL, &err) < 0)
        fail_msg("%s", err.message);
    return server;
}

int sample_setup(void **state)
{
    (void)state;
    sample = (sample_world){.server = sample_server_start()};
    return 0;
}

int sample_teardown(void **state)
{
    (void)state;
    example_discard(&sample.process);
    ki_apiserver_free(sample.server);
    return 0;
}

void sample_start(example_process *p, const ki_apiserver *server, const char *flags)
{
    char line[1024];
    snprintf(line, sizeof(line), "--server %s %s", ki_apiserver_url(server), flags);
    example_start(p, "sample-controller", line);
}

void sample_put_foo(ki_apiserver *server, int number, int replicas)
{
    char json[256];
    ki_error err = {0};
    snprintf(json, sizeof(json),
             "{\"metadata\":{\"name\":\"foo-%d\"},\"spec\":{\"deploymentName\":\"foo-%d\",\"replicas\":%d}}",
             number, number, replicas);
    if (ki_apiserver_put(server, &foos, json, &err) < 0)
        fail_msg("%s", err.message);
}

void sample_patch(const char *path, const char *body)
{
    api_answer answer =
        api_call(sample.server, &(api_request){.method = "PATCH",
                                               .path = path,
                                               .body = body,
                                               .headers = {"Content-Type: application/merge-patch+json"}});
    assert_int_equal(answer.status, 200);
    api_answer_fini(&answer);
}

/* ---- the state of Foos ------------------------------------------------------------------------------- */

static const json_t *find_item(const json_t *list, const char *name)
{
    size_t i;
    const json_t *item;
    json_array_foreach(list, i, item)
    {
        if (strcmp(json_string_value(api_at(item, "metadata.name")), name) == 0)
            return item;
    }
    return NULL;
}

static int fits(const json_t *foo, const json_t *deployment)
{
    const json_t *owners = api_at(deployment, "metadata.ownerReferences");
    return json_array_size(owners) == 1 && json_equal(api_at(owners, "0.uid"), api_at(foo, "metadata.uid")) &&
           json_equal(api_at(deployment, "spec.replicas"), api_at(foo, "spec.replicas")) &&
           json_equal(api_at(deployment, "status.availableReplicas"), api_at(foo, "spec.replicas")) &&
           json_equal(api_at(foo, "status.availableReplicas"), api_at(foo, "spec.replicas"));
}

int sample_is_settled(ki_apiserver *server)
{
    if (ki_apiserver_count(server, &foos) != ki_apiserver_count(server, &KI_APPS_V1_DEPLOYMENTS))
        return 0;
    api_answer wanted = api_get(server, FOOS_PATH), found = api_get(server, DEPLOYMENTS_PATH);
    size_t i;
    const json_t *foo;
    int is_settled = wanted.status == 200 && found.status == 200;
    json_array_foreach(json_object_get(wanted.tree, "items"), i, foo)
    {
        const json_t *deployment = find_item(json_object_get(found.tree, "items"),
                                             json_string_value(api_at(foo, "spec.deploymentName")));
        is_settled = is_settled && deployment != NULL && fits(foo, deployment);
    }
    api_answer_fini(&wanted);
    api_answer_fini(&found);
    return is_settled;
}

void sample_wait_settled(ki_apiserver *server)
{
    SAMPLE_WAIT_UNTIL(sample_is_settled(server));
}

/* ---- requests ---------------------------------------------------------------------------------------- */

typedef struct counting {
    const sample_query *query;
    size_t count;
} counting;

static int matches(const char *wanted, const char *text)
{
    return wanted == NULL || strcmp(wanted, text) == 0;
}

static void count_one(const ki_apiserver_request *request, void *user)
{
    counting *c = user;
    const sample_query *q = c->query;
    c->count += matches(q->method, request->method) && matches(q->resource, request->resource) &&
                (q->user_agent == NULL || strstr(request->user_agent, q->user_agent) != NULL) &&
                (q->status == 0 || q->status == request->http_status);
}

size_t sample_count(ki_apiserver *server, const sample_query *query)
{
    counting c = {.query = query};
    (void)ki_apiserver_requests(server, query->since, count_one, &c);
    return c.count;
}

size_t sample_lease_reads(void)
{
    return sample_count(sample.server,
                        &(sample_query){.method = "GET", .resource = "leases", .user_agent = CONTROLLER});
}

uint64_t sample_now(ki_apiserver *server)
{
    return ki_apiserver_requests(server, 0, NULL, NULL);
}
