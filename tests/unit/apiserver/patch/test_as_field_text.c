/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/patch/field_text.h"

#include <kinformer/error.h>

#include "apiserver/patch/field_set.h"
#include "apiserver/value/encode.h"
#include "support/apiserver/trees.h"
#include "support/failing_allocator.h"
#include "support/unit.h"

enum { BYTES_MAX = 1 << 20, ENV_COUNT = 100 };

/* The text must equal that of the tree of the same fields. */
static void assert_same(struct ki_as_shape shape, const json_t *tree)
{
    json_t *set = NULL;
    ki_buf expected;
    ki_buf text;
    ki_buf_init(&expected, BYTES_MAX);
    ki_buf_init(&text, BYTES_MAX);
    assert_int_equal(ki_as_field_set_of(shape, NULL, tree, &set), 0);
    assert_int_equal(ki_as_encode(&expected, set), 0);
    assert_int_equal(ki_as_field_text(shape, tree, &text), 0);
    assert_int_equal(text.len, expected.len);
    assert_memory_equal(text.data, expected.data, text.len);
    ki_buf_fini(&expected);
    ki_buf_fini(&text);
    json_decref(set);
}

static void assert_text_of(const char *object)
{
    json_t *tree = tree_of(object);
    assert_same(ki_as_shape_of_kind(tree), tree);
    json_decref(tree);
}

#define POD "'kind':'Pod','apiVersion':'v1'"

static void the_text_equals_that_of_the_set(void **state)
{
    (void)state;
    assert_text_of(
        "{" POD ",'metadata':{'name':'a','uid':'u','labels':{'l':'1'},'annotations':{}},'spec':{"
        "'nodeName':'n','hostNetwork':true,'securityContext':{},'containers':[{'name':'c','image':'i',"
        "'resources':{'limits':{'cpu':'1'}},'command':['a','b']}]},'status':{'phase':'Running'}}");
}

static void fields_without_an_owner_are_left_out(void **state)
{
    (void)state;
    assert_text_of("{" POD ",'metadata':{'name':'a','namespace':'b','uid':'u','resourceVersion':'1'}}");
    assert_text_of("{" POD "}");
    assert_text_of("{" POD ",'metadata':{'name':'a'},'spec':{'nodeName':'n'}}");
}

static void keys_are_ordered_and_filled_in(void **state)
{
    (void)state;
    assert_text_of("{" POD
                   ",'spec':{'containers':[{'name':'c','ports':[{'containerPort':80},{'protocol':'UDP',"
                   "'containerPort':80}]}]}}");
    assert_text_of("{" POD ",'spec':{'topologySpreadConstraints':[{'whenUnsatisfiable':'DoNotSchedule',"
                   "'topologyKey':'zone','maxSkew':1}]}}");
}

static void values_of_sets_are_named_by_their_value(void **state)
{
    (void)state;
    assert_text_of("{" POD ",'metadata':{'finalizers':['a/b','c\\\\d','a/b']}}");
}

static void names_are_escaped(void **state)
{
    (void)state;
    assert_text_of("{" POD ",'metadata':{'annotations':{'a\\\"b':'1','c\\\\d':'2','e\\nf':'3'}}}");
    assert_text_of("{" POD ",'spec':{'containers':[{'name':'q\\\"r'}]}}");
}

static json_t *many_variables(void)
{
    json_t *env = json_array();
    for (int i = 0; i < ENV_COUNT; i++)
        assert_int_equal(json_array_append_new(env, json_pack("{s:o}", "name", json_sprintf("V%d", i))), 0);
    return json_pack("{s:s, s:s, s:{s:[{s:s, s:o}]}}", "kind", "Pod", "apiVersion", "v1", "spec",
                     "containers", "name", "c", "env", env);
}

static void long_lists_work_like_short_ones(void **state)
{
    (void)state;
    json_t *tree = many_variables();
    assert_same(ki_as_shape_of_kind(tree), tree);
    json_decref(tree);
}

static void a_repeated_element_is_named_once(void **state)
{
    (void)state;
    json_t *tree = tree_of("{" POD ",'spec':{'containers':[{'name':'c','ports':[{'containerPort':80},"
                           "{'containerPort':80}]}]}}");
    ki_buf text;
    ki_buf_init(&text, BYTES_MAX);
    assert_int_equal(ki_as_field_text(ki_as_shape_of_kind(tree), tree, &text), 0);
    json_t *set = json_loadb(text.data, text.len, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(set);
    json_decref(set);
    ki_buf_fini(&text);
    json_decref(tree);
}

static void when_out_of_memory_it_fails(void **state)
{
    (void)state;
    json_t *tree = many_variables();
    bool has_failed = true;
    for (size_t n = 1; has_failed; n++) {
        ki_buf text;
        ki_buf_init(&text, BYTES_MAX);
        failing_allocator_fail_at(n);
        int rc = ki_as_field_text(ki_as_shape_of_kind(tree), tree, &text);
        has_failed = failing_allocator_has_failed();
        assert_int_equal(rc, has_failed ? KI_ERR_NO_MEMORY : 0);
        ki_buf_fini(&text);
    }
    failing_allocator_fail_at(0);
    json_decref(tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_text_equals_that_of_the_set),
        cmocka_unit_test(fields_without_an_owner_are_left_out),
        cmocka_unit_test(keys_are_ordered_and_filled_in),
        cmocka_unit_test(values_of_sets_are_named_by_their_value),
        cmocka_unit_test(names_are_escaped),
        cmocka_unit_test(long_lists_work_like_short_ones),
        cmocka_unit_test(a_repeated_element_is_named_once),
        WITH_MEMORY_CHECK(when_out_of_memory_it_fails),
    };
    return RUN_TESTS(tests);
}
