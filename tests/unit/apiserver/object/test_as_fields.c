/* SPDX-License-Identifier: Apache-2.0 */
/* Fields that a custom resource definition makes selectable. */
#include "apiserver/object/fields.h"

#include <string.h>

#include "apiserver/object/selector.h"
#include "support/apiserver/as_rig.h"
#include "support/apiserver/trees.h"
#include "support/unit.h"

#define CRDS "customresourcedefinitions.apiextensions.k8s.io"
#define SCHEMA                                                                                               \
    "'schema':{'openAPIV3Schema':{'type':'object','properties':{'spec':{'type':'object','properties':{"      \
    "'color':{'type':'string'},'size':{'type':'integer'},'new':{'type':'boolean'}}}}}}"
#define WIDGETS                                                                                              \
    "{'metadata':{'name':'widgets.example.com'},'spec':{'group':'example.com','scope':'Namespaced','names':" \
    "{'plural':'widgets','kind':'Widget'},'versions':[{'name':'v1','served':true,'storage':true," SCHEMA     \
    ",'selectableFields':[{'jsonPath':'.spec.color'},{'jsonPath':'.spec.size'},{'jsonPath':'.spec.new'}]},{" \
    "'name':'v1beta1','served':true,'storage':false," SCHEMA "}]}}"
#define WIDGET(name, spec) "{'metadata':{'name':'" name "'},'spec':{" spec "}}"

static void init(struct as_rig *rig)
{
    as_rig_init_seeded(rig);
    json_decref(as_rig_create(rig, CRDS, "", WIDGETS));
}

static void create(struct as_rig *rig, const char *body)
{
    json_decref(as_rig_create(rig, "widgets.example.com", "default/", body));
}

static struct ki_as_selector *select_by(struct as_rig *rig, const char *fields)
{
    struct ki_as_selector *selector = NULL;
    const struct ki_as_resource *resource = as_rig_resource(rig, "widgets.example.com");
    int rc = ki_as_selector_parse((ki_str){0}, ki_str_of(fields), resource, &selector, &rig->failure);
    assert_taken(rc, &rig->failure);
    return selector;
}

static bool matches(struct as_rig *rig, const char *name, const char *fields)
{
    struct ki_as_selector *selector = select_by(rig, fields);
    const struct ki_as_object *object =
        as_rig_find(rig, "widgets.example.com", KI_STR("default"), ki_str_of(name));
    bool is_match = ki_as_selector_matches(selector, object);
    ki_as_selector_free(selector);
    return is_match;
}

static void custom_objects_are_found_by_their_fields(void **state)
{
    (void)state;
    struct as_rig rig;
    init(&rig);
    create(&rig, WIDGET("a", "'color':'red','size':3,'new':true"));
    create(&rig, WIDGET("b", ""));
    assert_true(matches(&rig, "a", "spec.color=red,spec.size=3,spec.new=true"));
    assert_false(matches(&rig, "a", "spec.color=blue"));
    assert_true(matches(&rig, "a", "spec.color!=blue,metadata.name=a"));
    assert_false(matches(&rig, "b", "spec.color=red"));
    assert_true(matches(&rig, "b", "spec.color="));
    as_rig_fini(&rig);
}

static void other_fields_are_refused(void **state)
{
    (void)state;
    struct as_rig rig;
    struct ki_as_selector *selector = NULL;
    init(&rig);
    const struct ki_as_resource *resource = as_rig_resource(&rig, "widgets.example.com");
    assert_int_equal(
        ki_as_selector_parse((ki_str){0}, KI_STR("spec.shape=round"), resource, &selector, &rig.failure), -1);
    assert_refused(&rig.failure, 400, "field label not supported: spec.shape");
    as_rig_fini(&rig);
}

/* v1beta1 has no selectable fields; objects written in it are still found in v1. */
static void the_version_of_a_write_does_not_matter(void **state)
{
    (void)state;
    struct as_rig rig;
    struct ki_as_object *object = NULL;
    init(&rig);
    struct ki_as_call call = as_rig_call(&rig, "widgets.example.com", "default/");
    json_t *body = tree_of(WIDGET("a", "'color':'red'"));
    call.resource = as_rig_served(&rig, "example.com", "v1beta1", "widgets");
    assert_non_null(call.resource);
    ki_str found;
    assert_true(ki_as_field_resolve(call.resource, KI_STR("spec.color"), &found, &rig.failure) < 0);
    ki_as_failure_fini(&rig.failure);
    assert_taken(ki_as_create(&call, body, &object, &rig.failure), &rig.failure);
    ki_as_object_unref(object);
    json_decref(body);
    assert_true(matches(&rig, "a", "spec.color=red"));
    as_rig_fini(&rig);
}

static void no_wake(void *user)
{
    (void)user;
}

/* The history outlives the definition, whose strings are freed by then. */
static void a_watch_follows_objects_in_and_out_to_the_end(void **state)
{
    (void)state;
    struct as_rig rig;
    init(&rig);
    struct ki_as_selector *selector = select_by(&rig, "spec.color=red");
    struct ki_as_watch_options options = {.resource = as_rig_resource(&rig, "widgets.example.com"),
                                          .selector = selector,
                                          .after = as_rig_version(&rig),
                                          .wake = no_wake};
    struct ki_as_watch *watch = NULL;
    assert_int_equal(ki_as_watch_open(rig.storage, &options, &watch), 0);
    create(&rig, WIDGET("a", "'color':'red'"));
    create(&rig, WIDGET("b", "'color':'blue'"));
    assert_string_equal(as_rig_events(watch), "ADDED a 1007");
    json_decref(as_rig_update(&rig, "widgets.example.com", "default/b",
                              "{'metadata':{'resourceVersion':'1008'},'spec':{'color':'red'}}"));
    json_decref(as_rig_update(&rig, "widgets.example.com", "default/a",
                              "{'metadata':{'resourceVersion':'1007'},'spec':{'color':'blue'}}"));
    assert_true(as_rig_delete(&rig, CRDS, "widgets.example.com"));
    assert_memory_equal(as_rig_events(watch), "ADDED b 1009, DELETED a 1010, DELETED b 101", 43);
    ki_as_watch_close(watch);
    as_rig_fini(&rig);
}

/* The strings of the old definition are freed by then, and those of the new one exist. */
static void objects_are_found_after_their_definition_has_changed(void **state)
{
    (void)state;
    struct as_rig rig;
    init(&rig);
    create(&rig, WIDGET("a", "'color':'red'"));
    json_t *body = as_rig_get(&rig, CRDS, "widgets.example.com");
    struct ki_as_call call = as_rig_call(&rig, CRDS, "widgets.example.com");
    struct ki_as_object *object = NULL;
    (void)json_object_set_new(json_object_get(json_object_get(body, "spec"), "names"), "shortNames",
                              json_pack("[s]", "wd"));
    assert_taken(ki_as_update(&call, body, &object, NULL, &rig.failure), &rig.failure);
    ki_as_object_unref(object);
    json_decref(body);
    assert_true(matches(&rig, "a", "spec.color=red"));
    as_rig_fini(&rig);
}

static void a_version_has_at_most_eight_selectable_fields(void **state)
{
    (void)state;
    struct as_rig rig;
    json_t *tree = tree_of(WIDGETS);
    json_t *fields = json_object_get(
        json_array_get(json_object_get(json_object_get(tree, "spec"), "versions"), 0), "selectableFields");
    while (json_array_size(fields) < 9)
        assert_int_equal(json_array_append_new(fields, json_pack("{s:s}", "jsonPath", ".spec.color")), 0);
    as_rig_init_seeded(&rig);
    struct ki_as_call call = as_rig_call(&rig, CRDS, "");
    struct ki_as_object *object = NULL;
    assert_int_equal(ki_as_create(&call, tree, &object, &rig.failure), -1);
    assert_refused_with(&rig.failure, 422, "selectableFields: Too many: 9: must have at most 8 items");
    json_decref(tree);
    as_rig_fini(&rig);
}

static void a_field_selectable_in_two_versions_is_kept_once(void **state)
{
    (void)state;
    struct ki_as_pair fields[KI_AS_FIELDS_MAX];
    char scratch[KI_AS_FIELDS_MAX * 64];
    json_t *versions =
        tree_of("[{'selectableFields':[{'jsonPath':'.spec.a'},{'jsonPath':'.spec.b'}]},{'selectableFields':["
                "{'jsonPath':'.spec.b'},{'jsonPath':'.spec.c'}]}]");
    json_t *tree = tree_of("{'spec':{'a':'1','b':'2','c':'3'}}");
    const struct ki_as_resource resource = {.is_custom = true, .versions = versions};
    assert_int_equal(ki_as_fields_of(&resource, tree, fields, scratch), 3);
    assert_true(ki_str_equal(fields[2].name, KI_STR("spec.c")));
    assert_true(ki_str_equal(fields[2].value, KI_STR("3")));
    json_decref(tree);
    json_decref(versions);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(custom_objects_are_found_by_their_fields),
        cmocka_unit_test(other_fields_are_refused),
        cmocka_unit_test(the_version_of_a_write_does_not_matter),
        cmocka_unit_test(a_watch_follows_objects_in_and_out_to_the_end),
        cmocka_unit_test(objects_are_found_after_their_definition_has_changed),
        cmocka_unit_test(a_version_has_at_most_eight_selectable_fields),
        cmocka_unit_test(a_field_selectable_in_two_versions_is_kept_once),
    };
    return RUN_TESTS(tests);
}
