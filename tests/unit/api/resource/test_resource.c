/* SPDX-License-Identifier: Apache-2.0 */
#include <kinformer/resources.h>

#include <stdio.h>
#include <string.h>

#include "support/failing_allocator.h"
#include "support/store/resources.h"
#include "support/unit.h"

static void full_name(const ki_resource *resource, char *text, size_t text_bytes)
{
    snprintf(text, text_bytes, "%s.%s.%s", resource->plural, resource->version, resource->group);
}

static int path_code(const ki_resource *resource, const char *ns, const char *name, const char *subresource)
{
    char path[128] = "untouched";
    int code = ki_resource_path(resource, ki_str_of(ns), ki_str_of(name), ki_str_of(subresource), path,
                                sizeof(path));
    if (code < 0)
        assert_string_equal(path, "untouched");
    return code;
}

/* ---- the table ---- */

static void there_are_147_resources_in_order(void **state)
{
    (void)state;
    assert_int_equal(ki_resource_count, 147);
    for (size_t i = 1; i < ki_resource_count; i++) {
        const ki_resource *a = &ki_resources[i - 1], *b = &ki_resources[i];
        int order = strcmp(a->group, b->group);
        order = order != 0 ? order : strcmp(a->version, b->version);
        order = order != 0 ? order : strcmp(a->plural, b->plural);
        assert_true(order < 0);
        assert_int_equal(b->reserved, 0);
    }
}

static void a_constant_equals_its_row(void **state)
{
    (void)state;
    static const ki_resource *const constants[] = {
        &KI_CORE_V1_PODS,
        &KI_APPS_V1_DEPLOYMENTS,
        &KI_NETWORKING_V1_INGRESSES,
        &KI_RBAC_V1_CLUSTERROLES,
        &KI_FLOWCONTROL_V1BETA3_FLOWSCHEMAS,
        &KI_INTERNAL_V1ALPHA1_STORAGEVERSIONS,
        &KI_STORAGEMIGRATION_V1_STORAGEVERSIONMIGRATIONS,
    };
    for (size_t i = 0; i < sizeof(constants) / sizeof(constants[0]); i++) {
        char name[128];
        full_name(constants[i], name, sizeof(name));
        const ki_resource *row = resource_found(name);
        assert_true(ki_resource_equal(row, constants[i]));
        assert_string_equal(row->kind, constants[i]->kind);
        assert_int_equal(row->scope, constants[i]->scope);
    }
    assert_string_equal(KI_CORE_V1_PODS.kind, "Pod");
    assert_int_equal(KI_CORE_V1_PODS.scope, KI_SCOPE_NAMESPACED);
    assert_int_equal(KI_CORE_V1_NODES.scope, KI_SCOPE_CLUSTER);
}

/* ---- finding ---- */

static void every_resource_is_found_by_its_full_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < ki_resource_count; i++) {
        char name[160];
        full_name(&ki_resources[i], name, sizeof(name));
        assert_ptr_equal(resource_found(name), &ki_resources[i]);
        snprintf(name, sizeof(name), "%s.%s.%s", ki_resources[i].kind, ki_resources[i].version,
                 ki_resources[i].group);
        assert_ptr_equal(resource_found(name), &ki_resources[i]);
    }
}

static void every_resource_is_found_by_its_names_in_its_group(void **state)
{
    (void)state;
    for (size_t i = 0; i < ki_resource_count; i++) {
        const ki_resource *resource = &ki_resources[i];
        const char *names[4] = {resource->plural, resource->kind};
        size_t count = 2;
        for (const char *const *each = ki_resource_short_names(resource); *each != NULL; each++)
            names[count++] = *each;
        for (size_t j = 0; j < count; j++) {
            char name[160];
            snprintf(name, sizeof(name), "%s.%s", names[j], resource->group);
            assert_string_equal(resource_found(name)->plural, resource->plural);
            assert_string_equal(resource_found(name)->group, resource->group);
            assert_string_equal(resource_found(names[j])->plural, resource->plural);
        }
    }
}

static void names_are_found_as_kubectl_finds_them(void **state)
{
    (void)state;
    static const struct {
        const char *name, *full;
    } table[] = {
        {"pods", "pods.v1."},
        {"pod", "pods.v1."},
        {"po", "pods.v1."},
        {"Pod", "pods.v1."},
        {"PODS", "pods.v1."},
        {"pods.", "pods.v1."},
        {"pods.v1.", "pods.v1."},
        {"po.v1.", "pods.v1."},
        {"events", "events.v1."},
        {"ev", "events.v1."},
        {"events.v1.", "events.v1."},
        {"events.events.k8s.io", "events.v1.events.k8s.io"},
        {"events.v1.events.k8s.io", "events.v1.events.k8s.io"},
        {"events.v1beta1.", "events.v1beta1.events.k8s.io"},
        {"endpoints", "endpoints.v1."},
        {"ep", "endpoints.v1."},
        {"deployments", "deployments.v1.apps"},
        {"deployments.v1.", "deployments.v1.apps"},
        {"Deployment.apps", "deployments.v1.apps"},
        {"deploy.v1beta2.apps", "deployments.v1beta2.apps"},
        {"deployments.extensions", "deployments.v1beta1.extensions"},
        {"ing", "ingresses.v1.networking.k8s.io"},
        {"ingresses.extensions", "ingresses.v1beta1.extensions"},
        {"netpol", "networkpolicies.v1.networking.k8s.io"},
        {"hpa", "horizontalpodautoscalers.v2.autoscaling"},
        {"hpa.v1.autoscaling", "horizontalpodautoscalers.v1.autoscaling"},
        {"HorizontalPodAutoscaler.V1.AutoScaling", "horizontalpodautoscalers.v1.autoscaling"},
        {"leasecandidates", "leasecandidates.v1beta1.coordination.k8s.io"},
        {"podgroups", "podgroups.v1beta1.scheduling.k8s.io"},
        {"compositepodgroups", "compositepodgroups.v1alpha3.scheduling.k8s.io"},
        {"flowschemas", "flowschemas.v1.flowcontrol.apiserver.k8s.io"},
        {"sc.storage", "storageclasses.v1.storage.k8s.io"},
        {"storageclasses.storage", "storageclasses.v1.storage.k8s.io"},
        {"clusterrole.rbac", "clusterroles.v1.rbac.authorization.k8s.io"},
        {"limits", "limitranges.v1."},
        {"quota", "resourcequotas.v1."},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        char name[128];
        full_name(resource_found(table[i].name), name, sizeof(name));
        if (strcmp(name, table[i].full) != 0)
            fail_msg("\"%s\" finds %s", table[i].name, name);
    }
}

static void an_unknown_name_gets_a_suggestion(void **state)
{
    (void)state;
    static const struct {
        const char *name, *message;
    } table[] = {
        {"podz", "no such resource: \"podz\"; did you mean \"pods\"?"},
        {"Deploymnet", "no such resource: \"Deploymnet\"; did you mean \"deployments.apps\" or "
                       "\"deployments.extensions\"?"},
        {"deply", "no such resource: \"deply\"; did you mean \"deployments.apps\" or "
                  "\"deployments.extensions\"?"},
        {"stateful", "no such resource: \"stateful\"; did you mean \"statefulsets.apps\"?"},
        {"pods.v1", "no such resource: \"pods.v1\"; did you mean \"pods\"?"},
        {"pods.v2.", "no such resource: \"pods.v2.\"; did you mean \"pods\"?"},
        {"events.v9.events.k8s.io",
         "no such resource: \"events.v9.events.k8s.io\"; did you mean \"events\" or "
         "\"events.events.k8s.io\"?"},
        {"nods", "no such resource: \"nods\"; did you mean \"nodes\" or \"pods\"?"},
        {"clusterrol",
         "no such resource: \"clusterrol\"; did you mean \"clusterrolebindings.rbac.authorization."
         "k8s.io\" or \"clusterroles.rbac.authorization.k8s.io\"?"},
        {"widgets", "no such resource: \"widgets\""},
        {"widgets.v1.example.com", "no such resource: \"widgets.v1.example.com\""},
        {"", "no such resource: \"\""},
        {".", "no such resource: \".\""},
        {"..", "no such resource: \"..\""},
        {"pods ", "no such resource: \"pods \"; did you mean \"pods\"?"},
        {"pods\n", "no such resource: \"pods?\"; did you mean \"pods\"?"},
        {"pods/log", "no such resource: \"pods/log\""},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        ki_error err = {0};
        assert_null(ki_resource_find(ki_str_of(table[i].name), &err));
        assert_int_equal(err.code, KI_ERR_RESOURCE);
        assert_string_equal(err.message, table[i].message);
        assert_null(ki_resource_find(ki_str_of(table[i].name), NULL));
    }
    assert_null(ki_resource_find((ki_str){0}, NULL));
}

static void a_name_of_any_length_is_refused_in_one_line(void **state)
{
    (void)state;
    char name[5000];
    memset(name, 'p', sizeof(name));
    for (size_t length = 1; length < sizeof(name); length += 1 + length / 7) {
        ki_error err = {0};
        assert_null(ki_resource_find((ki_str){name, length}, &err));
        assert_int_equal(err.code, KI_ERR_RESOURCE);
        assert_true(strlen(err.message) < sizeof(err.message));
    }
}

static void a_resource_has_its_short_names(void **state)
{
    (void)state;
    assert_string_equal(ki_resource_short_names(&KI_CORE_V1_PODS)[0], "po");
    assert_null(ki_resource_short_names(&KI_CORE_V1_PODS)[1]);
    assert_string_equal(ki_resource_short_names(&KI_APPS_V1BETA2_DAEMONSETS)[0], "ds");
    assert_null(ki_resource_short_names(&KI_CORE_V1_SECRETS)[0]);
    assert_null(ki_resource_short_names(&(ki_resource){"example.com", "v1", "pods", "Pod", 1, 0})[0]);
    assert_null(ki_resource_short_names(NULL)[0]);
}

/* ---- paths and apiVersion ---- */

static void paths_equal_those_of_the_rest_api(void **state)
{
    (void)state;
    resource_assert_path(&KI_CORE_V1_PODS, "", "", "", "/api/v1/pods");
    resource_assert_path(&KI_CORE_V1_PODS, NULL, NULL, NULL, "/api/v1/pods");
    resource_assert_path(&KI_CORE_V1_PODS, "web", "", "", "/api/v1/namespaces/web/pods");
    resource_assert_path(&KI_CORE_V1_PODS, "web", "api-0", "", "/api/v1/namespaces/web/pods/api-0");
    resource_assert_path(&KI_CORE_V1_PODS, "web", "api-0", "log", "/api/v1/namespaces/web/pods/api-0/log");
    resource_assert_path(&KI_APPS_V1_DEPLOYMENTS, "web", "api", "",
                         "/apis/apps/v1/namespaces/web/deployments/api");
    resource_assert_path(&KI_CORE_V1_NODES, "", "n1", "status", "/api/v1/nodes/n1/status");
    resource_assert_path(&KI_CORE_V1_NAMESPACES, "", "web", "", "/api/v1/namespaces/web");
    resource_assert_path(&KI_RBAC_V1_CLUSTERROLES, "", "system:node", "",
                         "/apis/rbac.authorization.k8s.io/v1/clusterroles/system:node");
}

static void names_are_percent_encoded(void **state)
{
    (void)state;
    resource_assert_path(&KI_CORE_V1_PODS, "a b", "x?y#z", "\"",
                         "/api/v1/namespaces/a%20b/pods/x%3Fy%23z/%22");
    resource_assert_path(&KI_CORE_V1_NODES, "", "\xc3\xa4\x7f\n\\", "", "/api/v1/nodes/%C3%A4%7F%0A%5C");
    resource_assert_path(&KI_CORE_V1_NODES, "", "-._~!$&'()*+,;=:@", "", "/api/v1/nodes/-._~!$&'()*+,;=:@");
    resource_assert_path(&KI_CORE_V1_NODES, "", "...", "", "/api/v1/nodes/...");
    char path[64];
    assert_int_equal(ki_resource_path(&KI_CORE_V1_NODES, (ki_str){0}, KI_STR("a\0b"), (ki_str){0}, path, 64),
                     19);
    assert_string_equal(path, "/api/v1/nodes/a%00b");
}

static void invalid_names_have_no_path(void **state)
{
    (void)state;
    assert_int_equal(path_code(&KI_CORE_V1_NODES, "web", "", ""), KI_ERR_INVALID);
    assert_int_equal(path_code(&KI_CORE_V1_PODS, "", "api-0", ""), KI_ERR_INVALID);
    assert_int_equal(path_code(&KI_CORE_V1_PODS, "web", "", "log"), KI_ERR_INVALID);
    static const char *const bad[] = {".", "..", "a/b", "/", "a%2Fb", "%", "../x", "a\xff", "\xc3"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(path_code(&KI_CORE_V1_PODS, bad[i], "x", ""), KI_ERR_INVALID);
        assert_int_equal(path_code(&KI_CORE_V1_PODS, "web", bad[i], ""), KI_ERR_INVALID);
        assert_int_equal(path_code(&KI_CORE_V1_PODS, "web", "x", bad[i]), KI_ERR_INVALID);
    }
    assert_int_equal(path_code(NULL, "", "", ""), KI_ERR_INVALID);
    assert_int_equal(path_code(&(ki_resource){.version = "v1"}, "", "", ""), KI_ERR_INVALID);
    assert_int_equal(path_code(&(ki_resource){.version = "..", .plural = "x"}, "", "", ""), KI_ERR_INVALID);
    ki_str none = {0};
    assert_int_equal(ki_resource_path(&KI_CORE_V1_PODS, none, none, none, NULL, 1), KI_ERR_INVALID);
}

static void a_short_buffer_gets_what_fits(void **state)
{
    (void)state;
    static const char full[] = "/api/v1/namespaces/w%20b/pods/api/log";
    for (size_t size = 0; size <= sizeof(full) + 1; size++) {
        char buffer[sizeof(full) + 2];
        memset(buffer, '#', sizeof(buffer));
        int length = ki_resource_path(&KI_CORE_V1_PODS, KI_STR("w b"), KI_STR("api"), KI_STR("log"),
                                      size > 0 ? buffer : NULL, size);
        assert_int_equal(length, sizeof(full) - 1);
        size_t kept = size == 0 ? 0 : size <= sizeof(full) - 1 ? size - 1 : sizeof(full) - 1;
        assert_memory_equal(buffer, full, kept);
        assert_int_equal(buffer[kept], size == 0 ? '#' : 0);
        for (size_t i = kept + 1; i < sizeof(buffer); i++)
            assert_int_equal(buffer[i], '#');
    }
}

static void api_version_has_a_group_except_for_core(void **state)
{
    (void)state;
    char text[32];
    assert_int_equal(ki_resource_api_version(&KI_CORE_V1_PODS, text, sizeof(text)), 2);
    assert_string_equal(text, "v1");
    assert_int_equal(ki_resource_api_version(&KI_APPS_V1_DEPLOYMENTS, text, sizeof(text)), 7);
    assert_string_equal(text, "apps/v1");
    assert_int_equal(ki_resource_api_version(&KI_APPS_V1_DEPLOYMENTS, text, 5), 7);
    assert_string_equal(text, "apps");
    assert_int_equal(ki_resource_api_version(&KI_APPS_V1_DEPLOYMENTS, NULL, 0), 7);
    assert_int_equal(ki_resource_api_version(NULL, text, sizeof(text)), KI_ERR_INVALID);
}

/* ---- custom resources ---- */

static void a_custom_resource_has_its_own_strings(void **state)
{
    (void)state;
    char group[] = "example.com", kind[] = "Widget";
    ki_resource like = {group, "v1", "widgets", kind, KI_SCOPE_NAMESPACED, 0};
    ki_error err = {0};
    ki_resource *resource = ki_resource_new(&like, &err);
    assert_non_null(resource);
    assert_int_equal(err.code, 0);
    memset(group, 'x', sizeof(group) - 1);
    memset(kind, 'x', sizeof(kind) - 1);
    assert_string_equal(resource->group, "example.com");
    assert_string_equal(resource->kind, "Widget");
    resource_assert_path(resource, "web", "a", "", "/apis/example.com/v1/namespaces/web/widgets/a");
    assert_false(ki_resource_equal(resource, &like));
    ki_resource_free(resource);
    ki_resource_free(NULL);
}

static void missing_group_and_kind_are_empty(void **state)
{
    (void)state;
    ki_resource *resource = ki_resource_new(&(ki_resource){.version = "v1", .plural = "things"}, NULL);
    assert_non_null(resource);
    assert_string_equal(resource->group, "");
    assert_string_equal(resource->kind, "");
    resource_assert_path(resource, "", "x", "", "/api/v1/things/x");
    ki_resource_free(resource);
}

static void malformed_custom_resources_are_refused(void **state)
{
    (void)state;
    char long_label[65] = {0}, long_group[256] = {0};
    memset(long_label, 'a', 64);
    for (size_t i = 0; i < 255; i++)
        long_group[i] = i % 8 == 7 ? '.' : 'a';
    const ki_resource bad[] = {
        {"Example.com", "v1", "widgets", "Widget", 1, 0},
        {"example..com", "v1", "widgets", "Widget", 1, 0},
        {".example.com", "v1", "widgets", "Widget", 1, 0},
        {"example.com.", "v1", "widgets", "Widget", 1, 0},
        {"exa mple", "v1", "widgets", "Widget", 1, 0},
        {"-example.com", "v1", "widgets", "Widget", 1, 0},
        {"example.com/x", "v1", "widgets", "Widget", 1, 0},
        {long_group, "v1", "widgets", "Widget", 1, 0},
        {"example.com", "", "widgets", "Widget", 1, 0},
        {"example.com", NULL, "widgets", "Widget", 1, 0},
        {"example.com", "v1/x", "widgets", "Widget", 1, 0},
        {"example.com", "v1.2", "widgets", "Widget", 1, 0},
        {"example.com", "V1", "widgets", "Widget", 1, 0},
        {"example.com", "v1", "", "Widget", 1, 0},
        {"example.com", "v1", NULL, "Widget", 1, 0},
        {"example.com", "v1", "Widgets", "Widget", 1, 0},
        {"example.com", "v1", "widgets/x", "Widget", 1, 0},
        {"example.com", "v1", "..", "Widget", 1, 0},
        {"example.com", "v1", "widgets-", "Widget", 1, 0},
        {"example.com", "v1", long_label, "Widget", 1, 0},
        {"example.com", "v1", "widgets", "Wid\"get", 1, 0},
        {"example.com", "v1", "widgets", long_label, 1, 0},
        {"example.com", "v1", "widgets", "Widget", 2, 0},
        {"example.com", "v1", "widgets", "Widget", (ki_scope)-1, 0},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ki_error err = {0};
        assert_null(ki_resource_new(&bad[i], &err));
        assert_int_equal(err.code, KI_ERR_INVALID);
        assert_int_equal(path_code(&bad[i], "", "", ""), KI_ERR_INVALID);
    }
    assert_null(ki_resource_new(NULL, NULL));
}

static void resources_are_equal_by_group_version_and_plural(void **state)
{
    (void)state;
    ki_resource pods = {"", "v1", "pods", "Other", KI_SCOPE_CLUSTER, 0};
    assert_true(ki_resource_equal(&pods, &KI_CORE_V1_PODS));
    assert_true(ki_resource_equal(&pods, &pods));
    assert_false(ki_resource_equal(&KI_CORE_V1_EVENTS, &KI_EVENTS_V1_EVENTS));
    assert_false(ki_resource_equal(&KI_APPS_V1_DEPLOYMENTS, &KI_APPS_V1BETA1_DEPLOYMENTS));
    assert_false(ki_resource_equal(&KI_APPS_V1_DEPLOYMENTS, &KI_APPS_V1_REPLICASETS));
    assert_false(ki_resource_equal(&pods, NULL));
    assert_true(ki_resource_equal(NULL, NULL));
}

static void a_full_name_makes_a_custom_resource(void **state)
{
    (void)state;
    ki_error err = {0};
    ki_resource *resource = ki_resource_parse(KI_STR("widgets.v1.example.com"), &err);
    assert_non_null(resource);
    assert_int_equal(err.code, 0);
    assert_string_equal(resource->group, "example.com");
    assert_string_equal(resource->version, "v1");
    assert_string_equal(resource->plural, "widgets");
    assert_string_equal(resource->kind, "");
    assert_int_equal(resource->scope, KI_SCOPE_NAMESPACED);
    ki_resource_free(resource);
}

static void a_full_name_of_a_built_in_resource_has_kind_and_scope(void **state)
{
    (void)state;
    for (size_t i = 0; i < ki_resource_count; i++) {
        char name[128];
        full_name(&ki_resources[i], name, sizeof(name));
        ki_resource *resource = ki_resource_parse(ki_str_of(name), NULL);
        assert_non_null(resource);
        assert_true(ki_resource_equal(resource, &ki_resources[i]));
        assert_string_equal(resource->kind, ki_resources[i].kind);
        assert_int_equal(resource->scope, ki_resources[i].scope);
        ki_resource_free(resource);
    }
}

static void anything_but_a_full_name_is_refused(void **state)
{
    (void)state;
    static const char *const table[] = {
        "",        ".",        "..",       "widgets",         "widgets.v1", "widgets.example.com",
        "pods",    "po",       ".v1.x",    "widgets..x",      "w.v1..",     "w.v1.x.",
        "W.v1.x",  "w.V1.x",   "w.v1.X",   "w/x.v1.x",        "w.v.x",      "deployments.apps",
        "w.v1 .x", "w.v1/x.y", "w.v1.x y", "widgets.1.x.com",
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        ki_error err = {0};
        if (ki_resource_parse(ki_str_of(table[i]), &err) != NULL)
            fail_msg("\"%s\" is accepted", table[i]);
        assert_int_equal(err.code, KI_ERR_RESOURCE);
    }
    assert_null(ki_resource_parse((ki_str){0}, NULL));
}

static void when_out_of_memory_no_resource_is_created(void **state)
{
    (void)state;
    static const char *const names[] = {"widgets.v1.example.com", "pods.v1."};
    for (size_t i = 0; i < 2; i++) {
        ki_error err = {0};
        failing_allocator_fail_at(1);
        assert_null(ki_resource_parse(ki_str_of(names[i]), &err));
        assert_int_equal(err.code, KI_ERR_NO_MEMORY);
        assert_true(failing_allocator_has_failed());
    }
    failing_allocator_fail_at(1);
    assert_null(ki_resource_new(&KI_CORE_V1_PODS, NULL));
    failing_allocator_fail_at(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_are_147_resources_in_order),
        cmocka_unit_test(a_constant_equals_its_row),
        cmocka_unit_test(every_resource_is_found_by_its_full_name),
        cmocka_unit_test(every_resource_is_found_by_its_names_in_its_group),
        cmocka_unit_test(names_are_found_as_kubectl_finds_them),
        cmocka_unit_test(an_unknown_name_gets_a_suggestion),
        cmocka_unit_test(a_name_of_any_length_is_refused_in_one_line),
        cmocka_unit_test(a_resource_has_its_short_names),
        cmocka_unit_test(paths_equal_those_of_the_rest_api),
        cmocka_unit_test(names_are_percent_encoded),
        cmocka_unit_test(invalid_names_have_no_path),
        cmocka_unit_test(a_short_buffer_gets_what_fits),
        cmocka_unit_test(api_version_has_a_group_except_for_core),
        cmocka_unit_test(a_custom_resource_has_its_own_strings),
        cmocka_unit_test(missing_group_and_kind_are_empty),
        cmocka_unit_test(malformed_custom_resources_are_refused),
        cmocka_unit_test(resources_are_equal_by_group_version_and_plural),
        cmocka_unit_test(a_full_name_makes_a_custom_resource),
        cmocka_unit_test(a_full_name_of_a_built_in_resource_has_kind_and_scope),
        cmocka_unit_test(anything_but_a_full_name_is_refused),
        WITH_MEMORY_CHECK(when_out_of_memory_no_resource_is_created),
    };
    return RUN_TESTS(tests);
}
