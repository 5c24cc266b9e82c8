/* SPDX-License-Identifier: Apache-2.0 */
/* keyed_list - where in a list the element with some keys, or some value, stands.
 *
 *   From:     patches, sets of fields, checks for what is there twice
 *   To:       util/map.h
 *   Locks:    none; whoever owns it. The storage's lock is held meanwhile, so no list may cost its square.
 *   Not here: what the keys of a list are (apiserver/kind/schema.h)
 */
#ifndef KI_APISERVER_KIND_KEYED_LIST_H
#define KI_APISERVER_KIND_KEYED_LIST_H

#include "apiserver/kind/schema.h"
#include "util/hash.h"
#include "util/map.h"

/* KI_AS_KEYED_NEAR_MAX: so few elements are held against each other one by one. */
enum { KI_AS_KEYED_NEAR_MAX = 8 };

/* What tells elements apart. A key that an element has not stands for its default, or for no value. */
struct ki_as_identity {
    struct ki_as_keys keys; /* none: elements are what they are */
    struct ki_as_shape element;
};

struct ki_as_keyed_node {
    ki_map_node node;
    const json_t *element;
    long at;
};

struct ki_as_keyed_list {
    struct ki_as_identity identity;
    struct ki_as_keyed_node *nodes; /* one for each element that is the first of its like */
    size_t node_count;
    size_t node_count_max;
    size_t count; /* of elements */
    ki_map map;   /* empty while all nodes are near */
    ki_hash_key secret;
    struct ki_as_keyed_node near[KI_AS_KEYED_NEAR_MAX];
};

/* That of one key without a default; "": elements are what they are. */
struct ki_as_identity ki_as_identity_of(const char *key);

/* Knows all elements of the array `list` (NULL and others: none), and has room for `more`. Borrows the
 * elements: they stay, and keep their keys. Returns 0, or an error: there is nothing to free then, and
 * nothing is found. */
KI_NODISCARD int ki_as_keyed_list_init(struct ki_as_keyed_list *keyed, const struct ki_as_identity *identity,
                                       const json_t *list, size_t more);
void ki_as_keyed_list_fini(struct ki_as_keyed_list *keyed); /* takes a zeroed struct as well */

/* The element at the end of the list, for which room was made. 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_as_keyed_list_add(struct ki_as_keyed_list *keyed, const json_t *element);

/* Where the first element like this one stands: any object with the same keys will do. -1: nowhere. */
long ki_as_keyed_list_find(const struct ki_as_keyed_list *keyed, const json_t *like);

/* How often two elements were held against each other in this thread: for tests, which count it. */
size_t ki_as_keyed_list_comparisons(void);

#endif
