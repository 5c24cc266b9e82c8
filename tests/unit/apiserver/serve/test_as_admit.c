/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/serve/admit.h"

#include "support/unit.h"

static void addresses_and_localhost_are_allowed(void **state)
{
    (void)state;
    static const char *const hosts[] = {
        "",      "localhost",  "LocalHost:8001", "127.0.0.1", "127.0.0.1:1",
        "[::1]", "[::1]:8001", "10.1.2.3:8001",  "0.0.0.0",   "[fe80::1]:443"};
    for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++)
        if (!ki_as_host_is_ours(ki_str_of(hosts[i]), NULL))
            fail_msg("%s", hosts[i]);
}

static void other_names_are_not_allowed(void **state)
{
    (void)state;
    static const char *const hosts[] = {"example.com",
                                        "example.com:8001",
                                        "localhost.example.com",
                                        "127.0.0.1.example.com",
                                        "xlocalhost",
                                        ":8001",
                                        "[",
                                        "[]",
                                        "[::1",
                                        "127.1",
                                        "localhost@evil"};
    for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++)
        if (ki_as_host_is_ours(ki_str_of(hosts[i]), NULL))
            fail_msg("%s", hosts[i]);
}

static void names_can_be_allowed(void **state)
{
    (void)state;
    char first[] = "apiserver";
    char second[] = "api.test";
    char *const names[] = {first, second, NULL};
    assert_true(ki_as_host_is_ours(KI_STR("apiserver:8001"), names));
    assert_true(ki_as_host_is_ours(KI_STR("API.test"), names));
    assert_false(ki_as_host_is_ours(KI_STR("api.test.example.com"), names));
}

static void an_origin_is_own_when_it_is_the_host(void **state)
{
    (void)state;
    assert_true(ki_as_origin_is_own(KI_STR("http://localhost:8001"), KI_STR("localhost:8001")));
    assert_true(ki_as_origin_is_own(KI_STR("https://127.0.0.1:8001"), KI_STR("127.0.0.1:8001")));
    assert_false(ki_as_origin_is_own(KI_STR("http://localhost:3000"), KI_STR("localhost:8001")));
    assert_false(ki_as_origin_is_own(KI_STR("http://example.com"), KI_STR("localhost:8001")));
    assert_false(ki_as_origin_is_own(KI_STR("null"), KI_STR("localhost:8001")));
    assert_false(ki_as_origin_is_own(KI_STR("http://"), KI_STR("")));
    assert_false(ki_as_origin_is_own(KI_STR("file://localhost"), KI_STR("localhost")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_and_localhost_are_allowed),
        cmocka_unit_test(other_names_are_not_allowed),
        cmocka_unit_test(names_can_be_allowed),
        cmocka_unit_test(an_origin_is_own_when_it_is_the_host),
    };
    return RUN_TESTS(tests);
}
