/* SPDX-License-Identifier: Apache-2.0 */
/* write - the writes of a controller: an owned object, an update, a patch, a condition; and a write gate that
 * stops them all. The API server runs in the same process.
 */
#include <kinformer.h>
#include <kinformer/apiserver.h>
#include <stdio.h>

#define DEPLOYMENT .resource = &KI_APPS_V1_DEPLOYMENTS, .ns = "default", .name = "web"

/* Sends a request and frees its body. Returns the object that comes back, or NULL. */
static ki_object *send_request(ki_client *client, ki_rest_request request, ki_body *body, ki_error *err)
{
    ki_rest_answer answer = {0};
    request.content = body;
    ki_object *object = ki_rest_run(client, &request, &answer, err) < 0 ? NULL : ki_object_ref(answer.object);
    ki_rest_answer_fini(&answer);
    ki_body_free(body);
    return object;
}

static ki_object *create_deployment(ki_client *client, const char *image, int replicas, ki_error *err)
{
    ki_body *body = ki_body_format(
        "{metadata:{name:'web'}, spec:{replicas:%d, selector:{matchLabels:{app:'web'}},"
        " template:{metadata:{labels:{app:'web'}}, spec:{containers:[{name:'web', image:%s}]}}}}",
        replicas, image);
    return send_request(
        client,
        (ki_rest_request){.verb = KI_REST_CREATE, .resource = &KI_APPS_V1_DEPLOYMENTS, .ns = "default"}, body,
        err);
}

static ki_object *create_settings(ki_client *client, const ki_object *owner, const char *team, ki_error *err)
{
    ki_body *body = ki_body_format("{metadata:{name:'%.*s-settings'}, data:{team:%s}}",
                                   KI_STR_ARGS(ki_object_name(owner)), team);
    ki_body_set_controller(body, owner); /* the body remembers a failure, and the call reports it */
    return send_request(
        client,
        (ki_rest_request){.verb = KI_REST_CREATE, .resource = &KI_CORE_V1_CONFIGMAPS, .ns = "default"}, body,
        err);
}

/* Reads, decides and writes; called again after a conflict. */
static int scale_up(ki_error *err, void *user)
{
    ki_client *client = user;
    ki_object *now = send_request(client, (ki_rest_request){.verb = KI_REST_GET, DEPLOYMENT}, NULL, err);
    if (now == NULL)
        return err->code;
    ki_body *body = ki_body_of(now);
    ki_body_set(body, "/spec/replicas", "%lld", (long long)ki_object_int64_or(now, "/spec/replicas", 1) + 1);
    ki_object_unref(now);
    ki_object *after = send_request(client, (ki_rest_request){.verb = KI_REST_UPDATE, DEPLOYMENT}, body, err);
    if (after == NULL)
        return err->code;
    printf("%lld replicas\n", (long long)ki_object_int64_or(after, "/spec/replicas", 0));
    ki_object_unref(after);
    return 0;
}

/* Sends only the differences, and nothing if there are none. */
static int guard(ki_client *client, const ki_object *object, ki_error *err)
{
    ki_body *wanted = ki_body_of(object);
    if (ki_body_add_finalizer(wanted, KI_STR("example.com/guard")) == 0) {
        ki_body_free(wanted);
        return 0;
    }
    ki_body *patch = ki_body_merge_patch(ki_json_of(ki_object_json(object)), wanted);
    ki_body_free(wanted);
    printf("%.*s\n", KI_STR_ARGS(ki_body_json(patch).raw));
    ki_rest_request request = {.verb = KI_REST_PATCH, .patch = KI_PATCH_MERGE, DEPLOYMENT};
    ki_object *after = send_request(client, request, patch, err);
    printf("guarded: %d\n", ki_object_has_finalizer(after, KI_STR("example.com/guard")));
    ki_object_unref(after);
    return after == NULL ? err->code : 0;
}

static int set_ready(ki_client *client, const ki_object *object, ki_error *err)
{
    ki_body *body = ki_body_of(object);
    ki_body_remove(body, "/metadata/resourceVersion"); /* overwrite changes made meanwhile */
    ki_body_set_condition(body, &(ki_condition){.condition_type = KI_STR("Available"),
                                                .status = KI_STR("True"),
                                                .reason = KI_STR("Checked"),
                                                .message = KI_STR("it answers")});
    ki_rest_request request = {.verb = KI_REST_UPDATE, DEPLOYMENT, .subresource = "status"};
    ki_object *after = send_request(client, request, body, err);
    printf("available: %d\n", ki_object_condition_is_true(after, KI_STR("Available")));
    ki_object_unref(after);
    return after == NULL ? err->code : 0;
}

static int refuse(const ki_write *write, ki_error *why, void *user)
{
    (void)user;
    (void)snprintf(why->message, sizeof(why->message), "%s refused: not the leader", write->method);
    return KI_ERR_REFUSED;
}

static int run(ki_client *client, ki_error *err)
{
    ki_object *web = create_deployment(client, "nginx:1", 1, err);
    ki_object *settings = web == NULL ? NULL : create_settings(client, web, "blue \"team\"", err);
    int rc = settings == NULL ? err->code : 0;
    if (rc == 0) {
        printf("%s is controlled by web: %d\n", ki_object_key(settings),
               ki_object_is_controlled_by(settings, web));
        rc = ki_retry_on_conflict(client, scale_up, err, client);
    }
    if (rc == 0)
        rc = guard(client, web, err);
    if (rc == 0)
        rc = set_ready(client, web, err);
    if (rc == 0 && ki_client_set_write_gate(client, refuse, NULL) == 0) {
        ki_error why = {0};
        ki_rest_request request = {.verb = KI_REST_DELETE, DEPLOYMENT};
        (void)send_request(client, request, NULL, &why);
        printf("%s: %s\n", ki_error_name(why.code), why.message);
    }
    ki_object_unref(settings);
    ki_object_unref(web);
    return rc;
}

int main(void)
{
    ki_error err = {0};
    ki_apiserver *server = ki_apiserver_start(NULL, &err);
    ki_client *client =
        server == NULL ? NULL : ki_client_new(&(ki_client_options){.server = ki_apiserver_url(server)}, &err);
    int rc = client == NULL ? err.code : run(client, &err);
    if (rc < 0)
        fprintf(stderr, "write: %s\n", err.message);
    ki_client_free(client);
    if (server != NULL)
        ki_apiserver_free(server);
    return rc < 0;
}
