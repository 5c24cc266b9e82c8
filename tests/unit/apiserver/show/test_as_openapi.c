/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/show/openapi.h"

#include <string.h>

#include "apiserver/value/tree.h"
#include "support/apiserver/trees.h"
#include "support/unit.h"

static struct ki_as_resources resources;

static int setup(void **state)
{
    (void)state;
    return resources_with(
        &resources,
        "{'spec':{'group':'example.com','scope':'Namespaced','names':{'plural':'widgets','singular':'widget',"
        "'kind':"
        "'Widget','listKind':'WidgetList'},'versions':[{'name':'v1','served':true,'storage':true,'schema':{"
        "'openAPIV3Schema':{'type':'object','properties':{'spec':{'type':'object'}}}}}]}}");
}

static int teardown(void **state)
{
    (void)state;
    ki_as_resources_fini(&resources);
    return 0;
}

static json_t *schema_of(const json_t *document, const char *name)
{
    return json_object_get(ki_as_tree_at(document, "components.schemas"), name);
}

/* Every reference can be resolved. */
static void assert_references(const json_t *document, const json_t *value)
{
    static const char prefix[] = "#/components/schemas/";
    const char *name = NULL;
    json_t *member = NULL;
    size_t index = 0;
    json_array_foreach(value, index, member)
    {
        assert_references(document, member);
    }
    json_object_foreach((json_t *)(uintptr_t)value, name, member)
    {
        if (strcmp(name, "$ref") == 0 && json_is_string(member)) { /* a field may also have this name */
            assert_memory_equal(json_string_value(member), prefix, sizeof(prefix) - 1);
            assert_non_null(schema_of(document, json_string_value(member) + sizeof(prefix) - 1));
        }
        assert_references(document, member);
    }
}

static void every_version_is_in_the_index(void **state)
{
    (void)state;
    json_t *index = ki_as_openapi_index(&resources);
    json_t *paths = json_object_get(index, "paths");
    const char *const wanted[] = {"api/v1", "apis/apps/v1", "apis/example.com/v1"};
    for (size_t i = 0; i < 3; i++) {
        const char *url = ki_as_tree_text(json_object_get(paths, wanted[i]), "serverRelativeURL");
        assert_memory_equal(url, "/openapi/v3/", 12);
        assert_memory_equal(url + 12, wanted[i], strlen(wanted[i]));
        assert_memory_equal(url + 12 + strlen(wanted[i]), "?hash=", 6);
    }
    json_decref(index);
}

static void all_documents_are_complete(void **state)
{
    (void)state;
    for (size_t i = 0; i < resources.count; i++) {
        const struct ki_as_resource *resource = resources.entries[i];
        if (i > 0 && strcmp(resources.entries[i - 1]->api_version, resource->api_version) == 0)
            continue;
        json_t *document =
            ki_as_openapi_version(&resources, ki_str_of(resource->group), ki_str_of(resource->version));
        assert_true(json_is_object(document));
        assert_references(document, document);
        json_decref(document);
    }
}

static void fields_have_their_merge_strategy(void **state)
{
    (void)state;
    json_t *document = ki_as_openapi_version(&resources, KI_STR("apps"), KI_STR("v1"));
    json_t *container = schema_of(document, "io.k8s.api.core.v1.Container");
    assert_tree(json_incref(ki_as_tree_at(container, "properties.ports")),
                "{'type':'array','items':{'$ref':'#/components/schemas/io.k8s.api.core.v1.ContainerPort'},"
                "'x-kubernetes-list-type':'map','x-kubernetes-list-map-keys':['containerPort','protocol'],"
                "'x-kubernetes-patch-strategy':'merge','x-kubernetes-patch-merge-key':'containerPort'}");
    assert_tree(json_incref(ki_as_tree_at(container, "required")), "['name']");
    json_t *deployment = schema_of(document, "io.k8s.api.apps.v1.Deployment");
    assert_tree(json_incref(json_object_get(deployment, "x-kubernetes-group-version-kind")),
                "[{'group':'apps','version':'v1','kind':'Deployment'}]");
    json_decref(document);
}

/* What kubectl checks before it leaves validation to the server. */
static void patches_have_the_parameter_field_validation(void **state)
{
    (void)state;
    json_t *document = ki_as_openapi_version(&resources, KI_STR(""), KI_STR("v1"));
    json_t *path =
        json_object_get(json_object_get(document, "paths"), "/api/v1/namespaces/{namespace}/pods/{name}");
    json_t *patch = json_object_get(path, "patch");
    bool is_found = false;
    for (size_t i = 0; i < json_array_size(json_object_get(patch, "parameters")); i++) {
        json_t *parameter = json_array_get(json_object_get(patch, "parameters"), i);
        is_found = is_found || (strcmp(ki_as_tree_text(parameter, "name"), "fieldValidation") == 0 &&
                                strcmp(ki_as_tree_text(parameter, "in"), "query") == 0);
    }
    assert_true(is_found);
    assert_tree(json_incref(json_object_get(patch, "x-kubernetes-group-version-kind")),
                "{'group':'','version':'v1','kind':'Pod'}");
    assert_non_null(json_object_get(json_object_get(document, "paths"), "/api/v1/nodes"));
    json_decref(document);
}

static void custom_kinds_show_their_schema(void **state)
{
    (void)state;
    json_t *document = ki_as_openapi_version(&resources, KI_STR("example.com"), KI_STR("v1"));
    json_t *widget = schema_of(document, "com.example.v1.Widget");
    assert_non_null(widget);
    assert_string_equal(ki_as_tree_text(widget, "properties.spec.type"), "object");
    assert_string_equal(ki_as_tree_text(widget, "properties.kind.type"), "string");
    assert_non_null(ki_as_tree_at(widget, "properties.metadata.allOf"));
    json_decref(document);
}

static void versions_that_are_not_served_are_null(void **state)
{
    (void)state;
    assert_true(json_is_null(ki_as_openapi_version(&resources, KI_STR("apps"), KI_STR("v7"))));
}

static bool describes(void *user)
{
    (void)user;
    struct ki_as_resource maps = resource_of("v1", "configmaps", "ConfigMap");
    struct ki_as_resource *entries[] = {&maps};
    struct ki_as_resources few = {entries, 1};
    json_t *index = ki_as_openapi_index(&few);
    json_t *document = ki_as_openapi_version(&few, (ki_str){0}, KI_STR("v1"));
    bool is_good = index != NULL && document != NULL;
    json_decref(index);
    json_decref(document);
    return is_good;
}

static void when_out_of_memory_nothing_is_returned(void **state)
{
    (void)state;
    assert_survives_no_memory(describes, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_version_is_in_the_index),
        cmocka_unit_test(all_documents_are_complete),
        cmocka_unit_test(fields_have_their_merge_strategy),
        cmocka_unit_test(patches_have_the_parameter_field_validation),
        cmocka_unit_test(custom_kinds_show_their_schema),
        cmocka_unit_test(versions_that_are_not_served_are_null),
        cmocka_unit_test(when_out_of_memory_nothing_is_returned),
    };
    return cmocka_run_group_tests_name(__FILE__, tests, setup, teardown);
}
