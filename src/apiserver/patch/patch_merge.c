/* SPDX-License-Identifier: Apache-2.0 */
/* RFC 7386. */
#include <assert.h>

#include "apiserver/patch/patch.h"
#include "apiserver/value/tree.h"

/* A copy without the null members of objects; the content of lists is not changed. NULL if out of memory. The
 * recursion is limited, because jansson limits the depth. */
static json_t *copy_without_nulls(const json_t *value)
{
    if (!json_is_object(value))
        return ki_as_json_copy(value);
    json_t *copy = json_object();
    const char *name = NULL;
    size_t len = 0;
    json_t *member = NULL;
    json_object_keylen_foreach((json_t *)value, name, len, member)
    {
        if (!json_is_null(member) && json_object_setn_new(copy, name, len, copy_without_nulls(member)) < 0) {
            json_decref(copy);
            return NULL;
        }
    }
    return copy;
}

/* Modifies `target`, an object. */
static int merge_into(json_t *target, const json_t *patch)
{
    assert(json_is_object(target) && json_is_object(patch));
    const char *name = NULL;
    size_t len = 0;
    json_t *value = NULL;
    json_object_keylen_foreach((json_t *)patch, name, len, value)
    {
        json_t *there = json_object_getn(target, name, len);
        int rc = 0;
        if (json_is_null(value))
            (void)json_object_deln(target, name, len);
        else if (json_is_object(value) && json_is_object(there))
            rc = merge_into(there, value);
        else
            rc = json_object_setn_new(target, name, len, copy_without_nulls(value));
        if (rc < 0)
            return -1;
    }
    return 0;
}

int ki_as_patch_merge(const json_t *current, const json_t *patch, json_t **out, struct ki_as_failure *failure)
{
    assert(out != NULL && failure != NULL);
    if (!json_is_object(patch))
        return ki_as_fail_bad_request(failure,
                                      "error decoding patch: json: cannot unmarshal %s into Go value of type "
                                      "map[string]interface {}",
                                      ki_as_json_type_name(patch));
    json_t *result = ki_as_json_copy(current);
    if (result == NULL || merge_into(result, patch) < 0) {
        json_decref(result);
        return ki_as_fail_no_memory(failure);
    }
    *out = result;
    return 0;
}
