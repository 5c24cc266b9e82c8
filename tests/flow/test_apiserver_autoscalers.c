/* SPDX-License-Identifier: Apache-2.0 */
/* HorizontalPodAutoscalers are the same objects in autoscaling/v1 and v2: what v1 has no field for stands in
 * its annotations. */
#include <kinformer/resources.h>
#include <stdio.h>
#include <string.h>

#include "support/api_rig.h"
#include "support/trees.h"
#include "support/unit.h"

#define V1 "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers"
#define V2 "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers"
#define ALPHA "autoscaling.alpha.kubernetes.io/"
#define REST "\"maxReplicas\":5,\"scaleTargetRef\":{\"kind\":\"Deployment\",\"name\":\"d\"}"

static const char plain[] =
    "{\"metadata\":{\"name\":\"plain\"},\"spec\":{\"targetCPUUtilizationPercentage\":60," REST "}}";
static const char rich[] =
    "{\"metadata\":{\"name\":\"rich\"},\"spec\":{" REST
    ",\"behavior\":{\"scaleDown\":{\"stabilizationWindowSeconds\":60}},\"metrics\":["
    "{\"type\":\"Resource\",\"resource\":{\"name\":\"cpu\",\"target\":{\"type\":\"Utilization\","
    "\"averageUtilization\":44}}},"
    "{\"type\":\"Resource\",\"resource\":{\"name\":\"memory\",\"target\":{\"type\":\"AverageValue\","
    "\"averageValue\":\"1Gi\"}}},"
    "{\"type\":\"ContainerResource\",\"containerResource\":{\"name\":\"cpu\",\"container\":\"c\",\"target\":{"
    "\"type\":\"Utilization\",\"averageUtilization\":7}}},"
    "{\"type\":\"Pods\",\"pods\":{\"metric\":{\"name\":\"p\"},\"target\":{\"type\":\"AverageValue\","
    "\"averageValue\":\"2\"}}},"
    "{\"type\":\"Object\",\"object\":{\"describedObject\":{\"kind\":\"Service\",\"name\":\"s\"},\"metric\":{"
    "\"name\":\"o\"},\"target\":{\"type\":\"AverageValue\",\"averageValue\":\"3\"}}},"
    "{\"type\":\"External\",\"external\":{\"metric\":{\"name\":\"e\",\"selector\":{\"matchLabels\":{\"a\":"
    "\"b\"}}},"
    "\"target\":{\"type\":\"Value\",\"value\":\"4\"}}}]}}";
static const char measured[] =
    "{\"status\":{\"desiredReplicas\":1,\"currentMetrics\":[{\"type\":\"Resource\",\"resource\":{\"name\":"
    "\"cpu\","
    "\"current\":{\"averageUtilization\":33,\"averageValue\":\"330m\"}}}],\"conditions\":[{\"type\":"
    "\"AbleToScale\",\"status\":\"True\"}]}}";

static api_answer patch(const ki_apiserver *server, const char *path, const char *body)
{
    return api_call(server, &(api_request){.method = "PATCH",
                                           .path = path,
                                           .body = body,
                                           .headers = {"Content-Type: application/merge-patch+json"}});
}

static int setup(void **state)
{
    ki_apiserver *server = api_rig_start(NULL);
    *state = server;
    api_post(server, V1, plain);
    api_post(server, V2 "?fieldValidation=Strict", rich);
    api_answer answer = patch(server, V2 "/rich/status", measured);
    assert_int_equal(answer.status, 200);
    api_answer_fini(&answer);
    return 0;
}

static int teardown(void **state)
{
    ki_apiserver_stop(*state);
    return 0;
}

/* What stands at the path is the tree {'a':'b'}. */
static void assert_at(const api_answer *answer, const char *path, const char *expected)
{
    assert_tree(json_incref((json_t *)api_at(answer->tree, path)), expected);
}

/* The JSON of an annotation. */
static void assert_annotation(const api_answer *answer, const char *name, const char *expected)
{
    const json_t *text = json_object_get(api_at(answer->tree, "metadata.annotations"), name);
    assert_true(json_is_string(text));
    assert_tree(json_loads(json_string_value(text), 0, NULL), expected);
}

#define CPU(percent)                                                                                         \
    "{'type':'Resource','resource':{'name':'cpu','target':{'type':'Utilization','averageUtilization'"        \
    ":" percent "}}}"
#define OTHERS                                                                                               \
    "{'type':'Resource','resource':{'name':'memory','target':{'type':'AverageValue','averageValue':'1Gi'}}}" \
    ","                                                                                                      \
    "{'type':'ContainerResource','containerResource':{'name':'cpu','container':'c','target':{'type':"        \
    "'Utilization','averageUtilization':7}}},"                                                               \
    "{'type':'Pods','pods':{'metric':{'name':'p'},'target':{'type':'AverageValue','averageValue':'2'}}},"    \
    "{'type':'Object','object':{'describedObject':{'kind':'Service','name':'s'},'metric':{'name':'o'},"      \
    "'target':{'type':'AverageValue','averageValue':'3'}}},"                                                 \
    "{'type':'External','external':{'metric':{'name':'e','selector':{'matchLabels':{'a':'b'}}},'target':{"   \
    "'type':'Value','value':'4'}}}"

static void the_percentage_of_v1_is_a_metric_of_v2(void **state)
{
    api_answer answer = api_get(*state, V2 "/plain");
    assert_string_equal(api_text(&answer, "apiVersion"), "autoscaling/v2");
    assert_at(&answer, "spec.metrics", "[" CPU("60") "]");
    assert_null(api_at(answer.tree, "spec.targetCPUUtilizationPercentage"));
    api_answer_fini(&answer);
    answer = api_get(*state, V1 "/plain");
    assert_string_equal(api_text(&answer, "apiVersion"), "autoscaling/v1");
    assert_at(&answer, "spec",
              "{'maxReplicas':5,'minReplicas':1,'scaleTargetRef':{'kind':'Deployment','name':'d'},"
              "'targetCPUUtilizationPercentage':60}");
    assert_null(api_at(answer.tree, "metadata.annotations"));
    api_answer_fini(&answer);
}

static void what_v1_cannot_say_stands_in_its_annotations(void **state)
{
    api_answer answer = api_get(*state, V1 "/rich");
    assert_at(&answer, "spec",
              "{'maxReplicas':5,'minReplicas':1,'scaleTargetRef':{'kind':'Deployment','name':'d'},"
              "'targetCPUUtilizationPercentage':44}");
    assert_at(&answer, "status", "{'desiredReplicas':1,'currentCPUUtilizationPercentage':33}");
    assert_annotation(
        &answer, ALPHA "metrics",
        "[{'type':'Resource','resource':{'name':'memory','targetAverageValue':'1Gi'}},"
        "{'type':'ContainerResource','containerResource':{'name':'cpu','container':'c',"
        "'targetAverageUtilization':7}},"
        "{'type':'Pods','pods':{'metricName':'p','targetAverageValue':'2'}},"
        "{'type':'Object','object':{'target':{'kind':'Service','name':'s'},'metricName':'o','targetValue':"
        "'0','averageValue':'3'}},"
        "{'type':'External','external':{'metricName':'e','metricSelector':{'matchLabels':{'a':'b'}},"
        "'targetValue':'4'}}]");
    assert_annotation(&answer, ALPHA "current-metrics",
                      "[{'type':'Resource','resource':{'name':'cpu','currentAverageUtilization':33,"
                      "'currentAverageValue':'330m'}}]");
    assert_annotation(&answer, ALPHA "conditions", "[{'type':'AbleToScale','status':'True'}]");
    assert_annotation(&answer, ALPHA "behavior",
                      "{'ScaleDown':{'StabilizationWindowSeconds':60,'SelectPolicy':'Max','Policies':["
                      "{'Type':'Percent','Value':100,'PeriodSeconds':15}]},'ScaleUp':{"
                      "'StabilizationWindowSeconds':0,'SelectPolicy':'Max','Policies':[{'Type':'Pods',"
                      "'Value':4,'PeriodSeconds':15},{'Type':'Percent','Value':100,'PeriodSeconds':15}]}}");
    api_answer_fini(&answer);
}

static void a_patch_in_v1_keeps_what_v1_cannot_say(void **state)
{
    api_answer answer = patch(*state, V1 "/rich?fieldValidation=Strict",
                              "{\"spec\":{\"targetCPUUtilizationPercentage\":45}}");
    assert_int_equal(answer.status, 200);
    assert_int_equal(json_integer_value(api_at(answer.tree, "spec.targetCPUUtilizationPercentage")), 45);
    api_answer_fini(&answer);
    answer = api_get(*state, V2 "/rich");
    assert_at(&answer, "spec.metrics", "[" OTHERS "," CPU("45") "]");
    assert_int_equal(
        json_integer_value(api_at(answer.tree, "spec.behavior.scaleDown.stabilizationWindowSeconds")), 60);
    assert_null(api_at(answer.tree, "metadata.annotations"));
    api_answer_fini(&answer);
}

static void an_update_in_v1_without_annotations_keeps_the_status(void **state)
{
    api_answer answer =
        api_call(*state, &(api_request){.method = "PUT",
                                        .path = V1 "/rich",
                                        .body = "{\"metadata\":{\"name\":\"rich\"},\"spec\":{" REST "}}"});
    assert_int_equal(answer.status, 200);
    api_answer_fini(&answer);
    answer = api_get(*state, V2 "/rich");
    assert_at(&answer, "spec.metrics", "[" CPU("80") "]");
    assert_null(api_at(answer.tree, "spec.behavior"));
    assert_at(&answer, "status",
              "{'desiredReplicas':1,'currentMetrics':[{'type':'Resource','resource':{'name':'cpu','current':{"
              "'averageUtilization':33,'averageValue':'330m'}}}],'conditions':[{'type':'AbleToScale',"
              "'status':'True'}]}");
    api_answer_fini(&answer);
}

static void a_status_in_v1_leaves_the_metrics_as_they_are(void **state)
{
    api_answer answer =
        patch(*state, V1 "/plain/status", "{\"status\":{\"currentCPUUtilizationPercentage\":12}}");
    assert_int_equal(answer.status, 200);
    api_answer_fini(&answer);
    answer = patch(*state, V1 "/rich/status", "{\"status\":{\"desiredReplicas\":2}}");
    assert_int_equal(answer.status, 200);
    api_answer_fini(&answer);
    answer = api_get(*state, V2);
    assert_at(&answer, "items.0.status.currentMetrics",
              "[{'type':'Resource','resource':{'name':'cpu','current':{'averageUtilization':12}}}]");
    assert_at(&answer, "items.1.spec.metrics", "[" CPU("44") "," OTHERS "]");
    assert_int_equal(json_integer_value(api_at(answer.tree, "items.1.status.desiredReplicas")), 2);
    api_answer_fini(&answer);
}

static void lists_and_watches_have_the_form_that_is_asked_for(void **state)
{
    api_answer answer = api_get(*state, V1);
    assert_int_equal(json_integer_value(api_at(answer.tree, "items.1.spec.targetCPUUtilizationPercentage")),
                     44);
    assert_null(api_at(answer.tree, "items.1.spec.metrics"));
    api_answer_fini(&answer);
    answer = api_get(*state, V1 "?watch=1&timeoutSeconds=1&resourceVersion=0");
    size_t at = 0;
    json_t *event = api_next_event(&answer, &at);
    json_decref(event);
    event = api_next_event(&answer, &at);
    assert_string_equal(json_string_value(api_at(event, "object.apiVersion")), "autoscaling/v1");
    assert_int_equal(json_integer_value(api_at(event, "object.spec.targetCPUUtilizationPercentage")), 44);
    assert_non_null(json_object_get(api_at(event, "object.metadata.annotations"), ALPHA "metrics"));
    json_decref(event);
    api_answer_fini(&answer);
}

static void without_a_metric_it_is_the_processor_at_80_percent(void **state)
{
    api_post(*state, V1, "{\"metadata\":{\"name\":\"one\"},\"spec\":{" REST "}}");
    api_post(*state, V2, "{\"metadata\":{\"name\":\"two\"},\"spec\":{" REST ",\"metrics\":[]}}");
    api_answer answer = api_get(*state, V2 "/one");
    assert_at(&answer, "spec.metrics", "[" CPU("80") "]");
    api_answer_fini(&answer);
    answer = api_get(*state, V1 "/two");
    assert_int_equal(json_integer_value(api_at(answer.tree, "spec.targetCPUUtilizationPercentage")), 80);
    api_answer_fini(&answer);
}

static void so_is_one_without_a_spec(void **state)
{
    static const char *const texts[] = {"{\"metadata\":{\"name\":\"one\"}}",
                                        "{\"metadata\":{\"name\":\"two\"}}"};
    const ki_resource *const resources[] = {&KI_AUTOSCALING_V1_HORIZONTALPODAUTOSCALERS,
                                            &KI_AUTOSCALING_V2_HORIZONTALPODAUTOSCALERS};
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(ki_apiserver_put(*state, resources[i], texts[i], NULL), 0);
    api_answer answer = api_get(*state, V2);
    assert_at(&answer, "items.0.spec", "{'minReplicas':1,'metrics':[" CPU("80") "]}");
    assert_at(&answer, "items.3.spec", "{'minReplicas':1,'metrics':[" CPU("80") "]}");
    api_answer_fini(&answer);
}

static void annotations_that_make_no_sense_are_dropped(void **state)
{
    api_post(*state, V1,
             "{\"metadata\":{\"name\":\"odd\",\"annotations\":{\"" ALPHA
             "metrics\":\"[{\\\"type\\\":5}]\",\"" ALPHA "behavior\":\"{\\\"ScaleUp\\\":[]}\",\"" ALPHA
             "conditions\":\"nonsense\",\"" ALPHA "current-metrics\":\"{}\",\"a\":\"b\"}},\"spec\":{" REST
             "}}");
    api_answer answer = api_get(*state, V2 "/odd");
    assert_at(&answer, "metadata.annotations", "{'a':'b'}");
    assert_at(&answer, "spec.metrics", "[" CPU("80") "]");
    assert_null(api_at(answer.tree, "spec.behavior"));
    assert_null(api_at(answer.tree, "status.conditions"));
    api_answer_fini(&answer);
}

static void an_apply_in_v1_sets_the_metric(void **state)
{
    static const char path[] = V1 "/plain?fieldManager=m&force=true";
    static const char body[] = "{\"apiVersion\":\"autoscaling/"
                               "v1\",\"kind\":\"HorizontalPodAutoscaler\",\"metadata\":{\"name\":\"plain\"},"
                               "\"spec\":{\"targetCPUUtilizationPercentage\":70," REST "}}";
    api_answer answer =
        api_call(*state, &(api_request){.method = "PATCH",
                                        .path = path,
                                        .body = body,
                                        .headers = {"Content-Type: application/apply-patch+yaml"}});
    assert_int_equal(answer.status, 200);
    api_answer_fini(&answer);
    answer = api_get(*state, V2 "/plain");
    assert_at(&answer, "spec.metrics", "[" CPU("70") "]");
    api_answer_fini(&answer);
}

/* What scaleTargetRef is: one value in v1, a map in v2. */
static void an_applier_may_go_from_one_version_to_the_other(void **state)
{
    static const char *const paths[] = {V2, V1};
    for (int i = 0; i < 4; i++) {
        char path[128];
        char body[512];
        (void)snprintf(path, sizeof(path), "%s/moving?fieldManager=m", paths[i % 2]);
        (void)snprintf(
            body, sizeof(body),
            "{\"apiVersion\":\"autoscaling/v%d\",\"kind\":\"HorizontalPodAutoscaler\",\"metadata\":"
            "{\"name\":\"moving\"},\"spec\":{\"maxReplicas\":%d,\"scaleTargetRef\":{\"kind\":"
            "\"Deployment\",\"name\":\"d%d\"}}}",
            2 - i % 2, 5 + i, i);
        api_answer answer =
            api_call(*state, &(api_request){.method = "PATCH",
                                            .path = path,
                                            .body = body,
                                            .headers = {"Content-Type: application/apply-patch+yaml"}});
        assert_int_equal(answer.status, i == 0 ? 201 : 200);
        assert_int_equal(json_integer_value(api_at(answer.tree, "spec.maxReplicas")), 5 + i);
        (void)snprintf(body, sizeof(body), "{'kind':'Deployment','name':'d%d'}", i);
        assert_at(&answer, "spec.scaleTargetRef", body);
        api_answer_fini(&answer);
    }
}

static void a_table_shows_what_is_measured_and_wanted(void **state)
{
    static const char accept[] = "Accept: application/json;as=Table;v=v1;g=meta.k8s.io";
    static const char *const paths[] = {V1, V2};
    for (size_t i = 0; i < 2; i++) {
        api_answer answer = api_call(*state, &(api_request){.path = paths[i], .headers = {accept}});
        assert_string_equal(api_text(&answer, "rows.0.cells.2"), "cpu: <unknown>/60%");
        assert_non_null(strstr(api_text(&answer, "rows.1.cells.2"), " + 4 more..."));
        api_answer_fini(&answer);
    }
    api_answer answer = api_call(*state, &(api_request){.path = V2 "/rich", .headers = {accept}});
    assert_string_equal(api_text(&answer, "rows.0.cells.2"),
                        "cpu: 33%/44%, memory: <unknown>/1Gi + 4 more...");
    api_answer_fini(&answer);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_percentage_of_v1_is_a_metric_of_v2),
        TEST(what_v1_cannot_say_stands_in_its_annotations),
        TEST(a_patch_in_v1_keeps_what_v1_cannot_say),
        TEST(an_update_in_v1_without_annotations_keeps_the_status),
        TEST(a_status_in_v1_leaves_the_metrics_as_they_are),
        TEST(lists_and_watches_have_the_form_that_is_asked_for),
        TEST(without_a_metric_it_is_the_processor_at_80_percent),
        TEST(so_is_one_without_a_spec),
        TEST(annotations_that_make_no_sense_are_dropped),
        TEST(an_apply_in_v1_sets_the_metric),
        TEST(an_applier_may_go_from_one_version_to_the_other),
        TEST(a_table_shows_what_is_measured_and_wanted),
    };
    return RUN_TESTS(tests);
}
