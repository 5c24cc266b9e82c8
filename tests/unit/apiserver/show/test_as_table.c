/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/show/table.h"

#include <stdio.h>
#include <string.h>

#include "apiserver/value/age.h"
#include "support/apiserver/trees.h"
#include "support/unit.h"

/* 2026-11-15T20:47:15Z: the time at which the fixtures were recorded. */
enum { RECORDED_AT = 1794775635 };

/* The cells of an object, as the text of an array. */
static void shown(struct ki_as_resource resource, const char *text, const char *cells)
{
    json_t *tree = tree_of(text);
    json_t *row = ki_as_table_row(&resource, tree, KI_AS_INCLUDE_NONE, RECORDED_AT);
    json_t *columns = ki_as_table_columns(&resource);
    assert_non_null(row);
    assert_int_equal(json_array_size(columns), json_array_size(json_object_get(row, "cells")));
    assert_true(json_is_null(json_object_get(row, "object")));
    assert_tree(json_incref(json_object_get(row, "cells")), cells);
    json_decref(columns);
    json_decref(row);
    json_decref(tree);
}

static void ages_are_short(void **state)
{
    (void)state;
    static const struct {
        int64_t seconds;
        const char *text;
    } ages[] = {
        {-5, "<invalid>"}, {-1, "0s"},         {0, "0s"},        {78, "78s"},         {119, "119s"},
        {120, "2m"},       {185, "3m5s"},      {600, "10m"},     {10799, "179m"},     {10800, "3h"},
        {18600, "5h10m"},  {28800, "8h"},      {172799, "47h"},  {172800, "2d"},      {273600, "3d4h"},
        {691200, "8d"},    {63071999, "729d"}, {63072000, "2y"}, {66000000, "2y33d"}, {252288000, "8y"},
        {300000000, "9y"},
    };
    for (size_t i = 0; i < sizeof(ages) / sizeof(ages[0]); i++) {
        char text[KI_AS_AGE_BYTES];
        ki_as_duration_write(ages[i].seconds, text);
        assert_string_equal(text, ages[i].text);
    }
}

/* The recorded Table: the same columns except for their descriptions, and the same rows. */
static void pods_are_shown_as_recorded(void **state)
{
    (void)state;
    struct ki_as_resource pods = resource_of("v1", "pods", "Pod");
    json_t *table = tree_of_fixture("pods-table.http");
    json_t *list = tree_of_fixture("pods-list.http");
    json_t *columns = ki_as_table_columns(&pods);
    json_t *wanted = json_object_get(table, "columnDefinitions");
    assert_int_equal(json_array_size(columns), json_array_size(wanted));
    for (size_t i = 0; i < json_array_size(wanted); i++) {
        assert_true(json_is_string(json_object_get(json_array_get(columns, i), "description")));
        (void)json_object_del(json_array_get(columns, i), "description");
        (void)json_object_del(json_array_get(wanted, i), "description");
    }
    assert_true(json_equal(columns, wanted));
    json_t *row = json_array_get(json_object_get(table, "rows"), 0);
    json_t *pod = json_array_get(json_object_get(list, "items"), 0);
    json_t *mine = ki_as_table_row(&pods, pod, KI_AS_INCLUDE_METADATA, RECORDED_AT);
    assert_true(json_equal(json_object_get(row, "cells"), json_object_get(mine, "cells")));
    assert_true(json_equal(json_object_get(row, "object"), json_object_get(mine, "object")));
    json_decref(mine);
    json_decref(columns);
    json_decref(table);
    json_decref(list);
}

static void metadata_is_shown_as_recorded(void **state)
{
    (void)state;
    json_t *wanted = tree_of_fixture("pods-metadata-only.http");
    json_t *list = tree_of_fixture("pods-list.http");
    json_t *first = json_array_get(json_object_get(wanted, "items"), 0);
    json_t *mine = ki_as_partial_metadata(json_array_get(json_object_get(list, "items"), 0));
    assert_true(json_equal(json_object_get(first, "metadata"), json_object_get(mine, "metadata")));
    assert_string_equal(json_string_value(json_object_get(mine, "kind")), "PartialObjectMetadata");
    json_decref(wanted);
    json_decref(list);
    json_decref(mine);
}

#define AT "'creationTimestamp':'2026-11-15T20:45:57Z'"
#define POD(spec, status)                                                                                    \
    "{'metadata':{'name':'p'," AT "},'spec':{'containers':[{'name':'a'},{'name':'b'}]" spec                  \
    "},'status':{" status "}}"

static void pods_show_their_state(void **state)
{
    (void)state;
    struct ki_as_resource pods = resource_of("v1", "pods", "Pod");
    shown(pods,
          POD(",'nodeName':'n'",
              "'phase':'Running','podIPs':[{'ip':'10.0.0.1'}],'containerStatuses':[{'ready':true,'state':{"
              "'running':{}},'restartCount':2,'lastState':{'terminated':{'finishedAt':"
              "'2026-11-15T20:47:05Z'}}},{'ready':false,'state':{'waiting':{'reason':'CrashLoopBackOff'}}}]"),
          "['p','1/2','CrashLoopBackOff','2 (10s ago)','78s','10.0.0.1','n','<none>','<none>']");
    shown(pods,
          POD("", "'phase':'Failed','containerStatuses':[{'state':{'terminated':{'exitCode':1}}},{'state':{'"
                  "terminated':"
                  "{'exitCode':0,'reason':'Completed'}}}]"),
          "['p','0/2','ExitCode:1','0','78s','<none>','<none>','<none>','<none>']");
    shown(pods,
          POD(",'initContainers':[{'name':'i'},{'name':'j'}]",
              "'phase':'Pending','initContainerStatuses':[{'name':'i','state':{'terminated':{'exitCode':0}}},"
              "{'name':"
              "'j','state':{'running':{}}}]"),
          "['p','0/2','Init:1/2','0','78s','<none>','<none>','<none>','<none>']");
    shown(pods, "{'metadata':{'name':'p','deletionTimestamp':'x'},'status':{'phase':'Running'}}",
          "['p','0/0','Terminating','0','<unknown>','<none>','<none>','<none>','<none>']");
    shown(pods,
          POD(",'readinessGates':[{'conditionType':'x'},{'conditionType':'y'}]",
              "'phase':'Running','conditions':[{'type':'x','status':'True'}]"),
          "['p','0/2','Running','0','78s','<none>','<none>','<none>','1/2']");
}

static void nodes_show_roles_and_readiness(void **state)
{
    (void)state;
    shown(resource_of("v1", "cluster/nodes", "Node"),
          "{'metadata':{'name':'n'," AT
          ",'labels':{'node-role.kubernetes.io/control-plane':''}},'spec':{'unschedulable':true"
          "},'status':{'conditions':[{'type':'Ready','status':'True'}],'addresses':[{'type':'InternalIP','"
          "address':'1.2.3.4'}"
          "],'nodeInfo':{'kubeletVersion':'v1.36.3','kernelVersion':'6.1','architecture':'amd64'}}}",
          "['n','Ready,SchedulingDisabled','control-plane','78s','v1.36.3','1.2.3.4','<none>','<unknown>','6."
          "1 (amd64)',"
          "'<unknown>']");
    shown(resource_of("v1", "cluster/nodes", "Node"), "{'metadata':{'name':'n'," AT "}}",
          "['n','Unknown','<none>','78s','','<none>','<none>','<unknown>','<unknown>','<unknown>']");
}

static void workloads_show_their_counts(void **state)
{
    (void)state;
    static const char template[] =
        "'selector':{'matchLabels':{'a':'b'}},'template':{'spec':{'containers':[{'name':'c','image'"
        ":'i:1'},{'name':'d','image':'j'}]}}";
    char text[512];
    (void)snprintf(text, sizeof(text),
                   "{'metadata':{'name':'w'," AT "},'spec':{'replicas':3,%s},'status':{'readyReplicas':1,"
                   "'updatedReplicas':2,'replicas':3}}",
                   template);
    shown(resource_of("apps/v1", "deployments", "Deployment"), text,
          "['w','1/3',2,0,'78s','c,d','i:1,j','a=b']");
    shown(resource_of("apps/v1", "replicasets", "ReplicaSet"), text, "['w',3,3,1,'78s','c,d','i:1,j','a=b']");
    shown(resource_of("apps/v1", "statefulsets", "StatefulSet"), text, "['w','1/3','78s','c,d','i:1,j']");
    shown(resource_of("apps/v1", "daemonsets", "DaemonSet"), text,
          "['w',0,0,0,0,0,'<none>','78s','c,d','i:1,j','a=b']");
}

static void jobs_show_their_progress(void **state)
{
    (void)state;
    shown(resource_of("batch/v1", "jobs", "Job"),
          "{'metadata':{'name':'j'," AT
          "},'spec':{'completions':3},'status':{'succeeded':1,'startTime':'2026-11-15T20:46:05Z'}}",
          "['j','Running','1/3','70s','78s','','','<none>']");
    shown(resource_of("batch/v1", "jobs", "Job"),
          "{'metadata':{'name':'j'," AT
          "},'spec':{'parallelism':2},'status':{'conditions':[{'type':'Complete','status':'True'"
          "}],'startTime':'2026-11-15T20:46:05Z','completionTime':'2026-11-15T20:46:07Z'}}",
          "['j','Complete','0/1 of 2','2s','78s','','','<none>']");
    shown(resource_of("batch/v1", "cronjobs", "CronJob"),
          "{'metadata':{'name':'c'," AT
          "},'spec':{'schedule':'* * * * *','suspend':false},'status':{'active':[{}]}}",
          "['c','* * * * *','<none>','False',1,'<none>','78s','','','<none>']");
}

static void services_show_addresses_and_ports(void **state)
{
    (void)state;
    struct ki_as_resource services = resource_of("v1", "services", "Service");
    shown(services,
          "{'metadata':{'name':'s'," AT
          "},'spec':{'type':'NodePort','clusterIPs':['10.0.0.2'],'ports':[{'port':80,'nodePort':"
          "30080,'protocol':'TCP'},{'port':53,'protocol':'UDP'}],'selector':{'a':'b','c':'d'}}}",
          "['s','NodePort','10.0.0.2','<none>','80:30080/TCP,53/UDP','78s','a=b,c=d']");
    shown(services, "{'metadata':{'name':'s'," AT "},'spec':{'type':'LoadBalancer'}}",
          "['s','LoadBalancer','<none>','<pending>','<none>','78s','<none>']");
    shown(services, "{'metadata':{'name':'s'," AT "},'spec':{'type':'ExternalName','externalName':'x.y'}}",
          "['s','ExternalName','<none>','x.y','<none>','78s','<none>']");
}

static void config_maps_secrets_namespaces_and_leases_show_their_columns(void **state)
{
    (void)state;
    shown(resource_of("v1", "configmaps", "ConfigMap"),
          "{'metadata':{'name':'m'," AT "},'data':{'a':'','b':''}}", "['m',2,'78s']");
    shown(resource_of("v1", "secrets", "Secret"), "{'metadata':{'name':'s'," AT "},'type':'Opaque'}",
          "['s','Opaque',0,'78s']");
    shown(resource_of("v1", "cluster/namespaces", "Namespace"),
          "{'metadata':{'name':'n'," AT "},'status':{'phase':'Active'}}", "['n','Active','78s']");
    shown(resource_of("coordination.k8s.io/v1", "leases", "Lease"),
          "{'metadata':{'name':'l'," AT "},'spec':{'holderIdentity':'me'}}", "['l','me','78s']");
}

static void events_show_what_happened(void **state)
{
    (void)state;
    shown(resource_of("v1", "events", "Event"),
          "{'metadata':{'name':'e'," AT
          "},'involvedObject':{'kind':'Pod','name':'p','fieldPath':'f'},'type':'Normal','reason':"
          "'Started','message':'m','count':3,'source':{'component':'kubelet','host':'h'},'firstTimestamp':"
          "'2026-11-15T20:46:15Z','lastTimestamp':'2026-11-15T20:47:05Z'}",
          "['10s','Normal','Started','pod/p','f','kubelet, h','m','60s','3','e']");
}

static void network_objects_show_their_endpoints(void **state)
{
    (void)state;
    shown(resource_of("discovery.k8s.io/v1", "endpointslices", "EndpointSlice"),
          "{'metadata':{'name':'e'," AT
          "},'addressType':'IPv4','ports':[{'port':80}],'endpoints':[{'addresses':['1.1.1.1',"
          "'1.1.1.2']},{'addresses':['1.1.1.3','1.1.1.4']}]}",
          "['e','IPv4','80','1.1.1.1,1.1.1.2,1.1.1.3 + 1 more...','78s']");
    shown(resource_of("v1", "endpoints", "Endpoints"),
          "{'metadata':{'name':'e'," AT
          "},'subsets':[{'addresses':[{'ip':'1.1.1.1'},{'ip':'::1'}],'ports':[{'port':80}]}]}",
          "['e','1.1.1.1:80,[::1]:80','78s']");
    shown(resource_of("networking.k8s.io/v1", "ingresses", "Ingress"),
          "{'metadata':{'name':'i'," AT
          "},'spec':{'rules':[{'host':'a'},{'host':'b'},{'host':'c'},{'host':'d'}],'tls':[{}]},"
          "'status':{'loadBalancer':{'ingress':[{'hostname':'lb'}]}}}",
          "['i','<none>','a,b,c + 1 more...','lb','80, 443','78s']");
}

static void volumes_show_claims_and_modes(void **state)
{
    (void)state;
    shown(resource_of("v1", "cluster/persistentvolumes", "PersistentVolume"),
          "{'metadata':{'name':'v'," AT
          "},'spec':{'capacity':{'storage':'1Gi'},'accessModes':['ReadWriteOnce'],"
          "'persistentVolumeReclaimPolicy':'Retain','claimRef':{'namespace':'d','name':'c'}},'status':{'"
          "phase':'Bound'}}",
          "['v','1Gi','RWO','Retain','Bound','d/c','','<unset>','','78s','<unset>']");
    shown(resource_of("v1", "persistentvolumeclaims", "PersistentVolumeClaim"),
          "{'metadata':{'name':'c'," AT
          "},'spec':{'volumeName':'v','volumeMode':'Filesystem'},'status':{'phase':'Bound',"
          "'capacity':{'storage':'1Gi'},'accessModes':['ReadWriteMany','ReadOnlyMany']}}",
          "['c','Bound','v','1Gi','ROX,RWX','','<unset>','78s','Filesystem']");
}

static void other_kinds_show_name_and_age(void **state)
{
    (void)state;
    shown(resource_of("v1", "serviceaccounts", "ServiceAccount"), "{'metadata':{'name':'a'," AT "}}",
          "['a','78s']");
}

static void custom_kinds_show_their_own_columns(void **state)
{
    (void)state;
    struct ki_as_resource widgets = resource_of("example.com/v1", "widgets", "Widget");
    widgets.is_custom = true;
    shown(widgets, "{'metadata':{'name':'w'," AT "}}", "['w','78s']");
    widgets.columns = tree_of(
        "[{'name':'Size','type':'integer','jsonPath':'.spec.size'},{'name':'Ready','type':'string',"
        "'jsonPath':'.status.conditions[?(@.type==\\\"Ready\\\")].status','priority':1},{'name':'Since',"
        "'type':'date','jsonPath':'.metadata.creationTimestamp'},{'name':'L','type':'string','jsonPath':"
        "'.metadata.labels.a\\\\.b'},{'name':'First','type':'string','jsonPath':'.spec.list[0].x'},"
        "{'name':'All','type':'string','jsonPath':'.spec.list[*].x'}]");
    shown(widgets,
          "{'metadata':{'name':'w'," AT
          ",'labels':{'a.b':'c'}},'spec':{'size':3,'list':[{'x':'y'}]},'status':{'conditions':[{"
          "'type':'A','status':'False'},{'type':'Ready','status':'True'}]}}",
          "['w',3,'True','78s','c','y','y']");
    shown(widgets, "{'metadata':{'name':'w'," AT "}}", "['w',null,null,'78s',null,null,null]");
    json_decref(widgets.columns);
}

/* A client may define such a path. */
static void a_path_with_a_lone_quote_finds_nothing(void **state)
{
    (void)state;
    struct ki_as_resource widgets = resource_of("example.com/v1", "widgets", "Widget");
    widgets.is_custom = true;
    widgets.columns = tree_of("[{'name':'A','type':'string','jsonPath':'.spec[\\\"]'},"
                              "{'name':'B','type':'string','jsonPath':'.spec[\\\"\\\"]'},"
                              "{'name':'C','type':'string','jsonPath':'.spec[\\\"a\\\"]'}]");
    shown(widgets, "{'metadata':{'name':'w'," AT "},'spec':{'a':'b'}}", "['w',null,null,'b']");
    json_decref(widgets.columns);
}

/* Characters of two bytes at odd offsets, so that a cut at an even offset splits one. */
static void long_texts_are_never_truncated_within_a_character(void **state)
{
    (void)state;
    enum { CHARACTERS = 1000 };
    char text[CHARACTERS * 2 + 2] = "x";
    for (size_t i = 0; i < CHARACTERS; i++)
        memcpy(text + 1 + i * 2, "\xc3\xa9", 3);
    for (size_t skip = 0; skip < 2; skip++) {
        const char *name = text + skip;
        json_t *const trees[] = {
            json_pack("{s:{s:s}}", "status", "reason", name),
            json_pack("{s:{s:[{s:i, s:s}]}}", "spec", "ports", "port", 80, "protocol", name),
            json_pack("{s:[{s:[{s:s}]}]}", "subsets", "addresses", "ip", name),
            json_pack("{s:[{s:[{s:s}], s:[{s:i}]}]}", "subsets", "addresses", "ip", name, "ports", "port",
                      80),
            json_pack("{s:{s:[{s:s, s:{s:s, s:{s:s}}}]}}", "spec", "metrics", "type", "Resource", "resource",
                      "name", name, "target", "averageValue", name),
        };
        const struct ki_as_resource resources[] = {
            resource_of("v1", "pods", "Pod"),
            resource_of("v1", "services", "Service"),
            resource_of("v1", "endpoints", "Endpoints"),
            resource_of("v1", "endpoints", "Endpoints"),
            resource_of("autoscaling/v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler"),
        };
        for (size_t i = 0; i < sizeof(trees) / sizeof(trees[0]); i++) {
            json_t *row = ki_as_table_row(&resources[i], trees[i], KI_AS_INCLUDE_NONE, RECORDED_AT);
            assert_non_null(row);
            json_decref(row);
            json_decref(trees[i]);
        }
    }
}

static bool tabulates(void *user)
{
    struct ki_as_resource pods = resource_of("v1", "pods", "Pod");
    json_t *columns = ki_as_table_columns(&pods);
    json_t *row = ki_as_table_row(&pods, user, KI_AS_INCLUDE_METADATA, 0);
    bool is_good = columns != NULL && row != NULL;
    json_decref(columns);
    json_decref(row);
    return is_good;
}

static void when_out_of_memory_nothing_is_returned(void **state)
{
    (void)state;
    json_t *tree = tree_of("{'metadata':{'name':'a'},'spec':{'containers':[{}]}}");
    assert_survives_no_memory(tabulates, tree);
    json_decref(tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ages_are_short),
        cmocka_unit_test(pods_are_shown_as_recorded),
        cmocka_unit_test(metadata_is_shown_as_recorded),
        cmocka_unit_test(pods_show_their_state),
        cmocka_unit_test(nodes_show_roles_and_readiness),
        cmocka_unit_test(workloads_show_their_counts),
        cmocka_unit_test(jobs_show_their_progress),
        cmocka_unit_test(services_show_addresses_and_ports),
        cmocka_unit_test(config_maps_secrets_namespaces_and_leases_show_their_columns),
        cmocka_unit_test(events_show_what_happened),
        cmocka_unit_test(network_objects_show_their_endpoints),
        cmocka_unit_test(volumes_show_claims_and_modes),
        cmocka_unit_test(other_kinds_show_name_and_age),
        cmocka_unit_test(custom_kinds_show_their_own_columns),
        cmocka_unit_test(a_path_with_a_lone_quote_finds_nothing),
        cmocka_unit_test(long_texts_are_never_truncated_within_a_character),
        cmocka_unit_test(when_out_of_memory_nothing_is_returned),
    };
    return RUN_TESTS(tests);
}
