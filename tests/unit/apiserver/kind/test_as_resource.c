/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/kind/resource.h"

#include <kinformer/resources.h>

#include "support/failing_allocator.h"
#include "support/unit.h"

static const char widgets[] =
    "{\"spec\":{\"group\":\"example.com\",\"scope\":\"Namespaced\",\"names\":{\"plural\":\"widgets\","
    "\"kind\":\"Widget\","
    "\"shortNames\":[\"wd\",\"wdg\"],\"categories\":[\"all\"]},\"versions\":[{\"name\":\"v1\",\"served\":"
    "true,\"storage\":"
    "true,\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\"}},\"subresources\":{\"status\":{},\"scale\":{"
    "\"specReplicasPath\":\".spec.replicas\"}},\"additionalPrinterColumns\":[]},{\"name\":\"v1beta1\","
    "\"served\":true},{"
    "\"name\":\"v1alpha1\",\"served\":false}]}}";

static void init(struct ki_as_resources *resources)
{
    *resources = (struct ki_as_resources){0};
    assert_int_equal(ki_as_resources_init(resources), 0);
}

static void define(struct ki_as_resources *resources, const char *text)
{
    struct ki_as_failure failure = {0};
    json_t *definition = json_loads(text, 0, NULL);
    assert_non_null(definition);
    assert_int_equal(ki_as_resources_define(resources, definition, &failure), 0);
    json_decref(definition);
}

static struct ki_as_resource *find(const struct ki_as_resources *resources, const char *group,
                                   const char *version, const char *plural)
{
    return ki_as_resources_find(resources, ki_str_of(group), ki_str_of(version), ki_str_of(plural));
}

static void every_resource_of_the_client_is_served(void **state)
{
    (void)state;
    struct ki_as_resources resources;
    init(&resources);
    for (size_t i = 0; i < ki_resource_count; i++) {
        const ki_resource *known = &ki_resources[i];
        const struct ki_as_resource *found = find(&resources, known->group, known->version, known->plural);
        assert_non_null(found);
        assert_string_equal(found->kind, known->kind);
        assert_int_equal(found->is_namespaced, known->scope == KI_SCOPE_NAMESPACED);
    }
    assert_int_equal(resources.count, ki_resource_count + 2);
    ki_as_resources_fini(&resources);
}

static void built_in_resources_know_their_names(void **state)
{
    (void)state;
    struct ki_as_resources resources;
    init(&resources);
    const struct ki_as_resource *deployments = find(&resources, "apps", "v1", "deployments");
    assert_string_equal(deployments->singular, "deployment");
    assert_string_equal(deployments->list_kind, "DeploymentList");
    assert_string_equal(deployments->api_version, "apps/v1");
    assert_string_equal(deployments->qualified, "deployments.apps");
    assert_string_equal(deployments->short_names[0], "deploy");
    assert_null(deployments->short_names[1]);
    assert_string_equal(deployments->categories[0], "all");
    assert_true(deployments->has_status && deployments->has_scale && deployments->has_generation);
    const struct ki_as_resource *pods = find(&resources, "", "v1", "pods");
    assert_string_equal(pods->qualified, "pods");
    assert_string_equal(pods->api_version, "v1");
    assert_false(pods->has_scale);
    assert_null(find(&resources, "", "v1", "cows"));
    ki_as_resources_fini(&resources);
}

static void a_kind_is_found_in_its_version(void **state)
{
    (void)state;
    struct ki_as_resources resources;
    init(&resources);
    const struct ki_as_resource *found = ki_as_resources_find_kind(
        &resources, KI_STR("apiextensions.k8s.io/v1"), KI_STR("CustomResourceDefinition"));
    assert_string_equal(found->plural, "customresourcedefinitions");
    assert_null(ki_as_resources_find_kind(&resources, KI_STR("apps/v1"), KI_STR("Pod")));
    ki_as_resources_fini(&resources);
}

static void a_definition_serves_its_versions(void **state)
{
    (void)state;
    struct ki_as_resources resources;
    init(&resources);
    size_t before = resources.count;
    define(&resources, widgets);
    assert_int_equal(resources.count, before + 2);
    const struct ki_as_resource *v1 = find(&resources, "example.com", "v1", "widgets");
    assert_string_equal(v1->singular, "widget");
    assert_string_equal(v1->list_kind, "WidgetList");
    assert_string_equal(v1->api_version, "example.com/v1");
    assert_string_equal(v1->qualified, "widgets.example.com");
    assert_string_equal(v1->short_names[1], "wdg");
    assert_string_equal(v1->categories[0], "all");
    assert_true(v1->is_custom && v1->is_namespaced && v1->has_status && v1->has_scale && v1->has_generation);
    assert_non_null(v1->schema);
    const struct ki_as_resource *beta = find(&resources, "example.com", "v1beta1", "widgets");
    assert_false(beta->has_status || beta->has_scale);
    assert_null(beta->schema);
    assert_null(find(&resources, "example.com", "v1alpha1", "widgets"));
    ki_as_resources_fini(&resources);
}

static void a_reference_keeps_a_resource_beyond_its_definition(void **state)
{
    (void)state;
    struct ki_as_resources resources;
    init(&resources);
    size_t before = resources.count;
    define(&resources, widgets);
    struct ki_as_resource *held = ki_as_resource_ref(find(&resources, "example.com", "v1", "widgets"));
    define(&resources, widgets);
    assert_int_equal(resources.count, before + 2);
    assert_ptr_not_equal(find(&resources, "example.com", "v1", "widgets"), held);
    ki_as_resources_undefine(&resources, KI_STR("example.com"), KI_STR("widgets"));
    assert_int_equal(resources.count, before);
    assert_string_equal(held->kind, "Widget");
    ki_as_resource_unref(held);
    ki_as_resources_fini(&resources);
}

static void built_in_resources_cannot_be_removed(void **state)
{
    (void)state;
    struct ki_as_resources resources;
    init(&resources);
    ki_as_resources_undefine(&resources, KI_STR("apps"), KI_STR("deployments"));
    assert_non_null(find(&resources, "apps", "v1", "deployments"));
    ki_as_resources_fini(&resources);
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    json_t *definition = json_loads(widgets, 0, NULL);
    for (size_t n = 1;; n++) {
        struct ki_as_resources resources = {0};
        struct ki_as_failure failure = {0};
        failing_allocator_fail_at(n);
        int rc = ki_as_resources_init(&resources);
        size_t before = resources.count;
        if (rc == 0) {
            rc = ki_as_resources_define(&resources, definition, &failure);
            assert_int_equal(resources.count, rc == 0 ? before + 2 : before);
        }
        bool has_failed = failing_allocator_has_failed();
        assert_int_equal(rc != 0, has_failed);
        ki_as_resources_fini(&resources);
        ki_as_failure_fini(&failure);
        if (!has_failed)
            break;
    }
    failing_allocator_fail_at(0);
    json_decref(definition);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_resource_of_the_client_is_served),
        cmocka_unit_test(built_in_resources_know_their_names),
        cmocka_unit_test(a_kind_is_found_in_its_version),
        cmocka_unit_test(a_definition_serves_its_versions),
        cmocka_unit_test(a_reference_keeps_a_resource_beyond_its_definition),
        cmocka_unit_test(built_in_resources_cannot_be_removed),
        WITH_MEMORY_CHECK(each_allocation_may_fail),
    };
    return RUN_TESTS(tests);
}
