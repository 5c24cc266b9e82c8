/* SPDX-License-Identifier: Apache-2.0 */
/* yaml_build - builds the tree of a YAML text: the position of the next node, aliases, merge keys.
 *
 *   From:     util/yaml/yaml_parse.c (libyaml's events)
 *   To:       util/yaml/yaml_tree.h, util/yaml/yaml_alias.h
 *   Locks:    none; one owner.
 *   Not here: libyaml.
 *
 * Functions that return an int return 0, KI_ERR_CONFIG with the message and the line, or KI_ERR_NO_MEMORY.
 */
#ifndef KI_UTIL_YAML_YAML_BUILD_H
#define KI_UTIL_YAML_YAML_BUILD_H

#include "util/error.h"
#include "util/yaml/yaml_alias.h"

/* A mapping or sequence that has begun, but not ended. */
typedef struct ki_yaml_level {
    ki_yaml_node *node;
    ki_yaml_node *last;
    size_t count;
    char *key; /* of the next member; NULL in a sequence, and when a key comes next */
    size_t key_line;
    bool is_key_plain;
    bool is_merge; /* the key is "<<" */
} ki_yaml_level;

typedef struct ki_yaml_builder {
    const ki_yaml_rules *rules;
    ki_yaml_level levels[KI_YAML_LEVELS_MAX];
    size_t depth;
    ki_yaml_size size;
    ki_yaml_anchors anchors; /* of the document */
    ki_yaml_node *root;      /* of the first document */
    ki_yaml_node *last_root;
    ki_yaml_node *apart; /* nodes that are not part of the tree, but to which anchors may refer */
    bool has_ended;      /* the first document has ended */
    size_t failed_line;
    ki_error *err;
} ki_yaml_builder;

#define KI_YAML_FAIL(build, line, ...)                                                                       \
    ((build)->failed_line = (line), ki_fail((build)->err, KI_ERR_CONFIG, __VA_ARGS__))

/* The innermost mapping or sequence; NULL for the document itself. */
ki_yaml_level *ki_yaml_top(ki_yaml_builder *build);
/* Whether the next value of the mapping is a key. */
bool ki_yaml_wants_key(const ki_yaml_level *parent);
/* Sets the key of the next member of the mapping. */
KI_NODISCARD int ki_yaml_set_key(ki_yaml_builder *build, ki_yaml_level *mapping, ki_str key, size_t line);
/* Adds a new node at the current position. The tree owns it. */
KI_NODISCARD int ki_yaml_add_node(ki_yaml_builder *build, ki_yaml_kind kind, size_t line,
                                  ki_yaml_node **out_node);
/* Keeps a node that is not part of the tree. Takes the node. */
void ki_yaml_put_apart(ki_yaml_builder *build, ki_yaml_node *node);
/* Defines an anchor for the node. `anchor` may be NULL. */
KI_NODISCARD int ki_yaml_name_node(ki_yaml_builder *build, const char *anchor, const ki_yaml_node *node,
                                   size_t line);
/* Adds a copy of the anchor's node, merges its members, or uses it as a key, depending on the position. */
KI_NODISCARD int ki_yaml_take_alias(ki_yaml_builder *build, const char *name, size_t line);
/* Call this when the value of "<<" is complete. */
KI_NODISCARD int ki_yaml_end_merge(ki_yaml_builder *build, ki_yaml_level *mapping, ki_yaml_node *value);

#endif
