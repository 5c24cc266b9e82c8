/* SPDX-License-Identifier: Apache-2.0 */
/* A feed that is stopped during a list: changes that only this list would have delivered are requested
 * again. */
#include <kinformer.h>

#include "client/client.h"
#include "support/reflector/reflector_run.h"
#include "support/unit.h"
#include "util/units.h"

typedef struct rig {
    ki_clock clock;
    scripted_source source;
    ki_client *client;
    ki_store *store;
    ki_feed *feed;
    const char *refused; /* the transform refuses the object with this name */
    const char *stopped; /* the transform of this object stops the feed */
} rig;

static int transform(const ki_object **object, void *user)
{
    rig *r = user;
    if (r->stopped != NULL && ki_str_equal(ki_object_name(*object), ki_str_of(r->stopped)))
        ki_feed_stop(r->feed);
    return r->refused != NULL && ki_str_equal(ki_object_name(*object), ki_str_of(r->refused)) ? KI_ERR_INVALID
                                                                                              : 0;
}

/* Runs everything that is due within this many seconds. */
static void run(rig *r, uint64_t seconds)
{
    uint64_t end = ki_clock_now_ns(&r->clock) + seconds * KI_NS_PER_S;
    while (ki_clock_now_ns(&r->clock) < end) {
        assert_true(ki_client_dispatch(r->client, KI_BUDGET_NONE) >= 0);
        uint64_t next = ki_ns_min(ki_loop_next_ns(r->client->handlers), end);
        if (next > ki_clock_now_ns(&r->clock))
            ki_clock_set_now_ns(&r->clock, next);
    }
    assert_true(ki_client_dispatch(r->client, KI_BUDGET_NONE) >= 0);
}

static void start(rig *r)
{
    assert_int_equal(ki_feed_start(r->feed, NULL), 0);
    assert_true(ki_client_dispatch(r->client, KI_BUDGET_NONE) >= 0);
}

static void setup(rig *r)
{
    *r = (rig){0};
    ki_clock_init_virtual(&r->clock, KI_NS_PER_S, 1);
    scripted_source_init(&r->source);
    ki_list_watch list_watch = scripted_source_list_watch(&r->source);
    r->client = ki_client_new_simulated(&(ki_client_options){.mode = KI_MODE_EVENT_LOOP}, &r->clock, 7, NULL);
    r->store = ki_store_new(NULL, NULL);
    r->feed = ki_feed_new(r->client, &KI_CORE_V1_PODS,
                          &(ki_feed_options){.informer = {.list_watch = &list_watch,
                                                          .watch_list = KI_WATCH_LIST_NEVER,
                                                          .transform = transform,
                                                          .transform_user = r},
                                             .store = r->store},
                          NULL);
    assert_non_null(r->feed);
}

static void teardown(rig *r)
{
    ki_feed_free(r->feed);
    ki_client_free(r->client);
    ki_store_free(r->store);
    scripted_source_fini(&r->source);
}

static int has(rig *r, const char *name)
{
    ki_object *object = ki_store_get(r->store, KI_STR("d"), ki_str_of(name));
    int is_there = object != NULL;
    ki_object_unref(object);
    return is_there;
}

/* The delete of "a" was refused, so a list must report it. The feed is stopped before that list ends. */
static void stop_during_the_relist(rig *r)
{
    start(r);
    scripted_whole(&r->source, LIST("10", "", POD("a", "5") "," POD("b", "6")));
    run(r, 1);
    r->refused = "a";
    scripted_body(&r->source, EVENT("DELETED", POD("a", "11")) EVENT("ADDED", POD("c", "12")));
    text_log_clear(&r->source.requests);
    run(r, 60);
    expect_requests(r, "cancel\nLIST rv=12 match=NotOlderThan limit=500\n");
    r->refused = NULL;
    r->stopped = "c";
    scripted_whole(&r->source, LIST("12", "", POD("b", "6") "," POD("c", "12")));
    r->stopped = NULL;
    run(r, 1);
}

static void list_interrupted_by_a_stop_is_repeated(void **state)
{
    (void)state;
    rig r;
    setup(&r);
    stop_during_the_relist(&r);
    assert_true(has(&r, "a"));
    text_log_clear(&r.source.requests);
    start(&r);
    expect_requests(&r, "LIST rv=12 match=NotOlderThan limit=500\n");
    scripted_whole(&r.source, LIST("12", "", POD("b", "6") "," POD("c", "12")));
    run(&r, 1);
    assert_false(has(&r, "a"));
    assert_true(has(&r, "b"));
    assert_true(has(&r, "c"));
    assert_int_equal(ki_store_count(r.store), 2);
    teardown(&r);
}

/* Once the list has been repeated, no other list is needed. */
static void list_is_repeated_only_once(void **state)
{
    (void)state;
    rig r;
    setup(&r);
    stop_during_the_relist(&r);
    start(&r);
    scripted_whole(&r.source, LIST("12", "", POD("b", "6") "," POD("c", "12")));
    run(&r, 1);
    ki_feed_stop(r.feed);
    text_log_clear(&r.source.requests);
    start(&r);
    expect_requests(&r, "WATCH rv=12 bookmarks\n");
    teardown(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(list_interrupted_by_a_stop_is_repeated),
        cmocka_unit_test(list_is_repeated_only_once),
    };
    return RUN_TESTS(tests);
}
