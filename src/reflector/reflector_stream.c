/* SPDX-License-Identifier: Apache-2.0 */
/* A streamed list is the beginning of a watch, up to the bookmark that ends the list. After that the same
 * response continues as a watch. */
#include <assert.h>

#include "api/decode/reason.h"
#include "reflector/reflector_parts.h"
#include "util/error.h"

enum { TRIES_MAX = 2, IGNORED_SECONDS = 60 };

/* In JSON a stream takes twice as long as a LIST of any version, which servers answer from their cache:
 * docs/consistency.md, "Which list comes first". */
static int prefers_list(const ki_reflector *reflector)
{
    int is_first =
        !reflector->wants_quorum && !ki_resource_version_is_set(ki_reflector_list_floor(reflector));
    return is_first && !reflector->has_list_failed && ki_reflector_wire(reflector) == KI_WIRE_JSON;
}

int ki_reflector_may_stream(const ki_reflector *reflector)
{
    assert(reflector != NULL);
    ki_watch_list choice = reflector->options.informer->watch_list;
    if (choice == KI_WATCH_LIST_NEVER || reflector->options.list_watch.no_watch_list)
        return 0;
    uint64_t now_ns = ki_reflector_now_ns(reflector);
    const ki_stream_memory *server = reflector->options.streams;
    return choice == KI_WATCH_LIST_ALWAYS ||
           (!prefers_list(reflector) && now_ns >= reflector->stream_again_ns &&
            (server == NULL || ki_stream_memory_may_stream(server, reflector->options.resource, now_ns)));
}

void ki_reflector_begin_stream(ki_reflector *reflector)
{
    assert(reflector != NULL);
    const ki_resource_version *floor = ki_reflector_list_floor(reflector);
    int is_quorum = ki_reflector_wants_newest(reflector) || !ki_resource_version_is_set(floor);
    reflector->doing = KI_STEP_STREAM;
    reflector->has_list_failed = 0;
    ki_reflector_set_phase(reflector, KI_PHASE_STREAMING_LIST);
    if (ki_reflector_begin_attempt(reflector, is_quorum) < 0) {
        ki_reflector_abandon_no_memory(reflector);
        return;
    }
    ki_list_options options = {.send_initial_events = 1, .resource_version_match = KI_STR("NotOlderThan")};
    if (!is_quorum)
        options.resource_version = ki_resource_version_str(floor);
    ki_reflector_send_watch(reflector, &options);
}

/* ---- responses ------------------------------------------------------------------------------------- */

/* The list has ended; the response continues as a watch. */
static void take_end(ki_reflector *reflector, ki_str version)
{
    int rc = ki_resource_version_set(&reflector->list.version, version);
    if (rc < 0) {
        ki_reflector_abandon_version(reflector, rc, "the resourceVersion of the end of the list is too long");
    } else if (version.len == 0) {
        ki_reflector_abandon(reflector, KI_REASON_MALFORMED, "the end of the list has no resourceVersion");
    } else if (ki_reflector_list_is_stale(reflector)) {
        reflector->list.has_given = 1; /* even if it was empty, its end was seen */
        ki_reflector_drop_stale_list(reflector);
    } else if (ki_reflector_finish_list(reflector) < 0) {
        ki_reflector_abandon_no_memory(reflector);
    } else {
        reflector->failed_streams = 0;
        reflector->doing = KI_STEP_WATCH;
        reflector->watch.has_news = 1;
        reflector->watch.was_paused = 0;
        ki_reflector_watch_heard(reflector, reflector->report.byte_ns);
    }
}

/* Bookmarks before the end prove nothing about the list, nor that more items follow. A server that does not
 * know the end marker sends a bookmark every minute, among events that may continue as long as the watch. The
 * first bookmark after a minute reveals such a server. After a pause it is not known when a bookmark was
 * sent. */
static void take_bookmark(ki_reflector *reflector, const ki_decoded *event)
{
    uint64_t ignored_until_ns = reflector->watch.begun_ns + IGNORED_SECONDS * KI_NS_PER_S;
    if (event->ends_initial_events)
        take_end(reflector, event->resource_version);
    else if (ki_reflector_now_ns(reflector) < ignored_until_ns || reflector->watch.was_paused)
        reflector->quiet_ns = reflector->watch.item_ns;
    else
        ki_reflector_abandon(reflector, KI_REASON_NO_END_OF_LIST,
                             "a bookmark arrived after a minute, but not the end of the list");
}

/* Only an item proves that the list continues. Anything else proves as little as a bookmark. */
static void note_event(ki_reflector *reflector, int is_item)
{
    if (is_item)
        reflector->watch.item_ns = reflector->report.byte_ns;
    reflector->quiet_ns = reflector->watch.item_ns;
}

/* An object is deleted before the list has ended. It may have been an item of the list. */
static void take_deleted(ki_reflector *reflector, ki_object *object)
{
    const ki_resource_version none = {0};
    int was_given = ki_reflector_give_event(reflector, KI_CHANGE_DELETED, object, &none);
    if (!was_given && reflector->doing == KI_STEP_STREAM)
        ki_reflector_want_relist(reflector);
}

static void take_refused(ki_reflector *reflector, const ki_refused *refused, int type)
{
    note_event(reflector, ki_event_has_object(type) && ki_buf_str(&refused->key).len > 0);
    switch (type) {
    case KI_CHANGE_ADDED:
    case KI_CHANGE_UPDATED:
        ki_reflector_give_refused(reflector, refused);
        break;
    case KI_WATCH_ERROR:
        ki_reflector_abandon(reflector, KI_REASON_MALFORMED, refused->error.message);
        break;
    case KI_CHANGE_BOOKMARK:
        ki_reflector_report_refused(reflector, &refused->error, KI_STR(""));
        break;
    default:
        ki_reflector_report_refused(reflector, &refused->error, ki_buf_str(&refused->key));
        ki_reflector_want_relist(reflector);
        break;
    }
}

static void take_error(ki_reflector *reflector, const ki_status *status)
{
    ki_failure failure = ki_reflector_error_event(status);
    ki_answer_cancel(&reflector->answer);
    ki_reflector_stream_over(reflector, &failure);
}

/* An object of another kind does not belong to the collection. */
static void take_object(ki_reflector *reflector, int result, ki_object *object)
{
    int is_item = ki_reflector_is_of_kind(reflector, object);
    note_event(reflector, is_item);
    if (!is_item)
        ki_reflector_refuse_kind(reflector, object);
    else if (result == KI_CHANGE_DELETED)
        take_deleted(reflector, object);
    else
        ki_reflector_give_item(reflector, object);
}

void ki_reflector_stream_result(ki_reflector *reflector, int result, ki_decoded *event)
{
    assert(event != NULL);
    if (ki_event_has_object(result))
        take_object(reflector, result, ki_decoded_take_object(event));
    else if (result == KI_CHANGE_BOOKMARK)
        take_bookmark(reflector, event);
    else if (result == KI_WATCH_ERROR)
        take_error(reflector, &event->status);
    else
        take_refused(reflector, &event->refused, event->refused_type);
}

/* ---- how it ends ----------------------------------------------------------------------------------- */

/* Whether a server or a proxy answers in this way if it does not support this kind of watch. */
static int is_refusal(int http_status)
{
    return http_status == 400 || http_status == 405 || http_status == 406 || http_status == 415 ||
           http_status == 422;
}

static int is_list_allowed(const ki_reflector *reflector)
{
    return reflector->options.informer->watch_list != KI_WATCH_LIST_ALWAYS;
}

/* Uses LISTs for this resource for some time. */
static void list_instead(ki_reflector *reflector, const ki_failure *failure, uint64_t delay_ns)
{
    reflector->stream_again_ns = ki_reflector_now_ns(reflector) + KI_STREAM_AGAIN_NS;
    reflector->is_listed_instead = 1;
    reflector->failed_streams = 0;
    ki_reflector_retry(reflector, failure, KI_STEP_SYNC, delay_ns);
}

void ki_reflector_note_listed(ki_reflector *reflector)
{
    assert(reflector != NULL);
    const ki_reflector_options *options = &reflector->options;
    if (reflector->is_listed_instead && options->streams != NULL)
        ki_stream_memory_note(options->streams, options->resource, ki_reflector_now_ns(reflector));
    reflector->is_listed_instead = 0;
}

/* Whether a LIST would probably fail in the same way. This is not certain, because the permissions to list
 * and to watch are separate. So the next list is a LIST, and nothing is remembered. */
static int is_of_any_request(ki_reason reason)
{
    return reason == KI_REASON_UNAUTHORIZED || reason == KI_REASON_FORBIDDEN ||
           reason == KI_REASON_NOT_FOUND || reason == KI_REASON_TOO_MANY_REQUESTS;
}

int ki_reflector_is_of_this_kind(const ki_reflector *reflector, ki_reason reason)
{
    assert(reflector != NULL);
    return reflector->answer.is_sent && !ki_reason_is_before_sending(reason) && !is_of_any_request(reason);
}

/* Retries as a stream, or with a LIST: at once if the server refuses streams, or if the last attempts got no
 * response; otherwise after a delay. */
static void try_otherwise(ki_reflector *reflector, const ki_failure *failure)
{
    int is_last =
        ki_reflector_is_of_this_kind(reflector, failure->reason) && ++reflector->failed_streams >= TRIES_MAX;
    if (is_refusal(failure->http_status)) {
        list_instead(reflector, failure, 0);
        return;
    }
    int is_answered = failure->http_status != 0;
    uint64_t delay_ns = is_last && !is_answered ? 0 : ki_reflector_delay_ns(reflector, failure);
    if (is_last)
        list_instead(reflector, failure, delay_ns);
    else
        ki_reflector_retry(reflector, failure,
                           is_of_any_request(failure->reason) ? KI_STEP_LIST : KI_STEP_SYNC, delay_ns);
}

void ki_reflector_stream_over(ki_reflector *reflector, const ki_failure *failure)
{
    ki_failure ended = {.reason = KI_REASON_NO_END_OF_LIST};
    if (failure->reason == KI_REASON_NONE) {
        ki_error_set(&ended.error, KI_ERR_NOT_A_LIST, 0, "the watch ended before its list");
        failure = &ended;
    }
    if (ki_reflector_is_newest_due(reflector, failure->reason)) {
        reflector->wants_quorum = 1;
        reflector->failed_lists = 1; /* this kind; the other one is next */
        ki_reflector_retry(reflector, failure, KI_STEP_SYNC, 0);
    } else if (is_list_allowed(reflector) && !reflector->poll.is_listing) {
        try_otherwise(reflector, failure);
    } else {
        reflector->failed_lists += failure->reason != KI_REASON_NO_MEMORY &&
                                   ki_reflector_is_of_this_kind(reflector, failure->reason);
        ki_reflector_retry(reflector, failure, ki_reflector_step_after_list(reflector),
                           ki_reflector_delay_ns(reflector, failure));
    }
}
