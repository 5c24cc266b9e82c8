/* SPDX-License-Identifier: Apache-2.0 */
/* What is measured, and what is wanted: "cpu: 30%/80%". */
#include <kinformer/error.h>
#include <string.h>

#include "apiserver/convert_parts.h"
#include "apiserver/table_parts.h"
#include "apiserver/tree.h"

enum { SHOWN_MAX = 2 };

/* The member of a metric that its type names. */
static const char *source_of(const json_t *metric)
{
    static const char *const names[][2] = {{"Object", "object"},
                                           {"Pods", "pods"},
                                           {"Resource", "resource"},
                                           {"ContainerResource", "containerResource"},
                                           {"External", "external"}};
    const char *type = ki_as_tree_text(metric, "type");
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(names[i][0], type) == 0)
            return names[i][1];
    return NULL;
}

static int write_value(ki_buf *out, const json_t *values, const char *name)
{
    const json_t *value = json_object_get(values, name);
    if (json_is_integer(value) && strcmp(name, "averageUtilization") == 0)
        return ki_as_cell_printf(out, "%lld%%", (long long)json_integer_value(value));
    if (json_is_integer(value))
        return ki_as_cell_printf(out, "%lld", (long long)json_integer_value(value));
    return ki_as_cell_printf(out, "%s", json_is_string(value) ? json_string_value(value) : "<unknown>");
}

static int write_metric(ki_buf *out, const json_t *wanted, const json_t *measured)
{
    const char *source = source_of(wanted);
    const json_t *of = source == NULL ? NULL : json_object_get(wanted, source);
    const json_t *target = json_object_get(of, "target");
    const json_t *current =
        json_object_get(source == NULL ? NULL : json_object_get(measured, source), "current");
    bool is_average = json_object_get(target, "averageValue") != NULL;
    bool has_name = json_object_get(of, "name") != NULL;
    bool is_of_pods = source != NULL && strcmp(source, "pods") == 0;
    if (source == NULL)
        return ki_as_cell_add(out, ", ", KI_STR("<unknown type>"));
    const char *name = is_average || is_of_pods ? "averageValue" : has_name ? "averageUtilization" : "value";
    const char *end = is_average && !has_name && !is_of_pods ? " (avg)" : "";
    int rc = ki_as_cell_printf(out, "%s%s%s", out->len == 0 ? "" : ", ",
                               has_name ? ki_as_tree_text(of, "name") : "", has_name ? ": " : "");
    if (rc == 0)
        rc = write_value(out, current, name);
    if (rc == 0)
        rc = ki_buf_append_byte(out, '/');
    if (rc == 0)
        rc = write_value(out, target, name);
    return rc == 0 ? ki_buf_append_str(out, ki_str_of(end)) : rc;
}

static int write_metrics(const json_t *tree, ki_buf *out)
{
    const json_t *wanted = ki_as_tree_at(tree, "spec.metrics");
    const json_t *measured = ki_as_tree_at(tree, "status.currentMetrics");
    size_t count = json_array_size(wanted);
    int rc = count == 0 ? ki_buf_append_str(out, KI_STR("<none>")) : 0;
    for (size_t i = 0; rc == 0 && i < count && i < SHOWN_MAX; i++)
        rc = write_metric(out, json_array_get(wanted, i), json_array_get(measured, i));
    if (rc == 0 && count > SHOWN_MAX)
        rc = ki_as_cell_printf(out, " + %zu more...", count - SHOWN_MAX);
    return rc;
}

int ki_as_cell_scale_metrics(const json_t *tree, int64_t now, ki_buf *out)
{
    (void)now;
    if (strcmp(ki_as_tree_text(tree, "apiVersion"), "autoscaling/v1") != 0)
        return write_metrics(tree, out);
    json_t *kept = ki_as_json_copy(tree);
    int rc = kept == NULL ? KI_ERR_NO_MEMORY : ki_as_autoscaler_keep(kept);
    if (rc == 0)
        rc = write_metrics(kept, out);
    json_decref(kept);
    return rc;
}
