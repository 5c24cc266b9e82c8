/* SPDX-License-Identifier: Apache-2.0 */
/* event - the types of watch events, and what a bookmark says.
 *
 *   From:     api/decode/watch_decoder.c, proto/proto_watch.c, reflector/reflector_stream.c,
 *             reflector/reflector_watch.c
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

/* The result of feeding a watch decoder: one of the three values below, or a change:
 *   KI_CHANGE_ADDED, KI_CHANGE_UPDATED, KI_CHANGE_DELETED: an object was read
 *   KI_CHANGE_BOOKMARK: see resource_version and ends_initial_events */
enum {
    KI_WATCH_MORE = 0,    /* all bytes are used */
    KI_WATCH_ERROR = 100, /* see status */
    KI_WATCH_REFUSED      /* the event cannot be used, see refused and refused_type; the stream continues */
};

/* The result for a type, such as "ADDED"; 0 if the type is empty or unknown. */
int ki_event_result(ki_str type);

static inline int ki_event_has_object(int result)
{
    return result == KI_CHANGE_ADDED || result == KI_CHANGE_UPDATED || result == KI_CHANGE_DELETED;
}

/* Reads the object of a bookmark: its resource version ("" if it has none), and whether it ends the initial
 * events. Returns 0, KI_ERR_NO_MEMORY or KI_ERR_TOO_LARGE. */
KI_NODISCARD int ki_event_bookmark(ki_json object, ki_buf *out_version, int *out_ends_initial_events);

#endif
