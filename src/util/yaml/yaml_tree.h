/* SPDX-License-Identifier: Apache-2.0 */
/* yaml_tree - a YAML text as a tree whose nodes have line numbers.
 *
 *   From:     config/kubeconfig.c, apiserver/value/yaml.c, config/kubeconfig_extension.c,
 *             config/kubeconfig_fields.c, config/select.c, util/yaml/yaml_alias.c
 *   To:       libyaml's events (util/yaml/yaml_parse.c), anchors and aliases (util/yaml/yaml_alias.h)
 *   Locks:    none; one owner.
 *   Not here: what the fields mean; numbers.
 *
 * Bytes, nodes and depth are limited. Expanded aliases count too, because they are copied. Keys that are
 * not scalars, and NUL characters, are refused.
 *
 * Merge keys (<<) work as in kubectl, in the order of the text: merged members replace earlier ones, and
 * later members replace merged ones. In a list of mappings, the first mapping takes precedence.
 */
#ifndef KI_UTIL_YAML_YAML_TREE_H
#define KI_UTIL_YAML_YAML_TREE_H

#include <kinformer/common.h>
#include <kinformer/error.h>
#include <stdbool.h>

#define KI_YAML_LEVELS_MAX 100
#define KI_YAML_ANCHORS_MAX 1000

typedef struct ki_yaml_rules {
    size_t bytes_max; /* of the text, and of all expanded aliases */
    size_t nodes_max;
    size_t depth_max; /* at most KI_YAML_LEVELS_MAX */
    /* The limit per mapping; duplicate keys are refused. With 0 there is no limit, and duplicate keys all
     * stay in the tree; the last one counts. */
    size_t members_max;
    bool is_open; /* several documents, and tags that YAML does not define, are allowed */
} ki_yaml_rules;

typedef enum ki_yaml_kind { KI_YAML_SCALAR, KI_YAML_MAPPING, KI_YAML_SEQUENCE } ki_yaml_kind;

typedef struct ki_yaml_node {
    ki_yaml_kind kind;
    bool is_plain;     /* a scalar without quotes, or with a tag that says so: may be null, true, 7, … */
    bool is_binary;    /* a scalar with the tag !!binary: base64 */
    bool is_key_plain; /* the key has no quotes */
    bool is_merged;    /* from a merge key: a later member may have the same key */
    size_t line;       /* counted from 1; for a member of a mapping, the line of its key */
    char *key;         /* NULL for an element of a sequence, and for the root */
    char *text;        /* of a scalar: never NULL; else NULL */
    struct ki_yaml_node *first_child;
    struct ki_yaml_node *next;
} ki_yaml_node;

/* The line and a description of a mistake. The message contains no values. */
typedef struct ki_yaml_mistake {
    size_t line;
    ki_error error;
} ki_yaml_mistake;

/* Returns 0 with the roots of all documents, linked by `next`, or NULL for an empty text; KI_ERR_CONFIG
 * with the mistake; or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_yaml_parse(ki_str text, const ki_yaml_rules *rules, ki_yaml_node **out_root,
                               ki_yaml_mistake *mistake);

/* Frees the node, those below it and those after it. Wipes all texts. NULL is allowed. */
void ki_yaml_free(ki_yaml_node *node);

/* The member of a mapping; NULL if there is none, or if the node is not a mapping. */
const ki_yaml_node *ki_yaml_member(const ki_yaml_node *mapping, const char *key);

/* Whether the node is a plain scalar that is empty, "~" or "null". */
bool ki_yaml_is_null(const ki_yaml_node *node);

/* Whether the node is a plain scalar that is one of the words of YAML 1.1 for true or false. */
bool ki_yaml_is_bool(const ki_yaml_node *node, bool *out_value);

#endif
