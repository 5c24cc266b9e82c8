/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies, conflicts, delays and the write gate against the embedded server. */
#include <kinformer.h>
#include <stdatomic.h>
#include <stdio.h>

#include "support/apiserver/api_rig.h"
#include "support/unit.h"
#include "util/thread.h"

typedef struct world {
    ki_apiserver *server;
    ki_client *client;
} world;

static int set_up(void **state)
{
    static world w;
    ki_error err = {0};
    w.server = api_rig_start(NULL);
    w.client = ki_client_new(
        &(ki_client_options){.server = ki_apiserver_url(w.server), .request_retries_max = -1}, &err);
    if (w.client == NULL)
        fail_msg("%s", err.message);
    *state = &w;
    return 0;
}

static int tear_down(void **state)
{
    world *w = *state;
    ki_client_free(w->client);
    ki_apiserver_free(w->server);
    return 0;
}

#define SETTINGS .resource = &KI_CORE_V1_CONFIGMAPS, .ns = "default"

/* Frees the body. Returns a reference, or NULL with the error. */
static ki_object *send_request(ki_client *client, ki_rest_request request, ki_body *body, ki_error *err)
{
    ki_rest_answer answer = {0};
    request.content = body;
    int rc = ki_rest_run(client, &request, &answer, err);
    ki_object *object = rc < 0 ? NULL : ki_object_ref(answer.object);
    ki_rest_answer_fini(&answer);
    ki_body_free(body);
    return object;
}

static ki_object *create(ki_client *client, const char *name, const char *text)
{
    ki_error err = {0};
    ki_object *object =
        send_request(client, (ki_rest_request){.verb = KI_REST_CREATE, SETTINGS},
                     ki_body_format("{metadata:{name:%s},data:{count:'0',text:%s}}", name, text), &err);
    if (object == NULL)
        fail_msg("%s", err.message);
    return object;
}

static ki_object *get(ki_client *client, const char *name, ki_error *err)
{
    return send_request(client, (ki_rest_request){.verb = KI_REST_GET, SETTINGS, .name = name}, NULL, err);
}

/* ---- bodies -------------------------------------------------------------------------------------------- */

static void a_server_accepts_a_formatted_body(void **state)
{
    world *w = *state;
    static const char nasty[] = "\"},\"x\":{\"\\ \n\t\x01 \xe2\x82\xac '%s";
    ki_object *made = create(w->client, "a", nasty);
    assert_true(ki_str_equal(ki_object_string(made, "/data/text"), ki_str_of(nasty)));
    assert_int_equal(ki_json_type_of(ki_object_find(made, "/x")), KI_JSON_NONE);
    ki_object_unref(made);
}

static void an_object_is_read_and_changed(void **state)
{
    world *w = *state;
    ki_error err = {0};
    ki_object *owner = create(w->client, "owner", "");
    ki_object *made = create(w->client, "a", "t");
    ki_body *body = ki_body_of(made);
    assert_int_equal(ki_body_set_controller(body, owner), 1);
    assert_int_equal(ki_body_add_finalizer(body, KI_STR("example.com/x")), 1);
    assert_int_equal(ki_body_set_label(body, KI_STR("example.com/l"), KI_STR("v")), 1);
    ki_object *after =
        send_request(w->client, (ki_rest_request){.verb = KI_REST_UPDATE, SETTINGS, .name = "a"}, body, &err);
    assert_non_null(after);
    assert_true(ki_object_is_controlled_by(after, owner));
    assert_true(ki_object_has_finalizer(after, KI_STR("example.com/x")));
    assert_true(ki_str_equal(ki_object_label_or(after, KI_STR("example.com/l"), (ki_str){0}), KI_STR("v")));
    ki_body *wanted = ki_body_of(after);
    assert_int_equal(ki_body_remove_finalizer(wanted, KI_STR("example.com/x")), 1);
    assert_int_equal(ki_body_remove(wanted, "/data/text"), 1);
    ki_body *patch = ki_body_merge_patch(ki_json_of(ki_object_json(after)), wanted);
    ki_body_free(wanted);
    ki_rest_request request = {.verb = KI_REST_PATCH, .patch = KI_PATCH_MERGE, SETTINGS, .name = "a"};
    ki_object *last = send_request(w->client, request, patch, &err);
    assert_non_null(last);
    assert_false(ki_object_has_finalizer(last, KI_STR("example.com/x")));
    assert_int_equal(ki_json_type_of(ki_object_find(last, "/data/text")), KI_JSON_NONE);
    assert_true(ki_object_is_controlled_by(last, owner));
    ki_object_unref(last);
    ki_object_unref(after);
    ki_object_unref(made);
    ki_object_unref(owner);
}

/* ---- conflicts ----------------------------------------------------------------------------------------- */

typedef struct counter {
    ki_client *client;
    int increments;
    int conflicts;
    int failure;
} counter;

static int increment(ki_error *err, void *user)
{
    counter *c = user;
    int count = 0;
    ki_object *now = get(c->client, "a", err);
    if (now == NULL)
        return err->code;
    char text[32];
    (void)snprintf(text, sizeof(text), "%.*s", KI_STR_ARGS(ki_object_string(now, "/data/count")));
    if (sscanf(text, "%d", &count) != 1)
        count = -1000000;
    ki_body *body = ki_body_of(now);
    (void)ki_body_set(body, "/data/count", "'%d'", count + 1);
    ki_object_unref(now);
    ki_object *after =
        send_request(c->client, (ki_rest_request){.verb = KI_REST_UPDATE, SETTINGS, .name = "a"}, body, err);
    if (after == NULL && err->code == KI_ERR_CONFLICT)
        c->conflicts++;
    ki_object_unref(after);
    return after == NULL ? err->code : 0;
}

static void count_up(void *user)
{
    counter *c = user;
    for (int i = 0; i < c->increments && c->failure == 0;) {
        ki_error err = {0};
        int rc = ki_retry_on_conflict(c->client, increment, &err, c);
        if (rc == 0)
            i++;
        else if (rc != KI_ERR_CONFLICT)
            c->failure = rc;
    }
}

static void no_increment_is_lost(void **state)
{
    enum { COUNTERS = 4, INCREMENTS = 15 };
    world *w = *state;
    counter counters[COUNTERS];
    ki_thread threads[COUNTERS] = {{0}};
    ki_object_unref(create(w->client, "a", ""));
    for (int i = 0; i < COUNTERS; i++) {
        counters[i] = (counter){.client = w->client, .increments = INCREMENTS};
        ki_thread_options options = {"counter", count_up, &counters[i], 0};
        assert_int_equal(ki_thread_start(&threads[i], &options, NULL), 0);
    }
    for (int i = 0; i < COUNTERS; i++) {
        ki_thread_join(&threads[i]);
        assert_int_equal(counters[i].failure, 0);
    }
    ki_object *last = get(w->client, "a", NULL);
    assert_true(ki_str_equal(ki_object_string(last, "/data/count"), KI_STR("60")));
    ki_object_unref(last);
}

/* ---- delays and the gate ------------------------------------------------------------------------------- */

static void a_delayed_write_blocks_nothing(void **state)
{
    world *w = *state;
    ki_error err = {0};
    ki_fault busy = {.action = KI_FAULT_STATUS, .http_status = 429, .retry_after_seconds = 30, .times = 1};
    (void)ki_apiserver_fault(w->server, &busy, NULL);
    ki_rest_request request = {.verb = KI_REST_CREATE, SETTINGS};
    assert_null(send_request(w->client, request, ki_body_format("{metadata:{name:'a'}}"), &err));
    assert_int_equal(err.retry_after_ms, 30000);
    ki_object *made = send_request(w->client, request, ki_body_format("{metadata:{name:'a'}}"), &err);
    assert_non_null(made);
    ki_object_unref(made);
}

static int ask_flag(const ki_write *write, ki_error *why, void *user)
{
    (void)write;
    (void)why;
    return !*(atomic_bool *)user;
}

static void nothing_is_written_while_the_gate_is_closed(void **state)
{
    world *w = *state;
    atomic_bool is_open = true;
    ki_error err = {0};
    ki_object *made = create(w->client, "a", "");
    assert_int_equal(ki_client_set_write_gate(w->client, ask_flag, &is_open), 0);
    counter c = {.client = w->client};
    assert_int_equal(increment(&err, &c), 0);
    is_open = false;
    for (int i = 0; i < 3; i++)
        assert_int_equal(increment(&err, &c), KI_ERR_REFUSED);
    ki_object *now = get(w->client, "a", NULL);
    assert_true(ki_str_equal(ki_object_string(now, "/data/count"), KI_STR("1")));
    ki_object_unref(now);
    is_open = true;
    assert_int_equal(increment(&err, &c), 0);
    assert_int_equal(ki_client_set_write_gate(w->client, NULL, NULL), 0);
    ki_object_unref(made);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_server_accepts_a_formatted_body),
        TEST(an_object_is_read_and_changed),
        TEST(no_increment_is_lost),
        TEST(a_delayed_write_blocks_nothing),
        TEST(nothing_is_written_while_the_gate_is_closed),
    };
    return RUN_TESTS(tests);
}
