/* SPDX-License-Identifier: Apache-2.0 */
#include "util/yaml/yaml_tree.h"

#include <string.h>

#include "util/alloc.h"
#include "util/secret.h"

/* The recursion is at most KI_YAML_LEVELS_MAX deep, which the builder enforces. */
void ki_yaml_free(ki_yaml_node *node)
{
    for (ki_yaml_node *next = NULL; node != NULL; node = next) {
        next = node->next;
        ki_yaml_free(node->first_child);
        ki_secret_free(node->key);
        ki_secret_free(node->text);
        ki_free(node);
    }
}

const ki_yaml_node *ki_yaml_member(const ki_yaml_node *mapping, const char *key)
{
    if (mapping == NULL || mapping->kind != KI_YAML_MAPPING)
        return NULL;
    const ki_yaml_node *child = mapping->first_child;
    while (child != NULL && strcmp(child->key, key) != 0)
        child = child->next;
    return child;
}

static bool is_one_of(const char *text, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(text, words[i]) == 0)
            return true;
    }
    return false;
}

bool ki_yaml_is_null(const ki_yaml_node *node)
{
    static const char *const words[] = {"", "~", "null", "Null", "NULL"};
    return node->kind == KI_YAML_SCALAR && node->is_plain && is_one_of(node->text, words, 5);
}

bool ki_yaml_is_bool(const ki_yaml_node *node, bool *out_value)
{
    static const char *const yes[] = {"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"};
    static const char *const no[] = {"false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"};
    if (node->kind != KI_YAML_SCALAR || !node->is_plain)
        return false;
    bool value = is_one_of(node->text, yes, 9);
    if (!value && !is_one_of(node->text, no, 9))
        return false;
    *out_value = value;
    return true;
}
