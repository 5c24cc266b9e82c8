/* SPDX-License-Identifier: Apache-2.0 */
/* yaml_alias - the nodes marked by anchors (&name), and their copies for aliases (*name).
 *
 *   From:     util/yaml/yaml_parse.c, util/yaml/yaml_build.c
 *   Locks:    none; one owner.
 *   Not here: where a copy goes; merge keys.
 *
 * The size of a copy is counted before it is made, so that a small text with nested aliases is subject to
 * the same limits as any text.
 */
#ifndef KI_UTIL_YAML_YAML_ALIAS_H
#define KI_UTIL_YAML_YAML_ALIAS_H

#include "util/yaml/yaml_tree.h"

typedef struct ki_yaml_anchor ki_yaml_anchor;

/* A zeroed struct is empty. */
typedef struct ki_yaml_anchors {
    ki_yaml_anchor *items;
    size_t count;
    size_t capacity;
} ki_yaml_anchors;

void ki_yaml_anchors_fini(ki_yaml_anchors *anchors);

/* Binds the name to the node, which must live as long as the anchors. Returns 0; KI_ERR_TOO_LARGE if there
 * are KI_YAML_ANCHORS_MAX already; or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_yaml_anchors_set(ki_yaml_anchors *anchors, const char *name, const ki_yaml_node *node);

/* The node of an anchor; NULL if the name is not defined so far. */
const ki_yaml_node *ki_yaml_anchors_find(const ki_yaml_anchors *anchors, const char *name);

/* The size of a tree so far. */
typedef struct ki_yaml_size {
    const ki_yaml_rules *rules;
    size_t nodes;
    size_t copied_bytes; /* of texts and keys */
} ki_yaml_size;

/* Copies the node with its key and everything below it. The copy will have `depth` nodes above it. Returns
 * 0; KI_ERR_CONFIG with a message if a limit is exceeded; or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_yaml_copy(const ki_yaml_node *from, size_t depth, ki_yaml_size *size,
                              ki_yaml_node **out_node, ki_error *err);

#endif
