/* SPDX-License-Identifier: Apache-2.0 */
/* store - objects by key, with any number of named indexes; every thread may read it.
 *
 * Writers exclude each other; an informer's store is written by the informer only.
 *
 * The name of a call that reads has two parts: how it reads, then what it selects.
 *
 *   get     returns a reference. Never waits, not even for the writer.
 *   peek    borrows an object inside ki_read_lock() … ki_read_unlock(), without touching the reference count.
 *   copy    copies a few fields of an object to memory of the caller; no reference, no read section.
 *   walk    calls a function for each object; the store may change meanwhile.
 *   list    returns an array from one state of the store; waits at most for the writer's current batch.
 *
 *   selects by           one object                      several
 *   (nothing)            namespace and name: get, peek   all: walk, list, list_keys
 *   key                  get_key, peek_key, copy_key
 *   value of an index    get_one, peek_one, copy_one     walk_index, list_index, list_keys_index
 *
 * Names of indexes, paths and JSON Pointers, which a program has in its source, are NUL-terminated.
 * Namespaces, names, keys and values, which come from elsewhere, are ki_str. Calls that end with _n have a
 * pointer and a length instead, for languages that cannot pass a struct by value.
 *
 * A store made with ki_store_new() works by itself, without an informer. With a NULL store, or a NULL for the
 * name of an index, calls return NULL, 0 or KI_ERR_INVALID.
 *
 * In a child of fork() every store can be read, in the state it had at the fork; a store of your own can also
 * be written to and freed. Read sections of other threads do not exist in the child; one of the forking
 * thread continues. fork() waits for writes and lists in progress, not for readers.
 */
#ifndef KI_STORE_H
#define KI_STORE_H

#include <kinformer/common.h>
#include <kinformer/error.h>
#include <kinformer/object.h>

KI_EXTERN_C_BEGIN

typedef struct ki_store ki_store;

/* ---- read sections --------------------------------------------------------------------------------- */

/**
 * Begins and ends a read section: what a peek returns stays valid until the section ends. A section ends on
 * the thread that began it, at the latest with the thread. Sections nest. Inside one, calls that wait or
 * write return KI_ERR_WOULD_DEADLOCK; stops and frees return at once and take effect soon after, as from a
 * callback, except ki_store_free(), which does nothing (docs/threading.md has a table).
 *
 * Keep sections short. While one is open, no store, whether it is being read or not, can free memory that it
 * has released since the section began. When that memory reaches the limit of a store (retired_bytes_max),
 * the writer of that store waits: an informer applies no more changes, ki_store_put() does not return.
 * Freeing a store or an informer waits for sections that have begun. Nothing else waits for a reader: neither
 * other informers nor a stop.
 *
 * Threads: any. Costs a few nanoseconds and writes to no cache line that another thread writes to. Where the
 *          system has no membarrier(), each section also executes a fence.
 */
KI_API void ki_read_lock(void);
KI_API void ki_read_unlock(void);

/* ---- making one ------------------------------------------------------------------------------------ */

/**
 * Computes the key of an object, for keys other than "namespace/name". The key is text that lives as long as
 * the object, or that the function writes to `buffer`. It must return the same key for an object each time.
 *
 * Returns: the key; an empty one refuses the object.
 * Threads: any, also several at once; called with the store's lock held. It must not call the store or
 *          fork(), and must not make or free anything of the library except objects.
 */
typedef ki_str (*ki_key_cb)(const ki_object *object, char *buffer, size_t buffer_bytes, void *user);

/** The longest key that a store accepts, and the size of a ki_key_cb's buffer. Unlike in other names that end
 * with _BYTES, no NUL is counted. */
#define KI_KEY_BYTES 1024

typedef struct ki_store_options {
    ki_key_cb key; /* NULL: "namespace/name" */
    void *user;
    /* Memory of removed objects is freed when no reader can see it any more. When this much waits to be
     * freed, the writer waits. 0: 16 MiB */
    size_t retired_bytes_max;
    uint64_t reserved[4];
} ki_store_options;

/** Returns: a store to free, or NULL with KI_ERR_NO_MEMORY, KI_ERR_SYSTEM, or KI_ERR_WOULD_DEADLOCK in an
 *          index function. `options` may be NULL. */
KI_API KI_NODISCARD ki_store *ki_store_new(const ki_store_options *options, ki_error *err);

/**
 * Drops every object and frees the store, which must not be in use any more. Waits until every read section
 * that has begun, on any thread, has ended, since each may be looking at an object; it waits in a callback,
 * too. Inside a read section it only logs an error, and the store is leaked. NULL is allowed.
 */
KI_API void ki_store_free(ki_store *store);

/* ---- indexes --------------------------------------------------------------------------------------- */

typedef struct ki_index_emit ki_index_emit;

/**
 * Computes the index values of an object: calls ki_index_emit_value() for each, any number of times. The
 * values must depend on the object alone: when the object leaves the store, the function is called again to
 * find its entries. If it then emits other values, the store searches the whole index, which is slow, and
 * logs and counts a failure. If it then returns KI_ERR_NO_MEMORY, the store searches as well, without
 * counting.
 *
 * Returns: 0; KI_ERR_NO_MEMORY: the whole put fails; another negative code: the object is stored, but not in
 *          this index, and that is counted and logged.
 * Threads: that of the writer, with the store's lock held and inside a read section. Get and peek work.
 *          Refused (KI_ERR_WOULD_DEADLOCK): list and put, and making clients, informers, stores, queues,
 *          limiters or metrics. Forbidden: fork(), which waits for the lock, and freeing queues,
 *          limiters or metrics.
 */
typedef int (*ki_index_cb)(const ki_object *object, ki_index_emit *emit, void *user);

/**
 * Adds a value, which is copied. It may be empty; the same value twice counts once.
 *
 * Returns: 0, KI_ERR_NO_MEMORY, or KI_ERR_TOO_LARGE past 16 MiB or a million values. The store notices a
 *          failure even if the index function ignores it.
 */
KI_API int ki_index_emit_value(ki_index_emit *emit, ki_str value);

/** The name of an index that every store has. Each object has one value in it: its namespace,
 * "" if it is cluster-scoped. */
#define KI_INDEX_NAMESPACE "namespace"

/**
 * Adds an index whose values are those at a path, and fills it with the objects in the store. It needs no
 * function, so it works in every mode and from every language:
 *
 *   ki_store_add_index_path(store, "owner", KI_PATH_OWNER_UID);
 *   ki_store_add_index_path(store, "app", KI_PATH_LABEL("app.kubernetes.io/name"));
 *
 * A path is written as for `keep` (see ki_object_new()): the part * stands for every element of an array or
 * every value of a map, as in KI_PATH_OWNER_UID, and a number is the name of a member, not the position of an
 * element. A string is indexed by its text, which may be empty, a number or a boolean by its JSON text: 8080,
 * true. Anything else (null, an array, a map, or nothing at all) has no value. A value that occurs twice in
 * an object counts once.
 *
 * If objects have only some of their fields (`keep`, `drop`), see ki_informer_add_index_path(). A feed that
 * is made later with this store keeps the path, too. After that, a path that the feed's projection drops is
 * refused.
 *
 * Returns: 0; KI_ERR_INVALID for a name already in use, a malformed path, the path "", one of more than 32
 *          parts, or one that the projection drops; KI_ERR_NO_MEMORY; KI_ERR_WOULD_DEADLOCK in a read
 *          section. A failure is also logged, with the path. Name and path are copied.
 */
KI_API int ki_store_add_index_path(ki_store *store, const char *name, const char *path);

/* Paths of common indexes. They can also be kept or dropped. */
#define KI_PATH_NODE "/spec/nodeName"                       /* the node of a pod */
#define KI_PATH_OWNER_UID "/metadata/ownerReferences/*/uid" /* of every owner */
#define KI_PATH_LABEL(name) "label:" name /* one label, by its name as it is: no ~1 for a slash */

/**
 * Adds an index with a function, and fills it with the objects in the store. If a projection drops a field
 * that the function looks for, a warning is logged once that names the field. An index stays: `user` must
 * live as long as the store.
 *
 * Returns: 0; KI_ERR_INVALID for a name already in use; KI_ERR_NO_MEMORY; KI_ERR_WOULD_DEADLOCK in a read
 *          section.
 */
KI_API int ki_store_add_index(ki_store *store, const char *name, ki_index_cb callback, void *user);

/* ---- writing (only stores of your own; the store of an informer returns KI_ERR_INVALID) ------------ */

/**
 * Adds the object, or replaces the one with the same key; takes a reference of its own. ki_store_put(),
 * ki_store_remove() and ki_store_replace() wait for each other, and for readers only when released memory has
 * reached `retired_bytes_max`.
 *
 * Returns: 0; KI_ERR_INVALID for an object without a key; KI_ERR_TOO_LARGE for a key above KI_KEY_BYTES;
 *          KI_ERR_NO_MEMORY; KI_ERR_WOULD_DEADLOCK in a read section. Nothing changes on failure.
 */
KI_API KI_NODISCARD int ki_store_put(ki_store *store, const ki_object *object);

/** Removes the object with this key. Returns: 0; KI_ERR_NOT_FOUND; KI_ERR_WOULD_DEADLOCK in a read section;
 * KI_ERR_INVALID for the store of an informer. */
KI_API int ki_store_remove(ki_store *store, ki_str key);

/**
 * Replaces the whole content by these objects, in one step, also for readers without a lock; takes references
 * of its own. Of several objects with the same key the last one is stored. A `count` of 0 empties the store.
 *
 * Returns: as ki_store_put(); KI_ERR_INVALID also for a NULL among the objects. Nothing changes on failure.
 */
KI_API KI_NODISCARD int ki_store_replace(ki_store *store, ki_object *const *objects, size_t count);

/* ---- reading --------------------------------------------------------------------------------------- */

/**
 * Finds one object: by namespace (empty for a cluster-scoped resource) and name, by key, or by a value of an
 * index. ki_store_get() always looks up the key "namespace/name", even if the store computes its keys
 * differently. If several objects have the value, ki_store_get_one() finds the one with the newest resource
 * version, or any of them when versions are not decimal numbers.
 *
 * Returns:   a new reference, or NULL when there is no such object, or no such index.
 * Ownership: the caller drops the reference with ki_object_unref().
 * Threads:   any. Never waits, not even for the writer.
 */
KI_API KI_NODISCARD ki_object *ki_store_get(const ki_store *store, ki_str ns, ki_str name);
KI_API KI_NODISCARD ki_object *ki_store_get_key(const ki_store *store, ki_str key);
KI_API KI_NODISCARD ki_object *ki_store_get_one(const ki_store *store, const char *index, ki_str value);
KI_API KI_NODISCARD ki_object *ki_store_get_key_n(const ki_store *store, const char *key, size_t key_len);
KI_API KI_NODISCARD ki_object *ki_store_get_one_n(const ki_store *store, const char *index, const char *value,
                                                  size_t value_len);

/** Like the get functions above, inside a read section and without taking a reference.
 * NULL outside a read section. */
KI_API const ki_object *ki_store_peek(const ki_store *store, ki_str ns, ki_str name);
KI_API const ki_object *ki_store_peek_key(const ki_store *store, ki_str key);
KI_API const ki_object *ki_store_peek_one(const ki_store *store, const char *index, ki_str value);
KI_API const ki_object *ki_store_peek_key_n(const ki_store *store, const char *key, size_t key_len);
KI_API const ki_object *ki_store_peek_one_n(const ki_store *store, const char *index, const char *value,
                                            size_t value_len);

/**
 * Finds one object, as above, and copies some of its fields, as ki_object_copy_fields() does: one call
 * instead of a lookup, a read of each field and a release, and nothing to release.
 *
 *   static const char *const pointers[] = {"/metadata/namespace", "/spec/nodeName"};
 *   ki_str texts[2];
 *   char buffer[512];
 *   ki_fields fields = {.pointers = pointers, .count = 2, .texts = texts, .buffer = buffer,
 *                       .buffer_bytes = sizeof(buffer)};
 *   if (ki_store_copy_one(store, "ip", address, &fields) == 0)
 *       route(texts[0], texts[1]);
 *
 * Returns: 0; KI_ERR_NOT_FOUND, with all texts zeroed, when there is no such object, or no such index;
 *          KI_ERR_INVALID, likewise, for a NULL store or index; else as ki_object_copy_fields().
 * Threads: any. Never waits, not even for the writer. `fields` belongs to the caller's thread.
 */
KI_API KI_NODISCARD int ki_store_copy_key(const ki_store *store, ki_str key, ki_fields *fields);
KI_API KI_NODISCARD int ki_store_copy_one(const ki_store *store, const char *index, ki_str value,
                                          ki_fields *fields);
KI_API KI_NODISCARD int ki_store_copy_key_n(const ki_store *store, const char *key, size_t key_len,
                                            ki_fields *fields);
KI_API KI_NODISCARD int ki_store_copy_one_n(const ki_store *store, const char *index, const char *value,
                                            size_t value_len, ki_fields *fields);

/** An array of references. Zeroed, it is empty. */
typedef struct ki_object_list {
    ki_object **objects;
    size_t count;
    uint64_t reserved[2];
} ki_object_list;

/** Drops the references, frees the array and zeroes the list. NULL and a zeroed list are allowed. */
KI_API void ki_object_list_fini(ki_object_list *list);

/** An array of texts in one block of memory. Zeroed, it is empty. */
typedef struct ki_str_list {
    ki_str *texts;
    size_t count;
    uint64_t reserved[2];
} ki_str_list;

/** Frees the array and its texts, and zeroes the list. NULL and a zeroed list are allowed. */
KI_API void ki_str_list_fini(ki_str_list *list);

/**
 * Lists all objects; their keys; the objects, or the sorted keys, with one value of an index; the sorted
 * values of an index. Each list is from one state of the store. Unless sorted, the order is arbitrary.
 *
 * Returns:   0; KI_ERR_NOT_FOUND for an unknown index; KI_ERR_NO_MEMORY; KI_ERR_WOULD_DEADLOCK in a read
 *            section; KI_ERR_INVALID for NULL.
 * Ownership: the caller frees the list with ki_object_list_fini() or ki_str_list_fini(). It is overwritten on
 *            success, and untouched on failure.
 */
KI_API KI_NODISCARD int ki_store_list(const ki_store *store, ki_object_list *out_list);
KI_API KI_NODISCARD int ki_store_list_keys(const ki_store *store, ki_str_list *out_keys);
KI_API KI_NODISCARD int ki_store_list_index(const ki_store *store, const char *index, ki_str value,
                                            ki_object_list *out_list);
KI_API KI_NODISCARD int ki_store_list_keys_index(const ki_store *store, const char *index, ki_str value,
                                                 ki_str_list *out_keys);
KI_API KI_NODISCARD int ki_store_list_values(const ki_store *store, const char *index,
                                             ki_str_list *out_values);

/** Called for each object, which is borrowed for the call. Returns 0 to continue, any other value to stop. */
typedef int (*ki_walk_cb)(const ki_object *object, void *user);

/**
 * Calls `callback` for every object, or for those with one value of an index. Takes no lock and allocates
 * nothing. A key that is in the store during the whole walk is visited once, with one of the objects it had;
 * a key that is added or removed during the walk may or may not be visited.
 *
 * Returns: 0, or the value that the callback stopped with; KI_ERR_NOT_FOUND for an unknown index;
 *          KI_ERR_INVALID for NULL.
 * Threads: any; the callback runs inside a read section, which lasts for the whole walk.
 */
KI_API int ki_store_walk(const ki_store *store, ki_walk_cb callback, void *user);
KI_API int ki_store_walk_index(const ki_store *store, const char *index, ki_str value, ki_walk_cb callback,
                               void *user);

/** The number of objects, and the bytes that they use, not counting strings that are unescaped later. */
KI_API size_t ki_store_count(const ki_store *store);
KI_API size_t ki_store_bytes(const ki_store *store);

/** How many times an index function has failed, or has emitted other values for an object than before. */
KI_API uint64_t ki_store_index_failures(const ki_store *store);

KI_EXTERN_C_END

#endif
