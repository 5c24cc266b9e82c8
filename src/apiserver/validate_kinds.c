/* SPDX-License-Identifier: Apache-2.0 */
/* What Kubernetes demands of the kinds that people meet first. Others pass with good metadata and fields
 * of the right type. */
#include <string.h>

#include "apiserver/tree.h"
#include "apiserver/validate_parts.h"

/* ---- workloads
 * ------------------------------------------------------------------------------------------- */

static bool is_in_values(const json_t *values, const json_t *value)
{
    size_t index = 0;
    json_t *one = NULL;
    json_array_foreach(values, index, one)
    {
        if (value != NULL && json_equal(one, value))
            return true;
    }
    return false;
}

static bool meets(const json_t *expression, const json_t *labels)
{
    const json_t *value = ki_as_json_member(labels, ki_as_json_str(json_object_get(expression, "key")));
    const json_t *values = json_object_get(expression, "values");
    const char *name = ki_as_tree_text(expression, "operator");
    if (strcmp(name, "In") == 0)
        return is_in_values(values, value);
    if (strcmp(name, "NotIn") == 0)
        return !is_in_values(values, value);
    if (strcmp(name, "Exists") == 0)
        return value != NULL;
    return strcmp(name, "DoesNotExist") == 0 && value == NULL;
}

static bool selects(const json_t *selector, const json_t *labels)
{
    const char *key = NULL;
    json_t *wanted = NULL;
    size_t index = 0;
    json_t *expression = NULL;
    json_object_foreach(json_object_get(selector, "matchLabels"), key, wanted)
    {
        const json_t *value = json_object_get(labels, key);
        if (value == NULL || !json_equal(value, wanted))
            return false;
    }
    json_array_foreach(json_object_get(selector, "matchExpressions"), index, expression)
    {
        if (!meets(expression, labels))
            return false;
    }
    return true;
}

static bool is_empty_selector(const json_t *selector)
{
    return json_object_size(json_object_get(selector, "matchLabels")) == 0 &&
           json_array_size(json_object_get(selector, "matchExpressions")) == 0;
}

/* `claims` are those of which each pod gets its own, or NULL. */
static void check_template(struct ki_as_check *check, const struct ki_as_path *path, const json_t *template,
                           const json_t *claims)
{
    const struct ki_as_path *metadata = KI_AS_MEMBER(path, "metadata");
    ki_as_check_labels(check, KI_AS_MEMBER(metadata, "labels"), ki_as_tree_at(template, "metadata.labels"));
    ki_as_check_pod_spec(check, KI_AS_MEMBER(path, "spec"), json_object_get(template, "spec"), claims);
}

/* `complaint` is what an empty selector is told. */
static void check_workload(struct ki_as_check *check, const json_t *spec, const char *complaint)
{
    const struct ki_as_path *path = KI_AS_PATH("spec");
    const json_t *selector = json_object_get(spec, "selector");
    const json_t *template = json_object_get(spec, "template");
    const json_t *labels = ki_as_tree_at(template, "metadata.labels");
    const json_t *restart_policy = ki_as_tree_at(template, "spec.restartPolicy");
    static const char *const always[] = {"Always", NULL};
    ki_as_check_not_negative(check, KI_AS_MEMBER(path, "replicas"), json_object_get(spec, "replicas"));
    ki_as_check_not_negative(check, KI_AS_MEMBER(path, "minReadySeconds"),
                             json_object_get(spec, "minReadySeconds"));
    if (selector == NULL)
        ki_as_check_required(check, KI_AS_MEMBER(path, "selector"), "");
    else if (is_empty_selector(selector))
        ki_as_check_invalid(check, KI_AS_MEMBER(path, "selector"), selector, complaint);
    if (selector != NULL && !is_empty_selector(selector) && !selects(selector, labels))
        ki_as_check_invalid(check, KI_AS_PATH("spec.template.metadata.labels"), labels,
                            "`selector` does not match template `labels`");
    check_template(check, KI_AS_MEMBER(path, "template"), template,
                   json_object_get(spec, "volumeClaimTemplates"));
    ki_as_check_one_of(check, KI_AS_PATH("spec.template.spec.restartPolicy"), restart_policy, always);
}

/* Of pods that a rollout may take or add. */
static bool is_nothing(const json_t *share)
{
    return (json_is_integer(share) && json_integer_value(share) == 0) ||
           ki_str_equal(ki_as_json_str(share), KI_STR("0%"));
}

static void check_deployment(struct ki_as_check *check, const json_t *tree)
{
    static const char *const types[] = {"Recreate", "RollingUpdate", NULL};
    check_workload(check, json_object_get(tree, "spec"), "empty selector is invalid for deployment");
    const json_t *type = ki_as_tree_at(tree, "spec.strategy.type");
    ki_as_check_one_of(check, KI_AS_PATH("spec.strategy.type"), type, types);
    if (strcmp(ki_as_tree_text(tree, "spec.strategy.type"), "Recreate") == 0 &&
        ki_as_tree_at(tree, "spec.strategy.rollingUpdate") != NULL)
        ki_as_check_forbidden(check, KI_AS_PATH("spec.strategy.rollingUpdate"),
                              "may not be specified when strategy `type` is 'Recreate'");
    const json_t *deadline = ki_as_tree_at(tree, "spec.progressDeadlineSeconds");
    if (json_is_integer(deadline) &&
        json_integer_value(deadline) <= ki_as_tree_integer(tree, "spec.minReadySeconds", 0))
        ki_as_check_invalid(check, KI_AS_PATH("spec.progressDeadlineSeconds"), deadline,
                            "must be greater than minReadySeconds");
    const json_t *unavailable = ki_as_tree_at(tree, "spec.strategy.rollingUpdate.maxUnavailable");
    if (is_nothing(unavailable) && is_nothing(ki_as_tree_at(tree, "spec.strategy.rollingUpdate.maxSurge")))
        ki_as_check_invalid(check, KI_AS_PATH("spec.strategy.rollingUpdate.maxUnavailable"), unavailable,
                            "may not be 0 when `maxSurge` is 0");
}

/* A selector is a map here, and what it may lack is taken from the template. */
static void check_controller(struct ki_as_check *check, const json_t *tree)
{
    static const char *const always[] = {"Always", NULL};
    const json_t *selector = ki_as_tree_at(tree, "spec.selector");
    const json_t *template = ki_as_tree_at(tree, "spec.template");
    const json_t *labels = ki_as_tree_at(template, "metadata.labels");
    const char *key = NULL;
    json_t *wanted = NULL;
    bool is_met = true;
    if (json_object_size(selector) == 0)
        ki_as_check_required(check, KI_AS_PATH("spec.selector"), "");
    if (template == NULL) {
        ki_as_check_required(check, KI_AS_PATH("spec.template"), "");
        return;
    }
    json_object_foreach((json_t *)selector, key, wanted)
    {
        const json_t *value = json_object_get(labels, key);
        is_met = is_met && value != NULL && json_equal(value, wanted);
    }
    if (!is_met)
        ki_as_check_invalid(check, KI_AS_PATH("spec.template.metadata.labels"), labels,
                            "`selector` does not match template `labels`");
    check_template(check, KI_AS_PATH("spec.template"), template, NULL);
    ki_as_check_one_of(check, KI_AS_PATH("spec.template.spec.restartPolicy"),
                       ki_as_tree_at(template, "spec.restartPolicy"), always);
}

static void check_replica_set(struct ki_as_check *check, const json_t *tree)
{
    check_workload(check, json_object_get(tree, "spec"), "empty selector is invalid for deployment");
}

static void check_daemon_set(struct ki_as_check *check, const json_t *tree)
{
    check_workload(check, json_object_get(tree, "spec"), "empty selector is invalid for daemonset");
}

static void check_stateful_set(struct ki_as_check *check, const json_t *tree)
{
    check_workload(check, json_object_get(tree, "spec"), "empty selector is invalid for statefulset");
}

static void check_job_spec(struct ki_as_check *check, const struct ki_as_path *path, const json_t *spec)
{
    static const char *const counts[] = {"parallelism", "completions", "backoffLimit",
                                         "activeDeadlineSeconds", "ttlSecondsAfterFinished"};
    static const char *const policies[] = {"OnFailure", "Never", NULL};
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        ki_as_check_not_negative(check, KI_AS_MEMBER(path, counts[i]), json_object_get(spec, counts[i]));
    const struct ki_as_path *template = KI_AS_MEMBER(path, "template");
    const struct ki_as_path *template_spec = KI_AS_MEMBER(template, "spec");
    check_template(check, template, json_object_get(spec, "template"), NULL);
    const char *policy = ki_as_tree_text(spec, "template.spec.restartPolicy");
    if (policy[0] == 0 || strcmp(policy, "Always") == 0)
        ki_as_check_required(check, KI_AS_MEMBER(template_spec, "restartPolicy"),
                             "valid values: \"OnFailure\", \"Never\"");
    else
        ki_as_check_one_of(check, KI_AS_MEMBER(template_spec, "restartPolicy"),
                           ki_as_tree_at(spec, "template.spec.restartPolicy"), policies);
}

static void check_job(struct ki_as_check *check, const json_t *tree)
{
    const json_t *selector = ki_as_tree_at(tree, "spec.selector");
    /* That of its uid alone is not its own. */
    if (!ki_as_tree_is_true(tree, "spec.manualSelector") &&
        json_object_size(json_object_get(selector, "matchLabels")) > 1)
        ki_as_check_invalid(check, KI_AS_PATH("spec.selector"), selector, "`selector` not auto-generated");
    check_job_spec(check, KI_AS_PATH("spec"), json_object_get(tree, "spec"));
}

enum { CRON_NAME_MAX = 52 };

static void check_cron_job(struct ki_as_check *check, const json_t *tree)
{
    static const char *const policies[] = {"Allow", "Forbid", "Replace", NULL};
    if (ki_as_tree_text(tree, "spec.schedule")[0] == 0)
        ki_as_check_required(check, KI_AS_PATH("spec.schedule"), "");
    /* Its jobs have names that are eleven characters longer. */
    ki_str name = ki_as_json_str(ki_as_tree_at(tree, "metadata.name"));
    if (name.len > CRON_NAME_MAX)
        ki_as_check_invalid_text(check, KI_AS_PATH("metadata.name"), name,
                                 "must be no more than 52 characters");
    ki_as_check_one_of(check, KI_AS_PATH("spec.concurrencyPolicy"),
                       ki_as_tree_at(tree, "spec.concurrencyPolicy"), policies);
    check_job_spec(check, KI_AS_PATH("spec.jobTemplate.spec"), ki_as_tree_at(tree, "spec.jobTemplate.spec"));
}

static void check_pod(struct ki_as_check *check, const json_t *tree)
{
    ki_as_check_pod_spec(check, KI_AS_PATH("spec"), json_object_get(tree, "spec"), NULL);
}

/* ---- configuration and storage
 * --------------------------------------------------------------------------- */

enum { DATA_BYTES_MAX = 1024 * 1024 };

static size_t check_keys(struct ki_as_check *check, const struct ki_as_path *path, const json_t *data)
{
    size_t bytes = 0;
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach((json_t *)data, key, value)
    {
        ki_as_check_name(check, KI_AS_KEY(path, key), ki_str_of(key), ki_as_check_config_key);
        bytes += json_string_length(value);
    }
    return bytes;
}

static void check_config_map(struct ki_as_check *check, const json_t *tree)
{
    const json_t *data = json_object_get(tree, "data");
    const json_t *binary = json_object_get(tree, "binaryData");
    size_t bytes = check_keys(check, KI_AS_PATH("data"), data);
    bytes += check_keys(check, KI_AS_PATH("binaryData"), binary) / 4 * 3;
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach((json_t *)data, key, value)
    {
        if (json_object_get(binary, key) != NULL)
            ki_as_check_invalid_text(check, KI_AS_KEY(KI_AS_PATH("data"), key), ki_str_of(key),
                                     "duplicate of key present in binaryData");
    }
    if (bytes > DATA_BYTES_MAX)
        ki_as_check_too_long(check, KI_AS_PATH(""), DATA_BYTES_MAX);
}

static void check_secret(struct ki_as_check *check, const json_t *tree)
{
    static const char *const types[][2] = {{"kubernetes.io/dockerconfigjson", ".dockerconfigjson"},
                                           {"kubernetes.io/dockercfg", ".dockercfg"},
                                           {"kubernetes.io/tls", "tls.crt"},
                                           {"kubernetes.io/tls", "tls.key"},
                                           {"kubernetes.io/ssh-auth", "ssh-privatekey"}};
    const json_t *data = json_object_get(tree, "data");
    if (check_keys(check, KI_AS_PATH("data"), data) / 4 * 3 > DATA_BYTES_MAX)
        ki_as_check_too_long(check, KI_AS_PATH("data"), DATA_BYTES_MAX);
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (strcmp(ki_as_tree_text(tree, "type"), types[i][0]) == 0 &&
            json_object_get(data, types[i][1]) == NULL)
            ki_as_check_required(check, KI_AS_KEY(KI_AS_PATH("data"), types[i][1]), "");
    }
}

static void check_claim(struct ki_as_check *check, const json_t *tree)
{
    if (json_array_size(ki_as_tree_at(tree, "spec.accessModes")) == 0)
        ki_as_check_required(check, KI_AS_PATH("spec.accessModes"), "at least 1 access mode is required");
    if (ki_as_tree_at(tree, "spec.resources.requests.storage") == NULL)
        ki_as_check_required(check, KI_AS_KEY(KI_AS_PATH("spec.resources"), "storage"), "");
}

static void check_volume(struct ki_as_check *check, const json_t *tree)
{
    if (json_array_size(ki_as_tree_at(tree, "spec.accessModes")) == 0)
        ki_as_check_required(check, KI_AS_PATH("spec.accessModes"), "");
    if (ki_as_tree_at(tree, "spec.capacity.storage") == NULL)
        ki_as_check_required(check, KI_AS_PATH("spec.capacity"), "");
}

static void check_autoscaler(struct ki_as_check *check, const json_t *tree)
{
    const json_t *most = ki_as_tree_at(tree, "spec.maxReplicas");
    if (!json_is_integer(most) || json_integer_value(most) < 1)
        ki_as_check_invalid(check, KI_AS_PATH("spec.maxReplicas"), most, "must be greater than 0");
    else if (ki_as_tree_integer(tree, "spec.minReplicas", 1) > json_integer_value(most))
        ki_as_check_invalid(check, KI_AS_PATH("spec.maxReplicas"), most,
                            "must be greater than or equal to `minReplicas`");
    if (ki_as_tree_text(tree, "spec.scaleTargetRef.name")[0] == 0)
        ki_as_check_required(check, KI_AS_PATH("spec.scaleTargetRef.name"), "");
    if (ki_as_tree_text(tree, "spec.scaleTargetRef.kind")[0] == 0)
        ki_as_check_required(check, KI_AS_PATH("spec.scaleTargetRef.kind"), "");
}

/* An event is where its object is; what is in no namespace has its events in the default one. */
static void check_event(struct ki_as_check *check, const json_t *tree)
{
    const json_t *given = ki_as_tree_at(tree, "involvedObject.namespace");
    const char *wanted = ki_as_json_str(given).len > 0 ? json_string_value(given) : "default";
    if (strcmp(ki_as_tree_text(tree, "metadata.namespace"), wanted) != 0)
        ki_as_check_invalid_text(check, KI_AS_PATH("involvedObject.namespace"), ki_as_json_str(given),
                                 "does not match event.namespace");
}

void ki_as_check_kind(struct ki_as_check *check, const struct ki_as_resource *resource, const json_t *tree)
{
    static const struct {
        const char *group;
        const char *plural;
        void (*check)(struct ki_as_check *check, const json_t *tree);
    } kinds[] = {
        {"", "pods", check_pod},
        {"", "services", ki_as_check_service},
        {"", "configmaps", check_config_map},
        {"", "events", check_event},
        {"", "replicationcontrollers", check_controller},
        {"", "secrets", check_secret},
        {"", "persistentvolumeclaims", check_claim},
        {"", "persistentvolumes", check_volume},
        {"apps", "deployments", check_deployment},
        {"apps", "replicasets", check_replica_set},
        {"apps", "daemonsets", check_daemon_set},
        {"apps", "statefulsets", check_stateful_set},
        {"batch", "jobs", check_job},
        {"batch", "cronjobs", check_cron_job},
        {"autoscaling", "horizontalpodautoscalers", check_autoscaler},
        {"rbac.authorization.k8s.io", "roles", ki_as_check_role},
        {"rbac.authorization.k8s.io", "clusterroles", ki_as_check_cluster_role},
        {"rbac.authorization.k8s.io", "rolebindings", ki_as_check_binding},
        {"rbac.authorization.k8s.io", "clusterrolebindings", ki_as_check_cluster_binding},
        {"apiextensions.k8s.io", "customresourcedefinitions", ki_as_check_definition},
    };
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (ki_as_is_resource(resource, kinds[i].group, kinds[i].plural))
            kinds[i].check(check, tree);
    }
}
