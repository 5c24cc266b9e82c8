/* SPDX-License-Identifier: Apache-2.0 */
/* list_watch - how an informer asks for its collection, whoever answers: client-go's ListerWatcher.
 *
 * A request is a page of a LIST or a WATCH. It is begun by a call of the informer's; the answer is brought by
 * calls of the source's: its head, its body in any pieces, its end. A body is what a Kubernetes API server
 * sends: JSON of a List, a run of watch events, or, with an error code, a Status.
 *
 * What a source has to know:
 *   - A first request is a watch with `send_initial_events`, unless `no_watch_list` says that the source does
 *     not know of it: ADDED events for all that is there, then a BOOKMARK whose object has the annotation
 *     "k8s.io/initial-events-end": "true" and the resourceVersion of the list, then events as they happen. No
 *     other BOOKMARK is needed before that one, and none counts. A source refuses it with a status of 400,
 *     405, 406, 415 or 422, or with KI_ERR_INVALID from `begin`: a LIST follows at once. One that fails twice
 *     in a row in another way, with 5xx, by a cut, by silence, is followed by a LIST as well; then the
 *     collection is listed for ten minutes before a stream is tried again.
 *   - Objects and lists have a resourceVersion, which rises with each change. A watch from a version that is
 *     no longer known is answered with 410, or with an ERROR event that holds such a Status.
 *   - A watch ends by itself, complete, after `timeout_seconds`; 30 s later it is cancelled. A LIST on which
 *     no byte of the body comes for 60 s is cancelled, and a list at the beginning of a watch after 10 s;
 *     these count from when the request was sent (see `tells_sent`), and not while the source is to wait. An
 *     error (a status that is not 2xx) whose body has not ended after 10 s, or is longer than 64 KiB, is
 *     cancelled as well: its status counts all the same.
 *   - A page after the first that is answered with 429 or 5xx, or cut before its first item, is asked for
 *     again with the same `continue_token`, after a while, three times in all and for 30 s at the most; then
 *     the list begins anew. A page with no item is followed by the next after a second. No token comes twice
 *     in one list: that is an error.
 *   - BOOKMARK events, one a minute, tell that the source is alive: without any, ki_informer_age_ms() goes on
 *     while nothing changes.
 *   - Three watches in a row that bring neither event nor BOOKMARK are followed by a LIST, since a source
 *     with broken watches looks like that; such lists are 30 s apart at the least, and 5 minutes if they find
 *     nothing new.
 *   - Two requests may be under way at a time: a watch, and beside it a LIST of one item (limit 1), which
 *     asks how far the source has come.
 *   - After ki_answer_body() has returned 1 there is no limit to what is kept of what is sent all the same.
 *
 * A source may answer inside `begin`: some of it, or all. It has to expect there that
 *   - `cancel` is called for the answer before `begin` has returned, inside any of its calls: so what
 *     `cancel` needs (ki_answer_set_data()) is set before the first of them, and none follows it. What
 *     `begin` returns does not matter then, as it does not after ki_answer_end().
 *   - ki_answer_body() returns 1, as elsewhere: `begin` returns 0, and `resume` comes later.
 *   - `begin` is not called inside `begin`: the next request follows when it has returned, and may have
 *     the same `answer`. So the pointer says nothing after the end, or a `cancel`, of its request.
 *   - a negative code, returned after a part of the answer, cuts that off there.
 *   - functions of the program's run inside these calls (transforms, those that hear of errors): a source
 *     holds no lock that they may want.
 *
 * Threads: all on the thread that the informer's network side runs on (`io`; the caller's own in
 *          KI_MODE_EVENT_LOOP); the calls of the source's also inside `begin` and `resume`. A source with
 *          threads of its own comes there by ki_client_post().
 */
#ifndef KI_LIST_WATCH_H
#define KI_LIST_WATCH_H

#include <kinformer/common.h>
#include <kinformer/error.h>

KI_EXTERN_C_BEGIN

/** What is asked for, as in metav1.ListOptions. The texts are borrowed for the call. */
typedef struct ki_list_options {
    ki_str label_selector;
    ki_str field_selector;
    ki_str resource_version;       /* "": the newest; "0": any; else not older than it, or from it on */
    ki_str resource_version_match; /* "NotOlderThan" for a list, also one that a watch begins with; else "" */
    ki_str continue_token;         /* of the page before */
    uint64_t limit;                /* of a page; 0: none */
    uint32_t timeout_seconds;      /* of a watch */
    uint8_t watch;                 /* 0: a LIST */
    uint8_t allow_bookmarks;
    uint8_t send_initial_events; /* a watch that begins with the list */
    uint8_t reserved_flag;
    uint64_t reserved[4];
} ki_list_options;

/** Why something did not work, in one word, as status and logs have it: ki_reason_name(). */
#define KI_REASONS(X)                                                                                        \
    X(NONE, "")                                                                                              \
    X(EXPIRED, "Expired")                   /* 410: the version is too old */                                \
    X(TOO_MANY_REQUESTS, "TooManyRequests") /* 429 */                                                        \
    X(UNAUTHORIZED, "Unauthorized")         /* 401 */                                                        \
    X(FORBIDDEN, "Forbidden")               /* 403 */                                                        \
    X(NOT_FOUND, "NotFound")                /* 404: no such resource (yet) */                                \
    X(BAD_REQUEST, "BadRequest")            /* any other 4xx */                                              \
    X(SERVER_ERROR, "ServerError")          /* 5xx */                                                        \
    X(VERSION_TOO_LARGE, "VersionTooLarge") /* the server has not come as far as we have */                  \
    X(CONNECTION_REFUSED, "ConnectionRefused")                                                               \
    X(CONNECTION_LOST, "ConnectionLost")                                                                     \
    X(DNS, "Dns")                                                                                            \
    X(TLS, "Tls")                                                                                            \
    X(TIMEOUT, "Timeout")                                                                                    \
    X(SILENT, "Silent")              /* a watch on which nothing came for too long */                        \
    X(SHORT_WATCH, "ShortWatch")     /* a watch that the server closed at once */                            \
    X(NO_END_OF_LIST, "NoEndOfList") /* a streamed list without its end */                                   \
    X(ENDLESS_LIST, "EndlessList")   /* pages without an end */                                              \
    X(MALFORMED, "Malformed")        /* what came is no list or no event */                                  \
    X(STALE, "Stale")                /* a list older than what we have */                                    \
    X(HISTORY_RESET, "HistoryReset") /* the server's history is another one than before */                   \
    X(NO_MEMORY, "NoMemory")                                                                                 \
    X(TOO_MANY_OPEN_FILES, "TooManyOpenFiles") /* of this process or the system: no socket */                \
    X(REDIRECTED, "Redirected")                                                                              \
    X(NO_CREDENTIALS, "NoCredentials") /* a plug-in or a file of ours: nothing was asked */                  \
    X(OTHER, "Other")                                                                                        \
    /* Nothing has failed: why it waits all the same. */                                                     \
    X(PACED, "Paced")       /* for its turn: five requests at once, and then one a second */                 \
    X(RESUMING, "Resuming") /* after a start, for the answer to a watch from what is known */                \
    X(POLLING, "Polling")   /* watches bring nothing: when one ends so, the collection is listed */

typedef enum ki_reason {
#define KI_REASON_ENUM(name, text) KI_REASON_##name,
    KI_REASONS(KI_REASON_ENUM)
#undef KI_REASON_ENUM
} ki_reason;

/** "Expired" for KI_REASON_EXPIRED; "" for KI_REASON_NONE and for what is no reason. */
KI_API const char *ki_reason_name(ki_reason reason);

/** One request and what comes of it. */
typedef struct ki_answer ki_answer;

/** What a source does. */
typedef struct ki_list_watch {
    /**
     * Begins a request; `options` is borrowed for the call. The answer may come during the call.
     *
     * Returns: 0; or a negative code, and no answer comes: KI_ERR_INVALID counts as a status of 400,
     *          KI_ERR_NO_MEMORY as what it is, all others as a lost connection.
     */
    int (*begin)(ki_answer *answer, const ki_list_options *options, void *user);
    /** Ends a request early: no call for this answer afterwards. Also called inside ki_answer_body(). */
    void (*cancel)(ki_answer *answer, void *user);
    /** After ki_answer_body() has returned 1: the rest is welcome now. */
    void (*resume)(ki_answer *answer, void *user);
    /** Once for each informer that was made with it, when that does not use it any more.
     * NULL: nothing to do. */
    void (*release)(void *user);
    void *user;
    int no_watch_list; /* 1: never asked for a watch that begins with the list */
    int tells_sent;    /* 1: calls ki_answer_sent(); 0: a request is sent when it is begun */
    uint64_t reserved[4];
} ki_list_watch;

/** The request is on its way: what it took until then, for credentials or a connection, is no silence of the
 * server's. For a source that `tells_sent`; where it is not called the request was never sent. */
KI_API void ki_answer_sent(ki_answer *answer);

/** The HTTP status of the answer, before its body; without it 200. A watch counts as one once its head
 * or a byte of it has come, so say it at once: see KI_PHASE_WATCHING. `retry_after_seconds` 0: not said. */
KI_API void ki_answer_head(ki_answer *answer, int http_status, uint32_t retry_after_seconds);

/**
 * Some bytes of the body; all of them are taken.
 *
 * Returns: 0; 1: send no more until `resume`; KI_ERR_NOT_FOUND: the answer is no longer wanted, and has been
 *          cancelled.
 */
KI_API int ki_answer_body(ki_answer *answer, const char *bytes, size_t n);

/** The end of the answer: KI_REASON_NONE when it is complete, else what cut it, with a message or NULL. The
 * answer is not the source's any more. */
KI_API void ki_answer_end(ki_answer *answer, ki_reason reason, const char *message);

/** A pointer of the source's own, NULL at first. */
KI_API void ki_answer_set_data(ki_answer *answer, void *data);
KI_API void *ki_answer_data(const ki_answer *answer);

KI_EXTERN_C_END

#endif
