/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/show/discovery_documents.h"

#include <string.h>

#include "support/apiserver/trees.h"
#include "support/unit.h"

static struct ki_as_resources resources;

static int setup(void **state)
{
    (void)state;
    return resources_with(
        &resources,
        "{'spec':{'group':'example.com','scope':'Namespaced','names':{'plural':'widgets','singular':'"
        "widget','kind':"
        "'Widget','listKind':'WidgetList','shortNames':['wd']},'versions':[{'name':'v1','served':"
        "true,'storage':true,"
        "'schema':{'openAPIV3Schema':{'type':'object'}},'subresources':{'status':{}}}]}}");
}

static int teardown(void **state)
{
    (void)state;
    ki_as_resources_fini(&resources);
    return 0;
}

/* The element whose member `name` is `value`, or NULL. */
static json_t *find(const json_t *list, const char *name, const char *value)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *text = json_string_value(json_object_get(json_array_get(list, i), name));
        if (text != NULL && strcmp(text, value) == 0)
            return json_array_get(list, i);
    }
    return NULL;
}

/* Every resource of the recorded list that this server serves has the same description, except for its
 * hash. */
static void assert_alike(json_t *actual, const char *file)
{
    json_t *wanted = tree_of_fixture(file);
    size_t shared = 0;
    size_t index = 0;
    json_t *resource = NULL;
    json_array_foreach(json_object_get(actual, "resources"), index, resource)
    {
        const char *name = json_string_value(json_object_get(resource, "name"));
        json_t *other = find(json_object_get(wanted, "resources"), "name", name);
        if (other == NULL)
            continue;
        if (json_object_get(other, "storageVersionHash") != NULL)
            assert_int_equal(json_string_length(json_object_get(resource, "storageVersionHash")), 12);
        (void)json_object_del(resource, "storageVersionHash");
        (void)json_object_del(other, "storageVersionHash");
        if (!json_equal(resource, other))
            fail_msg("%s: %s is not %s", name, json_dumps(resource, 0), json_dumps(other, 0));
        shared++;
    }
    assert_true(shared > 10);
    json_t *list = json_object_get(actual, "resources");
    assert_int_equal(json_object_set(wanted, "resources", list), 0);
    assert_true(json_equal(actual, wanted));
    json_decref(actual);
    json_decref(wanted);
}

static void versions_are_described_as_recorded(void **state)
{
    (void)state;
    assert_alike(ki_as_discovery_version(&resources, KI_STR(""), KI_STR("v1")), "discovery-core-v1.http");
    assert_alike(ki_as_discovery_version(&resources, KI_STR("apps"), KI_STR("v1")), "discovery-apps-v1.http");
}

static void the_core_is_announced_as_recorded(void **state)
{
    (void)state;
    json_t *wanted = tree_of_fixture("discovery-api.http");
    json_t *actual = ki_as_discovery_api("192.0.2.2:16443");
    assert_true(json_equal(wanted, actual));
    json_decref(wanted);
    json_decref(actual);
}

static void groups_have_the_recorded_order(void **state)
{
    (void)state;
    json_t *wanted = tree_of_fixture("discovery-apis.http");
    json_t *actual = ki_as_discovery_groups(&resources);
    json_t *wanted_groups = json_object_get(wanted, "groups");
    json_t *groups = json_object_get(actual, "groups");
    size_t at = 0;
    for (size_t i = 0; i < json_array_size(groups); i++) {
        const char *name = json_string_value(json_object_get(json_array_get(groups, i), "name"));
        json_t *other = find(wanted_groups, "name", name);
        if (other == NULL)
            continue;
        while (json_array_get(wanted_groups, at) != other)
            assert_true(++at < json_array_size(wanted_groups));
    }
    assert_non_null(find(groups, "name", "example.com"));
    assert_true(json_equal(json_object_get(find(groups, "name", "autoscaling"), "preferredVersion"),
                           json_object_get(find(wanted_groups, "name", "autoscaling"), "preferredVersion")));
    json_decref(wanted);
    json_decref(actual);
}

/* Each resource that both have, with the subresources that both have. */
static void assert_aggregated_alike(bool is_core, const char *file)
{
    json_t *wanted = tree_of_fixture(file);
    json_t *actual = ki_as_discovery_aggregated(&resources, is_core);
    size_t shared = 0;
    for (size_t i = 0; i < json_array_size(json_object_get(wanted, "items")); i++) {
        json_t *item = json_array_get(json_object_get(wanted, "items"), i);
        const char *group = json_string_value(json_object_get(json_object_get(item, "metadata"), "name"));
        json_t *mine = NULL;
        for (size_t j = 0; j < json_array_size(json_object_get(actual, "items")); j++) {
            json_t *one = json_array_get(json_object_get(actual, "items"), j);
            const char *name = json_string_value(json_object_get(json_object_get(one, "metadata"), "name"));
            if (group == name || (group != NULL && name != NULL && strcmp(group, name) == 0))
                mine = one;
        }
        json_t *versions = json_object_get(item, "versions");
        for (size_t j = 0; mine != NULL && j < json_array_size(versions); j++) {
            json_t *version = json_array_get(versions, j);
            json_t *other = find(json_object_get(mine, "versions"), "version",
                                 json_string_value(json_object_get(version, "version")));
            json_t *list = json_object_get(version, "resources");
            for (size_t k = 0; other != NULL && k < json_array_size(list); k++) {
                json_t *one = json_array_get(list, k);
                json_t *same = find(json_object_get(other, "resources"), "resource",
                                    json_string_value(json_object_get(one, "resource")));
                if (same == NULL)
                    continue;
                (void)json_object_del(one, "subresources");
                (void)json_object_del(same, "subresources");
                if (!json_equal(one, same))
                    fail_msg("%s is not %s", json_dumps(same, 0), json_dumps(one, 0));
                shared++;
            }
        }
    }
    assert_true(shared > 12);
    json_decref(wanted);
    json_decref(actual);
}

static void aggregated_discovery_is_as_recorded(void **state)
{
    (void)state;
    assert_aggregated_alike(true, "discovery-aggregated-api.http");
    assert_aggregated_alike(false, "discovery-aggregated-apis.http");
}

static void subresources_are_listed_with_their_kinds(void **state)
{
    (void)state;
    json_t *actual = ki_as_discovery_aggregated(&resources, false);
    json_t *items = json_object_get(actual, "items");
    json_t *widgets = NULL;
    for (size_t i = 0; i < json_array_size(items); i++) {
        json_t *item = json_array_get(items, i);
        if (strcmp(json_string_value(json_object_get(json_object_get(item, "metadata"), "name")),
                   "example.com") == 0)
            widgets = item;
    }
    assert_non_null(widgets);
    assert_tree(json_incref(json_object_get(widgets, "versions")),
                "[{'version':'v1','resources':[{'resource':'widgets','responseKind':{'group':'example.com','"
                "version':'v1',"
                "'kind':'Widget'},'scope':'Namespaced','singularResource':'widget','verbs':['delete','"
                "deletecollection','get',"
                "'list','patch','create','update','watch'],'shortNames':['wd'],'subresources':[{'subresource'"
                ":'status',"
                "'responseKind':{'group':'example.com','version':'v1','kind':'Widget'},'verbs':['get','patch'"
                ",'update']}]}],"
                "'freshness':'Current'}]");
    json_decref(actual);
}

static void one_group_has_its_versions(void **state)
{
    (void)state;
    assert_tree(ki_as_discovery_group(&resources, KI_STR("example.com")),
                "{'kind':'APIGroup','apiVersion':'v1','name':'example.com','versions':[{'groupVersion':'"
                "example.com/v1',"
                "'version':'v1'}],'preferredVersion':{'groupVersion':'example.com/v1','version':'v1'}}");
}

static void versions_that_are_not_served_are_null(void **state)
{
    (void)state;
    assert_true(json_is_null(ki_as_discovery_group(&resources, KI_STR("nothing"))));
    assert_true(json_is_null(ki_as_discovery_version(&resources, KI_STR("apps"), KI_STR("v9"))));
}

static void the_version_has_the_recorded_fields(void **state)
{
    (void)state;
    json_t *wanted = tree_of_fixture("version.http");
    json_t *actual = ki_as_discovery_server_version();
    const char *name = NULL;
    json_t *value = NULL;
    assert_int_equal(json_object_size(wanted), json_object_size(actual));
    json_object_foreach(wanted, name, value)
    {
        assert_non_null(json_object_get(actual, name));
    }
    json_decref(wanted);
    json_decref(actual);
}

static bool discovers(void *user)
{
    (void)user;
    struct ki_as_resource pods = resource_of("v1", "pods", "Pod");
    struct ki_as_resource *entries[] = {&pods};
    struct ki_as_resources few = {entries, 1};
    pods.has_status = true;
    pods.has_scale = true;
    json_t *trees[] = {ki_as_discovery_groups(&few), ki_as_discovery_version(&few, (ki_str){0}, KI_STR("v1")),
                       ki_as_discovery_aggregated(&few, true), ki_as_discovery_group(&few, KI_STR("x"))};
    bool is_good = true;
    for (size_t i = 0; i < 4; i++) {
        is_good = is_good && trees[i] != NULL;
        json_decref(trees[i]);
    }
    return is_good;
}

static void when_out_of_memory_nothing_is_returned(void **state)
{
    (void)state;
    assert_survives_no_memory(discovers, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions_are_described_as_recorded),
        cmocka_unit_test(the_core_is_announced_as_recorded),
        cmocka_unit_test(groups_have_the_recorded_order),
        cmocka_unit_test(aggregated_discovery_is_as_recorded),
        cmocka_unit_test(subresources_are_listed_with_their_kinds),
        cmocka_unit_test(one_group_has_its_versions),
        cmocka_unit_test(versions_that_are_not_served_are_null),
        cmocka_unit_test(the_version_has_the_recorded_fields),
        cmocka_unit_test(when_out_of_memory_nothing_is_returned),
    };
    return cmocka_run_group_tests_name(__FILE__, tests, setup, teardown);
}
