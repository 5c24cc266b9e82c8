/* SPDX-License-Identifier: Apache-2.0 */
/* store_objects - objects for tests of the store, and an index over them. */
#ifndef KI_TESTS_SUPPORT_STORE_OBJECTS_H
#define KI_TESTS_SUPPORT_STORE_OBJECTS_H

#include <kinformer/store.h>

/* An object with the annotation `tags`: words between commas. `ns` may be "". Ends the program when memory
 * is out. */
ki_object *store_object(const char *ns, const char *name, uint64_t version, const char *tags);

/* An index function: one value for each word of the tags, also for an empty one between two commas; none
 * without tags; KI_ERR_TYPE when they begin with "!". */
int store_tags_index(const ki_object *object, ki_index_emit *emit, void *user);

/* An index function: the name. */
int store_name_index(const ki_object *object, ki_index_emit *emit, void *user);

/* 1 when store_tags_index() gives the value for the object. */
int store_object_has_tag(const ki_object *object, ki_str tag);

/* 1 when others have references to it beside the caller. */
int store_object_is_shared(ki_object *object);

/* Puts the object and drops the caller's reference; fails the test when the store refuses. */
void store_put(ki_store *store, ki_object *object);

/* Fails the test with what is wrong. */
void store_assert_sound(const ki_store *store);

/* A new one with its defaults. */
ki_store *store_begin(void);

/* Sound, then freed. */
void store_end(ki_store *store);

/* The version of an object; the one under a key, 0 when there is none. */
uint64_t store_object_version(const ki_object *object);
uint64_t store_version_at(const ki_store *store, const char *ns, const char *name);

size_t store_count_by_index(const ki_store *store, const char *index, const char *value);

/* Fails the test unless the list is these; then it is empty. */
void store_assert_texts(ki_str_list *list, const char *const *expected, size_t count);

#endif
