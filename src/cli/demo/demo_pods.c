/* SPDX-License-Identifier: Apache-2.0 */
/* Pods of the simulated cluster: their nodes and counts. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "cli/demo/demo_cluster_parts.h"

enum { ADDRESS_MIN = 2, ADDRESS_END = 255 };

cli_demo_set *cli_demo_set_of(cli_demo_deployment *deployment, uint32_t revision)
{
    for (int i = 0; i < CLI_DEMO_SETS; i++)
        if (deployment->sets[i].revision == revision)
            return &deployment->sets[i];
    return NULL;
}

/* 25 %, rounded up: the default of a deployment. */
uint32_t cli_demo_surge(const cli_demo_deployment *deployment)
{
    return (deployment->replicas + 3) / 4;
}

void cli_demo_pod_name(const cli_demo_cluster *cluster, uint32_t pod, char out[CLI_DEMO_POD_NAME_BYTES])
{
    const cli_demo_pod *it = &cluster->pods[pod];
    cli_demo_deployment *deployment = &cluster->deployments[it->deployment];
    const cli_demo_set *set = cli_demo_set_of(deployment, it->revision);
    snprintf(out, CLI_DEMO_POD_NAME_BYTES, "%s-%s-%s", deployment->name, set == NULL ? "" : set->hash,
             it->suffix);
}

/* ---- counting ------------------------------------------------------------------------------------------ */

static void count(cli_demo_cluster *cluster, const cli_demo_pod *pod, int pods, int ready)
{
    cli_demo_set *set = cli_demo_set_of(&cluster->deployments[pod->deployment], pod->revision);
    assert(set != NULL);
    assert((pods >= 0 || set->pod_count > 0) && (ready >= 0 || set->ready_count > 0));
    set->pod_count += (uint32_t)pods;
    set->ready_count += (uint32_t)ready;
    assert(set->ready_count <= set->pod_count);
    set->is_dirty = 1;
    cli_demo_bag_add(&cluster->dirty, pod->deployment);
}

static void set_state(cli_demo_cluster *cluster, uint32_t pod, cli_demo_pod_state state)
{
    cli_demo_pod *it = &cluster->pods[pod];
    int was_ready = it->state == CLI_DEMO_POD_RUNNING;
    int is_ready = state == CLI_DEMO_POD_RUNNING;
    it->state = state;
    it->changed_s = cluster->now_s;
    if (was_ready != is_ready)
        count(cluster, it, 0, is_ready - was_ready);
    if (is_ready || state == CLI_DEMO_POD_FREE)
        cli_demo_bag_remove(&cluster->moving, pod);
    else
        cli_demo_bag_add(&cluster->moving, pod);
}

/* ---- adding and removing ------------------------------------------------------------------------------- */

uint32_t cli_demo_pod_add(cli_demo_cluster *cluster, uint32_t deployment)
{
    assert(deployment < cluster->deployment_count);
    uint32_t pod = cluster->free_pods;
    cli_demo_deployment *owner = &cluster->deployments[deployment];
    if (pod == CLI_DEMO_NO_POD)
        return pod;
    cli_demo_pod *it = &cluster->pods[pod];
    cluster->free_pods = it->next;
    *it = (cli_demo_pod){.deployment = deployment,
                         .revision = owner->revision,
                         .node = CLI_DEMO_NO_NODE,
                         .next = owner->pods,
                         .previous = CLI_DEMO_NO_POD,
                         .created_s = cluster->now_s};
    cli_demo_draw_uid(cluster, it->uid);
    cli_demo_draw_letters(cluster, it->suffix, sizeof(it->suffix));
    if (owner->pods != CLI_DEMO_NO_POD)
        cluster->pods[owner->pods].previous = pod;
    owner->pods = pod;
    count(cluster, it, 1, 0);
    set_state(cluster, pod, CLI_DEMO_POD_PENDING);
    return pod;
}

static void leave_node(cli_demo_cluster *cluster, cli_demo_pod *pod)
{
    if (pod->node == CLI_DEMO_NO_NODE)
        return;
    cli_demo_node *node = &cluster->nodes[pod->node];
    assert(node->pod_count > 0);
    node->pod_count--;
    node->addresses[pod->address / 64] &= ~(1ULL << (pod->address % 64));
}

void cli_demo_pod_remove(cli_demo_cluster *cluster, uint32_t pod)
{
    assert(cluster->pods[pod].state != CLI_DEMO_POD_FREE);
    cli_demo_pod *it = &cluster->pods[pod];
    set_state(cluster, pod, CLI_DEMO_POD_FREE);
    count(cluster, it, -1, 0);
    leave_node(cluster, it);
    if (it->previous != CLI_DEMO_NO_POD)
        cluster->pods[it->previous].next = it->next;
    else
        cluster->deployments[it->deployment].pods = it->next;
    if (it->next != CLI_DEMO_NO_POD)
        cluster->pods[it->next].previous = it->previous;
    it->next = cluster->free_pods;
    cluster->free_pods = pod;
}

/* ---- states -------------------------------------------------------------------------------------------- */

static int can_take(const cli_demo_node *node)
{
    return node->is_ready && node->pod_count < CLI_DEMO_NODE_PODS_MAX;
}

/* Selects the node with fewer pods of two random nodes, which balances well. If it cannot take a pod, the
 * next node that can. */
static uint32_t find_node(cli_demo_cluster *cluster)
{
    uint32_t a = cli_demo_random_below(&cluster->random, cluster->node_count);
    uint32_t b = cli_demo_random_below(&cluster->random, cluster->node_count);
    uint32_t best = cluster->nodes[a].pod_count <= cluster->nodes[b].pod_count ? a : b;
    for (uint32_t i = 0; i < cluster->node_count; i++) {
        uint32_t node = (best + i) % cluster->node_count;
        if (can_take(&cluster->nodes[node]))
            return node;
    }
    return CLI_DEMO_NO_NODE;
}

/* A node has more addresses than pods. */
static uint32_t take_address(cli_demo_node *node)
{
    uint32_t address = ADDRESS_MIN;
    while (address < ADDRESS_END - 1 && (node->addresses[address / 64] >> (address % 64) & 1) != 0)
        address++;
    assert((node->addresses[address / 64] >> (address % 64) & 1) == 0);
    node->addresses[address / 64] |= 1ULL << (address % 64);
    return address;
}

int cli_demo_pod_schedule(cli_demo_cluster *cluster, uint32_t pod)
{
    assert(cluster->pods[pod].state == CLI_DEMO_POD_PENDING);
    cli_demo_pod *it = &cluster->pods[pod];
    uint32_t node = find_node(cluster);
    if (node == CLI_DEMO_NO_NODE)
        return 0;
    it->node = node;
    it->address = take_address(&cluster->nodes[node]);
    cluster->nodes[node].pod_count++;
    set_state(cluster, pod, CLI_DEMO_POD_CREATING);
    return 1;
}

void cli_demo_pod_run(cli_demo_cluster *cluster, uint32_t pod)
{
    assert(cluster->pods[pod].node != CLI_DEMO_NO_NODE);
    set_state(cluster, pod, CLI_DEMO_POD_RUNNING);
}

void cli_demo_pod_crash(cli_demo_cluster *cluster, uint32_t pod)
{
    assert(cluster->pods[pod].node != CLI_DEMO_NO_NODE);
    cluster->pods[pod].restarts++;
    set_state(cluster, pod, CLI_DEMO_POD_CRASHED);
}
