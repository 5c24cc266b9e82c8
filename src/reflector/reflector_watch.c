/* SPDX-License-Identifier: Apache-2.0 */
/* WATCH: events as they happen, and what follows a watch that has ended. */
#include <assert.h>

#include "api/decode/reason.h"
#include "reflector/reflector_parts.h"
#include "util/error.h"

enum {
    TIMEOUT_SECONDS = 300, /* the timeout is random, from this to twice this, so that not all watches end at
                            * once */
    GRACE_SECONDS = 30,
    BOOKMARK_SECONDS = 60, /* the usual interval, used until this server has sent two bookmarks */
    RELIST_SECONDS = 60,
    SOON_MS = 100 /* the delay after a cut is random, from this to ten times this */
};

/* ---- the request ----------------------------------------------------------------------------------- */

void ki_reflector_send_watch(ki_reflector *reflector, ki_list_options *options)
{
    assert(reflector != NULL);
    uint64_t now = ki_reflector_now_ns(reflector);
    int is_unproven = reflector->watch.is_unproven;
    options->watch = 1;
    options->allow_bookmarks = 1;
    options->timeout_seconds =
        TIMEOUT_SECONDS + (uint32_t)ki_random_below(&reflector->random, TIMEOUT_SECONDS);
    ki_reflector_finish_options(reflector, options);
    uint64_t lifetime = (options->timeout_seconds + (uint64_t)GRACE_SECONDS) * KI_NS_PER_S;
    reflector->watch =
        (ki_watch_attempt){.begun_ns = now,
                           .deadline_ns = options->timeout_seconds == 0 ? UINT64_MAX : now + lifetime,
                           .bookmark_ns = UINT64_MAX,
                           .item_ns = now,
                           .is_unproven = is_unproven};
    reflector->poll.was_counted = 0;
    reflector->report.watches++;
    ki_counter_add(reflector->options.metrics->watches, 1);
    ki_answer_begin(&reflector->answer, KI_ANSWER_WATCH, options);
}

/* The phase becomes WATCHING when the server has answered. Until then it is still that of the list, of the
 * failure, or of the watch that has ended normally. */
void ki_reflector_begin_watch(ki_reflector *reflector)
{
    assert(reflector != NULL);
    ki_list_options options = {.resource_version = ki_resource_version_str(&reflector->version)};
    reflector->doing = KI_STEP_WATCH;
    if (reflector->report.phase == KI_PHASE_STOPPED) {
        ki_reflector_set_phase(reflector, KI_PHASE_BACKING_OFF);
        ki_reflector_set_reason(reflector, KI_REASON_RESUMING,
                                "the server has not answered the resumed watch yet");
    }
    ki_reflector_send_watch(reflector, &options);
}

/* Bytes or a successful head have arrived, so the server is reachable.
 * Only events and bookmarks prove that it reports changes. */
void ki_reflector_watch_heard(ki_reflector *reflector, uint64_t now_ns)
{
    assert(reflector != NULL);
    ki_backoff_set_healthy(&reflector->backoff, now_ns);
    ki_reflector_settle(reflector);
    ki_reflector_set_phase(reflector, KI_PHASE_WATCHING);
}

/* ---- events ---------------------------------------------------------------------------------------- */

void ki_reflector_want_relist(ki_reflector *reflector)
{
    assert(reflector != NULL);
    uint64_t now = ki_reflector_now_ns(reflector);
    if (reflector->relist_ns != UINT64_MAX)
        return;
    uint64_t due = now + ki_backoff_next_ns(&reflector->backoff, &reflector->random, now);
    if (reflector->relisted_ns != UINT64_MAX)
        due = ki_ns_max(due, reflector->relisted_ns + RELIST_SECONDS * KI_NS_PER_S);
    reflector->relist_ns = due;
}

/* Everything up to `version` has been received. */
static void advance(ki_reflector *reflector, const ki_resource_version *version)
{
    if (!ki_resource_version_advance(&reflector->version, version))
        return;
    reflector->watch.has_news = 1;
    reflector->has_expired = 0;
    ki_reflector_note_success(reflector);
    ki_reflector_note_result(reflector);
}

/* Handles an invalid event, which may have been a change. */
static void take_invalid(ki_reflector *reflector, const ki_error *error, ki_str key)
{
    ki_reflector_report_refused(reflector, error, key);
    ki_reflector_want_relist(reflector);
}

/* Handles an object whose version is missing (`code` is 0), or could not be kept (`code` is the error). */
static void take_without_version(ki_reflector *reflector, ki_object *object, int code)
{
    ki_error error = {0};
    if (code == 0)
        ki_fail(&error, KI_ERR_METADATA, "the object of the event has no resourceVersion");
    else if (code == KI_ERR_TOO_LARGE)
        ki_reflector_fail_long_version(&error, object);
    if (error.code != 0)
        take_invalid(reflector, &error, ki_object_key_str(object));
    else
        ki_reflector_abandon(reflector, KI_REASON_NO_MEMORY, ki_error_text(code));
    ki_object_unref(object);
}

static void take_event(ki_reflector *reflector, ki_change_type type, ki_object *object)
{
    ki_resource_version version = {0};
    ki_str text = ki_object_resource_version(object);
    if (!ki_reflector_is_of_kind(reflector, object)) {
        ki_reflector_refuse_kind(reflector, object);
        return;
    }
    int rc = ki_resource_version_set(&version, text);
    if (text.len == 0 || rc < 0) {
        take_without_version(reflector, object, rc);
        return;
    }
    reflector->report.events++;
    reflector->report.event_ns = reflector->report.byte_ns;
    if (ki_reflector_give_event(reflector, type, object, &version))
        advance(reflector, &version);
    else if (type == KI_CHANGE_DELETED && reflector->doing == KI_STEP_WATCH)
        ki_reflector_want_relist(reflector); /* otherwise the deleted object would stay in the store */
    ki_resource_version_clear(&version);
}

/* Measures the interval between bookmarks, but not after a pause: bookmarks that were sent during a pause
 * arrive together at its end. */
static void note_bookmark(ki_reflector *reflector)
{
    uint64_t now = ki_reflector_now_ns(reflector);
    uint64_t before = reflector->watch.bookmark_ns;
    if (before != UINT64_MAX && !reflector->watch.was_paused)
        reflector->bookmark_interval_ns = ki_ns_max(now - before, KI_NS_PER_S);
    else if (reflector->bookmark_interval_ns == 0)
        reflector->bookmark_interval_ns = BOOKMARK_SECONDS * KI_NS_PER_S;
    reflector->watch.bookmark_ns = now;
    reflector->report.bookmark_ns = now;
}

/* A bookmark is never a change, so no list is due. */
static void refuse_bookmark(ki_reflector *reflector, ki_str text)
{
    ki_error error = {0};
    if (text.len == 0)
        ki_fail(&error, KI_ERR_METADATA, "the bookmark has no resourceVersion");
    else
        ki_fail(&error, KI_ERR_TOO_LARGE, "the resourceVersion of a bookmark has %zu bytes; the limit is %d",
                text.len, KI_RESOURCE_VERSION_BYTES_MAX);
    ki_reflector_report_refused(reflector, &error, KI_STR(""));
}

static void take_bookmark(ki_reflector *reflector, ki_str text)
{
    ki_resource_version version = {0};
    int rc = ki_resource_version_set(&version, text);
    if (rc == KI_ERR_TOO_LARGE || text.len == 0) {
        refuse_bookmark(reflector, text);
        return;
    }
    if (rc == 0) {
        note_bookmark(reflector);
        rc = ki_reflector_give(reflector, &(ki_change){.change_type = KI_CHANGE_BOOKMARK, .version = text});
    }
    if (rc < 0) {
        ki_reflector_abandon_no_memory(reflector);
    } else {
        if (!ki_resource_version_is_newer(&reflector->version, &version)) { /* otherwise the bookmark is
                                                                             * old */
            ki_reflector_note_success(reflector);
            ki_reflector_note_result(reflector);
        }
        advance(reflector, &version);
    }
    ki_resource_version_clear(&version);
}

ki_failure ki_reflector_error_event(const ki_status *status)
{
    assert(status != NULL);
    ki_failure failure = {.reason = ki_reason_of_status(200, status),
                          .http_status = status->http_status,
                          .retry_after_seconds = (uint32_t)status->retry_after_seconds};
    ki_error_set(&failure.error, KI_ERR_INVALID, 0, "the watch ended with an error: %d %.*s: %.*s",
                 status->http_status, KI_STR_ARGS(status->reason), KI_STR_ARGS(status->message));
    return failure;
}

/* ---- how it ends ----------------------------------------------------------------------------------- */

/* Whether the watch has failed without a status from the server: the connection was cut,
 * or the source gave a reason. */
static int is_cut(const ki_failure *failure)
{
    return ki_reason_is_transport(failure->reason) || failure->reason == KI_REASON_OTHER;
}

/* A watch that a busy server rejects is not replaced by a list, which would be more work for the server.
 * Meanwhile the store is not updated; error handlers and the status say so. */
static ki_failure explain_put_off(const ki_failure *failure)
{
    ki_failure told = *failure;
    if (failure->reason == KI_REASON_TOO_MANY_REQUESTS)
        ki_error_set(&told.error, failure->error.code, failure->error.offset,
                     "the store is not updated until the server accepts a watch: %s", failure->error.message);
    return told;
}

/* Resumes the watch from the received version. If the watch had brought something new before it was cut, the
 * server worked, so the delay is short. New credentials do not change this. */
static void take_up_again(ki_reflector *reflector, const ki_failure *failure)
{
    uint64_t delay;
    if (is_cut(failure) && reflector->watch.has_news) {
        ki_backoff_set_failed(&reflector->backoff, ki_reflector_now_ns(reflector));
        delay = (SOON_MS + ki_random_below(&reflector->random, 9 * SOON_MS)) * KI_NS_PER_MS;
    } else {
        delay = ki_reflector_delay_ns(reflector, failure);
    }
    reflector->watch.is_unproven = 1;
    reflector->report.reconnects += (uint64_t)is_cut(failure);
    ki_reflector_step step = ki_reflector_step_after_watch(reflector, failure, &delay);
    const ki_failure told = explain_put_off(failure);
    ki_reflector_retry(reflector, &told, step, delay);
}

/* The version is too old or too new for the server. The first time, the list is requested at once. */
static void list_again(ki_reflector *reflector, const ki_failure *failure)
{
    if (failure->reason == KI_REASON_VERSION_TOO_LARGE)
        reflector->wants_quorum = 1;
    uint64_t delay = reflector->has_expired ? ki_reflector_delay_ns(reflector, failure) : 0;
    reflector->has_expired = 1;
    ki_reflector_retry(reflector, failure, KI_STEP_SYNC, delay);
}

/* The server has ended the watch normally. */
static void take_close(ki_reflector *reflector)
{
    uint64_t lived = ki_reflector_now_ns(reflector) - reflector->watch.begun_ns;
    ki_failure failure = {.reason = KI_REASON_SHORT_WATCH};
    ki_reflector_count_watch(reflector, &failure);
    if (lived < KI_NS_PER_S || reflector->quiet_ns <= reflector->watch.begun_ns)
        reflector->watch.is_unproven = 1; /* the server may have restarted, or the watch has never brought
                                           * anything */
    if (reflector->watch.has_news)
        ki_backoff_reset(&reflector->backoff);
    uint64_t delay = 0;
    if (lived >= KI_NS_PER_S) {
        ki_reflector_go_on(reflector, ki_reflector_step_after_watch(reflector, &failure, &delay), 0);
        return;
    }
    ki_counter_add(reflector->options.metrics->short_watches, !reflector->watch.has_news);
    ki_error_set(&failure.error, KI_ERR_SYSTEM, 0, "the server closed the watch after %d ms",
                 (int)(lived / KI_NS_PER_MS));
    delay = ki_reflector_delay_ns(reflector, &failure);
    ki_reflector_step step = ki_reflector_step_after_watch(reflector, &failure, &delay);
    ki_reflector_retry(reflector, &failure, step, delay);
}

/* The event that the server could not send may have been a delete, so a list is needed. */
static void list_after_error(ki_reflector *reflector, const ki_failure *failure)
{
    reflector->watch.is_unproven = 1;
    reflector->wants_quorum |= failure->reason == KI_REASON_VERSION_TOO_LARGE;
    ki_reflector_retry(reflector, failure, KI_STEP_SYNC, ki_reflector_delay_ns(reflector, failure));
}

static void take_failure(ki_reflector *reflector, const ki_failure *failure, int in_stream)
{
    ki_reason reason = failure->reason;
    ki_reflector_count_watch(reflector, failure);
    if (reason == KI_REASON_EXPIRED || (reason == KI_REASON_VERSION_TOO_LARGE && !in_stream))
        list_again(reflector, failure);
    else if (in_stream && reason != KI_REASON_TOO_MANY_REQUESTS)
        list_after_error(reflector, failure);
    else
        take_up_again(reflector, failure);
}

void ki_reflector_watch_over(ki_reflector *reflector, const ki_failure *failure)
{
    assert(reflector != NULL);
    ki_answer_cancel(&reflector->probe_answer);
    if (failure->reason == KI_REASON_NONE)
        take_close(reflector);
    else
        take_failure(reflector, failure, 0);
}

/* The server has ended the watch with an ERROR event. */
static void end_with_error(ki_reflector *reflector, const ki_failure *failure)
{
    ki_answer_cancel(&reflector->answer);
    ki_answer_cancel(&reflector->probe_answer);
    take_failure(reflector, failure, 1);
}

static void take_error(ki_reflector *reflector, const ki_status *status)
{
    const ki_failure failure = ki_reflector_error_event(status);
    end_with_error(reflector, &failure);
}

/* If the key is known, the store keeps the last good version of the object. That would be wrong after a
 * delete, so a list follows. A bookmark has no object, and needs no list. */
static void take_refused(ki_reflector *reflector, const ki_refused *refused, int type)
{
    ki_str key = ki_buf_str(&refused->key);
    int is_understood = key.len > 0 && (type == KI_CHANGE_ADDED || type == KI_CHANGE_UPDATED);
    if (type == KI_WATCH_ERROR)
        end_with_error(reflector, &(ki_failure){.reason = KI_REASON_OTHER, .error = refused->error});
    else if (is_understood || type == KI_CHANGE_BOOKMARK)
        ki_reflector_report_refused(reflector, &refused->error, key);
    else
        take_invalid(reflector, &refused->error, key);
}

void ki_reflector_watch_result(ki_reflector *reflector, int result, ki_decoded *event)
{
    assert(event != NULL);
    if (ki_event_has_object(result))
        take_event(reflector, (ki_change_type)result, ki_decoded_take_object(event));
    else if (result == KI_CHANGE_BOOKMARK)
        take_bookmark(reflector, event->resource_version);
    else if (result == KI_WATCH_ERROR)
        take_error(reflector, &event->status);
    else
        take_refused(reflector, &event->refused, event->refused_type);
}
