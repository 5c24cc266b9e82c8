/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apiserver/storage/storage_layout.h"
#include "support/apiserver/as_rig.h"
#include "support/apiserver/trees.h"
#include "support/unit.h"

#define WIDGETS                                                                                              \
    "{'metadata':{'name':'widgets.example.com'},'spec':{'group':'example.com','scope':'Namespaced','names':" \
    "{'plural':"                                                                                             \
    "'widgets','kind':'Widget'},'versions':[{'name':'v1','served':true,'storage':true,'schema':{'"           \
    "openAPIV3Schema':{"                                                                                     \
    "'type':'object','x-kubernetes-preserve-unknown-fields':true}},'subresources':{'status':{}}}]}}"
#define CRDS "customresourcedefinitions.apiextensions.k8s.io"

static void create(struct as_rig *rig, const char *resource, const char *key, const char *body)
{
    json_decref(as_rig_create(rig, resource, key, body));
}

static void no_wake(void *user)
{
    (void)user;
}

static struct ki_as_watch *open_watch(struct as_rig *rig, const char *resource)
{
    struct ki_as_watch_options options = {.resource = as_rig_resource(rig, resource), .wake = no_wake};
    struct ki_as_watch *watch = NULL;
    options.after = as_rig_version(rig);
    assert_int_equal(ki_as_watch_open(rig->storage, &options, &watch), 0);
    return watch;
}

static void an_object_without_finalizers_is_deleted_at_once(void **state)
{
    (void)state;
    struct as_rig rig;
    as_rig_init_seeded(&rig);
    create(&rig, "configmaps", "default/", "{'metadata':{'name':'a'}}");
    struct ki_as_watch *watch = open_watch(&rig, "configmaps");
    assert_true(as_rig_delete(&rig, "configmaps", "default/a"));
    assert_null(as_rig_get(&rig, "configmaps", "default/a"));
    assert_string_equal(as_rig_events(watch), "DELETED a 1007");
    ki_as_watch_close(watch);
    as_rig_fini(&rig);
}

static int delete_with(struct as_rig *rig, const char *key, const char *options_text)
{
    struct ki_as_call call = as_rig_call(rig, "configmaps", key);
    struct ki_as_object *object = NULL;
    bool is_gone = false;
    json_t *options = tree_of(options_text);
    int rc = ki_as_delete(&call, options, &object, &is_gone, &rig->failure);
    ki_as_object_unref(object);
    json_decref(options);
    return rc;
}

static void preconditions_are_checked(void **state)
{
    (void)state;
    struct as_rig rig;
    as_rig_init_seeded(&rig);
    create(&rig, "configmaps", "default/", "{'metadata':{'name':'a'}}");
    assert_int_equal(delete_with(&rig, "default/a", "{'preconditions':{'uid':'x'}}"), -1);
    assert_refused_with(&rig.failure, 409,
                        "Operation cannot be fulfilled on configmaps \"a\": the UID in the precondition (x) "
                        "does not match the UID in record (");
    assert_int_equal(delete_with(&rig, "default/a", "{'preconditions':{'resourceVersion':'5'}}"), -1);
    assert_refused_with(
        &rig.failure, 409,
        "the ResourceVersion in the precondition (5) does not match the ResourceVersion in record "
        "(1006). The object might have been modified");
    assert_int_equal(delete_with(&rig, "default/b", "{}"), -1);
    assert_refused(&rig.failure, 404, "configmaps \"b\" not found");
    assert_int_equal(delete_with(&rig, "default/a", "{'dryRun':['All']}"), 0);
    json_decref(as_rig_get(&rig, "configmaps", "default/a"));
    assert_int_equal(as_rig_version(&rig), 1006);
    assert_int_equal(
        delete_with(&rig, "default/a",
                    "{'propagationPolicy':'Foreground','preconditions':{'resourceVersion':'1006'}}"),
        0);
    assert_null(as_rig_get(&rig, "configmaps", "default/a"));
    as_rig_fini(&rig);
}

static void finalizers_keep_an_object_until_the_last_is_removed(void **state)
{
    (void)state;
    struct as_rig rig;
    as_rig_init_seeded(&rig);
    create(&rig, "configmaps", "default/", "{'metadata':{'name':'a','finalizers':['x.io/a','x.io/b']}}");
    struct ki_as_watch *watch = open_watch(&rig, "configmaps");
    assert_false(as_rig_delete(&rig, "configmaps", "default/a"));
    assert_false(as_rig_delete(&rig, "configmaps", "default/a"));
    json_t *tree = as_rig_get(&rig, "configmaps", "default/a");
    assert_int_equal(as_rig_number(json_incref(tree), "metadata.deletionGracePeriodSeconds"), 0);
    assert_string_not_equal(as_rig_text(tree, "metadata.deletionTimestamp"), "");
    json_decref(as_rig_update(&rig, "configmaps", "default/a", "{'metadata':{'finalizers':['x.io/b']}}"));
    json_decref(as_rig_get(&rig, "configmaps", "default/a"));
    json_decref(as_rig_update(&rig, "configmaps", "default/a", "{'metadata':{}}"));
    assert_null(as_rig_get(&rig, "configmaps", "default/a"));
    assert_string_equal(as_rig_events(watch), "MODIFIED a 1007, MODIFIED a 1008, DELETED a 1009");
    ki_as_watch_close(watch);
    as_rig_fini(&rig);
}

static void a_collection_is_deleted_by_selector(void **state)
{
    (void)state;
    struct as_rig rig;
    as_rig_init_seeded(&rig);
    create(&rig, "configmaps", "default/", "{'metadata':{'name':'a','labels':{'x':'1'}}}");
    create(&rig, "configmaps", "default/",
           "{'metadata':{'name':'b','labels':{'x':'1'},'finalizers':['x.io/f']}}");
    create(&rig, "configmaps", "default/", "{'metadata':{'name':'c'}}");
    create(&rig, "configmaps", "kube-public/", "{'metadata':{'name':'d','labels':{'x':'1'}}}");
    struct ki_as_call call = as_rig_call(&rig, "configmaps", "default/");
    struct ki_as_selector *selector = NULL;
    struct ki_as_page page = {0};
    assert_int_equal(ki_as_selector_parse(KI_STR("x=1"), KI_STR(""), call.resource, &selector, &rig.failure),
                     0);
    assert_taken(ki_as_delete_collection(&call, selector, NULL, &page, &rig.failure), &rig.failure);
    assert_string_equal(as_rig_names(&page), "a b");
    assert_true(page.objects[1]->is_deleting);
    ki_as_page_fini(&page);
    ki_as_selector_free(selector);
    assert_null(as_rig_get(&rig, "configmaps", "default/a"));
    json_decref(as_rig_get(&rig, "configmaps", "default/b"));
    json_decref(as_rig_get(&rig, "configmaps", "default/c"));
    json_decref(as_rig_get(&rig, "configmaps", "kube-public/d"));
    as_rig_fini(&rig);
}

static void a_collection_is_deleted_up_to_a_limit(void **state)
{
    (void)state;
    struct as_rig rig;
    as_rig_init_seeded(&rig);
    create(&rig, "configmaps", "default/", "{'metadata':{'name':'a'}}");
    create(&rig, "configmaps", "default/", "{'metadata':{'name':'b'}}");
    create(&rig, "configmaps", "default/", "{'metadata':{'name':'c'}}");
    struct ki_as_call call = as_rig_call(&rig, "configmaps", "default/");
    struct ki_as_page page = {0};
    call.limit = 2;
    assert_taken(ki_as_delete_collection(&call, NULL, NULL, &page, &rig.failure), &rig.failure);
    assert_string_equal(as_rig_names(&page), "a b");
    ki_as_page_fini(&page);
    assert_null(as_rig_get(&rig, "configmaps", "default/b"));
    json_decref(as_rig_get(&rig, "configmaps", "default/c"));
    as_rig_fini(&rig);
}

static void deleting_a_namespace_deletes_its_content(void **state)
{
    (void)state;
    struct as_rig rig;
    as_rig_init_seeded(&rig);
    create(&rig, "namespaces", "", "{'metadata':{'name':'team'}}");
    create(&rig, "configmaps", "team/", "{'metadata':{'name':'a'}}");
    create(&rig, "secrets", "team/", "{'metadata':{'name':'s'}}");
    create(&rig, "configmaps", "default/", "{'metadata':{'name':'other'}}");
    struct ki_as_watch *watch = open_watch(&rig, "namespaces");
    assert_true(as_rig_delete(&rig, "namespaces", "team"));
    assert_null(as_rig_get(&rig, "configmaps", "team/a"));
    assert_null(as_rig_get(&rig, "secrets", "team/s"));
    assert_null(as_rig_get(&rig, "namespaces", "team"));
    json_decref(as_rig_get(&rig, "configmaps", "default/other"));
    assert_string_equal(as_rig_events(watch), "MODIFIED team 1010, DELETED team 1013");
    ki_as_watch_close(watch);
    as_rig_fini(&rig);
}

static void a_namespace_waits_for_finalizers_of_its_content(void **state)
{
    (void)state;
    struct as_rig rig;
    as_rig_init_seeded(&rig);
    create(&rig, "namespaces", "", "{'metadata':{'name':'team'}}");
    create(&rig, "configmaps", "team/", "{'metadata':{'name':'a','finalizers':['x.io/f']}}");
    assert_false(as_rig_delete(&rig, "namespaces", "team"));
    assert_string_equal(as_rig_text(as_rig_get(&rig, "namespaces", "team"), "status.phase"), "Terminating");
    as_rig_refuse_create(&rig, "configmaps", "team/", "{'metadata':{'name':'b'}}");
    assert_refused(
        &rig.failure, 403,
        "configmaps \"b\" is forbidden: unable to create new content in namespace team because it is being "
        "terminated");
    json_decref(as_rig_update(&rig, "configmaps", "team/a", "{'metadata':{}}"));
    assert_null(as_rig_get(&rig, "configmaps", "team/a"));
    assert_null(as_rig_get(&rig, "namespaces", "team"));
    as_rig_fini(&rig);
}

static void some_namespaces_cannot_be_deleted(void **state)
{
    (void)state;
    struct as_rig rig;
    as_rig_init_seeded(&rig);
    struct ki_as_call call = as_rig_call(&rig, "namespaces", "default");
    struct ki_as_object *object = NULL;
    bool is_gone = false;
    assert_int_equal(ki_as_delete(&call, NULL, &object, &is_gone, &rig.failure), -1);
    assert_refused(&rig.failure, 403,
                   "namespaces \"default\" is forbidden: this namespace may not be deleted");
    as_rig_fini(&rig);
}

static void purge(struct as_rig *rig, const char *resource, const char *key)
{
    struct ki_as_call call = as_rig_call(rig, resource, key);
    struct ki_as_object *object = NULL;
    bool is_gone = false;
    call.is_purge = true;
    assert_taken(ki_as_delete(&call, NULL, &object, &is_gone, &rig->failure), &rig->failure);
    assert_true(is_gone);
    ki_as_object_unref(object);
    assert_null(as_rig_get(rig, resource, key));
}

static void a_purge_ignores_finalizers_and_is_one_change(void **state)
{
    (void)state;
    struct as_rig rig;
    as_rig_init_seeded(&rig);
    create(&rig, "configmaps", "default/", "{'metadata':{'name':'a','finalizers':['x.io/f']}}");
    struct ki_as_watch *watch = open_watch(&rig, "configmaps");
    purge(&rig, "configmaps", "default/a");
    assert_string_equal(as_rig_events(watch), "DELETED a 1007");
    ki_as_watch_close(watch);
    as_rig_fini(&rig);
}

static void a_purge_of_a_namespace_purges_its_content(void **state)
{
    (void)state;
    struct as_rig rig;
    as_rig_init_seeded(&rig);
    create(&rig, "namespaces", "", "{'metadata':{'name':'team','finalizers':['x.io/f']}}");
    create(&rig, "configmaps", "team/", "{'metadata':{'name':'a','finalizers':['x.io/f']}}");
    purge(&rig, "namespaces", "team");
    assert_null(as_rig_get(&rig, "configmaps", "team/a"));
    create(&rig, CRDS, "", WIDGETS);
    create(&rig, "widgets.example.com", "default/", "{'metadata':{'name':'w','finalizers':['x.io/f']}}");
    purge(&rig, CRDS, "widgets.example.com");
    create(&rig, CRDS, "", WIDGETS);
    assert_null(as_rig_get(&rig, "widgets.example.com", "default/w"));
    as_rig_fini(&rig);
}

static void a_purge_leaves_a_terminating_namespace_to_its_finalizers(void **state)
{
    (void)state;
    struct as_rig rig;
    as_rig_init_seeded(&rig);
    create(&rig, "namespaces", "", "{'metadata':{'name':'team','finalizers':['x.io/f']}}");
    create(&rig, "configmaps", "team/", "{'metadata':{'name':'a','finalizers':['x.io/f']}}");
    assert_false(as_rig_delete(&rig, "namespaces", "team"));
    purge(&rig, "configmaps", "team/a");
    assert_string_equal(as_rig_text(as_rig_get(&rig, "namespaces", "team"), "status.phase"), "Terminating");
    as_rig_fini(&rig);
}

static void a_definition_is_served_at_once_and_reports_it(void **state)
{
    (void)state;
    struct as_rig rig;
    as_rig_init_seeded(&rig);
    json_t *tree = as_rig_create(&rig, CRDS, "", WIDGETS);
    assert_string_equal(as_rig_text(json_incref(tree), "status.conditions.0.type"), "NamesAccepted");
    assert_string_equal(as_rig_text(json_incref(tree), "status.conditions.1.type"), "Established");
    assert_string_equal(as_rig_text(json_incref(tree), "status.conditions.1.status"), "True");
    assert_string_equal(as_rig_text(json_incref(tree), "status.acceptedNames.listKind"), "WidgetList");
    assert_string_equal(as_rig_text(json_incref(tree), "status.storedVersions.0"), "v1");
    assert_string_equal(as_rig_text(tree, "spec.names.singular"), "widget");
    json_t *widget = as_rig_create(&rig, "widgets.example.com", "default/",
                                   "{'metadata':{'name':'w'},'spec':{'a':1},'status':{'b':2}}");
    assert_int_equal(as_rig_number(json_incref(widget), "metadata.generation"), 1);
    assert_int_equal(as_rig_number(widget, "status.b"), -1);
    as_rig_refuse_update(&rig, "widgets.example.com", "default/w",
                         "{'metadata':{'name':'w'},'spec':{'a':2}}");
    assert_refused_with(&rig.failure, 422,
                        "metadata.resourceVersion: Invalid value: 0: must be specified for an update");
    as_rig_fini(&rig);
}

static void the_end_of_a_definition_ends_its_objects_and_watches(void **state)
{
    (void)state;
    struct as_rig rig;
    as_rig_init_seeded(&rig);
    create(&rig, CRDS, "", WIDGETS);
    create(&rig, "widgets.example.com", "default/", "{'metadata':{'name':'w'}}");
    struct ki_as_watch *watch = open_watch(&rig, "widgets.example.com");
    struct ki_as_call call = as_rig_call(&rig, "widgets.example.com", "default/");
    (void)ki_as_resource_ref(call.resource);
    assert_true(as_rig_delete(&rig, CRDS, "widgets.example.com"));
    assert_string_equal(as_rig_events(watch), "DELETED w 1009, gone");
    struct ki_as_object *object = NULL;
    json_t *body = tree_of("{'metadata':{'name':'late'}}");
    assert_int_equal(ki_as_create(&call, body, &object, &rig.failure), -1);
    assert_int_equal(rig.failure.code, 404);
    ki_as_failure_fini(&rig.failure);
    json_decref(body);
    ki_as_resource_unref(call.resource);
    create(&rig, CRDS, "", WIDGETS);
    assert_null(as_rig_get(&rig, "widgets.example.com", "default/w"));
    ki_as_watch_close(watch);
    as_rig_fini(&rig);
}

static bool add_history_bytes(struct ki_as_collection *collection, void *user)
{
    *(size_t *)user += collection->history.bytes;
    return true;
}

/* The bytes that only the histories of all collections keep. */
static size_t history_bytes(struct as_rig *rig)
{
    size_t bytes = 0;
    ki_as_storage_lock(rig->storage);
    ki_as_storage_visit(rig->storage, add_history_bytes, &bytes);
    ki_as_storage_unlock(rig->storage);
    return bytes;
}

/* If a watch has not read all of it yet, the history is freed when the watch has. */
static void the_end_of_a_definition_frees_its_history(void **state)
{
    (void)state;
    enum { BYTES = 1000000, ROUNDS = 4, SMALL = 100000 };
    struct as_rig rig;
    as_rig_init_seeded(&rig);
    char *text = malloc(BYTES + 100);
    size_t len = (size_t)sprintf(text, "{'metadata':{'name':'w'},'spec':{'x':'");
    memset(text + len, 'x', BYTES);
    strcpy(text + len + BYTES, "'}}");
    for (int i = 0; i < ROUNDS; i++) {
        create(&rig, CRDS, "", WIDGETS);
        struct ki_as_watch *watch = i % 2 == 0 ? NULL : open_watch(&rig, "widgets.example.com");
        create(&rig, "widgets.example.com", "default/", text);
        assert_true(as_rig_delete(&rig, CRDS, "widgets.example.com"));
        if (watch != NULL) {
            assert_true(history_bytes(&rig) > BYTES);
            assert_non_null(strstr(as_rig_events(watch), "gone"));
        }
        assert_true(history_bytes(&rig) < SMALL);
        ki_as_watch_close(watch);
    }
    free(text);
    as_rig_fini(&rig);
}

static void a_version_that_is_no_longer_served_ends_its_watches(void **state)
{
    (void)state;
    struct as_rig rig;
    as_rig_init_seeded(&rig);
    create(&rig, CRDS, "", WIDGETS);
    create(&rig, "widgets.example.com", "default/", "{'metadata':{'name':'w'}}");
    struct ki_as_watch *watch = open_watch(&rig, "widgets.example.com");
    struct ki_as_call call = as_rig_call(&rig, CRDS, "widgets.example.com");
    struct ki_as_object *object = NULL;
    json_t *patch = tree_of(
        "{'spec':{'versions':[{'name':'v1','served':false,'storage':true,'schema':{'openAPIV3Schema':{"
        "'type':'object'}}},{'name':'v2','served':true,'storage':false,'schema':{'openAPIV3Schema':{"
        "'type':'object'}}}]}}");
    assert_taken(ki_as_patch(&call, KI_AS_PATCH_MERGE, patch, &object, NULL, &rig.failure), &rig.failure);
    json_decref(patch);
    ki_as_object_unref(object);
    assert_string_equal(as_rig_events(watch), "gone");
    assert_null(as_rig_served(&rig, "example.com", "v1", "widgets"));
    struct ki_as_resource *second = as_rig_served(&rig, "example.com", "v2", "widgets");
    ki_as_storage_lock(rig.storage);
    assert_int_equal(ki_as_collection_count(ki_as_storage_collection(rig.storage, second)), 1);
    ki_as_storage_unlock(rig.storage);
    ki_as_watch_close(watch);
    as_rig_fini(&rig);
}

/* Sets `served` of the only version. */
static void serve(struct as_rig *rig, bool is_served)
{
    struct ki_as_call call = as_rig_call(rig, CRDS, "widgets.example.com");
    struct ki_as_object *object = NULL;
    json_t *patch = json_pack("[{s:s, s:s, s:b}]", "op", "replace", "path", "/spec/versions/0/served",
                              "value", is_served);
    assert_taken(ki_as_patch(&call, KI_AS_PATCH_JSON, patch, &object, NULL, &rig->failure), &rig->failure);
    json_decref(patch);
    ki_as_object_unref(object);
    bool is_found = as_rig_served(rig, "example.com", "v1", "widgets") != NULL;
    assert_int_equal(is_found, is_served);
}

static void objects_are_found_again_when_they_are_served_again(void **state)
{
    (void)state;
    struct as_rig rig;
    as_rig_init_seeded(&rig);
    create(&rig, CRDS, "", WIDGETS);
    create(&rig, "widgets.example.com", "default/", "{'metadata':{'name':'w'}}");
    struct ki_as_watch *watch = open_watch(&rig, "widgets.example.com");
    serve(&rig, false);
    assert_string_equal(as_rig_events(watch), "gone");
    ki_as_watch_close(watch);
    serve(&rig, true);
    assert_string_equal(as_rig_text(as_rig_get(&rig, "widgets.example.com", "default/w"), "metadata.name"),
                        "w");
    as_rig_fini(&rig);
}

static void the_end_of_a_definition_ends_objects_that_are_not_served(void **state)
{
    (void)state;
    struct as_rig rig;
    as_rig_init_seeded(&rig);
    create(&rig, CRDS, "", WIDGETS);
    create(&rig, "widgets.example.com", "default/", "{'metadata':{'name':'w'}}");
    create(&rig, "widgets.example.com", "default/", "{'metadata':{'name':'x','finalizers':['x.io/f']}}");
    serve(&rig, false);
    assert_false(as_rig_delete(&rig, CRDS, "widgets.example.com"));
    serve(&rig, true);
    assert_null(as_rig_get(&rig, "widgets.example.com", "default/w"));
    struct ki_as_call call = as_rig_call(&rig, "widgets.example.com", "default/x");
    struct ki_as_object *object = NULL;
    json_t *patch = tree_of("{'metadata':{'finalizers':null}}");
    (void)ki_as_resource_ref(call.resource);
    assert_taken(ki_as_patch(&call, KI_AS_PATCH_MERGE, patch, &object, NULL, &rig.failure), &rig.failure);
    ki_as_resource_unref(call.resource);
    ki_as_object_unref(object);
    json_decref(patch);
    assert_null(as_rig_get(&rig, CRDS, "widgets.example.com"));
    create(&rig, CRDS, "", WIDGETS);
    assert_int_equal(as_rig_count(&rig, "widgets.example.com"), 0);
    as_rig_fini(&rig);
}

static void deleting_a_namespace_also_deletes_objects_that_are_not_served(void **state)
{
    (void)state;
    struct as_rig rig;
    as_rig_init_seeded(&rig);
    create(&rig, CRDS, "", WIDGETS);
    create(&rig, "namespaces", "", "{'metadata':{'name':'team'}}");
    create(&rig, "widgets.example.com", "team/", "{'metadata':{'name':'w'}}");
    create(&rig, "widgets.example.com", "default/", "{'metadata':{'name':'other'}}");
    serve(&rig, false);
    assert_true(as_rig_delete(&rig, "namespaces", "team"));
    serve(&rig, true);
    assert_null(as_rig_get(&rig, "widgets.example.com", "team/w"));
    json_decref(as_rig_get(&rig, "widgets.example.com", "default/other"));
    as_rig_fini(&rig);
}

static void a_definition_waits_for_finalizers_of_its_objects(void **state)
{
    (void)state;
    struct as_rig rig;
    as_rig_init_seeded(&rig);
    create(&rig, CRDS, "", WIDGETS);
    create(&rig, "widgets.example.com", "default/", "{'metadata':{'name':'w','finalizers':['x.io/f']}}");
    assert_false(as_rig_delete(&rig, CRDS, "widgets.example.com"));
    const char *version =
        as_rig_text(as_rig_get(&rig, "widgets.example.com", "default/w"), "metadata.resourceVersion");
    json_t *body = json_pack("{s:{s:s}}", "metadata", "resourceVersion", version);
    struct ki_as_call call = as_rig_call(&rig, "widgets.example.com", "default/w");
    struct ki_as_object *object = NULL;
    (void)ki_as_resource_ref(call.resource);
    assert_taken(ki_as_update(&call, body, &object, NULL, &rig.failure), &rig.failure);
    ki_as_object_unref(object);
    ki_as_resource_unref(call.resource);
    json_decref(body);
    assert_null(as_rig_get(&rig, CRDS, "widgets.example.com"));
    as_rig_fini(&rig);
}

static void a_terminating_definition_accepts_no_new_objects(void **state)
{
    (void)state;
    struct as_rig rig;
    as_rig_init_seeded(&rig);
    create(&rig, CRDS, "", WIDGETS);
    create(&rig, "widgets.example.com", "default/", "{'metadata':{'name':'w','finalizers':['x.io/f']}}");
    assert_false(as_rig_delete(&rig, CRDS, "widgets.example.com"));
    json_t *definition = as_rig_get(&rig, CRDS, "widgets.example.com");
    const json_t *conditions = json_object_get(json_object_get(definition, "status"), "conditions");
    assert_int_equal(json_array_size(conditions), 3);
    const json_t *last = json_array_get(conditions, 2);
    assert_string_equal(json_string_value(json_object_get(last, "type")), "Terminating");
    assert_string_equal(json_string_value(json_object_get(last, "reason")), "InstanceDeletionInProgress");
    json_decref(definition);
    as_rig_refuse_create(&rig, "widgets.example.com", "default/", "{'metadata':{'name':'late'}}");
    assert_tree(json_incref(json_object_get(rig.failure.status, "details")),
                "{'group':'example.com','kind':'widgets'}");
    assert_refused(&rig.failure, 405, "create not allowed while custom resource definition is terminating");
    struct ki_as_call call = as_rig_call(&rig, "widgets.example.com", "default/late");
    struct ki_as_object *object = NULL;
    json_t *body = tree_of("{'apiVersion':'example.com/v1','kind':'Widget','metadata':{'name':'late'}}");
    call.field_manager = KI_STR("m");
    assert_int_equal(ki_as_patch(&call, KI_AS_PATCH_APPLY, body, &object, NULL, &rig.failure), -1);
    assert_refused(&rig.failure, 403,
                   "widgets.example.com \"late\" is forbidden: create not allowed while custom resource "
                   "definition is terminating");
    json_decref(body);
    as_rig_fini(&rig);
}

static bool try_delete(struct as_rig *rig, const char *resource, const char *name)
{
    struct ki_as_call call = as_rig_call(rig, resource, name);
    struct ki_as_object *object = NULL;
    bool is_gone = false;
    bool is_done = ki_as_delete(&call, NULL, &object, &is_gone, &rig->failure) == 0;
    ki_as_object_unref(object);
    return is_done;
}

static bool define_and_delete(void *user)
{
    (void)user;
    struct as_rig rig;
    bool is_done =
        as_rig_try_init_seeded(&rig) &&
        as_rig_try_create(&rig, CRDS, "",
                          "{\"metadata\":{\"name\":\"widgets.example.com\"},\"spec\":{\"group\":"
                          "\"example.com\",\"scope\":\"Cluster\",\"names\":{\"plural\":\"widgets\","
                          "\"kind\":\"Widget\"},\"versions\":[{\"name\":\"v1\",\"served\":true,"
                          "\"storage\":true,\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\"}}}]"
                          "}}") &&
        try_delete(&rig, CRDS, "widgets.example.com") && try_delete(&rig, "namespaces", "kube-node-lease");
    as_rig_fini(&rig);
    return is_done;
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    assert_survives_no_memory(define_and_delete, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_object_without_finalizers_is_deleted_at_once),
        cmocka_unit_test(preconditions_are_checked),
        cmocka_unit_test(finalizers_keep_an_object_until_the_last_is_removed),
        cmocka_unit_test(a_collection_is_deleted_by_selector),
        cmocka_unit_test(a_collection_is_deleted_up_to_a_limit),
        cmocka_unit_test(deleting_a_namespace_deletes_its_content),
        cmocka_unit_test(a_namespace_waits_for_finalizers_of_its_content),
        cmocka_unit_test(some_namespaces_cannot_be_deleted),
        cmocka_unit_test(a_purge_ignores_finalizers_and_is_one_change),
        cmocka_unit_test(a_purge_of_a_namespace_purges_its_content),
        cmocka_unit_test(a_purge_leaves_a_terminating_namespace_to_its_finalizers),
        cmocka_unit_test(a_definition_is_served_at_once_and_reports_it),
        cmocka_unit_test(the_end_of_a_definition_ends_its_objects_and_watches),
        cmocka_unit_test(the_end_of_a_definition_frees_its_history),
        cmocka_unit_test(a_version_that_is_no_longer_served_ends_its_watches),
        cmocka_unit_test(objects_are_found_again_when_they_are_served_again),
        cmocka_unit_test(the_end_of_a_definition_ends_objects_that_are_not_served),
        cmocka_unit_test(deleting_a_namespace_also_deletes_objects_that_are_not_served),
        cmocka_unit_test(a_definition_waits_for_finalizers_of_its_objects),
        cmocka_unit_test(a_terminating_definition_accepts_no_new_objects),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return RUN_TESTS(tests);
}
