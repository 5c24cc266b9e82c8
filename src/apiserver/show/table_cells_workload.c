/* SPDX-License-Identifier: Apache-2.0 */
/* Cells of workloads, jobs, events, volumes and bindings. */
#include <ctype.h>
#include <kinformer/timestamp.h>
#include <string.h>

#include "apiserver/show/table_parts.h"
#include "apiserver/value/age.h"
#include "apiserver/value/tree.h"

int ki_as_cell_ready_of_replicas(const json_t *tree, int64_t now, ki_buf *out)
{
    (void)now;
    return ki_as_cell_printf(out, "%lld/%lld", (long long)ki_as_tree_integer(tree, "status.readyReplicas", 0),
                             (long long)ki_as_tree_integer(tree, "spec.replicas", 0));
}

static bool has_condition(const json_t *tree, const char *type)
{
    const json_t *condition = ki_as_tree_find(tree, "status.conditions", "type", type);
    return strcmp(ki_as_tree_text(condition, "status"), "True") == 0;
}

int ki_as_cell_job_status(const json_t *tree, int64_t now, ki_buf *out)
{
    (void)now;
    const char *status = "Running";
    if (has_condition(tree, "Complete"))
        status = "Complete";
    else if (has_condition(tree, "Failed"))
        status = "Failed";
    else if (ki_as_tree_at(tree, "metadata.deletionTimestamp") != NULL)
        status = "Terminating";
    else if (has_condition(tree, "Suspended"))
        status = "Suspended";
    else if (has_condition(tree, "FailureTarget"))
        status = "FailureTarget";
    else if (has_condition(tree, "SuccessCriteriaMet"))
        status = "SuccessCriteriaMet";
    return ki_as_cell_printf(out, "%s", status);
}

int ki_as_cell_job_completions(const json_t *tree, int64_t now, ki_buf *out)
{
    (void)now;
    long long done = ki_as_tree_integer(tree, "status.succeeded", 0);
    long long wanted = ki_as_tree_integer(tree, "spec.completions", -1);
    long long parallel = ki_as_tree_integer(tree, "spec.parallelism", 0);
    if (wanted >= 0)
        return ki_as_cell_printf(out, "%lld/%lld", done, wanted);
    if (parallel > 1)
        return ki_as_cell_printf(out, "%lld/1 of %lld", done, parallel);
    return ki_as_cell_printf(out, "%lld/1", done);
}

int ki_as_cell_job_duration(const json_t *tree, int64_t now, ki_buf *out)
{
    ki_timestamp start, end = {.seconds = now};
    char text[KI_AS_AGE_BYTES];
    if (ki_timestamp_parse(ki_as_json_str(ki_as_tree_at(tree, "status.startTime")), &start) < 0)
        return 0;
    (void)ki_timestamp_parse(ki_as_json_str(ki_as_tree_at(tree, "status.completionTime")), &end);
    ki_as_duration_write(end.seconds - start.seconds, text);
    return ki_as_cell_printf(out, "%s", text);
}

/* ---- events -------------------------------------------------------------------------------------------- */

/* The age of the first time that is set at one of the paths. */
static int first_age(const json_t *tree, int64_t now, ki_buf *out, const char *const paths[])
{
    ki_str since = {0};
    for (size_t i = 0; paths[i] != NULL && since.len == 0; i++)
        since = ki_as_json_str(ki_as_tree_at(tree, paths[i]));
    return ki_as_cell_age(out, since, now);
}

/* A text, although the column's type is boolean. */
int ki_as_cell_suspended(const json_t *tree, int64_t now, ki_buf *out)
{
    (void)now;
    return ki_as_cell_add(out, "",
                          ki_as_tree_is_true(tree, "spec.suspend") ? KI_STR("True") : KI_STR("False"));
}

int ki_as_cell_event_first(const json_t *tree, int64_t now, ki_buf *out)
{
    static const char *const paths[] = {"firstTimestamp", "deprecatedFirstTimestamp", "eventTime", NULL};
    return first_age(tree, now, out, paths);
}

int ki_as_cell_event_last(const json_t *tree, int64_t now, ki_buf *out)
{
    static const char *const paths[] = {"series.lastObservedTime",
                                        "lastTimestamp",
                                        "deprecatedLastTimestamp",
                                        "firstTimestamp",
                                        "deprecatedFirstTimestamp",
                                        "eventTime",
                                        NULL};
    return first_age(tree, now, out, paths);
}

int ki_as_cell_event_object(const json_t *tree, int64_t now, ki_buf *out)
{
    (void)now;
    const json_t *object = json_object_get(tree, "involvedObject");
    object = object == NULL ? json_object_get(tree, "regarding") : object;
    const char *name = ki_as_tree_text(object, "name");
    int rc = 0;
    for (const char *c = ki_as_tree_text(object, "kind"); *c != 0 && rc == 0; c++)
        rc = ki_buf_append_byte(out, (char)tolower((unsigned char)*c));
    return rc < 0 || name[0] == 0 ? rc : ki_as_cell_printf(out, "/%s", name);
}

int ki_as_cell_event_source(const json_t *tree, int64_t now, ki_buf *out)
{
    (void)now;
    const char *component = ki_as_tree_text(tree, "source.component");
    const char *host = ki_as_tree_text(tree, "source.host");
    if (component[0] == 0)
        component = ki_as_tree_text(tree, "reportingComponent");
    if (component[0] == 0)
        component = ki_as_tree_text(tree, "reportingController");
    if (host[0] == 0)
        host = ki_as_tree_text(tree, "reportingInstance");
    return ki_as_cell_printf(out, "%s%s%s", component, host[0] == 0 ? "" : ", ", host);
}

int ki_as_cell_event_count(const json_t *tree, int64_t now, ki_buf *out)
{
    (void)now;
    int64_t count = ki_as_tree_integer(tree, "series.count", 0);
    if (count == 0)
        count = ki_as_tree_integer(tree, "count", ki_as_tree_integer(tree, "deprecatedCount", 0));
    return ki_as_cell_printf(out, "%lld", count == 0 ? 1 : (long long)count);
}

/* ---- volumes and bindings ------------------------------------------------------------------------------ */

int ki_as_cell_phase(const json_t *tree, int64_t now, ki_buf *out)
{
    (void)now;
    bool is_deleted = ki_as_tree_at(tree, "metadata.deletionTimestamp") != NULL;
    return ki_as_cell_printf(out, "%s", is_deleted ? "Terminating" : ki_as_tree_text(tree, "status.phase"));
}

int ki_as_cell_volume_claim(const json_t *tree, int64_t now, ki_buf *out)
{
    (void)now;
    if (ki_as_tree_at(tree, "spec.claimRef") == NULL)
        return 0;
    return ki_as_cell_printf(out, "%s/%s", ki_as_tree_text(tree, "spec.claimRef.namespace"),
                             ki_as_tree_text(tree, "spec.claimRef.name"));
}

static bool is_bound(const json_t *tree)
{
    return ki_as_tree_text(tree, "spec.volumeName")[0] != 0;
}

int ki_as_cell_claim_capacity(const json_t *tree, int64_t now, ki_buf *out)
{
    (void)now;
    return is_bound(tree) ? ki_as_cell_printf(out, "%s", ki_as_tree_text(tree, "status.capacity.storage"))
                          : 0;
}

int ki_as_cell_claim_modes(const json_t *tree, int64_t now, ki_buf *out)
{
    (void)now;
    return is_bound(tree) ? ki_as_cell_modes(out, ki_as_tree_at(tree, "status.accessModes")) : 0;
}

int ki_as_cell_role(const json_t *tree, int64_t now, ki_buf *out)
{
    (void)now;
    return ki_as_cell_printf(out, "%s/%s", ki_as_tree_text(tree, "roleRef.kind"),
                             ki_as_tree_text(tree, "roleRef.name"));
}

int ki_as_cell_scale_target(const json_t *tree, int64_t now, ki_buf *out)
{
    (void)now;
    return ki_as_cell_printf(out, "%s/%s", ki_as_tree_text(tree, "spec.scaleTargetRef.kind"),
                             ki_as_tree_text(tree, "spec.scaleTargetRef.name"));
}
