/* SPDX-License-Identifier: Apache-2.0 */
/* notification - one event for one handler, and the merging of two.
 *
 *   From:     informer/apply.c, informer/apply_markers.c (dispatch makes them); also handler/backlog.c,
 *             handler/listener.c
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
    uint32_t flags;      /* KI_EVENT_REPLACED for a delete: the handler knows an object with another UID */
    ki_object *object;
    ki_object *old; /* for updates and deletes: the object that the handler knows; NULL if it was dropped */
} ki_notification;

/* Merges two successive notifications of one key. Takes both and returns the result; type 0 means that
 * nothing is left to deliver. */
ki_notification ki_notification_merge(ki_notification first, ki_notification second);

/* Drops the references. */
void ki_notification_fini(ki_notification *notification);

#endif
