/* SPDX-License-Identifier: Apache-2.0 */
/* view - the rules of a projection for the fields of a message.
 *
 *   From:     proto/members.c, which makes the views, proto/message.c, which frees them, proto/item.c,
 *             proto/message_write.c, proto/list.c, proto/map.c
 *   To:       json/projection.h
 *   Locks:    none; one owner.
 *   Not here: reading messages.
 *
 * A projection has paths of names; a message has field numbers. So the names of a message's fields are
 * looked up once, when the message first occurs at a node of the projection.
 */
#ifndef KI_PROTO_VIEW_H
#define KI_PROTO_VIEW_H

#include "json/projection.h"
#include "proto/table.h"

struct ki_proto_view;

/* How a member or an element is taken, as in json/sink.c. A zeroed rule drops it. */
typedef struct ki_proto_rule {
    uint8_t keep;
    uint8_t shell; /* something in it is kept, so a container is kept too */
    uint8_t aside; /* the value is captured even if it is dropped */
    int8_t capture;
    uint8_t is_needed;              /* 0 if neither the value nor anything in it is kept or captured */
    const ki_projection_node *node; /* the rules for its content; NULL if the content is taken whole */
    struct ki_proto_view *view;     /* for its content, once a message has occurred there */
} ki_proto_rule;

typedef struct ki_proto_view {
    const ki_projection_node *node;
    const ki_proto_message *message;
    struct ki_proto_view *next;
    uint64_t needed;       /* bit i: rule i is needed */
    int keeps_unknown;     /* a field that the tables do not have could be kept */
    ki_proto_rule rules[]; /* followed by a byte for each number, as in ki_proto_numbers; 0 if not needed */
} ki_proto_view;

static inline const uint8_t *ki_proto_view_places(const ki_proto_view *view)
{
    return (const uint8_t *)(view->rules + view->message->count);
}

/* All views of one projection. A zeroed struct with the projection set has none yet. */
typedef struct ki_proto_views {
    const ki_projection *projection;
    ki_proto_view *list;
} ki_proto_views;

void ki_proto_views_fini(ki_proto_views *views);

/* Finds or creates the view of a message at a node; NULL when out of memory. */
ki_proto_view *ki_proto_view_get(ki_proto_views *views, const ki_projection_node *node,
                                 const ki_proto_message *message);

/* The rule for a member or element. `node` is its node, `container` that of the container around it. If
 * `node` is NULL, the container's rule applies. */
ki_proto_rule ki_proto_rule_of(const ki_projection_node *node, const ki_projection_node *container);

#endif
