/* SPDX-License-Identifier: Apache-2.0 */
/* Informers follow a real control plane whose parts are killed, lose their data, and start over. */
#include <stdio.h>
#include <string.h>

#include "cluster/cluster.h"
#include "cluster/follower.h"
#include "support/aside.h"
#include "support/unit.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { OBJECTS = 120, OBJECT_BYTES = 20 * 1000, PAGE = 10, DEAD_MS = 1500 };

static const ki_informer_options ways[] = {
    {.ns = "faults", .watch_list = KI_WATCH_LIST_NEVER, .page_size = PAGE},
    {.ns = "faults", .watch_list = KI_WATCH_LIST_ALWAYS},
    {.ns = "faults", .label_selector = "app=a"},
};

static const char *const asked[] = {"configmaps -n faults", "configmaps -n faults",
                                    "configmaps -n faults -l app=a"};

/* ---- a writer ------------------------------------------------------------------------------------------ */

typedef struct writer {
    aside call;
    atomic_int is_over;
    atomic_int rounds;
} writer;

/* Some writes fail while a part is down, which is expected. */
static void write_on(void *user)
{
    writer *w = user;
    for (int i = 0; !w->is_over; i++) {
        (void)cluster_try("alias k='kubectl --request-timeout 2s -n faults'\n"
                          "{ k create configmap w-%d; k label configmap w-%d app=a;"
                          " k label configmap a-1 a-%d round=%d --overwrite;"
                          " k delete configmap w-%d; } >/dev/null 2>&1",
                          i, i, i % OBJECTS, i, i - 3);
        w->rounds++;
    }
}

static void writer_start(writer *w)
{
    *w = (writer){0};
    aside_start(&w->call, write_on, w);
}

/* Waits for this many more rounds. */
static void writer_go_on(writer *w, int rounds)
{
    int until = w->rounds + rounds;
    while (w->rounds < until)
        aside_pause(20);
}

static void writer_end(writer *w)
{
    w->is_over = 1;
    aside_join(&w->call);
}

/* ---- all kinds of requests at once --------------------------------------------------------------------- */

typedef struct crowd {
    ki_client *client;
    ki_client *http2;
    follower followers[2 * COUNT(ways)];
} crowd;

static void crowd_start(crowd *all)
{
    all->client = cluster_client("admin", NULL);
    all->http2 = cluster_client("admin", &(ki_client_options){.http2 = 1});
    for (size_t i = 0; i < 2 * COUNT(ways); i++) {
        follower_init(&all->followers[i], i < COUNT(ways) ? all->client : all->http2, &KI_CORE_V1_CONFIGMAPS,
                      &ways[i % COUNT(ways)]);
        follower_start(&all->followers[i], asked[i % COUNT(ways)]);
    }
    for (size_t i = 0; i < 2 * COUNT(ways); i++)
        follower_sync(&all->followers[i]);
}

static void crowd_fini(crowd *all)
{
    for (size_t i = 0; i < 2 * COUNT(ways); i++)
        follower_fini(&all->followers[i]);
    ki_client_free(all->client);
    ki_client_free(all->http2);
}

/* ---- parts that are killed ----------------------------------------------------------------------------- */

static void kill_and_start(const char *part, writer *w)
{
    char line[64];
    (void)snprintf(line, sizeof(line), "kill %s", part);
    cluster_control(line);
    aside_pause(DEAD_MS);
    (void)snprintf(line, sizeof(line), "start %s", part);
    cluster_control(line);
    writer_go_on(w, 2);
}

static void watches_survive(const char *part)
{
    crowd all;
    writer w;
    crowd_start(&all);
    writer_start(&w);
    writer_go_on(&w, 1);
    kill_and_start(part, &w);
    kill_and_start(part, &w);
    writer_end(&w);
    for (size_t i = 0; i < COUNT(all.followers); i++)
        follower_converge(&all.followers[i]);
    crowd_fini(&all);
}

static void watches_survive_the_api_server(void **state)
{
    (void)state;
    watches_survive("kube-apiserver");
}

static void watches_survive_etcd(void **state)
{
    (void)state;
    watches_survive("etcd");
}

static int has_some(follower *f)
{
    return f->heard->inside > 0;
}

/* The handler does not return and the queues are small, so the part is killed in the middle of the list. */
static void lists_survive(const char *part)
{
    follower f[2];
    char line[64];
    ki_client *client = cluster_client("admin", NULL);
    for (size_t i = 0; i < COUNT(f); i++) {
        ki_informer_options options = ways[i];
        options.queue_items_max = PAGE;
        follower_init(&f[i], client, &KI_CORE_V1_CONFIGMAPS, &options);
        follower_start_held(&f[i], asked[i], PAGE);
        follower_wait(&f[i], has_some, "the first object");
        assert_false(ki_informer_has_synced(f[i].informer));
    }
    (void)snprintf(line, sizeof(line), "kill %s", part);
    cluster_control(line);
    for (size_t i = 0; i < COUNT(f); i++)
        heard_let_go(f[i].heard);
    (void)snprintf(line, sizeof(line), "start %s", part);
    cluster_control(line);
    for (size_t i = 0; i < COUNT(f); i++) {
        follower_sync(&f[i]);
        follower_fini(&f[i]);
    }
    ki_client_free(client);
}

static void lists_survive_the_api_server(void **state)
{
    (void)state;
    lists_survive("kube-apiserver");
}

static void lists_survive_etcd(void **state)
{
    (void)state;
    lists_survive("etcd");
}

/* ---- a server without the history ---------------------------------------------------------------------- */

/* Everything changes while nothing watches. A server that was started after that cannot report the
 * changes. */
static void lists_again_after(const char *forgetting)
{
    crowd all;
    crowd_start(&all);
    for (size_t i = 0; i < COUNT(all.followers); i++) {
        follower_converge(&all.followers[i]);
        ki_informer_stop(all.followers[i].informer);
    }
    cluster_run("{ k() { kubectl -n faults \"$@\"; }; k create configmap new-%s && k delete configmap"
                " $(k get configmap -l app=a -o name | head -n 2 | cut -d / -f 2) &&"
                " k label configmap a-7 new=%s --overwrite; } >/dev/null",
                forgetting, forgetting);
    if (strcmp(forgetting, "compact") == 0)
        cluster_control("compact");
    cluster_control("kill kube-apiserver");
    cluster_control("start kube-apiserver");
    for (size_t i = 0; i < COUNT(all.followers); i++)
        assert_int_equal(ki_informer_start(all.followers[i].informer, NULL), 0);
    for (size_t i = 0; i < COUNT(all.followers); i++) {
        follower *f = &all.followers[i];
        follower_converge(f);
        assert_true(follower_status(f).lists >= 2);
        assert_int_equal(f->heard->deletes, 2);
        assert_int_equal(f->heard->unknown, 2);
    }
    crowd_fini(&all);
}

/* etcd could still answer a list at exactly that version, which would not help. */
static void a_version_older_than_the_server_causes_a_relist(void **state)
{
    (void)state;
    lists_again_after("restart");
}

static void a_compacted_version_causes_a_relist(void **state)
{
    (void)state;
    lists_again_after("compact");
}

/* Versions start from one again, and objects of the same name are new ones. */
static void a_cluster_that_starts_over_is_noticed(void **state)
{
    (void)state;
    follower f;
    ki_client *client = cluster_client("admin", NULL);
    follower_init(&f, client, &KI_CORE_V1_CONFIGMAPS, &(ki_informer_options){.ns = "faults"});
    follower_start(&f, "configmaps -n faults");
    follower_sync(&f);
    int known = (int)follower_status(&f).objects;
    assert_true(known > 1);
    cluster_control("kill kube-apiserver");
    cluster_control("kill etcd");
    f.heard->has_new_history = 1;
    cluster_control("forget");
    cluster_control("start etcd");
    cluster_control("start kube-apiserver");
    cluster_run("{ kubectl create namespace faults && kubectl -n faults create configmap a-50; } >/dev/null");
    follower_converge(&f);
    assert_true(follower_has(&f, "faults", "a-50"));
    assert_false(follower_has(&f, "faults", "a-51"));
    /* This includes the old a-50, whether or not the new one existed at the time of the list. */
    assert_int_equal(f.heard->deletes + f.heard->replaced, known);
    follower_fini(&f);
    ki_client_free(client);
}

static int make_objects(void **state)
{
    (void)state;
    cluster_run("kubectl create namespace faults >/dev/null");
    cluster_make_config_maps("faults", "a", OBJECTS, OBJECT_BYTES);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(watches_survive_the_api_server),
        cmocka_unit_test(watches_survive_etcd),
        cmocka_unit_test(lists_survive_the_api_server),
        cmocka_unit_test(lists_survive_etcd),
        cmocka_unit_test(a_version_older_than_the_server_causes_a_relist),
        cmocka_unit_test(a_compacted_version_causes_a_relist),
        cmocka_unit_test(a_cluster_that_starts_over_is_noticed),
    };
    return cmocka_run_group_tests_name(__FILE__, tests, make_objects, NULL);
}
