/* SPDX-License-Identifier: Apache-2.0 */
/* yaml_tree - a small YAML text as a tree whose nodes know their lines.
 *
 *   From:     config/kubeconfig.c
 *   To:       libyaml's events (yaml_parse.c), anchors and aliases (yaml_alias.h)
 *   Locks:    none; one owner.
 *   Not here: what the fields mean.
 *
 * Bounded: bytes, nodes, depth and members of a mapping have limits, also for what aliases stand for, which
 * is copied. Refused are keys that are no scalar, keys that come twice, NUL characters, tags other than
 * YAML's own, and a second document.
 *
 * Merge keys (<<) are taken as kubectl takes them: in the order of the text. What comes by one replaces what
 * stands before it, and what stands behind it replaces that; of a list of mappings the first goes before the
 * others.
 */
#ifndef KI_CONFIG_YAML_TREE_H
#define KI_CONFIG_YAML_TREE_H

#include <kinformer/common.h>
#include <kinformer/error.h>
#include <stdbool.h>

#define KI_YAML_BYTES_MAX ((size_t)8 * 1024 * 1024)
#define KI_YAML_NODES_MAX 100000
#define KI_YAML_DEPTH_MAX 32
#define KI_YAML_MEMBERS_MAX 1000
#define KI_YAML_ANCHORS_MAX 1000

typedef enum ki_yaml_kind { KI_YAML_SCALAR, KI_YAML_MAPPING, KI_YAML_SEQUENCE } ki_yaml_kind;

typedef struct ki_yaml_node {
    ki_yaml_kind kind;
    bool is_plain;  /* a scalar without quotes: it may be null, true, 7, … */
    bool is_merged; /* by a merge key: the same key may come again */
    size_t line;    /* from 1; of the key, for a member of a mapping */
    char *key;      /* NULL: an element of a sequence, or the root */
    char *text;     /* of a scalar, never NULL then */
    struct ki_yaml_node *first_child;
    struct ki_yaml_node *next;
} ki_yaml_node;

/* Reads one document. Returns 0 with the root, NULL for a text without any; KI_ERR_CONFIG with the line,
 * which is written on failure only, and a message that says nothing of values; KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_yaml_parse(ki_str text, ki_yaml_node **out_root, size_t *out_line, ki_error *err);

/* Wipes all texts. Takes NULL. */
void ki_yaml_free(ki_yaml_node *root);

/* The member of a mapping; NULL: there is none, or the node is no mapping. */
const ki_yaml_node *ki_yaml_member(const ki_yaml_node *mapping, const char *key);

/* A plain scalar that is empty, "~" or "null". */
bool ki_yaml_is_null(const ki_yaml_node *node);

/* A plain scalar that is one of YAML 1.1's words for true and false. */
bool ki_yaml_is_bool(const ki_yaml_node *node, bool *out_value);

#endif
