/* SPDX-License-Identifier: Apache-2.0 */
/* Every recorded list through the list decoder, compared with jansson. */
#include <string.h>

#include "api/decode/list_decoder.h"
#include "support/decode/decode_run.h"
#include "support/decode/recorded.h"
#include "support/json/json_reference.h"
#include "support/unit.h"

typedef struct recorded_list {
    const char *file;
    const char *resource;
} recorded_list;

static const recorded_list lists[] = {
    {"configmaps-list.http", "configmaps"},
    {"crds-list.http", "customresourcedefinitions.v1.apiextensions.k8s.io"},
    {"deployments-list.http", "deployments"},
    {"endpointslices-list.http", "endpointslices"},
    {"events-list.http", "events"},
    {"leases-list.http", "leases"},
    {"namespaces-list.http", "namespaces"},
    {"nodes-list.http", "nodes"},
    {"pods-list-empty.http", "pods"},
    {"pods-list-gzip.http", "pods"},
    {"pods-list-pretty.http", "pods"},
    {"pods-list.http", "pods"},
    {"replicasets-list.http", "replicasets"},
    {"services-list.http", "services"},
    {"widgets-list.http", "widgets.v1.example.com"},
    {"pods-page-1.http", "pods"},
    {"pods-page-2.http", "pods"},
    {"pods-page-3-last.http", "pods"},
    {"pods-metadata-only.http", "pods"},
};

enum { LISTS = sizeof(lists) / sizeof(lists[0]), LARGE_BYTES = 64 * 1024 };

/* Cutting a large body at every position takes seconds, and minutes under a sanitizer. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { LARGE_STRIDE = 83 };
#else
enum { LARGE_STRIDE = 1 };
#endif

static void run_list(const recorded_subject *s, size_t bytes, decode_split split, decode_run *out)
{
    decode_run_form(out, KI_BODY_JSON_LIST, s->plan, (ki_str){s->answer.body.ptr, bytes}, split);
}

static void every_recorded_list_is_in_the_table(void **state)
{
    (void)state;
    assert_int_equal(recorded_count("*-list*.http") - recorded_count("error-*-list*.http") +
                         recorded_count("pods-page-*.http") + recorded_count("*-metadata-only.http"),
                     LISTS);
}

/* ---- decoded content ----------------------------------------------------------------------------------- */

static void assert_list_metadata(const ki_list_metadata *ours, const json_t *metadata)
{
    const json_t *remaining = json_object_get(metadata, "remainingItemCount");
    assert_true(recorded_same_text(ours->resource_version, json_object_get(metadata, "resourceVersion")));
    assert_true(recorded_same_text(ours->continue_token, json_object_get(metadata, "continue")));
    assert_int_equal(ours->remaining_items, remaining == NULL ? -1 : json_integer_value(remaining));
}

static void assert_objects(const decode_run *run, const json_t *list)
{
    const json_t *items = json_object_get(list, "items");
    assert_int_equal(run->object_count, json_array_size(items));
    for (size_t i = 0; i < run->object_count; i++) {
        json_t *expected = recorded_object(json_array_get(items, i), list);
        recorded_assert_object(run->objects[i], expected);
        json_decref(expected);
    }
}

static void every_recorded_list_decodes_to_what_jansson_sees(void **state)
{
    (void)state;
    for (size_t i = 0; i < LISTS; i++) {
        recorded_subject s;
        decode_run run;
        ki_body_decoder decoder;
        recorded_subject_open(&s, lists[i].file, lists[i].resource);
        json_t *reference = json_reference_parse(s.answer.body);
        assert_non_null(reference);
        ki_body_decoder_init(&decoder, KI_BODY_JSON_LIST, s.plan);
        decode_run_decoder(&run, &decoder, s.answer.body, (decode_split){0});
        if (run.code != 0 || run.refused_count > 0)
            fail_msg("%s: %s", lists[i].file, run.log);
        assert_list_metadata(&ki_body_decoder_result(&decoder)->metadata,
                             json_object_get(reference, "metadata"));
        assert_objects(&run, reference);
        assert_int_equal(ki_body_decoder_result(&decoder)->status.http_status, 0);
        json_decref(reference);
        ki_body_decoder_fini(&decoder);
        decode_run_fini(&run);
        recorded_subject_close(&s);
    }
}

/* ---- splits and cuts ----------------------------------------------------------------------------------- */

static void pieces_make_no_difference(void **state)
{
    (void)state;
    for (size_t i = 0; i < LISTS; i++) {
        recorded_subject s;
        recorded_subject_open(&s, lists[i].file, lists[i].resource);
        recorded_assert_pieces(&s, run_list);
        recorded_subject_close(&s);
    }
}

/* A cut run delivers the beginning of what the whole run delivers, and ends with an error. */
static void assert_cut(const decode_run *cut, const decode_run *whole, const char *file, size_t bytes)
{
    const char *last = strstr(cut->log, "FAILED KI_ERR_JSON_TRUNCATED");
    size_t given = last == NULL ? 0 : (size_t)(last - cut->log);
    if (cut->code != KI_ERR_JSON_TRUNCATED || last == NULL || strchr(last, '\n')[1] != 0)
        fail_msg("%s, cut after %zu bytes: %s", file, bytes, cut->log);
    if (cut->error.offset != bytes)
        fail_msg("%s, cut after %zu bytes: %s", file, bytes, cut->error.message);
    if (given >= whole->log_len || memcmp(cut->log, whole->log, given) != 0)
        fail_msg("%s, cut after %zu bytes, delivered: %s", file, bytes, cut->log);
}

static void a_list_cut_anywhere_is_an_error_and_delivers_only_whole_objects(void **state)
{
    (void)state;
    for (size_t i = 0; i < LISTS; i++) {
        recorded_subject s;
        decode_run whole, cut;
        recorded_subject_open(&s, lists[i].file, lists[i].resource);
        run_list(&s, s.answer.body.len, (decode_split){0}, &whole);
        size_t end = s.answer.body.len;
        while (s.answer.body.ptr[end - 1] != '}')
            end--; /* the white space after the list may be missing */
        size_t stride = end < LARGE_BYTES ? 1 : LARGE_STRIDE;
        for (size_t bytes = 0; bytes < end; bytes += stride) {
            run_list(&s, bytes, (decode_split){0}, &cut);
            assert_cut(&cut, &whole, lists[i].file, bytes);
            decode_run_fini(&cut);
        }
        decode_run_fini(&whole);
        recorded_subject_close(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_recorded_list_is_in_the_table),
        cmocka_unit_test(every_recorded_list_decodes_to_what_jansson_sees),
        cmocka_unit_test(pieces_make_no_difference),
        cmocka_unit_test(a_list_cut_anywhere_is_an_error_and_delivers_only_whole_objects),
    };
    return RUN_TESTS(tests);
}
