/* SPDX-License-Identifier: Apache-2.0 */
/* The body of a watch: when it ends and when it sends bookmarks, while there are always more events. */
#include "apiserver/serve/stream.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "support/apiserver/as_rig.h"
#include "support/unit.h"
#include "util/clock.h"
#include "util/units.h"

enum { OBJECTS = 100, TEXT_BYTES = 256 * 1024, FIRST_VERSION = 1000 };

typedef struct rig {
    struct as_rig base;
    struct ki_as_stream *stream;
    _Atomic size_t count;
    char text[TEXT_BYTES];
    size_t len;
} rig;

static void ignore(void *user)
{
    (void)user;
}

static int setup(void **state)
{
    static rig one;
    one = (rig){.count = 1};
    as_rig_init(&one.base, 1000);
    *state = &one;
    return 0;
}

static int teardown(void **state)
{
    rig *r = *state;
    ki_as_stream_free(r->stream);
    assert_int_equal(r->count, 0);
    as_rig_fini(&r->base);
    return 0;
}

static void put_objects(rig *r)
{
    for (int i = 0; i < OBJECTS; i++) {
        char key[32];
        snprintf(key, sizeof(key), "default/o-%03d", i);
        as_rig_put(&r->base, key, "web");
    }
}

static void open_stream(rig *r, struct ki_as_stream_options options)
{
    options.storage = r->base.storage;
    options.resource = as_rig_resource(&r->base, "configmaps");
    options.after = options.initial == NULL ? FIRST_VERSION : options.initial->version;
    options.wake = ignore;
    options.lose = ignore;
    options.form = KI_AS_FORM_JSON;
    options.count = &r->count;
    r->stream = ki_as_stream_new(&options);
    assert_non_null(r->stream);
}

/* Reads small pieces until there is nothing more to read, and returns the result of the last read. */
static ssize_t read_all(rig *r)
{
    uint64_t due_ns = 0;
    ssize_t n = 0;
    do {
        assert_true(r->len + 200 < TEXT_BYTES);
        n = ki_as_stream_read(r->stream, r->text + r->len, 200, &due_ns);
        r->len += n > 0 ? (size_t)n : 0;
    } while (n > 0);
    r->text[r->len] = 0;
    return n;
}

static int count_of(const rig *r, const char *part)
{
    int count = 0;
    for (const char *at = strstr(r->text, part); at != NULL; at = strstr(at + 1, part))
        count++;
    return count;
}

static void a_busy_watch_ends_at_its_timeout(void **state)
{
    rig *r = *state;
    put_objects(r);
    open_stream(r, (struct ki_as_stream_options){.end_ns = 1});
    assert_int_equal(read_all(r), -1);
    assert_in_range(count_of(r, "ADDED"), 0, OBJECTS / 2);
}

static void a_busy_watch_has_bookmarks_between_its_events(void **state)
{
    rig *r = *state;
    put_objects(r);
    open_stream(r, (struct ki_as_stream_options){.end_ns = UINT64_MAX, .bookmark_ns = 1});
    uint64_t due_ns = 0;
    while (strstr(r->text, "o-099\"") == NULL) {
        ssize_t n = ki_as_stream_read(r->stream, r->text + r->len, 200, &due_ns);
        assert_true(n > 0);
        r->len += (size_t)n;
        r->text[r->len] = 0;
    }
    const char *bookmark = strstr(r->text, "BOOKMARK");
    assert_non_null(bookmark);
    assert_true(bookmark < strstr(r->text, "o-099"));
    /* The version of the batch sent before it. */
    unsigned long long version = 0;
    const char *text = strstr(bookmark, "resourceVersion\":\"");
    assert_int_equal(sscanf(text, "resourceVersion\":\"%llu", &version), 1);
    char last[32];
    snprintf(last, sizeof(last), "o-%03llu\"", version - FIRST_VERSION - 1);
    assert_non_null(strstr(r->text, last));
    assert_true(strstr(r->text, last) < bookmark);
    snprintf(last, sizeof(last), "o-%03llu\"", version - FIRST_VERSION);
    assert_true(strstr(r->text, last) > bookmark);
}

/* A page of all objects. */
static struct ki_as_page page_of_all(rig *r)
{
    struct ki_as_page page = {0};
    struct ki_as_collection *collection = as_rig_collection(&r->base, "configmaps");
    ki_as_storage_lock(r->base.storage);
    assert_int_equal(ki_as_storage_page(r->base.storage, collection, &(struct ki_as_page_request){0}, &page,
                                        &r->base.failure),
                     0);
    ki_as_storage_unlock(r->base.storage);
    return page;
}

static void initial_events_end_in_time_without_a_bookmark(void **state)
{
    rig *r = *state;
    put_objects(r);
    struct ki_as_page page = page_of_all(r);
    open_stream(r, (struct ki_as_stream_options){
                       .end_ns = 1, .bookmark_ns = 1, .has_end_marker = true, .initial = &page});
    assert_int_equal(read_all(r), -1);
    assert_true(count_of(r, "ADDED") < OBJECTS);
    assert_int_equal(count_of(r, "BOOKMARK"), 0);
}

static void an_idle_watch_ends_with_a_bookmark_of_the_current_version(void **state)
{
    rig *r = *state;
    open_stream(r, (struct ki_as_stream_options){.end_ns = 1, .bookmark_ns = UINT32_MAX});
    as_rig_put(&r->base, "node", "other");
    assert_int_equal(read_all(r), -1);
    assert_int_equal(count_of(r, "BOOKMARK"), 1);
    assert_int_equal(count_of(r, "\"resourceVersion\":\"1001\""), 1);
}

static void a_watch_of_a_future_version_gets_nothing(void **state)
{
    rig *r = *state;
    struct ki_as_page ahead = {.version = FIRST_VERSION + 10};
    open_stream(r, (struct ki_as_stream_options){
                       .end_ns = UINT64_MAX, .bookmark_ns = KI_NS_PER_MS, .initial = &ahead});
    for (int i = 0; i < 5; i++) {
        as_rig_put(&r->base, "default/a", i % 2 == 0 ? "web" : "db");
        assert_int_equal(read_all(r), 0);
        (void)poll(NULL, 0, 2);
    }
    assert_int_equal(r->len, 0);
}

static void a_watch_continues_when_its_limit_is_lifted(void **state)
{
    rig *r = *state;
    put_objects(r);
    open_stream(r, (struct ki_as_stream_options){.end_ns = UINT64_MAX, .events_max = 3});
    assert_int_equal(read_all(r), 0);
    assert_true(ki_as_stream_is_at_limit(r->stream));
    assert_int_equal(count_of(r, "ADDED"), 3);
    ki_as_stream_lift_limit(r->stream);
    assert_int_equal(read_all(r), 0);
    assert_int_equal(count_of(r, "ADDED"), OBJECTS);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_busy_watch_ends_at_its_timeout),
        TEST(a_busy_watch_has_bookmarks_between_its_events),
        TEST(initial_events_end_in_time_without_a_bookmark),
        TEST(an_idle_watch_ends_with_a_bookmark_of_the_current_version),
        TEST(a_watch_of_a_future_version_gets_nothing),
        TEST(a_watch_continues_when_its_limit_is_lifted),
    };
    return RUN_TESTS(tests);
}
