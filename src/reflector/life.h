/* SPDX-License-Identifier: Apache-2.0 */
/* life - the life cycle that an informer and a feed share: making, starting, stopping and freeing, with two
 * jobs.
 *
 *   From:     informer/informer.c, feed/feed.c (the user's calls, any thread); the client's loops; also
 *             feed/feed_apply.c, feed/feed_run.c, feed/feed_status.c, informer/
 *   To:       reflector/reflector.c (io); the functions of ki_life_kind
 *   Locks:    mu, for requests and published state; no callback runs while it is held. Taken under it: the
 *             client's, a loop's, and those taken by the kind's functions that end with _locked.
 *   Not here: what becomes of changes.
 *
 * A call records its request under mu and wakes a job, which carries it out: io_job acts on the reflector,
 * dispatch_job on the rest. After ki_life_free(), the memory may be gone as soon as mu is released,
 * so wake a job while you hold mu.
 */
#ifndef KI_REFLECTOR_LIFE_H
#define KI_REFLECTOR_LIFE_H

#include "client/client.h"
#include "reflector/error_log.h"
#include "reflector/reflector.h"
#include "reflector/reflector_setup.h"

/* A run goes from STOPPED to HALTED and back to STOPPED. A free goes on from STOPPED to LEAVING and RELEASED.
 * dispatch sets the stages, except HALTED and RELEASED, which io sets as a reply. */
typedef enum ki_stage {
    KI_STAGE_STOPPED = 0,
    KI_STAGE_RUNNING,
    KI_STAGE_HALTING,  /* io has been asked to end its requests */
    KI_STAGE_HALTED,   /* io has ended them; callbacks may still run */
    KI_STAGE_LEAVING,  /* io has been asked to release the source */
    KI_STAGE_RELEASED, /* io has released it; only memory is left */
} ki_stage;

typedef struct ki_life ki_life;

/* The differences between an informer and a feed. Each function may be NULL, except the last two. */
typedef struct ki_life_kind {
    const char *name;                       /* the component in the log */
    void (*want_locked)(ki_life *life);     /* a start was requested, and nothing has been done yet */
    void (*begin_locked)(ki_life *life);    /* dispatch: the run begins */
    bool (*stop_locked)(ki_life *life);     /* dispatch: io has halted. Returns whether everything else has
                                            * halted, too */
    void (*free_locked)(ki_life *life);     /* a free was requested, and nothing has been done yet */
    bool (*leave_locked)(ki_life *life);    /* dispatch: returns whether nothing uses the informer or feed any
                                            * more */
    void (*halt)(ki_life *life);            /* io: all requests have ended */
    void (*drive)(ki_life *life);           /* io: each turn of a run, after the reflector has had its turn */
    bool (*has_space)(const ki_life *life); /* io: whether changes are accepted */
    void (*dispatch)(ki_life *life);        /* a run of dispatch_job */
} ki_life_kind;

struct ki_life {
    const ki_life_kind *kind; /* constant or used by one job only, like all members above mu */
    ki_client *client;        /* holds a reference */
    ki_client_user alive;
    ki_resource *resource;
    const char *name;         /* in metrics and errors */
    ki_reflector_setup setup; /* the options, with copies of their texts */
    ki_reflector_metrics metrics;
    ki_object_plan *plan;
    const char **extra_keep; /* paths to keep in addition to those of the options; NULL-terminated, or NULL */
    ki_job io_job;
    ki_job dispatch_job;
    ki_reflector reflector; /* used on io only, like `errors` */
    ki_error_log errors;
    _Atomic bool dispatch_is_due; /* dispatch_job has been woken and has not started yet */
    _Atomic bool may_deliver;     /* changed under mu: false from a stop until the next start */
    _Atomic bool is_synced;       /* the first list has ended */
    ki_mutex mu;
    ki_stage stage; /* guarded by mu, like all members below */
    bool is_wanted; /* it should run */
    bool was_started;
    bool stop_is_asked; /* a stop or a free was requested, and no start since: waits fail */
    bool is_freed;
    size_t waiters; /* number of calls that still use this struct: it is not freed before the last one ends */
    bool retry_is_asked;
    bool begin_is_asked;   /* io must begin a run */
    bool list_is_owed;     /* the run must begin with a list */
    uint32_t doubted_list; /* the list that io must abandon; 0: none */
    ki_resource_version
        version;          /* the store, or the queue of a feed, is complete up to here; runs begin here */
    ki_error setup_error; /* the first error of the set-up; the next start reports it */
};

/* ---- making ------------------------------------------------------------------------------------------ */

/* Sets the collection and the options (NULL: defaults). Returns 0, KI_ERR_INVALID, KI_ERR_NO_MEMORY or
 * KI_ERR_FORKED. If this function, ki_life_join() or ki_life_open() fails, call ki_life_fini(). */
KI_NODISCARD int ki_life_init(ki_life *life, ki_client *client, const ki_resource *resource,
                              const ki_informer_options *options, ki_error *err);

/* Makes the jobs, adds the life to the client, and gives it a name. The caller has set `kind`. Returns 0,
 * KI_ERR_NO_MEMORY, or KI_ERR_STOPPED if the client is being freed. */
KI_NODISCARD int ki_life_join(ki_life *life, ki_error *err);

/* The last step of making: opens the source and makes the reflector. The caller has set the options in
 * `reflector` that depend on the kind; the `user` of its callbacks is the life. On failure, the caller still
 * owns a list_watch that it has passed in the options. */
KI_NODISCARD int ki_life_open(ki_life *life, ki_reflector_options *reflector, ki_error *err);

/* Keeps the values at a path as well, for an index. Has no effect if they are kept already. Call it before
 * the first start, and under mu once other threads can use the life. Returns 0; KI_ERR_INVALID for a
 * malformed path, or one that the options drop by name; KI_ERR_NO_MEMORY;
 * KI_ERR_TOO_LARGE for too many paths. */
KI_NODISCARD int ki_life_keep_path(ki_life *life, const char *path, ki_error *err);

/* The reflector must have been ended, or never made. */
void ki_life_fini(ki_life *life);

/* The last step, after ki_life_fini(): wakes calls that wait for the end, and frees `memory`, the block that
 * contains the life. The client may be gone afterwards. */
void ki_life_leave(ki_life *life, void *memory);

/* ---- any thread -------------------------------------------------------------------------------------- */

/* Returns 0; KI_ERR_SYSTEM, KI_ERR_NO_MEMORY, KI_ERR_STOPPED, KI_ERR_FORKED, or the first error of the
 * set-up. */
KI_NODISCARD int ki_life_start(ki_life *life, ki_error *err) KI_EXCLUDES(life->mu);

/* Both request a stop. ki_life_stop() also waits until it is complete, where waiting is allowed. */
void ki_life_request_stop(ki_life *life) KI_EXCLUDES(life->mu);
void ki_life_stop(ki_life *life) KI_EXCLUDES(life->mu);

/* Call it once. Where waiting is allowed, the life is gone when the call returns; elsewhere it may be. */
void ki_life_free(ki_life *life) KI_EXCLUDES(life->mu);

void ki_life_retry_now(ki_life *life) KI_EXCLUDES(life->mu);

/* Wakes dispatch, unless it has been woken already. */
void ki_life_wake_dispatch(ki_life *life);

/* Like ki_informer_last_resource_version(). Writes "" if `life` is NULL or belongs to a parent process. */
size_t ki_life_write_version(const ki_life *life, char *buffer, size_t buffer_bytes) KI_EXCLUDES(life->mu);

/* Clears the status and sets its resource version. Of the version's buffer it writes only the part that is
 * used, since the buffer has space for the longest version, and few are long. */
void ki_life_begin_status(const ki_life *life, ki_informer_status *out_status) KI_EXCLUDES(life->mu);

/* Whether the current process is a child of the process that made the life: see ki_client_is_foreign(). */
bool ki_life_is_foreign(const ki_life *life);

/* Whether it was ever started. */
bool ki_life_was_started(ki_life *life) KI_EXCLUDES(life->mu);

/* For the condition of a wait, under mu: whether the condition can no longer become true. */
bool ki_life_cannot_succeed_locked(const ki_life *life);

/* Enclose a wait in begin and end, since a callback that runs meanwhile may free the life and the client.
 * ki_life_begin_wait() returns 0, or KI_ERR_FORKED or KI_ERR_WOULD_DEADLOCK; then do not call end.
 * ki_life_begin_wait_locked() is for callers that have checked that waiting is allowed. After
 * ki_life_end_wait(), the life and the client may be gone. */
KI_NODISCARD int ki_life_begin_wait(ki_life *life, ki_error *err) KI_EXCLUDES(life->mu);
void ki_life_begin_wait_locked(ki_life *life) KI_REQUIRES(life->mu);
void ki_life_end_wait(ki_life *life) KI_EXCLUDES(life->mu);

/* The same for a call that runs a callback, but does not wait. */
void ki_life_keep(ki_life *life) KI_EXCLUDES(life->mu);
void ki_life_let_go(ki_life *life) KI_EXCLUDES(life->mu);

/* Call it between begin and end. Like ki_client_wait(), with a condition that is guarded by mu. */
bool ki_life_wait(ki_life *life, bool (*is_met)(void *user), void *user, uint64_t timeout_ms)
    KI_EXCLUDES(life->mu);

/* Wakes the calls of ki_life_wait(), which check their condition again. */
void ki_life_notify(ki_life *life) KI_EXCLUDES(life->mu);

/* ---- dispatch ---------------------------------------------------------------------------------------- */

/* Moves to the next stage if that is possible now, and returns the stage.
 * If it is RELEASED, the caller frees everything. */
KI_NODISCARD ki_stage ki_life_advance(ki_life *life) KI_EXCLUDES(life->mu);

#endif
