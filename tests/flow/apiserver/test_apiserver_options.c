/* SPDX-License-Identifier: Apache-2.0 */
/* Options of writes: in the query, in the body of a delete, and the type of the body. */
#include <stdio.h>
#include <string.h>

#include "support/apiserver/api_rig.h"
#include "support/unit.h"

#define MAPS "/api/v1/namespaces/default/configmaps"

static int setup(void **state)
{
    *state = api_rig_start(NULL);
    api_post(*state, MAPS, "{\"metadata\":{\"name\":\"a\"}}");
    return 0;
}

static void refused(const ki_apiserver *server, const api_request *request, int status, const char *message)
{
    api_answer answer = api_call(server, request);
    assert_int_equal(answer.status, status);
    if (strcmp(api_text(&answer, "message"), message) != 0)
        fail_msg("\"%s\" is not \"%s\"", api_text(&answer, "message"), message);
    api_answer_fini(&answer);
}

static void bodies_must_have_a_known_type(void **state)
{
    static const char message[] =
        "the body of the request was in an unknown format - accepted media types include: application/json, "
        "application/yaml, application/vnd.kubernetes.protobuf";
    static const char *const types[] = {"Content-Type: application/x-www-form-urlencoded",
                                        "Content-Type: text/plain"};
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        refused(
            *state,
            &(api_request){.path = MAPS, .body = "{\"metadata\":{\"name\":\"b\"}}", .headers = {types[i]}},
            415, message);
        refused(*state,
                &(api_request){.method = "DELETE", .path = MAPS "/a", .body = "{}", .headers = {types[i]}},
                415, message);
    }
}

static void objects_that_are_not_stored_may_have_a_version(void **state)
{
    static const char body[] = "{\"metadata\":{\"name\":\"b\",\"resourceVersion\":\"5\"}}";
    api_post(*state, MAPS "?dryRun=All", body);
    refused(*state, &(api_request){.path = MAPS, .body = body}, 500,
            "resourceVersion should not be set on objects to be created");
}

static void a_replacement_must_have_its_name(void **state)
{
    refused(*state, &(api_request){.method = "PUT", .path = MAPS "/a", .body = "{\"data\":{\"k\":\"v\"}}"},
            400, "the name of the object (a based on URL) was undeterminable: name must be provided");
    refused(*state,
            &(api_request){.method = "PUT",
                           .path = "/api/v1/namespaces/default/podtemplates/a",
                           .body = "{\"metadata\":{\"name\":\"a\"}}"},
            404, "podtemplates \"a\" not found");
}

static void custom_objects_must_have_kind_and_api_version(void **state)
{
    static const char widgets[] = "/apis/example.com/v1/namespaces/default/widgets";
    api_post(
        *state, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
        "{\"metadata\":{\"name\":\"widgets.example.com\"},\"spec\":{\"group\":\"example.com\",\"scope\":"
        "\"Namespaced\",\"names\":{\"plural\":\"widgets\",\"kind\":\"Widget\"},\"versions\":[{\"name\":"
        "\"v1\",\"served\":true,\"storage\":true,\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\"}}}]}}");
    refused(*state,
            &(api_request){.path = widgets,
                           .body = "{\"apiVersion\":\"example.com/v1\",\"metadata\":{\"name\":\"a\"}}"},
            400, "the object provided is unrecognized (must be of type Widget): Object 'Kind' is missing");
    refused(*state,
            &(api_request){.path = widgets, .body = "{\"kind\":\"Widget\",\"metadata\":{\"name\":\"a\"}}"},
            400, "the API version in the data () does not match the expected API version (example.com/v1)");
    api_post(*state, widgets,
             "{\"kind\":\"Widget\",\"apiVersion\":\"example.com/v1\",\"metadata\":{\"name\":\"a\"}}");
}

static void a_negative_grace_period_is_ignored(void **state)
{
    refused(*state, &(api_request){.method = "DELETE", .path = MAPS "/a?gracePeriodSeconds=x"}, 400,
            "strconv.ParseInt: parsing \"x\": invalid syntax");
    api_answer answer =
        api_call(*state, &(api_request){.method = "DELETE", .path = MAPS "/a?gracePeriodSeconds=-1"});
    assert_int_equal(answer.status, 200);
    api_answer_fini(&answer);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(bodies_must_have_a_known_type, setup, api_rig_stop),
        cmocka_unit_test_setup_teardown(objects_that_are_not_stored_may_have_a_version, setup, api_rig_stop),
        cmocka_unit_test_setup_teardown(a_replacement_must_have_its_name, setup, api_rig_stop),
        cmocka_unit_test_setup_teardown(custom_objects_must_have_kind_and_api_version, setup, api_rig_stop),
        cmocka_unit_test_setup_teardown(a_negative_grace_period_is_ignored, setup, api_rig_stop),
    };
    return RUN_TESTS(tests);
}
