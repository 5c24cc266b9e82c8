/* SPDX-License-Identifier: Apache-2.0 */
/* Services, and definitions of custom resources: kinds whose objects others depend on. */
#include <string.h>

#include "apiserver/keyed_list.h"
#include "apiserver/tree.h"
#include "apiserver/validate_parts.h"

static void check_target(struct ki_as_check *check, const struct ki_as_path *path, const json_t *target)
{
    if (json_is_integer(target) && json_integer_value(target) != 0)
        ki_as_check_range(check, path, target, 1, 65535);
    else if (ki_as_json_str(target).len > 0)
        ki_as_check_name(check, path, ki_as_json_str(target), ki_as_check_port_name);
}

static void check_service_ports(struct ki_as_check *check, const struct ki_as_path *path, const json_t *ports)
{
    static const char *const protocols[] = {"SCTP", "TCP", "UDP", NULL};
    struct ki_as_identity identity = ki_as_identity_of("name");
    struct ki_as_keyed_list names = {0};
    size_t index = 0;
    json_t *port = NULL;
    if (ki_as_keyed_list_init(&names, &identity, ports, 0) < 0)
        ki_as_check_no_memory(check);
    json_array_foreach(ports, index, port)
    {
        const struct ki_as_path *at = KI_AS_ELEMENT(path, index);
        const json_t *name = json_object_get(port, "name");
        if (ki_as_json_str(name).len > 0)
            ki_as_check_name(check, KI_AS_MEMBER(at, "name"), ki_as_json_str(name), ki_as_check_label);
        else if (json_array_size(ports) > 1)
            ki_as_check_required(check, KI_AS_MEMBER(at, "name"), "");
        long first = ki_as_keyed_list_find(&names, port);
        if (ki_as_json_str(name).len > 0 && first >= 0 && (size_t)first < index)
            ki_as_check_duplicate(check, KI_AS_MEMBER(at, "name"), name);
        const json_t *number = json_object_get(port, "port");
        if (number == NULL)
            ki_as_check_required(check, KI_AS_MEMBER(at, "port"), "");
        ki_as_check_range(check, KI_AS_MEMBER(at, "port"), number, 1, 65535);
        ki_as_check_one_of(check, KI_AS_MEMBER(at, "protocol"), json_object_get(port, "protocol"), protocols);
        check_target(check, KI_AS_MEMBER(at, "targetPort"), json_object_get(port, "targetPort"));
    }
    ki_as_keyed_list_fini(&names);
}

/* What only services have that are reached from outside of the cluster. */
static void check_outside(struct ki_as_check *check, const json_t *tree)
{
    const char *type = ki_as_tree_text(tree, "spec.type");
    const json_t *policy = ki_as_tree_at(tree, "spec.externalTrafficPolicy");
    bool has_node_ports = strcmp(type, "NodePort") == 0 || strcmp(type, "LoadBalancer") == 0;
    bool is_outside = has_node_ports || json_array_size(ki_as_tree_at(tree, "spec.externalIPs")) > 0;
    size_t index = 0;
    json_t *port = NULL;
    if (policy != NULL && !is_outside)
        ki_as_check_invalid(check, KI_AS_PATH("spec.externalTrafficPolicy"), policy,
                            "may only be set for externally-accessible services");
    json_array_foreach(ki_as_tree_at(tree, "spec.ports"), index, port)
    {
        const struct ki_as_path *at = KI_AS_ELEMENT(KI_AS_PATH("spec.ports"), index);
        if (!has_node_ports && json_integer_value(json_object_get(port, "nodePort")) != 0)
            ki_as_check_forbidden(check, KI_AS_MEMBER(at, "nodePort"),
                                  "may not be used when `type` is 'ClusterIP'");
    }
    if (has_node_ports && strcmp(ki_as_tree_text(tree, "spec.clusterIP"), "None") == 0)
        ki_as_check_invalid(check, KI_AS_PATH("spec.clusterIPs[0]"), ki_as_tree_at(tree, "spec.clusterIP"),
                            strcmp(type, "NodePort") == 0
                                ? "may not be set to 'None' for NodePort services"
                                : "may not be set to 'None' for LoadBalancer services");
}

void ki_as_check_service(struct ki_as_check *check, const json_t *tree)
{
    static const char *const types[] = {"ClusterIP", "ExternalName", "LoadBalancer", "NodePort", NULL};
    static const char *const affinities[] = {"ClientIP", "None", NULL};
    const struct ki_as_path *path = KI_AS_PATH("spec");
    const json_t *ports = ki_as_tree_at(tree, "spec.ports");
    bool is_headless = strcmp(ki_as_tree_text(tree, "spec.clusterIP"), "None") == 0;
    bool is_external = strcmp(ki_as_tree_text(tree, "spec.type"), "ExternalName") == 0;
    if (json_array_size(ports) == 0 && !is_headless && !is_external)
        ki_as_check_required(check, KI_AS_MEMBER(path, "ports"), "");
    check_outside(check, tree);
    if (is_external && ki_as_tree_text(tree, "spec.externalName")[0] == 0)
        ki_as_check_required(check, KI_AS_MEMBER(path, "externalName"), "");
    check_service_ports(check, KI_AS_MEMBER(path, "ports"), ports);
    ki_as_check_labels(check, KI_AS_MEMBER(path, "selector"), ki_as_tree_at(tree, "spec.selector"));
    ki_as_check_one_of(check, KI_AS_MEMBER(path, "sessionAffinity"),
                       ki_as_tree_at(tree, "spec.sessionAffinity"), affinities);
    ki_as_check_one_of(check, KI_AS_MEMBER(path, "type"), ki_as_tree_at(tree, "spec.type"), types);
}

/* ---- definitions
 * ----------------------------------------------------------------------------------------- */

static void check_versions(struct ki_as_check *check, const struct ki_as_path *path, const json_t *versions)
{
    size_t index = 0;
    size_t stored = 0;
    struct ki_as_identity identity = ki_as_identity_of("name");
    struct ki_as_keyed_list names = {0};
    bool is_unique = true;
    json_t *version = NULL;
    if (ki_as_keyed_list_init(&names, &identity, versions, 0) < 0)
        ki_as_check_no_memory(check);
    json_array_foreach(versions, index, version)
    {
        const struct ki_as_path *at = KI_AS_ELEMENT(path, index);
        const struct ki_as_path *schema = KI_AS_MEMBER(at, "schema");
        const json_t *name = json_object_get(version, "name");
        ki_as_check_name(check, KI_AS_MEMBER(at, "name"), ki_as_json_str(name), ki_as_check_label_1035);
        if (!json_is_object(ki_as_tree_at(version, "schema.openAPIV3Schema")))
            ki_as_check_required(check, KI_AS_MEMBER(schema, "openAPIV3Schema"), "");
        ki_as_check_patterns(check, KI_AS_MEMBER(schema, "openAPIV3Schema"),
                             ki_as_tree_at(version, "schema.openAPIV3Schema"));
        /* One schema is that of all versions. */
        const struct ki_as_path *place =
            json_array_size(versions) == 1 ? KI_AS_PATH("spec.validation") : schema;
        ki_as_check_structural(check, KI_AS_MEMBER(place, "openAPIV3Schema"),
                               ki_as_tree_at(version, "schema.openAPIV3Schema"));
        stored += json_is_true(json_object_get(version, "storage")) ? 1 : 0;
        long first = ki_as_keyed_list_find(&names, version);
        is_unique = is_unique && (name == NULL || first < 0 || (size_t)first == index);
    }
    ki_as_keyed_list_fini(&names);
    if (!is_unique)
        ki_as_check_invalid(check, path, versions, "must contain unique version names");
    if (stored != 1)
        ki_as_check_invalid(check, path, versions, "must have exactly one version marked as storage version");
}

static void check_definition_names(struct ki_as_check *check, const json_t *tree)
{
    static const char *const required[] = {"spec.names.plural", "spec.names.kind"};
    for (size_t i = 0; i < 2; i++) {
        if (ki_as_tree_text(tree, required[i])[0] == 0)
            ki_as_check_required(check, KI_AS_PATH(required[i]), "");
    }
    const json_t *plural = ki_as_tree_at(tree, "spec.names.plural");
    if (ki_as_json_str(plural).len > 0)
        ki_as_check_name(check, KI_AS_PATH("spec.names.plural"), ki_as_json_str(plural),
                         ki_as_check_label_1035);
    ki_str name = ki_as_json_str(ki_as_tree_at(tree, "metadata.name"));
    ki_str group = ki_as_json_str(ki_as_tree_at(tree, "spec.group"));
    size_t plural_len = ki_as_json_str(plural).len;
    bool is_good = name.len == plural_len + 1 + group.len && name.ptr[plural_len] == '.' &&
                   memcmp(name.ptr, ki_as_tree_text(tree, "spec.names.plural"), plural_len) == 0 &&
                   memcmp(name.ptr + plural_len + 1, ki_as_tree_text(tree, "spec.group"), group.len) == 0;
    if (!is_good && name.len > 0)
        ki_as_check_invalid_text(check, KI_AS_PATH("metadata.name"), name,
                                 "must be spec.names.plural+\".\"+spec.group");
}

/* Groups of the project itself need its word. */
static void check_approval(struct ki_as_check *check, const json_t *tree)
{
    static const char *const protected[] = {"k8s.io", "kubernetes.io"};
    static const char name[] = "api-approved.kubernetes.io";
    ki_str group = ki_as_json_str(ki_as_tree_at(tree, "spec.group"));
    bool is_protected = false;
    for (size_t i = 0; i < sizeof(protected) / sizeof(protected[0]); i++) {
        ki_str end = ki_str_of(protected[i]);
        bool is_end = group.len >= end.len && memcmp(group.ptr + group.len - end.len, end.ptr, end.len) == 0;
        is_protected |= is_end && (group.len == end.len || group.ptr[group.len - end.len - 1] == '.');
    }
    if (is_protected && json_object_get(ki_as_tree_at(tree, "metadata.annotations"), name) == NULL)
        ki_as_check_required(check, KI_AS_KEY(KI_AS_PATH("metadata.annotations"), name),
                             "protected groups must have approval annotation \"api-approved.kubernetes.io\", "
                             "see https://github.com/kubernetes/enhancements/pull/1111");
}

void ki_as_check_definition(struct ki_as_check *check, const json_t *tree)
{
    static const char *const scopes[] = {"Cluster", "Namespaced", NULL};
    const struct ki_as_path *path = KI_AS_PATH("spec");
    const json_t *group = ki_as_tree_at(tree, "spec.group");
    ki_str text = ki_as_json_str(group);
    if (text.len == 0)
        ki_as_check_required(check, KI_AS_MEMBER(path, "group"), "");
    else if (ki_as_check_subdomain(text).count > 0)
        ki_as_check_name(check, KI_AS_MEMBER(path, "group"), text, ki_as_check_subdomain);
    else if (memchr(text.ptr, '.', text.len) == NULL)
        ki_as_check_invalid(check, KI_AS_MEMBER(path, "group"), group,
                            "should be a domain with at least one dot");
    if (ki_as_tree_text(tree, "spec.scope")[0] == 0)
        ki_as_check_required(check, KI_AS_MEMBER(path, "scope"), "");
    ki_as_check_one_of(check, KI_AS_MEMBER(path, "scope"), ki_as_tree_at(tree, "spec.scope"), scopes);
    check_definition_names(check, tree);
    if (ki_as_tree_is_true(tree, "spec.preserveUnknownFields"))
        ki_as_check_invalid(check, KI_AS_MEMBER(path, "preserveUnknownFields"),
                            ki_as_tree_at(tree, "spec.preserveUnknownFields"),
                            "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in "
                            "spec.versions[*].schema instead");
    check_approval(check, tree);
    check_versions(check, KI_AS_MEMBER(path, "versions"), ki_as_tree_at(tree, "spec.versions"));
}
