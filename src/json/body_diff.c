/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the difference of two JSON texts as a merge patch. Equal members are omitted; an array or scalar
 * that differs is written whole. */
#include <assert.h>
#include <stdbool.h>

#include "json/body.h"
#include "util/error.h"

/* Finds members by name, for callers that mostly ask for them in the order of the object: it looks at the
 * next members first. */
typedef struct finder {
    ki_json object;
    ki_json_iter next;
} finder;

static finder finder_of(ki_json object)
{
    return (finder){object, ki_json_iterate(object)};
}

/* The number of members to look at before the whole object is searched. */
enum { STEPS = 3 };

/* `name` is a JSON string. A name that is spelt differently, with other escapes, is only found by the
 * search of the whole object. */
static ki_json find(finder *f, ki_json name)
{
    ki_json_iter iter = f->next;
    ki_json found_name;
    ki_json found;
    char text[256];
    size_t len = 0;
    for (int i = 0; i < STEPS && ki_json_next(&iter, &found_name, &found); i++)
        if (ki_str_equal(found_name.raw, name.raw)) {
            f->next = iter;
            return found;
        }
    if (ki_json_string_copy(name, text, sizeof(text), &len) == 0)
        return ki_json_member(f->object, (ki_str){text, len});
    iter = ki_json_iterate(f->object);
    while (ki_json_next(&iter, &found_name, &found))
        if (ki_json_equal(found_name, name) == 1)
            return found;
    return (ki_json){0};
}

/* Limits the nesting of objects that differ; other values may be nested as deeply as JSON allows. */
enum { DEPTH_MAX = 100 };

/* Both are objects. Writes the members that differ. */
static void write_members(ki_json_writer *writer, ki_json from, ki_json to);

static void write_object(ki_json_writer *writer, ki_json from, ki_json to)
{
    assert(ki_json_type_of(from) == KI_JSON_OBJECT);
    assert(ki_json_type_of(to) == KI_JSON_OBJECT);
    if (writer->depth == DEPTH_MAX)
        ki_json_writer_fail(writer, KI_ERR_JSON_DEPTH, "merge patch: nested too deeply");
    ki_json_write_object_begin(writer);
    if (writer->error == 0)
        write_members(writer, from, to);
    ki_json_write_object_end(writer);
}

static void write_member(ki_json_writer *writer, ki_json name, ki_json from, ki_json to)
{
    int is_equal = ki_json_equal(from, to);
    if (is_equal < 0)
        ki_json_writer_fail(writer, is_equal, ki_error_text(is_equal));
    if (is_equal != 0)
        return;
    ki_json_writer_raw_name(writer, name.raw);
    if (ki_json_type_of(from) == KI_JSON_OBJECT && ki_json_type_of(to) == KI_JSON_OBJECT)
        write_object(writer, from, to);
    else
        ki_json_write_value(writer, to);
}

static void write_members(ki_json_writer *writer, ki_json from, ki_json to)
{
    ki_json name;
    ki_json value;
    finder in_from = finder_of(from);
    finder in_to = finder_of(to);
    ki_json_iter iter = ki_json_iterate(to);
    while (writer->error == 0 && ki_json_next(&iter, &name, &value))
        write_member(writer, name, find(&in_from, name), value);
    iter = ki_json_iterate(from);
    while (writer->error == 0 && ki_json_next(&iter, &name, &value)) {
        if (ki_json_type_of(find(&in_to, name)) != KI_JSON_NONE)
            continue;
        ki_json_writer_raw_name(writer, name.raw);
        ki_json_write_null(writer);
    }
}

static int write_patch(ki_json_writer *writer, ki_json from, const ki_body *to, ki_str *out_text,
                       ki_error *err)
{
    int rc = ki_body_check(to, err);
    if (rc == 0)
        rc = ki_json_validate(from.raw, err);
    if (rc < 0)
        return rc;
    ki_json old = ki_json_of(from.raw);
    ki_json new = ki_body_json(to);
    if (ki_json_type_of(old) != KI_JSON_OBJECT || ki_json_type_of(new) != KI_JSON_OBJECT)
        return ki_fail(err, KI_ERR_TYPE, "merge patch: both values must be JSON objects");
    write_object(writer, old, new);
    return ki_json_writer_finish(writer, out_text, err);
}

ki_body *ki_body_merge_patch(ki_json old, const ki_body *wanted)
{
    ki_body *patch = ki_body_new();
    ki_json_writer *writer = ki_json_writer_new(NULL);
    ki_error why = {0};
    ki_str text = {0};
    if (patch == NULL || writer == NULL) {
        ki_body_free(patch);
        patch = NULL;
    } else if (write_patch(writer, old, wanted, &text, &why) < 0) {
        (void)ki_body_fail(patch, &why);
    } else {
        (void)ki_body_replace(patch, text);
    }
    ki_json_writer_free(writer);
    return patch;
}
