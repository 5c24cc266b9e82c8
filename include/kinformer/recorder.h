/* SPDX-License-Identifier: Apache-2.0 */
/* recorder - Kubernetes Events about objects: what `kubectl describe` and `kubectl get events` show.
 *
 *   ki_recorder_options options = {.component = "my-controller"};
 *   ki_recorder *recorder = ki_recorder_new(client, &options, &err);
 *   …
 *   ki_recorder_event(recorder, foo, KI_RECORD_NORMAL, "Synced", NULL, "Foo synced in %d ms", ms);
 *   ki_recorder_event(recorder, foo, KI_RECORD_WARNING, "ErrResourceExists", NULL,
 *                     "Resource %s already exists", name);
 *   …
 *   ki_recorder_free(recorder);   // sends what is left; then the client may be freed
 *
 * Recording never waits: an event is copied into a bounded queue, and sent in the background, one at a time.
 * To keep a server from being flooded, events are correlated as in client-go:
 *
 *   core/v1 (the default)
 *     Identical    Same object, severity, reason and message: the first event is created, the others patch
 *                  its count, lastTimestamp and message.
 *     Similar      They differ in the message only: from the tenth message on, one event represents all that
 *                  follow, "(combined from similar events): " and the last message, until there has been none
 *                  for 10 minutes.
 *     Spam         Per object and severity: 25 events at once, then one per 5 minutes. The others are
 *                  dropped, but counted: the next patch of the same event includes them in its count.
 *   events.k8s.io/v1
 *     Isomorphic   Same object (at the same resourceVersion), severity, reason and action: the first event is
 *                  created, the second makes it a series, the others are counted. The count is written every
 *                  30 minutes, and 6 minutes after the last event, which ends the series.
 *
 * For each of these rules, the recorder remembers the 4,096 events or objects that occurred last.
 *
 * An event that the server (4xx, 5xx) or a write gate of the client refuses is dropped. (After a response
 * with Retry-After it is retried first: see <kinformer/rest.h>.) An event to which the server does not
 * respond is sent again after a random part of 10 seconds and then every 10 seconds, 12 times in total; the
 * other events wait meanwhile. ki_recorder_read_stats() and the metrics event_recorder_events_total and
 * event_recorder_queued count the results.
 *
 * An event is named after its object, "<object>.<time>", and belongs to the object's namespace, or to
 * "default" when it has none. Long texts are cut: reason and action at 128 bytes, messages at 1,024 bytes
 * (events.k8s.io/v1) or 8,192 bytes (core/v1). Bytes that are not UTF-8 are replaced by '?'.
 *
 * Threads: any, for all calls; also in callbacks and inside read sections, where no call waits. With
 *          KI_MODE_EVENT_LOOP and KI_MODE_HANDLERS_ON_LOOP, events are sent while the program dispatches, and
 *          ki_recorder_flush() and ki_recorder_free() run the client's loop while they wait: call them on the
 *          thread that dispatches.
 * In a child of fork(), calls return KI_ERR_FORKED or do nothing.
 */
#ifndef KI_RECORDER_H
#define KI_RECORDER_H

#include <kinformer/client.h>
#include <kinformer/common.h>
#include <kinformer/error.h>
#include <kinformer/object.h>

KI_EXTERN_C_BEGIN

typedef struct ki_recorder ki_recorder;

typedef enum ki_record_severity { KI_RECORD_NORMAL = 0, KI_RECORD_WARNING = 1 } ki_record_severity;

typedef enum ki_recorder_api {
    KI_RECORDER_CORE_V1 = 0,  /* Event of v1 */
    KI_RECORDER_EVENTS_V1 = 1 /* Event of events.k8s.io/v1 */
} ki_recorder_api;

/** Zero means default. Texts are copied. */
typedef struct ki_recorder_options {
    const char *component; /* the reporter: "my-controller" or "example.com/my-controller"; required.
                            * Printable ASCII; for events.k8s.io/v1 a qualified name, whose part after the
                            * slash has at most 63 bytes */
    const char *instance;  /* printable ASCII. core/v1: the host; NULL: none. events.k8s.io/v1: NULL or "":
                            * component-hostname */
    ki_recorder_api api;
    int reserved_number;
    size_t queue_max;         /* waiting events; further ones are dropped. 0: 1,000 */
    uint64_t free_timeout_ms; /* how long ki_recorder_free() continues to send. 0: 5,000 */
    uint64_t reserved[8];
} ki_recorder_options;

/**
 * Makes a recorder, and starts the client's threads if its mode has any.
 *
 * Returns:   a recorder to free, or NULL with KI_ERR_INVALID (which option; or the client has no cluster),
 *            KI_ERR_NO_MEMORY, KI_ERR_SYSTEM, KI_ERR_STOPPED (the client has been freed), KI_ERR_FORKED.
 * Ownership: the caller frees it with ki_recorder_free(). It keeps the memory of the client.
 */
KI_API KI_NODISCARD ki_recorder *ki_recorder_new(ki_client *client, const ki_recorder_options *options,
                                                 ki_error *err);

/**
 * Stops recording, sends waiting events, and frees the recorder. It stops sending after free_timeout_ms, or
 * when a request gets no response, and drops the rest. The counts of open series are written once more.
 * Returns when this is done; from a callback or inside a read section it returns at once, and the rest is
 * done in the background, unless the client is freed first. After ki_client_free(),
 * nothing can be sent any more. NULL is allowed.
 */
KI_API void ki_recorder_free(ki_recorder *recorder);

/**
 * Records an event about `object`, which is copied as far as needed. `reason` is a machine-readable word
 * ("Synced"), `action` what was done ("Scaling"; NULL: the reason; core/v1 ignores it), `format` and the rest
 * a message for people.
 *
 * Returns: 0; KI_ERR_INVALID: no recorder, object, reason or format; KI_ERR_TOO_LARGE: the queue is full;
 *          KI_ERR_NO_MEMORY; KI_ERR_STOPPED: the client has been freed; KI_ERR_FORKED.
 *          Programs may ignore it.
 */
KI_API int ki_recorder_event(ki_recorder *recorder, const ki_object *object, ki_record_severity severity,
                             const char *reason, const char *action, const char *format, ...) KI_PRINTF(6, 7);

/** An event for ki_recorder_record(). Zero means default. Everything is copied. */
typedef struct ki_record {
    const ki_object *object;  /* what the event is about; required */
    const ki_object *related; /* a second object that is involved; NULL: none */
    ki_record_severity severity;
    int reserved_number;
    ki_str reason; /* required */
    ki_str action; /* empty: the reason */
    ki_str message;
    uint64_t reserved[8];
} ki_record;

/** Records an event like ki_recorder_event(), with a message instead of a format.
 * Returns: as ki_recorder_event(). */
KI_API int ki_recorder_record(ki_recorder *recorder, const ki_record *record);

/**
 * Waits until every event recorded before the call has been sent or dropped, for up to `timeout_ms` (0: does
 * not wait; UINT64_MAX: no limit). Not needed before ki_recorder_free().
 *
 * Returns: 0, also when the client was freed before; KI_ERR_TIMEOUT; KI_ERR_STOPPED: the client was freed
 *          during the call, and events were dropped; KI_ERR_WOULD_DEADLOCK from a callback or inside a read
 *          section; KI_ERR_INVALID, KI_ERR_FORKED.
 */
KI_API int ki_recorder_flush(ki_recorder *recorder, uint64_t timeout_ms);

/** Counts of results: recorded = created + patched + counted + all dropped_… + queued. */
typedef struct ki_recorder_stats {
    uint64_t recorded;
    uint64_t created;
    uint64_t patched; /* counted in an existing event */
    uint64_t counted; /* in a series, to be written later */
    uint64_t dropped_queue_full;
    uint64_t dropped_no_memory;
    uint64_t dropped_spam;
    uint64_t dropped_refused; /* by the server, or by a write gate */
    uint64_t dropped_no_answer;
    uint64_t dropped_stopped; /* recorder or client were freed before it was sent */
    uint64_t queued;          /* waiting or being sent */
    uint64_t refreshed;       /* writes of a series that were not caused by an event */
    uint64_t retries;         /* requests sent again */
    uint64_t reserved[7];
} ki_recorder_stats;

/** All zero without a recorder, and in a child of fork(). */
KI_API void ki_recorder_read_stats(const ki_recorder *recorder, ki_recorder_stats *out_stats);

KI_EXTERN_C_END

#endif
