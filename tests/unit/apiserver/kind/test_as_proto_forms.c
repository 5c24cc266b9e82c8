/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/kind/proto.h"

#include <stdio.h>
#include <string.h>

#include "support/apiserver/trees.h"
#include "support/unit.h"

enum { MESSAGE_BYTES_MAX = 8192 };

/* A message being written. */
struct message {
    char bytes[MESSAGE_BYTES_MAX];
    size_t len;
};

static void put_varint(struct message *message, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        message->bytes[message->len++] = (char)(value | 0x80);
    message->bytes[message->len++] = (char)value;
    assert_true(message->len < MESSAGE_BYTES_MAX - 16);
}

static void put_int(struct message *message, unsigned number, int64_t value)
{
    put_varint(message, (uint64_t)number << 3);
    put_varint(message, (uint64_t)value);
}

static void put_bytes(struct message *message, unsigned number, const void *bytes, size_t len)
{
    assert_true(message->len + len < MESSAGE_BYTES_MAX - 16);
    put_varint(message, (uint64_t)number << 3 | 2);
    put_varint(message, len);
    memcpy(message->bytes + message->len, bytes, len);
    message->len += len;
}

static void put_text(struct message *message, unsigned number, const char *text)
{
    put_bytes(message, number, text, strlen(text));
}

static void put_message(struct message *message, unsigned number, const struct message *part)
{
    put_bytes(message, number, part->bytes, part->len);
}

static void put_pair(struct message *message, unsigned number, const char *key, const char *value)
{
    struct message pair = {.len = 0};
    put_text(&pair, 1, key);
    put_text(&pair, 2, value);
    put_message(message, number, &pair);
}

/* "k8s\0", then the kind and the object, as in runtime.Unknown. */
static struct message envelope(const char *api_version, const char *kind, const struct message *object)
{
    struct message body = {.bytes = "k8s", .len = 4};
    struct message type = {.len = 0};
    put_text(&type, 1, api_version);
    put_text(&type, 2, kind);
    put_message(&body, 1, &type);
    put_message(&body, 2, object);
    put_text(&body, 3, "");
    put_text(&body, 4, "");
    return body;
}

static ki_str text_of(const struct message *message)
{
    return (ki_str){message->bytes, message->len};
}

static json_t *decode(const struct message *body)
{
    struct ki_as_failure failure = {0};
    json_t *tree = NULL;
    assert_taken(ki_as_proto_parse(text_of(body), &tree, &failure), &failure);
    return tree;
}

static void assert_decoded(const char *api_version, const char *kind, const struct message *object,
                           const char *expected)
{
    struct message body = envelope(api_version, kind, object);
    assert_tree(decode(&body), expected);
}

/* As client-go writes it: unset fields are written as zeros. */
static struct message metadata_of(const char *name)
{
    struct message metadata = {.len = 0};
    put_text(&metadata, 1, name);
    put_text(&metadata, 2, "");
    put_text(&metadata, 3, "");
    put_text(&metadata, 5, "");
    put_text(&metadata, 6, "");
    put_int(&metadata, 7, 0);
    put_text(&metadata, 8, "");
    put_pair(&metadata, 11, "app", "web");
    return metadata;
}

static struct message deployment(void)
{
    struct message metadata = metadata_of("web");
    struct message spec = {.len = 0};
    struct message strategy = {.len = 0};
    struct message rolling = {.len = 0};
    struct message surge = {.len = 0};
    struct message none = {.len = 0};
    struct message object = {.len = 0};
    put_int(&surge, 1, 1);
    put_int(&surge, 2, 0);
    put_text(&surge, 3, "25%");
    put_int(&none, 1, 0);
    put_int(&none, 2, 0);
    put_text(&none, 3, "");
    put_message(&rolling, 1, &none);
    put_message(&rolling, 2, &surge);
    put_text(&strategy, 1, "RollingUpdate");
    put_message(&strategy, 2, &rolling);
    put_int(&spec, 1, 0);
    put_message(&spec, 4, &strategy);
    put_int(&spec, 5, 0);
    put_int(&spec, 7, 1);
    put_message(&object, 1, &metadata);
    put_message(&object, 2, &spec);
    put_text(&object, 3, "");
    return object;
}

static void zeroes_of_pointers_are_values_and_others_are_unset(void **state)
{
    (void)state;
    struct message object = deployment();
    assert_decoded("apps/v1", "Deployment", &object,
                   "{'apiVersion':'apps/v1','kind':'Deployment',"
                   "'metadata':{'name':'web','labels':{'app':'web'}},"
                   "'spec':{'replicas':0,'paused':true,'strategy':{'type':'RollingUpdate',"
                   "'rollingUpdate':{'maxUnavailable':0,'maxSurge':'25%'}}},'status':{}}");
}

/* spec.extra of a CertificateSigningRequest, the only map of lists. */
static void extra_values_are_lists_of_strings(void **state)
{
    (void)state;
    struct message values = {.len = 0};
    struct message entry = {.len = 0};
    struct message spec = {.len = 0};
    struct message object = {.len = 0};
    put_text(&values, 1, "a b");
    put_text(&values, 1, "{");
    put_text(&entry, 1, "scopes");
    put_message(&entry, 2, &values);
    put_text(&spec, 7, "example.com/signer");
    put_message(&spec, 6, &entry);
    put_pair(&spec, 6, "none", "");
    put_message(&object, 2, &spec);
    assert_decoded("certificates.k8s.io/v1", "CertificateSigningRequest", &object,
                   "{'apiVersion':'certificates.k8s.io/v1','kind':'CertificateSigningRequest',"
                   "'spec':{'signerName':'example.com/signer','extra':{'scopes':['a b','{'],'none':[]}}}");
}

static void bytes_are_base64(void **state)
{
    (void)state;
    struct message object = {.len = 0};
    put_pair(&object, 2, "word", "hello");
    put_text(&object, 3, "Opaque");
    assert_decoded("v1", "Secret", &object,
                   "{'apiVersion':'v1','kind':'Secret','data':{'word':'aGVsbG8='},'type':'Opaque'}");
}

static void times_have_seconds_or_microseconds(void **state)
{
    (void)state;
    struct message when = {.len = 0};
    struct message spec = {.len = 0};
    struct message metadata = {.len = 0};
    struct message object = {.len = 0};
    put_int(&when, 1, 1700000000);
    put_int(&when, 2, 123456789);
    put_message(&metadata, 8, &when);
    put_message(&spec, 3, &when);
    put_message(&object, 1, &metadata);
    put_message(&object, 2, &spec);
    assert_decoded("coordination.k8s.io/v1", "Lease", &object,
                   "{'apiVersion':'coordination.k8s.io/v1','kind':'Lease',"
                   "'metadata':{'creationTimestamp':'2023-11-14T22:13:20Z'},"
                   "'spec':{'acquireTime':'2023-11-14T22:13:20.123456Z'}}");
}

/* A volume is a name and one of many sources, inlined beside it. */
static void fields_of_inlined_messages_are_in_their_parent(void **state)
{
    (void)state;
    struct message empty = {.len = 0};
    struct message source = {.len = 0};
    struct message volume = {.len = 0};
    struct message spec = {.len = 0};
    struct message object = {.len = 0};
    put_message(&source, 2, &empty);
    put_text(&volume, 1, "scratch");
    put_message(&volume, 2, &source);
    put_message(&spec, 1, &volume);
    put_message(&object, 2, &spec);
    assert_decoded("v1", "Pod", &object,
                   "{'apiVersion':'v1','kind':'Pod','spec':{'volumes':[{'name':'scratch','emptyDir':{}}]}}");
}

static void unknown_fields_are_left_out(void **state)
{
    (void)state;
    struct message object = {.len = 0};
    put_int(&object, 200, 5);
    put_text(&object, 201, "what");
    put_varint(&object, 202 << 3 | 5);
    memcpy(object.bytes + object.len, "1234", 4);
    object.len += 4;
    put_pair(&object, 2, "a", "b");
    assert_decoded("v1", "ConfigMap", &object, "{'apiVersion':'v1','kind':'ConfigMap','data':{'a':'b'}}");
}

static void options_are_the_same_for_all_groups(void **state)
{
    (void)state;
    struct message object = {.len = 0};
    put_int(&object, 1, 0);
    put_text(&object, 4, "Foreground");
    assert_decoded("apps/v1", "DeleteOptions", &object,
                   "{'apiVersion':'apps/v1','kind':'DeleteOptions','gracePeriodSeconds':0,"
                   "'propagationPolicy':'Foreground'}");
}

/* ---- refused messages ---------------------------------------------------------------------------------- */

static void assert_malformed(const struct message *body)
{
    struct ki_as_failure failure = {0};
    json_t *tree = NULL;
    assert_int_equal(ki_as_proto_parse(text_of(body), &tree, &failure), -1);
    assert_null(tree);
    assert_refused(&failure, 400,
                   "the object provided is unrecognized: the protobuf message does not match its kind");
}

static void bodies_that_are_not_protobuf_are_refused(void **state)
{
    (void)state;
    struct ki_as_failure failure = {0};
    json_t *tree = NULL;
    assert_int_equal(ki_as_proto_parse(KI_STR("{}"), &tree, &failure), -1);
    assert_refused_with(&failure, 400, "expected prefix [107 56 115 0]");
}

static void an_unknown_kind_is_refused(void **state)
{
    (void)state;
    struct ki_as_failure failure = {0};
    struct message object = {.len = 0};
    struct message body = envelope("example.com/v1", "Widget", &object);
    json_t *tree = NULL;
    assert_int_equal(ki_as_proto_parse(text_of(&body), &tree, &failure), -1);
    assert_refused(&failure, 400, "no kind \"Widget\" is registered for version \"example.com/v1\"");
}

static void every_truncated_message_gives_an_object_or_a_refusal(void **state)
{
    (void)state;
    struct message object = deployment();
    struct message whole = envelope("apps/v1", "Deployment", &object);
    for (size_t len = 0; len < whole.len; len++) {
        struct ki_as_failure failure = {0};
        json_t *tree = NULL;
        int rc = ki_as_proto_parse((ki_str){whole.bytes, len}, &tree, &failure);
        assert_true(rc == 0 ? tree != NULL && failure.code == 0 : tree == NULL && failure.code == 400);
        json_decref(tree);
        ki_as_failure_fini(&failure);
    }
}

static void texts_are_utf8_without_nul(void **state)
{
    (void)state;
    static const char *const wrong[] = {"\xff", "a\xc3", "\xed\xa0\x80"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct message object = {.len = 0};
        put_pair(&object, 2, "a", wrong[i]);
        struct message body = envelope("v1", "ConfigMap", &object);
        assert_malformed(&body);
    }
    struct message object = {.len = 0};
    put_bytes(&object, 4, "\x08\x01", 2);
    struct message metadata = {.len = 0};
    put_bytes(&metadata, 1, "a\0b", 3);
    put_message(&object, 1, &metadata);
    struct message body = envelope("v1", "ConfigMap", &object);
    assert_malformed(&body);
}

/* Schemas nested in schemas, without end. */
static void depth_is_bounded(void **state)
{
    (void)state;
    struct message inner = {.len = 0};
    struct message schema = {.len = 0};
    put_text(&schema, 5, "object");
    for (size_t i = 0; i < 300; i++) {
        inner = schema;
        schema.len = 0;
        put_message(&schema, 28, &inner);
    }
    struct message validation = {.len = 0};
    struct message version = {.len = 0};
    struct message spec = {.len = 0};
    struct message object = {.len = 0};
    put_message(&validation, 1, &schema);
    put_message(&version, 4, &validation);
    put_message(&spec, 7, &version);
    put_message(&object, 2, &spec);
    struct message body = envelope("apiextensions.k8s.io/v1", "CustomResourceDefinition", &object);
    assert_malformed(&body);
}

static bool decode_deployment(void *user)
{
    const struct message *body = user;
    struct ki_as_failure failure = {0};
    json_t *tree = NULL;
    int rc = ki_as_proto_parse(text_of(body), &tree, &failure);
    json_decref(tree);
    ki_as_failure_fini(&failure);
    return rc == 0;
}

static void when_out_of_memory_it_refuses(void **state)
{
    (void)state;
    struct message object = deployment();
    struct message body = envelope("apps/v1", "Deployment", &object);
    assert_survives_no_memory(decode_deployment, &body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zeroes_of_pointers_are_values_and_others_are_unset),
        cmocka_unit_test(extra_values_are_lists_of_strings),
        cmocka_unit_test(bytes_are_base64),
        cmocka_unit_test(times_have_seconds_or_microseconds),
        cmocka_unit_test(fields_of_inlined_messages_are_in_their_parent),
        cmocka_unit_test(unknown_fields_are_left_out),
        cmocka_unit_test(options_are_the_same_for_all_groups),
        cmocka_unit_test(bodies_that_are_not_protobuf_are_refused),
        cmocka_unit_test(an_unknown_kind_is_refused),
        cmocka_unit_test(every_truncated_message_gives_an_object_or_a_refusal),
        cmocka_unit_test(texts_are_utf8_without_nul),
        cmocka_unit_test(depth_is_bounded),
        cmocka_unit_test(when_out_of_memory_it_refuses),
    };
    return RUN_TESTS(tests);
}
