/* SPDX-License-Identifier: Apache-2.0 */
/* event - the types of watch events, and what a bookmark says.
 *
 *   From:     api/decode/watch_decoder.c, proto/proto_watch.c
 *   Locks:    none; plain functions.
 *   Not here: where an event ends.
 *
 * The names of the wire protocol are translated here: MODIFIED becomes KI_CHANGE_UPDATED.
 */
#ifndef KI_API_DECODE_EVENT_H
#define KI_API_DECODE_EVENT_H

#include <kinformer/change.h>
#include <kinformer/error.h>
#include <kinformer/json.h>

#include "util/buf.h"

/* The result of feeding a watch decoder: a change, or one of these three.
 *   KI_CHANGE_ADDED, KI_CHANGE_UPDATED, KI_CHANGE_DELETED: there is an object
 *   KI_CHANGE_BOOKMARK: see resource_version and ends_initial_events */
enum {
    KI_WATCH_MORE = 0,    /* all bytes are used */
    KI_WATCH_ERROR = 100, /* see status */
    KI_WATCH_REFUSED      /* an event that cannot be used, see refused, refused_type; the stream continues */
};

/* The result for a type ("ADDED"); KI_WATCH_MORE if it is empty or unknown. */
int ki_event_step(ki_str type);

/* Reads the object of a bookmark: its version, "" if it has none, and whether it ends the initial events.
 * Returns 0, KI_ERR_NO_MEMORY or KI_ERR_TOO_LARGE. */
KI_NODISCARD int ki_event_bookmark(ki_json object, ki_buf *out_version, int *out_ends_initial_events);

#endif
