/* SPDX-License-Identifier: Apache-2.0 */
/* Members that stand twice in a body: refused, told of, or the last of them taken. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/api_rig.h"
#include "support/unit.h"

#define DEPLOYMENTS "/apis/apps/v1/namespaces/default/deployments"
#define MAPS "/api/v1/namespaces/default/configmaps"

static const char json_body[] =
    "{\"metadata\":{\"name\":\"old\",\"name\":\"d\",\"name\":\"d\",\"labels\":{\"a\":\"1\",\"\\u0061\":\"2\"}"
    "},"
    "\"spec\":{\"unknown\":1,\"unknown\":{\"a\":1,\"a\":2},\"paused\":true,\"paused\":false,\"selector\":{"
    "\"matchLabels\":{\"a\":\"2\"}},\"template\":{\"metadata\":{\"labels\":{\"a\":\"2\"}},\"spec\":{"
    "\"containers\":["
    "{\"name\":\"c\",\"image\":\"i\"},{\"name\":\"e\",\"image\":\"i\",\"image\":\"j\"}]}}}}";
static const char yaml_body[] = "metadata:\n"
                                "  name: old\n"
                                "  name: d\n"
                                "data:\n"
                                "  a: x\n"
                                "  b: w\n"
                                "  a: z\n"
                                "dta: {}\n";
static const char *const duplicates[] = {
    "duplicate field \\\"metadata.name\\\"", "duplicate field \\\"metadata.labels.a\\\"",
    "duplicate field \\\"spec.paused\\\"", "duplicate field \\\"spec.template.spec.containers[1].image\\\"",
    "unknown field \\\"spec.unknown\\\""};

static int setup(void **state)
{
    *state = api_rig_start(NULL);
    return 0;
}

static int teardown(void **state)
{
    ki_apiserver_stop(*state);
    return 0;
}

static api_answer send_as(const ki_apiserver *server, const char *path, const char *type, const char *body)
{
    char header[96];
    bool is_patch = strstr(type, "patch") != NULL;
    snprintf(header, sizeof(header), "Content-Type: application/%s", type);
    return api_call(
        server, &(api_request){
                    .method = is_patch ? "PATCH" : "POST", .path = path, .body = body, .headers = {header}});
}

static void expect_message(api_answer answer, int status, const char *message)
{
    assert_int_equal(answer.status, status);
    if (strstr(api_text(&answer, "message"), message) == NULL)
        fail_msg("%s", api_text(&answer, "message"));
    api_answer_fini(&answer);
}

static void strict_refuses_them_in_json(void **state)
{
    expect_message(send_as(*state, DEPLOYMENTS "?fieldValidation=Strict", "json", json_body), 400,
                   "Deployment in version \"v1\" cannot be handled as a Deployment: strict decoding error: "
                   "duplicate field \"metadata.name\", duplicate field \"metadata.labels.a\", "
                   "duplicate field \"spec.paused\", duplicate field "
                   "\"spec.template.spec.containers[1].image\", unknown field \"spec.unknown\"");
}

static void a_text_that_is_read_slowly_is_refused_too(void **state)
{
    expect_message(send_as(*state, MAPS "?fieldValidation=Strict", "json",
                           "{\"metadata\":{\"name\":\"\\ud83d\\ude00\",\"name\":\"m\"}}"),
                   400, "strict decoding error: duplicate field \"metadata.name\"");
}

static void warn_tells_of_each_and_takes_the_last(void **state)
{
    static const char *const paths[] = {DEPLOYMENTS "?fieldValidation=Warn&dryRun=All", DEPLOYMENTS};
    for (size_t i = 0; i < 2; i++) {
        api_answer answer = send_as(*state, paths[i], "json", json_body);
        assert_int_equal(answer.status, 201);
        for (size_t j = 0; j < sizeof(duplicates) / sizeof(duplicates[0]); j++)
            if (strstr(answer.headers, duplicates[j]) == NULL)
                fail_msg("%s: %s", duplicates[j], answer.headers);
        assert_null(strstr(answer.headers, "duplicate field \\\"spec.unknown"));
        assert_string_equal(api_text(&answer, "metadata.name"), "d");
        assert_string_equal(api_text(&answer, "metadata.labels.a"), "2");
        assert_string_equal(api_text(&answer, "spec.template.spec.containers.1.image"), "j");
        api_answer_fini(&answer);
    }
}

static void ignore_says_nothing(void **state)
{
    api_answer answer = send_as(*state, DEPLOYMENTS "?fieldValidation=Ignore", "json", json_body);
    assert_int_equal(answer.status, 201);
    assert_string_equal(api_header(&answer, "Warning"), "");
    api_answer_fini(&answer);
    answer = send_as(*state, MAPS "?fieldValidation=Ignore", "yaml", yaml_body);
    assert_int_equal(answer.status, 201);
    assert_string_equal(api_header(&answer, "Warning"), "");
    assert_string_equal(api_text(&answer, "data.a"), "z");
    api_answer_fini(&answer);
}

static void those_of_yaml_are_named_by_their_lines(void **state)
{
    expect_message(send_as(*state, MAPS "?fieldValidation=Strict", "yaml", yaml_body), 400,
                   "strict decoding error: yaml: unmarshal errors:\n"
                   "  line 3: key \"name\" already set in map\n"
                   "  line 7: key \"a\" already set in map, unknown field \"dta\"");
    api_answer answer = send_as(*state, MAPS, "yaml", yaml_body);
    assert_int_equal(answer.status, 201);
    assert_non_null(strstr(answer.headers, "line 3: key \\\"name\\\" already set in map"));
    assert_non_null(strstr(answer.headers, "line 7: key \\\"a\\\" already set in map"));
    assert_string_equal(api_text(&answer, "metadata.name"), "d");
    api_answer_fini(&answer);
}

static void patches_are_looked_at_as_well(void **state)
{
    static const char path[] = MAPS "/m?fieldValidation=Strict";
    api_post(*state, MAPS, "{\"metadata\":{\"name\":\"m\"}}");
    expect_message(
        send_as(*state, path, "merge-patch+json", "{\"data\":{\"a\":\"1\",\"a\":\"2\"},\"x\":1,\"x\":2}"),
        422, "strict decoding error: duplicate field \"data.a\", duplicate field \"x\", unknown field \"x\"");
    expect_message(
        send_as(*state, path, "strategic-merge-patch+json", "{\"data\":{\"a\":\"1\",\"a\":\"2\"}}"), 422,
        "strict decoding error: duplicate field \"data.a\"");
    expect_message(send_as(*state, path, "json-patch+json",
                           "[{\"op\":\"add\",\"path\":\"/data\",\"path\":\"/data\",\"value\":{}}]"),
                   422, "strict decoding error: json patch duplicate field \"[0].path\"");
    api_answer answer =
        send_as(*state, MAPS "/m", "merge-patch+json", "{\"data\":{\"a\":\"1\",\"a\":\"2\"}}");
    assert_int_equal(answer.status, 200);
    assert_non_null(strstr(api_header(&answer, "Warning"), "duplicate field \\\"data.a\\\""));
    assert_string_equal(api_text(&answer, "data.a"), "2");
    api_answer_fini(&answer);
}

static void applies_name_lines_even_of_json(void **state)
{
    static const char body[] =
        "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"m\"},\n"
        "\t\"data\":{\"a\":\"1\",\n\t\"a\":\"2\"}}";
    expect_message(send_as(*state, MAPS "/m?fieldManager=t&fieldValidation=Strict", "apply-patch+yaml", body),
                   400,
                   "error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n"
                   "  line 3: key \"a\" already set in map");
    api_answer answer = send_as(*state, MAPS "/m?fieldManager=t", "apply-patch+yaml", body);
    assert_int_equal(answer.status, 201);
    assert_non_null(strstr(api_header(&answer, "Warning"), "line 3: key \\\"a\\\" already set in map"));
    assert_string_equal(api_text(&answer, "data.a"), "2");
    api_answer_fini(&answer);
}

static void no_more_than_a_hundred_are_named(void **state)
{
    enum { KEYS = 3000, BYTES = 200 * 1024 };
    char *body = malloc(BYTES);
    int n = sprintf(body, "{\"metadata\":{\"name\":\"m\"},\"data\":{");
    for (int i = 0; i < KEYS; i++)
        n += sprintf(body + n, "\"k%d\":\"1\",\"k%d\":\"2\"%s", i, i, i + 1 < KEYS ? "," : "}}");
    api_answer answer = send_as(*state, MAPS "?fieldValidation=Strict", "json", body);
    assert_int_equal(answer.status, 400);
    assert_non_null(strstr(api_text(&answer, "message"), "\"data.k99\""));
    assert_null(strstr(api_text(&answer, "message"), "\"data.k100\""));
    api_answer_fini(&answer);
    free(body);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(strict_refuses_them_in_json),
        TEST(a_text_that_is_read_slowly_is_refused_too),
        TEST(warn_tells_of_each_and_takes_the_last),
        TEST(ignore_says_nothing),
        TEST(those_of_yaml_are_named_by_their_lines),
        TEST(patches_are_looked_at_as_well),
        TEST(applies_name_lines_even_of_json),
        TEST(no_more_than_a_hundred_are_named),
    };
    return RUN_TESTS(tests);
}
