/* SPDX-License-Identifier: Apache-2.0 */
/* Two contenders are started and stopped by threads and by their callbacks, while others read who leads and
 * write through guarded clients, and the server cuts connections. Never do both lead. Then each leader is
 * freed: by a thread, by its callback, or together with its client; writers run until after that. With
 * delays after unlocks (support/delays.c). Threads are the library's, and those that support/aside.c starts
 * with ki_thread_start(). */
#include <kinformer.h>
#include <stdio.h>

#include "support/apiserver/api_rig.h"
#include "support/aside.h"
#include "support/delays.h"
#include "support/patience.h"
#include "support/require.h"
#include "support/unit.h"
#include "util/clock.h"
#include "util/units.h"

enum { CONTENDERS = 2, ROUNDS = 6, ROUND_MS = 800, DRIVERS = 2 };

/* At least the number of places where a call can be held up. */
enum { PLACES = 40 };

typedef struct contestant {
    struct stage *stage;
    const char *identity;
    ki_client *client;
    ki_client *guarded;
    ki_leader *leader;
    atomic_int started;
    atomic_int stopped;
    atomic_int released;
    atomic_int frees_itself; /* 1: the next callback frees the leader; 2: it has */
    atomic_int writes;
    atomic_int refusals;
} contestant;

typedef struct stage {
    ki_apiserver *server;
    contestant contestants[CONTENDERS];
    atomic_uint_fast64_t dice;
    atomic_bool is_calm; /* nobody starts, stops or reads any more */
    atomic_bool is_over;
    atomic_int terms;
} stage;

static uint64_t roll(stage *s, uint64_t bound)
{
    uint64_t x = atomic_fetch_add(&s->dice, 0x9e3779b97f4a7c15U) + 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    return (x ^ (x >> 31)) % bound;
}

/* ---- callbacks --------------------------------------------------------------------------------------- */

static void act(contestant *c, ki_leader *leader)
{
    int yes = 1;
    if (atomic_compare_exchange_strong(&c->frees_itself, &yes, 2))
        ki_leader_free(leader);
    if (c->stage->is_calm)
        return;
    switch (roll(c->stage, 8)) {
    case 0:
        ki_leader_stop(leader);
        break;
    case 1:
        require(ki_leader_start(leader, NULL) == 0);
        break;
    default:
        break;
    }
}

static void on_started(ki_leader *leader, void *user)
{
    contestant *c = user;
    require(c->started == c->stopped);
    c->started++;
    c->stage->terms++;
    act(c, leader);
}

static void on_stopped(ki_leader *leader, void *user)
{
    contestant *c = user;
    c->stopped++;
    require(c->started == c->stopped);
    act(c, leader);
}

static void on_new_leader(ki_leader *leader, const char *identity, void *user)
{
    contestant *c = user;
    require(identity[0] == 0 || identity[0] == 'a' || identity[0] == 'b');
    act(c, leader);
}

static void on_release(void *user)
{
    contestant *c = user;
    require(c->started == c->stopped);
    c->released++;
}

/* ---- threads ----------------------------------------------------------------------------------------- */

static void drive(void *user)
{
    contestant *c = user;
    while (!c->stage->is_calm) {
        delays_hold_up((int)roll(c->stage, PLACES));
        if (roll(c->stage, 3) == 0)
            ki_leader_stop(c->leader);
        require(ki_leader_start(c->leader, NULL) == 0);
        if (roll(c->stage, 16) == 0)
            require(ki_leader_guard(c->leader, c->guarded) == 0);
        aside_pause((int)roll(c->stage, 60));
    }
}

/* A leads both before and after B is asked, in less time than B takes to get the lease and to give it
 * back. */
static void look(void *user)
{
    stage *s = user;
    char holder[8];
    while (!s->is_calm) {
        const contestant *a = &s->contestants[roll(s, CONTENDERS)];
        const contestant *b = &s->contestants[CONTENDERS - 1 - (a - s->contestants)];
        uint64_t began_ns = ki_clock_now_ns(ki_clock_real());
        bool both = ki_leader_is_leading(a->leader) && ki_leader_is_leading(b->leader) &&
                    ki_leader_is_leading(a->leader);
        require(!both || ki_clock_now_ns(ki_clock_real()) > began_ns + KI_NS_PER_MS / 5);
        require(ki_leader_holder(a->leader, holder, sizeof(holder)) <= 1);
        require(ki_leader_identity(a->leader) != NULL);
        if (roll(s, 16) == 0)
            aside_pause(1);
    }
}

static void write_objects(void *user)
{
    contestant *c = user;
    while (!c->stage->is_over) {
        ki_body *body = ki_body_format("{metadata:{generateName:'w-'}}");
        ki_rest_answer answer = {0};
        ki_rest_request request = {
            .verb = KI_REST_CREATE, .resource = &KI_CORE_V1_CONFIGMAPS, .ns = "default", .content = body};
        ki_error err = {0};
        int rc = ki_rest_run(c->guarded, &request, &answer, &err);
        c->writes += rc == 0;
        c->refusals += rc == KI_ERR_REFUSED;
        ki_rest_answer_fini(&answer);
        ki_body_free(body);
        aside_pause(1);
    }
}

static void free_client(void *user)
{
    contestant *c = user;
    ki_client_free(c->client);
}

/* ---- a round ----------------------------------------------------------------------------------------- */

static void make(stage *s, contestant *c, const char *identity)
{
    ki_error err = {0};
    ki_client_options options = {.server = ki_apiserver_url(s->server), .mode = KI_MODE_THREADS};
    c->stage = s;
    c->identity = identity;
    c->client = ki_client_new(&options, &err);
    c->guarded = ki_client_new(&options, &err);
    c->leader = ki_leader_new(c->client,
                              &(ki_leader_options){.name = "lock",
                                                   .identity = identity,
                                                   .lease_duration_ms = 1000,
                                                   .renew_deadline_ms = 800,
                                                   .retry_period_ms = 20,
                                                   .on_started = on_started,
                                                   .on_stopped = on_stopped,
                                                   .on_new_leader = on_new_leader,
                                                   .on_release = on_release,
                                                   .user = c},
                              &err);
    assert_non_null(c->leader);
    assert_int_equal(ki_leader_guard(c->leader, c->guarded), 0);
}

static void cut_connections(stage *s)
{
    for (int ms = 0; ms < ROUND_MS; ms += 40) {
        aside_pause(40);
        if (roll(s, 4) == 0)
            (void)ki_apiserver_cut(s->server, 1);
    }
}

/* It gets the lease, so it gets a callback. */
static void free_in_callback(contestant *c)
{
    c->frees_itself = 1;
    require(ki_leader_start(c->leader, NULL) == 0);
    for (int i = 0; i < HANG_MS && c->frees_itself == 1; i++)
        aside_pause(1);
    ki_client_free(c->client);
}

static void free_leader(contestant *c, uint64_t way)
{
    if (way == 0) {
        ki_leader_free(c->leader);
        assert_int_equal(c->released, 1);
        ki_client_free(c->client);
    } else {
        aside closer = {0};
        aside_start(&closer, free_client, c);
        ki_leader_free(c->leader);
        aside_join(&closer);
    }
    assert_int_equal(c->released, 1);
}

static void play(stage *s, uint64_t seed)
{
    aside drivers[CONTENDERS][DRIVERS] = {0}, writers[CONTENDERS] = {0}, looker = {0};
    contestant *c = s->contestants;
    make(s, &c[0], "a");
    make(s, &c[1], "b");
    for (int i = 0; i < CONTENDERS; i++) {
        aside_start(&writers[i], write_objects, &c[i]);
        for (int k = 0; k < DRIVERS; k++)
            aside_start(&drivers[i][k], drive, &c[i]);
    }
    aside_start(&looker, look, s);
    cut_connections(s);
    s->is_calm = true;
    aside_join(&looker);
    for (int i = 0; i < CONTENDERS; i++)
        for (int k = 0; k < DRIVERS; k++)
            aside_join(&drivers[i][k]);
    if (seed % 3 == 2) {
        ki_leader_stop(c[0].leader);
        ki_leader_stop(c[1].leader);
        free_in_callback(&c[0]);
        assert_int_equal(c[0].released, 1);
    } else {
        free_leader(&c[0], seed % 3);
    }
    free_leader(&c[1], (seed + 1) % 2);
    s->is_over = true;
    for (int i = 0; i < CONTENDERS; i++) {
        aside_join(&writers[i]);
        ki_client_free(c[i].guarded);
    }
}

static void two_never_lead_while_threads_and_callbacks_start_stop_and_free_them(void **state)
{
    (void)state;
    int writes = 0, refusals = 0, terms = 0;
    ki_apiserver *server = api_rig_start(NULL);
    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        static stage s;
        s = (stage){.server = server, .dice = seed};
        play(&s, seed);
        assert_int_equal(failures, 0);
        for (int i = 0; i < CONTENDERS; i++) {
            writes += s.contestants[i].writes;
            refusals += s.contestants[i].refusals;
        }
        terms += s.terms;
    }
    ki_apiserver_free(server);
    assert_true(writes > 0 && refusals > 0 && terms > ROUNDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_never_lead_while_threads_and_callbacks_start_stop_and_free_them)};
    return RUN_TESTS(tests);
}
