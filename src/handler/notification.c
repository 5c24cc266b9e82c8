/* SPDX-License-Identifier: Apache-2.0 */
/* Merges two events of one object into one: the table of rule 11 in docs/consistency.md. */
#include "handler/notification.h"

#include <assert.h>

void ki_notification_fini(ki_notification *notification)
{
    assert(notification != NULL);
    notification->object = ki_object_unref(notification->object);
    notification->old = ki_object_unref(notification->old);
}

static int same_uid(const ki_object *a, const ki_object *b)
{
    return ki_str_equal(ki_object_uid(a), ki_object_uid(b));
}

/* The handler does not know the object, so it gets an add with the final state, or nothing. */
static ki_notification merge_unknown(ki_notification first, ki_notification second)
{
    assert(first.type == KI_CHANGE_ADDED && first.old == NULL);
    ki_notification merged = {.type = KI_CHANGE_ADDED,
                              .flags = (first.flags & KI_EVENT_INITIAL) | KI_EVENT_COALESCED};
    if (second.type == KI_CHANGE_DELETED)
        return (ki_notification){0};
    merged.object = ki_object_ref(second.object);
    return merged;
}

/* Whether the object that the handler knows and the last object have different UIDs. If the known object was
 * dropped, the flag says whether it differed from the next one. UIDs are never reused. */
static int is_replaced(const ki_notification *first, const ki_object *last)
{
    if (first->old != NULL)
        return !same_uid(first->old, last);
    return (first->flags & KI_EVENT_REPLACED) != 0 || !same_uid(first->object, last);
}

/* The handler knows the object, first.old, so it gets the change from that to the final state. */
static ki_notification merge_known(ki_notification first, ki_notification second)
{
    assert(first.type != KI_CHANGE_ADDED);
    ki_notification merged = {.type =
                                  second.type == KI_CHANGE_DELETED ? KI_CHANGE_DELETED : KI_CHANGE_UPDATED,
                              .flags = KI_EVENT_COALESCED,
                              .object = ki_object_ref(second.object),
                              .old = ki_object_ref(first.old)};
    if (is_replaced(&first, second.object))
        merged.flags |= KI_EVENT_REPLACED;
    if (merged.type == KI_CHANGE_DELETED)
        merged.flags |= second.flags & KI_EVENT_FINAL_STATE_UNKNOWN;
    else
        merged.flags |= first.flags & second.flags & KI_EVENT_RESYNC;
    return merged;
}

ki_notification ki_notification_merge(ki_notification first, ki_notification second)
{
    assert(first.type != 0 && second.type != 0 && first.object != NULL && second.object != NULL);
    assert(first.type != KI_CHANGE_DELETED || second.type != KI_CHANGE_DELETED);
    ki_notification merged =
        first.type == KI_CHANGE_ADDED ? merge_unknown(first, second) : merge_known(first, second);
    ki_notification_fini(&first);
    ki_notification_fini(&second);
    return merged;
}
