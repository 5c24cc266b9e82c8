/* SPDX-License-Identifier: Apache-2.0 */
#include <kinformer/error.h>
#include <stdlib.h>
#include <string.h>

#include "apiserver/convert_parts.h"
#include "apiserver/duplicates.h"
#include "support/failing_allocator.h"
#include "support/unit.h"
#include "util/alloc.h"

static const char rich[] =
    "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"behavior\":{\"scaleDown\":{\"policies\":[{\"type\":\"Pods\"}]"
    "}},"
    "\"metrics\":[{\"type\":\"Pods\",\"pods\":{\"metric\":{\"name\":\"p\"},\"target\":{\"type\":"
    "\"AverageValue\","
    "\"averageValue\":\"2\"}}},{\"type\":\"Resource\",\"resource\":{\"name\":\"cpu\",\"target\":{\"type\":"
    "\"Utilization\",\"averageUtilization\":44}}}]},\"status\":{\"conditions\":[{\"type\":\"AbleToScale\","
    "\"status\":\"True\"}],\"currentMetrics\":[{\"type\":\"Resource\",\"resource\":{\"name\":\"cpu\","
    "\"current\":{"
    "\"averageUtilization\":33,\"averageValue\":\"330m\"}}}]}}";

static void going_to_v1_and_back_changes_nothing(void **state)
{
    (void)state;
    json_t *before = json_loads(rich, 0, NULL);
    json_t *tree = json_loads(rich, 0, NULL);
    assert_int_equal(ki_as_autoscaler_show(tree), 0);
    assert_int_equal(json_object_size(json_object_get(json_object_get(tree, "metadata"), "annotations")), 4);
    assert_int_equal(ki_as_autoscaler_keep(tree), 0);
    assert_true(json_equal(before, tree));
    json_decref(before);
    json_decref(tree);
}

static void long_names_of_a_behavior_are_never_cut(void **state)
{
    (void)state;
    char name[131] = "x";
    for (size_t i = 1; i + 2 < sizeof(name); i += 2)
        memcpy(name + i, "\xc3\xa9", 3);
    json_t *tree = json_pack("{s:{s:s}, s:{s:{s:i}}}", "metadata", "name", "a", "spec", "behavior", name, 1);
    assert_int_equal(ki_as_autoscaler_show(tree), 0);
    const json_t *annotations = json_object_get(json_object_get(tree, "metadata"), "annotations");
    const char *text =
        json_string_value(json_object_get(annotations, "autoscaling.alpha.kubernetes.io/behavior"));
    assert_non_null(text);
    assert_non_null(strstr(text, name + 1));
    json_decref(tree);
}

static void without_memory_a_conversion_says_so_and_loses_nothing(void **state)
{
    (void)state;
    json_set_alloc_funcs(ki_malloc, ki_free);
    for (size_t n = 1;; n++) {
        failing_allocator_fail_at(0);
        json_t *tree = json_loads(rich, 0, NULL);
        failing_allocator_fail_at(n);
        int rc = ki_as_autoscaler_show(tree);
        if (rc == 0)
            rc = ki_as_autoscaler_keep(tree);
        bool has_failed = failing_allocator_has_failed();
        failing_allocator_fail_at(0);
        json_t *before = json_loads(rich, 0, NULL);
        if (rc == 0)
            assert_true(json_equal(before, tree));
        else
            assert_true(rc == KI_ERR_NO_MEMORY && has_failed);
        json_decref(before);
        json_decref(tree);
        if (!has_failed)
            break;
    }
    failing_allocator_fail_at(0);
    assert_int_equal(failing_allocator_live_count(), 0);
    json_set_alloc_funcs(malloc, free);
}

static void without_memory_nothing_is_found_twice(void **state)
{
    (void)state;
    json_set_alloc_funcs(ki_malloc, ki_free);
    for (size_t n = 1;; n++) {
        failing_allocator_fail_at(n);
        json_t *found = ki_as_duplicates(KI_STR("{\"a\":[{\"b\":1,\"b\":{}}],\"\\u0061\":2}"));
        bool has_failed = failing_allocator_has_failed();
        failing_allocator_fail_at(0);
        assert_int_equal(found == NULL, has_failed);
        if (!has_failed) {
            assert_int_equal(json_array_size(found), 2);
            assert_string_equal(json_string_value(json_array_get(found, 0)), "duplicate field \"a[0].b\"");
            assert_string_equal(json_string_value(json_array_get(found, 1)), "duplicate field \"a\"");
        }
        json_decref(found);
        if (!has_failed)
            break;
    }
    assert_int_equal(failing_allocator_live_count(), 0);
    json_set_alloc_funcs(malloc, free);
}

#define MEMORY_TEST(name)                                                                                    \
    cmocka_unit_test_setup_teardown(name, failing_allocator_setup, failing_allocator_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(going_to_v1_and_back_changes_nothing),
        cmocka_unit_test(long_names_of_a_behavior_are_never_cut),
        MEMORY_TEST(without_memory_a_conversion_says_so_and_loses_nothing),
        MEMORY_TEST(without_memory_nothing_is_found_twice),
    };
    return RUN_TESTS(tests);
}
