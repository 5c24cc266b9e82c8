/* SPDX-License-Identifier: Apache-2.0 */
/* Pods of the simulated cluster as JSON. */
#include <stdio.h>

#include "cli/demo/demo_cluster_parts.h"

/* ---- spec ---------------------------------------------------------------------------------------------- */

static void write_container(ki_json_writer *writer, const cli_demo_deployment *deployment, uint32_t revision)
{
    char image[96];
    snprintf(image, sizeof(image), "registry.example.com/%s:v1.%u.0", deployment->app, revision);
    ki_json_write_object_begin(writer);
    cli_demo_write_text(writer, "name", deployment->app);
    cli_demo_write_text(writer, "image", image);
    cli_demo_write_array(writer, "ports");
    ki_json_write_object_begin(writer);
    cli_demo_write_text(writer, "name", "http");
    cli_demo_write_number(writer, "containerPort", 8080);
    ki_json_write_object_end(writer);
    ki_json_write_array_end(writer);
    cli_demo_write_object(writer, "resources");
    cli_demo_write_object(writer, "requests");
    cli_demo_write_text(writer, "cpu", "100m");
    cli_demo_write_text(writer, "memory", "128Mi");
    ki_json_write_object_end(writer);
    ki_json_write_object_end(writer);
    ki_json_write_object_end(writer);
}

void cli_demo_write_pod_spec(ki_json_writer *writer, const cli_demo_deployment *deployment, uint32_t revision)
{
    cli_demo_write_array(writer, "containers");
    write_container(writer, deployment, revision);
    ki_json_write_array_end(writer);
    cli_demo_write_text(writer, "restartPolicy", "Always");
    cli_demo_write_text(writer, "serviceAccountName", "default");
}

/* ---- status -------------------------------------------------------------------------------------------- */

static void write_terminated(ki_json_writer *writer, const cli_demo_pod *pod)
{
    cli_demo_write_object(writer, "terminated");
    cli_demo_write_number(writer, "exitCode", 1);
    cli_demo_write_text(writer, "reason", "Error");
    cli_demo_write_time(writer, "startedAt", pod->created_s);
    cli_demo_write_time(writer, "finishedAt", pod->changed_s);
    ki_json_write_object_end(writer);
}

static void write_waiting(ki_json_writer *writer, const cli_demo_pod *pod)
{
    cli_demo_write_object(writer, "waiting");
    cli_demo_write_text(writer, "reason",
                        pod->state == CLI_DEMO_POD_CRASHED ? "CrashLoopBackOff" : "ContainerCreating");
    ki_json_write_object_end(writer);
}

static void write_container_status(ki_json_writer *writer, const cli_demo_deployment *deployment,
                                   const cli_demo_pod *pod)
{
    char image[96];
    int is_running = pod->state == CLI_DEMO_POD_RUNNING;
    snprintf(image, sizeof(image), "registry.example.com/%s:v1.%u.0", deployment->app, pod->revision);
    ki_json_write_object_begin(writer);
    cli_demo_write_text(writer, "name", deployment->app);
    cli_demo_write_text(writer, "image", image);
    cli_demo_write_text(writer, "imageID", "");
    cli_demo_write_flag(writer, "ready", is_running);
    cli_demo_write_flag(writer, "started", is_running);
    cli_demo_write_number(writer, "restartCount", pod->restarts);
    cli_demo_write_object(writer, "state");
    if (is_running) {
        cli_demo_write_object(writer, "running");
        cli_demo_write_time(writer, "startedAt", pod->changed_s);
        ki_json_write_object_end(writer);
    } else {
        write_waiting(writer, pod);
    }
    ki_json_write_object_end(writer);
    cli_demo_write_object(writer, "lastState");
    if (pod->restarts > 0)
        write_terminated(writer, pod);
    ki_json_write_object_end(writer);
    ki_json_write_object_end(writer);
}

static void write_conditions(ki_json_writer *writer, const cli_demo_pod *pod)
{
    int is_running = pod->state == CLI_DEMO_POD_RUNNING;
    cli_demo_write_array(writer, "conditions");
    cli_demo_write_condition(writer, "PodScheduled", pod->state != CLI_DEMO_POD_PENDING, pod->created_s);
    if (pod->state != CLI_DEMO_POD_PENDING) {
        cli_demo_write_condition(writer, "Initialized", 1, pod->created_s);
        cli_demo_write_condition(writer, "ContainersReady", is_running, pod->changed_s);
        cli_demo_write_condition(writer, "Ready", is_running, pod->changed_s);
    }
    ki_json_write_array_end(writer);
}

/* A pod has no address until its first container runs. */
static void write_addresses(ki_json_writer *writer, const cli_demo_pod *pod)
{
    char address[32];
    if (pod->state != CLI_DEMO_POD_RUNNING && pod->state != CLI_DEMO_POD_CRASHED)
        return;
    snprintf(address, sizeof(address), "10.%u.%u.%u", 64 + pod->node / 256, pod->node % 256, pod->address);
    cli_demo_write_text(writer, "podIP", address);
    cli_demo_write_array(writer, "podIPs");
    ki_json_write_object_begin(writer);
    cli_demo_write_text(writer, "ip", address);
    ki_json_write_object_end(writer);
    ki_json_write_array_end(writer);
}

static void write_status(ki_json_writer *writer, const cli_demo_deployment *deployment,
                         const cli_demo_pod *pod)
{
    char host[32];
    int has_run = pod->state == CLI_DEMO_POD_RUNNING || pod->state == CLI_DEMO_POD_CRASHED;
    cli_demo_write_object(writer, "status");
    cli_demo_write_text(writer, "phase", has_run ? "Running" : "Pending");
    cli_demo_write_text(writer, "qosClass", "Burstable");
    write_conditions(writer, pod);
    if (pod->state != CLI_DEMO_POD_PENDING) {
        snprintf(host, sizeof(host), "172.16.%u.%u", pod->node / 250, pod->node % 250 + 2);
        cli_demo_write_text(writer, "hostIP", host);
        cli_demo_write_time(writer, "startTime", pod->created_s);
        write_addresses(writer, pod);
        cli_demo_write_array(writer, "containerStatuses");
        write_container_status(writer, deployment, pod);
        ki_json_write_array_end(writer);
    }
    ki_json_write_object_end(writer);
}

/* ---- the whole ----------------------------------------------------------------------------------------- */

static void write_metadata(cli_demo_cluster *cluster, const cli_demo_pod *pod, const cli_demo_set *set)
{
    char owner[CLI_DEMO_POD_NAME_BYTES];
    char prefix[CLI_DEMO_POD_NAME_BYTES + 1];
    const cli_demo_deployment *deployment = &cluster->deployments[pod->deployment];
    snprintf(owner, sizeof(owner), "%s-%s", deployment->name, set->hash);
    snprintf(prefix, sizeof(prefix), "%s-", owner);
    cli_demo_write_object(cluster->writer, "metadata");
    cli_demo_write_text(cluster->writer, "namespace", deployment->ns);
    cli_demo_write_text(cluster->writer, "name", cluster->name);
    cli_demo_write_text(cluster->writer, "generateName", prefix);
    cli_demo_write_text(cluster->writer, "uid", pod->uid);
    cli_demo_write_object(cluster->writer, "labels");
    cli_demo_write_labels(cluster->writer, deployment, set);
    ki_json_write_object_end(cluster->writer);
    cli_demo_write_owner(cluster->writer, &(cli_demo_owner){"ReplicaSet", owner, set->uid});
    ki_json_write_object_end(cluster->writer);
}

void cli_demo_tell_pod(cli_demo_cluster *cluster, uint32_t number, cli_demo_change *out)
{
    const cli_demo_pod *pod = &cluster->pods[number];
    cli_demo_deployment *deployment = &cluster->deployments[pod->deployment];
    ki_json_writer *writer = cluster->writer;
    cli_demo_pod_name(cluster, number, cluster->name);
    out->kind = CLI_DEMO_PODS;
    out->ns = deployment->ns;
    out->name = cluster->name;
    ki_json_write_object_begin(writer);
    write_metadata(cluster, pod, cli_demo_set_of(deployment, pod->revision));
    cli_demo_write_object(writer, "spec");
    cli_demo_write_pod_spec(writer, deployment, pod->revision);
    if (pod->node != CLI_DEMO_NO_NODE)
        cli_demo_write_text(writer, "nodeName", cluster->nodes[pod->node].name);
    ki_json_write_object_end(writer);
    write_status(writer, deployment, pod);
}
