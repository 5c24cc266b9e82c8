/* SPDX-License-Identifier: Apache-2.0 */
/* without_cluster - tests a program with an informer without a cluster: the API server runs in the same
 * process.
 *
 * It creates, changes and deletes pods, cuts the connections meanwhile, and prints what the handler received
 * and what is in the index. Exit status: 0 when both are as expected, else 1.
 */
#include <kinformer.h>
#include <kinformer/apiserver.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* ---- the code under test: records each change of a pod, and finds pods by their node ----------------- */

/* Handlers run on a thread of the library; the test waits on its own. */
typedef struct notes {
    pthread_mutex_t mu;
    pthread_cond_t more;
    char text[1024]; /* guarded by mu */
} notes;

static void note(notes *n, const char *sign, const ki_event *e)
{
    ki_str phase = ki_object_string(e->object, "/status/phase");
    (void)pthread_mutex_lock(&n->mu);
    size_t len = strlen(n->text);
    (void)snprintf(n->text + len, sizeof(n->text) - len, "%s %s %.*s\n", sign, ki_object_key(e->object),
                   KI_STR_ARGS(phase));
    (void)pthread_cond_signal(&n->more);
    (void)pthread_mutex_unlock(&n->mu);
}

static void added(const ki_event *e, void *user)
{
    note(user, "+", e);
}

static void updated(const ki_event *e, void *user)
{
    note(user, "~", e);
}

static void deleted(const ki_event *e, void *user)
{
    note(user, "-", e);
}

/* ---- the test ---------------------------------------------------------------------------------------- */

/* Whether the line appears within ten seconds. */
static int has_heard(notes *n, const char *line)
{
    struct timespec until;
    int rc = 0;
    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 10;
    (void)pthread_mutex_lock(&n->mu);
    while (strstr(n->text, line) == NULL && rc == 0)
        rc = pthread_cond_timedwait(&n->more, &n->mu, &until);
    (void)pthread_mutex_unlock(&n->mu);
    if (rc != 0)
        fprintf(stderr, "without_cluster: the handler has not heard: %s", line);
    return rc == 0;
}

/* Fields of a pod that the test does not need may be missing. */
static int put_pod(ki_apiserver *server, const char *name, const char *phase)
{
    char json[256];
    ki_error err = {0};
    (void)snprintf(
        json, sizeof(json),
        "{\"metadata\":{\"name\":\"%s\"},\"spec\":{\"nodeName\":\"n1\"},\"status\":{\"phase\":\"%s\"}}", name,
        phase);
    if (ki_apiserver_put(server, &KI_CORE_V1_PODS, json, &err) == 0)
        return 1;
    fprintf(stderr, "without_cluster: %s\n", err.message);
    return 0;
}

static size_t count_on(ki_informer *pods, const char *node)
{
    ki_object_list found = {0};
    int rc = ki_store_list_index(ki_informer_store(pods), "node", ki_str_of(node), &found);
    size_t count = rc < 0 ? 0 : found.count;
    ki_object_list_fini(&found);
    return count;
}

static int live(ki_apiserver *server, ki_informer *pods, notes *n)
{
    if (!has_heard(n, "+ default/a Pending\n") || !put_pod(server, "a", "Running") ||
        !has_heard(n, "~ default/a Running\n") || !put_pod(server, "b", "Pending") ||
        !has_heard(n, "+ default/b Pending\n"))
        return 0;
    printf("%zu pods on n1\n", count_on(pods, "n1"));
    ki_apiserver_cut(server, 1); /* closes every connection with RST; the informer resumes */
    ki_error err = {0};
    if (ki_apiserver_delete(server, &KI_CORE_V1_PODS, "default", "b", &err) < 0 ||
        !has_heard(n, "- default/b Pending\n"))
        return 0;
    printf("%zu pod on n1\n", count_on(pods, "n1"));
    return 1;
}

static int run(ki_apiserver *server, ki_client *client, notes *n, ki_error *err)
{
    ki_factory *factory = ki_factory_new(client, NULL);
    ki_informer *pods = ki_factory_informer(factory, &KI_CORE_V1_PODS, NULL);
    ki_informer_add_index_path(pods, "node", KI_PATH_NODE);
    ki_informer_add_handler(
        pods, &(ki_handler){.on_add = added, .on_update = updated, .on_delete = deleted, .user = n}, NULL);
    int is_good =
        ki_factory_start(factory, err) == 0 && ki_factory_wait_for_sync(factory, 10 * 1000, err) == 0;
    if (!is_good)
        fprintf(stderr, "without_cluster: %s\n", err->message);
    is_good = is_good && live(server, pods, n);
    ki_factory_free(factory); /* the handler is not called after this */
    return is_good;
}

int main(void)
{
    notes n = {.mu = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER};
    ki_error err = {0};
    ki_apiserver *server = ki_apiserver_start(NULL, &err); /* on a free port of 127.0.0.1 */
    if (server == NULL) {
        fprintf(stderr, "without_cluster: %s\n", err.message);
        return 1;
    }
    ki_client *client = ki_client_new(&(ki_client_options){.server = ki_apiserver_url(server)}, &err);
    int is_good = client != NULL && put_pod(server, "a", "Pending") && run(server, client, &n, &err);
    printf("heard:\n%s", n.text);
    ki_client_free(client);
    ki_apiserver_free(server);
    return is_good ? 0 : 1;
}
