/* SPDX-License-Identifier: Apache-2.0 */
/* Several processes compete for one Lease. Requests are lost before or after they were carried out, responses
 * come late, processes are suspended for a minute, their clocks run up to 1/128 too fast or too slow and show
 * arbitrary dates. Now and then the Lease is deleted. At no time do two processes believe that they lead; and
 * once the faults have ended, one of them does.
 *
 *   sim_election [SEED]    one run, with all details */
#include <inttypes.h>
#include <kinformer/resources.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "controller/election.h"
#include "util/units.h"

enum { PROCESSES_MAX = 4, LIFE_S = 400, CALM_S = 120, SEEDS_DEFAULT = 2000 };

typedef struct process {
    ki_election election;
    char identity[24];
    double rate; /* of its clock */
    uint64_t offset_ns;
    uint64_t paused_until_ns; /* true time, like all below */
    ki_election_action action;
    char *body;           /* of the request in flight */
    uint64_t served_ns;   /* when the server gets it; UINT64_MAX: it got it already, or never will */
    uint64_t answered_ns; /* when the process gets the response; UINT64_MAX: no request is in flight */
    bool is_answer_lost;
    ki_election_outcome outcome;
    ki_object *answer;
    uint64_t ending_until_ns; /* when it has stopped acting as the leader */
    uint64_t restarted_ns;    /* after a stop */
    uint64_t terms;
} process;

/* A request that the server gets after its sender has given up waiting. */
typedef struct orphan {
    process request;
    uint64_t served_ns; /* UINT64_MAX: none */
} orphan;

typedef struct life {
    uint64_t seed;
    bool tells;
    /* Clocks differ as much as allowed, the lease is long, leaders are suspended, and contenders look so
     * often and get responses so quickly that one of them tries as soon as the lease has ended by its
     * clock. */
    bool is_about_clocks;
    ki_random random;
    uint64_t now_ns;
    bool is_calm;
    size_t count;
    process processes[PROCESSES_MAX];
    orphan orphans[PROCESSES_MAX]; /* the latest of each process */
    ki_object *lease;
    uint64_t lease_ns; /* its duration */
    uint64_t version;
    uint64_t deleted_ns; /* when the Lease will be deleted; UINT64_MAX: there is no Lease */
    uint64_t deletions;
    char failure[200];
} life;

static uint64_t local_ns(const process *p, uint64_t now_ns)
{
    return p->offset_ns + (uint64_t)((double)now_ns * p->rate);
}

/* The first true time at which the process' clock shows this time. */
static uint64_t true_ns(const process *p, uint64_t at_ns)
{
    if (at_ns == UINT64_MAX)
        return UINT64_MAX;
    if (at_ns <= p->offset_ns)
        return 0;
    return (uint64_t)((double)(at_ns - p->offset_ns) / p->rate) + 2;
}

static bool leads(const process *p, uint64_t now_ns)
{
    return local_ns(p, now_ns) < p->election.leads_until_ns;
}

static bool happens(life *l, unsigned percent)
{
    return !l->is_calm && !l->is_about_clocks && ki_random_below(&l->random, 100) < percent;
}

static bool stands_still(life *l, const process *p)
{
    if (l->is_about_clocks)
        return !l->is_calm && leads(p, l->now_ns) && ki_random_below(&l->random, 100) < 5;
    return happens(l, 2);
}

static void tell(const life *l, const process *p, const char *what)
{
    if (l->tells)
        printf("%9.3f %s %s phase %d\n", (double)l->now_ns / 1e9, p->identity, what, (int)p->election.phase);
}

/* ---- the server -------------------------------------------------------------------------------------- */

static ki_election_outcome store(life *l, const char *body)
{
    char text[2048];
    ki_str spec = ki_json_find(ki_json_of(ki_str_of(body)), "/spec").raw;
    snprintf(text, sizeof(text),
             "{\"metadata\":{\"namespace\":\"d\",\"name\":\"lock\",\"resourceVersion\":\"%" PRIu64
             "\"},\"spec\":%.*s}",
             ++l->version, (int)spec.len, spec.ptr);
    ki_object_unref(l->lease);
    l->lease = ki_object_new(&KI_COORDINATION_V1_LEASES, ki_str_of(text), NULL, NULL);
    if (l->lease == NULL)
        abort();
    return KI_ELECTION_DONE;
}

/* The Lease is deleted at the earliest after four times its duration, so that no request from the time when
 * it was last missing is still in flight. Otherwise two deletions could look like one. */
static ki_election_outcome create(life *l, const char *body)
{
    if (l->lease != NULL)
        return KI_ELECTION_CONFLICT;
    l->deleted_ns = l->now_ns + 4 * l->lease_ns + ki_random_below(&l->random, 40 * KI_NS_PER_S);
    return store(l, body);
}

/* Postponed while a process has never seen the Lease: it would create one at once,
 * as it must at its first start. */
static void delete_lease(life *l)
{
    for (size_t i = 0; i < l->count; i++)
        if (l->processes[i].election.lease == NULL) {
            l->deleted_ns += l->lease_ns;
            return;
        }
    l->deleted_ns = UINT64_MAX;
    l->deletions++;
    l->lease = ki_object_unref(l->lease);
    if (l->tells)
        printf("%9.3f the Lease is deleted\n", (double)l->now_ns / 1e9);
}

/* An update of a Lease that does not exist: servers answer differently. */
static ki_election_outcome refuse(life *l)
{
    static const ki_election_outcome ways[] = {KI_ELECTION_NOT_FOUND, KI_ELECTION_CONFLICT,
                                               KI_ELECTION_REJECTED, KI_ELECTION_UNCLEAR};
    return ways[ki_random_below(&l->random, sizeof(ways) / sizeof(ways[0]))];
}

static ki_election_outcome serve(life *l, const process *p)
{
    if (p->action == KI_ELECTION_CREATE)
        return create(l, p->body);
    if (l->lease == NULL)
        return p->action == KI_ELECTION_GET ? KI_ELECTION_NOT_FOUND : refuse(l);
    if (p->action == KI_ELECTION_GET)
        return KI_ELECTION_DONE;
    ki_json version = ki_json_find(ki_json_of(ki_str_of(p->body)), "/metadata/resourceVersion");
    if (!ki_json_string_equals(version, ki_object_resource_version(l->lease)))
        return KI_ELECTION_CONFLICT;
    return store(l, p->body);
}

static void arrive(life *l, process *p)
{
    p->served_ns = UINT64_MAX;
    p->outcome = serve(l, p);
    if (p->outcome == KI_ELECTION_DONE)
        p->answer = ki_object_ref(l->lease);
}

/* ---- processes --------------------------------------------------------------------------------------- */

static char *copy_text(ki_str text)
{
    char *copy = text.len == 0 ? NULL : calloc(1, text.len + 1);
    return copy == NULL ? NULL : memcpy(copy, text.ptr, text.len);
}

static void send_request(life *l, process *p, ki_election_request request)
{
    uint64_t way_ns = (l->is_about_clocks ? 5 : 50) * KI_NS_PER_MS;
    uint64_t there_ns = ki_random_below(&l->random, way_ns);
    uint64_t back_ns = ki_random_below(&l->random, way_ns);
    uint64_t patience_ns = (uint64_t)((double)request.timeout_ns / p->rate);
    if (happens(l, 8))
        there_ns = ki_random_below(&l->random, 20 * KI_NS_PER_S);
    if (happens(l, 8))
        back_ns = ki_random_below(&l->random, 20 * KI_NS_PER_S);
    p->action = request.action;
    p->body = copy_text(request.body);
    p->served_ns = happens(l, 5) ? UINT64_MAX : l->now_ns + there_ns;
    p->is_answer_lost = p->served_ns == UINT64_MAX || happens(l, 5) || there_ns + back_ns > patience_ns;
    p->answered_ns = l->now_ns + (p->is_answer_lost ? patience_ns : there_ns + back_ns);
}

static void check(life *l, const process *p)
{
    for (size_t i = 0; i < l->count; i++)
        if (&l->processes[i] != p && leads(p, l->now_ns) && leads(&l->processes[i], l->now_ns))
            snprintf(l->failure, sizeof(l->failure), "at %.3f s both %s and %s lead", (double)l->now_ns / 1e9,
                     p->identity, l->processes[i].identity);
}

static void give_up(life *l, process *p)
{
    orphan *o = &l->orphans[p - l->processes];
    free(o->request.body);
    *o = (orphan){.request = {.action = p->action, .body = p->body}, .served_ns = p->served_ns};
    p->body = NULL;
    p->served_ns = UINT64_MAX;
}

static void hear(life *l, process *p)
{
    bool is_lost = p->is_answer_lost;
    ki_election_phase before = p->election.phase;
    if (p->served_ns != UINT64_MAX)
        give_up(l, p);
    p->answered_ns = UINT64_MAX;
    ki_election_outcome loss = ki_random_below(&l->random, 2) == 0 ? KI_ELECTION_FAILED : KI_ELECTION_UNCLEAR;
    ki_election_answer(&p->election, is_lost ? loss : p->outcome, is_lost ? NULL : p->answer,
                       local_ns(p, l->now_ns));
    p->answer = ki_object_unref(p->answer);
    free(p->body);
    p->body = NULL;
    p->terms += before != KI_ELECTION_LEADING && p->election.phase == KI_ELECTION_LEADING;
    tell(l, p, is_lost ? "no answer" : "answer");
    check(l, p);
}

static void run(life *l, process *p)
{
    uint64_t now_ns = local_ns(p, l->now_ns);
    int64_t wall_ns = (int64_t)ki_random_below(&l->random, (uint64_t)4000000000 * KI_NS_PER_S);
    if (p->answered_ns <= l->now_ns)
        hear(l, p);
    ki_election_request request = ki_election_step(&p->election, now_ns, wall_ns);
    if (request.action != KI_ELECTION_NOTHING) {
        tell(l, p, request.action == KI_ELECTION_GET ? "get" : "write");
        send_request(l, p, request);
    }
    if (p->election.phase == KI_ELECTION_ENDING && p->ending_until_ns == UINT64_MAX)
        p->ending_until_ns = l->now_ns + ki_random_below(&l->random, 3 * KI_NS_PER_S);
    if (p->election.phase == KI_ELECTION_ENDING && p->ending_until_ns <= l->now_ns) {
        p->ending_until_ns = UINT64_MAX;
        ki_election_acting_ended(&p->election, now_ns);
    }
    if (!p->election.is_stopping && happens(l, 1)) {
        ki_election_stop(&p->election, now_ns);
        p->restarted_ns = l->now_ns + ki_random_below(&l->random, 40 * KI_NS_PER_S);
    } else if (p->election.is_stopping && p->restarted_ns <= l->now_ns) {
        ki_election_start(&p->election, now_ns);
    }
    if (stands_still(l, p))
        p->paused_until_ns = l->now_ns + ki_random_below(&l->random, 60 * KI_NS_PER_S);
}

static uint64_t next_of(const process *p)
{
    uint64_t next_ns = ki_ns_min(p->answered_ns, true_ns(p, ki_election_next_ns(&p->election)));
    if (p->election.phase == KI_ELECTION_ENDING)
        next_ns = ki_ns_min(next_ns, p->ending_until_ns);
    if (p->election.is_stopping)
        next_ns = ki_ns_min(next_ns, p->restarted_ns);
    return ki_ns_max(next_ns, p->paused_until_ns);
}

/* ---- a life ------------------------------------------------------------------------------------------ */

static double choose_rate(life *l)
{
    double part = ((double)ki_random_below(&l->random, 2001) - 1000) / 1000;
    if (l->is_about_clocks)
        part = part < 0 ? -1 : 1;
    return 1 + part / 128;
}

static void begin(life *l, uint64_t seed)
{
    *l = (life){.seed = seed,
                .tells = l->tells,
                .is_about_clocks = seed % 8 == 0,
                .now_ns = KI_NS_PER_S,
                .lease_ns = (seed % 8 == 0 ? 30 : 15) * KI_NS_PER_S,
                .deleted_ns = UINT64_MAX};
    ki_random_init(&l->random, seed);
    l->count = 2 + ki_random_below(&l->random, PROCESSES_MAX - 1);
    for (size_t i = 0; i < l->count; i++) {
        process *p = &l->processes[i];
        l->orphans[i].served_ns = UINT64_MAX;
        *p = (process){.served_ns = UINT64_MAX, .answered_ns = UINT64_MAX, .ending_until_ns = UINT64_MAX};
        snprintf(p->identity, sizeof(p->identity), "p%zu", i);
        p->rate = choose_rate(l);
        p->offset_ns = ki_random_below(&l->random, 1000000 * KI_NS_PER_S);
        ki_election_options options = {.ns = "d",
                                       .name = "lock",
                                       .identity = p->identity,
                                       .lease_ns = l->lease_ns,
                                       .renew_ns = 10 * KI_NS_PER_S,
                                       .retry_ns = (l->is_about_clocks ? 100 : 2000) * KI_NS_PER_MS,
                                       .keeps_lease = ki_random_below(&l->random, 4) == 0,
                                       .seed = ki_random_next(&l->random)};
        ki_election_init(&p->election, &options);
        ki_election_start(&p->election, local_ns(p, l->now_ns));
    }
}

static void live_until(life *l, uint64_t until_ns)
{
    while (l->failure[0] == 0) {
        uint64_t next_ns = ki_ns_min(until_ns, l->is_calm ? UINT64_MAX : l->deleted_ns);
        for (size_t i = 0; i < l->count; i++)
            next_ns =
                ki_ns_min(next_ns, ki_ns_min(next_of(&l->processes[i]),
                                             ki_ns_min(l->processes[i].served_ns, l->orphans[i].served_ns)));
        if (next_ns >= until_ns)
            break;
        l->now_ns = ki_ns_max(l->now_ns, next_ns);
        if (!l->is_calm && l->deleted_ns <= l->now_ns)
            delete_lease(l);
        for (size_t i = 0; i < l->count; i++) {
            process *p = &l->processes[i];
            if (p->served_ns <= l->now_ns)
                arrive(l, p);
            if (l->orphans[i].served_ns <= l->now_ns) {
                (void)serve(l, &l->orphans[i].request);
                l->orphans[i].served_ns = UINT64_MAX;
            }
            if (next_of(p) <= l->now_ns)
                run(l, p);
        }
    }
    l->now_ns = ki_ns_max(l->now_ns, until_ns);
}

static size_t leaders(const life *l)
{
    size_t n = 0;
    for (size_t i = 0; i < l->count; i++)
        n += leads(&l->processes[i], l->now_ns);
    return n;
}

static uint64_t run_life(life *l, uint64_t seed)
{
    uint64_t terms = 0;
    begin(l, seed);
    live_until(l, LIFE_S * KI_NS_PER_S);
    l->is_calm = true;
    live_until(l, (LIFE_S + CALM_S) * KI_NS_PER_S);
    if (l->failure[0] == 0 && leaders(l) != 1)
        snprintf(l->failure, sizeof(l->failure), "%zu processes lead after a calm time", leaders(l));
    for (size_t i = 0; i < l->count; i++) {
        process *p = &l->processes[i];
        terms += p->terms;
        ki_election_fini(&p->election);
        ki_object_unref(p->answer);
        free(p->body);
        free(l->orphans[i].request.body);
    }
    l->lease = ki_object_unref(l->lease);
    return terms;
}

int main(int argc, char **argv)
{
    life l = {.tells = argc > 1};
    const char *seeds = getenv("KI_SIM_SEEDS");
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1, terms = 0, deletions = 0;
    /* One life takes seven times as long as one of an informer. */
    uint64_t last = argc > 1 ? first : seeds == NULL ? SEEDS_DEFAULT : strtoull(seeds, NULL, 10) / 7 + 1;
    for (uint64_t seed = first; seed <= last; seed++) {
        terms += run_life(&l, seed);
        deletions += l.deletions;
        if (l.failure[0] != 0) {
            printf("seed %" PRIu64 ": %s\n", seed, l.failure);
            return 1;
        }
    }
    printf("%" PRIu64 " lives, %" PRIu64 " terms of leaders, %" PRIu64 " deletions\n", last - first + 1,
           terms, deletions);
    if (terms < 3 * (last - first + 1) || deletions < last - first + 1) {
        printf("too few terms or deletions: the test has tested nothing\n");
        return argc > 1 ? 0 : 1;
    }
    return 0;
}
