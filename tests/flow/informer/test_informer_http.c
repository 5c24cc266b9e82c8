/* SPDX-License-Identifier: Apache-2.0 */
/* An informer with real sockets, in each mode. */
#include <kinformer.h>
#include <stdio.h>
#include <string.h>

#include "client/client.h"
#include "flow/support/fake_credentials.h"
#include "flow/support/informer_world.h"
#include "support/client/scripted_http.h"
#include "support/failing_allocator.h"
#include "support/patience.h"
#include "support/unit.h"

/* ---- conditions ---------------------------------------------------------------------------------------- */

static bool has_object(informer_world *w, const char *name)
{
    ki_object *object = ki_store_get(ki_informer_store(w->informer), KI_STR("default"), ki_str_of(name));
    ki_object_unref(object);
    return object != NULL;
}

static bool has_a(informer_world *w)
{
    return has_object(w, "a");
}

static bool has_b(informer_world *w)
{
    return has_object(w, "b");
}

static bool has_c(informer_world *w)
{
    return has_object(w, "c");
}

static bool has_no_a(informer_world *w)
{
    return ki_informer_has_synced(w->informer) && !has_object(w, "a");
}

/* ---- servers ----------------------------------------------------------------------------------------- */

#define ITEM(name, version)                                                                                  \
    "{\"metadata\":{\"namespace\":\"default\",\"name\":\"" name "\",\"uid\":\"" name                         \
    "\",\"resourceVersion\":\"" version "\"}}"

#define LIST(version, items)                                                                                 \
    "{\"kind\":\"ConfigMapList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"" version         \
    "\"},\"items\":[" items "]}"

#define EVENT(type, item) "{\"type\":\"" type "\",\"object\":" item "}\n"

#define STATUS(code, reason)                                                                                 \
    "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"message\":\"no\",\"reason\":"       \
    "\"" reason "\",\"code\":" code "}"

static scripted_next serve_list_and_watch(scripted_connection *c, const scripted_request *r, void *user)
{
    (void)user;
    if (!scripted_is_watch(r)) {
        (void)scripted_answer(c, "200 OK", "", LIST("10", ITEM("a", "9")));
        return SCRIPTED_KEEP;
    }
    (void)(scripted_begin(c, "200 OK") && scripted_chunk(c, EVENT("ADDED", ITEM("b", "11"))) &&
           scripted_wait(c, 1) && scripted_chunk(c, EVENT("ADDED", ITEM("c", "12"))) &&
           scripted_chunk(c, EVENT("DELETED", ITEM("a", "13"))));
    scripted_wait_for_end(c);
    return SCRIPTED_CLOSE;
}

static void an_informer_lists_and_watches(void **state)
{
    (void)state;
    for (size_t i = 0; i < INFORMER_WORLD_MODES; i++) {
        informer_world w = {.mode = informer_world_modes[i]};
        informer_world_init(&w, serve_list_and_watch, NULL);
        assert_int_equal(ki_informer_wait_for_sync(w.informer, HANG_MS, NULL), 0);
        informer_world_wait(&w, has_b);
        assert_true(has_object(&w, "a"));
        scripted_http_poke(w.server, 1);
        informer_world_wait(&w, has_c);
        informer_world_wait(&w, has_no_a);
        assert_int_equal(informer_world_status(&w).phase, KI_PHASE_WATCHING);
        assert_int_equal(informer_world_status(&w).reason, KI_REASON_NONE);
        assert_int_equal(scripted_http_requests(w.server), 2);
        informer_world_fini(&w);
    }
}

static void an_informer_stops_and_resumes(void **state)
{
    (void)state;
    for (size_t i = 0; i < INFORMER_WORLD_MODES; i++) {
        informer_world w = {.mode = informer_world_modes[i]};
        informer_world_init(&w, serve_list_and_watch, NULL);
        informer_world_wait(&w, has_b);
        ki_informer_stop(w.informer);
        scripted_http_poke(w.server, 1);
        assert_int_equal(ki_informer_start(w.informer, NULL), 0);
        informer_world_wait(&w, has_c);
        assert_int_equal(informer_world_status(&w).lists, 1);
        informer_world_fini(&w);
    }
}

/* Each byte of the version takes three bytes in a URL. */
static const char *long_version(void)
{
    static char text[KI_RESOURCE_VERSION_BYTES_MAX + 1];
    memset(text, '{', KI_RESOURCE_VERSION_BYTES_MAX);
    return text;
}

static scripted_next serve_long_version(scripted_connection *c, const scripted_request *r, void *user)
{
    (void)user;
    char body[2 * KI_RESOURCE_VERSION_BYTES_MAX];
    if (strstr(r->head, "watch=true") == NULL) {
        snprintf(body, sizeof(body),
                 "{\"kind\":\"ConfigMapList\",\"metadata\":{\"resourceVersion\":\"%s\"},\"items\":[]}",
                 long_version());
        (void)scripted_answer(c, "200 OK", "", body);
        return SCRIPTED_KEEP;
    }
    size_t escapes = 0;
    const char *at = strstr(r->head, "resourceVersion=");
    for (at = at == NULL ? "" : at + strlen("resourceVersion="); strncmp(at, "%7B", 3) == 0; at += 3)
        escapes++;
    if (escapes == KI_RESOURCE_VERSION_BYTES_MAX)
        (void)(scripted_begin(c, "200 OK") && scripted_chunk(c, EVENT("ADDED", ITEM("b", "11"))));
    scripted_wait_for_end(c);
    return SCRIPTED_CLOSE;
}

static void a_watch_continues_from_a_version_of_4096_bytes(void **state)
{
    (void)state;
    informer_world w = {.mode = KI_MODE_THREADS};
    informer_world_init(&w, serve_long_version, NULL);
    informer_world_wait(&w, has_b);
    assert_int_equal(scripted_http_requests(w.server), 2);
    informer_world_fini(&w);
}

static bool send_bytewise(scripted_connection *c, const char *text)
{
    for (const char *at = text; *at != 0; at++) {
        const char one[] = {*at, 0};
        if (!scripted_chunk(c, one))
            return false;
    }
    return true;
}

static scripted_next serve_bytewise(scripted_connection *c, const scripted_request *r, void *user)
{
    (void)user;
    if (!scripted_is_watch(r)) {
        (void)(scripted_begin(c, "200 OK") &&
               send_bytewise(c, LIST("10", ITEM("a", "8") "," ITEM("b", "9"))) && scripted_chunk(c, ""));
        return SCRIPTED_KEEP;
    }
    (void)(scripted_begin(c, "200 OK") && send_bytewise(c, EVENT("ADDED", ITEM("c", "11"))));
    scripted_wait_for_end(c);
    return SCRIPTED_CLOSE;
}

static void chunks_of_one_byte_are_accepted(void **state)
{
    (void)state;
    for (size_t i = 0; i < INFORMER_WORLD_MODES; i++) {
        informer_world w = {.mode = informer_world_modes[i]};
        informer_world_init(&w, serve_bytewise, NULL);
        informer_world_wait(&w, has_c);
        assert_true(has_object(&w, "a"));
        assert_true(has_object(&w, "b"));
        informer_world_fini(&w);
    }
}

/* The first watch is cut in the middle of an event; the second one resumes after the last complete event. */
static scripted_next serve_cut_watch(scripted_connection *c, const scripted_request *r, void *user)
{
    (void)user;
    if (!scripted_is_watch(r)) {
        (void)scripted_answer(c, "200 OK", "", LIST("10", ""));
        return SCRIPTED_KEEP;
    }
    if (strstr(r->target, "resourceVersion=10&") != NULL) {
        (void)(scripted_begin(c, "200 OK") && scripted_chunk(c, EVENT("ADDED", ITEM("a", "11"))) &&
               scripted_chunk(c, "{\"type\":\"ADDED\",\"obj"));
        return SCRIPTED_RESET;
    }
    if (strstr(r->target, "resourceVersion=11&") == NULL)
        return SCRIPTED_CLOSE;
    (void)(scripted_begin(c, "200 OK") && scripted_chunk(c, EVENT("ADDED", ITEM("b", "12"))));
    scripted_wait_for_end(c);
    return SCRIPTED_CLOSE;
}

static void a_watch_that_is_cut_resumes_from_the_last_event(void **state)
{
    (void)state;
    for (size_t i = 0; i < INFORMER_WORLD_MODES; i++) {
        informer_world w = {.mode = informer_world_modes[i]};
        informer_world_init(&w, serve_cut_watch, NULL);
        informer_world_wait(&w, has_b);
        assert_true(has_object(&w, "a"));
        assert_int_equal(informer_world_status(&w).lists, 1);
        assert_true(informer_world_status(&w).reconnects >= 1);
        informer_world_fini(&w);
    }
}

/* The first request fails in the way that the test wants; the others succeed. */
typedef struct failure {
    const char *status;
    const char *headers;
    const char *body;
    ki_reason reason;
} failure;

static const failure *current_failure;

static scripted_next serve_failure(scripted_connection *c, const scripted_request *r, void *user)
{
    (void)user;
    if (scripted_is_watch(r)) {
        if (scripted_begin(c, "200 OK"))
            scripted_wait_for_end(c);
        return SCRIPTED_CLOSE;
    }
    if (r->number == 1) {
        (void)scripted_answer(c, current_failure->status, current_failure->headers, current_failure->body);
    } else {
        (void)scripted_wait(c, 1);
        (void)scripted_answer(c, "200 OK", "", LIST("10", ITEM("a", "9")));
    }
    return SCRIPTED_KEEP;
}

static bool has_failed(informer_world *w)
{
    return informer_world_status(w).reason == current_failure->reason;
}

static void a_list_that_fails_is_reported_and_retried(void **state)
{
    (void)state;
    static const failure failures[] = {
        {"400 Bad Request", "", STATUS("400", "BadRequest"), KI_REASON_BAD_REQUEST},
        {"401 Unauthorized", "", STATUS("401", "Unauthorized"), KI_REASON_UNAUTHORIZED},
        {"403 Forbidden", "", STATUS("403", "Forbidden"), KI_REASON_FORBIDDEN},
        {"404 Not Found", "", STATUS("404", "NotFound"), KI_REASON_NOT_FOUND},
        {"429 Too Many Requests", "Retry-After: 1\r\n", STATUS("429", "TooManyRequests"),
         KI_REASON_TOO_MANY_REQUESTS},
        {"500 Internal Server Error", "", "oh", KI_REASON_SERVER_ERROR},
        {"302 Found", "Location: https://elsewhere.example/\r\n", "", KI_REASON_REDIRECTED},
        {"200 OK", "", "<html></html>", KI_REASON_MALFORMED},
        {"200 OK", "Content-Encoding: br\r\n", "{}", KI_REASON_MALFORMED},
    };
    for (size_t i = 0; i < sizeof(failures) / sizeof(failures[0]); i++) {
        informer_world w = {.mode = informer_world_modes[i % INFORMER_WORLD_MODES]};
        current_failure = &failures[i];
        informer_world_init(&w, serve_failure, NULL);
        informer_world_wait(&w, has_failed);
        if (failures[i].reason == KI_REASON_REDIRECTED)
            assert_non_null(strstr(informer_world_status(&w).message, "https://elsewhere.example/"));
        if (failures[i].reason == KI_REASON_UNAUTHORIZED)
            assert_int_equal(fake_credentials.refused, 1);
        scripted_http_poke(w.server, 1);
        ki_informer_retry_now(w.informer);
        informer_world_wait(&w, has_a);
        informer_world_fini(&w);
    }
}

static scripted_next serve_expired_watch(scripted_connection *c, const scripted_request *r, void *user)
{
    (void)user;
    if (!scripted_is_watch(r)) {
        (void)scripted_answer(c, "200 OK", "",
                              r->number == 1 ? LIST("10", ITEM("a", "9")) : LIST("20", ITEM("b", "19")));
        return SCRIPTED_KEEP;
    }
    if (r->number == 2) {
        (void)scripted_answer(c, "410 Gone", "", STATUS("410", "Expired"));
        return SCRIPTED_KEEP;
    }
    if (scripted_begin(c, "200 OK"))
        scripted_wait_for_end(c);
    return SCRIPTED_CLOSE;
}

static void a_watch_that_is_too_old_causes_a_relist(void **state)
{
    (void)state;
    for (size_t i = 0; i < INFORMER_WORLD_MODES; i++) {
        informer_world w = {.mode = informer_world_modes[i]};
        informer_world_init(&w, serve_expired_watch, NULL);
        informer_world_wait(&w, has_b);
        informer_world_wait(&w, has_no_a);
        assert_int_equal(informer_world_status(&w).lists, 2);
        informer_world_fini(&w);
    }
}

/* The first watch is refused, and the refusal never ends. */
static scripted_next serve_stalled_refusal(scripted_connection *c, const scripted_request *r, void *user)
{
    (void)user;
    if (scripted_is_watch(r) && r->number == 2) {
        (void)scripted_send(c, "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 50\r\n\r\nupstream");
        scripted_wait_for_end(c);
        return SCRIPTED_CLOSE;
    }
    return serve_list_and_watch(c, r, user);
}

static void a_watch_is_retried_after_an_endless_refusal(void **state)
{
    (void)state;
    for (size_t i = 0; i < INFORMER_WORLD_MODES; i++) {
        informer_world w = {.mode = informer_world_modes[i]};
        informer_world_init(&w, serve_stalled_refusal, NULL);
        informer_world_wait(&w, has_b);
        assert_int_equal(informer_world_status(&w).lists, 1);
        assert_int_equal(informer_world_status(&w).watches, 2);
        informer_world_fini(&w);
    }
}

/* ---- the query --------------------------------------------------------------------------------------- */

static char first_target[4096];

static scripted_next serve_and_note(scripted_connection *c, const scripted_request *r, void *user)
{
    (void)user;
    if (r->number == 1)
        (void)snprintf(first_target, sizeof(first_target), "%s", r->target);
    if (!scripted_is_watch(r)) {
        (void)scripted_answer(c, "200 OK", "", LIST("10", ITEM("a", "9")));
        return SCRIPTED_KEEP;
    }
    if (scripted_begin(c, "200 OK"))
        scripted_wait_for_end(c);
    return SCRIPTED_CLOSE;
}

static void the_query_has_the_options_of_the_informer(void **state)
{
    (void)state;
    informer_world w = {.mode = KI_MODE_EVENT_LOOP};
    ki_informer_options options = {.ns = "web",
                                   .label_selector = "app in (a,b),!c",
                                   .field_selector = "metadata.name=a+b",
                                   .page_size = 7};
    informer_world_init(&w, serve_and_note, &options);
    informer_world_wait(&w, has_a);
    assert_string_equal(first_target,
                        "/api/v1/namespaces/web/configmaps?labelSelector=app%20in%20%28a%2Cb%29%2C%21c"
                        "&fieldSelector=metadata.name%3Da%2Bb&limit=7&resourceVersion=0");
    informer_world_fini(&w);
}

/* ---- many informers ---------------------------------------------------------------------------------- */

static void informers_share_one_thread_and_stop_together(void **state)
{
    (void)state;
    enum { COUNT = 20 };
    for (size_t i = 0; i < INFORMER_WORLD_MODES; i++) {
        informer_world w = {.mode = informer_world_modes[i]};
        ki_informer *others[COUNT];
        informer_world_init(&w, serve_list_and_watch, NULL);
        for (int k = 0; k < COUNT; k++) {
            ki_informer_options options = {.watch_list = KI_WATCH_LIST_NEVER};
            others[k] = ki_informer_new(w.client, &KI_CORE_V1_CONFIGMAPS, &options, NULL);
            assert_int_equal(ki_informer_start(others[k], NULL), 0);
        }
        for (int k = 0; k < COUNT; k++)
            assert_int_equal(ki_informer_wait_for_sync(others[k], HANG_MS, NULL), 0);
        uint64_t began_ms = ki_clock_now_ms(ki_clock_real());
        for (int k = 0; k < COUNT; k++)
            ki_informer_free(others[k]);
        informer_world_fini(&w);
        assert_true(ki_clock_now_ms(ki_clock_real()) - began_ms < AT_ONCE_MS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(an_informer_lists_and_watches),
        WITH_MEMORY_CHECK(a_watch_continues_from_a_version_of_4096_bytes),
        WITH_MEMORY_CHECK(an_informer_stops_and_resumes),
        WITH_MEMORY_CHECK(chunks_of_one_byte_are_accepted),
        WITH_MEMORY_CHECK(a_watch_that_is_cut_resumes_from_the_last_event),
        WITH_MEMORY_CHECK(a_list_that_fails_is_reported_and_retried),
        WITH_MEMORY_CHECK(a_watch_that_is_too_old_causes_a_relist),
        WITH_MEMORY_CHECK(a_watch_is_retried_after_an_endless_refusal),
        WITH_MEMORY_CHECK(the_query_has_the_options_of_the_informer),
        WITH_MEMORY_CHECK(informers_share_one_thread_and_stop_together),
    };
    return RUN_TESTS(tests);
}
