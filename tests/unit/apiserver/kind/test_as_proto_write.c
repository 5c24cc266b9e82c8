/* SPDX-License-Identifier: Apache-2.0 */
/* Protobuf written by the server, compared with that of a real server for the same JSON, and read by the
 * library's decoder, whose tables have another source. */
#define _GNU_SOURCE /* for memmem() */
#include "apiserver/kind/proto_write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apiserver/kind/schema.h"
#include "apiserver/value/tree.h"
#include "proto/proto_watch.h"
#include "proto/typed.h"
#include "support/apiserver/trees.h"
#include "support/decode/proto_records.h"
#include "support/decode/recorded.h"
#include "support/unit.h"

enum { BYTES_MAX = 1 << 24 };

/* ---- recorded lists ------------------------------------------------------------------------------------ */

static size_t count_same_bytes(const json_t *list, ki_str body)
{
    size_t same = 0;
    char kind[64];
    snprintf(kind, sizeof(kind), "%s", json_string_value(json_object_get(list, "kind")));
    kind[strlen(kind) - strlen("List")] = 0;
    for (size_t i = 0; i < json_array_size(json_object_get(list, "items")); i++) {
        ki_buf out;
        json_t *item = json_array_get(json_object_get(list, "items"), i);
        json_object_set_new(item, "kind", json_string(kind));
        json_object_set(item, "apiVersion", json_object_get(list, "apiVersion"));
        ki_buf_init(&out, BYTES_MAX);
        assert_int_equal(ki_as_proto_list_item(&out, item), 0);
        same += memmem(body.ptr, body.len, out.data, out.len) != NULL;
        ki_buf_fini(&out);
    }
    return same;
}

static void items_have_the_bytes_of_a_real_server(void **state)
{
    static const struct {
        const char *name;
        size_t objects;
    } lists[] = {{"configmaps", 2}, {"deployments", 1},    {"endpoints", 2},
                 {"pods", 4},       {"endpointslices", 2}, {"services", 2}};
    (void)state;
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        char name[64];
        recorded proto;
        snprintf(name, sizeof(name), "proto/%s-list.pb.http", lists[i].name);
        recorded_load(&proto, name);
        snprintf(name, sizeof(name), "proto/%s-list.json.http", lists[i].name);
        json_t *list = tree_of_fixture(name);
        size_t same = count_same_bytes(list, proto.body);
        if (same != lists[i].objects)
            fail_msg("%s: only %zu items are the same", name, same);
        json_decref(list);
        recorded_free(&proto);
    }
}

static void an_error_has_the_bytes_of_a_real_server(void **state)
{
    ki_buf out;
    recorded proto;
    (void)state;
    recorded_load(&proto, "proto/error-404.pb.http");
    json_t *status = tree_of("{'kind':'Status','apiVersion':'v1','metadata':{},'status':'Failure',"
                             "'message':'','reason':'NotFound',"
                             "'details':{'name':'none','kind':'pods'},'code':404}");
    json_object_set_new(status, "message", json_string("pods \"none\" not found"));
    ki_buf_init(&out, BYTES_MAX);
    assert_int_equal(ki_as_proto_object(&out, status), 0);
    assert_int_equal(out.len, proto.body.len);
    assert_memory_equal(out.data, proto.body.ptr, out.len);
    ki_buf_fini(&out);
    json_decref(status);
    recorded_free(&proto);
}

static void an_empty_list_has_the_bytes_of_a_real_server(void **state)
{
    ki_buf out;
    recorded proto;
    size_t at = 0;
    (void)state;
    recorded_load(&proto, "proto/crd-list-asked-as.pb.http");
    json_t *head = tree_of("{'kind':'CustomResourceDefinitionList','apiVersion':'apiextensions.k8s.io/v1',"
                           "'metadata':{'resourceVersion':'254'},'items':[]}");
    ki_buf_init(&out, BYTES_MAX);
    assert_int_equal(ki_as_proto_list_begin(&out, head, &at), 0);
    assert_int_equal(ki_as_proto_list_end(&out, at), 0);
    assert_int_equal(out.len, proto.body.len);
    assert_memory_equal(out.data, proto.body.ptr, out.len);
    ki_buf_fini(&out);
    json_decref(head);
    recorded_free(&proto);
}

/* ---- every kind ---------------------------------------------------------------------------------------- */

static void prune_value(json_t *value, const struct ki_as_schema *schema);

/* The recorded objects are from a release with more fields than the server's tables have. */
static void prune_fields(json_t *object, const struct ki_as_schema *schema)
{
    const char *name = NULL;
    json_t *value = NULL;
    void *next = NULL;
    json_object_foreach_safe(object, next, name, value)
    {
        const struct ki_as_schema_field *field = ki_as_schema_field(schema, ki_str_of(name));
        const char *key = NULL;
        json_t *element = NULL;
        if (field == NULL) {
            json_object_del(object, name);
            continue;
        }
        const struct ki_as_schema *inner = ki_as_schema_of_type(field->type);
        if (field->shape != KI_AS_FIELD_MAP)
            prune_value(value, inner);
        else
            json_object_foreach(value, key, element) prune_value(element, inner);
    }
}

static void prune_value(json_t *value, const struct ki_as_schema *schema)
{
    for (size_t i = 0; i < json_array_size(value); i++)
        prune_value(json_array_get(value, i), schema);
    if (schema != NULL && json_is_object(value))
        prune_fields(value, schema);
}

/* Reads the message with the library's decoder. */
static json_t *decode(ki_proto_reader *reader, const ki_buf *message)
{
    ki_error err = {0};
    ki_proto_typed typed = {0};
    assert_int_equal(ki_proto_typed_read(ki_buf_str(message), 0, &typed, &err), 0);
    const ki_proto_source source = {.message = ki_proto_find(typed.api_version, typed.kind),
                                    .bytes = typed.raw,
                                    .kind = typed.kind,
                                    .api_version = typed.api_version,
                                    .bytes_max = BYTES_MAX};
    assert_non_null(source.message);
    if (ki_proto_read(reader, &source, &err) < 0)
        fail_msg("%.*s: %s", KI_STR_ARGS(typed.kind), err.message);
    assert_int_equal(reader->unknown.count, 0);
    ki_str text = ki_buf_str(&reader->sink.text);
    return json_loadb(text.ptr, text.len, JSON_ALLOW_NUL, NULL);
}

static bool comes_back(ki_proto_reader *reader, const proto_record *record)
{
    ki_buf out;
    json_t *tree = json_loadb(record->json.ptr, record->json.len, JSON_ALLOW_NUL, NULL);
    const struct ki_as_schema *schema = ki_as_schema_find(record->api_version, record->kind);
    prune_fields(tree, schema);
    ki_buf_init(&out, BYTES_MAX);
    assert_int_equal(ki_as_proto_object(&out, tree), 0);
    json_t *again = decode(reader, &out);
    /* Fields that only the newer release has are absent or empty. */
    prune_fields(again, schema);
    char *want = json_dumps(tree, JSON_COMPACT | JSON_SORT_KEYS);
    char *got = json_dumps(again, JSON_COMPACT | JSON_SORT_KEYS);
    bool is_same = ki_json_equal((ki_json){ki_str_of(want)}, (ki_json){ki_str_of(got)}) == 1;
    if (!is_same)
        fprintf(stderr, "%.*s\nwant: %s\ngot:  %s\n", KI_STR_ARGS(record->kind), want, got);
    free(want);
    free(got);
    json_decref(tree);
    json_decref(again);
    ki_buf_fini(&out);
    return is_same;
}

/* Versions that the newest releases have dropped and kinds that are not resources are not served. Also,
 * jansson cannot read names with NUL, and the server cannot read years of five digits. */
static bool is_served(const proto_record *record)
{
    char api_version[64];
    char kind[64];
    snprintf(api_version, sizeof(api_version), "%.*s", KI_STR_ARGS(record->api_version));
    snprintf(kind, sizeof(kind), "%.*s", KI_STR_ARGS(record->kind));
    ki_str year = KI_STR("\"10000-01-01T00:00:00Z\"");
    json_t *tree = json_loadb(record->json.ptr, record->json.len, JSON_ALLOW_NUL, NULL);
    json_decref(tree);
    return tree != NULL && ki_as_proto_has(api_version, kind) &&
           memmem(record->json.ptr, record->json.len, year.ptr, year.len) == NULL;
}

static size_t check_file(const char *name)
{
    proto_records records = proto_records_load(name);
    ki_proto_reader reader;
    size_t wrong = 0;
    size_t checked = 0;
    ki_proto_reader_init(&reader, NULL, 0);
    for (size_t i = 0; i < records.count; i++) {
        checked += is_served(&records.list[i]);
        if (is_served(&records.list[i]))
            wrong += !comes_back(&reader, &records.list[i]);
    }
    ki_proto_reader_fini(&reader);
    proto_records_free(&records);
    assert_int_equal(wrong, 0);
    return checked;
}

static void objects_of_every_kind_are_read_by_the_other_decoder(void **state)
{
    (void)state;
    assert_true(check_file("random.rec.gz") > 330);
    assert_true(check_file("published.rec.gz") > 50);
}

/* ---- values -------------------------------------------------------------------------------------------- */

static void expect_back(const char *written, const char *read)
{
    ki_buf out;
    ki_proto_reader reader;
    json_t *tree = tree_of(written);
    ki_proto_reader_init(&reader, NULL, 0);
    ki_buf_init(&out, BYTES_MAX);
    assert_int_equal(ki_as_proto_object(&out, tree), 0);
    assert_tree(decode(&reader, &out), read);
    ki_buf_fini(&out);
    ki_proto_reader_fini(&reader);
    json_decref(tree);
}

static void times_have_their_zone_and_fraction(void **state)
{
    (void)state;
    expect_back("{'kind':'Lease','apiVersion':'coordination.k8s.io/v1',"
                "'metadata':{'creationTimestamp':'2026-11-17T01:30:00.9+02:00'},"
                "'spec':{'acquireTime':'2026-11-17T01:30:00.000123Z','renewTime':'2026-11-17T01:30:00.5Z'}}",
                "{'kind':'Lease','apiVersion':'coordination.k8s.io/v1',"
                "'metadata':{'creationTimestamp':'2026-11-16T23:30:00Z'},'spec':{'acquireTime':"
                "'2026-11-17T01:30:00.000123Z','renewTime':'2026-11-17T01:30:00.500000Z'}}");
}

#define CRD_OPENING                                                                                          \
    "{'kind':'CustomResourceDefinition','apiVersion':'apiextensions.k8s.io/v1','metadata':{},"               \
    "'spec':{'group':'','names':{'plural':'','kind':''},'scope':'','versions':[{'name':'','served':true,"    \
    "'storage':true,'schema':{'openAPIV3Schema':"
#define CRD_END                                                                                              \
    "}}]},'status':{'conditions':null,'acceptedNames':{'plural':'','kind':''},'storedVersions':null}}"

/* As in Go. The library's decoder reads a sorted map in a single pass. */
static void maps_are_sorted_by_name(void **state)
{
    (void)state;
    ki_proto_reader reader;
    ki_buf out;
    json_t *tree =
        tree_of("{'kind':'ConfigMap','apiVersion':'v1','metadata':{'labels':{'b':'','':'','a':''}},"
                "'data':{'z':'1','zz':'2','aa':'3'}}");
    ki_proto_reader_init(&reader, NULL, 0);
    ki_buf_init(&out, BYTES_MAX);
    assert_int_equal(ki_as_proto_object(&out, tree), 0);
    assert_tree(decode(&reader, &out),
                "{'kind':'ConfigMap','apiVersion':'v1','metadata':{'labels':{'':'','a':'','b':''}},"
                "'data':{'aa':'3','z':'1','zz':'2'}}");
    assert_false(reader.is_careful);
    ki_buf_fini(&out);
    ki_proto_reader_fini(&reader);
    json_decref(tree);
}

static void schemas_may_be_booleans_and_lists(void **state)
{
    static const char schema[] = CRD_OPENING
        "{'additionalProperties':false,'additionalItems':{'type':'string'},'items':[{'type':'object'}],"
        "'dependencies':{'a':['b','c'],'d':{'minimum':1.5}},'not':{'items':{'default':{'x':[1]}}},"
        "'enum':['x',1,null],'properties':{'p':{'additionalProperties':true}}}" CRD_END;
    (void)state;
    expect_back(schema, schema);
}

static void values_of_another_type_are_zero(void **state)
{
    (void)state;
    expect_back("{'kind':'Lease','apiVersion':'coordination.k8s.io/v1','metadata':[],"
                "'spec':{'leaseTransitions':'many','holderIdentity':[3],'acquireTime':'today'}}",
                "{'kind':'Lease','apiVersion':'coordination.k8s.io/v1','metadata':{},"
                "'spec':{'leaseTransitions':0,'holderIdentity':'','acquireTime':null}}");
}

static void other_kinds_and_versions_have_no_message(void **state)
{
    (void)state;
    assert_true(ki_as_proto_has("v1", "Pod"));
    assert_true(ki_as_proto_has("apps/v1", "Deployment"));
    assert_false(ki_as_proto_has("apps/v1beta1", "Deployment"));
    assert_false(ki_as_proto_has("example.com/v1", "Widget"));
}

/* ---- out of memory ------------------------------------------------------------------------------------- */

static bool write_once(void *user)
{
    ki_buf out;
    ki_buf_init(&out, BYTES_MAX);
    bool is_written = ki_as_proto_event(&out, user) == 0;
    ki_buf_fini(&out);
    return is_written;
}

static void out_of_memory_is_reported(void **state)
{
    (void)state;
    json_t *event = tree_of("{'type':'ADDED','object':{'kind':'Secret','apiVersion':'v1',"
                            "'metadata':{'name':'a','labels':{'b':'c'}},'data':{'k':'YWJj'}}}");
    assert_survives_no_memory(write_once, event);
    json_decref(event);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_have_the_bytes_of_a_real_server),
        cmocka_unit_test(an_error_has_the_bytes_of_a_real_server),
        cmocka_unit_test(an_empty_list_has_the_bytes_of_a_real_server),
        cmocka_unit_test(objects_of_every_kind_are_read_by_the_other_decoder),
        cmocka_unit_test(times_have_their_zone_and_fraction),
        cmocka_unit_test(maps_are_sorted_by_name),
        cmocka_unit_test(schemas_may_be_booleans_and_lists),
        cmocka_unit_test(values_of_another_type_are_zero),
        cmocka_unit_test(other_kinds_and_versions_have_no_message),
        cmocka_unit_test(out_of_memory_is_reported),
    };
    return RUN_TESTS(tests);
}
