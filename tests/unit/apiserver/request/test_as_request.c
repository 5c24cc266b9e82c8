/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "apiserver/request/request.h"
#include "support/failing_allocator.h"
#include "support/unit.h"

typedef struct reading {
    struct ki_as_request request;
    struct ki_as_failure failure;
    int rc;
} reading;

static reading read_address(const char *address)
{
    reading r = {0};
    r.rc = ki_as_request_parse(ki_str_of(address), &r.request, &r.failure);
    return r;
}

static void reading_fini(reading *r)
{
    ki_as_request_fini(&r->request);
    ki_as_failure_fini(&r->failure);
}

static void expect_text(ki_str text, const char *expected)
{
    if (!ki_str_equal(text, ki_str_of(expected)))
        fail_msg("\"%.*s\" is not \"%s\"", KI_STR_ARGS(text), expected);
}

static void each_address_names_its_target(void **state)
{
    (void)state;
    static const struct {
        const char *address;
        enum ki_as_target target;
    } cases[] = {
        {"/", KI_AS_TARGET_ROOT},
        {"/healthz", KI_AS_TARGET_HEALTH},
        {"/livez?verbose", KI_AS_TARGET_HEALTH},
        {"/readyz/", KI_AS_TARGET_HEALTH},
        {"/version", KI_AS_TARGET_SERVER_VERSION},
        {"/api", KI_AS_TARGET_CORE},
        {"/api/", KI_AS_TARGET_CORE},
        {"/apis", KI_AS_TARGET_GROUPS},
        {"/apis/apps", KI_AS_TARGET_GROUP},
        {"/apis/apps/v1", KI_AS_TARGET_VERSION},
        {"/api/v1", KI_AS_TARGET_VERSION},
        {"/openapi/v3", KI_AS_TARGET_OPENAPI},
        {"/openapi/v3/api/v1", KI_AS_TARGET_OPENAPI_VERSION},
        {"/openapi/v3/apis/apps/v1?hash=1", KI_AS_TARGET_OPENAPI_VERSION},
        {"/openapi/v3/api", KI_AS_TARGET_NONE},
        {"/openapi/v2", KI_AS_TARGET_OPENAPI_OLD},
        {"/openapi/v2/api", KI_AS_TARGET_NONE},
        {"/debug/faults", KI_AS_TARGET_DEBUG},
        {"/debug", KI_AS_TARGET_NONE},
        {"/version/x", KI_AS_TARGET_NONE},
        {"/metrics", KI_AS_TARGET_NONE},
        {"//", KI_AS_TARGET_NONE},
        {"/api/v1/pods", KI_AS_TARGET_RESOURCE},
        {"/api/v1//", KI_AS_TARGET_NONE},
        {"/api//pods", KI_AS_TARGET_NONE},
        {"/apis/apps//deployments", KI_AS_TARGET_NONE},
        {"/api/v1/pods/a/b/c", KI_AS_TARGET_NONE},
        {"/a/b/c/d/e/f/g/h/i/j/k/l", KI_AS_TARGET_NONE},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        reading r = read_address(cases[i].address);
        if (r.rc < 0 || r.request.target != cases[i].target)
            fail_msg("%s: %d, %d", cases[i].address, r.rc, (int)r.request.target);
        reading_fini(&r);
    }
}

static void a_path_is_split_into_its_parts(void **state)
{
    (void)state;
    reading r = read_address("/apis/apps/v1/namespaces/web/deployments/a/scale");
    expect_text(r.request.group, "apps");
    expect_text(r.request.version, "v1");
    expect_text(r.request.ns, "web");
    expect_text(r.request.plural, "deployments");
    expect_text(r.request.name, "a");
    expect_text(r.request.subresource, "scale");
    reading_fini(&r);
    r = read_address("/api/v1/namespaces/web/status");
    expect_text(r.request.plural, "namespaces");
    expect_text(r.request.name, "web");
    expect_text(r.request.subresource, "status");
    expect_text(r.request.ns, "");
    reading_fini(&r);
    r = read_address("/api/v1/watch/namespaces/web/pods");
    expect_text(r.request.plural, "pods");
    expect_text(r.request.ns, "web");
    assert_true(r.request.query.is_watch);
    reading_fini(&r);
    r = read_address("/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Aadmin");
    expect_text(r.request.name, "system:admin");
    expect_text(r.request.path, "/apis/rbac.authorization.k8s.io/v1/clusterroles/system:admin");
    reading_fini(&r);
}

static void a_query_is_decoded(void **state)
{
    (void)state;
    reading r =
        read_address("/api/v1/pods?labelSelector=app+in+(a%2Cb)&limit=5&watch&allowWatchBookmarks=false&"
                     "sendInitialEvents=True&timeoutSeconds=-1&unknown=1&&fieldSelector=a%3Db&pretty=0");
    const struct ki_as_query *query = &r.request.query;
    assert_int_equal(r.rc, 0);
    expect_text(query->label_selector, "app in (a,b)");
    expect_text(query->field_selector, "a=b");
    assert_int_equal(query->limit, 5);
    assert_int_equal(query->timeout_seconds, 0);
    assert_true(query->is_watch);
    assert_false(query->allows_bookmarks);
    assert_true(query->has_send_initial_events && query->send_initial_events);
    assert_true(query->has_pretty);
    assert_false(query->is_pretty);
    reading_fini(&r);
}

static void the_largest_number_is_accepted(void **state)
{
    (void)state;
    reading r = read_address("/api/v1/pods?limit=9223372036854775807&timeoutSeconds=9223372036854775807");
    assert_int_equal(r.rc, 0);
    assert_int_equal(r.request.query.limit, INT64_MAX);
    assert_int_equal(r.request.query.timeout_seconds, INT64_MAX);
    reading_fini(&r);
    r = read_address("/api/v1/pods?limit=9223372036854775808");
    assert_int_equal(r.rc, -1);
    reading_fini(&r);
}

static void malformed_requests_are_400(void **state)
{
    (void)state;
    static const char *const addresses[] = {"",
                                            "*",
                                            "api/v1",
                                            "/%",
                                            "/%4",
                                            "/%4g",
                                            "/%00",
                                            "/%80",
                                            "/%c0%80",
                                            "/%ed%a0%80",
                                            "/%f5%80%80%80",
                                            "/api/v1/namespaces/a/pods/b%2fc",
                                            "/api/v1/namespaces/a/pods/b%25",
                                            "/api/v1/pods?limit=1x",
                                            "/api/v1/pods?limit=-",
                                            "/api/v1/pods?limit=9999999999999999999",
                                            "/api/v1/pods?a=%",
                                            "/api/v1/pods?%=a"};
    for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
        reading r = read_address(addresses[i]);
        if (r.rc == 0 || r.failure.code != 400)
            fail_msg("%s: %d, %d", addresses[i], r.rc, r.failure.code);
        reading_fini(&r);
    }
}

static void utf_8_characters_of_all_lengths_are_accepted(void **state)
{
    (void)state;
    reading r = read_address("/api/v1/nodes/%24%c2%a2%e2%82%ac%f0%90%8d%88");
    assert_int_equal(r.rc, 0);
    expect_text(r.request.name, "$\xc2\xa2\xe2\x82\xac\xf0\x90\x8d\x88");
    reading_fini(&r);
}

static void methods_are_known_by_name(void **state)
{
    (void)state;
    assert_int_equal(ki_as_method_of("GET"), KI_AS_METHOD_GET);
    assert_int_equal(ki_as_method_of("DELETE"), KI_AS_METHOD_DELETE);
    assert_int_equal(ki_as_method_of("get"), KI_AS_METHOD_OTHER);
}

static void when_out_of_memory_it_fails(void **state)
{
    (void)state;
    failing_allocator_install();
    failing_allocator_fail_at(1);
    reading r = read_address("/api/v1/pods");
    failing_allocator_remove();
    assert_int_equal(r.rc, -1);
    assert_int_equal(r.failure.code, 500);
    reading_fini(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_address_names_its_target),
        cmocka_unit_test(a_path_is_split_into_its_parts),
        cmocka_unit_test(a_query_is_decoded),
        cmocka_unit_test(the_largest_number_is_accepted),
        cmocka_unit_test(malformed_requests_are_400),
        cmocka_unit_test(utf_8_characters_of_all_lengths_are_accepted),
        cmocka_unit_test(methods_are_known_by_name),
        cmocka_unit_test(when_out_of_memory_it_fails),
    };
    return RUN_TESTS(tests);
}
