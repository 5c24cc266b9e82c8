/* SPDX-License-Identifier: Apache-2.0 */
/* Watches that bring nothing. For a long time, a server may end each watch at once, cut it or reject it, and
 * still answer lists. Then the collection is listed from time to time. A quiet collection whose watches are
 * cut looks the same, so the interval grows while the lists find nothing new. */
#include <assert.h>
#include <stdio.h>

#include "api/decode/reason.h"
#include "reflector/reflector_parts.h"

enum { FRUITLESS_MAX = 3, FIRST_SECONDS = 30, LAST_SECONDS = 300 };

#define UNKNOWN UINT64_MAX

void ki_reflector_init_poll(ki_reflector *reflector)
{
    assert(reflector != NULL);
    reflector->poll = (ki_reflector_poll){.interval_ns = FIRST_SECONDS * KI_NS_PER_S, .items = UNKNOWN};
}

static int is_due(const ki_reflector *reflector)
{
    return reflector->poll.fruitless >= FRUITLESS_MAX;
}

/* Whether the current list replaces watches, even if it was started for another reason. */
static int makes_up(const ki_reflector *reflector)
{
    return reflector->poll.is_listing || is_due(reflector);
}

int ki_reflector_is_polling(const ki_reflector *reflector)
{
    return is_due(reflector) && !reflector->poll.has_failed;
}

void ki_reflector_note_result(ki_reflector *reflector)
{
    assert(reflector != NULL);
    reflector->watch.has_result = 1;
    reflector->poll.fruitless = 0;
    reflector->poll.items = UNKNOWN;
    if (reflector->report.reason == KI_REASON_POLLING)
        ki_reflector_clear_failure(reflector);
}

/* Whether the watch counts as one that has brought nothing.
 * It does not if the server is busy or cannot be reached. */
static int counts(const ki_reflector *reflector, ki_reason reason)
{
    if (reason == KI_REASON_TOO_MANY_REQUESTS || ki_reason_is_before_sending(reason))
        return 0;
    return reflector->answer.is_sent && !reflector->watch.has_result;
}

void ki_reflector_count_watch(ki_reflector *reflector, const ki_failure *failure)
{
    assert(reflector != NULL);
    reflector->poll.was_counted = counts(reflector, failure->reason);
    reflector->poll.fruitless += (uint32_t)reflector->poll.was_counted;
}

/* The list does not wait for the back-off of watches, only for a delay that the server asks for. After a long
 * time without such lists the intervals start over. */
ki_reflector_step ki_reflector_step_after_watch(ki_reflector *reflector, const ki_failure *failure,
                                                uint64_t *delay_ns)
{
    assert(reflector != NULL);
    ki_reflector_poll *poll = &reflector->poll;
    uint64_t now = ki_reflector_now_ns(reflector);
    uint64_t at_ns = ki_ns_max(now + ki_reflector_asked_ns(failure), poll->not_before_ns);
    if (!is_due(reflector) || !poll->was_counted || at_ns > now + *delay_ns)
        return KI_STEP_WATCH;
    *delay_ns = at_ns - now;
    if (at_ns >= poll->not_before_ns + LAST_SECONDS * KI_NS_PER_S)
        poll->interval_ns = FIRST_SECONDS * KI_NS_PER_S;
    poll->is_listing = 1;
    if (ki_reflector_is_polling(reflector))
        ki_reflector_explain_poll(reflector, NULL);
    return reflector->options.informer->watch_list == KI_WATCH_LIST_ALWAYS ? KI_STEP_SYNC : KI_STEP_LIST;
}

void ki_reflector_note_item(ki_reflector *reflector, const ki_object *object)
{
    assert(reflector != NULL);
    int order = 0;
    reflector->list.items++;
    if (makes_up(reflector) &&
        ki_resource_version_compare(ki_object_resource_version(object),
                                    ki_resource_version_str(&reflector->version), &order) == 0 &&
        order > 0)
        reflector->list.has_news = 1;
}

/* Objects that were created or changed since then have a newer version. Objects that were deleted, or are not
 * selected any more, change the number of items. The version of the list proves nothing, because other
 * resources change it, too. */
static int has_news(const ki_reflector *reflector)
{
    int order = 0;
    ki_str before = ki_resource_version_str(&reflector->version);
    ki_str now = ki_resource_version_str(&reflector->list.version);
    if (ki_resource_version_compare(now, before, &order) < 0)
        return !ki_str_equal(now, before);
    return reflector->list.has_news ||
           (reflector->poll.items != UNKNOWN && reflector->poll.items != reflector->list.items);
}

void ki_reflector_finish_poll(ki_reflector *reflector)
{
    ki_reflector_poll *poll = &reflector->poll;
    uint64_t longer_ns = ki_ns_min(2 * poll->interval_ns, LAST_SECONDS * KI_NS_PER_S);
    if (makes_up(reflector)) {
        poll->interval_ns = has_news(reflector) ? FIRST_SECONDS * KI_NS_PER_S : longer_ns;
        poll->not_before_ns = ki_reflector_now_ns(reflector) + poll->interval_ns;
    }
    poll->is_listing = 0;
    poll->has_failed = 0;
    poll->items = reflector->list.items;
}

/* Items of a failed list may be newer than the events of the next watch. With numeric versions, older states
 * can be recognised; other versions cannot be ordered, so only a complete list may follow. */
static int has_run_ahead(const ki_reflector *reflector)
{
    int order = 0;
    ki_str version = ki_resource_version_str(&reflector->version);
    return reflector->list.has_given && ki_resource_version_compare(version, version, &order) < 0;
}

ki_reflector_step ki_reflector_step_after_list(ki_reflector *reflector)
{
    ki_reflector_poll *poll = &reflector->poll;
    if (!poll->is_listing)
        return KI_STEP_SYNC;
    poll->is_listing = 0;
    poll->has_failed = 1;
    poll->not_before_ns = ki_reflector_now_ns(reflector) + poll->interval_ns;
    return has_run_ahead(reflector) ? KI_STEP_SYNC : KI_STEP_WATCH;
}

void ki_reflector_explain_poll(ki_reflector *reflector, const ki_failure *failure)
{
    assert(reflector != NULL);
    static const char text[] = "the last watches brought nothing: the collection is listed instead";
    char message[KI_ERROR_MESSAGE_BYTES + sizeof(text) + 32];
    const char *last = failure != NULL ? failure->error.message : "";
    if (failure == NULL && reflector->report.reason == KI_REASON_POLLING)
        return; /* the present message is more specific */
    (void)snprintf(message, sizeof(message), "%s%s%s", text, last[0] != 0 ? "; the last watch: " : "", last);
    ki_reflector_set_reason(reflector, KI_REASON_POLLING, message);
    if (failure != NULL)
        reflector->report.http_status = failure->http_status;
}
