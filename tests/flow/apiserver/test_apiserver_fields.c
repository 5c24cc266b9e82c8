/* SPDX-License-Identifier: Apache-2.0 */
/* fieldValidation: fields that a kind does not have, in objects and in patches of every kind. */
#include <stdio.h>
#include <string.h>

#include "support/apiserver/api_rig.h"
#include "support/unit.h"

#define MAPS "/api/v1/namespaces/default/configmaps"
#define DEPLOYMENTS "/apis/apps/v1/namespaces/default/deployments"
#define WIDGETS "/apis/example.com/v1/namespaces/default/widgets"

static const char widgets[] =
    "{\"metadata\":{\"name\":\"widgets.example.com\"},\"spec\":{\"group\":\"example.com\",\"scope\":"
    "\"Namespaced\",\"names\":{\"plural\":\"widgets\",\"kind\":\"Widget\"},\"versions\":[{\"name\":\"v1\","
    "\"served\":true,\"storage\":true,\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\",\"properties\":{"
    "\"spec\":{\"type\":\"object\",\"properties\":{\"size\":{\"type\":\"integer\"}}}}}}}]}}";

static int setup(void **state)
{
    ki_apiserver *server = api_rig_start(NULL);
    *state = server;
    api_post(server, MAPS, "{\"metadata\":{\"name\":\"a\"}}");
    return 0;
}

static api_answer patch(const ki_apiserver *server, const char *path, const char *type, const char *body)
{
    char header[96];
    (void)snprintf(header, sizeof(header), "Content-Type: application/%s", type);
    return api_call(server,
                    &(api_request){.method = "PATCH", .path = path, .body = body, .headers = {header}});
}

static void unknown_fields_cause_a_warning_by_default(void **state)
{
    static const char body[] = "{\"metadata\":{\"name\":\"b\"},\"dat\":{},\"data\":{\"k\":\"v\"}}";
    api_answer answer = api_call(*state, &(api_request){.path = MAPS, .body = body});
    assert_int_equal(answer.status, 201);
    assert_string_equal(api_header(&answer, "Warning"), "299 - \"unknown field \\\"dat\\\"\"");
    assert_null(api_at(answer.tree, "dat"));
    api_answer_fini(&answer);
    answer = api_call(*state, &(api_request){.method = "PUT",
                                             .path = MAPS "/b?fieldValidation=Warn",
                                             .body = "{\"metadata\":{\"name\":\"b\",\"label\":{}}}"});
    assert_int_equal(answer.status, 200);
    assert_string_equal(api_header(&answer, "Warning"), "299 - \"unknown field \\\"metadata.label\\\"\"");
    api_answer_fini(&answer);
    answer = api_call(*state, &(api_request){.path = MAPS "?fieldValidation=Ignore",
                                             .body = "{\"metadata\":{\"name\":\"c\"},\"dat\":{}}"});
    assert_int_equal(answer.status, 201);
    assert_string_equal(api_header(&answer, "Warning"), "");
    api_answer_fini(&answer);
}

static void unknown_fields_are_refused_with_strict_validation(void **state)
{
    api_answer answer =
        api_call(*state, &(api_request){.path = MAPS "?fieldValidation=Strict",
                                        .body = "{\"metadata\":{\"name\":\"b\"},\"dat\":{}}"});
    assert_int_equal(answer.status, 400);
    assert_string_equal(
        api_text(&answer, "message"),
        "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict decoding error: "
        "unknown field \"dat\"");
    api_answer_fini(&answer);
}

static void patches_warn_about_unknown_fields(void **state)
{
    static const struct {
        const char *type;
        const char *body;
    } patches[] = {
        {"merge-patch+json", "{\"dat\":{\"k\":\"v\"}}"},
        {"strategic-merge-patch+json", "{\"dat\":{\"k\":\"v\"}}"},
        {"json-patch+json", "[{\"op\":\"add\",\"path\":\"/dat\",\"value\":{\"k\":\"v\"}}]"},
    };
    for (size_t i = 0; i < sizeof(patches) / sizeof(patches[0]); i++) {
        api_answer answer = patch(*state, MAPS "/a", patches[i].type, patches[i].body);
        assert_int_equal(answer.status, 200);
        assert_string_equal(api_header(&answer, "Warning"), "299 - \"unknown field \\\"dat\\\"\"");
        api_answer_fini(&answer);
        answer = patch(*state, MAPS "/a?fieldValidation=Ignore", patches[i].type, patches[i].body);
        assert_string_equal(api_header(&answer, "Warning"), "");
        api_answer_fini(&answer);
        answer = patch(*state, MAPS "/a?fieldValidation=Strict", patches[i].type, patches[i].body);
        assert_int_equal(answer.status, 422);
        assert_non_null(strstr(api_text(&answer, "message"), " \"\" is invalid: patch: Invalid value: \""));
        assert_non_null(
            strstr(api_text(&answer, "message"), ": strict decoding error: unknown field \"dat\""));
        assert_string_equal(api_text(&answer, "details.causes.0.field"), "patch");
        api_answer_fini(&answer);
    }
    api_answer answer =
        patch(*state, MAPS "/a?fieldValidation=Strict", "merge-patch+json", "{\"data\":{\"k\":\"v\"}}");
    assert_int_equal(answer.status, 200);
    api_answer_fini(&answer);
}

static void applied_fields_must_be_declared(void **state)
{
    static const char body[] =
        "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"web\"},\"spec\":{"
        "\"replica\":1,\"selector\":{\"matchLabels\":{\"a\":\"b\"}},\"template\":{\"metadata\":{\"labels\":{"
        "\"a\":\"b\"}},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"prots\":[]}]}}}}";
    api_answer answer = patch(*state, DEPLOYMENTS "/web?fieldManager=m", "apply-patch+yaml", body);
    assert_int_equal(answer.status, 500);
    assert_string_equal(
        api_text(&answer, "message"),
        "failed to create typed patch object (default/web; apps/v1, Kind=Deployment): errors:\n"
        "  .spec.replica: field not declared in schema\n"
        "  .spec.template.spec.containers[0].prots: field not declared in schema");
    api_answer_fini(&answer);
    answer = patch(*state, MAPS "/a?fieldManager=m", "apply-patch+yaml",
                   "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\"},\"dat\":{}}");
    assert_int_equal(answer.status, 500);
    assert_string_equal(
        api_text(&answer, "message"),
        "failed to create typed patch object (default/a; /v1, Kind=ConfigMap): .dat: field not "
        "declared in schema");
    api_answer_fini(&answer);
}

static void custom_objects_have_the_fields_of_their_schema(void **state)
{
    api_post(*state, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", widgets);
    api_answer answer = api_call(
        *state, &(api_request){.path = WIDGETS,
                               .body = "{\"apiVersion\":\"example.com/v1\",\"kind\":\"Widget\",\"metadata\":{"
                                       "\"name\":\"w\"},\"spec\":{\"size\":1,\"siez\":2}}"});
    assert_int_equal(answer.status, 201);
    assert_string_equal(api_header(&answer, "Warning"), "299 - \"unknown field \\\"spec.siez\\\"\"");
    api_answer_fini(&answer);
    answer =
        patch(*state, WIDGETS "/w?fieldValidation=Strict", "merge-patch+json", "{\"spec\":{\"siez\":2}}");
    assert_int_equal(answer.status, 422);
    api_answer_fini(&answer);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, api_rig_stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(unknown_fields_cause_a_warning_by_default),
        TEST(unknown_fields_are_refused_with_strict_validation),
        TEST(patches_warn_about_unknown_fields),
        TEST(applied_fields_must_be_declared),
        TEST(custom_objects_have_the_fields_of_their_schema),
    };
    return RUN_TESTS(tests);
}
