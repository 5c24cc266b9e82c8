/* SPDX-License-Identifier: Apache-2.0 */
/* Strategic merge patches: like RFC 7386, but lists of built-in kinds are merged by the keys in their
 * schemas. Directives ("$patch", "$retainKeys", "$deleteFromPrimitiveList/…",
 * "$setElementOrder/…") control the details. */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "apiserver/patch/patch.h"
#include "apiserver/patch/patch_parts.h"
#include "apiserver/value/tree.h"

static const char delete_prefix[] = "$deleteFromPrimitiveList";
static const char order_prefix[] = "$setElementOrder";

int ki_as_patch_refuse(struct ki_as_failure *failure, const char *format, ...)
{
    assert(failure != NULL);
    char why[1024];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(why, sizeof(why), format, arguments);
    va_end(arguments);
    json_t *details =
        json_pack("{s:[{s:s, s:s}]}", "causes", "reason", "UnexpectedServerResponse", "message", why);
    return ki_as_fail(failure, 422, "Invalid", details,
                      "the server rejected our request due to an error in our request");
}

static bool has_prefix(const char *name, const char *prefix)
{
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

/* The field that a directive such as "$setElementOrder/containers" is for: the part after the slash.
 * NULL if there is none. */
static const char *directive_field(const char *name, const char *prefix)
{
    assert(has_prefix(name, prefix));
    const char *rest = name + strlen(prefix);
    return rest[0] == '/' ? rest + 1 : NULL;
}

/* ---- values that the original lacks ------------------------------------------------------------------ */

static int strip_list(const json_t *value, json_t *copy, struct ki_as_failure *failure)
{
    size_t i = 0;
    json_t *element = NULL;
    json_array_foreach(value, i, element)
    {
        json_t *stripped = NULL;
        int rc = ki_as_strategic_strip(element, &stripped, failure);
        if (rc < 0)
            return rc;
        if (stripped != NULL && json_array_append_new(copy, stripped) < 0)
            return ki_as_fail_no_memory(failure);
    }
    return 0;
}

static int strip_object(const json_t *value, json_t *copy, struct ki_as_failure *failure)
{
    const char *name = NULL;
    json_t *member = NULL;
    json_object_foreach((json_t *)value, name, member)
    {
        json_t *stripped = NULL;
        bool is_directive = has_prefix(name, order_prefix) || has_prefix(name, delete_prefix) ||
                            strcmp(name, "$retainKeys") == 0;
        if (json_is_null(member) || is_directive)
            continue;
        int rc = ki_as_strategic_strip(member, &stripped, failure);
        if (rc < 0)
            return rc;
        if (stripped != NULL && json_object_set_new(copy, name, stripped) < 0)
            return ki_as_fail_no_memory(failure);
    }
    return 0;
}

int ki_as_strategic_strip(const json_t *value, json_t **out, struct ki_as_failure *failure)
{
    *out = NULL;
    if (json_is_object(value) && json_object_get(value, "$patch") != NULL)
        return 0;
    json_t *copy = json_is_object(value)  ? json_object()
                   : json_is_array(value) ? json_array()
                                          : ki_as_json_copy(value);
    if (copy == NULL)
        return ki_as_fail_no_memory(failure);
    int rc = 0;
    if (json_is_object(value))
        rc = strip_object(value, copy, failure);
    else if (json_is_array(value))
        rc = strip_list(value, copy, failure);
    if (rc < 0) {
        json_decref(copy);
        return rc;
    }
    *out = copy;
    return 0;
}

/* Sets a member of `original` to the value without directives; removes it if nothing is left. */
static int put(json_t *original, const char *name, const json_t *value, struct ki_as_failure *failure)
{
    json_t *stripped = NULL;
    int rc = ki_as_strategic_strip(value, &stripped, failure);
    if (rc < 0)
        return rc;
    if (stripped == NULL)
        (void)json_object_del(original, name);
    else if (json_object_set_new(original, name, stripped) < 0)
        return ki_as_fail_no_memory(failure);
    return 0;
}

/* ---- directives ---------------------------------------------------------------------------------------- */

static int apply_marker(json_t **original, const json_t *patch, struct ki_as_failure *failure)
{
    assert(json_object_get(patch, "$patch") != NULL);
    const json_t *marker = json_object_get(patch, "$patch");
    const char *directive = json_string_value(marker);
    bool is_delete = directive != NULL && strcmp(directive, "delete") == 0;
    if (!is_delete && (directive == NULL || strcmp(directive, "replace") != 0))
        return ki_as_patch_refuse(failure, "unknown patch type: %s", directive == NULL ? "" : directive);
    json_t *replaced = json_object();
    int rc = replaced == NULL ? ki_as_fail_no_memory(failure) : 0;
    const char *name = NULL;
    json_t *member = NULL;
    json_object_foreach((json_t *)patch, name, member)
    {
        if (rc == 0 && !is_delete && strcmp(name, "$patch") != 0 && !json_is_null(member))
            rc = put(replaced, name, member, failure);
    }
    if (rc < 0) {
        json_decref(replaced);
        return rc;
    }
    json_decref(*original);
    *original = replaced;
    return 0;
}

/* An object with the names as members; NULL if out of memory. */
static json_t *names_of(const json_t *names)
{
    json_t *object = json_object();
    size_t i = 0;
    json_t *one = NULL;
    json_array_foreach(names, i, one)
    {
        if (object != NULL && json_is_string(one) &&
            json_object_set_new(object, json_string_value(one), json_null()) < 0) {
            json_decref(object);
            object = NULL;
        }
    }
    return object;
}

static int retain(json_t *original, const json_t *patch, const json_t *names, struct ki_as_failure *failure)
{
    assert(json_is_object(names));
    const char *name = NULL;
    json_t *value = NULL;
    void *next = NULL;
    json_object_foreach((json_t *)patch, name, value)
    {
        bool is_plain = name[0] != '$' && !json_is_null(value);
        if (is_plain && json_object_get(names, name) == NULL)
            return ki_as_patch_refuse(failure, "invalid patch format of retainKeys");
    }
    json_object_foreach_safe(original, next, name, value)
    {
        if (json_object_get(names, name) == NULL)
            (void)json_object_del(original, name);
    }
    return 0;
}

static int retain_keys(json_t *original, const json_t *patch, struct ki_as_failure *failure)
{
    const json_t *list = json_object_get(patch, "$retainKeys");
    if (list == NULL)
        return 0;
    if (!json_is_array(list))
        return ki_as_patch_refuse(failure, "invalid patch format of retainKeys");
    json_t *names = names_of(list);
    int rc = names == NULL ? ki_as_fail_no_memory(failure) : retain(original, patch, names, failure);
    json_decref(names);
    return rc;
}

static int delete_values(json_t *original, const char *name, const json_t *values,
                         struct ki_as_failure *failure)
{
    const char *field = directive_field(name, delete_prefix);
    if (field == NULL)
        return ki_as_patch_refuse(failure, "invalid patch format of primitive list");
    json_t *list = json_object_get(original, field);
    if (!json_is_array(list) || !json_is_array(values))
        return 0;
    return ki_as_strategic_delete(list, values, "") < 0 ? ki_as_fail_no_memory(failure) : 0;
}

/* ---- members ------------------------------------------------------------------------------------------- */

static int merge_list_member(json_t *original, const char *name, struct ki_as_list_merge *merge)
{
    json_t *merged = NULL;
    int rc = ki_as_strategic_merge_list(merge, &merged);
    assert(rc < 0 || json_is_array(merged));
    if (rc == 0 && json_object_set_new(original, name, merged) < 0)
        rc = ki_as_fail_no_memory(merge->failure);
    return rc;
}

/* "$setElementOrder/x" orders the elements of x, even if x is not in the patch. */
static int set_order(json_t *original, const json_t *patch, const char *name, struct ki_as_shape shape,
                     struct ki_as_failure *failure)
{
    const char *field = directive_field(name, order_prefix);
    const json_t *order = json_object_get(patch, name);
    if (field == NULL || !json_is_array(order))
        return ki_as_patch_refuse(failure, "invalid patch format of setElementOrder list");
    const json_t *there = json_object_get(original, field);
    const json_t *given = json_object_get(patch, field);
    if (there == NULL && given == NULL)
        return 0;
    if ((there != NULL && !json_is_array(there)) || (given != NULL && !json_is_array(given)))
        return ki_as_patch_refuse(failure, "expected a []interface {}, but received a %s",
                                  ki_as_json_type_name(json_is_array(there) ? given : there));
    struct ki_as_shape list = ki_as_shape_member(shape, ki_str_of(field));
    struct ki_as_list_merge merge = {there, given, order, "", ki_as_shape_element(list), failure};
    if (!ki_as_shape_is_merged(list, &merge.key))
        return given == NULL ? 0 : put(original, field, given, failure);
    return merge_list_member(original, field, &merge);
}

/* Merges one member of the patch, which is not a directive. */
static int merge_member(json_t *original, const char *name, const json_t *value, struct ki_as_shape shape,
                        struct ki_as_failure *failure)
{
    json_t *there = json_object_get(original, name);
    if (json_is_null(value)) {
        (void)json_object_del(original, name);
        return 0;
    }
    struct ki_as_shape member = ki_as_shape_member(shape, ki_str_of(name));
    if (json_is_object(there) && json_is_object(value)) {
        json_t *merged = json_incref(there);
        int rc = ki_as_strategic_merge(&merged, value, member, failure);
        if (rc < 0) {
            json_decref(merged);
            return rc;
        }
        return json_object_set_new(original, name, merged) < 0 ? ki_as_fail_no_memory(failure) : 0;
    }
    struct ki_as_list_merge merge = {there, value, NULL, "", ki_as_shape_element(member), failure};
    if (json_is_array(there) && json_is_array(value) && ki_as_shape_is_merged(member, &merge.key))
        return merge_list_member(original, name, &merge);
    return put(original, name, value, failure);
}

static bool is_ordered(const json_t *patch, const char *name)
{
    char directive[512];
    int len = snprintf(directive, sizeof(directive), "%s/%s", order_prefix, name);
    return len < (int)sizeof(directive) && json_object_get(patch, directive) != NULL;
}

int ki_as_strategic_merge(json_t **original, const json_t *patch, struct ki_as_shape shape,
                          struct ki_as_failure *failure)
{
    assert(json_is_object(patch));
    if (json_object_get(patch, "$patch") != NULL)
        return apply_marker(original, patch, failure);
    int rc = retain_keys(*original, patch, failure);
    const char *name = NULL;
    json_t *value = NULL;
    json_object_foreach((json_t *)patch, name, value)
    {
        if (rc == 0 && has_prefix(name, order_prefix))
            rc = set_order(*original, patch, name, shape, failure);
    }
    json_object_foreach((json_t *)patch, name, value)
    {
        if (rc < 0)
            return rc;
        if (has_prefix(name, delete_prefix))
            rc = delete_values(*original, name, value, failure);
        else if (!has_prefix(name, order_prefix) && strcmp(name, "$retainKeys") != 0 &&
                 !is_ordered(patch, name))
            rc = merge_member(*original, name, value, shape, failure);
    }
    return rc;
}

int ki_as_patch_strategic(const json_t *current, const json_t *patch, json_t **out,
                          struct ki_as_failure *failure)
{
    assert(out != NULL && failure != NULL);
    struct ki_as_shape shape = ki_as_shape_of_kind(current);
    if (shape.schema == NULL)
        return ki_as_fail(
            failure, 415, "UnsupportedMediaType", json_object(),
            "the body of the request was in an unknown format - accepted media types include: "
            "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml");
    if (!json_is_object(patch))
        return ki_as_fail_bad_request(
            failure, "json: cannot unmarshal %s into Go value of type map[string]interface {}",
            ki_as_json_type_name(patch));
    json_t *result = ki_as_json_copy(current);
    if (result == NULL)
        return ki_as_fail_no_memory(failure);
    int rc = ki_as_strategic_merge(&result, patch, shape, failure);
    if (rc < 0) {
        json_decref(result);
        return rc;
    }
    *out = result;
    return 0;
}
