/* SPDX-License-Identifier: Apache-2.0 */
/* Composed cells: addresses, ports, selectors, and the subject of a job or an event. */
#include <assert.h>
#include <ctype.h>
#include <kinformer/error.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "apiserver/show/table_parts.h"
#include "apiserver/value/age.h"
#include "apiserver/value/tree.h"

enum { SHOWN_MAX = 3 };

int ki_as_cell_add(ki_buf *out, const char *separator, ki_str text)
{
    assert(separator != NULL);
    int rc = out->len == 0 ? 0 : ki_buf_append_str(out, ki_str_of(separator));
    return rc < 0 ? rc : ki_buf_append_str(out, text);
}

int ki_as_cell_printf(ki_buf *out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int len = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    int rc = len < 0 ? KI_ERR_NO_MEMORY : ki_buf_reserve(out, (size_t)len + 1);
    if (rc < 0)
        return rc;
    va_start(arguments, format);
    (void)vsnprintf(out->data + out->len, (size_t)len + 1, format, arguments);
    va_end(arguments);
    assert(out->len + (size_t)len < out->cap);
    out->len += (size_t)len;
    return 0;
}

int ki_as_cell_age(ki_buf *out, ki_str since, int64_t now)
{
    char age[KI_AS_AGE_BYTES];
    ki_as_age_write(since, now, age);
    return ki_buf_append_str(out, ki_str_of(age));
}

int ki_as_cell_labels(ki_buf *out, const json_t *labels)
{
    const char *name = NULL;
    json_t *value = NULL;
    int rc = 0;
    json_object_foreach((json_t *)labels, name, value)
    {
        if (rc == 0)
            rc = ki_as_cell_add(out, ",", ki_str_of(name));
        if (rc == 0)
            rc = ki_buf_append_byte(out, '=');
        if (rc == 0)
            rc = ki_buf_append_str(out, ki_as_json_str(value));
    }
    return rc == 0 && out->len == 0 ? ki_as_cell_printf(out, "<none>") : rc;
}

static int add_expression(ki_buf *out, const json_t *expression)
{
    const char *name = ki_as_tree_text(expression, "operator");
    bool is_set = strcmp(name, "In") == 0 || strcmp(name, "NotIn") == 0;
    size_t index = 0;
    json_t *value = NULL;
    int rc = ki_as_cell_add(out, ",", ki_str_of(strcmp(name, "DoesNotExist") == 0 ? "!" : ""));
    rc = rc < 0 ? rc : ki_buf_append_str(out, ki_str_of(ki_as_tree_text(expression, "key")));
    if (rc < 0 || !is_set)
        return rc;
    rc = ki_as_cell_printf(out, " %s (", name[0] == 'I' ? "in" : "notin");
    json_array_foreach(json_object_get(expression, "values"), index, value)
    {
        if (rc == 0 && index > 0)
            rc = ki_buf_append_byte(out, ',');
        if (rc == 0)
            rc = ki_buf_append_str(out, ki_as_json_str(value));
    }
    return rc < 0 ? rc : ki_buf_append_byte(out, ')');
}

int ki_as_cell_selector(ki_buf *out, const json_t *selector)
{
    const json_t *labels = json_object_get(selector, "matchLabels");
    size_t index = 0;
    json_t *expression = NULL;
    int rc = json_object_size(labels) == 0 ? 0 : ki_as_cell_labels(out, labels);
    json_array_foreach(json_object_get(selector, "matchExpressions"), index, expression)
    {
        if (rc == 0)
            rc = add_expression(out, expression);
    }
    return rc == 0 && out->len == 0 ? ki_as_cell_printf(out, "<none>") : rc;
}

int ki_as_cell_modes(ki_buf *out, const json_t *modes)
{
    static const char *const names[][2] = {{"ReadWriteOnce", "RWO"},
                                           {"ReadOnlyMany", "ROX"},
                                           {"ReadWriteMany", "RWX"},
                                           {"ReadWriteOncePod", "RWOP"}};
    int rc = 0;
    for (size_t i = 0; i < 4; i++) {
        for (size_t j = 0; j < json_array_size(modes) && rc == 0; j++) {
            if (ki_str_equal(ki_as_json_str(json_array_get(modes, j)), ki_str_of(names[i][0])))
                rc = ki_as_cell_add(out, ",", ki_str_of(names[i][1]));
        }
    }
    return rc;
}

/* ---- nodes --------------------------------------------------------------------------------------------- */

int ki_as_cell_node_status(const json_t *tree, int64_t now, ki_buf *out)
{
    (void)now;
    const json_t *ready = ki_as_tree_find(tree, "status.conditions", "type", "Ready");
    bool is_ready = strcmp(ki_as_tree_text(ready, "status"), "True") == 0;
    const char *status = ready == NULL ? "Unknown" : is_ready ? "Ready" : "NotReady";
    bool is_closed = ki_as_tree_is_true(tree, "spec.unschedulable");
    return ki_as_cell_printf(out, "%s%s", status, is_closed ? ",SchedulingDisabled" : "");
}

int ki_as_cell_node_roles(const json_t *tree, int64_t now, ki_buf *out)
{
    (void)now;
    static const char prefix[] = "node-role.kubernetes.io/";
    const char *name = NULL;
    json_t *value = NULL;
    int rc = 0;
    json_object_foreach(ki_as_tree_at(tree, "metadata.labels"), name, value)
    {
        bool is_role = strncmp(name, prefix, sizeof(prefix) - 1) == 0 && name[sizeof(prefix) - 1] != 0;
        if (rc == 0 && is_role)
            rc = ki_as_cell_add(out, ",", ki_str_of(name + sizeof(prefix) - 1));
    }
    return rc == 0 && out->len == 0 ? ki_as_cell_printf(out, "<none>") : rc;
}

static int node_address(const json_t *tree, const char *type, ki_buf *out)
{
    const json_t *address = ki_as_tree_find(tree, "status.addresses", "type", type);
    return ki_as_cell_printf(out, "%s", address == NULL ? "<none>" : ki_as_tree_text(address, "address"));
}

int ki_as_cell_node_internal_ip(const json_t *tree, int64_t now, ki_buf *out)
{
    (void)now;
    return node_address(tree, "InternalIP", out);
}

int ki_as_cell_node_external_ip(const json_t *tree, int64_t now, ki_buf *out)
{
    (void)now;
    return node_address(tree, "ExternalIP", out);
}

int ki_as_cell_node_kernel(const json_t *tree, int64_t now, ki_buf *out)
{
    (void)now;
    const char *kernel = ki_as_tree_text(tree, "status.nodeInfo.kernelVersion");
    const char *machine = ki_as_tree_text(tree, "status.nodeInfo.architecture");
    return ki_as_cell_printf(out, "%s%s%s%s", kernel[0] == 0 ? "<unknown>" : kernel,
                             machine[0] == 0 ? "" : " (", machine, machine[0] == 0 ? "" : ")");
}

/* ---- services, ingresses, endpoints -------------------------------------------------------------------- */

static int add_addresses(ki_buf *out, const json_t *ingress)
{
    size_t index = 0;
    json_t *one = NULL;
    int rc = 0;
    json_array_foreach(ingress, index, one)
    {
        ki_str ip = ki_as_json_str(json_object_get(one, "ip"));
        ki_str host = ki_as_json_str(json_object_get(one, "hostname"));
        if (rc == 0 && ip.len + host.len > 0)
            rc = ki_as_cell_add(out, ",", ip.len > 0 ? ip : host);
    }
    return rc;
}

int ki_as_cell_service_external(const json_t *tree, int64_t now, ki_buf *out)
{
    (void)now;
    const char *type = ki_as_tree_text(tree, "spec.type");
    bool is_balanced = strcmp(type, "LoadBalancer") == 0;
    size_t index = 0;
    json_t *address = NULL;
    int rc = 0;
    if (strcmp(type, "ExternalName") == 0)
        return ki_as_cell_printf(out, "%s", ki_as_tree_text(tree, "spec.externalName"));
    if (is_balanced)
        rc = add_addresses(out, ki_as_tree_at(tree, "status.loadBalancer.ingress"));
    json_array_foreach(ki_as_tree_at(tree, "spec.externalIPs"), index, address)
    {
        if (rc == 0)
            rc = ki_as_cell_add(out, ",", ki_as_json_str(address));
    }
    return rc == 0 && out->len == 0 ? ki_as_cell_printf(out, is_balanced ? "<pending>" : "<none>") : rc;
}

int ki_as_cell_service_ports(const json_t *tree, int64_t now, ki_buf *out)
{
    (void)now;
    size_t index = 0;
    json_t *port = NULL;
    int rc = 0;
    json_array_foreach(ki_as_tree_at(tree, "spec.ports"), index, port)
    {
        long long node_port = ki_as_tree_integer(port, "nodePort", 0);
        if (rc == 0)
            rc = ki_as_cell_printf(out, "%s%lld", out->len == 0 ? "" : ",",
                                   (long long)ki_as_tree_integer(port, "port", 0));
        if (rc == 0 && node_port > 0)
            rc = ki_as_cell_printf(out, ":%lld", node_port);
        if (rc == 0)
            rc = ki_as_cell_printf(out, "/%s", ki_as_tree_text(port, "protocol"));
    }
    return rc == 0 && out->len == 0 ? ki_as_cell_printf(out, "<none>") : rc;
}

/* Ends a cell that shows at most SHOWN_MAX of `total` items. */
static int end_of_some(ki_buf *out, size_t total, const char *if_empty)
{
    int rc = total > SHOWN_MAX ? ki_as_cell_printf(out, " + %zu more...", total - SHOWN_MAX) : 0;
    return rc == 0 && out->len == 0 ? ki_as_cell_printf(out, "%s", if_empty) : rc;
}

int ki_as_cell_ingress_hosts(const json_t *tree, int64_t now, ki_buf *out)
{
    (void)now;
    const json_t *rules = ki_as_tree_at(tree, "spec.rules");
    size_t shown = 0;
    size_t index = 0;
    json_t *rule = NULL;
    int rc = 0;
    json_array_foreach(rules, index, rule)
    {
        ki_str host = ki_as_json_str(json_object_get(rule, "host"));
        if (rc == 0 && host.len > 0 && shown < SHOWN_MAX) {
            rc = ki_as_cell_add(out, ",", host);
            shown++;
        }
    }
    return rc < 0 ? rc : end_of_some(out, shown < SHOWN_MAX ? shown : json_array_size(rules), "*");
}

int ki_as_cell_ingress_address(const json_t *tree, int64_t now, ki_buf *out)
{
    (void)now;
    return add_addresses(out, ki_as_tree_at(tree, "status.loadBalancer.ingress"));
}

int ki_as_cell_ingress_ports(const json_t *tree, int64_t now, ki_buf *out)
{
    (void)now;
    return ki_as_cell_printf(out, json_array_size(ki_as_tree_at(tree, "spec.tls")) > 0 ? "80, 443" : "80");
}

int ki_as_cell_slice_ports(const json_t *tree, int64_t now, ki_buf *out)
{
    (void)now;
    const json_t *ports = json_object_get(tree, "ports");
    size_t index = 0;
    json_t *port = NULL;
    int rc = 0;
    json_array_foreach(ports, index, port)
    {
        char text[64];
        const char *name = ki_as_tree_text(port, "name");
        (void)snprintf(text, sizeof(text), "%lld", (long long)ki_as_tree_integer(port, "port", 0));
        if (rc == 0 && index < SHOWN_MAX)
            rc = ki_as_cell_add(
                out, ",", json_is_integer(json_object_get(port, "port")) ? ki_str_of(text) : ki_str_of(name));
    }
    return rc < 0 ? rc : end_of_some(out, json_array_size(ports), "<unset>");
}

int ki_as_cell_slice_endpoints(const json_t *tree, int64_t now, ki_buf *out)
{
    (void)now;
    const json_t *endpoints = json_object_get(tree, "endpoints");
    size_t total = 0;
    int rc = 0;
    for (size_t i = 0; i < json_array_size(endpoints) && rc == 0; i++) {
        const json_t *addresses = json_object_get(json_array_get(endpoints, i), "addresses");
        for (size_t j = 0; j < json_array_size(addresses) && rc == 0; j++) {
            if (total++ < SHOWN_MAX)
                rc = ki_as_cell_add(out, ",", ki_as_json_str(json_array_get(addresses, j)));
        }
    }
    return rc < 0 ? rc : end_of_some(out, total, "<unset>");
}

static int add_endpoint(ki_buf *out, const char *ip, const json_t *port)
{
    const char *separator = out->len == 0 ? "" : ",";
    bool is_bracketed = strchr(ip, ':') != NULL;
    if (port == NULL)
        return ki_as_cell_printf(out, "%s%s", separator, ip);
    return ki_as_cell_printf(out, "%s%s%s%s:%lld", separator, is_bracketed ? "[" : "", ip,
                             is_bracketed ? "]" : "", (long long)ki_as_tree_integer(port, "port", 0));
}

int ki_as_cell_endpoints(const json_t *tree, int64_t now, ki_buf *out)
{
    (void)now;
    const json_t *subsets = json_object_get(tree, "subsets");
    size_t total = 0;
    int rc = 0;
    for (size_t i = 0; i < json_array_size(subsets); i++) {
        const json_t *subset = json_array_get(subsets, i);
        const json_t *addresses = json_object_get(subset, "addresses");
        const json_t *ports = json_object_get(subset, "ports");
        size_t port_count = json_array_size(ports) == 0 ? 1 : json_array_size(ports);
        for (size_t at = 0; at < port_count * json_array_size(addresses) && rc == 0; at++) {
            const char *ip =
                ki_as_tree_text(json_array_get(addresses, at % json_array_size(addresses)), "ip");
            const json_t *port = json_array_get(ports, at / json_array_size(addresses));
            if (total++ < SHOWN_MAX)
                rc = add_endpoint(out, ip, port);
        }
    }
    return rc < 0 ? rc : end_of_some(out, total, "<none>");
}
