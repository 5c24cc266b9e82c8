/* SPDX-License-Identifier: Apache-2.0 */
/* Informers with servers that use protobuf, JSON, both, or something else, over real sockets. */
#include <kinformer.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "client/client.h"
#include "flow/support/scripted_client.h"
#include "support/client/scripted_http.h"
#include "support/decode/proto_pods.h"
#include "support/exposition.h"
#include "support/failing_allocator.h"
#include "support/patience.h"
#include "support/unit.h"

#define ACCEPT_BOTH "Accept: application/vnd.kubernetes.protobuf,application/json\r\n"
#define ACCEPT_JSON "Accept: application/json\r\n"

/* ---- setup --------------------------------------------------------------------------------------------- */

typedef struct world {
    scripted_http *server;
    ki_client *client;
    ki_informer *informer;
    atomic_int json_requests; /* those that accept only JSON */
    atomic_int proto_requests;
} world;

static void connect_to(world *w, scripted_serve_cb serve, ki_wire wire)
{
    w->server = scripted_http_start(&(scripted_http_options){.serve = serve, .user = w});
    w->client = scripted_client_new((ki_client_options){.wire = wire}, w->server,
                                    &(ki_http_options){.error_timeout_ms = 50});
}

static ki_informer *follow(world *w, const ki_resource *resource, const ki_informer_options *options)
{
    ki_informer_options used = options != NULL ? *options : (ki_informer_options){0};
    ki_error err = {0};
    used.watch_list = KI_WATCH_LIST_NEVER;
    used.backoff_ms = 10;
    used.backoff_max_ms = 50;
    ki_informer *informer = ki_informer_new(w->client, resource, &used, &err);
    assert_non_null(informer);
    assert_int_equal(ki_informer_start(informer, &err), 0);
    return informer;
}

static void world_init(world *w, scripted_serve_cb serve, ki_wire wire)
{
    *w = (world){0};
    connect_to(w, serve, wire);
    w->informer = follow(w, &KI_CORE_V1_PODS, NULL);
}

static void world_fini(world *w)
{
    ki_informer_free(w->informer);
    ki_client_free(w->client);
    scripted_http_stop(w->server);
}

static void wait_for_version(ki_informer *informer, const char *version)
{
    ki_error err = {0};
    if (ki_informer_wait_for_version(informer, ki_str_of(version), HANG_MS, &err) < 0)
        fail_msg("%s", err.message);
}

static ki_informer_status status_of(const world *w)
{
    ki_informer_status status;
    ki_informer_read_status(w->informer, &status);
    return status;
}

static int has(const world *w, const char *name)
{
    ki_object *object = ki_store_get(ki_informer_store(w->informer), KI_STR("d"), ki_str_of(name));
    ki_object_unref(object);
    return object != NULL;
}

static void expect_metric(const world *w, const char *name, int value)
{
    exposition read;
    exposition_render(&read, ki_client_metrics(w->client));
    const exposition_sample *sample =
        exposition_find(&read, name, "name=pods,group=,version=v1,resource=pods");
    assert_non_null(sample);
    assert_int_equal((int)sample->value, value);
    exposition_free(&read);
}

/* ---- responses ----------------------------------------------------------------------------------------- */

#define ITEM(name, version)                                                                                  \
    "{\"metadata\":{\"namespace\":\"d\",\"name\":\"" name "\",\"uid\":\"" name "\",\"resourceVersion\":\""   \
    "" version "\"}}"
#define LIST(version, items)                                                                                 \
    "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"" version               \
    "\"},\"items\":[" items "]}"
#define EVENT(type, item) "{\"type\":\"" type "\",\"object\":" item "}\n"
#define CONTENT_JSON "Content-Type: application/json\r\n"

/* Counts the request. Returns whether it accepts protobuf. */
static bool accepts_protobuf(world *w, const scripted_request *r)
{
    if (strstr(r->head, ACCEPT_BOTH) != NULL)
        w->proto_requests++;
    else if (strstr(r->head, ACCEPT_JSON) != NULL)
        w->json_requests++;
    return strstr(r->head, ACCEPT_BOTH) != NULL;
}

static bool send_head(scripted_connection *c, const char *status, const char *type, size_t length)
{
    char head[256];
    (void)snprintf(head, sizeof(head), "HTTP/1.1 %s\r\nContent-Type: %s\r\n", status, type);
    if (!scripted_send(c, head))
        return false;
    (void)snprintf(head, sizeof(head), "Content-Length: %zu\r\n\r\n", length);
    return scripted_send(c, length == SIZE_MAX ? "Connection: close\r\n\r\n" : head);
}

/* Frees the body, like send_list(). */
static bool send_body(scripted_connection *c, proto_body body)
{
    bool is_sent = scripted_send_bytes(c, body.data, body.len);
    proto_body_free(&body);
    return is_sent;
}

static scripted_next send_list(scripted_connection *c, const char *status, proto_body body)
{
    bool is_open = send_head(c, status, PROTOBUF, body.len);
    return send_body(c, body) && is_open ? SCRIPTED_KEEP : SCRIPTED_CLOSE;
}

static bool begin_proto_watch(scripted_connection *c)
{
    return send_head(c, "200 OK", PROTOBUF ";stream=watch", SIZE_MAX);
}

static const proto_pod a9 = {.name = "a", .version = "9"};
static const proto_pod b11 = {.name = "b", .version = "11"};

/* Responds in JSON, whatever is accepted. */
static scripted_next serve_as_json(scripted_connection *c, const scripted_request *r, void *user)
{
    (void)accepts_protobuf(user, r);
    if (!scripted_is_watch(r)) {
        (void)scripted_answer(c, "200 OK", CONTENT_JSON, LIST("10", ITEM("a", "9")));
        return SCRIPTED_KEEP;
    }
    (void)(send_head(c, "200 OK", "application/json", SIZE_MAX) &&
           scripted_send(c, EVENT("ADDED", ITEM("b", "11"))));
    scripted_wait_for_end(c);
    return SCRIPTED_CLOSE;
}

/* ---- protobuf ------------------------------------------------------------------------------------------ */

static scripted_next serve_protobuf(scripted_connection *c, const scripted_request *r, void *user)
{
    if (!accepts_protobuf(user, r))
        return serve_as_json(c, r, user);
    if (!scripted_is_watch(r))
        return send_list(c, "200 OK", proto_pods_list("10", "", &a9, 1));
    (void)(begin_proto_watch(c) && send_body(c, proto_pods_event("ADDED", &b11)));
    scripted_wait_for_end(c);
    return SCRIPTED_CLOSE;
}

static void an_informer_follows_a_server_in_protobuf(void **state)
{
    (void)state;
    world w;
    world_init(&w, serve_protobuf, KI_WIRE_AUTO);
    wait_for_version(w.informer, "11");
    assert_true(has(&w, "a") && has(&w, "b"));
    assert_int_equal(status_of(&w).wire, KI_WIRE_PROTOBUF);
    assert_int_equal(w.proto_requests, 2);
    assert_int_equal(w.json_requests, 0);
    expect_metric(&w, "informer_protobuf", 1);
    expect_metric(&w, "informer_unknown_fields_total", 0);
    world_fini(&w);
}

static void only_json_is_accepted_when_the_program_wants_it(void **state)
{
    (void)state;
    world w;
    world_init(&w, serve_protobuf, KI_WIRE_JSON);
    wait_for_version(w.informer, "11");
    assert_int_equal(status_of(&w).wire, KI_WIRE_JSON);
    assert_int_equal(w.proto_requests, 0);
    world_fini(&w);
}

static void the_options_of_an_informer_override_those_of_the_client(void **state)
{
    (void)state;
    world w = {0};
    connect_to(&w, serve_protobuf, KI_WIRE_JSON);
    w.informer = follow(&w, &KI_CORE_V1_PODS, &(ki_informer_options){.wire = KI_WIRE_PROTOBUF});
    wait_for_version(w.informer, "11");
    assert_int_equal(status_of(&w).wire, KI_WIRE_PROTOBUF);
    world_fini(&w);
}

static void a_custom_resource_accepts_only_json(void **state)
{
    (void)state;
    const ki_resource widgets = {"example.com", "v1", "widgets", "Pod", KI_SCOPE_NAMESPACED, 0};
    world w = {0};
    connect_to(&w, serve_as_json, KI_WIRE_PROTOBUF);
    w.informer = follow(&w, &widgets, NULL);
    wait_for_version(w.informer, "11");
    assert_int_equal(w.proto_requests, 0);
    assert_int_equal(status_of(&w).wire, KI_WIRE_JSON);
    world_fini(&w);
}

/* ---- servers without protobuf -------------------------------------------------------------------------- */

static void a_server_that_responds_in_json_is_remembered_for_all_informers(void **state)
{
    (void)state;
    world w;
    world_init(&w, serve_as_json, KI_WIRE_AUTO);
    wait_for_version(w.informer, "11");
    assert_int_equal(status_of(&w).wire, KI_WIRE_JSON);
    assert_int_equal(w.proto_requests, 1);
    ki_informer *other = follow(&w, &KI_CORE_V1_PODS, NULL);
    wait_for_version(other, "11");
    assert_int_equal(w.proto_requests, 1);
    ki_informer_free(other);
    world_fini(&w);
}

static scripted_next serve_406(scripted_connection *c, const scripted_request *r, void *user)
{
    if (!accepts_protobuf(user, r))
        return serve_as_json(c, r, user);
    (void)scripted_answer(c, "406 Not Acceptable", CONTENT_JSON, "{\"kind\":\"Status\",\"code\":406}");
    return SCRIPTED_KEEP;
}

static void a_406_is_followed_by_json(void **state)
{
    (void)state;
    static const ki_wire wires[] = {KI_WIRE_AUTO, KI_WIRE_PROTOBUF};
    for (size_t i = 0; i < 2; i++) {
        world w;
        world_init(&w, serve_406, wires[i]);
        wait_for_version(w.informer, "11");
        assert_int_equal(w.proto_requests, 1);
        assert_int_equal(status_of(&w).wire, KI_WIRE_JSON);
        world_fini(&w);
    }
}

static scripted_next serve_error(scripted_connection *c, const scripted_request *r, void *user)
{
    (void)accepts_protobuf(user, r);
    return send_list(c, "403 Forbidden", proto_pods_status(403, "Forbidden", "pods are secret"));
}

static void an_error_in_protobuf_is_read(void **state)
{
    (void)state;
    world w;
    world_init(&w, serve_error, KI_WIRE_AUTO);
    uint64_t deadline_ms = ki_clock_now_ms(ki_clock_real()) + HANG_MS;
    while (status_of(&w).reason != KI_REASON_FORBIDDEN ||
           strstr(status_of(&w).message, "pods are secret") == NULL)
        assert_true(ki_clock_now_ms(ki_clock_real()) < deadline_ms);
    world_fini(&w);
}

/* ---- responses that cannot be used --------------------------------------------------------------------- */

/* The list, or the watch, has an unknown field. */
static scripted_next serve_news(scripted_connection *c, const scripted_request *r, void *user)
{
    static const proto_pod pods[] = {{.name = "a", .version = "9"},
                                     {.name = "n", .version = "8", .unknown = 200}};
    if (!accepts_protobuf(user, r))
        return serve_as_json(c, r, user);
    return send_list(c, "200 OK", proto_pods_list("10", "", pods, 2));
}

static scripted_next serve_news_later(scripted_connection *c, const scripted_request *r, void *user)
{
    bool is_proto = accepts_protobuf(user, r);
    if (!is_proto && strstr(r->target, "resourceVersion=10") != NULL)
        return serve_as_json(c, r, user);
    if (!scripted_is_watch(r))
        return send_list(c, "200 OK", proto_pods_list("10", "", &a9, 1));
    (void)(begin_proto_watch(c) &&
           send_body(c,
                     proto_pods_event("ADDED", &(proto_pod){.name = "b", .version = "11", .unknown = 201})));
    scripted_wait_for_end(c);
    return SCRIPTED_CLOSE;
}

static void an_unknown_field_leads_to_json_and_nothing_is_lost(void **state)
{
    (void)state;
    static const scripted_serve_cb servers[] = {serve_news, serve_news_later};
    for (size_t i = 0; i < 2; i++) {
        world w;
        world_init(&w, servers[i], KI_WIRE_AUTO);
        wait_for_version(w.informer, "11");
        ki_informer_status status = status_of(&w);
        assert_int_equal(status.wire, KI_WIRE_JSON);
        assert_int_equal(status.unknown_fields, 1);
        assert_int_equal(status.unknown_number, 200 + i);
        assert_int_equal(status.lists, 2 - i);
        expect_metric(&w, "informer_protobuf", 0);
        expect_metric(&w, "informer_unknown_fields_total", 1);
        assert_true(has(&w, "a") && has(&w, "b") && !has(&w, "n"));
        world_fini(&w);
    }
}

/* Each connection ends one byte early, except the last one. */
static scripted_next serve_cut(scripted_connection *c, const scripted_request *r, void *user)
{
    world *w = user;
    (void)accepts_protobuf(w, r);
    proto_body body =
        scripted_is_watch(r) ? proto_pods_event("ADDED", &b11) : proto_pods_list("10", "", &a9, 1);
    bool is_cut = r->number == 1 || r->number == 3;
    (void)(scripted_is_watch(r) ? begin_proto_watch(c) : send_head(c, "200 OK", PROTOBUF, body.len));
    (void)scripted_send_bytes(c, body.data, body.len - is_cut);
    proto_body_free(&body);
    if (is_cut || scripted_is_watch(r)) {
        if (!is_cut)
            scripted_wait_for_end(c);
        return SCRIPTED_CLOSE;
    }
    return SCRIPTED_KEEP;
}

static void truncated_responses_are_requested_again_in_protobuf(void **state)
{
    (void)state;
    world w;
    world_init(&w, serve_cut, KI_WIRE_AUTO);
    wait_for_version(w.informer, "11");
    assert_int_equal(w.proto_requests, 4);
    assert_int_equal(w.json_requests, 0);
    assert_true(has(&w, "a") && has(&w, "b"));
    world_fini(&w);
}

/* JSON with the content type of protobuf, or a page of a proxy. */
static scripted_next serve_wrong_type(scripted_connection *c, const scripted_request *r, void *user)
{
    if (!accepts_protobuf(user, r))
        return serve_as_json(c, r, user);
    (void)scripted_answer(c, "200 OK", "Content-Type: " PROTOBUF "\r\n", LIST("10", ""));
    return SCRIPTED_KEEP;
}

static scripted_next serve_page(scripted_connection *c, const scripted_request *r, void *user)
{
    if (r->number > 1)
        return serve_as_json(c, r, user);
    (void)scripted_answer(c, "200 OK", "Content-Type: text/html\r\n", "<html>sign in</html>");
    return SCRIPTED_KEEP;
}

static void a_wrong_content_type_is_an_error_not_a_list(void **state)
{
    (void)state;
    static const scripted_serve_cb servers[] = {serve_wrong_type, serve_page};
    for (size_t i = 0; i < 2; i++) {
        world w;
        world_init(&w, servers[i], KI_WIRE_AUTO);
        wait_for_version(w.informer, "11");
        assert_int_equal(status_of(&w).lists, 2);
        assert_true(has(&w, "a") && has(&w, "b"));
        world_fini(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(an_informer_follows_a_server_in_protobuf),
        WITH_MEMORY_CHECK(only_json_is_accepted_when_the_program_wants_it),
        WITH_MEMORY_CHECK(the_options_of_an_informer_override_those_of_the_client),
        WITH_MEMORY_CHECK(a_custom_resource_accepts_only_json),
        WITH_MEMORY_CHECK(a_server_that_responds_in_json_is_remembered_for_all_informers),
        WITH_MEMORY_CHECK(a_406_is_followed_by_json),
        WITH_MEMORY_CHECK(an_error_in_protobuf_is_read),
        WITH_MEMORY_CHECK(an_unknown_field_leads_to_json_and_nothing_is_lost),
        WITH_MEMORY_CHECK(truncated_responses_are_requested_again_in_protobuf),
        WITH_MEMORY_CHECK(a_wrong_content_type_is_an_error_not_a_list),
    };
    return RUN_TESTS(tests);
}
