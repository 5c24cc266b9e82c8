/* SPDX-License-Identifier: Apache-2.0 */
#include <kinformer/key.h>
#include <kinformer/store.h>
#include <limits.h>
#include <string.h>

#include "support/store/store_objects.h"
#include "support/unit.h"

static void assert_joins(const char *ns, const char *name, const char *key)
{
    char buffer[64];
    assert_int_equal(ki_key_join(ki_str_of(ns), ki_str_of(name), buffer, sizeof(buffer)), strlen(key));
    assert_string_equal(buffer, key);
}

static void namespace_and_name_are_joined_by_a_slash(void **state)
{
    (void)state;
    assert_joins("default", "web-0", "default/web-0");
    assert_joins("a", "b", "a/b");
}

static void without_a_namespace_the_name_is_the_key(void **state)
{
    (void)state;
    assert_joins("", "node-1", "node-1");
    assert_joins(NULL, "node-1", "node-1");
}

static void a_joined_key_equals_that_of_the_object(void **state)
{
    (void)state;
    char buffer[64];
    ki_object *object = store_object("kube-system", "dns", 1, "");
    assert_true(ki_key_join(ki_object_namespace(object), ki_object_name(object), buffer, sizeof(buffer)) > 0);
    assert_string_equal(buffer, ki_object_key(object));
    (void)ki_object_unref(object);
}

static void a_short_buffer_gets_what_fits_and_the_whole_length(void **state)
{
    (void)state;
    const char *key = "default/web";
    for (size_t size = 1; size <= strlen(key) + 2; size++) {
        char buffer[16];
        memset(buffer, '#', sizeof(buffer));
        size_t fits = size - 1 < strlen(key) ? size - 1 : strlen(key);
        assert_int_equal(ki_key_join(KI_STR("default"), KI_STR("web"), buffer, size), strlen(key));
        assert_memory_equal(buffer, key, fits);
        assert_int_equal(buffer[fits], 0);
        assert_int_equal(buffer[fits + 1], '#');
    }
    assert_int_equal(ki_key_join(KI_STR("default"), KI_STR("web"), NULL, 0), strlen(key));
}

static void parts_that_would_not_split_into_the_same_are_refused(void **state)
{
    (void)state;
    char buffer[64] = "untouched";
    static const char *const table[][2] = {{"ns", ""}, {"", ""},      {"a/b", "c"},   {"a", "b/c"},
                                           {"", "/"},  {"/", "name"}, {"ns", "name/"}};
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        assert_int_equal(ki_key_join(ki_str_of(table[i][0]), ki_str_of(table[i][1]), buffer, sizeof(buffer)),
                         KI_ERR_INVALID);
    assert_int_equal(ki_key_join(KI_STR("ns"), KI_STR("name"), NULL, 1), KI_ERR_INVALID);
    assert_string_equal(buffer, "untouched");
}

static void a_length_beyond_an_int_is_refused_without_reading(void **state)
{
    (void)state;
    ki_str huge = {"x", (size_t)INT_MAX};
    ki_str half = {"x", (size_t)INT_MAX / 2 + 1};
    ki_str endless = {"x", SIZE_MAX};
    assert_int_equal(ki_key_join(huge, KI_STR("a"), NULL, 0), KI_ERR_TOO_LARGE);
    assert_int_equal(ki_key_join(KI_STR("a"), huge, NULL, 0), KI_ERR_TOO_LARGE);
    assert_int_equal(ki_key_join(half, half, NULL, 0), KI_ERR_TOO_LARGE);
    assert_int_equal(ki_key_join(endless, endless, NULL, 0), KI_ERR_TOO_LARGE);
}

static void assert_splits(const char *key, const char *ns, const char *name)
{
    ki_str out_ns = KI_STR("untouched");
    ki_str out_name = KI_STR("untouched");
    assert_int_equal(ki_key_split(ki_str_of(key), &out_ns, &out_name), 0);
    assert_true(ki_str_equal(out_ns, ki_str_of(ns)));
    assert_true(ki_str_equal(out_name, ki_str_of(name)));
}

static void a_key_is_split_at_its_slash(void **state)
{
    (void)state;
    assert_splits("default/web", "default", "web");
    assert_splits("node-1", "", "node-1");
    assert_splits("/web", "", "web");
    assert_splits("ns/", "ns", "");
    assert_splits("/", "", "");
    assert_splits("", "", "");
    assert_splits(NULL, "", "");
}

static void a_key_with_more_than_one_slash_is_refused(void **state)
{
    (void)state;
    static const char *const table[] = {"a/b/c", "//", "a//b", "/a/b", "a/b/", "a/b/c/d"};
    ki_str ns = KI_STR("untouched");
    ki_str name = ns;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        assert_int_equal(ki_key_split(ki_str_of(table[i]), &ns, &name), KI_ERR_INVALID);
    assert_int_equal(ki_key_split(KI_STR("a/b"), NULL, &name), KI_ERR_INVALID);
    assert_int_equal(ki_key_split(KI_STR("a/b"), &ns, NULL), KI_ERR_INVALID);
    assert_true(ki_str_equal(ns, KI_STR("untouched")));
    assert_true(ki_str_equal(name, KI_STR("untouched")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(namespace_and_name_are_joined_by_a_slash),
        cmocka_unit_test(without_a_namespace_the_name_is_the_key),
        cmocka_unit_test(a_joined_key_equals_that_of_the_object),
        cmocka_unit_test(a_short_buffer_gets_what_fits_and_the_whole_length),
        cmocka_unit_test(parts_that_would_not_split_into_the_same_are_refused),
        cmocka_unit_test(a_length_beyond_an_int_is_refused_without_reading),
        cmocka_unit_test(a_key_is_split_at_its_slash),
        cmocka_unit_test(a_key_with_more_than_one_slash_is_refused),
    };
    return RUN_TESTS(tests);
}
