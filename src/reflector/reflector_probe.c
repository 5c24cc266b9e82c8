/* SPDX-License-Identifier: Apache-2.0 */
/* Checks whether the server still has the known history. A watch from a version that the server has not
 * reached stays silent. So if a watch is silent, the server may have been restored from a backup. A list of
 * one item, of the newest version, shows it: docs/consistency.md, rule 7. */
#include <assert.h>

#include "reflector/reflector_parts.h"
#include "util/error.h"

enum { UNPROVEN_SECONDS = 10, SILENT_SECONDS = 180, SILENT_BOOKMARKS = 3, AGAIN_SECONDS = 30 };

/* When the watch will have been silent for too long; UINT64_MAX: unknown. */
static uint64_t silent_ns(const ki_reflector *reflector)
{
    if (reflector->bookmark_interval_ns == 0)
        return UINT64_MAX;
    return reflector->quiet_ns +
           ki_ns_max(SILENT_BOOKMARKS * reflector->bookmark_interval_ns, SILENT_SECONDS * KI_NS_PER_S);
}

uint64_t ki_reflector_probe_due_ns(const ki_reflector *reflector)
{
    assert(reflector != NULL);
    uint64_t due = silent_ns(reflector);
    if (reflector->doing != KI_STEP_WATCH || reflector->is_full || reflector->probe_answer.is_open)
        return UINT64_MAX;
    if (reflector->watch.is_unproven)
        due = ki_ns_min(due, reflector->watch.begun_ns + UNPROVEN_SECONDS * KI_NS_PER_S);
    return ki_ns_max(due, reflector->probe.not_before_ns);
}

void ki_reflector_clear_probe(ki_reflector *reflector)
{
    assert(reflector != NULL);
    ki_resource_version_clear(&reflector->probe.base);
    ki_resource_version_clear(&reflector->probe.version);
}

void ki_reflector_begin_probe(ki_reflector *reflector)
{
    assert(reflector != NULL);
    uint64_t now = ki_reflector_now_ns(reflector);
    uint64_t token_ns = ki_token_bucket_take(&reflector->bucket, now);
    reflector->probe.not_before_ns = token_ns;
    if (token_ns != 0)
        return;
    ki_reflector_clear_probe(reflector);
    reflector->probe = (ki_history_probe){.begun_ns = now, .is_last_hope = silent_ns(reflector) <= now};
    ki_resource_version_copy(&reflector->probe.base, ki_reflector_list_floor(reflector));
    ki_list_options options = {.limit = 1};
    ki_reflector_finish_options(reflector, &options);
    ki_answer_begin(&reflector->probe_answer, KI_ANSWER_LIST, &options);
}

static void cut_silent_watch(ki_reflector *reflector)
{
    ki_reflector_abandon(reflector, KI_REASON_SILENT, "nothing has arrived on the watch for too long");
}

/* The result is compared with the version at the beginning of the probe,
 * because changes received during the probe may be newer. */
static void judge(ki_reflector *reflector)
{
    const ki_history_probe *probe = &reflector->probe;
    if (ki_resource_version_is_set(&probe->version) &&
        ki_resource_version_is_newer(&probe->base, &probe->version)) {
        ki_failure failure = {.reason = KI_REASON_HISTORY_RESET};
        ki_error_set(&failure.error, KI_ERR_RANGE, 0, "the server is at version %.*s, but %.*s was received",
                     KI_STR_ARGS(ki_resource_version_str(&probe->version)),
                     KI_STR_ARGS(ki_resource_version_str(&probe->base)));
        ki_answer_cancel(&reflector->answer);
        ki_reflector_forget_history(reflector);
        ki_reflector_retry(reflector, &failure, KI_STEP_SYNC, 0);
    } else if (probe->is_last_hope) {
        cut_silent_watch(reflector);
    } else {
        reflector->watch.is_unproven = 0; /* the history is the same; whether the watch works is not known
                                           * yet */
    }
}

/* A server without paging sends all objects. The second item is not needed, so the probe ends there. */
void ki_reflector_probe_result(ki_reflector *reflector, int result, const ki_decoded *decoded)
{
    assert(decoded != NULL);
    ki_history_probe *probe = &reflector->probe;
    if (result == KI_LIST_METADATA) /* a version that is too long, or for which there is no memory, stays
                                     * unset */
        (void)!ki_resource_version_set(&probe->version, decoded->metadata.resource_version);
    if (result != KI_LIST_OBJECT && result != KI_LIST_REFUSED)
        return;
    if (probe->has_item && ki_resource_version_is_set(&probe->version)) {
        ki_answer_cancel(&reflector->probe_answer);
        judge(reflector);
    }
    probe->has_item = 1;
}

/* If the probe fails, a silent watch is cut. A watch that is only unproven is checked again later. */
void ki_reflector_probe_over(ki_reflector *reflector, const ki_failure *failure)
{
    assert(reflector != NULL);
    if (failure->reason == KI_REASON_NONE) {
        judge(reflector);
        return;
    }
    reflector->probe.not_before_ns = ki_reflector_now_ns(reflector) + AGAIN_SECONDS * KI_NS_PER_S;
    ki_reflector_tell_failure(reflector, failure, AGAIN_SECONDS * KI_NS_PER_S);
    if (reflector->probe.is_last_hope)
        cut_silent_watch(reflector);
}
