/* SPDX-License-Identifier: Apache-2.0 */
#include "reflector/reflector.h"

#include <assert.h>
#include <stdio.h>

#include "api/decode/reason.h"
#include "client/callback.h"
#include "reflector/reflector_parts.h"
#include "util/error.h"

enum {
    REQUEST_SECONDS = 1,  /* one request per second, */
    REQUESTS_AT_ONCE = 5, /* after a burst of at most this many */
    RETRY_AFTER_SECONDS_MAX = 600,
    CONTINUE_TOKEN_BYTES_MAX = 1024 * 1024
};

uint64_t ki_reflector_now_ns(const ki_reflector *reflector)
{
    assert(reflector != NULL);
    return ki_clock_now_ns(reflector->options.clock);
}

/* ---- what is next ---------------------------------------------------------------------------------- */

/* The current request is over. */
static void end_step(ki_reflector *reflector)
{
    if (reflector->doing == KI_STEP_WATCH || reflector->doing == KI_STEP_STREAM)
        ki_histogram_observe(reflector->options.metrics->watch_duration,
                             ki_reflector_now_ns(reflector) - reflector->watch.begun_ns);
    reflector->doing = KI_STEP_NONE;
}

void ki_reflector_go_on(ki_reflector *reflector, ki_reflector_step step, uint64_t delay_ns)
{
    assert(reflector != NULL);
    end_step(reflector);
    reflector->next = step;
    reflector->next_is_forced = 0;
    reflector->next_ns = ki_reflector_now_ns(reflector) + delay_ns;
    reflector->report.retry_ns = reflector->next_ns;
    if (delay_ns > 0)
        ki_reflector_set_phase(reflector, KI_PHASE_BACKING_OFF);
}

/* After a failure the phase is not WATCHING, even if the reflector retries at once. */
void ki_reflector_retry(ki_reflector *reflector, const ki_failure *failure, ki_reflector_step step,
                        uint64_t delay_ns)
{
    assert(reflector != NULL);
    ki_reflector_go_on(reflector, step, delay_ns);
    if (reflector->report.phase == KI_PHASE_WATCHING)
        ki_reflector_set_phase(reflector, KI_PHASE_BACKING_OFF);
    ki_reflector_report_failure(reflector, failure, delay_ns);
}

uint64_t ki_reflector_delay_ns(ki_reflector *reflector, const ki_failure *failure)
{
    assert(reflector != NULL);
    return ki_reflector_delay_by_ns(reflector, &reflector->backoff, failure);
}

uint64_t ki_reflector_asked_ns(const ki_failure *failure)
{
    assert(failure != NULL);
    uint64_t seconds = failure->retry_after_seconds;
    return (seconds > RETRY_AFTER_SECONDS_MAX ? RETRY_AFTER_SECONDS_MAX : seconds) * KI_NS_PER_S;
}

uint64_t ki_reflector_delay_by_ns(ki_reflector *reflector, ki_backoff *backoff, const ki_failure *failure)
{
    assert(reflector != NULL);
    uint64_t delay = ki_backoff_next_ns(backoff, &reflector->random, ki_reflector_now_ns(reflector));
    return ki_ns_max(delay, ki_reflector_asked_ns(failure));
}

static void main_over(ki_reflector *reflector, const ki_failure *failure)
{
    switch (reflector->doing) {
    case KI_STEP_LIST:
        ki_reflector_list_over(reflector, failure);
        break;
    case KI_STEP_STREAM:
        ki_reflector_stream_over(reflector, failure);
        break;
    case KI_STEP_WATCH:
        ki_reflector_watch_over(reflector, failure);
        break;
    default:
        break;
    }
}

void ki_reflector_abandon(ki_reflector *reflector, ki_reason reason, const char *message)
{
    assert(reflector != NULL);
    ki_failure failure = {.reason = reason};
    int code = reason == KI_REASON_NO_MEMORY ? KI_ERR_NO_MEMORY : KI_ERR_SYSTEM;
    ki_error_set(&failure.error, code, 0, "%s", message);
    ki_answer_cancel(&reflector->answer);
    main_over(reflector, &failure);
}

void ki_reflector_abandon_no_memory(ki_reflector *reflector)
{
    ki_reflector_abandon(reflector, KI_REASON_NO_MEMORY, ki_error_text(KI_ERR_NO_MEMORY));
}

void ki_reflector_abandon_version(ki_reflector *reflector, int code, const char *too_long)
{
    if (code == KI_ERR_NO_MEMORY)
        ki_reflector_abandon_no_memory(reflector);
    else
        ki_reflector_abandon(reflector, KI_REASON_MALFORMED, too_long);
}

void ki_reflector_finish_options(const ki_reflector *reflector, ki_list_options *options)
{
    assert(reflector != NULL);
    const ki_informer_options *informer = reflector->options.informer;
    options->label_selector = ki_str_of(informer->label_selector);
    options->field_selector = ki_str_of(informer->field_selector);
    options->wire = ki_reflector_wire(reflector);
    if (informer->tweak != NULL)
        informer->tweak(options, informer->tweak_user);
}

static void begin_step(ki_reflector *reflector, ki_reflector_step step)
{
    uint64_t now = ki_reflector_now_ns(reflector);
    ki_reflector_begin_silence(reflector);
    if (step != KI_STEP_WATCH && step != KI_STEP_PAGE)
        reflector->behind_ns = UINT64_MAX; /* a list shows the current state */
    if (step == KI_STEP_WATCH && now >= reflector->relist_ns)
        step = KI_STEP_SYNC; /* the list became due while no watch was running */
    if (step != KI_STEP_WATCH && reflector->report.reason == KI_REASON_PACED)
        ki_reflector_clear_failure(reflector);
    if (step == KI_STEP_WATCH)
        ki_reflector_begin_watch(reflector);
    else if (step == KI_STEP_SYNC && ki_reflector_may_stream(reflector))
        ki_reflector_begin_stream(reflector);
    else
        ki_reflector_begin_list(reflector, step);
}

/* A further page needs no token, since its list has taken one. But a page after an empty page does, because a
 * server could send empty pages forever. While the page waits for a token, the phase is still LISTING. */
static int has_token(ki_reflector *reflector, uint64_t now)
{
    int is_page = reflector->next == KI_STEP_PAGE;
    if (is_page && reflector->list.page_has_items)
        return 1;
    uint64_t due = ki_token_bucket_take(&reflector->bucket, now);
    if (due == 0 || reflector->next_is_forced)
        return 1;
    reflector->next_ns = due;
    reflector->report.retry_ns = due;
    if (is_page)
        return 0;
    ki_reflector_set_phase(reflector, KI_PHASE_BACKING_OFF);
    if (reflector->report.reason == KI_REASON_NONE)
        ki_reflector_set_reason(reflector, KI_REASON_PACED, "at most one request is sent per second");
    return 0;
}

/* A loop, not recursion: a source may answer inside `begin`, and the stack would grow with each request. */
static void run(ki_reflector *reflector)
{
    while (reflector->next != KI_STEP_NONE && !reflector->is_full) {
        uint64_t now = ki_reflector_now_ns(reflector);
        if (now < reflector->next_ns || !has_token(reflector, now))
            return;
        ki_reflector_step step = reflector->next;
        reflector->next = KI_STEP_NONE;
        begin_step(reflector, step);
    }
}

/* ---- around each call ------------------------------------------------------------------------------ */

static void enter(ki_reflector *reflector)
{
    ki_callback_enter(); /* transforms and error handlers must not wait */
    reflector->depth++;
}

static void publish_and_schedule(ki_reflector *reflector)
{
    ki_reflector_publish(reflector);
    ki_reflector_schedule(reflector);
}

static void end_pieces(ki_deferred *deferred)
{
    ki_reflector *reflector = KI_CONTAINER_OF(deferred, ki_reflector, end_of_pieces);
    enter(reflector);
    publish_and_schedule(reflector);
    reflector->depth--;
    ki_callback_leave();
}

/* The status and the timer are updated once for all pieces of a body that one job reads. But a new phase is
 * reported at once: a watch may be answered and end in the same job. */
static void leave(ki_reflector *reflector, ki_answer_place place)
{
    assert(reflector->depth > 0);
    if (reflector->depth == 1 && place == KI_ANSWER_OUTSIDE) {
        run(reflector);
        publish_and_schedule(reflector);
    } else if (reflector->depth == 1) {
        if (reflector->report.phase != reflector->told_phase)
            ki_reflector_publish(reflector);
        ki_loop_defer(&reflector->end_of_pieces, end_pieces);
    }
    reflector->depth--;
    ki_callback_leave();
}

/* ---- what the answers report ----------------------------------------------------------------------- */

static void take_sent(ki_reflector *reflector, const ki_answer *answer)
{
    if (answer != &reflector->answer)
        return;
    ki_reflector_begin_silence(reflector);
    reflector->watch.item_ns = reflector->quiet_ns;
}

static void take_heard(ki_reflector *reflector, ki_answer *answer, size_t bytes)
{
    uint64_t now = ki_reflector_now_ns(reflector);
    reflector->report.bytes_read += bytes;
    ki_counter_add(reflector->options.metrics->bytes_read, bytes);
    ki_reflector_wire_heard(reflector, answer);
    if (bytes > 0)
        reflector->report.byte_ns = now;
    if (answer != &reflector->answer)
        return;
    if (bytes > 0)
        ki_reflector_end_silence(reflector, bytes, now);
    reflector->watch.was_heard = 1;
    if (reflector->doing != KI_STEP_WATCH)
        return;
    /* Bytes prove that the history is the same, but only in a watch from the newest version received; after a
     * stop it may begin earlier. */
    if (bytes > 0 && ki_reflector_list_floor(reflector) == &reflector->version)
        reflector->watch.is_unproven = 0;
    ki_reflector_watch_heard(reflector, now);
}

/* The phase is not WATCHING any more. The HTTP status gives the reason until the whole error response has
 * arrived. */
static void take_error_head(ki_reflector *reflector, const ki_answer *answer)
{
    ki_phase phase = reflector->report.phase;
    char message[64];
    if (answer != &reflector->answer)
        return;
    reflector->quiet_ns = ki_reflector_now_ns(reflector);
    if (phase != KI_PHASE_WATCHING && phase != KI_PHASE_BACKING_OFF)
        return;
    (void)snprintf(message, sizeof(message), "the server responded with %d", answer->http_status);
    ki_reflector_set_phase(reflector, KI_PHASE_BACKING_OFF);
    if (reflector->report.reason == KI_REASON_POLLING)
        return;
    ki_reflector_set_reason(reflector, ki_reason_of_status(answer->http_status, &(ki_status){0}), message);
    reflector->report.http_status = answer->http_status;
}

static void count_event(const ki_reflector *reflector, int result)
{
    const ki_reflector_metrics *metrics = reflector->options.metrics;
    if (result == KI_WATCH_ERROR)
        ki_counter_add(metrics->watch_errors, 1);
    else if (result != KI_WATCH_REFUSED)
        ki_counter_add(metrics->watch_events[result], 1);
}

static void take_result(ki_reflector *reflector, ki_answer *answer, int result, ki_decoded *decoded)
{
    if (ki_reflector_wire_result(reflector, answer, result))
        return;
    if (answer->kind == KI_ANSWER_WATCH)
        count_event(reflector, result);
    if (answer == &reflector->probe_answer)
        ki_reflector_probe_result(reflector, result, decoded);
    else if (reflector->doing == KI_STEP_LIST)
        ki_reflector_list_result(reflector, result, decoded);
    else if (reflector->doing == KI_STEP_STREAM)
        ki_reflector_stream_result(reflector, result, decoded);
    else if (reflector->doing == KI_STEP_WATCH)
        ki_reflector_watch_result(reflector, result, decoded);
}

static void take_end(ki_reflector *reflector, ki_answer *answer, const ki_failure *failure)
{
    if (ki_reflector_wire_over(reflector, answer, failure))
        return;
    if (answer == &reflector->probe_answer)
        ki_reflector_probe_over(reflector, failure);
    else
        main_over(reflector, failure);
}

static void take_report(ki_answer *answer, const ki_answer_report *report, void *user)
{
    assert(answer == &((ki_reflector *)user)->answer || answer == &((ki_reflector *)user)->probe_answer);
    assert(report->event == KI_ANSWER_ENTERED || ((ki_reflector *)user)->depth > 0);
    ki_reflector *reflector = user;
    switch (report->event) {
    case KI_ANSWER_ENTERED:
        enter(reflector);
        break;
    case KI_ANSWER_SENT:
        take_sent(reflector, answer);
        break;
    case KI_ANSWER_HEARD:
        take_heard(reflector, answer, report->bytes);
        break;
    case KI_ANSWER_ERROR_HEAD:
        take_error_head(reflector, answer);
        break;
    case KI_ANSWER_RESULT:
        take_result(reflector, answer, report->result, report->decoded);
        break;
    case KI_ANSWER_OVER:
        take_end(reflector, answer, report->failure);
        break;
    case KI_ANSWER_LEFT:
        leave(reflector, report->place);
        break;
    }
}

/* ---- calls ----------------------------------------------------------------------------------------- */

static void init_report(ki_reflector *reflector)
{
    reflector->report = (ki_reflector_report){.phase_ns = ki_reflector_now_ns(reflector),
                                              .byte_ns = UINT64_MAX,
                                              .event_ns = UINT64_MAX,
                                              .bookmark_ns = UINT64_MAX,
                                              .success_ns = UINT64_MAX};
    reflector->published = reflector->report;
}

static const ki_reflector_metrics no_metrics;

int ki_reflector_init(ki_reflector *reflector, const ki_reflector_options *options, ki_error *err)
{
    assert(reflector != NULL);
    uint64_t seed = options->seed;
    if (options->informer->watch_list == KI_WATCH_LIST_ALWAYS && options->list_watch.no_watch_list)
        return ki_fail(err, KI_ERR_INVALID,
                       "lists must be streamed (KI_WATCH_LIST_ALWAYS), but the source does not stream them "
                       "(no_watch_list)");
    if (seed == 0 && ki_random_system_seed(&seed) < 0)
        return ki_fail_no_random(err);
    *reflector = (ki_reflector){.options = *options,
                                .scheduled_ns = UINT64_MAX,
                                .behind_ns = UINT64_MAX,
                                .relist_ns = UINT64_MAX,
                                .relisted_ns = UINT64_MAX,
                                .is_ready = 1};
    if (options->metrics == NULL)
        reflector->options.metrics = &no_metrics;
    ki_random_init(&reflector->random, seed);
    ki_backoff_init(&reflector->backoff, options->informer->backoff_ms, options->informer->backoff_max_ms);
    ki_token_bucket_init(&reflector->bucket, REQUEST_SECONDS * KI_NS_PER_S, REQUESTS_AT_ONCE);
    ki_answer_init(&reflector->answer, &reflector->options.list_watch, options->plan);
    ki_answer_init(&reflector->probe_answer, &reflector->options.list_watch, options->plan);
    ki_answer_set_owner(&reflector->answer, take_report, reflector, &reflector->is_full);
    ki_answer_set_owner(&reflector->probe_answer, take_report, reflector, NULL);
    ki_buf_init(&reflector->list.continue_token, CONTINUE_TOKEN_BYTES_MAX);
    ki_buf_init(&reflector->list.marked_token, CONTINUE_TOKEN_BYTES_MAX);
    ki_mutex_init(&reflector->status_mu);
    init_report(reflector);
    return 0;
}

void ki_reflector_fini(ki_reflector *reflector)
{
    if (!reflector->is_ready)
        return;
    assert(reflector->doing == KI_STEP_NONE && reflector->next == KI_STEP_NONE);
    const ki_list_watch *source = &reflector->options.list_watch;
    ki_list_remove(&reflector->end_of_pieces.node);
    ki_answer_fini(&reflector->answer);
    ki_answer_fini(&reflector->probe_answer);
    ki_buf_fini(&reflector->list.continue_token);
    ki_buf_fini(&reflector->list.marked_token);
    ki_resource_version_clear(&reflector->list.version);
    ki_resource_version_clear(&reflector->version);
    ki_resource_version_clear(&reflector->stopped_version);
    ki_reflector_clear_probe(reflector);
    ki_mutex_fini(&reflector->status_mu);
    if (source->release != NULL)
        source->release(source->user);
    reflector->is_ready = 0;
}

/* If the version is known, a watch continues from it, unless a list was due. If the server has another
 * history now, the watch stays silent, and a probe detects it. */
void ki_reflector_begin(ki_reflector *reflector, const ki_resource_version *version)
{
    int is_known = ki_resource_version_is_set(version) && !reflector->owes_reset;
    assert(reflector->doing == KI_STEP_NONE && reflector->next == KI_STEP_NONE);
    enter(reflector);
    (void)ki_resource_version_advance(&reflector->stopped_version, &reflector->version);
    if (is_known)
        ki_resource_version_copy(&reflector->version, version);
    else
        ki_resource_version_clear(&reflector->version);
    if (is_known)
        reflector->is_new_history = 0;
    reflector->owes_reset |= reflector->is_new_history;  /* it is not known whether the last RESET was applied
                                                          * or dropped */
    reflector->wants_quorum = reflector->is_new_history; /* a list of any version may show the old history */
    reflector->trusts_lists = 0;
    reflector->has_expired = 0;
    ki_reflector_init_poll(reflector);
    reflector->failed_streams = 0;
    reflector->failed_lists = 0;
    reflector->has_list_failed = 0;
    reflector->watch.is_unproven = is_known;
    ki_backoff_reset(&reflector->backoff);
    ki_reflector_go_on(reflector, is_known && !reflector->owes_list ? KI_STEP_WATCH : KI_STEP_SYNC, 0);
    leave(reflector, KI_ANSWER_OUTSIDE);
}

void ki_reflector_require_list(ki_reflector *reflector)
{
    assert(reflector != NULL);
    reflector->owes_list = 1;
}

/* Whether a list is due or in progress. A watch would not replace it,
 * because it does not repeat events that could not be used. */
static int owes_list(const ki_reflector *reflector)
{
    return reflector->relist_ns != UINT64_MAX || reflector->doing == KI_STEP_LIST ||
           reflector->doing == KI_STEP_STREAM ||
           (reflector->next != KI_STEP_NONE && reflector->next != KI_STEP_WATCH);
}

void ki_reflector_halt(ki_reflector *reflector)
{
    assert(reflector != NULL);
    enter(reflector);
    ki_answer_cancel(&reflector->answer);
    ki_answer_cancel(&reflector->probe_answer);
    reflector->owes_list |= owes_list(reflector);
    reflector->doing = KI_STEP_NONE;
    reflector->next = KI_STEP_NONE;
    reflector->is_full = 0;
    ki_reflector_clear_failure(reflector);
    ki_reflector_set_phase(reflector, KI_PHASE_STOPPED);
    leave(reflector, KI_ANSWER_OUTSIDE);
}

void ki_reflector_tick(ki_reflector *reflector)
{
    assert(reflector != NULL);
    enter(reflector);
    reflector->scheduled_ns = UINT64_MAX;
    ki_reflector_check_due(reflector);
    leave(reflector, KI_ANSWER_OUTSIDE);
}

void ki_reflector_resume(ki_reflector *reflector)
{
    assert(reflector != NULL);
    enter(reflector);
    if (reflector->is_full) {
        reflector->is_full = 0;
        reflector->watch.was_paused = 1;
        ki_reflector_begin_silence(reflector);
        reflector->resumed_ns = reflector->quiet_ns;
        reflector->watch.item_ns = reflector->quiet_ns;
        ki_answer_resume(&reflector->answer);
    }
    leave(reflector, KI_ANSWER_OUTSIDE);
}

/* Socket buffers are read in much less than a second, so after reading for that long everything has been
 * read. */
uint64_t ki_reflector_received_ns(ki_reflector *reflector)
{
    uint64_t now = ki_reflector_now_ns(reflector);
    if (!reflector->is_full && now >= reflector->resumed_ns + KI_NS_PER_S)
        reflector->behind_ns = UINT64_MAX;
    return ki_ns_min(now, reflector->behind_ns);
}

void ki_reflector_doubt_list(ki_reflector *reflector, uint32_t list)
{
    int is_under_way = reflector->doing == KI_STEP_LIST || reflector->doing == KI_STEP_STREAM;
    enter(reflector);
    if (is_under_way && reflector->list.number == list && !ki_reflector_is_trusted(reflector))
        ki_reflector_drop_doubted_list(reflector);
    leave(reflector, KI_ANSWER_OUTSIDE);
}

void ki_reflector_retry_now(ki_reflector *reflector)
{
    assert(reflector != NULL);
    enter(reflector);
    if (reflector->next != KI_STEP_NONE) {
        reflector->next_ns = ki_reflector_now_ns(reflector);
        reflector->next_is_forced = 1;
    }
    leave(reflector, KI_ANSWER_OUTSIDE);
}
