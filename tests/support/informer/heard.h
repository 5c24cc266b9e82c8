/* SPDX-License-Identifier: Apache-2.0 */
/* heard - a handler that counts its calls, replays them into a store, and detects invalid ones.
 *
 *   From:     handlers of any thread; tests
 *   To:       its own store; atomic counters
 *   Locks:    mu, for threads that wait; the library is not called while it is held.
 *   Not here: cmocka's assertions, which work only on the main thread.
 */
#ifndef KI_TESTS_SUPPORT_INFORMER_HEARD_H
#define KI_TESTS_SUPPORT_INFORMER_HEARD_H

#include <kinformer/handler.h>
#include <kinformer/store.h>
#include <stdatomic.h>

#include "util/thread.h"

typedef struct heard heard;

/* Called inside a callback; `event` is NULL for on_synced, on_batch_end and on_release. */
typedef void (*heard_cb)(heard *what, const ki_event *event);

struct heard {
    atomic_int adds;
    atomic_int updates;
    atomic_int deletes;
    atomic_int initial; /* events with that flag, like the next three */
    atomic_int resyncs;
    atomic_int replaced;
    atomic_int unknown;
    atomic_int synced;
    atomic_int batch_ends;
    atomic_int releases;
    atomic_int wrongs; /* an add of an object that exists, a version that decreases, …; each is printed */
    atomic_int inside; /* callbacks that are running */
    ki_store *replay;
    heard_cb in_event; /* hooks; NULL: none */
    heard_cb in_synced;
    heard_cb in_release;
    void *user;
    ki_mutex mu;
    ki_cond changed;
    atomic_int has_new_history; /* set when the server starts over: versions may decrease */
    int is_held;                /* guarded by mu: the next event does not return until heard_let_go() */
};

void heard_init(heard *what);
void heard_fini(heard *what);

/* Has all callbacks; `user` is the heard. */
ki_handler heard_handler(heard *what);

int heard_events(const heard *what);

/* Waits until the counter has reached this value; not on the handler's thread.
 * Returns 0 if that takes more than ten seconds. */
int heard_wait(heard *what, atomic_int *counter, int at_least);

/* The next event, and all after it, wait in the callback until heard_let_go(). */
void heard_hold(heard *what);
void heard_let_go(heard *what);

/* The number of objects that differ between the replay and the store, by key and version. */
size_t heard_differences(const heard *what, const ki_store *store);

#endif
