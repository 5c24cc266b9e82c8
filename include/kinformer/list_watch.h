/* SPDX-License-Identifier: Apache-2.0 */
/* list_watch - the source that an informer lists and watches, if it is not a cluster: client-go's
 * ListerWatcher.
 *
 * A request is a page of a LIST, or a WATCH. The informer begins it by calling the source; the source answers
 * by calling the functions below: the head, the body in pieces of any size, the end. A body is what a
 * Kubernetes API server sends: the JSON of a List, a sequence of watch events, or, with an error status, a
 * Status. It may be protobuf instead: see ki_answer_set_content_type().
 *
 * What a source must know:
 *   - The first list is a LIST of any version ("0"), and later lists are streamed; <kinformer/informer.h> has
 *     the order while the first one fails (ki_watch_list). With KI_WIRE_PROTOBUF or KI_WATCH_LIST_ALWAYS the
 *     first list is streamed as well; with `no_watch_list` or KI_WATCH_LIST_NEVER none is.
 *   - A streamed list is a watch with `send_initial_events`. The response is an ADDED event for each object,
 *     then a BOOKMARK whose object has the annotation "k8s.io/initial-events-end": "true" and the
 *     resourceVersion of the list, then events as they happen. Other BOOKMARKs before the end are ignored in
 *     the first minute; a later one fails the list (NoEndOfList), unless ki_answer_body() had
 *     returned 1 before that bookmark. A source can reject a streamed list with a status of 400, 405, 406,
 *     415 or 422, or with KI_ERR_INVALID from `begin`: a LIST follows at once. After two failures of another
 *     kind in a row (5xx, cut, silent), LIST is used for ten minutes.
 *   - Objects and lists have a resourceVersion, which increases with each change. A watch from a version that
 *     is no longer known must be answered with 410, or with an ERROR event that holds such a Status.
 *   - The source ends a watch after `timeout_seconds`; 30 s later the informer cancels it.
 *   - The informer cancels a list, streamed or not, that brings less than 1,024 bytes of body in 60 s. It
 *     cancels a streamed list that brings nothing for 10 s, or only events that are not items. These times
 *     count from when the request was sent (see `tells_sent`), but not while the source has been told to
 *     wait.
 *   - An error response (a status that is not 2xx) is cancelled when its body has not ended after 10 s, or is
 *     longer than 64 KiB; its status is used nevertheless.
 *   - A page after the first that is answered with 429 or 5xx, or cut before its first item, is requested
 *     again with the same `continue_token` after a delay: three times in total, and for at most 30 s. Then
 *     the list starts over. The page after one without items counts for the rate limit: five requests at
 *     once, then one a second. A token that occurs twice in one list is an error.
 *   - BOOKMARK events, about one a minute, show that the source is alive: without them, ki_informer_age_ms()
 *     grows while nothing changes.
 *   - After three watches in a row without an event or a BOOKMARK, the informer lists as well, since the
 *     source's watches may be broken; such lists are at least 30 s apart, and up to 5 minutes if they find
 *     nothing new.
 *   - Two requests may be in progress at a time: a watch, and a LIST of one item (limit 1), with which the
 *     informer asks for the current version of the source.
 *   - Bytes sent after ki_answer_body() has returned 1 are still kept, without limit: the source must stop.
 *
 * A source may send a part or all of the response inside `begin`. It must then expect that
 *   - `cancel` may be called before `begin` has returned, inside any of the source's calls for this request.
 *     So call ki_answer_set_data() first if `cancel` needs it, and make no call for this request after a
 *     `cancel`. After a `cancel` or ki_answer_end(), the return value of `begin` is ignored.
 *   - ki_answer_body() may return 1, as elsewhere: `begin` then returns 0, and `resume` is called later.
 *   - `begin` is not called inside `begin`: the next request follows when it has returned, and may have the
 *     same `answer`. So the pointer must not be used after the end, or a `cancel`, of its request.
 *   - if `begin` returns a negative code after it has sent a part of the response, the response counts as
 *     cut off.
 *   - callbacks of the program, such as transforms and error handlers, run inside the source's calls: a
 *     source must not hold a lock that they may need.
 *
 * Threads: `io` for all calls in both directions (in KI_MODE_EVENT_LOOP the thread that dispatches); the
 *          source may also make its calls inside `begin` and `resume`. A source with threads of its own uses
 *          ki_client_post() to get to `io`.
 */
#ifndef KI_LIST_WATCH_H
#define KI_LIST_WATCH_H

#include <kinformer/common.h>
#include <kinformer/error.h>

KI_EXTERN_C_BEGIN

/** The format of lists and watches. Objects are the same in either format. */
typedef enum ki_wire {
    KI_WIRE_AUTO = 0, /* protobuf for built-in kinds where the server has it and nothing would be lost, else
                       * JSON; for a source of the program, JSON */
    KI_WIRE_JSON,
    KI_WIRE_PROTOBUF /* protobuf for built-in kinds where the server has it, even if fields are lost:
                      * those that this version of the library does not know are left out, counted and
                      * logged. Custom resources are JSON */
} ki_wire;

/** "json" for KI_WIRE_JSON, "protobuf" for KI_WIRE_PROTOBUF; "" for KI_WIRE_AUTO and for an unknown value. */
KI_API const char *ki_wire_name(ki_wire wire);

#define KI_CONTENT_TYPE_JSON "application/json"
#define KI_CONTENT_TYPE_PROTOBUF "application/vnd.kubernetes.protobuf"

/** The options of a request, as in metav1.ListOptions. The texts are borrowed for the call. */
typedef struct ki_list_options {
    ki_str label_selector;
    ki_str field_selector;
    ki_str resource_version;       /* of a LIST: "" the newest, "0" any, else not older than this; of a watch:
                                    * events after this */
    ki_str resource_version_match; /* "NotOlderThan" for a list not older than resource_version, and for every
                                    * streamed list; else "" */
    ki_str continue_token;         /* from the previous page */
    uint64_t limit;                /* of a page; 0: none */
    uint32_t timeout_seconds;      /* for a watch */
    int watch;                     /* 0: a LIST */
    int allow_bookmarks;
    int send_initial_events; /* 1: a streamed list, that is, a watch that begins with the list */
    ki_wire wire;            /* KI_WIRE_PROTOBUF: both formats are accepted; else JSON alone */
    uint32_t reserved_number;
    uint64_t reserved[3];
} ki_list_options;

/** The reason for a failure, as shown in status and logs: see ki_reason_name(). */
#define KI_REASONS(X)                                                                                        \
    X(NONE, "")                                                                                              \
    X(EXPIRED, "Expired")                   /* 410: the version is too old */                                \
    X(TOO_MANY_REQUESTS, "TooManyRequests") /* 429 */                                                        \
    X(UNAUTHORIZED, "Unauthorized")         /* 401 */                                                        \
    X(FORBIDDEN, "Forbidden")               /* 403 */                                                        \
    X(NOT_FOUND, "NotFound")                /* 404: no such resource (yet) */                                \
    X(BAD_REQUEST, "BadRequest")            /* any other 4xx */                                              \
    X(SERVER_ERROR, "ServerError")          /* 5xx */                                                        \
    X(VERSION_TOO_LARGE, "VersionTooLarge") /* the server has not reached this version yet */                \
    X(CONNECTION_REFUSED, "ConnectionRefused")                                                               \
    X(CONNECTION_LOST, "ConnectionLost")                                                                     \
    X(DNS, "Dns")                                                                                            \
    X(TLS, "Tls")                                                                                            \
    X(TIMEOUT, "Timeout")                                                                                    \
    X(SILENT, "Silent")              /* a watch that was silent for too long */                              \
    X(SHORT_WATCH, "ShortWatch")     /* a watch that the server closed at once */                            \
    X(NO_END_OF_LIST, "NoEndOfList") /* a streamed list without its end */                                   \
    X(ENDLESS_LIST, "EndlessList")   /* pages that repeat, or too many */                                    \
    X(MALFORMED, "Malformed")        /* not a list, or not an event */                                       \
    X(STALE, "Stale")                /* a list older than the store */                                       \
    X(HISTORY_RESET, "HistoryReset") /* the server has another history than before */                        \
    X(NO_MEMORY, "NoMemory")                                                                                 \
    X(TOO_MANY_OPEN_FILES, "TooManyOpenFiles") /* in this process or the system */                           \
    X(REDIRECTED, "Redirected")                                                                              \
    X(NO_CREDENTIALS, "NoCredentials") /* a plug-in or file failed: nothing was sent */                      \
    X(OTHER, "Other")                                                                                        \
    /* Not failures: reasons for waiting. */                                                                 \
    X(PACED, "Paced")       /* rate limit: five requests at once, then one a second */                       \
    X(RESUMING, "Resuming") /* after a start: for the response to the resumed watch */                       \
    X(POLLING, "Polling")   /* watches bring nothing: the collection is listed instead */

typedef enum ki_reason {
#define KI_REASON_ENUM(name, text) KI_REASON_##name,
    KI_REASONS(KI_REASON_ENUM)
#undef KI_REASON_ENUM
} ki_reason;

/** Which party has failed. */
typedef enum ki_party {
    KI_PARTY_SERVER = 0, /* the API server, or the network on the way to it */
    KI_PARTY_PROXY,
    KI_PARTY_SELF /* this program: credentials, memory, open files */
} ki_party;

/** "Expired" for KI_REASON_EXPIRED; "" for KI_REASON_NONE and for an unknown reason. */
KI_API const char *ki_reason_name(ki_reason reason);

/** One request and its response. */
typedef struct ki_answer ki_answer;

/** The functions of a source. All but `release` are required. */
typedef struct ki_list_watch {
    /**
     * Begins a request; `options` is borrowed for the call. The source may answer during the call.
     *
     * Returns: 0; or a negative code, when there is no response: KI_ERR_INVALID counts as a status of 400,
     *          KI_ERR_NO_MEMORY as out of memory, all others as a lost connection.
     */
    int (*begin)(ki_answer *answer, const ki_list_options *options, void *user);
    /** Cancels a request: the source must not use `answer` afterwards. Also called inside
     * ki_answer_body(). */
    void (*cancel)(ki_answer *answer, void *user);
    /** Called after ki_answer_body() has returned 1: the source may send the rest now. */
    void (*resume)(ki_answer *answer, void *user);
    /** Called once for each informer or feed made with the source, when it no longer uses it: on `io` or,
     * after ki_client_free(), in the call that frees the informer. If making the informer fails, it is called
     * for a list_watch of a ki_source_cb, and not for one of the options. NULL: nothing to do. */
    void (*release)(void *user);
    void *user;
    int no_watch_list; /* 1: never request a streamed list */
    int tells_sent;    /* 1: the source calls ki_answer_sent(); 0: a request counts as sent when it begins */
    uint64_t reserved[4];
} ki_list_watch;

/** Reports that the request has been sent, so that the time needed for credentials or a connection does not
 * count as silence. For a source with `tells_sent`; without this call the request counts as sent when its
 * head or its first byte arrives. */
KI_API void ki_answer_sent(ki_answer *answer);

/** Sets the Content-Type of the body, before the head or the first byte: with KI_CONTENT_TYPE_PROTOBUF, and
 * any parameters after it, the body is Kubernetes' protobuf. Any other text, and the default, mean JSON. */
KI_API void ki_answer_set_content_type(ki_answer *answer, ki_str content_type);

/** Sets the HTTP status, before the body; the default is 200. For a watch, call it at once: the phase
 * KI_PHASE_WATCHING begins with the head or the first byte. `retry_after_seconds` 0: no Retry-After. */
KI_API void ki_answer_head(ki_answer *answer, int http_status, uint32_t retry_after_seconds);

/**
 * Passes bytes of the body; all of them are accepted.
 *
 * Returns: 0; 1: send no more until `resume`; KI_ERR_NOT_FOUND: `cancel` has been called for this request,
 *          perhaps inside this call.
 */
KI_API int ki_answer_body(ki_answer *answer, const char *bytes, size_t n);

/** Ends the response: KI_REASON_NONE when it is complete, else the reason why it was cut, with a message,
 * which is copied, or NULL. The source must not use `answer` afterwards. */
KI_API void ki_answer_end(ki_answer *answer, ki_reason reason, const char *message);

/** A pointer for the source's own use, NULL at first. */
KI_API void ki_answer_set_data(ki_answer *answer, void *data);
KI_API void *ki_answer_data(const ki_answer *answer);

KI_EXTERN_C_END

#endif
