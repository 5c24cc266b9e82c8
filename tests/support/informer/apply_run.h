/* SPDX-License-Identifier: Apache-2.0 */
/* apply_run - a store with its queue and its apply, and handlers that record their calls.
 *
 *   From:     unit/informer/apply/test_*.c, unit/handler/test_fanout.c, support/informer/apply_model.h
 *   To:       the real store, queue, fan-out and listeners
 *   Locks:    none; one thread plays all roles.
 *
 * The server's messages are a script of words, separated by spaces:
 *
 *   (2 a1 b3 ?c )9      list 2: the items a at version 1 and b at 3, and c, which could not be used; it ends
 *                       at 9. Without an end it has failed. A word in between may be an event.
 *   (2? a1 /b3 )9       the same, but only at its end is it known whether the list can be trusted; b was
 *                       deleted at 3 while the list was received
 *   +a4 ~a5 -a6 -a6?    events of a watch; the last one is a missed delete
 *   ^7 @ !3             a bookmark; a resync for handlers that are due; a new history from list 3 on
 *   |                   everything is applied and delivered
 *
 * An object is a letter, which is its name, and a version of letters and digits. ":uid" may follow, else the
 * UID is the name; then "=text" may follow, and the object keeps only that text.
 *
 * The calls of a handler are written in the same way: "+a1i", "~a1>2", "-a2", "synced", each with the flags
 * i(nitial), (re)s(ync), r(eplaced), u(nknown final state), c(oalesced).
 * A name of more than one letter ends with a dot.
 */
#ifndef KI_TESTS_SUPPORT_INFORMER_APPLY_RUN_H
#define KI_TESTS_SUPPORT_INFORMER_APPLY_RUN_H

#include "informer/apply.h"

enum { APPLY_RUN_HANDLERS = 3, APPLY_RUN_TEXT_MAX = 1 << 18 };

typedef struct apply_handler {
    ki_subscriber subscriber;
    char *text; /* from malloc, so that it is not counted */
    size_t len;
    int has_joined;
} apply_handler;

typedef struct apply_run {
    ki_store *store;
    ki_delta_fifo fifo;
    ki_fanout fanout;
    ki_apply apply;
    uint32_t list;    /* the current list of the script, or the last one */
    bool is_doubtful; /* whether that list can be trusted is not known yet */
    size_t retries;   /* after running out of memory */
    apply_handler handlers[APPLY_RUN_HANDLERS];
} apply_run;

/* Adds the first handler, too. */
void apply_run_init(apply_run *run);

/* Checks the store before it is freed. */
void apply_run_fini(apply_run *run);

/* Plays a script. */
void apply_run_play(apply_run *run, const char *script);

/* Runs a script from the start; the first handler must get these calls, and the store must end like this. */
void apply_run_expect(const char *script, const char *heard, const char *store);

/* An object "default/<name>". */
ki_object *apply_object(const char *name, const char *version, const char *uid, const char *text);

/* Pushes items n0000 … of a list, all at one version. */
void apply_run_push_many(apply_run *run, uint32_t list, size_t count, const char *version);

/* Makes one step; repeats it while out of memory. Returns the result of ki_apply_step(). */
int apply_run_step(apply_run *run);

/* Applies and delivers everything. */
void apply_run_settle(apply_run *run);

/* Adds a handler; repeats it while out of memory. `handler` NULL: the same as the first. */
void apply_run_join(apply_run *run, size_t number, const ki_handler *handler);

/* Delivers the events that wait for a handler. */
void apply_run_deliver(apply_run *run, size_t number);

/* A stop and a start: popped and queued changes are dropped. */
void apply_run_drop(apply_run *run);

/* The calls of a handler since the last call of this function; settles first.
 * The text is valid until the next event. */
const char *apply_run_heard(apply_run *run, size_t number);

/* The store, sorted: "a1 b3". Valid until the next call. */
const char *apply_run_store(apply_run *run);

/* The version up to which the store is complete. Valid until it changes. */
const char *apply_run_version(const apply_run *run);

#endif
