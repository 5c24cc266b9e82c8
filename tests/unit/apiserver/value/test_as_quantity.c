/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/value/quantity.h"

#include "support/unit.h"

static void amounts_that_do_not_fit_are_kept_unchanged(void **state)
{
    (void)state;
    json_t *value = json_string("16Ei");
    json_t *kept = ki_as_quantity_settled(value);
    assert_ptr_equal(kept, value);
    json_decref(kept);
    json_decref(value);
}

static void numbers_become_strings(void **state)
{
    (void)state;
    json_t *values = json_pack("[i, f, s]", 2, 0.5, "x");
    json_t *kept = ki_as_quantity_settled(json_array_get(values, 0));
    assert_string_equal(json_string_value(kept), "2");
    json_decref(kept);
    kept = ki_as_quantity_settled(json_array_get(values, 1));
    assert_string_equal(json_string_value(kept), "500m");
    json_decref(kept);
    kept = ki_as_quantity_settled(json_array_get(values, 2));
    assert_ptr_equal(kept, json_array_get(values, 2));
    json_decref(kept);
    json_decref(values);
}

static int compare(const char *a, const char *b)
{
    ki_quantity_text left;
    ki_quantity_text right;
    assert_int_equal(ki_quantity_text_parse(ki_str_of(a), &left), 0);
    assert_int_equal(ki_quantity_text_parse(ki_str_of(b), &right), 0);
    return ki_as_quantity_compare(&left, &right);
}

static void amounts_are_compared_by_value(void **state)
{
    (void)state;
    assert_true(compare("2", "1") > 0);
    assert_true(compare("500m", "1") < 0);
    assert_int_equal(compare("1000m", "1"), 0);
    assert_int_equal(compare("1Gi", "1024Mi"), 0);
    assert_true(compare("1Gi", "1G") > 0);
    assert_true(compare("-1", "0") < 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(amounts_that_do_not_fit_are_kept_unchanged),
        cmocka_unit_test(numbers_become_strings),
        cmocka_unit_test(amounts_are_compared_by_value),
    };
    return RUN_TESTS(tests);
}
