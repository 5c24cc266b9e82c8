/* SPDX-License-Identifier: Apache-2.0 */
/* informer - a local copy of one collection, kept up to date, and handlers that are called on every change:
 * client-go's SharedIndexInformer.
 *
 * Most programs get theirs from a factory (<kinformer/factory.h>), which shares one per collection.
 *
 * The first error of ki_informer_add_handler(), ki_informer_add_index() and ki_informer_add_index_path()
 * before the first successful start is kept: the next start returns it, once. Later errors are not kept. With
 * a NULL informer all of these fail, as <kinformer/error.h> says.
 *
 * Threads: any, for all calls. All functions may be called from a callback. A function that would have to
 *          wait for its own thread either returns at once and does its work soon after, or returns
 *          KI_ERR_WOULD_DEADLOCK, as documented at each function; docs/threading.md has a table. The same
 *          holds inside a read section, where no call waits. With KI_MODE_EVENT_LOOP and
 *          KI_MODE_HANDLERS_ON_LOOP, a call that waits runs the client's loop meanwhile, handlers of all
 *          informers included: make it on the thread that dispatches.
 */
#ifndef KI_INFORMER_H
#define KI_INFORMER_H

#include <kinformer/client.h>
#include <kinformer/common.h>
#include <kinformer/error.h>
#include <kinformer/handler.h>
#include <kinformer/list_watch.h>
#include <kinformer/object.h>
#include <kinformer/resource.h>
#include <kinformer/store.h>

KI_EXTERN_C_BEGIN

typedef struct ki_informer ki_informer;
typedef struct ki_registration ki_registration;

/* ---- options ----------------------------------------------------------------------------------------- */

/**
 * Whether the collection may be listed by a watch that begins with all objects (a streamed list).
 *
 * With KI_WATCH_LIST_AUTO, lists are streamed if the server supports it. After two failures in a row, LIST is
 * used for ten minutes. A first list that is read as JSON, like that of a custom resource, is a LIST with
 * resourceVersion=0 instead: it takes half the time, but may not have the newest state. If it fails, a
 * streamed list follows, then both once more, then LISTs of the newest version and of version 0 by turns.
 */
typedef enum ki_watch_list {
    KI_WATCH_LIST_AUTO = 0,
    KI_WATCH_LIST_ALWAYS, /* LIST is never used: a streamed list that fails is retried, and the status has
                           * the reason. A list_watch with `no_watch_list` is refused */
    KI_WATCH_LIST_NEVER
} ki_watch_list;

/** What to do when the program writes into objects of the store. Detecting this costs time. */
typedef enum ki_mutations {
    KI_MUTATIONS_AUTO = 0, /* $KUBE_CACHE_MUTATION_DETECTOR decides: true is ABORT, else IGNORE */
    KI_MUTATIONS_REPORT,   /* log the key, and a hash of the object as stored and as found */
    KI_MUTATIONS_ABORT,    /* log, and end the process */
    KI_MUTATIONS_IGNORE
} ki_mutations;

/**
 * Called with each object before it is stored. `*object` is borrowed. To replace the object, set it to a new
 * reference; the informer takes this reference, whatever the function returns. Namespace, name, UID and
 * version must be the same in the new object; otherwise, and for NULL, the object is refused. If others also
 * hold references to the new object, such as another informer, a copy is stored.
 *
 * Returns: 0; or a negative code: the object is refused, its previous version stays in the store, and the
 *          error is counted and reported.
 * Threads: `io`.
 */
typedef int (*ki_transform_cb)(const ki_object **object, void *user);

/** Changes the options of a request before it is sent. Called on `io`. Texts that it sets must live until the
 * informer is freed. */
typedef void (*ki_tweak_cb)(ki_list_options *options, void *user);

/**
 * Zero means default. Texts are copied.
 *
 * Resync, as in client-go. Two periods are involved: a handler is due for a resync when its own resync_ms has
 * passed (less than a second counts as a second), and the informer looks for such handlers every `resync_ms`
 * of its own. So the real period is the handler's, rounded up to a multiple of the informer's: with 30 s for
 * the informer and 40 s for the handler, it is 60 s. What happens if the handler's period is the shorter one
 * depends on when it is added:
 *   - before the start: the informer's period becomes as short as the handler's, for all handlers;
 *   - after the start: the handler gets the informer's period, and its first resync comes after one to two
 *     periods.
 */
typedef struct ki_informer_options {
    const char *ns;             /* NULL or "": all namespaces. A cluster-scoped resource must not have one */
    const char *label_selector; /* evaluated by the server: objects that do not match are not part of the
                                 * collection */
    const char *field_selector; /* likewise */
    const char *const *keep;    /* paths to keep in each object, as in ki_object_options */
    const char *const *drop;
    int keep_managed_fields;
    int deliver_unchanged;   /* 1: also deliver updates that do not change what `keep` and `drop` leave */
    size_t object_bytes_max; /* of the text that is kept; larger objects are refused. 0: 64 MiB */
    uint64_t resync_ms;      /* how often to check for handlers that are due for a resync. 0: no resync */
    int64_t page_size;       /* of a LIST; 0: 500; -1: no limit */
    ki_watch_list watch_list;
    ki_mutations mutations;
    /* The wait after a failed list or watch is random, from d to 2d: d is backoff_ms after the first failure
     * and doubles with each further one, up to backoff_max_ms. It is backoff_ms again after two minutes of
     * working watches, or when the server has ended a watch that had brought news. If the server asks for a
     * longer wait (Retry-After), that applies. Two failures have other waits: a watch that was cut after it
     * had brought news is resumed after 0.1 to 1 s, and after the first 410 (Expired) the collection is
     * listed at once. */
    uint64_t backoff_ms;     /* 0: 800 */
    uint64_t backoff_max_ms; /* 0: 30,000 */
    size_t queue_items_max;  /* changes received but not yet in the store; 0: 10,000 */
    size_t queue_bytes_max;  /* 0: 16 MiB */
    ki_transform_cb transform;
    void *transform_user;
    ki_tweak_cb tweak;
    void *tweak_user;
    const ki_list_watch *list_watch; /* where requests go; copied. NULL: to the client's cluster */
    const char *name;                /* in metrics, logs and errors. NULL: "pods" or "pods/ns" or, if that is
                                      * in use, "pods#3" for the third informer, feed, controller, leader or
                                      * recorder that was made with the client */
    uint64_t pages_max;              /* of one list; a list with more pages is abandoned. 0: 100,000 */
    uint32_t object_depth_max;       /* levels of nesting; a deeper object is refused. 0: 1,000 */
    ki_wire wire;                    /* KI_WIRE_AUTO: as in the client's options */
    uint64_t reserved[6];
} ki_informer_options;

/* ---- making and freeing ------------------------------------------------------------------------------ */

/**
 * Makes an informer that is not started.
 *
 * Returns:   an informer to free, or NULL with KI_ERR_INVALID (a bad option), KI_ERR_NO_MEMORY,
 *            KI_ERR_SYSTEM, KI_ERR_STOPPED (the client has been freed), KI_ERR_FORKED.
 * Ownership: the caller frees it with ki_informer_free(). `options` may be NULL.
 */
KI_API KI_NODISCARD ki_informer *ki_informer_new(ki_client *client, const ki_resource *resource,
                                                 const ki_informer_options *options, ki_error *err);

/** Stops the informer, ends every registration, and frees it. No other call with this informer may be in
 * progress or follow. Waits for running callbacks, and for the read sections of all threads that have begun
 * by then, because objects peeked at in them must stay valid. Other informers are not affected. From a
 * callback or inside a read section it returns at once, and the work is done soon after. NULL is allowed. */
KI_API void ki_informer_free(ki_informer *informer);

/* ---- running ----------------------------------------------------------------------------------------- */

/**
 * Begins to follow the server. After a stop it continues from what is in the store, and delivers the events
 * that were still waiting. Does nothing when already started.
 *
 * Returns: 0; the first error of the set-up, once: another start begins without the handlers and indexes that
 *          were refused; KI_ERR_INVALID without an informer; KI_ERR_SYSTEM, KI_ERR_NO_MEMORY when a thread
 *          cannot be started; KI_ERR_STOPPED when the client has been freed; KI_ERR_FORKED in a child.
 */
KI_API KI_NODISCARD int ki_informer_start(ki_informer *informer, ki_error *err);

/** Ends requests and callbacks; keeps the store, the handlers and the events that wait for them. Returns when
 * nothing is running any more: it waits for running callbacks, not for readers. From a callback it returns at
 * once, and the work is done soon after. Idempotent. */
KI_API void ki_informer_stop(ki_informer *informer);

/** Retries now instead of waiting for the end of the back-off.
 * Does nothing when the informer is not backing off. */
KI_API void ki_informer_retry_now(ki_informer *informer);

/** 1 from the moment when the first list is in the store, also after a stop. For a handler, see
 * ki_registration_has_synced(). */
KI_API int ki_informer_has_synced(const ki_informer *informer);

/**
 * Waits until the first list is in the store, for at most `timeout_ms` (UINT64_MAX: no limit). A handler may
 * not have received it by then: see ki_registration_wait_for_sync().
 *
 * Returns: 0; KI_ERR_INVALID without an informer; KI_ERR_TIMEOUT, with the phase and the reason in `err`,
 *          which also says when the server is connected and has not answered yet; KI_ERR_STOPPED, at once,
 *          when it has not synced and was never started or has been stopped; KI_ERR_WOULD_DEADLOCK from a
 *          callback or a read section; KI_ERR_FORKED in a child.
 */
KI_API KI_NODISCARD int ki_informer_wait_for_sync(ki_informer *informer, uint64_t timeout_ms, ki_error *err);

/**
 * The version up to which the store is complete; "" before the first list, and in a child of fork(). A buffer
 * of KI_RESOURCE_VERSION_BYTES_MAX + 1 bytes holds any version; 64 bytes are enough for those of Kubernetes
 * itself.
 *
 * Returns: the length, like snprintf.
 */
KI_API size_t ki_informer_last_resource_version(const ki_informer *informer, char *buffer,
                                                size_t buffer_bytes);

/**
 * Waits until the store is complete up to `version`: to read your own writes. A handler may not have received
 * the change yet.
 *
 * A version that is not a decimal number cannot be ordered: the wait ends only when the store is at exactly
 * this version, and may miss it when changes follow each other quickly.
 *
 * Returns: as ki_informer_wait_for_sync(), and 0 after a stop, too, if the version has been reached;
 *          KI_ERR_INVALID for a version that is empty or longer than KI_RESOURCE_VERSION_BYTES_MAX.
 */
KI_API KI_NODISCARD int ki_informer_wait_for_version(ki_informer *informer, ki_str version,
                                                     uint64_t timeout_ms, ki_error *err);

/**
 * How old the store is, in milliseconds: changes made on the server within this time may be missing from it.
 *
 * While no changes wait to be applied, it is the time since the last complete list began (its first item
 * arrived), or since an event or a bookmark arrived, whichever was later; a new connection or the headers of
 * a response do not count. While changes wait (for a handler with KI_OVERFLOW_BLOCK, for a reader inside
 * ki_read_lock(), for CPU time), it is the time since the oldest of them was received. A list counts when it
 * has ended and is in the store.
 *
 * Servers send a bookmark about once a minute, so a store is rarely older than that. If a server sends none,
 * the age grows while nothing changes. While the informer lists because watches are broken (reason Polling),
 * lists may be up to 5 minutes apart, so the age may reach 300,000 on a quiet cluster. While the server
 * answers each watch with 429 (reason TooManyRequests), nothing is listed, and the age grows. It keeps
 * growing after a stop.
 *
 * Returns: UINT64_MAX before the first list is in the store.
 * Threads: any. Takes no lock.
 */
KI_API uint64_t ki_informer_age_ms(const ki_informer *informer);

/** The store, for reading. Lives as long as the informer. NULL for NULL. */
KI_API const ki_store *ki_informer_store(const ki_informer *informer);

/** The resource that it was made with: a copy, which lives as long as the informer. NULL for NULL. */
KI_API const ki_resource *ki_informer_resource(const ki_informer *informer);

/* ---- set-up ------------------------------------------------------------------------------------------ */

/**
 * Adds a handler, before or after the start; the struct is copied. The handler first gets every object in the
 * store, as adds with KI_EVENT_INITIAL, and then every change that follows, without gaps or duplicates.
 *
 * Returns:   the registration, or NULL with KI_ERR_INVALID (the message names the field), KI_ERR_NO_MEMORY
 *            or KI_ERR_FORKED. Before the first successful start, the error is also remembered for the next
 *            start (see above), so `err` may be NULL. After it, the error is also logged. No callback of a
 *            handler that was refused is called, not even on_release.
 * Ownership: the informer owns it. It is valid until it is removed or the informer is freed.
 */
KI_API ki_registration *ki_informer_add_handler(ki_informer *informer, const ki_handler *handler,
                                                ki_error *err);

/**
 * Adds an index whose values are those at a path, before or after the start; objects already in the store are
 * indexed too. See ki_store_add_index_path() for paths:
 *
 *   ki_informer_add_index_path(pods, "node", KI_PATH_NODE);
 *   ki_informer_add_index_path(pods, "app", KI_PATH_LABEL("app"));
 *
 * Before the first start, the path is added to what `keep` and `drop` leave of an object. After it, a path
 * that they do not leave is refused.
 *
 * Returns: as ki_store_add_index_path(); also KI_ERR_INVALID for a path that is one of `drop`, and
 *          KI_ERR_FORKED in a child. Before the first successful start, the error is also remembered for the
 *          next start (see above); after it, it is also logged.
 */
KI_API int ki_informer_add_index_path(ki_informer *informer, const char *name, const char *path);

/** Adds an index with a function, before or after the start; objects already in the store are indexed too.
 * `keep` must leave what the function reads: a warning is logged once when it looks for a field that is
 * dropped. Returns: as ki_store_add_index(); KI_ERR_FORKED in a child. */
KI_API int ki_informer_add_index(ki_informer *informer, const char *name, ki_index_cb callback, void *user);

typedef void (*ki_release_cb)(void *user);

/**
 * Adds a function that is called once, when the informer is freed and none of its functions (indexes,
 * transform, tweak, status and error handlers) can be called any more: to free what their `user` pointers
 * point to. Several can be added; they are called in the order in which they were added, on `dispatch` or,
 * after ki_client_free(), in the call that frees the informer. Handlers have an on_release of their own.
 *
 * Returns: 0, KI_ERR_INVALID, KI_ERR_NO_MEMORY, KI_ERR_FORKED in a child. On failure it is not called.
 */
KI_API int ki_informer_add_release(ki_informer *informer, ki_release_cb callback, void *user);

/** Sets the transform, as in the options. Returns: 0; KI_ERR_INVALID after the first successful start, and
 * without an informer; KI_ERR_FORKED in a child. The next start does not report a failure. */
KI_API int ki_informer_set_transform(ki_informer *informer, ki_transform_cb transform, void *user);

/** One error: of a list, a watch, an event in a watch, or an object that was refused. KI_REASON_NO_MEMORY
 * also when received changes have waited a second for memory. */
typedef struct ki_informer_error {
    ki_reason reason;
    ki_party party;
    int http_status;           /* of the response; 0: there was none, or a proxy could not connect */
    uint64_t since_success_ms; /* since the last complete list began, or an event or a bookmark arrived;
                                * UINT64_MAX: never yet */
    uint64_t retry_ms;         /* until the next attempt; 0: at once, or none is needed */
    const ki_error *error;     /* borrowed for the call, like `key` */
    const char *key;           /* of the refused object; else "" */
    uint64_t reserved[4];
} ki_informer_error;

/** Called for each error, on `io`; must be quick. */
typedef void (*ki_informer_error_cb)(ki_informer *informer, const ki_informer_error *error, void *user);

/** Sets the function to call for each error; NULL: none. Returns: as ki_informer_set_transform(). */
KI_API int ki_informer_set_error_handler(ki_informer *informer, ki_informer_error_cb callback, void *user);

/* ---- registrations ----------------------------------------------------------------------------------- */

/** 1 when the handler has returned from the last of its initial adds. */
KI_API int ki_registration_has_synced(const ki_registration *registration);

/**
 * Waits until the handler has returned from the last of its initial adds.
 *
 * Returns: as ki_informer_wait_for_sync().
 */
KI_API KI_NODISCARD int ki_registration_wait_for_sync(ki_registration *registration, uint64_t timeout_ms,
                                                      ki_error *err);

/** Removes the handler: nothing more is delivered, and waiting events are dropped. Does not wait: on_release
 * is called soon, after a callback that is still running has returned; if the client has been freed, inside
 * ki_informer_free() at the latest. The registration must not be used afterwards. NULL is allowed. */
KI_API void ki_registration_remove(ki_registration *registration);

/** Removes the handler like ki_registration_remove(), but returns after on_release. From a callback of the
 * same handler it does not wait.
 *
 * Returns: 0, also for NULL; KI_ERR_WOULD_DEADLOCK from any other callback, or inside a read section;
 *          KI_ERR_FORKED in a child. If it fails, the handler was not removed. */
KI_API KI_NODISCARD int ki_registration_remove_and_wait(ki_registration *registration);

typedef struct ki_registration_stats {
    uint64_t backlog; /* waiting events */
    uint64_t backlog_bytes;
    uint64_t backlog_high_water; /* the most events that have waited at once */
    uint64_t coalesced;          /* events that were merged with a waiting one */
    uint64_t delivered;          /* also those that the filter refused */
    uint64_t handler_ns;         /* spent in callbacks */
    uint64_t reserved[4];
} ki_registration_stats;

/** All zero without a registration, and in a child of fork(). */
KI_API void ki_registration_read_stats(const ki_registration *registration, ki_registration_stats *out_stats);

/* ---- status ------------------------------------------------------------------------------------------ */

typedef enum ki_phase {
    KI_PHASE_STOPPED = 0,
    KI_PHASE_LISTING,        /* also, after the list, waiting for the response to the watch */
    KI_PHASE_STREAMING_LIST, /* a streamed list: a watch that begins with the list */
    KI_PHASE_WATCHING,       /* the server has answered the watch; also between a watch that it ended and the
                              * next */
    KI_PHASE_BACKING_OFF /* not connected: waiting for the next attempt, for the response to a resumed watch,
                          * or for the end of an error response */
} ki_phase;

/** "WATCHING" for KI_PHASE_WATCHING; "" for an unknown phase. */
KI_API const char *ki_phase_name(ki_phase phase);

/** Ages are in milliseconds; UINT64_MAX: never yet. */
typedef struct ki_informer_status {
    ki_phase phase;
    ki_reason reason; /* of the last failure; NONE after recovery, but not while BACKING_OFF. In any phase:
                       * POLLING while lists replace broken watches, NO_MEMORY while changes wait for
                       * memory */
    int http_status;  /* of the last failure; 0: none */
    int has_synced;
    int is_unanswered; /* 1: connected, and waiting for the response to a request */
    ki_wire wire;      /* of the last response; KI_WIRE_AUTO: none yet */
    uint64_t phase_age_ms;
    uint64_t byte_age_ms;  /* since the last byte arrived */
    uint64_t event_age_ms; /* since the last event arrived */
    uint64_t bookmark_age_ms;
    uint64_t retry_ms; /* until the next attempt, while BACKING_OFF; 0: it has started */
    uint64_t objects;
    uint64_t bytes;
    uint64_t queued;     /* changes not yet in the store */
    uint64_t lists;      /* started, also those that failed */
    uint64_t watches;    /* requested, streamed lists included */
    uint64_t reconnects; /* watches that resumed a lost one */
    uint64_t events;
    uint64_t refused; /* invalid objects and events */
    uint64_t bytes_read;
    char message[KI_ERROR_MESSAGE_BYTES]; /* of the last failure */
    uint64_t success_age_ms;              /* the age of the store: see ki_informer_age_ms() */
    size_t resource_version_bytes;        /* the length of `resource_version` */
    /* Fields of protobuf messages that this version of the library does not know, and the first of them. With
     * KI_WIRE_AUTO the objects concerned were read as JSON instead, so nothing is missing. */
    uint64_t unknown_fields;
    uint64_t unknown_number;
    ki_str unknown_message; /* "PodSpec"; constant text */
    uint64_t reserved[6];
    /* See ki_informer_last_resource_version(). The bytes after its NUL are not written. */
    char resource_version[KI_RESOURCE_VERSION_BYTES_MAX + 1];
} ki_informer_status;

/** Reads the current status. Without an informer, the phase is KI_PHASE_STOPPED and all else is zero. */
KI_API void ki_informer_read_status(const ki_informer *informer, ki_informer_status *out_status);

/** Called on `io` after each change of phase or reason, and when the first list is in the store (has_synced);
 * must be quick. Changes in immediate succession, as when a source answers inside `begin`, may be reported as
 * one. The last call, with KI_PHASE_STOPPED, comes before ki_informer_stop() returns. */
typedef void (*ki_informer_status_cb)(ki_informer *informer, const ki_informer_status *status, void *user);

/** Sets the function to call for each change of the status; NULL: none. Returns: as
 * ki_informer_set_transform(). */
KI_API int ki_informer_set_status_handler(ki_informer *informer, ki_informer_status_cb callback, void *user);

KI_EXTERN_C_END

#endif
