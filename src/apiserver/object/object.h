/* SPDX-License-Identifier: Apache-2.0 */
/* object - one version of one object, encoded once and shared by the store, its history and every watcher.
 *
 *   From:     verbs (a JSON tree that passed validation)
 *   To:       storage, lists, watches
 *   Locks:    none: never changed once made, freed by its last owner
 *   Not here: what the fields mean
 *
 * The text stands without its outer braces' first fields: it begins behind "kind" and "apiVersion", because
 * items of lists have neither, and other versions of the API have others:
 *
 *   {"kind":"Pod","apiVersion":"v1","metadata":{…},"spec":{…}}
 *                                   ^ text … including the last brace
 *
 * The digits of metadata.resourceVersion are found by version_at, so that an event can show the object with
 * the version of the event.
 */
#ifndef KI_APISERVER_OBJECT_OBJECT_H
#define KI_APISERVER_OBJECT_OBJECT_H

#include <jansson.h>
#include <kinformer/common.h>
#include <stdbool.h>

#include "util/buf.h"
#include "util/refcount.h"

struct ki_as_pair {
    ki_str name;
    ki_str value;
};

/* Whether metadata may hold such a member. */
bool ki_as_metadata_is_known(ki_str name);

struct ki_as_object {
    ki_refcount refs;
    uint32_t label_count;
    uint32_t field_count;
    uint32_t version_at;     /* offset of the digits of resourceVersion in text */
    uint32_t version_digits; /* how many */
    uint32_t block_bytes;    /* of all texts, the '{' of this one first */
    bool is_deleting;        /* metadata.deletionTimestamp is set */
    bool has_finalizers;     /* metadata.finalizers is not empty */
    bool has_own_names;      /* those of the fields stand in the block */
    uint64_t version;
    ki_str ns; /* "" for cluster scope */
    ki_str name;
    ki_str uid;
    ki_str text;                     /* a '{' stands before it and a NUL behind */
    const struct ki_as_pair *labels; /* ordered by name */
    const struct ki_as_pair
        *fields; /* what field selectors of its resource may ask, "spec.nodeName"; see fields.h */
};

/* Whether Kubernetes leaves a value of metadata out because nothing is in it; NULL is such. */
bool ki_as_is_empty(const json_t *value);

/* Encodes `tree`, an object whose metadata is complete, with its fields in Kubernetes' order and without
 * those that it does not know; one without a resourceVersion has version 0 and no digits. Of
 * `fields` the values are copied, the names are static. NULL without memory. */
struct ki_as_object *ki_as_object_new(const json_t *tree, const struct ki_as_pair *fields,
                                      size_t field_count);
/* The same with more of what is not in the tree. */
struct ki_as_object_parts {
    const json_t *tree;
    const struct ki_as_pair *fields;
    size_t field_count;
    bool has_own_names; /* the names of the fields are copied, too */
    ki_str managed;     /* text of a list that takes the place of managedFields; "": those of the tree */
    uint64_t version;   /* in place of resourceVersion; 0: that of the tree */
    ki_buf *scratch;    /* empty, and written over; NULL: memory of its own */
};
struct ki_as_object *ki_as_object_make(const struct ki_as_object_parts *parts);
struct ki_as_object *ki_as_object_ref(struct ki_as_object *object);
void ki_as_object_unref(struct ki_as_object *object);

/* The same object, which has a version, with another one. NULL without memory. */
struct ki_as_object *ki_as_object_with_version(const struct ki_as_object *object, uint64_t version);

/* The tree again, with kind and apiVersion first; NULL without memory. */
json_t *ki_as_object_tree(const struct ki_as_object *object, const char *kind, const char *api_version);
#endif
