/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the controller's own writes. */
#include <stdio.h>
#include <string.h>

#include "client/client.h"
#include "support/controller/controller_rig.h"
#include "support/failing_allocator.h"
#include "support/store/object_make.h"
#include "support/unit.h"

/* The versions that the next reconcile of a key reports as written, in order, up to the first NULL. */
static const char *writes[4];
static int write_informers[4];

static ki_result write_something(controller_rig *rig, ki_request *request)
{
    for (int i = 0; i < 4 && writes[i] != NULL; i++) {
        char text[128];
        snprintf(text, sizeof(text), "{\"metadata\":{\"name\":\"w\",\"resourceVersion\":\"%s\"}}", writes[i]);
        ki_object *written = object_make(text, NULL);
        assert_int_equal(ki_request_expect(request, rig->informers[write_informers[i]], written), 0);
        ki_object_unref(written);
        writes[i] = NULL;
    }
    return ki_done();
}

/* Reconciles "k" once, which writes. */
static void begin(controller_rig *rig, const ki_controller_options *options)
{
    ki_error err = {0};
    controller_rig_init(rig, options);
    rig->reconcile = write_something;
    assert_int_equal(ki_controller_watch(rig->controller, rig->informers[RIG_PODS], NULL), 0);
    assert_int_equal(ki_controller_watch(rig->controller, rig->informers[RIG_DEPLOYMENTS], NULL), 0);
    assert_int_equal(ki_controller_start(rig->controller, &err), 0);
    controller_rig_sync(rig, "", "");
}

static void enqueue(controller_rig *rig, const char *key)
{
    assert_int_equal(ki_controller_enqueue(rig->controller, ki_str_of(key), 0), 0);
    controller_rig_run(rig, 0);
}

static void write_then_change(controller_rig *rig, const char *version)
{
    writes[0] = version;
    write_informers[0] = RIG_PODS;
    enqueue(rig, "k");
    RIG_EXPECT(rig, "k ");
    enqueue(rig, "k");
    RIG_EXPECT(rig, "");
}

static double count(controller_rig *rig, const char *result)
{
    char labels[64];
    snprintf(labels, sizeof(labels), "controller=test,result=%s", result);
    return controller_rig_metric(rig, "controller_expectations_total", labels);
}

static void a_key_waits_until_the_cache_has_seen_the_write(void **state)
{
    (void)state;
    controller_rig rig;
    begin(&rig, NULL);
    write_then_change(&rig, "20");
    controller_rig_event(&rig, RIG_PODS, "ADDED", rig_object("a", "early", 19, ""));
    enqueue(&rig, "other");
    controller_rig_run(&rig, 1000);
    RIG_EXPECT(&rig, "other a/early ");
    controller_rig_event(&rig, RIG_PODS, "ADDED", rig_object("a", "w", 20, ""));
    controller_rig_run(&rig, 100);
    RIG_EXPECT(&rig, "a/w k ");
    assert_int_equal(count(&rig, "seen"), 1);
    enqueue(&rig, "k"); /* back to normal */
    RIG_EXPECT(&rig, "k ");
    assert_int_equal(count(&rig, "seen"), 1);
    controller_rig_fini(&rig);
}

static ki_result write_once_and_come_back(controller_rig *rig, ki_request *request)
{
    bool is_first = writes[0] != NULL;
    (void)write_something(rig, request);
    return is_first ? ki_requeue_after(1) : ki_done();
}

static void a_waiting_key_keeps_its_priority(void **state)
{
    (void)state;
    controller_rig rig;
    ki_error err = {0};
    controller_rig_init(&rig, NULL);
    rig.reconcile = write_once_and_come_back;
    writes[0] = "20";
    write_informers[0] = RIG_PODS;
    assert_int_equal(ki_controller_watch(rig.controller, rig.informers[RIG_PODS], NULL), 0);
    assert_int_equal(ki_controller_start(rig.controller, &err), 0);
    controller_rig_sync(&rig, "", rig_object("a", "listed", 5, ""));
    controller_rig_run(&rig, 10);
    RIG_EXPECT(&rig, "a/listed ");
    assert_int_equal(ki_controller_stop(rig.controller, &err), 0);
    controller_rig_event(&rig, RIG_PODS, "BOOKMARK", "{\"metadata\":{\"resourceVersion\":\"20\"}}");
    controller_rig_run(&rig, 1000);
    enqueue(&rig, "now");
    assert_int_equal(ki_controller_start(rig.controller, &err), 0);
    controller_rig_run(&rig, 0);
    RIG_EXPECT(&rig, "now a/listed ");
    controller_rig_fini(&rig);
}

static double retries(controller_rig *rig)
{
    return controller_rig_metric(rig, "workqueue_retries_total", "name=test");
}

static void waiting_for_the_cache_is_not_counted_as_a_retry(void **state)
{
    (void)state;
    controller_rig rig;
    begin(&rig, NULL);
    write_then_change(&rig, "20");
    controller_rig_run(&rig, 1000);
    assert_int_equal(retries(&rig), 0);
    controller_rig_event(&rig, RIG_PODS, "ADDED", rig_object("a", "w", 20, ""));
    controller_rig_run(&rig, 100);
    RIG_EXPECT(&rig, "a/w k ");
    assert_int_equal(retries(&rig), 0);
    assert_int_equal(ki_controller_enqueue(rig.controller, KI_STR("k"), 10), 0);
    assert_int_equal(retries(&rig), 1);
    controller_rig_fini(&rig);
}

static void expect_counts(controller_rig *rig, double adds, double waits, double works)
{
    assert_true(controller_rig_metric(rig, "workqueue_adds_total", "name=test") == adds);
    assert_true(controller_rig_metric(rig, "workqueue_queue_duration_seconds_count", "name=test") == waits);
    assert_true(controller_rig_metric(rig, "workqueue_work_duration_seconds_count", "name=test") == works);
}

/* However often the cache is looked at meanwhile. */
static void waiting_for_the_cache_is_counted_as_one_piece_of_work(void **state)
{
    (void)state;
    controller_rig rig;
    begin(&rig, NULL);
    write_then_change(&rig, "20");
    expect_counts(&rig, 2, 2, 1);
    controller_rig_run(&rig, 5000);
    expect_counts(&rig, 2, 2, 1);
    controller_rig_event(&rig, RIG_PODS, "ADDED", rig_object("a", "w", 20, ""));
    controller_rig_run(&rig, 100);
    RIG_EXPECT(&rig, "a/w k ");
    expect_counts(&rig, 3, 3, 3);
    controller_rig_fini(&rig);
}

/* The first delay of a queue needs memory. Without it the key is put back, and no key is taken for a
 * moment. */
static void when_out_of_memory_a_key_still_waits_for_the_cache(void **state)
{
    (void)state;
    controller_rig rig;
    begin(&rig, NULL);
    writes[0] = "20";
    write_informers[0] = RIG_PODS;
    enqueue(&rig, "k");
    RIG_EXPECT(&rig, "k ");
    assert_int_equal(ki_controller_enqueue(rig.controller, KI_STR("k"), 0), 0);
    failing_allocator_fail_at(1);
    controller_rig_run(&rig, 0);
    assert_true(failing_allocator_has_failed());
    failing_allocator_fail_at(0);
    RIG_EXPECT(&rig, "");
    controller_rig_event(&rig, RIG_PODS, "ADDED", rig_object("a", "w", 20, ""));
    controller_rig_run(&rig, 99);
    RIG_EXPECT(&rig, "");
    controller_rig_run(&rig, 1);
    RIG_EXPECT(&rig, "k a/w ");
    controller_rig_fini(&rig);
}

/* The key changes, and waits for the cache, while its delay runs: it is reconciled as soon as the cache has
 * the write, and at the end of the delay. */
static void expect_both_runs(controller_rig *rig)
{
    controller_rig_run(rig, 10);
    RIG_EXPECT(rig, "");
    controller_rig_event(rig, RIG_PODS, "BOOKMARK", "{\"metadata\":{\"resourceVersion\":\"20\"}}");
    controller_rig_run(rig, 100);
    RIG_EXPECT(rig, "k ");
    controller_rig_run(rig, 800);
    RIG_EXPECT(rig, "");
    controller_rig_run(rig, 100);
    RIG_EXPECT(rig, "k ");
    controller_rig_run(rig, 10000);
    RIG_EXPECT(rig, "");
}

static ki_result write_and_come_back(controller_rig *rig, ki_request *request)
{
    bool is_first = writes[0] != NULL;
    (void)write_something(rig, request);
    return is_first ? ki_requeue_after(1000) : ki_done();
}

static void a_wait_for_the_cache_does_not_end_a_delay_before_it(void **state)
{
    (void)state;
    controller_rig rig;
    begin(&rig, NULL);
    rig.reconcile = write_and_come_back;
    write_then_change(&rig, "20");
    expect_both_runs(&rig);
    controller_rig_fini(&rig);
}

static void a_wait_for_the_cache_does_not_end_a_delay_after_it(void **state)
{
    (void)state;
    controller_rig rig;
    begin(&rig, NULL);
    write_then_change(&rig, "20");
    assert_int_equal(ki_controller_enqueue(rig.controller, KI_STR("k"), 1000), 0);
    expect_both_runs(&rig);
    controller_rig_fini(&rig);
}

static void keys_that_wait_do_not_keep_other_jobs_from_running(void **state)
{
    (void)state;
    enum { KEYS = 160, JOBS_MIN = 10 };
    controller_rig rig;
    char key[16];
    begin(&rig, NULL);
    write_informers[0] = RIG_PODS;
    for (int i = 0; i < KEYS; i++) {
        writes[0] = "20";
        snprintf(key, sizeof(key), "k%d", i);
        enqueue(&rig, key);
    }
    text_log_clear(&rig.calls);
    for (int i = 0; i < KEYS; i++) {
        snprintf(key, sizeof(key), "k%d", i);
        assert_int_equal(ki_controller_enqueue(rig.controller, ki_str_of(key), 0), 0);
    }
    assert_true(ki_loop_step(rig.client->handlers, 0) >= JOBS_MIN);
    RIG_EXPECT(&rig, "");
    controller_rig_fini(&rig);
}

static void a_deletion_and_a_bookmark_also_count(void **state)
{
    (void)state;
    controller_rig rig;
    begin(&rig, NULL);
    write_then_change(&rig, "20");
    controller_rig_event(&rig, RIG_PODS, "DELETED", rig_object("a", "w", 21, ""));
    controller_rig_run(&rig, 100);
    RIG_EXPECT(&rig, "k ");
    write_then_change(&rig, "30");
    controller_rig_event(&rig, RIG_PODS, "BOOKMARK", "{\"metadata\":{\"resourceVersion\":\"30\"}}");
    controller_rig_run(&rig, 100);
    RIG_EXPECT(&rig, "k ");
    assert_int_equal(count(&rig, "seen"), 2);
    controller_rig_fini(&rig);
}

static void list_again(controller_rig *rig, const char *version)
{
    scripted_error(&rig->sources[RIG_PODS], 410, "{\"kind\":\"Status\",\"reason\":\"Expired\",\"code\":410}");
    for (int i = 0; i < 100 && rig->sources[RIG_PODS].answer == NULL; i++)
        controller_rig_run(rig, 50);
    controller_rig_answer_list(rig, RIG_PODS, version, "");
    controller_rig_run(rig, 100);
}

/* A new watch can be refused, so the current one is cut first. */
static void relist(controller_rig *rig, const char *version)
{
    scripted_cut(&rig->sources[RIG_PODS], KI_REASON_CONNECTION_LOST);
    for (int i = 0; i < 100 && rig->sources[RIG_PODS].answer == NULL; i++)
        controller_rig_run(rig, 20);
    list_again(rig, version);
}

static void a_relist_ends_the_wait(void **state)
{
    (void)state;
    controller_rig rig;
    begin(&rig, NULL);
    write_then_change(&rig, "20");
    relist(&rig, "25");
    RIG_EXPECT(&rig, "k ");
    assert_int_equal(count(&rig, "seen"), 1);
    controller_rig_fini(&rig);
}

/* Such a list comes from a lagging server. The write follows in the watch from there. */
static void a_relist_that_is_older_than_the_write_does_not_end_the_wait(void **state)
{
    (void)state;
    controller_rig rig;
    begin(&rig, NULL);
    write_then_change(&rig, "20");
    relist(&rig, "15");
    controller_rig_run(&rig, 1000);
    RIG_EXPECT(&rig, "");
    controller_rig_event(&rig, RIG_PODS, "ADDED", rig_object("a", "w", 20, ""));
    controller_rig_run(&rig, 100);
    RIG_EXPECT(&rig, "a/w k ");
    assert_int_equal(count(&rig, "seen"), 1);
    controller_rig_fini(&rig);
}

static void a_history_that_was_reset_ends_the_wait(void **state)
{
    (void)state;
    controller_rig rig;
    begin(&rig, NULL);
    write_then_change(&rig, "20");
    relist(&rig, "3");
    RIG_EXPECT(&rig, "");
    text_log_clear(&rig.log);
    controller_rig_answer_list(&rig, RIG_PODS, "3", ""); /* a list of the newest version is older, too */
    controller_rig_run(&rig, 100);
    RIG_EXPECT(&rig, "k ");
    assert_int_equal(count(&rig, "history_reset"), 1);
    assert_int_equal(count(&rig, "seen"), 0);
    assert_int_equal(count(&rig, "timed_out"), 0);
    text_log_expect(&rig.log, "k: the history of the server was reset, perhaps before what was written\n",
                    __FILE__, __LINE__);
    controller_rig_fini(&rig);
}

/* The store is complete up to no version until the list has ended,
 * and then the version may be a higher one. */
static void a_reset_ends_the_wait_before_the_new_list_has_ended(void **state)
{
    (void)state;
    controller_rig rig;
    begin(&rig, NULL);
    write_then_change(&rig, "20");
    relist(&rig, "3");
    scripted_body(&rig.sources[RIG_PODS], "{\"kind\":\"List\",\"apiVersion\":\"v1\","
                                          "\"metadata\":{\"resourceVersion\":\"3\"},\"items\":[");
    controller_rig_run(&rig, 100);
    RIG_EXPECT(&rig, "k ");
    assert_int_equal(count(&rig, "history_reset"), 1);
    controller_rig_fini(&rig);
}

static void the_wait_ends_at_its_timeout(void **state)
{
    (void)state;
    controller_rig rig;
    begin(&rig, &(ki_controller_options){.expect_timeout_ms = 3000});
    write_then_change(&rig, "20");
    controller_rig_run(&rig, 2990);
    RIG_EXPECT(&rig, "");
    text_log_clear(&rig.log);
    controller_rig_run(&rig, 110); /* the longest time between two checks */
    RIG_EXPECT(&rig, "k ");
    assert_int_equal(count(&rig, "timed_out"), 1);
    assert_int_equal(count(&rig, "seen"), 0);
    text_log_expect(&rig.log,
                    "k: the cache does not have the written object after 3000 ms: continuing without it\n",
                    __FILE__, __LINE__);
    controller_rig_fini(&rig);
}

static void a_version_that_is_not_a_number_is_reached_or_times_out(void **state)
{
    (void)state;
    controller_rig rig;
    begin(&rig, NULL);
    write_then_change(&rig, "abc");
    controller_rig_event(&rig, RIG_PODS, "BOOKMARK", "{\"metadata\":{\"resourceVersion\":\"abc\"}}");
    controller_rig_run(&rig, 100);
    RIG_EXPECT(&rig, "k ");
    write_then_change(&rig, "abd");
    controller_rig_run(&rig, 9000);
    RIG_EXPECT(&rig, "");
    controller_rig_run(&rig, 1100);
    RIG_EXPECT(&rig, "k ");
    assert_int_equal(count(&rig, "timed_out"), 1);
    controller_rig_fini(&rig);
}

static void a_key_waits_for_the_highest_of_several_writes(void **state)
{
    (void)state;
    controller_rig rig;
    begin(&rig, NULL);
    writes[1] = "22"; /* in any order */
    writes[2] = "21";
    write_informers[1] = write_informers[2] = RIG_PODS;
    write_then_change(&rig, "20");
    controller_rig_event(&rig, RIG_PODS, "ADDED", rig_object("a", "w", 21, ""));
    controller_rig_run(&rig, 200);
    RIG_EXPECT(&rig, "a/w ");
    controller_rig_event(&rig, RIG_PODS, "MODIFIED", rig_object("a", "w", 22, ""));
    controller_rig_run(&rig, 200);
    RIG_EXPECT(&rig, "a/w k ");
    assert_int_equal(count(&rig, "seen"), 1);
    controller_rig_fini(&rig);
}

static void a_key_waits_for_every_informer(void **state)
{
    (void)state;
    controller_rig rig;
    begin(&rig, NULL);
    writes[1] = "21";
    write_informers[1] = RIG_DEPLOYMENTS;
    write_then_change(&rig, "20");
    controller_rig_event(&rig, RIG_PODS, "ADDED", rig_object("a", "w", 20, ""));
    controller_rig_run(&rig, 200);
    RIG_EXPECT(&rig, "a/w ");
    controller_rig_event(&rig, RIG_DEPLOYMENTS, "ADDED", rig_object("a", "d", 21, ""));
    controller_rig_run(&rig, 200);
    RIG_EXPECT(&rig, "a/d k ");
    controller_rig_fini(&rig);
}

static void a_key_does_not_wait_for_a_freed_informer(void **state)
{
    (void)state;
    controller_rig rig;
    begin(&rig, NULL);
    write_then_change(&rig, "20");
    ki_informer_free(rig.informers[RIG_PODS]);
    rig.informers[RIG_PODS] = NULL;
    controller_rig_run(&rig, 200);
    RIG_EXPECT(&rig, "k ");
    controller_rig_fini(&rig);
}

static ki_result expect_nothing(controller_rig *rig, ki_request *request)
{
    ki_object *empty = object_make("{\"metadata\":{\"name\":\"w\"}}", NULL);
    assert_int_equal(ki_request_expect(request, rig->informers[RIG_PODS], empty), KI_ERR_INVALID);
    assert_int_equal(ki_request_expect(request, NULL, empty), KI_ERR_INVALID);
    assert_int_equal(ki_request_expect(request, rig->informers[RIG_PODS], NULL), KI_ERR_INVALID);
    assert_int_equal(ki_request_expect(NULL, rig->informers[RIG_PODS], empty), KI_ERR_INVALID);
    assert_int_equal(ki_request_key(NULL).len, 0);
    assert_int_equal(ki_request_namespace(NULL).len, 0);
    assert_int_equal(ki_request_name(NULL).len, 0);
    assert_int_equal(ki_request_failures(NULL), 0);
    ki_object_unref(empty);
    return ki_done();
}

static void an_object_without_a_version_is_refused(void **state)
{
    (void)state;
    controller_rig rig;
    begin(&rig, NULL);
    rig.reconcile = expect_nothing;
    enqueue(&rig, "k");
    enqueue(&rig, "k");
    RIG_EXPECT(&rig, "k k ");
    controller_rig_fini(&rig);
}

/* Keys that are never reconciled again are not remembered forever. */
static void unused_expectations_are_forgotten(void **state)
{
    (void)state;
    controller_rig rig;
    char key[16];
    begin(&rig, NULL);
    size_t before = failing_allocator_live_count();
    for (int i = 0; i < 100; i++) {
        writes[0] = "20";
        snprintf(key, sizeof(key), "k%d", i);
        enqueue(&rig, key);
    }
    assert_true(failing_allocator_live_count() >= before + 200);
    controller_rig_run(&rig, 100000);
    writes[0] = "20";
    enqueue(&rig, "last");
    assert_true(failing_allocator_live_count() < before + 50);
    text_log_clear(&rig.calls);
    controller_rig_fini(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(a_key_waits_until_the_cache_has_seen_the_write),
        WITH_MEMORY_CHECK(when_out_of_memory_a_key_still_waits_for_the_cache),
        WITH_MEMORY_CHECK(a_waiting_key_keeps_its_priority),
        WITH_MEMORY_CHECK(waiting_for_the_cache_is_not_counted_as_a_retry),
        WITH_MEMORY_CHECK(waiting_for_the_cache_is_counted_as_one_piece_of_work),
        WITH_MEMORY_CHECK(a_wait_for_the_cache_does_not_end_a_delay_before_it),
        WITH_MEMORY_CHECK(a_wait_for_the_cache_does_not_end_a_delay_after_it),
        WITH_MEMORY_CHECK(keys_that_wait_do_not_keep_other_jobs_from_running),
        WITH_MEMORY_CHECK(a_deletion_and_a_bookmark_also_count),
        WITH_MEMORY_CHECK(a_relist_ends_the_wait),
        WITH_MEMORY_CHECK(a_relist_that_is_older_than_the_write_does_not_end_the_wait),
        WITH_MEMORY_CHECK(a_history_that_was_reset_ends_the_wait),
        WITH_MEMORY_CHECK(a_reset_ends_the_wait_before_the_new_list_has_ended),
        WITH_MEMORY_CHECK(the_wait_ends_at_its_timeout),
        WITH_MEMORY_CHECK(a_version_that_is_not_a_number_is_reached_or_times_out),
        WITH_MEMORY_CHECK(a_key_waits_for_the_highest_of_several_writes),
        WITH_MEMORY_CHECK(a_key_waits_for_every_informer),
        WITH_MEMORY_CHECK(a_key_does_not_wait_for_a_freed_informer),
        WITH_MEMORY_CHECK(an_object_without_a_version_is_refused),
        WITH_MEMORY_CHECK(unused_expectations_are_forgotten),
    };
    return RUN_TESTS(tests);
}
