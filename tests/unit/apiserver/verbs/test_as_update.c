/* SPDX-License-Identifier: Apache-2.0 */

#include "apiserver/value/tree.h"
#include "support/apiserver/as_rig.h"
#include "support/apiserver/trees.h"
#include "support/unit.h"

#define DEPLOYMENT(name, more)                                                                               \
    "{'metadata':{'name':'d'" name                                                                           \
    "},'spec':{'replicas':2,'selector':{'matchLabels':{'a':'b'}},'template':{'metadata':{"                   \
    "'labels':{'a':'b'}},'spec':{'containers':[{'name':'c','image':'i'}]}}" more "}}"

static void init(struct as_rig *rig)
{
    as_rig_init_seeded(rig);
    json_decref(as_rig_create(rig, "configmaps", "default/", "{'metadata':{'name':'a'},'data':{'k':'1'}}"));
    json_decref(as_rig_create(rig, "deployments.apps", "default/", DEPLOYMENT("", "")));
}

static void an_update_replaces_all_but_server_set_fields(void **state)
{
    (void)state;
    struct as_rig rig;
    init(&rig);
    json_t *before = as_rig_get(&rig, "configmaps", "default/a");
    json_t *after =
        as_rig_update(&rig, "configmaps", "default/a",
                      "{'metadata':{'creationTimestamp':'2000-01-01T00:00:00Z'},'data':{'l':'2'}}");
    const json_t *old = json_object_get(before, "metadata");
    const json_t *new = json_object_get(after, "metadata");
    assert_true(json_equal(json_object_get(old, "uid"), json_object_get(new, "uid")));
    assert_true(
        json_equal(json_object_get(old, "creationTimestamp"), json_object_get(new, "creationTimestamp")));
    assert_tree(json_incref(json_object_get(after, "data")), "{'l':'2'}");
    assert_string_equal(json_string_value(json_object_get(new, "resourceVersion")), "1008");
    json_decref(before);
    json_decref(after);
    as_rig_fini(&rig);
}

static void a_stale_version_is_a_conflict(void **state)
{
    (void)state;
    struct as_rig rig;
    init(&rig);
    as_rig_refuse_update(&rig, "configmaps", "default/a", "{'metadata':{'resourceVersion':'1'}}");
    assert_refused(
        &rig.failure, 409,
        "Operation cannot be fulfilled on configmaps \"a\": the object has been modified; please apply your "
        "changes to the latest version and try again");
    as_rig_refuse_update(&rig, "configmaps", "default/a", "{'metadata':{'uid':'other'}}");
    assert_refused_with(&rig.failure, 409, "Precondition failed: UID in precondition: other");
    json_decref(
        as_rig_update(&rig, "configmaps", "default/a", "{'metadata':{'resourceVersion':'1006'},'data':{}}"));
    as_rig_fini(&rig);
}

static void version_zero_counts_as_missing(void **state)
{
    (void)state;
    struct as_rig rig;
    init(&rig);
    json_decref(as_rig_update(&rig, "configmaps", "default/a",
                              "{'metadata':{'resourceVersion':'0'},'data':{'l':'2'}}"));
    as_rig_fini(&rig);
}

static void a_version_that_is_not_a_number_is_refused(void **state)
{
    (void)state;
    struct as_rig rig;
    init(&rig);
    as_rig_refuse_update(&rig, "configmaps", "default/a", "{'metadata':{'resourceVersion':'abc'}}");
    assert_refused(&rig.failure, 500, "strconv.ParseUint: parsing \"abc\": invalid syntax");
    as_rig_refuse_update(&rig, "configmaps", "default/a",
                         "{'metadata':{'resourceVersion':'18446744073709551616'}}");
    assert_refused(&rig.failure, 500,
                   "strconv.ParseUint: parsing \"18446744073709551616\": value out of range");
    as_rig_fini(&rig);
}

static void an_update_without_a_change_has_no_new_version(void **state)
{
    (void)state;
    struct as_rig rig;
    init(&rig);
    json_t *tree = as_rig_update(&rig, "configmaps", "default/a",
                                 "{'data':{'k':'1'},'metadata':{'labels':{},'annotations':null}}");
    assert_string_equal(as_rig_text(tree, "metadata.resourceVersion"), "1006");
    assert_int_equal(as_rig_version(&rig), 1007);
    as_rig_fini(&rig);
}

static void generations_count_only_changes_of_the_spec(void **state)
{
    (void)state;
    struct as_rig rig;
    init(&rig);
    json_t *tree =
        as_rig_update(&rig, "deployments.apps", "default/d", DEPLOYMENT(",'labels':{'x':'y'}", ""));
    assert_int_equal(as_rig_number(tree, "metadata.generation"), 1);
    tree = as_rig_update(&rig, "deployments.apps", "default/d", DEPLOYMENT("", ",'paused':true"));
    assert_int_equal(as_rig_number(tree, "metadata.generation"), 2);
    tree = as_rig_update(&rig, "deployments.apps/status", "default/d",
                         DEPLOYMENT("", "},'status':{'replicas':3"));
    assert_int_equal(as_rig_number(json_incref(tree), "metadata.generation"), 2);
    assert_int_equal(as_rig_number(tree, "status.replicas"), 3);
    as_rig_fini(&rig);
}

/* Replica sets get copies of them. */
static void generations_count_annotations_of_deployments(void **state)
{
    (void)state;
    struct as_rig rig;
    init(&rig);
    json_t *tree =
        as_rig_update(&rig, "deployments.apps", "default/d", DEPLOYMENT(",'annotations':{'x':'y'}", ""));
    assert_int_equal(as_rig_number(tree, "metadata.generation"), 2);
    tree = as_rig_update(&rig, "deployments.apps", "default/d",
                         DEPLOYMENT(",'annotations':{'x':'y'},'labels':{'a':'b'}", ""));
    assert_int_equal(as_rig_number(tree, "metadata.generation"), 2);
    as_rig_fini(&rig);
}

static void status_and_spec_are_updated_separately(void **state)
{
    (void)state;
    struct as_rig rig;
    init(&rig);
    json_t *tree =
        as_rig_update(&rig, "deployments.apps/status", "default/d",
                      "{'metadata':{'name':'d','labels':{'lost':'1'}},'spec':{},'status':{'replicas':3}}");
    assert_int_equal(as_rig_number(json_incref(tree), "spec.replicas"), 2);
    assert_string_equal(as_rig_text(tree, "metadata.labels.lost"), "");
    tree = as_rig_update(&rig, "deployments.apps", "default/d",
                         DEPLOYMENT("", ",'paused':true},'status':{'replicas':7"));
    assert_int_equal(as_rig_number(tree, "status.replicas"), 3);
    as_rig_fini(&rig);
}

static void an_update_of_a_missing_object_is_404_except_for_some_kinds(void **state)
{
    (void)state;
    struct as_rig rig;
    init(&rig);
    as_rig_refuse_update(&rig, "configmaps", "default/b", "{'metadata':{'name':'b'}}");
    assert_refused(&rig.failure, 404, "configmaps \"b\" not found");
    struct ki_as_call call = as_rig_call(&rig, "leases.coordination.k8s.io", "default/l");
    struct ki_as_object *object = NULL;
    bool is_created = false;
    json_t *body = tree_of("{'metadata':{'name':'l'},'spec':{}}");
    assert_taken(ki_as_update(&call, body, &object, &is_created, &rig.failure), &rig.failure);
    assert_true(is_created);
    ki_as_object_unref(object);
    json_decref(body);
    as_rig_fini(&rig);
}

static void a_name_that_differs_from_the_path_is_refused(void **state)
{
    (void)state;
    struct as_rig rig;
    init(&rig);
    as_rig_refuse_update(&rig, "configmaps", "default/a", "{'metadata':{'name':'b'}}");
    assert_refused(&rig.failure, 400, "the name of the object (b) does not match the name on the URL (a)");
    as_rig_fini(&rig);
}

static void managers_take_fields_from_each_other(void **state)
{
    (void)state;
    struct as_rig rig;
    as_rig_init_seeded(&rig);
    struct ki_as_call call = as_rig_call(&rig, "configmaps", "default/");
    struct ki_as_object *object = NULL;
    json_t *body = tree_of("{'metadata':{'name':'a'},'data':{'k':'1','l':'1','m':'1'}}");
    call.field_manager = KI_STR("one");
    assert_taken(ki_as_create(&call, body, &object, &rig.failure), &rig.failure);
    ki_as_object_unref(object);
    json_decref(body);
    call = as_rig_call(&rig, "configmaps", "default/a");
    call.field_manager = KI_STR("two");
    body = tree_of("{'data':{'k':'2','l':'1'}}");
    assert_taken(ki_as_update(&call, body, &object, NULL, &rig.failure), &rig.failure);
    ki_as_object_unref(object);
    json_decref(body);
    json_t *tree = as_rig_get(&rig, "configmaps", "default/a");
    const json_t *entries = json_object_get(json_object_get(tree, "metadata"), "managedFields");
    assert_int_equal(json_array_size(entries), 2);
    assert_tree(json_incref(json_object_get(json_array_get(entries, 0), "fieldsV1")),
                "{'f:data':{'f:l':{}}}");
    assert_tree(json_incref(json_object_get(json_array_get(entries, 1), "fieldsV1")),
                "{'f:data':{'f:k':{}}}");
    json_decref(tree);
    as_rig_fini(&rig);
}

static json_t *patch(struct as_rig *rig, const char *resource, const char *key, enum ki_as_patch_type type,
                     const char *text)
{
    struct ki_as_call call = as_rig_call(rig, resource, key);
    struct ki_as_object *object = NULL;
    json_t *body = tree_of(text);
    int rc = ki_as_patch(&call, type, body, &object, NULL, &rig->failure);
    json_decref(body);
    ki_as_object_unref(object);
    return rc < 0 ? NULL : as_rig_get(rig, resource, key);
}

static void patches_are_updates_of_the_stored_object(void **state)
{
    (void)state;
    struct as_rig rig;
    init(&rig);
    json_t *tree = patch(&rig, "configmaps", "default/a", KI_AS_PATCH_MERGE, "{'data':{'k':null,'l':'2'}}");
    assert_tree(json_incref(json_object_get(tree, "data")), "{'l':'2'}");
    json_decref(tree);
    tree = patch(&rig, "configmaps", "default/a", KI_AS_PATCH_JSON,
                 "[{'op':'replace','path':'/data/l','value':'3'}]");
    assert_string_equal(as_rig_text(tree, "data.l"), "3");
    tree = patch(&rig, "deployments.apps", "default/d", KI_AS_PATCH_STRATEGIC,
                 "{'spec':{'template':{'spec':{'containers':[{'name':'c','image':'j'}]}}}}");
    assert_string_equal(as_rig_text(json_incref(tree), "spec.template.spec.containers.0.image"), "j");
    assert_int_equal(as_rig_number(tree, "metadata.generation"), 2);
    assert_null(
        patch(&rig, "configmaps", "default/a", KI_AS_PATCH_MERGE, "{'metadata':{'resourceVersion':'1'}}"));
    assert_refused_with(&rig.failure, 409, "the object has been modified");
    assert_null(patch(&rig, "configmaps", "default/none", KI_AS_PATCH_MERGE, "{}"));
    assert_refused(&rig.failure, 404, "configmaps \"none\" not found");
    as_rig_fini(&rig);
}

/* The apply must be rejected. */
static void refuse_apply(struct as_rig *rig, const char *key, const char *text)
{
    struct ki_as_call call = as_rig_call(rig, "configmaps", key);
    struct ki_as_object *object = NULL;
    json_t *body = tree_of(text);
    call.field_manager = KI_STR("me");
    assert_int_equal(ki_as_patch(&call, KI_AS_PATCH_APPLY, body, &object, NULL, &rig->failure), -1);
    json_decref(body);
}

static void an_applied_object_must_have_the_right_kind_and_uid(void **state)
{
    (void)state;
    struct as_rig rig;
    init(&rig);
    refuse_apply(&rig, "default/a", "{'data':{}}");
    assert_refused(&rig.failure, 400, "invalid object type: /, Kind=");
    refuse_apply(&rig, "default/a", "{'kind':'Secret','apiVersion':'v1'}");
    assert_refused(&rig.failure, 400, "invalid object type: /v1, Kind=Secret");
    refuse_apply(&rig, "default/new", "{'kind':'ConfigMap','apiVersion':'apps/v1'}");
    assert_refused(&rig.failure, 400, "invalid object type: apps/v1, Kind=ConfigMap");
    refuse_apply(&rig, "default/new", "{'kind':'ConfigMap','apiVersion':'v1','metadata':{'uid':'u'}}");
    assert_refused(&rig.failure, 409,
                   "Operation cannot be fulfilled on configmaps \"new\": uid mismatch: the provided object "
                   "specified uid u, and no existing object was found");
    as_rig_fini(&rig);
}

static void an_empty_patch_changes_nothing(void **state)
{
    (void)state;
    struct as_rig rig;
    init(&rig);
    json_decref(patch(&rig, "configmaps", "default/a", KI_AS_PATCH_MERGE, "{}"));
    json_decref(patch(&rig, "deployments.apps", "default/d", KI_AS_PATCH_STRATEGIC, "{}"));
    assert_int_equal(as_rig_version(&rig), 1007);
    as_rig_fini(&rig);
}

static json_t *scale_of(struct as_rig *rig)
{
    struct ki_as_call call = as_rig_call(rig, "deployments.apps", "default/d");
    const struct ki_as_object *object = as_rig_find(rig, "deployments.apps", call.ns, call.name);
    return ki_as_scale_of(call.resource, object);
}

static void a_status_update_also_changes_labels_in_most_kinds(void **state)
{
    (void)state;
    struct as_rig rig;
    init(&rig);
    json_decref(as_rig_create(&rig, "pods", "default/",
                              "{'metadata':{'name':'p'},'spec':{'containers':[{'name':'c','image':'i'}]}}"));
    json_t *tree = as_rig_update(&rig, "pods/status", "default/p",
                                 "{'metadata':{'name':'p','labels':{'a':'b'}},'status':{'phase':'Running'}}");
    assert_string_equal(as_rig_text(json_incref(tree), "metadata.labels.a"), "b");
    assert_string_equal(as_rig_text(json_incref(tree), "spec.containers.0.name"), "c");
    assert_string_equal(as_rig_text(tree, "status.phase"), "Running");
    as_rig_fini(&rig);
}

static void a_service_keeps_its_address(void **state)
{
    (void)state;
    struct as_rig rig;
    init(&rig);
    json_decref(as_rig_create(&rig, "services", "default/",
                              "{'metadata':{'name':'h'},'spec':{'clusterIP':'None','ports':[{'port':80}]}}"));
    json_t *tree = as_rig_update(&rig, "services", "default/h",
                                 "{'metadata':{'name':'h'},'spec':{'clusterIP':'','ports':[{'port':80}]}}");
    assert_string_equal(as_rig_text(tree, "spec.clusterIP"), "None");
    as_rig_fini(&rig);
}

static void clients_cannot_set_the_deletion_time(void **state)
{
    (void)state;
    struct as_rig rig;
    init(&rig);
    as_rig_refuse_update(&rig, "configmaps", "default/a",
                         "{'metadata':{'name':'a','deletionTimestamp':'2026-01-02T03:04:05Z'}}");
    assert_refused(&rig.failure, 422,
                   "ConfigMap \"a\" is invalid: metadata.deletionTimestamp: Invalid value: "
                   "\"2026-01-02T03:04:05Z\": field is immutable");
    as_rig_fini(&rig);
}

static void a_scale_shows_and_sets_replicas(void **state)
{
    (void)state;
    struct as_rig rig;
    init(&rig);
    json_t *scale = scale_of(&rig);
    assert_string_equal(json_string_value(json_object_get(scale, "kind")), "Scale");
    assert_tree(json_incref(json_object_get(scale, "spec")), "{'replicas':2}");
    assert_tree(json_incref(json_object_get(scale, "status")), "{'replicas':0,'selector':'a=b'}");
    json_decref(scale);
    json_t *tree = as_rig_update(&rig, "deployments.apps/scale", "default/d",
                                 "{'kind':'Scale','metadata':{'name':'d'},'spec':{'replicas':5}}");
    assert_int_equal(as_rig_number(json_incref(tree), "spec.replicas"), 5);
    assert_int_equal(as_rig_number(tree, "metadata.generation"), 2);
    tree = patch(&rig, "deployments.apps/scale", "default/d", KI_AS_PATCH_MERGE, "{'spec':{'replicas':6}}");
    assert_int_equal(as_rig_number(tree, "spec.replicas"), 6);
    as_rig_refuse_update(&rig, "deployments.apps/scale", "default/d",
                         "{'metadata':{'name':'d'},'spec':{'replicas':-1}}");
    assert_refused_with(&rig.failure, 422,
                        "spec.replicas: Invalid value: -1: must be greater than or equal to 0");
    as_rig_refuse_update(&rig, "deployments.apps/scale", "default/d",
                         "{'metadata':{'name':'d','resourceVersion':'1'},'spec':{'replicas':1}}");
    assert_refused_with(&rig.failure, 409, "the object has been modified");
    as_rig_refuse_update(&rig, "deployments.apps/scale", "default/d", "{'spec':{'replicas':1}}");
    assert_refused(&rig.failure, 400,
                   "the name of the object (d based on URL) was undeterminable: name must be provided");
    as_rig_refuse_update(&rig, "deployments.apps/scale", "default/d", "{'metadata':{'name':'e'}}");
    assert_refused(&rig.failure, 400, "the name of the object (e) does not match the name on the URL (d)");
    as_rig_fini(&rig);
}

static void a_client_that_scales_is_its_own_manager(void **state)
{
    (void)state;
    struct as_rig rig;
    init(&rig);
    struct ki_as_call call = as_rig_call(&rig, "deployments.apps/scale", "default/d");
    struct ki_as_object *object = NULL;
    json_t *body = tree_of("{'metadata':{'name':'d'},'spec':{'replicas':7}}");
    call.field_manager = KI_STR("me");
    assert_taken(ki_as_update(&call, body, &object, NULL, &rig.failure), &rig.failure);
    ki_as_object_unref(object);
    json_decref(body);
    json_t *tree = as_rig_get(&rig, "deployments.apps", "default/d");
    const json_t *entries = ki_as_tree_at(tree, "metadata.managedFields");
    const json_t *entry = json_array_get(entries, json_array_size(entries) - 1);
    assert_string_equal(ki_as_tree_text(entry, "subresource"), "scale");
    assert_tree(json_incref(json_object_get(entry, "fieldsV1")), "{'f:spec':{'f:replicas':{}}}");
    json_decref(tree);
    as_rig_fini(&rig);
}

static bool update_without_memory(void *user)
{
    struct as_rig *rig = user;
    struct ki_as_failure failure = {0};
    struct ki_as_object *object = NULL;
    static int count = 0;
    json_t *body = json_pack("{s:{s:i}}", "spec", "replicas", 10 + count);
    if (body == NULL)
        return false;
    struct ki_as_call call = as_rig_call(rig, "deployments.apps/scale", "default/d");
    uint64_t before = as_rig_version(rig);
    call.field_manager = KI_STR("me");
    int rc = ki_as_patch(&call, KI_AS_PATCH_MERGE, body, &object, NULL, &failure);
    assert_int_equal(as_rig_version(rig), rc == 0 ? before + 1 : before);
    count += rc == 0;
    ki_as_object_unref(object);
    ki_as_failure_fini(&failure);
    json_decref(body);
    return rc == 0;
}

static bool seed_and_update(void *user)
{
    (void)user;
    struct as_rig rig;
    bool is_done =
        as_rig_try_init_seeded(&rig) &&
        as_rig_try_create(&rig, "deployments.apps", "default/",
                          "{\"metadata\":{\"name\":\"d\"},\"spec\":{\"selector\":{\"matchLabels\":{"
                          "\"a\":\"b\"}},\"template\":{\"metadata\":{\"labels\":{\"a\":\"b\"}},"
                          "\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}}") &&
        update_without_memory(&rig);
    as_rig_fini(&rig);
    return is_done;
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    assert_survives_no_memory(seed_and_update, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_update_replaces_all_but_server_set_fields),
        cmocka_unit_test(a_stale_version_is_a_conflict),
        cmocka_unit_test(version_zero_counts_as_missing),
        cmocka_unit_test(a_version_that_is_not_a_number_is_refused),
        cmocka_unit_test(an_update_without_a_change_has_no_new_version),
        cmocka_unit_test(generations_count_only_changes_of_the_spec),
        cmocka_unit_test(generations_count_annotations_of_deployments),
        cmocka_unit_test(status_and_spec_are_updated_separately),
        cmocka_unit_test(an_update_of_a_missing_object_is_404_except_for_some_kinds),
        cmocka_unit_test(a_name_that_differs_from_the_path_is_refused),
        cmocka_unit_test(managers_take_fields_from_each_other),
        cmocka_unit_test(patches_are_updates_of_the_stored_object),
        cmocka_unit_test(an_applied_object_must_have_the_right_kind_and_uid),
        cmocka_unit_test(an_empty_patch_changes_nothing),
        cmocka_unit_test(a_status_update_also_changes_labels_in_most_kinds),
        cmocka_unit_test(a_service_keeps_its_address),
        cmocka_unit_test(clients_cannot_set_the_deletion_time),
        cmocka_unit_test(a_scale_shows_and_sets_replicas),
        cmocka_unit_test(a_client_that_scales_is_its_own_manager),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return RUN_TESTS(tests);
}
