/* SPDX-License-Identifier: Apache-2.0 */
/* Looks up resources by name on a server, over real sockets in each mode; and reads any path. */
#include <stdio.h>
#include <string.h>

#include "flow/support/rest_world.h"
#include "support/failing_allocator.h"
#include "support/unit.h"

static const int modes[REST_MODES] = {KI_MODE_THREADS, KI_MODE_HANDLERS_ON_LOOP, KI_MODE_EVENT_LOOP};

#define ALL                                                                                                  \
    "{\"kind\":\"APIGroupDiscoveryList\",\"items\":[{\"metadata\":{\"name\":\"example.com\"},\"versions\":[" \
    "{\"version\":\"v1\",\"resources\":[{\"resource\":\"widgets\",\"responseKind\":{\"kind\":\"Widget\"},"   \
    "\"scope\":\"Namespaced\",\"singularResource\":\"widget\",\"verbs\":[\"list\",\"watch\"],"               \
    "\"shortNames\":[\"wd\"]}]}]}]}"
#define GROUP(name)                                                                                          \
    "{\"name\":\"" name "\",\"versions\":[{\"groupVersion\":\"" name "/v1\",\"version\":\"v1\"}],"           \
    "\"preferredVersion\":{\"groupVersion\":\"" name "/v1\",\"version\":\"v1\"}}"
#define GROUPS                                                                                               \
    "{\"kind\":\"APIGroupList\",\"apiVersion\":\"v1\",\"groups\":[" GROUP("away.example") "," GROUP(         \
        "example.com") "]}"
#define WIDGETS                                                                                              \
    "{\"kind\":\"APIResourceList\",\"apiVersion\":\"v1\",\"groupVersion\":\"example.com/v1\",\"resources\":" \
    "[{\"name\":\"widgets\",\"singularName\":\"widget\",\"namespaced\":true,\"kind\":\"Widget\",\"verbs\":"  \
    "[\"list\",\"watch\"],\"shortNames\":[\"wd\"]}]}"

typedef enum server_age { NEW, OLD, REFUSING, ODD } server_age;

/* An old server ignores the Accept header, and one of its groups is served by an API service that is down. */
static scripted_next serve(scripted_connection *c, const scripted_request *r, void *user)
{
    const server_age *age = user;
    bool is_all = strstr(r->head, "as=APIGroupDiscoveryList") != NULL;
    if (*age == REFUSING)
        (void)scripted_answer(c, "403 Forbidden", NULL, REST_STATUS("403", "Forbidden"));
    else if (*age == ODD || strcmp(r->target, "/version") == 0)
        (void)scripted_answer(c, "200 OK", NULL, "hello");
    else if (strcmp(r->target, "/apis") == 0)
        (void)scripted_answer(c, "200 OK", NULL, *age == NEW && is_all ? ALL : GROUPS);
    else if (strcmp(r->target, "/apis/example.com/v1") == 0)
        (void)scripted_answer(c, "200 OK", NULL, WIDGETS);
    else
        (void)scripted_answer(c, "503 Service Unavailable", NULL, REST_STATUS("503", "ServiceUnavailable"));
    return SCRIPTED_KEEP;
}

static void a_resource_is_found_in_each_mode_on_new_and_old_servers(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2 * (size_t)REST_MODES; i++) {
        server_age age = i % 2 == 0 ? NEW : OLD;
        rest_world w = {.mode = modes[i / 2]};
        ki_resource *found = NULL;
        ki_error err = {0};
        rest_world_init(&w, serve, &age);
        assert_int_equal(ki_discovery_run(w.client, KI_STR("wd"), &found, &err), 0);
        assert_string_equal(found->plural, "widgets");
        assert_string_equal(found->group, "example.com");
        assert_string_equal(found->version, "v1");
        assert_string_equal(found->kind, "Widget");
        assert_int_equal(found->scope, KI_SCOPE_NAMESPACED);
        assert_int_equal(scripted_http_requests(w.server), age == NEW ? 1 : 3);
        ki_resource_free(found);
        rest_world_fini(&w);
    }
}

typedef struct row {
    server_age age;
    const char *name;
    int code;
    const char *message;
} row;

static void a_failed_lookup_has_a_reason(void **state)
{
    (void)state;
    static const row rows[] = {{NEW, "gadgets", KI_ERR_RESOURCE, "the server has no resource \"gadgets\""},
                               {OLD, "gadgets.example.com", KI_ERR_RESOURCE, "\"gadgets.example.com\""},
                               {OLD, "gadgets", KI_ERR_HTTP, "503"},
                               {REFUSING, "widgets", KI_ERR_FORBIDDEN, "403"},
                               {ODD, "widgets", KI_ERR_NOT_A_LIST, "cannot be read"}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        server_age age = rows[i].age;
        rest_world w = {.mode = modes[i % REST_MODES]};
        ki_resource *found = NULL;
        ki_error err = {0};
        rest_world_init(&w, serve, &age);
        assert_int_equal(ki_discovery_run(w.client, ki_str_of(rows[i].name), &found, &err), rows[i].code);
        if (strstr(err.message, rows[i].message) == NULL)
            fail_msg("\"%s\" lacks \"%s\"", err.message, rows[i].message);
        assert_null(found);
        rest_world_fini(&w);
    }
}

static scripted_next serve_nothing(scripted_connection *c, const scripted_request *r, void *user)
{
    (void)r;
    (void)user;
    scripted_wait_for_end(c);
    return SCRIPTED_CLOSE;
}

static int last_code;
static int times;

static void note_end(ki_resource *found, const ki_error *err, void *user)
{
    assert_null(user);
    assert_null(found);
    last_code = err->code;
    times++;
}

static void a_lookup_ends_with_its_client(void **state)
{
    (void)state;
    for (size_t i = 0; i < REST_MODES; i++) {
        rest_world w = {.mode = modes[i]};
        times = 0;
        rest_world_init(&w, serve_nothing, NULL);
        ki_discovery_request request = {.name = KI_STR("wd"), .on_end = note_end};
        assert_int_equal(ki_discovery_begin(w.client, &request, NULL), 0);
        rest_world_live(&w);
        rest_world_fini(&w);
        assert_int_equal(times, 1);
        assert_int_equal(last_code, KI_ERR_STOPPED);
    }
}

static void invalid_lookups_are_refused(void **state)
{
    (void)state;
    server_age age = NEW;
    rest_world w = {.mode = KI_MODE_THREADS};
    ki_resource *found = NULL;
    rest_world_init(&w, serve, &age);
    assert_int_equal(ki_discovery_run(w.client, (ki_str){0}, &found, NULL), KI_ERR_INVALID);
    assert_int_equal(ki_discovery_run(NULL, KI_STR("wd"), &found, NULL), KI_ERR_INVALID);
    assert_int_equal(ki_discovery_run(w.client, KI_STR("wd"), NULL, NULL), KI_ERR_INVALID);
    ki_read_lock();
    assert_int_equal(ki_discovery_run(w.client, KI_STR("wd"), &found, NULL), KI_ERR_WOULD_DEADLOCK);
    ki_read_unlock();
    rest_world_fini(&w);
}

static void any_path_can_be_read(void **state)
{
    (void)state;
    server_age age = NEW;
    rest_world w = {.mode = KI_MODE_EVENT_LOOP};
    ki_rest_answer answer = {0};
    ki_error err = {0};
    rest_world_init(&w, serve, &age);
    ki_rest_request request = {.verb = KI_REST_GET, .path = "/version", .accept = "text/plain"};
    assert_int_equal(ki_rest_run(w.client, &request, &answer, &err), 0);
    assert_true(ki_str_equal(answer.body, KI_STR("hello")));
    assert_null(answer.object);
    ki_rest_answer_fini(&answer);
    static const ki_rest_request wrong[] = {
        {.verb = KI_REST_GET, .path = "version"},
        {.verb = KI_REST_GET, .path = "/a b"},
        {.verb = KI_REST_GET, .path = "/a\r\nX: y"},
        {.verb = KI_REST_DELETE, .path = "/version"},
        {.verb = KI_REST_GET, .path = "/version", .accept = "a\r\nX: y"},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_int_equal(ki_rest_run(w.client, &wrong[i], NULL, NULL), KI_ERR_INVALID);
    rest_world_fini(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(a_resource_is_found_in_each_mode_on_new_and_old_servers),
        WITH_MEMORY_CHECK(a_failed_lookup_has_a_reason),
        WITH_MEMORY_CHECK(a_lookup_ends_with_its_client),
        WITH_MEMORY_CHECK(invalid_lookups_are_refused),
        WITH_MEMORY_CHECK(any_path_can_be_read),
    };
    return RUN_TESTS(tests);
}
