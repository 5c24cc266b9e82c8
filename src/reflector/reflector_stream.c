/* SPDX-License-Identifier: Apache-2.0 */
/* A list that is the beginning of a watch, until the bookmark that ends it; then the same response continues
 * as a watch. */
#include <assert.h>

#include "api/decode/reason.h"
#include "reflector/reflector_parts.h"
#include "util/error.h"

enum { TRIES_MAX = 2, IGNORED_SECONDS = 60 };

/* In JSON a stream takes twice as long as a LIST of any version, which servers answer from their cache:
 * docs/consistency.md, "Which list comes first". */
static int prefers_list(const ki_reflector *reflector)
{
    int is_first = !reflector->wants_quorum && !ki_resource_version_is_set(&reflector->version);
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
    int is_quorum = reflector->wants_quorum || !ki_resource_version_is_set(&reflector->version);
    reflector->doing = KI_STEP_STREAM;
    reflector->has_list_failed = 0;
    ki_reflector_set_phase(reflector, KI_PHASE_STREAMING_LIST);
    if (ki_reflector_begin_attempt(reflector, is_quorum) < 0) {
        ki_reflector_give_up(reflector, KI_REASON_NO_MEMORY, ki_error_text(KI_ERR_NO_MEMORY));
        return;
    }
    ki_list_options options = {.send_initial_events = 1, .resource_version_match = KI_STR("NotOlderThan")};
    if (!is_quorum)
        options.resource_version = ki_resource_version_str(&reflector->version);
    ki_reflector_send_watch(reflector, &options);
}

/* ---- what comes ------------------------------------------------------------------------------------ */

/* The end of the list. What follows is a watch. */
static void take_end(ki_reflector *reflector, ki_str version)
{
    int rc = ki_resource_version_set(&reflector->list.version, version);
    if (rc < 0) {
        ki_reflector_give_up_version(reflector, rc, "the resourceVersion of the end of the list is too long");
    } else if (version.len == 0) {
        ki_reflector_give_up(reflector, KI_REASON_MALFORMED, "the end of the list has no resourceVersion");
    } else if (ki_reflector_list_is_stale(reflector)) {
        reflector->list.has_given = 1; /* even if it was empty, its end was seen */
        ki_reflector_drop_stale_list(reflector);
    } else if (ki_reflector_finish_list(reflector) < 0) {
        ki_reflector_give_up(reflector, KI_REASON_NO_MEMORY, ki_error_text(KI_ERR_NO_MEMORY));
    } else {
        reflector->failed_streams = 0;
        reflector->doing = KI_STEP_WATCH;
        reflector->watch.has_news = 1;
        reflector->watch.was_paused = 0;
        ki_reflector_watch_heard(reflector);
    }
}

/* Bookmarks before the end prove nothing about the list, nor that more follows. A server that does not know
 * the end marker sends one a minute, among events that may continue as long as the watch: the first late one
 * reveals it. After a pause it is unknown whether one is late. */
static void take_bookmark(ki_reflector *reflector, const ki_body_event *event)
{
    uint64_t ignored_until_ns = reflector->watch.begun_ns + IGNORED_SECONDS * KI_NS_PER_S;
    if (event->ends_initial_events)
        take_end(reflector, event->resource_version);
    else if (ki_reflector_now_ns(reflector) < ignored_until_ns || reflector->watch.was_paused)
        reflector->quiet_ns = reflector->watch.item_ns;
    else
        ki_reflector_give_up(reflector, KI_REASON_NO_END_OF_LIST,
                             "a bookmark arrived after a minute, but not the end of the list");
}

/* With an item the list continues. Anything else proves as little as a bookmark. */
static void note_event(ki_reflector *reflector, int is_item)
{
    if (is_item)
        reflector->watch.item_ns = reflector->report.byte_ns;
    reflector->quiet_ns = reflector->watch.item_ns;
}

/* An object that is deleted before the list has ended: it may have been an item before. */
static void take_deleted(ki_reflector *reflector, ki_object *object)
{
    const ki_resource_version none = {0};
    int was_given = ki_reflector_give_event(reflector, KI_CHANGE_DELETED, object, &none);
    if (!was_given && reflector->doing == KI_STEP_STREAM)
        ki_reflector_want_relist(reflector);
}

static void take_refused(ki_reflector *reflector, ki_body_decoder *decoder)
{
    const ki_refused *refused = ki_body_decoder_refused(decoder);
    int type = ki_body_decoder_event(decoder).refused_type;
    int is_of_object = type == KI_CHANGE_ADDED || type == KI_CHANGE_UPDATED || type == KI_CHANGE_DELETED;
    note_event(reflector, is_of_object && ki_buf_str(&refused->key).len > 0);
    switch (type) {
    case KI_CHANGE_ADDED:
    case KI_CHANGE_UPDATED:
        ki_reflector_give_refused(reflector, refused);
        break;
    case KI_WATCH_ERROR:
        ki_reflector_give_up(reflector, KI_REASON_MALFORMED, refused->error.message);
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

static void take_error(ki_reflector *reflector, ki_body_decoder *decoder)
{
    ki_failure failure = ki_reflector_error_event(ki_body_decoder_status(decoder));
    ki_answer_cancel(&reflector->answer);
    ki_reflector_stream_over(reflector, &failure);
}

/* Handles the object of an event; one of another kind does not belong to the collection. */
static void take_object(ki_reflector *reflector, int step, ki_object *object)
{
    int is_item = ki_reflector_is_of_kind(reflector, object);
    note_event(reflector, is_item);
    if (!is_item)
        ki_reflector_refuse_kind(reflector, object);
    else if (step == KI_CHANGE_DELETED)
        take_deleted(reflector, object);
    else
        ki_reflector_give_item(reflector, object);
}

void ki_reflector_stream_step(ki_reflector *reflector, int step)
{
    assert(reflector != NULL);
    ki_body_decoder *decoder = &reflector->answer.decoder;
    const ki_body_event event = ki_body_decoder_event(decoder);
    switch (step) {
    case KI_CHANGE_ADDED:
    case KI_CHANGE_UPDATED:
    case KI_CHANGE_DELETED:
        take_object(reflector, step, ki_body_decoder_take_object(decoder));
        break;
    case KI_CHANGE_BOOKMARK:
        take_bookmark(reflector, &event);
        break;
    case KI_WATCH_ERROR:
        take_error(reflector, decoder);
        break;
    default:
        take_refused(reflector, decoder);
        break;
    }
}

/* ---- how it ends ----------------------------------------------------------------------------------- */

/* A server, or a proxy, that does not support this kind of watch. */
static int is_refusal(int http_status)
{
    return http_status == 400 || http_status == 405 || http_status == 406 || http_status == 415 ||
           http_status == 422;
}

static int is_list_allowed(const ki_reflector *reflector)
{
    return reflector->options.informer->watch_list != KI_WATCH_LIST_ALWAYS;
}

/* For some time this resource is listed by LIST. */
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

/* A status that a LIST would probably get as well, but not certainly: the permissions to list and to watch
 * are separate. So the next list uses the other kind, and nothing is remembered. */
static int is_of_any_request(ki_reason reason)
{
    return reason == KI_REASON_UNAUTHORIZED || reason == KI_REASON_FORBIDDEN ||
           reason == KI_REASON_NOT_FOUND || reason == KI_REASON_TOO_MANY_REQUESTS;
}

/* Whether the failure counts against streams. A request that was not sent does not. */
static int is_failed(const ki_reflector *reflector, ki_reason reason)
{
    return reflector->answer.is_sent && !ki_reason_is_before_sending(reason) && !is_of_any_request(reason);
}

/* The other kind of request is tried at once, unless the failure concerns all requests. */
static void try_otherwise(ki_reflector *reflector, const ki_failure *failure)
{
    int is_last = is_failed(reflector, failure->reason) && ++reflector->failed_streams >= TRIES_MAX;
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
    int is_old = failure->reason == KI_REASON_EXPIRED || failure->reason == KI_REASON_VERSION_TOO_LARGE;
    if (is_old && !reflector->list.is_quorum) {
        reflector->wants_quorum = 1;
        ki_reflector_retry(reflector, failure, KI_STEP_SYNC, 0);
    } else if (is_list_allowed(reflector) && !reflector->poll.is_listing) {
        try_otherwise(reflector, failure);
    } else {
        ki_reflector_retry(reflector, failure, ki_reflector_step_after_list(reflector),
                           ki_reflector_delay_ns(reflector, failure));
    }
}
