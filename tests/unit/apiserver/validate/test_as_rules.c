/* SPDX-License-Identifier: Apache-2.0 */
/* The rules for values of built-in kinds. */
#include <stdio.h>

#include "apiserver/validate/validate.h"
#include "support/apiserver/trees.h"
#include "support/unit.h"

#define META "'metadata':{'name':'a','namespace':'default'}"
#define POD(container, rest)                                                                                 \
    "{" META ",'spec':{'containers':[{'name':'a','image':'x'" container "}]" rest "}}"

static void taken(struct ki_as_resource resource, const char *text)
{
    json_t *tree = tree_of(text);
    struct ki_as_failure failure = {0};
    assert_taken(ki_as_validate(&resource, tree, &failure), &failure);
    json_decref(tree);
}

/* Rejected with a message that contains this. */
static void refused(struct ki_as_resource resource, const char *text, const char *message)
{
    json_t *tree = tree_of(text);
    struct ki_as_failure failure = {0};
    assert_int_equal(ki_as_validate(&resource, tree, &failure), -1);
    assert_refused_with(&failure, 422, message);
    json_decref(tree);
}

static struct ki_as_resource pods(void)
{
    return resource_of("v1", "pods", "Pod");
}

static void probes_have_one_handler(void **state)
{
    (void)state;
    taken(pods(), POD(",'livenessProbe':{'exec':{'command':['x']},'periodSeconds':5}", ""));
    refused(pods(), POD(",'livenessProbe':{}", ""),
            "Pod \"a\" is invalid: spec.containers[0].livenessProbe: Required value: must specify a handler "
            "type");
    refused(pods(), POD(",'livenessProbe':{'exec':{'command':['x']},'httpGet':{'port':80}}", ""),
            "spec.containers[0].livenessProbe.httpGet: Forbidden: may not specify more than 1 handler type");
    refused(pods(), POD(",'livenessProbe':{'httpGet':{}}", ""),
            "livenessProbe.httpGet.port: Invalid value: 0: must be between 1 and 65535, inclusive");
    refused(pods(), POD(",'livenessProbe':{'exec':{'command':['x']},'periodSeconds':-1}", ""),
            "livenessProbe.periodSeconds: Invalid value: -1: must be greater than or equal to 0");
}

static void amounts_are_neither_negative_nor_above_their_limit(void **state)
{
    (void)state;
    taken(pods(), POD(",'resources':{'requests':{'cpu':'500m'},'limits':{'cpu':'1'}}", ""));
    refused(pods(), POD(",'resources':{'requests':{'cpu':'-1'}}", ""),
            "resources.requests[cpu]: Invalid value: \"-1\": must be greater than or equal to 0");
    refused(pods(), POD(",'resources':{'requests':{'cpu':'2'},'limits':{'cpu':'1'}}", ""),
            "resources.requests: Invalid value: \"2\": must be less than or equal to cpu limit of 1");
    refused(resource_of("v1", "persistentvolumeclaims", "PersistentVolumeClaim"),
            "{" META ",'spec':{'accessModes':['ReadWriteOnce'],'resources':{'requests':{'storage':'0'}}}}",
            "requests[storage]: Invalid value: \"0\": must be greater than zero");
}

static void unsupported_and_missing_values_are_refused(void **state)
{
    (void)state;
    taken(pods(), POD("", ",'tolerations':[{'key':'a','operator':'Exists','effect':'NoSchedule'}]"));
    refused(pods(), POD("", ",'tolerations':[{'key':'a','effect':'Never'}]"),
            "spec.tolerations[0].effect: Unsupported value: \"Never\": supported values: \"NoSchedule\", "
            "\"PreferNoSchedule\", \"NoExecute\"");
    refused(resource_of("v1", "persistentvolumeclaims", "PersistentVolumeClaim"),
            "{" META ",'spec':{'accessModes':['Foo'],'resources':{'requests':{'storage':'1Gi'}}}}",
            "spec.accessModes[0]: Unsupported value: \"Foo\"");
    refused(resource_of("rbac.authorization.k8s.io/v1", "roles", "Role"),
            "{" META ",'rules':[{'apiGroups':[''],'resources':['pods']}]}",
            "rules[0].verbs: Required value: verbs must contain at least one value");
    refused(resource_of("storage.k8s.io/v1", "cluster/storageclasses", "StorageClass"),
            "{'metadata':{'name':'a'}}", "provisioner: Required value");
}

static void names_and_addresses_in_specs_are_checked(void **state)
{
    (void)state;
    refused(pods(), POD("", ",'hostname':'A B'"),
            "spec.hostname: Invalid value: \"A B\": a lowercase RFC 1123");
    refused(pods(), POD("", ",'hostAliases':[{'ip':'x'}]"),
            "spec.hostAliases[0].ip: Invalid value: \"x\": must be a valid IP address, (e.g. 10.9.8.7 or "
            "2001:db8::ffff)");
    taken(pods(), POD("", ",'hostAliases':[{'ip':'::1','hostnames':['a']}]"));
    struct ki_as_resource policies = resource_of("networking.k8s.io/v1", "networkpolicies", "NetworkPolicy");
    taken(policies,
          "{" META ",'spec':{'podSelector':{},'egress':[{'to':[{'ipBlock':{'cidr':'10.0.0.0/8'}}]}]}}");
    static const char *const wrong[] = {"x",         "10.0.0.0", "10.0.0.0/33", "::/129",
                                        "10.0.0.0/", "/8",       "10.0.0.0/8x"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        char text[256];
        (void)snprintf(text, sizeof(text),
                       "{%s,'spec':{'podSelector':{},'egress':[{'to':[{'ipBlock':{'cidr':'%s'}}]}]}}", META,
                       wrong[i]);
        refused(policies, text, "ipBlock.cidr: Invalid value");
    }
}

static void percentages_are_checked(void **state)
{
    static const char form[] = "{" META ",'spec':{'selector':{'matchLabels':{'a':'b'}},'minAvailable':%s}}";
    static const struct {
        const char *value;
        const char *message; /* NULL: accepted */
    } cases[] = {
        {"1", NULL},
        {"'50%'", NULL},
        {"-1", "spec.minAvailable: Invalid value: -1: must be greater than or equal to 0"},
        {"'101%'", "spec.minAvailable: Invalid value: \"101%\": must not be greater than 100%"},
        {"'x'", "spec.minAvailable: Invalid value: \"x\": a valid percent string must be a numeric string"},
    };
    struct ki_as_resource budgets = resource_of("policy/v1", "poddisruptionbudgets", "PodDisruptionBudget");
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[256];
        (void)snprintf(text, sizeof(text), form, cases[i].value);
        if (cases[i].message == NULL)
            taken(budgets, text);
        else
            refused(budgets, text, cases[i].message);
    }
}

static void templates_are_checked_like_pods(void **state)
{
    (void)state;
    refused(resource_of("apps/v1", "deployments", "Deployment"),
            "{" META
            ",'spec':{'selector':{'matchLabels':{'a':'b'}},'template':{'metadata':{'labels':{'a':'b'}},"
            "'spec':{'containers':[{'name':'a','image':'x','livenessProbe':{}}]}}}}",
            "spec.template.spec.containers[0].livenessProbe: Required value: must specify a handler type");
}

static void parts_of_ingresses_and_bindings_are_checked(void **state)
{
    static const char ingress[] =
        "{%s,'spec':{'rules':[{'http':{'paths':[{'path':'%s','pathType':'%s','backend':"
        "{'service':{'name':'s','port':{%s}}}}]}}]}}";
    struct ki_as_resource ingresses = resource_of("networking.k8s.io/v1", "ingresses", "Ingress");
    struct ki_as_resource bindings =
        resource_of("rbac.authorization.k8s.io/v1", "cluster/clusterrolebindings", "ClusterRoleBinding");
    char text[512];
    (void)state;
    (void)snprintf(text, sizeof(text), ingress, META, "/", "Prefix", "'number':80");
    taken(ingresses, text);
    (void)snprintf(text, sizeof(text), ingress, META, "x", "Prefix", "'number':80");
    refused(ingresses, text, "paths[0].path: Invalid value: \"x\": must be an absolute path");
    (void)snprintf(text, sizeof(text), ingress, META, "/", "Some", "'number':80");
    refused(ingresses, text, "paths[0].pathType: Unsupported value: \"Some\"");
    (void)snprintf(text, sizeof(text), ingress, META, "/", "Exact", "'number':80,'name':'http'");
    refused(ingresses, text, "port.number: Forbidden: cannot set both port name & port number");
    refused(bindings, "{'metadata':{'name':'a'},'roleRef':{'kind':'Group','name':'r'}}",
            "roleRef.kind: Unsupported value: \"Group\": supported values: \"Role\", \"ClusterRole\"");
    refused(bindings, "{'metadata':{'name':'a'},'roleRef':{'kind':'ClusterRole'}}",
            "roleRef.name: Required value");
}

static void a_sketch_may_break_rules(void **state)
{
    struct ki_as_resource resource = pods();
    struct ki_as_failure failure = {0};
    json_t *tree = tree_of(POD(",'livenessProbe':{}", ""));
    (void)state;
    assert_taken(ki_as_validate_sketch(&resource, tree, &failure), &failure);
    assert_true(ki_as_is_sketch(&resource, tree));
    json_decref(tree);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(probes_have_one_handler),
        cmocka_unit_test(amounts_are_neither_negative_nor_above_their_limit),
        cmocka_unit_test(unsupported_and_missing_values_are_refused),
        cmocka_unit_test(names_and_addresses_in_specs_are_checked),
        cmocka_unit_test(percentages_are_checked),
        cmocka_unit_test(templates_are_checked_like_pods),
        cmocka_unit_test(parts_of_ingresses_and_bindings_are_checked),
        cmocka_unit_test(a_sketch_may_break_rules),
    };
    return RUN_TESTS(tests);
}
