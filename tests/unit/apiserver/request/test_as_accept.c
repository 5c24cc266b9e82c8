/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/request/accept.h"

#include "support/unit.h"

enum { ALL = ~0 };

static enum ki_as_form accept(const char *header)
{
    return ki_as_accept(ki_str_of(header), (unsigned)ALL);
}

static void the_first_format_that_can_be_written_is_used(void **state)
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

static void protobuf_is_one_of_the_formats(void **state)
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

static void browsers_and_curl_are_recognized_as_people(void **state)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_format_that_can_be_written_is_used),
        cmocka_unit_test(protobuf_is_one_of_the_formats),
        cmocka_unit_test(gzip_is_accepted_by_name),
        cmocka_unit_test(browsers_and_curl_are_recognized_as_people),
        cmocka_unit_test(a_media_type_has_no_parameters),
    };
    return RUN_TESTS(tests);
}
