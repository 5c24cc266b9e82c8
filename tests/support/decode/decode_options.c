/* SPDX-License-Identifier: Apache-2.0 */
#include "support/decode/decode_options.h"

#include <kinformer/resources.h>
#include <stdlib.h>
#include <string.h>

static void require(int holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "decode_options: %s\n", what);
    abort();
}

ki_object_plan *decode_options_plan(unsigned char options)
{
    static const char *const keep[] = {"/spec/nodeName", "/metadata/labels/app", "/status/*/x", "/kind",
                                       NULL};
    static const char *const drop[] = {"/spec", "/metadata/name", "/metadata/annotations/*", "/items/*/x",
                                       NULL};
    static const ki_resource widgets = {.group = "example.com",
                                        .version = "v1",
                                        .plural = "widgets",
                                        .kind = "",
                                        .scope = KI_SCOPE_NAMESPACED};
    const ki_resource *const resources[] = {&KI_CORE_V1_PODS, &KI_CORE_V1_PODS, NULL, &widgets};
    ki_object_options object_options = {0};
    object_options.keep_managed_fields = (options >> 2 & 3) == 1;
    object_options.keep = (options >> 2 & 3) == 2 ? keep : NULL;
    object_options.drop = (options >> 2 & 3) == 3 ? drop : NULL;
    object_options.bytes_max = (options & 16) != 0 ? 100 : 0;
    object_options.depth_max = (options & 32) != 0 ? 4 : 0;
    ki_object_plan *plan = ki_object_plan_new(resources[options & 3], &object_options, NULL);
    require(plan != NULL, "there is no plan");
    return plan;
}

static void check_strings(const ki_object *object, ki_json map)
{
    ki_json_iter iter = ki_json_iterate(map);
    ki_json name, value;
    ki_str text = {0};
    while (ki_json_next(&iter, &name, &value)) {
        require(ki_json_type_of(name) == KI_JSON_NONE || ki_object_text(object, name, &text) == 0,
                "a name cannot be read");
        require(ki_json_type_of(value) != KI_JSON_STRING || ki_object_text(object, value, &text) == 0,
                "a string cannot be read");
    }
}

/* Decoding an object's text again gives the same text. */
static void check_made_again(const ki_object *object)
{
    ki_error err = {0};
    ki_object *again =
        ki_object_new(NULL, ki_object_json(object), &(ki_object_options){.keep_managed_fields = 1}, &err);
    require(again != NULL || err.code == KI_ERR_METADATA, "an object's text is not an object");
    require(again == NULL || ki_object_equal(object, again), "an object's text is not kept unchanged");
    ki_object_unref(again);
}

static void check_object(const ki_object *object)
{
    ki_str key = ki_object_key_str(object);
    ki_str ns = ki_object_namespace(object);
    ki_str name = ki_object_name(object);
    require(ki_json_validate(ki_object_json(object), NULL) == 0, "an object's text is not JSON");
    require(name.len > 0 && key.len == ns.len + (ns.len > 0) + name.len, "a key has a wrong length");
    require(strlen(ki_object_key(object)) == key.len, "a key contains a NUL");
    const char *slash = memchr(key.ptr, '/', key.len);
    require(ns.len == 0 ? slash == NULL : slash == key.ptr + ns.len, "a key has a slash in a wrong place");
    check_strings(object, ki_object_labels(object));
    check_strings(object, ki_object_annotations(object));
    check_strings(object, ki_object_finalizers(object));
    check_made_again(object);
}

static void check_same(const ki_object *a, const ki_object *b)
{
    require(ki_object_equal(a, b), "two runs return different objects");
    require(ki_str_equal(ki_object_key_str(a), ki_object_key_str(b)), "two runs return different keys");
    require(ki_str_equal(ki_object_uid(a), ki_object_uid(b)), "two runs return different uids");
    require(ki_str_equal(ki_object_kind(a), ki_object_kind(b)), "two runs return different kinds");
    require(ki_str_equal(ki_object_api_version(a), ki_object_api_version(b)),
            "two runs return different apiVersions");
    require(ki_str_equal(ki_object_resource_version(a), ki_object_resource_version(b)),
            "two runs return different versions");
    require(ki_object_generation(a) == ki_object_generation(b), "two runs return different generations");
    require(ki_str_equal(ki_object_labels(a).raw, ki_object_labels(b).raw),
            "two runs return different labels");
}

static void check_runs(const decode_run *a, const decode_run *b)
{
    require(a->log_len == b->log_len && memcmp(a->log, b->log, a->log_len) == 0, "two runs end differently");
    require(a->object_count == b->object_count, "two runs return different numbers of objects");
    for (size_t i = 0; i < a->object_count; i++) {
        check_same(a->objects[i], b->objects[i]);
        check_object(b->objects[i]);
    }
}

/* Each run gets a new plan, because a decoder may store the kind in it. */
static void run_once(decode_run *run, ki_body_form form, ki_str input, decode_split split)
{
    ki_object_plan *plan = decode_options_plan((unsigned char)input.ptr[0]);
    decode_run_form(run, form, plan, (ki_str){input.ptr + 1, input.len - 1}, split);
    ki_object_plan_free(plan);
}

static void compare(const decode_run *whole, ki_body_form form, ki_str input, decode_split split)
{
    decode_run run;
    run_once(&run, form, input, split);
    check_runs(whole, &run);
    decode_run_fini(&run);
}

int decode_options_fuzz(const uint8_t *data, size_t size, ki_body_form form)
{
    if (size == 0)
        return 0;
    ki_str input = {(const char *)data, size};
    decode_run whole;
    ki_random random;
    uint64_t seed = size;
    for (size_t i = 0; i < size; i++)
        seed = seed * 31 + data[i];
    ki_random_init(&random, seed);
    run_once(&whole, form, input, (decode_split){0});
    compare(&whole, form, input, (decode_split){.piece = 1});
    compare(&whole, form, input, (decode_split){.random = &random});
    decode_run_fini(&whole);
    return 0;
}
