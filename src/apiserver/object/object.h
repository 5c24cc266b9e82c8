/* SPDX-License-Identifier: Apache-2.0 */
/* object - one version of one object, encoded once and shared by the store, its history and every watcher.
 *
 *   From:     apiserver/verbs/commit.c (a JSON tree that passed validation), apiserver/storage/; also
 *             apiserver/object/convert.c, apiserver/serve/, apiserver/verbs/
 *   To:       apiserver/object/object_draft.h (the texts); apiserver/storage/storage.h,
 *             apiserver/object/text.h
 *   Locks:    none; immutable, and freed with its last reference
 *   Not here: the meaning of fields
 *
 * The text starts after "kind" and "apiVersion", because items of lists have neither, and other versions of
 * the API have different ones:
 *
 *   {"kind":"Pod","apiVersion":"v1","metadata":{…},"spec":{…}}
 *                                   ^ text … including the last brace
 *
 * version_at is the offset of the digits of metadata.resourceVersion, so that a watch event can show the
 * object with the version of the event.
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

/* Whether `name` is a member of metadata. In object_draft.c, which has the list of members. */
bool ki_as_metadata_is_known(ki_str name);

struct ki_as_object {
    ki_refcount refs;
    uint32_t label_count;
    uint32_t field_count;
    uint32_t version_at;     /* offset of the digits of resourceVersion in text */
    uint32_t version_digits; /* how many */
    uint32_t block_bytes;    /* of all texts, starting with the '{' before `text` */
    bool is_deleting;        /* metadata.deletionTimestamp is set */
    bool has_finalizers;     /* metadata.finalizers is not empty */
    bool has_own_names;      /* the names of the fields are in the block */
    uint64_t version;
    ki_str ns; /* "" for cluster scope */
    ki_str name;
    ki_str uid;
    ki_str text;                     /* preceded by '{' and followed by NUL */
    const struct ki_as_pair *labels; /* sorted by name */
    const struct ki_as_pair *fields; /* selectable, such as "spec.nodeName"; see fields.h */
};

/* Whether Kubernetes omits a metadata value because it is empty. NULL counts as empty. In object_draft.c. */
bool ki_as_is_empty(const json_t *value);

/* What an object is encoded from: `tree`, an object with complete metadata, and parts that are not in the
 * tree. Fields are written in Kubernetes' order; unknown metadata is omitted. Without a resourceVersion, the
 * object has version 0 and no digits. The values of `fields` are copied.
 * The names must be static, unless has_own_names is set. */
struct ki_as_object_parts {
    const json_t *tree;
    const struct ki_as_pair *fields;
    size_t field_count;
    bool has_own_names; /* the names of `fields` are copied, too */
    ki_str managed;     /* text of a list that replaces managedFields; "" keeps those of the tree */
    uint64_t version;   /* replaces resourceVersion; 0 keeps the one of the tree */
    ki_buf *scratch;    /* empty, and overwritten; NULL allocates a buffer */
};
struct ki_as_object *ki_as_object_make(const struct ki_as_object_parts *parts);
struct ki_as_object *ki_as_object_ref(struct ki_as_object *object);
void ki_as_object_unref(struct ki_as_object *object);

/* A copy of an object that has a version, with another version. NULL if out of memory. */
struct ki_as_object *ki_as_object_with_version(const struct ki_as_object *object, uint64_t version);

/* Decodes the object into a tree that starts with kind and apiVersion. NULL if out of memory. */
json_t *ki_as_object_tree(const struct ki_as_object *object, const char *kind, const char *api_version);
#endif
