/* SPDX-License-Identifier: Apache-2.0 */
/* What comes of two events of one object when there is room for one: the table of rule 11 in
 * docs/consistency.md. */
#include "cache/listener.h"

void ki_notification_fini(ki_notification *notification)
{
    notification->object = ki_object_unref(notification->object);
    notification->old = ki_object_unref(notification->old);
}

static int same_uid(const ki_object *a, const ki_object *b)
{
    return ki_str_equal(ki_object_uid(a), ki_object_uid(b));
}

/* The state that the handler knows before `first` is delivered; NULL when it knows none, or when that was
 * let go. */
static ki_object *take_known(ki_notification *first)
{
    ki_object **known = first->type == KI_EVENT_UPDATE ? &first->old : &first->object;
    ki_object *object = *known;
    *known = NULL;
    return object;
}

/* The handler does not know the object: it hears of the final state, or of nothing. */
static ki_notification merge_unknown(ki_notification first, ki_notification second)
{
    ki_notification merged = {.type = KI_EVENT_ADD,
                              .flags = (first.flags & KI_EVENT_INITIAL) | KI_EVENT_COALESCED};
    if (second.type == KI_EVENT_DELETE)
        return (ki_notification){0};
    merged.object = ki_object_ref(second.object);
    return merged;
}

/* The handler knows the object, as `known` (NULL: let go). */
static ki_notification merge_known(ki_notification first, ki_notification second, ki_object *known)
{
    uint32_t replaced = (first.flags | second.flags) & KI_EVENT_REPLACED;
    ki_notification merged = {.flags = KI_EVENT_COALESCED, .object = ki_object_ref(second.object)};
    if (second.type == KI_EVENT_DELETE) {
        merged.type = KI_EVENT_DELETE;
        merged.flags |= second.flags & KI_EVENT_FINAL_STATE_UNKNOWN;
        return merged;
    }
    merged.type = KI_EVENT_UPDATE;
    merged.flags |= first.flags & second.flags & KI_EVENT_RESYNC;
    if (known == NULL)
        merged.flags |= replaced;
    else if (!same_uid(known, second.object))
        merged.flags |= KI_EVENT_REPLACED;
    merged.old = ki_object_ref(known);
    return merged;
}

ki_notification ki_notification_merge(ki_notification first, ki_notification second)
{
    ki_notification merged;
    if (first.type == KI_EVENT_ADD) {
        merged = merge_unknown(first, second);
    } else {
        ki_object *known = take_known(&first);
        merged = merge_known(first, second, known);
        ki_object_unref(known);
    }
    ki_notification_fini(&first);
    ki_notification_fini(&second);
    return merged;
}
