/* SPDX-License-Identifier: Apache-2.0 */
/* The status and the metrics of an informer. */
#include <kinformer/informer.h>
#include <kinformer/log.h>
#include <kinformer/resources.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "metrics/metrics.h"
#include "support/exposition.h"
#include "support/failing_allocator.h"
#include "support/informer/informer_rig.h"
#include "support/text_log.h"
#include "support/unit.h"

/* ---- status ------------------------------------------------------------------------------------------ */

static void the_status_has_the_counts(void **state)
{
    (void)state;
    virtual_rig rig;
    ki_informer_status status;
    virtual_rig_init(&rig, &(ki_informer_options){.watch_list = KI_WATCH_LIST_NEVER});
    ki_informer_read_status(rig.informer, &status);
    assert_int_equal(status.phase, KI_PHASE_STOPPED);
    assert_int_equal(status.has_synced, 0);
    assert_true(status.byte_age_ms == UINT64_MAX && status.event_age_ms == UINT64_MAX);
    assert_string_equal(status.resource_version, "");
    virtual_rig_sync(&rig);
    sim_world_update(rig.world, 1);
    virtual_rig_run(&rig, 10);
    ki_informer_read_status(rig.informer, &status);
    assert_int_equal(status.phase, KI_PHASE_WATCHING);
    assert_int_equal(status.reason, KI_REASON_NONE);
    assert_int_equal(status.has_synced, 1);
    assert_int_equal(status.objects, 5);
    assert_true(status.bytes > 0 && status.bytes_read > 0);
    assert_int_equal(status.queued, 0);
    assert_int_equal(status.lists, 1);
    assert_int_equal(status.watches, 1);
    assert_int_equal(status.events, 1);
    assert_int_equal(status.refused, 0);
    assert_true(status.byte_age_ms <= 10 && status.event_age_ms <= 10);
    assert_int_equal(strtol(status.resource_version, NULL, 10), (long)sim_world_version(rig.world));
    virtual_rig_fini(&rig);
}

/* There is space for the longest version, but only the bytes of the actual one are written. */
static void reading_the_status_writes_only_the_bytes_of_the_version(void **state)
{
    (void)state;
    virtual_rig rig;
    ki_informer_status status;
    virtual_rig_init(&rig, NULL);
    virtual_rig_sync(&rig);
    memset(&status, '?', sizeof(status));
    ki_informer_read_status(rig.informer, &status);
    assert_int_equal(strlen(status.resource_version), status.resource_version_bytes);
    for (size_t i = status.resource_version_bytes + 1; i < sizeof(status.resource_version); i++)
        assert_int_equal(status.resource_version[i], '?');
    memset(&status, '?', sizeof(status));
    ki_informer_read_status(NULL, &status);
    assert_int_equal(status.resource_version_bytes, 0);
    assert_string_equal(status.resource_version, "");
    assert_int_equal(status.resource_version[1], '?');
    virtual_rig_fini(&rig);
}

static void the_status_of_a_failing_informer_says_why(void **state)
{
    (void)state;
    virtual_rig rig;
    ki_informer_status status;
    ki_error err = {0};
    virtual_rig_init(&rig, NULL);
    sim_server_set_faults(rig.server, &(sim_faults){.refuse = 1});
    assert_int_equal(ki_informer_start(rig.informer, NULL), 0);
    virtual_rig_run(&rig, 100);
    ki_informer_read_status(rig.informer, &status);
    assert_int_equal(status.phase, KI_PHASE_BACKING_OFF);
    assert_int_equal(status.reason, KI_REASON_CONNECTION_REFUSED);
    assert_true(status.retry_ms > 0);
    assert_int_equal(ki_informer_wait_for_sync(rig.informer, 0, &err), KI_ERR_TIMEOUT);
    assert_non_null(strstr(err.message, "pods"));
    assert_non_null(strstr(err.message, "BACKING_OFF"));
    assert_non_null(strstr(err.message, "ConnectionRefused"));
    virtual_rig_fini(&rig);
}

static void a_retry_now_does_not_wait_for_the_backoff(void **state)
{
    (void)state;
    virtual_rig rig;
    virtual_rig_init(&rig, &(ki_informer_options){.backoff_ms = 20000});
    sim_server_set_faults(rig.server, &(sim_faults){.refuse = 1});
    assert_int_equal(ki_informer_start(rig.informer, NULL), 0);
    virtual_rig_run(&rig, 100);
    sim_server_set_faults(rig.server, &(sim_faults){0});
    virtual_rig_run(&rig, 100);
    assert_int_equal(ki_informer_has_synced(rig.informer), 0);
    ki_informer_retry_now(rig.informer);
    virtual_rig_run(&rig, 100);
    assert_int_equal(ki_informer_has_synced(rig.informer), 1);
    virtual_rig_fini(&rig);
}

static void the_metrics_have_the_counts_of_the_informer(void **state)
{
    (void)state;
    virtual_rig rig;
    ki_metrics_text text = {0};
    heard what;
    heard_init(&what);
    virtual_rig_init(&rig, &(ki_informer_options){.name = "my-pods"});
    ki_handler handler = heard_handler(&what);
    handler.name = "the-handler";
    assert_non_null(ki_informer_add_handler(rig.informer, &handler, NULL));
    virtual_rig_sync(&rig);
    assert_int_equal(ki_metrics_render(ki_client_metrics(rig.client), &text, NULL), 0);
    assert_non_null(strstr(text.bytes, "informer_store_objects{name=\"my-pods\",group=\"\",version=\"v1\","
                                       "resource=\"pods\"} 5\n"));
    assert_non_null(strstr(text.bytes, "informer_listener_backlog{name=\"my-pods\",group=\"\",version=\"v1\","
                                       "resource=\"pods\",handler=\"the-handler\"} 0\n"));
    assert_non_null(strstr(text.bytes, "informer_store_resource_version{"));
    assert_non_null(strstr(text.bytes, "informer_watches_total{"));
    assert_non_null(strstr(text.bytes, "informer_handler_duration_seconds_count{"));
    ki_metrics_text_fini(&text);
    virtual_rig_fini(&rig);
    heard_fini(&what);
}

static void events_are_counted_by_their_names_in_the_kubernetes_api(void **state)
{
    (void)state;
    static const char *const lines[] = {"ADDED\"} 1\n", "MODIFIED\"} 2\n", "DELETED\"} 1\n", "BOOKMARK\"} ",
                                        "ERROR\"} 0\n"};
    virtual_rig rig;
    ki_metrics_text text = {0};
    virtual_rig_init(&rig, &(ki_informer_options){0});
    virtual_rig_sync(&rig);
    sim_world_update(rig.world, 0);
    sim_world_update(rig.world, 1);
    sim_world_delete(rig.world, 1);
    sim_world_create(rig.world, 1);
    virtual_rig_run(&rig, 1000);
    assert_int_equal(ki_metrics_render(ki_client_metrics(rig.client), &text, NULL), 0);
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        char line[160];
        (void)snprintf(line, sizeof(line),
                       "informer_watch_events_total{name=\"pods\",group=\"\",version=\"v1\","
                       "resource=\"pods\",type=\"%s",
                       lines[i]);
        assert_non_null(strstr(text.bytes, line));
    }
    ki_metrics_text_fini(&text);
    virtual_rig_fini(&rig);
}

/* ---- age and log ------------------------------------------------------------------------------------- */

static const char *age_in_metrics(const virtual_rig *rig)
{
    static char number[32];
    static const char name[] =
        "\ninformer_store_age_seconds{name=\"p\",group=\"\",version=\"v1\",resource=\"pods\"} ";
    ki_metrics_text text = {0};
    assert_int_equal(ki_metrics_render(ki_client_metrics(rig->client), &text, NULL), 0);
    const char *found = strstr(text.bytes, name);
    assert_non_null(found);
    snprintf(number, sizeof(number), "%.*s", (int)strcspn(found + strlen(name), "\n"), found + strlen(name));
    ki_metrics_text_fini(&text);
    return number;
}

static void the_metrics_have_the_age_of_the_store(void **state)
{
    (void)state;
    virtual_rig rig;
    virtual_rig_init(&rig, &(ki_informer_options){.name = "p"});
    assert_string_equal(age_in_metrics(&rig), "+Inf");
    virtual_rig_sync(&rig);
    sim_server_set_faults(rig.server, &(sim_faults){.refuse = 1});
    sim_server_cut_all(rig.server);
    virtual_rig_run(&rig, 200 * 1000);
    uint64_t age_ms = ki_informer_age_ms(rig.informer);
    assert_true(age_ms >= 200 * 1000 && age_ms < 300 * 1000);
    assert_int_equal((long)(strtod(age_in_metrics(&rig), NULL) * 1000 + 0.5), (long)age_ms);
    virtual_rig_run(&rig, 5000);
    assert_int_equal((long)(strtod(age_in_metrics(&rig), NULL) * 1000 + 0.5), (long)age_ms + 5000);
    virtual_rig_fini(&rig);
}

static void the_metrics_can_be_written_after_the_informer_was_freed(void **state)
{
    (void)state;
    virtual_rig rig;
    ki_metrics_text text = {0};
    virtual_rig_init(&rig, &(ki_informer_options){.name = "p"});
    virtual_rig_sync(&rig);
    ki_metrics *metrics = ki_metrics_ref(ki_client_metrics(rig.client));
    virtual_rig_fini(&rig);
    assert_int_equal(ki_metrics_render(metrics, &text, NULL), 0);
    assert_null(strstr(text.bytes, "informer_store_age_seconds"));
    ki_metrics_text_fini(&text);
    ki_metrics_free(metrics);
}

static text_log logged;

/* Keeps only changes of state, not each failure. */
static void keep_turns(const ki_log_record *record, void *user)
{
    (void)user;
    if (record->level == KI_LOG_INFO || strstr(record->message, "brought nothing") != NULL)
        text_log_add(&logged, "%s\n", record->message);
}

static bool was_logged(const char *part)
{
    return logged.text != NULL && strstr(logged.text, part) != NULL;
}

static void an_informer_logs_when_it_begins_and_stops_polling(void **state)
{
    (void)state;
    virtual_rig rig;
    virtual_rig_init(&rig, NULL);
    virtual_rig_sync(&rig);
    ki_set_log(keep_turns, KI_LOG_INFO, NULL);
    sim_server_break(rig.server, (sim_breakage){SIM_WATCHES | SIM_STREAMS, SIM_RESETS});
    sim_server_cut_all(rig.server);
    virtual_rig_run(&rig, 600 * 1000);
    assert_true(was_logged("the last watches brought nothing: the collection is listed instead"));
    assert_null(strstr(strstr(logged.text, "brought nothing") + 1, "brought nothing")); /* logged once */
    assert_false(was_logged("again"));
    sim_server_break(rig.server, (sim_breakage){0});
    for (int i = 0; i < 120; i++) {
        sim_world_update(rig.world, 1);
        virtual_rig_run(&rig, 1000);
    }
    assert_true(was_logged("watches bring events again\n"));
    ki_set_log(NULL, KI_LOG_TRACE, NULL);
    text_log_free(&logged);
    virtual_rig_fini(&rig);
}

static void a_restored_connection_is_logged_with_how_it_resumed(void **state)
{
    (void)state;
    virtual_rig rig;
    virtual_rig_init(&rig, NULL);
    virtual_rig_sync(&rig);
    ki_set_log(keep_turns, KI_LOG_INFO, NULL);
    sim_server_set_faults(rig.server, &(sim_faults){.refuse = 1});
    sim_server_cut_all(rig.server);
    virtual_rig_run(&rig, 60 * 1000);
    assert_false(was_logged("again"));
    sim_server_set_faults(rig.server, &(sim_faults){0});
    virtual_rig_run(&rig, 60 * 1000);
    assert_true(was_logged("watching again after "));
    assert_true(was_logged(" s: resumed\n"));
    ki_set_log(NULL, KI_LOG_TRACE, NULL);
    text_log_free(&logged);
    virtual_rig_fini(&rig);
}

static double batches_applied(const virtual_rig *rig)
{
    exposition read;
    exposition_render(&read, ki_client_metrics(rig->client));
    const exposition_sample *count = exposition_find(&read, "informer_processing_latency_seconds_count",
                                                     "name=pods,group=,version=v1,resource=pods");
    assert_non_null(count);
    double value = count->value;
    exposition_free(&read);
    return value;
}

static void a_run_that_applies_nothing_is_not_measured(void **state)
{
    (void)state;
    virtual_rig rig;
    virtual_rig_init(&rig, NULL);
    virtual_rig_sync(&rig);
    virtual_rig_run(&rig, 10);
    double before = batches_applied(&rig);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(ki_informer_start(rig.informer, NULL), 0); /* wakes dispatch */
        virtual_rig_run(&rig, 10);
    }
    assert_true(batches_applied(&rig) <= before);
    sim_world_update(rig.world, 1);
    virtual_rig_run(&rig, 10);
    assert_true(batches_applied(&rig) >= before + 1 && batches_applied(&rig) <= before + 1);
    virtual_rig_fini(&rig);
}

/* Returns whether the metrics have an informer with this name. */
static int has_numbers_of(const virtual_rig *rig, const char *name)
{
    ki_metrics_text text = {0};
    char label[64];
    snprintf(label, sizeof(label), "informer_store_objects{name=\"%s\",", name);
    assert_int_equal(ki_metrics_render(ki_client_metrics(rig->client), &text, NULL), 0);
    int is_there = strstr(text.bytes, label) != NULL;
    ki_metrics_text_fini(&text);
    return is_there;
}

static void informers_of_one_resource_have_different_names_in_the_metrics(void **state)
{
    (void)state;
    virtual_rig rig;
    virtual_rig_init(&rig, NULL);
    ki_informer_options options = {.list_watch = &rig.source};
    ki_informer *second = ki_informer_new(rig.client, &KI_CORE_V1_PODS, &options, NULL);
    options.ns = "a";
    ki_informer *of_namespace = ki_informer_new(rig.client, &KI_CORE_V1_PODS, &options, NULL);
    assert_non_null(second);
    assert_non_null(of_namespace);
    assert_true(has_numbers_of(&rig, "pods"));
    assert_true(has_numbers_of(&rig, "pods#2"));
    assert_true(has_numbers_of(&rig, "pods/a"));
    ki_informer_free(second);
    assert_true(has_numbers_of(&rig, "pods"));
    assert_false(has_numbers_of(&rig, "pods#2"));
    ki_informer_free(of_namespace);
    virtual_rig_fini(&rig);
}

static void an_informer_with_its_own_name_does_not_change_other_names(void **state)
{
    (void)state;
    virtual_rig rig;
    virtual_rig_init(&rig, &(ki_informer_options){.name = "my-pods"});
    ki_informer_options options = {.list_watch = &rig.source};
    ki_informer *second = ki_informer_new(rig.client, &KI_CORE_V1_PODS, &options, NULL);
    assert_non_null(second);
    assert_true(has_numbers_of(&rig, "my-pods"));
    assert_true(has_numbers_of(&rig, "pods"));
    ki_informer_free(second);
    virtual_rig_fini(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(the_status_has_the_counts),
        WITH_MEMORY_CHECK(reading_the_status_writes_only_the_bytes_of_the_version),
        WITH_MEMORY_CHECK(the_status_of_a_failing_informer_says_why),
        WITH_MEMORY_CHECK(a_retry_now_does_not_wait_for_the_backoff),
        WITH_MEMORY_CHECK(the_metrics_have_the_counts_of_the_informer),
        WITH_MEMORY_CHECK(events_are_counted_by_their_names_in_the_kubernetes_api),
        WITH_MEMORY_CHECK(the_metrics_have_the_age_of_the_store),
        WITH_MEMORY_CHECK(the_metrics_can_be_written_after_the_informer_was_freed),
        WITH_MEMORY_CHECK(an_informer_logs_when_it_begins_and_stops_polling),
        WITH_MEMORY_CHECK(a_restored_connection_is_logged_with_how_it_resumed),
        WITH_MEMORY_CHECK(a_run_that_applies_nothing_is_not_measured),
        WITH_MEMORY_CHECK(informers_of_one_resource_have_different_names_in_the_metrics),
        WITH_MEMORY_CHECK(an_informer_with_its_own_name_does_not_change_other_names),
    };
    return RUN_TESTS(tests);
}
