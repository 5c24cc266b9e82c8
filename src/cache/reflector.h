/* SPDX-License-Identifier: Apache-2.0 */
/* reflector - lists and watches one collection, for ever, and says what it learns.
 *
 *   From:     a ki_list_watch (io: heads, bodies and ends of answers), a timer
 *   To:       `on_change`: cache/delta_fifo.c
 *   Locks:    status_mu, a leaf, for who reads the status; all else is io's.
 *   Not here: sockets and threads; what a change does to the store.
 *
 * A state machine: one function per state says what happens with what comes in. `version` is how far it has
 * received: all that was handed to on_change and taken. What it asks for is never older than that.
 */
#ifndef KI_CACHE_REFLECTOR_H
#define KI_CACHE_REFLECTOR_H

#include <kinformer/change.h>
#include <kinformer/informer.h>
#include <kinformer/list_watch.h>

#include "api/object_plan.h"
#include "cache/resource_version.h"
#include "util/clock.h"

typedef struct ki_reflector ki_reflector;

/* Texts and pointers are borrowed for the reflector's life, but for list_watch, which is copied. */
typedef struct ki_reflector_options {
    ki_list_watch list_watch; /* `release` is called by ki_reflector_fini() */
    ki_object_plan *plan;
    const ki_informer_options *informer; /* page_size, watch_list, backoff, selectors, tweak, transform */
    const ki_clock *clock;
    uint64_t seed; /* of jitter and watch time-outs; 0: random */
    ki_change_cb on_change;
    void (*on_error)(const ki_watch_error *error, void *user); /* NULL: nobody listens */
    void (*schedule)(uint64_t due_ns, void *user); /* call ki_reflector_tick() then; UINT64_MAX: never */
    void *user;                                    /* of the three */
    /* metrics cells are added here by the owner of cache/informer_metrics.h */
} ki_reflector_options;

/* Returns 0, KI_ERR_SYSTEM (no random seed). */
KI_NODISCARD int ki_reflector_init(ki_reflector *reflector, const ki_reflector_options *options, ki_error *err);

/* Halted before. Takes a zeroed struct. */
void ki_reflector_fini(ki_reflector *reflector);

/* Goes to work: `version` is how far the store is complete; unset: nothing is known. */
void ki_reflector_begin(ki_reflector *reflector, const ki_resource_version *version);

/* Cancels what is under way. The phase is STOPPED then; ki_reflector_begin() may follow. */
void ki_reflector_halt(ki_reflector *reflector);

/* The time that `schedule` named has come. */
void ki_reflector_tick(ki_reflector *reflector);

/* After on_change has returned 1: there is room again. */
void ki_reflector_room(ki_reflector *reflector);

/* Ends a back-off now. */
void ki_reflector_retry_now(ki_reflector *reflector);

/* Any thread: fills in the members that the reflector knows: phase, reason, http_status, ages, retry_ms, lists,
 * watches, reconnects, events, refused, bytes_read, message. */
void ki_reflector_read_status(ki_reflector *reflector, ki_informer_status *out_status);

/* Any thread, without a lock: see ki_informer_age_ms(). */
uint64_t ki_reflector_age_ms(const ki_reflector *reflector);

#endif
