/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <string.h>

#include "apiserver/patch/field_set.h"
#include "apiserver/patch/field_text.h"
#include "apiserver/value/encode.h"
#include "apiserver/value/timestamp.h"
#include "apiserver/value/tree.h"
#include "apiserver/verbs/verbs_parts.h"

/* TEXT_BYTES: the first size of the buffer, large enough for the entry of most objects. */
enum { TEXT_BYTES = 2048 };

/* The managedFields of the tree, created if missing; borrowed. NULL if out of memory. `before` may share this
 * array. It is changed in place nevertheless: the managedFields of `before` are not read any more. */
static json_t *own_entries(json_t *tree)
{
    assert(json_is_object(ki_as_metadata(tree)));
    json_t *entries = json_object_get(ki_as_metadata(tree), "managedFields");
    if (json_is_array(entries))
        return entries;
    entries = json_array();
    if (entries == NULL || json_object_set_new(ki_as_metadata(tree), "managedFields", entries) < 0)
        return NULL;
    return entries;
}

/* The subresource in the entry: managers that write through a subresource have a separate entry.
 * NULL for none. */
static const char *subresource_of(const struct ki_as_verb *verb)
{
    if (ki_str_equal(verb->call->subresource, KI_STR("status")))
        return "status";
    return ki_str_equal(verb->call->subresource, KI_STR("scale")) ? "scale" : NULL;
}

static bool is_entry_of(const struct ki_as_verb *verb, const json_t *entry, const char *subresource)
{
    return ki_str_equal(ki_str_of(ki_as_tree_text(entry, "manager")), verb->call->field_manager) &&
           strcmp(ki_as_tree_text(entry, "operation"), "Update") == 0 &&
           strcmp(ki_as_tree_text(entry, "apiVersion"), verb->resource->api_version) == 0 &&
           strcmp(ki_as_tree_text(entry, "subresource"), subresource) == 0;
}

/* Removes the fields that this manager changed from the other entries, and fields that no longer exist from
 * all entries. *out_own is the entry of this manager, or NULL. */
static int take_away(const struct ki_as_verb *verb, json_t *tree, const json_t *changed, json_t **out_own)
{
    json_t *entries = json_object_get(ki_as_metadata(tree), "managedFields");
    struct ki_as_shape shape = ki_as_shape_of(verb->resource);
    const char *subresource = subresource_of(verb) == NULL ? "" : subresource_of(verb);
    json_t *own = NULL;
    for (size_t i = json_array_size(entries); i > 0; i--) {
        json_t *entry = json_array_get(entries, i - 1);
        json_t *fields = json_object_get(entry, "fieldsV1");
        bool is_own = is_entry_of(verb, entry, subresource);
        if (!is_own)
            ki_as_field_set_subtract(fields, changed);
        if (ki_as_field_set_prune(fields, tree, shape) < 0)
            return -1;
        if (is_own)
            own = entry;
        else if (json_object_size(fields) == 0)
            (void)json_array_remove(entries, i - 1);
    }
    *out_own = own;
    return 0;
}

static json_t *new_entry(const struct ki_as_verb *verb)
{
    assert(verb->call->field_manager.len > 0);
    ki_str manager = verb->call->field_manager;
    return json_pack("{s:s%, s:s, s:s, s:s, s:s, s:{}, s:s*}", "manager", manager.ptr, manager.len,
                     "operation", "Update", "apiVersion", verb->resource->api_version, "time", "",
                     "fieldsType", "FieldsV1", "fieldsV1", "subresource", subresource_of(verb));
}

static int record(const struct ki_as_verb *verb, json_t *tree, const json_t *changed)
{
    assert(json_is_object(changed));
    json_t *entries = own_entries(tree);
    if (entries == NULL)
        return -1;
    json_t *own = NULL;
    if (take_away(verb, tree, changed, &own) < 0)
        return -1;
    if (own == NULL && json_object_size(changed) == 0)
        return 0;
    if (own == NULL) {
        own = new_entry(verb);
        if (own == NULL || json_array_append_new(entries, own) < 0)
            return -1;
    }
    char now[KI_AS_TIME_BYTES];
    ki_as_time_now(now);
    if (json_object_set_new(own, "time", json_string(now)) < 0)
        return -1;
    return ki_as_field_set_add(json_object_get(own, "fieldsV1"), changed);
}

int ki_as_managed_update(const struct ki_as_verb *verb, json_t *tree, const json_t *before)
{
    json_t *changed = NULL;
    if (verb->call->field_manager.len == 0)
        return 0;
    int rc = ki_as_field_set_of(ki_as_shape_of(verb->resource), before, tree, &changed);
    if (rc == 0)
        rc = record(verb, tree, changed);
    json_decref(changed);
    return rc < 0 ? ki_as_fail_no_memory(verb->failure) : 0;
}

/* [{"manager":…,"time":" */
static int write_owner(const struct ki_as_verb *verb, ki_buf *out)
{
    int rc = ki_buf_append_str(out, KI_STR("[{\"manager\":"));
    if (rc == 0)
        rc = ki_as_encode_string(out, verb->call->field_manager);
    if (rc == 0)
        rc = ki_buf_append_str(out, KI_STR(",\"operation\":\"Update\",\"apiVersion\":"));
    if (rc == 0)
        rc = ki_as_encode_string(out, ki_str_of(verb->resource->api_version));
    return rc < 0 ? rc : ki_buf_append_str(out, KI_STR(",\"time\":\""));
}

/* The part of the object that the manager may own: without the status, which has separate managers.
 * A new reference. */
static json_t *owned_part(const struct ki_as_verb *verb, const json_t *tree)
{
    if (!verb->resource->has_status || verb->call->subresource.len > 0)
        return json_incref((json_t *)tree);
    json_t *part = json_copy((json_t *)tree);
    (void)json_object_del(part, "status");
    return part;
}

/* [{"manager":…,"fieldsV1":{…}}], or nothing if no field can have an owner. */
static int write_entry(const struct ki_as_verb *verb, const json_t *tree, ki_buf *out)
{
    assert(out->len == 0);
    char now[KI_AS_TIME_BYTES];
    ki_as_time_now(now);
    int rc = write_owner(verb, out);
    if (rc == 0)
        rc = ki_buf_append_str(out, ki_str_of(now));
    if (rc == 0)
        rc = ki_buf_append_str(out, KI_STR("\",\"fieldsType\":\"FieldsV1\",\"fieldsV1\":"));
    size_t start = out->len;
    json_t *part = owned_part(verb, tree);
    if (rc == 0)
        rc = part == NULL ? -1 : ki_as_field_text(ki_as_shape_of(verb->resource), part, out);
    json_decref(part);
    bool is_empty = out->len == start + 2;
    if (rc == 0)
        rc = ki_buf_append_str(out, KI_STR("}]"));
    if (rc == 0 && is_empty)
        out->len = 0;
    return rc;
}

int ki_as_managed_text(const struct ki_as_verb *verb, const json_t *tree, ki_buf *out)
{
    assert(out->len == 0);
    if (verb->call->field_manager.len == 0)
        return 0;
    int rc = ki_buf_reserve(out, TEXT_BYTES);
    if (rc == 0)
        rc = write_entry(verb, tree, out);
    return rc < 0 ? ki_as_fail_no_memory(verb->failure) : 0;
}
