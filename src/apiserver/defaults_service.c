/* SPDX-License-Identifier: Apache-2.0 */
/* Services get an address and, when their type asks for them, ports of nodes. Nobody routes them here, so
 * they need not be unique: they are made of the name, and the same whenever they are asked for. */
#include <kinformer/error.h>
#include <stdio.h>
#include <string.h>

#include "apiserver/defaults_parts.h"
#include "apiserver/tree.h"

enum { NODE_PORT_FIRST = 30000, NODE_PORT_COUNT = 2768 };

/* Go writes a port that is not set as 0. */
static void forget_unset(json_t *port, const char *name)
{
    const json_t *value = json_object_get(port, name);
    if ((json_is_integer(value) && json_integer_value(value) == 0) ||
        (json_is_string(value) && json_string_length(value) == 0))
        (void)json_object_del(port, name);
}

static uint32_t hash_of(const char *text)
{
    uint32_t hash = 2166136261U;
    for (; *text != 0; text++)
        hash = (hash ^ (unsigned char)*text) * 16777619U;
    return hash;
}

static int default_ports(json_t *tree, bool has_node_ports)
{
    uint32_t hash = hash_of(ki_as_tree_text(tree, "metadata.name"));
    size_t index = 0;
    json_t *port = NULL;
    int rc = 0;
    json_array_foreach(ki_as_tree_at(tree, "spec.ports"), index, port)
    {
        if (rc < 0 || !json_is_object(port))
            return rc;
        uint32_t offset = (hash + (uint32_t)index) % NODE_PORT_COUNT;
        const json_t *number = json_object_get(port, "port");
        forget_unset(port, "targetPort");
        forget_unset(port, "nodePort");
        rc = ki_as_tree_default(port, "protocol", json_string("TCP"));
        if (rc == 0 && json_is_integer(number))
            rc = ki_as_tree_default(port, "targetPort", json_integer(json_integer_value(number)));
        if (rc == 0 && has_node_ports)
            rc = ki_as_tree_default(port, "nodePort", json_integer(NODE_PORT_FIRST + (int)offset));
    }
    return rc;
}

static int default_address(json_t *tree)
{
    uint32_t hash = hash_of(ki_as_tree_text(tree, "metadata.name"));
    const char *given = ki_as_tree_text(tree, "spec.clusterIP");
    char address[32];
    (void)snprintf(address, sizeof(address), "10.96.%u.%u", hash >> 8 & 255, hash % 254 + 1);
    if (given[0] == 0 && json_is_string(ki_as_tree_at(tree, "spec.clusterIP")))
        (void)json_object_del(json_object_get(tree, "spec"), "clusterIP");
    int rc = ki_as_tree_default(tree, "spec.clusterIP", json_string(address));
    if (rc == 0)
        rc = ki_as_tree_default(tree, "spec.clusterIPs",
                                json_pack("[s]", ki_as_tree_text(tree, "spec.clusterIP")));
    if (rc == 0)
        rc = ki_as_tree_default(tree, "spec.ipFamilies", json_pack("[s]", "IPv4"));
    if (rc == 0)
        rc = ki_as_tree_default(tree, "spec.ipFamilyPolicy", json_string("SingleStack"));
    return rc;
}

int ki_as_defaults_service(json_t *tree)
{
    static const struct ki_as_default all[] = {
        KI_AS_TEXT("spec.type", "ClusterIP"),
        KI_AS_TEXT("spec.sessionAffinity", "None"),
        KI_AS_OBJECT("status.loadBalancer"),
        {NULL, 0, NULL, 0},
    };
    static const struct ki_as_default internal[] = {
        KI_AS_TEXT("spec.internalTrafficPolicy", "Cluster"),
        {NULL, 0, NULL, 0},
    };
    static const struct ki_as_default outside[] = {
        KI_AS_TEXT("spec.externalTrafficPolicy", "Cluster"),
        {NULL, 0, NULL, 0},
    };
    static const struct ki_as_default balanced[] = {
        KI_AS_TRUE("spec.allocateLoadBalancerNodePorts"),
        {NULL, 0, NULL, 0},
    };
    if (!json_is_object(json_object_get(tree, "spec")))
        return 0;
    int rc = ki_as_defaults_fill(tree, all);
    const char *type = ki_as_tree_text(tree, "spec.type");
    bool is_balanced = strcmp(type, "LoadBalancer") == 0;
    bool has_node_ports = is_balanced || strcmp(type, "NodePort") == 0;
    if (rc == 0)
        rc = default_ports(tree, has_node_ports);
    if (rc == 0 && strcmp(type, "ExternalName") != 0)
        rc = default_address(tree);
    if (rc == 0 && strcmp(type, "ExternalName") != 0)
        rc = ki_as_defaults_fill(tree, internal);
    if (rc == 0 && has_node_ports)
        rc = ki_as_defaults_fill(tree, outside);
    if (rc == 0 && is_balanced)
        rc = ki_as_defaults_fill(tree, balanced);
    return rc;
}
