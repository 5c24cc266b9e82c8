/* SPDX-License-Identifier: Apache-2.0 */
/* Most changes leave most of an object as it is. The text of each member of the new tree is needed anyway; as
 * long as it is the text that is stored, the member is the same as before,
 * and what is stored need not be read. */
#include <string.h>

#include "apiserver/convert.h"
#include "apiserver/decode.h"
#include "apiserver/verbs_parts.h"

bool ki_as_before_is_short(const struct ki_as_verb *verb, const struct ki_as_object *current,
                           const json_t *body)
{
    bool keeps_status = verb->resource->has_status && !verb->call->is_whole;
    /* What is stored of a kind that is converted is not what it shows. */
    return !keeps_status && !ki_as_is_converted(verb->resource) &&
           json_object_get(ki_as_metadata(body), "managedFields") == NULL &&
           !ki_as_verb_is_for(verb, "apiextensions.k8s.io", "customresourcedefinitions") &&
           ki_as_managed_is_all(verb, current);
}

json_t *ki_as_before_metadata(const struct ki_as_verb *verb, const struct ki_as_object *current)
{
    ki_buf *scratch = ki_as_storage_scratch(verb->storage, KI_AS_SCRATCH_TEXT);
    json_t *tree =
        ki_as_object_metadata_tree(current, verb->resource->kind, verb->resource->api_version, scratch);
    if (tree == NULL)
        (void)ki_as_fail_no_memory(verb->failure);
    return tree;
}

/* Whether the stored text goes on with this member: a number might have more digits there. */
static bool goes_on_with(ki_str stored, ki_str member)
{
    return stored.len > member.len && memcmp(stored.ptr, member.ptr, member.len) == 0 &&
           (stored.ptr[member.len] == ',' || stored.ptr[member.len] == '}');
}

/* Writes the members of the new tree, and shares those that `stored` begins with,
 * which is shortened by them. */
static int share(const struct ki_as_update *update, ki_buf *rest, ki_str *stored)
{
    json_t *tree = update->tree;
    bool is_same = true;
    int rc = 0;
    for (void *at = json_object_iter(tree); rc == 0 && at != NULL; at = json_object_iter_next(tree, at)) {
        ki_str key = {json_object_iter_key(at), json_object_iter_key_len(at)};
        size_t start = rest->len;
        rc = ki_as_object_rest_member(rest, key, json_object_iter_value(at));
        if (rc < 0 || rest->len == start)
            continue;
        ki_str member = {rest->data + start, rest->len - start};
        is_same = is_same && goes_on_with(*stored, member);
        if (!is_same)
            continue;
        rc = json_object_setn_nocheck(update->before, key.ptr, key.len, json_object_iter_value(at));
        *stored = (ki_str){stored->ptr + member.len, stored->len - member.len};
    }
    return rc < 0 ? -1 : 0;
}

/* What differs, from ",\"status\":…}" on. */
static int read_rest(const struct ki_as_verb *verb, json_t *before, ki_str stored)
{
    ki_buf *text = ki_as_storage_scratch(verb->storage, KI_AS_SCRATCH_TEXT);
    if (stored.ptr[0] != ',')
        return 0;
    int rc = ki_buf_append_byte(text, '{');
    if (rc == 0)
        rc = ki_buf_append(text, stored.ptr + 1, stored.len - 1);
    json_t *content = rc < 0 ? NULL : ki_as_decode(ki_buf_str(text), NULL);
    rc = content == NULL ? -1 : json_object_update(before, content);
    json_decref(content);
    return rc;
}

int ki_as_before_complete(const struct ki_as_verb *verb, const struct ki_as_update *update, ki_str *out_rest)
{
    const struct ki_as_object *current = update->current;
    ki_buf *rest = ki_as_storage_scratch(verb->storage, KI_AS_SCRATCH_REST);
    ki_str stored = {current->text.ptr - 1 + current->rest_at, current->text.len + 1 - current->rest_at};
    if (share(update, rest, &stored) < 0 || read_rest(verb, update->before, stored) < 0)
        return ki_as_fail_no_memory(verb->failure);
    *out_rest = ki_buf_str(rest);
    return 0;
}
