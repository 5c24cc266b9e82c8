/* SPDX-License-Identifier: Apache-2.0 */
/* client - the loops that informers share, and the threads that run them.
 *
 *   From:     reflector/, rest/, controller/, client/write_gate.c, informer/factory.c,
 *             informer/informer_run.c, informer/registration.c
 *   To:       util/loop/loop.c; http/http.c
 *   Locks:    mu, which guards the list of users. Taken under it: a loop's.
 *   Not here: what runs on the loops; requests.
 *
 * There are three roles: io, dispatch and handler. The mode decides whether each has its own loop, or all
 * share one. A loop without threads is run by threads that call ki_client_dispatch() or wait for something.
 *
 * Everything made with a client holds a reference to it, and so does every call that waits or runs loops.
 * ki_client_free() closes the client: it stops running work, then ends threads, connections and descriptors.
 * After that nothing can be started, and threads that free objects made with the client run its loops. The
 * memory is freed with the last reference.
 *
 *   client.c        making, threads, closing
 *   client_close.c  closing after a free inside a callback
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

/* A part of a client that is made when it is first needed, and freed with the client. */
typedef struct ki_client_part {
    void (*stop)(struct ki_client_part *part);  /* called when the client is being freed; must not wait */
    void (*close)(struct ki_client_part *part); /* called after that, while loops still run; may wait */
    void (*free)(struct ki_client_part *part);  /* called when the last reference to the client is gone */
} ki_client_part;

struct ki_client {
    ki_client_options options; /* constant, like most members above mu */
    const ki_clock *clock;
    uint64_t seed; /* 0: random; otherwise the source of all random numbers */
    ki_metrics *metrics;
    ki_log_sink own_log;
    const ki_log_sink *log; /* own_log; NULL: the log of the process */
    ki_loop *io;
    ki_loop *dispatch;
    ki_loop *handlers;
    ki_loop loops[3];
    unsigned generation;         /* the process that made the client: see util/fork.h */
    ki_job post;                 /* on io: calls the posted functions */
    ki_credentials *credentials; /* set before the first informer is made, like `http`; NULL: no server, or
                                  * closed */
    ki_http *http;
    char *ns;                 /* from the context; NULL: none */
    ki_stream_memory streams; /* used on io only, like `wires`: see ki_reflector_options */
    ki_wire_memory wires;
    ki_hash_key hash_key; /* for names; constant */
    ki_write_gate gate;   /* has its own lock */
    ki_refcount refs;
    _Atomic size_t inside;   /* number of calls that wait or run loops; decremented under mu, incremented
                              * without it */
    _Atomic bool is_closing; /* nothing can be started any more; changed under mu */
    _Atomic bool is_closed;  /* the loops have neither threads nor descriptors any more */
    ki_mutex mu;
    ki_cond changed;
    ki_list users;    /* guarded by mu, like all members below: objects made with this client and not freed
                       * yet */
    ki_map names;     /* the users by name; space is reserved in advance, so that inserts do not fail */
    ki_map serials;   /* the users by serial number, with reserved space as well */
    size_t busy;      /* number of busy users */
    uint64_t changes; /* number of notifications so far */
    uint64_t serial;
    ki_list posts;
    bool takes_no_posts;   /* no more posts are accepted: the last ones run */
    ki_client_part *calls; /* the part of rest/rest.h; NULL: not made yet */
    size_t handler_count;
    bool is_short;         /* there are fewer handler threads than there should be */
    bool logs_shortage;    /* the post job will log it */
    ki_job close_job;      /* on dispatch: see client_close.c */
    ki_client *next_freed; /* the next client in the list of those that a thread has freed: see
                            * client_close.c */
};

void ki_client_ref(ki_client *client);
void ki_client_unref(ki_client *client);

/* The second part of ki_client_free(), after all users were told: closes the client and drops the caller's
 * reference. Only where ki_client_may_wait() returns 0. */
void ki_client_close(ki_client *client) KI_EXCLUDES(client->mu);

/* The same where waiting is not allowed: see client_close.c. */
void ki_client_close_later(ki_client *client);

/* For a closed client: starts a thread that runs the loops,
 * so that objects freed inside a read section are gone. */
void ki_client_finish_later(ki_client *client);

/* For close_job: tries again to start a thread that closes the client. */
void ki_client_close_again(ki_job *job);

/* Enclose a call that waits in a client or runs its loops, on a thread of the program. Clients that callbacks
 * free meanwhile are closed at the end of the outermost such call. */
void ki_client_visit_begin(void);
void ki_client_visit_end(void);

/* Whether the current process is a child of the process that made the client. Then do not take any of its
 * locks, since a lock that was held during fork() is never released in the child; and do not touch anything
 * that is shared with the parent. */
bool ki_client_is_foreign(const ki_client *client);

/* Returns 0, or KI_ERR_FORKED with a message if the client is foreign. */
KI_NODISCARD int ki_client_check_process(const ki_client *client, ki_error *err);

/* For simulations: like ki_client_new(), with a clock and a seed. With a virtual clock and a seed, the client
 * has no descriptor. Without a seed it has one in KI_MODE_EVENT_LOOP, and can be connected. */
KI_NODISCARD ki_client *ki_client_new_simulated(const ki_client_options *options, const ki_clock *clock,
                                                uint64_t seed, ki_error *err);

/* Sets the server for informers that have no other source. Call it once, before the first informer is made.
 * Only the options for requests are used; NULL means defaults.
 * Returns 0; KI_ERR_CONFIG, KI_ERR_NO_MEMORY, KI_ERR_SYSTEM. */
KI_NODISCARD int ki_client_connect(ki_client *client, const ki_config *config, const ki_http_options *options,
                                   ki_error *err);

/* Loads the configuration from the options, the kubeconfig and the environment, or copies `config` of the
 * options. The caller calls ki_config_fini(). Returns 0, KI_ERR_CONFIG,
 * KI_ERR_INVALID or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_client_load(const ki_client_options *options, ki_config *out_config, ki_error *err);

/* Connects according to the options and the kubeconfig. */
KI_NODISCARD int ki_client_connect_as_configured(ki_client *client, ki_error *err);

/* Starts the threads of the mode, if they do not run yet. Returns 0, KI_ERR_SYSTEM, KI_ERR_NO_MEMORY,
 * KI_ERR_STOPPED if the client is being freed, or KI_ERR_FORKED. */
KI_NODISCARD int ki_client_run(ki_client *client, ki_error *err) KI_EXCLUDES(client->mu);

/* There is one more handler, or one less. Unless the options set the number, there are as many threads as
 * handlers, if the system can start them. The threads of removed handlers stay for new ones. */
void ki_client_count_handlers(ki_client *client, int change) KI_EXCLUDES(client->mu);

/* The part that makes single calls, or NULL if it is not made yet. */
ki_client_part *ki_client_calls(ki_client *client) KI_EXCLUDES(client->mu);

/* Gives this part to the client, unless the client has one or is being freed.
 * Returns the part that the client has, or NULL. */
ki_client_part *ki_client_set_calls(ki_client *client, ki_client_part *part) KI_EXCLUDES(client->mu);

#define KI_CLIENT_NAME_BYTES 160

/* An object that was made with a client and has jobs on its loops. It is busy while it is being made, while
 * it runs, and from its free on. A client is not closed while a user is busy. */
typedef struct ki_client_user {
    ki_list_node node;
    ki_map_node by_name;
    ki_map_node by_serial;
    uint64_t serial;
    ki_job *job;                     /* woken when the client is being freed */
    void (*on_release)(void *user);  /* for ki_client_end_user(); NULL: none */
    void *user;                      /* for on_release */
    bool is_busy;                    /* guarded by the client's mu */
    char name[KI_CLIENT_NAME_BYTES]; /* unique among the client's users */
} ki_client_user;

/* Adds a user, which is busy at first. Its name is `name` or, if that is in use, "name#serial". Returns 0, or
 * KI_ERR_STOPPED if the client is being freed. */
KI_NODISCARD int ki_client_join(ki_client *client, ki_client_user *user, const char *name)
    KI_EXCLUDES(client->mu);

/* The same for a user called "kind name", as in "leader web". The error is KI_ERR_STOPPED with a message. */
KI_NODISCARD int ki_client_join_as(ki_client *client, ki_client_user *user, const char *kind,
                                   const char *name, ki_error *err) KI_EXCLUDES(client->mu);

/* The end of a user: it leaves the client. Then `memory`, which contains it, is freed, and its reference to
 * the client is dropped. */
void ki_client_free_user(ki_client *client, ki_client_user *user, void *memory) KI_EXCLUDES(client->mu);

/* The same for a user whose callbacks ki_client_count_handlers() has counted. They are no longer counted, and
 * on_release is called first: it is the last callback. */
void ki_client_end_user(ki_client *client, ki_client_user *user, void *memory) KI_EXCLUDES(client->mu);

/* Makes the user busy. If the client is being freed, does nothing and returns false. */
KI_NODISCARD bool ki_client_begin(ki_client *client, ki_client_user *user) KI_EXCLUDES(client->mu);

void ki_client_set_busy(ki_client *client, ki_client_user *user, bool is_busy) KI_EXCLUDES(client->mu);

/* Call it after the user with this serial was told to end. Returns when the user has ended or, where waiting
 * is not allowed, when its end is ensured. The caller has a reference to the client. */
void ki_client_wait_gone(ki_client *client, uint64_t serial) KI_EXCLUDES(client->mu);

/* A condition to wait for. `is_met` is called under `mu`. Code that makes the condition true calls
 * ki_client_notify(). */
typedef struct ki_wait {
    ki_mutex *mu;
    bool (*is_met)(void *user);
    void *user;
    bool runs_nothing; /* run no loops while waiting, so that handlers stay on their thread; only if all loops
                        * that can make the condition true have threads */
} ki_wait;

/* Waits, and runs the loops that have no threads meanwhile. Returns whether the condition was met within
 * `timeout_ms`; UINT64_MAX: no limit. Only where ki_client_may_wait() returns 0. */
bool ki_client_wait(ki_client *client, const ki_wait *wait, uint64_t timeout_ms) KI_EXCLUDES(client->mu);

/* Wake waiting threads, which check their conditions again. The caller holds the mutex of the condition. Use
 * ki_client_notify_locked() if that is the client's mu. */
void ki_client_notify(ki_client *client) KI_EXCLUDES(client->mu);
void ki_client_notify_locked(ki_client *client) KI_REQUIRES(client->mu);

/* Runs the loops that no other thread runs; returns whether there was any work. */
bool ki_client_step(ki_client *client) KI_EXCLUDES(client->mu);

#endif
