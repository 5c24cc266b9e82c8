/* SPDX-License-Identifier: Apache-2.0 */
/* The next change of the simulated cluster. Each function either makes one change and returns 1, or does
 * nothing and returns 0; then another function is tried. */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/demo/demo_cluster_parts.h"

static uint32_t draw(cli_demo_cluster *cluster, uint32_t bound)
{
    assert(bound > 0);
    return cli_demo_random_below(&cluster->random, bound);
}

/* ---- pods in transition -------------------------------------------------------------------------------- */

/* The number of pods in transition, chosen so that each state lasts long enough to be seen. */
static uint32_t moving_goal(const cli_demo_cluster *cluster)
{
    return cluster->first_pods / 50 + 2;
}

static int move_pod(cli_demo_cluster *cluster, cli_demo_change *out)
{
    if (cluster->moving.count == 0)
        return 0;
    uint32_t pod = cli_demo_bag_draw(&cluster->moving, &cluster->random);
    cli_demo_pod_state state = cluster->pods[pod].state;
    if (state == CLI_DEMO_POD_PENDING) {
        if (!cli_demo_pod_schedule(cluster, pod))
            return 0;
    } else if (state == CLI_DEMO_POD_CRASHED && draw(cluster, 3) == 0) {
        cli_demo_pod_crash(cluster, pod);
    } else {
        cli_demo_pod_run(cluster, pod);
    }
    cli_demo_tell_pod(cluster, pod, out);
    return 1;
}

static void delete_pod(cli_demo_cluster *cluster, uint32_t pod, cli_demo_change *out)
{
    assert(pod < cluster->pod_max && cluster->pods[pod].state != CLI_DEMO_POD_FREE);
    cli_demo_pod_name(cluster, pod, cluster->name);
    out->kind = CLI_DEMO_PODS;
    out->is_delete = 1;
    out->ns = cluster->deployments[cluster->pods[pod].deployment].ns;
    out->name = cluster->name;
    cli_demo_pod_remove(cluster, pod);
}

/* ---- deployments that are not settled ------------------------------------------------------------------ */

typedef struct tally {
    uint32_t pods;
    uint32_t ready;
    uint32_t old_pods; /* of earlier replica sets */
} tally;

static tally count(const cli_demo_deployment *deployment)
{
    tally sum = {0};
    for (int i = 0; i < CLI_DEMO_SETS; i++) {
        sum.pods += deployment->sets[i].pod_count;
        sum.ready += deployment->sets[i].ready_count;
        sum.old_pods += i > 0 ? deployment->sets[i].pod_count : 0;
    }
    assert(sum.ready <= sum.pods && sum.old_pods <= sum.pods);
    return sum;
}

/* Selects a pod to delete, of the old replica sets or of the current one; a pod that is not ready comes
 * first. */
static uint32_t find_victim(const cli_demo_cluster *cluster, const cli_demo_deployment *deployment,
                            int is_old)
{
    uint32_t found = CLI_DEMO_NO_POD;
    for (uint32_t i = deployment->pods; i != CLI_DEMO_NO_POD; i = cluster->pods[i].next) {
        const cli_demo_pod *pod = &cluster->pods[i];
        if ((pod->revision != deployment->revision) != is_old)
            continue;
        if (pod->state != CLI_DEMO_POD_RUNNING)
            return i;
        found = found == CLI_DEMO_NO_POD ? i : found;
    }
    return found;
}

static void create_set(cli_demo_cluster *cluster, uint32_t number, cli_demo_change *out)
{
    assert(!cluster->deployments[number].sets[0].is_there);
    cli_demo_set *set = &cluster->deployments[number].sets[0];
    set->is_there = 1;
    set->is_dirty = 0;
    cli_demo_tell_set(cluster, number, set, out);
}

/* The deployment has settled. Only one replica set without pods is kept, for a rollback; the oldest is
 * deleted. */
static int settle(cli_demo_cluster *cluster, uint32_t number, cli_demo_change *out)
{
    assert(cli_demo_bag_has(&cluster->unsettled, number));
    cli_demo_deployment *deployment = &cluster->deployments[number];
    cli_demo_set *oldest = &deployment->sets[CLI_DEMO_SETS - 1];
    cli_demo_bag_remove(&cluster->unsettled, number);
    cli_demo_bag_add(&cluster->dirty, number);
    if (!oldest->is_there)
        return 0;
    snprintf(cluster->name, sizeof(cluster->name), "%s-%s", deployment->name, oldest->hash);
    assert(oldest->pod_count == 0);
    *oldest = (cli_demo_set){0};
    out->kind = CLI_DEMO_REPLICA_SETS;
    out->is_delete = 1;
    out->ns = deployment->ns;
    out->name = cluster->name;
    return 1;
}

static int create_pod(cli_demo_cluster *cluster, uint32_t number, cli_demo_change *out)
{
    uint32_t pod = cli_demo_pod_add(cluster, number);
    if (pod == CLI_DEMO_NO_POD)
        return 0;
    cli_demo_tell_pod(cluster, pod, out);
    return 1;
}

/* An old pod is deleted when enough others are ready, or when it is not ready itself. */
static int retire_pod(cli_demo_cluster *cluster, const cli_demo_deployment *deployment, cli_demo_change *out)
{
    uint32_t victim = find_victim(cluster, deployment, 1);
    assert(victim != CLI_DEMO_NO_POD); /* the caller has counted old pods */
    uint32_t needed = deployment->replicas - deployment->replicas / 4;
    if (cluster->pods[victim].state == CLI_DEMO_POD_RUNNING && count(deployment).ready <= needed)
        return 0;
    delete_pod(cluster, victim, out);
    return 1;
}

/* Makes one step of the work of a cluster's controllers. */
static int reconcile(cli_demo_cluster *cluster, cli_demo_change *out)
{
    if (cluster->unsettled.count == 0)
        return 0;
    uint32_t number = cli_demo_bag_draw(&cluster->unsettled, &cluster->random);
    cli_demo_deployment *deployment = &cluster->deployments[number];
    tally now = count(deployment);
    if (!deployment->sets[0].is_there) {
        create_set(cluster, number, out);
        return 1;
    }
    if (now.old_pods == 0 && now.pods > deployment->replicas) {
        delete_pod(cluster, find_victim(cluster, deployment, 0), out);
        return 1;
    }
    if (deployment->sets[0].pod_count < deployment->replicas &&
        now.pods < deployment->replicas + (now.old_pods > 0 ? cli_demo_surge(deployment) : 0))
        return create_pod(cluster, number, out);
    if (now.old_pods > 0)
        return retire_pod(cluster, deployment, out);
    return now.pods == now.ready ? settle(cluster, number, out) : 0;
}

/* Writes replica sets before their deployment. */
static int tell_status(cli_demo_cluster *cluster, cli_demo_change *out)
{
    if (cluster->dirty.count == 0)
        return 0;
    uint32_t number = cli_demo_bag_draw(&cluster->dirty, &cluster->random);
    cli_demo_deployment *deployment = &cluster->deployments[number];
    for (int i = 0; i < CLI_DEMO_SETS; i++) {
        cli_demo_set *set = &deployment->sets[i];
        if (!set->is_there || !set->is_dirty)
            continue;
        set->is_dirty = 0;
        cli_demo_tell_set(cluster, number, set, out);
        return 1;
    }
    cli_demo_bag_remove(&cluster->dirty, number);
    cli_demo_tell_deployment(cluster, number, out);
    return 1;
}

/* ---- random events ------------------------------------------------------------------------------------- */

KI_PRINTF(3, 4)
static void say(cli_demo_cluster *cluster, cli_demo_change *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(cluster->happening, sizeof(cluster->happening), format, args);
    va_end(args);
    out->happening = cluster->happening;
}

/* Draws a settled deployment. Returns 0 if the one drawn is not settled, or if enough are in transition. */
static int draw_settled(cli_demo_cluster *cluster, uint32_t *out_number)
{
    uint32_t number = draw(cluster, cluster->deployment_count);
    if (cli_demo_bag_has(&cluster->unsettled, number) ||
        cluster->unsettled.count > cluster->deployment_count / 4)
        return 0;
    *out_number = number;
    return 1;
}

static void change_deployment(cli_demo_cluster *cluster, uint32_t number, cli_demo_change *out)
{
    assert(number < cluster->deployment_count);
    cli_demo_deployment *deployment = &cluster->deployments[number];
    deployment->generation++;
    deployment->changed_s = cluster->now_s;
    deployment->sets[0].is_dirty = 1;
    cli_demo_bag_add(&cluster->unsettled, number);
    cli_demo_bag_add(&cluster->dirty, number);
    cli_demo_tell_deployment(cluster, number, out);
}

static int scale(cli_demo_cluster *cluster, cli_demo_change *out)
{
    uint32_t number = 0;
    if (!draw_settled(cluster, &number))
        return 0;
    cli_demo_deployment *deployment = &cluster->deployments[number];
    uint32_t before = deployment->replicas;
    deployment->replicas = deployment->base / 2 + 1 + draw(cluster, deployment->base);
    if (deployment->replicas == before)
        return 0;
    change_deployment(cluster, number, out);
    say(cluster, out, "%s/%s scales from %u to %u", deployment->ns, deployment->name, before,
        deployment->replicas);
    return 1;
}

static int roll_out(cli_demo_cluster *cluster, cli_demo_change *out)
{
    uint32_t number = 0;
    if (!draw_settled(cluster, &number))
        return 0;
    cli_demo_deployment *deployment = &cluster->deployments[number];
    assert(!deployment->sets[CLI_DEMO_SETS - 1].is_there);
    memmove(&deployment->sets[1], &deployment->sets[0], (CLI_DEMO_SETS - 1) * sizeof(cli_demo_set));
    deployment->sets[0] = (cli_demo_set){.revision = ++deployment->revision};
    deployment->sets[1].is_dirty = 1;
    cli_demo_draw_uid(cluster, deployment->sets[0].uid);
    cli_demo_draw_letters(cluster, deployment->sets[0].hash, CLI_DEMO_HASH_BYTES);
    change_deployment(cluster, number, out);
    say(cluster, out, "%s/%s rolls out v1.%u.0", deployment->ns, deployment->name, deployment->revision);
    return 1;
}

/* A random pod of a random deployment; CLI_DEMO_NO_POD if it has none. */
static uint32_t draw_pod(cli_demo_cluster *cluster)
{
    const cli_demo_deployment *deployment = &cluster->deployments[draw(cluster, cluster->deployment_count)];
    uint32_t pod = deployment->pods;
    for (uint32_t n = draw(cluster, deployment->replicas + 1); n > 0 && pod != CLI_DEMO_NO_POD; n--)
        pod = cluster->pods[pod].next == CLI_DEMO_NO_POD ? deployment->pods : cluster->pods[pod].next;
    return pod;
}

static int crash(cli_demo_cluster *cluster, cli_demo_change *out)
{
    uint32_t pod = draw_pod(cluster);
    if (pod == CLI_DEMO_NO_POD || cluster->pods[pod].state != CLI_DEMO_POD_RUNNING)
        return 0;
    cli_demo_pod_crash(cluster, pod);
    cli_demo_tell_pod(cluster, pod, out);
    say(cluster, out, "%s/%s crashes", out->ns, out->name);
    return 1;
}

static int evict(cli_demo_cluster *cluster, cli_demo_change *out)
{
    uint32_t pod = draw_pod(cluster);
    if (pod == CLI_DEMO_NO_POD)
        return 0;
    cli_demo_bag_add(&cluster->unsettled, cluster->pods[pod].deployment);
    delete_pod(cluster, pod, out);
    say(cluster, out, "%s/%s is deleted by hand", out->ns, out->name);
    return 1;
}

/* A few nodes at a time are not ready, and get no pods meanwhile. */
static int turn_node(cli_demo_cluster *cluster, cli_demo_change *out)
{
    uint32_t number = draw(cluster, cluster->node_count);
    cli_demo_node *node = &cluster->nodes[number];
    uint32_t unready_max = 1 + cluster->node_count / 20;
    if (node->is_ready && cluster->unready_nodes >= unready_max)
        return 0;
    node->is_ready = !node->is_ready;
    node->changed_s = cluster->now_s;
    assert(!node->is_ready || cluster->unready_nodes > 0);
    cluster->unready_nodes += node->is_ready ? -1U : 1U;
    cli_demo_tell_node(cluster, number, out);
    say(cluster, out, "%s is %s", node->name, node->is_ready ? "ready again" : "not ready");
    return 1;
}

static int happen(cli_demo_cluster *cluster, cli_demo_change *out)
{
    uint32_t roll = draw(cluster, 100);
    if (roll < 30)
        return scale(cluster, out);
    if (roll < 60)
        return roll_out(cluster, out);
    if (roll < 80)
        return crash(cluster, out);
    return roll < 90 ? evict(cluster, out) : turn_node(cluster, out);
}

/* ---- choosing the next change -------------------------------------------------------------------------- */

/* The heartbeat of a node: the change that is made when there is nothing else to do. */
static void beat(cli_demo_cluster *cluster, cli_demo_change *out)
{
    cli_demo_tell_node(cluster, draw(cluster, cluster->node_count), out);
}

static int begin_something(cli_demo_cluster *cluster, cli_demo_change *out)
{
    for (int i = 0; i < 4; i++)
        if (happen(cluster, out))
            return 1;
    return 0;
}

/* Controllers are faster than people: something new begins only while little is in transition. */
void cli_demo_next_change(cli_demo_cluster *cluster, cli_demo_change *out)
{
    uint32_t moving = cluster->moving.count;
    uint32_t goal = moving_goal(cluster);
    int is_busy = draw(cluster, moving + goal) < moving;
    if (draw(cluster, 100) < 20 && tell_status(cluster, out))
        return;
    if (is_busy && move_pod(cluster, out))
        return;
    if (reconcile(cluster, out) || (moving < goal && begin_something(cluster, out)))
        return;
    if (!move_pod(cluster, out) && !tell_status(cluster, out) && !begin_something(cluster, out))
        beat(cluster, out);
}
