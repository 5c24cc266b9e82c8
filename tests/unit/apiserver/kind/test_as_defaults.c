/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/kind/defaults.h"

#include <stdio.h>

#include "apiserver/kind/prune.h"
#include "apiserver/value/tree.h"
#include "support/apiserver/trees.h"
#include "support/unit.h"

static void filled(struct ki_as_resource resource, const char *text, const char *expected)
{
    json_t *tree = tree_of(text);
    assert_int_equal(ki_as_defaults_apply(&resource, tree), 0);
    json_t *again = json_deep_copy(tree);
    assert_int_equal(ki_as_defaults_apply(&resource, again), 0);
    assert_true(json_equal(tree, again));
    json_decref(again);
    assert_tree(tree, expected);
}

/* The defaults that the recorded server sets in a pod. */
static void pods_are_filled_as_a_real_server_does(void **state)
{
    (void)state;
    filled(resource_of("v1", "pods", "Pod"),
           "{'metadata':{'name':'a','creationTimestamp':null},'spec':{'containers':[{'name':'nginx','image':'"
           "nginx:1.27',"
           "'ports':[{'containerPort':80}],'env':[{'name':'NODE','valueFrom':{'fieldRef':{'fieldPath':'spec."
           "nodeName'}}}],"
           "'resources':{'limits':{'memory':'128Mi'},'requests':{'cpu':'100m'}},'livenessProbe':{'httpGet':{'"
           "path':'/healthz',"
           "'port':80}}}]},'status':{}}",
           "{'metadata':{'name':'a'},'spec':{'containers':[{'name':'nginx','image':'nginx:1.27','ports':[{'"
           "containerPort':80,"
           "'protocol':'TCP'}],'env':[{'name':'NODE','valueFrom':{'fieldRef':{'apiVersion':'v1','fieldPath':'"
           "spec.nodeName'}}}"
           "],'resources':{'limits':{'memory':'128Mi'},'requests':{'cpu':'100m','memory':'128Mi'}},'"
           "livenessProbe':{'httpGet':"
           "{'path':'/"
           "healthz','port':80,'scheme':'HTTP'},'timeoutSeconds':1,'periodSeconds':10,'successThreshold':1,"
           "'failureThreshold':3},'terminationMessagePath':'/dev/"
           "termination-log','terminationMessagePolicy':'File',"
           "'imagePullPolicy':'IfNotPresent'}],'restartPolicy':'Always','terminationGracePeriodSeconds':30,'"
           "dnsPolicy':"
           "'ClusterFirst','securityContext':{},'schedulerName':'default-scheduler','priority':0,"
           "'enableServiceLinks':true,'preemptionPolicy':'PreemptLowerPriority'},'status':{'phase':"
           "'Pending'}}");
}

static const char *pull_policy(const char *image)
{
    static char answer[32];
    struct ki_as_resource pods = resource_of("v1", "pods", "Pod");
    json_t *tree = json_pack("{s:{s:[{s:s}]}}", "spec", "containers", "image", image);
    assert_int_equal(ki_as_defaults_apply(&pods, tree), 0);
    (void)snprintf(answer, sizeof(answer), "%s", ki_as_tree_text(tree, "spec.containers.0.imagePullPolicy"));
    json_decref(tree);
    return answer;
}

static void images_without_a_fixed_tag_are_always_pulled(void **state)
{
    (void)state;
    assert_string_equal(pull_policy("nginx"), "Always");
    assert_string_equal(pull_policy("nginx:latest"), "Always");
    assert_string_equal(pull_policy("nginx:1.27"), "IfNotPresent");
    assert_string_equal(pull_policy("host:5000/nginx"), "Always");
    assert_string_equal(pull_policy("host:5000/nginx:1"), "IfNotPresent");
    assert_string_equal(pull_policy("nginx@sha256:abc"), "IfNotPresent");
}

static void services_get_an_address_and_ports(void **state)
{
    (void)state;
    struct ki_as_resource services = resource_of("v1", "services", "Service");
    filled(services, "{'metadata':{'name':'a'},'spec':{'clusterIP':'None','ports':[{'port':80}]}}",
           "{'metadata':{'name':'a'},'spec':{'clusterIP':'None','clusterIPs':['None'],'ports':[{'port':80,'"
           "protocol':'TCP',"
           "'targetPort':80}],'type':'ClusterIP','sessionAffinity':'None','internalTrafficPolicy':'Cluster','"
           "ipFamilies':"
           "['IPv4'],'ipFamilyPolicy':'SingleStack'},'status':{'loadBalancer':{}}}");
    json_t *tree = tree_of("{'metadata':{'name':'web'},'spec':{'type':'NodePort','ports':[{'port':80}]}}");
    assert_int_equal(ki_as_defaults_apply(&services, tree), 0);
    assert_memory_equal(ki_as_tree_text(tree, "spec.clusterIP"), "10.96.", 6);
    assert_in_range(ki_as_tree_integer(tree, "spec.ports.0.nodePort", 0), 30000, 32767);
    assert_string_equal(ki_as_tree_text(tree, "spec.externalTrafficPolicy"), "Cluster");
    json_decref(tree);
    tree = tree_of(
        "{'metadata':{'name':'a'},'spec':{'sessionAffinity':'ClientIP','ports':[{'port':80,'targetPort':0},"
        "{'port':81,'targetPort':''}]}}");
    assert_int_equal(ki_as_defaults_apply(&services, tree), 0);
    assert_int_equal(ki_as_tree_integer(tree, "spec.sessionAffinityConfig.clientIP.timeoutSeconds", 0),
                     10800);
    assert_int_equal(ki_as_tree_integer(tree, "spec.ports.0.targetPort", 0), 80);
    assert_int_equal(ki_as_tree_integer(tree, "spec.ports.1.targetPort", 0), 81);
    json_decref(tree);
    filled(services, "{'metadata':{'name':'a'},'spec':{'type':'ExternalName','externalName':'x'}}",
           "{'metadata':{'name':'a'},'spec':{'type':'ExternalName','externalName':'x','sessionAffinity':'"
           "None'},'status':{"
           "'loadBalancer':{}}}");
}

static void controllers_select_by_the_labels_of_their_pods(void **state)
{
    struct ki_as_resource controllers = resource_of("v1", "replicationcontrollers", "ReplicationController");
    json_t *tree =
        tree_of("{'metadata':{'name':'a'},'spec':{'template':{'metadata':{'labels':{'a':'b'}},'spec':{"
                "'serviceAccount':'s'}}}}");
    (void)state;
    assert_int_equal(ki_as_defaults_apply(&controllers, tree), 0);
    assert_string_equal(ki_as_tree_text(tree, "spec.selector.a"), "b");
    assert_string_equal(ki_as_tree_text(tree, "metadata.labels.a"), "b");
    assert_string_equal(ki_as_tree_text(tree, "spec.template.spec.serviceAccountName"), "s");
    json_decref(tree);
}

/* Go writes an unset port as 0. */
static void ports_of_zero_count_as_unset(void **state)
{
    (void)state;
    struct ki_as_resource services = resource_of("v1", "services", "Service");
    json_t *tree = tree_of("{'metadata':{'name':'web'},'spec':{'type':'NodePort','ports':[{'port':80,"
                           "'targetPort':0,'nodePort':0},{'port':81,'targetPort':''}]}}");
    assert_int_equal(ki_as_defaults_apply(&services, tree), 0);
    assert_int_equal(ki_as_tree_integer(tree, "spec.ports.0.targetPort", 0), 80);
    assert_in_range(ki_as_tree_integer(tree, "spec.ports.0.nodePort", 0), 30000, 32767);
    assert_int_equal(ki_as_tree_integer(tree, "spec.ports.1.targetPort", 0), 81);
    json_decref(tree);
}

/* A pointer in Go distinguishes an explicit 0 from none; other members cannot. */
static void a_zero_is_a_value_only_if_go_has_a_pointer(void **state)
{
    (void)state;
    json_t *tree = tree_of("{'spec':{'terminationGracePeriodSeconds':0,'restartPolicy':'','containers':[{"
                           "'livenessProbe':{'periodSeconds':0,'timeoutSeconds':7}}]}}");
    struct ki_as_resource pods = resource_of("v1", "pods", "Pod");
    assert_int_equal(ki_as_defaults_apply(&pods, tree), 0);
    assert_int_equal(ki_as_tree_integer(tree, "spec.terminationGracePeriodSeconds", -1), 0);
    assert_string_equal(ki_as_tree_text(tree, "spec.restartPolicy"), "Always");
    const json_t *probe = ki_as_tree_at(tree, "spec.containers.0.livenessProbe");
    assert_int_equal(ki_as_tree_integer(probe, "periodSeconds", -1), 10);
    assert_int_equal(ki_as_tree_integer(probe, "timeoutSeconds", -1), 7);
    json_decref(tree);
}

static void deployments_roll_out_by_quarters(void **state)
{
    (void)state;
    filled(
        resource_of("apps/v1", "deployments", "Deployment"), "{'spec':{'template':{'spec':{}}}}",
        "{'spec':{'replicas':1,'strategy':{'type':'RollingUpdate','rollingUpdate':{'maxUnavailable':'25%','"
        "maxSurge':'25%'"
        "}},'revisionHistoryLimit':10,'progressDeadlineSeconds':600,'template':{'metadata':{},'spec':{'"
        "restartPolicy':'"
        "Always',"
        "'terminationGracePeriodSeconds':30,'dnsPolicy':'ClusterFirst','securityContext':{},'schedulerName':"
        "'default-scheduler'}}},'status':{}}");
    filled(resource_of("apps/v1", "deployments", "Deployment"),
           "{'spec':{'replicas':0,'strategy':{'type':'Recreate'}}}",
           "{'spec':{'replicas':0,'strategy':{'type':'Recreate'},'revisionHistoryLimit':10,'"
           "progressDeadlineSeconds':600},"
           "'status':{}}");
}

static void templates_get_kind_and_metadata(void **state)
{
    (void)state;
    json_t *tree = tree_of("{'spec':{'volumeClaimTemplates':[{'metadata':{'name':'d'},'spec':{}}]}}");
    struct ki_as_resource sets = resource_of("apps/v1", "statefulsets", "StatefulSet");
    assert_int_equal(ki_as_defaults_apply(&sets, tree), 0);
    assert_tree(json_incref(ki_as_tree_at(tree, "spec.volumeClaimTemplates.0")),
                "{'kind':'PersistentVolumeClaim','apiVersion':'v1','metadata':{'name':'d'},'spec':{"
                "'volumeMode':'Filesystem'},'status':{'phase':'Pending'}}");
    json_decref(tree);
    tree = tree_of("{'spec':{'jobTemplate':{'spec':{'template':{'spec':{}}}}}}");
    struct ki_as_resource jobs = resource_of("batch/v1", "cronjobs", "CronJob");
    assert_int_equal(ki_as_defaults_apply(&jobs, tree), 0);
    assert_tree(json_incref(ki_as_tree_at(tree, "spec.jobTemplate.metadata")), "{}");
    assert_tree(json_incref(ki_as_tree_at(tree, "spec.jobTemplate.spec.template.metadata")), "{}");
    json_decref(tree);
}

static void namespaces_are_active_and_labelled(void **state)
{
    (void)state;
    filled(resource_of("v1", "cluster/namespaces", "Namespace"), "{'metadata':{'name':'a'}}",
           "{'metadata':{'name':'a','labels':{'kubernetes.io/"
           "metadata.name':'a'}},'spec':{'finalizers':['kubernetes']},"
           "'status':{'phase':'Active'}}");
}

static void string_data_of_secrets_becomes_data(void **state)
{
    (void)state;
    filled(resource_of("v1", "secrets", "Secret"),
           "{'data':{'a':'eA==','b':'eQ=='},'stringData':{'b':'hello'}}",
           "{'data':{'a':'eA==','b':'aGVsbG8='},'type':'Opaque'}");
}

static void budgets_count_from_zero(void **state)
{
    (void)state;
    filled(resource_of("policy/v1", "poddisruptionbudgets", "PodDisruptionBudget"), "{'spec':{}}",
           "{'spec':{},'status':{'disruptionsAllowed':0,'currentHealthy':0,'desiredHealthy':0,"
           "'expectedPods':0}}");
}

static void definitions_get_their_other_names(void **state)
{
    (void)state;
    filled(resource_of("apiextensions.k8s.io/v1", "cluster/customresourcedefinitions",
                       "CustomResourceDefinition"),
           "{'spec':{'names':{'kind':'Widget','plural':'widgets'}}}",
           "{'spec':{'names':{'kind':'Widget','plural':'widgets','singular':'widget','listKind':'WidgetList'}"
           ",'conversion':{"
           "'strategy':'None'}}}");
}

static void wrong_types_are_left_to_validation(void **state)
{
    (void)state;
    filled(resource_of("v1", "pods", "Pod"), "{'spec':[]}", "{'spec':[],'status':{'phase':'Pending'}}");
    filled(resource_of("v1", "pods", "Pod"), "{'spec':'x','status':1}", "{'spec':'x','status':1}");
    filled(resource_of("v1", "services", "Service"), "{'spec':1,'status':{'loadBalancer':2}}",
           "{'spec':1,'status':{'loadBalancer':2}}");
}

static void pods_without_a_spec_stay_as_they_are(void **state)
{
    (void)state;
    filled(resource_of("v1", "pods", "Pod"), "{'metadata':{'name':'a'}}", "{'metadata':{'name':'a'}}");
}

static void some_defaults_depend_on_other_members(void **state)
{
    struct ki_as_resource bindings =
        resource_of("rbac.authorization.k8s.io/v1", "rolebindings", "RoleBinding");
    struct ki_as_resource policies = resource_of("networking.k8s.io/v1", "networkpolicies", "NetworkPolicy");
    struct ki_as_resource jobs = resource_of("batch/v1", "jobs", "Job");
    (void)state;
    filled(bindings, "{'subjects':[{'kind':'User'},{'kind':'ServiceAccount'}]}",
           "{'subjects':[{'kind':'User','apiGroup':'rbac.authorization.k8s.io'},{'kind':'ServiceAccount'}]}");
    filled(policies, "{'spec':{'egress':[]}}", "{'spec':{'policyTypes':['Ingress']}}");
    filled(policies, "{'spec':{'egress':[{}],'policyTypes':null}}",
           "{'spec':{'egress':[{}],'policyTypes':['Ingress','Egress']}}");
    filled(jobs, "{'spec':{'parallelism':3}}",
           "{'spec':{'parallelism':3,'backoffLimit':6,'completionMode':'NonIndexed','manualSelector':false,"
           "'podReplacementPolicy':'TerminatingOrFailed','suspend':false,'template':{'metadata':{}}},"
           "'status':{}}");
    filled(jobs, "{}",
           "{'spec':{'parallelism':1,'completions':1,'backoffLimit':6,'completionMode':'NonIndexed',"
           "'manualSelector':false,'podReplacementPolicy':'TerminatingOrFailed','suspend':false,"
           "'template':{'metadata':{}}},'status':{}}");
}

static struct ki_as_resource widgets(const char *schema)
{
    struct ki_as_resource resource = resource_of("example.com/v1", "widgets", "Widget");
    resource.is_custom = true;
    resource.schema = tree_of(schema);
    return resource;
}

static void custom_kinds_get_the_defaults_of_their_schema(void **state)
{
    (void)state;
    struct ki_as_resource resource =
        widgets("{'type':'object','properties':{'spec':{'type':'object','default':{},'properties':{'size':{'"
                "type':'integer',"
                "'default':3},'list':{'items':{'properties':{'on':{'default':true}}}}}}}}");
    filled(resource, "{}", "{'spec':{'size':3}}");
    filled(resource, "{'spec':{'size':null,'list':[{},{'on':false}]}}",
           "{'spec':{'size':3,'list':[{'on':true},{'on':false}]}}");
    filled(resource, "{'spec':{'list':null}}", "{'spec':{'size':3}}");
    json_decref(resource.schema);
}

static void amounts_are_stored_as_kubernetes_writes_them(void **state)
{
    (void)state;
    filled(resource_of("v1", "resourcequotas", "ResourceQuota"),
           "{'metadata':{'name':'a','labels':{'a':null}},'spec':{'hard':{'cpu':2,'memory':'1024Mi','pods':"
           "'1000m','x.io/a':'?','x.io/b':null}}}",
           "{'metadata':{'name':'a','labels':{'a':''}},'spec':{'hard':{'cpu':'2','memory':'1Gi','pods':'1',"
           "'x.io/a':'?','x.io/b':'0'}}}");
    json_t *tree = tree_of("{'spec':{'volumes':[{'name':'v','emptyDir':{'sizeLimit':1024}}]}}");
    struct ki_as_resource pods = resource_of("v1", "pods", "Pod");
    assert_int_equal(ki_as_defaults_apply(&pods, tree), 0);
    assert_string_equal(ki_as_tree_text(tree, "spec.volumes.0.emptyDir.sizeLimit"), "1024");
    json_decref(tree);
}

static void unknown_fields_are_removed_and_named(void **state)
{
    (void)state;
    struct ki_as_resource pods = resource_of("v1", "pods", "Pod");
    json_t *tree =
        tree_of("{'metadata':{'name':'a','labels':{'any':'x'},'lables':{}},'spec':{'containers':[{'name':'a',"
                "'img':'x'}],'nodNme':'n'},'more':1}");
    json_t *unknown = json_array();
    assert_int_equal(ki_as_prune(&pods, tree, unknown), 0);
    assert_tree(tree, "{'metadata':{'name':'a','labels':{'any':'x'}},'spec':{'containers':[{'name':'a'}]}}");
    assert_int_equal(json_array_size(unknown), 4);
    assert_string_equal(json_string_value(json_array_get(unknown, 0)), "unknown field \"metadata.lables\"");
    assert_string_equal(json_string_value(json_array_get(unknown, 1)),
                        "unknown field \"spec.containers[0].img\"");
    assert_string_equal(json_string_value(json_array_get(unknown, 2)), "unknown field \"spec.nodNme\"");
    assert_string_equal(json_string_value(json_array_get(unknown, 3)), "unknown field \"more\"");
    json_decref(unknown);
}

/* As in Go; other values, and empty ones that have a meaning, are kept. */
static void empty_lists_and_maps_are_left_out(void **state)
{
    (void)state;
    filled(resource_of("v1", "configmaps", "ConfigMap"),
           "{'metadata':{'name':'a'},'data':{},'binaryData':{}}", "{'metadata':{'name':'a'}}");
    filled(resource_of("rbac.authorization.k8s.io/v1", "roles", "Role"), "{'rules':[]}", "{'rules':[]}");
    filled(
        resource_of("v1", "podtemplates", "PodTemplate"),
        "{'template':{'metadata':{'labels':{}},'spec':{'nodeSelector':{},'containers':[],'volumes':[{'name':'"
        "v',"
        "'emptyDir':{}}],'dnsPolicy':'Default','restartPolicy':'Always','schedulerName':'s',"
        "'terminationGracePeriodSeconds':1}}}",
        "{'template':{'metadata':{},'spec':{'containers':[],'volumes':[{'name':'v','emptyDir':{}}],"
        "'dnsPolicy':'Default','restartPolicy':'Always','schedulerName':'s','terminationGracePeriodSeconds':"
        "1,'securityContext':{}}}}");
}

static void custom_kinds_are_pruned_by_their_schema(void **state)
{
    (void)state;
    struct ki_as_resource resource = widgets("{'type':'object','properties':{'spec':{'type':'object','"
                                             "properties':{'a':{'type':'object'},'b':{'type':"
                                             "'object','x-kubernetes-preserve-unknown-fields':true},'c':{'"
                                             "type':'object','additionalProperties':{'type':"
                                             "'string'}}}}}}");
    filled(resource,
           "{'kind':'Widget','metadata':{'name':'a','x':1},'spec':{'a':{'x':1},'b':{'x':1},'c':{'x':'1'},'d':"
           "1}}",
           "{'kind':'Widget','metadata':{'name':'a'},'spec':{'a':{},'b':{'x':1},'c':{'x':'1'}}}");
    json_decref(resource.schema);
}

static bool applies(void *user)
{
    struct ki_as_resource pods = resource_of("v1", "pods", "Pod");
    json_t *tree = json_deep_copy(user);
    if (tree == NULL)
        return false;
    int rc = ki_as_defaults_apply(&pods, tree);
    json_decref(tree);
    return rc == 0;
}

static void out_of_memory_is_an_error(void **state)
{
    (void)state;
    json_t *tree =
        tree_of("{'spec':{'containers':[{'image':'x','resources':{'limits':{'cpu':'1'}}}]},'x':1}");
    assert_survives_no_memory(applies, tree);
    json_decref(tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pods_are_filled_as_a_real_server_does),
        cmocka_unit_test(images_without_a_fixed_tag_are_always_pulled),
        cmocka_unit_test(services_get_an_address_and_ports),
        cmocka_unit_test(controllers_select_by_the_labels_of_their_pods),
        cmocka_unit_test(ports_of_zero_count_as_unset),
        cmocka_unit_test(a_zero_is_a_value_only_if_go_has_a_pointer),
        cmocka_unit_test(deployments_roll_out_by_quarters),
        cmocka_unit_test(templates_get_kind_and_metadata),
        cmocka_unit_test(namespaces_are_active_and_labelled),
        cmocka_unit_test(string_data_of_secrets_becomes_data),
        cmocka_unit_test(budgets_count_from_zero),
        cmocka_unit_test(definitions_get_their_other_names),
        cmocka_unit_test(wrong_types_are_left_to_validation),
        cmocka_unit_test(pods_without_a_spec_stay_as_they_are),
        cmocka_unit_test(some_defaults_depend_on_other_members),
        cmocka_unit_test(custom_kinds_get_the_defaults_of_their_schema),
        cmocka_unit_test(amounts_are_stored_as_kubernetes_writes_them),
        cmocka_unit_test(unknown_fields_are_removed_and_named),
        cmocka_unit_test(empty_lists_and_maps_are_left_out),
        cmocka_unit_test(custom_kinds_are_pruned_by_their_schema),
        cmocka_unit_test(out_of_memory_is_an_error),
    };
    return RUN_TESTS(tests);
}
