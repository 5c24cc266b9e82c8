/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/patch/field_place.h"

#include <assert.h>
#include <kinformer/error.h>

#include "apiserver/value/decode.h"
#include "apiserver/value/tree.h"
#include "util/alloc.h"

static int know_elements(struct ki_as_places *places)
{
    assert(places->elements == NULL && json_is_array(places->tree));
    struct ki_as_identity identity = {.element = ki_as_shape_element(places->shape)};
    if (ki_as_shape_list(places->shape, &identity.keys) != KI_AS_LIST_KEYED)
        identity.keys.count = 0;
    struct ki_as_keyed_list *elements = ki_malloc(sizeof(*elements));
    if (elements == NULL || ki_as_keyed_list_init(elements, &identity, places->tree, 0) < 0) {
        ki_free(elements);
        return KI_ERR_NO_MEMORY;
    }
    places->elements = elements;
    return 0;
}

static int find_element(struct ki_as_places *places, const char *entry, struct ki_as_place *out)
{
    int rc = places->elements == NULL ? know_elements(places) : 0;
    bool is_keyed = rc == 0 && places->elements->identity.keys.count > 0;
    if (rc < 0 || is_keyed != (entry[0] == 'k'))
        return rc;
    json_t *like =
        is_keyed ? ki_as_decode(ki_str_of(entry + 2), NULL) : json_loads(entry + 2, JSON_DECODE_ANY, NULL);
    long at = like == NULL ? -1 : ki_as_keyed_list_find(places->elements, like);
    json_decref(like);
    if (at < 0)
        return 0;
    assert((size_t)at < json_array_size(places->tree));
    out->at = (size_t)at;
    out->value = json_array_get(places->tree, out->at);
    out->shape = is_keyed ? places->elements->identity.element : (struct ki_as_shape){0};
    return 0;
}

int ki_as_places_find(struct ki_as_places *places, const char *entry, struct ki_as_place *out)
{
    assert(entry[0] != '\0' && entry[1] != '\0' && out != NULL);
    struct ki_as_place place = {0};
    int rc = 0;
    if (entry[0] == 'f' && json_is_object(places->tree)) {
        place.value = json_object_get(places->tree, entry + 2);
        if (json_is_object(place.value) || json_is_array(place.value))
            place.shape = ki_as_shape_member(places->shape, ki_str_of(entry + 2));
    } else if (entry[0] != 'f' && json_is_array(places->tree)) {
        rc = find_element(places, entry, &place);
    }
    if (rc == 0)
        *out = place;
    return rc;
}

void ki_as_places_fini(struct ki_as_places *places)
{
    if (places->elements != NULL)
        ki_as_keyed_list_fini(places->elements);
    ki_free(places->elements);
    places->elements = NULL;
}
