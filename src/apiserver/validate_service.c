/* SPDX-License-Identifier: Apache-2.0 */
/* Services. */
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
