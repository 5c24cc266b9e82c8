/* SPDX-License-Identifier: Apache-2.0 */
/* A write to a stored object is reported through the program's log once the store can be used again. */
#include <kinformer/log.h>
#include <string.h>

#include "support/failing_allocator.h"
#include "support/informer/apply_run.h"
#include "support/unit.h"

typedef struct watched_run {
    apply_run run;
    ki_mutation_detector detector;
    size_t reports;
    size_t locked; /* reports while a lock of the store was held */
} watched_run;

static bool is_held(ki_mutex *mutex)
{
    if (pthread_mutex_trylock(&mutex->raw) != 0)
        return true;
    (void)pthread_mutex_unlock(&mutex->raw);
    return false;
}

static void on_log(const ki_log_record *record, void *user)
{
    watched_run *w = user;
    if (record->level != KI_LOG_ERROR)
        return;
    w->reports++;
    w->locked += is_held(&w->run.store->mu) || is_held(&w->run.store->write_mu);
}

static void watched_run_init(watched_run *w)
{
    memset(w, 0, sizeof(*w));
    apply_run_init(&w->run);
    ki_mutation_detector_options options = {.mode = KI_MUTATION_REPORT, .hash_seed = 7};
    assert_int_equal(ki_mutation_detector_init(&w->detector, &options), 0);
    w->run.apply.options.detector = &w->detector;
    ki_set_log(on_log, KI_LOG_ERROR, w);
}

static void watched_run_fini(watched_run *w)
{
    ki_set_log(NULL, KI_LOG_ERROR, NULL);
    ki_mutation_detector_fini(&w->detector);
    apply_run_fini(&w->run);
}

static void write_into(watched_run *w, const char *name)
{
    ki_object *object = ki_store_get(w->run.store, KI_STR("default"), ki_str_of(name));
    assert_non_null(object);
    char *text = (char *)ki_object_json(object).ptr;
    text[ki_object_json(object).len - 1] ^= 1;
    (void)ki_object_unref(object);
}

static void expect_reports_without_a_lock(const char *script, size_t reports)
{
    watched_run w;
    watched_run_init(&w);
    apply_run_play(&w.run, "(1 a1 b1 )5 |");
    write_into(&w, "a");
    write_into(&w, "b");
    apply_run_play(&w.run, script);
    assert_int_equal(w.reports, reports);
    assert_int_equal(w.locked, 0);
    watched_run_fini(&w);
}

static void updates_report_replaced_objects_without_a_lock(void **state)
{
    (void)state;
    expect_reports_without_a_lock("~a6 ~b7 |", 2);
}

static void deletes_report_removed_objects_without_a_lock(void **state)
{
    (void)state;
    expect_reports_without_a_lock("-a6 |", 1);
}

static void the_end_of_a_list_reports_swept_objects_without_a_lock(void **state)
{
    (void)state;
    expect_reports_without_a_lock("(2 )9 |", 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(updates_report_replaced_objects_without_a_lock),
        WITH_MEMORY_CHECK(deletes_report_removed_objects_without_a_lock),
        WITH_MEMORY_CHECK(the_end_of_a_list_reports_swept_objects_without_a_lock),
    };
    return RUN_TESTS(tests);
}
