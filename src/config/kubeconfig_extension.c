/* SPDX-License-Identifier: Apache-2.0 */
/* Converts the cluster's extension for exec plug-ins into the JSON that they get. */
#include <kinformer/json.h>
#include <string.h>

#include "config/kubeconfig_fields.h"
#include "util/alloc.h"
#include "util/error.h"

static const char extension_name[] = "client.authentication.k8s.io/exec";

/* A plain scalar that is a null, a boolean or a number in JSON is written as such; all others are strings. */
static void write_scalar(ki_json_writer *writer, const ki_yaml_node *node)
{
    ki_str text = ki_str_of(node->text);
    bool flag;
    if (ki_yaml_is_null(node))
        ki_json_write_null(writer);
    else if (ki_yaml_is_bool(node, &flag))
        ki_json_write_bool(writer, flag);
    else if (node->is_plain && ki_json_type_of(ki_json_of(text)) == KI_JSON_NUMBER &&
             ki_json_validate(text, NULL) == 0)
        ki_json_write_value(writer, ki_json_of(text));
    else
        ki_json_write_string(writer, text);
}

/* Recursion is limited to KI_KUBECONFIG_DEPTH_MAX. */
static void write_node(ki_json_writer *writer, const ki_yaml_node *node)
{
    if (node->kind == KI_YAML_SCALAR) {
        write_scalar(writer, node);
        return;
    }
    bool is_mapping = node->kind == KI_YAML_MAPPING;
    if (is_mapping)
        ki_json_write_object_begin(writer);
    else
        ki_json_write_array_begin(writer);
    for (const ki_yaml_node *child = node->first_child; child != NULL; child = child->next) {
        if (is_mapping)
            ki_json_write_name(writer, ki_str_of(child->key));
        write_node(writer, child);
    }
    if (is_mapping)
        ki_json_write_object_end(writer);
    else
        ki_json_write_array_end(writer);
}

static const ki_yaml_node *find_extension(const ki_kubeconfig_entry *entry)
{
    const ki_yaml_node *list = ki_yaml_member(entry->value, "extensions");
    if (list == NULL || list->kind != KI_YAML_SEQUENCE)
        return NULL;
    for (const ki_yaml_node *item = list->first_child; item != NULL; item = item->next) {
        const ki_yaml_node *name = ki_yaml_member(item, "name");
        if (name != NULL && name->kind == KI_YAML_SCALAR && strcmp(name->text, extension_name) == 0)
            return ki_yaml_member(item, "extension");
    }
    return NULL;
}

int ki_kubeconfig_read_exec_extension(const ki_kubeconfig_entry *entry, char **out_json, ki_error *err)
{
    const ki_yaml_node *node = find_extension(entry);
    if (node == NULL) {
        *out_json = NULL;
        return 0;
    }
    ki_json_writer *writer = ki_json_writer_new(NULL);
    if (writer == NULL)
        return ki_fail_no_memory(err);
    write_node(writer, node);
    ki_str text = {0};
    int rc = ki_json_writer_finish(writer, &text, NULL);
    char *json = rc < 0 ? NULL : ki_str_copy(text);
    ki_json_writer_free(writer);
    if (rc < 0 && rc != KI_ERR_NO_MEMORY)
        return ki_kubeconfig_fail_field(err, entry, "extensions", "%s cannot be written as JSON",
                                        extension_name);
    if (json == NULL)
        return ki_fail_no_memory(err);
    *out_json = json;
    return 0;
}
