/* SPDX-License-Identifier: Apache-2.0 */
/* yaml_tree - a YAML text as a tree whose nodes know their lines.
 *
 *   From:     config/kubeconfig.c, apiserver/value/yaml.c
 *   To:       libyaml's events (util/yaml/yaml_parse.c), anchors and aliases (util/yaml/yaml_alias.h)
 *   Locks:    none; one owner.
 *   Not here: what the fields mean; numbers.
 *
 * Bounded: bytes, nodes and depth have limits, also for what aliases stand for, which is copied. Refused are
 * keys that are no scalar, and NUL characters.
 *
 * Merge keys (<<) are taken as kubectl takes them: in the order of the text. What comes by one replaces what
 * stands before it, and what stands behind it replaces that; of a list of mappings the first goes before the
 * others.
 */
#ifndef KI_UTIL_YAML_YAML_TREE_H
#define KI_UTIL_YAML_YAML_TREE_H

#include <kinformer/common.h>
#include <kinformer/error.h>
#include <stdbool.h>

#define KI_YAML_LEVELS_MAX 100
#define KI_YAML_ANCHORS_MAX 1000

typedef struct ki_yaml_rules {
    size_t bytes_max; /* of the text, and of all that aliases stand for */
    size_t nodes_max;
    size_t depth_max; /* KI_YAML_LEVELS_MAX at the most */
    /* Of a mapping; keys that come twice are refused. 0: any number, all of which stay in the tree; of those
     * with one key the last counts. */
    size_t members_max;
    bool is_open; /* several documents, and tags that are not YAML's own */
} ki_yaml_rules;

typedef enum ki_yaml_kind { KI_YAML_SCALAR, KI_YAML_MAPPING, KI_YAML_SEQUENCE } ki_yaml_kind;

typedef struct ki_yaml_node {
    ki_yaml_kind kind;
    bool is_plain;     /* a scalar without quotes, or with a tag that says so: it may be null, true, 7, ... */
    bool is_binary;    /* a scalar with the tag !!binary: base64 */
    bool is_key_plain; /* the key has no quotes */
    bool is_merged;    /* by a merge key: the same key may come again */
    size_t line;       /* from 1; of the key, for a member of a mapping */
    char *key;         /* NULL: an element of a sequence, or the root */
    char *text;        /* of a scalar, never NULL then */
    struct ki_yaml_node *first_child;
    struct ki_yaml_node *next;
} ki_yaml_node;

/* Where the text is wrong, and how; the message says nothing of values. */
typedef struct ki_yaml_mistake {
    size_t line;
    ki_error error;
} ki_yaml_mistake;

/* Returns 0 with the roots of all documents, one behind the other by `next`, NULL for a text without any;
 * KI_ERR_CONFIG with the mistake; KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_yaml_parse(ki_str text, const ki_yaml_rules *rules, ki_yaml_node **out_root,
                               ki_yaml_mistake *mistake);

/* The node and those behind it. Wipes all texts. NULL is allowed. */
void ki_yaml_free(ki_yaml_node *node);

/* The member of a mapping; NULL: there is none, or the node is no mapping. */
const ki_yaml_node *ki_yaml_member(const ki_yaml_node *mapping, const char *key);

/* A plain scalar that is empty, "~" or "null". */
bool ki_yaml_is_null(const ki_yaml_node *node);

/* A plain scalar that is one of YAML 1.1's words for true and false. */
bool ki_yaml_is_bool(const ki_yaml_node *node, bool *out_value);

#endif
