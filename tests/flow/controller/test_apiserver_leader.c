/* SPDX-License-Identifier: Apache-2.0 */
/* Leader election over real sockets, against the embedded API server. */
#include <poll.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "controller/leader.h"
#include "flow/support/contender.h"
#include "support/apiserver/api_rig.h"
#include "support/exposition.h"
#include "support/patience.h"
#include "support/unit.h"

/* The first one leads. */
static ki_apiserver *begin_two(contender *a, contender *b)
{
    ki_apiserver *server = contender_lead(a);
    contender_begin(b, server, "b", KI_MODE_THREADS);
    return server;
}

static void one_contender_leads_and_releases_the_lease(void **state)
{
    (void)state;
    for (int mode = KI_MODE_THREADS; mode <= KI_MODE_EVENT_LOOP; mode++) {
        ki_apiserver *server = api_rig_start(NULL);
        contender a = {0};
        char holder[32];
        contender_begin(&a, server, "a", mode);
        WAIT_UNTIL(&a, a.started == 1);
        assert_int_equal(ki_leader_is_leading(a.leader), 1);
        assert_true(contender_holds(&a, "a"));
        WAIT_UNTIL(&a, a.new_leaders == 1);
        assert_int_equal(ki_leader_holder(a.leader, holder, sizeof(holder)), 1);
        assert_string_equal(holder, "a");
        ki_leader_stop(a.leader);
        assert_int_equal(a.stopped, 1);
        assert_int_equal(a.held_inside_stop, 1); /* released only afterwards */
        assert_int_equal(ki_leader_is_leading(a.leader), 0);
        assert_true(contender_holds(&a, ""));
        contender_end(&a);
        ki_apiserver_free(server);
    }
}

static void another_leads_when_the_first_has_stopped(void **state)
{
    (void)state;
    contender a = {0}, b = {0};
    ki_apiserver *server = begin_two(&a, &b);
    WAIT_UNTIL(&b, b.new_leaders == 1);
    assert_int_equal(ki_leader_is_leading(b.leader), 0);
    ki_leader_free(a.leader);
    WAIT_UNTIL(&b, b.started == 1);
    assert_int_equal(ki_leader_is_leading(b.leader), 1);
    contender_end(&b);
    ki_client_free(a.client);
    ki_apiserver_free(server);
}

/* It stops with the renew deadline, long before the lease ends; here there is a second and a half for a busy
 * machine. */
static void a_leader_that_cannot_renew_stops_before_its_lease_ends(void **state)
{
    (void)state;
    contender a = {.lease_ms = 4000, .renew_ms = 1500};
    ki_apiserver *server = contender_lead(&a);
    const ki_fault fault = {.on = KI_FAULT_WRITE, .action = KI_FAULT_STATUS, .http_status = 500};
    assert_int_equal(ki_apiserver_fault(server, &fault, NULL), 0);
    WAIT_UNTIL(&a, a.stopped == 1);
    assert_int_equal(ki_leader_is_leading(a.leader), 0);
    assert_true(a.stopped_us < contender_renewed_us(server) + 3000 * 1000);
    ki_apiserver_clear_faults(server);
    WAIT_UNTIL(&a, a.started == 2);
    assert_int_equal(ki_leader_is_leading(a.leader), 1);
    contender_end(&a);
    ki_apiserver_free(server);
}

/* The response to the last successful renewal is late, but in time. The lease ends as if it had come at once:
 * it counts from the sending, which is before the arrival at the server. */
static void a_late_response_does_not_prolong_the_lease(void **state)
{
    (void)state;
    contender a = {.lease_ms = 2000, .renew_ms = 1900};
    ki_apiserver *server = contender_lead(&a);
    const ki_fault late = {.on = KI_FAULT_WRITE, .action = KI_FAULT_DELAY, .delay_ms = 800, .times = 1};
    const ki_fault broken = {.on = KI_FAULT_WRITE, .action = KI_FAULT_STATUS, .http_status = 500};
    assert_int_equal(ki_apiserver_fault(server, &late, NULL), 0);
    assert_int_equal(ki_apiserver_fault(server, &broken, NULL), 0);
    int64_t led_us = 0;
    for (int64_t now_us = 0; a.stopped == 0; contender_turn(&a)) {
        now_us = contender_wall_us();
        if (ki_leader_is_leading(a.leader))
            led_us = now_us;
    }
    assert_true(led_us <= contender_renewed_us(server) + 2000 * 1000);
    ki_apiserver_clear_faults(server);
    contender_end(&a);
    ki_apiserver_free(server);
}

/* Nothing runs meanwhile, as in a process that was paused: only the clock shows that the lease has ended. */
static void a_process_that_was_paused_does_not_lead(void **state)
{
    (void)state;
    ki_apiserver *server = api_rig_start(NULL);
    contender a = {0};
    contender_begin(&a, server, "a", KI_MODE_EVENT_LOOP);
    WAIT_UNTIL(&a, a.started == 1);
    uint64_t paused_ms = contender_now_ms();
    while (contender_now_ms() < paused_ms + 2000)
        (void)poll(NULL, 0, 100);
    assert_int_equal(ki_leader_is_leading(a.leader), 0);
    assert_int_equal(a.stopped, 0);
    contender_end(&a);
    ki_apiserver_free(server);
}

static void a_leader_can_be_freed_in_its_callback_and_after_its_client(void **state)
{
    (void)state;
    for (int mode = KI_MODE_THREADS; mode <= KI_MODE_EVENT_LOOP; mode++) {
        ki_apiserver *server = api_rig_start(NULL);
        contender a = {.frees_itself = 1}, b = {0};
        contender_begin(&a, server, "a", mode);
        WAIT_UNTIL(&a, a.released == 1);
        ki_client_free(a.client);
        assert_int_equal(a.stopped, 1);
        contender_begin(&b, server, "b", mode);
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
    contender a = {0};
    ki_apiserver *server = contender_lead(&a);
    ki_leader_stop(a.leader);
    ki_leader_stop(a.leader);
    assert_int_equal(ki_leader_start(a.leader, NULL), 0);
    WAIT_UNTIL(&a, a.started == 2);
    contender_end(&a);
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
        {{.name = ""}, "no name"},
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

/* The defaults follow from the values that are allowed with them. */
static void the_default_times_are_15_10_and_2_seconds(void **state)
{
    (void)state;
    ki_client *client = ki_client_new(&(ki_client_options){.server = "http://127.0.0.1:1"}, NULL);
    static const struct {
        ki_leader_options options;
        int is_valid;
    } cases[] = {
        {{.name = "a"}, 1},
        {{.name = "a", .renew_deadline_ms = 14999}, 1},
        {{.name = "a", .renew_deadline_ms = 15000}, 0},
        {{.name = "a", .lease_duration_ms = 10001}, 1},
        {{.name = "a", .lease_duration_ms = 10000}, 0},
        {{.name = "a", .renew_deadline_ms = 2401}, 1},
        {{.name = "a", .renew_deadline_ms = 2400}, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ki_leader *leader = ki_leader_new(client, &cases[i].options, NULL);
        assert_int_equal(leader != NULL, cases[i].is_valid);
        ki_leader_free(leader);
    }
    ki_client_free(client);
}

/* Another writer of the Lease makes the next renewal a conflict, and so a slow one. */
static void metrics_show_the_leader_and_slow_renewals(void **state)
{
    (void)state;
    contender a = {0};
    ki_apiserver *server = contender_lead(&a);
    assert_true(
        exposition_has(ki_client_metrics(a.client), "\nleader_election_master_status{name=\"lock\"} 1\n"));
    assert_true(
        exposition_has(ki_client_metrics(a.client), "\nleader_election_slowpath_total{name=\"lock\"} 0\n"));
    api_answer labelled =
        api_call(server, &(api_request){.method = "PATCH",
                                        .path = LOCK_PATH,
                                        .body = "{\"metadata\":{\"labels\":{\"team\":\"a\"}}}",
                                        .headers = {"Content-Type: application/merge-patch+json"}});
    assert_int_equal(labelled.status, 200);
    api_answer_fini(&labelled);
    WAIT_UNTIL(&a, exposition_has(ki_client_metrics(a.client),
                                  "\nleader_election_slowpath_total{name=\"lock\"} 1\n"));
    assert_int_equal(ki_leader_is_leading(a.leader), 1);
    ki_leader_stop(a.leader);
    assert_true(
        exposition_has(ki_client_metrics(a.client), "\nleader_election_master_status{name=\"lock\"} 0\n"));
    contender_end(&a);
    ki_apiserver_free(server);
}

/* Returns the result of a write by the guarded client. */
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
    contender a = {0};
    contender b = {0};
    ki_error err = {0};
    ki_apiserver *server = begin_two(&a, &b);
    ki_client *guarded = ki_client_new(&(ki_client_options){.server = ki_apiserver_url(server)}, &err);
    assert_int_equal(ki_leader_guard(b.leader, b.client), KI_ERR_INVALID);
    assert_int_equal(ki_leader_guard(NULL, guarded), KI_ERR_INVALID);
    assert_int_equal(ki_leader_guard(b.leader, NULL), KI_ERR_INVALID);
    assert_int_equal(ki_leader_guard(b.leader, guarded), 0);
    assert_int_equal(try_write(guarded, &err), KI_ERR_REFUSED);
    assert_non_null(strstr(err.message, "is not held by b"));
    contender_end(&a);
    WAIT_UNTIL(&b, ki_leader_is_leading(b.leader));
    assert_int_equal(try_write(guarded, &err), 0);
    ki_leader_stop(b.leader);
    assert_int_equal(try_write(guarded, &err), KI_ERR_REFUSED);
    contender_end(&b);
    assert_int_equal(try_write(guarded, &err), KI_ERR_REFUSED);
    assert_non_null(strstr(err.message, "leader election has ended"));
    ki_client_free(guarded);
    ki_apiserver_free(server);
}

/* Of two guards, the later one decides, even after the leader of the earlier one is freed. */
static void a_freed_leader_does_not_remove_a_later_gate(void **state)
{
    (void)state;
    contender a = {0};
    contender b = {0};
    ki_error err = {0};
    ki_apiserver *server = begin_two(&a, &b);
    ki_client *guarded = ki_client_new(&(ki_client_options){.server = ki_apiserver_url(server)}, &err);
    assert_int_equal(ki_leader_guard(a.leader, guarded), 0);
    assert_int_equal(ki_leader_guard(b.leader, guarded), 0);
    contender_end(&a);
    WAIT_UNTIL(&b, ki_leader_is_leading(b.leader));
    assert_int_equal(try_write(guarded, &err), 0);
    assert_int_equal(ki_client_set_write_gate(guarded, NULL, NULL), 0);
    contender_end(&b);
    assert_int_equal(try_write(guarded, &err), 0);
    ki_client_free(guarded);
    ki_apiserver_free(server);
}

static void guards_of_freed_clients_are_dropped(void **state)
{
    (void)state;
    contender a = {0};
    ki_error err = {0};
    ki_apiserver *server = api_rig_start(NULL);
    contender_begin(&a, server, "a", KI_MODE_THREADS);
    ki_client *last = ki_client_new(&(ki_client_options){.server = ki_apiserver_url(server)}, &err);
    for (int i = 0; i < 5; i++) {
        ki_client *client = ki_client_new(&(ki_client_options){.server = ki_apiserver_url(server)}, &err);
        assert_int_equal(ki_leader_guard(a.leader, client), 0);
        ki_client_free(client);
    }
    for (int i = 0; i < 5; i++)
        assert_int_equal(ki_leader_guard(a.leader, last), 0);
    ki_mutex_lock(&a.leader->mu);
    ki_list_node *only = ki_list_first(&a.leader->guards);
    bool is_one = only != NULL && ki_list_next(&a.leader->guards, only) == NULL;
    ki_mutex_unlock(&a.leader->mu);
    assert_true(is_one);
    contender_end(&a);
    assert_int_equal(try_write(last, &err), KI_ERR_REFUSED);
    ki_client_free(last);
    ki_apiserver_free(server);
}

/* The client of the child is not guarded by a leader that does not exist there, either. */
static void a_forked_child_cannot_guard_with_an_inherited_leader(void **state)
{
    (void)state;
    contender a = {0};
    ki_apiserver *server = api_rig_start(NULL);
    contender_begin(&a, server, "a", KI_MODE_THREADS);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        ki_client *own = ki_client_new(&(ki_client_options){.server = "http://127.0.0.1:1"}, NULL);
        _exit(own != NULL && ki_leader_guard(a.leader, own) == KI_ERR_FORKED ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    contender_end(&a);
    ki_apiserver_free(server);
}

static void a_deleted_lease_is_created_again_by_the_leader(void **state)
{
    (void)state;
    contender a = {0};
    contender b = {0};
    ki_apiserver *server = begin_two(&a, &b);
    WAIT_UNTIL(&b, b.new_leaders == 1);
    assert_int_equal(ki_apiserver_delete(server, &KI_COORDINATION_V1_LEASES, "default", "lock", NULL), 0);
    WAIT_UNTIL(&a, contender_holds(&a, "a") || contender_holds(&b, "b"));
    assert_true(contender_holds(&a, "a"));
    assert_int_equal(ki_leader_is_leading(a.leader), 1);
    assert_int_equal(a.stopped, 0);
    assert_int_equal(b.started, 0);
    contender_end(&a);
    contender_end(&b);
    ki_apiserver_free(server);
}

static void find_namespace(const ki_log_record *record, void *user)
{
    atomic_int *found = user;
    *found += record->level == KI_LOG_WARNING && strstr(record->message, "nosuch") != NULL &&
              strstr(record->message, "not found") != NULL;
}

static void a_missing_namespace_is_logged(void **state)
{
    (void)state;
    atomic_int found = 0;
    ki_error err = {0};
    ki_apiserver *server = api_rig_start(NULL);
    ki_client *client = ki_client_new(
        &(ki_client_options){.server = ki_apiserver_url(server), .log = find_namespace, .log_user = &found},
        &err);
    ki_leader *leader = ki_leader_new(client, &(ki_leader_options){.name = "lock", .ns = "nosuch"}, &err);
    assert_int_equal(ki_leader_start(leader, &err), 0);
    uint64_t deadline_ms = contender_now_ms() + HANG_MS;
    while (found == 0 && contender_now_ms() < deadline_ms)
        (void)poll(NULL, 0, 10);
    assert_true(found > 0);
    ki_leader_free(leader);
    ki_client_free(client);
    ki_apiserver_free(server);
}

static atomic_int failures, losses, ends;

static void count_lines(const ki_log_record *record, void *user)
{
    (void)user;
    failures += record->level == KI_LOG_WARNING && strstr(record->message, "responded with 500") != NULL;
    losses += strstr(record->message, "not leading any more: it was not renewed in time") != NULL;
    ends += record->level == KI_LOG_INFO && strstr(record->message, "requests succeed again") != NULL;
}

static void count_500(const ki_apiserver_request *request, void *user)
{
    *(int *)user += request->http_status == 500;
}

static int refused_writes(const ki_apiserver *server)
{
    int count = 0;
    (void)ki_apiserver_requests(server, 0, count_500, &count);
    return count;
}

static void a_failure_that_lasts_is_not_logged_each_time(void **state)
{
    (void)state;
    contender a = {.log = count_lines};
    ki_apiserver *server = contender_lead(&a);
    ki_fault refusal = {.on = KI_FAULT_WRITE, .action = KI_FAULT_STATUS, .http_status = 500};
    assert_int_equal(ki_apiserver_fault(server, &refusal, NULL), 0);
    WAIT_UNTIL(&a, a.stopped == 1 && refused_writes(server) > 8);
    assert_true(failures > 0 && failures <= refused_writes(server) / 3); /* other failures may come between */
    assert_int_equal(losses, 1);
    assert_int_equal(ends, 0);
    ki_apiserver_clear_faults(server);
    WAIT_UNTIL(&a, a.started == 2);
    assert_true(ends > 0);
    contender_end(&a);
    assert_int_equal(losses, 1); /* a stop is not a loss */
    ki_apiserver_free(server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_contender_leads_and_releases_the_lease),
        cmocka_unit_test(another_leads_when_the_first_has_stopped),
        cmocka_unit_test(a_leader_that_cannot_renew_stops_before_its_lease_ends),
        cmocka_unit_test(a_late_response_does_not_prolong_the_lease),
        cmocka_unit_test(a_process_that_was_paused_does_not_lead),
        cmocka_unit_test(a_leader_can_be_freed_in_its_callback_and_after_its_client),
        cmocka_unit_test(a_start_after_a_stop_contends_again),
        cmocka_unit_test(bad_options_are_named),
        cmocka_unit_test(the_default_times_are_15_10_and_2_seconds),
        cmocka_unit_test(metrics_show_the_leader_and_slow_renewals),
        cmocka_unit_test(a_guarded_client_writes_only_while_its_process_leads),
        cmocka_unit_test(a_freed_leader_does_not_remove_a_later_gate),
        cmocka_unit_test(guards_of_freed_clients_are_dropped),
        cmocka_unit_test(a_forked_child_cannot_guard_with_an_inherited_leader),
        cmocka_unit_test(a_deleted_lease_is_created_again_by_the_leader),
        cmocka_unit_test(a_missing_namespace_is_logged),
        cmocka_unit_test(a_failure_that_lasts_is_not_logged_each_time),
    };
    return RUN_TESTS(tests);
}
