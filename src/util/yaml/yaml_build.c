/* SPDX-License-Identifier: Apache-2.0 */
#include "util/yaml/yaml_build.h"

#include <assert.h>
#include <string.h>

#include "util/alloc.h"
#include "util/secret.h"

#define WANTS_MAPPINGS "<< needs a mapping or a list of mappings"

/* ---- nodes --------------------------------------------------------------------------------------------- */

static ki_yaml_node *member(const ki_yaml_node *mapping, const char *key)
{
    ki_yaml_node *child = mapping->first_child;
    while (child != NULL && strcmp(child->key, key) != 0)
        child = child->next;
    return child;
}

ki_yaml_level *ki_yaml_top(ki_yaml_builder *build)
{
    return build->depth == 0 ? NULL : &build->levels[build->depth - 1];
}

static void append(ki_yaml_level *parent, ki_yaml_node *node)
{
    assert(node->next == NULL);
    assert((parent->last == NULL) == (parent->node->first_child == NULL));
    if (parent->last == NULL)
        parent->node->first_child = node;
    else
        parent->last->next = node;
    parent->last = node;
    parent->count++;
}

void ki_yaml_put_apart(ki_yaml_builder *build, ki_yaml_node *node)
{
    node->next = build->apart;
    build->apart = node;
}

static void attach_root(ki_yaml_builder *build, ki_yaml_node *node)
{
    assert(node->next == NULL && node->key == NULL);
    if (build->last_root == NULL)
        build->root = node;
    else
        build->last_root->next = node;
    build->last_root = node;
}

/* Attaches the node at the current position; the tree owns it then. */
static void attach(ki_yaml_builder *build, ki_yaml_node *node)
{
    ki_yaml_level *parent = ki_yaml_top(build);
    if (parent == NULL) {
        attach_root(build, node);
        return;
    }
    if (parent->node->kind == KI_YAML_MAPPING) {
        assert(parent->key != NULL);
        node->key = parent->key;
        node->line = parent->key_line;
        node->is_key_plain = parent->is_key_plain;
        parent->key = NULL;
    }
    if (parent->is_merge)
        ki_yaml_put_apart(build, node); /* its members will be merged */
    else
        append(parent, node);
}

bool ki_yaml_wants_key(const ki_yaml_level *parent)
{
    return parent != NULL && parent->node->kind == KI_YAML_MAPPING && parent->key == NULL;
}

static void take_out(ki_yaml_builder *build, ki_yaml_level *mapping, ki_yaml_node *child)
{
    assert(mapping->count > 0);
    ki_yaml_node *before = NULL;
    if (mapping->node->first_child == child) {
        mapping->node->first_child = child->next;
    } else {
        before = mapping->node->first_child;
        while (before->next != child)
            before = before->next;
        before->next = child->next;
    }
    if (mapping->last == child)
        mapping->last = before;
    mapping->count--;
    ki_yaml_put_apart(build, child);
}

int ki_yaml_name_node(ki_yaml_builder *build, const char *anchor, const ki_yaml_node *node, size_t line)
{
    int rc = anchor == NULL ? 0 : ki_yaml_anchors_set(&build->anchors, anchor, node);
    if (rc == KI_ERR_TOO_LARGE)
        return KI_YAML_FAIL(build, line, "more than %d anchors (&name)", KI_YAML_ANCHORS_MAX);
    return rc < 0 ? ki_fail_no_memory(build->err) : 0;
}

int ki_yaml_add_node(ki_yaml_builder *build, ki_yaml_kind kind, size_t line, ki_yaml_node **out_node)
{
    ki_yaml_level *parent = ki_yaml_top(build);
    if (build->size.nodes >= build->rules->nodes_max)
        return KI_YAML_FAIL(build, line, "more than %zu values", build->rules->nodes_max);
    if (ki_yaml_wants_key(parent))
        return KI_YAML_FAIL(build, line, "a key that is not plain text");
    if (parent != NULL && parent->is_merge && kind == KI_YAML_SCALAR)
        return KI_YAML_FAIL(build, line, WANTS_MAPPINGS);
    ki_yaml_node *node = ki_calloc(1, sizeof(*node));
    if (node == NULL)
        return ki_fail_no_memory(build->err);
    node->kind = kind;
    node->line = line;
    build->size.nodes++;
    attach(build, node);
    *out_node = node;
    return 0;
}

static int fail_members(ki_yaml_builder *build, size_t line)
{
    return KI_YAML_FAIL(build, line, "a mapping with more than %zu members", build->rules->members_max);
}

int ki_yaml_set_key(ki_yaml_builder *build, ki_yaml_level *mapping, ki_str key, size_t line)
{
    assert(mapping->key == NULL && mapping->node->kind == KI_YAML_MAPPING);
    mapping->key = ki_str_copy(key);
    if (mapping->key == NULL)
        return ki_fail_no_memory(build->err);
    mapping->key_line = line;
    if (mapping->is_merge || build->rules->members_max == 0)
        return 0;
    ki_yaml_node *before = member(mapping->node, mapping->key);
    if (before != NULL && !before->is_merged)
        return KI_YAML_FAIL(build, line, "the key \"%.60s\" is already defined in line %zu", mapping->key,
                            before->line);
    if (before != NULL)
        take_out(build, mapping, before);
    return mapping->count >= build->rules->members_max ? fail_members(build, line) : 0;
}

/* ---- aliases and merges -------------------------------------------------------------------------------- */

/* Merges copies of the members of `from` into `mapping`. `from` must not be `mapping` or contain it. */
static int merge_members(ki_yaml_builder *build, ki_yaml_level *mapping, const ki_yaml_node *from,
                         size_t line)
{
    if (from->kind != KI_YAML_MAPPING)
        return KI_YAML_FAIL(build, line, WANTS_MAPPINGS);
    for (const ki_yaml_node *child = from->first_child, *next; child != NULL; child = next) {
        ki_yaml_node *copy = NULL;
        next = child->next; /* read first, because merging may move nodes */
        build->failed_line = line;
        int rc = ki_yaml_copy(child, build->depth, &build->size, &copy, build->err);
        if (rc < 0)
            return rc;
        bool is_counted = build->rules->members_max > 0;
        ki_yaml_node *before = is_counted ? member(mapping->node, copy->key) : NULL;
        if (before != NULL)
            take_out(build, mapping, before);
        copy->is_merged = true;
        append(mapping, copy);
        if (is_counted && mapping->count > build->rules->members_max)
            return fail_members(build, line);
    }
    return 0;
}

/* The first mapping of a list takes precedence, so it is merged last. */
static int merge_list(ki_yaml_builder *build, ki_yaml_level *mapping, ki_yaml_node *list, size_t line)
{
    assert(list->kind == KI_YAML_SEQUENCE);
    ki_yaml_node *reversed = NULL;
    int rc = 0;
    for (ki_yaml_node *one = list->first_child, *next; one != NULL; one = next) {
        next = one->next;
        one->next = reversed;
        reversed = one;
    }
    list->first_child = reversed;
    for (const ki_yaml_node *one = reversed; one != NULL && rc == 0; one = one->next)
        rc = merge_members(build, mapping, one, line);
    return rc;
}

int ki_yaml_end_merge(ki_yaml_builder *build, ki_yaml_level *mapping, ki_yaml_node *value)
{
    assert(mapping->is_merge);
    size_t line = mapping->key_line;
    mapping->is_merge = false;
    return value->kind == KI_YAML_SEQUENCE ? merge_list(build, mapping, value, line)
                                           : merge_members(build, mapping, value, line);
}

static int take_alias_value(ki_yaml_builder *build, const ki_yaml_node *from, size_t line)
{
    ki_yaml_level *parent = ki_yaml_top(build);
    assert(parent != NULL);
    ki_yaml_node *copy = NULL;
    if (parent->is_merge) {
        ki_secret_free(parent->key);
        parent->key = NULL;
        parent->is_merge = false;
        return merge_members(build, parent, from, line);
    }
    build->failed_line = line;
    int rc = ki_yaml_copy(from, build->depth, &build->size, &copy, build->err);
    if (rc < 0)
        return rc;
    ki_secret_free(copy->key);
    copy->key = NULL;
    copy->line = line;
    attach(build, copy);
    return 0;
}

/* No message contains the name, because it may be a password that begins with a star and is not quoted. */
int ki_yaml_take_alias(ki_yaml_builder *build, const char *name, size_t line)
{
    const ki_yaml_node *from = ki_yaml_anchors_find(&build->anchors, name);
    ki_yaml_level *parent = ki_yaml_top(build);
    if (from == NULL || parent == NULL)
        return KI_YAML_FAIL(build, line, "an alias (*name) without an anchor (&name) before it");
    for (size_t i = 0; i < build->depth; i++) {
        if (build->levels[i].node == from)
            return KI_YAML_FAIL(build, line, "an alias (*name) inside the value of its own anchor");
    }
    if (!ki_yaml_wants_key(parent))
        return take_alias_value(build, from, line);
    if (from->kind != KI_YAML_SCALAR)
        return KI_YAML_FAIL(build, line, "a key that is not plain text");
    parent->is_key_plain = from->is_plain;
    return ki_yaml_set_key(build, parent, ki_str_of(from->text), line);
}
