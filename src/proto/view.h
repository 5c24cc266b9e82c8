/* SPDX-License-Identifier: Apache-2.0 */
/* view - what a projection means for the fields of a message.
 *
 *   From:     proto/message.c
 *   To:       json/projection.h
 *   Locks:    none; one owner.
 *   Not here: reading messages.
 *
 * A projection has paths of names, a message has numbers. So the names of a message's fields are looked up
 * once, when it is first met at a node of the projection.
 */
#ifndef KI_PROTO_VIEW_H
#define KI_PROTO_VIEW_H

#include "json/projection.h"
#include "proto/table.h"

struct ki_proto_view;

/* How a member or an element is taken, as in json/sink.c. Zeroed: it is dropped. */
typedef struct ki_proto_rule {
    uint8_t keep;
    uint8_t shell; /* something in it is kept, so a container is */
    uint8_t aside; /* captured even if it is dropped */
    int8_t capture;
    uint8_t is_needed;              /* 0: neither kept nor captured, and nothing in it is */
    const ki_projection_node *node; /* for its content; NULL if that is taken whole */
    struct ki_proto_view *view;     /* for its content, once a message was met there */
} ki_proto_rule;

typedef struct ki_proto_view {
    const ki_projection_node *node;
    const ki_proto_message *message;
    struct ki_proto_view *next;
    uint64_t needed;       /* bit i: rule i is needed */
    int keeps_unknown;     /* a field that the tables do not have could be kept */
    ki_proto_rule rules[]; /* then a byte for each number, as in ki_proto_numbers; 0: not needed */
} ki_proto_view;

static inline const uint8_t *ki_proto_view_places(const ki_proto_view *view)
{
    return (const uint8_t *)(view->rules + view->message->count);
}

/* All views of one projection. Zeroed, with the projection set, it has none yet. */
typedef struct ki_proto_views {
    const ki_projection *projection;
    ki_proto_view *list;
} ki_proto_views;

void ki_proto_views_fini(ki_proto_views *views);

/* The view of a message at a node; NULL when out of memory. */
ki_proto_view *ki_proto_view_get(ki_proto_views *views, const ki_projection_node *node,
                                 const ki_proto_message *message);

/* The rule for a member or element with `node`, inside a container with `container`; NULL for `node` means
 * that the container's rule applies. */
ki_proto_rule ki_proto_rule_of(const ki_projection_node *node, const ki_projection_node *container);

#endif
