/* SPDX-License-Identifier: Apache-2.0 */
/* keyed_list - finds an element of a list by its keys or its value.
 *
 *   From:     apiserver/patch/, apiserver/validate/   (duplicates)
 *   To:       util/map.h
 *   Locks:    none. The storage's lock is held meanwhile, so no operation may take quadratic time.
 *   Not here: which keys a list has (apiserver/kind/schema.h)
 */
#ifndef KI_APISERVER_KIND_KEYED_LIST_H
#define KI_APISERVER_KIND_KEYED_LIST_H

#include "apiserver/kind/schema.h"
#include "util/hash.h"
#include "util/map.h"

/* KI_AS_KEYED_NEAR_MAX: up to this number, elements are compared one by one. */
enum { KI_AS_KEYED_NEAR_MAX = 8 };

/* What identifies an element. A missing key has its default value;
 * without a default, it equals only another missing key. */
struct ki_as_identity {
    struct ki_as_keys keys; /* none: the whole value identifies an element */
    struct ki_as_shape element;
};

struct ki_as_keyed_node {
    ki_map_node node;
    const json_t *element;
    long at;
};

struct ki_as_keyed_list {
    struct ki_as_identity identity;
    struct ki_as_keyed_node *nodes; /* one for each element that is the first with its keys */
    size_t node_count;
    size_t node_count_max;
    size_t count; /* of elements */
    ki_map map;   /* empty while all nodes fit in `near` */
    ki_hash_key secret;
    struct ki_as_keyed_node near[KI_AS_KEYED_NEAR_MAX];
};

/* Identifies elements by one key without a default, or by the whole value if `key` is "". */
struct ki_as_identity ki_as_identity_of(const char *key);

/* Indexes all elements of the array `list` (NULL and other types count as empty) and reserves space for
 * `more`. Borrows the elements, which must not move or change their keys. Returns 0 or an error. After an
 * error there is nothing to free, and lookups find nothing. */
KI_NODISCARD int ki_as_keyed_list_init(struct ki_as_keyed_list *keyed, const struct ki_as_identity *identity,
                                       const json_t *list, size_t more);
void ki_as_keyed_list_fini(struct ki_as_keyed_list *keyed); /* a zeroed struct is allowed */

/* Adds an element that was appended to the list. Space for it must be reserved.
 * Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_as_keyed_list_add(struct ki_as_keyed_list *keyed, const json_t *element);

/* The index of the first element with the identity of `like`, which may be any object with the same keys.
 * -1 if there is none. */
long ki_as_keyed_list_find(const struct ki_as_keyed_list *keyed, const json_t *like);

#endif
