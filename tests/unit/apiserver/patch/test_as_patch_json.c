/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "apiserver/patch/patch.h"
#include "support/apiserver/patch_run.h"
#include "support/apiserver/trees.h"
#include "support/unit.h"

static void patched(const char *current, const char *patch, const char *expected)
{
    assert_patched(ki_as_patch_json, current, patch, expected);
}

static void refused(const char *current, const char *patch, const char *why)
{
    assert_patch_refused(ki_as_patch_json, current, patch, why);
}

/* The examples of RFC 6902, appendix A. */
static void members_are_added(void **state)
{
    (void)state;
    patched("{'foo':'bar'}", "[{'op':'add','path':'/baz','value':'qux'}]", "{'foo':'bar','baz':'qux'}");
    patched("{'foo':'bar'}", "[{'op':'add','path':'/foo','value':1}]", "{'foo':1}");
    patched("{'foo':'bar'}", "[{'op':'add','path':'/child','value':{'grandchild':{}}}]",
            "{'foo':'bar','child':{'grandchild':{}}}");
    patched("{'foo':'bar'}", "[{'op':'add','path':'/baz','value':'qux','xyz':123}]",
            "{'foo':'bar','baz':'qux'}");
}

static void elements_are_added(void **state)
{
    (void)state;
    patched("{'foo':['bar','baz']}", "[{'op':'add','path':'/foo/1','value':'qux'}]",
            "{'foo':['bar','qux','baz']}");
    patched("{'foo':['bar']}", "[{'op':'add','path':'/foo/-','value':['abc','def']}]",
            "{'foo':['bar',['abc','def']]}");
    patched("{'foo':['bar']}", "[{'op':'add','path':'/foo/1','value':1}]", "{'foo':['bar',1]}");
    patched("{'foo':[]}", "[{'op':'add','path':'/foo/0','value':1}]", "{'foo':[1]}");
    patched("{'foo':[1,2]}", "[{'op':'add','path':'/foo/-1','value':3}]", "{'foo':[1,2,3]}");
}

static void members_and_elements_are_removed(void **state)
{
    (void)state;
    patched("{'baz':'qux','foo':'bar'}", "[{'op':'remove','path':'/baz'}]", "{'foo':'bar'}");
    patched("{'foo':['bar','qux','baz']}", "[{'op':'remove','path':'/foo/1'}]", "{'foo':['bar','baz']}");
    patched("{'foo':['bar','qux']}", "[{'op':'remove','path':'/foo/-1'}]", "{'foo':['bar']}");
}

static void values_are_replaced(void **state)
{
    (void)state;
    patched("{'baz':'qux','foo':'bar'}", "[{'op':'replace','path':'/baz','value':'boo'}]",
            "{'baz':'boo','foo':'bar'}");
    patched("{'foo':[1,2]}", "[{'op':'replace','path':'/foo/0','value':9}]", "{'foo':[9,2]}");
    patched("{'foo':1}", "[{'op':'replace','path':'','value':{'bar':2}}]", "{'bar':2}");
    patched("{'foo':null}", "[{'op':'replace','path':'/foo','value':1}]", "{'foo':1}");
}

static void values_are_moved(void **state)
{
    (void)state;
    patched("{'foo':{'bar':'baz','waldo':'fred'},'qux':{'corge':'grault'}}",
            "[{'op':'move','from':'/foo/waldo','path':'/qux/thud'}]",
            "{'foo':{'bar':'baz'},'qux':{'corge':'grault','thud':'fred'}}");
    patched("{'foo':['all','grass','cows','eat']}", "[{'op':'move','from':'/foo/1','path':'/foo/3'}]",
            "{'foo':['all','cows','eat','grass']}");
}

static void values_are_copied(void **state)
{
    (void)state;
    patched("{'a':{'b':1}}",
            "[{'op':'copy','from':'/a','path':'/c'},{'op':'replace','path':'/c/b','value':2}]",
            "{'a':{'b':1},'c':{'b':2}}");
}

static void tests_compare_by_value(void **state)
{
    (void)state;
    patched("{'baz':'qux','foo':['a',2,'c']}",
            "[{'op':'test','path':'/baz','value':'qux'},{'op':'test','path':'/foo/1','value':2}]",
            "{'baz':'qux','foo':['a',2,'c']}");
    patched("{}", "[{'op':'test','path':'/missing','value':null}]", "{}");
    refused("{'baz':'qux'}", "[{'op':'test','path':'/baz','value':'bar'}]",
            "testing value baz failed: test failed");
    refused("{'/':9,'~1':10}", "[{'op':'test','path':'/~01','value':'10'}]",
            "testing value ~1 failed: test failed");
}

static void pointers_are_unescaped(void **state)
{
    (void)state;
    patched("{'/':9,'~1':10}", "[{'op':'test','path':'/~01','value':10}]", "{'/':9,'~1':10}");
    patched("{'labels':{}}", "[{'op':'add','path':'/labels/example.com~1name','value':'x'}]",
            "{'labels':{'example.com/name':'x'}}");
    patched("{'a':{'':1}}", "[{'op':'remove','path':'/a/'}]", "{'a':{}}");
}

/* Unlike the RFC, but like Kubernetes. */
static void a_replaced_value_need_not_exist(void **state)
{
    (void)state;
    patched("{'a':{}}", "[{'op':'replace','path':'/a/b','value':1}]", "{'a':{'b':1}}");
    patched("{}", "[{'op':'add','path':'/a'}]", "{'a':null}");
    patched("{'a':1}", "[{'op':'replace','path':'/a'}]", "{'a':null}");
    refused("{'a':[1]}", "[{'op':'replace','path':'/a/1','value':1}]",
            "replace operation does not apply: doc is missing key: 1: missing value");
}

static void operations_that_do_not_apply_are_refused(void **state)
{
    (void)state;
    refused("{'foo':'bar'}", "[{'op':'add','path':'/baz/bat','value':'qux'}]",
            "add operation does not apply: doc is missing path: \"/baz/bat\": missing value");
    refused("{}", "[{'op':'remove','path':'/a'}]",
            "remove operation does not apply: Unable to remove nonexistent key: a: missing value");
    refused("{'a':[1]}", "[{'op':'add','path':'/a/3','value':1}]",
            "error in add for path: '3': invalid index referenced");
    refused("{'a':[1]}", "[{'op':'remove','path':'/a/1'}]",
            "remove operation does not apply: Unable to remove nonexistent key: 1: missing value");
    refused("{'a':[]}", "[{'op':'remove','path':'/a/0'}]",
            "remove operation does not apply: Unable to remove nonexistent key: 0: missing value");
    refused("{'a':[1]}", "[{'op':'replace','path':'/a/x','value':1}]",
            "replace operation does not apply: doc is missing key: x: missing value");
    refused("{'a':1}", "[{'op':'move','from':'/b','path':'/c'}]",
            "move operation does not apply: doc is missing from path: missing value");
    refused("{'a':1}", "[{'op':'remove','path':'a'}]",
            "remove operation does not apply: doc is missing path: \"a\": missing value");
    refused("{'a':1}", "[{'op':'replace','path':'','value':1}]",
            "replace operation value must be object or array");
}

static void incomplete_operations_are_refused(void **state)
{
    (void)state;
    refused("{}", "[{'op':'jump','path':'/a'}]", "Unexpected kind: jump");
    refused("{}", "[{'op':'add','value':1}]", "operation missing path field: missing value");
    refused("{}", "[{'op':'test','path':'/a'}]", "operation, missing value field: missing value");
    refused("{}", "[{'op':'copy','path':'/a'}]", "operation, missing from field: missing value");
}

static void malformed_patches_are_bad_requests(void **state)
{
    (void)state;
    json_t *current = tree_of("{}");
    json_t *patch = tree_of("{'op':'add'}");
    json_t *out = NULL;
    struct ki_as_failure failure = {0};
    assert_int_equal(ki_as_patch_json(current, patch, &out, &failure), -1);
    assert_refused(&failure, 400, "json: cannot unmarshal object into Go value of type jsonpatch.Patch");
    json_decref(patch);
    patch = tree_of("['a']");
    assert_int_equal(ki_as_patch_json(current, patch, &out, &failure), -1);
    assert_refused(&failure, 400, "json: cannot unmarshal string into Go value of type jsonpatch.Operation");
    json_decref(patch);
    json_decref(current);
}

static void too_many_operations_are_too_large(void **state)
{
    (void)state;
    json_t *current = tree_of("{}");
    json_t *patch = json_array();
    json_t *out = NULL;
    struct ki_as_failure failure = {0};
    for (int i = 0; i < 10001; i++)
        assert_int_equal(json_array_append_new(patch, tree_of("{'op':'test','path':'/a','value':null}")), 0);
    assert_int_equal(ki_as_patch_json(current, patch, &out, &failure), -1);
    assert_refused(&failure, 413,
                   "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got "
                   "10001");
    json_decref(patch);
    json_decref(current);
}

/* Ten such copies would multiply the size by a thousand, twenty by a million. */
static void copies_of_copies_are_limited(void **state)
{
    (void)state;
    char text[4096] = "[";
    size_t len = 1;
    for (int i = 0; i < 30; i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%s{'op':'copy','from':'/a','path':'/a/-'}",
                                i == 0 ? "" : ",");
    (void)snprintf(text + len, sizeof(text) - len, "]");
    refused(
        "{'a':['0123456789']}", text,
        "Unable to complete the copy, the accumulated size increase of copy is 3932127, exceeding the limit "
        "3145728");
}

/* An array with `levels - 1` arrays nested in it. */
static json_t *nested(int levels)
{
    json_t *tree = json_array();
    for (int i = 1; i < levels; i++)
        tree = json_pack("[o]", tree);
    assert_non_null(tree);
    return tree;
}

static int patch_onto_nested(int levels, json_t *patch, struct ki_as_failure *failure)
{
    json_t *current = json_pack("{s:o}", "a", nested(levels));
    json_t *out = NULL;
    int rc = ki_as_patch_json(current, patch, &out, failure);
    if (rc == 0)
        json_decref(out);
    json_decref(patch);
    json_decref(current);
    return rc;
}

static void results_that_are_too_deep_are_refused(void **state)
{
    (void)state;
    static const char move[] =
        "[{'op':'add','path':'/b','value':{}},{'op':'move','from':'/a','path':'/b/a'}]";
    struct ki_as_failure failure = {0};
    assert_taken(patch_onto_nested(1998, tree_of(move), &failure), &failure);
    assert_int_equal(patch_onto_nested(1999, tree_of(move), &failure), -1);
    const json_t *causes = json_object_get(json_object_get(failure.status, "details"), "causes");
    assert_string_equal(json_string_value(json_object_get(json_array_get(causes, 0), "message")),
                        "Unable to complete the move, its result is nested deeper than 2000 levels");
    assert_refused(&failure, 422, "the server rejected our request due to an error in our request");
    json_t *patch = json_pack("[{s:s, s:s, s:o}]", "op", "replace", "path", "/a", "value", nested(2000));
    assert_int_equal(patch_onto_nested(1, patch, &failure), -1);
    assert_refused_with(&failure, 422, "rejected");
}

/* Each move visits the values that it moves. */
static void repeated_moves_of_a_large_value_are_limited(void **state)
{
    (void)state;
    json_t *large = json_array();
    json_t *patch = json_array();
    json_t *out = NULL;
    struct ki_as_failure failure = {0};
    for (int i = 0; i < 20000; i++)
        assert_int_equal(json_array_append_new(large, json_null()), 0);
    for (int i = 0; i < 600; i++)
        assert_int_equal(
            json_array_append_new(patch, tree_of(i % 2 == 0 ? "{'op':'move','from':'/a','path':'/b'}"
                                                            : "{'op':'move','from':'/b','path':'/a'}")),
            0);
    json_t *current = json_pack("{s:o}", "a", large);
    assert_int_equal(ki_as_patch_json(current, patch, &out, &failure), -1);
    assert_refused_with(&failure, 422, "rejected");
    json_decref(patch);
    json_decref(current);
}

static void out_of_memory_is_a_failure_like_others(void **state)
{
    (void)state;
    assert_patch_survives_no_memory(
        ki_as_patch_json, "{'a':{'b':[1,2,3]},'c':1}",
        "[{'op':'add','path':'/a/b/0','value':{'x':[]}},{'op':'copy','from':'/a','path':'/d'},"
        "{'op':'move','from':'/c','path':'/a/c'},{'op':'replace','path':'/a/b','value':'s'}]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_are_added),
        cmocka_unit_test(elements_are_added),
        cmocka_unit_test(members_and_elements_are_removed),
        cmocka_unit_test(values_are_replaced),
        cmocka_unit_test(values_are_moved),
        cmocka_unit_test(values_are_copied),
        cmocka_unit_test(tests_compare_by_value),
        cmocka_unit_test(pointers_are_unescaped),
        cmocka_unit_test(operations_that_do_not_apply_are_refused),
        cmocka_unit_test(a_replaced_value_need_not_exist),
        cmocka_unit_test(incomplete_operations_are_refused),
        cmocka_unit_test(malformed_patches_are_bad_requests),
        cmocka_unit_test(too_many_operations_are_too_large),
        cmocka_unit_test(copies_of_copies_are_limited),
        cmocka_unit_test(results_that_are_too_deep_are_refused),
        cmocka_unit_test(repeated_moves_of_a_large_value_are_limited),
        cmocka_unit_test(out_of_memory_is_a_failure_like_others),
    };
    return RUN_TESTS(tests);
}
