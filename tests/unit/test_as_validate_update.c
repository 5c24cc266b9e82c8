/* SPDX-License-Identifier: Apache-2.0 */
/* What an update may not change. */
#include "apiserver/validate.h"
#include "support/trees.h"
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

static struct ki_as_resource pods(void)
{
    return resource_of("v1", "pods", "Pod");
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

static void fields_that_stay_cannot_change(void **state)
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

static void specs_that_stay_cannot_change(void **state)
{
    struct ki_as_resource claims = resource_of("v1", "persistentvolumeclaims", "PersistentVolumeClaim");
    (void)state;
    refused_update(
        resource_of("apps/v1", "statefulsets", "StatefulSet"),
        "{'metadata':{'name':'a'},'spec':{'serviceName':'a','replicas':1}}",
        "{'metadata':{'name':'a'},'spec':{'serviceName':'b','replicas':2}}",
        "StatefulSet.apps \"a\" is invalid: spec: Forbidden: updates to statefulset spec for fields "
        "other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', "
        "'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden");
    taken_update(resource_of("apps/v1", "statefulsets", "StatefulSet"),
                 "{'metadata':{'name':'a'},'spec':{'serviceName':'a','replicas':1}}",
                 "{'metadata':{'name':'a'},'spec':{'serviceName':'a','replicas':2,'minReadySeconds':3}}");
    refused_update(
        claims, "{'metadata':{'name':'a'},'spec':{'resources':{'requests':{'storage':'1Gi'}}}}",
        "{'metadata':{'name':'a'},'spec':{'resources':{'requests':{'storage':'2Gi'}}}}",
        "PersistentVolumeClaim \"a\" is invalid: spec: Forbidden: spec is immutable after creation "
        "except resources.requests and volumeAttributesClassName for bound claims");
    taken_update(
        claims,
        "{'metadata':{'name':'a'},'spec':{'resources':{'requests':{'storage':'1Gi'}}},'status':{'phase':"
        "'Bound'}}",
        "{'metadata':{'name':'a'},'spec':{'resources':{'requests':{'storage':'2Gi'}},'volumeName':'v'}}");
    refused_update(resource_of("batch/v1", "jobs", "Job"),
                   "{'metadata':{'name':'a'},'spec':{'completions':1}}",
                   "{'metadata':{'name':'a'},'spec':{'completions':2}}",
                   "Job.batch \"a\" is invalid: spec.completions: Invalid value: 2: field is immutable");
    refused_update(
        resource_of("v1", "cluster/nodes", "Node"), "{'metadata':{'name':'a'},'spec':{'providerID':'x'}}",
        "{'metadata':{'name':'a'},'spec':{'providerID':'y'}}",
        "Node \"a\" is invalid: spec.providerID: Forbidden: node updates may not change providerID "
        "except from \"\" to valid");
}

static void where_a_pod_may_run_is_open_while_it_is_gated(void **state)
{
    static const char gated[] = "{'metadata':{'name':'a'},'spec':{'schedulingGates':[{'name':'g'}]}}";
    (void)state;
    taken_update(
        pods(), gated,
        "{'metadata':{'name':'a'},'spec':{'schedulingGates':[{'name':'g'}],'nodeSelector':{'a':'b'}}}");
    taken_update(pods(), gated, "{'metadata':{'name':'a'},'spec':{}}");
    refused_update(
        pods(), gated, "{'metadata':{'name':'a'},'spec':{'schedulingGates':[{'name':'h'}]}}",
        "Pod \"a\" is invalid: spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but "
        "found new scheduling gate 'h'");
    json_t *before = tree_of("{'metadata':{'name':'a'},'spec':{}}");
    json_t *after = tree_of("{'metadata':{'name':'a'},'spec':{'nodeSelector':{'a':'b'}}}");
    struct ki_as_resource resource = pods();
    struct ki_as_failure failure = {0};
    assert_int_equal(ki_as_validate_update(&resource, before, after, &failure), -1);
    assert_refused_with(&failure, 422, "pod updates may not change fields other than");
    json_decref(before);
    json_decref(after);
}

static void pods_change_in_their_images_alone(void **state)
{
    (void)state;
    json_t *before =
        tree_of("{'metadata':{'name':'a'},'spec':{'containers':[{'name':'a','image':'1'}],'hostname':'h'}}");
    json_t *after =
        tree_of("{'metadata':{'name':'a'},'spec':{'containers':[{'name':'a','image':'2'}],'hostname':'h',"
                "'tolerations':[]}}");
    struct ki_as_resource resource = pods();
    struct ki_as_failure failure = {0};
    assert_taken(ki_as_validate_update(&resource, before, after, &failure), &failure);
    assert_int_equal(json_object_del(json_object_get(after, "spec"), "hostname"), 0);
    assert_int_equal(ki_as_validate_update(&resource, before, after, &failure), -1);
    assert_refused_with(&failure, 422,
                        "Pod \"a\" is invalid: spec: Forbidden: pod updates may not change fields other than "
                        "`spec.containers[*].image`,");
    json_decref(before);
    json_decref(after);
}

static void what_is_deleted_gets_no_new_finalizers(void **state)
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
        cmocka_unit_test(fields_that_stay_cannot_change),
        cmocka_unit_test(specs_that_stay_cannot_change),
        cmocka_unit_test(where_a_pod_may_run_is_open_while_it_is_gated),
        cmocka_unit_test(pods_change_in_their_images_alone),
        cmocka_unit_test(what_is_deleted_gets_no_new_finalizers),
    };
    return RUN_TESTS(tests);
}
