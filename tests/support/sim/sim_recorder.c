/* SPDX-License-Identifier: Apache-2.0 */
#include "support/sim/sim_recorder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/unit.h"

static sim_recorder *recorder_of(ki_answer *answer)
{
    return (sim_recorder *)(void *)answer;
}

static ki_answer *answer_of(sim_recorder *recorder)
{
    return (ki_answer *)(void *)recorder;
}

static void on_head(ki_answer *answer, int http_status, uint32_t retry_after_seconds)
{
    sim_recorder *recorder = recorder_of(answer);
    assert_int_equal(recorder->heads++, 0);
    assert_int_equal(recorder->pieces, 0);
    assert_false(recorder->ends || recorder->cancelled);
    recorder->http_status = http_status;
    recorder->retry_after_seconds = retry_after_seconds;
}

static int on_body(ki_answer *answer, const char *bytes, size_t n)
{
    sim_recorder *recorder = recorder_of(answer);
    assert_int_equal(recorder->heads, 1);
    assert_false(recorder->ends || recorder->cancelled || recorder->paused);
    assert_true(n > 0);
    sim_text_append(&recorder->body, bytes, n);
    sim_text_append(&recorder->body, "", 1); /* a NUL after it, so that it can be read as a string */
    recorder->body.len--;
    recorder->pieces++;
    if (recorder->pieces == recorder->cancels_after) {
        sim_recorder_cancel(recorder);
        return KI_ERR_NOT_FOUND;
    }
    recorder->paused = recorder->pauses;
    return recorder->pauses;
}

static void on_end(ki_answer *answer, ki_reason reason, const char *message)
{
    sim_recorder *recorder = recorder_of(answer);
    assert_false(recorder->ends || recorder->cancelled || recorder->paused);
    assert_int_equal(message == NULL, reason == KI_REASON_NONE);
    recorder->ends = 1;
    recorder->reason = reason;
}

static void on_sent(ki_answer *answer)
{
    (void)answer;
}

const sim_calls sim_recorder_calls = {.sent = on_sent, .head = on_head, .body = on_body, .end = on_end};

void sim_recorder_ask(sim_recorder *recorder, sim_server *server, const ki_list_options *options)
{
    sim_text_fini(&recorder->body);
    *recorder = (sim_recorder){.source = sim_server_list_watch(server),
                               .pauses = recorder->pauses,
                               .cancels_after = recorder->cancels_after};
    assert_int_equal(recorder->source.begin(answer_of(recorder), options, recorder->source.user), 0);
}

void sim_recorder_cancel(sim_recorder *recorder)
{
    recorder->cancelled = 1;
    recorder->source.cancel(answer_of(recorder), recorder->source.user);
}

void sim_recorder_resume(sim_recorder *recorder)
{
    recorder->paused = 0;
    recorder->source.resume(answer_of(recorder), recorder->source.user);
}

void sim_recorder_fini(sim_recorder *recorder)
{
    sim_text_fini(&recorder->body);
}

json_t *sim_recorder_document(const sim_recorder *recorder)
{
    json_error_t error;
    json_t *document = json_loadb(recorder->body.data, recorder->body.len, 0, &error);
    if (document == NULL)
        fail_msg("%s at %d of %.*s", error.text, error.position, (int)recorder->body.len,
                 recorder->body.data);
    return document;
}

json_t *sim_recorder_events(const sim_recorder *recorder)
{
    json_t *events = json_array();
    size_t used = 0;
    while (used < recorder->body.len) {
        json_error_t error;
        json_t *event = json_loadb(recorder->body.data + used, recorder->body.len - used,
                                   JSON_DISABLE_EOF_CHECK | JSON_DECODE_ANY, &error);
        if (event == NULL)
            break;
        assert_int_equal(json_array_append_new(events, event), 0);
        used += (size_t)error.position;
        while (used < recorder->body.len && recorder->body.data[used] == '\n')
            used++;
    }
    return events;
}

/* ---- the set-up of a test of the server -------------------------------------------------------------- */

void sim_setup_init(sim_setup *setup, uint64_t seed, sim_server_options options)
{
    *setup = (sim_setup){0};
    ki_clock_init_virtual(&setup->clock, 0, 0);
    setup->world = sim_world_new(&(sim_world_options){.seed = seed, .jumps = 0.1});
    for (int i = 0; i < 100; i++)
        sim_world_mutate(setup->world);
    options.world = setup->world;
    options.clock = &setup->clock;
    options.calls = &sim_recorder_calls;
    options.seed = seed;
    setup->server = sim_server_new(&options);
}

void sim_setup_fini(sim_setup *setup)
{
    assert_int_equal(sim_server_counts(setup->server)->misuse, 0);
    sim_recorder_fini(&setup->recorder);
    sim_server_free(setup->server);
    sim_world_free(setup->world);
}

void sim_setup_run(sim_setup *setup, uint64_t seconds)
{
    uint64_t until_ns = ki_clock_now_ns(&setup->clock) + seconds * UINT64_C(1000000000);
    for (;;) {
        sim_server_step(setup->server);
        uint64_t next_ns = sim_server_next_ns(setup->server);
        if (setup->recorder.ends || setup->recorder.cancelled)
            return;
        if (next_ns > until_ns)
            break;
        assert_true(next_ns > ki_clock_now_ns(&setup->clock));
        ki_clock_set_now_ns(&setup->clock, next_ns);
    }
    ki_clock_set_now_ns(&setup->clock, until_ns);
}

void sim_setup_ask(sim_setup *setup, const ki_list_options *options, uint64_t seconds)
{
    sim_recorder_ask(&setup->recorder, setup->server, options);
    sim_setup_run(setup, seconds);
}

/* ---- a replica made from the answers ----------------------------------------------------------------- */

static const char *metadata_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(json_object_get(object, "metadata"), name));
    assert_non_null(text);
    return text;
}

static uint64_t version_of(const json_t *object)
{
    return strtoull(metadata_of(object, "resourceVersion"), NULL, 10);
}

static void write_key(const json_t *object, char *key, size_t bytes)
{
    (void)snprintf(key, bytes, "%s/%s", metadata_of(object, "namespace"), metadata_of(object, "name"));
}

void sim_replica_put(json_t *replica, json_t *object)
{
    char key[64];
    write_key(object, key, sizeof(key));
    assert_int_equal(json_object_set(replica, key, object), 0);
}

uint64_t sim_replica_apply_list(json_t *replica, const json_t *list)
{
    size_t index = 0;
    json_t *item = NULL;
    json_array_foreach(json_object_get(list, "items"), index, item) sim_replica_put(replica, item);
    return version_of(list);
}

/* Applies an event to an object that must exist, or must not exist. */
static void apply_event(json_t *replica, const char *type, json_t *object)
{
    char key[64];
    if (strcmp(type, "BOOKMARK") == 0)
        return;
    write_key(object, key, sizeof(key));
    assert_int_equal(json_object_get(replica, key) == NULL, strcmp(type, "ADDED") == 0);
    if (strcmp(type, "DELETED") == 0)
        assert_int_equal(json_object_del(replica, key), 0);
    else
        sim_replica_put(replica, object);
}

uint64_t sim_replica_apply_events(json_t *replica, const json_t *events)
{
    uint64_t version = 0;
    size_t index = 0;
    json_t *event = NULL;
    json_array_foreach(events, index, event)
    {
        const char *type = json_string_value(json_object_get(event, "type"));
        json_t *object = json_object_get(event, "object");
        assert_non_null(type);
        assert_string_not_equal(type, "ERROR");
        apply_event(replica, type, object);
        version = version_of(object);
    }
    return version;
}

static void assert_is_record(const json_t *object, const sim_world *world, const sim_record *record)
{
    sim_object wanted;
    sim_world_describe(world, record, &wanted);
    assert_string_equal(metadata_of(object, "uid"), wanted.uid);
    assert_string_equal(metadata_of(object, "resourceVersion"), wanted.version);
    assert_string_equal(json_string_value(json_object_get(json_object_get(object, "spec"), "value")),
                        wanted.value);
}

void sim_replica_assert_is_world_at(const json_t *replica, const sim_world *world, uint64_t version)
{
    size_t count = 0;
    for (uint32_t key = 0; key < sim_world_key_count(world); key++) {
        const sim_record *record = sim_world_object_at(world, key, version);
        if (record == NULL)
            continue;
        sim_object text;
        char name[64];
        sim_world_describe(world, record, &text);
        (void)snprintf(name, sizeof(name), "%s/%s", text.ns, text.name);
        const json_t *object = json_object_get(replica, name);
        assert_non_null(object);
        assert_is_record(object, world, record);
        count++;
    }
    assert_int_equal(json_object_size(replica), count);
}

void sim_replica_assert_is_world(const json_t *replica, const sim_world *world)
{
    sim_replica_assert_is_world_at(replica, world, sim_world_version(world));
}
