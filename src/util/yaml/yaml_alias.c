/* SPDX-License-Identifier: Apache-2.0 */
#include "util/yaml/yaml_alias.h"

#include <assert.h>
#include <string.h>

#include "util/alloc.h"
#include "util/error.h"
#include "util/secret.h"

struct ki_yaml_anchor {
    char *name;
    const ki_yaml_node *node;
};

void ki_yaml_anchors_fini(ki_yaml_anchors *anchors)
{
    for (size_t i = 0; i < anchors->count; i++)
        ki_secret_free(anchors->items[i].name);
    ki_free(anchors->items);
    *anchors = (ki_yaml_anchors){0};
}

static int grow(ki_yaml_anchors *anchors)
{
    size_t capacity = anchors->capacity == 0 ? 16 : anchors->capacity * 2;
    ki_yaml_anchor *items = ki_realloc(anchors->items, capacity * sizeof(*items));
    if (items == NULL)
        return KI_ERR_NO_MEMORY;
    anchors->items = items;
    anchors->capacity = capacity;
    return 0;
}

int ki_yaml_anchors_set(ki_yaml_anchors *anchors, const char *name, const ki_yaml_node *node)
{
    assert(anchors->count <= anchors->capacity && node != NULL);
    if (anchors->count >= KI_YAML_ANCHORS_MAX)
        return KI_ERR_TOO_LARGE;
    if (anchors->count == anchors->capacity && grow(anchors) < 0)
        return KI_ERR_NO_MEMORY;
    char *copy = ki_str_copy(ki_str_of(name));
    if (copy == NULL)
        return KI_ERR_NO_MEMORY;
    anchors->items[anchors->count++] = (ki_yaml_anchor){copy, node};
    return 0;
}

/* A name may be defined several times; the last definition counts. */
const ki_yaml_node *ki_yaml_anchors_find(const ki_yaml_anchors *anchors, const char *name)
{
    for (size_t i = anchors->count; i > 0; i--) {
        if (strcmp(anchors->items[i - 1].name, name) == 0)
            return anchors->items[i - 1].node;
    }
    return NULL;
}

/* ---- copies -------------------------------------------------------------------------------------------- */

static size_t length(const char *text)
{
    return text == NULL ? 0 : strlen(text);
}

static int count(const ki_yaml_node *from, size_t depth, ki_yaml_size *size, ki_error *err)
{
    assert(size->copied_bytes <= size->rules->bytes_max);
    const ki_yaml_rules *rules = size->rules;
    size_t bytes = length(from->key) + length(from->text);
    if (size->nodes >= rules->nodes_max)
        return ki_fail(err, KI_ERR_CONFIG, "more than %zu values", rules->nodes_max);
    if (bytes > rules->bytes_max - size->copied_bytes)
        return ki_fail(err, KI_ERR_CONFIG, "aliases that expand to more than %zu bytes", rules->bytes_max);
    if (from->kind != KI_YAML_SCALAR && depth >= rules->depth_max)
        return ki_fail(err, KI_ERR_CONFIG, "nested more than %zu levels deep", rules->depth_max);
    size->nodes++;
    size->copied_bytes += bytes;
    return 0;
}

static bool copy_texts(const ki_yaml_node *from, ki_yaml_node *to)
{
    if (from->key != NULL)
        to->key = ki_str_copy(ki_str_of(from->key));
    if (from->text != NULL)
        to->text = ki_str_copy(ki_str_of(from->text));
    return (from->key == NULL || to->key != NULL) && (from->text == NULL || to->text != NULL);
}

/* The recursion is at most KI_YAML_LEVELS_MAX deep. */
int ki_yaml_copy(const ki_yaml_node *from, size_t depth, ki_yaml_size *size, ki_yaml_node **out_node,
                 ki_error *err)
{
    assert(depth <= size->rules->depth_max);
    int rc = count(from, depth, size, err);
    if (rc < 0)
        return rc;
    ki_yaml_node *node = ki_calloc(1, sizeof(*node));
    if (node == NULL)
        return ki_fail_no_memory(err);
    node->kind = from->kind;
    node->is_plain = from->is_plain;
    node->is_binary = from->is_binary;
    node->is_key_plain = from->is_key_plain;
    node->line = from->line;
    if (!copy_texts(from, node))
        rc = ki_fail_no_memory(err);
    ki_yaml_node **at = &node->first_child;
    for (const ki_yaml_node *child = from->first_child; child != NULL && rc == 0; child = child->next) {
        rc = ki_yaml_copy(child, depth + 1, size, at, err);
        if (rc == 0)
            at = &(*at)->next;
    }
    if (rc < 0)
        ki_yaml_free(node);
    else
        *out_node = node;
    return rc;
}
