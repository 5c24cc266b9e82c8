/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "apiserver/patch/patch.h"
#include "support/apiserver/patch_run.h"
#include "support/apiserver/trees.h"
#include "support/unit.h"

/* The text of a pod with this spec. */
static const char *pod(char *buffer, const char *spec)
{
    (void)snprintf(buffer, 2048, "{'kind':'Pod','apiVersion':'v1','spec':{%s}}", spec);
    return buffer;
}

static void patched(const char *current, const char *patch, const char *expected)
{
    assert_patched(ki_as_patch_strategic, current, patch, expected);
}

static void patched_pod(const char *spec, const char *patch_of_spec, const char *expected)
{
    char before[2048];
    char after[2048];
    char patch[2048];
    (void)snprintf(patch, sizeof(patch), "{'spec':{%s}}", patch_of_spec);
    patched(pod(before, spec), patch, pod(after, expected));
}

static void refused_pod(const char *spec, const char *patch_of_spec, const char *why)
{
    char before[2048];
    char text[2048];
    (void)snprintf(text, sizeof(text), "{'spec':{%s}}", patch_of_spec);
    assert_patch_refused(ki_as_patch_strategic, pod(before, spec), text, why);
}

static void maps_merge_and_null_deletes(void **state)
{
    (void)state;
    patched("{'kind':'ConfigMap','apiVersion':'v1','metadata':{'labels':{'a':'1','b':'2'}},'data':{'x':'y'}}",
            "{'metadata':{'labels':{'a':null,'c':'3'},'annotations':{'d':'4','e':null}},'data':null}",
            "{'kind':'ConfigMap','apiVersion':'v1','metadata':{'labels':{'b':'2','c':'3'},'annotations':{'d':"
            "'4'}}}");
}

static void containers_merge_by_name(void **state)
{
    (void)state;
    patched_pod("'containers':[{'name':'a','image':'a:1'},{'name':'b','image':'b:1'}]",
                "'containers':[{'name':'b','image':'b:2'}]",
                "'containers':[{'name':'a','image':'a:1'},{'name':'b','image':'b:2'}]");
    patched_pod("'containers':[{'name':'a'}]", "'containers':[{'name':'c','image':'c'}]",
                "'containers':[{'name':'c','image':'c'},{'name':'a'}]");
}

static void nested_lists_merge_by_their_own_keys(void **state)
{
    (void)state;
    patched_pod(
        "'containers':[{'name':'a','env':[{'name':'X','value':'1'},{'name':'Y','value':'2'}],"
        "'ports':[{'containerPort':80,'name':'http'}],'args':['p','q']}]",
        "'containers':[{'name':'a','env':[{'name':'Y','value':'3'}],'ports':[{'containerPort':80,'protocol':"
        "'TCP'}],'args':['r']}]",
        "'containers':[{'name':'a','env':[{'name':'X','value':'1'},{'name':'Y','value':'3'}],"
        "'ports':[{'containerPort':80,'name':'http','protocol':'TCP'}],'args':['r']}]");
}

static void templates_merge_like_pods(void **state)
{
    (void)state;
    patched("{'kind':'Deployment','apiVersion':'apps/"
            "v1','spec':{'template':{'spec':{'containers':[{'name':'a','image':"
            "'1','env':[{'name':'X'}]}]}}}}",
            "{'spec':{'template':{'spec':{'containers':[{'name':'a','image':'2'}]}}}}",
            "{'kind':'Deployment','apiVersion':'apps/"
            "v1','spec':{'template':{'spec':{'containers':[{'name':'a','image':"
            "'2','env':[{'name':'X'}]}]}}}}");
}

static void services_merge_ports_by_number(void **state)
{
    (void)state;
    patched(
        "{'kind':'Service','apiVersion':'v1','spec':{'ports':[{'port':80,'name':'a'},{'port':81,'name':'b'}]}"
        "}",
        "{'spec':{'ports':[{'port':81,'targetPort':8081}]}}",
        "{'kind':'Service','apiVersion':'v1','spec':{'ports':[{'port':80,'name':'a'},{'port':81,'name':'b',"
        "'targetPort':8081}]}}");
}

static void other_lists_are_replaced(void **state)
{
    (void)state;
    patched_pod("'tolerations':[{'key':'a'},{'key':'b'}]", "'tolerations':[{'key':'c'}]",
                "'tolerations':[{'key':'c'}]");
    patched("{'kind':'Ingress','apiVersion':'networking.k8s.io/v1','spec':{'rules':[{'host':'a'}]}}",
            "{'spec':{'rules':[{'host':'b'}]}}",
            "{'kind':'Ingress','apiVersion':'networking.k8s.io/v1','spec':{'rules':[{'host':'b'}]}}");
}

static void lists_of_scalars_merge_without_duplicates(void **state)
{
    (void)state;
    patched("{'kind':'Pod','apiVersion':'v1','metadata':{'finalizers':['a/x','b/y']}}",
            "{'metadata':{'finalizers':['b/y','c/z']}}",
            "{'kind':'Pod','apiVersion':'v1','metadata':{'finalizers':['a/x','b/y','c/z']}}");
}

static void elements_are_deleted_by_their_key(void **state)
{
    (void)state;
    patched_pod("'containers':[{'name':'a'},{'name':'b'},{'name':'c'}]",
                "'containers':[{'$patch':'delete','name':'b'}]", "'containers':[{'name':'a'},{'name':'c'}]");
    patched_pod("'containers':[{'name':'a'}]", "'containers':[{'$patch':'delete','name':'z'}]",
                "'containers':[{'name':'a'}]");
}

static void lists_are_replaced_on_demand(void **state)
{
    (void)state;
    patched_pod("'containers':[{'name':'a'},{'name':'b'}]",
                "'containers':[{'name':'c'},{'$patch':'replace'}]", "'containers':[{'name':'c'}]");
}

static void maps_are_replaced_or_deleted_on_demand(void **state)
{
    (void)state;
    patched_pod("'securityContext':{'runAsUser':1,'runAsGroup':2}",
                "'securityContext':{'$patch':'replace','runAsUser':3,'fsGroup':null}",
                "'securityContext':{'runAsUser':3}");
    patched_pod("'securityContext':{'runAsUser':1}", "'securityContext':{'$patch':'delete'}",
                "'securityContext':{}");
}

static void values_are_deleted_from_lists_of_scalars(void **state)
{
    (void)state;
    patched("{'kind':'Pod','apiVersion':'v1','metadata':{'finalizers':['a','b','c']}}",
            "{'metadata':{'$deleteFromPrimitiveList/finalizers':['b','d']}}",
            "{'kind':'Pod','apiVersion':'v1','metadata':{'finalizers':['a','c']}}");
}

static void elements_get_the_requested_order(void **state)
{
    (void)state;
    patched_pod(
        "'containers':[{'name':'a'},{'name':'b'},{'name':'c'}]",
        "'$setElementOrder/containers':[{'name':'c'},{'name':'a'},{'name':'d'}],'containers':[{'name':'d'}]",
        "'containers':[{'name':'b'},{'name':'c'},{'name':'a'},{'name':'d'}]");
    patched_pod("'containers':[{'name':'a'},{'name':'b'}]",
                "'$setElementOrder/containers':[{'name':'b'},{'name':'a'}]",
                "'containers':[{'name':'b'},{'name':'a'}]");
    patched_pod("'hostname':'h'", "'$setElementOrder/containers':[{'name':'b'}]", "'hostname':'h'");
}

/* A patch as kubectl apply writes it: a changed image, and all names in order. */
static void patches_of_kubectl_are_understood(void **state)
{
    (void)state;
    patched_pod(
        "'containers':[{'name':'web','image':'nginx:1','imagePullPolicy':'Always'},{'name':'side','image':'x'"
        "}]",
        "'$setElementOrder/containers':[{'name':'web'}],'containers':[{'image':'nginx:2','name':'web'},"
        "{'$patch':'delete','name':'side'}]",
        "'containers':[{'name':'web','image':'nginx:2','imagePullPolicy':'Always'}]");
}

static void only_the_retained_keys_are_kept(void **state)
{
    (void)state;
    patched("{'kind':'Deployment','apiVersion':'apps/"
            "v1','spec':{'strategy':{'type':'RollingUpdate','rollingUpdate':"
            "{'maxSurge':1}}}}",
            "{'spec':{'strategy':{'$retainKeys':['type'],'type':'Recreate'}}}",
            "{'kind':'Deployment','apiVersion':'apps/v1','spec':{'strategy':{'type':'Recreate'}}}");
    refused_pod("'volumes':[{'name':'v','emptyDir':{}}]",
                "'volumes':[{'name':'v','$retainKeys':['name'],'hostPath':{'path':'/'}}]",
                "invalid patch format of retainKeys");
}

static void directives_never_reach_the_object(void **state)
{
    (void)state;
    patched_pod(
        "'hostname':'h'",
        "'securityContext':{'runAsUser':1,'runAsGroup':null},'volumes':[{'name':'v','$retainKeys':['name']},"
        "{'$patch':'delete','name':'w'}],'affinity':{'$patch':'delete'}",
        "'hostname':'h','securityContext':{'runAsUser':1},'volumes':[{'name':'v'}]");
    patched_pod("'containers':[{'name':'a'}]",
                "'containers':[{'name':'b','env':[{'$patch':'delete','name':'x'}]}]",
                "'containers':[{'name':'b','env':[]},{'name':'a'}]");
}

static void patches_that_cannot_be_merged_are_refused(void **state)
{
    (void)state;
    refused_pod("'containers':[{'name':'a'}]", "'containers':[{'image':'x'}]",
                "map does not contain declared merge key: name");
    refused_pod("'containers':[{'name':'a'}]", "'containers':['a']", "list element types are not identical");
    refused_pod("'containers':[{'name':'a'}]", "'containers':[{'$patch':'merge','name':'a'}]",
                "unknown patch type: merge");
    refused_pod("'containers':[{'name':'a'}]", "'containers':[{'$patch':'delete'}]",
                "map does not contain declared merge key: name");
    refused_pod("'securityContext':{}", "'securityContext':{'$patch':'x'}", "unknown patch type: x");
    refused_pod("'containers':[]", "'$setElementOrder/containers':1",
                "invalid patch format of setElementOrder list");
    refused_pod("'containers':[]", "'$setElementOrder/containers':[{'name':'a'}],'containers':[{'name':'b'}]",
                "The order in patch list doesn't match $setElementOrder list");
    refused_pod("'x':[]", "'$deleteFromPrimitiveList':[]", "invalid patch format of primitive list");
}

static void custom_kinds_have_no_strategic_patch(void **state)
{
    (void)state;
    json_t *current = tree_of("{'kind':'Widget','apiVersion':'example.com/v1'}");
    json_t *patch = tree_of("{}");
    json_t *out = NULL;
    struct ki_as_failure failure = {0};
    assert_int_equal(ki_as_patch_strategic(current, patch, &out, &failure), -1);
    assert_refused(&failure, 415,
                   "the body of the request was in an unknown format - accepted media types include: "
                   "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml");
    json_decref(current);
    json_decref(patch);
}

static void out_of_memory_is_a_failure_like_others(void **state)
{
    (void)state;
    assert_patch_survives_no_memory(
        ki_as_patch_strategic,
        "{'kind':'Pod','apiVersion':'v1','metadata':{'finalizers':['a','b']},'spec':{'"
        "containers':[{'name':'a','env':[{'name':"
        "'X','value':'1'}]},{'name':'b'}],'securityContext':{'x':1}}}",
        "{'metadata':{'finalizers':['c'],'$deleteFromPrimitiveList/"
        "finalizers':['a']},'spec':{'$setElementOrder/"
        "containers':[{'name':'c'},{'name':'a'}],'containers':[{'name':'c','env':[{'"
        "name':'Y'}]},{'name':'a','env':[{"
        "'name':'X','value':'2'}]},{'$patch':'delete','name':'b'}],'securityContext':{"
        "'$patch':'replace','y':{}}}}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(maps_merge_and_null_deletes),
        cmocka_unit_test(containers_merge_by_name),
        cmocka_unit_test(nested_lists_merge_by_their_own_keys),
        cmocka_unit_test(templates_merge_like_pods),
        cmocka_unit_test(services_merge_ports_by_number),
        cmocka_unit_test(other_lists_are_replaced),
        cmocka_unit_test(lists_of_scalars_merge_without_duplicates),
        cmocka_unit_test(elements_are_deleted_by_their_key),
        cmocka_unit_test(lists_are_replaced_on_demand),
        cmocka_unit_test(maps_are_replaced_or_deleted_on_demand),
        cmocka_unit_test(values_are_deleted_from_lists_of_scalars),
        cmocka_unit_test(elements_get_the_requested_order),
        cmocka_unit_test(patches_of_kubectl_are_understood),
        cmocka_unit_test(only_the_retained_keys_are_kept),
        cmocka_unit_test(directives_never_reach_the_object),
        cmocka_unit_test(patches_that_cannot_be_merged_are_refused),
        cmocka_unit_test(custom_kinds_have_no_strategic_patch),
        cmocka_unit_test(out_of_memory_is_a_failure_like_others),
    };
    return RUN_TESTS(tests);
}
