/* SPDX-License-Identifier: Apache-2.0 */
/* Lists and events in protobuf, built by hand: what is refused, what is lost, and running out of memory. */
#include <kinformer/resources.h>
#include <stdio.h>
#include <string.h>

#include "support/decode/decode_expect.h"
#include "support/decode/decode_memory.h"
#include "support/decode/proto_records.h"
#include "support/decode/recorded.h"
#include "support/failing_allocator.h"
#include "support/unit.h"

#define PATHS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* A pod with a name, and these bytes as its spec. */
static proto_body pod_with_spec(const char *name, ki_str spec)
{
    proto_body pod = {0}, metadata = {0};
    proto_body_field(&metadata, 1, ki_str_of(name));
    proto_body_field(&metadata, 3, KI_STR("default"));
    proto_body_field(&pod, 1, proto_body_str(&metadata));
    proto_body_field(&pod, 2, spec);
    proto_body_free(&metadata);
    return pod;
}

static proto_body event_of(const char *type, const char *api_version, const char *kind,
                           const proto_body *message)
{
    proto_body typed = proto_body_typed(api_version, kind, proto_body_str(message));
    proto_body event = proto_body_event(type, proto_body_str(&typed));
    proto_body_free(&typed);
    return event;
}

static ki_proto_unknown unknown_of(const ki_object_options *options, ki_str spec)
{
    ki_object_plan *plan = ki_object_plan_new(&KI_CORE_V1_PODS, options, NULL);
    proto_body pod = pod_with_spec("web", spec);
    proto_body event = event_of("ADDED", "v1", "Pod", &pod);
    ki_body_decoder decoder;
    decode_run run;
    ki_body_decoder_init(&decoder, KI_BODY_PROTO_WATCH, plan);
    decode_run_decoder(&run, &decoder, proto_body_str(&event), (decode_split){0});
    assert_int_equal(run.object_count, 1);
    ki_proto_unknown unknown = decoder.as.proto_watch.reader.unknown;
    ki_body_decoder_fini(&decoder);
    decode_run_fini(&run);
    proto_body_free(&pod);
    proto_body_free(&event);
    ki_object_plan_free(plan);
    return unknown;
}

static void an_unknown_field_is_counted_if_it_could_have_been_kept(void **state)
{
    (void)state;
    const ki_str spec = KI_STR("\xd2\x02\x01x"); /* field 42 */
    ki_proto_unknown unknown = unknown_of(NULL, spec);
    assert_int_equal(unknown.count, 1);
    assert_int_equal(unknown.number, 42);
    assert_true(ki_str_equal(unknown.message, KI_STR("PodSpec")));
    assert_int_equal(unknown_of(&(ki_object_options){.keep = PATHS("/spec")}, spec).count, 1);
    assert_int_equal(unknown_of(&(ki_object_options){.drop = PATHS("/spec/nodeName")}, spec).count, 1);
    assert_int_equal(unknown_of(&(ki_object_options){.keep = PATHS("/spec/workloadRef")}, spec).count, 1);
    assert_int_equal(unknown_of(&(ki_object_options){.keep = PATHS("/spec/*/name")}, spec).count, 1);
    assert_int_equal(unknown_of(&(ki_object_options){.keep = PATHS("/spec/nodeName")}, spec).count, 0);
    assert_int_equal(unknown_of(&(ki_object_options){.keep = PATHS("/status")}, spec).count, 0);
    assert_int_equal(unknown_of(&(ki_object_options){.drop = PATHS("/spec")}, spec).count, 0);
}

static void assert_watch(const proto_body *body, const char *expected, int is_unknown_kind)
{
    for (size_t piece = 0; piece <= 1; piece++) {
        ki_object_plan *plan = ki_object_plan_new(&KI_CORE_V1_PODS, NULL, NULL);
        ki_body_decoder decoder;
        decode_run run;
        ki_body_decoder_init(&decoder, KI_BODY_PROTO_WATCH, plan);
        decode_run_decoder(&run, &decoder, proto_body_str(body), (decode_split){.piece = piece});
        decode_assert_log(&run, expected);
        assert_int_equal(decoder.as.proto_watch.is_unknown_kind, is_unknown_kind);
        ki_body_decoder_fini(&decoder);
        decode_run_fini(&run);
        ki_object_plan_free(plan);
    }
}

static void a_malformed_event_is_refused_and_the_next_is_read(void **state)
{
    (void)state;
    proto_body pods[] = {pod_with_spec("a", KI_STR("\x08\x01")), pod_with_spec("b", KI_STR("")),
                         pod_with_spec("c/d", KI_STR(""))};
    proto_body events[] = {
        event_of("ADDED", "v1", "Pod", &pods[0]),       event_of("MODIFIED", "v1", "Pod", &pods[1]),
        event_of("DELETED", "v1", "Pod", &pods[2]),     event_of("DELETED", "v1", "Pod", &pods[1]),
        event_of("CHANGED", "v1", "Pod", &pods[1]),     event_of("ADDED", "v9", "Pod", &pods[1]),
        proto_body_event("ADDED", KI_STR("x")),         {.data = NULL},
        proto_body_event("ERROR", KI_STR("no status")), event_of("BOOKMARK", "v9", "Pod", &pods[1]),
    };
    proto_body body = {0};
    proto_body_put(&events[7], "\0\0\0\0\0\0\0\x02\x0a\x00\0\0\0\x01\x0a", 15);
    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
        proto_body_put(&body, events[i].data, events[i].len);
#define POD_B                                                                                                \
    "default/b "                                                                                             \
    "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"b\",\"namespace\":\"default\"},"       \
    "\"spec\":{\"containers\":null},\"status\":{}}\n"
    assert_watch(&body,
                 "REFUSED ADDED default/a KI_ERR_PROTOBUF field 1 of PodSpec is malformed\n"
                 "MODIFIED " POD_B
                 "REFUSED DELETED  KI_ERR_METADATA metadata.name contains an invalid character\n"
                 "DELETED " POD_B "REFUSED NONE  KI_ERR_NOT_AN_EVENT unknown event type \"CHANGED\"\n"
                 "REFUSED ADDED default/b KI_ERR_PROTOBUF no table for the messages of v9 Pod\n"
                 "REFUSED ADDED  KI_ERR_PROTOBUF the message does not begin as Kubernetes' do\n"
                 "REFUSED NONE  KI_ERR_NOT_AN_EVENT the event has no type\n"
                 "REFUSED NONE  KI_ERR_NOT_AN_EVENT the event has no type\n"
                 "REFUSED NONE  KI_ERR_PROTOBUF the event is malformed\n"
                 "REFUSED ERROR  KI_ERR_PROTOBUF the message does not begin as Kubernetes' do\n"
                 "REFUSED BOOKMARK  KI_ERR_PROTOBUF the object of the event cannot be read: v9 Pod\n",
                 1);
    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
        proto_body_free(&events[i]);
    for (size_t i = 0; i < 3; i++)
        proto_body_free(&pods[i]);
    proto_body_free(&body);
}

/* An object refused without a key would count as deleted in the next list. */
static void a_refused_object_has_its_key_wherever_it_is_malformed(void **state)
{
    (void)state;
    /* A number in place of spec.volumes or metadata.selfLink; a truncated spec. */
    static const struct {
        const char *bytes;
        size_t n;
    } pods[] = {
        {"\x12\x02\x08\x01\x0a\x0e\x0a\x03web\x1a\x07"
         "default",
         4 + 16},
        {"\x0a\x0e\x0a\x03web\x1a\x07"
         "default\x12\x02\x08\x01",
         16 + 4},
        {"\x0a\x10\x0a\x03web\x20\x01\x1a\x07"
         "default",
         18},
        {"\x0a\x0e\x0a\x03web\x1a\x07"
         "default\x12\x7f",
         16 + 2},
    };
    for (size_t i = 0; i < sizeof(pods) / sizeof(pods[0]); i++) {
        proto_body pod = {0};
        proto_body_put(&pod, pods[i].bytes, pods[i].n);
        proto_body event = event_of("MODIFIED", "v1", "Pod", &pod);
        ki_object_plan *plan = ki_object_plan_new(&KI_CORE_V1_PODS, NULL, NULL);
        decode_run run;
        decode_run_form(&run, KI_BODY_PROTO_WATCH, plan, proto_body_str(&event), (decode_split){0});
        if (strncmp(run.log, "REFUSED MODIFIED default/web KI_ERR_PROTOBUF", 44) != 0)
            fail_msg("%zu: %s", i, run.log);
        decode_run_fini(&run);
        ki_object_plan_free(plan);
        proto_body_free(&event);
        proto_body_free(&pod);
    }
}

/* Metadata is found at its position in the finished text, although spec was written first. */
static void metadata_is_found_in_any_order_of_fields(void **state)
{
    (void)state;
    proto_body pod = {0}, metadata = {0};
    proto_body_field(&metadata, 11,
                     KI_STR("\x0a\x03"
                            "app"
                            "\x12\x03"
                            "web"));
    proto_body_field(&metadata, 6, KI_STR("17"));
    proto_body_field(&metadata, 5, KI_STR("some-uid"));
    proto_body_field(&metadata, 1, KI_STR("web"));
    proto_body_field(&metadata, 3, KI_STR("default"));
    proto_body_field(&pod, 2, KI_STR("\x52\x01n"));
    proto_body_field(&pod, 1, proto_body_str(&metadata));
    proto_body event = event_of("ADDED", "v1", "Pod", &pod);
    ki_object_plan *plan = ki_object_plan_new(&KI_CORE_V1_PODS, NULL, NULL);
    decode_run run;
    decode_run_form(&run, KI_BODY_PROTO_WATCH, plan, proto_body_str(&event), (decode_split){0});
    assert_int_equal(run.object_count, 1);
    const ki_object *object = run.objects[0];
    assert_string_equal(ki_object_key(object), "default/web");
    assert_true(ki_str_equal(ki_object_uid(object), KI_STR("some-uid")));
    assert_true(ki_str_equal(ki_object_resource_version(object), KI_STR("17")));
    assert_true(ki_str_equal(ki_object_labels(object).raw, KI_STR("{\"app\":\"web\"}")));
    assert_true(ki_str_equal(
        ki_object_json(object),
        KI_STR("{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"web\",\"namespace\":"
               "\"default\",\"uid\":\"some-uid\",\"resourceVersion\":\"17\",\"labels\":{\"app\":\"web\"}},"
               "\"spec\":{\"containers\":null,\"nodeName\":\"n\"},\"status\":{}}")));
    decode_run_fini(&run);
    ki_object_plan_free(plan);
    proto_body_free(&event);
    proto_body_free(&metadata);
    proto_body_free(&pod);
}

static void an_error_event_has_its_status(void **state)
{
    (void)state;
    proto_body status = {0}, details = {0};
    proto_body_field(&details, 1, KI_STR("web"));
    proto_body_number(&details, 5, 7);
    proto_body_field(&status, 2, KI_STR("Failure"));
    proto_body_field(&status, 3, KI_STR("too old"));
    proto_body_field(&status, 4, KI_STR("Expired"));
    proto_body_field(&status, 5, proto_body_str(&details));
    proto_body_number(&status, 6, 410);
    proto_body event = event_of("ERROR", "v1", "Status", &status);
    assert_watch(&event, "ERROR 410 Expired too old retry after 7\n", 0);
    proto_body_free(&status);
    proto_body_free(&details);
    proto_body_free(&event);
}

static void assert_list(const proto_body *body, const ki_resource *resource, const char *expected)
{
    for (size_t piece = 0; piece <= 1; piece++) {
        ki_object_plan *plan = ki_object_plan_new(resource, NULL, NULL);
        decode_run run;
        decode_run_form(&run, KI_BODY_PROTO_LIST, plan, proto_body_str(body), (decode_split){.piece = piece});
        decode_assert_log(&run, expected);
        decode_run_fini(&run);
        ki_object_plan_free(plan);
    }
}

static void a_list_has_metadata_items_and_refused_items(void **state)
{
    (void)state;
    proto_body pods[] = {pod_with_spec("b", KI_STR("")), pod_with_spec("", KI_STR("")),
                         pod_with_spec("a", KI_STR("\x08\x01"))};
    proto_body list = {0}, metadata = {0};
    proto_body_field(&metadata, 2, KI_STR("349"));
    proto_body_field(&metadata, 3, KI_STR("abc"));
    proto_body_number(&metadata, 4, 5);
    proto_body_field(&list, 1, proto_body_str(&metadata));
    for (size_t i = 0; i < 3; i++)
        proto_body_field(&list, 2, proto_body_str(&pods[i]));
    proto_body_field(&list, 9, KI_STR("x"));
    proto_body body = proto_body_typed("v1", "PodList", proto_body_str(&list));
    assert_list(&body, &KI_CORE_V1_PODS,
                "METADATA 349 continue \"abc\" remaining 5\n"
                "OBJECT " POD_B "REFUSED  KI_ERR_METADATA metadata.name is missing\n"
                "REFUSED default/a KI_ERR_PROTOBUF field 1 of PodSpec is malformed\n"
                "END\n");
    assert_list(
        &body, &KI_CORE_V1_SERVICES,
        "FAILED KI_ERR_NOT_A_LIST 0 the response is not a list of Service: its kind is \"PodList\"\n");
    proto_body_free(&body);
    body = proto_body_typed("v9", "PodList", proto_body_str(&list));
    assert_list(&body, &KI_CORE_V1_PODS,
                "FAILED KI_ERR_NOT_A_LIST 0 no table for the messages of v9 PodList\n");
    proto_body_free(&body);
    body = proto_body_typed("v1", "PodList", KI_STR(""));
    assert_list(&body, &KI_CORE_V1_PODS, "END\n");
    for (size_t i = 0; i < 3; i++)
        proto_body_free(&pods[i]);
    proto_body_free(&list);
    proto_body_free(&metadata);
    proto_body_free(&body);
}

/* ---- out of memory ------------------------------------------------------------------------------------- */

static void every_allocation_for_a_recorded_response_may_fail(void **state)
{
    (void)state;
    static const char *const files[] = {"configmaps-list", "deployments-list",   "pods-page",
                                        "pods-watchlist",  "pods-metadata-list", "error-404"};
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        char name[128];
        recorded answer;
        snprintf(name, sizeof(name), "proto/%s.pb.http", files[i]);
        recorded_load(&answer, name);
        int is_watch = strstr(files[i], "watch") != NULL;
        decode_subject s = {.form = is_watch ? KI_BODY_PROTO_WATCH : KI_BODY_PROTO_LIST, .body = answer.body};
        decode_fail_each_allocation(&s);
        s.split.piece = 700;
        decode_fail_each_allocation(&s);
        s.options.keep = PATHS("/spec/containers/*/image", "/metadata/labels/*", "/data");
        decode_fail_each_allocation(&s);
        recorded_free(&answer);
    }
}

/* A message that must be reordered, with a map that must be sorted, and JSON text. */
static void every_allocation_for_an_irregular_message_may_fail(void **state)
{
    (void)state;
    proto_body pod = {0};
    proto_body_put(&pod,
                   "\x12\x03\x52\x01n\x0a\x06\x5a\x04\x0a\x02zz\x0a\x05\x5a\x03\x0a\x01"
                   "a\x0a\x05\x0a\x03web",
                   5 + 8 + 7 + 7);
    proto_body event = event_of("ADDED", "v1", "Pod", &pod);
    decode_fail_each_allocation(
        &(decode_subject){.form = KI_BODY_PROTO_WATCH, .body = proto_body_str(&event)});
    decode_fail_each_allocation(&(decode_subject){
        .form = KI_BODY_PROTO_WATCH, .body = proto_body_str(&event), .options.bytes_max = 40});
    proto_body_free(&event);
    proto_body revision = {0}, metadata = {0};
    proto_body_field(&metadata, 1, KI_STR("web"));
    proto_body_field(&revision, 1, proto_body_str(&metadata));
    proto_body_field(&revision, 2, KI_STR("\x0a\x11 {\"a\" : \"\\u0041\"} "));
    event = event_of("ADDED", "apps/v1", "ControllerRevision", &revision);
    decode_fail_each_allocation(
        &(decode_subject){.form = KI_BODY_PROTO_WATCH, .body = proto_body_str(&event)});
    proto_body_free(&pod);
    proto_body_free(&event);
    proto_body_free(&revision);
    proto_body_free(&metadata);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(an_unknown_field_is_counted_if_it_could_have_been_kept),
        WITH_MEMORY_CHECK(a_malformed_event_is_refused_and_the_next_is_read),
        WITH_MEMORY_CHECK(a_refused_object_has_its_key_wherever_it_is_malformed),
        WITH_MEMORY_CHECK(metadata_is_found_in_any_order_of_fields),
        WITH_MEMORY_CHECK(an_error_event_has_its_status),
        WITH_MEMORY_CHECK(a_list_has_metadata_items_and_refused_items),
        WITH_MEMORY_CHECK(every_allocation_for_a_recorded_response_may_fail),
        WITH_MEMORY_CHECK(every_allocation_for_an_irregular_message_may_fail),
    };
    return RUN_TESTS(tests);
}
