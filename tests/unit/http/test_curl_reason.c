/* SPDX-License-Identifier: Apache-2.0 */
#include "http/curl_reason.h"

#include <errno.h>
#include <string.h>

#include "support/unit.h"

static void errors_of_libcurl_have_a_reason(void **state)
{
    (void)state;
    static const struct {
        CURLcode code;
        long os_error;
        ki_reason reason;
    } cases[] = {
        {CURLE_OK, 0, KI_REASON_NONE},
        {CURLE_COULDNT_RESOLVE_HOST, 0, KI_REASON_DNS},
        {CURLE_COULDNT_RESOLVE_PROXY, 0, KI_REASON_DNS},
        {CURLE_COULDNT_CONNECT, ECONNREFUSED, KI_REASON_CONNECTION_REFUSED},
        {CURLE_COULDNT_CONNECT, 0, KI_REASON_CONNECTION_REFUSED},
        {CURLE_COULDNT_CONNECT, EMFILE, KI_REASON_TOO_MANY_OPEN_FILES},
        {CURLE_COULDNT_CONNECT, ENFILE, KI_REASON_TOO_MANY_OPEN_FILES},
        {CURLE_COULDNT_RESOLVE_HOST, EMFILE, KI_REASON_TOO_MANY_OPEN_FILES},
        {CURLE_COULDNT_CONNECT, ENETUNREACH, KI_REASON_CONNECTION_LOST},
        {CURLE_OPERATION_TIMEDOUT, 0, KI_REASON_TIMEOUT},
        {CURLE_PEER_FAILED_VERIFICATION, 0, KI_REASON_TLS},
        {CURLE_SSL_CONNECT_ERROR, 0, KI_REASON_TLS},
        {CURLE_SSL_CONNECT_ERROR, ECONNRESET, KI_REASON_CONNECTION_LOST},
        {CURLE_SSL_CERTPROBLEM, 0, KI_REASON_TLS},
        {CURLE_RECV_ERROR, ECONNRESET, KI_REASON_CONNECTION_LOST},
        {CURLE_GOT_NOTHING, 0, KI_REASON_CONNECTION_LOST},
        {CURLE_PARTIAL_FILE, 0, KI_REASON_CONNECTION_LOST},
        {CURLE_HTTP2_STREAM, 0, KI_REASON_CONNECTION_LOST},
        {CURLE_OUT_OF_MEMORY, 0, KI_REASON_NO_MEMORY},
        {CURLE_WEIRD_SERVER_REPLY, 0, KI_REASON_MALFORMED},
        {CURLE_UNSUPPORTED_PROTOCOL, 0, KI_REASON_MALFORMED},
        {CURLE_ABORTED_BY_CALLBACK, 0, KI_REASON_OTHER},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(ki_curl_reason(cases[i].code, cases[i].os_error), cases[i].reason);
}

static void errors_renamed_between_releases_have_one_reason(void **state)
{
    (void)state;
    static const char other_key[] = "unable to set private key file: 'a.key' type PEM";
    assert_int_equal(ki_curl_settle(CURLE_SSL_CERTPROBLEM, other_key, false), CURLE_SSL_CERTPROBLEM);
    assert_int_equal(ki_curl_settle(CURLE_BAD_FUNCTION_ARGUMENT, other_key, false), CURLE_SSL_CERTPROBLEM);
    assert_int_equal(ki_curl_settle(CURLE_BAD_FUNCTION_ARGUMENT, "", false), CURLE_BAD_FUNCTION_ARGUMENT);
    assert_int_equal(ki_curl_settle(CURLE_COULDNT_CONNECT, "", true), CURLE_RECV_ERROR);
    assert_int_equal(ki_curl_settle(CURLE_COULDNT_CONNECT, "", false), CURLE_COULDNT_CONNECT);
    assert_true(ki_curl_is_too_large(CURLE_OUT_OF_MEMORY));
    assert_true(ki_curl_is_too_large((CURLcode)100)); /* CURLE_TOO_LARGE, not in older headers */
    assert_false(ki_curl_is_too_large(CURLE_RECV_ERROR));
}

static void every_failure_has_a_reason(void **state)
{
    (void)state;
    for (int code = 1; code < CURL_LAST; code++)
        assert_int_not_equal(ki_curl_reason((CURLcode)code, 0), KI_REASON_NONE);
}

static void http_instead_of_https_is_reported(void **state)
{
    (void)state;
    static const char no_tls[] = "OpenSSL/3.0.19: error:0A00010B:SSL routines::wrong version number";
    assert_non_null(strstr(ki_curl_hint(CURLE_SSL_CONNECT_ERROR, no_tls, (ki_curl_scene){.is_tls = true}),
                           "begin with http://"));
    assert_null(
        ki_curl_hint(CURLE_SSL_CONNECT_ERROR, "alert handshake failure", (ki_curl_scene){.is_tls = true}));
    assert_null(ki_curl_hint(CURLE_PEER_FAILED_VERIFICATION, "self-signed certificate",
                             (ki_curl_scene){.is_tls = true}));
    assert_non_null(strstr(ki_curl_hint(CURLE_UNSUPPORTED_PROTOCOL, "HTTP/0.9", (ki_curl_scene){0}),
                           "begin with https://"));
    assert_null(ki_curl_hint(CURLE_UNSUPPORTED_PROTOCOL, "HTTP/0.9", (ki_curl_scene){.is_tls = true}));
    assert_non_null(strstr(ki_curl_hint(CURLE_GOT_NOTHING, "", (ki_curl_scene){0}), "begin with https://"));
    assert_null(ki_curl_hint(CURLE_GOT_NOTHING, "", (ki_curl_scene){.was_answered = true}));
    assert_null(ki_curl_hint(CURLE_SEND_ERROR, "", (ki_curl_scene){0}));
}

static void a_key_of_another_certificate_differs_from_a_bad_certificate(void **state)
{
    (void)state;
    assert_true(ki_curl_is_other_key("unable to set private key file: '(memory blob)' type PEM"));
    assert_true(ki_curl_is_other_key("Private key does not match the certificate public key"));
    assert_false(ki_curl_is_other_key("could not load PEM client certificate: ee key too small"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_of_libcurl_have_a_reason),
        cmocka_unit_test(every_failure_has_a_reason),
        cmocka_unit_test(errors_renamed_between_releases_have_one_reason),
        cmocka_unit_test(a_key_of_another_certificate_differs_from_a_bad_certificate),
        cmocka_unit_test(http_instead_of_https_is_reported),
    };
    return RUN_TESTS(tests);
}
