/* SPDX-License-Identifier: Apache-2.0 */
/* storage - all objects of the server, the order of changes, and a window of history: the counterpart of etcd
 * and the watch cache.
 *
 *   From:     apiserver/verbs/ (changes), apiserver/serve/ (lists and watches)
 *   To:       apiserver/storage/watch.h, woken by each change
 *   Locks:    one mutex for everything; held for one change, one page or one batch of events
 *   Not here: which changes are valid (verbs), the text of responses
 *
 * One counter numbers all changes. It starts at the clock's microseconds, so that versions do not go back
 * after a restart. The objects of one (group, plural) are a collection, sorted by key ("ns/name") as in etcd.
 * The history keeps each change with the object before and after it. It serves watches and snapshots of older
 * versions: a collection at version v is the current collection with every change after v undone.
 */
#ifndef KI_APISERVER_STORAGE_STORAGE_H
#define KI_APISERVER_STORAGE_STORAGE_H

#include <stdbool.h>

#include "apiserver/kind/failure.h"
#include "apiserver/kind/resource.h"
#include "apiserver/object/object.h"
#include "apiserver/object/selector.h"
struct ki_as_storage;
struct ki_as_collection; /* owned by the storage, and valid until that is freed */

struct ki_as_storage_options {
    size_t history_events_max; /* per collection; 0 means 10,000 */
    size_t history_bytes_max;  /* of the objects in the history, per collection; 0 means 256 MiB */
    size_t objects_max;        /* 0 means 1,000,000; beyond it, writes fail with 500 and a clear message */
    size_t object_bytes_max;   /* of the text of one object; 0 means 3 MiB */
    uint64_t first_version;    /* 0 means the clock's microseconds */
    uint64_t seed;             /* of uids and generated names; 0 means a random seed */
};

/* `options` may be NULL, for the defaults. The storage serves the built-in resources and starts without
 * objects. NULL if out of memory. */
struct ki_as_storage *ki_as_storage_new(const struct ki_as_storage_options *options);
/* Close every watch first. NULL is allowed. */
void ki_as_storage_free(struct ki_as_storage *storage);

/* Lock and unlock the storage. All functions below require the lock, except ki_as_page_fini(). */
void ki_as_storage_lock(struct ki_as_storage *storage);
void ki_as_storage_unlock(struct ki_as_storage *storage);

struct ki_as_resources *ki_as_storage_resources(struct ki_as_storage *storage);
uint64_t ki_as_storage_version(const struct ki_as_storage *storage);

/* The collection of a resource's objects, shared by all versions of the API; created if it does not exist.
 * NULL if out of memory. */
struct ki_as_collection *ki_as_storage_collection(struct ki_as_storage *storage,
                                                  const struct ki_as_resource *resource);

/* Finds a collection by its names, whether it is served or not; NULL if it does not exist. */
struct ki_as_collection *ki_as_storage_find_collection(struct ki_as_storage *storage, ki_str group,
                                                       ki_str plural);

/* Borrowed, or NULL. */
struct ki_as_object *ki_as_collection_find(const struct ki_as_collection *collection, ki_str ns, ki_str name);
size_t ki_as_collection_count(const struct ki_as_collection *collection);

/* Calls `visit` with each collection, in no particular order, until it returns false. */
typedef bool (*ki_as_collection_cb)(struct ki_as_collection *collection, void *user);
void ki_as_storage_visit(struct ki_as_storage *storage, ki_as_collection_cb visit, void *user);
bool ki_as_collection_is_namespaced(const struct ki_as_collection *collection);
ki_str ki_as_collection_group(const struct ki_as_collection *collection);
ki_str ki_as_collection_plural(const struct ki_as_collection *collection);
/* One of the resources whose objects the collection holds, borrowed; NULL if none of them is served. */
struct ki_as_resource *ki_as_collection_resource(const struct ki_as_collection *collection);
/* The first object of a namespace ("": of all) after the key of `after` (NULL: the first of all), borrowed;
 * NULL at the end. Objects may be changed during such an iteration. */
struct ki_as_object *ki_as_collection_next(const struct ki_as_collection *collection, ki_str ns,
                                           const struct ki_as_object *after);

/* A random number, for uids and generated names. */
uint64_t ki_as_storage_random(struct ki_as_storage *storage);

/* The size limit of an object's text. */
size_t ki_as_storage_object_bytes_max(const struct ki_as_storage *storage);

/* The version of the next change. The changed object must have this version. */
uint64_t ki_as_storage_next_version(const struct ki_as_storage *storage);

/* ki_as_storage_put() stores an object, in place of the one with the same key. Its version must be the next
 * version. ki_as_storage_remove() removes the object with the key of `last`; `last` is the object that the
 * event shows, with the next version. Both record the change, wake the watches of the collection and advance
 * the version. They return 0, KI_ERR_NO_MEMORY or KI_ERR_TOO_LARGE (objects_max);
 * after an error nothing has changed. */
KI_NODISCARD int ki_as_storage_put(struct ki_as_storage *storage, struct ki_as_collection *collection,
                                   struct ki_as_object *object);
KI_NODISCARD int ki_as_storage_remove(struct ki_as_storage *storage, struct ki_as_collection *collection,
                                      struct ki_as_object *last);

/* Buffers for the texts of a change, which the next change reuses. A buffer is empty when it is returned; its
 * memory is kept if it is small. */
enum ki_as_scratch { KI_AS_SCRATCH_TEXT, KI_AS_SCRATCH_MANAGED, KI_AS_SCRATCH_COUNT };
ki_buf *ki_as_storage_scratch(struct ki_as_storage *storage, enum ki_as_scratch which);

/* ---- pages --------------------------------------------------------------------------------------------- */

struct ki_as_page_request {
    ki_str ns;        /* "" for all */
    ki_str after;     /* "ns/name": the page starts after this key; "" for the start */
    uint64_t version; /* of the snapshot; 0 for the current one */
    size_t limit;     /* 0 for all */
    const struct ki_as_selector *selector;
};

struct ki_as_page {
    struct ki_as_object **objects; /* a reference to each */
    size_t count;
    uint64_t version; /* of the snapshot */
    bool is_more;     /* there are more objects after the last one */
    size_t remaining; /* how many; known only without a selector */
};

/* Fails with 410 if the snapshot's history is gone. The caller must reject a version in the future (504). */
KI_NODISCARD int ki_as_storage_page(struct ki_as_storage *storage, struct ki_as_collection *collection,
                                    const struct ki_as_page_request *request, struct ki_as_page *out_page,
                                    struct ki_as_failure *failure);
void ki_as_page_fini(struct ki_as_page *page);

/* Whether all changes after `version` are still available. True for a version in the future. */
bool ki_as_collection_has_history(const struct ki_as_collection *collection, uint64_t version);

/* ---- ending watches, and faults for tests -------------------------------------------------------------- */

/* Ends the watches of a collection, because its resource is no longer served.
 * They can still take the changes so far. */
void ki_as_collection_end_watches(struct ki_as_collection *collection);
/* Like ki_as_collection_end_watches(), and drops the history when no watch needs it.
 * A new change revives the collection. */
void ki_as_collection_end(struct ki_as_collection *collection);
/* Ends only the watches whose version of the resource is no longer served. */
void ki_as_collection_end_unserved(struct ki_as_collection *collection);
/* Drops all history: older watches and pages end with 410. */
void ki_as_storage_compact(struct ki_as_storage *storage);
/* Moves the counter back by `by`, as after restoring a backup. Objects keep their content, with versions
 * limited to the new counter. History is dropped, and all watches end. */
KI_NODISCARD int ki_as_storage_rewind(struct ki_as_storage *storage, uint64_t by);

#endif
