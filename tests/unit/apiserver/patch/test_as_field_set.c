/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/patch/field_set.h"

#include "support/apiserver/trees.h"
#include "support/unit.h"

#define POD "'kind':'Pod','apiVersion':'v1'"

static json_t *set_of(const char *before_text, const char *text)
{
    json_t *before = before_text == NULL ? NULL : tree_of(before_text);
    json_t *tree = tree_of(text);
    json_t *set = NULL;
    assert_int_equal(ki_as_field_set_of(ki_as_shape_of_kind(tree), before, tree, &set), 0);
    json_decref(before);
    json_decref(tree);
    return set;
}

static void a_new_object_gives_all_fields_except_those_without_an_owner(void **state)
{
    (void)state;
    assert_tree(
        set_of(NULL, "{" POD ",'metadata':{'name':'a','uid':'u','labels':{'l':'1'}},'spec':{'nodeName':'n',"
                     "'containers':[{'name':'c','image':'i'}]}}"),
        "{'f:metadata':{'f:labels':{'.':{},'f:l':{}}},'f:spec':{'f:nodeName':{},'f:containers':{'.':{},"
        "'k:{\\\"name\\\":\\\"c\\\"}':{'.':{},'f:name':{},'f:image':{}}}}}");
}

static void only_fields_that_differ_are_in_the_set(void **state)
{
    (void)state;
    assert_tree(
        set_of("{" POD ",'spec':{'nodeName':'n','containers':[{'name':'c','image':'i'},{'name':'d'}]}}",
               "{" POD ",'spec':{'nodeName':'n','containers':[{'name':'d'},{'name':'c','image':'j'}]}}"),
        "{'f:spec':{'f:containers':{'k:{\\\"name\\\":\\\"c\\\"}':{'f:image':{}}}}}");
}

static void equal_objects_give_an_empty_set(void **state)
{
    (void)state;
    assert_tree(set_of("{" POD ",'spec':{'a':[1]}}", "{" POD ",'spec':{'a':[1]}}"), "{}");
}

static void sets_are_added_and_subtracted(void **state)
{
    (void)state;
    json_t *set = tree_of("{'f:a':{'f:b':{}},'f:c':{}}");
    json_t *other = tree_of("{'f:a':{'f:d':{}}}");
    assert_int_equal(ki_as_field_set_add(set, other), 0);
    assert_tree(json_incref(set), "{'f:a':{'f:b':{},'f:d':{}},'f:c':{}}");
    json_decref(other);
    other = tree_of("{'f:a':{'f:b':{},'f:d':{},'f:x':{}}}");
    ki_as_field_set_subtract(set, other);
    assert_tree(set, "{'f:c':{}}");
    json_decref(other);
}

static void removed_fields_are_pruned(void **state)
{
    (void)state;
    json_t *set = tree_of("{'f:metadata':{'f:labels':{'.':{},'f:b':{},'f:gone':{}},'f:finalizers':{"
                          "'v:\\\"p\\\"':{},'v:\\\"q\\\"':{}}},'f:spec':{'f:containers':{"
                          "'k:{\\\"name\\\":\\\"c\\\"}':{'f:image':{}},'k:{\\\"name\\\":\\\"d\\\"}':{}}}}");
    json_t *tree = tree_of("{" POD ",'metadata':{'labels':{'b':'1'},'finalizers':['q']},"
                           "'spec':{'containers':[{'name':'c','image':'i'}]}}");
    assert_int_equal(ki_as_field_set_prune(set, tree, ki_as_shape_of_kind(tree)), 0);
    assert_tree(set, "{'f:metadata':{'f:labels':{'.':{},'f:b':{}},'f:finalizers':{'v:\\\"q\\\"':{}}},"
                     "'f:spec':{'f:containers':{'k:{\\\"name\\\":\\\"c\\\"}':{'f:image':{}}}}}");
    json_decref(tree);
}

static bool compare_without_memory(void *user)
{
    (void)user;
    json_t *tree = json_loads(
        "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"labels\":{\"a\":\"b\"},\"finalizers\":"
        "[\"f\"]},\"spec\":{\"containers\":[{\"name\":\"c\"}]}}",
        0, NULL);
    json_t *set = NULL;
    if (tree == NULL)
        return false;
    int rc = ki_as_field_set_of(ki_as_shape_of_kind(tree), NULL, tree, &set);
    json_decref(set);
    json_decref(tree);
    return rc == 0;
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    assert_survives_no_memory(compare_without_memory, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_object_gives_all_fields_except_those_without_an_owner),
        cmocka_unit_test(only_fields_that_differ_are_in_the_set),
        cmocka_unit_test(equal_objects_give_an_empty_set),
        cmocka_unit_test(sets_are_added_and_subtracted),
        cmocka_unit_test(removed_fields_are_pruned),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return RUN_TESTS(tests);
}
