/* SPDX-License-Identifier: Apache-2.0 */
/* lease - the text of a Lease of coordination.k8s.io/v1.
 *
 *   From:     controller/election.c
 *   To:       <kinformer/json.h>
 *   Locks:    none.
 *   Not here: what is written when.
 */
#ifndef KI_CONTROLLER_LEASE_H
#define KI_CONTROLLER_LEASE_H

#include <kinformer/object.h>

#include "util/buf.h"

typedef struct ki_lease_record {
    ki_str holder; /* empty: none */
    int64_t duration_seconds;
    int64_t acquire_wall_ns; /* when the holder acquired it; INT64_MIN: keeps the time of the Lease */
    int64_t renew_wall_ns;
    int64_t transitions; /* how many times the holder has changed */
} ki_lease_record;

/* The holder, the duration in seconds, and how many times the holder has changed; empty or 0 if missing. */
ki_str ki_lease_holder(const ki_object *lease);
int64_t ki_lease_duration_seconds(const ki_object *lease);
int64_t ki_lease_transitions(const ki_object *lease);

/* Replaces the content of `out` with `lease`, changed only in its spec, or with a new Lease if `lease` is
 * NULL. Returns 0, KI_ERR_NO_MEMORY or KI_ERR_TOO_LARGE. */
KI_NODISCARD int ki_lease_write(const ki_object *lease, const char *ns, const char *name,
                                const ki_lease_record *record, ki_buf *out);

#endif
