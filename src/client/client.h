/* SPDX-License-Identifier: Apache-2.0 */
/* client - the loops that informers share, and the threads that run them.
 *
 *   From:     reflector/, rest/
 *   To:       util/loop/loop.c; http/http.c
 *   Locks:    mu, which guards the list of users. Taken under it: a loop's.
 *   Not here: what runs on the loops; requests.
 *
 * Three roles, io, dispatch and handler, on as many loops as the mode has. A loop without threads is run by
 * threads that call ki_client_dispatch() or wait for something.
 *
 * Everything made with a client holds a reference to it, and so does every call that waits or runs loops.
 * ki_client_free() closes it: running work is stopped, then threads, connections and descriptors are ended.
 * From then on nothing can be started, and the loops are run by threads that free what was made with the
 * client; the memory is freed with the last reference.
 *
 *   client.c        making, threads, closing
 *   client_later.c  closing after a free inside a callback
 *   client_users.c  the objects made with it
 *   client_wait.c   calls that wait or run loops
 */
#ifndef KI_CLIENT_CLIENT_H
#define KI_CLIENT_CLIENT_H

#include <kinformer/client.h>
#include <stdbool.h>

#include "client/stream_memory.h"
#include "client/wire_memory.h"
#include "client/write_gate.h"
#include "http/http.h"
#include "util/hash.h"
#include "util/loop/loop.h"
#include "util/map.h"
#include "util/refcount.h"

/* A part that is made once for a client, when it is first needed, and freed with it. */
typedef struct ki_client_part {
    void (*stop)(struct ki_client_part *part);  /* the client is being freed; must not wait */
    void (*close)(struct ki_client_part *part); /* afterwards; loops still run. May wait */
    void (*free)(struct ki_client_part *part);  /* the last reference to the client is gone */
} ki_client_part;

struct ki_client {
    ki_client_options options; /* constant, like all up to mu */
    const ki_clock *clock;
    uint64_t seed; /* 0: random; else the source of all random numbers */
    ki_metrics *metrics;
    ki_log_sink own_log;
    const ki_log_sink *log; /* its own; NULL: that of the process */
    ki_loop *io;
    ki_loop *dispatch;
    ki_loop *handlers;
    ki_loop loops[3];
    unsigned generation;         /* the process that made it: see util/fork.h */
    ki_job post;                 /* on io: calls what was posted */
    ki_credentials *credentials; /* set before the first informer is made, like the next; NULL: no server, or
                                  * closed */
    ki_http *http;
    char *ns;                 /* from the context; NULL: none */
    ki_stream_memory streams; /* io's: see ki_reflector_options; the next likewise */
    ki_wire_memory wires;
    ki_hash_key hash_key; /* of names; constant */
    ki_write_gate gate;   /* has its own lock */
    ki_refcount refs;
    _Atomic size_t inside;   /* calls that wait or run loops; changed under mu, except by more calls
                              * entering */
    _Atomic bool is_closing; /* changed under mu, like the next: nothing can be started any more */
    _Atomic bool is_closed;  /* its loops have neither threads nor descriptors */
    ki_mutex mu;
    ki_cond changed;
    ki_list users;    /* guarded by mu, like all below: what was made with this client and is not freed yet */
    ki_map names;     /* these by name; room is reserved in advance, so that nothing fails later */
    ki_map serials;   /* and by serial number, likewise */
    size_t busy;      /* of these */
    uint64_t changes; /* notifications so far */
    uint64_t serial;
    ki_list posts;
    bool takes_no_posts;   /* guarded by mu: the last ones run */
    ki_client_part *calls; /* rest/rest.h; NULL: none were made yet */
    size_t handler_count;
    ki_job close_job;      /* on dispatch: see client_later.c, as the next */
    ki_client *next_freed; /* the thread that has freed it */
};

void ki_client_ref(ki_client *client);
void ki_client_unref(ki_client *client);

/* Closes it and drops the caller's reference: the rest of ki_client_free() after all users were told. Only
 * where ki_client_may_wait() is true. */
void ki_client_close(ki_client *client) KI_EXCLUDES(client->mu);

/* The same where waiting is not allowed: see client_later.c. */
void ki_client_close_later(ki_client *client);

/* After the client was closed: starts a thread that frees what was freed inside a read section. */
void ki_client_finish_later(ki_client *client);

/* For close_job: tries again to start a thread that closes the client. */
void ki_client_close_again(ki_job *job);

/* Around a call that waits in a client or runs its loops, on a thread of the program: clients that callbacks
 * free meanwhile are closed at the end of the outermost such call. */
void ki_client_visit_begin(void);
void ki_client_visit_end(void);

/* Whether this is a child of the process that made it. Then none of its locks may be taken, since one that
 * was held during fork() is never released here, and nothing that is shared with the parent may be
 * touched. */
bool ki_client_is_foreign(const ki_client *client);

/* 0, or KI_ERR_FORKED with its message. */
KI_NODISCARD int ki_client_check_process(const ki_client *client, ki_error *err);

/* As ki_client_new(), with a clock and a seed: for simulations. With a virtual clock and a seed it has no
 * descriptor; without a seed it has one in KI_MODE_EVENT_LOOP, and can be connected. */
KI_NODISCARD ki_client *ki_client_new_simulated(const ki_client_options *options, const ki_clock *clock,
                                                uint64_t seed, ki_error *err);

/* Sets the server for informers without a source of their own; once, before there are any. Of `options` only
 * those for requests are used; NULL: defaults. Returns 0; KI_ERR_CONFIG, KI_ERR_NO_MEMORY, KI_ERR_SYSTEM. */
KI_NODISCARD int ki_client_connect(ki_client *client, const ki_config *config, const ki_http_options *options,
                                   ki_error *err);

/* The configuration from the options, the kubeconfig and the environment, or one that was loaded before; for
 * ki_config_fini(). Returns 0, KI_ERR_CONFIG, KI_ERR_INVALID, KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_client_load(const ki_client_options *options, ki_config *out_config, ki_error *err);

/* Connects according to the options and the kubeconfig. */
KI_NODISCARD int ki_client_connect_as_configured(ki_client *client, ki_error *err);

/* Starts the threads that the mode has. Returns 0 or KI_ERR_SYSTEM, KI_ERR_NO_MEMORY; KI_ERR_STOPPED when it
 * is being freed; KI_ERR_FORKED. */
KI_NODISCARD int ki_client_run(ki_client *client, ki_error *err) KI_EXCLUDES(client->mu);

/* One more handler, or one less. There are as many threads as handlers, if the system can start them. Threads
 * of removed handlers stay for new ones. */
void ki_client_count_handlers(ki_client *client, int change) KI_EXCLUDES(client->mu);

/* The part that makes single calls; NULL: not made yet. */
ki_client_part *ki_client_calls(ki_client *client) KI_EXCLUDES(client->mu);

/* Gives it to the client, unless that has one or is being freed. Returns the one that it has. */
ki_client_part *ki_client_set_calls(ki_client *client, ki_client_part *part) KI_EXCLUDES(client->mu);

#define KI_CLIENT_NAME_BYTES 160

/* An object made with a client that has jobs on its loops. It is busy while it is being made, while it runs,
 * and from its free on; a client is not closed while one is busy. */
typedef struct ki_client_user {
    ki_list_node node;
    ki_map_node by_name;
    ki_map_node by_serial;
    uint64_t serial;
    ki_job *job;                     /* woken when the client is being freed */
    bool is_busy;                    /* guarded by the client's mu */
    char name[KI_CLIENT_NAME_BYTES]; /* unique among the client's users */
} ki_client_user;

/* Adds it, busy. Its name is `name` or, if that is in use, "name#serial". Returns 0, or KI_ERR_STOPPED when
 * the client is being freed. */
KI_NODISCARD int ki_client_join(ki_client *client, ki_client_user *user, const char *name)
    KI_EXCLUDES(client->mu);

/* One that has not joined is allowed. */
void ki_client_leave(ki_client *client, ki_client_user *user) KI_EXCLUDES(client->mu);

/* Busy from now on, unless the client is being freed: returns false then. */
KI_NODISCARD bool ki_client_begin(ki_client *client, ki_client_user *user) KI_EXCLUDES(client->mu);

void ki_client_set_busy(ki_client *client, ki_client_user *user, bool is_busy) KI_EXCLUDES(client->mu);

/* After the user with this serial was told to end: returns when it has ended or, where waiting is not
 * allowed, when its end is ensured. The caller has a reference. */
void ki_client_wait_gone(ki_client *client, uint64_t serial) KI_EXCLUDES(client->mu);

/* A condition to wait for: `is_met` is called under `mu`; code that makes it true calls
 * ki_client_notify(). */
typedef struct ki_wait {
    ki_mutex *mu;
    bool (*is_met)(void *user);
    void *user;
    bool runs_nothing; /* everything that makes it true has threads: run no loops, so that handlers stay on
                        * their thread */
} ki_wait;

/* Returns whether it was met before `timeout_ms` had passed; UINT64_MAX: no limit. Runs the loops that have
 * no threads meanwhile. Only where ki_client_may_wait() is true. */
bool ki_client_wait(ki_client *client, const ki_wait *wait, uint64_t timeout_ms) KI_EXCLUDES(client->mu);

/* Wakes waiting threads to check their conditions. The caller holds the mutex of the condition; the second is
 * for the client's own. */
void ki_client_notify(ki_client *client) KI_EXCLUDES(client->mu);
void ki_client_notify_locked(ki_client *client) KI_REQUIRES(client->mu);

/* Runs the loops that no other thread runs; returns whether there was any work. */
bool ki_client_step(ki_client *client) KI_EXCLUDES(client->mu);

#endif
