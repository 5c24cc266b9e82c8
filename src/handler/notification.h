/* SPDX-License-Identifier: Apache-2.0 */
/* notification - one event on its way to one handler, and what comes of two.
 *
 *   From:     informer/apply.c      (dispatch makes them)
 *   To:       handler/backlog.c, handler/listener.c
 *   Locks:    none; whoever owns it.
 *   Not here: waiting; calling.
 */
#ifndef KI_HANDLER_NOTIFICATION_H
#define KI_HANDLER_NOTIFICATION_H

#include <kinformer/handler.h>

/* An event with its references. */
typedef struct ki_notification {
    ki_change_type type; /* 0: the marker SYNCED */
    uint32_t flags; /* KI_EVENT_REPLACED at a delete: the object that the handler knows was another one */
    ki_object *object;
    ki_object *old; /* what the handler knew before: of updates and deletes; NULL when it was let go */
} ki_notification;

/* Joins two notifications of one key, in order. Takes both and returns what is left of them; type 0:
 * nothing. */
ki_notification ki_notification_merge(ki_notification first, ki_notification second);

/* Drops the references. */
void ki_notification_fini(ki_notification *notification);

#endif
