/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/demo/demo_cluster.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "cli/demo/demo_cluster_parts.h"
#include "cli/failure.h"

/* Deployments start with MIN to MAX pods, nodes with about PODS_PER_NODE. */
enum { REPLICAS_MIN = 2, REPLICAS_MAX = 30, PODS_PER_NODE = 40, NODES_MIN = 3 };

const char *const cli_demo_namespaces[] = {"shop", "payments", "search", "media", "logistics", "monitoring"};
static const uint32_t namespace_count = sizeof(cli_demo_namespaces) / sizeof(cli_demo_namespaces[0]);

static const char *const apps[] = {
    "cart",    "catalog", "checkout", "frontend", "ledger",  "fraud",   "invoices", "refunds",
    "indexer", "query",   "suggest",  "ranking",  "encoder", "thumbs",  "uploads",  "stream",
    "routes",  "fleet",   "tracking", "labels",   "gateway", "session", "mailer",   "cache",
};
static const uint32_t app_count = sizeof(apps) / sizeof(apps[0]);

/* ---- drawing ------------------------------------------------------------------------------------------- */

void cli_demo_draw_uid(cli_demo_cluster *cluster, char out[CLI_DEMO_UID_BYTES])
{
    uint64_t high = cli_demo_random_next(&cluster->random);
    uint64_t low = cli_demo_random_next(&cluster->random);
    snprintf(out, CLI_DEMO_UID_BYTES, "%08x-%04x-4%03x-%04x-%012llx", (unsigned)(high >> 32),
             (unsigned)(high >> 16) & 0xffff, (unsigned)high & 0xfff,
             (unsigned)((low >> 48) & 0x3fff) | 0x8000, (unsigned long long)(low & 0xffffffffffff));
}

void cli_demo_draw_letters(cli_demo_cluster *cluster, char *out, size_t bytes)
{
    assert(bytes > 0);
    static const char alphabet[] = "bcdfghjklmnpqrstvwxz2456789";
    for (size_t i = 0; i + 1 < bytes; i++)
        out[i] = alphabet[cli_demo_random_below(&cluster->random, sizeof(alphabet) - 1)];
    out[bytes - 1] = 0;
}

/* ---- initial objects ----------------------------------------------------------------------------------- */

/* Assigns namespaces in turn; when all names are used, a number is added. */
static void name_deployment(cli_demo_deployment *deployment, uint32_t number)
{
    uint32_t round = number / (namespace_count * app_count);
    deployment->ns = cli_demo_namespaces[number % namespace_count];
    deployment->app = apps[(number / namespace_count + number % namespace_count * 4) % app_count];
    if (round == 0)
        snprintf(deployment->name, sizeof(deployment->name), "%s", deployment->app);
    else
        snprintf(deployment->name, sizeof(deployment->name), "%s-%u", deployment->app, round + 1);
}

static void make_deployment(cli_demo_cluster *cluster, uint32_t replicas)
{
    assert(replicas > 0);
    cli_demo_deployment *deployment = &cluster->deployments[cluster->deployment_count];
    name_deployment(deployment, cluster->deployment_count++);
    deployment->base = deployment->replicas = replicas;
    deployment->pods = CLI_DEMO_NO_POD;
    deployment->generation = 1;
    deployment->revision = deployment->sets[0].revision = 1;
    cli_demo_draw_uid(cluster, deployment->uid);
    cli_demo_draw_uid(cluster, deployment->sets[0].uid);
    cli_demo_draw_letters(cluster, deployment->sets[0].hash, CLI_DEMO_HASH_BYTES);
}

static void make_nodes(cli_demo_cluster *cluster)
{
    for (uint32_t i = 0; i < cluster->node_count; i++) {
        cli_demo_node *node = &cluster->nodes[i];
        snprintf(node->name, sizeof(node->name), "worker-%02u", i + 1);
        cli_demo_draw_uid(cluster, node->uid);
        node->is_ready = 1;
    }
}

static void make_deployments(cli_demo_cluster *cluster, uint32_t pods)
{
    while (pods > 0) {
        uint32_t range = REPLICAS_MAX - REPLICAS_MIN + 1;
        uint32_t replicas = REPLICAS_MIN + cli_demo_random_below(&cluster->random, range);
        replicas = replicas < pods ? replicas : pods;
        make_deployment(cluster, replicas);
        pods -= replicas;
    }
}

/* There is enough space for all of them. They are not reported as changes. */
static void make_pods(cli_demo_cluster *cluster)
{
    for (uint32_t i = 0; i < cluster->deployment_count; i++)
        for (uint32_t n = 0; n < cluster->deployments[i].replicas; n++) {
            uint32_t pod = cli_demo_pod_add(cluster, i);
            assert(pod != CLI_DEMO_NO_POD);
            if (cli_demo_pod_schedule(cluster, pod))
                cli_demo_pod_run(cluster, pod);
            cluster->first_pods = pod + 1;
        }
}

static void forget_dirt(cli_demo_cluster *cluster)
{
    for (uint32_t i = 0; i < cluster->deployment_count; i++) {
        cli_demo_bag_remove(&cluster->dirty, i);
        cluster->deployments[i].sets[0].is_dirty = 0;
        cluster->deployments[i].sets[0].is_there = 1;
    }
}

/* ---- creating and freeing ------------------------------------------------------------------------------ */

static void link_free_pods(cli_demo_cluster *cluster)
{
    for (uint32_t i = 0; i < cluster->pod_max; i++)
        cluster->pods[i].next = i + 1 < cluster->pod_max ? i + 1 : CLI_DEMO_NO_POD;
}

/* Space for twice as many pods is more than scaling and surge can ever need. */
static int allocate(cli_demo_cluster *cluster, uint32_t pods)
{
    uint32_t deployments_max = pods / REPLICAS_MIN + 1;
    cluster->pod_max = pods * 2 + deployments_max * 3;
    cluster->node_count = pods / PODS_PER_NODE + NODES_MIN;
    cluster->nodes = calloc(cluster->node_count, sizeof(*cluster->nodes));
    cluster->deployments = calloc(deployments_max, sizeof(*cluster->deployments));
    cluster->pods = calloc(cluster->pod_max, sizeof(*cluster->pods));
    cluster->writer = ki_json_writer_new(NULL);
    int has_moving = cli_demo_bag_init(&cluster->moving, cluster->pod_max);
    int has_unsettled = cli_demo_bag_init(&cluster->unsettled, deployments_max);
    int has_dirty = cli_demo_bag_init(&cluster->dirty, deployments_max);
    return cluster->nodes != NULL && cluster->deployments != NULL && cluster->pods != NULL &&
           cluster->writer != NULL && has_moving && has_unsettled && has_dirty;
}

cli_demo_cluster *cli_demo_cluster_new(const cli_demo_cluster_options *options, ki_error *err)
{
    cli_demo_cluster *cluster = calloc(1, sizeof(*cluster));
    if (cluster == NULL || !allocate(cluster, options->pods)) {
        cli_demo_cluster_free(cluster);
        (void)cli_fail_no_memory(err);
        return NULL;
    }
    cluster->random.state = options->seed;
    link_free_pods(cluster);
    make_nodes(cluster);
    make_deployments(cluster, options->pods);
    make_pods(cluster);
    forget_dirt(cluster);
    return cluster;
}

void cli_demo_cluster_free(cli_demo_cluster *cluster)
{
    if (cluster == NULL)
        return;
    cli_demo_bag_fini(&cluster->moving);
    cli_demo_bag_fini(&cluster->unsettled);
    cli_demo_bag_fini(&cluster->dirty);
    ki_json_writer_free(cluster->writer);
    free(cluster->nodes);
    free(cluster->deployments);
    free(cluster->pods);
    free(cluster);
}

/* ---- changes ------------------------------------------------------------------------------------------- */

static size_t load_count(const cli_demo_cluster *cluster)
{
    return (size_t)namespace_count + cluster->node_count + 2 * (size_t)cluster->deployment_count +
           cluster->first_pods;
}

size_t cli_demo_cluster_to_load(const cli_demo_cluster *cluster)
{
    assert(cluster->loaded <= load_count(cluster));
    return load_count(cluster) - cluster->loaded;
}

/* Creates owners before their dependents. */
static void tell_first(cli_demo_cluster *cluster, cli_demo_change *out)
{
    assert(cluster->loaded < load_count(cluster));
    uint32_t at = (uint32_t)cluster->loaded++;
    if (at < namespace_count) {
        cli_demo_tell_namespace(cluster, at, out);
        return;
    }
    at -= namespace_count;
    if (at < cluster->node_count) {
        cli_demo_tell_node(cluster, at, out);
        return;
    }
    at -= cluster->node_count;
    if (at < cluster->deployment_count) {
        cli_demo_tell_deployment(cluster, at, out);
        return;
    }
    at -= cluster->deployment_count;
    if (at < cluster->deployment_count)
        cli_demo_tell_set(cluster, at, &cluster->deployments[at].sets[0], out);
    else
        cli_demo_tell_pod(cluster, at - cluster->deployment_count, out);
}

/* The initial objects get the timestamp of the first change. */
static void begin_time(cli_demo_cluster *cluster, int64_t now_s)
{
    for (uint32_t i = 0; i < cluster->node_count; i++)
        cluster->nodes[i].changed_s = now_s;
    for (uint32_t i = 0; i < cluster->deployment_count; i++)
        cluster->deployments[i].changed_s = now_s;
    for (uint32_t i = 0; i < cluster->first_pods; i++)
        cluster->pods[i].created_s = cluster->pods[i].changed_s = now_s;
}

int cli_demo_cluster_next(cli_demo_cluster *cluster, int64_t now_s, cli_demo_change *out, ki_error *err)
{
    ki_str json = {0};
    cli_demo_change change = {.ns = "", .name = "", .happening = ""};
    if (cluster->loaded == 0)
        begin_time(cluster, now_s);
    cluster->now_s = now_s;
    ki_json_writer_reset(cluster->writer);
    if (cli_demo_cluster_to_load(cluster) > 0)
        tell_first(cluster, &change);
    else
        cli_demo_next_change(cluster, &change);
    if (!change.is_delete) {
        ki_json_write_object_end(cluster->writer);
        int rc = ki_json_writer_finish(cluster->writer, &json, err);
        if (rc < 0)
            return rc;
        assert(json.len < sizeof(cluster->json));
        snprintf(cluster->json, sizeof(cluster->json), "%.*s", KI_STR_ARGS(json));
        change.json = cluster->json;
    }
    *out = change;
    return 0;
}
