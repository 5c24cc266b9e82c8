/* SPDX-License-Identifier: Apache-2.0 */
/* apply_run - a store with its queue and its apply, and handlers that write down what they hear.
 *
 *   From:     tests of informer/apply.h and handler/fanout.h
 *   To:       the real store, queue, fan-out and listeners
 *   Locks:    none; one thread plays all of them.
 *
 * What comes from the server is a script, words between spaces:
 *
 *   (2 a1 b3 ?c )9      list 2: the items a at version 1 and b at 3, c that could not be used; its end at 9.
 *                       Without an end it has failed. A word in between may be an event.
 *   (2? a1 /b3 )9       likewise, and whether the list can be believed is known at its end; b was deleted at
 *   3
 *                       while it came
 *   +a4 ~a5 -a6 -a6?    events of a watch; the last a missed delete
 *   ^7 @ !3             a bookmark; a resync of who is due; a new history from list 3 on
 *   |                   everything is applied and delivered
 *
 * An object is a letter, which is its name, and a version, of any letters and digits; then ":uid", else the
 * UID is the name; then "=text", and the object keeps nothing but that text.
 *
 * What a handler hears is written likewise: "+a1i", "~a1>2", "-a2", "synced", each with the flags i(nitial),
 * (re)s(ync), r(eplaced), u(nknown final state), c(oalesced). A name of more than a letter ends in a dot.
 */
#ifndef KI_TESTS_SUPPORT_APPLY_RUN_H
#define KI_TESTS_SUPPORT_APPLY_RUN_H

#include "informer/apply.h"

enum { APPLY_RUN_HANDLERS = 3, APPLY_RUN_TEXT_MAX = 1 << 18 };

typedef struct apply_handler {
    ki_subscriber subscriber;
    char *text; /* of malloc, so that it does not count */
    size_t len;
    int has_joined;
} apply_handler;

typedef struct apply_run {
    ki_store *store;
    ki_delta_fifo fifo;
    ki_fanout fanout;
    ki_apply apply;
    uint32_t list;    /* that the script is in, or was */
    bool is_doubtful; /* that list */
    size_t retries;   /* for lack of memory */
    apply_handler handlers[APPLY_RUN_HANDLERS];
} apply_run;

/* The first handler has joined. */
void apply_run_init(apply_run *run);

/* Checks the store before it goes. */
void apply_run_fini(apply_run *run);

/* Plays a script. */
void apply_run_play(apply_run *run, const char *script);

/* Plays a script from the start; the first handler must have heard this, and the store must be that. */
void apply_run_expect(const char *script, const char *heard, const char *store);

/* "default/<name>" */
ki_object *apply_object(const char *name, const char *version, const char *uid, const char *text);

/* Items n0000 … of a list, all at one version. */
void apply_run_push_many(apply_run *run, uint32_t list, size_t count, const char *version);

/* One step; again as long as memory is out. Returns as ki_apply_step(). */
int apply_run_step(apply_run *run);

/* Applies everything, and delivers it. */
void apply_run_settle(apply_run *run);

/* Makes a handler, and has it join; again as long as memory is out. `handler` NULL: as the first. */
void apply_run_join(apply_run *run, size_t number, const ki_handler *handler);

/* Delivers what waits for a handler. */
void apply_run_deliver(apply_run *run, size_t number);

/* A stop and a start: what is popped and what waits is forgotten. */
void apply_run_drop(apply_run *run);

/* What a handler has heard since the last time; settles first. The text is valid until the next event. */
const char *apply_run_heard(apply_run *run, size_t number);

/* The store, sorted: "a1 b3". Valid until the next call. */
const char *apply_run_store(apply_run *run);

/* The version up to which the store is complete. Valid as long as it does not move. */
const char *apply_run_version(const apply_run *run);

#endif
