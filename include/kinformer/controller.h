/* SPDX-License-Identifier: Apache-2.0 */
/* controller - calls a reconcile function with the key of each object that has changed.
 *
 *   static ki_result reconcile(ki_request *request, void *user)
 *   {
 *       ki_object *foo = ki_store_get_key(ki_informer_store(foos), ki_request_key(request));
 *       if (foo == NULL)
 *           return ki_done();                         // deleted: nothing left to do
 *       …                                             // bring the cluster to the state that foo describes
 *       ki_object_unref(foo);
 *       return rc == 0 ? ki_done() : ki_retry(&err);
 *   }
 *
 *   ki_controller_options options = {.name = "foo", .reconcile = reconcile};
 *   ki_controller *c = ki_controller_new(client, &options, &err);
 *   ki_controller_watch(c, foos, NULL);                              // the object itself
 *   ki_controller_watch_owned(c, deployments, &foos_resource, NULL); // the Foo that controls the Deployment
 *   rc = ki_controller_run(c, &err);                // until ki_controller_stop(), even if that came first
 *
 * Guarantees for a reconcile function:
 *   - one key is worked on by one worker at a time;
 *   - a change that arrives while it runs leads to another call;
 *   - every watched informer has synced before the first call;
 *   - after ki_request_expect(), the key is not worked on again before the cache has the written object;
 *   - keys of recent changes go before keys from the first list or a resync.
 *
 * With KI_MODE_THREADS, reconcile functions run on the controller's own threads and may wait, for example in
 * ki_rest_run(). In the other modes, they run inside ki_client_dispatch() and must not wait: call
 * ki_rest_begin(), return ki_later(), and call ki_request_finish() from the callback.
 *
 * Calls that are started in a reconcile function, or in the callback of such a call, are not retried by
 * default (see <kinformer/rest.h>): if the server answers with Retry-After, the call fails at once. Return
 * ki_retry() with its error, and the key waits instead of the worker.
 *
 * Threads: any, for all calls.
 */
#ifndef KI_CONTROLLER_H
#define KI_CONTROLLER_H

#include <kinformer/client.h>
#include <kinformer/common.h>
#include <kinformer/error.h>
#include <kinformer/informer.h>
#include <kinformer/limiter.h>
#include <kinformer/predicate.h>
#include <kinformer/rest.h>
#include <kinformer/workqueue.h>

KI_EXTERN_C_BEGIN

typedef struct ki_controller ki_controller;

/* ---- requests and results ---------------------------------------------------------------------------- */

/** One key being worked on. Valid until the reconcile function returns, or until ki_request_finish(). */
typedef struct ki_request ki_request;

/** The key, and its two parts. They live as long as the request. A NUL follows each, so that `.ptr` is a C
 * string, also if it is empty: {.ns = ki_request_namespace(request).ptr} in a ki_rest_request. A key without
 * a slash, or with several, is all name. */
KI_API ki_str ki_request_key(const ki_request *request);
KI_API ki_str ki_request_namespace(const ki_request *request);
KI_API ki_str ki_request_name(const ki_request *request);

/** How many results in a row were ki_retry() for this key, as counted by the limiter: 0 at first, after any
 * other result, and with a limiter that does not count. */
KI_API uint32_t ki_request_failures(const ki_request *request);

typedef enum ki_verdict {
    KI_VERDICT_DONE = 0,
    KI_VERDICT_REQUEUE_AFTER,
    KI_VERDICT_RETRY,
    KI_VERDICT_GIVE_UP,
    KI_VERDICT_LATER
} ki_verdict;

/** The result of a reconcile; made by the functions below. */
typedef struct ki_result {
    ki_verdict verdict;
    int code; /* a ki_error_code, for the log */
    uint64_t after_ms;
    char message[KI_ERROR_MESSAGE_BYTES];
    uint64_t reserved[4];
} ki_result;

/** Success. The key's failure count is reset. */
KI_API ki_result ki_done(void);

/** Success; the key is worked on again after this time (0: at once). An earlier change causes an extra run;
 * the delayed run still happens. Of several delays of a key, only the one that ends first counts. */
KI_API ki_result ki_requeue_after(uint64_t after_ms);

/** Failed; the key is tried again after a delay that grows with each failure. `err`, which may be NULL, is
 * logged. If `err` has a Retry-After of the server (retry_after_ms), the key is not reconciled
 * before that time has passed, even if something changes. */
KI_API ki_result ki_retry(const ki_error *err);

/** Failed for good: the key is not tried again before the next change. `err`, which may be NULL, is
 * logged. */
KI_API ki_result ki_give_up(const ki_error *err);

/** Not finished: ki_request_finish() follows, from any thread. Until then the reconcile counts as running: a
 * stop and a free wait for it. */
KI_API ki_result ki_later(void);

/** Finishes a request whose reconcile function returns ki_later(); it may be called before that function has
 * returned. Call it once; the request is no longer valid afterwards. A result of ki_later() counts as a
 * failure here. */
KI_API void ki_request_finish(ki_request *request, ki_result result);

/**
 * Call it after a write, before the request is finished: the key is not worked on again before the cache of
 * `informer` is as new as `written`, the object in the server's response. So a reconcile function never acts
 * on a cache that lacks its own writes.
 *
 * The wait ends when the store is complete up to that version, by a watch or a relist; when the server's
 * history was reset, which is logged; or after expect_timeout_ms, which is logged. All three are counted. A
 * relist from a server that lags behind, and so does not have the write, does not end the wait. The wait does
 * not occupy a worker. If several writes are expected, it waits for all of them. An informer that the
 * controller does not watch must not be freed before the controller.
 *
 * Returns: 0; KI_ERR_INVALID, also when `written` has no version; KI_ERR_NO_MEMORY; KI_ERR_FORKED. After an
 *          error there is no wait.
 */
KI_API int ki_request_expect(ki_request *request, ki_informer *informer, const ki_object *written);

/**
 * Brings the cluster to the state that the object with this key describes.
 *
 * Threads: a worker of the controller, or inside ki_client_dispatch(): see above. All functions of the
 *          library may be called.
 */
typedef ki_result (*ki_reconcile_cb)(ki_request *request, void *user);

/* ---- making one -------------------------------------------------------------------------------------- */

/** Zero means default. Texts are copied. */
typedef struct ki_controller_options {
    const char *name;              /* in metrics and the log; required */
    ki_reconcile_cb reconcile;     /* required */
    size_t workers;                /* how many keys are worked on at the same time, at most 4,096; 0: 1 */
    ki_limiter *limiter;           /* delays of retries. NULL, also from a limiter that could not be made:
                                    * ki_limiter_new_default() */
    uint64_t reconcile_timeout_ms; /* a reconcile that takes longer is logged and counted, but not
                                    * interrupted; 0: no limit */
    uint64_t expect_timeout_ms;    /* 0: 10,000 */
    uint64_t stop_timeout_ms;      /* how long a stop waits for running reconciles; 0: 30,000 */
    uint64_t resync_ms; /* how often every object is worked on again; the watched informers must have a
                         * resync_ms, too: see ki_handler. 0: never */
    void (*on_release)(void *user); /* once, after the last callback: free `user` here. Not called if
                                     * ki_controller_new() fails */
    void *user;
    uint64_t reserved[8];
} ki_controller_options;

/**
 * Makes a controller that is not started.
 *
 * Returns:   a controller to free, or NULL with KI_ERR_INVALID, KI_ERR_NO_MEMORY, KI_ERR_SYSTEM,
 *            KI_ERR_STOPPED (the client has been freed), KI_ERR_FORKED.
 * Ownership: the caller frees it with ki_controller_free(). It keeps the memory of the client, and takes over
 *            your reference to the limiter, even if it fails.
 */
KI_API KI_NODISCARD ki_controller *ki_controller_new(ki_client *client, const ki_controller_options *options,
                                                     ki_error *err);

/** Stops and frees it. Unlike ki_controller_stop(), it waits for all running reconciles however long they
 * take; ki_client_free() before it ends the calls that they wait for. From a callback, a reconcile function
 * or a read section it returns at once, and the work is done soon after. NULL is allowed. */
KI_API void ki_controller_free(ki_controller *controller);

/* ---- what to watch ----------------------------------------------------------------------------------- */

/* Each of the three watch functions adds a handler to the informer. For every event that passes the
 * predicate, the handler adds keys to the controller's queue. Controller and informer may be started or not,
 * and you may free them in either order; but a reconcile may use the informer until ki_controller_free() or
 * ki_client_free() has returned, so free the factory after that. A predicate may be NULL: then all events
 * pass. It must live until the controller's on_release, and so must the `user` of a map function. An error is
 * remembered, and every ki_controller_start() reports it, so the return values may be ignored. Returns: 0,
 * KI_ERR_INVALID, KI_ERR_NO_MEMORY, KI_ERR_FORKED. */

/** Watches an informer: each event adds the key of its object. */
KI_API int ki_controller_watch(ki_controller *controller, ki_informer *informer,
                               const ki_predicate *predicate);

/** Watches the informer of owned objects: each event adds the key of the owner that controls the object, if
 * that owner has the kind and the group of `owner`. The resource `owner` is copied, and needs its kind and
 * scope: one from ki_resource_parse() has no kind, and is refused. */
KI_API int ki_controller_watch_owned(ki_controller *controller, ki_informer *informer,
                                     const ki_resource *owner, const ki_predicate *predicate);

typedef struct ki_key_emit ki_key_emit;

/** Maps an object to keys: calls ki_key_emit_key() for each. Called like a handler: on a handler thread, or
 * inside ki_client_dispatch(). It is called again with the same object if a key could not be added because
 * memory ran out. */
typedef void (*ki_map_cb)(const ki_object *object, ki_key_emit *emit, void *user);

/** Adds the key of the object `name` in the namespace `ns`, which may be empty. Does nothing if no object can
 * have this key: see ki_key_join(). */
KI_API void ki_key_emit_key(ki_key_emit *emit, ki_str ns, ki_str name);

/** Watches an informer: each event adds the keys that `map` emits. For an update, `map` is called with the
 * old and with the new object. */
KI_API int ki_controller_watch_mapped(ki_controller *controller, ki_informer *informer,
                                      const ki_predicate *predicate, ki_map_cb map, void *user);

/** Adds a key at high priority, now or after a delay. Returns: as ki_workqueue_add(). */
KI_API KI_NODISCARD int ki_controller_enqueue(ki_controller *controller, ki_str key, uint64_t after_ms);

/* ---- running ----------------------------------------------------------------------------------------- */

/**
 * Starts the workers; they begin when every watched informer has synced. Does not start informers. Does
 * nothing when already started. After a stop it continues with the keys that have been added meanwhile;
 * that stop no longer ends a run.
 *
 * Returns: 0; the first error of the set-up, at every start: such a controller never runs; KI_ERR_INVALID
 *          without a controller; KI_ERR_SYSTEM, KI_ERR_NO_MEMORY, KI_ERR_STOPPED, KI_ERR_FORKED.
 */
KI_API KI_NODISCARD int ki_controller_start(ki_controller *controller, ki_error *err);

/**
 * Begins no further reconcile, and waits for those that are running. Keys are kept for the next start. It
 * does not wait in a reconcile function of the same controller, in a read section or, in the modes without
 * worker threads, in any callback; it then returns 0. Must not be called in a signal handler;
 * docs/controllers.md shows how to stop on a signal.
 *
 * A stop that comes before ki_controller_run() is not lost: that run returns at once. Only a call of
 * ki_controller_start(), or a run that has returned because of the stop, forgets it. So after a stop in a
 * clean-up, call ki_controller_start() before the next run.
 *
 * Returns: 0, also for NULL; KI_ERR_TIMEOUT: some reconciles are still running after stop_timeout_ms; `err`
 *          has their number and their keys, as many as fit; call it again to wait on. KI_ERR_FORKED.
 */
KI_API int ki_controller_stop(ki_controller *controller, ki_error *err);

/**
 * Starts the controller, and returns when it is stopped or its client freed. If a stop is remembered, it
 * returns 0 without starting anything, even if a start would fail, and forgets the stop. With
 * KI_MODE_EVENT_LOOP and KI_MODE_HANDLERS_ON_LOOP it runs the client's loop meanwhile. If a reconcile
 * function or a callback frees the controller meanwhile, that is done by the time this returns.
 *
 * Returns: as ki_controller_start(); KI_ERR_TIMEOUT as ki_controller_stop();
 *          KI_ERR_WOULD_DEADLOCK from a callback, a reconcile function or a read section.
 */
KI_API KI_NODISCARD int ki_controller_run(ki_controller *controller, ki_error *err);

/** The state of a controller. */
typedef struct ki_controller_status {
    int is_running;        /* 0 as soon as a stop is requested */
    int has_synced;        /* every watched informer has synced */
    size_t queued;         /* keys that wait */
    size_t delayed;        /* keys that wait for a delay to pass */
    size_t active;         /* running reconciles */
    uint64_t reconciles;   /* finished */
    uint64_t failures;     /* how many of these have failed, to be retried or given up */
    uint64_t longest_ms;   /* how long the oldest running reconcile has been running */
    char longest_key[256]; /* its key, cut */
    char waiting_for[512]; /* an informer that has not synced, and why; "" for none */
    uint64_t reserved[8];
} ki_controller_status;

/** All zero without a controller, and in a child of fork(). */
KI_API void ki_controller_read_status(const ki_controller *controller, ki_controller_status *out_status);

KI_EXTERN_C_END

#endif
