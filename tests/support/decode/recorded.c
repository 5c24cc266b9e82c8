/* SPDX-License-Identifier: Apache-2.0 */
#include "support/decode/recorded.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "support/json/json_reference.h"
#include "support/unit.h"

enum { RANDOM_SPLITS = 20 };

/* Replaces a gzip body by the decompressed one. */
static void unpack(recorded *out)
{
    enum { UNPACKED_BYTES_MAX = 4 * 1024 * 1024, GZIP_WINDOW_BITS = 15 + 16 };
    z_stream stream = {0};
    out->unpacked = malloc(UNPACKED_BYTES_MAX);
    assert_non_null(out->unpacked);
    stream.next_in = (Bytef *)out->body.ptr;
    stream.avail_in = (uInt)out->body.len;
    stream.next_out = (Bytef *)out->unpacked;
    stream.avail_out = UNPACKED_BYTES_MAX;
    assert_int_equal(inflateInit2(&stream, GZIP_WINDOW_BITS), Z_OK);
    assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
    out->body = (ki_str){out->unpacked, stream.total_out};
    inflateEnd(&stream);
}

void recorded_load(recorded *out, const char *name)
{
    ki_error err = {0};
    fixture_http answer;
    *out = (recorded){0};
    if (fixture_load(&out->file, name, &err) < 0)
        fail_msg("%s", err.message);
    if (fixture_split_http((ki_str){out->file.data, out->file.len}, &answer) < 0)
        fail_msg("%s is not an HTTP answer", name);
    out->status = answer.status;
    out->body = answer.body;
    if (ki_str_equal(fixture_http_header(&answer, "Content-Encoding"), KI_STR("gzip")))
        unpack(out);
}

void recorded_free(recorded *answer)
{
    fixture_free(&answer->file);
    free(answer->unpacked);
    *answer = (recorded){0};
}

size_t recorded_count(const char *pattern)
{
    const char *directory = getenv("KI_FIXTURES");
    char path[PATH_MAX];
    glob_t found = {0};
    snprintf(path, sizeof(path), "%s/%s",
             directory != NULL && directory[0] != 0 ? directory : "tests/fixtures", pattern);
    size_t count = glob(path, 0, NULL, &found) == 0 ? found.gl_pathc : 0;
    globfree(&found);
    return count;
}

ki_resource *recorded_resource(const char *name)
{
    ki_error err = {0};
    const ki_resource *found = ki_resource_find(ki_str_of(name), &err);
    ki_resource *resource =
        found != NULL ? ki_resource_new(found, &err) : ki_resource_parse(ki_str_of(name), &err);
    if (resource == NULL)
        fail_msg("%s: %s", name, err.message);
    return resource;
}

json_t *recorded_object(const json_t *item, const json_t *list)
{
    json_t *copy = json_deep_copy(item);
    assert_non_null(copy);
    json_object_del(json_object_get(copy, "metadata"), "managedFields");
    const json_t *kind = json_object_get(list, "kind");
    if (json_object_get(copy, "kind") == NULL && kind != NULL)
        json_object_set_new(copy, "kind",
                            json_stringn(json_string_value(kind), json_string_length(kind) - strlen("List")));
    if (json_object_get(copy, "apiVersion") == NULL && list != NULL)
        json_object_set(copy, "apiVersion", json_object_get(list, "apiVersion"));
    return copy;
}

int recorded_same_text(ki_str text, const json_t *string)
{
    return ki_str_equal(text, (ki_str){json_string_value(string), json_string_length(string)});
}

static void assert_text(const char *what, ki_str text, const json_t *string)
{
    if (!recorded_same_text(text, string))
        fail_msg("%s is \"%.*s\" instead of \"%s\"", what, KI_STR_ARGS(text), json_string_value(string));
}

/* ---- the parts of an object ---------------------------------------------------------------------------- */

static void assert_key(const ki_object *object, const json_t *metadata)
{
    char key[600];
    const char *ns = json_string_value(json_object_get(metadata, "namespace"));
    const char *name = json_string_value(json_object_get(metadata, "name"));
    snprintf(key, sizeof(key), "%s%s%s", ns == NULL ? "" : ns, ns == NULL ? "" : "/", name);
    assert_string_equal(ki_object_key(object), key);
    assert_true(ki_str_equal(ki_object_key_str(object), ki_str_of(key)));
    assert_text("namespace", ki_object_namespace(object), json_object_get(metadata, "namespace"));
    assert_text("name", ki_object_name(object), json_object_get(metadata, "name"));
}

typedef int (*time_cb)(const ki_object *object, ki_timestamp *out_time);

static void assert_time(const ki_object *object, time_cb read, const json_t *expected)
{
    ki_timestamp time = {0}, reference = {0};
    if (expected == NULL) {
        assert_int_equal(read(object, &time), KI_ERR_NOT_FOUND);
        return;
    }
    assert_int_equal(read(object, &time), 0);
    assert_int_equal(ki_timestamp_parse(ki_str_of(json_string_value(expected)), &reference), 0);
    assert_int_equal(time.seconds, reference.seconds);
    assert_int_equal(time.nanos, reference.nanos);
}

typedef int (*member_cb)(const ki_object *object, ki_str name, ki_str *out_value);

static void assert_map(const ki_object *object, ki_json map, member_cb read, json_t *expected)
{
    const char *name;
    json_t *value;
    ki_str text = {0};
    size_t count = 0;
    ki_json entry;
    for (ki_json_iter iter = ki_json_iterate(map); ki_json_next(&iter, NULL, &entry);)
        count++;
    assert_int_equal(count, json_object_size(expected));
    assert_int_equal(ki_json_type_of(map), expected == NULL ? KI_JSON_NONE : KI_JSON_OBJECT);
    json_object_foreach(expected, name, value)
    {
        assert_int_equal(read(object, ki_str_of(name), &text), 0);
        assert_text(name, text, value);
    }
    assert_int_equal(read(object, KI_STR("no.such/name"), &text), KI_ERR_NOT_FOUND);
}

static void assert_owner(const ki_owner *owner, const json_t *expected)
{
    assert_text("owner's apiVersion", owner->api_version, json_object_get(expected, "apiVersion"));
    assert_text("owner's kind", owner->kind, json_object_get(expected, "kind"));
    assert_text("owner's name", owner->name, json_object_get(expected, "name"));
    assert_text("owner's uid", owner->uid, json_object_get(expected, "uid"));
    assert_int_equal(owner->is_controller, json_is_true(json_object_get(expected, "controller")));
    assert_int_equal(owner->blocks_deletion, json_is_true(json_object_get(expected, "blockOwnerDeletion")));
}

static void assert_owners(const ki_object *object, const json_t *expected)
{
    ki_owner owner = {0};
    const json_t *controller = NULL;
    size_t count = json_array_size(expected);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(ki_object_owner(object, i, &owner), 0);
        assert_owner(&owner, json_array_get(expected, i));
        if (controller == NULL && json_is_true(json_object_get(json_array_get(expected, i), "controller")))
            controller = json_array_get(expected, i);
    }
    assert_int_equal(ki_object_owner(object, count, &owner), KI_ERR_NOT_FOUND);
    assert_int_equal(ki_object_controller(object, &owner), controller == NULL ? KI_ERR_NOT_FOUND : 0);
    if (controller != NULL)
        assert_owner(&owner, controller);
}

static void assert_finalizers(const ki_object *object, const json_t *expected)
{
    ki_json_iter iter = ki_json_iterate(ki_object_finalizers(object));
    ki_json value;
    ki_str text = {0};
    size_t count = 0;
    while (ki_json_next(&iter, NULL, &value)) {
        assert_int_equal(ki_object_text(object, value, &text), 0);
        assert_text("finalizer", text, json_array_get(expected, count++));
    }
    assert_int_equal(count, json_array_size(expected));
}

/* Every string that an iterator finds, including names. */
static void assert_strings(const ki_object *object, ki_json value, const json_t *expected)
{
    ki_json_iter iter = ki_json_iterate(value);
    ki_json name, item;
    ki_str text = {0};
    size_t i = 0;
    if (ki_json_type_of(value) == KI_JSON_STRING) {
        assert_int_equal(ki_object_text(object, value, &text), 0);
        assert_text("string", text, expected);
    }
    while (ki_json_next(&iter, &name, &item)) {
        if (json_is_array(expected)) {
            assert_strings(object, item, json_array_get(expected, i++));
            continue;
        }
        assert_int_equal(ki_object_text(object, name, &text), 0);
        char *member = malloc(text.len + 1); /* not strndup(): a sanitizer would expect a NUL */
        assert_non_null(member);
        memcpy(member, text.ptr, text.len);
        member[text.len] = 0;
        assert_strings(object, item, json_object_get(expected, member));
        free(member);
    }
}

void recorded_assert_object(const ki_object *object, json_t *expected)
{
    const json_t *metadata = json_object_get(expected, "metadata");
    ki_str text = ki_object_json(object);
    json_t *tree = json_reference_parse(text);
    if (tree == NULL || !json_equal(tree, expected))
        fail_msg("%s is %.*s", ki_object_key(object), KI_STR_ARGS(text));
    json_decref(tree);
    assert_true(json_reference_same(ki_json_of(text), expected));
    assert_key(object, metadata);
    assert_text("uid", ki_object_uid(object), json_object_get(metadata, "uid"));
    assert_text("resourceVersion", ki_object_resource_version(object),
                json_object_get(metadata, "resourceVersion"));
    assert_text("apiVersion", ki_object_api_version(object), json_object_get(expected, "apiVersion"));
    assert_text("kind", ki_object_kind(object), json_object_get(expected, "kind"));
    assert_int_equal(ki_object_generation(object),
                     json_integer_value(json_object_get(metadata, "generation")));
    assert_time(object, ki_object_creation_time, json_object_get(metadata, "creationTimestamp"));
    assert_time(object, ki_object_deletion_time, json_object_get(metadata, "deletionTimestamp"));
    assert_map(object, ki_object_labels(object), ki_object_label, json_object_get(metadata, "labels"));
    assert_map(object, ki_object_annotations(object), ki_object_annotation,
               json_object_get(metadata, "annotations"));
    assert_owners(object, json_object_get(metadata, "ownerReferences"));
    assert_finalizers(object, json_object_get(metadata, "finalizers"));
    assert_strings(object, ki_json_of(text), expected);
}

void recorded_subject_open(recorded_subject *s, const char *file, const char *resource)
{
    ki_error err = {0};
    recorded_load(&s->answer, file);
    s->resource = recorded_resource(resource);
    s->plan = ki_object_plan_new(s->resource, NULL, &err);
    if (s->plan == NULL)
        fail_msg("%s", err.message);
}

void recorded_subject_close(recorded_subject *s)
{
    ki_object_plan_free(s->plan);
    ki_resource_free(s->resource);
    recorded_free(&s->answer);
}

static void assert_same_in_split(const recorded_subject *s, recorded_decode_cb decode,
                                 const decode_run *whole, decode_split split)
{
    decode_run run;
    decode(s, s->answer.body.len, split, &run);
    if (strcmp(run.log, whole->log) != 0)
        fail_msg("in pieces:\n%s\nwhole:\n%s", run.log, whole->log);
    decode_run_fini(&run);
}

void recorded_assert_pieces(const recorded_subject *s, recorded_decode_cb decode)
{
    static const size_t pieces[] = {1, 63, 64, 1024};
    ki_random random;
    decode_run whole;
    ki_random_init(&random, 1);
    decode(s, s->answer.body.len, (decode_split){0}, &whole);
    assert_int_equal(whole.code, 0);
    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++)
        assert_same_in_split(s, decode, &whole, (decode_split){.piece = pieces[i]});
    for (int n = 0; n < RANDOM_SPLITS; n++)
        assert_same_in_split(s, decode, &whole, (decode_split){.random = &random});
    decode_run_fini(&whole);
}
