/* SPDX-License-Identifier: Apache-2.0 */
/* Which format is requested, which decoder reads the response, and what leads back to JSON. */
#include <kinformer/informer.h>
#include <kinformer/resources.h>
#include <string.h>

#include "reflector/reflector_parts.h"
#include "support/decode/proto_pods.h"
#include "support/decode/recorded.h"
#include "support/reflector/reflector_run.h"
#include "support/text_log.h"
#include "support/unit.h"
#include "util/log.h"

enum { UNKNOWN = 200 };

static const proto_pod a5 = {.name = "a", .version = "5"};
static const proto_pod b6 = {.name = "b", .version = "6"};
static const proto_pod new7 = {.name = "n", .version = "7", .unknown = UNKNOWN};
static const proto_pod end10 = {.version = "10", .name = "", .ends_list = 1};

static void start(reflector_run *run, ki_wire wire)
{
    run->wire = wire;
    reflector_run_start(run, "");
}

static void give(reflector_run *run, proto_body body)
{
    scripted_bytes(&run->source, proto_body_str(&body));
    proto_body_free(&body);
}

static void give_list(reflector_run *run, const proto_pod *pods, size_t count)
{
    scripted_content_type(&run->source, PROTOBUF);
    give(run, proto_pods_list("10", "", pods, count));
    scripted_end(&run->source);
    reflector_run_wait_ms(run, 0);
}

static void expect_wire(reflector_run *run, ki_wire wire)
{
    assert_string_equal(ki_wire_name(reflector_run_status(run).wire), ki_wire_name(wire));
}

/* ---- protobuf ------------------------------------------------------------------------------------------ */

static void a_list_and_a_watch_in_protobuf_give_the_same_changes_as_json(void **state)
{
    reflector_run *run = *state;
    run->source.is_bytewise = 1;
    start(run, KI_WIRE_AUTO);
    expect_requests(run, "LIST rv=0 limit=500 protobuf\n");
    expect_wire(run, KI_WIRE_AUTO);
    give_list(run, (const proto_pod[]){a5, b6}, 2);
    expect_changes(run, "REPLACED 1 d/a@5\nREPLACED 1 d/b@6\nEND 1 10\n");
    expect_requests(run, "WATCH rv=10 bookmarks protobuf\n");
    scripted_content_type(&run->source, PROTOBUF ";stream=watch");
    scripted_head(&run->source, 200, 0);
    give(run, proto_pods_event("ADDED", &(proto_pod){.name = "c", .version = "11"}));
    give(run, proto_pods_event("MODIFIED", &(proto_pod){.name = "a", .version = "12"}));
    give(run, proto_pods_event("DELETED", &(proto_pod){.name = "b", .version = "13"}));
    give(run, proto_pods_event("BOOKMARK", &(proto_pod){.name = "", .version = "14"}));
    expect_changes(run, "ADDED d/c@11 11\nUPDATED d/a@12 12\nDELETED d/b@13 13\nBOOKMARK 14\n");
    expect_wire(run, KI_WIRE_PROTOBUF);
    expect_errors(run, "");
}

static void a_streamed_list_in_protobuf_ends_with_its_bookmark(void **state)
{
    reflector_run *run = *state;
    run->informer.watch_list = KI_WATCH_LIST_ALWAYS;
    start(run, KI_WIRE_AUTO);
    expect_requests(run, "STREAM rv= match=NotOlderThan bookmarks protobuf\n");
    scripted_content_type(&run->source, PROTOBUF ";stream=watch");
    give(run, proto_pods_event("ADDED", &a5));
    give(run, proto_pods_event("BOOKMARK", &end10));
    expect_changes(run, "REPLACED 1 d/a@5\nEND 1 10\n");
    assert_int_equal(reflector_run_status(run).phase, KI_PHASE_WATCHING);
}

static void recorded_responses_are_followed_page_by_page(void **state)
{
    reflector_run *run = *state;
    recorded page, list;
    recorded_load(&page, "proto/pods-page.pb.http");
    recorded_load(&list, "proto/pods-list.pb.http");
    start(run, KI_WIRE_PROTOBUF);
    scripted_content_type(&run->source, PROTOBUF);
    scripted_bytes(&run->source, page.body);
    scripted_end(&run->source);
    assert_non_null(strstr(run->source.requests.text, "LIST continue="));
    scripted_content_type(&run->source, PROTOBUF);
    scripted_bytes(&run->source, list.body);
    scripted_end(&run->source);
    assert_non_null(strstr(run->changes.text, "END 1 "));
    expect_errors(run, "");
    recorded_free(&page);
    recorded_free(&list);
}

static void an_error_in_protobuf_has_its_reason_and_message(void **state)
{
    reflector_run *run = *state;
    start(run, KI_WIRE_AUTO);
    scripted_content_type(&run->source, PROTOBUF);
    scripted_head(&run->source, 403, 0);
    give(run, proto_pods_status(403, "Forbidden", "pods is forbidden"));
    scripted_end(&run->source);
    ki_informer_status status = reflector_run_status(run);
    assert_int_equal(status.reason, KI_REASON_FORBIDDEN);
    assert_string_equal(status.message, "the server responded with 403 Forbidden: pods is forbidden");
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    scripted_content_type(&run->source, PROTOBUF);
    scripted_head(&run->source, 500, 0);
    scripted_bytes(&run->source, (ki_str){"k8s\0\xff", 5});
    scripted_end(&run->source);
    assert_string_equal(reflector_run_status(run).message, "the server responded with 500");
}

static void an_expired_watch_in_protobuf_is_listed_again(void **state)
{
    reflector_run *run = *state;
    start(run, KI_WIRE_AUTO);
    give_list(run, &a5, 1);
    scripted_content_type(&run->source, PROTOBUF ";stream=watch");
    proto_body status = proto_pods_status(410, "Expired", "too old");
    give(run, proto_body_event("ERROR", proto_body_str(&status)));
    proto_body_free(&status);
    reflector_run_wait_ms(run, 0);
    expect_errors(run, "Expired 410\n");
    text_log_expect(&run->source.requests,
                    "LIST rv=0 limit=500 protobuf\nWATCH rv=10 bookmarks protobuf\ncancel\n"
                    "LIST rv=10 match=NotOlderThan limit=500 protobuf\n",
                    __FILE__, __LINE__);
}

static void a_watch_that_ends_inside_a_frame_is_a_lost_connection(void **state)
{
    reflector_run *run = *state;
    start(run, KI_WIRE_AUTO);
    give_list(run, &a5, 1);
    text_log_clear(&run->source.requests);
    scripted_content_type(&run->source, PROTOBUF ";stream=watch");
    proto_body event = proto_pods_event("ADDED", &b6);
    scripted_bytes(&run->source, (ki_str){event.data, event.len - 1});
    scripted_end(&run->source);
    proto_body_free(&event);
    expect_errors(run, "ConnectionLost\n");
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    expect_requests(run, "WATCH rv=10 bookmarks protobuf\n");
}

/* ---- requested formats --------------------------------------------------------------------------------- */

static void only_json_is_requested_if_the_program_wants_it(void **state)
{
    reflector_run *run = *state;
    start(run, KI_WIRE_JSON);
    expect_requests(run, "LIST rv=0 limit=500\n");
    scripted_whole(&run->source, LIST("10", "", POD("a", "5")));
    expect_wire(run, KI_WIRE_JSON);
}

static void a_kind_without_tables_is_requested_as_json(void **state)
{
    reflector_run *run = *state;
    const ki_resource widgets = {"example.com", "v1", "widgets", "Widget", KI_SCOPE_NAMESPACED, 0};
    ki_object_plan_free(run->plan);
    run->plan = ki_object_plan_new(&widgets, NULL, NULL);
    start(run, KI_WIRE_PROTOBUF);
    expect_requests(run, "LIST rv=0 limit=500\n");
}

/* Protobuf has no fields for the kind and apiVersion of their volume claims. */
static void stateful_sets_are_requested_as_json_unless_protobuf_is_required(void **state)
{
    reflector_run *run = *state;
    const ki_resource sets = {"apps", "v1", "statefulsets", "StatefulSet", KI_SCOPE_NAMESPACED, 0};
    ki_object_plan_free(run->plan);
    run->plan = ki_object_plan_new(&sets, NULL, NULL);
    start(run, KI_WIRE_AUTO);
    expect_requests(run, "LIST rv=0 limit=500\n");
    run->reflector.options.wire = KI_WIRE_PROTOBUF;
    assert_int_equal(ki_reflector_wire(&run->reflector), KI_WIRE_PROTOBUF);
}

static void a_server_that_answers_in_json_is_not_asked_for_protobuf_again(void **state)
{
    reflector_run *run = *state;
    start(run, KI_WIRE_AUTO);
    expect_requests(run, "LIST rv=0 limit=500 protobuf\n");
    scripted_content_type(&run->source, "Application/JSON; charset=utf-8");
    scripted_whole(&run->source, LIST("10", "", POD("a", "5")));
    expect_changes(run, "REPLACED 1 d/a@5\nEND 1 10\n");
    expect_requests(run, "WATCH rv=10 bookmarks\n");
    expect_wire(run, KI_WIRE_JSON);
    assert_true(
        ki_wire_memory_has(&run->wires, &KI_CORE_V1_PODS, KI_WIRE_NOT_OFFERED, ki_clock_now_ns(&run->clock)));
    assert_false(ki_wire_memory_has(&run->wires, &KI_CORE_V1_PODS, KI_WIRE_NOT_OFFERED,
                                    ki_clock_now_ns(&run->clock) + KI_WIRE_AGAIN_NS));
}

static void a_server_without_a_content_type_is_read_as_json(void **state)
{
    reflector_run *run = *state;
    start(run, KI_WIRE_AUTO);
    scripted_whole(&run->source, LIST("10", "", POD("a", "5")));
    expect_changes(run, "REPLACED 1 d/a@5\nEND 1 10\n");
    expect_wire(run, KI_WIRE_JSON);
}

static void a_406_is_followed_by_the_same_request_as_json(void **state)
{
    reflector_run *run = *state;
    start(run, KI_WIRE_PROTOBUF);
    scripted_error(&run->source, 406, STATUS("406", "NotAcceptable"));
    expect_requests(run, "LIST rv=0 limit=500 protobuf\nLIST rv=0 limit=500\n");
    scripted_whole(&run->source, LIST("10", "", POD("a", "5")));
    expect_changes(run, "REPLACED 2 d/a@5\nEND 2 10\n");
    expect_errors(run, "");
}

/* The server may have refused the stream or the format. */
static void a_406_to_a_stream_is_followed_by_a_list_as_json(void **state)
{
    reflector_run *run = *state;
    run->informer.watch_list = KI_WATCH_LIST_AUTO;
    run->wire = KI_WIRE_AUTO;
    reflector_run_start_listing(run, "1");
    scripted_error(&run->source, 406, STATUS("406", "NotAcceptable"));
    expect_requests(run, "STREAM rv=1 match=NotOlderThan bookmarks protobuf\n"
                         "LIST rv=1 match=NotOlderThan limit=500\n");
    expect_errors(run, "BadRequest 406\n");
}

static void a_406_for_json_is_an_error(void **state)
{
    reflector_run *run = *state;
    start(run, KI_WIRE_AUTO);
    scripted_error(&run->source, 406, STATUS("406", "NotAcceptable"));
    scripted_error(&run->source, 406, STATUS("406", "NotAcceptable"));
    expect_requests(run, "LIST rv=0 limit=500 protobuf\nLIST rv=0 limit=500\n");
    expect_errors(run, "BadRequest 406\n");
}

/* ---- fields that the tables do not have ---------------------------------------------------------------- */

static text_log logged;

static void keep_log(const ki_log_record *record, void *user)
{
    (void)user;
    text_log_add(&logged, "%s\n", record->message);
}

static void log_begin(void)
{
    text_log_free(&logged);
    logged = (text_log){0};
    ki_set_log(keep_log, KI_LOG_WARNING, NULL);
}

static void log_expect(const char *text)
{
    ki_set_log(NULL, KI_LOG_WARNING, NULL);
    text_log_expect(&logged, text, __FILE__, __LINE__);
    text_log_free(&logged);
    logged = (text_log){0};
}

static void an_unknown_field_in_a_list_restarts_it_as_json(void **state)
{
    reflector_run *run = *state;
    log_begin();
    start(run, KI_WIRE_AUTO);
    give_list(run, (const proto_pod[]){a5, new7, b6}, 3);
    expect_changes(run, "REPLACED 1 d/a@5\n");
    expect_requests(run, "LIST rv=0 limit=500 protobuf\ncancel\nLIST rv=0 limit=500\n");
    scripted_whole(&run->source, LIST("10", "", POD("a", "5") "," POD("n", "7")));
    expect_changes(run, "REPLACED 2 d/a@5\nREPLACED 2 d/n@7\nEND 2 10\n");
    expect_requests(run, "WATCH rv=10 bookmarks\n");
    ki_informer_status status = reflector_run_status(run);
    assert_int_equal(status.wire, KI_WIRE_JSON);
    assert_int_equal(status.unknown_fields, 1);
    assert_int_equal(status.unknown_number, UNKNOWN);
    assert_true(ki_str_equal(status.unknown_message, KI_STR("PodSpec")));
    expect_errors(run, "");
    log_expect("PodSpec has a field with the number 200, which this version does not know: continuing with "
               "JSON\n");
}

static void an_unknown_field_in_a_watch_resumes_it_as_json_before_the_event(void **state)
{
    reflector_run *run = *state;
    start(run, KI_WIRE_AUTO);
    give_list(run, &a5, 1);
    text_log_clear(&run->source.requests);
    text_log_clear(&run->changes);
    scripted_content_type(&run->source, PROTOBUF ";stream=watch");
    give(run, proto_pods_event("ADDED", &(proto_pod){.name = "b", .version = "11"}));
    proto_body two = proto_pods_event("MODIFIED", &(proto_pod){.name = "a", .version = "12", .unknown = 201});
    proto_body more = proto_pods_event("ADDED", &(proto_pod){.name = "c", .version = "13"});
    proto_body_put(&two, more.data, more.len);
    proto_body_free(&more);
    give(run, two);
    reflector_run_wait_ms(run, 0);
    expect_changes(run, "ADDED d/b@11 11\n");
    expect_requests(run, "cancel\nWATCH rv=11 bookmarks\n");
    assert_int_equal(reflector_run_status(run).phase, KI_PHASE_WATCHING);
    expect_errors(run, "");
}

static void an_unknown_field_in_a_later_page_is_read_again_from_that_page(void **state)
{
    reflector_run *run = *state;
    start(run, KI_WIRE_AUTO);
    scripted_content_type(&run->source, PROTOBUF);
    give(run, proto_pods_list("10", "next", &a5, 1));
    scripted_end(&run->source);
    text_log_clear(&run->source.requests);
    give_list(run, &new7, 1);
    expect_requests(run, "cancel\nLIST continue=next limit=500\n");
    scripted_whole(&run->source, LIST("10", "", POD("n", "7")));
    expect_changes(run, "REPLACED 1 d/a@5\nREPLACED 1 d/n@7\nEND 1 10\n");
}

static void an_unknown_field_is_left_out_if_protobuf_is_required(void **state)
{
    reflector_run *run = *state;
    log_begin();
    start(run, KI_WIRE_PROTOBUF);
    give_list(run, (const proto_pod[]){new7, {.name = "m", .version = "8", .unknown = UNKNOWN}}, 2);
    expect_changes(run, "REPLACED 1 d/n@7\nREPLACED 1 d/m@8\nEND 1 10\n");
    expect_wire(run, KI_WIRE_PROTOBUF);
    assert_int_equal(reflector_run_status(run).unknown_fields, 2);
    log_expect("PodSpec has a field with the number 200, which this version does not know: it is left out\n");
}

static void a_projection_that_does_not_need_the_field_stays_with_protobuf(void **state)
{
    reflector_run *run = *state;
    static const char *const keep[] = {"/metadata/name", "/metadata/namespace", "/metadata/resourceVersion",
                                       "/status/phase", NULL};
    ki_object_plan_free(run->plan);
    run->plan = ki_object_plan_new(&KI_CORE_V1_PODS, &(ki_object_options){.keep = keep}, NULL);
    run->informer.keep = keep;
    ki_wire_memory_note(&run->wires, &KI_CORE_V1_PODS, KI_WIRE_LOSES_FIELDS, ki_clock_now_ns(&run->clock));
    start(run, KI_WIRE_AUTO);
    give_list(run, &new7, 1);
    expect_changes(run, "REPLACED 1 d/n@7\nEND 1 10\n");
    expect_requests(run, "LIST rv=0 limit=500 protobuf\nWATCH rv=10 bookmarks protobuf\n");
    assert_int_equal(reflector_run_status(run).unknown_fields, 0);
}

static void whole_objects_are_read_as_json_once_another_reflector_has_seen_the_field(void **state)
{
    reflector_run *run = *state;
    ki_wire_memory_note(&run->wires, &KI_CORE_V1_PODS, KI_WIRE_LOSES_FIELDS, ki_clock_now_ns(&run->clock));
    start(run, KI_WIRE_AUTO);
    expect_requests(run, "LIST rv=0 limit=500\n");
}

/* ---- responses that cannot be read --------------------------------------------------------------------- */

static void json_labelled_as_protobuf_is_reported_and_requested_as_json(void **state)
{
    reflector_run *run = *state;
    start(run, KI_WIRE_AUTO);
    scripted_content_type(&run->source, PROTOBUF);
    scripted_whole(&run->source, LIST("10", "", POD("a", "5")));
    reflector_run_wait_ms(run, 0);
    expect_errors(run, "Malformed\n");
    expect_requests(run, "LIST rv=0 limit=500 protobuf\ncancel\nLIST rv=0 limit=500\n");
    scripted_whole(&run->source, LIST("10", "", POD("a", "5")));
    expect_changes(run, "REPLACED 2 d/a@5\nEND 2 10\n");
}

static void protobuf_labelled_as_json_is_malformed(void **state)
{
    reflector_run *run = *state;
    start(run, KI_WIRE_AUTO);
    scripted_content_type(&run->source, "application/json");
    give(run, proto_pods_list("10", "", &a5, 1));
    expect_errors(run, "Malformed\n");
    expect_changes(run, "");
}

static void protobuf_with_another_content_type_is_requested_as_json(void **state)
{
    reflector_run *run = *state;
    start(run, KI_WIRE_AUTO);
    scripted_content_type(&run->source, "application/octet-stream");
    give(run, proto_pods_list("10", "", &a5, 1));
    reflector_run_wait_ms(run, 0);
    expect_errors(run, "Malformed\n");
    expect_requests(run, "LIST rv=0 limit=500 protobuf\ncancel\nLIST rv=0 limit=500\n");
}

/* It may have been an error page of a gateway. */
static void after_a_response_of_another_type_protobuf_is_requested_again_soon(void **state)
{
    reflector_run *run = *state;
    start(run, KI_WIRE_AUTO);
    scripted_content_type(&run->source, "text/html");
    scripted_body(&run->source, "<html>");
    reflector_run_wait_ms(run, 0);
    expect_requests(run, "LIST rv=0 limit=500 protobuf\ncancel\nLIST rv=0 limit=500\n");
    uint64_t now_ns = ki_clock_now_ns(&run->clock);
    assert_false(ki_wire_memory_has(&run->wires, &KI_CORE_V1_PODS, KI_WIRE_NOT_OFFERED, now_ns));
    ki_clock_advance_ms(&run->clock, 60 * 1000);
    scripted_whole(&run->source, LIST("10", "", POD("a", "5")));
    expect_requests(run, "WATCH rv=10 bookmarks protobuf\n");
}

static void json_repeatedly_labelled_as_protobuf_is_backed_off(void **state)
{
    reflector_run *run = *state;
    start(run, KI_WIRE_AUTO);
    for (int i = 0; i < 3; i++) {
        scripted_content_type(&run->source, PROTOBUF);
        scripted_body(&run->source, "{\"kind\":\"PodList\"}");
        assert_true(i == 0 ? run->last_retry_ms == 0 : run->last_retry_ms >= 800);
        reflector_run_wait_ms(run, run->last_retry_ms);
    }
}

static void a_malformed_response_is_retried_in_protobuf_if_that_is_required(void **state)
{
    reflector_run *run = *state;
    start(run, KI_WIRE_PROTOBUF);
    scripted_content_type(&run->source, PROTOBUF);
    scripted_body(&run->source, "{\"kind\":\"PodList\"}");
    text_log_clear(&run->source.requests);
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    expect_requests(run, "LIST rv=0 limit=500 protobuf\n");
}

static void a_watch_with_a_kind_missing_from_the_tables_continues_as_json(void **state)
{
    reflector_run *run = *state;
    start(run, KI_WIRE_AUTO);
    give_list(run, &a5, 1);
    text_log_clear(&run->source.requests);
    scripted_content_type(&run->source, PROTOBUF ";stream=watch");
    proto_body typed = proto_body_typed("example.com/v1", "Widget", KI_STR(""));
    give(run, proto_body_event("ADDED", proto_body_str(&typed)));
    proto_body_free(&typed);
    reflector_run_wait_ms(run, 0);
    expect_requests(run, "cancel\nWATCH rv=10 bookmarks\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        reflector_test(a_list_and_a_watch_in_protobuf_give_the_same_changes_as_json),
        reflector_test(a_streamed_list_in_protobuf_ends_with_its_bookmark),
        reflector_test(recorded_responses_are_followed_page_by_page),
        reflector_test(an_error_in_protobuf_has_its_reason_and_message),
        reflector_test(an_expired_watch_in_protobuf_is_listed_again),
        reflector_test(a_watch_that_ends_inside_a_frame_is_a_lost_connection),
        reflector_test(only_json_is_requested_if_the_program_wants_it),
        reflector_test(a_kind_without_tables_is_requested_as_json),
        reflector_test(stateful_sets_are_requested_as_json_unless_protobuf_is_required),
        reflector_test(a_server_that_answers_in_json_is_not_asked_for_protobuf_again),
        reflector_test(a_server_without_a_content_type_is_read_as_json),
        reflector_test(a_406_is_followed_by_the_same_request_as_json),
        reflector_test(a_406_to_a_stream_is_followed_by_a_list_as_json),
        reflector_test(a_406_for_json_is_an_error),
        reflector_test(an_unknown_field_in_a_list_restarts_it_as_json),
        reflector_test(an_unknown_field_in_a_watch_resumes_it_as_json_before_the_event),
        reflector_test(an_unknown_field_in_a_later_page_is_read_again_from_that_page),
        reflector_test(an_unknown_field_is_left_out_if_protobuf_is_required),
        reflector_test(a_projection_that_does_not_need_the_field_stays_with_protobuf),
        reflector_test(whole_objects_are_read_as_json_once_another_reflector_has_seen_the_field),
        reflector_test(json_labelled_as_protobuf_is_reported_and_requested_as_json),
        reflector_test(protobuf_labelled_as_json_is_malformed),
        reflector_test(protobuf_with_another_content_type_is_requested_as_json),
        reflector_test(after_a_response_of_another_type_protobuf_is_requested_again_soon),
        reflector_test(json_repeatedly_labelled_as_protobuf_is_backed_off),
        reflector_test(a_malformed_response_is_retried_in_protobuf_if_that_is_required),
        reflector_test(a_watch_with_a_kind_missing_from_the_tables_continues_as_json),
    };
    return RUN_TESTS(tests);
}
