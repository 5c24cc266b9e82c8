/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies that no server sends: lengths beyond the end, endless nesting, fields repeated again and again. They
 * cost no more memory and time than their size justifies. */
#include <kinformer/resources.h>
#include <stdlib.h>
#include <string.h>

#include "support/decode/decode_run.h"
#include "support/decode/proto_records.h"
#include "support/failing_allocator.h"
#include "support/unit.h"

static ki_object_plan *pods_plan(const ki_object_options *options)
{
    ki_object_plan *plan = ki_object_plan_new(&KI_CORE_V1_PODS, options, NULL);
    assert_non_null(plan);
    return plan;
}

/* Returns the code of the run; `out` has its log. */
static int run_list(ki_str body, decode_run *out)
{
    ki_object_plan *plan = pods_plan(NULL);
    decode_run_form(out, KI_BODY_PROTO_LIST, plan, body, (decode_split){0});
    ki_object_plan_free(plan);
    return out->code;
}

static int run_watch(ki_str body, decode_run *out)
{
    ki_object_plan *plan = pods_plan(NULL);
    decode_run_form(out, KI_BODY_PROTO_WATCH, plan, body, (decode_split){0});
    ki_object_plan_free(plan);
    return out->code;
}

/* A list that ends within what it announces. */
static void announced_data_that_never_arrives_costs_nothing(void **state)
{
    (void)state;
    static const char head[] = "k8s\0\x0a\x0d\x0a\x02v1\x12\x07PodList";
    static const struct {
        const char *bytes;
        size_t n;
        int code;
    } tails[] = {
        {"\x12\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 10,
         KI_ERR_PROTOBUF_TRUNCATED}, /* a list of 2^63 - 1 bytes */
        {"\x12\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x12\xff\xff\xff\xff\xff\xff\xff\xff\x3f", 20,
         KI_ERR_PROTOBUF_TRUNCATED}, /* and a pod of 2^62 in it */
        {"\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11, KI_ERR_PROTOBUF_TRUNCATED},
        {"\x12\x05\x12\xff\xff\xff\x7f", 7, KI_ERR_PROTOBUF}, /* a pod larger than the list */
        {"\x12\x05\x0a\xff\xff\xff\x7f", 7, KI_ERR_PROTOBUF},
        {"\x12\xff\xff\xff\xff\x0f\x0a\xff\xff\xff\x7f", 11, KI_ERR_PROTOBUF}, /* large metadata */
        {"\x12\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 12, KI_ERR_PROTOBUF},
        {"\x0a\xff\xff\xff\x7f", 5, KI_ERR_PROTOBUF},
        {"\x12\x02\x12", 3, KI_ERR_PROTOBUF_TRUNCATED},
        {"\x12\x01\x12\x00", 4, KI_ERR_PROTOBUF}, /* the list ends within a field */
        {"\x13", 1, KI_ERR_PROTOBUF},
        {"\x10\x01", 2, KI_ERR_PROTOBUF},
    };
    for (size_t i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
        decode_run run;
        proto_body body = {0};
        proto_body_put(&body, head, sizeof(head) - 1);
        proto_body_put(&body, tails[i].bytes, tails[i].n);
        if (run_list(proto_body_str(&body), &run) != tails[i].code)
            fail_msg("%zu: %s", i, run.log);
        decode_run_fini(&run);
        proto_body_free(&body);
    }
}

/* The buffer grows with the data that arrives. */
static void a_frame_that_announces_much_allocates_little(void **state)
{
    (void)state;
    char body[64 * 1024] = {0x03, (char)0xff, (char)0xff, (char)0xff, 0x0a, 5, 'A', 'D', 'D', 'E', 'D', 0x12};
    ki_object_plan *plan = pods_plan(NULL);
    ki_proto_watch decoder;
    size_t used = 0;
    ki_proto_watch_init(&decoder, plan);
    size_t before = failing_allocator_live_bytes();
    assert_int_equal(ki_proto_watch_feed(&decoder, body, sizeof(body), &used, NULL), KI_WATCH_MORE);
    assert_int_equal(used, sizeof(body));
    assert_true(failing_allocator_live_bytes() - before <= 4 * sizeof(body));
    ki_proto_watch_fini(&decoder);
    ki_object_plan_free(plan);
}

static void a_stream_that_is_not_protobuf_is_an_error(void **state)
{
    (void)state;
    decode_run run;
    assert_int_equal(run_watch(KI_STR("{\"type\":\"ADDED\",\"object\":{}}\n"), &run), KI_ERR_PROTOBUF);
    decode_run_fini(&run);
    assert_int_equal(run_list(KI_STR("{\"kind\":\"PodList\"}\n"), &run), KI_ERR_PROTOBUF);
    decode_run_fini(&run);
    assert_int_equal(run_list(KI_STR(""), &run), KI_ERR_PROTOBUF_TRUNCATED);
    decode_run_fini(&run);
}

/* An event larger than the limit is skipped; its key is reported, and the next event is read. */
static void an_event_that_is_too_large_is_refused_with_its_key(void **state)
{
    (void)state;
    enum { LARGE = 65 * 1024 * 1024 };
    proto_body pod = {0}, metadata = {0}, spec = {0}, body = {0};
    char *filler = calloc(1, LARGE);
    proto_body_field(&metadata, 1, KI_STR("web"));
    proto_body_field(&metadata, 3, KI_STR("default"));
    proto_body_field(&pod, 1, proto_body_str(&metadata));
    proto_body small = proto_body_typed("v1", "Pod", proto_body_str(&pod));
    proto_body_field(&spec, 10, (ki_str){filler, LARGE});
    proto_body_field(&pod, 2, proto_body_str(&spec));
    proto_body large = proto_body_typed("v1", "Pod", proto_body_str(&pod));
    proto_body events[] = {proto_body_event("MODIFIED", proto_body_str(&large)),
                           proto_body_event("ADDED", proto_body_str(&small))};
    for (size_t i = 0; i < 2; i++)
        proto_body_put(&body, events[i].data, events[i].len);
    decode_run run;
    assert_int_equal(run_watch(proto_body_str(&body), &run), 0);
    static const char refused[] = "REFUSED MODIFIED default/web KI_ERR_TOO_LARGE";
    assert_memory_equal(run.log, refused, sizeof(refused) - 1);
    assert_int_equal(run.object_count, 1);
    decode_run_fini(&run);
    proto_body *bodies[] = {&pod, &metadata, &spec, &body, &small, &large, &events[0], &events[1]};
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++)
        proto_body_free(bodies[i]);
    free(filler);
}

/* Nested schemas: field `number` of each contains the next. */
static proto_body nested_definition(unsigned number, size_t levels, ki_str extra)
{
    proto_body inner = {0};
    for (size_t i = 0; i < levels; i++) {
        proto_body outer = {0};
        proto_body_put(&outer, extra.ptr, extra.len);
        proto_body_field(&outer, number, proto_body_str(&inner));
        proto_body_put(&outer, extra.ptr, extra.len);
        proto_body_free(&inner);
        inner = outer;
    }
    proto_body validation = {0}, spec = {0}, metadata = {0}, definition = {0};
    proto_body_field(&validation, 1, proto_body_str(&inner));
    proto_body_field(&spec, 5, proto_body_str(&validation));
    proto_body_field(&metadata, 1, KI_STR("deep"));
    proto_body_field(&definition, 1, proto_body_str(&metadata));
    proto_body_field(&definition, 2, proto_body_str(&spec));
    proto_body typed = proto_body_typed("apiextensions.k8s.io/v1beta1", "CustomResourceDefinition",
                                        proto_body_str(&definition));
    proto_body event = proto_body_event("ADDED", proto_body_str(&typed));
    proto_body *bodies[] = {&inner, &validation, &spec, &metadata, &definition, &typed};
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++)
        proto_body_free(bodies[i]);
    return event;
}

static void nesting_has_a_limit(void **state)
{
    (void)state;
    static const struct {
        size_t levels;
        const char *expected;
    } samples[] = {{900, "ADDED deep {"},
                   {1100, "REFUSED ADDED deep KI_ERR_JSON_DEPTH"},
                   {3000, "REFUSED ADDED deep KI_ERR_JSON_DEPTH"}};
    for (size_t i = 0; i < 3; i++) {
        decode_run run;
        proto_body body = nested_definition(28, samples[i].levels, (ki_str){0}); /* field 28 is "not" */
        assert_int_equal(run_watch(proto_body_str(&body), &run), 0);
        assert_memory_equal(run.log, samples[i].expected, strlen(samples[i].expected));
        decode_run_fini(&run);
        proto_body_free(&body);
    }
}

/* Each level must be reordered, which copies everything in it. */
static void repeated_fields_on_every_level_are_refused_if_they_are_too_much_work(void **state)
{
    (void)state;
    decode_run run;
    proto_body body = nested_definition(
        28, 20, KI_STR("\x2a\x01x")); /* the field "type", before and after the nested message */
    assert_int_equal(run_watch(proto_body_str(&body), &run), 0);
    assert_int_equal(run.object_count, 1);
    decode_run_fini(&run);
    proto_body_free(&body);
    body = nested_definition(28, 990,
                             KI_STR("\x2a\x60"
                                    "012345678901234567890123456789012345678901234567890123456789012345"
                                    "678901234567890123456789012345"));
    assert_int_equal(run_watch(proto_body_str(&body), &run), 0);
    assert_non_null(strstr(run.log, "KI_ERR_PROTOBUF too many fields"));
    decode_run_fini(&run);
    proto_body_free(&body);
}

enum { PLENTY = 20000 };

/* A pod whose spec has strings and, before or after them, a list that is much longer in JSON. */
static proto_body pod_with_long_list(int is_list_first)
{
    enum { TOPOLOGY_SPREAD_CONSTRAINTS = 33 };
    static const unsigned texts[] = {3, 6, 8, 9, 10, 16, 17, 19, 24, 29, 31};
    proto_body pod = {0}, metadata = {0}, spec = {0};
    proto_body_field(&metadata, 1, KI_STR("web"));
    for (size_t i = 0; is_list_first && i < PLENTY; i++)
        proto_body_field(&spec, TOPOLOGY_SPREAD_CONSTRAINTS, (ki_str){0});
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        proto_body_field(&spec, texts[i], KI_STR("text"));
    for (size_t i = 0; !is_list_first && i < PLENTY; i++)
        proto_body_field(&spec, TOPOLOGY_SPREAD_CONSTRAINTS, (ki_str){0});
    proto_body_field(&pod, 1, proto_body_str(&metadata));
    proto_body_field(&pod, 2, proto_body_str(&spec));
    proto_body typed = proto_body_typed("v1", "Pod", proto_body_str(&pod));
    proto_body event = proto_body_event("ADDED", proto_body_str(&typed));
    proto_body *bodies[] = {&pod, &metadata, &spec, &typed};
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++)
        proto_body_free(bodies[i]);
    return event;
}

/* A member that comes earlier in JSON is moved past those after it. If that would be much more work than
 * reading the message, the fields are reordered first, with the same result. */
static void a_long_text_is_not_moved_again_and_again(void **state)
{
    (void)state;
    ki_object_plan *plan = pods_plan(NULL);
    decode_run runs[2];
    for (int i = 0; i < 2; i++) {
        proto_body event = pod_with_long_list(i);
        ki_body_decoder decoder;
        ki_body_decoder_init(&decoder, KI_BODY_PROTO_WATCH, plan);
        decode_run_decoder(&runs[i], &decoder, proto_body_str(&event), (decode_split){0});
        assert_int_equal(decoder.as.proto_watch.reader.is_careful, i);
        ki_body_decoder_fini(&decoder);
        proto_body_free(&event);
        assert_int_equal(runs[i].object_count, 1);
    }
    assert_true(ki_str_equal(ki_object_json(runs[0].objects[0]), ki_object_json(runs[1].objects[0])));
    decode_run_fini(&runs[0]);
    decode_run_fini(&runs[1]);
    ki_object_plan_free(plan);
}

/* Many elements of two bytes each become a long text, to which the limit of an object applies. */
static void a_small_message_with_much_text_exceeds_the_limit(void **state)
{
    (void)state;
    enum { ELEMENTS = 100000 };
    proto_body pod = {0}, metadata = {0}, spec = {0};
    proto_body_field(&metadata, 1, KI_STR("web"));
    for (size_t i = 0; i < ELEMENTS; i++)
        proto_body_field(&spec, 2, (ki_str){0});
    proto_body_field(&pod, 1, proto_body_str(&metadata));
    proto_body_field(&pod, 2, proto_body_str(&spec));
    proto_body typed = proto_body_typed("v1", "Pod", proto_body_str(&pod));
    proto_body event = proto_body_event("ADDED", proto_body_str(&typed));
    ki_object_plan *plan = pods_plan(&(ki_object_options){.bytes_max = 1 << 20});
    ki_body_decoder decoder;
    decode_run run;
    ki_body_decoder_init(&decoder, KI_BODY_PROTO_WATCH, plan);
    decode_run_decoder(&run, &decoder, proto_body_str(&event), (decode_split){0});
    static const char refused[] = "REFUSED ADDED web KI_ERR_TOO_LARGE";
    assert_memory_equal(run.log, refused, sizeof(refused) - 1);
    assert_true(decoder.as.proto_watch.reader.sink.text.cap <= 4 << 20);
    decode_run_fini(&run);
    ki_body_decoder_fini(&decoder);
    ki_object_plan_free(plan);
    proto_body *bodies[] = {&pod, &metadata, &spec, &typed, &event};
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++)
        proto_body_free(bodies[i]);
}

/* ---- at the limit -------------------------------------------------------------------------------------- */

static decode_run run_limited(const proto_body *event, size_t bytes_max)
{
    ki_object_plan *plan = pods_plan(&(ki_object_options){.bytes_max = bytes_max});
    decode_run run;
    decode_run_form(&run, KI_BODY_PROTO_WATCH, plan, proto_body_str(event), (decode_split){0});
    ki_object_plan_free(plan);
    return run;
}

/* A pod that can be read without a limit can be read if the limit is its size. Frees the parts of the pod. */
static void check_limit_of_pod(proto_body *metadata, proto_body *spec)
{
    proto_body pod = {0};
    proto_body_field(&pod, 1, proto_body_str(metadata));
    proto_body_field(&pod, 2, proto_body_str(spec));
    proto_body typed = proto_body_typed("v1", "Pod", proto_body_str(&pod));
    proto_body event = proto_body_event("ADDED", proto_body_str(&typed));
    decode_run free_run = run_limited(&event, 0);
    assert_int_equal(free_run.object_count, 1);
    decode_run run = run_limited(&event, ki_object_json(free_run.objects[0]).len);
    if (run.object_count != 1)
        fail_msg("%s", run.log);
    assert_true(ki_object_equal(run.objects[0], free_run.objects[0]));
    decode_run_fini(&free_run);
    decode_run_fini(&run);
    proto_body *bodies[] = {metadata, spec, &pod, &typed, &event};
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++)
        proto_body_free(bodies[i]);
}

enum { SOME_BYTES = 100 * 1024, CONTAINERS = 2, NODE_NAME = 10, INIT_CONTAINERS = 20, NOT_KNOWN = 200 };

/* JSON has initContainers before containers. */
static void moved_members_count_once_towards_the_limit(void **state)
{
    (void)state;
    proto_body metadata = {0}, spec = {0}, container = {0};
    char *text = malloc(SOME_BYTES);
    memset(text, 'x', SOME_BYTES);
    proto_body_field(&metadata, 1, KI_STR("web"));
    proto_body_field(&container, 1, (ki_str){text, SOME_BYTES});
    proto_body_field(&spec, CONTAINERS, KI_STR(""));
    proto_body_field(&spec, INIT_CONTAINERS, proto_body_str(&container));
    check_limit_of_pod(&metadata, &spec);
    proto_body_free(&container);
    free(text);
}

static void fields_that_are_not_in_the_json_do_not_count_towards_the_limit(void **state)
{
    (void)state;
    proto_body metadata = {0}, spec = {0}, container = {0};
    char *text = malloc(SOME_BYTES);
    memset(text, 'x', SOME_BYTES);
    proto_body_field(&metadata, 1, KI_STR("web"));
    proto_body_field(&container, NOT_KNOWN, (ki_str){text, SOME_BYTES});
    proto_body_field(&spec, CONTAINERS, proto_body_str(&container));
    check_limit_of_pod(&metadata, &spec);
    proto_body_field(&metadata, 1, KI_STR("web")); /* replaced by a later occurrence */
    proto_body_field(&spec, NODE_NAME, (ki_str){text, SOME_BYTES});
    proto_body_field(&spec, NODE_NAME, KI_STR("node"));
    check_limit_of_pod(&metadata, &spec);
    proto_body_free(&container);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(announced_data_that_never_arrives_costs_nothing),
        WITH_MEMORY_CHECK(a_frame_that_announces_much_allocates_little),
        WITH_MEMORY_CHECK(a_stream_that_is_not_protobuf_is_an_error),
        WITH_MEMORY_CHECK(an_event_that_is_too_large_is_refused_with_its_key),
        WITH_MEMORY_CHECK(nesting_has_a_limit),
        WITH_MEMORY_CHECK(repeated_fields_on_every_level_are_refused_if_they_are_too_much_work),
        WITH_MEMORY_CHECK(a_long_text_is_not_moved_again_and_again),
        WITH_MEMORY_CHECK(a_small_message_with_much_text_exceeds_the_limit),
        WITH_MEMORY_CHECK(moved_members_count_once_towards_the_limit),
        WITH_MEMORY_CHECK(fields_that_are_not_in_the_json_do_not_count_towards_the_limit),
    };
    return RUN_TESTS(tests);
}
