/* SPDX-License-Identifier: Apache-2.0 */
#include "api/decode/reason.h"

#include <kinformer/informer.h>

#include "support/decode/recorded.h"
#include "support/unit.h"

static void reasons_have_names(void **state)
{
    (void)state;
    assert_string_equal(ki_reason_name(KI_REASON_NONE), "");
    assert_string_equal(ki_reason_name(KI_REASON_EXPIRED), "Expired");
    assert_string_equal(ki_reason_name(KI_REASON_OTHER), "Other");
    assert_string_equal(ki_reason_name(KI_REASON_PACED), "Paced");
    assert_string_equal(ki_reason_name(KI_REASON_RESUMING), "Resuming");
    assert_string_equal(ki_reason_name((ki_reason)99), "");
}

static void phases_have_names(void **state)
{
    (void)state;
    assert_string_equal(ki_phase_name(KI_PHASE_STOPPED), "STOPPED");
    assert_string_equal(ki_phase_name(KI_PHASE_LISTING), "LISTING");
    assert_string_equal(ki_phase_name(KI_PHASE_STREAMING_LIST), "STREAMING_LIST");
    assert_string_equal(ki_phase_name(KI_PHASE_WATCHING), "WATCHING");
    assert_string_equal(ki_phase_name(KI_PHASE_BACKING_OFF), "BACKING_OFF");
    assert_string_equal(ki_phase_name((ki_phase)99), "");
}

static void the_code_of_a_response_decides(void **state)
{
    (void)state;
    static const struct {
        int code;
        ki_reason reason;
    } cases[] = {
        {301, KI_REASON_REDIRECTED},   {400, KI_REASON_BAD_REQUEST},
        {401, KI_REASON_UNAUTHORIZED}, {403, KI_REASON_FORBIDDEN},
        {404, KI_REASON_NOT_FOUND},    {405, KI_REASON_BAD_REQUEST},
        {410, KI_REASON_EXPIRED},      {429, KI_REASON_TOO_MANY_REQUESTS},
        {500, KI_REASON_SERVER_ERROR}, {504, KI_REASON_SERVER_ERROR},
        {600, KI_REASON_OTHER},        {100, KI_REASON_OTHER},
    };
    const ki_status nothing = {0};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(ki_reason_of_status(cases[i].code, &nothing), cases[i].reason);
}

static void a_status_in_a_stream_has_a_code_or_a_reason(void **state)
{
    (void)state;
    assert_int_equal(ki_reason_of_status(200, &(ki_status){.http_status = 410}), KI_REASON_EXPIRED);
    assert_int_equal(ki_reason_of_status(200, &(ki_status){.reason = KI_STR("Gone")}), KI_REASON_EXPIRED);
    assert_int_equal(ki_reason_of_status(200, &(ki_status){.reason = KI_STR("TooManyRequests")}),
                     KI_REASON_TOO_MANY_REQUESTS);
    assert_int_equal(ki_reason_of_status(200, &(ki_status){.reason = KI_STR("InternalError")}),
                     KI_REASON_SERVER_ERROR);
    assert_int_equal(ki_reason_of_status(200, &(ki_status){0}), KI_REASON_OTHER);
}

static void a_too_large_version_is_reported_in_three_ways(void **state)
{
    (void)state;
    ki_status by_type = {.cause_count = 1, .causes[0].cause_type = KI_STR("ResourceVersionTooLarge")};
    ki_status by_cause = {.cause_count = 1, .causes[0].message = KI_STR("Too large resource version")};
    ki_status by_message = {.message = KI_STR("Timeout: Too large resource version: 9, current: 3")};
    assert_int_equal(ki_reason_of_status(500, &by_type), KI_REASON_VERSION_TOO_LARGE);
    assert_int_equal(ki_reason_of_status(504, &by_cause), KI_REASON_VERSION_TOO_LARGE);
    assert_int_equal(ki_reason_of_status(504, &by_message), KI_REASON_VERSION_TOO_LARGE);
    assert_int_equal(ki_reason_of_status(500, &by_message), KI_REASON_SERVER_ERROR);
}

static void recorded_errors_have_their_reasons(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        ki_reason reason;
    } cases[] = {
        {"error-400-continue.http", KI_REASON_BAD_REQUEST},
        {"error-401.http", KI_REASON_UNAUTHORIZED},
        {"error-403-list.http", KI_REASON_FORBIDDEN},
        {"error-404-resource.http", KI_REASON_NOT_FOUND},
        {"error-410-continue.http", KI_REASON_EXPIRED},
        {"error-422-watchlist.http", KI_REASON_BAD_REQUEST},
        {"error-504-rv-too-large.http", KI_REASON_VERSION_TOO_LARGE},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        recorded answer;
        ki_status status = {0};
        recorded_load(&answer, cases[i].file);
        (void)!ki_status_parse(answer.body, &status, NULL);
        assert_int_equal(ki_reason_of_status(answer.status, &status), cases[i].reason);
        ki_status_fini(&status);
        recorded_free(&answer);
    }
}

static void lost_connections_are_transport_errors(void **state)
{
    (void)state;
    assert_true(ki_reason_is_transport(KI_REASON_CONNECTION_REFUSED));
    assert_true(ki_reason_is_transport(KI_REASON_TIMEOUT));
    assert_true(ki_reason_is_transport(KI_REASON_TOO_MANY_OPEN_FILES));
    assert_true(ki_reason_is_before_sending(KI_REASON_TOO_MANY_OPEN_FILES));
    assert_false(ki_reason_is_transport(KI_REASON_EXPIRED));
    assert_false(ki_reason_is_transport(KI_REASON_NONE));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reasons_have_names),
        cmocka_unit_test(phases_have_names),
        cmocka_unit_test(the_code_of_a_response_decides),
        cmocka_unit_test(a_status_in_a_stream_has_a_code_or_a_reason),
        cmocka_unit_test(a_too_large_version_is_reported_in_three_ways),
        cmocka_unit_test(recorded_errors_have_their_reasons),
        cmocka_unit_test(lost_connections_are_transport_errors),
    };
    return RUN_TESTS(tests);
}
