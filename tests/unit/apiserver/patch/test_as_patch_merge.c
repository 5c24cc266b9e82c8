/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/patch/patch.h"
#include "support/apiserver/patch_run.h"
#include "support/apiserver/trees.h"
#include "support/unit.h"

static void patched(const char *current, const char *patch, const char *expected)
{
    assert_patched(ki_as_patch_merge, current, patch, expected);
}

/* The table of RFC 7386, appendix A, limited to objects, as both are always objects here. */
static void the_examples_of_the_rfc_hold(void **state)
{
    (void)state;
    patched("{'a':'b'}", "{'a':'c'}", "{'a':'c'}");
    patched("{'a':'b'}", "{'b':'c'}", "{'a':'b','b':'c'}");
    patched("{'a':'b'}", "{'a':null}", "{}");
    patched("{'a':'b','b':'c'}", "{'a':null}", "{'b':'c'}");
    patched("{'a':['b']}", "{'a':'c'}", "{'a':'c'}");
    patched("{'a':'c'}", "{'a':['b']}", "{'a':['b']}");
    patched("{'a':{'b':'c'}}", "{'a':{'b':'d','c':null}}", "{'a':{'b':'d'}}");
    patched("{'a':[{'b':'c'}]}", "{'a':[1]}", "{'a':[1]}");
    patched("{'e':null}", "{'a':1}", "{'e':null,'a':1}");
    patched("{}", "{'a':{'bb':{'ccc':null}}}", "{'a':{'bb':{}}}");
}

static void the_example_of_section_3_holds(void **state)
{
    (void)state;
    patched(
        "{'title':'Goodbye!','author':{'givenName':'John','familyName':'Doe'},'tags':['example','sample'],"
        "'content':'This will be unchanged'}",
        "{'title':'Hello!','phoneNumber':'+01-123-456-7890','author':{'familyName':null},'tags':['example']}",
        "{'title':'Hello!','author':{'givenName':'John'},'tags':['example'],'content':'This will be "
        "unchanged',"
        "'phoneNumber':'+01-123-456-7890'}");
}

static void an_object_replaces_a_scalar(void **state)
{
    (void)state;
    patched("{'a':1}", "{'a':{'b':1,'c':null}}", "{'a':{'b':1}}");
    patched("{'a':[1]}", "{'a':{'b':{'c':null}}}", "{'a':{'b':{}}}");
}

static void patches_that_are_not_objects_are_bad_requests(void **state)
{
    (void)state;
    json_t *current = tree_of("{}");
    json_t *patch = tree_of("['a']");
    json_t *out = NULL;
    struct ki_as_failure failure = {0};
    assert_int_equal(ki_as_patch_merge(current, patch, &out, &failure), -1);
    assert_refused(&failure, 400,
                   "error decoding patch: json: cannot unmarshal array into Go value of type "
                   "map[string]interface {}");
    json_decref(patch);
    json_decref(current);
}

static void out_of_memory_is_a_failure_like_others(void **state)
{
    (void)state;
    assert_patch_survives_no_memory(ki_as_patch_merge, "{'a':{'b':[1,{'x':2},3]},'c':1}",
                                    "{'a':{'b':{'c':{'d':[1,{}],'e':null}}}}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_examples_of_the_rfc_hold),
        cmocka_unit_test(the_example_of_section_3_holds),
        cmocka_unit_test(an_object_replaces_a_scalar),
        cmocka_unit_test(patches_that_are_not_objects_are_bad_requests),
        cmocka_unit_test(out_of_memory_is_a_failure_like_others),
    };
    return RUN_TESTS(tests);
}
