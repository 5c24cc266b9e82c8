/* SPDX-License-Identifier: Apache-2.0 */
/* by_hand - a controller without <kinformer/controller.h>: a handler puts keys into a work queue, and the
 * program's own thread works on them. The API server runs in the same process.
 *
 * A ConfigMap with the label "copy" is copied; the value of the label is the name of the copy. If the server
 * refuses the copy as invalid, the program gives up; after any other failure it tries again,
 * with a growing delay.
 */
#include <kinformer.h>
#include <kinformer/apiserver.h>
#include <stdio.h>

typedef struct worker {
    ki_client *client;
    ki_informer *maps;
    ki_workqueue *queue;
} worker;

/* ---- what comes in ------------------------------------------------------------------------------------- */

static void enqueue(const ki_event *event, void *user)
{
    worker *w = user;
    if (ki_predicate_passes(&KI_PREDICATE_LABELS_CHANGED, event) &&
        ki_workqueue_add(w->queue, ki_object_key_str(event->object), KI_PRIORITY_HIGH) < 0)
        fprintf(stderr, "by_hand: %s is left out\n", ki_object_key(event->object));
}

/* ---- what is done about it ----------------------------------------------------------------------------- */

static int copy(worker *w, const ki_object *map, ki_str name)
{
    char ns[64];
    ki_error err = {0};
    ki_rest_answer answer = {0};
    ki_body *body = ki_body_format("{metadata:{name:'%.*s'}}", KI_STR_ARGS(name));
    ki_body_set(body, "/data/from", "%s", ki_object_key(map)); /* the body remembers a failure */
    (void)snprintf(ns, sizeof(ns), "%.*s", KI_STR_ARGS(ki_object_namespace(map)));
    ki_rest_request request = {
        .verb = KI_REST_CREATE, .resource = &KI_CORE_V1_CONFIGMAPS, .ns = ns, .content = body};
    int rc = ki_rest_run(w->client, &request, &answer, &err);
    if (rc == 0)
        printf("%s is copied to %s\n", ki_object_key(map), ki_object_key(answer.object));
    if (rc < 0 && answer.status != NULL && ki_status_has_cause(answer.status, "FieldValueInvalid")) {
        printf("%s cannot be copied: %.*s\n", ki_object_key(map),
               KI_STR_ARGS(answer.status->causes[0].field));
        rc = 0;
    }
    ki_rest_answer_fini(&answer);
    ki_body_free(body);
    return rc == KI_ERR_ALREADY_EXISTS ? 0 : rc;
}

/* Returns 0 when nothing is left to do, or a negative code when the key must be tried again. */
static int reconcile(worker *w, ki_str key)
{
    ki_str ns;
    ki_str name;
    if (ki_key_split(key, &ns, &name) < 0)
        return 0;
    ki_object *map = ki_store_get(ki_informer_store(w->maps), ns, name);
    ki_str to = ki_object_label_or(map, KI_STR("copy"), KI_STR(""));
    int rc = to.len == 0 ? 0 : copy(w, map, to);
    ki_object_unref(map);
    return rc;
}

/* Works until the queue has been empty for a second. */
static void work(worker *w)
{
    ki_work_item item;
    while (ki_workqueue_get(w->queue, 1000, &item) == 0) {
        if (reconcile(w, item.key) == 0)
            ki_workqueue_forget(w->queue, item.key);
        else if (ki_workqueue_add_rate_limited(w->queue, item.key, item.priority) < 0)
            fprintf(stderr, "by_hand: %.*s is not tried again\n", KI_STR_ARGS(item.key));
        ki_workqueue_done(w->queue, item.key);
    }
}

/* ---- the program --------------------------------------------------------------------------------------- */

static int run(worker *w, ki_error *err)
{
    ki_factory *factory = ki_factory_new(w->client, NULL);
    w->maps = ki_factory_informer(factory, &KI_CORE_V1_CONFIGMAPS, NULL);
    /* 10 ms after the first failure, then doubled, up to a minute. */
    w->queue = ki_workqueue_new(
        &(ki_workqueue_options){.limiter = ki_limiter_new_exponential(10, 60 * 1000, err)}, err);
    ki_informer_add_handler(w->maps, &(ki_handler){.on_add = enqueue, .on_update = enqueue, .user = w}, err);
    int rc = ki_factory_start(factory, err);
    if (rc == 0)
        rc = ki_factory_wait_for_sync(factory, 10 * 1000, err);
    if (rc == 0)
        work(w);
    ki_factory_free(factory);
    ki_workqueue_free(w->queue);
    return rc;
}

int main(void)
{
    static const char *const maps[] = {"{\"metadata\":{\"name\":\"a\",\"labels\":{\"copy\":\"b\"}}}",
                                       "{\"metadata\":{\"name\":\"c\",\"labels\":{\"copy\":\"No_Name\"}}}"};
    ki_error err = {0};
    ki_apiserver *server = ki_apiserver_start(NULL, &err);
    int rc = server == NULL ? err.code : 0;
    for (int i = 0; i < 2 && rc == 0; i++)
        rc = ki_apiserver_put(server, &KI_CORE_V1_CONFIGMAPS, maps[i], &err);
    /* The first write fails, so the program tries it again. */
    ki_fault busy = {
        .action = KI_FAULT_STATUS, .http_status = 503, .methods = KI_FAULT_METHOD_POST, .times = 1};
    if (rc == 0)
        rc = ki_apiserver_fault(server, &busy, &err);
    worker w = {0};
    if (rc == 0)
        w.client = ki_client_new(&(ki_client_options){.server = ki_apiserver_url(server)}, &err);
    rc = w.client == NULL ? err.code : run(&w, &err);
    if (rc < 0)
        fprintf(stderr, "by_hand: %s\n", err.message);
    ki_client_free(w.client);
    ki_apiserver_free(server);
    return rc < 0;
}
