/* SPDX-License-Identifier: Apache-2.0 */
/* event_text - names and bodies of the requests that create or patch Events.
 *
 *   From:     controller/recorder.c
 *   To:       <kinformer/json.h>
 *   Locks:    none.
 *   Not here: what is written when.
 */
#ifndef KI_CONTROLLER_EVENT_TEXT_H
#define KI_CONTROLLER_EVENT_TEXT_H

#include <stdbool.h>

#include "controller/recorded.h"
#include "util/buf.h"

/* One event to create or to patch. If the server no longer has an event that is patched, the same write
 * creates it. */
typedef struct ki_event_write {
    ki_recorded *event; /* a reference; NULL: there is nothing to write */
    bool is_patch;
    bool is_combined; /* core API: represents similar events */
    uint64_t number;  /* part of the name */
    uint32_t count;   /* core API: of the event; events.k8s.io/v1: of the series, 0: no series */
    int64_t first_wall_ns;
    int64_t last_wall_ns;
} ki_event_write;

/* The reporter. Texts are borrowed. */
typedef struct ki_event_source {
    ki_recorder_api api;
    ki_str component;
    ki_str instance; /* empty: none */
    ki_recorded_hash hash;
} ki_event_source;

/* The size of an event's name, which is a DNS subdomain, with its NUL. */
#define KI_EVENT_NAME_BYTES 254

/* Writes the name "<object>.<number in hex>". If the name of the object cannot be the beginning of such a
 * name, writes a UUID, which depends only on the object and the number. */
void ki_event_name(const ki_event_source *source, const ki_event_write *write, char out[KI_EVENT_NAME_BYTES]);

/* Replaces the content of `out` with the body of the request. Returns 0, KI_ERR_NO_MEMORY or
 * KI_ERR_TOO_LARGE. */
KI_NODISCARD int ki_event_body(const ki_event_source *source, const ki_event_write *write, ki_buf *out);

#endif
