/* SPDX-License-Identifier: Apache-2.0 */
#include "config/proxy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/url.h"
#include "support/unit.h"
#include "util/secret.h"

static void a_list_excludes_the_hosts_it_names(void **state)
{
    (void)state;
    static const struct {
        const char *list;
        const char *host;
        const char *port;
        int is_excluded;
    } cases[] = {
        {"", "a", "443", 0},
        {"*", "a", "443", 1},
        {"x, * ", "a", "443", 1},
        {"a.com", "a.com", "443", 1},
        {"A.com", "a.COM", "443", 1},
        {"a.com", "b.a.com", "443", 1},
        {"a.com", "ba.com", "443", 0},
        {"a.com", "com", "443", 0},
        {".a.com", "b.a.com", "443", 1},
        {".a.com", "a.com", "443", 0},
        {"*.a.com", "b.a.com", "443", 1},
        {"*.a.com", "a.com", "443", 0},
        {"a.com:443", "a.com", "443", 1},
        {"a.com:444", "a.com", "443", 0},
        {"a.com", "a.com.", "443", 1},
        {",, ,a.com", "a.com", "443", 1},
        {".", "a.com", "443", 0},
        {"10.0.0.0/8", "10.1.2.3", "443", 1},
        {"10.0.0.0/8", "11.1.2.3", "443", 0},
        {"10.1.2.0/23", "10.1.3.3", "443", 1},
        {"10.1.2.0/23", "10.1.4.3", "443", 0},
        {"0.0.0.0/0", "10.1.4.3", "443", 1},
        {"0.0.0.0/0", "fd00::1", "443", 0},
        {"fd00::/8", "fd12::1", "443", 1},
        {"fd00::/8", "fe12::1", "443", 0},
        {"::/0", "fe12::1", "443", 1},
        {"10.0.0.0/33", "10.0.0.0", "443", 0},
        {"10.0.0.0/", "10.0.0.0", "443", 0},
        {"10.0.0.0/x", "10.0.0.0", "443", 0},
        {"a/8", "10.0.0.0", "443", 0},
        {"10.0.0.0/8", "a.com", "443", 0},
        {"10.1.2.3", "10.1.2.3", "443", 1},
        {"10.1.2.3:80", "10.1.2.3", "443", 0},
        {"10.1.2.3:443", "10.1.2.3", "443", 1},
        {"fd00::1", "fd00:0::1", "443", 1},
        {"[fd00::1]", "fd00::1", "443", 1},
        {"[fd00::1]:80", "fd00::1", "443", 0},
        {"[fd00::1]:443", "fd00::1", "443", 1},
        {"[fd00", "fd00::1", "443", 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (ki_proxy_is_excluded(ki_str_of(cases[i].list), ki_str_of(cases[i].host),
                                 ki_str_of(cases[i].port)) != cases[i].is_excluded)
            fail_msg("%s with \"%s\"", cases[i].host, cases[i].list);
    }
}

static void the_local_machine_needs_no_proxy(void **state)
{
    (void)state;
    static const char *const servers[] = {"https://localhost:6443", "https://127.9.9.9",
                                          "https://[::1]:6443"};
    setenv("HTTPS_PROXY", "proxy", 1);
    for (size_t i = 0; i < sizeof(servers) / sizeof(servers[0]); i++) {
        char *proxy = "unset";
        assert_int_equal(ki_proxy_of_environment(servers[i], &proxy, NULL), 0);
        assert_null(proxy);
    }
    unsetenv("HTTPS_PROXY");
}

static void upper_case_variables_take_precedence(void **state)
{
    (void)state;
    char *proxy = NULL;
    setenv("HTTP_PROXY", "https://large:1", 1);
    setenv("http_proxy", "small:2", 1);
    assert_int_equal(ki_proxy_of_environment("http://k", &proxy, NULL), 0);
    assert_string_equal(proxy, "https://large:1");
    ki_secret_free(proxy);
    setenv("HTTP_PROXY", "", 1);
    assert_int_equal(ki_proxy_of_environment("http://k", &proxy, NULL), 0);
    assert_string_equal(proxy, "http://small:2");
    ki_secret_free(proxy);
    unsetenv("HTTP_PROXY");
    unsetenv("http_proxy");
}

/* In a CGI program, a request could set its own proxy with a header. */
static void a_cgi_program_ignores_http_proxy(void **state)
{
    (void)state;
    char *proxy = NULL;
    setenv("REQUEST_METHOD", "GET", 1);
    setenv("HTTP_PROXY", "evil:1", 1);
    assert_int_equal(ki_proxy_of_environment("http://k", &proxy, NULL), 0);
    assert_null(proxy);
    setenv("http_proxy", "small:2", 1);
    assert_int_equal(ki_proxy_of_environment("http://k", &proxy, NULL), 0);
    assert_string_equal(proxy, "http://small:2");
    ki_secret_free(proxy);
    setenv("HTTPS_PROXY", "large:3", 1);
    assert_int_equal(ki_proxy_of_environment("https://k", &proxy, NULL), 0);
    assert_string_equal(proxy, "http://large:3");
    ki_secret_free(proxy);
    unsetenv("HTTPS_PROXY");
    unsetenv("HTTP_PROXY");
    unsetenv("http_proxy");
    unsetenv("REQUEST_METHOD");
}

static void an_address_is_split_into_its_parts(void **state)
{
    (void)state;
    ki_url url;
    assert_int_equal(ki_url_split(KI_STR("https://a:b@c@host:6443/p?q"), &url), 0);
    assert_true(ki_str_equal(url.scheme, KI_STR("https")));
    assert_true(ki_str_equal(url.user, KI_STR("a:b@c")));
    assert_true(ki_str_equal(url.host, KI_STR("host")));
    assert_true(ki_str_equal(url.port, KI_STR("6443")));
    assert_true(ki_str_equal(url.path, KI_STR("/p?q")));
    assert_int_equal(ki_url_split(KI_STR("http://[fd00::1]?a@b"), &url), 0);
    assert_true(ki_str_equal(url.host, KI_STR("fd00::1")));
    assert_int_equal(url.user.len + url.port.len, 0);
    static const char *const wrong[] = {
        "",          "a",           "://a",        "http:/a",      "http://",
        "http://:1", "http://a:",   "http://a:x",  "http://a:0",   "http://a:65536",
        "http://[a", "http://[]:1", "http://[a]1", "http://a\x80", "http://a b"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        if (ki_url_split(ki_str_of(wrong[i]), &url) != KI_ERR_INVALID)
            fail_msg("%s was not refused", wrong[i]);
    }
}

static void a_host_is_a_name_or_an_address(void **state)
{
    (void)state;
    static const char *const good[] = {
        "kubernetes", "api.example", "API-1.example.", "10.0.0.1", "fd00::1", "[fd00::1]", "a_b", "1"};
    static const char *const wrong[] = {"",    ".",    "a..b",         ".a",        "kubernetes/x", "a:1",
                                        "a b", "a@b",  "a?b",          "a#b",       "a%2fb",        "a\r\nb",
                                        "[a]", "[::1", "fd00::1%eth0", "*.example", "\xc3\xa9"};
    char longest[300];
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        if (!ki_url_is_host(good[i]))
            fail_msg("%s", good[i]);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        if (ki_url_is_host(wrong[i]))
            fail_msg("%s", wrong[i]);
    memset(longest, 'a', sizeof(longest));
    longest[63] = 0;
    assert_true(ki_url_is_host(longest));
    longest[63] = 'a';
    longest[64] = 0;
    assert_false(ki_url_is_host(longest));
}

static void the_address_of_a_proxy_is_split_into_its_parts(void **state)
{
    (void)state;
    static const struct {
        const char *url, *address, *user, *password;
    } cases[] = {
        {"http://proxy:3128", "http://proxy:3128", NULL, NULL},
        {"https://proxy/path?query", "https://proxy", NULL, NULL},
        {"socks5://[fd00::1]:1080/run/socket", "socks5://[fd00::1]:1080", NULL, NULL},
        {"http://@proxy", "http://proxy", NULL, NULL},
        {"http://bob@proxy", "http://proxy", "bob", ""},
        {"http://:pw@proxy", "http://proxy", "", "pw"},
        {"http://b%40b:p%3aw:x@y@proxy:1", "http://proxy:1", "b@b", "p:w:x@y"},
        {"http://%C3%A9:%25@proxy", "http://proxy", "\xc3\xa9", "%"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ki_proxy proxy = {0};
        const char *problem = NULL;
        if (ki_proxy_parse(cases[i].url, &proxy, &problem) < 0)
            fail_msg("%s: %s", cases[i].url, problem);
        assert_string_equal(proxy.address, cases[i].address);
        assert_int_equal(proxy.user == NULL, cases[i].user == NULL);
        if (proxy.user != NULL) {
            assert_string_equal(proxy.user, cases[i].user);
            assert_string_equal(proxy.password, cases[i].password);
        }
        ki_proxy_fini(&proxy);
    }
}

static void malformed_proxy_addresses_are_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "proxy:3128",          "ftp://proxy",      "http://",        "http://bob:x%0a@p",
        "http://b%00:x@p",     "http://b%1f@p",    "http://b%7f@p",  "http://b%@p",
        "http://b%4@p",        "http://b%4g@p",    "http://ho{st",   "http://ho%73t",
        "http://proxy:99999",  "http://[fd00::1",  "socks4://proxy", "http://b:x@p q",
        "http://b:x\\@p",      "http://b:x@q\\@p", "http://b x@p",   "http://b<x@p",
        "http://b:\xc3\xa4@p",
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        const char *problem = NULL;
        if (ki_proxy_check(wrong[i], &problem) != KI_ERR_INVALID || problem == NULL)
            fail_msg("%s was not refused", wrong[i]);
    }
    char longest[300] = "socks5://";
    memset(longest + 9, 'u', 256);
    snprintf(longest + 9 + 255, sizeof(longest) - 9 - 255, "@p");
    const char *problem = NULL;
    assert_int_equal(ki_proxy_check(longest, &problem), 0);
    snprintf(longest + 9 + 255, sizeof(longest) - 9 - 255, "u@p");
    assert_int_equal(ki_proxy_check(longest, &problem), KI_ERR_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_excludes_the_hosts_it_names),
        cmocka_unit_test(the_local_machine_needs_no_proxy),
        cmocka_unit_test(upper_case_variables_take_precedence),
        cmocka_unit_test(a_cgi_program_ignores_http_proxy),
        cmocka_unit_test(an_address_is_split_into_its_parts),
        cmocka_unit_test(a_host_is_a_name_or_an_address),
        cmocka_unit_test(the_address_of_a_proxy_is_split_into_its_parts),
        cmocka_unit_test(malformed_proxy_addresses_are_refused),
    };
    return RUN_TESTS(tests);
}
