/* SPDX-License-Identifier: Apache-2.0 */
/* Updates by who has made the whole object, of which only what differs is read. */
#include <string.h>

#include "support/as_rig.h"
#include "support/failing_allocator.h"
#include "support/trees.h"
#include "support/unit.h"

/* Each must succeed; what is stored then as a tree. A name of "" creates. */
static json_t *put(struct as_rig *rig, const char *resource, const char *key, const char *text)
{
    struct ki_as_call call = as_rig_call(rig, resource, key);
    struct ki_as_object *object = NULL;
    json_t *body = tree_of(text);
    call.field_manager = KI_STR("one");
    call.is_whole = true;
    call.is_sketch = true;
    assert_taken(ki_as_update(&call, body, &object, NULL, &rig->failure), &rig->failure);
    ki_as_object_unref(object);
    json_decref(body);
    return as_rig_get(rig, resource, key);
}

/* Forgets both. */
static void assert_same_version(json_t *before, json_t *after, bool is_same)
{
    const char *old =
        json_string_value(json_object_get(json_object_get(before, "metadata"), "resourceVersion"));
    const char *new =
        json_string_value(json_object_get(json_object_get(after, "metadata"), "resourceVersion"));
    assert_int_equal(strcmp(old, new) == 0, is_same);
    json_decref(before);
    json_decref(after);
}

#define POD(more, spec, status)                                                                              \
    "{'metadata':{'name':'p'" more "},'spec':{'containers':[{'name':'c','image':'i'}]" spec                  \
    "},'status':{" status "}}"

static void the_same_again_changes_nothing(void **state)
{
    (void)state;
    struct as_rig rig;
    as_rig_init_seeded(&rig);
    json_t *before = put(&rig, "pods", "default/p", POD("", "", "'podIP':'1.2.3.4'"));
    assert_same_version(before, put(&rig, "pods", "default/p", POD("", "", "'podIP':'1.2.3.4'")), true);
    as_rig_fini(&rig);
}

static void one_part_after_the_other_is_replaced(void **state)
{
    (void)state;
    struct as_rig rig;
    as_rig_init_seeded(&rig);
    json_decref(put(&rig, "pods", "default/p", POD("", "", "'phase':'Pending'")));
    assert_string_equal(
        as_rig_text(put(&rig, "pods", "default/p", POD("", "", "'phase':'Running'")), "status.phase"),
        "Running");
    assert_string_equal(
        as_rig_text(put(&rig, "pods", "default/p", POD(",'labels':{'a':'b'}", "", "'phase':'Running'")),
                    "metadata.labels.a"),
        "b");
    json_t *tree = put(&rig, "pods", "default/p", POD("", ",'nodeName':'n'", "'phase':'Running'"));
    assert_null(json_object_get(json_object_get(tree, "metadata"), "labels"));
    assert_int_equal(json_integer_value(json_object_get(json_object_get(tree, "metadata"), "generation")), 2);
    assert_string_equal(as_rig_text(tree, "spec.nodeName"), "n");
    as_rig_fini(&rig);
}

static void what_may_not_change_is_seen(void **state)
{
    (void)state;
    struct as_rig rig;
    struct ki_as_object *object = NULL;
    as_rig_init_seeded(&rig);
    json_decref(put(&rig, "pods", "default/p", POD("", "", "")));
    struct ki_as_call call = as_rig_call(&rig, "pods", "default/p");
    json_t *body = tree_of(POD("", ",'hostNetwork':true", ""));
    call.field_manager = KI_STR("one");
    call.is_whole = true;
    assert_int_equal(ki_as_update(&call, body, &object, NULL, &rig.failure), -1);
    assert_refused_with(&rig.failure, 422, "pod updates may not change fields");
    json_decref(body);
    as_rig_fini(&rig);
}

static void a_number_that_only_begins_the_same_is_another(void **state)
{
    (void)state;
    struct as_rig rig;
    as_rig_init_seeded(&rig);
    json_t *before =
        put(&rig, "events", "default/e",
            "{'metadata':{'name':'e'},'involvedObject':{'namespace':'default'},'type':'Normal','count':12}");
    json_t *after =
        put(&rig, "events", "default/e",
            "{'metadata':{'name':'e'},'involvedObject':{'namespace':'default'},'type':'Normal','count':1}");
    assert_int_equal(json_integer_value(json_object_get(after, "count")), 1);
    assert_same_version(before, after, false);
    as_rig_fini(&rig);
}

static void members_come_and_go(void **state)
{
    (void)state;
    struct as_rig rig;
    as_rig_init_seeded(&rig);
    json_decref(put(&rig, "configmaps", "default/a",
                    "{'metadata':{'name':'a'},'data':{'k':'1'},'binaryData':{'b':'YQ=='}}"));
    json_t *tree = put(&rig, "configmaps", "default/a", "{'metadata':{'name':'a'},'data':{'k':'1'}}");
    assert_null(json_object_get(tree, "binaryData"));
    json_decref(tree);
    tree = put(&rig, "configmaps", "default/a", "{'metadata':{'name':'a'}}");
    assert_null(json_object_get(tree, "data"));
    json_decref(tree);
    tree = put(&rig, "configmaps", "default/a", "{'metadata':{'name':'a'},'data':{'l':'2'}}");
    assert_string_equal(as_rig_text(tree, "data.l"), "2");
    as_rig_fini(&rig);
}

static void the_owner_of_all_owns_what_is_left_and_what_is_new(void **state)
{
    (void)state;
    struct as_rig rig;
    as_rig_init_seeded(&rig);
    json_decref(put(&rig, "configmaps", "default/a", "{'metadata':{'name':'a'},'data':{'k':'1','l':'1'}}"));
    json_t *tree = put(&rig, "configmaps", "default/a", "{'metadata':{'name':'a'},'data':{'l':'1','m':'1'}}");
    const json_t *entries = json_object_get(json_object_get(tree, "metadata"), "managedFields");
    assert_int_equal(json_array_size(entries), 1);
    assert_tree(json_incref(json_object_get(json_array_get(entries, 0), "fieldsV1")),
                "{'f:data':{'f:l':{},'f:m':{}}}");
    json_decref(tree);
    as_rig_fini(&rig);
}

static bool put_twice(void *user)
{
    (void)user;
    struct as_rig rig = {.storage =
                             ki_as_storage_new(&(struct ki_as_storage_options){.first_version = 1000})};
    struct ki_as_object *object = NULL;
    bool is_done = rig.storage != NULL && ki_as_seed(rig.storage, &rig.failure) == 0;
    for (int i = 0; i < 2 && is_done; i++) {
        struct ki_as_call call = as_rig_call(&rig, "configmaps", "default/a");
        json_t *body = json_loads(i == 0 ? "{\"data\":{\"k\":\"1\"}}" : "{\"data\":{\"k\":\"2\"}}", 0, NULL);
        call.field_manager = KI_STR("one");
        call.is_whole = true;
        is_done = body != NULL && ki_as_update(&call, body, &object, NULL, &rig.failure) == 0;
        if (is_done)
            ki_as_object_unref(object);
        json_decref(body);
    }
    ki_as_failure_fini(&rig.failure);
    ki_as_storage_free(rig.storage);
    return is_done;
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    assert_survives_no_memory(put_twice, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_again_changes_nothing),
        cmocka_unit_test(one_part_after_the_other_is_replaced),
        cmocka_unit_test(what_may_not_change_is_seen),
        cmocka_unit_test(a_number_that_only_begins_the_same_is_another),
        cmocka_unit_test(members_come_and_go),
        cmocka_unit_test(the_owner_of_all_owns_what_is_left_and_what_is_new),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return RUN_TESTS(tests);
}
