/* SPDX-License-Identifier: Apache-2.0 */
/* Resource versions of the maximum length, and longer ones: through an informer and a feed, from the received
 * bytes to status and messages. They are not numbers, so each equals only itself. */
#include <kinformer.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/client.h"
#include "support/failing_allocator.h"
#include "support/reflector/scripted_source.h"
#include "support/unit.h"
#include "util/units.h"

enum { LONGEST = KI_RESOURCE_VERSION_BYTES_MAX, BODY_BYTES = 16 * LONGEST };

/* ---- strings ----------------------------------------------------------------------------------------- */

static char texts[8][LONGEST + 2];

/* {"member":"2"xxx…} with this many bytes; valid until the eighth call after this one. */
static const char *version_of(unsigned number, size_t bytes)
{
    static unsigned last;
    char *text = texts[last++ % 8];
    int n = snprintf(text, LONGEST, "{\"member\":\"%u\"", number);
    memset(text + n, 'x', bytes - (size_t)n - 1);
    memcpy(text + bytes - 1, "}", 2);
    return text;
}

static const char *version(unsigned number)
{
    return version_of(number, LONGEST);
}

/* The text as a JSON string. */
static const char *quoted(const char *text)
{
    static char quotes[4][2 * LONGEST];
    static unsigned last;
    char *out = quotes[last++ % 4];
    size_t n = 0;
    out[n++] = '"';
    for (; *text != 0; text++) {
        if (*text == '"')
            out[n++] = '\\';
        out[n++] = *text;
    }
    memcpy(out + n, "\"", 2);
    return out;
}

static const char *pod(const char *name, const char *its_version)
{
    static char bodies[4][3 * LONGEST];
    static unsigned last;
    char *out = bodies[last++ % 4];
    snprintf(out, sizeof(bodies[0]),
             "{\"metadata\":{\"namespace\":\"d\",\"name\":\"%s\",\"resourceVersion\":%s}}", name,
             quoted(its_version));
    return out;
}

static const char *list(const char *its_version, const char *items)
{
    static char body[BODY_BYTES];
    snprintf(body, sizeof(body),
             "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":%s},\"items\":[%s]}",
             quoted(its_version), items);
    return body;
}

static const char *event(const char *type, const char *object)
{
    static char bodies[2][BODY_BYTES];
    static unsigned last;
    char *out = bodies[last++ % 2];
    snprintf(out, sizeof(bodies[0]), "{\"type\":\"%s\",\"object\":%s}\n", type, object);
    return out;
}

static const char *bookmark(const char *its_version, const char *annotations)
{
    static char object[3 * LONGEST];
    snprintf(object, sizeof(object), "{\"metadata\":{\"resourceVersion\":%s%s}}", quoted(its_version),
             annotations);
    return event("BOOKMARK", object);
}

static const char *end_of_list(const char *its_version)
{
    return bookmark(its_version, ",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}");
}

/* ---- an informer or a feed, and its server ----------------------------------------------------------- */

typedef struct rig {
    ki_clock clock;
    scripted_source source;
    ki_list_watch list_watch;
    ki_client *client;
    ki_informer *informer;
    ki_store *store;
    ki_feed *feed;
    unsigned adds;
    unsigned updates;
    unsigned errors;
    char message[KI_ERROR_MESSAGE_BYTES]; /* of the last error */
} rig;

static void on_add(const ki_event *told, void *user)
{
    (void)told;
    ((rig *)user)->adds++;
}

static void on_update(const ki_event *told, void *user)
{
    (void)told;
    ((rig *)user)->updates++;
}

static void on_error(ki_informer *informer, const ki_informer_error *error, void *user)
{
    (void)informer;
    rig *r = user;
    r->errors++;
    snprintf(r->message, sizeof(r->message), "%s", error->error->message);
}

static void rig_init(rig *r)
{
    *r = (rig){0};
    ki_clock_init_virtual(&r->clock, 1000 * KI_NS_PER_S, 1);
    scripted_source_init(&r->source);
    r->list_watch = scripted_source_list_watch(&r->source);
    r->client = ki_client_new_simulated(&(ki_client_options){.mode = KI_MODE_EVENT_LOOP}, &r->clock, 3, NULL);
    assert_non_null(r->client);
}

static void rig_init_informer(rig *r, int watch_list)
{
    rig_init(r);
    r->informer = ki_informer_new(
        r->client, &KI_CORE_V1_PODS,
        &(ki_informer_options){.list_watch = &r->list_watch, .watch_list = (ki_watch_list)watch_list}, NULL);
    assert_non_null(r->informer);
    r->store = (ki_store *)ki_informer_store(r->informer);
    ki_handler handler = {.on_add = on_add, .on_update = on_update, .user = r};
    assert_non_null(ki_informer_add_handler(r->informer, &handler, NULL));
    assert_int_equal(ki_informer_set_error_handler(r->informer, on_error, r), 0);
    assert_int_equal(ki_informer_start(r->informer, NULL), 0);
}

static void rig_fini(rig *r)
{
    ki_informer_free(r->informer);
    if (r->feed != NULL) {
        ki_feed_free(r->feed);
        ki_store_free(r->store);
    }
    ki_client_free(r->client);
    scripted_source_fini(&r->source);
}

static void run_ms(rig *r, uint64_t ms)
{
    uint64_t until_ns = ki_clock_now_ns(&r->clock) + ms * KI_NS_PER_MS;
    for (;;) {
        assert_true(ki_client_dispatch(r->client, KI_BUDGET_NONE) >= 0);
        uint64_t next_ns = ki_loop_next_ns(r->client->handlers);
        if (next_ns > until_ns)
            break;
        if (next_ns > ki_clock_now_ns(&r->clock))
            ki_clock_set_now_ns(&r->clock, next_ns);
    }
    ki_clock_set_now_ns(&r->clock, until_ns);
}

/* Sends a body, and runs everything that follows at once. */
static void tell(rig *r, const char *body)
{
    scripted_body(&r->source, body);
    run_ms(r, 1);
}

static void assert_complete(rig *r, const char *expected)
{
    char text[LONGEST + 1];
    size_t length = r->feed != NULL ? ki_feed_last_resource_version(r->feed, text, sizeof(text))
                                    : ki_informer_last_resource_version(r->informer, text, sizeof(text));
    assert_int_equal(length, strlen(expected));
    assert_string_equal(text, expected);
    ki_informer_status status;
    if (r->feed != NULL)
        ki_feed_read_status(r->feed, &status);
    else
        ki_informer_read_status(r->informer, &status);
    assert_int_equal(status.resource_version_bytes, length);
    assert_string_equal(status.resource_version, expected);
}

static void assert_asked_for(rig *r, const char *what, const char *its_version)
{
    static char line[LONGEST + 64];
    snprintf(line, sizeof(line), "%s%s", what, its_version);
    if (r->source.requests.text == NULL || strstr(r->source.requests.text, line) == NULL)
        fail_msg("%.40s is missing in %.200s", line, r->source.requests.text);
    text_log_clear(&r->source.requests);
}

static void assert_stored(rig *r, const char *name, const char *its_version)
{
    ki_object *object = ki_store_get(r->store, KI_STR("d"), ki_str_of(name));
    if (its_version == NULL)
        assert_null(object);
    else
        assert_true(object != NULL &&
                    ki_str_equal(ki_object_resource_version(object), ki_str_of(its_version)));
    (void)ki_object_unref(object);
}

/* ---- versions of the maximum length ------------------------------------------------------------------ */

static void sync(rig *r, int is_streamed)
{
    run_ms(r, 1);
    if (is_streamed) {
        scripted_body(&r->source, event("ADDED", pod("a", version(1))));
        scripted_body(&r->source, end_of_list(version(2)));
    } else {
        scripted_whole(&r->source, list(version(2), pod("a", version(1))));
    }
    run_ms(r, 1);
    assert_int_equal(ki_informer_has_synced(r->informer), 1);
    assert_stored(r, "a", version(1));
    assert_complete(r, version(2));
}

static void follow_events(rig *r)
{
    for (int i = 0; i < 2; i++) { /* the same event twice changes nothing */
        tell(r, event("MODIFIED", pod("a", version(3))));
        assert_stored(r, "a", version(3));
        assert_int_equal(r->updates, 1);
        assert_complete(r, version(3));
    }
    tell(r, bookmark(version(4), ""));
    assert_complete(r, version(4));
    tell(r, event("DELETED", pod("a", version(5))));
    assert_stored(r, "a", NULL);
    assert_complete(r, version(5));
}

static void wait_for_versions(rig *r)
{
    ki_error err = {0};
    ki_str there = ki_str_of(version(5));
    assert_int_equal(ki_informer_wait_for_version(r->informer, there, 0, &err), 0);
    assert_int_equal(ki_informer_wait_for_version(r->informer, ki_str_of(version(6)), 0, &err),
                     KI_ERR_TIMEOUT);
    assert_non_null(strstr(err.message, "version {\"member\":\"6\"xxx"));
    assert_int_equal(ki_informer_wait_for_version(r->informer, KI_STR("5"), 0, &err), KI_ERR_TIMEOUT);
    assert_int_equal(
        ki_informer_wait_for_version(r->informer, ki_str_of(version_of(5, LONGEST + 1)), 0, &err),
        KI_ERR_INVALID);
    assert_non_null(strstr(err.message, "4097 bytes"));
}

/* Continues from that version: after a lost connection, after a stop, and with the next list. */
static void go_on(rig *r)
{
    text_log_clear(&r->source.requests);
    scripted_cut(&r->source, KI_REASON_CONNECTION_LOST);
    run_ms(r, 5000);
    assert_asked_for(r, "WATCH rv=", version(5));
    ki_informer_stop(r->informer);
    assert_int_equal(ki_informer_start(r->informer, NULL), 0);
    run_ms(r, 1);
    assert_asked_for(r, "WATCH rv=", version(5));
    scripted_error(&r->source, 410, "{\"kind\":\"Status\",\"reason\":\"Expired\",\"code\":410}");
    run_ms(r, 1000);
    assert_asked_for(r, "rv=", version(5));
}

static void follow(int watch_list)
{
    rig r;
    rig_init_informer(&r, watch_list);
    sync(&r, watch_list == KI_WATCH_LIST_ALWAYS);
    if (watch_list == KI_WATCH_LIST_NEVER)
        assert_asked_for(&r, "WATCH rv=", version(2));
    follow_events(&r);
    wait_for_versions(&r);
    go_on(&r);
    ki_metrics_text text = {0};
    assert_int_equal(ki_metrics_render(ki_client_metrics(r.client), &text, NULL), 0);
    ki_metrics_text_fini(&text);
    rig_fini(&r);
}

static void versions_of_4096_bytes_work_with_lists_and_watches(void **state)
{
    (void)state;
    follow(KI_WATCH_LIST_NEVER);
}

static void versions_of_4096_bytes_work_with_streamed_lists(void **state)
{
    (void)state;
    follow(KI_WATCH_LIST_ALWAYS);
}

/* A number with this many digits that ends with `last_digits`. */
static const char *number(unsigned last_digits, size_t digits)
{
    static char numbers[4][LONGEST + 1];
    static unsigned last;
    char *out = numbers[last++ % 4];
    memset(out, '7', digits);
    (void)snprintf(out + digits - 9, 10, "%09u", last_digits);
    return out;
}

static void assert_measured(rig *r, const char *expected)
{
    ki_metrics_text text = {0};
    assert_int_equal(ki_metrics_render(ki_client_metrics(r->client), &text, NULL), 0);
    const char *line = strstr(text.bytes, "\ninformer_store_resource_version{");
    assert_non_null(line);
    const char *value = strstr(line, "} ") + 2;
    assert_int_equal(strncmp(value, expected, strlen(expected)), 0);
    assert_int_equal(value[strlen(expected)], '\n');
    ki_metrics_text_fini(&text);
}

/* Such numbers are ordered, and the metric has their last 15 digits. */
static void numbers_of_4096_digits_are_ordered_and_in_the_metrics(void **state)
{
    (void)state;
    rig r;
    rig_init_informer(&r, KI_WATCH_LIST_NEVER);
    run_ms(&r, 1);
    scripted_whole(&r.source, list(number(5, LONGEST), pod("a", number(3, LONGEST))));
    run_ms(&r, 1);
    assert_complete(&r, number(5, LONGEST));
    assert_measured(&r, "777777000000005");
    tell(&r, event("MODIFIED", pod("a", number(20, LONGEST))));
    assert_complete(&r, number(20, LONGEST));
    tell(&r, event("MODIFIED", pod("a", number(11, LONGEST)))); /* an older version */
    assert_stored(&r, "a", number(20, LONGEST));
    assert_complete(&r, number(20, LONGEST));
    assert_measured(&r, "777777000000020");
    assert_int_equal(ki_informer_wait_for_version(r.informer, ki_str_of(number(19, LONGEST)), 0, NULL), 0);
    assert_int_equal(ki_informer_wait_for_version(r.informer, ki_str_of(number(90, LONGEST - 1)), 0, NULL),
                     0);
    assert_int_equal(ki_informer_wait_for_version(r.informer, ki_str_of(number(21, LONGEST)), 0, NULL),
                     KI_ERR_TIMEOUT);
    rig_fini(&r);
}

/* Its end looks like a number. */
static void a_version_that_is_not_a_number_is_not_in_the_metrics(void **state)
{
    (void)state;
    rig r;
    rig_init_informer(&r, KI_WATCH_LIST_NEVER);
    run_ms(&r, 1);
    scripted_whole(&r.source, list("17", ""));
    run_ms(&r, 1);
    assert_measured(&r, "17");
    tell(&r, bookmark("member-1/123456789012345678", ""));
    assert_complete(&r, "member-1/123456789012345678");
    assert_measured(&r, "17");
    rig_fini(&r);
}

/* ---- longer versions --------------------------------------------------------------------------------- */

static void a_list_with_a_longer_version_fails_with_a_message(void **state)
{
    (void)state;
    rig r;
    for (int streamed = 0; streamed < 2; streamed++) {
        rig_init_informer(&r, streamed ? KI_WATCH_LIST_ALWAYS : KI_WATCH_LIST_NEVER);
        run_ms(&r, 1);
        if (streamed)
            scripted_body(&r.source, end_of_list(version_of(1, LONGEST + 1)));
        else
            scripted_whole(&r.source, list(version_of(1, LONGEST + 1), ""));
        run_ms(&r, 1);
        assert_int_equal(ki_informer_has_synced(r.informer), 0);
        assert_int_equal(r.errors, 1);
        assert_non_null(strstr(r.message, "is too long"));
        rig_fini(&r);
    }
}

static void an_object_with_a_longer_version_is_refused_and_the_rest_continues(void **state)
{
    (void)state;
    static char items[8 * LONGEST];
    rig r;
    rig_init_informer(&r, KI_WATCH_LIST_NEVER);
    run_ms(&r, 1);
    snprintf(items, sizeof(items), "%s,%s", pod("a", version_of(1, LONGEST + 1)), pod("b", version(1)));
    scripted_whole(&r.source, list(version(2), items));
    run_ms(&r, 1);
    assert_string_equal(r.message, "the resourceVersion has 4097 bytes; the limit is 4096");
    assert_stored(&r, "a", NULL);
    assert_stored(&r, "b", version(1));
    assert_complete(&r, version(2));
    tell(&r, event("MODIFIED", pod("b", version_of(3, LONGEST + 1))));
    tell(&r, bookmark(version_of(4, LONGEST + 1), ""));
    assert_int_equal(r.errors, 3);
    assert_non_null(strstr(r.message, "4097 bytes"));
    assert_stored(&r, "b", version(1));
    assert_complete(&r, version(2));
    rig_fini(&r);
}

/* ---- out of memory ----------------------------------------------------------------------------------- */

/* A server at version 2 with d/a, and then three events. */
static void serve(scripted_source *source, const ki_list_options *options, void *user)
{
    (void)user;
    if (!options->watch) {
        scripted_whole(source, list(version(2), pod("a", version(1))));
        return;
    }
    unsigned next = 2;
    while (next < 6 && !ki_str_equal(options->resource_version, ki_str_of(version(next))))
        next++;
    assert_true(next < 6);
    if (next < 3 && source->answer != NULL)
        scripted_body(source, event("MODIFIED", pod("a", version(3))));
    if (next < 4 && source->answer != NULL)
        scripted_body(source, bookmark(version(4), ""));
    if (next < 5 && source->answer != NULL)
        scripted_body(source, event("ADDED", pod("b", version(5))));
}

static void make_feed(rig *r)
{
    r->store = ki_store_new(NULL, NULL);
    ki_feed_options options = {.informer = {.list_watch = &r->list_watch, .watch_list = KI_WATCH_LIST_NEVER},
                               .store = r->store};
    r->feed = ki_feed_new(r->client, &KI_CORE_V1_PODS, &options, NULL);
    assert_non_null(r->feed);
    assert_int_equal(ki_feed_start(r->feed, NULL), 0);
}

/* Returns whether the planned failure happened. */
static int run_once(size_t fail_at, int is_feed)
{
    rig r;
    if (is_feed) {
        rig_init(&r);
        make_feed(&r);
    } else {
        rig_init_informer(&r, KI_WATCH_LIST_NEVER);
    }
    r.source.at_once = serve;
    failing_allocator_fail_at(fail_at);
    run_ms(&r, 30 * 1000);
    int has_failed = failing_allocator_has_failed();
    failing_allocator_fail_at(0);
    assert_complete(&r, version(5));
    assert_stored(&r, "a", version(3));
    assert_stored(&r, "b", version(5));
    assert_int_equal(is_feed ? 2 : r.adds, 2);
    rig_fini(&r);
    return has_failed;
}

static void an_informer_with_long_versions_survives_every_failure(void **state)
{
    (void)state;
    size_t n = 1;
    while (run_once(n, 0))
        n++;
    assert_true(n > 20);
}

static void a_feed_with_long_versions_survives_every_failure(void **state)
{
    (void)state;
    size_t n = 1;
    while (run_once(n, 1))
        n++;
    assert_true(n > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(versions_of_4096_bytes_work_with_lists_and_watches),
        WITH_MEMORY_CHECK(versions_of_4096_bytes_work_with_streamed_lists),
        WITH_MEMORY_CHECK(numbers_of_4096_digits_are_ordered_and_in_the_metrics),
        WITH_MEMORY_CHECK(a_version_that_is_not_a_number_is_not_in_the_metrics),
        WITH_MEMORY_CHECK(a_list_with_a_longer_version_fails_with_a_message),
        WITH_MEMORY_CHECK(an_object_with_a_longer_version_is_refused_and_the_rest_continues),
        WITH_MEMORY_CHECK(an_informer_with_long_versions_survives_every_failure),
        WITH_MEMORY_CHECK(a_feed_with_long_versions_survives_every_failure),
    };
    return RUN_TESTS(tests);
}
