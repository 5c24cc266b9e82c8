/* SPDX-License-Identifier: Apache-2.0 */
/* informer - a live copy of one collection: a store that follows the server, and handlers that are called on
 * every change: client-go's SharedIndexInformer.
 *
 * Most programs get theirs from a factory (<kinformer/factory.h>), which shares one per collection.
 *
 * Set-up calls on a NULL informer, or on one whose making has failed, are harmless and remembered: the next
 * start reports the first error.
 *
 * Threads: any, for all calls. Inside a callback all are allowed: those that would wait for the thread
 *          they are called on become requests that are carried out soon, or return KI_ERR_WOULD_DEADLOCK
 *          where each says so; docs/threading.md has the table.
 *          Inside a read section it is the same, and no call waits.
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

/** Whether the first sync may be a watch that begins with the list. */
typedef enum ki_watch_list {
    KI_WATCH_LIST_AUTO = 0, /* when the server takes it: after two that have failed, a LIST for ten minutes */
    KI_WATCH_LIST_ALWAYS,   /* never a LIST: tries again, and the status says why. A list_watch with
                             * `no_watch_list` is refused */
    KI_WATCH_LIST_NEVER
} ki_watch_list;

/** What is done about a program that writes into objects of the store. Looking for that costs time. */
typedef enum ki_mutations {
    KI_MUTATIONS_AUTO = 0, /* as $KUBE_CACHE_MUTATION_DETECTOR says: true is ABORT, else IGNORE */
    KI_MUTATIONS_REPORT,   /* a log record with the key and both fingerprints */
    KI_MUTATIONS_ABORT,    /* that, and the process ends */
    KI_MUTATIONS_IGNORE
} ki_mutations;

/**
 * Sees an object before anyone else, and may put another in its place: `*object` is borrowed; to replace it,
 * set it to a new reference, which is taken over. Namespace, name, UID and version must stay the same. Of an
 * object that others have references to, too, say another informer's, a copy is stored.
 *
 * Returns: 0; or a negative code: the object is refused, its last good version stays, and that is counted and
 *          reported.
 * Threads: `io`.
 */
typedef int (*ki_transform_cb)(const ki_object **object, void *user);

/** Changes what is asked of the server; texts that it sets live until the informer is freed. */
typedef void (*ki_tweak_cb)(ki_list_options *options, void *user);

/**
 * Zero means default. Texts are copied.
 *
 * Resync, as in client-go: every `resync_ms` the informer looks who is to be reminded. A handler says so by a
 * resync_ms of its own, which is a second at least and in effect a multiple of the informer's. One that is
 * added before the start and asks for a shorter period shortens the informer's; one that comes later has to
 * wait as long as the informer does, and up to twice as long for its first time.
 */
typedef struct ki_informer_options {
    const char *ns;             /* NULL or "": all namespaces */
    const char *label_selector; /* the server's: what does not match is not part of the collection */
    const char *field_selector;
    const char *const *keep; /* paths to keep of each object, as in ki_object_options */
    const char *const *drop;
    int keep_managed_fields;
    int deliver_unchanged; /* 1: updates that change nothing of what `keep` and `drop` leave are delivered */
    size_t object_bytes_max; /* of the text that is kept; a larger object is refused. 0: 64 MiB */
    uint64_t resync_ms;      /* the check period: handlers are reminded that often at the most. 0: none is */
    int64_t page_size;       /* of a LIST; 0: 500; -1: no limit */
    int watch_list;          /* a ki_watch_list */
    int mutations;           /* a ki_mutations: what is done about writes into cached objects */
    uint64_t backoff_ms;     /* after a failure; doubled each time; up to twice as long is waited. 0: 800 */
    uint64_t backoff_max_ms; /* of what is doubled; 0: 30,000 */
    size_t queue_items_max;  /* changes that wait between network and store; 0: 10,000 */
    size_t queue_bytes_max;  /* 0: 16 MiB */
    ki_transform_cb transform;
    void *transform_user;
    ki_tweak_cb tweak;
    void *tweak_user;
    const ki_list_watch *list_watch; /* who answers; copied. NULL: the client */
    const char *name;          /* in metrics and logs; NULL: "pods", or "pods/ns"; a second one "pods#2" */
    uint64_t pages_max;        /* of one list; one that has more is given up. 0: 100,000 */
    uint32_t object_depth_max; /* of containers in containers; a deeper object is left out. 0: 1,000 */
    uint32_t reserved_number;
    uint64_t reserved[6];
} ki_informer_options;

/* ---- making and freeing ------------------------------------------------------------------------------ */

/**
 * Makes an informer that is not started.
 *
 * Returns:   an informer to free, or NULL with KI_ERR_INVALID (a bad option), KI_ERR_NO_MEMORY,
 *            KI_ERR_SYSTEM.
 * Ownership: the caller frees it with ki_informer_free(). `options` may be NULL.
 */
KI_API KI_NODISCARD ki_informer *ki_informer_new(ki_client *client, const ki_resource *resource,
                                                 const ki_informer_options *options, ki_error *err);

/** Stops it, ends every registration, and frees it; no other call for it is under way, and none follows.
 * Waits for callbacks that run, and until every read section has ended that has begun, in any thread: objects
 * that were peeked at live as long. Others go on meanwhile. From a callback or inside a read section:
 * returns at once, and is carried out soon. NULL is allowed. */
KI_API void ki_informer_free(ki_informer *informer);

/* ---- running ----------------------------------------------------------------------------------------- */

/**
 * Begins to follow the server, or goes on after a stop: from what the store holds, with the backlogs that
 * waited. Started already: nothing happens.
 *
 * Returns: 0; the first error of the set-up; KI_ERR_INVALID without an informer; KI_ERR_SYSTEM,
 *          KI_ERR_NO_MEMORY when a thread cannot be started; KI_ERR_STOPPED when the client has been freed;
 *          KI_ERR_FORKED in a child.
 */
KI_API KI_NODISCARD int ki_informer_start(ki_informer *informer, ki_error *err);

/** Ends requests and callbacks, keeps the store, the handlers and what waits for them. Returns when nothing
 * runs any more: it waits for callbacks that run, not for readers. From a callback: returns at once, and is
 * carried out soon. Idempotent. */
KI_API void ki_informer_stop(ki_informer *informer);

/** Tries again now instead of when the back-off ends. */
KI_API void ki_informer_retry_now(ki_informer *informer);

/** 1 when the first list is in the store. Handlers have theirs: ki_registration_has_synced(). */
KI_API int ki_informer_has_synced(const ki_informer *informer);

/**
 * Waits for that, `timeout_ms` at the most.
 *
 * Returns: 0; KI_ERR_TIMEOUT with what it is doing and why; KI_ERR_STOPPED, at once, when it was never
 *          started or was stopped; KI_ERR_WOULD_DEADLOCK from a callback or a read section; KI_ERR_FORKED
 *          in a child.
 */
KI_API KI_NODISCARD int ki_informer_wait_for_sync(ki_informer *informer, uint64_t timeout_ms, ki_error *err);

/**
 * The version up to which the store is complete; "" before the first list. A buffer of
 * KI_RESOURCE_VERSION_BYTES_MAX + 1 holds any; 64 bytes do for those of Kubernetes itself.
 *
 * Returns: the length as snprintf does.
 */
KI_API size_t ki_informer_last_resource_version(const ki_informer *informer, char *buffer,
                                                size_t buffer_bytes);

/**
 * Waits until the store is complete up to `version`: to read what was just written.
 *
 * A version that is no decimal number can only be met, not passed: when changes follow each other quickly,
 * the store may be complete up to a later one without ever having been so up to just this one.
 *
 * Returns: as ki_informer_wait_for_sync(); KI_ERR_INVALID for a version that is empty or longer than
 *          KI_RESOURCE_VERSION_BYTES_MAX.
 */
KI_API KI_NODISCARD int ki_informer_wait_for_version(ki_informer *informer, ki_str version,
                                                     uint64_t timeout_ms, ki_error *err);

/**
 * How old the store is, in milliseconds: for how long there may have been changes that it does not have.
 *
 * While nothing waits to be applied, it is the time since a list ended or an event or a bookmark came; a
 * connection or the head of an answer proves nothing. While changes wait (a handler with KI_OVERFLOW_BLOCK
 * that is behind, a reader inside ki_read_lock(), a machine without time), it is the time since the oldest
 * of them was received. A list under way counts once it has ended and is in the store.
 *
 * Servers send a bookmark about once a minute, so a store that follows one is seldom older than that; where a
 * server sends none, the age grows for as long as nothing changes. While lists make up for broken watches
 * (reason Polling), they may be up to 5 minutes apart, so the age may exceed 180,000 on a quiet cluster. For
 * as long as the server answers each watch with 429 (reason TooManyRequests) nothing is listed, and the age
 * grows. It goes on growing after a stop.
 *
 * Returns: UINT64_MAX before the first list is in the store.
 * Threads: any. A read without a lock.
 */
KI_API uint64_t ki_informer_age_ms(const ki_informer *informer);

/** To read; writing is refused. Lives as long as the informer. */
KI_API ki_store *ki_informer_store(ki_informer *informer);

KI_API const ki_resource *ki_informer_resource(const ki_informer *informer);

/* ---- set-up ------------------------------------------------------------------------------------------ */

/**
 * Adds a handler; what it says is copied. Before or after start: it hears of everything that is in the store,
 * as adds with KI_EVENT_INITIAL, and of all that follows; nothing is lost or doubled.
 *
 * Returns:   the registration, or NULL with KI_ERR_INVALID (which field of the handler is wrong) or
 *            KI_ERR_NO_MEMORY. Before the first start that reports it as well, so `err` may be NULL there.
 * Ownership: the informer's. It is valid until it is removed or the informer is freed.
 */
KI_API ki_registration *ki_informer_add_handler(ki_informer *informer, const ki_handler *handler,
                                                ki_error *err);

/** Adds an index, before or after start, with what is in the store. Returns: as ki_store_add_index(). */
KI_API int ki_informer_add_index(ki_informer *informer, const char *name, ki_index_cb callback, void *user);

/** Returns: 0, or KI_ERR_INVALID after the first start. */
KI_API int ki_informer_set_transform(ki_informer *informer, ki_transform_cb transform, void *user);

/** What went wrong, each time: lists, watches, events inside a watch, objects that were refused. */
typedef struct ki_watch_error {
    ki_reason reason;
    int http_status;           /* 0: none */
    uint64_t since_success_ms; /* since a list ended, an event or a bookmark came; UINT64_MAX: never yet */
    uint64_t retry_ms;         /* until the next try; 0: at once, or none is needed */
    const ki_error *error;     /* borrowed, as the next */
    const char *key;           /* of the object that was refused; else "" */
    uint64_t reserved[4];
} ki_watch_error;

/** Called on `io`; to be quick. */
typedef void (*ki_watch_error_cb)(ki_informer *informer, const ki_watch_error *error, void *user);

/** Returns: 0, or KI_ERR_INVALID after the first start. */
KI_API int ki_informer_set_watch_error_handler(ki_informer *informer, ki_watch_error_cb callback, void *user);

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

/** Nothing more is delivered, what waits is dropped; a callback that runs may go on, then on_release is
 * called. The registration is not used any more. NULL is allowed. */
KI_API void ki_registration_remove(ki_registration *registration);

/** The same, and returns after on_release. From a callback of the same handler: as ki_registration_remove().
 *
 * Returns: 0; KI_ERR_WOULD_DEADLOCK from another callback that this would have to wait for, or inside a
 *          read section: then it was not removed. */
KI_API int ki_registration_remove_and_wait(ki_registration *registration);

typedef struct ki_registration_stats {
    uint64_t backlog; /* events that wait */
    uint64_t backlog_bytes;
    uint64_t backlog_high_water;
    uint64_t coalesced; /* events that joined one that waited */
    uint64_t delivered;
    uint64_t handler_ns; /* spent in callbacks */
    uint64_t reserved[4];
} ki_registration_stats;

KI_API void ki_registration_read_stats(const ki_registration *registration, ki_registration_stats *out_stats);

/* ---- status ------------------------------------------------------------------------------------------ */

typedef enum ki_phase {
    KI_PHASE_STOPPED = 0,
    KI_PHASE_LISTING,        /* and, after the list, waits for the answer to the watch */
    KI_PHASE_STREAMING_LIST, /* a watch that begins with the list */
    KI_PHASE_WATCHING,   /* once the server has answered the watch; also from one that it ended to the next */
    KI_PHASE_BACKING_OFF /* waits before it tries again, or for the answer to a watch that takes up another,
                          * or for the rest of one that refuses it */
} ki_phase;

/** "WATCHING" for KI_PHASE_WATCHING. */
KI_API const char *ki_phase_name(ki_phase phase);

/** Ages are in milliseconds; UINT64_MAX: never yet. */
typedef struct ki_informer_status {
    ki_phase phase;
    ki_reason reason; /* of the last failure, NONE once all is well again; never NONE while BACKING_OFF;
                       * POLLING in any phase, for as long as lists make up for watches */
    int http_status;  /* of the last failure; 0: none */
    int has_synced;
    uint64_t phase_age_ms;
    uint64_t byte_age_ms; /* since the last byte, event, bookmark came */
    uint64_t event_age_ms;
    uint64_t bookmark_age_ms;
    uint64_t retry_ms; /* until the next try, while BACKING_OFF; 0: it is under way */
    uint64_t objects;
    uint64_t bytes;
    uint64_t queued; /* changes that wait to be applied */
    uint64_t lists;
    uint64_t watches;
    uint64_t reconnects; /* watches that took up where one had been lost */
    uint64_t events;
    uint64_t refused; /* objects and events that could not be used */
    uint64_t bytes_read;
    char message[KI_ERROR_MESSAGE_BYTES]; /* of the last failure */
    uint64_t success_age_ms;              /* of the store: as ki_informer_age_ms() */
    uint64_t resource_version_bytes;      /* the length of `resource_version` */
    uint64_t reserved[6];
    /* As ki_informer_last_resource_version(). What is behind its NUL is not written. */
    char resource_version[KI_RESOURCE_VERSION_BYTES_MAX + 1];
} ki_informer_status;

KI_API void ki_informer_read_status(const ki_informer *informer, ki_informer_status *out_status);

/** Called on `io` after each change of phase or reason; to be quick. Changes that follow each other at once,
 * as when a source answers inside `begin`, may be told as one. The last call, of KI_PHASE_STOPPED, comes
 * before ki_informer_stop() returns. */
typedef void (*ki_informer_status_cb)(ki_informer *informer, const ki_informer_status *status, void *user);

/** Returns: 0, or KI_ERR_INVALID after the first start. */
KI_API int ki_informer_set_status_handler(ki_informer *informer, ki_informer_status_cb callback, void *user);

KI_EXTERN_C_END

#endif
