/* SPDX-License-Identifier: Apache-2.0 */
#include "proto/view.h"

#include <assert.h>

#include "util/alloc.h"

void ki_proto_views_fini(ki_proto_views *views)
{
    while (views->list != NULL) {
        ki_proto_view *view = views->list;
        views->list = view->next;
        ki_free(view);
    }
}

ki_proto_rule ki_proto_rule_of(const ki_projection_node *node, const ki_projection_node *container)
{
    assert(container != NULL);
    if (node == NULL)
        return (ki_proto_rule){.keep = container->keep, .capture = -1, .is_needed = container->keep};
    int has_children = ki_projection_has_children(node);
    return (ki_proto_rule){.keep = node->keep,
                           .shell = node->shell,
                           .aside = node->aside,
                           .capture = node->capture,
                           .is_needed = node->keep || node->capture >= 0 || has_children,
                           .node = has_children ? node : NULL};
}

/* The quoted name of a field, which is between a comma and a colon in ki_proto_names. */
static ki_str name_of(const ki_proto_field *field)
{
    assert(field->name_len > 4);
    return (ki_str){ki_proto_names + field->name + 1, (size_t)field->name_len - 2};
}

/* Whether `child` is the rule of one of the message's fields, or of a field of a message inline in it. */
static int is_known(const ki_proto_views *views, const ki_proto_message *message,
                    const ki_projection_node *node, const ki_projection_node *child)
{
    const ki_proto_field *fields = &ki_proto_fields[message->first];
    for (size_t i = 0; i < message->count; i++) {
        int is_found = fields[i].type == KI_PROTO_INLINE
                           ? is_known(views, ki_proto_message_of(&fields[i]), node, child)
                           : ki_projection_member(views->projection, node, name_of(&fields[i])) == child;
        if (is_found)
            return 1;
    }
    return 0;
}

/* Whether the projection keeps something of a member for which the message has no field. An inline message
 * does not know the names of the outer message, so the result may be 1 without need there. */
static int keeps_unknown(const ki_proto_views *views, const ki_proto_view *view)
{
    const ki_projection_node *nodes = ki_projection_root(views->projection);
    const ki_projection_node *node = view->node;
    if (node->keep || (node->any != 0 && nodes[node->any].shell))
        return 1;
    for (uint32_t i = 0; i < node->count; i++) {
        const ki_projection_node *child = &nodes[node->first + i];
        if (child->shell && !is_known(views, view->message, node, child))
            return 1;
    }
    return 0;
}

static void fill(const ki_proto_views *views, ki_proto_view *view)
{
    assert(view->message->count <= 64); /* bits of `needed` */
    const ki_proto_field *fields = &ki_proto_fields[view->message->first];
    uint8_t *places = (uint8_t *)(view->rules + view->message->count);
    for (size_t i = 0; i < view->message->count; i++) {
        const ki_projection_node *node = view->node; /* also the node of an inline message */
        if (fields[i].type != KI_PROTO_INLINE)
            node = ki_projection_member(views->projection, view->node, name_of(&fields[i]));
        view->rules[i] = ki_proto_rule_of(node, view->node);
        if (fields[i].type == KI_PROTO_INLINE)
            view->rules[i] = (ki_proto_rule){.capture = -1, .is_needed = 1, .node = view->node};
        if (!view->rules[i].is_needed)
            continue;
        view->needed |= UINT64_C(1) << i;
        places[fields[i].number] = (uint8_t)(i + 1);
    }
    view->keeps_unknown = keeps_unknown(views, view);
}

ki_proto_view *ki_proto_view_get(ki_proto_views *views, const ki_projection_node *node,
                                 const ki_proto_message *message)
{
    assert(node != NULL);
    for (ki_proto_view *view = views->list; view != NULL; view = view->next)
        if (view->node == node && view->message == message)
            return view;
    size_t numbers = (size_t)message->number_max + 1;
    ki_proto_view *view = ki_calloc(1, sizeof(*view) + message->count * sizeof(view->rules[0]) + numbers);
    if (view == NULL)
        return NULL;
    view->node = node;
    view->message = message;
    view->next = views->list;
    views->list = view;
    fill(views, view);
    return view;
}
