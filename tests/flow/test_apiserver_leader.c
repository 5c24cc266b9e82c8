/* SPDX-License-Identifier: Apache-2.0 */
/* Leader election over real sockets, against the embedded API server. */
#include <kinformer.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "support/api_rig.h"
#include "support/patience.h"
#include "support/unit.h"

static const char lease_path[] = "/apis/coordination.k8s.io/v1/namespaces/default/leases/lock";

typedef struct contender {
    ki_apiserver *server;
    ki_client *client;
    ki_leader *leader;
    _Atomic int started, stopped, released, new_leaders;
    _Atomic int led_inside_stop;  /* is_leading was true in on_stopped */
    _Atomic int held_inside_stop; /* the server still reports us as the holder */
    int frees_itself;
} contender;

static uint64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void on_started(ki_leader *leader, void *user)
{
    contender *c = user;
    c->started++;
    if (c->frees_itself)
        ki_leader_free(leader);
}

static bool holds(contender *c, const char *identity)
{
    api_answer answer = api_get(c->server, lease_path);
    bool is_held = answer.status == 200 && strcmp(api_text(&answer, "spec.holderIdentity"), identity) == 0;
    api_answer_fini(&answer);
    return is_held;
}

static void on_stopped(ki_leader *leader, void *user)
{
    contender *c = user;
    c->led_inside_stop += ki_leader_is_leading(leader);
    c->held_inside_stop += holds(c, ki_leader_identity(leader));
    c->stopped++;
}

static void on_new_leader(ki_leader *leader, const char *identity, void *user)
{
    contender *c = user;
    (void)leader;
    (void)identity;
    c->new_leaders++;
}

static void on_release(void *user)
{
    contender *c = user;
    c->released++;
}

static void begin(contender *c, ki_apiserver *server, const char *identity, int mode)
{
    ki_error err = {0};
    *c = (contender){.server = server, .frees_itself = c->frees_itself};
    c->client =
        ki_client_new(&(ki_client_options){.server = ki_apiserver_url(server), .mode = (ki_mode)mode}, &err);
    assert_non_null(c->client);
    c->leader = ki_leader_new(c->client,
                              &(ki_leader_options){.name = "lock",
                                                   .identity = identity,
                                                   .lease_duration_ms = 2000,
                                                   .renew_deadline_ms = 1500,
                                                   .retry_period_ms = 200,
                                                   .on_started = on_started,
                                                   .on_stopped = on_stopped,
                                                   .on_new_leader = on_new_leader,
                                                   .on_release = on_release,
                                                   .user = c},
                              &err);
    assert_non_null(c->leader);
    assert_int_equal(ki_leader_start(c->leader, &err), 0);
}

static void end(contender *c)
{
    ki_leader_free(c->leader);
    ki_client_free(c->client);
    assert_int_equal(c->released, 1);
    assert_int_equal(c->started, c->stopped);
    assert_int_equal(c->led_inside_stop, 0);
}

static void turn(contender *c)
{
    struct pollfd fd = {.fd = ki_client_fd(c->client), .events = POLLIN};
    if (fd.fd < 0) {
        (void)poll(NULL, 0, 2);
        return;
    }
    int timeout_ms = ki_client_timeout_ms(c->client);
    (void)poll(&fd, 1, timeout_ms < 0 || timeout_ms > 20 ? 20 : timeout_ms);
    assert_true(ki_client_dispatch(c->client, KI_BUDGET_NONE) >= 0);
}

#define WAIT_UNTIL(c, condition)                                                                             \
    do {                                                                                                     \
        uint64_t began_ms = now_ms();                                                                        \
        while (!(condition)) {                                                                               \
            turn(c);                                                                                         \
            if (now_ms() - began_ms > HANG_MS)                                                               \
                fail_msg("not within %d ms: %s", HANG_MS, #condition);                                       \
        }                                                                                                    \
    } while (0)

static void one_contender_leads_and_gives_the_lease_back(void **state)
{
    (void)state;
    for (int mode = KI_MODE_THREADS; mode <= KI_MODE_EVENT_LOOP; mode++) {
        ki_apiserver *server = api_rig_start(NULL);
        contender a = {0};
        char holder[32];
        begin(&a, server, "a", mode);
        WAIT_UNTIL(&a, a.started == 1);
        assert_int_equal(ki_leader_is_leading(a.leader), 1);
        assert_true(holds(&a, "a"));
        WAIT_UNTIL(&a, a.new_leaders == 1);
        assert_int_equal(ki_leader_holder(a.leader, holder, sizeof(holder)), 1);
        assert_string_equal(holder, "a");
        ki_leader_stop(a.leader);
        assert_int_equal(a.stopped, 1);
        assert_int_equal(a.held_inside_stop, 1); /* released only afterwards */
        assert_int_equal(ki_leader_is_leading(a.leader), 0);
        assert_true(holds(&a, ""));
        end(&a);
        ki_apiserver_free(server);
    }
}

static void another_leads_when_the_first_has_stopped(void **state)
{
    (void)state;
    ki_apiserver *server = api_rig_start(NULL);
    contender a = {0}, b = {0};
    begin(&a, server, "a", KI_MODE_THREADS);
    WAIT_UNTIL(&a, a.started == 1);
    begin(&b, server, "b", KI_MODE_THREADS);
    WAIT_UNTIL(&b, b.new_leaders == 1);
    assert_int_equal(ki_leader_is_leading(b.leader), 0);
    ki_leader_free(a.leader);
    WAIT_UNTIL(&b, b.started == 1);
    assert_int_equal(ki_leader_is_leading(b.leader), 1);
    end(&b);
    ki_client_free(a.client);
    ki_apiserver_free(server);
}

static void a_leader_that_cannot_renew_stops_before_its_lease_ends(void **state)
{
    (void)state;
    ki_apiserver *server = api_rig_start(NULL);
    contender a = {0};
    begin(&a, server, "a", KI_MODE_THREADS);
    WAIT_UNTIL(&a, a.started == 1);
    assert_int_equal(
        ki_apiserver_fault(
            server, &(ki_fault){.on = KI_FAULT_WRITE, .action = KI_FAULT_STATUS, .http_status = 500}, NULL),
        0);
    WAIT_UNTIL(&a, a.stopped == 1);
    assert_int_equal(ki_leader_is_leading(a.leader), 0);
    ki_apiserver_heal(server);
    WAIT_UNTIL(&a, a.started == 2);
    assert_int_equal(ki_leader_is_leading(a.leader), 1);
    end(&a);
    ki_apiserver_free(server);
}

/* Renewals take effect, but their responses are late. */
static void late_answers_renew_nothing(void **state)
{
    (void)state;
    ki_apiserver *server = api_rig_start(NULL);
    contender a = {0};
    begin(&a, server, "a", KI_MODE_THREADS);
    WAIT_UNTIL(&a, a.started == 1);
    assert_int_equal(
        ki_apiserver_fault(
            server, &(ki_fault){.on = KI_FAULT_WRITE, .action = KI_FAULT_DELAY, .delay_ms = 3000}, NULL),
        0);
    WAIT_UNTIL(&a, a.stopped == 1);
    assert_int_equal(ki_leader_is_leading(a.leader), 0);
    ki_apiserver_heal(server);
    end(&a);
    ki_apiserver_free(server);
}

/* Nothing runs meanwhile, as in a process that was paused: only the clock says that the lease is over. */
static void a_process_that_was_paused_does_not_lead(void **state)
{
    (void)state;
    ki_apiserver *server = api_rig_start(NULL);
    contender a = {0};
    begin(&a, server, "a", KI_MODE_EVENT_LOOP);
    WAIT_UNTIL(&a, a.started == 1);
    uint64_t paused_ms = now_ms();
    while (now_ms() < paused_ms + 2000)
        (void)poll(NULL, 0, 100);
    assert_int_equal(ki_leader_is_leading(a.leader), 0);
    assert_int_equal(a.stopped, 0);
    end(&a);
    ki_apiserver_free(server);
}

static void it_can_be_freed_inside_its_callback_and_after_its_client(void **state)
{
    (void)state;
    for (int mode = KI_MODE_THREADS; mode <= KI_MODE_EVENT_LOOP; mode++) {
        ki_apiserver *server = api_rig_start(NULL);
        contender a = {.frees_itself = 1}, b = {0};
        begin(&a, server, "a", mode);
        WAIT_UNTIL(&a, a.released == 1);
        ki_client_free(a.client);
        assert_int_equal(a.stopped, 1);
        begin(&b, server, "b", mode);
        WAIT_UNTIL(&b, b.started == 1);
        ki_client_free(b.client);
        assert_int_equal(b.stopped, 1);
        assert_int_equal(ki_leader_is_leading(b.leader), 0);
        assert_int_equal(ki_leader_start(b.leader, NULL), KI_ERR_STOPPED);
        ki_leader_free(b.leader);
        assert_int_equal(b.released, 1);
        ki_apiserver_free(server);
    }
}

static void a_start_after_a_stop_contends_again(void **state)
{
    (void)state;
    ki_apiserver *server = api_rig_start(NULL);
    contender a = {0};
    begin(&a, server, "a", KI_MODE_THREADS);
    WAIT_UNTIL(&a, a.started == 1);
    ki_leader_stop(a.leader);
    ki_leader_stop(a.leader);
    assert_int_equal(ki_leader_start(a.leader, NULL), 0);
    WAIT_UNTIL(&a, a.started == 2);
    end(&a);
    ki_apiserver_free(server);
}

static void bad_options_are_named(void **state)
{
    (void)state;
    ki_client *client = ki_client_new(&(ki_client_options){.server = "http://127.0.0.1:1"}, NULL);
    static const struct {
        ki_leader_options options;
        const char *said;
    } cases[] = {
        {{.name = NULL}, "no name"},
        {{.name = "a", .identity = ""}, "identity"},
        {{.name = "a", .lease_duration_ms = 10000}, "lease_duration_ms"},
        {{.name = "a", .renew_deadline_ms = 2400}, "renew_deadline_ms"},
        {{.name = "a", .lease_duration_ms = 900, .renew_deadline_ms = 800, .retry_period_ms = 100},
         "between 1,000"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ki_error err = {0};
        assert_null(ki_leader_new(client, &cases[i].options, &err));
        assert_int_equal(err.code, KI_ERR_INVALID);
        assert_non_null(strstr(err.message, cases[i].said));
    }
    assert_null(ki_leader_new(NULL, NULL, NULL));
    ki_client_free(client);
}

/* What a write of the guarded client ends with. */
static int try_write(ki_client *guarded, ki_error *err)
{
    ki_body *body = ki_body_format("{metadata:{generateName:'w-'}}");
    ki_rest_answer answer = {0};
    ki_rest_request request = {
        .verb = KI_REST_CREATE, .resource = &KI_CORE_V1_CONFIGMAPS, .ns = "default", .content = body};
    *err = (ki_error){0};
    int rc = ki_rest_run(guarded, &request, &answer, err);
    ki_rest_answer_fini(&answer);
    ki_body_free(body);
    return rc;
}

static void a_guarded_client_writes_only_while_its_process_leads(void **state)
{
    (void)state;
    ki_apiserver *server = api_rig_start(NULL);
    ki_error err = {0};
    contender a = {0};
    contender b = {0};
    begin(&a, server, "a", KI_MODE_THREADS);
    WAIT_UNTIL(&a, a.started == 1);
    begin(&b, server, "b", KI_MODE_THREADS);
    ki_client *guarded = ki_client_new(&(ki_client_options){.server = ki_apiserver_url(server)}, &err);
    assert_int_equal(ki_leader_guard(b.leader, b.client), KI_ERR_INVALID);
    assert_int_equal(ki_leader_guard(NULL, guarded), KI_ERR_INVALID);
    assert_int_equal(ki_leader_guard(b.leader, NULL), KI_ERR_INVALID);
    assert_int_equal(ki_leader_guard(b.leader, guarded), 0);
    assert_int_equal(try_write(guarded, &err), KI_ERR_REFUSED);
    assert_non_null(strstr(err.message, "is not held by b"));
    end(&a);
    WAIT_UNTIL(&b, ki_leader_is_leading(b.leader));
    assert_int_equal(try_write(guarded, &err), 0);
    ki_leader_stop(b.leader);
    assert_int_equal(try_write(guarded, &err), KI_ERR_REFUSED);
    end(&b);
    assert_int_equal(try_write(guarded, &err), KI_ERR_REFUSED);
    assert_non_null(strstr(err.message, "leader election has ended"));
    ki_client_free(guarded);
    ki_apiserver_free(server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_contender_leads_and_gives_the_lease_back),
        cmocka_unit_test(another_leads_when_the_first_has_stopped),
        cmocka_unit_test(a_leader_that_cannot_renew_stops_before_its_lease_ends),
        cmocka_unit_test(late_answers_renew_nothing),
        cmocka_unit_test(a_process_that_was_paused_does_not_lead),
        cmocka_unit_test(it_can_be_freed_inside_its_callback_and_after_its_client),
        cmocka_unit_test(a_start_after_a_stop_contends_again),
        cmocka_unit_test(bad_options_are_named),
        cmocka_unit_test(a_guarded_client_writes_only_while_its_process_leads),
    };
    return RUN_TESTS(tests);
}
