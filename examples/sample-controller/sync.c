/* SPDX-License-Identifier: Apache-2.0 */
#include "sync.h"

#include <stdio.h>

const ki_resource FOOS = {"samplecontroller.k8s.io", "v1alpha1", "foos", "Foo", KI_SCOPE_NAMESPACED, 0};

/* One call of sync_foo(). */
typedef struct task {
    sync_context *context;
    ki_request *request;
    ki_object *foo;
    ki_object *deployment;
    int has_written;
    ki_error err;
} task;

/* ---- writing ----------------------------------------------------------------------------------------- */

/* Sends a request and frees its body. The Foo is not worked on again before the cache of `informer` has the
 * written object. Returns the object as written, or NULL with task.err set. */
static ki_object *send_body(task *t, ki_rest_request request, ki_body *body, ki_informer *informer)
{
    ki_rest_answer answer = {0};
    ki_object *written = NULL;
    request.ns = ki_request_namespace(t->request).ptr;
    request.content = body;
    request.field_manager = "sample-controller";
    if (ki_rest_run(t->context->client, &request, &answer, &t->err) == 0) {
        written = ki_object_ref(answer.object);
        (void)ki_request_expect(t->request, informer, written);
        t->has_written = 1;
    }
    ki_rest_answer_fini(&answer);
    ki_body_free(body);
    return written;
}

/* The Deployment that a Foo wants. Without spec.replicas the server decides. */
static ki_body *new_deployment(const ki_object *foo)
{
    ki_str name = ki_object_name(foo), deployment = ki_object_string(foo, "/spec/deploymentName");
    ki_body *body = ki_body_format(
        "{apiVersion:'apps/v1', kind:'Deployment', metadata:{name:%.*s, namespace:%.*s},"
        " spec:{replicas?:%lld, selector:{matchLabels:{app:'nginx', controller:%.*s}},"
        "  template:{metadata:{labels:{app:'nginx', controller:%.*s}},"
        "   spec:{containers:[{name:'nginx', image:'nginx:latest'}]}}}}",
        KI_STR_ARGS(deployment), KI_STR_ARGS(ki_object_namespace(foo)),
        (long long)ki_object_int64_or(foo, "/spec/replicas", 0), KI_STR_ARGS(name), KI_STR_ARGS(name));
    (void)ki_body_set_controller(body, foo);
    return body;
}

/* ---- the steps --------------------------------------------------------------------------------------- */

static int find_or_create(task *t)
{
    ki_informer *deployments = t->context->deployments;
    ki_str name = ki_object_string(t->foo, "/spec/deploymentName");
    t->deployment =
        ki_lister_get(ki_lister_of(ki_informer_store(deployments), ki_object_namespace(t->foo)), name);
    if (t->deployment == NULL)
        t->deployment =
            send_body(t, (ki_rest_request){.verb = KI_REST_CREATE, .resource = &KI_APPS_V1_DEPLOYMENTS},
                      new_deployment(t->foo), deployments);
    return t->deployment == NULL ? t->err.code : 0;
}

static int check_owner(task *t)
{
    if (ki_object_is_controlled_by(t->deployment, t->foo))
        return 0;
    t->err = (ki_error){.code = KI_ERR_ALREADY_EXISTS};
    (void)snprintf(t->err.message, sizeof(t->err.message),
                   "Resource \"%.*s\" already exists and is not managed by Foo",
                   KI_STR_ARGS(ki_object_name(t->deployment)));
    (void)ki_recorder_event(t->context->recorder, t->foo, KI_RECORD_WARNING, "ErrResourceExists", NULL, "%s",
                            t->err.message);
    return t->err.code;
}

/* Sends the version that was read, so that the server refuses a late write of a process that does not lead
 * any more. */
static int scale(task *t)
{
    char name[254];
    int64_t replicas = ki_object_int64_or(t->deployment, "/spec/replicas", 1);
    if (ki_object_int64_or(t->foo, "/spec/replicas", replicas) == replicas)
        return 0;
    (void)snprintf(name, sizeof(name), "%.*s", KI_STR_ARGS(ki_object_name(t->deployment)));
    ki_body *body = new_deployment(t->foo);
    (void)ki_body_set(body, "/metadata/resourceVersion", "%.*s",
                      KI_STR_ARGS(ki_object_resource_version(t->deployment)));
    ki_object *scaled = send_body(
        t, (ki_rest_request){.verb = KI_REST_UPDATE, .resource = &KI_APPS_V1_DEPLOYMENTS, .name = name}, body,
        t->context->deployments);
    if (scaled == NULL)
        return t->err.code;
    ki_object_unref(t->deployment);
    t->deployment = scaled;
    return 0;
}

static int update_status(task *t)
{
    char name[254];
    int64_t available = ki_object_int64_or(t->deployment, "/status/availableReplicas", 0);
    if (ki_object_int64_or(t->foo, "/status/availableReplicas", -1) == available)
        return 0;
    (void)snprintf(name, sizeof(name), "%.*s", KI_STR_ARGS(ki_object_name(t->foo)));
    ki_body *body = ki_body_of(t->foo);
    (void)ki_body_set(body, "/status/availableReplicas", "%lld", (long long)available);
    ki_rest_request request = {
        .verb = KI_REST_UPDATE, .resource = &FOOS, .name = name, .subresource = "status"};
    ki_object *updated = send_body(t, request, body, t->context->foos);
    ki_object_unref(updated);
    return updated == NULL ? t->err.code : 0;
}

/* ---- all of them ------------------------------------------------------------------------------------- */

static ki_result sync_known(task *t)
{
    if (ki_object_string(t->foo, "/spec/deploymentName").len == 0)
        return ki_done(); /* until somebody names one */
    if (find_or_create(t) < 0 || check_owner(t) < 0 || scale(t) < 0 || update_status(t) < 0)
        return ki_retry(&t->err);
    if (t->has_written) /* not after every reconcile */
        (void)ki_recorder_event(t->context->recorder, t->foo, KI_RECORD_NORMAL, "Synced", NULL,
                                "Foo synced successfully");
    return ki_done();
}

ki_result sync_foo(ki_request *request, void *user)
{
    task t = {.context = user, .request = request};
    t.foo = ki_store_get_key(ki_informer_store(t.context->foos), ki_request_key(request));
    if (t.foo == NULL)
        return ki_done(); /* deleted; a garbage collector deletes its Deployment */
    ki_result result = sync_known(&t);
    ki_object_unref(t.deployment);
    ki_object_unref(t.foo);
    return result;
}
