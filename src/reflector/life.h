/* SPDX-License-Identifier: Apache-2.0 */
/* life - what an informer and a feed share: how one that follows a collection is made, started, stopped and
 * freed, and the two jobs by which that is done.
 *
 *   From:     informer/informer.c, feed/feed.c (the user's calls, any thread); the client's loops
 *   To:       reflector/reflector.c (io); the functions of ki_life_kind
 *   Locks:    mu, for requests and what is published; no callback runs while it is held. Taken under it: the
 *             client's, a loop's, and what the kind takes in functions that end with _locked.
 *   Not here: what becomes of changes.
 *
 * Whoever wants something notes it under mu and wakes a job, which acts: io_job on the reflector,
 * dispatch_job on the rest. Once it is freed and dispatch has seen that, it may be gone as soon as mu is
 * given away: so a job is woken before.
 */
#ifndef KI_REFLECTOR_LIFE_H
#define KI_REFLECTOR_LIFE_H

#include "client/client.h"
#include "reflector/error_log.h"
#include "reflector/reflector.h"
#include "reflector/reflector_setup.h"

/* From top to bottom and back to the top; a free goes on from STOPPED. dispatch goes from one to the next,
 * but for the two that io answers with. */
typedef enum ki_stage {
    KI_STAGE_STOPPED = 0,
    KI_STAGE_RUNNING,
    KI_STAGE_HALTING,  /* io is asked to end its requests */
    KI_STAGE_HALTED,   /* it has; callbacks may still run */
    KI_STAGE_LEAVING,  /* io is asked to let go of the source */
    KI_STAGE_RELEASED, /* it has; nothing is left but memory */
} ki_stage;

typedef struct ki_life ki_life;

/* In which an informer and a feed differ. Each function may be NULL, but for the last two. */
typedef struct ki_life_kind {
    const char *name;                      /* of what logs its errors */
    void (*want_locked)(ki_life *life);    /* a start, before anything is done */
    void (*begin_locked)(ki_life *life);   /* dispatch: it runs from now on */
    bool (*stop_locked)(ki_life *life);    /* dispatch: io has halted. Returns whether all else has, too */
    void (*free_locked)(ki_life *life);    /* a free, before anything is done */
    bool (*leave_locked)(ki_life *life);   /* dispatch: returns whether nobody needs it any more */
    void (*halt)(ki_life *life);           /* io: requests have ended */
    bool (*has_room)(const ki_life *life); /* io: whether changes are welcome */
    void (*dispatch)(ki_life *life);       /* a run of dispatch_job */
} ki_life_kind;

struct ki_life {
    const ki_life_kind *kind; /* constant, as all up to mu, or the business of one job */
    ki_client *client;        /* with a reference */
    ki_client_user alive;
    ki_resource *resource;
    const char *name;         /* in metrics */
    ki_reflector_setup setup; /* the options, with texts of its own: what it was made with */
    ki_reflector_metrics metrics;
    ki_object_plan *plan;
    ki_job io_job;
    ki_job dispatch_job;
    ki_reflector reflector; /* io's, as the next */
    ki_error_log errors;
    _Atomic bool dispatch_is_due; /* its job has been woken and has not begun yet */
    _Atomic bool may_deliver;     /* changed under mu: not from a stop on until it begins anew */
    _Atomic bool is_synced;       /* the first list has ended */
    ki_mutex mu;
    ki_stage stage; /* guarded by mu, as all below */
    bool is_wanted; /* to run */
    bool was_started;
    bool stop_is_asked; /* or a free, and no start since: who waits waits in vain */
    bool is_freed;
    size_t waiters; /* calls that wait for something of it: it stays until the last has ended */
    bool retry_is_asked;
    bool begin_is_asked;         /* of io */
    bool list_is_owed;           /* it is to begin with one */
    uint32_t doubted_list;       /* that io is to give up; 0: none */
    ki_resource_version version; /* what was received is complete up to here */
    ki_error setup_error;        /* the first; the next start reports it */
};

/* ---- making ------------------------------------------------------------------------------------------ */

/* What it follows, with which options (NULL: defaults). Returns 0, KI_ERR_INVALID, KI_ERR_NO_MEMORY,
 * KI_ERR_FORKED; then, as after a failure of the next two, ki_life_fini() ends it. */
KI_NODISCARD int ki_life_init(ki_life *life, ki_client *client, const ki_resource *resource,
                              const ki_informer_options *options, ki_error *err);

/* Its jobs; the client knows of it, and it has a name. The caller has set `kind`. Returns also
 * KI_ERR_STOPPED: the client is being freed. */
KI_NODISCARD int ki_life_join(ki_life *life, ki_error *err);

/* The last part to be made: its source and the reflector. The caller has set of `reflector` what differs; the
 * callbacks' user is the life. When it fails, a source of the caller's own stays the caller's. */
KI_NODISCARD int ki_life_open(ki_life *life, ki_reflector_options *reflector, ki_error *err);

/* The reflector has been ended, or was never made. */
void ki_life_fini(ki_life *life);

/* The last thing of all, after that: whoever waits for its end is told, `memory`, which it is part of, freed,
 * and the client may be gone afterwards. */
void ki_life_leave(ki_life *life, void *memory);

/* ---- any thread -------------------------------------------------------------------------------------- */

/* Returns 0; KI_ERR_SYSTEM, KI_ERR_NO_MEMORY, KI_ERR_STOPPED, KI_ERR_FORKED, or what the set-up has failed
 * with. */
KI_NODISCARD int ki_life_start(ki_life *life, ki_error *err) KI_EXCLUDES(life->mu);

/* Asks for a stop. The second waits for it as well, where that is possible. */
void ki_life_request_stop(ki_life *life) KI_EXCLUDES(life->mu);
void ki_life_stop(ki_life *life) KI_EXCLUDES(life->mu);

/* Once. It may be gone afterwards; and is, where that can be waited for. */
void ki_life_free(ki_life *life) KI_EXCLUDES(life->mu);

void ki_life_retry_now(ki_life *life) KI_EXCLUDES(life->mu);

/* Wakes dispatch, unless it is on its way. */
void ki_life_wake_dispatch(ki_life *life);

/* As ki_informer_last_resource_version(). NULL, and one in a child, have none. */
size_t ki_life_write_version(const ki_life *life, char *buffer, size_t buffer_bytes) KI_EXCLUDES(life->mu);

/* The status of one that nothing is known of, but for that version. No more of its text is touched than there
 * is: it has room for the longest, and few are long. */
void ki_life_begin_status(const ki_life *life, ki_informer_status *out_status) KI_EXCLUDES(life->mu);

/* Whether this is a child of the process that made it: see ki_client_is_foreign(). */
bool ki_life_is_foreign(const ki_life *life);

/* Under mu, inside a condition: whether nobody is going to make true what somebody waits for. */
bool ki_life_is_in_vain_locked(const ki_life *life);

/* Around a call that waits for something of it, as a callback that runs meanwhile may free it, and the
 * client. After the second both may be gone. */
void ki_life_begin_wait(ki_life *life) KI_EXCLUDES(life->mu);
void ki_life_begin_wait_locked(ki_life *life) KI_REQUIRES(life->mu);
void ki_life_end_wait(ki_life *life) KI_EXCLUDES(life->mu);

/* In between, as ki_client_wait(), with a condition that is guarded by mu. */
bool ki_life_wait(ki_life *life, bool (*is_met)(void *user), void *user, uint64_t timeout_ms)
    KI_EXCLUDES(life->mu);

/* To whoever waits for that. */
void ki_life_notify(ki_life *life) KI_EXCLUDES(life->mu);

/* ---- dispatch ---------------------------------------------------------------------------------------- */

/* Goes one stage on, if it is time, and returns the stage; RELEASED: the caller ends it. */
KI_NODISCARD ki_stage ki_life_advance(ki_life *life) KI_EXCLUDES(life->mu);

#endif
