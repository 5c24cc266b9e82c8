/* SPDX-License-Identifier: Apache-2.0 */
/* projection - which parts of a value are kept, and which are captured.
 *
 *   From:     api/object/object_plan.c: informer options (keep, drop) and the metadata that every object has;
 *             proto/; also api/object/object_probe.c, json/sink.c
 *   To:       json/sink.c
 *   Locks:    none; immutable once built, shared by any number of sinks.
 *   Not here: copying.
 *
 * Paths are those of json/path.h: "/spec/containers/" "*" "/image". Array elements can only be selected by
 * *, because dropping single elements would renumber the others. The longest matching path decides. Of two
 * equally long paths, the one decides that has a name where the other has *, compared from their ends. A
 * dropped container with something kept in it is kept as a shell around that. A scalar where a path expects
 * a container is dropped.
 */
#ifndef KI_JSON_PROJECTION_H
#define KI_JSON_PROJECTION_H

#include <kinformer/error.h>

#include "json/path.h"

#define KI_PROJECTION_DEPTH_MAX KI_PATH_DEPTH_MAX
#define KI_PROJECTION_NODES_MAX 4096
#define KI_PROJECTION_CAPTURES_MAX 16

typedef struct ki_projection_node {
    ki_str name;    /* of the member that this node is for; unescaped */
    uint32_t first; /* the index of the first named child; the others follow it */
    uint32_t count; /* the number of named children */
    uint32_t any;   /* the child for every other name or element; 0 if none */
    uint8_t keep;   /* applies to the value, except where a child decides */
    uint8_t shell;  /* something below is kept, so this is kept at least as an empty shell */
    uint8_t aside;  /* the value is captured even if it is not kept */
    int8_t capture; /* index into a sink's captures; -1 if the value is not captured */
} ki_projection_node;

typedef struct ki_projection ki_projection;

/* A value to capture. Capture i of a sink is the kept part of the first value at the path of
 * captures[i]. */
typedef struct ki_projection_capture {
    const char *path;    /* of a member or element; no path may occur twice */
    int even_if_dropped; /* a value that is not kept is captured in the side text */
} ki_projection_capture;

typedef struct ki_projection_options {
    const char *const *keep; /* NULL-terminated; NULL or empty: everything */
    const char *const *drop; /* NULL-terminated or NULL */
    const ki_projection_capture *captures;
    size_t capture_count; /* at most KI_PROJECTION_CAPTURES_MAX */
} ki_projection_options;

/* Returns NULL with KI_ERR_INVALID (the message names the path), KI_ERR_TOO_LARGE or KI_ERR_NO_MEMORY.
 * Strings are copied. */
KI_NODISCARD ki_projection *ki_projection_new(const ki_projection_options *options, ki_error *err);

/* NULL is allowed. ki_projection_free() drops a reference; the last one frees the projection. */
ki_projection *ki_projection_ref(ki_projection *projection);
void ki_projection_free(ki_projection *projection);

/* What happens to the value at a path. For a name that has no rule, and for the position of an element, the
 * rule for * applies. A malformed path counts as kept. */
typedef enum ki_projection_fate {
    KI_PROJECTION_DROPS = 0,
    KI_PROJECTION_KEEPS,
    KI_PROJECTION_KEEPS_PART /* only something in the value is kept */
} ki_projection_fate;

ki_projection_fate ki_projection_fate_of(const ki_projection *projection, const char *path);

const ki_projection_node *ki_projection_root(const ki_projection *projection);

/* The rule for a member. `name` is the name as a JSON string, with its quotes. NULL if the container's rule
 * applies. */
const ki_projection_node *ki_projection_member(const ki_projection *projection,
                                               const ki_projection_node *node, ki_str name);

/* The index of `child` among the named children of `node`; SIZE_MAX if it is not one of them. */
size_t ki_projection_child_number(const ki_projection *projection, const ki_projection_node *node,
                                  const ki_projection_node *child);

/* The rule for the elements of an array; NULL if the array's rule applies. */
const ki_projection_node *ki_projection_element(const ki_projection *projection,
                                                const ki_projection_node *node);

static inline int ki_projection_has_children(const ki_projection_node *node)
{
    return node->count != 0 || node->any != 0;
}

#endif
