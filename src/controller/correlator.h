/* SPDX-License-Identifier: Apache-2.0 */
/* correlator - which events of the core API are created, which patch an existing one, and which are
 * dropped.
 *
 *   From:     controller/event_sender.c
 *   To:       controller/recorded.h (what is compared)
 *   Locks:    none; one owner.
 *   Not here: requests, timers. The caller passes the time.
 *
 * Like client-go's EventCorrelator, in this order:
 *   - Similar events differ only in their message. Each of the first nine different messages gets its own
 *     event. From the tenth on, one combined event represents all further messages, until there has been no
 *     similar event for 10 minutes.
 *   - Identical events: the first is created, the others patch its count.
 *   - Spam: after 25 events of one severity about an object, one event per 5 minutes is sent. The dropped
 *     events have already been counted, so the next patch includes them.
 * Each of the three steps remembers the 4,096 most recently used keys. An event that cannot be remembered for
 * lack of memory is sent as a new one.
 */
#ifndef KI_CONTROLLER_CORRELATOR_H
#define KI_CONTROLLER_CORRELATOR_H

#include <stdbool.h>

#include "controller/event_text.h"
#include "controller/recorded.h"

enum { KI_CORRELATOR_KEYS = 4096 };

typedef struct ki_correlator {
    const ki_recorded_hash *hash;
    ki_lru similar;
    ki_lru identical;
    ki_lru sources;
} ki_correlator;

/* Cannot fail. `hash` is borrowed for the life of the correlator. */
void ki_correlator_init(ki_correlator *correlator, const ki_recorded_hash *hash);
void ki_correlator_fini(ki_correlator *correlator);

/* Records an event. Returns true if it must be written: then `out_write` says how, and holds a reference to
 * the event. Returns false if it is spam. */
bool ki_correlator_take(ki_correlator *correlator, ki_recorded *event, uint64_t now_ns, int64_t wall_ns,
                        ki_event_write *out_write);

#endif
