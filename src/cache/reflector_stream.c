/* SPDX-License-Identifier: Apache-2.0 */
/* A list that comes as the beginning of a watch, until the bookmark that ends it; then the same answer goes
 * on as a watch. */
#include "cache/reflector_parts.h"
#include "util/error.h"

enum { TRIES_MAX = 2, LIST_INSTEAD_SECONDS = 600 };

int ki_reflector_may_stream(const ki_reflector *reflector)
{
    int choice = reflector->options.informer->watch_list;
    if (choice == KI_WATCH_LIST_NEVER || reflector->options.list_watch.no_watch_list)
        return 0;
    uint64_t now_ns = ki_reflector_now_ns(reflector);
    const uint64_t *of_server = reflector->options.stream_again_ns;
    return choice == KI_WATCH_LIST_ALWAYS ||
           (now_ns >= reflector->stream_again_ns && (of_server == NULL || now_ns >= *of_server));
}

void ki_reflector_begin_stream(ki_reflector *reflector)
{
    int is_quorum = reflector->wants_quorum || !ki_resource_version_is_set(&reflector->version);
    reflector->doing = KI_STEP_STREAM;
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
    if (version.len == 0 || ki_resource_version_set(&reflector->list.version, version) < 0) {
        ki_reflector_give_up(reflector, KI_REASON_MALFORMED, "the end of the list has no resourceVersion");
    } else if (ki_reflector_list_is_stale(reflector)) {
        reflector->list.has_given = 1; /* also when it was empty, its end was seen */
        ki_reflector_drop_stale_list(reflector);
    } else if (ki_reflector_finish_list(reflector) < 0) {
        ki_reflector_give_up(reflector, KI_REASON_NO_MEMORY, ki_error_text(KI_ERR_NO_MEMORY));
    } else {
        reflector->endless_streams = 0;
        reflector->doing = KI_STEP_WATCH;
        reflector->watch.has_news = 1;
        reflector->watch.was_paused = 0;
        ki_reflector_watch_heard(reflector);
    }
}

/* The first bookmark of a server that streams lists is the end of the list. One that sends any other before
 * does not know of the end, and might go on without it for as long as the watch lives. */
static void take_bookmark(ki_reflector *reflector, const ki_watch_decoder *decoder)
{
    if (decoder->ends_initial_events)
        take_end(reflector, decoder->resource_version);
    else
        ki_reflector_give_up(reflector, KI_REASON_NO_END_OF_LIST,
                             "a bookmark has come that is not the end of the list");
}

/* An object that is gone before the list has ended: it may have been an item before. */
static void take_deleted(ki_reflector *reflector, ki_object *object)
{
    const ki_resource_version none = {0};
    int was_given = ki_reflector_give_event(reflector, KI_CHANGE_DELETED, object, &none);
    if (!was_given && reflector->doing == KI_STEP_STREAM)
        ki_reflector_want_relist(reflector);
}

static void take_refused(ki_reflector *reflector, const ki_watch_decoder *decoder)
{
    switch (decoder->refused_type) {
    case KI_WATCH_ADDED:
    case KI_WATCH_MODIFIED:
        ki_reflector_give_refused(reflector, &decoder->refused);
        break;
    case KI_WATCH_ERROR:
        ki_reflector_give_up(reflector, KI_REASON_MALFORMED, decoder->refused.error.message);
        break;
    case KI_WATCH_BOOKMARK:
        ki_reflector_report_refused(reflector, &decoder->refused.error, KI_STR(""));
        break;
    default:
        ki_reflector_report_refused(reflector, &decoder->refused.error, ki_buf_str(&decoder->refused.key));
        ki_reflector_want_relist(reflector);
        break;
    }
}

static void take_error(ki_reflector *reflector, const ki_watch_decoder *decoder)
{
    ki_failure failure = ki_reflector_error_event(decoder);
    ki_answer_cancel(&reflector->answer);
    ki_reflector_stream_over(reflector, &failure);
}

/* Takes the object of an event, which is nothing of ours when it is of another kind. */
static void take_object(ki_reflector *reflector, int step, ki_object *object)
{
    if (!ki_reflector_is_of_kind(reflector, object))
        ki_reflector_refuse_kind(reflector, object);
    else if (step == KI_WATCH_DELETED)
        take_deleted(reflector, object);
    else
        ki_reflector_give_item(reflector, object);
}

void ki_reflector_stream_step(ki_reflector *reflector, int step)
{
    ki_watch_decoder *decoder = &reflector->answer.decoder.watch;
    switch (step) {
    case KI_WATCH_ADDED:
    case KI_WATCH_MODIFIED:
    case KI_WATCH_DELETED:
        take_object(reflector, step, ki_watch_decoder_take_object(decoder));
        break;
    case KI_WATCH_BOOKMARK:
        take_bookmark(reflector, decoder);
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

/* A server, or something before it, that does not know this kind of a watch. */
static int is_refusal(int http_status)
{
    return http_status == 400 || http_status == 403 || http_status == 404 || http_status == 405 ||
           http_status == 406 || http_status == 422 || http_status == 501;
}

static int is_list_allowed(const ki_reflector *reflector)
{
    return reflector->options.informer->watch_list != KI_WATCH_LIST_ALWAYS;
}

/* For some time lists come as LIST, beginning now: everybody's, when it is the server that does not end them;
 * a refusal may be of this resource alone. */
static void list_instead(ki_reflector *reflector, const ki_failure *failure)
{
    uint64_t again_ns = ki_reflector_now_ns(reflector) + LIST_INSTEAD_SECONDS * KI_NS_PER_S;
    if (reflector->endless_streams >= TRIES_MAX && reflector->options.stream_again_ns != NULL)
        *reflector->options.stream_again_ns = again_ns;
    reflector->stream_again_ns = again_ns;
    reflector->endless_streams = 0;
    ki_reflector_retry(reflector, failure, KI_STEP_SYNC, 0);
}

/* A stream that was there and has ended too early: the server may never send the end of a list. */
static int is_endless(const ki_reflector *reflector, const ki_failure *failure)
{
    if (failure->reason == KI_REASON_NO_END_OF_LIST)
        return 1;
    if (failure->reason == KI_REASON_NO_MEMORY || failure->reason == KI_REASON_TOO_MANY_REQUESTS)
        return 0;
    return reflector->watch.was_heard;
}

/* A stream that was not begun in time. The server may be away, and that says nothing about streams; or there
 * is something before it that keeps an answer until it has a body. So one list is asked for in the other
 * way. */
static int is_unanswered(const ki_reflector *reflector, const ki_failure *failure)
{
    return failure->reason == KI_REASON_TIMEOUT && !reflector->watch.was_heard;
}

void ki_reflector_stream_over(ki_reflector *reflector, const ki_failure *failure)
{
    ki_failure ended = {.reason = KI_REASON_NO_END_OF_LIST};
    if (failure->reason == KI_REASON_NONE) {
        ki_error_set(&ended.error, KI_ERR_NOT_A_LIST, 0, "the watch has ended before its list");
        failure = &ended;
    }
    int is_old = failure->reason == KI_REASON_EXPIRED || failure->reason == KI_REASON_VERSION_TOO_LARGE;
    if (is_old && !reflector->list.is_quorum) {
        reflector->wants_quorum = 1;
        ki_reflector_retry(reflector, failure, KI_STEP_SYNC, 0);
        return;
    }
    reflector->endless_streams += is_endless(reflector, failure) ? 1 : 0;
    if (is_list_allowed(reflector) &&
        (is_refusal(failure->http_status) || reflector->endless_streams >= TRIES_MAX))
        list_instead(reflector, failure);
    else if (is_list_allowed(reflector) && is_unanswered(reflector, failure))
        ki_reflector_retry(reflector, failure, KI_STEP_LIST, ki_reflector_delay_ns(reflector, failure));
    else
        ki_reflector_retry(reflector, failure, KI_STEP_SYNC, ki_reflector_delay_ns(reflector, failure));
}
