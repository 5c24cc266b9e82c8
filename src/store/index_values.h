/* SPDX-License-Identifier: Apache-2.0 */
/* index_values - the values that an index function emits for one object: copied, hashed, sorted, each once.
 *
 *   From:     store/index.c
 *   To:       the user's ki_index_cb
 *   Locks:    none of its own; the function runs under the store's, inside a read section, so that calls that
 *             would wait for the store are refused.
 *   Not here: what is found under a value.
 */
#ifndef KI_STORE_INDEX_VALUES_H
#define KI_STORE_INDEX_VALUES_H

#include <kinformer/store.h>
#include <stdbool.h>

#include "api/object/keyer.h"
#include "api/object/object_path.h"
#include "util/buf.h"

/* Text of all values of one object in one index; more is a failure of the index function. */
#define KI_INDEX_VALUES_BYTES_MAX ((size_t)16 << 20)

/* Likewise, the number of values, which also limits empty ones. */
#define KI_INDEX_VALUES_MAX ((size_t)1 << 20)

struct ki_posting;

typedef struct ki_index_value {
    ki_str text;
    uint64_t hash;
    struct ki_posting *posting; /* the two of store/index.c */
    int step;
} ki_index_value;

/* Reused; keeps its memory unless it has become large. Call _init with a zeroed one. */
typedef struct ki_index_values {
    ki_buf text;
    ki_index_value *items; /* by hash, then by text */
    size_t count;
    size_t capacity;
} ki_index_values;

/* The user's function; or a built-in one whose only value is a text in the object; or a path. */
typedef struct ki_index_function {
    ki_index_cb callback;
    void *user;
    ki_str (*field)(const ki_object *object); /* not NULL: instead of the two above */
    ki_object_path *path;                     /* likewise; an index has a reference */
} ki_index_function;

void ki_index_values_init(ki_index_values *values);
void ki_index_values_fini(ki_index_values *values);

/* Empties it. */
void ki_index_values_reset(ki_index_values *values);

/* Calls the function for the values of the object. Returns 0, KI_ERR_NO_MEMORY, or the function's code;
 * `values` is empty then. A field is not copied: the object outlives the values. */
KI_NODISCARD int ki_index_values_collect(ki_index_values *values, const ki_index_function *function,
                                         const ki_object *object, const ki_keyer *keyer);

/* The order of the items. */
int ki_index_value_compare(const ki_index_value *a, const ki_index_value *b);

#endif
