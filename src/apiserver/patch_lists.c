/* SPDX-License-Identifier: Apache-2.0 */
/* How strategic patches merge two lists, and in which order the elements stand then: those of the patch as
 * the patch (or its $setElementOrder) has them, those that only the server has where they stood among the
 * others. */
#include <string.h>

#include "apiserver/patch_parts.h"
#include "apiserver/tree.h"

/* What tells an element apart: the value of its key, or itself. */
static const json_t *identity(const struct ki_as_list_merge *merge, const json_t *element)
{
    return merge->key[0] == 0 ? element : json_object_get(element, merge->key);
}

/* Where an element like this one stands; -1: nowhere. */
static long find(const struct ki_as_list_merge *merge, const json_t *list, const json_t *element)
{
    const json_t *wanted = identity(merge, element);
    for (size_t i = 0; wanted != NULL && i < json_array_size(list); i++) {
        const json_t *one = identity(merge, json_array_get(list, i));
        if (one != NULL && json_equal(one, wanted))
            return (long)i;
    }
    return -1;
}

/* All elements are scalars, or objects that have the key. */
static int check(const struct ki_as_list_merge *merge, const json_t *list)
{
    size_t i = 0;
    json_t *element = NULL;
    json_array_foreach(list, i, element)
    {
        bool is_keyed = merge->key[0] != 0;
        bool is_scalar = !json_is_object(element) && !json_is_array(element) && !json_is_null(element);
        if (is_keyed ? !json_is_object(element) : !is_scalar)
            return ki_as_patch_refuse(merge->failure, "list element types are not identical");
        bool is_marker = is_keyed && json_object_get(element, "$patch") != NULL;
        if (is_keyed && !is_marker && json_object_get(element, merge->key) == NULL)
            return ki_as_patch_refuse(merge->failure, "map does not contain declared merge key: %s",
                                      merge->key);
    }
    return 0;
}

static void remove_all(const struct ki_as_list_merge *merge, json_t *list, const json_t *element)
{
    for (long at = find(merge, list, element); at >= 0; at = find(merge, list, element))
        (void)json_array_remove(list, (size_t)at);
}

/* Carries out {"$patch": "delete", key: …} on `list`; {"$patch": "replace"} empties it and sets
 * *out_is_replaced. */
static int apply_markers(const struct ki_as_list_merge *merge, json_t *list, bool *out_is_replaced)
{
    size_t i = 0;
    json_t *element = NULL;
    json_array_foreach(merge->patch, i, element)
    {
        const json_t *marker = json_is_object(element) ? json_object_get(element, "$patch") : NULL;
        const char *directive = marker == NULL ? NULL : json_string_value(marker);
        if (marker == NULL)
            continue;
        if (directive != NULL && strcmp(directive, "replace") == 0)
            *out_is_replaced = true;
        else if (directive == NULL || strcmp(directive, "delete") != 0)
            return ki_as_patch_refuse(merge->failure, "unknown patch type: %s",
                                      directive == NULL ? "" : directive);
        else if (json_object_get(element, merge->key) == NULL)
            return ki_as_patch_refuse(merge->failure, "map does not contain declared merge key: %s",
                                      merge->key);
        else
            remove_all(merge, list, element);
    }
    if (*out_is_replaced)
        (void)json_array_clear(list);
    return 0;
}

static int merge_element(const struct ki_as_list_merge *merge, json_t *list, const json_t *element)
{
    long at = find(merge, list, element);
    json_t *merged = NULL;
    int rc = 0;
    if (at >= 0 && merge->key[0] == 0)
        return 0;
    if (at < 0) {
        rc = ki_as_strategic_strip(element, &merged, merge->failure);
        if (rc == 0 && json_array_append_new(list, merged) < 0)
            rc = ki_as_fail_no_memory(merge->failure);
        return rc;
    }
    merged = json_incref(json_array_get(list, (size_t)at));
    rc = ki_as_strategic_merge(&merged, element, merge->shape, merge->failure);
    if (rc < 0) {
        json_decref(merged);
        return rc;
    }
    return json_array_set_new(list, (size_t)at, merged) < 0 ? ki_as_fail_no_memory(merge->failure) : 0;
}

/* The elements of `list` that `by` has (or has not), in the order of `order`. A new array, NULL without
 * memory. */
static json_t *select_in_order(const struct ki_as_list_merge *merge, const json_t *list, const json_t *by,
                               bool is_wanted)
{
    json_t *chosen = json_array();
    size_t i = 0;
    json_t *element = NULL;
    json_array_foreach(list, i, element)
    {
        if ((find(merge, by, element) >= 0) != is_wanted)
            continue;
        size_t at = is_wanted ? 0 : json_array_size(chosen);
        while (is_wanted && at < json_array_size(chosen) &&
               find(merge, by, json_array_get(chosen, at)) <= find(merge, by, element))
            at++;
        if (json_array_insert(chosen, at, element) < 0) {
            json_decref(chosen);
            return NULL;
        }
    }
    return chosen;
}

/* Puts both together: an element of the server comes before one of the patch only where it came before it
 * already. */
static json_t *interleave(const struct ki_as_list_merge *merge, const json_t *server, const json_t *patch)
{
    json_t *all = json_array();
    size_t i = 0;
    size_t j = 0;
    int rc = all == NULL ? -1 : 0;
    while (rc == 0 && (i < json_array_size(server) || j < json_array_size(patch))) {
        json_t *left = json_array_get(server, i);
        json_t *right = json_array_get(patch, j);
        bool is_left = right == NULL;
        if (left != NULL && right != NULL) {
            long left_at = find(merge, merge->original, left);
            long right_at = find(merge, merge->original, right);
            is_left = left_at >= 0 && right_at >= 0 && left_at < right_at;
        }
        rc = json_array_append(all, is_left ? left : right);
        i += is_left ? 1 : 0;
        j += is_left ? 0 : 1;
    }
    if (rc < 0) {
        json_decref(all);
        return NULL;
    }
    return all;
}

static int arrange(const struct ki_as_list_merge *merge, const json_t *merged, json_t **out)
{
    const json_t *order = merge->order != NULL ? merge->order : merge->patch;
    json_t *of_patch = select_in_order(merge, merged, order, true);
    json_t *of_server = select_in_order(merge, merged, order, false);
    json_t *all = of_patch == NULL || of_server == NULL ? NULL : interleave(merge, of_server, of_patch);
    json_decref(of_patch);
    json_decref(of_server);
    if (all == NULL)
        return ki_as_fail_no_memory(merge->failure);
    *out = all;
    return 0;
}

/* Every element of the patch must be in the order, and they must follow each other as it says. */
static int check_order(const struct ki_as_list_merge *merge)
{
    long last = -1;
    size_t i = 0;
    json_t *element = NULL;
    if (merge->order == NULL || json_array_size(merge->order) == 0)
        return 0;
    json_array_foreach(merge->patch, i, element)
    {
        if (json_is_object(element) && json_object_get(element, "$patch") != NULL)
            continue;
        long at = find(merge, merge->order, element);
        if (at <= last)
            return ki_as_patch_refuse(merge->failure,
                                      "The order in patch list doesn't match $setElementOrder list");
        last = at;
    }
    return 0;
}

static int merge_elements(const struct ki_as_list_merge *merge, json_t *list)
{
    size_t i = 0;
    json_t *element = NULL;
    bool is_replaced = false;
    int rc = apply_markers(merge, list, &is_replaced);
    json_array_foreach(merge->patch, i, element)
    {
        if (rc < 0)
            return rc;
        if (!json_is_object(element) || json_object_get(element, "$patch") == NULL)
            rc = merge_element(merge, list, element);
    }
    return rc;
}

int ki_as_strategic_merge_list(const struct ki_as_list_merge *merge, json_t **out)
{
    int rc = check(merge, merge->original);
    if (rc == 0)
        rc = check(merge, merge->patch);
    if (rc == 0)
        rc = check(merge, merge->order);
    if (rc == 0)
        rc = check_order(merge);
    if (rc < 0)
        return rc;
    json_t *list = merge->original == NULL ? json_array() : ki_as_json_copy(merge->original);
    rc = list == NULL ? ki_as_fail_no_memory(merge->failure) : merge_elements(merge, list);
    if (rc == 0)
        rc = arrange(merge, list, out);
    json_decref(list);
    return rc;
}
