/* SPDX-License-Identifier: Apache-2.0 */
#include "support/controller/controller_rig.h"

#include <kinformer/metrics.h>
#include <kinformer/resources.h>
#include <stdio.h>
#include <string.h>

#include "client/client.h"
#include "support/exposition.h"
#include "support/unit.h"
#include "util/units.h"

enum { TURNS_MAX = 100000, TEXTS = 8, TEXT_BYTES = 1024 };

static ki_result reconcile(ki_request *request, void *user)
{
    controller_rig *rig = user;
    text_log_add(&rig->calls, "%.*s ", KI_STR_ARGS(ki_request_key(request)));
    rig->reconciled_ns = ki_clock_now_ns(&rig->clock);
    return rig->reconcile == NULL ? ki_done() : rig->reconcile(rig, request);
}

static void on_release(void *user)
{
    ((controller_rig *)user)->released++;
}

static void on_log(const ki_log_record *record, void *user)
{
    controller_rig *rig = user;
    const char *key = "";
    size_t key_len = 0;
    if (strcmp(record->component, "controller") != 0)
        return;
    for (size_t i = 0; i < record->field_count; i++)
        if (strcmp(record->fields[i].name, "key") == 0) {
            key = record->fields[i].value.ptr;
            key_len = record->fields[i].value.len;
        }
    text_log_add(&rig->log, "%.*s: %s\n", (int)key_len, key, record->message);
}

void controller_rig_init(controller_rig *rig, const ki_controller_options *options)
{
    const ki_resource *resources[] = {&KI_APPS_V1_DEPLOYMENTS, &KI_CORE_V1_PODS};
    ki_controller_options mine = options == NULL ? (ki_controller_options){0} : *options;
    ki_error err = {0};
    *rig = (controller_rig){0};
    ki_clock_init_virtual(&rig->clock, 1000 * KI_NS_PER_MS, 1);
    rig->metrics = ki_metrics_new(NULL, &err);
    rig->client = ki_client_new_simulated(&(ki_client_options){.mode = KI_MODE_EVENT_LOOP,
                                                               .metrics = rig->metrics,
                                                               .log = on_log,
                                                               .log_user = rig,
                                                               .log_level = KI_LOG_INFO},
                                          &rig->clock, 3, &err);
    assert_non_null(rig->client);
    for (int i = 0; i < 2; i++) {
        scripted_source_init(&rig->sources[i]);
        rig->list_watches[i] = scripted_source_list_watch(&rig->sources[i]);
        ki_informer_options its = {.list_watch = &rig->list_watches[i],
                                   .watch_list = KI_WATCH_LIST_NEVER,
                                   .resync_ms = mine.resync_ms};
        rig->informers[i] = ki_informer_new(rig->client, resources[i], &its, &err);
        assert_non_null(rig->informers[i]);
    }
    mine.name = "test";
    mine.reconcile = reconcile;
    mine.on_release = on_release;
    mine.user = rig;
    rig->controller = ki_controller_new(rig->client, &mine, &err);
    assert_string_equal(err.message, "");
    assert_non_null(rig->controller);
}

void controller_rig_fini(controller_rig *rig)
{
    ki_controller_free(rig->controller);
    for (int i = 0; i < 2; i++)
        ki_informer_free(rig->informers[i]);
    ki_client_free(rig->client);
    ki_metrics_free(rig->metrics);
    assert_int_equal(rig->released, 1);
    for (int i = 0; i < 2; i++)
        scripted_source_fini(&rig->sources[i]);
    text_log_free(&rig->calls);
    text_log_free(&rig->log);
}

void controller_rig_run(controller_rig *rig, uint64_t ms)
{
    uint64_t until_ns = ki_clock_now_ns(&rig->clock) + ki_ns_of_ms(ms);
    for (int turns = 0;; turns++) {
        assert_true(turns < TURNS_MAX);
        assert_true(ki_client_dispatch(rig->client, KI_BUDGET_NONE) >= 0);
        uint64_t next_ns = ki_loop_next_ns(rig->client->handlers);
        if (next_ns <= ki_clock_now_ns(&rig->clock))
            continue;
        if (next_ns > until_ns)
            break;
        ki_clock_set_now_ns(&rig->clock, next_ns);
    }
    ki_clock_set_now_ns(&rig->clock, until_ns);
}

void controller_rig_answer_list(controller_rig *rig, int informer, const char *version, const char *items)
{
    char text[4 * TEXT_BYTES];
    snprintf(text, sizeof(text),
             "{\"kind\":\"List\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"%s\"},"
             "\"items\":[%s]}",
             version, items);
    scripted_whole(&rig->sources[informer], text);
}

void controller_rig_sync(controller_rig *rig, const char *deployments, const char *pods)
{
    ki_error err = {0};
    for (int i = 0; i < 2; i++)
        assert_int_equal(ki_informer_start(rig->informers[i], &err), 0);
    controller_rig_run(rig, 1);
    controller_rig_answer_list(rig, RIG_DEPLOYMENTS, "10", deployments);
    controller_rig_answer_list(rig, RIG_PODS, "10", pods);
    controller_rig_run(rig, 1);
}

void controller_rig_event(controller_rig *rig, int informer, const char *type, const char *object)
{
    char text[2 * TEXT_BYTES];
    snprintf(text, sizeof(text), "{\"type\":\"%s\",\"object\":%s}\n", type, object);
    scripted_body(&rig->sources[informer], text);
}

const char *rig_object(const char *ns, const char *name, int version, const char *metadata)
{
    static char texts[TEXTS][TEXT_BYTES];
    static int last;
    char *text = texts[last++ % TEXTS];
    char in[80] = "";
    if (ns[0] != 0)
        snprintf(in, sizeof(in), "\"namespace\":\"%s\",", ns);
    snprintf(text, TEXT_BYTES,
             "{\"metadata\":{%s\"name\":\"%s\",\"uid\":\"u-%s\",\"resourceVersion\":\"%d\"%s}}", in, name,
             name, version, metadata);
    return text;
}

const char *rig_owned(const char *ns, const char *name, int version, const char *api_version,
                      const char *kind, const char *owner)
{
    char metadata[512];
    snprintf(metadata, sizeof(metadata),
             ",\"ownerReferences\":[{\"apiVersion\":\"%s\",\"kind\":\"%s\",\"name\":\"%s\",\"uid\":\"o\","
             "\"controller\":true}]",
             api_version, kind, owner);
    return rig_object(ns, name, version, metadata);
}

double controller_rig_metric(controller_rig *rig, const char *name, const char *labels)
{
    exposition read;
    exposition_render(&read, rig->metrics);
    const exposition_sample *sample = exposition_find(&read, name, labels);
    if (sample == NULL)
        fail_msg("no metric %s{%s}", name, labels);
    double value = sample == NULL ? 0 : sample->value;
    exposition_free(&read);
    return value;
}

ki_controller_status controller_rig_status(controller_rig *rig)
{
    ki_controller_status status;
    ki_controller_read_status(rig->controller, &status);
    return status;
}
