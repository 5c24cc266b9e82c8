/* SPDX-License-Identifier: Apache-2.0 */
/* yaml_alias - what anchors (&name) mark, and copies of it for aliases (*name).
 *
 *   From:     util/yaml/yaml_parse.c
 *   Locks:    none; one owner.
 *   Not here: where a copy goes; merge keys.
 *
 * A copy counts what it makes before it makes it, so that a small text with aliases of aliases of aliases
 * stops at the limits that every text has.
 */
#ifndef KI_UTIL_YAML_YAML_ALIAS_H
#define KI_UTIL_YAML_YAML_ALIAS_H

#include "util/yaml/yaml_tree.h"

typedef struct ki_yaml_anchor ki_yaml_anchor;

/* A zeroed one is empty. */
typedef struct ki_yaml_anchors {
    ki_yaml_anchor *items;
    size_t count;
    size_t capacity;
} ki_yaml_anchors;

void ki_yaml_anchors_fini(ki_yaml_anchors *anchors);

/* From here on the name is this node's, which has to live as long. Returns 0, KI_ERR_TOO_LARGE past
 * KI_YAML_ANCHORS_MAX, or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_yaml_anchors_set(ki_yaml_anchors *anchors, const char *name, const ki_yaml_node *node);

/* NULL: nothing bears the name so far. */
const ki_yaml_node *ki_yaml_anchors_find(const ki_yaml_anchors *anchors, const char *name);

/* What a tree has come to. */
typedef struct ki_yaml_size {
    const ki_yaml_rules *rules;
    size_t nodes;
    size_t copied_bytes; /* of texts and keys */
} ki_yaml_size;

/* A copy of the node and all below it, key included, for a place below `depth` others. Returns 0,
 * KI_ERR_CONFIG with a message past a limit, or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_yaml_copy(const ki_yaml_node *from, size_t depth, ki_yaml_size *size,
                              ki_yaml_node **out_node, ki_error *err);

#endif
