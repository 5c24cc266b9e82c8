/* SPDX-License-Identifier: Apache-2.0 */
/* Services get an address and, if their type needs them, node ports. Nothing routes to them, so they need not
 * be unique: they are derived from the name, and so are reproducible. */
#include <kinformer/error.h>
#include <stdio.h>
#include <string.h>

#include "apiserver/kind/defaults.h"
#include "apiserver/kind/defaults_parts.h"
#include "apiserver/value/tree.h"

enum { NODE_PORT_FIRST = 30000, NODE_PORT_COUNT = 2768 };

/* Go writes an unset port as 0. */
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

static int default_ports(json_t *tree, bool is_outside)
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
        if (json_is_integer(number))
            rc = ki_as_tree_default(port, "targetPort", json_integer(json_integer_value(number)));
        if (rc == 0 && is_outside)
            rc = ki_as_tree_default(port, "nodePort", json_integer(NODE_PORT_FIRST + (int)offset));
    }
    return rc;
}

static bool is_external(const json_t *tree)
{
    return strcmp(ki_as_tree_text(tree, "spec.type"), "ExternalName") == 0;
}

static bool has_node_ports(const json_t *tree)
{
    const char *type = ki_as_tree_text(tree, "spec.type");
    return strcmp(type, "NodePort") == 0 || strcmp(type, "LoadBalancer") == 0;
}

/* Removes values that the server assigned because of the old type. */
static void forget_node_ports(json_t *tree, const json_t *before)
{
    size_t index = 0;
    json_t *port = NULL;
    const json_t *policy = ki_as_tree_at(tree, "spec.externalTrafficPolicy");
    json_array_foreach(ki_as_tree_at(tree, "spec.ports"), index, port)
    {
        const json_t *old_port = json_array_get(ki_as_tree_at(before, "spec.ports"), index);
        const json_t *number = json_object_get(port, "nodePort");
        if (number != NULL && json_equal(number, json_object_get(old_port, "nodePort")))
            (void)json_object_del(port, "nodePort");
    }
    if (policy != NULL && json_equal(policy, ki_as_tree_at(before, "spec.externalTrafficPolicy")))
        (void)json_object_del(json_object_get(tree, "spec"), "externalTrafficPolicy");
}

int ki_as_service_carry(json_t *tree, const json_t *before)
{
    json_t *spec = json_object_get(tree, "spec");
    json_t *address = ki_as_tree_at(before, "spec.clusterIP");
    bool is_same_sort = !is_external(before) && !is_external(tree);
    if (!json_is_object(spec))
        return 0;
    if (has_node_ports(before) && !has_node_ports(tree))
        forget_node_ports(tree, before);
    if (!is_same_sort || address == NULL || ki_as_tree_text(tree, "spec.clusterIP")[0] != 0)
        return 0;
    return json_object_set(spec, "clusterIP", address) < 0 ? KI_ERR_NO_MEMORY : 0;
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
    return rc < 0 ? rc
                  : ki_as_tree_default(tree, "spec.clusterIPs",
                                       json_pack("[s]", ki_as_tree_text(tree, "spec.clusterIP")));
}

int ki_as_defaults_service(json_t *tree)
{
    if (!json_is_object(json_object_get(tree, "spec")))
        return 0;
    int rc = default_ports(tree, has_node_ports(tree));
    return rc < 0 || is_external(tree) ? rc : default_address(tree);
}
