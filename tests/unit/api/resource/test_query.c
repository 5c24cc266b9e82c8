/* SPDX-License-Identifier: Apache-2.0 */
#include "api/resource/query.h"

#include <kinformer/error.h>
#include <stdlib.h>
#include <string.h>

#include "support/failing_allocator.h"
#include "support/unit.h"

static void assert_text(const ki_query *query, const char *expected)
{
    assert_int_equal(query->rc, 0);
    assert_int_equal(query->text.len, strlen(expected));
    assert_memory_equal(query->text.data, expected, query->text.len);
}

static void a_path_without_options_is_unchanged(void **state)
{
    (void)state;
    ki_query query;
    ki_query_init(&query, KI_STR("/api/v1/pods"));
    ki_query_add(&query, "continue", (ki_str){0});
    ki_query_add_number(&query, "limit", 0);
    ki_query_add_flag(&query, "watch", 0);
    assert_text(&query, "/api/v1/pods");
    ki_query_fini(&query);
}

static void values_are_escaped(void **state)
{
    (void)state;
    ki_query query;
    ki_query_init(&query, KI_STR("/p"));
    ki_query_add(&query, "a", KI_STR("x=1,y in (2 3)&z"));
    ki_query_add(&query, "b", KI_STR("az-AZ_0.9~\xc3\xa9\n"));
    assert_text(&query, "/p?a=x%3D1%2Cy%20in%20%282%203%29%26z&b=az-AZ_0.9~%C3%A9%0A");
    ki_query_fini(&query);
}

static void list_options_have_their_names(void **state)
{
    (void)state;
    ki_list_options options = {.label_selector = KI_STR("a"),
                               .field_selector = KI_STR("b"),
                               .limit = 500,
                               .continue_token = KI_STR("c"),
                               .resource_version = KI_STR("7"),
                               .resource_version_match = KI_STR("NotOlderThan"),
                               .watch = 1,
                               .allow_bookmarks = 1,
                               .send_initial_events = 1,
                               .timeout_seconds = 300};
    ki_query query;
    ki_query_init(&query, KI_STR("/p"));
    ki_query_add_list_options(&query, &options);
    assert_text(&query, "/p?labelSelector=a&fieldSelector=b&limit=500&continue=c&resourceVersion=7"
                        "&resourceVersionMatch=NotOlderThan&watch=true&allowWatchBookmarks=true"
                        "&sendInitialEvents=true&timeoutSeconds=300");
    ki_query_fini(&query);
}

static void a_query_that_is_too_long_is_an_error(void **state)
{
    (void)state;
    size_t n = (size_t)4 * 1024 * 1024;
    char *token = calloc(1, n);
    assert_non_null(token);
    memset(token, 'x', n);
    ki_query query;
    ki_query_init(&query, KI_STR("/p"));
    ki_query_add(&query, "continue", (ki_str){token, n});
    assert_int_equal(query.rc, KI_ERR_TOO_LARGE);
    ki_query_fini(&query);
    free(token);
}

static void when_out_of_memory_it_fails(void **state)
{
    (void)state;
    ki_query query;
    failing_allocator_fail_at(1);
    ki_query_init(&query, KI_STR("/p"));
    ki_query_add(&query, "a", KI_STR("b"));
    assert_int_equal(query.rc, KI_ERR_NO_MEMORY);
    ki_query_fini(&query);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_path_without_options_is_unchanged),
        cmocka_unit_test(values_are_escaped),
        cmocka_unit_test(list_options_have_their_names),
        cmocka_unit_test(a_query_that_is_too_long_is_an_error),
        WITH_MEMORY_CHECK(when_out_of_memory_it_fails),
    };
    return RUN_TESTS(tests);
}
