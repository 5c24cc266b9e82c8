/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "apiserver/value/tree.h"
#include "support/apiserver/as_rig.h"
#include "support/apiserver/trees.h"
#include "support/unit.h"

enum { TEXT_BYTES = 512 };

#define DEPLOYMENT                                                                                           \
    "{'metadata':{'name':'d'},'spec':{'replicas':2,'selector':{'matchLabels':{'a':'b'}},'template':{'"       \
    "metadata':{"                                                                                            \
    "'labels':{'a':'b'}},'spec':{'containers':[{'name':'c','image':'i'}]}}},'status':{'replicas':9}}"

static void metadata_is_filled_in(void **state)
{
    (void)state;
    struct as_rig rig;
    as_rig_init_seeded(&rig);
    json_t *tree =
        as_rig_create(&rig, "configmaps", "default/",
                      "{'metadata':{'name':'a','uid':'mine','creationTimestamp':null,'selfLink':'x'}}");
    const json_t *metadata = json_object_get(tree, "metadata");
    assert_string_equal(json_string_value(json_object_get(metadata, "namespace")), "default");
    assert_int_equal(json_string_length(json_object_get(metadata, "uid")), 36);
    assert_int_equal(json_string_length(json_object_get(metadata, "creationTimestamp")), 20);
    assert_string_equal(json_string_value(json_object_get(metadata, "resourceVersion")), "1006");
    assert_null(json_object_get(metadata, "generation"));
    assert_null(json_object_get(metadata, "selfLink"));
    json_decref(tree);
    as_rig_fini(&rig);
}

static void generations_begin_with_one(void **state)
{
    (void)state;
    struct as_rig rig;
    as_rig_init_seeded(&rig);
    assert_int_equal(
        as_rig_number(as_rig_create(&rig, "deployments.apps", "default/", DEPLOYMENT), "metadata.generation"),
        1);
    as_rig_fini(&rig);
}

static void a_create_cannot_set_the_status(void **state)
{
    (void)state;
    struct as_rig rig;
    as_rig_init_seeded(&rig);
    assert_int_equal(
        as_rig_number(as_rig_create(&rig, "deployments.apps", "default/", DEPLOYMENT), "status.replicas"),
        -1);
    as_rig_fini(&rig);
}

static void whole_objects_keep_their_status(void **state)
{
    (void)state;
    struct as_rig rig;
    as_rig_init_seeded(&rig);
    struct ki_as_call call = as_rig_call(&rig, "deployments.apps", "default/");
    struct ki_as_object *object = NULL;
    json_t *body = tree_of(DEPLOYMENT);
    call.is_whole = true;
    assert_taken(ki_as_create(&call, body, &object, &rig.failure), &rig.failure);
    json_decref(body);
    ki_as_object_unref(object);
    assert_int_equal(as_rig_number(as_rig_get(&rig, "deployments.apps", "default/d"), "status.replicas"), 9);
    as_rig_fini(&rig);
}

static void only_whole_objects_keep_their_uid(void **state)
{
    (void)state;
    static const char text[] = "{'metadata':{'name':'c','uid':'00000000-0000-4000-8000-000000000007'}}";
    for (int is_whole = 0; is_whole < 2; is_whole++) {
        struct as_rig rig;
        struct ki_as_object *object = NULL;
        as_rig_init_seeded(&rig);
        struct ki_as_call call = as_rig_call(&rig, "configmaps", "default/");
        json_t *body = tree_of(text);
        call.is_whole = is_whole != 0;
        assert_taken(ki_as_create(&call, body, &object, &rig.failure), &rig.failure);
        json_decref(body);
        ki_as_object_unref(object);
        const char *uid = as_rig_text(as_rig_get(&rig, "configmaps", "default/c"), "metadata.uid");
        assert_int_equal(strcmp(uid, "00000000-0000-4000-8000-000000000007") == 0, is_whole);
        as_rig_fini(&rig);
    }
}

static void names_are_generated_from_the_alphabet_of_kubernetes(void **state)
{
    (void)state;
    struct as_rig rig;
    as_rig_init_seeded(&rig);
    for (int i = 0; i < 20; i++) {
        const char *name =
            as_rig_text(as_rig_create(&rig, "configmaps", "default/", "{'metadata':{'generateName':'web-'}}"),
                        "metadata.name");
        assert_int_equal(strlen(name), 9);
        assert_int_equal(strncmp(name, "web-", 4), 0);
        assert_int_equal(strspn(name + 4, "bcdfghjklmnpqrstvwxz2456789"), 5);
    }
    as_rig_fini(&rig);
}

/* A storage with a seed, and the names it generates. */
static void draw(uint64_t seed, char out[TEXT_BYTES])
{
    struct as_rig rig = {0};
    size_t len = 0;
    rig.storage = ki_as_storage_new(&(struct ki_as_storage_options){.first_version = 1000, .seed = seed});
    assert_non_null(rig.storage);
    assert_taken(ki_as_seed(rig.storage, &rig.failure), &rig.failure);
    for (int i = 0; i < 3; i++) {
        json_t *tree = as_rig_create(&rig, "configmaps", "default/", "{'metadata':{'generateName':'web-'}}");
        len += (size_t)snprintf(out + len, TEXT_BYTES - len, "%s ", ki_as_tree_text(tree, "metadata.name"));
        len += (size_t)snprintf(out + len, TEXT_BYTES - len, "%s ", ki_as_tree_text(tree, "metadata.uid"));
        json_decref(tree);
    }
    as_rig_fini(&rig);
}

static void a_seed_determines_generated_names(void **state)
{
    (void)state;
    char first[TEXT_BYTES];
    char again[TEXT_BYTES];
    char other[TEXT_BYTES];
    draw(42, first);
    draw(42, again);
    draw(43, other);
    assert_string_equal(first, again);
    assert_string_not_equal(first, other);
}

static void versions_of_a_definition_need_names(void **state)
{
    (void)state;
    static const char *const versions[] = {"", "'name':null,", "'name':'',"};
    struct as_rig rig;
    as_rig_init_seeded(&rig);
    for (size_t i = 0; i < 3; i++) {
        char text[512];
        (void)snprintf(text, sizeof(text),
                       "{'metadata':{'name':'widgets.example.com'},'spec':{'group':'example.com','scope':"
                       "'Cluster','names':{'plural':'widgets','kind':'Widget'},'versions':[{%s'served':true,"
                       "'storage':true,'schema':{'openAPIV3Schema':{'type':'object'}}}]}}",
                       versions[i]);
        as_rig_refuse_create(&rig, "customresourcedefinitions.apiextensions.k8s.io", "", text);
        assert_refused_with(&rig.failure, 422,
                            "spec.versions[0].name: Invalid value: \"\": a DNS-1035 label must");
    }
    as_rig_fini(&rig);
}

/* A definition cannot replace a built-in resource. */
static void a_definition_of_a_built_in_resource_is_refused(void **state)
{
    (void)state;
    struct as_rig rig;
    as_rig_init_seeded(&rig);
    as_rig_refuse_create(&rig, "customresourcedefinitions.apiextensions.k8s.io", "",
                         "{'metadata':{'name':'leases.coordination.k8s.io','annotations':{'api-approved."
                         "kubernetes.io':'x'}},'spec':{'group':'coordination.k8s.io','scope':'Namespaced',"
                         "'names':{'plural':'leases','kind':'Lease'},'versions':[{'name':'v9','served':"
                         "true,'storage':true,'schema':{'openAPIV3Schema':{'type':'object'}}}]}}");
    assert_refused_with(&rig.failure, 422, "conflicts with a built-in resource");
    assert_null(as_rig_served(&rig, "coordination.k8s.io", "v9", "leases"));
    assert_false(as_rig_resource(&rig, "leases.coordination.k8s.io")->is_custom);
    assert_null(
        as_rig_get(&rig, "customresourcedefinitions.apiextensions.k8s.io", "leases.coordination.k8s.io"));
    as_rig_fini(&rig);
}

static void a_long_prefix_of_a_name_is_truncated(void **state)
{
    (void)state;
    struct as_rig rig;
    char body[256];
    as_rig_init_seeded(&rig);
    (void)snprintf(body, sizeof(body), "{'metadata':{'generateName':'%0100d'}}", 0);
    assert_int_equal(
        strlen(as_rig_text(as_rig_create(&rig, "configmaps", "default/", body), "metadata.name")), 63);
    as_rig_fini(&rig);
}

/* A path segment may have any character; a name of most kinds may not. */
static void a_long_base_of_a_name_is_cut_between_characters(void **state)
{
    (void)state;
    struct as_rig rig;
    char body[256];
    as_rig_init_seeded(&rig);
    for (int ascii = 55; ascii <= 58; ascii++) {
        (void)snprintf(body, sizeof(body), "{'metadata':{'generateName':'%0*d\xf0\x9f\x98\x80zz'}}", ascii,
                       0);
        const char *name = as_rig_text(
            as_rig_create(&rig, "clusterroles.rbac.authorization.k8s.io", "", body), "metadata.name");
        assert_int_equal(strlen(name), ascii + 5);
        as_rig_refuse_create(&rig, "configmaps", "default/", body);
        assert_refused_with(&rig.failure, 422, "metadata.generateName: Invalid value");
    }
    as_rig_fini(&rig);
}

static void a_second_object_with_the_same_name_is_refused(void **state)
{
    (void)state;
    struct as_rig rig;
    as_rig_init_seeded(&rig);
    json_decref(as_rig_create(&rig, "configmaps", "default/", "{'metadata':{'name':'a'}}"));
    as_rig_refuse_create(&rig, "configmaps", "default/", "{'metadata':{'name':'a'}}");
    assert_refused(&rig.failure, 409, "configmaps \"a\" already exists");
    as_rig_fini(&rig);
}

static void the_namespace_must_exist(void **state)
{
    (void)state;
    struct as_rig rig;
    as_rig_init_seeded(&rig);
    as_rig_refuse_create(&rig, "configmaps", "nowhere/", "{'metadata':{'name':'a'}}");
    assert_refused(&rig.failure, 404, "namespaces \"nowhere\" not found");
    as_rig_fini(&rig);
}

static void an_object_that_does_not_match_the_path_is_refused(void **state)
{
    (void)state;
    struct as_rig rig;
    as_rig_init_seeded(&rig);
    as_rig_refuse_create(&rig, "configmaps", "default/",
                         "{'metadata':{'name':'a','namespace':'kube-system'}}");
    assert_refused(&rig.failure, 400,
                   "the namespace of the provided object does not match the namespace sent on the request");
    as_rig_refuse_create(&rig, "configmaps", "default/",
                         "{'kind':'Pod','apiVersion':'v1','metadata':{'name':'a'}}");
    assert_refused_with(&rig.failure, 400, "cannot be handled as a ConfigMap");
    as_rig_refuse_create(&rig, "configmaps", "default/", "{'apiVersion':'v2','metadata':{'name':'a'}}");
    assert_refused(&rig.failure, 400,
                   "the API version in the data (v2) does not match the expected API version (v1)");
    as_rig_refuse_create(&rig, "configmaps", "default/", "{'metadata':{'name':'a','creationTimestamp':5}}");
    assert_refused_with(&rig.failure, 400, "ObjectMeta.metadata.creationTimestamp of type string");
    as_rig_refuse_create(&rig, "pods", "default/", "{'metadata':{'name':'a'},'status':5}");
    assert_refused_with(&rig.failure, 400, "Pod.status of type v1.PodStatus");
    as_rig_refuse_create(&rig, "configmaps", "default/", "{'metadata':{'name':'a','resourceVersion':'5'}}");
    assert_refused(&rig.failure, 500, "resourceVersion should not be set on objects to be created");
    json_decref(
        as_rig_create(&rig, "configmaps", "default/", "{'metadata':{'name':'b','resourceVersion':'new'}}"));
    json_t *role = as_rig_create(&rig, "clusterroles.rbac.authorization.k8s.io", "",
                                 "{'metadata':{'name':'r','namespace':'default'}}");
    assert_null(json_object_get(json_object_get(role, "metadata"), "namespace"));
    json_decref(role);
    as_rig_refuse_create(&rig, "configmaps", "default/", "{'metadata':7}");
    assert_refused_with(
        &rig.failure, 400,
        "cannot unmarshal number into Go struct field ConfigMap.metadata of type v1.ObjectMeta");
    as_rig_refuse_create(&rig, "configmaps", "default/", "{'metadata':{'name':7}}");
    assert_refused_with(
        &rig.failure, 400,
        "cannot unmarshal number into Go struct field ObjectMeta.metadata.name of type string");
    as_rig_refuse_create(&rig, "configmaps", "default/", "[]");
    assert_refused_with(&rig.failure, 400, "must be of type ConfigMap");
    as_rig_fini(&rig);
}

static void a_create_with_a_resource_version_is_refused(void **state)
{
    (void)state;
    struct as_rig rig;
    as_rig_init_seeded(&rig);
    as_rig_refuse_create(&rig, "configmaps", "default/", "{'metadata':{'name':'a','resourceVersion':'5'}}");
    assert_refused(&rig.failure, 500, "resourceVersion should not be set on objects to be created");
    as_rig_fini(&rig);
}

static void a_dry_run_stores_nothing(void **state)
{
    (void)state;
    struct as_rig rig;
    as_rig_init_seeded(&rig);
    struct ki_as_call call = as_rig_call(&rig, "configmaps", "default/");
    struct ki_as_object *object = NULL;
    json_t *body = tree_of("{'metadata':{'name':'a'}}");
    call.is_dry_run = true;
    assert_taken(ki_as_create(&call, body, &object, &rig.failure), &rig.failure);
    json_decref(body);
    assert_int_equal(object->version, 0);
    assert_int_equal(object->uid.len, 36);
    ki_as_object_unref(object);
    assert_null(as_rig_get(&rig, "configmaps", "default/a"));
    assert_int_equal(as_rig_version(&rig), 1005);
    as_rig_fini(&rig);
}

/* A later writer of the subresource must not take the status from another manager. */
static void the_creator_does_not_own_the_status(void **state)
{
    (void)state;
    struct as_rig rig;
    as_rig_init_seeded(&rig);
    struct ki_as_call call = as_rig_call(&rig, "pods", "default/");
    struct ki_as_object *object = NULL;
    json_t *body = tree_of("{'metadata':{'name':'p'},'spec':{'containers':[{'name':'c','image':'i'}]}}");
    call.field_manager = KI_STR("me");
    assert_taken(ki_as_create(&call, body, &object, &rig.failure), &rig.failure);
    ki_as_object_unref(object);
    json_decref(body);
    json_t *tree = as_rig_get(&rig, "pods", "default/p");
    const json_t *fields = ki_as_tree_at(tree, "metadata.managedFields.0.fieldsV1");
    assert_string_equal(ki_as_tree_text(tree, "status.phase"), "Pending");
    assert_non_null(json_object_get(fields, "f:spec"));
    assert_null(json_object_get(fields, "f:status"));
    json_decref(tree);
    as_rig_fini(&rig);
}

static void the_manager_is_recorded(void **state)
{
    (void)state;
    struct as_rig rig;
    as_rig_init_seeded(&rig);
    struct ki_as_call call = as_rig_call(&rig, "configmaps", "default/");
    struct ki_as_object *object = NULL;
    json_t *body = tree_of("{'metadata':{'name':'a','labels':{'l':'1'}},'data':{'k':'v'}}");
    call.field_manager = KI_STR("me");
    assert_taken(ki_as_create(&call, body, &object, &rig.failure), &rig.failure);
    json_decref(body);
    ki_as_object_unref(object);
    json_t *tree = as_rig_get(&rig, "configmaps", "default/a");
    json_t *entry = json_array_get(json_object_get(json_object_get(tree, "metadata"), "managedFields"), 0);
    assert_int_equal(json_string_length(json_object_get(entry, "time")), 20);
    (void)json_object_del(entry, "time");
    assert_tree(json_incref(entry),
                "{'manager':'me','operation':'Update','apiVersion':'v1','fieldsType':'FieldsV1',"
                "'fieldsV1':{'f:metadata':{'f:labels':{'.':{},'f:l':{}}},'f:data':{'f:k':{}}}}");
    json_decref(tree);
    as_rig_fini(&rig);
}

static bool create_without_memory(void *user)
{
    struct as_rig *rig = user;
    struct ki_as_failure failure = {0};
    struct ki_as_object *object = NULL;
    json_t *body = json_loads("{\"metadata\":{\"generateName\":\"a\"},\"data\":{\"k\":\"v\"}}", 0, NULL);
    if (body == NULL)
        return false;
    struct ki_as_call call = as_rig_call(rig, "configmaps", "default/");
    uint64_t before = as_rig_version(rig);
    call.field_manager = KI_STR("me");
    int rc = ki_as_create(&call, body, &object, &failure);
    assert_int_equal(as_rig_version(rig), rc == 0 ? before + 1 : before);
    ki_as_object_unref(object);
    ki_as_failure_fini(&failure);
    json_decref(body);
    return rc == 0;
}

static bool seed_and_create(void *user)
{
    (void)user;
    struct as_rig rig;
    bool is_done = as_rig_try_init_seeded(&rig) && create_without_memory(&rig);
    as_rig_fini(&rig);
    return is_done;
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    assert_survives_no_memory(seed_and_create, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metadata_is_filled_in),
        cmocka_unit_test(generations_begin_with_one),
        cmocka_unit_test(a_create_cannot_set_the_status),
        cmocka_unit_test(whole_objects_keep_their_status),
        cmocka_unit_test(only_whole_objects_keep_their_uid),
        cmocka_unit_test(names_are_generated_from_the_alphabet_of_kubernetes),
        cmocka_unit_test(a_long_prefix_of_a_name_is_truncated),
        cmocka_unit_test(a_long_base_of_a_name_is_cut_between_characters),
        cmocka_unit_test(a_second_object_with_the_same_name_is_refused),
        cmocka_unit_test(the_namespace_must_exist),
        cmocka_unit_test(an_object_that_does_not_match_the_path_is_refused),
        cmocka_unit_test(a_create_with_a_resource_version_is_refused),
        cmocka_unit_test(a_dry_run_stores_nothing),
        cmocka_unit_test(the_creator_does_not_own_the_status),
        cmocka_unit_test(the_manager_is_recorded),
        cmocka_unit_test(a_seed_determines_generated_names),
        cmocka_unit_test(versions_of_a_definition_need_names),
        cmocka_unit_test(a_definition_of_a_built_in_resource_is_refused),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return RUN_TESTS(tests);
}
