/* SPDX-License-Identifier: Apache-2.0 */
#include "api/object/object_path.h"

#include <assert.h>
#include <string.h>

#include "json/path.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/refcount.h"
#include "util/text/str.h"

struct ki_object_path {
    ki_refcount refs;
    bool is_label;
    size_t fixed_len; /* this many bytes of the text are a JSON Pointer, so one lookup finds its value */
    char text[];
};

/* ---- creating ----------------------------------------------------------------------------------------- */

/* Checks all parts, and finds how many bytes of the text can be used as a JSON Pointer. In a path, a number
 * is the name of a member. In a JSON Pointer it could also be the position of an element. */
static int check(const char *text, size_t *out_fixed_len, ki_error *err)
{
    ki_path path = ki_path_of(text);
    ki_path_part part;
    const char *fault = "";
    bool is_fixed = true;
    int rc = text[0] == 0 ? KI_ERR_INVALID : 1;
    if (rc < 0)
        fault = "an index needs the path of a field";
    while (rc == 1 && (rc = ki_path_next(&path, &part, &fault)) == 1) {
        is_fixed = is_fixed && !part.is_any && !ki_str_is_number(part.name.text);
        if (is_fixed)
            *out_fixed_len = (size_t)(path.at - text);
    }
    return rc < 0 ? ki_fail(err, rc, "index path \"%s\": %s", text, fault) : 0;
}

ki_object_path *ki_object_path_new(const char *text, ki_error *err)
{
    size_t fixed_len = 0;
    if (text == NULL)
        (void)ki_fail(err, KI_ERR_INVALID, "index path: must not be NULL");
    if (text == NULL || check(text, &fixed_len, err) < 0)
        return NULL;
    size_t bytes = strlen(text) + 1;
    ki_object_path *path = ki_malloc(sizeof(*path) + bytes);
    if (path == NULL) {
        (void)ki_fail_no_memory(err);
        return NULL;
    }
    ki_refcount_init(&path->refs);
    path->is_label = ki_path_label(text).len > 0;
    path->fixed_len = path->is_label ? 0 : fixed_len;
    memcpy(path->text, text, bytes);
    return path;
}

ki_object_path *ki_object_path_ref(ki_object_path *path)
{
    if (path != NULL)
        ki_refcount_ref(&path->refs);
    return path;
}

void ki_object_path_unref(ki_object_path *path)
{
    if (path != NULL && ki_refcount_unref(&path->refs))
        ki_free(path);
}

const char *ki_object_path_text(const ki_object_path *path)
{
    assert(path != NULL);
    return path->text;
}

/* ---- walking ------------------------------------------------------------------------------------------ */

typedef struct walk {
    ki_object_path_visit visit;
    void *user;
} walk;

static int visit_leaf(ki_json value, const walk *w)
{
    ki_str text = {0};
    switch (ki_json_type_of(value)) {
    case KI_JSON_STRING:
        if (ki_json_string(value, &text) == 0)
            return w->visit(text, false, w->user);
        return w->visit((ki_str){value.raw.ptr + 1, value.raw.len - 2}, true, w->user);
    case KI_JSON_NUMBER:
    case KI_JSON_BOOL:
        return w->visit(value.raw, false, w->user);
    default:
        return 0;
    }
}

static int walk_parts(ki_path path, ki_json value, const walk *w);

static int walk_all(ki_path path, ki_json value, const walk *w)
{
    ki_json_iter iter = ki_json_iterate(value);
    ki_json each = {0};
    int rc = 0;
    while (rc == 0 && ki_json_next(&iter, NULL, &each))
        rc = walk_parts(path, each, w);
    return rc;
}

/* A slash precedes the token in the path's text, so both together are a JSON Pointer with one part. */
static ki_json member(ki_json value, ki_str token)
{
    if (ki_json_type_of(value) != KI_JSON_OBJECT)
        return (ki_json){0};
    return ki_json_find_str(value, (ki_str){token.ptr - 1, token.len + 1});
}

/* Recursion is as deep as the path has parts. */
static int walk_parts(ki_path path, ki_json value, const walk *w)
{
    ki_path_part part;
    while (value.raw.len > 0) {
        if (ki_path_next(&path, &part, NULL) <= 0)
            return visit_leaf(value, w);
        if (part.is_any)
            return walk_all(path, value, w);
        value = member(value, part.name.text);
    }
    return 0;
}

static int walk_label(const ki_object_path *path, const ki_object *object, const walk *w)
{
    return visit_leaf(ki_json_member(ki_object_labels(object), ki_path_label(path->text)), w);
}

int ki_object_path_walk(const ki_object_path *path, const ki_object *object, ki_object_path_visit visit,
                        void *user)
{
    assert(path != NULL && visit != NULL);
    walk w = {visit, user};
    if (path->is_label)
        return walk_label(path, object, &w);
    ki_json value =
        ki_json_find_str((ki_json){ki_object_json(object)}, (ki_str){path->text, path->fixed_len});
    return walk_parts(ki_path_of(path->text + path->fixed_len), value, &w);
}

size_t ki_object_path_unescape(ki_str text, char *out)
{
    size_t len = ki_json_unescape(text.ptr, text.len, out);
    assert(len != KI_JSON_BAD_ESCAPE); /* the text of an object has no invalid escapes */
    return len;
}
