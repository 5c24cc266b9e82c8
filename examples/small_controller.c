/* SPDX-License-Identifier: Apache-2.0 */
/* small_controller [SERVER] - a controller in one screen: each namespace has a ConfigMap "settings" that
 * names its team, from the label "team" of the namespace. */
#include <kinformer.h>
#include <signal.h>
#include <stdio.h>

static ki_client *client;
static ki_informer *namespaces, *configmaps;

static ki_result reconcile(ki_request *request, void *user)
{
    (void)user;
    ki_error err = {0};
    ki_rest_answer answer = {0};
    ki_str ns = ki_request_name(request);
    ki_object *owner = ki_store_get_key(ki_informer_store(namespaces), ki_request_key(request));
    ki_object *settings = ki_store_get(ki_informer_store(configmaps), ns, KI_STR("settings"));
    ki_str team = ki_object_label_or(owner, KI_STR("team"), KI_STR("nobody"));
    int rc = 0;
    if (owner != NULL && !ki_str_equal(ki_object_string(settings, "/data/team"), team)) {
        ki_body *body = ki_body_format("{metadata:{name:'settings'}, data:{team:%.*s}}", KI_STR_ARGS(team));
        rc = ki_rest_run(client,
                         &(ki_rest_request){.verb = settings == NULL ? KI_REST_CREATE : KI_REST_PATCH,
                                            .patch = settings == NULL ? 0 : KI_PATCH_MERGE,
                                            .resource = &KI_CORE_V1_CONFIGMAPS,
                                            .ns = ns.ptr,
                                            .name = settings == NULL ? NULL : "settings",
                                            .content = body},
                         &answer, &err);
        ki_body_free(body);
        if (rc == 0)
            ki_request_expect(request, configmaps, answer.object); /* not again before the cache has it */
        ki_rest_answer_fini(&answer);
    }
    ki_object_unref(settings);
    ki_object_unref(owner);
    return rc == 0 ? ki_done() : ki_retry(&err);
}

static void map(const ki_object *configmap, ki_key_emit *emit, void *user)
{
    (void)user;
    ki_key_emit_key(emit, KI_STR(""), ki_object_namespace(configmap));
}

int main(int argc, char **argv)
{
    ki_error err = {0};
    sigset_t set;
    ki_set_log(ki_log_print, KI_LOG_WARNING, NULL); /* to stderr; without it, the library prints nothing */
    sigemptyset(&set), sigaddset(&set, SIGINT), sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, NULL); /* for sigwait() below */
    client = ki_client_new(&(ki_client_options){.server = argc > 1 ? argv[1] : NULL}, &err);
    ki_factory *factory = ki_factory_new(client, NULL);
    namespaces = ki_factory_informer(factory, &KI_CORE_V1_NAMESPACES, NULL);
    configmaps = ki_factory_informer(factory, &KI_CORE_V1_CONFIGMAPS, NULL);
    ki_controller_options options = {.name = "settings", .reconcile = reconcile, .workers = 2};
    ki_controller *controller = ki_controller_new(client, &options, &err); /* NULL client: keeps its error */
    ki_controller_watch(controller, namespaces, NULL);
    ki_controller_watch_mapped(controller, configmaps, NULL, map, NULL);
    if (ki_factory_start(factory, &err) == 0 && ki_controller_start(controller, &err) == 0)
        sigwait(&set, &(int){0});
    ki_client_free(client); /* ends calls, even to a server that does not answer; waits for reconciles */
    ki_controller_free(controller);
    ki_factory_free(factory);
    return err.code == 0 ? 0 : (fprintf(stderr, "small_controller: %s\n", err.message), 1);
}
