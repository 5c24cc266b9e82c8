/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/validate/validate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/apiserver/trees.h"
#include "support/unit.h"

static void taken(struct ki_as_resource resource, const char *text)
{
    json_t *tree = tree_of(text);
    struct ki_as_failure failure = {0};
    assert_taken(ki_as_validate(&resource, tree, &failure), &failure);
    json_decref(tree);
}

static void refused(struct ki_as_resource resource, const char *text, int code, const char *message)
{
    json_t *tree = tree_of(text);
    struct ki_as_failure failure = {0};
    assert_int_equal(ki_as_validate(&resource, tree, &failure), -1);
    assert_refused(&failure, code, message);
    json_decref(tree);
}

static struct ki_as_resource maps(void)
{
    return resource_of("v1", "configmaps", "ConfigMap");
}

static struct ki_as_resource pods(void)
{
    return resource_of("v1", "pods", "Pod");
}

#define SUBDOMAIN                                                                                            \
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and "    \
    "must start and "                                                                                        \
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "                  \
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
#define LABEL                                                                                                \
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start "  \
    "and end with "                                                                                          \
    "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "                \
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"

static void names_are_checked_by_kind(void **state)
{
    (void)state;
    taken(maps(), "{'metadata':{'name':'a.b-c','namespace':'default'}}");
    refused(maps(), "{'metadata':{'name':'A','namespace':'default'}}", 422,
            "ConfigMap \"A\" is invalid: metadata.name: Invalid value: \"A\": " SUBDOMAIN);
    refused(resource_of("v1", "cluster/namespaces", "Namespace"), "{'metadata':{'name':'Bad_Name'}}", 422,
            "Namespace \"Bad_Name\" is invalid: metadata.name: Invalid value: \"Bad_Name\": " LABEL);
    refused(resource_of("v1", "cluster/namespaces", "Namespace"), "{'metadata':{'name':'a.b'}}", 422,
            "Namespace \"a.b\" is invalid: metadata.name: Invalid value: \"a.b\": must not contain dots");
    taken(resource_of("rbac.authorization.k8s.io/v1", "cluster/clusterroles", "ClusterRole"),
          "{'metadata':{'name':'system:node'}}");
    refused(resource_of("rbac.authorization.k8s.io/v1", "cluster/clusterroles", "ClusterRole"),
            "{'metadata':{'name':'a/b%'}}", 422,
            "ClusterRole.rbac.authorization.k8s.io \"a/b%\" is invalid: [metadata.name: Invalid value: "
            "\"a/b%\": may not "
            "contain '/', metadata.name: Invalid value: \"a/b%\": may not contain '%']");
}

static void some_kinds_accept_any_path_segment_as_a_name(void **state)
{
    (void)state;
    taken(resource_of("v1", "events", "Event"), "{'metadata':{'name':'A:b','namespace':'default'}}");
    taken(resource_of("policy/v1", "poddisruptionbudgets", "PodDisruptionBudget"),
          "{'metadata':{'name':'A:b','namespace':'default'}}");
    refused(resource_of("v1", "events", "Event"), "{'metadata':{'name':'a/b','namespace':'default'}}", 422,
            "Event \"a/b\" is invalid: metadata.name: Invalid value: \"a/b\": may not contain '/'");
    refused(resource_of("flowcontrol.apiserver.k8s.io/v1", "cluster/flowschemas", "FlowSchema"),
            "{'metadata':{'name':'A'}}", 422,
            "FlowSchema.flowcontrol.apiserver.k8s.io \"A\" is invalid: metadata.name: Invalid value: "
            "\"A\": " SUBDOMAIN);
}

static void names_and_namespaces_are_required(void **state)
{
    (void)state;
    refused(maps(), "{'metadata':{'namespace':'default'}}", 422,
            "ConfigMap \"\" is invalid: metadata.name: Required value: name or generateName is required");
    refused(maps(), "{'metadata':{'name':'a'}}", 422,
            "ConfigMap \"a\" is invalid: metadata.namespace: Required value");
    refused(resource_of("v1", "cluster/nodes", "Node"), "{'metadata':{'name':'a','namespace':'x'}}", 422,
            "Node \"a\" is invalid: metadata.namespace: Forbidden: not allowed on this type");
    refused(maps(), "{}", 422,
            "ConfigMap \"\" is invalid: [metadata.name: Required value: name or generateName is required, "
            "metadata.namespace: Required value]");
}

static void prefixes_of_names_may_end_with_a_hyphen(void **state)
{
    (void)state;
    taken(maps(), "{'metadata':{'name':'a-1','generateName':'a-','namespace':'default'}}");
    refused(maps(), "{'metadata':{'name':'a-1','generateName':'AB-','namespace':'default'}}", 422,
            "ConfigMap \"a-1\" is invalid: metadata.generateName: Invalid value: \"AB-\": " SUBDOMAIN);
}

static void labels_annotations_and_finalizers_are_checked(void **state)
{
    (void)state;
    taken(maps(), "{'metadata':{'name':'a','namespace':'d','labels':{'a.b/c':'D_e.f'},'annotations':{'X/"
                  "Y':'any thing'},"
                  "'finalizers':['example.com/x']}}");
    json_t *tree =
        tree_of("{'metadata':{'name':'a','namespace':'d','labels':{'-':'x y'},'annotations':{'a b':''},"
                "'finalizers':['a/b/c'],'ownerReferences':[{'kind':'Pod','name':'p','uid':''}]}}");
    struct ki_as_resource resource = maps();
    struct ki_as_failure failure = {0};
    assert_int_equal(ki_as_validate(&resource, tree, &failure), -1);
    json_t *causes = json_object_get(json_object_get(failure.status, "details"), "causes");
    static const char *const fields[] = {"metadata.labels",
                                         "metadata.labels",
                                         "metadata.annotations",
                                         "metadata.ownerReferences.apiVersion",
                                         "metadata.ownerReferences.uid",
                                         "metadata.finalizers"};
    assert_int_equal(json_array_size(causes), 6);
    for (size_t i = 0; i < 6; i++)
        assert_string_equal(json_string_value(json_object_get(json_array_get(causes, i), "field")),
                            fields[i]);
    ki_as_failure_fini(&failure);
    json_decref(tree);
}

static void finalizers_of_built_in_kinds_are_qualified(void **state)
{
    struct ki_as_resource widgets = resource_of("example.com/v1", "widgets", "Widget");
    widgets.is_custom = true;
    (void)state;
    taken(maps(), "{'metadata':{'name':'a','namespace':'default','finalizers':['orphan','x.io/a']}}");
    refused(maps(), "{'metadata':{'name':'a','namespace':'default','finalizers':['x.io/a','x']}}", 422,
            "ConfigMap \"a\" is invalid: metadata.finalizers[1]: Invalid value: \"x\": name is neither a "
            "standard "
            "finalizer name nor is it fully qualified");
    taken(widgets, "{'metadata':{'name':'a','namespace':'default','finalizers':['x']}}");
    taken(resource_of("v1", "events", "Event"),
          "{'metadata':{'name':'system:a','namespace':'default','finalizers':['x']},'involvedObject':{}}");
}

/* Every error is counted, but the report does not grow with their number. */
static void the_first_hundred_of_many_errors_are_reported(void **state)
{
    (void)state;
    enum { LABELS = 50000, TOLD = 100 };
    struct ki_as_resource resource = maps();
    struct ki_as_failure failure = {0};
    json_t *labels = json_object();
    for (int i = 0; i < LABELS; i++) {
        char key[32];
        (void)snprintf(key, sizeof(key), "a %d", i);
        assert_int_equal(json_object_set_new(labels, key, json_string("b c")), 0);
    }
    json_t *tree =
        json_pack("{s:{s:s, s:s, s:o}}", "metadata", "name", "a", "namespace", "d", "labels", labels);
    assert_int_equal(ki_as_validate(&resource, tree, &failure), -1);
    assert_int_equal(failure.code, 422);
    json_t *causes = json_object_get(json_object_get(failure.status, "details"), "causes");
    assert_int_equal(json_array_size(causes), TOLD + 1);
    const char *message = json_string_value(json_object_get(failure.status, "message"));
    assert_non_null(strstr(message, ", and 99900 more]"));
    assert_in_range(strlen(message), 1, 64000);
    ki_as_failure_fini(&failure);
    json_decref(tree);
}

static void a_long_path_is_never_truncated_within_a_character(void **state)
{
    (void)state;
    enum { CHARACTERS = 300 };
    struct ki_as_resource resource = resource_of("v1", "resourcequotas", "ResourceQuota");
    char text[CHARACTERS * 2 + 2] = "x";
    for (size_t i = 0; i < CHARACTERS; i++)
        memcpy(text + 1 + i * 2, "\xc3\xa9", 3);
    for (size_t skip = 0; skip < 2; skip++) {
        struct ki_as_failure failure = {0};
        json_t *tree = json_pack("{s:{s:s, s:s}, s:{s:{s:i}}}", "metadata", "name", "a", "namespace", "d",
                                 "spec", "hard", text + skip, -1);
        assert_int_equal(ki_as_validate(&resource, tree, &failure), -1);
        assert_non_null(failure.status);
        assert_refused_with(&failure, 422, "spec.hard[");
        json_decref(tree);
    }
}

/* The value of each cause is the text of everything wrong in it. */
static void the_first_of_large_errors_are_reported(void **state)
{
    (void)state;
    enum { BYTES = 1 << 20 };
    struct ki_as_resource resource = maps();
    struct ki_as_failure failure = {0};
    char *text = malloc(BYTES + 1);
    assert_non_null(text);
    memset(text, ' ', BYTES);
    text[BYTES] = 0;
    json_t *tree = json_pack("{s:{s:s, s:s, s:{s:s, s:s, s:s}}}", "metadata", "name", "a", "namespace", "d",
                             "labels", "x", text, "y", text, "z", text);
    free(text);
    assert_int_equal(ki_as_validate(&resource, tree, &failure), -1);
    json_t *causes = json_object_get(json_object_get(failure.status, "details"), "causes");
    assert_int_equal(json_array_size(causes), 2);
    assert_non_null(strstr(json_string_value(json_object_get(failure.status, "message")), " more]"));
    ki_as_failure_fini(&failure);
    json_decref(tree);
}

static void annotations_have_a_limit(void **state)
{
    (void)state;
    size_t bytes = 262144;
    char *text = malloc(bytes + 1);
    assert_non_null(text);
    memset(text, 'x', bytes);
    text[bytes] = 0;
    json_t *tree = json_pack("{s:{s:s, s:s, s:{s:s}}}", "metadata", "name", "a", "namespace", "d",
                             "annotations", "k", text);
    struct ki_as_resource resource = maps();
    struct ki_as_failure failure = {0};
    assert_int_equal(ki_as_validate(&resource, tree, &failure), -1);
    assert_refused(&failure, 422,
                   "ConfigMap \"a\" is invalid: metadata.annotations: Too long: may not be more than 262144 "
                   "bytes");
    json_decref(tree);
    free(text);
}

#define META "'metadata':{'name':'a','namespace':'d'}"

static void fields_have_their_types(void **state)
{
    (void)state;
    refused(maps(), "{" META ",'data':{'a':1}}", 400,
            "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: json: cannot unmarshal number "
            "into Go struct "
            "field ConfigMap.data of type string");
    refused(maps(), "{'metadata':{'name':'a','namespace':'d','labels':{'a':true}}}", 400,
            "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: json: cannot unmarshal bool into "
            "Go struct "
            "field ObjectMeta.metadata.labels of type string");
    refused(maps(), "{'metadata':'x'}", 400,
            "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: json: cannot unmarshal string "
            "into Go struct "
            "field ConfigMap.metadata of type v1.ObjectMeta");
    refused(resource_of("apps/v1", "deployments", "Deployment"), "{" META ",'spec':{'replicas':'three'}}",
            400,
            "Deployment in version \"v1\" cannot be handled as a Deployment: json: cannot unmarshal string "
            "into Go struct "
            "field DeploymentSpec.spec.replicas of type int32");
    refused(resource_of("v1", "secrets", "Secret"), "{" META ",'data':{'a':'?'}}", 400,
            "Secret in version \"v1\" cannot be handled as a Secret: illegal base64 data");
    refused(
        maps(), "{'metadata':{'name':'a','namespace':'default','labels':7}}", 400,
        "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go "
        "struct field ObjectMeta.metadata.labels of type map[string]string");
    refused(pods(), "{" META ",'spec':{'containers':[7]}}", 400,
            "Pod in version \"v1\" cannot be handled as a Pod: json: cannot unmarshal number into Go struct "
            "field "
            "PodSpec.spec.containers of type v1.Container");
}

static void amounts_and_times_are_checked(void **state)
{
    struct ki_as_resource leases = resource_of("coordination.k8s.io/v1", "leases", "Lease");
    (void)state;
    refused(pods(),
            "{" META ",'spec':{'containers':[{'name':'a','image':'x','resources':{'limits':{'cpu':'1x'}}}]}}",
            400,
            "Pod in version \"v1\" cannot be handled as a Pod: quantities must match the regular expression "
            "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
    taken(pods(), "{" META ",'spec':{'containers':[{'name':'a','image':'x','resources':{'limits':{'cpu':1,"
                  "'memory':'1.5Gi'}}}]},'status':{'startTime':'2026-01-02T03:04:05.6+02:00'}}");
    refused(pods(),
            "{" META ",'spec':{'containers':[{'name':'a','image':'x'}]},'status':{'startTime':'now'}}", 400,
            "Pod in version \"v1\" cannot be handled as a Pod: parsing time \"now\" as "
            "\"2006-01-02T15:04:05Z07:00\": cannot parse \"now\" as \"2006\"");
    taken(leases, "{" META ",'spec':{'renewTime':'2026-01-02T03:04:05.123456Z'}}");
    refused(leases, "{" META ",'spec':{'renewTime':'2026-01-02T03:04:05Z'}}", 400,
            "Lease in version \"v1\" cannot be handled as a Lease: parsing time \"2026-01-02T03:04:05Z\" as "
            "\"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"Z\" as \".000000\"");
    refused(
        leases, "{" META ",'spec':{'renewTime':'2026-01-02T03:04:05.123456'}}", 400,
        "Lease in version \"v1\" cannot be handled as a Lease: parsing time \"2026-01-02T03:04:05.123456\" "
        "as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"\" as \"Z07:00\"");
}

static void pods_need_containers_with_names_and_images(void **state)
{
    (void)state;
    taken(pods(), "{" META ",'spec':{'containers':[{'name':'a','image':'b'}]}}");
    refused(pods(), "{" META "}", 422, "Pod \"a\" is invalid: spec: Required value");
    refused(pods(), "{" META ",'spec':{'restartPolicy':'Never'}}", 422,
            "Pod \"a\" is invalid: spec.containers: Required value");
    refused(pods(), "{" META ",'spec':{'containers':[{}]}}", 422,
            "Pod \"a\" is invalid: [spec.containers[0].name: Required value, spec.containers[0].image: "
            "Required value]");
    refused(pods(), "{" META ",'spec':{'containers':[{'name':'A','image':'x'}]}}", 422,
            "Pod \"a\" is invalid: spec.containers[0].name: Invalid value: \"A\": " LABEL);
}

static void parts_of_containers_are_checked(void **state)
{
    (void)state;
    refused(pods(),
            "{" META ",'spec':{'containers':[{'name':'a','image':'x','ports':[{'containerPort':0}]}]}}", 422,
            "Pod \"a\" is invalid: spec.containers[0].ports[0].containerPort: Invalid value: 0: must be "
            "between 1 and "
            "65535, inclusive");
    refused(pods(),
            "{" META
            ",'spec':{'containers':[{'name':'a','image':'x','ports':[{'containerPort':1,'protocol':'X'}]"
            "}]}}",
            422,
            "Pod \"a\" is invalid: spec.containers[0].ports[0].protocol: Unsupported value: \"X\": supported "
            "values: "
            "\"SCTP\", \"TCP\", \"UDP\"");
    refused(pods(),
            "{" META ",'spec':{'containers':[{'name':'a','image':'x','volumeMounts':[{'name':'v'}]}]}}", 422,
            "Pod \"a\" is invalid: spec.containers[0].volumeMounts[0].mountPath: Required value");
    refused(pods(), "{" META ",'spec':{'restartPolicy':'Maybe','containers':[{'name':'a','image':'x'}]}}",
            422,
            "Pod \"a\" is invalid: spec.restartPolicy: Unsupported value: \"Maybe\": supported values: "
            "\"Always\", "
            "\"OnFailure\", \"Never\"");
    refused(pods(), "{" META ",'spec':{'containers':[{'name':'a','image':'x','env':[{'value':'b'}]}]}}", 422,
            "Pod \"a\" is invalid: spec.containers[0].env[0].name: Required value");
}

#define TEMPLATE(labels)                                                                                     \
    "'template':{'metadata':{'labels':" labels "},'spec':{'containers':[{'name':'a','image':'x'}]}}"

static void workloads_need_a_selector_that_matches_their_pods(void **state)
{
    (void)state;
    struct ki_as_resource deployments = resource_of("apps/v1", "deployments", "Deployment");
    taken(deployments,
          "{" META ",'spec':{'selector':{'matchLabels':{'a':'b'},'matchExpressions':[{'key':'a','operator':"
          "'In','values':['b']}]}," TEMPLATE("{'a':'b'}") "}}");
    refused(deployments, "{" META ",'spec':{" TEMPLATE("{'a':'b'}") "}}", 422,
            "Deployment.apps \"a\" is invalid: spec.selector: Required value");
    refused(deployments, "{" META ",'spec':{'selector':{'matchLabels':{'a':'c'}}," TEMPLATE("{'a':'b'}") "}}",
            422,
            "Deployment.apps \"a\" is invalid: spec.template.metadata.labels: Invalid value: {\"a\":\"b\"}: "
            "`selector` does "
            "not match template `labels`");
    refused(deployments, "{" META ",'spec':{'selector':{}," TEMPLATE("{'a':'b'}") "}}", 422,
            "Deployment.apps \"a\" is invalid: spec.selector: Required value");
    refused(
        deployments,
        "{" META ",'spec':{'replicas':-1,'selector':{'matchLabels':{'a':'b'}}," TEMPLATE("{'a':'b'}") "}}",
        422,
        "Deployment.apps \"a\" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal "
        "to 0");
    refused(resource_of("v1", "replicationcontrollers", "ReplicationController"),
            "{" META ",'spec':{'selector':{'a':'c'}," TEMPLATE("{'a':'b'}") "}}", 422,
            "ReplicationController \"a\" is invalid: spec.template.metadata.labels: Invalid value: "
            "{\"a\":\"b\"}: `selector` does not match template `labels`");
}

static void ports_of_services_are_checked(void **state)
{
    (void)state;
    struct ki_as_resource services = resource_of("v1", "services", "Service");
    taken(services, "{" META ",'spec':{'ports':[{'port':80,'targetPort':'http'}]}}");
    refused(
        services, "{" META ",'spec':{'ports':[{'name':'a'},{'port':70000}]}}", 422,
        "Service \"a\" is invalid: [spec.ports[0].port: Required value, spec.ports[1].port: Invalid value: "
        "70000: must be between 1 and 65535, inclusive]");
    refused(services, "{" META ",'spec':{'type':'X','ports':[{'port':80}]}}", 422,
            "Service \"a\" is invalid: spec.type: Unsupported value: \"X\": supported values: \"ClusterIP\", "
            "\"ExternalName\", \"LoadBalancer\", \"NodePort\"");
}

static void definitions_are_checked(void **state)
{
    (void)state;
    struct ki_as_resource definitions = resource_of(
        "apiextensions.k8s.io/v1", "cluster/customresourcedefinitions", "CustomResourceDefinition");
    taken(
        definitions,
        "{'metadata':{'name':'widgets.example.com'},'spec':{'group':'example.com','scope':'Namespaced',"
        "'names':{'plural':'widgets','kind':'Widget'},'versions':[{'name':'v1','served':true,'storage':true,"
        "'schema':{'openAPIV3Schema':{'type':'object'}}}]}}");
    refused(definitions,
            "{'metadata':{'name':'w.example.com'},'spec':{'group':'example.com','scope':'X','names':{'plural'"
            ":'widgets',"
            "'kind':'Widget'},'versions':[{'name':'v1','served':true,'storage':true,'schema':{'"
            "openAPIV3Schema':{'type':'object'}}}]}}",
            422,
            "CustomResourceDefinition.apiextensions.k8s.io \"w.example.com\" is invalid: [spec.scope: "
            "Unsupported value: "
            "\"X\": supported values: \"Cluster\", \"Namespaced\", metadata.name: Invalid value: "
            "\"w.example.com\": must be "
            "spec.names.plural+\".\"+spec.group]");
    refused(definitions,
            "{'metadata':{'name':'widgets.example.com'},'spec':{'group':'example.com','scope':'Cluster',"
            "'names':{'plural':'widgets','kind':'Widget'},'versions':[{'name':'v1','served':true,'storage':"
            "true,'schema':{'openAPIV3Schema':{'type':'object','properties':{'a':{'type':'array','items':{'"
            "type':'string','pattern':'^[a-z'}}}}}}]}}",
            422,
            "CustomResourceDefinition.apiextensions.k8s.io \"widgets.example.com\" is invalid: "
            "spec.versions[0].schema.openAPIV3Schema.properties[a].items.pattern: Invalid value: \"^[a-z\": "
            "must be a valid regular expression, but isn't");
}

static bool validates(void *user)
{
    struct ki_as_resource resource = pods();
    struct ki_as_failure failure = {0};
    assert_int_equal(ki_as_validate(&resource, user, &failure), -1);
    bool is_said = failure.status != NULL && failure.code == 422;
    ki_as_failure_fini(&failure);
    return is_said;
}

static void out_of_memory_is_never_taken_for_valid(void **state)
{
    (void)state;
    json_t *tree = tree_of("{'metadata':{'name':'A'},'spec':{'containers':[{'name':'B'}]}}");
    assert_survives_no_memory(validates, tree);
    json_decref(tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_checked_by_kind),
        cmocka_unit_test(some_kinds_accept_any_path_segment_as_a_name),
        cmocka_unit_test(names_and_namespaces_are_required),
        cmocka_unit_test(prefixes_of_names_may_end_with_a_hyphen),
        cmocka_unit_test(labels_annotations_and_finalizers_are_checked),
        cmocka_unit_test(finalizers_of_built_in_kinds_are_qualified),
        cmocka_unit_test(the_first_hundred_of_many_errors_are_reported),
        cmocka_unit_test(a_long_path_is_never_truncated_within_a_character),
        cmocka_unit_test(the_first_of_large_errors_are_reported),
        cmocka_unit_test(annotations_have_a_limit),
        cmocka_unit_test(fields_have_their_types),
        cmocka_unit_test(amounts_and_times_are_checked),
        cmocka_unit_test(pods_need_containers_with_names_and_images),
        cmocka_unit_test(parts_of_containers_are_checked),
        cmocka_unit_test(workloads_need_a_selector_that_matches_their_pods),
        cmocka_unit_test(ports_of_services_are_checked),
        cmocka_unit_test(definitions_are_checked),
        cmocka_unit_test(out_of_memory_is_never_taken_for_valid),
    };
    return RUN_TESTS(tests);
}
