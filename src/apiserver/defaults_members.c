/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/defaults_members.h"

#include <assert.h>
#include <kinformer/error.h>
#include <string.h>

static json_t *value_of(const struct ki_as_member *member)
{
    switch (member->kind) {
    case KI_AS_MEMBER_TEXT:
        return json_string_nocheck(member->text);
    case KI_AS_MEMBER_NUMBER:
        return json_integer(member->number);
    case KI_AS_MEMBER_TRUE:
        return json_true();
    default:
        return json_object();
    }
}

/* What is there already. */
static int fill_inner(const struct ki_as_member *member, json_t *value)
{
    if (member->kind == KI_AS_MEMBER_WITHIN)
        return ki_as_defaults_members(value, member->inner);
    size_t count = member->kind == KI_AS_MEMBER_EACH ? json_array_size(value) : 0;
    int rc = 0;
    for (size_t i = 0; i < count && rc == 0; i++)
        rc = ki_as_defaults_members(json_array_get(value, i), member->inner);
    return rc;
}

/* Where in the table the name is; the count: nowhere. */
static size_t place_of(const struct ki_as_members *members, ki_str name)
{
    size_t at = 0;
    while (at < members->count && (members->entries[at].name.len != name.len ||
                                   memcmp(members->entries[at].name.ptr, name.ptr, name.len) != 0))
        at++;
    return at;
}

int ki_as_defaults_members(json_t *object, const struct ki_as_members *members)
{
    uint64_t seen = 0;
    assert(members->count <= 64);
    if (!json_is_object(object))
        return 0;
    for (void *at = json_object_iter(object); at != NULL; at = json_object_iter_next(object, at)) {
        json_t *value = json_object_iter_value(at);
        size_t place = place_of(members, (ki_str){json_object_iter_key(at), json_object_iter_key_len(at)});
        if (place == members->count || json_is_null(value))
            continue;
        seen |= (uint64_t)1 << place;
        int rc = fill_inner(&members->entries[place], value);
        if (rc < 0)
            return rc;
    }
    for (size_t i = 0; i < members->count; i++) {
        const struct ki_as_member *member = &members->entries[i];
        if (member->inner != NULL || (seen >> i & 1) != 0)
            continue;
        if (json_object_setn_new_nocheck(object, member->name.ptr, member->name.len, value_of(member)) < 0)
            return KI_ERR_NO_MEMORY;
    }
    return 0;
}
