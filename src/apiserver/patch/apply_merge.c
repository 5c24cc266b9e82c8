/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <kinformer/error.h>
#include <string.h>

#include "apiserver/patch/apply_parts.h"
#include "apiserver/patch/field_place.h"
#include "apiserver/value/tree.h"
#include "util/alloc.h"

/* ---- merging ------------------------------------------------------------------------------------------- */

/* Merges one element of `config`. `there` indexes the elements of `list`. */
static int merge_element(json_t *list, struct ki_as_keyed_list *there, const json_t *wanted)
{
    assert(there->count == json_array_size(list));
    long at = ki_as_keyed_list_find(there, wanted);
    json_t *own = at < 0 ? NULL : json_array_get(list, (size_t)at);
    if (at >= 0 && there->identity.keys.count == 0)
        return 0;
    if (json_is_object(own))
        return ki_as_apply_merge(own, wanted, there->identity.element);
    json_t *copy = ki_as_json_copy(wanted);
    if (json_array_append_new(list, copy) < 0)
        return KI_ERR_NO_MEMORY;
    return ki_as_keyed_list_add(there, copy);
}

static int merge_elements(json_t *list, const json_t *config, const struct ki_as_identity *identity)
{
    assert(json_is_array(list));
    struct ki_as_keyed_list *there = ki_malloc(sizeof(*there));
    size_t count = json_array_size(config);
    int rc = there == NULL ? KI_ERR_NO_MEMORY : ki_as_keyed_list_init(there, identity, list, count);
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = merge_element(list, there, json_array_get(config, i));
    if (there != NULL)
        ki_as_keyed_list_fini(there);
    ki_free(there);
    return rc < 0 ? KI_ERR_NO_MEMORY : 0;
}

/* Whether the two values are merged rather than replaced. */
static bool is_merged(const json_t *there, const json_t *wanted, struct ki_as_shape shape)
{
    struct ki_as_keys keys;
    if (json_is_object(there) && json_is_object(wanted))
        return !ki_as_shape_is_atomic(shape);
    return json_is_array(there) && json_is_array(wanted) &&
           ki_as_shape_list(shape, &keys) != KI_AS_LIST_ATOMIC;
}

static int merge_members(json_t *target, const json_t *config, struct ki_as_shape shape)
{
    const char *name = NULL;
    json_t *wanted = NULL;
    json_object_foreach((json_t *)config, name, wanted)
    {
        struct ki_as_shape member = ki_as_shape_member(shape, ki_str_of(name));
        json_t *there = json_object_get(target, name);
        int rc = 0;
        if (is_merged(there, wanted, member))
            rc = ki_as_apply_merge(there, wanted, member);
        else if (json_object_set_new(target, name, ki_as_json_copy(wanted)) < 0)
            rc = KI_ERR_NO_MEMORY;
        if (rc < 0)
            return rc;
    }
    return 0;
}

int ki_as_apply_merge(json_t *target, const json_t *config, struct ki_as_shape shape)
{
    assert(target != config);
    assert(json_is_object(target) || json_is_array(target));
    struct ki_as_identity identity = {.element = ki_as_shape_element(shape)};
    if (json_is_object(target))
        return merge_members(target, config, shape);
    if (ki_as_shape_list(shape, &identity.keys) != KI_AS_LIST_KEYED)
        identity.keys.count = 0;
    return merge_elements(target, config, &identity);
}

/* ---- removing ------------------------------------------------------------------------------------------ */

static bool is_empty(const json_t *value)
{
    return (json_is_object(value) && json_object_size(value) == 0) ||
           (json_is_array(value) && json_array_size(value) == 0);
}

/* The removals at one level. List elements are removed only after all entries were processed,
 * so that their indexes stay valid. */
struct removal {
    struct ki_as_places places;
    json_t *tree;
    bool *gone; /* a flag per element; NULL for an object */
};

static void remove_entry(const struct removal *removal, const char *entry, const struct ki_as_place *place)
{
    assert(entry[0] == 'f' || removal->gone != NULL);
    assert(entry[0] == 'f' || place->at < json_array_size(removal->tree));
    if (entry[0] == 'f')
        (void)json_object_del(removal->tree, entry + 2);
    else
        removal->gone[place->at] = true;
}

/* A value is removed as a whole if it was owned as a whole (a leaf, or with ".") and no part of it is kept. A
 * value that is atomic in this version of the kind may have been owned in parts through another version; if a
 * part is kept, the whole value stays. */
static int remove_from(struct removal *removal, const char *entry, const json_t *inner, const json_t *kept)
{
    assert(strlen(entry) >= 2);
    struct ki_as_place place;
    bool is_whole = json_object_size(inner) == 0 || json_object_get(inner, ".") != NULL;
    int rc = ki_as_places_find(&removal->places, entry, &place);
    if (rc < 0 || place.value == NULL)
        return rc;
    if (kept == NULL && is_whole) {
        remove_entry(removal, entry, &place);
        return 0;
    }
    if (json_object_size(inner) == 0 || (kept != NULL && ki_as_shape_is_atomic(place.shape)))
        return 0;
    bool was_empty = is_empty(place.value);
    rc = ki_as_apply_remove(place.value, inner, kept, place.shape);
    if (rc == 0 && is_empty(place.value) && !was_empty && kept == NULL)
        remove_entry(removal, entry, &place);
    return rc;
}

/* Keeps the elements that are not removed. */
static int sweep(const struct removal *removal)
{
    assert(json_is_array(removal->tree) && removal->gone != NULL);
    json_t *left = json_array();
    int rc = left == NULL ? -1 : 0;
    for (size_t i = 0; rc == 0 && i < json_array_size(removal->tree); i++) {
        if (!removal->gone[i])
            rc = json_array_append(left, json_array_get(removal->tree, i));
    }
    if (rc == 0 && json_array_size(left) < json_array_size(removal->tree)) {
        (void)json_array_clear(removal->tree);
        rc = json_array_extend(removal->tree, left);
    }
    json_decref(left);
    return rc < 0 ? KI_ERR_NO_MEMORY : 0;
}

int ki_as_apply_remove(json_t *tree, const json_t *had, const json_t *keep, struct ki_as_shape shape)
{
    struct removal removal = {.places = {.tree = tree, .shape = shape}, .tree = tree};
    const char *entry = NULL;
    json_t *inner = NULL;
    int rc = 0;
    if (json_array_size(tree) > 0) {
        removal.gone = ki_calloc(json_array_size(tree), sizeof(bool));
        rc = removal.gone == NULL ? KI_ERR_NO_MEMORY : 0;
    }
    json_object_foreach((json_t *)had, entry, inner)
    {
        if (rc == 0 && strcmp(entry, ".") != 0 && strlen(entry) >= 2)
            rc = remove_from(&removal, entry, inner, json_object_get(keep, entry));
    }
    if (rc == 0 && removal.gone != NULL)
        rc = sweep(&removal);
    ki_as_places_fini(&removal.places);
    ki_free(removal.gone);
    return rc;
}
