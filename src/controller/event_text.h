/* SPDX-License-Identifier: Apache-2.0 */
/* event_text - names and bodies of Events: what is sent to create or patch one.
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

/* One event to create, or to patch; what is patched can be created, too, when the server has lost it. */
typedef struct ki_event_write {
    ki_recorded *event; /* a reference; NULL: there is nothing to write */
    bool is_patch;
    bool is_combined; /* core API: stands for similar ones */
    uint64_t number;  /* of the name */
    uint32_t count;   /* core API: how often; events.k8s.io/v1: of the series, 0: there is none */
    int64_t first_wall_ns;
    int64_t last_wall_ns;
} ki_event_write;

/* Who records. Texts are borrowed. */
typedef struct ki_event_source {
    int api; /* a ki_recorder_api */
    ki_str component;
    ki_str instance; /* empty: it does not say */
    ki_recorded_hash hash;
} ki_event_source;

/* An event's name is that of a DNS subdomain, and NUL-terminated. */
#define KI_EVENT_NAME_BYTES 254

/* "<object>.<number in hex>"; for an object whose name cannot begin one, a random UUID: the same one for the
 * same object and number. */
void ki_event_name(const ki_event_source *source, const ki_event_write *write, char out[KI_EVENT_NAME_BYTES]);

/* Replaces what `out` holds by the body of the request. Returns 0, KI_ERR_NO_MEMORY or KI_ERR_TOO_LARGE. */
KI_NODISCARD int ki_event_body(const ki_event_source *source, const ki_event_write *write, ki_buf *out);

#endif
