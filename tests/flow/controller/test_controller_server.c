/* SPDX-License-Identifier: Apache-2.0 */
/* A controller with real writes to the embedded API server: a Secret for each ConfigMap, with its number.
 * ConfigMaps change all the time, so that keys are reconciled while the cache does not have the last write
 * yet. */
#include <kinformer.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "support/apiserver/api_rig.h"
#include "support/patience.h"
#include "support/unit.h"

enum { MAPS = 12, CHANGES = 6, WORKERS = 3 };

typedef struct site {
    ki_apiserver *server;
    ki_client *client;
    ki_informer *maps;
    ki_informer *secrets;
    ki_controller *controller;
    int mode;
    atomic_int reconciles;
    atomic_int put_off; /* writes that ended with a Retry-After */
} site;

/* A write in progress in event-loop mode. */
typedef struct writing {
    site *site;
    ki_request *request;
} writing;

static ki_str number_of(const ki_object *object)
{
    ki_str number = {0};
    return object != NULL && ki_object_annotation(object, KI_STR("number"), &number) == 0 ? number
                                                                                          : (ki_str){0};
}

static ki_result judge(site *s, ki_request *request, const ki_object *written, const ki_error *err)
{
    s->put_off += err->retry_after_ms > 0;
    if (err->code != 0)
        return ki_retry(err);
    return ki_request_expect(request, s->secrets, written) == 0 ? ki_done() : ki_retry(NULL);
}

static void on_answer(const ki_rest_answer *answer, void *user)
{
    writing *w = user;
    ki_request_finish(w->request, judge(w->site, w->request, answer->object, &answer->error));
    free(w);
}

static ki_result write_it(site *s, ki_request *request, ki_rest_request *call)
{
    ki_error err = {0};
    if (s->mode == KI_MODE_THREADS) {
        ki_rest_answer answer = {0};
        (void)ki_rest_run(s->client, call, &answer, &err);
        ki_result result = judge(s, request, answer.object, &err);
        ki_rest_answer_fini(&answer);
        return result;
    }
    writing *w = malloc(sizeof(*w));
    *w = (writing){s, request};
    call->on_answer = on_answer;
    call->user = w;
    if (ki_rest_begin(s->client, call, NULL, &err) == 0)
        return ki_later();
    free(w);
    return ki_retry(&err);
}

static ki_body *wanted(const ki_object *map, const ki_object *secret)
{
    ki_body *body = ki_body_format("{apiVersion:'v1',kind:'Secret',metadata:{name:%.*s,namespace:%s}}",
                                   KI_STR_ARGS(ki_object_name(map)), "default");
    (void)ki_body_set_annotation(body, KI_STR("number"), number_of(map));
    (void)ki_body_set_controller(body, map);
    if (secret != NULL)
        (void)ki_body_set(body, "/metadata/resourceVersion", "%.*s",
                          KI_STR_ARGS(ki_object_resource_version(secret)));
    return body;
}

static ki_result reconcile(ki_request *request, void *user)
{
    site *s = user;
    ki_result result = ki_done();
    ki_object *map = ki_store_get_key(ki_informer_store(s->maps), ki_request_key(request));
    ki_object *secret = ki_store_get_key(ki_informer_store(s->secrets), ki_request_key(request));
    s->reconciles++;
    if (map != NULL && number_of(map).len > 0 && !ki_str_equal(number_of(map), number_of(secret))) {
        ki_body *body = wanted(map, secret);
        ki_rest_request call = {.verb = secret == NULL ? KI_REST_CREATE : KI_REST_UPDATE,
                                .resource = &KI_CORE_V1_SECRETS,
                                .ns = "default",
                                .name = secret == NULL ? NULL : ki_request_name(request).ptr,
                                .content = body};
        result = write_it(s, request, &call);
        ki_body_free(body);
    }
    ki_object_unref(map);
    ki_object_unref(secret);
    return result;
}

/* ---- setup --------------------------------------------------------------------------------------------- */

static void begin(site *s, int mode)
{
    ki_error err = {0};
    *s = (site){.server = api_rig_start(NULL), .mode = mode};
    s->client = ki_client_new(
        &(ki_client_options){.server = ki_apiserver_url(s->server), .mode = (ki_mode)mode}, &err);
    assert_non_null(s->client);
    ki_informer_options options = {
        .ns = "default", .backoff_ms = 20, .backoff_max_ms = 100, .watch_list = KI_WATCH_LIST_NEVER};
    s->maps = ki_informer_new(s->client, &KI_CORE_V1_CONFIGMAPS, &options, &err);
    s->secrets = ki_informer_new(s->client, &KI_CORE_V1_SECRETS, &options, &err);
    s->controller =
        ki_controller_new(s->client,
                          &(ki_controller_options){.name = "secrets",
                                                   .reconcile = reconcile,
                                                   .workers = WORKERS,
                                                   .limiter = ki_limiter_new_exponential(5, 200, &err),
                                                   .user = s},
                          &err);
    assert_int_equal(ki_controller_watch(s->controller, s->maps, NULL), 0);
    assert_int_equal(ki_controller_watch_owned(s->controller, s->secrets, &KI_CORE_V1_CONFIGMAPS, NULL), 0);
    assert_int_equal(ki_controller_start(s->controller, &err), 0);
    assert_int_equal(ki_informer_start(s->maps, &err), 0);
    assert_int_equal(ki_informer_start(s->secrets, &err), 0);
}

static void end(site *s)
{
    ki_error err = {0};
    int rc = ki_controller_stop(s->controller, &err);
    assert_string_equal(err.message, "");
    assert_int_equal(rc, 0);
    ki_controller_free(s->controller);
    ki_informer_free(s->maps);
    ki_informer_free(s->secrets);
    ki_client_free(s->client);
    ki_apiserver_free(s->server);
}

static void turn(site *s)
{
    struct pollfd fd = {.fd = ki_client_fd(s->client), .events = POLLIN};
    if (s->mode == KI_MODE_THREADS) {
        (void)poll(NULL, 0, 2);
        return;
    }
    int timeout_ms = ki_client_timeout_ms(s->client);
    (void)poll(&fd, 1, timeout_ms < 0 || timeout_ms > 5 ? 5 : timeout_ms);
    assert_true(ki_client_dispatch(s->client, KI_BUDGET_NONE) >= 0);
}

static void put_map(site *s, int map, int number)
{
    char text[256];
    ki_error err = {0};
    snprintf(text, sizeof(text),
             "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"m%d\",\"namespace\":"
             "\"default\",\"annotations\":{\"number\":\"%d\"}}}",
             map, number);
    int rc = ki_apiserver_put(s->server, &KI_CORE_V1_CONFIGMAPS, text, &err);
    assert_string_equal(err.message, "");
    assert_int_equal(rc, 0);
}

static void change_all(site *s)
{
    for (int number = 1; number <= CHANGES; number++)
        for (int map = 0; map < MAPS; map++) {
            put_map(s, map, number);
            turn(s);
        }
}

static bool is_settled(site *s)
{
    char name[16], last[8];
    bool is_equal = true;
    snprintf(last, sizeof(last), "%d", CHANGES);
    for (int map = 0; map < MAPS && is_equal; map++) {
        snprintf(name, sizeof(name), "m%d", map);
        ki_object *secret = ki_store_get(ki_informer_store(s->secrets), KI_STR("default"), ki_str_of(name));
        is_equal = ki_str_equal(number_of(secret), ki_str_of(last));
        ki_object_unref(secret);
    }
    return is_equal;
}

static void settle(site *s)
{
    struct timespec began, now;
    clock_gettime(CLOCK_MONOTONIC, &began);
    while (!is_settled(s)) {
        turn(s);
        clock_gettime(CLOCK_MONOTONIC, &now);
        if ((now.tv_sec - began.tv_sec) * 1000 > HANG_MS)
            fail_msg("not every key has the expected state");
    }
}

/* ---- the server's log ---------------------------------------------------------------------------------- */

typedef struct seen {
    int writes;
    int conflicts; /* not caused by a fault */
    int faulty;    /* writes with a fault */
    int too_early; /* writes of a name before its Retry-After had passed */
    int64_t not_before_us[MAPS];
} seen;

/* A create has no name in its path, so it is not checked. */
static void look(const ki_apiserver_request *request, void *user)
{
    seen *r = user;
    if (strcmp(request->resource, "secrets") != 0 || strcmp(request->method, "GET") == 0)
        return;
    r->writes++;
    r->faulty += request->fault[0] != 0;
    r->conflicts += request->http_status == 409 && request->fault[0] == 0;
    int map = -1;
    if (sscanf(request->name, "m%d", &map) != 1 || map < 0 || map >= MAPS)
        return;
    r->too_early += request->time_us < r->not_before_us[map];
    if (request->http_status == 429)
        r->not_before_us[map] = request->time_us + 1000000;
}

/* ---- tests --------------------------------------------------------------------------------------------- */

static void in_both_modes(void (*test)(int mode))
{
    test(KI_MODE_THREADS);
    test(KI_MODE_EVENT_LOOP);
}

/* The events of secrets come late: without the expectations, every second write would be a conflict. */
static void no_write_meets_a_conflict_with_one_of_its_own_in(int mode)
{
    site s;
    seen r = {0};
    begin(&s, mode);
    ki_fault faults[] = {
        {.on = KI_FAULT_WATCH, .action = KI_FAULT_CLOSE, .after_events = 1, .path = "secrets", .percent = 50},
        {.on = KI_FAULT_WATCH, .action = KI_FAULT_DELAY, .delay_ms = 150, .path = "secrets"},
    };
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
        assert_int_equal(ki_apiserver_fault(s.server, &faults[i], NULL), 0);
    change_all(&s);
    settle(&s);
    ki_apiserver_requests(s.server, 0, look, &r);
    assert_int_equal(r.conflicts, 0);
    assert_true(r.writes >= MAPS);
    end(&s);
}

static void no_write_conflicts_with_an_own_write(void **state)
{
    (void)state;
    in_both_modes(no_write_meets_a_conflict_with_one_of_its_own_in);
}

static void every_key_ends_well_whatever_the_server_answers_in(int mode)
{
    site s;
    seen r = {0};
    begin(&s, mode);
    ki_fault faults[] = {
        {.action = KI_FAULT_STATUS,
         .http_status = 409,
         .methods = KI_FAULT_METHOD_PUT,
         .times = 10,
         .percent = 30},
        {.action = KI_FAULT_STATUS,
         .http_status = 429,
         .retry_after_seconds = 1,
         .methods = KI_FAULT_METHOD_PUT | KI_FAULT_METHOD_POST,
         .path = "secrets",
         .times = 2,
         .percent = 30},
        {.on = KI_FAULT_WRITE, .action = KI_FAULT_STATUS, .http_status = 500, .path = "secrets", .times = 15},
        {.on = KI_FAULT_WATCH, .action = KI_FAULT_RESET, .after_events = 2, .times = 10},
    };
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
        assert_int_equal(ki_apiserver_fault(s.server, &faults[i], NULL), 0);
    change_all(&s);
    settle(&s);
    ki_apiserver_requests(s.server, 0, look, &r);
    assert_true(r.faulty >= 15);
    assert_int_equal(r.conflicts, 0);
    assert_int_equal(r.too_early, 0);
    end(&s);
}

static void every_key_converges_whatever_the_server_responds(void **state)
{
    (void)state;
    in_both_modes(every_key_ends_well_whatever_the_server_answers_in);
}

/* A write whose response is lost may have been carried out, so conflicts are allowed here. */
static void every_key_ends_well_when_connections_are_cut_in(int mode)
{
    site s;
    seen r = {0};
    begin(&s, mode);
    ki_fault cut = {
        .on = KI_FAULT_WRITE, .action = KI_FAULT_RESET, .path = "secrets", .times = 20, .percent = 50};
    assert_int_equal(ki_apiserver_fault(s.server, &cut, NULL), 0);
    change_all(&s);
    settle(&s);
    ki_apiserver_requests(s.server, 0, look, &r);
    assert_true(r.faulty > 0);
    end(&s);
}

static void every_key_converges_when_connections_are_cut(void **state)
{
    (void)state;
    in_both_modes(every_key_ends_well_when_connections_are_cut_in);
}

/* As many writes as there are workers are delayed for longer than the others take. */
static void a_write_that_the_server_puts_off_occupies_no_worker_in(int mode)
{
    site s;
    begin(&s, mode);
    ki_fault later = {.action = KI_FAULT_STATUS,
                      .http_status = 429,
                      .retry_after_seconds = 50,
                      .methods = KI_FAULT_METHOD_POST,
                      .path = "secrets",
                      .times = WORKERS};
    assert_int_equal(ki_apiserver_fault(s.server, &later, NULL), 0);
    for (int map = 0; map < MAPS; map++)
        put_map(&s, map, 1);
    while (ki_store_count(ki_informer_store(s.secrets)) < MAPS - WORKERS)
        turn(&s);
    assert_int_equal(s.put_off, WORKERS);
    assert_int_equal(ki_store_count(ki_informer_store(s.secrets)), MAPS - WORKERS);
    end(&s);
}

static void a_delayed_write_occupies_no_worker(void **state)
{
    (void)state;
    in_both_modes(a_write_that_the_server_puts_off_occupies_no_worker_in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_write_conflicts_with_an_own_write),
        cmocka_unit_test(every_key_converges_whatever_the_server_responds),
        cmocka_unit_test(every_key_converges_when_connections_are_cut),
        cmocka_unit_test(a_delayed_write_occupies_no_worker),
    };
    return RUN_TESTS(tests);
}
