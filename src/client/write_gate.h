/* SPDX-License-Identifier: Apache-2.0 */
/* write_gate - the program's function that decides whether a write may be sent.
 *
 *   From:     ki_client_set_write_gate() (any thread); controller/leader_guard.c; also client/client.c,
 *             rest/rest_call.c
 *   To:       rest/rest_call.c (io calls it)
 *   Locks:    mu, a leaf; it is not held while the gate runs.
 *   Not here: which requests are writes; why the gate refuses.
 */
#ifndef KI_CLIENT_WRITE_GATE_H
#define KI_CLIENT_WRITE_GATE_H

#include <kinformer/client.h>
#include <stdbool.h>

#include "util/thread.h"

typedef struct ki_write_gate {
    ki_mutex mu;
    ki_cond ended;        /* signalled when the gate has returned */
    ki_write_gate_cb ask; /* guarded by mu, like all members below; NULL: every write may be sent */
    void *user;
    bool is_asking; /* io is running the gate */
    pthread_t asker;
} ki_write_gate;

void ki_write_gate_init(ki_write_gate *gate);
void ki_write_gate_fini(ki_write_gate *gate);

/* Sets the gate to `ask`, with NULL as its `user`, if the gate is still `former` with `user`. In both cases,
 * returns when no other thread runs `former`. */
void ki_write_gate_replace(ki_write_gate *gate, ki_write_gate_cb former, void *user, ki_write_gate_cb ask)
    KI_EXCLUDES(gate->mu);

/* Runs the gate. On io, one call at a time. Returns 0, or KI_ERR_REFUSED with the reason in `err`. */
KI_NODISCARD int ki_write_gate_ask(ki_write_gate *gate, const ki_write *write, ki_error *err)
    KI_EXCLUDES(gate->mu);

#endif
