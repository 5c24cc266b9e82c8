/* SPDX-License-Identifier: Apache-2.0 */
/* Reading objects, alone and from several threads. */
#include <kinformer/object.h>
#include <kinformer/resources.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/list_decoder.h"
#include "api/object_layout.h"
#include "api/watch_decoder.h"
#include "support/decode_run.h"
#include "support/failing_allocator.h"
#include "support/json_reference.h"
#include "support/recorded.h"
#include "support/unit.h"
#include "util/thread.h"

static ki_object *make(const char *json)
{
    ki_error err = {0};
    ki_object *object = ki_object_new(&KI_CORE_V1_PODS, ki_str_of(json), NULL, &err);
    if (object == NULL)
        fail_msg("%s: %s", json, err.message);
    return object;
}

static void assert_text(ki_str text, const char *expected)
{
    if (!ki_str_equal(text, ki_str_of(expected)))
        fail_msg("\"%.*s\" instead of \"%s\"", KI_STR_ARGS(text), expected);
}

/* ---- recorded objects ---------------------------------------------------------------------------------- */

static void a_recorded_pod_is_read(void **state)
{
    (void)state;
    recorded answer;
    recorded_load(&answer, "pods-one.http");
    json_t *reference = json_reference_parse(answer.body);
    json_t *expected = recorded_object(reference, NULL);
    ki_object *object = ki_object_new(NULL, answer.body, NULL, NULL);
    ki_str text = {0};
    ki_owner owner = {0};
    assert_non_null(object);
    recorded_assert_object(object, expected);
    assert_true(strncmp(ki_object_key(object), "default/web-", 12) == 0);
    assert_int_equal(ki_object_label(object, KI_STR("app"), &text), 0);
    assert_text(text, "web");
    assert_int_equal(ki_object_controller(object, &owner), 0);
    assert_text(owner.kind, "ReplicaSet");
    assert_true(owner.is_controller && owner.blocks_deletion);
    ki_object_unref(object);
    json_decref(expected);
    json_decref(reference);
    recorded_free(&answer);
}

/* Each item of a recorded list, made alone. */
static void assert_items(const char *file, const ki_resource *resource)
{
    recorded answer;
    size_t count = 0;
    recorded_load(&answer, file);
    json_t *reference = json_reference_parse(answer.body);
    assert_non_null(reference);
    ki_json item;
    for (ki_json_iter iter = ki_json_iterate(ki_json_find(ki_json_of(answer.body), "/items"));
         ki_json_next(&iter, NULL, &item); count++) {
        json_t *expected =
            recorded_object(json_array_get(json_object_get(reference, "items"), count), reference);
        ki_object *object = ki_object_new(resource, item.raw, NULL, NULL);
        assert_non_null(object);
        recorded_assert_object(object, expected);
        ki_object_unref(object);
        json_decref(expected);
    }
    assert_int_equal(count, json_array_size(json_object_get(reference, "items")));
    assert_true(count > 0);
    json_decref(reference);
    recorded_free(&answer);
}

static void recorded_nodes_pods_and_definitions_are_read(void **state)
{
    (void)state;
    const ki_resource definitions = {.group = "apiextensions.k8s.io",
                                     .version = "v1",
                                     .plural = "customresourcedefinitions",
                                     .kind = "CustomResourceDefinition",
                                     .scope = KI_SCOPE_CLUSTER};
    assert_items("nodes-list.http", &KI_CORE_V1_NODES);
    assert_items("pods-list-pretty.http", &KI_CORE_V1_PODS);
    assert_items("configmaps-list.http", &KI_CORE_V1_CONFIGMAPS);
    assert_items("crds-list.http", &definitions);
}

/* How many objects of the list are in the watch, byte for byte. */
static size_t count_equal(const decode_run *list, const decode_run *watch)
{
    size_t equal = 0;
    for (size_t i = 0; i < list->object_count; i++)
        for (size_t j = 0; j < watch->object_count; j++)
            if (ki_str_equal(ki_object_uid(list->objects[i]), ki_object_uid(watch->objects[j])) &&
                ki_str_equal(ki_object_resource_version(list->objects[i]),
                             ki_object_resource_version(watch->objects[j]))) {
                assert_true(ki_object_equal(list->objects[i], watch->objects[j]));
                equal++;
            }
    return equal;
}

static size_t compare_list_and_watch(const char *list_file, const char *watch_file, const char *resource_name)
{
    recorded list_answer, watch_answer;
    decode_run list_run, watch_run;
    ki_list_decoder list;
    ki_watch_decoder watch;
    ki_resource *resource = recorded_resource(resource_name);
    ki_object_plan *plan = ki_object_plan_new(resource, NULL, NULL);
    recorded_load(&list_answer, list_file);
    recorded_load(&watch_answer, watch_file);
    ki_list_decoder_init(&list, plan);
    ki_watch_decoder_init(&watch, plan);
    decode_run_list(&list_run, &list, list_answer.body, (decode_split){0});
    decode_run_watch(&watch_run, &watch, watch_answer.body, (decode_split){0});
    size_t equal = count_equal(&list_run, &watch_run);
    decode_run_fini(&list_run);
    decode_run_fini(&watch_run);
    ki_list_decoder_fini(&list);
    ki_watch_decoder_fini(&watch);
    recorded_free(&list_answer);
    recorded_free(&watch_answer);
    ki_object_plan_free(plan);
    ki_resource_free(resource);
    return equal;
}

static void an_object_has_the_same_bytes_from_a_list_and_from_a_watch(void **state)
{
    (void)state;
    assert_int_equal(compare_list_and_watch("pods-list.http", "pods-watchlist.http", "pods"), 7);
    assert_true(compare_list_and_watch("pods-list-pretty.http", "pods-watchlist.http", "pods") > 0);
    assert_int_equal(
        compare_list_and_watch("widgets-list.http", "widgets-watch.http", "widgets.v1.example.com"), 1);
}

/* ---- metadata ------------------------------------------------------------------------------------------ */

static void a_key_has_the_namespace_only_if_there_is_one(void **state)
{
    (void)state;
    ki_object *node = make("{\"metadata\":{\"name\":\"n1\"}}");
    ki_object *other = make("{\"metadata\":{\"namespace\":\"\",\"name\":\"n1\"}}");
    ki_object *pod = make("{\"metadata\":{\"namespace\":\"kube-system\",\"name\":\"dns\"}}");
    assert_string_equal(ki_object_key(node), "n1");
    assert_string_equal(ki_object_key(other), "n1");
    assert_string_equal(ki_object_key(pod), "kube-system/dns");
    assert_int_equal(ki_object_namespace(node).len, 0);
    assert_text(ki_object_namespace(pod), "kube-system");
    assert_text(ki_object_name(pod), "dns");
    assert_text(ki_object_key_str(pod), "kube-system/dns");
    ki_object_unref(node);
    ki_object_unref(other);
    ki_object_unref(pod);
}

static void times_are_read_or_said_to_be_none(void **state)
{
    (void)state;
    ki_timestamp time = {.seconds = 7};
    ki_object *object = make(
        "{\"metadata\":{\"name\":\"a\",\"creationTimestamp\":\"2026-11-15T20:45:57Z\",\"deletionTimestamp\":"
        "\"2026-11-15T20:46:57\\u005a\"}}");
    assert_int_equal(ki_object_creation_time(object, &time), 0);
    assert_int_equal(time.seconds, 1794775557);
    assert_int_equal(ki_object_deletion_time(object, &time), 0);
    assert_int_equal(time.seconds, 1794775617);
    ki_object_unref(object);
    time.seconds = 7;
    object = make(
        "{\"metadata\":{\"name\":\"a\",\"creationTimestamp\":\"yesterday\",\"deletionTimestamp\":\"\\n\"}}");
    assert_int_equal(ki_object_creation_time(object, &time), KI_ERR_TIMESTAMP);
    assert_int_equal(ki_object_deletion_time(object, &time), KI_ERR_TIMESTAMP);
    assert_int_equal(time.seconds, 7);
    ki_object_unref(object);
}

static void owners_are_read_one_by_one(void **state)
{
    (void)state;
    ki_object *object = make("{\"metadata\":{\"name\":\"a\",\"ownerReferences\":[{\"apiVersion\":\"v1\","
                             "\"kind\":\"Node\",\"name\":\"n\\u00261\","
                             "\"uid\":\"u\",\"controller\":false},{},{\"kind\":7,\"name\":\"\\\"\","
                             "\"controller\":true},{\"kind\":\"Last\","
                             "\"controller\":true,\"blockOwnerDeletion\":true}]}}");
    ki_owner owner = {0};
    assert_int_equal(ki_object_owner(object, 0, &owner), 0);
    assert_text(owner.api_version, "v1");
    assert_text(owner.kind, "Node");
    assert_text(owner.name, "n&1");
    assert_text(owner.uid, "u");
    assert_false(owner.is_controller || owner.blocks_deletion);
    assert_int_equal(ki_object_owner(object, 1, &owner), 0);
    assert_int_equal(owner.name.len + owner.kind.len + owner.uid.len + owner.api_version.len, 0);
    assert_int_equal(ki_object_owner(object, 3, &owner), 0);
    assert_true(owner.is_controller && owner.blocks_deletion);
    assert_int_equal(ki_object_owner(object, 4, &owner), KI_ERR_NOT_FOUND);
    assert_text(owner.kind, "Last");
    assert_int_equal(ki_object_controller(object, &owner), 0);
    assert_text(owner.name, "\"");
    assert_int_equal(owner.kind.len, 0);
    ki_object_unref(object);
}

static void maps_are_iterated_and_looked_up(void **state)
{
    (void)state;
    ki_object *object = make("{\"metadata\":{\"name\":\"a\",\"labels\":{},\"annotations\":{\"a\\\"b\":\"1\","
                             "\"c\":\"\",\"d/e.f\":\"\\u003c\"},"
                             "\"finalizers\":[\"x\",\"y\\n\"]}}");
    ki_str text = KI_STR("unchanged");
    assert_int_equal(ki_json_type_of(ki_object_labels(object)), KI_JSON_OBJECT);
    assert_int_equal(ki_object_label(object, KI_STR("a"), &text), KI_ERR_NOT_FOUND);
    assert_text(text, "unchanged");
    assert_int_equal(ki_object_annotation(object, KI_STR("a\"b"), &text), 0);
    assert_text(text, "1");
    assert_int_equal(ki_object_annotation(object, KI_STR("c"), &text), 0);
    assert_text(text, "");
    assert_int_equal(ki_object_annotation(object, KI_STR("d/e.f"), &text), 0);
    assert_text(text, "<");
    ki_json_iter iter = ki_json_iterate(ki_object_finalizers(object));
    ki_json finalizer;
    assert_true(ki_json_next(&iter, NULL, &finalizer) && ki_json_next(&iter, NULL, &finalizer));
    assert_int_equal(ki_object_text(object, finalizer, &text), 0);
    assert_text(text, "y\n");
    ki_object_unref(object);
}

/* ---- fields -------------------------------------------------------------------------------------------- */

static const char fields[] =
    "{\"metadata\":{\"name\":\"a\",\"annotations\":{\"quote\":\"\\\"x\\\"\",\"line\":\"a\\nb\",\"plain\":"
    "\"p\",\"less\":"
    "\"a\\u003cb\"}},\"spec\":{\"replicas\":3,\"ratio\":0.25,\"paused\":true,\"host\":\"\",\"list\":[\"x\","
    "\"\\\\\"],"
    "\"big\":9007199254740993,\"huge\":1e99,\"nothing\":null,\"a/b\":{\"~\":\"t\"}}}";

static void fields_are_found_by_pointer(void **state)
{
    (void)state;
    ki_object *object = make(fields);
    int64_t number = 0;
    double real = 0;
    int flag = 0;
    assert_text(ki_object_find(object, "/spec/list").raw, "[\"x\",\"\\\\\"]");
    assert_true(ki_str_equal(ki_object_find(object, "").raw, ki_object_json(object)));
    assert_int_equal(ki_json_type_of(ki_object_find(object, "/spec/none")), KI_JSON_NONE);
    assert_text(ki_object_string(object, "/spec/list/0"), "x");
    assert_text(ki_object_string(object, "/spec/a~1b/~0"), "t");
    assert_int_equal(ki_object_get_int64(object, "/spec/replicas", &number), 0);
    assert_int_equal(number, 3);
    assert_int_equal(ki_object_get_int64(object, "/spec/big", &number), 0);
    assert_true(number == INT64_C(9007199254740993));
    assert_int_equal(ki_object_get_double(object, "/spec/ratio", &real), 0);
    assert_true(real == 0.25);
    assert_int_equal(ki_object_get_bool(object, "/spec/paused", &flag), 0);
    assert_int_equal(flag, 1);
    ki_object_unref(object);
}

static void a_field_that_is_not_as_wanted_says_why(void **state)
{
    (void)state;
    ki_object *object = make(fields);
    int64_t number = 7;
    double real = 7;
    int flag = 7;
    ki_str text = KI_STR("unchanged");
    assert_int_equal(ki_object_get_string(object, "/spec/none", &text), KI_ERR_NOT_FOUND);
    assert_int_equal(ki_object_get_string(object, "/spec/replicas", &text), KI_ERR_TYPE);
    assert_int_equal(ki_object_get_string(object, "/spec/nothing", &text), KI_ERR_TYPE);
    assert_int_equal(ki_object_get_string(object, "bad pointer", &text), KI_ERR_NOT_FOUND);
    assert_int_equal(ki_object_get_string(object, NULL, &text), KI_ERR_NOT_FOUND);
    assert_int_equal(ki_object_get_int64(object, "/spec/none", &number), KI_ERR_NOT_FOUND);
    assert_int_equal(ki_object_get_int64(object, "/spec/ratio", &number), KI_ERR_TYPE);
    assert_int_equal(ki_object_get_int64(object, "/spec/huge", &number), KI_ERR_RANGE);
    assert_int_equal(ki_object_get_int64(object, "/spec/host", &number), KI_ERR_TYPE);
    assert_int_equal(ki_object_get_double(object, "/spec/none", &real), KI_ERR_NOT_FOUND);
    assert_int_equal(ki_object_get_double(object, "/spec/paused", &real), KI_ERR_TYPE);
    assert_int_equal(ki_object_get_bool(object, "/spec/none", &flag), KI_ERR_NOT_FOUND);
    assert_int_equal(ki_object_get_bool(object, "/spec/replicas", &flag), KI_ERR_TYPE);
    assert_true(number == 7 && real == 7 && flag == 7);
    assert_text(text, "unchanged");
    assert_int_equal(ki_object_string(object, "/spec/none").len, 0);
    assert_int_equal(ki_object_string(object, "/spec/replicas").len, 0);
    ki_object_unref(object);
}

/* ---- strings with escapes ------------------------------------------------------------------------------ */

static void strings_are_unescaped_and_stay_where_they_are(void **state)
{
    (void)state;
    ki_object *object = make(fields);
    ki_str quote = {0}, line = {0}, again = {0};
    assert_int_equal(ki_object_annotation(object, KI_STR("quote"), &quote), 0);
    assert_text(quote, "\"x\"");
    assert_int_equal(ki_object_annotation(object, KI_STR("line"), &line), 0);
    assert_text(line, "a\nb");
    assert_text(ki_object_string(object, "/spec/list/1"), "\\");
    assert_int_equal(ki_object_get_string(object, "/metadata/annotations/quote", &again), 0);
    assert_ptr_equal(again.ptr, quote.ptr);
    assert_int_equal(ki_object_annotation(object, KI_STR("line"), &again), 0);
    assert_ptr_equal(again.ptr, line.ptr);
    assert_text(quote, "\"x\"");
    ki_object_unref(object);
}

static void strings_without_escapes_are_read_where_they_stand(void **state)
{
    (void)state;
    ki_object *object = make(fields);
    ki_str json = ki_object_json(object), text = {0};
    size_t bytes = ki_object_bytes(object);
    assert_int_equal(ki_object_annotation(object, KI_STR("plain"), &text), 0);
    assert_true(text.ptr > json.ptr && text.ptr < json.ptr + json.len);
    assert_int_equal(ki_object_annotation(object, KI_STR("less"), &text), 0);
    assert_text(text, "a<b");
    assert_true(text.ptr > json.ptr && text.ptr < json.ptr + json.len);
    assert_int_equal(ki_object_bytes(object), bytes);
    ki_object_unref(object);
}

static void an_object_grows_once_for_all_its_escapes(void **state)
{
    (void)state;
    ki_object *object = make(fields);
    ki_str text = {0};
    size_t before = ki_object_bytes(object);
    assert_int_equal(ki_object_annotation(object, KI_STR("line"), &text), 0);
    size_t after = ki_object_bytes(object);
    assert_true(after > before);
    assert_int_equal(failing_allocator_live_bytes(), after);
    assert_int_equal(failing_allocator_live_count(), 2);
    assert_int_equal(ki_object_annotation(object, KI_STR("quote"), &text), 0);
    assert_text(ki_object_string(object, "/spec/list/1"), "\\");
    assert_int_equal(ki_object_bytes(object), after);
    assert_int_equal(failing_allocator_live_count(), 2);
    ki_object_unref(object);
}

static void names_are_strings_too(void **state)
{
    (void)state;
    ki_object *object = make("{\"metadata\":{\"name\":\"a\",\"labels\":{\"\\\"\\\\\":\"v\"}}}");
    ki_json_iter iter = ki_json_iterate(ki_object_labels(object));
    ki_json name, value;
    ki_str text = {0};
    assert_int_equal(ki_json_next(&iter, &name, &value), 1);
    assert_int_equal(ki_object_text(object, name, &text), 0);
    assert_text(text, "\"\\");
    assert_int_equal(ki_object_label(object, text, &text), 0);
    assert_text(text, "v");
    ki_object_unref(object);
}

static void text_of_something_else_is_refused(void **state)
{
    (void)state;
    ki_object *object = make(fields);
    ki_object *other = make(fields);
    ki_str text = KI_STR("unchanged");
    ki_json quote = ki_object_find(other, "/metadata/annotations/quote");
    assert_int_equal(ki_object_text(object, quote, &text), KI_ERR_INVALID);
    assert_int_equal(ki_object_text(object, ki_object_find(other, "/metadata/annotations/plain"), &text),
                     KI_ERR_INVALID);
    assert_int_equal(ki_object_text(object, ki_json_of(KI_STR("\"plain\"")), &text), KI_ERR_INVALID);
    quote = ki_object_find(object, "/metadata/annotations/quote");
    ki_json inside = {{quote.raw.ptr + 2, quote.raw.len - 2}}; /* "x\"", which is no string of the object */
    assert_int_equal(ki_object_text(object, inside, &text), KI_ERR_INVALID);
    assert_int_equal(ki_object_text(object, ki_object_find(object, "/spec"), &text), KI_ERR_TYPE);
    assert_int_equal(ki_object_text(object, (ki_json){0}, &text), KI_ERR_TYPE);
    assert_int_equal(ki_object_text(object, quote, NULL), KI_ERR_INVALID);
    assert_text(text, "unchanged");
    ki_object_unref(object);
    ki_object_unref(other);
}

static void without_memory_plain_strings_are_read_and_others_later(void **state)
{
    (void)state;
    ki_object *object = make(fields);
    ki_str text = KI_STR("unchanged");
    ki_owner owner = {0};
    failing_allocator_fail_at(1);
    assert_int_equal(ki_object_annotation(object, KI_STR("plain"), &text), 0);
    assert_int_equal(ki_object_annotation(object, KI_STR("line"), &text), KI_ERR_NO_MEMORY);
    assert_text(text, "p");
    failing_allocator_fail_at(1);
    assert_int_equal(ki_object_get_string(object, "/spec/list/1", &text), KI_ERR_NO_MEMORY);
    failing_allocator_fail_at(1);
    assert_int_equal(ki_object_string(object, "/spec/list/1").len, 0);
    assert_int_equal(ki_object_owner(object, 0, &owner), KI_ERR_NOT_FOUND);
    assert_int_equal(ki_object_annotation(object, KI_STR("line"), &text), 0);
    assert_text(text, "a\nb");
    ki_object_unref(object);
}

static void an_owner_that_needs_memory_says_so(void **state)
{
    (void)state;
    ki_object *object =
        make("{\"metadata\":{\"name\":\"a\",\"ownerReferences\":[{\"name\":\"\\n\",\"controller\":true}]}}");
    ki_owner owner = {.is_controller = 7};
    failing_allocator_fail_at(1);
    assert_int_equal(ki_object_owner(object, 0, &owner), KI_ERR_NO_MEMORY);
    failing_allocator_fail_at(1);
    assert_int_equal(ki_object_controller(object, &owner), KI_ERR_NO_MEMORY);
    assert_int_equal(owner.is_controller, 7);
    assert_int_equal(ki_object_controller(object, &owner), 0);
    assert_text(owner.name, "\n");
    ki_object_unref(object);
}

/* ---- sharing ------------------------------------------------------------------------------------------- */

static void the_last_reference_frees_the_object(void **state)
{
    (void)state;
    ki_object *object = make(fields);
    assert_ptr_equal(ki_object_ref(object), object);
    assert_null(ki_object_unref(object));
    assert_string_equal(ki_object_key(object), "a");
    assert_text(ki_object_string(object, "/spec/list/1"), "\\");
    assert_null(ki_object_unref(object));
    assert_int_equal(failing_allocator_live_count(), 0);
    assert_null(ki_object_ref(NULL));
    assert_null(ki_object_unref(NULL));
}

enum { READERS = 4, ROUNDS = 300 };

typedef struct reader {
    ki_object *object;
    _Atomic int *started;
    const char *line;
    const char *quote;
    size_t bytes;
} reader;

static void read_strings(void *user)
{
    reader *r = user;
    ki_str text = {0};
    atomic_fetch_add(r->started, 1);
    while (atomic_load(r->started) < READERS)
        ;
    r->line = ki_object_string(r->object, "/metadata/annotations/line").ptr;
    if (ki_object_annotation(r->object, KI_STR("quote"), &text) == 0)
        r->quote = text.ptr;
    r->bytes = ki_object_bytes(r->object);
    ki_object_unref(r->object);
}

static void readers_on_several_threads_get_the_same_strings(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        ki_object *object = make(fields);
        _Atomic int started = 0;
        ki_thread threads[READERS];
        reader readers[READERS];
        for (int i = 0; i < READERS; i++) {
            readers[i] = (reader){.object = ki_object_ref(object), .started = &started};
            ki_thread_options options = {.name = "reader", .run = read_strings, .user = &readers[i]};
            assert_int_equal(ki_thread_start(&threads[i], &options, NULL), 0);
        }
        for (int i = 0; i < READERS; i++)
            ki_thread_join(&threads[i]);
        assert_memory_equal(readers[0].line, "a\nb", 3);
        assert_memory_equal(readers[0].quote, "\"x\"", 3);
        for (int i = 1; i < READERS; i++) {
            assert_ptr_equal(readers[i].line, readers[0].line);
            assert_ptr_equal(readers[i].quote, readers[0].quote);
            assert_int_equal(readers[i].bytes, readers[0].bytes);
        }
        ki_object_unref(object);
    }
}

/* ---- resource versions --------------------------------------------------------------------------------- */

static void resource_versions_compare_as_decimal_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *a;
        const char *b;
        int order;
    } cases[] = {
        {"1", "1", 0},
        {"1", "2", -1},
        {"9", "10", -1},
        {"100", "99", 1},
        {"0", "0", 0},
        {"0", "1", -1},
        {"007", "7", 0},
        {"000", "0", 0},
        {"0010", "9", 1},
        {"18446744073709551616", "18446744073709551615", 1},
        {"99999999999999999999999999999999999999999999999998",
         "99999999999999999999999999999999999999999999999999", -1},
        {"99999999999999999999999999999999999999999999999999",
         "100000000000000000000000000000000000000000000000000", -1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int order = 7;
        assert_int_equal(ki_resource_version_compare(ki_str_of(cases[i].a), ki_str_of(cases[i].b), &order),
                         0);
        assert_int_equal(order, cases[i].order);
        assert_int_equal(ki_resource_version_compare(ki_str_of(cases[i].b), ki_str_of(cases[i].a), &order),
                         0);
        assert_int_equal(order, -cases[i].order);
    }
}

static void other_resource_versions_have_no_order(void **state)
{
    (void)state;
    static const char *const wrong[] = {"",    "-1",  "+1",   " 1",    "1 ",       "1.0",
                                        "1e3", "abc", "0x10", "1_000", "\xd9\xa1", "12a"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        int order = 7;
        assert_int_equal(ki_resource_version_compare(ki_str_of(wrong[i]), KI_STR("1"), &order), KI_ERR_TYPE);
        assert_int_equal(ki_resource_version_compare(KI_STR("1"), ki_str_of(wrong[i]), &order), KI_ERR_TYPE);
        assert_int_equal(ki_resource_version_compare(ki_str_of(wrong[i]), ki_str_of(wrong[i]), &order),
                         KI_ERR_TYPE);
        assert_int_equal(order, 7);
    }
    int order = 7;
    assert_int_equal(ki_resource_version_compare((ki_str){0}, KI_STR("1"), &order), KI_ERR_TYPE);
}

#define WITH_ALLOCATOR(test)                                                                                 \
    cmocka_unit_test_setup_teardown(test, failing_allocator_setup, failing_allocator_teardown)

static void a_missing_object_is_empty(void **state)
{
    (void)state;
    ki_str text = {0};
    ki_timestamp time;
    ki_owner owner;
    int64_t number = 0;
    double real = 0;
    int flag = 0;
    assert_string_equal(ki_object_key(NULL), "");
    assert_int_equal(ki_object_key_str(NULL).len + ki_object_namespace(NULL).len + ki_object_name(NULL).len,
                     0);
    assert_int_equal(ki_object_uid(NULL).len + ki_object_kind(NULL).len + ki_object_json(NULL).len, 0);
    assert_int_equal(ki_object_bytes(NULL), 0);
    assert_int_equal(ki_object_generation(NULL), 0);
    assert_int_equal(ki_json_type_of(ki_object_labels(NULL)), KI_JSON_NONE);
    assert_int_equal(ki_json_type_of(ki_object_find(NULL, "/a")), KI_JSON_NONE);
    assert_int_equal(ki_object_string(NULL, "/a").len, 0);
    assert_int_equal(ki_object_creation_time(NULL, &time), KI_ERR_INVALID);
    assert_int_equal(ki_object_label(NULL, KI_STR("a"), &text), KI_ERR_INVALID);
    assert_int_equal(ki_object_owner(NULL, 0, &owner), KI_ERR_INVALID);
    assert_int_equal(ki_object_controller(NULL, &owner), KI_ERR_INVALID);
    assert_int_equal(ki_object_get_string(NULL, "/a", &text), KI_ERR_INVALID);
    assert_int_equal(ki_object_get_int64(NULL, "/a", &number), KI_ERR_INVALID);
    assert_int_equal(ki_object_get_double(NULL, "/a", &real), KI_ERR_INVALID);
    assert_int_equal(ki_object_get_bool(NULL, "/a", &flag), KI_ERR_INVALID);
    assert_int_equal(ki_object_text(NULL, (ki_json){0}, &text), KI_ERR_INVALID);
    assert_int_equal(ki_resource_version_compare(KI_STR("1"), KI_STR("2"), NULL), KI_ERR_INVALID);
    assert_true(ki_object_equal(NULL, NULL));
    ki_object_prefetch(NULL); /* which the sanitizer looks at */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_missing_object_is_empty),
        cmocka_unit_test(a_recorded_pod_is_read),
        cmocka_unit_test(recorded_nodes_pods_and_definitions_are_read),
        cmocka_unit_test(an_object_has_the_same_bytes_from_a_list_and_from_a_watch),
        cmocka_unit_test(a_key_has_the_namespace_only_if_there_is_one),
        cmocka_unit_test(times_are_read_or_said_to_be_none),
        cmocka_unit_test(owners_are_read_one_by_one),
        cmocka_unit_test(maps_are_iterated_and_looked_up),
        cmocka_unit_test(fields_are_found_by_pointer),
        cmocka_unit_test(a_field_that_is_not_as_wanted_says_why),
        cmocka_unit_test(strings_are_unescaped_and_stay_where_they_are),
        cmocka_unit_test(strings_without_escapes_are_read_where_they_stand),
        WITH_ALLOCATOR(an_object_grows_once_for_all_its_escapes),
        cmocka_unit_test(names_are_strings_too),
        cmocka_unit_test(text_of_something_else_is_refused),
        WITH_ALLOCATOR(without_memory_plain_strings_are_read_and_others_later),
        WITH_ALLOCATOR(an_owner_that_needs_memory_says_so),
        WITH_ALLOCATOR(the_last_reference_frees_the_object),
        cmocka_unit_test(readers_on_several_threads_get_the_same_strings),
        cmocka_unit_test(resource_versions_compare_as_decimal_numbers),
        cmocka_unit_test(other_resource_versions_have_no_order),
    };
    return RUN_TESTS(tests);
}
