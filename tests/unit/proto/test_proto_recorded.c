/* SPDX-License-Identifier: Apache-2.0 */
/* Every recorded protobuf response, compared with the JSON of the same objects, in every split,
 * and cut at every position. */
#include <kinformer/resources.h>
#include <stdio.h>
#include <string.h>

#include "support/decode/decode_run.h"
#include "support/decode/recorded.h"
#include "support/unit.h"

typedef struct subject {
    const char *name;
    const ki_resource *resource;
    int is_watch;
    int has_json;
    size_t objects;
} subject;

static const subject subjects[] = {
    {"configmaps-list", &KI_CORE_V1_CONFIGMAPS, 0, 1, 2},
    {"deployments-list", &KI_APPS_V1_DEPLOYMENTS, 0, 1, 1},
    {"endpoints-list", &KI_CORE_V1_ENDPOINTS, 0, 1, 2},
    {"endpointslices-list", &KI_DISCOVERY_V1_ENDPOINTSLICES, 0, 1, 2},
    {"pods-list", &KI_CORE_V1_PODS, 0, 1, 4},
    {"services-list", &KI_CORE_V1_SERVICES, 0, 1, 2},
    {"crd-list-asked-as", NULL, 0, 0, 0},
    {"pods-metadata-list", &KI_CORE_V1_PODS, 0, 0, 5},
    {"pods-page", &KI_CORE_V1_PODS, 0, 0, 2},
    {"pods-watch", &KI_CORE_V1_PODS, 1, 0, 5},
    {"pods-watch-from-1", &KI_CORE_V1_PODS, 1, 0, 5},
    {"pods-watchlist", &KI_CORE_V1_PODS, 1, 0, 5},
};

enum { SUBJECTS = sizeof(subjects) / sizeof(subjects[0]) };

static ki_object_plan *plan_of(const subject *s, const ki_object_options *options)
{
    ki_error err = {0};
    ki_object_plan *plan = ki_object_plan_new(s->resource, options, &err);
    assert_non_null(plan);
    return plan;
}

static void run(const subject *s, ki_str body, decode_split split, decode_run *out)
{
    ki_object_plan *plan = plan_of(s, NULL);
    ki_body_decoder decoder;
    ki_body_decoder_init(&decoder, s->is_watch ? KI_BODY_PROTO_WATCH : KI_BODY_PROTO_LIST, plan);
    decode_run_decoder(out, &decoder, body, split);
    assert_int_equal(ki_body_decoder_unknown(&decoder)->count, 0);
    ki_body_decoder_fini(&decoder);
    ki_object_plan_free(plan);
}

static void load(recorded *out, const subject *s, const char *wire)
{
    char name[128];
    snprintf(name, sizeof(name), "proto/%s.%s.http", s->name, wire);
    recorded_load(out, name);
}

static void every_response_decodes_to_its_objects(void **state)
{
    (void)state;
    for (size_t i = 0; i < SUBJECTS; i++) {
        recorded answer;
        decode_run whole;
        load(&answer, &subjects[i], "pb");
        run(&subjects[i], answer.body, (decode_split){0}, &whole);
        if (whole.code != 0 || whole.refused_count > 0 || whole.object_count != subjects[i].objects)
            fail_msg("%s: %zu objects: %s", subjects[i].name, whole.object_count, whole.log);
        decode_run_fini(&whole);
        recorded_free(&answer);
    }
}

/* The two responses were recorded moments apart; objects that did not change meanwhile are compared. */
static size_t count_equal(const decode_run *proto, const decode_run *json, const char *name)
{
    size_t equal = 0;
    for (size_t i = 0; i < proto->object_count; i++) {
        const ki_object *ours = proto->objects[i];
        for (size_t j = 0; j < json->object_count; j++) {
            const ki_object *other = json->objects[j];
            if (!ki_str_equal(ki_object_uid(ours), ki_object_uid(other)) ||
                !ki_str_equal(ki_object_resource_version(ours), ki_object_resource_version(other)))
                continue;
            if (!ki_object_equal(ours, other))
                fail_msg("%s:\n%.*s\n%.*s", name, KI_STR_ARGS(ki_object_json(ours)),
                         KI_STR_ARGS(ki_object_json(other)));
            assert_string_equal(ki_object_key(ours), ki_object_key(other));
            assert_true(ki_str_equal(ki_object_kind(ours), ki_object_kind(other)));
            equal++;
        }
    }
    return equal;
}

static void objects_equal_those_of_the_json_response(void **state)
{
    (void)state;
    for (size_t i = 0; i < SUBJECTS; i++) {
        if (!subjects[i].has_json)
            continue;
        recorded proto, json;
        decode_run ours, other;
        load(&proto, &subjects[i], "pb");
        load(&json, &subjects[i], "json");
        run(&subjects[i], proto.body, (decode_split){0}, &ours);
        ki_object_plan *plan = plan_of(&subjects[i], NULL);
        decode_run_form(&other, KI_BODY_JSON_LIST, plan, json.body, (decode_split){0});
        assert_int_equal(other.code, 0);
        assert_int_equal(count_equal(&ours, &other, subjects[i].name), subjects[i].objects);
        ki_object_plan_free(plan);
        decode_run_fini(&ours);
        decode_run_fini(&other);
        recorded_free(&proto);
        recorded_free(&json);
    }
}

static void assert_same(const subject *s, ki_str body, decode_split split, const decode_run *whole)
{
    decode_run pieces;
    run(s, body, split, &pieces);
    if (strcmp(pieces.log, whole->log) != 0)
        fail_msg("%s in pieces:\n%s\nwhole:\n%s", s->name, pieces.log, whole->log);
    decode_run_fini(&pieces);
}

static void pieces_make_no_difference(void **state)
{
    (void)state;
    ki_random random;
    ki_random_init(&random, 1);
    for (size_t i = 0; i < SUBJECTS; i++) {
        recorded answer;
        decode_run whole;
        load(&answer, &subjects[i], "pb");
        run(&subjects[i], answer.body, (decode_split){0}, &whole);
        for (size_t piece = 1; piece < 12; piece++)
            assert_same(&subjects[i], answer.body, (decode_split){.piece = piece}, &whole);
        assert_same(&subjects[i], answer.body, (decode_split){.piece = 1000}, &whole);
        for (int n = 0; n < 20; n++)
            assert_same(&subjects[i], answer.body, (decode_split){.random = &random}, &whole);
        decode_run_fini(&whole);
        recorded_free(&answer);
    }
}

/* A cut response gives the beginning of what the whole one gives. It ends with an error, except after the
 * list, where the envelope has nothing that is needed, and between two events. */
static void assert_cut(const subject *s, const decode_run *cut, const decode_run *whole, size_t bytes)
{
    const char *last = strstr(cut->log, "FAILED KI_ERR_PROTOBUF_TRUNCATED");
    size_t given = last == NULL ? cut->log_len : (size_t)(last - cut->log);
    if ((last == NULL) != (cut->code == 0) || given > whole->log_len ||
        memcmp(cut->log, whole->log, given) != 0)
        fail_msg("%s, cut after %zu bytes: %s", s->name, bytes, cut->log);
    if (cut->code == 0 && !s->is_watch)
        assert_int_equal(cut->object_count, whole->object_count);
}

static void a_response_cut_anywhere_gives_only_whole_objects(void **state)
{
    (void)state;
    for (size_t i = 0; i < SUBJECTS; i++) {
        recorded answer;
        decode_run whole, cut;
        size_t good = 0;
        load(&answer, &subjects[i], "pb");
        run(&subjects[i], answer.body, (decode_split){0}, &whole);
        for (size_t bytes = 0; bytes < answer.body.len; bytes++) {
            run(&subjects[i], (ki_str){answer.body.ptr, bytes}, (decode_split){0}, &cut);
            assert_cut(&subjects[i], &cut, &whole, bytes);
            good += cut.code == 0;
            decode_run_fini(&cut);
        }
        /* The two empty fields after the list may be missing; a watch may end before each event. */
        if (subjects[i].is_watch)
            assert_true(good >= subjects[i].objects);
        else
            assert_int_equal(good, 2);
        decode_run_fini(&whole);
        recorded_free(&answer);
    }
}

static void a_watch_list_has_its_marker(void **state)
{
    (void)state;
    recorded answer;
    decode_run whole;
    const subject *s = &subjects[SUBJECTS - 1];
    load(&answer, s, "pb");
    run(s, answer.body, (decode_split){0}, &whole);
    assert_non_null(strstr(whole.log, "BOOKMARK "));
    assert_non_null(strstr(whole.log, " INITIAL\n"));
    decode_run_fini(&whole);
    recorded_free(&answer);
}

static void a_status_in_place_of_a_list_is_read(void **state)
{
    (void)state;
    static const char *const files[] = {"error-404", "widgets-list-only"};
    static const int codes[] = {404, 406};
    for (size_t i = 0; i < 2; i++) {
        recorded answer;
        decode_run whole;
        ki_body_decoder decoder;
        const subject s = {files[i], &KI_CORE_V1_PODS, 0, 0, 0};
        load(&answer, &s, "pb");
        ki_object_plan *plan = plan_of(&s, NULL);
        ki_body_decoder_init(&decoder, KI_BODY_PROTO_LIST, plan);
        decode_run_decoder(&whole, &decoder, answer.body, (decode_split){.piece = 3});
        assert_int_equal(whole.code, KI_ERR_NOT_A_LIST);
        assert_int_equal(ki_body_decoder_result(&decoder)->status.http_status, codes[i]);
        assert_true(ki_body_decoder_result(&decoder)->status.message.len > 0);
        ki_body_decoder_fini(&decoder);
        ki_object_plan_free(plan);
        decode_run_fini(&whole);
        recorded_free(&answer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_response_decodes_to_its_objects),
        cmocka_unit_test(objects_equal_those_of_the_json_response),
        cmocka_unit_test(pieces_make_no_difference),
        cmocka_unit_test(a_response_cut_anywhere_gives_only_whole_objects),
        cmocka_unit_test(a_watch_list_has_its_marker),
        cmocka_unit_test(a_status_in_place_of_a_list_is_read),
    };
    return RUN_TESTS(tests);
}
