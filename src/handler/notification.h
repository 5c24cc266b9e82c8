/* SPDX-License-Identifier: Apache-2.0 */
/* notification - one event for one handler, and the merging of two.
 *
 *   From:     informer/apply.c      (dispatch makes them)
 *   To:       handler/backlog.c, handler/listener.c
 *   Locks:    none; it has one owner.
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
    ki_object *old; /* what the handler knew before, for updates and deletes; NULL when it was dropped */
} ki_notification;

/* Merges two notifications of one key, in order. Takes both and returns the result; type 0: nothing is
 * left. */
ki_notification ki_notification_merge(ki_notification first, ki_notification second);

/* Drops the references. */
void ki_notification_fini(ki_notification *notification);

#endif
