/* SPDX-License-Identifier: Apache-2.0 */
/* The table of built-in resources compared with the discovery responses of a real API server. */
#include <kinformer/resource.h>

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "api/resource/resources_table.h"
#include "support/decode/fixtures.h"
#include "support/store/resources.h"
#include "support/unit.h"

static json_t *load_discovery(const char *name)
{
    fixture file;
    fixture_http answer;
    ki_error err;
    if (fixture_load(&file, name, &err) != 0)
        fail_msg("%s", err.message);
    assert_int_equal(fixture_split_http((ki_str){file.data, file.len}, &answer), 0);
    json_t *document = json_loadb(answer.body.ptr, answer.body.len, 0, NULL);
    assert_non_null(document);
    fixture_free(&file);
    return document;
}

static int can_be_watched(const json_t *entry)
{
    size_t i;
    json_t *verb;
    json_array_foreach(json_object_get(entry, "verbs"), i,
                       verb) if (strcmp(json_string_value(verb), "watch") == 0) return 1;
    return 0;
}

/* These two are served by aggregated servers, and example.com is a custom group. */
static int is_foreign(const char *group)
{
    return strcmp(group, "apiregistration.k8s.io") == 0 || strcmp(group, "apiextensions.k8s.io") == 0 ||
           strcmp(group, "example.com") == 0;
}

static void assert_paths_of(const ki_resource *resource, const json_t *entry)
{
    char root[256], expected[512];
    const char *prefix = resource->group[0] != 0 ? "/apis/" : "/api";
    snprintf(root, sizeof(root), "%s%s/%s", prefix, resource->group, resource->version);
    snprintf(expected, sizeof(expected), "%s/%s", root, resource->plural);
    resource_assert_path(resource, "", "", "", expected);
    int namespaced = strcmp(json_string_value(json_object_get(entry, "scope")), "Namespaced") == 0;
    const char *ns = namespaced ? "web" : "";
    size_t i;
    json_t *sub;
    json_array_foreach(json_object_get(entry, "subresources"), i, sub)
    {
        const char *name = json_string_value(json_object_get(sub, "subresource"));
        snprintf(expected, sizeof(expected), "%s%s%s/%s/x/%s", root, namespaced ? "/namespaces/" : "", ns,
                 resource->plural, name);
        resource_assert_path(resource, ns, "x", name, expected);
    }
}

static void assert_same_as_discovered(const char *group, const char *version, const json_t *entry)
{
    const char *plural = json_string_value(json_object_get(entry, "resource"));
    const char *singular = json_string_value(json_object_get(entry, "singularResource"));
    const char *kind = json_string_value(json_object_get(json_object_get(entry, "responseKind"), "kind"));
    const char *scope = json_string_value(json_object_get(entry, "scope"));
    char name[160];
    snprintf(name, sizeof(name), "%s.%s.%s", plural, version, group);
    const ki_resource *resource = resource_found(name);
    assert_string_equal(resource->plural, plural);
    assert_string_equal(resource->kind, kind);
    assert_int_equal(resource->scope, strcmp(scope, "Namespaced") == 0);
    snprintf(name, sizeof(name), "%s.%s.%s", singular, version, group);
    assert_ptr_equal(resource_found(name), resource);
    const char *const *names = ki_resource_short_names(resource);
    size_t i;
    json_t *short_name;
    json_array_foreach(json_object_get(entry, "shortNames"), i, short_name)
    {
        assert_non_null(names[i]);
        assert_string_equal(names[i], json_string_value(short_name));
    }
    assert_null(names[json_array_size(json_object_get(entry, "shortNames"))]);
    assert_paths_of(resource, entry);
}

static size_t check_group(const json_t *group)
{
    const char *name = json_string_value(json_object_get(json_object_get(group, "metadata"), "name"));
    name = name != NULL ? name : "";
    size_t i, j, checked = 0;
    json_t *version, *entry;
    if (is_foreign(name))
        return 0;
    json_array_foreach(json_object_get(group, "versions"), i, version)
        json_array_foreach(json_object_get(version, "resources"), j, entry)
    {
        int is_status_only =
            strcmp(json_string_value(json_object_get(entry, "resource")), "componentstatuses") == 0;
        if (!can_be_watched(entry) && !is_status_only)
            continue;
        assert_same_as_discovered(name, json_string_value(json_object_get(version, "version")), entry);
        checked++;
    }
    return checked;
}

static void the_table_agrees_with_all_watchable_resources_of_a_server(void **state)
{
    (void)state;
    static const char *const files[] = {"discovery-aggregated-api.http", "discovery-aggregated-apis.http"};
    size_t checked = 0;
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        json_t *document = load_discovery(files[i]);
        size_t j;
        json_t *group;
        json_array_foreach(json_object_get(document, "items"), j, group) checked += check_group(group);
        json_decref(document);
    }
    assert_int_equal(checked, 59);
}

static void groups_have_the_order_of_a_server(void **state)
{
    (void)state;
    json_t *document = load_discovery("discovery-aggregated-apis.http");
    size_t i, rank = 0;
    json_t *group;
    json_array_foreach(json_object_get(document, "items"), i, group)
    {
        const char *name = json_string_value(json_object_get(json_object_get(group, "metadata"), "name"));
        int has_any = 0;
        for (size_t j = 0; j < ki_resource_count; j++)
            has_any |= strcmp(ki_resources[j].group, name) == 0;
        while (has_any && strcmp(ki_resources[ki_resource_preference[rank]].group, name) != 0)
            assert_true(++rank < ki_resource_count);
    }
    json_decref(document);
}

static int version_rank(const char *version)
{
    int major = 0, minor = 0;
    char stage[8] = "";
    assert_true(sscanf(version, "v%d%7[a-z]%d", &major, stage, &minor) >= 1);
    int stage_rank = stage[0] == 0 ? 3 : stage[0] == 'b' ? 2 : 1;
    return stage_rank * 10000 + major * 100 + minor;
}

static void versions_are_preferred_as_kubernetes_ranks_them(void **state)
{
    (void)state;
    unsigned char seen[147] = {0};
    for (size_t i = 0; i < ki_resource_count; i++) {
        const ki_resource *resource = &ki_resources[ki_resource_preference[i]];
        assert_int_equal(seen[ki_resource_preference[i]]++, 0);
        if (i == 0)
            continue;
        const ki_resource *before = &ki_resources[ki_resource_preference[i - 1]];
        if (strcmp(before->group, resource->group) == 0)
            assert_true(version_rank(before->version) >= version_rank(resource->version));
    }
    assert_string_equal(ki_resources[ki_resource_preference[0]].group, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_agrees_with_all_watchable_resources_of_a_server),
        cmocka_unit_test(groups_have_the_order_of_a_server),
        cmocka_unit_test(versions_are_preferred_as_kubernetes_ranks_them),
    };
    return RUN_TESTS(tests);
}
