/* SPDX-License-Identifier: Apache-2.0 */
/* How responses are read, in pieces of any size. */
#include "rest/rest_reader.h"

#include <kinformer/resources.h>
#include <string.h>

#include "support/failing_allocator.h"
#include "support/unit.h"

#define POD(name)                                                                                            \
    "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"namespace\":\"web\",\"name\":\"" name "\","     \
    "\"resourceVersion\":\"7\",\"managedFields\":[]}}"
#define PAGE                                                                                                 \
    "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"9\",\"continue\":"      \
    "\"abc\",\"remainingItemCount\":3},\"items\":[" POD("a") "," POD("b") ",{\"metadata\":{}}]}"
#define STATUS(code, reason)                                                                                 \
    "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\",\"message\":\"no\","  \
    "\"reason\":\"" reason "\",\"details\":{\"name\":\"a\",\"kind\":\"pods\",\"causes\":[{\"reason\":"       \
    "\"FieldValueRequired\",\"field\":\"spec\"}]},\"code\":" code "}"
#define SUCCESS "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Success\"}"

static const ki_rest_request get = {
    .verb = KI_REST_GET, .resource = &KI_CORE_V1_PODS, .ns = "web", .name = "a"};
static const ki_rest_request list = {.verb = KI_REST_LIST, .resource = &KI_CORE_V1_PODS};
static const ki_rest_request delete = {
    .verb = KI_REST_DELETE, .resource = &KI_CORE_V1_PODS, .ns = "web", .name = "a"};

typedef struct script {
    int status;
    const char *body;
    size_t piece; /* bytes at a time; 0: all */
} script;

static int feed(ki_rest_reader *reader, const script *s)
{
    size_t len = strlen(s->body);
    size_t piece = s->piece == 0 ? len : s->piece;
    ki_response_head head = {.status = s->status};
    ki_rest_reader_begin(reader);
    ki_rest_reader_head(reader, &head);
    for (size_t at = 0; at < len; at += piece) {
        int rc = ki_rest_reader_body(reader, s->body + at, len - at < piece ? len - at : piece);
        if (rc < 0)
            return rc;
    }
    ki_rest_reader_end(reader, KI_REASON_NONE, "");
    return reader->answer.error.code;
}

static ki_rest_answer answer_to(const ki_rest_request *request, int status, const char *body)
{
    ki_rest_reader reader;
    ki_rest_answer answer = {0};
    assert_int_equal(ki_rest_reader_init(&reader, request, NULL), 0);
    (void)feed(&reader, &(script){status, body, 0});
    ki_rest_reader_take(&reader, &answer);
    ki_rest_reader_fini(&reader);
    return answer;
}

static void an_object_is_read_and_its_text_is_kept(void **state)
{
    (void)state;
    ki_rest_answer answer = answer_to(&get, 200, POD("a"));
    assert_int_equal(answer.error.code, 0);
    assert_int_equal(answer.http_status, 200);
    assert_int_equal(answer.reason, KI_REASON_NONE);
    assert_int_equal(answer.attempts, 1);
    assert_string_equal(ki_object_key(answer.object), "web/a");
    assert_true(ki_str_equal(answer.body, KI_STR(POD("a"))));
    assert_int_equal(ki_object_find(answer.object, "/metadata/managedFields").raw.len, 0);
    assert_null(answer.status);
    ki_rest_answer_fini(&answer);
    assert_null(answer.object);
}

static void a_page_may_arrive_in_any_pieces(void **state)
{
    (void)state;
    for (size_t piece = 1; piece < sizeof(PAGE); piece += piece < 8 ? 1 : 31) {
        ki_rest_reader reader;
        assert_int_equal(ki_rest_reader_init(&reader, &list, NULL), 0);
        assert_int_equal(feed(&reader, &(script){200, PAGE, piece}), 0);
        const ki_rest_answer *answer = &reader.answer;
        assert_int_equal(answer->object_count, 2);
        assert_int_equal(answer->refused_count, 1);
        assert_string_equal(ki_object_key(answer->objects[1]), "web/b");
        assert_true(ki_str_equal(answer->continue_token, KI_STR("abc")));
        assert_true(ki_str_equal(answer->resource_version, KI_STR("9")));
        assert_int_equal(answer->remaining_items, 3);
        assert_null(answer->object);
        ki_rest_reader_fini(&reader);
    }
}

static void another_attempt_forgets_the_one_before(void **state)
{
    (void)state;
    ki_rest_reader reader;
    assert_int_equal(ki_rest_reader_init(&reader, &list, NULL), 0);
    assert_int_equal(feed(&reader, &(script){503, STATUS("503", "ServiceUnavailable"), 7}), KI_ERR_HTTP);
    assert_int_equal(feed(&reader, &(script){200, PAGE, 7}), 0);
    assert_int_equal(feed(&reader, &(script){200, PAGE, 0}), 0);
    assert_int_equal(reader.answer.object_count, 2);
    assert_int_equal(reader.answer.attempts, 3);
    assert_null(reader.answer.status);
    ki_rest_reader_fini(&reader);
}

static void refusals_have_distinct_codes(void **state)
{
    (void)state;
    static const struct {
        int status;
        const char *body;
        int code;
        ki_reason reason;
    } rows[] = {
        {401, STATUS("401", "Unauthorized"), KI_ERR_UNAUTHORIZED, KI_REASON_UNAUTHORIZED},
        {403, STATUS("403", "Forbidden"), KI_ERR_FORBIDDEN, KI_REASON_FORBIDDEN},
        {404, STATUS("404", "NotFound"), KI_ERR_NOT_FOUND, KI_REASON_NOT_FOUND},
        {409, STATUS("409", "Conflict"), KI_ERR_CONFLICT, KI_REASON_BAD_REQUEST},
        {409, STATUS("409", "AlreadyExists"), KI_ERR_ALREADY_EXISTS, KI_REASON_BAD_REQUEST},
        {410, STATUS("410", "Expired"), KI_ERR_EXPIRED, KI_REASON_EXPIRED},
        {422, STATUS("422", "Invalid"), KI_ERR_HTTP, KI_REASON_BAD_REQUEST},
        {429, STATUS("429", "TooManyRequests"), KI_ERR_HTTP, KI_REASON_TOO_MANY_REQUESTS},
        {500, STATUS("500", "InternalError"), KI_ERR_HTTP, KI_REASON_SERVER_ERROR},
        {504, STATUS("504", "Timeout"), KI_ERR_TIMEOUT, KI_REASON_SERVER_ERROR},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        ki_rest_answer answer = answer_to(&get, rows[i].status, rows[i].body);
        assert_int_equal(answer.error.code, rows[i].code);
        assert_int_equal(answer.http_status, rows[i].status);
        assert_int_equal(answer.reason, rows[i].reason);
        assert_non_null(answer.status);
        assert_int_equal(answer.status->http_status, rows[i].status);
        assert_true(ki_status_has_cause(answer.status, "FieldValueRequired"));
        assert_non_null(strstr(answer.error.message, ": no"));
        assert_true(ki_str_equal(answer.body, ki_str_of(rows[i].body)));
        ki_rest_answer_fini(&answer);
    }
}

static void a_refusal_may_have_no_status(void **state)
{
    (void)state;
    static char page[200 * 1024];
    memset(page, 'x', sizeof(page) - 1);
    const char *const bodies[] = {"", "<html>", "{}", page};
    for (size_t i = 0; i < 4; i++) {
        ki_rest_answer answer = answer_to(&list, 404, bodies[i]);
        assert_int_equal(answer.error.code, KI_ERR_NOT_FOUND);
        assert_string_equal(answer.error.message,
                            "the server responded with 404, as for a resource that it does not serve");
        assert_null(answer.status);
        ki_rest_answer_fini(&answer);
    }
}

static size_t hide_secret(char *text, size_t len, const void *user)
{
    return ki_mask_secret(text, len, user);
}

static void a_secret_echoed_by_the_server_is_masked(void **state)
{
    (void)state;
    ki_rest_reader reader;
    assert_int_equal(ki_rest_reader_init(&reader, &get, NULL), 0);
    reader.mask = (ki_mask){hide_secret, "sekret-1"};
    (void)feed(&reader, &(script){401, "you sent sekret-1", 0});
    assert_string_equal(reader.answer.error.message, "the server responded with 401: you sent <masked>");
    (void)feed(&reader, &(script){401, STATUS("401", "sekret-1"), 0});
    assert_string_equal(reader.answer.error.message, "the server responded with 401 <masked>: no");
    assert_true(ki_str_equal(reader.answer.status->reason, KI_STR("<masked>")));
    ki_rest_reader_fail(&reader, KI_ERR_HTTP, KI_REASON_REDIRECTED, "to /sekret-1");
    assert_string_equal(reader.answer.error.message, "to /<masked>");
    ki_rest_reader_fini(&reader);
}

static void a_delete_may_return_a_status(void **state)
{
    (void)state;
    ki_rest_answer answer = answer_to(&delete, 200, SUCCESS);
    assert_int_equal(answer.error.code, 0);
    assert_null(answer.object);
    assert_true(ki_str_equal(answer.status->status, KI_STR("Success")));
    ki_rest_answer_fini(&answer);
    answer = answer_to(&delete, 200, POD("a"));
    assert_non_null(answer.object);
    ki_rest_answer_fini(&answer);
    answer = answer_to(&delete, 200, STATUS("409", "Conflict"));
    assert_int_equal(answer.error.code, KI_ERR_CONFLICT);
    ki_rest_answer_fini(&answer);
    answer = answer_to(&delete, 204, "");
    assert_int_equal(answer.error.code, 0);
    ki_rest_answer_fini(&answer);
}

static void the_deleted_objects_of_a_collection_are_in_the_body(void **state)
{
    (void)state;
    static const char deleted[] =
        "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"9\"},\"items\":[" POD("a") "]}";
    const ki_rest_request request = {
        .verb = KI_REST_DELETE_COLLECTION, .resource = &KI_CORE_V1_PODS, .ns = "web"};
    ki_rest_answer answer = answer_to(&request, 200, deleted);
    assert_int_equal(answer.error.code, 0);
    assert_null(answer.object);
    assert_true(ki_str_equal(answer.body, ki_str_of(deleted)));
    ki_rest_answer_fini(&answer);
    ki_rest_request short_of_space = request;
    short_of_space.body_bytes_max = 20;
    answer = answer_to(&short_of_space, 200, deleted);
    assert_int_equal(answer.error.code, 0);
    assert_int_equal(answer.http_status, 200);
    assert_int_equal(answer.body.len, 0);
    ki_rest_answer_fini(&answer);
    answer = answer_to(&request, 200, SUCCESS);
    assert_int_equal(answer.error.code, 0);
    ki_rest_answer_fini(&answer);
    answer = answer_to(&request, 405, STATUS("405", "MethodNotAllowed"));
    assert_int_equal(answer.error.code, KI_ERR_HTTP);
    ki_rest_answer_fini(&answer);
}

static void an_object_without_a_name_is_accepted_if_none_is_expected(void **state)
{
    (void)state;
    const char *review = "{\"kind\":\"TokenReview\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":{}}";
    ki_rest_request create = {
        .verb = KI_REST_CREATE, .resource = &KI_CORE_V1_PODS, .ns = "web", .body = KI_STR("{}")};
    ki_rest_answer answer = answer_to(&create, 201, review);
    assert_int_equal(answer.error.code, 0);
    assert_null(answer.object);
    assert_true(ki_str_equal(answer.body, ki_str_of(review)));
    ki_rest_answer_fini(&answer);
    answer = answer_to(&get, 200, review);
    assert_int_equal(answer.error.code, KI_ERR_METADATA);
    assert_int_equal(answer.reason, KI_REASON_MALFORMED);
    ki_rest_answer_fini(&answer);
}

static void a_body_that_is_not_json_or_not_a_list_is_an_error(void **state)
{
    (void)state;
    static const struct {
        const ki_rest_request *request;
        const char *body;
        int code;
    } rows[] = {
        {&get, "hello", KI_ERR_JSON_LITERAL},     {&get, "", KI_ERR_JSON_TRUNCATED},
        {&get, "{\"a\":", KI_ERR_JSON_TRUNCATED}, {&get, POD("a") "x", KI_ERR_JSON_TRAILING},
        {&list, POD("a"), KI_ERR_NOT_A_LIST},     {&list, SUCCESS, KI_ERR_NOT_A_LIST},
        {&delete, "{", KI_ERR_JSON_TRUNCATED},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        ki_rest_answer answer = answer_to(rows[i].request, 200, rows[i].body);
        assert_int_equal(answer.error.code, rows[i].code);
        assert_int_equal(answer.reason, KI_REASON_MALFORMED);
        assert_null(answer.object);
        ki_rest_answer_fini(&answer);
    }
}

static void half_a_page_is_an_error(void **state)
{
    (void)state;
    char body[sizeof(PAGE)];
    memcpy(body, PAGE, sizeof(PAGE));
    body[sizeof(PAGE) - 2] = 0;
    ki_rest_answer answer = answer_to(&list, 200, body);
    assert_true(answer.error.code < 0);
    assert_int_equal(answer.object_count, 0);
    assert_null(answer.objects);
    ki_rest_answer_fini(&answer);
}

static void a_response_has_a_limit(void **state)
{
    (void)state;
    ki_rest_request requests[] = {get, list};
    const char *const bodies[] = {POD("a"), PAGE};
    for (size_t i = 0; i < 2; i++) {
        size_t len = strlen(bodies[i]);
        requests[i].body_bytes_max = len;
        ki_rest_answer answer = answer_to(&requests[i], 200, bodies[i]);
        assert_int_equal(answer.error.code, 0);
        ki_rest_answer_fini(&answer);
        requests[i].body_bytes_max = len - 1;
        answer = answer_to(&requests[i], 200, bodies[i]);
        assert_int_equal(answer.error.code, KI_ERR_TOO_LARGE);
        ki_rest_answer_fini(&answer);
    }
}

static void a_truncated_response_reports_why(void **state)
{
    (void)state;
    static const struct {
        ki_reason reason;
        int code;
    } rows[] = {{KI_REASON_CONNECTION_LOST, KI_ERR_HTTP},
                {KI_REASON_TIMEOUT, KI_ERR_TIMEOUT},
                {KI_REASON_UNAUTHORIZED, KI_ERR_UNAUTHORIZED},
                {KI_REASON_NO_MEMORY, KI_ERR_NO_MEMORY},
                {KI_REASON_TLS, KI_ERR_HTTP},
                {KI_REASON_REDIRECTED, KI_ERR_HTTP}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        ki_rest_reader reader;
        assert_int_equal(ki_rest_reader_init(&reader, &get, NULL), 0);
        ki_rest_reader_begin(&reader);
        if (rows[i].reason == KI_REASON_REDIRECTED)
            ki_rest_reader_head(&reader, &(ki_response_head){.status = 302});
        ki_rest_reader_end(&reader, rows[i].reason, "it was cut");
        assert_int_equal(reader.answer.error.code, rows[i].code);
        assert_int_equal(reader.answer.reason, rows[i].reason);
        assert_string_equal(reader.answer.error.message, "it was cut");
        ki_rest_reader_fini(&reader);
    }
}

static void only_requested_fields_are_kept(void **state)
{
    (void)state;
    const char *const keep[] = {"/metadata/name", NULL};
    ki_object_options options = {.keep = keep};
    ki_rest_request request = get;
    request.objects = &options;
    ki_rest_answer answer = answer_to(&request, 200, POD("a"));
    assert_int_equal(ki_object_find(answer.object, "/metadata/resourceVersion").raw.len, 0);
    assert_true(ki_str_equal(ki_object_resource_version(answer.object), KI_STR("7")));
    ki_rest_answer_fini(&answer);
    const char *const bad[] = {"metadata", NULL};
    ki_rest_reader reader;
    options.keep = bad;
    assert_int_equal(ki_rest_reader_init(&reader, &request, NULL), KI_ERR_INVALID);
}

static void check_without_memory(const ki_rest_request *request, const script *s)
{
    int rc = KI_ERR_NO_MEMORY;
    for (size_t n = 1; n < 1000 && (n == 1 || failing_allocator_has_failed()); n++) {
        ki_rest_reader reader;
        failing_allocator_fail_at(n);
        rc = ki_rest_reader_init(&reader, request, NULL);
        if (rc == 0) {
            rc = feed(&reader, s);
            ki_rest_reader_fini(&reader);
        }
        if (s->status == 200 && failing_allocator_has_failed())
            assert_int_equal(rc, KI_ERR_NO_MEMORY);
        assert_true(failing_allocator_has_failed() || rc == (s->status == 200 ? 0 : KI_ERR_CONFLICT));
        assert_int_equal(failing_allocator_live_count(), 0);
    }
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    check_without_memory(&get, &(script){200, POD("a"), 0});
    check_without_memory(&list, &(script){200, PAGE, 11});
    check_without_memory(&delete, &(script){200, SUCCESS, 0});
    check_without_memory(&get, &(script){409, STATUS("409", "Conflict"), 0});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_object_is_read_and_its_text_is_kept),
        cmocka_unit_test(a_page_may_arrive_in_any_pieces),
        cmocka_unit_test(another_attempt_forgets_the_one_before),
        cmocka_unit_test(refusals_have_distinct_codes),
        cmocka_unit_test(a_refusal_may_have_no_status),
        cmocka_unit_test(a_secret_echoed_by_the_server_is_masked),
        cmocka_unit_test(a_delete_may_return_a_status),
        cmocka_unit_test(the_deleted_objects_of_a_collection_are_in_the_body),
        cmocka_unit_test(an_object_without_a_name_is_accepted_if_none_is_expected),
        cmocka_unit_test(a_body_that_is_not_json_or_not_a_list_is_an_error),
        cmocka_unit_test(half_a_page_is_an_error),
        cmocka_unit_test(a_response_has_a_limit),
        cmocka_unit_test(a_truncated_response_reports_why),
        cmocka_unit_test(only_requested_fields_are_kept),
        WITH_MEMORY_CHECK(each_allocation_may_fail),
    };
    return RUN_TESTS(tests);
}
