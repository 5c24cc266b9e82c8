/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of every kind from protobuf and from Go's JSON, with several projections: text and metadata are the
 * same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/decode/decode_run.h"
#include "support/decode/proto_records.h"
#include "support/unit.h"

#define PATHS(...) ((const char *const[]){__VA_ARGS__, NULL})

static int has_metadata(const proto_record *record)
{
    return strstr(record->json.ptr, "\"metadata\":{") != NULL &&
           ki_json_type_of(ki_json_find((ki_json){record->json}, "/metadata/name")) == KI_JSON_STRING;
}

static ki_object *object_of_event(ki_object_plan *plan, const proto_record *record, decode_run *run)
{
    proto_body body = proto_body_event("ADDED", record->message);
    decode_run_form(run, KI_BODY_PROTO_WATCH, plan, proto_body_str(&body), (decode_split){0});
    proto_body_free(&body);
    return run->object_count == 1 ? run->objects[0] : NULL;
}

static void assert_same(const ki_object *ours, const ki_object *other, const char *log)
{
    if (ours == NULL || other == NULL || !ki_object_equal(ours, other))
        fail_msg("\nours: %s\nGo's: %.*s", log,
                 KI_STR_ARGS(other == NULL ? KI_STR("none") : ki_object_json(other)));
    assert_string_equal(ki_object_key(ours), ki_object_key(other));
    assert_true(ki_str_equal(ki_object_uid(ours), ki_object_uid(other)));
    assert_true(ki_str_equal(ki_object_resource_version(ours), ki_object_resource_version(other)));
    assert_true(ki_str_equal(ki_object_kind(ours), ki_object_kind(other)));
    assert_true(ki_str_equal(ki_object_api_version(ours), ki_object_api_version(other)));
    assert_int_equal(ki_object_generation(ours), ki_object_generation(other));
    assert_true(ki_str_equal(ki_object_labels(ours).raw, ki_object_labels(other).raw));
    assert_true(ki_str_equal(ki_object_annotations(ours).raw, ki_object_annotations(other).raw));
}

static void check_records(const char *file, const ki_object_options *options)
{
    proto_records records = proto_records_load(file);
    ki_error err = {0};
    ki_object_plan *plan = ki_object_plan_new(NULL, options, &err);
    assert_non_null(plan);
    size_t compared = 0;
    for (size_t i = 0; i < records.count; i++) {
        decode_run run;
        if (!has_metadata(&records.list[i]))
            continue;
        ki_object *ours = object_of_event(plan, &records.list[i], &run);
        ki_object *other = ki_object_new(NULL, records.list[i].json, options, &err);
        assert_same(ours, other, run.log);
        ki_object_unref(other);
        decode_run_fini(&run);
        compared++;
    }
    assert_true(compared > 300);
    ki_object_plan_free(plan);
    proto_records_free(&records);
}

static void whole_objects_have_the_same_text(void **state)
{
    (void)state;
    check_records("random.rec.gz", &(ki_object_options){0});
    check_records("random.rec.gz", &(ki_object_options){.keep_managed_fields = 1});
}

static void kept_parts_have_the_same_text(void **state)
{
    (void)state;
    const char *const *const keeps[] = {
        PATHS("/spec"),
        PATHS("/metadata/labels", "/spec/nodeName", "/status/phase", "/status/podIP"),
        PATHS("/metadata/*/name", "/spec/*/*", "/status/conditions/*/type"),
        PATHS("/kind", "/spec/template/metadata", "/spec/template/spec/containers/*/resources", "/data/a",
              "/data/c/d"),
        PATHS("/metadata/annotations/*", "/spec/versions/*/schema", "/rules/*/verbs", "/*/*/*/name"),
        PATHS("/metadata/managedFields/*/fieldsV1/c", "/spec/validation/openAPIV3Schema/properties/*/type"),
        PATHS("/spec/containers", "/spec/volumes/*/configMap", "/subsets/*/addresses", "/nothing/here"),
    };
    for (size_t i = 0; i < sizeof(keeps) / sizeof(keeps[0]); i++)
        check_records("random.rec.gz", &(ki_object_options){.keep = keeps[i]});
}

static void without_dropped_parts_the_text_is_the_same(void **state)
{
    (void)state;
    const char *const *const drops[] = {
        PATHS("/spec"),
        PATHS("/metadata", "/kind", "/status/conditions/*/lastTransitionTime"),
        PATHS("/metadata/name", "/metadata/uid", "/apiVersion", "/spec/template"),
        PATHS("/metadata/labels/*", "/data/b", "/spec/*/*", "/webhooks/*/rules"),
    };
    for (size_t i = 0; i < sizeof(drops) / sizeof(drops[0]); i++)
        check_records("random.rec.gz", &(ki_object_options){.drop = drops[i]});
    check_records("random.rec.gz", &(ki_object_options){.keep = PATHS("/spec", "/status"),
                                                        .drop = PATHS("/spec/containers", "/status/*/*")});
}

/* A limit that some objects exceed. JSON is refused more often: its escapes are longer, and parts that are
 * not kept count towards the depth. */
static void objects_refused_by_a_limit_are_also_refused_in_json(void **state)
{
    (void)state;
    proto_records records = proto_records_load("random.rec.gz");
    const ki_object_options limits[] = {{.bytes_max = 700}, {.depth_max = 5}};
    const int codes[] = {KI_ERR_TOO_LARGE, KI_ERR_JSON_DEPTH};
    for (size_t n = 0; n < 2; n++) {
        size_t refused = 0;
        ki_object_plan *plan = ki_object_plan_new(NULL, &limits[n], NULL);
        for (size_t i = 0; i < records.count; i++) {
            decode_run run;
            ki_error err = {0};
            if (!has_metadata(&records.list[i]))
                continue;
            ki_object *ours = object_of_event(plan, &records.list[i], &run);
            ki_object *other = ki_object_new(NULL, records.list[i].json, &limits[n], &err);
            if (ours == NULL) {
                assert_null(other);
                assert_int_equal(err.code, codes[n]);
                assert_non_null(strstr(run.log, ki_error_name(codes[n])));
            } else if (n == 0) {
                assert_true(ki_object_json(ours).len <= limits[n].bytes_max);
            }
            refused += ours == NULL;
            ki_object_unref(other);
            decode_run_fini(&run);
        }
        assert_true(refused > 50 && refused < records.count - 50);
        ki_object_plan_free(plan);
    }
    proto_records_free(&records);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_objects_have_the_same_text),
        cmocka_unit_test(kept_parts_have_the_same_text),
        cmocka_unit_test(without_dropped_parts_the_text_is_the_same),
        cmocka_unit_test(objects_refused_by_a_limit_are_also_refused_in_json),
    };
    return RUN_TESTS(tests);
}
