/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/kind/proto.h"

#include <string.h>

#include "support/apiserver/trees.h"
#include "support/unit.h"

/* A message written field by field. */
struct message {
    char bytes[1024];
    size_t len;
};

static void put_byte(struct message *message, size_t byte)
{
    assert_true(byte < 256 && message->len < sizeof(message->bytes));
    message->bytes[message->len++] = (char)byte;
}

static void put_varint(struct message *message, size_t value)
{
    for (; value >= 0x80; value >>= 7)
        put_byte(message, (value & 0x7f) | 0x80);
    put_byte(message, value);
}

static void put_number(struct message *message, size_t field, size_t value)
{
    put_varint(message, field << 3);
    put_varint(message, value);
}

static void put_bytes(struct message *message, size_t field, const void *bytes, size_t len)
{
    put_varint(message, field << 3 | 2);
    put_varint(message, len);
    assert_true(message->len + len <= sizeof(message->bytes));
    memcpy(message->bytes + message->len, bytes, len);
    message->len += len;
}

static void put_text(struct message *message, size_t field, const char *text)
{
    put_bytes(message, field, text, strlen(text));
}

static void put_message(struct message *message, size_t field, const struct message *inner)
{
    put_bytes(message, field, inner->bytes, inner->len);
}

/* The envelope of an object. */
static struct message wrapped(const char *api_version, const char *kind, const struct message *object)
{
    struct message type = {0};
    struct message out = {"k8s", 4};
    put_text(&type, 1, api_version);
    put_text(&type, 2, kind);
    put_message(&out, 1, &type);
    put_message(&out, 2, object);
    return out;
}

static void objects_are_read(void **state)
{
    (void)state;
    struct message container = {0};
    put_text(&container, 1, "a");
    put_text(&container, 2, "image");
    put_text(&container, 3, "x");
    put_text(&container, 3, "y");
    put_text(&container, 5, "");   /* workingDir */
    put_number(&container, 16, 0); /* stdin */
    struct message source = {0};
    struct message map = {0};
    struct message reference = {0};
    put_text(&reference, 1, "cm");
    put_message(&map, 1, &reference); /* localObjectReference, inline in configMap */
    put_message(&source, 19, &map);   /* configMap, inline in the volume */
    struct message volume = {0};
    put_text(&volume, 1, "v");
    put_message(&volume, 2, &source);
    struct message spec = {0};
    put_message(&spec, 1, &volume);
    put_message(&spec, 2, &container);
    put_number(&spec, 4, 0); /* terminationGracePeriodSeconds, which may be 0 */
    struct message label = {0};
    put_text(&label, 1, "k");
    put_text(&label, 2, "v");
    struct message created = {0};
    put_number(&created, 1, 1794775635);
    struct message metadata = {0};
    put_text(&metadata, 1, "p");
    put_message(&metadata, 8, &created);
    put_message(&metadata, 11, &label);
    struct message pod = {0};
    put_message(&pod, 1, &metadata);
    put_message(&pod, 2, &spec);
    put_text(&pod, 99, "unknown");
    struct message body = wrapped("v1", "Pod", &pod);
    struct ki_as_failure failure = {0};
    json_t *tree = NULL;
    assert_taken(ki_as_proto_parse((ki_str){body.bytes, body.len}, &tree, &failure), &failure);
    assert_tree(tree, "{'kind':'Pod','apiVersion':'v1','metadata':{'name':'p','creationTimestamp':'2026-11-"
                      "15T20:47:15Z','labels':{"
                      "'k':'v'}},'spec':{'volumes':[{'name':'v','configMap':{'name':'cm'}}],'containers':[{'"
                      "name':'a','image':"
                      "'image','command':['x','y']}],'terminationGracePeriodSeconds':0}}");
}

static void every_truncated_message_is_refused_or_read(void **state)
{
    (void)state;
    struct message metadata = {0};
    put_text(&metadata, 1, "some-name");
    struct message object = {0};
    put_message(&object, 1, &metadata);
    struct message body = wrapped("v1", "ConfigMap", &object);
    for (size_t len = 0; len < body.len; len++) {
        struct ki_as_failure failure = {0};
        json_t *tree = NULL;
        int rc = ki_as_proto_parse((ki_str){body.bytes, len}, &tree, &failure);
        assert_true(rc == 0 ? json_is_object(tree) : failure.code == 400);
        json_decref(tree);
        ki_as_failure_fini(&failure);
    }
}

static void other_bytes_are_refused(void **state)
{
    (void)state;
    struct ki_as_failure failure = {0};
    json_t *tree = NULL;
    assert_int_equal(ki_as_proto_parse(KI_STR("{}"), &tree, &failure), -1);
    assert_refused(&failure, 400,
                   "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]");
    struct message nothing = {0};
    struct message body = wrapped("example.com/v1", "Widget", &nothing);
    assert_int_equal(ki_as_proto_parse((ki_str){body.bytes, body.len}, &tree, &failure), -1);
    assert_refused(&failure, 400, "no kind \"Widget\" is registered for version \"example.com/v1\"");
}

static bool parses(void *user)
{
    const struct message *body = user;
    struct ki_as_failure failure = {0};
    json_t *tree = NULL;
    int rc = ki_as_proto_parse((ki_str){body->bytes, body->len}, &tree, &failure);
    json_decref(tree);
    ki_as_failure_fini(&failure);
    return rc == 0;
}

static void out_of_memory_is_a_failure_like_others(void **state)
{
    (void)state;
    struct message metadata = {0};
    put_text(&metadata, 1, "some-name");
    struct message object = {0};
    put_message(&object, 1, &metadata);
    struct message body = wrapped("v1", "ConfigMap", &object);
    assert_survives_no_memory(parses, &body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_are_read),
        cmocka_unit_test(every_truncated_message_is_refused_or_read),
        cmocka_unit_test(other_bytes_are_refused),
        cmocka_unit_test(out_of_memory_is_a_failure_like_others),
    };
    return RUN_TESTS(tests);
}
