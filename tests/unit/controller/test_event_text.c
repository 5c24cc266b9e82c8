/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/event_text.h"

#include <kinformer/resources.h>
#include <stdlib.h>
#include <string.h>

#include "support/controller/event_make.h"
#include "support/decode/fixtures.h"
#include "support/failing_allocator.h"
#include "support/unit.h"
#include "util/units.h"

/* 2026-11-16T20:00:00Z */
static const int64_t evening_ns = INT64_C(1794859200) * 1000000000;

static ki_event_source source_of(ki_recorder_api api, const char *instance)
{
    return (ki_event_source){.api = api,
                             .component = KI_STR("sample-controller"),
                             .instance = ki_str_of(instance),
                             .hash = event_make_hash()};
}

static void expect_body(const ki_event_source *source, const ki_event_write *write, const char *wanted)
{
    ki_buf body;
    ki_buf_init(&body, 1 << 20);
    assert_int_equal(ki_event_body(source, write, &body), 0);
    assert_int_equal(ki_buf_append_byte(&body, 0), 0);
    assert_string_equal(body.data, wanted);
    ki_buf_fini(&body);
}

static void an_event_of_the_core_api_is_written(void **state)
{
    (void)state;
    ki_event_source source = source_of(KI_RECORDER_CORE_V1, "host-1");
    ki_event_write write = {.event = event_make("web", "Synced", "all \"well\"\n", 0x1234),
                            .number = 0x1234,
                            .count = 1,
                            .first_wall_ns = evening_ns + 999999999,
                            .last_wall_ns = evening_ns + 5 * (int64_t)KI_NS_PER_S};
    expect_body(&source, &write,
                "{\"apiVersion\":\"v1\",\"kind\":\"Event\",\"metadata\":{\"name\":\"web.1234\",\"namespace\":"
                "\"default\"},\"involvedObject\":{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"namespace\":"
                "\"default\",\"name\":\"web\",\"uid\":\"uid-web\",\"resourceVersion\":\"1\"},\"reason\":"
                "\"Synced\",\"type\":\"Normal\",\"source\":{\"component\":\"sample-controller\",\"host\":"
                "\"host-1\"},\"reportingComponent\":\"sample-controller\",\"reportingInstance\":\"host-1\","
                "\"firstTimestamp\":\"2026-11-16T20:00:00Z\",\"count\":1,\"lastTimestamp\":"
                "\"2026-11-16T20:00:05Z\",\"message\":\"all \\\"well\\\"\\n\"}");
    write.is_patch = true;
    write.count = 7;
    expect_body(&source, &write,
                "{\"count\":7,\"lastTimestamp\":\"2026-11-16T20:00:05Z\",\"message\":\"all "
                "\\\"well\\\"\\n\"}");
    write.is_combined = true;
    expect_body(
        &source, &write,
        "{\"count\":7,\"lastTimestamp\":\"2026-11-16T20:00:05Z\",\"message\":\"(combined from similar "
        "events): all \\\"well\\\"\\n\"}");
    ki_recorded_unref(write.event);
}

static void an_event_of_events_k8s_io_is_written(void **state)
{
    (void)state;
    ki_event_source source = source_of(KI_RECORDER_EVENTS_V1, "me-0");
    ki_event_write write = {.event = event_make("web", "Synced", "ok", 1),
                            .number = 1,
                            .first_wall_ns = evening_ns + 123456789,
                            .last_wall_ns = evening_ns + 5 * (int64_t)KI_NS_PER_S};
    expect_body(&source, &write,
                "{\"apiVersion\":\"events.k8s.io/v1\",\"kind\":\"Event\",\"metadata\":{\"name\":\"web.1\","
                "\"namespace\":\"default\"},\"eventTime\":\"2026-11-16T20:00:00.123456Z\","
                "\"reportingController\":\"sample-controller\",\"reportingInstance\":\"me-0\",\"action\":"
                "\"Synced\",\"reason\":\"Synced\",\"regarding\":{\"apiVersion\":\"v1\",\"kind\":\"Pod\","
                "\"namespace\":\"default\",\"name\":\"web\",\"uid\":\"uid-web\",\"resourceVersion\":\"1\"},"
                "\"note\":\"ok\",\"type\":\"Normal\"}");
    write.is_patch = true;
    write.count = 2;
    expect_body(&source, &write,
                "{\"series\":{\"count\":2,\"lastObservedTime\":\"2026-11-16T20:00:05.000000Z\"}}");
    ki_recorded_unref(write.event);
}

static void a_related_object_is_written_when_there_is_one(void **state)
{
    (void)state;
    ki_object *pod = event_make_pod("web", "1"), *other = event_make_pod("db", "2");
    ki_recorded *event =
        ki_recorded_new(&(ki_record){.object = pod, .related = other, .reason = KI_STR("R")}, 10);
    for (int api = KI_RECORDER_CORE_V1; api <= KI_RECORDER_EVENTS_V1; api++) {
        ki_event_source source = source_of((ki_recorder_api)api, "me");
        ki_buf body;
        ki_buf_init(&body, 1 << 20);
        assert_int_equal(ki_event_body(&source, &(ki_event_write){.event = event}, &body), 0);
        assert_int_equal(ki_buf_append_byte(&body, 0), 0);
        assert_non_null(strstr(body.data, "\"related\":{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"namespace\":"
                                          "\"default\",\"name\":\"db\",\"uid\":\"uid-db\","
                                          "\"resourceVersion\":\"2\"}"));
        ki_buf_fini(&body);
    }
    ki_recorded_unref(event);
    ki_object_unref(pod);
    ki_object_unref(other);
}

/* ---- recorded responses -------------------------------------------------------------------------------- */

/* Every member of `ours` is in `theirs` with the same value, except for metadata and reportingComponent. */
static void expect_within(ki_json ours, ki_json theirs)
{
    ki_json name, value;
    ki_json_iter members = ki_json_iterate(ours);
    while (ki_json_next(&members, &name, &value)) {
        ki_str text = {0};
        assert_int_equal(ki_json_string(name, &text), 0);
        ki_json found = ki_json_member(theirs, text);
        if (ki_str_equal(text, KI_STR("metadata")) || ki_str_equal(text, KI_STR("reportingComponent")))
            continue;
        if (ki_json_type_of(value) == KI_JSON_OBJECT)
            expect_within(value, found);
        else if (ki_json_equal(value, found) != 1)
            fail_msg("%.*s: %.*s, but the server has %.*s", KI_STR_ARGS(text), KI_STR_ARGS(value.raw),
                     KI_STR_ARGS(found.raw));
    }
}

/* An event about the recorded Deployment. */
static ki_recorded *make_recorded_event(void)
{
    ki_object *object =
        ki_object_new(&KI_APPS_V1_DEPLOYMENTS,
                      KI_STR("{\"metadata\":{\"name\":\"web\",\"namespace\":\"default\"}}"), NULL, NULL);
    ki_recorded *event = ki_recorded_new(
        &(ki_record){
            .object = object, .reason = KI_STR("Synced"), .action = KI_STR("Sync"), .message = KI_STR("ok")},
        100);
    ki_object_unref(object);
    assert_non_null(event);
    return event;
}

static void expect_as_recorded(const char *file, const ki_event_source *source, ki_event_write write)
{
    fixture recorded = {0};
    fixture_http answer = {0};
    assert_int_equal(fixture_load(&recorded, file, NULL), 0);
    assert_int_equal(fixture_split_http((ki_str){recorded.data, recorded.len}, &answer), 0);
    ki_buf body;
    ki_buf_init(&body, 1 << 20);
    write.event = make_recorded_event();
    assert_int_equal(ki_event_body(source, &write, &body), 0);
    expect_within(ki_json_of(ki_buf_str(&body)), ki_json_of(answer.body));
    ki_recorded_unref(write.event);
    ki_buf_fini(&body);
    fixture_free(&recorded);
}

static void events_are_written_as_recorded_from_servers(void **state)
{
    (void)state;
    ki_event_source core = source_of(KI_RECORDER_CORE_V1, NULL);
    ki_event_source events = source_of(KI_RECORDER_EVENTS_V1, "sample-controller-0");
    ki_event_write write = {.count = 1, .first_wall_ns = evening_ns, .last_wall_ns = evening_ns};
    expect_as_recorded("event-create-core.http", &core, write);
    write.count = 0;
    expect_as_recorded("event-create-events.http", &events, write);
    write = (ki_event_write){.is_patch = true,
                             .count = 2,
                             .first_wall_ns = evening_ns,
                             .last_wall_ns = evening_ns + 5 * (int64_t)KI_NS_PER_S};
    expect_as_recorded("event-aggregate-patch.http", &core, write);
}

/* ---- names --------------------------------------------------------------------------------------------- */

static void name_of(const char *object, uint64_t number, char out[KI_EVENT_NAME_BYTES])
{
    ki_event_source source = source_of(KI_RECORDER_CORE_V1, NULL);
    ki_event_write write = {.event = event_make(object, "R", "m", 1), .number = number};
    ki_event_name(&source, &write, out);
    ki_recorded_unref(write.event);
}

static void an_event_is_named_after_its_object_and_time(void **state)
{
    (void)state;
    char name[KI_EVENT_NAME_BYTES];
    name_of("web-0.a", UINT64_C(0x18c0ffee12345678), name);
    assert_string_equal(name, "web-0.a.18c0ffee12345678");
}

/* 8-4-4-4-12 digits. */
static void expect_uuid(const char *name)
{
    assert_int_equal(strlen(name), 36);
    for (size_t i = 0; i < 36; i++) {
        bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;
        assert_int_equal(name[i] == '-', is_dash);
        assert_true(is_dash || strchr("0123456789abcdef", name[i]) != NULL);
    }
    assert_int_equal(name[14], '4');
    assert_non_null(strchr("89ab", name[19]));
}

static void objects_with_unsuitable_names_have_events_named_by_uuid(void **state)
{
    (void)state;
    char name[KI_EVENT_NAME_BYTES], again[KI_EVENT_NAME_BYTES], other[KI_EVENT_NAME_BYTES];
    static const char *const bad[] = {"system:masters", "Web", "a..b", "-a", "a-", ".a", "a.-b"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        name_of(bad[i], 1, name);
        expect_uuid(name);
    }
    name_of("system:masters", 1, name);
    name_of("system:masters", 1, again);
    name_of("system:masters", 2, other);
    assert_string_equal(name, again); /* so a patch finds it */
    assert_string_not_equal(name, other);
    char object[254];
    memset(object, 'a', sizeof(object));
    object[236] = 0; /* 253 bytes with ".18c0ffee12345678" */
    name_of(object, UINT64_C(0x18c0ffee12345678), name);
    assert_int_equal(strlen(name), 253);
    object[236] = 'a';
    object[237] = 0;
    name_of(object, UINT64_C(0x18c0ffee12345678), name);
    expect_uuid(name);
}

static void when_out_of_memory_no_body_is_written(void **state)
{
    (void)state;
    ki_event_source source = source_of(KI_RECORDER_CORE_V1, NULL);
    ki_event_write write = {.event = event_make("web", "Synced", "ok", 1), .count = 1};
    int rc = KI_ERR_NO_MEMORY;
    for (size_t n = 1; rc != 0; n++) {
        ki_buf body;
        ki_buf_init(&body, 1 << 20);
        failing_allocator_fail_at(n);
        rc = ki_event_body(&source, &write, &body);
        assert_int_equal(rc, failing_allocator_has_failed() ? KI_ERR_NO_MEMORY : 0);
        failing_allocator_fail_at(0);
        ki_buf_fini(&body);
    }
    ki_recorded_unref(write.event);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(an_event_of_the_core_api_is_written),
        WITH_MEMORY_CHECK(an_event_of_events_k8s_io_is_written),
        WITH_MEMORY_CHECK(a_related_object_is_written_when_there_is_one),
        WITH_MEMORY_CHECK(events_are_written_as_recorded_from_servers),
        WITH_MEMORY_CHECK(an_event_is_named_after_its_object_and_time),
        WITH_MEMORY_CHECK(objects_with_unsuitable_names_have_events_named_by_uuid),
        WITH_MEMORY_CHECK(when_out_of_memory_no_body_is_written),
    };
    return RUN_TESTS(tests);
}
