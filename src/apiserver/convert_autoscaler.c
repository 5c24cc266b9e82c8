/* SPDX-License-Identifier: Apache-2.0 */
/* HorizontalPodAutoscalers are kept as autoscaling/v2 has them. In autoscaling/v1 the utilization of the
 * processor has a field of its own; everything else is the JSON of an annotation, in which metrics have the
 * names of the time before v2, and the behavior begins its names with capitals. */
#include <ctype.h>
#include <kinformer/error.h>
#include <string.h>

#include "apiserver/convert_parts.h"
#include "apiserver/decode.h"
#include "apiserver/encode.h"
#include "apiserver/tree.h"
#include "apiserver/validate_parts.h"
#include "util/alloc.h"

#define PREFIX "autoscaling.alpha.kubernetes.io/"
#define METRICS PREFIX "metrics"
#define CURRENT_METRICS PREFIX "current-metrics"
#define CONDITIONS PREFIX "conditions"
#define BEHAVIOR PREFIX "behavior"

/* Of annotations: more than all of them together may have. */
#define ANNOTATION_BYTES_MAX ((size_t)16 << 20)

const struct ki_as_resource ki_as_autoscaler_kept = {.group = "autoscaling",
                                                     .version = "v2",
                                                     .plural = "horizontalpodautoscalers",
                                                     .kind = "HorizontalPodAutoscaler",
                                                     .api_version = "autoscaling/v2",
                                                     .is_namespaced = true,
                                                     .has_status = true};

/* ---- metrics ------------------------------------------------------------------------------------------- */

/* A value of a metric: where v2 has it, and what the annotation calls it. */
struct field {
    const char *source; /* the member of the metric that both are in */
    const char *path;
    const char *name;
    bool is_always; /* the annotation says "0" where there is none */
};

static const struct field wanted[] = {
    {"object", "describedObject", "target", false},
    {"object", "metric.name", "metricName", false},
    {"object", "target.value", "targetValue", true},
    {"object", "metric.selector", "selector", false},
    {"object", "target.averageValue", "averageValue", false},
    {"pods", "metric.name", "metricName", false},
    {"pods", "target.averageValue", "targetAverageValue", false},
    {"pods", "metric.selector", "selector", false},
    {"resource", "name", "name", false},
    {"resource", "target.averageUtilization", "targetAverageUtilization", false},
    {"resource", "target.averageValue", "targetAverageValue", false},
    {"containerResource", "name", "name", false},
    {"containerResource", "target.averageUtilization", "targetAverageUtilization", false},
    {"containerResource", "target.averageValue", "targetAverageValue", false},
    {"containerResource", "container", "container", false},
    {"external", "metric.name", "metricName", false},
    {"external", "metric.selector", "metricSelector", false},
    {"external", "target.value", "targetValue", false},
    {"external", "target.averageValue", "targetAverageValue", false},
    {NULL, NULL, NULL, false},
};

static const struct field measured[] = {
    {"object", "describedObject", "target", false},
    {"object", "metric.name", "metricName", false},
    {"object", "current.value", "currentValue", true},
    {"object", "metric.selector", "selector", false},
    {"object", "current.averageValue", "averageValue", false},
    {"pods", "metric.name", "metricName", false},
    {"pods", "current.averageValue", "currentAverageValue", true},
    {"pods", "metric.selector", "selector", false},
    {"resource", "name", "name", false},
    {"resource", "current.averageUtilization", "currentAverageUtilization", false},
    {"resource", "current.averageValue", "currentAverageValue", true},
    {"containerResource", "name", "name", false},
    {"containerResource", "current.averageUtilization", "currentAverageUtilization", false},
    {"containerResource", "current.averageValue", "currentAverageValue", true},
    {"containerResource", "container", "container", false},
    {"external", "metric.name", "metricName", false},
    {"external", "metric.selector", "metricSelector", false},
    {"external", "current.value", "currentValue", true},
    {"external", "current.averageValue", "currentAverageValue", false},
    {NULL, NULL, NULL, false},
};

static int convert_field(const struct field *field, const json_t *from, json_t *to, bool is_shown)
{
    json_t *value = is_shown ? ki_as_tree_at(from, field->path) : json_object_get(from, field->name);
    if (value != NULL && !json_is_null(value))
        return ki_as_tree_default(to, is_shown ? field->name : field->path, json_incref(value));
    return is_shown && field->is_always ? ki_as_tree_default(to, field->name, json_string("0")) : 0;
}

/* The annotation says it by the value that is there. A "0" beside an average is none. */
static int name_target(json_t *source)
{
    json_t *target = json_object_get(source, "target");
    bool is_average = json_object_get(target, "averageValue") != NULL;
    bool is_utilization = json_object_get(target, "averageUtilization") != NULL;
    if (target == NULL)
        return 0;
    if (is_average && strcmp(ki_as_tree_text(target, "value"), "0") == 0)
        (void)json_object_del(target, "value");
    return ki_as_tree_default(target, "type",
                              json_string(is_utilization ? "Utilization"
                                          : is_average   ? "AverageValue"
                                                         : "Value"));
}

/* NULL without memory. */
static json_t *convert_metric(const json_t *metric, const struct field *fields, bool is_shown)
{
    json_t *out = json_object();
    json_t *type = json_object_get(metric, "type");
    int rc = type == NULL ? 0 : json_object_set(out, "type", type);
    for (const struct field *field = fields; rc == 0 && field->source != NULL; field++) {
        const json_t *from = json_object_get(metric, field->source);
        json_t *to = NULL;
        if (!json_is_object(from))
            continue;
        rc = ki_as_tree_object(out, field->source, &to);
        if (rc == 0)
            rc = convert_field(field, from, to, is_shown);
        bool is_last = field[1].source == NULL || strcmp(field[1].source, field->source) != 0;
        if (rc == 0 && is_last && !is_shown && fields == wanted)
            rc = name_target(to);
    }
    if (rc == 0)
        return out;
    json_decref(out);
    return NULL;
}

static json_t *convert_metrics(const json_t *metrics, const struct field *fields, bool is_shown)
{
    json_t *out = json_array();
    size_t index = 0;
    json_t *metric = NULL;
    json_array_foreach(metrics, index, metric)
    {
        if (json_array_append_new(out, convert_metric(metric, fields, is_shown)) < 0) {
            json_decref(out);
            return NULL;
        }
    }
    return out;
}

static bool is_cpu(const json_t *metric)
{
    return strcmp(ki_as_tree_text(metric, "type"), "Resource") == 0 &&
           strcmp(ki_as_tree_text(metric, "resource.name"), "cpu") == 0;
}

static json_t *cpu_metric(bool is_wanted, json_t *utilization)
{
    json_t *values = is_wanted
                         ? json_pack("{s:s, s:O}", "type", "Utilization", "averageUtilization", utilization)
                         : json_pack("{s:O}", "averageUtilization", utilization);
    return json_pack("{s:s, s:{s:s, s:o}}", "type", "Resource", "resource", "name", "cpu",
                     is_wanted ? "target" : "current", values);
}

/* Takes `value` over. */
static int set_recased(json_t *object, const char *name, json_t *value, int (*change)(int))
{
    ki_str as_it_is = ki_str_of(name);
    char *other = ki_malloc(as_it_is.len + 1);
    if (other == NULL) {
        json_decref(value);
        return KI_ERR_NO_MEMORY;
    }
    memcpy(other, name, as_it_is.len + 1);
    other[0] = (char)change((unsigned char)other[0]);
    int rc = json_object_set_new(object, other, value);
    ki_free(other);
    return rc;
}

/* Names begin with a capital in Go, where they are those of the annotation. NULL without memory. */
static json_t *recase(const json_t *value, int (*change)(int))
{
    const char *name = NULL;
    size_t index = 0;
    json_t *member = NULL;
    json_t *out = NULL;
    int rc = 0;
    if (!json_is_object(value) && !json_is_array(value))
        return json_incref((json_t *)value);
    if (json_is_array(value)) {
        out = json_array();
        json_array_foreach(value, index, member) rc |= json_array_append_new(out, recase(member, change));
    } else {
        out = json_object();
        json_object_foreach((json_t *)value, name, member)
        {
            rc |= json_is_null(member) ? 0 : set_recased(out, name, recase(member, change), change);
        }
    }
    if (rc == 0)
        return out;
    json_decref(out);
    return NULL;
}

/* ---- as v1 shows it ------------------------------------------------------------------------------------ */

static json_t *text_of(const json_t *value)
{
    ki_buf text;
    ki_buf_init(&text, ANNOTATION_BYTES_MAX);
    json_t *out = ki_as_encode(&text, value) < 0 ? NULL : json_stringn(text.data, text.len);
    ki_buf_fini(&text);
    return out;
}

/* Takes `value` over. One that is empty needs no annotation. */
static int annotate(json_t *tree, const char *name, json_t *value)
{
    json_t *annotations = NULL;
    int rc = value == NULL ? KI_ERR_NO_MEMORY : 0;
    bool is_none = json_is_array(value) ? json_array_size(value) == 0 : json_is_null(value);
    if (rc == 0 && !is_none)
        rc = ki_as_tree_object(tree, "metadata.annotations", &annotations);
    if (rc == 0 && annotations != NULL && json_object_set_new(annotations, name, text_of(value)) < 0)
        rc = KI_ERR_NO_MEMORY;
    json_decref(value);
    return rc;
}

/* The utilization of the first metric of the processor has a field. */
static int show_wanted(json_t *tree)
{
    json_t *spec = json_object_get(tree, "spec");
    json_t *others = json_array();
    const json_t *cpu = NULL;
    size_t index = 0;
    json_t *metric = NULL;
    int rc = others == NULL ? KI_ERR_NO_MEMORY : 0;
    json_array_foreach(json_object_get(spec, "metrics"), index, metric)
    {
        json_t *utilization = ki_as_tree_at(metric, "resource.target.averageUtilization");
        if (!is_cpu(metric) || utilization == NULL)
            rc |= json_array_append(others, metric);
        else if (cpu == NULL)
            rc |= json_object_set(spec, "targetCPUUtilizationPercentage", utilization);
        cpu = cpu == NULL && is_cpu(metric) ? metric : cpu;
    }
    if (rc == 0)
        rc = annotate(tree, METRICS, convert_metrics(others, wanted, true));
    json_decref(others);
    (void)json_object_del(spec, "metrics");
    return rc < 0 ? KI_ERR_NO_MEMORY : 0;
}

static int show_measured(json_t *tree)
{
    json_t *status = json_object_get(tree, "status");
    const json_t *metrics = json_object_get(status, "currentMetrics");
    size_t index = 0;
    json_t *metric = NULL;
    json_array_foreach(metrics, index, metric)
    {
        json_t *utilization = ki_as_tree_at(metric, "resource.current.averageUtilization");
        if (is_cpu(metric) && utilization != NULL &&
            json_object_set(status, "currentCPUUtilizationPercentage", utilization) < 0)
            return KI_ERR_NO_MEMORY;
    }
    int rc = annotate(tree, CURRENT_METRICS, convert_metrics(metrics, measured, true));
    (void)json_object_del(status, "currentMetrics");
    return rc;
}

/* Moves what both forms have the same names for, or nearly so. */
static int show_as_text(json_t *tree, const char *half, const char *member, const char *name)
{
    json_t *parent = json_object_get(tree, half);
    const json_t *value = json_object_get(parent, member);
    bool has_capitals = strcmp(name, BEHAVIOR) == 0;
    if (value == NULL)
        return 0;
    int rc = annotate(tree, name, has_capitals ? recase(value, toupper) : json_incref((json_t *)value));
    (void)json_object_del(parent, member);
    return rc;
}

int ki_as_autoscaler_show(json_t *tree)
{
    ki_as_autoscaler_tidy(tree);
    int rc = show_wanted(tree);
    if (rc == 0)
        rc = show_measured(tree);
    if (rc == 0)
        rc = show_as_text(tree, "spec", "behavior", BEHAVIOR);
    return rc == 0 ? show_as_text(tree, "status", "conditions", CONDITIONS) : rc;
}

/* ---- as it is kept ------------------------------------------------------------------------------------- */

/* What the annotation says, NULL when it is no JSON: it is anybody's text. 0 or KI_ERR_NO_MEMORY. */
static int read_annotation(const json_t *tree, const char *name, json_t **out)
{
    json_error_t error = {0};
    const json_t *annotations = ki_as_tree_at(tree, "metadata.annotations");
    ki_str text = ki_as_json_str(json_object_get(annotations, name));
    *out = text.len == 0 ? NULL : ki_as_decode_body(text, NULL, &error);
    /* jansson has a word for every other mistake. */
    return text.len > 0 && *out == NULL && error.text[0] == '\0' ? KI_ERR_NO_MEMORY : 0;
}

/* Puts `value` (taken over) where v2 has it, unless it is nothing that v2 could have there. */
static int put_read(json_t *tree, const char *half, const char *member, json_t *value)
{
    struct ki_as_failure failure = {0};
    json_t *parent = NULL;
    json_t *alone = json_pack("{s:{s:O}}", half, member, value);
    int rc = alone == NULL ? KI_ERR_NO_MEMORY : 0;
    bool is_sound = rc == 0 && ki_as_check_types(&ki_as_autoscaler_kept, alone, NULL, &failure) == 0;
    if (is_sound)
        rc = ki_as_tree_object(tree, half, &parent);
    if (parent != NULL && json_object_set(parent, member, value) < 0)
        rc = KI_ERR_NO_MEMORY;
    ki_as_failure_fini(&failure);
    json_decref(alone);
    json_decref(value);
    return rc;
}

/* A list of metrics of the annotation; the one of the field follows, or has no room beside it. */
static int keep_metrics(json_t *tree, const char *half, const char *member, const struct field *fields)
{
    bool is_wanted = fields == wanted;
    const char *name = is_wanted ? "targetCPUUtilizationPercentage" : "currentCPUUtilizationPercentage";
    json_t *parent = json_object_get(tree, half);
    json_t *cpu = json_object_get(parent, name);
    json_t *read = NULL;
    json_t *metrics = NULL;
    int rc = read_annotation(tree, is_wanted ? METRICS : CURRENT_METRICS, &read);
    if (rc == 0 && json_is_array(read))
        rc = put_read(tree, half, member, convert_metrics(read, fields, false));
    json_decref(read);
    metrics = json_object_get(parent, member);
    if (rc == 0 && cpu != NULL && (is_wanted || metrics == NULL)) {
        json_t *all = metrics == NULL ? json_array() : json_incref(metrics);
        rc = json_array_append_new(all, cpu_metric(is_wanted, cpu));
        if (rc == 0)
            rc = json_object_set(parent, member, all);
        json_decref(all);
    }
    (void)json_object_del(parent, name);
    return rc < 0 ? KI_ERR_NO_MEMORY : 0;
}

int ki_as_autoscaler_keep(json_t *tree)
{
    int rc = keep_metrics(tree, "spec", "metrics", wanted);
    if (rc == 0)
        rc = keep_metrics(tree, "status", "currentMetrics", measured);
    json_t *behavior = NULL;
    if (rc == 0)
        rc = read_annotation(tree, BEHAVIOR, &behavior);
    if (rc == 0 && json_object_size(behavior) > 0)
        rc = put_read(tree, "spec", "behavior", recase(behavior, tolower));
    json_decref(behavior);
    json_t *conditions = NULL;
    if (rc == 0)
        rc = read_annotation(tree, CONDITIONS, &conditions);
    if (rc == 0 && json_array_size(conditions) > 0)
        rc = put_read(tree, "status", "conditions", json_incref(conditions));
    json_decref(conditions);
    ki_as_autoscaler_tidy(tree);
    return rc;
}

void ki_as_autoscaler_tidy(json_t *tree)
{
    static const char *const names[] = {METRICS, CURRENT_METRICS, CONDITIONS, BEHAVIOR};
    json_t *metadata = json_object_get(tree, "metadata");
    json_t *annotations = json_object_get(metadata, "annotations");
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        (void)json_object_del(annotations, names[i]);
    if (json_is_object(annotations) && json_object_size(annotations) == 0)
        (void)json_object_del(metadata, "annotations");
}
