/* SPDX-License-Identifier: Apache-2.0 */
/* The status of an informer, and waiting for a state. */
#include <stdio.h>

#include "informer/informer.h"
#include "util/error.h"
#include "util/units.h"

/* ---- asking -------------------------------------------------------------------------------------------- */

int ki_informer_has_synced(const ki_informer *informer)
{
    return informer != NULL && informer->life.is_synced;
}

size_t ki_informer_last_resource_version(const ki_informer *informer, char *buffer, size_t buffer_bytes)
{
    return ki_life_write_version(informer == NULL ? NULL : &informer->life, buffer, buffer_bytes);
}

uint64_t ki_informer_age_ms(const ki_informer *informer)
{
    if (informer == NULL || !informer->life.is_synced)
        return UINT64_MAX;
    uint64_t fresh_ns = ki_delta_fifo_fresh_ns(&informer->fifo);
    return ki_ns_age_ms(ki_clock_now_ns(informer->life.client->clock), fresh_ns);
}

/* Called under the lock of the metrics. */
static int64_t read_age_ns(const void *user)
{
    uint64_t ms = ki_informer_age_ms(user);
    return ms > (uint64_t)INT64_MAX / KI_NS_PER_MS ? INT64_MAX : (int64_t)(ms * KI_NS_PER_MS);
}

void ki_informer_follow_age(ki_informer *informer)
{
    ki_informer_metrics_follow_age(&informer->metrics, read_age_ns, informer);
}

/* Keeps the reason of a failed request, which is the better explanation. */
static void explain_shortage(ki_informer_status *status)
{
    if (status->reason != KI_REASON_NONE)
        return;
    status->reason = KI_REASON_NO_MEMORY;
    (void)snprintf(status->message, sizeof(status->message), "%s", KI_INFORMER_SHORT_TEXT);
}

void ki_informer_read_status(const ki_informer *informer, ki_informer_status *out_status)
{
    if (out_status == NULL)
        return;
    ki_life_begin_status(informer == NULL ? NULL : &informer->life, out_status);
    if (informer == NULL)
        return;
    if (!ki_life_is_foreign(&informer->life)) {
        ki_reflector_read_status(&informer->life.reflector, out_status);
        out_status->queued = ki_delta_fifo_items(&informer->fifo);
        if (informer->is_short)
            explain_shortage(out_status);
    }
    out_status->has_synced = informer->life.is_synced;
    out_status->success_age_ms = ki_informer_age_ms(informer);
    out_status->objects = ki_store_count(informer->store);
    out_status->bytes = ki_store_bytes(informer->store);
}

/* ---- waiting ------------------------------------------------------------------------------------------- */

/* The condition of a wait. The wait also ends when the condition can no longer become true. */
typedef struct waiter {
    ki_informer *informer;
    ki_str version; /* empty: wait for the first list */
    bool is_met;
} waiter;

/* A version that is not a number can only be compared for equality: docs/consistency.md, rule 8. */
static bool reaches(const ki_resource_version *version, ki_str wanted)
{
    int order = 0;
    ki_str reached = ki_resource_version_str(version);
    if (wanted.len == 0 || ki_resource_version_compare(reached, wanted, &order) < 0)
        return wanted.len == 0 || ki_str_equal(reached, wanted);
    return order >= 0;
}

static bool is_met_or_cannot_succeed(void *user)
{
    waiter *w = user;
    const ki_informer *informer = w->informer;
    w->is_met = informer->life.is_synced && reaches(&informer->life.version, w->version);
    return w->is_met || informer->is_abandoned || ki_life_cannot_succeed_locked(&informer->life);
}

/* For example "pods: version 99999 did not arrive in time: WATCHING at 103", or "pods: the first list did not
 * arrive in time: LISTING, connected, no answer yet". */
static int fail_waiting(const waiter *w, int code, ki_error *err)
{
    ki_informer *informer = w->informer;
    ki_informer_status status;
    ki_informer_read_status(informer, &status);
    char what[80] = "the first list";
    if (w->version.len > 0) /* as far as it fits */
        (void)snprintf(what, sizeof(what), "version %.*s", KI_STR_ARGS(w->version));
    const char *reason = ki_reason_name(status.reason);
    return ki_fail(
        err, code, "%s: %s %s: %s%s%.63s%s%s%s%s%s%s%s", informer->life.name, what,
        code == KI_ERR_STOPPED ? "will not arrive: the informer is not running" : "did not arrive in time",
        ki_phase_name(status.phase), status.resource_version[0] == 0 ? "" : " at ", status.resource_version,
        reason[0] == 0 ? "" : ", ", reason, status.message[0] == 0 ? "" : ": ", status.message,
        status.is_unanswered ? ", connected, no answer yet" : "",
        informer->is_blocked ? "; a handler with KI_OVERFLOW_BLOCK is behind and holds the store back" : "",
        ki_life_was_started(&informer->life) ? "" : "; it was never started");
}

static int wait_for(waiter *w, uint64_t timeout_ms, ki_error *err)
{
    ki_informer *informer = w->informer;
    int rc = ki_life_begin_wait(&informer->life, err);
    if (rc < 0)
        return rc;
    bool is_over = ki_life_wait(&informer->life, is_met_or_cannot_succeed, w, timeout_ms);
    rc = w->is_met ? 0 : fail_waiting(w, is_over ? KI_ERR_STOPPED : KI_ERR_TIMEOUT, err);
    ki_life_end_wait(&informer->life);
    return rc;
}

int ki_informer_wait_for_sync(ki_informer *informer, uint64_t timeout_ms, ki_error *err)
{
    if (informer == NULL)
        return ki_fail_missing(err, "no informer");
    return wait_for(&(waiter){.informer = informer}, timeout_ms, err);
}

int ki_informer_wait_for_version(ki_informer *informer, ki_str version, uint64_t timeout_ms, ki_error *err)
{
    if (informer == NULL)
        return ki_fail_missing(err, "no informer");
    if (version.len == 0 || version.len > KI_RESOURCE_VERSION_BYTES_MAX)
        return ki_fail(err, KI_ERR_INVALID, "%s: the version to wait for has %zu bytes; it must have 1 to %d",
                       informer->life.name, version.len, KI_RESOURCE_VERSION_BYTES_MAX);
    return wait_for(&(waiter){.informer = informer, .version = version}, timeout_ms, err);
}
