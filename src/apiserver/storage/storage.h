/* SPDX-License-Identifier: Apache-2.0 */
/* storage - all objects of the server, their order of changes, and a window of history: what etcd and the
 * watch cache are to a real server.
 *
 *   From:     verbs (changes), lists and watches (reads)
 *   To:       apiserver/storage/watch.h, which is woken by each change
 *   Locks:    one mutex for everything; held for one change, one page or one batch of events
 *   Not here: what a change must look like (verbs), text of answers
 *
 * One counter numbers all changes. It starts from the clock (microseconds), so that a restarted server never
 * goes back. Objects of one (group, plural) are a collection, ordered by key as etcd is ("ns/name"). The
 * history keeps each change with the object before and after; from it come watches and the snapshots of older
 * versions: what a collection held at version v is what it holds now with every change after v undone.
 */
#ifndef KI_APISERVER_STORAGE_STORAGE_H
#define KI_APISERVER_STORAGE_STORAGE_H

#include <stdbool.h>

#include "apiserver/kind/failure.h"
#include "apiserver/kind/resource.h"
#include "apiserver/object/object.h"
#include "apiserver/object/selector.h"
struct ki_as_storage;
struct ki_as_collection; /* belongs to the storage until that is freed */

struct ki_as_storage_options {
    size_t history_events_max; /* per collection; 0: 10,000 */
    size_t history_bytes_max;  /* of the objects in it, per collection; 0: 256 MiB */
    size_t objects_max;        /* 0: 1,000,000; more is 507-like: 500 with a clear message */
    size_t object_bytes_max;   /* of the text of one; 0: 3 MiB */
    uint64_t first_version;    /* 0: from the clock */
    uint64_t seed;             /* of uids and generated names; 0: random */
};

/* NULL for the defaults. Serves the built-in resources and holds nothing. NULL without memory. */
struct ki_as_storage *ki_as_storage_new(const struct ki_as_storage_options *options);
/* Every watch must be closed. NULL is allowed. */
void ki_as_storage_free(struct ki_as_storage *storage);

/* All below must be called with the lock. */
void ki_as_storage_lock(struct ki_as_storage *storage);
void ki_as_storage_unlock(struct ki_as_storage *storage);

struct ki_as_resources *ki_as_storage_resources(struct ki_as_storage *storage);
uint64_t ki_as_storage_version(const struct ki_as_storage *storage);

/* The collection that holds the objects of a resource, all versions of the API alike; made when it is not
 * there yet. NULL without memory. */
struct ki_as_collection *ki_as_storage_collection(struct ki_as_storage *storage,
                                                  const struct ki_as_resource *resource);

/* The same by its names, served or not; NULL when there is none. */
struct ki_as_collection *ki_as_storage_find_collection(struct ki_as_storage *storage, ki_str group,
                                                       ki_str plural);

/* Borrowed, or NULL. */
struct ki_as_object *ki_as_collection_find(const struct ki_as_collection *collection, ki_str ns, ki_str name);
size_t ki_as_collection_count(const struct ki_as_collection *collection);

/* Calls `visit` with each collection until one returns false, in no order. */
typedef bool (*ki_as_collection_cb)(struct ki_as_collection *collection, void *user);
void ki_as_storage_visit(struct ki_as_storage *storage, ki_as_collection_cb visit, void *user);
bool ki_as_collection_is_namespaced(const struct ki_as_collection *collection);
ki_str ki_as_collection_group(const struct ki_as_collection *collection);
ki_str ki_as_collection_plural(const struct ki_as_collection *collection);
/* Any of the resources whose objects it holds; NULL when none is served. Borrowed. */
struct ki_as_resource *ki_as_collection_resource(const struct ki_as_collection *collection);
/* The first object of a namespace ("": of all) behind `after`, or NULL: how a walk goes on that changes what
 * it sees. Borrowed. */
struct ki_as_object *ki_as_collection_next(const struct ki_as_collection *collection, ki_str ns,
                                           const struct ki_as_object *after);

/* For uids and generated names. */
uint64_t ki_as_storage_random(struct ki_as_storage *storage);

/* The largest text that an object may have. */
size_t ki_as_storage_object_bytes_max(const struct ki_as_storage *storage);

/* The version that the next change gets: the object of a change must carry it. */
uint64_t ki_as_storage_next_version(const struct ki_as_storage *storage);

/* Puts in an object (its version is the next) in place of the one with its key, if any; or takes one out:
 * `last` is the object as the event shows it, with the next version. Both record the change, wake the watches
 * of the collection and count on. Return 0, or KI_ERR_NO_MEMORY or KI_ERR_TOO_LARGE (objects_max) with
 * nothing changed. */
KI_NODISCARD int ki_as_storage_put(struct ki_as_storage *storage, struct ki_as_collection *collection,
                                   struct ki_as_object *object);
KI_NODISCARD int ki_as_storage_remove(struct ki_as_storage *storage, struct ki_as_collection *collection,
                                      struct ki_as_object *last);

/* Memory for the texts of one change after the other. Empty when it is given out, and kept if it is small. */
enum ki_as_scratch { KI_AS_SCRATCH_TEXT, KI_AS_SCRATCH_MANAGED, KI_AS_SCRATCH_COUNT };
ki_buf *ki_as_storage_scratch(struct ki_as_storage *storage, enum ki_as_scratch which);

/* ---- pages --------------------------------------------------------------------------------------------- */

struct ki_as_page_request {
    ki_str ns;        /* "": all */
    ki_str after;     /* "ns/name": the page begins behind this key; "" from the start */
    uint64_t version; /* of the snapshot; 0: now */
    size_t limit;     /* 0: all */
    const struct ki_as_selector *selector;
};

struct ki_as_page {
    struct ki_as_object **objects; /* counted references */
    size_t count;
    uint64_t version; /* of the snapshot */
    bool is_more;     /* there are more behind the last one */
    size_t remaining; /* how many, when it is known: without a selector */
};

/* 410 when the snapshot's history is gone, 504 when the version is in the future is the caller's to say. */
KI_NODISCARD int ki_as_storage_page(struct ki_as_storage *storage, struct ki_as_collection *collection,
                                    const struct ki_as_page_request *request, struct ki_as_page *out_page,
                                    struct ki_as_failure *failure);
void ki_as_page_fini(struct ki_as_page *page);

/* Whether what happened after `version` is all there still; that nothing has happened yet after a later one
 * is true. */
bool ki_as_collection_has_history(const struct ki_as_collection *collection, uint64_t version);

/* ---- faults of storage: what tests do to it ------------------------------------------------------------ */

/* Ends the watches of a collection, once they have taken what has happened: the resource is not served any
 * more. */
void ki_as_collection_end_watches(struct ki_as_collection *collection);
/* The same, and its history goes with the last of them. A change brings it to life again. */
void ki_as_collection_end(struct ki_as_collection *collection);
/* What the history of all collections keeps that nobody else does. */
size_t ki_as_storage_history_bytes(struct ki_as_storage *storage);
/* Ends the watches of those alone whose version of the resource is not served any more. */
void ki_as_collection_end_unserved(struct ki_as_collection *collection);
/* Forgets all history up to now: older watches and pages end with 410. */
void ki_as_storage_compact(struct ki_as_storage *storage);
/* The counter goes back by `by` as after a restored backup; objects keep their contents with versions cut to
 * the new counter, history is gone, all watches end. */
KI_NODISCARD int ki_as_storage_rewind(struct ki_as_storage *storage, uint64_t by);

#endif
