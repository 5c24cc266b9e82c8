/* SPDX-License-Identifier: Apache-2.0 */
/* series - which events of events.k8s.io/v1 are created, and when a series of them is written.
 *
 *   From:     controller/event_sender.c
 *   To:       controller/recorded.h (what is compared)
 *   Locks:    none; one owner.
 *   Not here: requests, timers. The caller passes the time.
 *
 * Like client-go's tools/events. Events are isomorphic when they differ only in message and time. The first
 * of them is created. The second turns it into a series, which is written at once. Further ones are counted,
 * and the count is written every 30 minutes. After 6 minutes without another one, the last count is written,
 * and the next event is created as a new one. The 4,096 most recently recorded groups of events are
 * remembered.
 *
 * The LRU is in the order in which events were last recorded, so its oldest entry is the next to end.
 */
#ifndef KI_CONTROLLER_SERIES_H
#define KI_CONTROLLER_SERIES_H

#include <stdbool.h>

#include "controller/event_text.h"
#include "controller/recorded.h"

typedef struct ki_series {
    const ki_recorded_hash *hash;
    ki_lru entries;
    ki_list written; /* entries with a count; the one written least recently is the first */
} ki_series;

/* Cannot fail. `hash` is borrowed for the life of the series. */
void ki_series_init(ki_series *series, const ki_recorded_hash *hash);
void ki_series_fini(ki_series *series);

/* Records an event. Returns true if something must be written: then `out_write` says what, and holds a
 * reference to an event. Returns false if the event was only counted. */
bool ki_series_take(ki_series *series, ki_recorded *event, uint64_t now_ns, int64_t wall_ns,
                    ki_event_write *out_write);

/* Returns whether a count must be written now, by `out_write`. `is_last`: all series end now. */
bool ki_series_due(ki_series *series, uint64_t now_ns, bool is_last, ki_event_write *out_write);

/* When to call ki_series_due() again; UINT64_MAX: never. */
uint64_t ki_series_next_ns(const ki_series *series);

#endif
