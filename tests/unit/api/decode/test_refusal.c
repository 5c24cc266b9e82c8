/* SPDX-License-Identifier: Apache-2.0 */
#include "api/decode/refusal.h"

#include <string.h>

#include "support/unit.h"

static void expect(const ki_refusal *refusal, const char *message)
{
    ki_error err = {0};
    ki_refusal_explain(refusal, &err);
    assert_int_equal(err.code, refusal->code);
    assert_string_equal(err.message, message);
}

static void expect_text(int http_status, const char *body, const char *message)
{
    expect(&(ki_refusal){.code = KI_ERR_HTTP, .http_status = http_status, .body = ki_str_of(body)}, message);
}

static void a_status_is_shown_with_its_reason_and_message(void **state)
{
    (void)state;
    const ki_status status = {.reason = KI_STR("Forbidden"), .message = KI_STR("not you")};
    expect(
        &(ki_refusal){.code = KI_ERR_FORBIDDEN, .http_status = 403, .status = &status, .body = KI_STR("{}")},
        "the server responded with 403 Forbidden: not you");
}

static void a_status_without_reason_or_message_leaves_no_gap(void **state)
{
    (void)state;
    ki_status status = {.message = KI_STR("a fault")};
    ki_refusal refusal = {.code = KI_ERR_HTTP, .http_status = 502, .status = &status};
    expect(&refusal, "the server responded with 502: a fault");
    status = (ki_status){.reason = KI_STR("BadGateway")};
    expect(&refusal, "the server responded with 502 BadGateway");
}

static void a_line_of_text_is_shown_and_a_page_is_not(void **state)
{
    (void)state;
    expect_text(502, "no healthy upstream\r\nat all\n", "the server responded with 502: no healthy upstream");
    expect_text(503, "", "the server responded with 503");
    expect_text(503, "<html><body>no</body></html>", "the server responded with 503");
    expect_text(500, "{\"error\":1}", "the server responded with 500");
    expect_text(500, "\n\n", "the server responded with 500");
}

static void a_long_line_is_truncated(void **state)
{
    (void)state;
    char body[1000];
    ki_error err = {0};
    memset(body, 'x', sizeof(body));
    ki_refusal_explain(&(ki_refusal){.code = KI_ERR_HTTP, .http_status = 500, .body = {body, sizeof(body)}},
                       &err);
    assert_true(strlen(err.message) < 250);
    assert_string_equal(err.message + strlen(err.message) - 4, "x\xe2\x80\xa6");
}

static void http_to_a_tls_port_is_explained(void **state)
{
    (void)state;
    static const char hint[] =
        "the server responded with 400, because it expects TLS: its address must begin with https://";
    expect_text(400, "Client sent an HTTP request to an HTTPS server.\n", hint);
    expect_text(400, "<html>\r\n<head><title>400 The plain HTTP request was sent to HTTPS port</title>",
                hint);
    expect_text(400, "no such field", "the server responded with 400: no such field");
}

static void a_rejected_request_says_what_was_withheld(void **state)
{
    (void)state;
    const ki_status status = {.reason = KI_STR("Unauthorized"), .message = KI_STR("who?")};
    ki_refusal refusal = {
        .code = KI_ERR_HTTP, .http_status = 401, .status = &status, .withheld = "nothing was sent"};
    expect(&refusal, "the server responded with 401 Unauthorized, and nothing was sent: who?");
    refusal.status = NULL;
    expect(&refusal, "the server responded with 401, and nothing was sent");
    refusal.http_status = 403;
    expect(&refusal, "the server responded with 403, and nothing was sent");
    refusal.http_status = 404;
    expect(&refusal, "the server responded with 404, as for a resource that it does not serve");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_status_is_shown_with_its_reason_and_message),
        cmocka_unit_test(a_status_without_reason_or_message_leaves_no_gap),
        cmocka_unit_test(a_line_of_text_is_shown_and_a_page_is_not),
        cmocka_unit_test(a_long_line_is_truncated),
        cmocka_unit_test(http_to_a_tls_port_is_explained),
        cmocka_unit_test(a_rejected_request_says_what_was_withheld),
    };
    return RUN_TESTS(tests);
}
