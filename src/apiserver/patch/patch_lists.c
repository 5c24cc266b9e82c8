/* SPDX-License-Identifier: Apache-2.0 */
/* How strategic patches merge two lists, and the resulting order: elements of the patch are in the order of
 * the patch (or of its $setElementOrder), and other elements keep their place relative to them. */
#include <assert.h>
#include <kinformer/error.h>
#include <stdlib.h>
#include <string.h>

#include "apiserver/kind/keyed_list.h"
#include "apiserver/patch/patch_parts.h"
#include "apiserver/value/tree.h"
#include "util/alloc.h"

/* All elements must be scalars, or objects that have the key. */
static int check(const struct ki_as_list_merge *merge, const json_t *list)
{
    assert(merge->key != NULL);
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

/* The elements of `list` that are among `others` or, unless `is_wanted`, those that are not.
 * A new array; NULL if out of memory. */
static json_t *choose(const json_t *list, const struct ki_as_keyed_list *others, bool is_wanted)
{
    json_t *chosen = json_array();
    size_t i = 0;
    json_t *element = NULL;
    json_array_foreach(list, i, element)
    {
        bool is_among = ki_as_keyed_list_find(others, element) >= 0;
        if (chosen != NULL && is_among == is_wanted && json_array_append(chosen, element) < 0) {
            json_decref(chosen);
            chosen = NULL;
        }
    }
    return chosen;
}

int ki_as_strategic_delete(json_t *list, const json_t *gone, const char *key)
{
    assert(json_is_array(list) && key != NULL);
    struct ki_as_keyed_list others;
    struct ki_as_identity identity = ki_as_identity_of(key);
    if (json_array_size(gone) == 0)
        return 0;
    if (ki_as_keyed_list_init(&others, &identity, gone, 0) < 0)
        return KI_ERR_NO_MEMORY;
    json_t *left = choose(list, &others, false);
    ki_as_keyed_list_fini(&others);
    int rc = left == NULL || json_array_clear(list) < 0 ? -1 : json_array_extend(list, left);
    json_decref(left);
    return rc < 0 ? KI_ERR_NO_MEMORY : 0;
}

/* Adds the elements named by {"$patch": "delete", key: …} to `gone`. {"$patch": "replace"} sets
 * *out_is_replaced. */
static int read_markers(const struct ki_as_list_merge *merge, json_t *gone, bool *out_is_replaced)
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
        else if (json_array_append(gone, element) < 0)
            return ki_as_fail_no_memory(merge->failure);
    }
    return 0;
}

static int apply_markers(const struct ki_as_list_merge *merge, json_t *list)
{
    bool is_replaced = false;
    json_t *gone = json_array();
    int rc = gone == NULL ? ki_as_fail_no_memory(merge->failure) : read_markers(merge, gone, &is_replaced);
    if (rc == 0 && is_replaced)
        (void)json_array_clear(list);
    else if (rc == 0 && ki_as_strategic_delete(list, gone, merge->key) < 0)
        rc = ki_as_fail_no_memory(merge->failure);
    json_decref(gone);
    return rc;
}

/* `there` indexes the elements of `list`. */
static int merge_element(const struct ki_as_list_merge *merge, json_t *list, struct ki_as_keyed_list *there,
                         const json_t *element)
{
    assert(there->count == json_array_size(list));
    long at = ki_as_keyed_list_find(there, element);
    json_t *merged = NULL;
    int rc = 0;
    if (at >= 0 && merge->key[0] == 0)
        return 0;
    if (at < 0) {
        rc = ki_as_strategic_strip(element, &merged, merge->failure);
        assert(rc < 0 || merged != NULL); /* merge_elements() skips directives */
        if (rc == 0 && (json_array_append_new(list, merged) < 0 || ki_as_keyed_list_add(there, merged) < 0))
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

/* ---- order --------------------------------------------------------------------------------------------- */

struct ranked {
    json_t *element;
    long rank;
    size_t at;
};

static int compare_ranks(const void *left, const void *right)
{
    const struct ranked *a = left;
    const struct ranked *b = right;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

/* The elements of `list` that are in the order, in that order. A new array; NULL if out of memory. */
static json_t *choose_in_order(const json_t *list, const struct ki_as_keyed_list *order)
{
    json_t *chosen = choose(list, order, true);
    size_t count = json_array_size(chosen);
    if (count < 2)
        return chosen;
    json_t *sorted = json_array();
    struct ranked *ranked = ki_calloc(count, sizeof(*ranked));
    int rc = sorted == NULL || ranked == NULL ? -1 : 0;
    for (size_t i = 0; rc == 0 && i < count; i++) {
        json_t *element = json_array_get(chosen, i);
        ranked[i] = (struct ranked){element, ki_as_keyed_list_find(order, element), i};
    }
    if (rc == 0)
        qsort(ranked, count, sizeof(*ranked), compare_ranks);
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = json_array_append(sorted, ranked[i].element);
    ki_free(ranked);
    json_decref(chosen);
    if (rc < 0) {
        json_decref(sorted);
        return NULL;
    }
    return sorted;
}

/* Merges two ordered lists: an element of the server precedes one of the patch only if it preceded it in
 * `original`. */
static json_t *interleave(const struct ki_as_keyed_list *original, const json_t *server, const json_t *patch)
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
            long left_at = ki_as_keyed_list_find(original, left);
            long right_at = ki_as_keyed_list_find(original, right);
            is_left = left_at >= 0 && right_at >= 0 && left_at < right_at;
        }
        assert(is_left ? left != NULL : right != NULL);
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
    assert(json_is_array(merged));
    struct ki_as_identity identity = ki_as_identity_of(merge->key);
    struct ki_as_keyed_list order = {0};
    struct ki_as_keyed_list original = {0};
    json_t *all = NULL;
    int rc = ki_as_keyed_list_init(&order, &identity, merge->order != NULL ? merge->order : merge->patch, 0);
    if (rc == 0)
        rc = ki_as_keyed_list_init(&original, &identity, merge->original, 0);
    if (rc == 0) {
        json_t *of_patch = choose_in_order(merged, &order);
        json_t *of_server = choose(merged, &order, false);
        all = of_patch == NULL || of_server == NULL ? NULL : interleave(&original, of_server, of_patch);
        json_decref(of_patch);
        json_decref(of_server);
    }
    ki_as_keyed_list_fini(&order);
    ki_as_keyed_list_fini(&original);
    if (all == NULL)
        return ki_as_fail_no_memory(merge->failure);
    *out = all;
    return 0;
}

/* Every element of the patch must be in the order, and in the same sequence. */
static int check_order(const struct ki_as_list_merge *merge)
{
    struct ki_as_identity identity = ki_as_identity_of(merge->key);
    struct ki_as_keyed_list order;
    long last = -1;
    size_t i = 0;
    json_t *element = NULL;
    int rc = 0;
    if (merge->order == NULL || json_array_size(merge->order) == 0)
        return 0;
    if (ki_as_keyed_list_init(&order, &identity, merge->order, 0) < 0)
        return ki_as_fail_no_memory(merge->failure);
    json_array_foreach(merge->patch, i, element)
    {
        if (rc < 0 || (json_is_object(element) && json_object_get(element, "$patch") != NULL))
            continue;
        long at = ki_as_keyed_list_find(&order, element);
        if (at <= last)
            rc = ki_as_patch_refuse(merge->failure,
                                    "The order in patch list doesn't match $setElementOrder list");
        last = at;
    }
    ki_as_keyed_list_fini(&order);
    return rc;
}

static int merge_elements(const struct ki_as_list_merge *merge, json_t *list)
{
    struct ki_as_identity identity = ki_as_identity_of(merge->key);
    struct ki_as_keyed_list there;
    size_t i = 0;
    json_t *element = NULL;
    int rc = apply_markers(merge, list);
    if (rc < 0)
        return rc;
    if (ki_as_keyed_list_init(&there, &identity, list, json_array_size(merge->patch)) < 0)
        return ki_as_fail_no_memory(merge->failure);
    json_array_foreach(merge->patch, i, element)
    {
        if (rc == 0 && (!json_is_object(element) || json_object_get(element, "$patch") == NULL))
            rc = merge_element(merge, list, &there, element);
    }
    ki_as_keyed_list_fini(&there);
    return rc;
}

int ki_as_strategic_merge_list(const struct ki_as_list_merge *merge, json_t **out)
{
    assert(merge->original == NULL || json_is_array(merge->original));
    assert(merge->patch == NULL || json_is_array(merge->patch));
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
