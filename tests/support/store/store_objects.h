/* SPDX-License-Identifier: Apache-2.0 */
/* store_objects - objects for tests of the store, and an index over them. */
#ifndef KI_TESTS_SUPPORT_STORE_STORE_OBJECTS_H
#define KI_TESTS_SUPPORT_STORE_STORE_OBJECTS_H

#include <kinformer/store.h>

/* An object with the annotation `tags`: words separated by commas. `ns` may be "".
 * Ends the program if out of memory. */
ki_object *store_object(const char *ns, const char *name, uint64_t version, const char *tags);

/* An index function: one value for each word of the tags, also for an empty word between two commas; none
 * without tags; KI_ERR_TYPE if they begin with "!". */
int store_tags_index(const ki_object *object, ki_index_emit *emit, void *user);

/* An index function: the name. */
int store_name_index(const ki_object *object, ki_index_emit *emit, void *user);

/* Returns 1 if store_tags_index() gives this value for the object. */
int store_object_has_tag(const ki_object *object, ki_str tag);

/* Returns 1 if there are references other than the caller's. */
int store_object_is_shared(ki_object *object);

/* Puts the object and drops the caller's reference; fails the test if the store refuses it. */
void store_put(ki_store *store, ki_object *object);

/* Fails the test with a message if the store is inconsistent. */
void store_assert_sound(const ki_store *store);

/* A new store with default options. */
ki_store *store_begin(void);

/* Checks the store, then frees it. */
void store_end(ki_store *store);

/* The version of an object; of the object with a key, 0 if there is none. */
uint64_t store_object_version(const ki_object *object);
uint64_t store_version_at(const ki_store *store, const char *ns, const char *name);

size_t store_count_by_index(const ki_store *store, const char *index, const char *value);

/* Fails the test unless the list has these texts; then empties it. */
void store_assert_texts(ki_str_list *list, const char *const *expected, size_t count);

#endif
