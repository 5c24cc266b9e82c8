/* SPDX-License-Identifier: Apache-2.0 */
/* Changes that an update must not make. */
#include "apiserver/validate/validate.h"
#include "support/apiserver/trees.h"
#include "support/unit.h"

static void refused_update(struct ki_as_resource resource, const char *before_text, const char *after_text,
                           const char *message)
{
    json_t *before = tree_of(before_text);
    json_t *after = tree_of(after_text);
    struct ki_as_failure failure = {0};
    assert_int_equal(ki_as_validate_update(&resource, before, after, &failure), -1);
    assert_refused(&failure, 422, message);
    json_decref(before);
    json_decref(after);
}

static void taken_update(struct ki_as_resource resource, const char *before_text, const char *after_text)
{
    json_t *before = tree_of(before_text);
    json_t *after = tree_of(after_text);
    struct ki_as_failure failure = {0};
    assert_taken(ki_as_validate_update(&resource, before, after, &failure), &failure);
    json_decref(before);
    json_decref(after);
}

static struct ki_as_resource maps(void)
{
    return resource_of("v1", "configmaps", "ConfigMap");
}

static void identity_cannot_change(void **state)
{
    (void)state;
    refused_update(maps(), "{'metadata':{'name':'a','uid':'1'}}", "{'metadata':{'name':'a','uid':'2'}}",
                   "ConfigMap \"a\" is invalid: metadata.uid: Invalid value: \"2\": field is immutable");
    json_t *tree = tree_of("{'metadata':{'name':'a','uid':'1'},'data':{'x':'y'}}");
    struct ki_as_resource resource = maps();
    struct ki_as_failure failure = {0};
    assert_taken(ki_as_validate_update(&resource, tree, tree, &failure), &failure);
    json_decref(tree);
}

static void immutable_fields_cannot_change(void **state)
{
    (void)state;
    refused_update(resource_of("apps/v1", "deployments", "Deployment"),
                   "{'metadata':{'name':'a'},'spec':{'selector':{'matchLabels':{'a':'b'}}}}",
                   "{'metadata':{'name':'a'},'spec':{'selector':{'matchLabels':{'a':'c'}}}}",
                   "Deployment.apps \"a\" is invalid: spec.selector: Invalid value: "
                   "{\"matchLabels\":{\"a\":\"c\"}}: field "
                   "is immutable");
    refused_update(maps(), "{'metadata':{'name':'a'},'immutable':true,'data':{'a':'b'}}",
                   "{'metadata':{'name':'a'},'data':{'a':'c'}}",
                   "ConfigMap \"a\" is invalid: [immutable: Forbidden: field is immutable when `immutable` "
                   "is set, data: "
                   "Forbidden: field is immutable when `immutable` is set]");
    refused_update(
        resource_of("v1", "services", "Service"), "{'metadata':{'name':'a'},'spec':{'clusterIP':'10.0.0.1'}}",
        "{'metadata':{'name':'a'},'spec':{'clusterIP':'10.0.0.2'}}",
        "Service \"a\" is invalid: spec.clusterIP: Invalid value: \"10.0.0.2\": field is immutable");
}

static void some_fields_may_be_set_once(void **state)
{
    struct ki_as_resource nodes = resource_of("v1", "cluster/nodes", "Node");
    (void)state;
    taken_update(nodes, "{'metadata':{'name':'a'},'spec':{}}",
                 "{'metadata':{'name':'a'},'spec':{'providerID':'x'}}");
    refused_update(nodes, "{'metadata':{'name':'a'},'spec':{'providerID':'x'}}",
                   "{'metadata':{'name':'a'},'spec':{'providerID':'y'}}",
                   "Node \"a\" is invalid: spec.providerID: Invalid value: \"y\": field is immutable");
    /* A service of this type has no address. */
    taken_update(resource_of("v1", "services", "Service"),
                 "{'metadata':{'name':'a'},'spec':{'clusterIP':'10.0.0.1'}}",
                 "{'metadata':{'name':'a'},'spec':{'type':'ExternalName'}}");
}

static void pods_keep_their_volumes_and_change_their_images(void **state)
{
    struct ki_as_resource pods = resource_of("v1", "pods", "Pod");
    (void)state;
    taken_update(pods, "{'metadata':{'name':'a'},'spec':{'containers':[{'name':'a','image':'1'}]}}",
                 "{'metadata':{'name':'a'},'spec':{'containers':[{'name':'a','image':'2'}]}}");
    refused_update(pods, "{'metadata':{'name':'a'},'spec':{'volumes':[{'name':'v'}]}}",
                   "{'metadata':{'name':'a'},'spec':{'volumes':[]}}",
                   "Pod \"a\" is invalid: spec.volumes: Invalid value: []: field is immutable");
}

static void a_terminating_object_gets_no_new_finalizers(void **state)
{
    (void)state;
    refused_update(maps(), "{'metadata':{'name':'a','deletionTimestamp':'t','finalizers':['a/b']}}",
                   "{'metadata':{'name':'a','deletionTimestamp':'t','finalizers':['a/b','c/d']}}",
                   "ConfigMap \"a\" is invalid: metadata.finalizers: Forbidden: no new finalizers can be "
                   "added if the object "
                   "is being deleted");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(identity_cannot_change),
        cmocka_unit_test(immutable_fields_cannot_change),
        cmocka_unit_test(some_fields_may_be_set_once),
        cmocka_unit_test(pods_keep_their_volumes_and_change_their_images),
        cmocka_unit_test(a_terminating_object_gets_no_new_finalizers),
    };
    return RUN_TESTS(tests);
}
