/* SPDX-License-Identifier: Apache-2.0 */
#include "config/redact.h"

#include <stdio.h>
#include <string.h>

#include "support/unit.h"

static void assert_header(const char *line, const char *expected)
{
    char out[128];
    size_t len = ki_redact_header(out, sizeof(out), ki_str_of(line));
    assert_string_equal(out, expected);
    assert_int_equal(len, strlen(expected));
}

static void secrets_of_headers_are_masked(void **state)
{
    (void)state;
    assert_header("Authorization: Bearer abc\r\n", "Authorization: Bearer <masked>");
    assert_header("authorization:  basic abc", "authorization:  basic <masked>");
    assert_header("Authorization:abc def", "Authorization:<masked>");
    assert_header("Authorization: Bearer", "Authorization: <masked>");
    assert_header("Proxy-Authorization: Basic abc", "Proxy-Authorization: Basic <masked>");
    assert_header("Set-Cookie: a=b; c", "Set-Cookie: <masked>");
    assert_header("Cookie:", "Cookie:<masked>");
    assert_header("Location: https://a:b@h/p?token=c", "Location: https://<masked>@h/p");
    assert_header("location: /p#token=c", "location: /p");
    assert_header("Location: //u:s3cret@host/p", "Location: //<masked>@host/p");
    assert_header("Location:\t//u:s3cret@host", "Location:?//<masked>@host");
}

static void other_lines_are_unchanged(void **state)
{
    (void)state;
    assert_header("GET /api/v1/pods HTTP/1.1\r\n", "GET /api/v1/pods HTTP/1.1");
    assert_header("Impersonate-User: jane", "Impersonate-User: jane");
    assert_header("X: a\x1b[1m", "X: a?[1m");
    assert_header("", "");
}

static void a_line_is_truncated_to_the_buffer(void **state)
{
    (void)state;
    char out[8];
    assert_int_equal(ki_redact_header(out, sizeof(out), KI_STR("Authorization: Bearer abc")), 7);
    assert_string_equal(out, "Authori");
    assert_int_equal(ki_redact_header(out, sizeof(out), KI_STR("X: abcdefgh")), 7);
}

static void the_user_of_an_address_is_masked(void **state)
{
    (void)state;
    static const struct {
        const char *url;
        const char *expected;
    } cases[] = {
        {"http://jane:pw@proxy:3128", "http://<masked>@proxy:3128"},
        {"http://a@b@proxy/c@d", "http://<masked>@proxy/c@d"},
        {"jane:pw@proxy", "<masked>@proxy"},
        {"https://k:6443/p", "https://k:6443/p"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char out[128];
        ki_redact_url(out, sizeof(out), ki_str_of(cases[i].url));
        assert_string_equal(out, cases[i].expected);
    }
}

#define LABEL_63 "a23456789012345678901234567890123456789012345678901234567890123"

static void an_invalid_address_is_shown_without_what_may_be_a_secret(void **state)
{
    (void)state;
    static const struct {
        const char *url;
        const char *expected;
    } cases[] = {
        {"https://k:0", "https://k:0"},
        {"https://[fd00::1:6443", "https://[fd00::1:6443"},
        {"https://k k/prefix", "https://k k/…"},
        {"https://k:70000/", "https://k:70000"},
        {"https:///p", "https:///…"},
        {"https://jane:pw@k k", "https://<masked>@k k"},
        {"https://jane:p/w?@k k", "https://<masked>@k k"},
        {"https:/jane:pw@k", "<masked>@k"},
        {"https://jane:pw", "https://jane<masked>"},
        {"https://jane%3apw%40k", "https://jane<masked>"},
        {"jane:pw://k", "jane<masked>/…"},
        {"password://@k", "<masked>@k"},
        {"https://a\nb", "https://a?b"},
        {LABEL_63 ".k:0", LABEL_63 ".k:0"},
        {LABEL_63 "a", "<masked>"},
        {"k." LABEL_63 "a.k", "<masked>"},
        {"https://" LABEL_63 "a/p", "https://<masked>/…"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char out[128];
        size_t len = ki_redact_invalid_url(out, sizeof(out), ki_str_of(cases[i].url));
        assert_string_equal(out, cases[i].expected);
        assert_int_equal(len, strlen(out));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(secrets_of_headers_are_masked),
        cmocka_unit_test(other_lines_are_unchanged),
        cmocka_unit_test(a_line_is_truncated_to_the_buffer),
        cmocka_unit_test(the_user_of_an_address_is_masked),
        cmocka_unit_test(an_invalid_address_is_shown_without_what_may_be_a_secret),
    };
    return RUN_TESTS(tests);
}
