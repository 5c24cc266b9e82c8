/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of the simulated cluster as JSON, except pods. Each is left open: the caller ends it. */
#include <assert.h>
#include <kinformer/timestamp.h>
#include <stdio.h>

#include "cli/demo/demo_cluster_parts.h"

/* ---- members ------------------------------------------------------------------------------------------- */

void cli_demo_write_text(ki_json_writer *writer, const char *name, const char *text)
{
    ki_json_write_name(writer, ki_str_of(name));
    ki_json_write_string(writer, ki_str_of(text));
}

void cli_demo_write_number(ki_json_writer *writer, const char *name, int64_t number)
{
    ki_json_write_name(writer, ki_str_of(name));
    ki_json_write_int64(writer, number);
}

void cli_demo_write_flag(ki_json_writer *writer, const char *name, int flag)
{
    ki_json_write_name(writer, ki_str_of(name));
    ki_json_write_bool(writer, flag);
}

void cli_demo_write_time(ki_json_writer *writer, const char *name, int64_t time_s)
{
    char text[KI_TIMESTAMP_BYTES] = "";
    (void)!ki_timestamp_format((ki_timestamp){.seconds = time_s}, text);
    cli_demo_write_text(writer, name, text);
}

void cli_demo_write_object(ki_json_writer *writer, const char *name)
{
    ki_json_write_name(writer, ki_str_of(name));
    ki_json_write_object_begin(writer);
}

void cli_demo_write_array(ki_json_writer *writer, const char *name)
{
    ki_json_write_name(writer, ki_str_of(name));
    ki_json_write_array_begin(writer);
}

void cli_demo_write_condition(ki_json_writer *writer, const char *type, int is_true, int64_t since_s)
{
    ki_json_write_object_begin(writer);
    cli_demo_write_text(writer, "type", type);
    cli_demo_write_text(writer, "status", is_true ? "True" : "False");
    cli_demo_write_time(writer, "lastTransitionTime", since_s);
    ki_json_write_object_end(writer);
}

void cli_demo_write_labels(ki_json_writer *writer, const cli_demo_deployment *deployment,
                           const cli_demo_set *set)
{
    cli_demo_write_text(writer, "app", deployment->name);
    if (set != NULL)
        cli_demo_write_text(writer, "pod-template-hash", set->hash);
}

void cli_demo_write_owner(ki_json_writer *writer, const cli_demo_owner *owner)
{
    cli_demo_write_array(writer, "ownerReferences");
    ki_json_write_object_begin(writer);
    cli_demo_write_text(writer, "apiVersion", "apps/v1");
    cli_demo_write_text(writer, "kind", owner->kind);
    cli_demo_write_text(writer, "name", owner->name);
    cli_demo_write_text(writer, "uid", owner->uid);
    cli_demo_write_flag(writer, "controller", 1);
    cli_demo_write_flag(writer, "blockOwnerDeletion", 1);
    ki_json_write_object_end(writer);
    ki_json_write_array_end(writer);
}

/* ---- namespaces and nodes ------------------------------------------------------------------------------ */

void cli_demo_tell_namespace(cli_demo_cluster *cluster, uint32_t number, cli_demo_change *out)
{
    out->kind = CLI_DEMO_NAMESPACES;
    out->name = cli_demo_namespaces[number];
    ki_json_write_object_begin(cluster->writer);
    cli_demo_write_object(cluster->writer, "metadata");
    cli_demo_write_text(cluster->writer, "name", out->name);
    ki_json_write_object_end(cluster->writer);
}

static void write_node_metadata(ki_json_writer *writer, const cli_demo_node *node, uint32_t number)
{
    static const char *const zones[] = {"eu-1a", "eu-1b", "eu-1c"};
    cli_demo_write_object(writer, "metadata");
    cli_demo_write_text(writer, "name", node->name);
    cli_demo_write_text(writer, "uid", node->uid);
    cli_demo_write_object(writer, "labels");
    cli_demo_write_text(writer, "kubernetes.io/arch", number % 4 == 3 ? "arm64" : "amd64");
    cli_demo_write_text(writer, "kubernetes.io/hostname", node->name);
    cli_demo_write_text(writer, "kubernetes.io/os", "linux");
    cli_demo_write_text(writer, "topology.kubernetes.io/zone", zones[number % 3]);
    ki_json_write_object_end(writer);
    ki_json_write_object_end(writer);
}

static void write_resources(ki_json_writer *writer, const char *name)
{
    cli_demo_write_object(writer, name);
    cli_demo_write_text(writer, "cpu", "16");
    cli_demo_write_text(writer, "memory", "65536Mi");
    cli_demo_write_text(writer, "pods", "110");
    ki_json_write_object_end(writer);
}

static void write_node_status(cli_demo_cluster *cluster, const cli_demo_node *node, uint32_t number)
{
    char address[32];
    ki_json_writer *writer = cluster->writer;
    snprintf(address, sizeof(address), "172.16.%u.%u", number / 250, number % 250 + 2);
    cli_demo_write_object(writer, "status");
    write_resources(writer, "capacity");
    write_resources(writer, "allocatable");
    cli_demo_write_array(writer, "addresses");
    ki_json_write_object_begin(writer);
    cli_demo_write_text(writer, "type", "InternalIP");
    cli_demo_write_text(writer, "address", address);
    ki_json_write_object_end(writer);
    ki_json_write_array_end(writer);
    cli_demo_write_array(writer, "conditions");
    ki_json_write_object_begin(writer);
    cli_demo_write_text(writer, "type", "Ready");
    cli_demo_write_text(writer, "status", node->is_ready ? "True" : "Unknown");
    cli_demo_write_text(writer, "reason", node->is_ready ? "KubeletReady" : "NodeStatusUnknown");
    cli_demo_write_time(writer, "lastHeartbeatTime", cluster->now_s);
    cli_demo_write_time(writer, "lastTransitionTime", node->changed_s);
    ki_json_write_object_end(writer);
    cli_demo_write_condition(writer, "MemoryPressure", 0, node->changed_s);
    ki_json_write_array_end(writer);
    ki_json_write_object_end(writer);
}

void cli_demo_tell_node(cli_demo_cluster *cluster, uint32_t number, cli_demo_change *out)
{
    assert(number < cluster->node_count);
    char range[32];
    const cli_demo_node *node = &cluster->nodes[number];
    ki_json_writer *writer = cluster->writer;
    out->kind = CLI_DEMO_NODES;
    out->name = node->name;
    snprintf(range, sizeof(range), "10.%u.%u.0/24", 64 + number / 256, number % 256);
    ki_json_write_object_begin(writer);
    write_node_metadata(writer, node, number);
    cli_demo_write_object(writer, "spec");
    cli_demo_write_text(writer, "podCIDR", range);
    ki_json_write_object_end(writer);
    write_node_status(cluster, node, number);
}

/* ---- deployments and replica sets ---------------------------------------------------------------------- */

/* Writes selector and template, which deployments and replica sets both have. */
static void write_template(ki_json_writer *writer, const cli_demo_deployment *deployment,
                           const cli_demo_set *set)
{
    uint32_t revision = set == NULL ? deployment->revision : set->revision;
    cli_demo_write_object(writer, "selector");
    cli_demo_write_object(writer, "matchLabels");
    cli_demo_write_labels(writer, deployment, set);
    ki_json_write_object_end(writer);
    ki_json_write_object_end(writer);
    cli_demo_write_object(writer, "template");
    cli_demo_write_object(writer, "metadata");
    cli_demo_write_object(writer, "labels");
    cli_demo_write_labels(writer, deployment, set);
    ki_json_write_object_end(writer);
    ki_json_write_object_end(writer);
    cli_demo_write_object(writer, "spec");
    cli_demo_write_pod_spec(writer, deployment, revision);
    ki_json_write_object_end(writer);
    ki_json_write_object_end(writer);
}

static void write_metadata(ki_json_writer *writer, const cli_demo_deployment *deployment,
                           const cli_demo_set *set, const char *name)
{
    char revision[16];
    snprintf(revision, sizeof(revision), "%u", set == NULL ? deployment->revision : set->revision);
    cli_demo_write_object(writer, "metadata");
    cli_demo_write_text(writer, "namespace", deployment->ns);
    cli_demo_write_text(writer, "name", name);
    cli_demo_write_text(writer, "uid", set == NULL ? deployment->uid : set->uid);
    cli_demo_write_object(writer, "labels");
    cli_demo_write_labels(writer, deployment, set);
    ki_json_write_object_end(writer);
    cli_demo_write_object(writer, "annotations");
    cli_demo_write_text(writer, "deployment.kubernetes.io/revision", revision);
    ki_json_write_object_end(writer);
    if (set != NULL)
        cli_demo_write_owner(writer, &(cli_demo_owner){"Deployment", deployment->name, deployment->uid});
    ki_json_write_object_end(writer);
}

static void write_deployment_status(ki_json_writer *writer, const cli_demo_deployment *deployment)
{
    uint32_t pods = 0;
    uint32_t ready = 0;
    for (int i = 0; i < CLI_DEMO_SETS; i++) {
        pods += deployment->sets[i].pod_count;
        ready += deployment->sets[i].ready_count;
    }
    cli_demo_write_object(writer, "status");
    cli_demo_write_number(writer, "observedGeneration", deployment->generation);
    cli_demo_write_number(writer, "replicas", pods);
    cli_demo_write_number(writer, "updatedReplicas", deployment->sets[0].pod_count);
    cli_demo_write_number(writer, "readyReplicas", ready);
    cli_demo_write_number(writer, "availableReplicas", ready);
    cli_demo_write_number(writer, "unavailableReplicas", pods - ready);
    cli_demo_write_array(writer, "conditions");
    cli_demo_write_condition(writer, "Available", ready >= deployment->replicas - deployment->replicas / 4,
                             deployment->changed_s);
    cli_demo_write_condition(writer, "Progressing", 1, deployment->changed_s);
    ki_json_write_array_end(writer);
    ki_json_write_object_end(writer);
}

/* Writes everything before the status. */
static void begin_workload(ki_json_writer *writer, const cli_demo_deployment *deployment,
                           const cli_demo_set *set, const char *name)
{
    int is_current = set == NULL || set->revision == deployment->revision;
    ki_json_write_object_begin(writer);
    write_metadata(writer, deployment, set, name);
    cli_demo_write_object(writer, "spec");
    cli_demo_write_number(writer, "replicas", is_current ? deployment->replicas : set->pod_count);
    write_template(writer, deployment, set);
    ki_json_write_object_end(writer);
}

void cli_demo_tell_deployment(cli_demo_cluster *cluster, uint32_t number, cli_demo_change *out)
{
    const cli_demo_deployment *deployment = &cluster->deployments[number];
    out->kind = CLI_DEMO_DEPLOYMENTS;
    out->ns = deployment->ns;
    out->name = deployment->name;
    begin_workload(cluster->writer, deployment, NULL, deployment->name);
    write_deployment_status(cluster->writer, deployment);
}

void cli_demo_tell_set(cli_demo_cluster *cluster, uint32_t number, const cli_demo_set *set,
                       cli_demo_change *out)
{
    const cli_demo_deployment *deployment = &cluster->deployments[number];
    ki_json_writer *writer = cluster->writer;
    snprintf(cluster->name, sizeof(cluster->name), "%s-%s", deployment->name, set->hash);
    out->kind = CLI_DEMO_REPLICA_SETS;
    out->ns = deployment->ns;
    out->name = cluster->name;
    begin_workload(writer, deployment, set, cluster->name);
    cli_demo_write_object(writer, "status");
    cli_demo_write_number(writer, "replicas", set->pod_count);
    cli_demo_write_number(writer, "fullyLabeledReplicas", set->pod_count);
    cli_demo_write_number(writer, "readyReplicas", set->ready_count);
    cli_demo_write_number(writer, "availableReplicas", set->ready_count);
    ki_json_write_object_end(writer);
}
