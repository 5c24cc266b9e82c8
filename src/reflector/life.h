/* SPDX-License-Identifier: Apache-2.0 */
/* life - the life cycle that an informer and a feed share: making, starting, stopping and freeing, with two
 * jobs.
 *
 *   From:     informer/informer.c, feed/feed.c (the user's calls, any thread); the client's loops
 *   To:       reflector/reflector.c (io); the functions of ki_life_kind
 *   Locks:    mu, for requests and published state; no callback runs while it is held. Taken under it: the
 *             client's, a loop's, and those taken by the kind's functions that end with _locked.
 *   Not here: what becomes of changes.
 *
 * Requests are recorded under mu and a job is woken, which acts: io_job on the reflector, dispatch_job on the
 * rest. Once it is freed and dispatch has seen that, the memory may be gone as soon as mu is released: so
 * wake a job before that.
 */
#ifndef KI_REFLECTOR_LIFE_H
#define KI_REFLECTOR_LIFE_H

#include "client/client.h"
#include "reflector/error_log.h"
#include "reflector/reflector.h"
#include "reflector/reflector_setup.h"

/* From top to bottom and back to the top; a free continues from STOPPED. dispatch moves it on, except for the
 * two stages that io sets as a reply. */
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
    const char *name;                      /* the log component of its errors */
    void (*want_locked)(ki_life *life);    /* a start, before anything is done */
    void (*begin_locked)(ki_life *life);   /* dispatch: it runs from now on */
    bool (*stop_locked)(ki_life *life);    /* dispatch: io has halted. Returns whether everything else has,
                                            * too */
    void (*free_locked)(ki_life *life);    /* a free, before anything is done */
    bool (*leave_locked)(ki_life *life);   /* dispatch: returns whether it is no longer in use */
    void (*halt)(ki_life *life);           /* io: requests have ended */
    void (*drive)(ki_life *life);          /* io: it runs, and the reflector has had its turn */
    bool (*has_room)(const ki_life *life); /* io: whether changes are accepted */
    void (*dispatch)(ki_life *life);       /* a run of dispatch_job */
} ki_life_kind;

struct ki_life {
    const ki_life_kind *kind; /* constant, like all up to mu, or used by one job only */
    ki_client *client;        /* with a reference */
    ki_client_user alive;
    ki_resource *resource;
    const char *name;         /* in metrics */
    ki_reflector_setup setup; /* the options it was made with, with its own copies of texts */
    ki_reflector_metrics metrics;
    ki_object_plan *plan;
    const char **extra_keep; /* paths that are kept beside those of the options; NULL-terminated, or NULL */
    ki_job io_job;
    ki_job dispatch_job;
    ki_reflector reflector; /* io's, as the next */
    ki_error_log errors;
    _Atomic bool dispatch_is_due; /* its job has been woken and has not begun yet */
    _Atomic bool may_deliver;     /* changed under mu: false from a stop until the next start */
    _Atomic bool is_synced;       /* the first list has ended */
    ki_mutex mu;
    ki_stage stage; /* guarded by mu, as all below */
    bool is_wanted; /* to run */
    bool was_started;
    bool stop_is_asked; /* or a free, and no start since: waits fail */
    bool is_freed;
    size_t waiters; /* calls that need it until they return: it is not freed until the last has ended */
    bool retry_is_asked;
    bool begin_is_asked;         /* of io */
    bool list_is_owed;           /* it must begin with a list */
    uint32_t doubted_list;       /* that io must abandon; 0: none */
    ki_resource_version version; /* everything up to here has been received */
    ki_error setup_error;        /* the first; the next start reports it */
};

/* ---- making ------------------------------------------------------------------------------------------ */

/* Sets its collection and options (NULL: defaults). Returns 0, KI_ERR_INVALID, KI_ERR_NO_MEMORY,
 * KI_ERR_FORKED; then, as after a failure of the next two, ki_life_fini() ends it. */
KI_NODISCARD int ki_life_init(ki_life *life, ki_client *client, const ki_resource *resource,
                              const ki_informer_options *options, ki_error *err);

/* Makes its jobs, adds it to the client, and gives it a name. The caller has set `kind`. Returns also
 * KI_ERR_STOPPED: the client is being freed. */
KI_NODISCARD int ki_life_join(ki_life *life, ki_error *err);

/* The last part to be made: its source and the reflector. The caller has set the parts of `reflector` that
 * differ; the callbacks' user is the life. On failure a source of the caller stays the caller's. */
KI_NODISCARD int ki_life_open(ki_life *life, ki_reflector_options *reflector, ki_error *err);

/* Keeps the values at a path as well, for an index; no change if they are kept. Before the first start, under
 * mu once others can use it. Returns 0; KI_ERR_INVALID for a malformed path, or one that the options drop by
 * name; KI_ERR_NO_MEMORY; KI_ERR_TOO_LARGE for too many paths. */
KI_NODISCARD int ki_life_keep_path(ki_life *life, const char *path, ki_error *err);

/* The reflector has been ended, or was never made. */
void ki_life_fini(ki_life *life);

/* The last step, after that: wakes calls that wait for its end and frees `memory`, which it is part of; the
 * client may be gone afterwards. */
void ki_life_leave(ki_life *life, void *memory);

/* ---- any thread -------------------------------------------------------------------------------------- */

/* Returns 0; KI_ERR_SYSTEM, KI_ERR_NO_MEMORY, KI_ERR_STOPPED, KI_ERR_FORKED, or the first error of the
 * set-up. */
KI_NODISCARD int ki_life_start(ki_life *life, ki_error *err) KI_EXCLUDES(life->mu);

/* Requests a stop. The second also waits for it, where waiting is allowed. */
void ki_life_request_stop(ki_life *life) KI_EXCLUDES(life->mu);
void ki_life_stop(ki_life *life) KI_EXCLUDES(life->mu);

/* Once. It may be gone afterwards; where waiting is allowed, it is. */
void ki_life_free(ki_life *life) KI_EXCLUDES(life->mu);

void ki_life_retry_now(ki_life *life) KI_EXCLUDES(life->mu);

/* Wakes dispatch, unless it has been woken already. */
void ki_life_wake_dispatch(ki_life *life);

/* As ki_informer_last_resource_version(). "" for NULL and in a child. */
size_t ki_life_write_version(const ki_life *life, char *buffer, size_t buffer_bytes) KI_EXCLUDES(life->mu);

/* An empty status, except for that version. Only the used part of its text is written: it has room for the
 * longest version, and few are long. */
void ki_life_begin_status(const ki_life *life, ki_informer_status *out_status) KI_EXCLUDES(life->mu);

/* Whether this is a child of the process that made it: see ki_client_is_foreign(). */
bool ki_life_is_foreign(const ki_life *life);

/* Whether it was ever started. */
bool ki_life_was_started(ki_life *life) KI_EXCLUDES(life->mu);

/* Under mu, inside a condition: whether the condition can no longer become true. */
bool ki_life_is_in_vain_locked(const ki_life *life);

/* Around a call that waits for it, since a callback that runs meanwhile may free it and the client. The first
 * returns 0, or KI_ERR_FORKED or KI_ERR_WOULD_DEADLOCK with nothing begun; the second is for a place where
 * waiting is allowed. After the third both may be gone. */
KI_NODISCARD int ki_life_begin_wait(ki_life *life, ki_error *err) KI_EXCLUDES(life->mu);
void ki_life_begin_wait_locked(ki_life *life) KI_REQUIRES(life->mu);
void ki_life_end_wait(ki_life *life) KI_EXCLUDES(life->mu);

/* The same around a call that only runs a callback, and does not wait. */
void ki_life_keep(ki_life *life) KI_EXCLUDES(life->mu);
void ki_life_let_go(ki_life *life) KI_EXCLUDES(life->mu);

/* Between begin and end, as ki_client_wait(), with a condition that is guarded by mu. */
bool ki_life_wait(ki_life *life, bool (*is_met)(void *user), void *user, uint64_t timeout_ms)
    KI_EXCLUDES(life->mu);

/* Wakes such waits. */
void ki_life_notify(ki_life *life) KI_EXCLUDES(life->mu);

/* ---- dispatch ---------------------------------------------------------------------------------------- */

/* Moves to the next stage, if it is time, and returns the stage; RELEASED: the caller ends it. */
KI_NODISCARD ki_stage ki_life_advance(ki_life *life) KI_EXCLUDES(life->mu);

#endif
