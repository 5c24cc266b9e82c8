/* SPDX-License-Identifier: Apache-2.0 */
/* Finding resources in the discovery responses of a real API server, all at once and one by one. */
#include "api/resource/discovery_decoder.h"

#include <limits.h>
#include <string.h>

#include "support/decode/fixtures.h"
#include "support/failing_allocator.h"
#include "support/unit.h"

enum { PATHS_BYTES_MAX = 64 * 1024 };

static fixture files[3];
static ki_str all;    /* APIGroupDiscoveryList */
static ki_str groups; /* APIGroupList */
static ki_str apps;   /* APIResourceList */

static ki_str load(size_t i, const char *name)
{
    fixture_http answer;
    ki_error err;
    if (fixture_load(&files[i], name, &err) != 0)
        fail_msg("%s", err.message);
    assert_int_equal(fixture_split_http((ki_str){files[i].data, files[i].len}, &answer), 0);
    return answer.body;
}

static int load_all(void **state)
{
    (void)state;
    all = load(0, "discovery-aggregated-apis.http");
    groups = load(1, "discovery-apis.http");
    apps = load(2, "discovery-apps-v1.http");
    return 0;
}

static int free_all(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++)
        fixture_free(&files[i]);
    return 0;
}

typedef struct run {
    ki_discovery_search search;
    ki_buf paths;
    int rc;
} run;

static run look_for(const char *name, ki_str text)
{
    run r = {0};
    ki_discovery_search_init(&r.search, ki_str_of(name));
    ki_buf_init(&r.paths, PATHS_BYTES_MAX);
    r.rc = ki_discovery_search_take(&r.search, text, &r.paths);
    return r;
}

static void run_fini(run *r)
{
    ki_discovery_search_fini(&r->search);
    ki_buf_fini(&r->paths);
}

/* "": not found. */
static void expect(const char *name, ki_str text, const char *plural, const char *version)
{
    run r = look_for(name, text);
    assert_int_equal(r.rc, KI_DISCOVERY_RESOURCES);
    if (plural[0] == 0) {
        assert_null(r.search.best);
    } else {
        if (r.search.best == NULL)
            fail_msg("\"%s\" was not found", name);
        assert_string_equal(r.search.best->plural, plural);
        assert_string_equal(r.search.best->version, version);
    }
    run_fini(&r);
}

/* ---- all at once ------------------------------------------------------------------------------------- */

static void a_custom_resource_has_every_name_that_kubectl_accepts(void **state)
{
    (void)state;
    static const char *const names[] = {"widgets", "widget",
                                        "Widget",  "wd",
                                        "WIDGETS", "widgets.example.com",
                                        "wd.exam", "widgets.v1.example.com"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        expect(names[i], all, "widgets", "v1");
    expect("widgets.v2.example.com", all, "", "");
    expect("widgets.example.org", all, "", "");
    expect("widgetz", all, "", "");
}

static void a_resource_has_its_group_kind_and_scope(void **state)
{
    (void)state;
    run r = look_for("wd", all);
    assert_non_null(r.search.best);
    assert_string_equal(r.search.best->group, "example.com");
    assert_string_equal(r.search.best->kind, "Widget");
    assert_int_equal(r.search.best->scope, KI_SCOPE_NAMESPACED);
    run_fini(&r);
    r = look_for("crd", all);
    assert_non_null(r.search.best);
    assert_string_equal(r.search.best->plural, "customresourcedefinitions");
    assert_int_equal(r.search.best->scope, KI_SCOPE_CLUSTER);
    run_fini(&r);
}

static void of_several_versions_the_first_is_taken(void **state)
{
    (void)state;
    expect("horizontalpodautoscalers", all, "horizontalpodautoscalers", "v2");
    expect("horizontalpodautoscalers.v1.autoscaling", all, "horizontalpodautoscalers", "v1");
}

#define RESOURCE(name, verbs, more)                                                                          \
    "{\"resource\":\"" name "\",\"responseKind\":{\"kind\":\"K\"},\"scope\":\"Cluster\",\"verbs\":[" verbs   \
    "]" more "}"
#define GROUP(name, resources)                                                                               \
    "{\"metadata\":{\"name\":\"" name "\"},\"versions\":[{\"version\":\"v1\",\"resources\":[" resources "]}" \
    "]}"
#define ALL(groups) "{\"kind\":\"APIGroupDiscoveryList\",\"items\":[" groups "]}"
#define BOTH "\"list\",\"watch\""

static void a_full_name_takes_precedence_over_a_short_one(void **state)
{
    (void)state;
    ki_str text =
        KI_STR(ALL(GROUP("a.example", RESOURCE("others", BOTH, ",\"shortNames\":[\"things\"]")) "," GROUP(
            "b.example", RESOURCE("things", BOTH, ""))));
    expect("things", text, "things", "v1");
    expect("things.a", text, "others", "v1");
}

static void a_resource_that_cannot_be_watched_is_not_found_but_noted(void **state)
{
    (void)state;
    run r = look_for("things", KI_STR(ALL(GROUP("a.example", RESOURCE("things", "\"list\"", "")))));
    assert_null(r.search.best);
    assert_true(r.search.is_unwatched);
    run_fini(&r);
    expect("things",
           KI_STR(ALL(GROUP("a.example", RESOURCE("things", "\"list\"", "")) "," GROUP(
               "b.example", RESOURCE("things", BOTH, "")))),
           "things", "v1");
}

static void names_that_are_invalid_in_a_path_are_skipped(void **state)
{
    (void)state;
    expect("K", KI_STR(ALL(GROUP("a/../b", RESOURCE("things", BOTH, "")))), "", "");
    expect("K", KI_STR(ALL(GROUP("a.example", RESOURCE("x/status", BOTH, "")))), "", "");
    expect("K", KI_STR(ALL("1,null,{\"versions\":7},{\"versions\":[{\"resources\":{}}]}")), "", "");
}

static void anything_else_is_not_a_response(void **state)
{
    (void)state;
    static const char *const texts[] = {"", "[]", "{\"kind\":\"PodList\"}", "{\"kind\":", "<html>"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        run r = look_for("things", ki_str_of(texts[i]));
        assert_int_equal(r.rc, KI_ERR_NOT_A_LIST);
        run_fini(&r);
    }
}

/* ---- one by one -------------------------------------------------------------------------------------- */

static void groups_give_paths_with_the_preferred_version_first(void **state)
{
    (void)state;
    run r = look_for("hpa.autoscaling", groups);
    static const char expected[] = "/apis/autoscaling/v2\0/apis/autoscaling/v1";
    assert_int_equal(r.rc, KI_DISCOVERY_GROUPS);
    assert_int_equal(r.paths.len, sizeof(expected));
    assert_memory_equal(r.paths.data, expected, sizeof(expected));
    run_fini(&r);
}

static void a_name_without_a_group_gives_the_paths_of_all_groups(void **state)
{
    (void)state;
    run r = look_for("widgets", groups);
    size_t count = 0;
    bool has_example = false;
    for (size_t at = 0; at < r.paths.len; at += strlen(r.paths.data + at) + 1, count++)
        has_example = has_example || strcmp(r.paths.data + at, "/apis/example.com/v1") == 0;
    assert_true(count > 10);
    assert_true(has_example);
    run_fini(&r);
}

static void the_resources_of_a_version_are_searched_without_their_subresources(void **state)
{
    (void)state;
    expect("ds", apps, "daemonsets", "v1");
    expect("StatefulSet.apps", apps, "statefulsets", "v1");
    run r = look_for("scale", apps);
    assert_null(r.search.best);
    assert_false(r.search.is_unwatched);
    run_fini(&r);
}

static void when_out_of_memory_it_fails_and_nothing_leaks(void **state)
{
    (void)state;
    const ki_str texts[] = {all, groups, apps};
    for (size_t i = 0; i < 3; i++)
        for (size_t n = 1;; n++) {
            failing_allocator_fail_at(n);
            run r = look_for("deployments", texts[i]);
            bool has_failed = failing_allocator_has_failed();
            failing_allocator_fail_at(0);
            if (has_failed)
                assert_int_equal(r.rc, KI_ERR_NO_MEMORY);
            run_fini(&r);
            if (!has_failed)
                break;
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(a_custom_resource_has_every_name_that_kubectl_accepts),
        WITH_MEMORY_CHECK(a_resource_has_its_group_kind_and_scope),
        WITH_MEMORY_CHECK(of_several_versions_the_first_is_taken),
        WITH_MEMORY_CHECK(a_full_name_takes_precedence_over_a_short_one),
        WITH_MEMORY_CHECK(a_resource_that_cannot_be_watched_is_not_found_but_noted),
        WITH_MEMORY_CHECK(names_that_are_invalid_in_a_path_are_skipped),
        WITH_MEMORY_CHECK(anything_else_is_not_a_response),
        WITH_MEMORY_CHECK(groups_give_paths_with_the_preferred_version_first),
        WITH_MEMORY_CHECK(a_name_without_a_group_gives_the_paths_of_all_groups),
        WITH_MEMORY_CHECK(the_resources_of_a_version_are_searched_without_their_subresources),
        WITH_MEMORY_CHECK(when_out_of_memory_it_fails_and_nothing_leaks),
    };
    return cmocka_run_group_tests_name(__FILE__, tests, load_all, free_all);
}
