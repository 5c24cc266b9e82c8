/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "apiserver/patch/patch.h"
#include "apiserver/value/tree.h"
#include "support/apiserver/patch_run.h"
#include "support/apiserver/trees.h"
#include "support/unit.h"

static struct ki_as_resource deployments(void)
{
    struct ki_as_resource resource = resource_of("apps/v1", "deployments", "Deployment");
    resource.has_status = true;
    return resource;
}

/* Applies, and takes `current`. The result has no times of its managers. */
static json_t *apply_as(struct ki_as_resource resource, const char *manager, json_t *current,
                        const char *config_text, bool is_forced)
{
    json_t *config = tree_of(config_text);
    json_t *out = NULL;
    struct ki_as_failure failure = {0};
    struct ki_as_apply apply = {&resource, current, config, manager, "", is_forced};
    assert_taken(ki_as_patch_apply(&apply, &out, &failure), &failure);
    json_decref(current);
    json_decref(config);
    return out;
}

static json_t *applied(struct ki_as_resource resource, const char *manager, json_t *current,
                       const char *config_text)
{
    return apply_as(resource, manager, current, config_text, false);
}

static json_t *forced(struct ki_as_resource resource, const char *manager, json_t *current,
                      const char *config_text)
{
    return apply_as(resource, manager, current, config_text, true);
}

/* The fields of a manager, or NULL. */
static json_t *fields_of(const json_t *tree, const char *manager)
{
    const json_t *entries = ki_as_tree_at(tree, "metadata.managedFields");
    for (size_t i = 0; i < json_array_size(entries); i++) {
        const json_t *entry = json_array_get(entries, i);
        if (strcmp(ki_as_tree_text(entry, "manager"), manager) == 0)
            return json_incref(json_object_get(entry, "fieldsV1"));
    }
    return NULL;
}

/* The object alone; takes `tree`. */
static void assert_object(json_t *tree, const char *expected)
{
    (void)json_object_del(json_object_get(tree, "metadata"), "managedFields");
    assert_tree(tree, expected);
}

#define WEB "'kind':'Deployment','apiVersion':'apps/v1','metadata':{'name':'web'"
#define CONFIG(labels, spec) "{" WEB ",'labels':{" labels "}},'spec':{" spec "}}"
#define CONTAINER(text) "'template':{'spec':{'containers':[" text "]}}"

static void an_object_that_does_not_exist_is_created(void **state)
{
    (void)state;
    json_t *tree = applied(
        deployments(), "me", NULL,
        CONFIG("'a':'b'", "'replicas':3," CONTAINER("{'name':'c','image':'i','ports':[{'containerPort':80}],"
                                                    "'args':['x']}")));
    assert_tree(
        fields_of(tree, "me"),
        "{'f:metadata':{'f:labels':{'f:a':{}}},'f:spec':{'f:replicas':{},'f:template':{'f:spec':{'f:"
        "containers':{"
        "'k:{\\\"name\\\":\\\"c\\\"}':{'.':{},'f:name':{},'f:image':{},'f:args':{},'f:ports':{"
        "'k:{\\\"containerPort\\\":80,\\\"protocol\\\":\\\"TCP\\\"}':{'.':{},'f:containerPort':{}}}}}}}}}");
    const json_t *entry = ki_as_tree_at(tree, "metadata.managedFields.0");
    assert_string_equal(ki_as_tree_text(entry, "operation"), "Apply");
    assert_string_equal(ki_as_tree_text(entry, "apiVersion"), "apps/v1");
    assert_string_equal(ki_as_tree_text(entry, "fieldsType"), "FieldsV1");
    assert_int_equal(strlen(ki_as_tree_text(entry, "time")), 20);
    assert_object(tree, CONFIG("'a':'b'", "'replicas':3," CONTAINER(
                                              "{'name':'c','image':'i','ports':[{'containerPort':80}],"
                                              "'args':['x']}")));
}

static void applying_the_same_again_changes_nothing(void **state)
{
    (void)state;
    json_t *tree = applied(deployments(), "me", NULL, CONFIG("'a':'b'", "'replicas':3"));
    json_t *copy = json_deep_copy(tree);
    json_t *again = applied(deployments(), "me", tree, CONFIG("'a':'b'", "'replicas':3"));
    assert_true(json_equal(copy, again));
    json_decref(copy);
    json_decref(again);
}

static void fields_no_longer_applied_are_removed(void **state)
{
    (void)state;
    json_t *tree = applied(
        deployments(), "me", NULL,
        CONFIG("'a':'1','b':'2'", "'paused':true," CONTAINER("{'name':'x','image':'1','env':[{'name':'E',"
                                                             "'value':'v'}]},{'name':'y','image':'1'}")));
    tree = applied(deployments(), "me", tree, CONFIG("'a':'1'", CONTAINER("{'name':'x','image':'2'}")));
    assert_object(tree, CONFIG("'a':'1'", CONTAINER("{'name':'x','image':'2'}")));
}

static void fields_of_others_are_kept(void **state)
{
    (void)state;
    json_t *tree = applied(deployments(), "me", NULL, CONFIG("'a':'1'", "'paused':true"));
    tree = applied(deployments(), "you", tree, CONFIG("'b':'2'", "'paused':true,'replicas':5"));
    assert_tree(fields_of(tree, "you"),
                "{'f:metadata':{'f:labels':{'f:b':{}}},'f:spec':{'f:paused':{},'f:replicas':{}}}");
    tree = applied(deployments(), "me", tree, "{" WEB "}}");
    assert_object(tree, CONFIG("'b':'2'", "'paused':true,'replicas':5"));
}

static void fields_without_an_owner_are_kept(void **state)
{
    (void)state;
    json_t *tree = tree_of(
        CONFIG("'x':'y'", "'replicas':1," CONTAINER("{'name':'c','image':'1','imagePullPolicy':'Always'}")));
    tree = applied(deployments(), "me", tree, CONFIG("", CONTAINER("{'name':'c','image':'2'}")));
    assert_object(tree, CONFIG("'x':'y'", "'replicas':1," CONTAINER(
                                              "{'name':'c','image':'2','imagePullPolicy':'Always'}")));
}

static json_t *updated_by(const char *manager)
{
    json_t *tree = tree_of("{" WEB "},'spec':{'replicas':1,'paused':true}}");
    json_t *entry = json_pack("{s:s, s:s, s:s, s:s, s:s, s:{s:{s:{}, s:{}}}}", "manager", manager,
                              "operation", "Update", "apiVersion", "apps/v1", "time", "2026-11-15T20:45:57Z",
                              "fieldsType", "FieldsV1", "fieldsV1", "f:spec", "f:replicas", "f:paused");
    assert_int_equal(
        json_object_set_new(json_object_get(tree, "metadata"), "managedFields", json_pack("[o]", entry)), 0);
    return tree;
}

static void assert_conflict(json_t *current, const char *config_text, const char *message)
{
    struct ki_as_resource resource = deployments();
    json_t *config = tree_of(config_text);
    json_t *out = NULL;
    struct ki_as_failure failure = {0};
    struct ki_as_apply apply = {&resource, current, config, "me", "", false};
    assert_int_equal(ki_as_patch_apply(&apply, &out, &failure), -1);
    assert_null(out);
    assert_string_equal(ki_as_tree_text(failure.status, "reason"), "Conflict");
    assert_string_equal(ki_as_tree_text(failure.status, "details.causes.0.reason"), "FieldManagerConflict");
    assert_refused(&failure, 409, message);
    json_decref(current);
    json_decref(config);
}

/* Neither in the applied configuration, nor in the fields that another manager has applied. */
static void an_empty_map_is_not_a_conflict(void **state)
{
    (void)state;
    struct ki_as_resource maps = resource_of("v1", "configmaps", "ConfigMap");
    json_t *tree = applied(maps, "m1", NULL,
                           "{'kind':'ConfigMap','apiVersion':'v1','metadata':{'name':'a'},'data':{'a':'1'}}");
    tree =
        applied(maps, "m2", tree, "{'kind':'ConfigMap','apiVersion':'v1','metadata':{'name':'a'},'data':{}}");
    tree = applied(maps, "m3", tree,
                   "{'kind':'ConfigMap','apiVersion':'v1','metadata':{'name':'a'},'data':{'b':'2'}}");
    assert_object(tree,
                  "{'kind':'ConfigMap','apiVersion':'v1','metadata':{'name':'a'},'data':{'a':'1','b':'2'}}");
}

/* The object does not have the empty map afterwards, but the manager owns it. */
static void an_empty_map_is_owned(void **state)
{
    (void)state;
    json_t *tree = applied(resource_of("v1", "configmaps", "ConfigMap"), "me", NULL,
                           "{'kind':'ConfigMap','apiVersion':'v1','metadata':{'name':'a'},'data':{}}");
    assert_tree(fields_of(tree, "me"), "{'f:data':{}}");
    json_decref(tree);
}

static void conflicts_are_reported_with_their_fields(void **state)
{
    (void)state;
    assert_conflict(updated_by("kubectl"), "{" WEB "},'spec':{'replicas':2}}",
                    "Apply failed with 1 conflict: conflict with \"kubectl\" using apps/v1: "
                    ".spec.replicas");
    assert_conflict(updated_by("kubectl"), "{" WEB "},'spec':{'replicas':2,'paused':false}}",
                    "Apply failed with 2 conflicts: conflicts with \"kubectl\" using apps/v1:\n"
                    "- .spec.replicas\n- .spec.paused");
    json_t *tree = applied(deployments(), "other", NULL, CONFIG("", CONTAINER("{'name':'c','image':'1'}")));
    assert_conflict(tree, CONFIG("", CONTAINER("{'name':'c','image':'2'}")),
                    "Apply failed with 1 conflict: conflict with \"other\": "
                    ".spec.template.spec.containers[name=\"c\"].image");
}

/* The times show who has changed what. */
static void a_manager_that_changes_nothing_has_no_time(void **state)
{
    (void)state;
    json_t *tree = applied(deployments(), "me", updated_by("kubectl"), "{" WEB "},'spec':{'replicas':1}}");
    assert_string_equal(ki_as_tree_text(tree, "metadata.managedFields.0.manager"), "me");
    assert_null(ki_as_tree_at(tree, "metadata.managedFields.0.time"));
    tree = applied(deployments(), "me", tree, "{" WEB ",'labels':{'a':'b'}},'spec':{'replicas':1}}");
    assert_non_null(ki_as_tree_at(tree, "metadata.managedFields.0.time"));
    json_decref(tree);
}

#define LAST "kubectl.kubernetes.io/last-applied-configuration"

/* An object as kubectl's client-side apply leaves it. */
static json_t *applied_by_kubectl_alone(void)
{
    json_t *tree = updated_by("kubectl-client-side-apply");
    json_t *annotations = json_pack("{s:s}", LAST,
                                    "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{"
                                    "\"annotations\":{},\"name\":\"web\"},\"spec\":{\"replicas\":1}}\n");
    assert_int_equal(json_object_set_new(json_object_get(tree, "metadata"), "annotations", annotations), 0);
    return tree;
}

static void kubectl_takes_over_fields_of_its_client_side_apply(void **state)
{
    (void)state;
    json_t *tree =
        applied(deployments(), "kubectl", applied_by_kubectl_alone(), "{" WEB "},'spec':{'replicas':2}}");
    assert_int_equal(ki_as_tree_integer(tree, "spec.replicas", 0), 2);
    assert_tree(fields_of(tree, "kubectl-client-side-apply"), "{'f:spec':{'f:paused':{}}}");
    const json_t *annotations = ki_as_tree_at(tree, "metadata.annotations");
    assert_string_equal(json_string_value(json_object_get(annotations, LAST)),
                        "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"web\"},"
                        "\"spec\":{\"replicas\":2}}\n");
    json_decref(tree);
    json_t *config = tree_of("{" WEB "},'spec':{'replicas':2,'paused':false}}");
    tree = applied_by_kubectl_alone();
    struct ki_as_resource resource = deployments();
    struct ki_as_failure failure = {0};
    struct ki_as_apply apply = {&resource, tree, config, "kubectl", "", false};
    json_t *out = NULL;
    assert_int_equal(ki_as_patch_apply(&apply, &out, &failure), -1);
    assert_refused(&failure, 409,
                   "Apply failed with 1 conflict: conflict with \"kubectl-client-side-apply\" using apps/v1: "
                   ".spec.paused");
    json_decref(config);
    json_decref(tree);
}

static void others_do_not_take_over_fields_from_kubectl(void **state)
{
    (void)state;
    assert_conflict(
        applied_by_kubectl_alone(), "{" WEB "},'spec':{'replicas':2}}",
        "Apply failed with 1 conflict: conflict with \"kubectl-client-side-apply\" using apps/v1: "
        ".spec.replicas");
}

static void equal_values_are_shared(void **state)
{
    (void)state;
    json_t *tree = applied(deployments(), "me", updated_by("kubectl"), "{" WEB "},'spec':{'replicas':1}}");
    assert_tree(fields_of(tree, "kubectl"), "{'f:spec':{'f:replicas':{},'f:paused':{}}}");
    assert_tree(fields_of(tree, "me"), "{'f:spec':{'f:replicas':{}}}");
    json_decref(tree);
}

static void force_takes_fields_from_others(void **state)
{
    (void)state;
    json_t *tree = forced(deployments(), "me", updated_by("kubectl"), "{" WEB "},'spec':{'replicas':2}}");
    assert_tree(fields_of(tree, "kubectl"), "{'f:spec':{'f:paused':{}}}");
    tree = forced(deployments(), "me", tree, "{" WEB "},'spec':{'replicas':2,'paused':false}}");
    assert_null(fields_of(tree, "kubectl"));
    assert_object(tree, "{" WEB "},'spec':{'replicas':2,'paused':false}}");
}

static void lists_without_keys_are_atomic(void **state)
{
    (void)state;
    struct ki_as_resource pods = resource_of("v1", "pods", "Pod");
    json_t *tree = tree_of(
        "{'metadata':{'name':'p','finalizers':['a/b']},'spec':{'tolerations':[{'key':'a'}],'nodeSelector':"
        "{'x':'y'}}}");
    tree = applied(pods, "me", tree,
                   "{'metadata':{'name':'p','finalizers':['c/d']},'spec':{'tolerations':[{'key':'b'}],"
                   "'nodeSelector':{'z':'w'}}}");
    assert_tree(fields_of(tree, "me"),
                "{'f:metadata':{'f:finalizers':{'v:\\\"c/d\\\"':{}}},'f:spec':{'f:tolerations':{},"
                "'f:nodeSelector':{}}}");
    tree = applied(pods, "me", tree, "{'metadata':{'name':'p'}}");
    assert_object(tree, "{'metadata':{'name':'p','finalizers':['a/b']}}");
}

static void the_status_is_applied_through_its_subresource(void **state)
{
    (void)state;
    struct ki_as_resource resource = deployments();
    json_t *config = tree_of("{" WEB ",'labels':{'a':'b'}},'spec':{'replicas':1},'status':{'replicas':1}}");
    json_t *out = NULL;
    struct ki_as_failure failure = {0};
    struct ki_as_apply apply = {&resource, NULL, config, "me", "", false};
    assert_taken(ki_as_patch_apply(&apply, &out, &failure), &failure);
    assert_null(json_object_get(out, "status"));
    json_t *current = out;
    apply = (struct ki_as_apply){&resource, current, config, "me", "status", false};
    assert_taken(ki_as_patch_apply(&apply, &out, &failure), &failure);
    assert_string_equal(ki_as_tree_text(out, "metadata.managedFields.0.subresource"), "status");
    assert_tree(json_incref(ki_as_tree_at(out, "metadata.managedFields.0.fieldsV1")),
                "{'f:status':{'f:replicas':{}}}");
    assert_int_equal(json_array_size(ki_as_tree_at(out, "metadata.managedFields")), 2);
    json_decref(out);
    json_decref(current);
    json_decref(config);
}

static void custom_kinds_merge_by_their_schema(void **state)
{
    (void)state;
    struct ki_as_resource widgets = resource_of("example.com/v1", "widgets", "Widget");
    widgets.is_custom = true;
    widgets.schema = tree_of(
        "{'type':'object','properties':{'spec':{'type':'object','properties':{'list':{'type':'array',"
        "'x-kubernetes-list-type':'map','x-kubernetes-list-map-keys':['id'],'items':{'type':'object',"
        "'properties':{'id':{'type':'string'},'x':{'type':'integer'}}}},'any':{'type':'array','items':{"
        "'type':'string'}}}}}}");
    json_t *tree = applied(widgets, "me", NULL,
                           "{'metadata':{'name':'w'},'spec':{'list':[{'id':'a','x':1}],'any':['p']}}");
    tree = applied(widgets, "you", tree, "{'metadata':{'name':'w'},'spec':{'list':[{'id':'b','x':2}]}}");
    assert_tree(fields_of(tree, "you"),
                "{'f:spec':{'f:list':{'k:{\\\"id\\\":\\\"b\\\"}':{'.':{},'f:id':{},'f:x':{}}}}}");
    tree = applied(widgets, "me", tree, "{'metadata':{'name':'w'},'spec':{'any':['q']}}");
    assert_object(tree, "{'metadata':{'name':'w'},'spec':{'list':[{'id':'b','x':2}],'any':['q']}}");
    json_decref(widgets.schema);
}

static void managers_cannot_be_applied(void **state)
{
    (void)state;
    struct ki_as_resource resource = deployments();
    json_t *config = tree_of("{" WEB ",'managedFields':[{}]}}");
    json_t *out = NULL;
    struct ki_as_failure failure = {0};
    struct ki_as_apply apply = {&resource, NULL, config, "me", "", false};
    assert_int_equal(ki_as_patch_apply(&apply, &out, &failure), -1);
    assert_refused(&failure, 400, "metadata.managedFields must be nil");
    json_decref(config);
}

static bool applies(void *user)
{
    struct ki_as_resource resource = deployments();
    json_t *out = NULL;
    struct ki_as_failure failure = {0};
    json_t **trees = user;
    struct ki_as_apply apply = {&resource, trees[0], trees[1], "me", "", true};
    int rc = ki_as_patch_apply(&apply, &out, &failure);
    return patch_is_done(rc, out, &failure);
}

static void out_of_memory_is_a_failure_like_others(void **state)
{
    (void)state;
    json_t *first = applied(deployments(), "me", updated_by("kubectl"),
                            CONFIG("'a':'b'", CONTAINER("{'name':'c','image':'i'},{'name':'d'}")));
    json_t *trees[] = {first,
                       tree_of(CONFIG("'c':'d'", "'replicas':7," CONTAINER("{'name':'c','image':'j'}")))};
    assert_survives_no_memory(applies, trees);
    json_decref(trees[0]);
    json_decref(trees[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_object_that_does_not_exist_is_created),
        cmocka_unit_test(applying_the_same_again_changes_nothing),
        cmocka_unit_test(fields_no_longer_applied_are_removed),
        cmocka_unit_test(fields_of_others_are_kept),
        cmocka_unit_test(fields_without_an_owner_are_kept),
        cmocka_unit_test(an_empty_map_is_not_a_conflict),
        cmocka_unit_test(an_empty_map_is_owned),
        cmocka_unit_test(conflicts_are_reported_with_their_fields),
        cmocka_unit_test(a_manager_that_changes_nothing_has_no_time),
        cmocka_unit_test(kubectl_takes_over_fields_of_its_client_side_apply),
        cmocka_unit_test(others_do_not_take_over_fields_from_kubectl),
        cmocka_unit_test(equal_values_are_shared),
        cmocka_unit_test(force_takes_fields_from_others),
        cmocka_unit_test(lists_without_keys_are_atomic),
        cmocka_unit_test(the_status_is_applied_through_its_subresource),
        cmocka_unit_test(custom_kinds_merge_by_their_schema),
        cmocka_unit_test(managers_cannot_be_applied),
        cmocka_unit_test(out_of_memory_is_a_failure_like_others),
    };
    return RUN_TESTS(tests);
}
