/* SPDX-License-Identifier: Apache-2.0 */
/* The status of a pod in one word: the most important of its phase,
 * its conditions and the states of its containers. */
#include <stdio.h>
#include <string.h>

#include "apiserver/show/table_parts.h"
#include "apiserver/value/age.h"
#include "apiserver/value/tree.h"

struct summary {
    char reason[128];
    long long restarts;
    long long restarts_of_sidecars; /* of init containers that keep running */
    ki_str last_restart;
    size_t ready;
    size_t total;
    bool is_initializing;
};

static bool has_condition(const json_t *tree, const char *type, const char *status)
{
    const json_t *condition = ki_as_tree_find(tree, "status.conditions", "type", type);
    return strcmp(ki_as_tree_text(condition, "status"), status) == 0;
}

static bool is_sidecar(const json_t *tree, const char *name)
{
    const json_t *container = ki_as_tree_find(tree, "spec.initContainers", "name", name);
    return strcmp(ki_as_tree_text(container, "restartPolicy"), "Always") == 0;
}

static void set_reason(struct summary *summary, const char *prefix, const char *reason)
{
    (void)snprintf(summary->reason, sizeof(summary->reason), "%s%s", prefix, reason);
    ki_as_cut_at_character(summary->reason);
}

/* "Error", or "Signal:9", or "ExitCode:1". */
static void set_end(struct summary *summary, const char *prefix, const json_t *end)
{
    long long signal = ki_as_tree_integer(end, "signal", 0);
    const char *reason = ki_as_tree_text(end, "reason");
    if (reason[0] != 0)
        set_reason(summary, prefix, reason);
    else if (signal != 0)
        (void)snprintf(summary->reason, sizeof(summary->reason), "%sSignal:%lld", prefix, signal);
    else
        (void)snprintf(summary->reason, sizeof(summary->reason), "%sExitCode:%lld", prefix,
                       (long long)ki_as_tree_integer(end, "exitCode", 0));
}

static void count_restarts(struct summary *summary, const json_t *status)
{
    ki_str ended = ki_as_json_str(ki_as_tree_at(status, "lastState.terminated.finishedAt"));
    summary->restarts += ki_as_tree_integer(status, "restartCount", 0);
    if (ki_str_compare(summary->last_restart, ended) < 0)
        summary->last_restart = ended;
}

/* Init containers run one after the other: the first that has not finished determines what the pod waits
 * for. */
static void look_at_init(struct summary *summary, const json_t *tree)
{
    const json_t *statuses = ki_as_tree_at(tree, "status.initContainerStatuses");
    for (size_t i = 0; i < json_array_size(statuses) && !summary->is_initializing; i++) {
        const json_t *status = json_array_get(statuses, i);
        const json_t *end = ki_as_tree_at(status, "state.terminated");
        const char *waiting = ki_as_tree_text(status, "state.waiting.reason");
        bool is_kept = is_sidecar(tree, ki_as_tree_text(status, "name"));
        count_restarts(summary, status);
        if (is_kept)
            summary->restarts_of_sidecars += ki_as_tree_integer(status, "restartCount", 0);
        if (end != NULL && ki_as_tree_integer(end, "exitCode", 0) == 0)
            continue;
        if (is_kept && ki_as_tree_is_true(status, "started")) {
            summary->ready += ki_as_tree_is_true(status, "ready") ? 1 : 0;
            continue;
        }
        summary->is_initializing = true;
        if (end != NULL)
            set_end(summary, "Init:", end);
        else if (waiting[0] != 0 && strcmp(waiting, "PodInitializing") != 0)
            set_reason(summary, "Init:", waiting);
        else
            (void)snprintf(summary->reason, sizeof(summary->reason), "Init:%zu/%zu", i,
                           json_array_size(ki_as_tree_at(tree, "spec.initContainers")));
    }
}

static void look_at_containers(struct summary *summary, const json_t *tree)
{
    const json_t *statuses = ki_as_tree_at(tree, "status.containerStatuses");
    bool has_running = false;
    char error[128] = "";
    summary->restarts = summary->restarts_of_sidecars;
    for (size_t i = json_array_size(statuses); i-- > 0;) {
        const json_t *status = json_array_get(statuses, i);
        const json_t *end = ki_as_tree_at(status, "state.terminated");
        const char *waiting = ki_as_tree_text(status, "state.waiting.reason");
        count_restarts(summary, status);
        if (waiting[0] != 0)
            set_reason(summary, "", waiting);
        else if (end != NULL) {
            set_end(summary, "", end);
            if (ki_as_tree_integer(end, "exitCode", 0) != 0)
                memcpy(error, summary->reason, sizeof(error));
        } else if (ki_as_tree_is_true(status, "ready") && ki_as_tree_at(status, "state.running") != NULL) {
            has_running = true;
            summary->ready++;
        }
    }
    if (strcmp(summary->reason, "Completed") != 0)
        return;
    if (has_running && has_condition(tree, "Ready", "True"))
        set_reason(summary, "", "Running");
    else if (error[0] != 0)
        set_reason(summary, "", error);
    else if (has_running)
        set_reason(summary, "", "NotReady");
}

static struct summary summarize(const json_t *tree)
{
    struct summary summary = {.total = json_array_size(ki_as_tree_at(tree, "spec.containers"))};
    const json_t *init = ki_as_tree_at(tree, "spec.initContainers");
    const char *phase = ki_as_tree_text(tree, "status.phase");
    const char *reason = ki_as_tree_text(tree, "status.reason");
    size_t index = 0;
    json_t *one = NULL;
    set_reason(&summary, "", reason[0] != 0 ? reason : phase);
    json_array_foreach(ki_as_tree_at(tree, "status.conditions"), index, one)
    {
        if (strcmp(ki_as_tree_text(one, "reason"), "SchedulingGated") == 0)
            set_reason(&summary, "", "SchedulingGated");
    }
    json_array_foreach(init, index, one)
    {
        summary.total += strcmp(ki_as_tree_text(one, "restartPolicy"), "Always") == 0 ? 1 : 0;
    }
    look_at_init(&summary, tree);
    if (!summary.is_initializing || has_condition(tree, "Initialized", "True"))
        look_at_containers(&summary, tree);
    bool is_over = strcmp(phase, "Failed") == 0 || strcmp(phase, "Succeeded") == 0;
    bool is_deleted = ki_as_tree_at(tree, "metadata.deletionTimestamp") != NULL;
    if (is_deleted && strcmp(reason, "NodeLost") == 0)
        set_reason(&summary, "", "Unknown");
    else if (is_deleted && !is_over)
        set_reason(&summary, "", "Terminating");
    return summary;
}

int ki_as_cell_pod_ready(const json_t *tree, int64_t now, ki_buf *out)
{
    (void)now;
    struct summary summary = summarize(tree);
    return ki_as_cell_printf(out, "%zu/%zu", summary.ready, summary.total);
}

int ki_as_cell_pod_status(const json_t *tree, int64_t now, ki_buf *out)
{
    (void)now;
    struct summary summary = summarize(tree);
    return ki_as_cell_printf(out, "%s", summary.reason);
}

int ki_as_cell_pod_restarts(const json_t *tree, int64_t now, ki_buf *out)
{
    struct summary summary = summarize(tree);
    char age[KI_AS_AGE_BYTES];
    if (summary.restarts == 0 || summary.last_restart.len == 0)
        return ki_as_cell_printf(out, "%lld", summary.restarts);
    ki_as_age_write(summary.last_restart, now, age);
    return ki_as_cell_printf(out, "%lld (%s ago)", summary.restarts, age);
}

int ki_as_cell_pod_gates(const json_t *tree, int64_t now, ki_buf *out)
{
    (void)now;
    const json_t *gates = ki_as_tree_at(tree, "spec.readinessGates");
    size_t open = 0;
    size_t index = 0;
    json_t *gate = NULL;
    json_array_foreach(gates, index, gate)
    {
        open += has_condition(tree, ki_as_tree_text(gate, "conditionType"), "True") ? 1 : 0;
    }
    if (json_array_size(gates) == 0)
        return ki_as_cell_printf(out, "<none>");
    return ki_as_cell_printf(out, "%zu/%zu", open, json_array_size(gates));
}
