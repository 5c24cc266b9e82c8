/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/election.h"

#include <assert.h>

#include "controller/lease.h"
#include "util/units.h"

/* The size limit of a Lease with everything that others may have written into its metadata. */
enum { BODY_BYTES_MAX = 3 << 20 };

void ki_election_init(ki_election *election, const ki_election_options *options)
{
    assert(options->retry_ns > 0 && options->identity != NULL);
    assert(options->lease_ns > options->renew_ns && options->renew_ns > options->retry_ns);
    *election = (ki_election){.options = *options, .due_ns = UINT64_MAX};
    ki_random_init(&election->random, options->seed);
    ki_buf_init(&election->body, BODY_BYTES_MAX);
}

void ki_election_fini(ki_election *election)
{
    election->lease = ki_object_unref(election->lease);
    ki_buf_fini(&election->body);
}

ki_str ki_election_holder(const ki_election *election)
{
    return ki_lease_holder(election->lease);
}

/* ---- times ------------------------------------------------------------------------------------------- */

/* Spreads contenders that began together: the delay is between 1 and 2.2 times the period. */
static uint64_t next_try_ns(ki_election *election, uint64_t now_ns)
{
    uint64_t retry_ns = election->options.retry_ns;
    return now_ns + retry_ns + ki_random_below(&election->random, retry_ns + retry_ns / 5);
}

/* Less than the duration of the lease, so that a holder whose clock is slow by 1/64 stops acting before a
 * contender with an exact clock takes over. */
static uint64_t may_act_ns(const ki_election *election)
{
    return election->options.lease_ns - election->options.lease_ns / 64;
}

/* For how long after its sending an acquisition is of use. */
static uint64_t acquisition_ns(const ki_election *election)
{
    return ki_ns_min(election->options.renew_ns, may_act_ns(election));
}

static int64_t lease_seconds(const ki_election *election)
{
    return (int64_t)((election->options.lease_ns + KI_NS_PER_S - 1) / KI_NS_PER_S);
}

/* ---- what is known of the lease ---------------------------------------------------------------------- */

static bool is_ours(const ki_election *election)
{
    return ki_str_equal(ki_election_holder(election), ki_str_of(election->options.identity));
}

static uint64_t duration_ns(const ki_election *election)
{
    int64_t seconds = ki_lease_duration_seconds(election->lease);
    if (seconds <= 0)
        return 0;
    return seconds > INT32_MAX ? UINT64_MAX : (uint64_t)seconds * KI_NS_PER_S;
}

static bool is_free(const ki_election *election, uint64_t now_ns)
{
    assert(!election->is_missing);
    if (ki_election_holder(election).len == 0 || is_ours(election))
        return true;
    return now_ns >= ki_ns_add(election->seen_ns, duration_ns(election));
}

/* The last holder may not be the one that was seen, and may have used our duration. */
static uint64_t missing_duration_ns(const ki_election *election)
{
    return ki_ns_max(duration_ns(election), election->options.lease_ns);
}

static bool may_create(const ki_election *election, uint64_t now_ns)
{
    if (election->lease == NULL)
        return true;
    assert(election->is_missing);
    return now_ns >= ki_ns_add(election->seen_ns, missing_duration_ns(election));
}

/* A record that has not changed by a byte was not renewed, whatever else in the object has changed. */
static void see(ki_election *election, ki_object *lease, uint64_t now_ns)
{
    assert(lease != NULL);
    ki_str before = ki_object_find(election->lease, "/spec").raw, now = ki_object_find(lease, "/spec").raw;
    if (election->lease == NULL || election->is_missing || !ki_str_equal(before, now))
        election->seen_ns = now_ns;
    election->is_missing = false;
    ki_object_ref(lease);
    ki_object_unref(election->lease);
    election->lease = lease;
}

/* If the previous answer is much older than the usual time between tries, the Lease may have existed in
 * between. */
static void miss(ki_election *election, uint64_t now_ns)
{
    if (election->lease == NULL)
        return;
    uint64_t gap_ns = missing_duration_ns(election);
    if (!election->is_missing || now_ns >= ki_ns_add(ki_ns_add(election->missed_ns, gap_ns), gap_ns))
        election->seen_ns = now_ns;
    election->is_missing = true;
    election->missed_ns = election->sent_ns; /* when it was sent, since the answer may have been delayed */
}

/* ---- phases ------------------------------------------------------------------------------------------ */

static void become(ki_election *election, ki_election_phase phase, uint64_t due_ns)
{
    election->phase = phase;
    election->pending = KI_ELECTION_NOTHING;
    election->due_ns = due_ns;
    election->rejected_writes = 0;
    if (phase != KI_ELECTION_LEADING)
        election->leads_until_ns = 0;
}

static void send_now(ki_election *election, ki_election_action action)
{
    assert(action != KI_ELECTION_NOTHING && election->in_flight == KI_ELECTION_NOTHING);
    election->pending = action;
}

static void release(ki_election *election, uint64_t now_ns)
{
    assert(!election->options.keeps_lease && election->is_stopping);
    become(election, KI_ELECTION_RELEASING, now_ns);
    election->release_until_ns = now_ns + election->options.renew_ns;
}

void ki_election_start(ki_election *election, uint64_t now_ns)
{
    election->is_stopping = false;
    if (election->phase == KI_ELECTION_STOPPED || election->phase == KI_ELECTION_RELEASING)
        become(election, KI_ELECTION_SEEKING, now_ns);
}

/* Whether other processes may have to wait for a lease of ours although we do not lead: a write is in flight
 * or ended in doubt, or the lease was acquired too late or lost. The release reads the Lease first. */
static bool may_hold(const ki_election *election, uint64_t now_ns)
{
    if (election->in_flight == KI_ELECTION_CREATE || election->in_flight == KI_ELECTION_UPDATE)
        return true;
    if (now_ns < election->doubted_until_ns)
        return true;
    return is_ours(election) && !election->is_missing &&
           now_ns < ki_ns_add(election->seen_ns, duration_ns(election));
}

void ki_election_stop(ki_election *election, uint64_t now_ns)
{
    election->is_stopping = true;
    if (election->phase == KI_ELECTION_LEADING)
        become(election, KI_ELECTION_ENDING, UINT64_MAX);
    else if (election->phase == KI_ELECTION_SEEKING && may_hold(election, now_ns) &&
             !election->options.keeps_lease)
        release(election, now_ns);
    else if (election->phase == KI_ELECTION_SEEKING ||
             (election->phase == KI_ELECTION_RELEASING && election->options.keeps_lease))
        become(election, KI_ELECTION_STOPPED, UINT64_MAX);
}

void ki_election_acting_ended(ki_election *election, uint64_t now_ns)
{
    assert(election->phase == KI_ELECTION_ENDING);
    if (!election->is_stopping)
        become(election, KI_ELECTION_SEEKING, now_ns);
    else if (election->options.keeps_lease)
        become(election, KI_ELECTION_STOPPED, UINT64_MAX);
    else
        release(election, now_ns);
}

/* ---- steps ------------------------------------------------------------------------------------------- */

static uint64_t lost_ns(const ki_election *election)
{
    assert(election->phase == KI_ELECTION_LEADING);
    return ki_ns_min(election->renewed_ns + election->options.renew_ns, election->leads_until_ns);
}

static void look_at_clock(ki_election *election, uint64_t now_ns)
{
    if (election->phase == KI_ELECTION_LEADING && now_ns >= lost_ns(election))
        become(election, KI_ELECTION_ENDING, UINT64_MAX);
    if (election->phase == KI_ELECTION_RELEASING && now_ns >= election->release_until_ns)
        become(election, KI_ELECTION_STOPPED, UINT64_MAX);
}

static ki_lease_record record_to_write(const ki_election *election, int64_t wall_ns)
{
    assert(election->phase != KI_ELECTION_STOPPED && election->phase != KI_ELECTION_ENDING);
    int64_t transitions = ki_lease_transitions(election->lease);
    ki_lease_record record = {.renew_wall_ns = wall_ns, .acquire_wall_ns = wall_ns};
    if (election->phase == KI_ELECTION_RELEASING) {
        record.duration_seconds = 1;
        record.transitions = transitions;
        return record;
    }
    record.holder = ki_str_of(election->options.identity);
    record.duration_seconds = lease_seconds(election);
    record.transitions = transitions;
    if (election->lease != NULL && !is_ours(election))
        record.transitions = transitions + 1;
    else if (election->lease != NULL && !election->is_missing)
        record.acquire_wall_ns = INT64_MIN;
    return record;
}

/* The timeout of a request leaves time for another one before the lease is lost. */
static uint64_t timeout_ns(const ki_election *election, uint64_t now_ns)
{
    assert(election->phase != KI_ELECTION_RELEASING || now_ns < election->release_until_ns);
    assert(election->phase != KI_ELECTION_LEADING || now_ns < lost_ns(election));
    const ki_election_options *options = &election->options;
    uint64_t usual_ns = ki_ns_max(options->renew_ns / 2, options->retry_ns);
    if (election->phase == KI_ELECTION_LEADING)
        return ki_ns_min(usual_ns, lost_ns(election) - now_ns);
    if (election->phase == KI_ELECTION_RELEASING)
        return ki_ns_min(usual_ns, election->release_until_ns - now_ns);
    return usual_ns;
}

static ki_election_action what_to_send(const ki_election *election, uint64_t now_ns)
{
    if (election->in_flight != KI_ELECTION_NOTHING || election->phase == KI_ELECTION_STOPPED ||
        election->phase == KI_ELECTION_ENDING)
        return KI_ELECTION_NOTHING;
    if (election->pending != KI_ELECTION_NOTHING)
        return election->pending;
    if (now_ns < election->due_ns)
        return KI_ELECTION_NOTHING;
    bool is_known = election->phase == KI_ELECTION_LEADING && election->rejected_writes == 0;
    return is_known ? KI_ELECTION_UPDATE : KI_ELECTION_GET;
}

ki_election_request ki_election_step(ki_election *election, uint64_t now_ns, int64_t wall_ns)
{
    look_at_clock(election, now_ns);
    ki_election_request request = {.action = what_to_send(election, now_ns)};
    if (request.action == KI_ELECTION_NOTHING)
        return request;
    assert(election->in_flight == KI_ELECTION_NOTHING);
    if (request.action != KI_ELECTION_GET) {
        ki_lease_record record = record_to_write(election, wall_ns);
        ki_object *lease = request.action == KI_ELECTION_CREATE ? NULL : election->lease;
        if (ki_lease_write(lease, election->options.ns, election->options.name, &record, &election->body) <
            0) {
            election->pending = KI_ELECTION_NOTHING;
            election->due_ns = now_ns + election->options.retry_ns;
            return (ki_election_request){0};
        }
        request.body = ki_buf_str(&election->body);
    }
    if (election->phase == KI_ELECTION_LEADING && request.action == KI_ELECTION_GET)
        election->slow_renewals++;
    request.timeout_ns = timeout_ns(election, now_ns);
    election->pending = KI_ELECTION_NOTHING;
    election->in_flight = request.action;
    election->sent_in = election->phase;
    election->sent_ns = now_ns;
    return request;
}

uint64_t ki_election_next_ns(const ki_election *election)
{
    uint64_t next_ns = UINT64_MAX;
    bool waits = election->in_flight != KI_ELECTION_NOTHING;
    if (election->phase == KI_ELECTION_STOPPED || election->phase == KI_ELECTION_ENDING)
        return UINT64_MAX;
    if (!waits)
        next_ns = election->pending != KI_ELECTION_NOTHING ? 0 : election->due_ns;
    if (election->phase == KI_ELECTION_LEADING)
        next_ns = ki_ns_min(next_ns, lost_ns(election));
    if (election->phase == KI_ELECTION_RELEASING)
        next_ns = ki_ns_min(next_ns, election->release_until_ns);
    return next_ns;
}

/* ---- answers ----------------------------------------------------------------------------------------- */

static void written(ki_election *election, uint64_t now_ns)
{
    assert(election->phase == KI_ELECTION_SEEKING || election->phase == KI_ELECTION_LEADING);
    uint64_t until_ns = election->sent_ns + may_act_ns(election);
    assert(until_ns > now_ns);
    election->renewed_ns = election->sent_ns;
    become(election, KI_ELECTION_LEADING, ki_ns_max(election->sent_ns + election->options.retry_ns, now_ns));
    election->leads_until_ns = until_ns;
}

static void answer_seeking(ki_election *election, ki_election_action action, ki_election_outcome outcome,
                           uint64_t now_ns)
{
    assert(election->phase == KI_ELECTION_SEEKING && action != KI_ELECTION_NOTHING);
    election->due_ns = next_try_ns(election, now_ns);
    if (action == KI_ELECTION_GET && outcome == KI_ELECTION_NOT_FOUND && may_create(election, now_ns))
        send_now(election, KI_ELECTION_CREATE);
    else if (action == KI_ELECTION_GET && outcome == KI_ELECTION_DONE && is_free(election, now_ns))
        send_now(election, KI_ELECTION_UPDATE);
    else if (action != KI_ELECTION_GET && outcome == KI_ELECTION_DONE && is_ours(election) &&
             now_ns < election->sent_ns + acquisition_ns(election))
        written(election, now_ns); /* otherwise the renew deadline or the lease has passed */
}

/* After the first write that was rejected, the Lease is read at once; after further ones with a delay, since
 * something may be writing to this Lease all the time. A create that conflicts does not wait after the second
 * one either: another process may lead. */
static void retry_renewal(ki_election *election, ki_election_action action, ki_election_outcome outcome,
                          uint64_t now_ns)
{
    bool is_rejected = action != KI_ELECTION_GET && outcome != KI_ELECTION_FAILED;
    unsigned at_once_max = action == KI_ELECTION_CREATE && outcome == KI_ELECTION_CONFLICT ? 2 : 1;
    bool is_at_once = is_rejected && election->rejected_writes < at_once_max;
    election->rejected_writes += is_rejected;
    election->due_ns = is_at_once ? now_ns : now_ns + election->options.retry_ns;
}

/* Unless the record names another process, the lease is ours until it expires, even if the Lease was
 * deleted. */
static void answer_leading(ki_election *election, ki_election_action action, ki_election_outcome outcome,
                           uint64_t now_ns)
{
    assert(election->phase == KI_ELECTION_LEADING && action != KI_ELECTION_NOTHING);
    if (outcome == KI_ELECTION_DONE && !is_ours(election)) {
        become(election, KI_ELECTION_ENDING, UINT64_MAX);
    } else if (outcome == KI_ELECTION_DONE && action == KI_ELECTION_GET) {
        send_now(election, KI_ELECTION_UPDATE);
    } else if (outcome == KI_ELECTION_DONE) {
        written(election, now_ns);
    } else if (outcome == KI_ELECTION_NOT_FOUND && action == KI_ELECTION_GET) {
        send_now(election, KI_ELECTION_CREATE);
    } else {
        retry_renewal(election, action, outcome, now_ns);
    }
}

static void answer_releasing(ki_election *election, ki_election_action action, ki_election_outcome outcome,
                             uint64_t now_ns)
{
    assert(election->phase == KI_ELECTION_RELEASING && action != KI_ELECTION_NOTHING);
    election->due_ns = now_ns + election->options.retry_ns / 2;
    if (action == KI_ELECTION_GET && outcome == KI_ELECTION_DONE && is_ours(election))
        send_now(election, KI_ELECTION_UPDATE);
    else if (outcome == KI_ELECTION_DONE || outcome == KI_ELECTION_NOT_FOUND)
        become(election, KI_ELECTION_STOPPED, UINT64_MAX);
}

void ki_election_answer(ki_election *election, ki_election_outcome outcome, ki_object *lease, uint64_t now_ns)
{
    ki_election_action action = election->in_flight;
    assert(action != KI_ELECTION_NOTHING);
    election->in_flight = KI_ELECTION_NOTHING;
    if (outcome == KI_ELECTION_DONE && lease == NULL)
        outcome = KI_ELECTION_FAILED;
    if (outcome == KI_ELECTION_DONE)
        see(election, lease, now_ns);
    else if (outcome == KI_ELECTION_NOT_FOUND)
        miss(election, now_ns);
    if (outcome == KI_ELECTION_DONE || outcome == KI_ELECTION_NOT_FOUND)
        election->doubted_until_ns = 0;
    else if (action != KI_ELECTION_GET && (outcome == KI_ELECTION_UNCLEAR || outcome == KI_ELECTION_FAILED))
        election->doubted_until_ns = ki_ns_add(now_ns, election->options.lease_ns);
    look_at_clock(election, now_ns);
    if (election->phase != election->sent_in)
        return;
    if (election->phase == KI_ELECTION_SEEKING)
        answer_seeking(election, action, outcome, now_ns);
    else if (election->phase == KI_ELECTION_LEADING)
        answer_leading(election, action, outcome, now_ns);
    else if (election->phase == KI_ELECTION_RELEASING)
        answer_releasing(election, action, outcome, now_ns);
}
