/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/kind/keyed_list.h"

#include <assert.h>
#include <kinformer/error.h>
#include <string.h>

#include "apiserver/value/tree.h"
#include "util/alloc.h"

struct ki_as_identity ki_as_identity_of(const char *key)
{
    struct ki_as_identity identity = {0};
    if (key[0] != '\0') {
        identity.keys.names[0] = ki_str_of(key);
        identity.keys.count = 1;
    }
    return identity;
}

/* ---- hashes -------------------------------------------------------------------------------------------- */

static uint64_t hash_bytes(const ki_hash_key *secret, const void *bytes, size_t len)
{
    return ki_hash(secret, (ki_str){bytes, len});
}

static uint64_t hash_pair(const ki_hash_key *secret, uint64_t first, uint64_t second)
{
    return hash_bytes(secret, (uint64_t[]){first, second}, 2 * sizeof(uint64_t));
}

static uint64_t hash_value(const ki_hash_key *secret, const json_t *value);

/* The order of members does not matter. */
static uint64_t hash_object(const ki_hash_key *secret, json_t *object)
{
    uint64_t sum = JSON_OBJECT;
    for (void *at = json_object_iter(object); at != NULL; at = json_object_iter_next(object, at)) {
        uint64_t name = hash_bytes(secret, json_object_iter_key(at), json_object_iter_key_len(at));
        sum += hash_pair(secret, name, hash_value(secret, json_object_iter_value(at)));
    }
    return sum;
}

static uint64_t hash_array(const ki_hash_key *secret, const json_t *array)
{
    uint64_t hash = JSON_ARRAY;
    for (size_t i = 0; i < json_array_size(array); i++)
        hash = hash_pair(secret, hash, hash_value(secret, json_array_get(array, i)));
    return hash;
}

/* Equal values have equal hashes. */
static uint64_t hash_value(const ki_hash_key *secret, const json_t *value)
{
    if (value == NULL)
        return 0;
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return hash_object(secret, (json_t *)value);
    case JSON_ARRAY:
        return hash_array(secret, value);
    case JSON_STRING:
        return hash_bytes(secret, json_string_value(value), json_string_length(value));
    case JSON_INTEGER: {
        json_int_t number = json_integer_value(value);
        return hash_bytes(secret, &number, sizeof(number));
    }
    case JSON_REAL: {
        double number = json_real_value(value) + 0.0; /* turns -0.0 into 0.0 */
        return hash_bytes(secret, &number, sizeof(number));
    }
    default:
        return (uint64_t)json_typeof(value);
    }
}

static uint64_t hash_element(const struct ki_as_keyed_list *keyed, const json_t *element)
{
    assert(keyed->nodes != keyed->near && keyed->identity.keys.count <= KI_AS_KEYS_MAX);
    const struct ki_as_identity *identity = &keyed->identity;
    uint64_t hash = 0;
    if (identity->keys.count == 0)
        return hash_value(&keyed->secret, element);
    for (size_t i = 0; i < identity->keys.count; i++) {
        ki_str name = identity->keys.names[i];
        const json_t *own = ki_as_json_member(element, name);
        const char *otherwise = own == NULL ? ki_as_shape_key_default(identity->element, name) : NULL;
        uint64_t part = otherwise == NULL ? hash_value(&keyed->secret, own)
                                          : hash_bytes(&keyed->secret, otherwise, strlen(otherwise));
        hash = hash_pair(&keyed->secret, hash, part);
    }
    return hash;
}

/* ---- elements ------------------------------------------------------------------------------------------ */

static bool is_same_key(const json_t *a, const json_t *b, const char *otherwise)
{
    if (a != NULL && b != NULL)
        return ki_as_json_equal(a, b);
    if (a == NULL && b == NULL)
        return true;
    const json_t *given = a != NULL ? a : b;
    return otherwise != NULL && json_is_string(given) &&
           ki_str_equal(ki_as_json_str(given), ki_str_of(otherwise));
}

static bool is_alike(const struct ki_as_identity *identity, const json_t *a, const json_t *b)
{
    if (a == b)
        return true;
    if (identity->keys.count == 0)
        return ki_as_json_equal(a, b);
    for (size_t i = 0; i < identity->keys.count; i++) {
        ki_str name = identity->keys.names[i];
        const json_t *own = ki_as_json_member(a, name);
        const json_t *other = ki_as_json_member(b, name);
        bool is_default = (own == NULL) != (other == NULL);
        if (!is_same_key(own, other, is_default ? ki_as_shape_key_default(identity->element, name) : NULL))
            return false;
    }
    return true;
}

struct query {
    const struct ki_as_identity *identity;
    const json_t *like;
};

static int matches(const ki_map_node *node, const void *key)
{
    const struct query *query = key;
    return is_alike(query->identity, ((const struct ki_as_keyed_node *)node)->element, query->like);
}

static bool is_near(const struct ki_as_keyed_list *keyed)
{
    return keyed->nodes == keyed->near;
}

static const struct ki_as_keyed_node *find(const struct ki_as_keyed_list *keyed, const json_t *like,
                                           uint64_t hash)
{
    assert(keyed->nodes != NULL && keyed->node_count <= keyed->node_count_max);
    struct query query = {&keyed->identity, like};
    if (!is_near(keyed))
        return (const struct ki_as_keyed_node *)ki_map_find(&keyed->map, hash, matches, &query);
    for (size_t i = 0; i < keyed->node_count; i++) {
        if (is_alike(&keyed->identity, keyed->near[i].element, like))
            return &keyed->near[i];
    }
    return NULL;
}

long ki_as_keyed_list_find(const struct ki_as_keyed_list *keyed, const json_t *like)
{
    if (keyed->node_count == 0)
        return -1;
    const struct ki_as_keyed_node *node = find(keyed, like, is_near(keyed) ? 0 : hash_element(keyed, like));
    assert(node == NULL || (node->at >= 0 && (size_t)node->at < keyed->count));
    return node == NULL ? -1 : node->at;
}

int ki_as_keyed_list_add(struct ki_as_keyed_list *keyed, const json_t *element)
{
    assert(keyed->nodes != NULL && keyed->node_count <= keyed->count);
    uint64_t hash = is_near(keyed) ? 0 : hash_element(keyed, element);
    long at = (long)keyed->count;
    if (find(keyed, element, hash) != NULL) {
        keyed->count++;
        return 0;
    }
    if (keyed->node_count == keyed->node_count_max)
        return KI_ERR_NO_MEMORY;
    struct ki_as_keyed_node *node = &keyed->nodes[keyed->node_count];
    *node = (struct ki_as_keyed_node){.element = element, .at = at};
    if (!is_near(keyed) && ki_map_insert(&keyed->map, &node->node, hash) < 0)
        return KI_ERR_NO_MEMORY;
    keyed->node_count++;
    keyed->count++;
    return 0;
}

/* Reserves space for `count` elements. Short lists need neither memory nor hashes. */
static int make_space(struct ki_as_keyed_list *keyed, size_t count)
{
    assert(keyed->node_count == 0 && keyed->count == 0);
    keyed->nodes = keyed->near;
    keyed->node_count_max = KI_AS_KEYED_NEAR_MAX;
    if (count <= KI_AS_KEYED_NEAR_MAX)
        return 0;
    int rc = ki_hash_key_init(&keyed->secret);
    if (rc < 0)
        return rc;
    keyed->nodes = ki_calloc(count, sizeof(*keyed->nodes));
    keyed->node_count_max = count;
    if (keyed->nodes == NULL)
        return KI_ERR_NO_MEMORY;
    ki_map_reserve(&keyed->map, count);
    return keyed->map.bucket_count == 0 ? KI_ERR_NO_MEMORY : 0; /* a map with too few buckets would be slow */
}

int ki_as_keyed_list_init(struct ki_as_keyed_list *keyed, const struct ki_as_identity *identity,
                          const json_t *list, size_t more)
{
    assert(identity != NULL && identity->keys.count <= KI_AS_KEYS_MAX);
    keyed->identity = *identity;
    keyed->node_count = 0;
    keyed->count = 0;
    ki_map_init(&keyed->map);
    int rc = make_space(keyed, json_array_size(list) + more);
    for (size_t i = 0; rc == 0 && i < json_array_size(list); i++)
        rc = ki_as_keyed_list_add(keyed, json_array_get(list, i));
    if (rc < 0)
        ki_as_keyed_list_fini(keyed);
    return rc;
}

void ki_as_keyed_list_fini(struct ki_as_keyed_list *keyed)
{
    if (!is_near(keyed))
        ki_free(keyed->nodes);
    ki_map_fini(&keyed->map);
    keyed->nodes = NULL;
    keyed->node_count = 0;
}
