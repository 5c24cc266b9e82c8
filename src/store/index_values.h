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

/* Limits the text of all values of one object in one index. More text is a failure of the index function. */
#define KI_INDEX_VALUES_BYTES_MAX ((size_t)16 << 20)

/* Limits the number of these values in the same way, since empty values have no text. */
#define KI_INDEX_VALUES_MAX ((size_t)1 << 20)

struct ki_posting;

typedef struct ki_index_value {
    ki_str text;
    uint64_t hash;
    struct ki_posting *posting; /* used by store/index.c only, like `step` */
    int step;
} ki_index_value;

/* Reused for one object after another. It keeps its memory, unless that has become large. */
typedef struct ki_index_values {
    ki_buf text;
    ki_index_value *items; /* sorted by hash, then by text */
    size_t count;
    size_t capacity;
} ki_index_values;

/* One of three: the user's function, a built-in function that returns a text in the object as the only value,
 * or a path. */
typedef struct ki_index_function {
    ki_index_cb callback;
    void *user;
    ki_str (*field)(const ki_object *object); /* if not NULL, replaces callback and user */
    ki_object_path *path;                     /* the same; an index holds a reference */
} ki_index_function;

void ki_index_values_init(ki_index_values *values);
void ki_index_values_fini(ki_index_values *values);

/* Removes all values. */
void ki_index_values_reset(ki_index_values *values);

/* Calls the function for an object and collects the values. Returns 0, or KI_ERR_NO_MEMORY or the function's
 * error code with `values` empty. The text of a field is not copied, since the object outlives the values. */
KI_NODISCARD int ki_index_values_collect(ki_index_values *values, const ki_index_function *function,
                                         const ki_object *object, const ki_keyer *keyer);

/* The order of the items. */
int ki_index_value_compare(const ki_index_value *a, const ki_index_value *b);

#endif
