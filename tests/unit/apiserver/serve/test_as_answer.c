/* SPDX-License-Identifier: Apache-2.0 */
/* Formats of responses: what a client accepts, indented text, continue tokens. */
#include <string.h>

#include "apiserver/object/text.h"
#include "apiserver/request/accept.h"
#include "apiserver/request/continue_token.h"
#include "support/unit.h"
#include "util/alloc.h"

enum { ALL = ~0 };

static enum ki_as_form accept(const char *header)
{
    return ki_as_accept(ki_str_of(header), (unsigned)ALL);
}

static void the_first_form_that_can_be_written_is_taken(void **state)
{
    (void)state;
    assert_int_equal(accept(""), KI_AS_FORM_JSON);
    assert_int_equal(accept("*/*"), KI_AS_FORM_JSON);
    assert_int_equal(accept("application/*"), KI_AS_FORM_JSON);
    assert_int_equal(accept("application/json, */*"), KI_AS_FORM_JSON);
    assert_int_equal(accept("application/json;as=Table;v=v1;g=meta.k8s.io,application/json"),
                     KI_AS_FORM_TABLE);
    assert_int_equal(accept("application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json"),
                     KI_AS_FORM_JSON);
    assert_int_equal(accept("application/json; as=PartialObjectMetadata; g=meta.k8s.io; v=v1"),
                     KI_AS_FORM_METADATA);
    assert_int_equal(accept("application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"),
                     KI_AS_FORM_DISCOVERY);
    assert_int_equal(accept("application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"),
                     KI_AS_FORM_NONE);
    assert_int_equal(accept("application/com.github.proto-openapi.spec.v2@v1.0+protobuf"),
                     KI_AS_FORM_GNOSTIC);
    assert_int_equal(accept("text/html"), KI_AS_FORM_NONE);
    assert_int_equal(accept("application/json;q=0"), KI_AS_FORM_NONE);
    assert_int_equal(
        ki_as_accept(KI_STR("application/json;as=Table;v=v1;g=meta.k8s.io,*/*"), 1U << KI_AS_FORM_JSON),
        KI_AS_FORM_JSON);
}

#define PROTOBUF "application/vnd.kubernetes.protobuf"
#define JSON_ONLY (1U << KI_AS_FORM_JSON | 1U << KI_AS_FORM_TABLE)

static void protobuf_is_one_of_the_forms(void **state)
{
    (void)state;
    assert_int_equal(accept(PROTOBUF), KI_AS_FORM_PROTO);
    assert_int_equal(accept(PROTOBUF ";stream=watch"), KI_AS_FORM_PROTO);
    assert_int_equal(accept(PROTOBUF ",application/json"), KI_AS_FORM_PROTO);
    assert_int_equal(accept("application/json," PROTOBUF), KI_AS_FORM_JSON);
    assert_int_equal(accept(PROTOBUF ";q=0,application/json"), KI_AS_FORM_JSON);
    assert_int_equal(accept(PROTOBUF ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"),
                     KI_AS_FORM_PROTO_METADATA);
    assert_int_equal(
        accept(PROTOBUF ";as=Table;g=meta.k8s.io;v=v1,application/json;as=Table;g=meta.k8s.io;v=v1"),
        KI_AS_FORM_TABLE);
    assert_int_equal(ki_as_accept(KI_STR(PROTOBUF), JSON_ONLY), KI_AS_FORM_NONE);
    assert_int_equal(ki_as_accept(KI_STR(PROTOBUF ", */*"), JSON_ONLY), KI_AS_FORM_JSON);
}

static void gzip_is_accepted_by_name(void **state)
{
    (void)state;
    assert_true(ki_as_accepts_gzip(KI_STR("gzip")));
    assert_true(ki_as_accepts_gzip(KI_STR("deflate, GZIP;q=0.5, br")));
    assert_false(ki_as_accepts_gzip(KI_STR("gzip;q=0")));
    assert_false(ki_as_accepts_gzip(KI_STR("identity")));
    assert_false(ki_as_accepts_gzip(KI_STR("")));
}

static void people_use_browsers_and_curl(void **state)
{
    (void)state;
    assert_true(ki_as_is_for_people(KI_STR("curl/7.88.1")));
    assert_true(ki_as_is_for_people(KI_STR("Mozilla/5.0 (X11; Linux)")));
    assert_false(ki_as_is_for_people(KI_STR("kubectl/v1.30")));
    assert_false(ki_as_is_for_people(KI_STR("")));
}

static void a_media_type_has_no_parameters(void **state)
{
    (void)state;
    assert_true(ki_str_equal(ki_as_media_type(KI_STR(" application/json ; charset=utf-8")),
                             KI_STR("application/json")));
    assert_int_equal(ki_as_media_type(KI_STR("")).len, 0);
}

static void text_is_indented_by_two(void **state)
{
    (void)state;
    ki_buf text;
    ki_buf_init(&text, 4096);
    assert_int_equal(
        ki_as_text_indent(&text, KI_STR("{\"a\":[1,{\"b\":\"x,{\\\"}:\"}],\"c\":{},\"d\":[]}\n")), 0);
    assert_true(ki_str_equal(
        ki_buf_str(&text),
        KI_STR("{\n  \"a\": [\n    1,\n    {\n      \"b\": \"x,{\\\"}:\"\n    }\n  ],\n  \"c\": {},\n  "
               "\"d\": []\n}")));
    ki_buf_fini(&text);
}

static void a_token_is_read_as_it_was_written(void **state)
{
    (void)state;
    static const struct {
        const char *ns;
        const char *name;
        const char *after;
    } cases[] = {
        {"default", "web-1", "default/web-1"}, {"", "node-1", "node-1"}, {"a", "b?c:\"d", "a/b?c:\"d"}};
    for (size_t i = 0; i < 3; i++) {
        ki_buf text;
        struct ki_as_continue token = {0};
        struct ki_as_failure failure = {0};
        ki_buf_init(&text, 4096);
        assert_int_equal(
            ki_as_continue_write(i == 0 ? -1 : 349, ki_str_of(cases[i].ns), ki_str_of(cases[i].name), &text),
            0);
        assert_null(strpbrk(text.data, "+/="));
        assert_int_equal(ki_as_continue_read(ki_buf_str(&text), &token, &failure), 0);
        assert_int_equal(token.version, i == 0 ? -1 : 349);
        assert_string_equal(token.after, cases[i].after);
        ki_free(token.after);
        ki_buf_fini(&text);
    }
}

static void tokens_of_a_real_server_are_understood(void **state)
{
    (void)state;
    struct ki_as_continue token = {0};
    struct ki_as_failure failure = {0};
    assert_int_equal(
        ki_as_continue_read(KI_STR("eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MzQ5LCJzdGFydCI6Ii9kZWZhdWx0L3dlYi03"
                                   "Yzg0NjliNDY4LTc5YnRxXHUwMDAwIn0"),
                            &token, &failure),
        0);
    assert_int_equal(token.version, 349);
    assert_string_equal(token.after, "default/web-7c8469b468-79btq");
    ki_free(token.after);
}

static void what_is_not_a_token_is_400(void **state)
{
    (void)state;
    /* In order: {} · another version · rv 0 · rv text · no start · an empty start. */
    static const char *const tokens[] = {"x",
                                         "e30",
                                         "eyJ2IjoidjIiLCJydiI6MSwic3RhcnQiOiJhIn0",
                                         "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MCwic3RhcnQiOiJhIn0",
                                         "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6IjEiLCJzdGFydCI6ImEifQ",
                                         "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MX0",
                                         "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiIifQ",
                                         "%%%"};
    for (size_t i = 0; i < sizeof(tokens) / sizeof(tokens[0]); i++) {
        struct ki_as_continue token = {0};
        struct ki_as_failure failure = {0};
        assert_int_equal(ki_as_continue_read(ki_str_of(tokens[i]), &token, &failure), -1);
        assert_int_equal(failure.code, 400);
        assert_null(token.after);
        ki_as_failure_fini(&failure);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_form_that_can_be_written_is_taken),
        cmocka_unit_test(protobuf_is_one_of_the_forms),
        cmocka_unit_test(gzip_is_accepted_by_name),
        cmocka_unit_test(people_use_browsers_and_curl),
        cmocka_unit_test(a_media_type_has_no_parameters),
        cmocka_unit_test(text_is_indented_by_two),
        cmocka_unit_test(a_token_is_read_as_it_was_written),
        cmocka_unit_test(tokens_of_a_real_server_are_understood),
        cmocka_unit_test(what_is_not_a_token_is_400),
    };
    return RUN_TESTS(tests);
}
