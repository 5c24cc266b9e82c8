/* SPDX-License-Identifier: Apache-2.0 */
/* LIST, page by page, and the code that LISTs and streamed lists share: docs/consistency.md, rules 4 to 7. */
#include <assert.h>
#include <stdbool.h>

#include "api/decode/reason.h"
#include "reflector/reflector_parts.h"
#include "util/error.h"

enum {
    PAGE_ITEMS = 500,
    PAGES_MAX = 100 * 1000,
    PAGE_ASKS_MAX = 3, /* requests for the same page */
    PAGE_SECONDS_MAX = 30
};

/* ---- both kinds of lists --------------------------------------------------------------------------- */

int ki_reflector_begin_attempt(ki_reflector *reflector, int is_quorum)
{
    ki_list_attempt *list = &reflector->list;
    ki_buf token = list->continue_token;
    ki_buf marked = list->marked_token;
    ki_buf_reset(&token, 0);
    ki_buf_reset(&marked, 0);
    ki_resource_version_clear(&list->version);
    *list = (ki_list_attempt){
        .number = list->number + 1, .is_quorum = is_quorum, .continue_token = token, .marked_token = marked};
    list->begun_ns = ki_reflector_now_ns(reflector);
    if (reflector->relist_ns != UINT64_MAX) { /* this list is the one that was due */
        reflector->poll.is_listing = 0;       /* it must succeed */
        reflector->relisted_ns = list->begun_ns;
        reflector->relist_ns = UINT64_MAX;
    }
    reflector->poll.was_counted = 0;
    reflector->report.lists++;
    ki_counter_add(reflector->options.metrics->lists, 1);
    if (!reflector->owes_reset)
        return 0;
    int rc = ki_reflector_give(reflector, &(ki_change){.change_type = KI_CHANGE_RESET, .list = list->number});
    if (rc == 0)
        reflector->owes_reset = 0;
    return rc;
}

const ki_resource_version *ki_reflector_list_floor(const ki_reflector *reflector)
{
    assert(reflector != NULL);
    int has_dropped = ki_resource_version_is_newer(&reflector->stopped_version, &reflector->version);
    return has_dropped ? &reflector->stopped_version : &reflector->version;
}

int ki_reflector_list_is_stale(const ki_reflector *reflector)
{
    assert(reflector != NULL);
    return ki_resource_version_is_set(&reflector->list.version) &&
           ki_resource_version_is_newer(ki_reflector_list_floor(reflector), &reflector->list.version);
}

void ki_reflector_forget_history(ki_reflector *reflector)
{
    assert(reflector != NULL);
    ki_resource_version_clear(&reflector->version);
    ki_resource_version_clear(&reflector->stopped_version);
    reflector->wants_quorum = 1;
    reflector->owes_reset = reflector->is_new_history = 1;
    reflector->poll.is_listing = 0; /* there is no version from which a watch could continue */
}

static int give_end(ki_reflector *reflector)
{
    return ki_reflector_give(reflector,
                             &(ki_change){.change_type = KI_CHANGE_LIST_END,
                                          .list = reflector->list.number,
                                          .version = ki_resource_version_str(&reflector->list.version)});
}

static ki_failure history_failure(const ki_reflector *reflector, ki_reason reason)
{
    ki_failure failure = {.reason = reason};
    ki_error_set(&failure.error, KI_ERR_RANGE, 0, "the list has version %.*s, but %.*s was received before",
                 KI_STR_ARGS(ki_resource_version_str(&reflector->list.version)),
                 KI_STR_ARGS(ki_resource_version_str(ki_reflector_list_floor(reflector))));
    return failure;
}

/* If items of the list were passed on, its end is reported, so that the consumer drops those it holds back.
 * The end of the next list drops them in two other cases: if there is no memory for the report; or if the
 * consumer could not tell that the list is stale, because a stop has dropped the newer changes. */
void ki_reflector_drop_stale_list(ki_reflector *reflector)
{
    assert(reflector != NULL);
    int is_reset = reflector->list.is_quorum;
    ki_failure failure = history_failure(reflector, is_reset ? KI_REASON_HISTORY_RESET : KI_REASON_STALE);
    ki_answer_cancel(&reflector->answer);
    if (reflector->list.has_given &&
        ki_resource_version_is_newer(&reflector->version, &reflector->list.version))
        (void)!give_end(reflector);
    if (is_reset)
        ki_reflector_forget_history(reflector);
    reflector->wants_quorum = 1;
    reflector->failed_lists = 1; /* this kind; the other one is next */
    ki_reflector_retry(reflector, &failure, KI_STEP_SYNC, 0);
}

/* The next list is of the newest version. The objects that it names exist,
 * in this history or in another one. */
void ki_reflector_drop_doubted_list(ki_reflector *reflector)
{
    assert(reflector != NULL);
    int may_list = reflector->options.informer->watch_list != KI_WATCH_LIST_ALWAYS;
    ki_failure failure = {.reason = KI_REASON_STALE};
    ki_error_set(&failure.error, KI_ERR_RANGE, 0,
                 "the list has too many unknown objects that are not newer than what was received");
    ki_answer_cancel(&reflector->answer);
    reflector->wants_quorum = reflector->trusts_lists = 1;
    reflector->failed_lists = 1; /* this kind; the other one is next */
    ki_reflector_retry(reflector, &failure, may_list ? KI_STEP_LIST : KI_STEP_SYNC, 0);
}

/* After two failures, every second list is of the other kind: see ki_reflector_wants_newest(). */
static bool is_turn_of_other(const ki_reflector *reflector)
{
    return reflector->failed_lists > 0 && reflector->failed_lists % 2 == 0;
}

int ki_reflector_finish_list(ki_reflector *reflector)
{
    assert(reflector != NULL);
    uint64_t now = ki_reflector_now_ns(reflector);
    int rc = give_end(reflector);
    if (rc < 0)
        return rc;
    ki_histogram_observe(reflector->options.metrics->list_duration, now - reflector->list.begun_ns);
    ki_reflector_finish_poll(reflector);
    ki_resource_version_copy(&reflector->version, &reflector->list.version);
    ki_resource_version_clear(&reflector->stopped_version);
    reflector->failed_lists = is_turn_of_other(reflector); /* 1: the next time, one failure of the usual kind
                                                            * is enough */
    reflector->wants_quorum = 0;
    reflector->trusts_lists = 0;
    reflector->failed_streams = 0;
    reflector->has_list_failed = 0;
    reflector->owes_list = 0;
    reflector->watch.is_unproven = reflector->list.was_interrupted;
    reflector->report.success_ns = reflector->list.begun_ns; /* the list shows the state of that time */
    ki_reflector_settle(reflector);
    return 0;
}

/* ---- LIST ------------------------------------------------------------------------------------------ */

static uint64_t page_limit(const ki_reflector *reflector)
{
    int64_t size = reflector->options.informer->page_size;
    if (size < 0 || reflector->list.is_whole)
        return 0;
    return size == 0 ? PAGE_ITEMS : (uint64_t)size;
}

/* There are two kinds of lists. Servers answer a list of any version, or not older than a given one, from
 * their cache. They answer a list of the newest version, in pages, with the help of etcd. Either kind may
 * fail for a long time while the other works: a gateway cuts a response that comes in one piece, or etcd has
 * no leader. So after failures both kinds are tried in turn. But while nothing has been received in a new
 * history, only the newest version will do. */
int ki_reflector_wants_newest(const ki_reflector *reflector)
{
    assert(reflector != NULL);
    int may_be_older =
        ki_resource_version_is_set(ki_reflector_list_floor(reflector)) || !reflector->is_new_history;
    if (!reflector->wants_quorum)
        return is_turn_of_other(reflector);
    return !(is_turn_of_other(reflector) && may_be_older);
}

int ki_reflector_is_trusted(const ki_reflector *reflector)
{
    assert(reflector != NULL);
    return reflector->trusts_lists && reflector->list.is_quorum;
}

static ki_str first_version(const ki_reflector *reflector)
{
    const ki_resource_version *floor = ki_reflector_list_floor(reflector);
    if (reflector->list.is_quorum)
        return KI_STR("");
    return ki_resource_version_is_set(floor) ? ki_resource_version_str(floor) : KI_STR("0");
}

/* Without NotOlderThan, servers take a version with a limit to mean exactly that version. They may still have
 * it, although they refused to watch from it; then lists and watches would alternate until the version is
 * compacted. */
static ki_str first_match(ki_str version)
{
    int is_any = version.len == 0 || ki_str_equal(version, KI_STR("0"));
    return is_any ? KI_STR("") : KI_STR("NotOlderThan");
}

void ki_reflector_begin_list(ki_reflector *reflector, ki_reflector_step step)
{
    assert(reflector != NULL);
    int is_page = step == KI_STEP_PAGE;
    reflector->doing = KI_STEP_LIST;
    ki_reflector_set_phase(reflector, KI_PHASE_LISTING);
    if (!is_page && ki_reflector_begin_attempt(reflector, ki_reflector_wants_newest(reflector)) < 0) {
        ki_reflector_abandon_no_memory(reflector);
        return;
    }
    if (!is_page)
        reflector->list.is_whole = step == KI_STEP_WHOLE_LIST;
    reflector->list.page_has_items = 0;
    ki_list_options options = {.limit = page_limit(reflector)};
    if (is_page) {
        options.continue_token = ki_buf_str(&reflector->list.continue_token);
        if (reflector->list.page_failures == 0)
            reflector->list.page_ns = ki_reflector_now_ns(reflector);
    } else {
        options.resource_version = first_version(reflector);
        options.resource_version_match = first_match(options.resource_version);
    }
    ki_reflector_finish_options(reflector, &options);
    ki_answer_begin(&reflector->answer, KI_ANSWER_LIST, &options);
}

/* The server has another history, but no item of this list has been passed on yet.
 * So this list continues after a RESET. */
static void reset_in_place(ki_reflector *reflector)
{
    ki_failure failure = history_failure(reflector, KI_REASON_HISTORY_RESET);
    ki_reflector_forget_history(reflector);
    ki_reflector_report_failure(reflector, &failure, 0);
    if (ki_reflector_give(reflector,
                          &(ki_change){.change_type = KI_CHANGE_RESET, .list = reflector->list.number}) < 0)
        ki_reflector_abandon_no_memory(reflector);
    else
        reflector->owes_reset = 0;
}

/* The version of the list is that of its first page. */
static void take_metadata(ki_reflector *reflector, const ki_list_metadata *metadata)
{
    ki_list_attempt *list = &reflector->list;
    if (list->pages > 0)
        return;
    int rc = ki_resource_version_set(&list->version, metadata->resource_version);
    if (rc < 0) {
        ki_reflector_abandon_version(reflector, rc, "the resourceVersion of the list is too long");
        return;
    }
    if (!ki_reflector_list_is_stale(reflector))
        return;
    if (list->is_quorum && !list->has_given)
        reset_in_place(reflector);
    else
        ki_reflector_drop_stale_list(reflector);
}

void ki_reflector_list_result(ki_reflector *reflector, int result, ki_decoded *decoded)
{
    assert(decoded != NULL);
    switch (result) {
    case KI_LIST_METADATA:
        take_metadata(reflector, &decoded->metadata);
        break;
    case KI_LIST_OBJECT:
        reflector->list.page_has_items = 1;
        ki_reflector_give_item(reflector, ki_decoded_take_object(decoded));
        break;
    case KI_LIST_REFUSED:
        reflector->list.page_has_items |= ki_buf_str(&decoded->refused.key).len > 0;
        ki_reflector_give_refused(reflector, &decoded->refused);
        break;
    default:
        break;
    }
}

/* Finds cycles of tokens of any length by Brent's algorithm. Once a token inside the cycle is marked and
 * stays marked for one cycle length, it is met again. The previous token is compared as well. */
static int is_seen(const ki_list_attempt *list, ki_str token)
{
    return ki_str_equal(token, ki_buf_str(&list->continue_token)) ||
           ki_str_equal(token, ki_buf_str(&list->marked_token));
}

static int has_too_many_pages(const ki_reflector *reflector)
{
    uint64_t pages_max = reflector->options.informer->pages_max;
    return reflector->list.pages >= (pages_max == 0 ? PAGES_MAX : pages_max);
}

static int keep_token(ki_buf *kept, ki_str token)
{
    ki_buf_reset(kept, token.len);
    return ki_buf_append_str(kept, token);
}

static void go_to_next_page(ki_reflector *reflector, ki_str token)
{
    ki_list_attempt *list = &reflector->list;
    int is_marked = (list->pages & (list->pages - 1)) == 0;
    list->page_failures = 0;
    if (has_too_many_pages(reflector))
        ki_reflector_abandon(reflector, KI_REASON_ENDLESS_LIST, "the list has too many pages");
    else if (is_seen(list, token))
        ki_reflector_abandon(reflector, KI_REASON_ENDLESS_LIST,
                             "the list has no end: a continue token was repeated");
    else if (keep_token(&list->continue_token, token) < 0 ||
             (is_marked && keep_token(&list->marked_token, token) < 0))
        ki_reflector_abandon_no_memory(reflector);
    else
        ki_reflector_go_on(reflector, KI_STEP_PAGE, 0);
}

static void finish_page(ki_reflector *reflector)
{
    ki_str token = ki_body_decoder_result(&reflector->answer.decoder)->metadata.continue_token;
    reflector->list.pages++;
    if (!ki_resource_version_is_set(&reflector->list.version))
        ki_reflector_abandon(reflector, KI_REASON_MALFORMED, "the list has no resourceVersion");
    else if (token.len > 0)
        go_to_next_page(reflector, token);
    else if (ki_reflector_finish_list(reflector) < 0)
        ki_reflector_abandon_no_memory(reflector);
    else {
        ki_reflector_note_listed(reflector);
        ki_reflector_go_on(reflector, KI_STEP_WATCH, 0);
    }
}

/* A server that is busy, or unreachable for a moment, still has the list of this token. Starting over would
 * be more work for the server, and might never end. A page that has brought items is not requested twice. */
static int is_page_worth_another_try(const ki_list_attempt *list, ki_reason reason)
{
    if (list->pages == 0 || list->page_has_items)
        return 0;
    return reason == KI_REASON_TOO_MANY_REQUESTS || reason == KI_REASON_SERVER_ERROR ||
           ki_reason_is_transport(reason);
}

/* Requests the same page of the same attempt. Each page has its own back-off, because the pages before it are
 * progress. Returns 0 if the page was tried often enough, or for too long; then the list starts over. */
static int ask_for_page_again(ki_reflector *reflector, const ki_failure *failure)
{
    ki_list_attempt *list = &reflector->list;
    uint64_t last_ns = list->page_ns + PAGE_SECONDS_MAX * KI_NS_PER_S;
    if (list->page_failures == 0) {
        list->page_backoff = reflector->backoff;
        ki_backoff_reset(&list->page_backoff);
    }
    list->page_failures++;
    uint64_t delay = ki_reflector_delay_by_ns(reflector, &list->page_backoff, failure);
    if (list->page_failures >= PAGE_ASKS_MAX || ki_reflector_now_ns(reflector) + delay > last_ns)
        return 0;
    list->was_interrupted = 1;
    ki_reflector_retry(reflector, failure, KI_STEP_PAGE, delay);
    return 1;
}

int ki_reflector_is_newest_due(const ki_reflector *reflector, ki_reason reason)
{
    assert(reflector != NULL);
    int is_missing = reason == KI_REASON_EXPIRED || reason == KI_REASON_VERSION_TOO_LARGE;
    return is_missing && !reflector->list.is_quorum && !reflector->wants_quorum;
}

/* An expired token and a version that the server does not have need different remedies; each is tried at
 * once, and only once. */
void ki_reflector_list_over(ki_reflector *reflector, const ki_failure *failure)
{
    assert(reflector != NULL);
    const ki_list_attempt *list = &reflector->list;
    int is_expired = failure->reason == KI_REASON_EXPIRED;
    if (failure->reason == KI_REASON_NONE) {
        finish_page(reflector);
    } else if (is_page_worth_another_try(list, failure->reason) && ask_for_page_again(reflector, failure)) {
        return;
    } else if (is_expired && list->pages > 0 && !list->is_whole) {
        ki_reflector_retry(reflector, failure, KI_STEP_WHOLE_LIST, 0);
    } else if (ki_reflector_is_newest_due(reflector, failure->reason)) {
        reflector->wants_quorum = 1;
        reflector->failed_lists = 1; /* this kind; the other one is next */
        ki_reflector_retry(reflector, failure, KI_STEP_SYNC, 0);
    } else {
        reflector->has_list_failed =
            reflector->answer.is_sent && !ki_reason_is_before_sending(failure->reason);
        reflector->failed_lists += failure->reason != KI_REASON_NO_MEMORY &&
                                   ki_reflector_is_of_this_kind(reflector, failure->reason);
        ki_reflector_retry(reflector, failure, ki_reflector_step_after_list(reflector),
                           ki_reflector_delay_ns(reflector, failure));
    }
}
