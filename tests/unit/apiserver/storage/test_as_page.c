/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "support/apiserver/as_rig.h"
#include "support/unit.h"
#include "util/random.h"

static void get(struct as_rig *rig, const struct ki_as_page_request *request, struct ki_as_page *page)
{
    struct ki_as_collection *collection = as_rig_collection(rig, "configmaps");
    ki_as_storage_lock(rig->storage);
    assert_int_equal(ki_as_storage_page(rig->storage, collection, request, page, &rig->failure), 0);
    ki_as_storage_unlock(rig->storage);
}

static void assert_page(struct as_rig *rig, struct ki_as_page_request request, const char *names)
{
    struct ki_as_page page = {0};
    get(rig, &request, &page);
    assert_string_equal(as_rig_names(&page), names);
    ki_as_page_fini(&page);
}

static struct ki_as_selector *selector_of(struct as_rig *rig, const char *labels, const char *fields)
{
    struct ki_as_selector *selector = NULL;
    assert_int_equal(ki_as_selector_parse(ki_str_of(labels), ki_str_of(fields),
                                          as_rig_resource(rig, "configmaps"), &selector, &rig->failure),
                     0);
    return selector;
}

static void fill(struct as_rig *rig)
{
    as_rig_init(rig, 0);
    as_rig_put(rig, "b/q", "1");
    as_rig_put(rig, "a/x", "1");
    as_rig_put(rig, "a/y", "2");
    as_rig_put(rig, "b/p", "1");
    as_rig_put(rig, "c/z", "2");
}

static void a_list_is_in_the_order_of_keys(void **state)
{
    (void)state;
    struct as_rig rig;
    fill(&rig);
    assert_page(&rig, (struct ki_as_page_request){0}, "x y p q z");
    assert_page(&rig, (struct ki_as_page_request){.ns = KI_STR("b")}, "p q");
    assert_page(&rig, (struct ki_as_page_request){.ns = KI_STR("nothing")}, "");
    as_rig_fini(&rig);
}

static void a_page_says_how_many_are_left(void **state)
{
    (void)state;
    struct as_rig rig;
    struct ki_as_page page = {0};
    fill(&rig);
    get(&rig, &(struct ki_as_page_request){.limit = 2}, &page);
    assert_string_equal(as_rig_names(&page), "x y");
    assert_true(page.is_more);
    assert_int_equal(page.remaining, 3);
    assert_int_equal(page.version, 1005);
    ki_as_page_fini(&page);
    get(&rig, &(struct ki_as_page_request){.limit = 3, .after = KI_STR("a/y"), .version = 1005}, &page);
    assert_string_equal(as_rig_names(&page), "p q z");
    assert_false(page.is_more);
    assert_int_equal(page.remaining, 0);
    ki_as_page_fini(&page);
    as_rig_fini(&rig);
}

static void pages_of_a_namespace_contain_only_its_objects(void **state)
{
    (void)state;
    struct as_rig rig;
    struct ki_as_page page = {0};
    fill(&rig);
    get(&rig, &(struct ki_as_page_request){.ns = KI_STR("b"), .limit = 1}, &page);
    assert_string_equal(as_rig_names(&page), "p");
    assert_int_equal(page.remaining, 1);
    ki_as_page_fini(&page);
    assert_page(&rig, (struct ki_as_page_request){.ns = KI_STR("b"), .after = KI_STR("b/p"), .limit = 9},
                "q");
    assert_page(&rig, (struct ki_as_page_request){.ns = KI_STR("b"), .after = KI_STR("c/z")}, "");
    assert_page(&rig, (struct ki_as_page_request){.ns = KI_STR("b"), .after = KI_STR("a/x")}, "p q");
    as_rig_fini(&rig);
}

static void the_key_of_a_page_need_not_exist_any_more(void **state)
{
    (void)state;
    struct as_rig rig;
    fill(&rig);
    as_rig_remove(&rig, "a/y");
    assert_page(&rig, (struct ki_as_page_request){.after = KI_STR("a/y"), .limit = 1}, "p");
    assert_page(&rig, (struct ki_as_page_request){.after = KI_STR("a/y"), .limit = 1, .version = 1005}, "p");
    as_rig_fini(&rig);
}

static void selectors_filter_pages_and_report_whether_more_match(void **state)
{
    (void)state;
    struct as_rig rig;
    struct ki_as_page page = {0};
    fill(&rig);
    struct ki_as_selector *selector = selector_of(&rig, "app=1", "");
    get(&rig, &(struct ki_as_page_request){.selector = selector, .limit = 2}, &page);
    assert_string_equal(as_rig_names(&page), "x p");
    assert_true(page.is_more);
    assert_int_equal(page.remaining, 0);
    ki_as_page_fini(&page);
    get(&rig, &(struct ki_as_page_request){.selector = selector, .limit = 3}, &page);
    assert_string_equal(as_rig_names(&page), "x p q");
    assert_false(page.is_more);
    ki_as_page_fini(&page);
    ki_as_selector_free(selector);
    as_rig_fini(&rig);
}

static void one_object_is_found_by_its_name(void **state)
{
    (void)state;
    struct as_rig rig;
    fill(&rig);
    struct ki_as_selector *selector = selector_of(&rig, "app=1", "metadata.name=q");
    assert_page(&rig, (struct ki_as_page_request){.ns = KI_STR("b"), .selector = selector}, "q");
    assert_page(&rig, (struct ki_as_page_request){.ns = KI_STR("a"), .selector = selector}, "");
    assert_page(&rig, (struct ki_as_page_request){.selector = selector}, "q");
    ki_as_selector_free(selector);
    as_rig_fini(&rig);
}

static void an_older_version_is_listed_as_it_was(void **state)
{
    (void)state;
    struct as_rig rig;
    struct ki_as_page page = {0};
    fill(&rig);
    as_rig_remove(&rig, "a/x");
    as_rig_put(&rig, "a/y", "9");
    as_rig_put(&rig, "a/y", "10");
    as_rig_put(&rig, "b/new", "1");
    as_rig_put(&rig, "a/x", "again");
    as_rig_remove(&rig, "c/z");
    get(&rig, &(struct ki_as_page_request){.version = 1005}, &page);
    assert_string_equal(as_rig_names(&page), "x y p q z");
    assert_int_equal(page.version, 1005);
    assert_int_equal(page.objects[0]->version, 1002);
    assert_int_equal(page.objects[1]->version, 1003);
    ki_as_page_fini(&page);
    get(&rig, &(struct ki_as_page_request){.version = 1006, .limit = 1}, &page);
    assert_string_equal(as_rig_names(&page), "y");
    assert_int_equal(page.remaining, 3);
    ki_as_page_fini(&page);
    assert_page(&rig, (struct ki_as_page_request){0}, "x y new p q");
    as_rig_fini(&rig);
}

static void a_version_without_history_is_expired(void **state)
{
    (void)state;
    struct as_rig rig;
    struct ki_as_page page = {0};
    fill(&rig);
    struct ki_as_collection *collection = as_rig_collection(&rig, "configmaps");
    struct ki_as_page_request request = {.version = 1004};
    ki_as_storage_lock(rig.storage);
    ki_as_storage_compact(rig.storage);
    assert_int_equal(ki_as_storage_page(rig.storage, collection, &request, &page, &rig.failure), -1);
    ki_as_storage_unlock(rig.storage);
    assert_int_equal(rig.failure.code, 410);
    assert_page(&rig, (struct ki_as_page_request){.version = 1005}, "x y p q z");
    as_rig_fini(&rig);
}

static void cluster_scoped_keys_are_plain_names(void **state)
{
    (void)state;
    struct as_rig rig;
    struct ki_as_page page = {0};
    as_rig_init(&rig, 0);
    as_rig_put(&rig, "n1", "1");
    as_rig_put(&rig, "n2", "1");
    struct ki_as_collection *collection = as_rig_collection(&rig, "nodes");
    struct ki_as_page_request request = {.after = KI_STR("n1")};
    ki_as_storage_lock(rig.storage);
    assert_int_equal(ki_as_storage_page(rig.storage, collection, &request, &page, &rig.failure), 0);
    ki_as_storage_unlock(rig.storage);
    assert_string_equal(as_rig_names(&page), "n2");
    ki_as_page_fini(&page);
    as_rig_fini(&rig);
}

enum { KEYS = 40, CHANGES = 300 };

/* The pages of a version together equal its list when it was the latest,
 * and so do the counts of remaining items. */
static void check_version(struct as_rig *rig, uint64_t version, const char *expected, size_t limit)
{
    char all[4096] = "";
    char after[64] = "";
    size_t len = 0;
    for (bool is_more = true; is_more;) {
        struct ki_as_page page = {0};
        get(rig, &(struct ki_as_page_request){.version = version, .limit = limit, .after = ki_str_of(after)},
            &page);
        for (size_t i = 0; i < page.count; i++)
            len += (size_t)snprintf(all + len, sizeof(all) - len, "%.*s:%llu ",
                                    KI_STR_ARGS(page.objects[i]->name),
                                    (unsigned long long)page.objects[i]->version);
        is_more = page.is_more;
        assert_int_equal(is_more, page.remaining > 0);
        if (page.count > 0) {
            const struct ki_as_object *last = page.objects[page.count - 1];
            (void)snprintf(after, sizeof(after), "%.*s/%.*s", KI_STR_ARGS(last->ns), KI_STR_ARGS(last->name));
        }
        ki_as_page_fini(&page);
    }
    assert_string_equal(all, expected);
}

static void pages_of_any_version_equal_its_list(void **state)
{
    (void)state;
    static char lists[CHANGES + 1][2048];
    static bool is_there[KEYS];
    struct as_rig rig;
    ki_random random;
    ki_random_init(&random, 3);
    as_rig_init(&rig, CHANGES);
    for (int step = 1; step <= CHANGES; step++) {
        char key[32];
        size_t number = (size_t)ki_random_below(&random, KEYS);
        (void)snprintf(key, sizeof(key), "ns%zu/k%02zu", number % 3, number);
        if (is_there[number] && ki_random_below(&random, 2) == 0)
            as_rig_remove(&rig, key);
        else
            as_rig_put(&rig, key, "1");
        is_there[number] = as_rig_find(&rig, "configmaps", (ki_str){key, 3}, ki_str_of(key + 4)) != NULL;
        struct ki_as_page page = {0};
        get(&rig, &(struct ki_as_page_request){0}, &page);
        size_t len = 0;
        for (size_t i = 0; i < page.count; i++)
            len += (size_t)snprintf(lists[step] + len, sizeof(lists[step]) - len, "%.*s:%llu ",
                                    KI_STR_ARGS(page.objects[i]->name),
                                    (unsigned long long)page.objects[i]->version);
        ki_as_page_fini(&page);
    }
    for (int step = 1; step <= CHANGES; step += 7)
        check_version(&rig, 1000 + (uint64_t)step, lists[step], 1 + (size_t)ki_random_below(&random, 9));
    as_rig_fini(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_is_in_the_order_of_keys),
        cmocka_unit_test(a_page_says_how_many_are_left),
        cmocka_unit_test(pages_of_a_namespace_contain_only_its_objects),
        cmocka_unit_test(the_key_of_a_page_need_not_exist_any_more),
        cmocka_unit_test(selectors_filter_pages_and_report_whether_more_match),
        cmocka_unit_test(one_object_is_found_by_its_name),
        cmocka_unit_test(an_older_version_is_listed_as_it_was),
        cmocka_unit_test(a_version_without_history_is_expired),
        cmocka_unit_test(cluster_scoped_keys_are_plain_names),
        cmocka_unit_test(pages_of_any_version_equal_its_list),
    };
    return RUN_TESTS(tests);
}
