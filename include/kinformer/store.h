/* SPDX-License-Identifier: Apache-2.0 */
/* store - objects by key, with any number of named indexes; read by every thread without a lock.
 *
 * Writers take turns; an informer's store is written by the informer alone. Reading comes in four kinds:
 *
 *   get     a reference to keep. Never waits, not even for the writer.
 *   peek    a look inside ki_read_lock() … ki_read_unlock(), without touching the reference count.
 *   walk    a call for each object, likewise; the store may change meanwhile.
 *   list    an array from one state of the store; waits for the writer's batch at the most.
 *
 * A store made with ki_store_new() works by itself, without an informer.
 *
 * In a child of fork() every store is as it was in the parent at that moment, and can be read; one of your
 * own can also be written to and freed. Sections of other threads have ended there, as these threads have;
 * one of the forking thread goes on. fork() waits for writers and lists that are under way, not for readers.
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
 * Begins a read section: what a peek returns in it stays valid until its end. Sections nest. Inside one,
 * calls that wait or write are refused with KI_ERR_WOULD_DEADLOCK; what stops or frees is carried out soon,
 * as from a callback (docs/threading.md has the table).
 *
 * Keep it short. Memory that stores have let go of since it began, whatever stores these are, is not freed
 * before it ends. When that of one store reaches its limit, the writer of that store waits as well: an
 * informer applies no more changes, ki_store_put() does not return. Freeing a store or an informer waits for
 * sections that have begun. Nothing else waits for a reader: neither other informers nor a stop.
 *
 * Threads: any. Costs a few nanoseconds and touches no cache line that another thread writes to.
 */
KI_API void ki_read_lock(void);
KI_API void ki_read_unlock(void);

/* ---- making one ------------------------------------------------------------------------------------ */

/**
 * The key of an object, when it is not "namespace/name": text that lives as long as the object, or is
 * written to `buffer`. An object has the same key each time.
 *
 * Returns: the key; an empty one refuses the object.
 * Threads: any, also several at once; under the store's lock, so it may neither call the store nor fork().
 */
typedef ki_str (*ki_key_cb)(const ki_object *object, char *buffer, size_t buffer_bytes, void *user);

/** Room that a ki_key_cb is given, and the length of the longest key that a store takes. */
#define KI_KEY_BYTES 1024

typedef struct ki_store_options {
    ki_key_cb key; /* NULL: "namespace/name" */
    void *user;
    size_t retired_bytes_max; /* memory that waits for readers before the writer does, too; 0: 16 MiB */
    uint64_t reserved[4];
} ki_store_options;

/** Returns: a store to free, or NULL with KI_ERR_NO_MEMORY or KI_ERR_SYSTEM. `options` may be NULL. */
KI_API KI_NODISCARD ki_store *ki_store_new(const ki_store_options *options, ki_error *err);

/**
 * Drops every object. Waits until every read section has ended that has begun, in any thread, as each may
 * look at one; inside one it does nothing but log an error. Nobody may use the store any more.
 * NULL is allowed.
 */
KI_API void ki_store_free(ki_store *store);

/* ---- indexes --------------------------------------------------------------------------------------- */

typedef struct ki_index_emit ki_index_emit;

/**
 * Says under which values an object is found: calls ki_index_emit_value() for each, any number of times,
 * also never. The values depend on the object alone: the store asks again when the object leaves, to take it
 * out there. A function that says something else then is found out: the object is looked for under every
 * value of the index, which takes its time, and that is counted and logged as a failure. To say
 * KI_ERR_NO_MEMORY then is no failure; it only takes that time.
 *
 * Returns: 0; or KI_ERR_NO_MEMORY, and the put fails as a whole; or another negative code: the object is
 *          put into the store, out of this index, and that is counted and logged.
 * Threads: that of the writer, under the store's lock and inside a read section: calls that would wait for
 *          the store are refused, get and peek are not; and no fork(), which waits for that lock.
 */
typedef int (*ki_index_cb)(const ki_object *object, ki_index_emit *emit, void *user);

/**
 * The value is copied; it may be empty, and the same value twice counts once.
 *
 * Returns: 0, KI_ERR_NO_MEMORY, or KI_ERR_TOO_LARGE past 16 MiB or a million values. The store notices a
 *          failure also when the index function does not look.
 */
KI_API int ki_index_emit_value(ki_index_emit *emit, ki_str value);

/** The index that every store has: one value, the namespace ("" for cluster-scoped objects). */
#define KI_INDEX_NAMESPACE "namespace"

/**
 * Adds an index, and what is in the store to it.
 *
 * Returns: 0; KI_ERR_INVALID for a name that is taken; KI_ERR_NO_MEMORY; KI_ERR_WOULD_DEADLOCK in a read
 *          section.
 */
KI_API KI_NODISCARD int ki_store_add_index(ki_store *store, const char *name, ki_index_cb callback,
                                           void *user);

/* ---- writing (a store of your own only: that of an informer refuses with KI_ERR_INVALID) ----------- */

/**
 * Adds the object or puts it in the place of the one with its key; takes a reference of its own. Waits for
 * readers, as the next two do, only when `retired_bytes_max` of what was taken out before waits for them.
 *
 * Returns: 0; KI_ERR_INVALID for an object without a key; KI_ERR_TOO_LARGE for a key above KI_KEY_BYTES;
 *          KI_ERR_NO_MEMORY; KI_ERR_WOULD_DEADLOCK in a read section. Nothing changes on failure.
 */
KI_API KI_NODISCARD int ki_store_put(ki_store *store, const ki_object *object);

/** Removes the object with this key. Returns 0, KI_ERR_NOT_FOUND, or KI_ERR_WOULD_DEADLOCK in a read
 * section. */
KI_API KI_NODISCARD int ki_store_remove(ki_store *store, ki_str key);

/**
 * Makes these objects the whole content, as one change, also to readers without a lock. Of several with the
 * same key the last one counts.
 *
 * Returns: as ki_store_put(). Nothing changes on failure.
 */
KI_API KI_NODISCARD int ki_store_replace(ki_store *store, ki_object *const *objects, size_t count);

/* ---- reading --------------------------------------------------------------------------------------- */

/**
 * Finds one object: namespace "" (or NULL) for a cluster-scoped resource.
 *
 * Returns:   a new reference, or NULL when the store has no such key.
 * Ownership: the caller drops the reference with ki_object_unref().
 * Threads:   any. Never waits, not even for the writer.
 */
KI_API KI_NODISCARD ki_object *ki_store_get(ki_store *store, const char *ns, const char *name);
KI_API KI_NODISCARD ki_object *ki_store_get_key(ki_store *store, ki_str key);

/** The same inside a read section, without a reference. NULL outside of one. */
KI_API const ki_object *ki_store_peek(ki_store *store, const char *ns, const char *name);
KI_API const ki_object *ki_store_peek_key(ki_store *store, ki_str key);

/**
 * One object of an index inside a read section: the newest by resource version, if several have the
 * value; any of them when versions are no decimal numbers. NULL when none has, or there is no such index.
 */
KI_API const ki_object *ki_store_peek_one(ki_store *store, const char *index, ki_str value);

/** An array of references; the zeroed one is empty. */
typedef struct ki_object_list {
    ki_object **objects;
    size_t count;
} ki_object_list;

/** Drops the references and the array. Takes a zeroed list. */
KI_API void ki_object_list_fini(ki_object_list *list);

/** An array of texts in one block of memory; the zeroed one is empty. */
typedef struct ki_str_list {
    ki_str *texts;
    size_t count;
} ki_str_list;

KI_API void ki_str_list_fini(ki_str_list *list);

/**
 * All objects, their keys, the objects or (sorted) keys under one value of an index, the (sorted) values of
 * an index: each from one state of the store. The order is arbitrary where it is not said.
 *
 * Returns:   0; KI_ERR_NOT_FOUND for an unknown index; KI_ERR_NO_MEMORY; KI_ERR_WOULD_DEADLOCK in a read
 *            section.
 * Ownership: the caller ends the list with ki_object_list_fini() or ki_str_list_fini(). Untouched on
 *            failure.
 */
KI_API KI_NODISCARD int ki_store_list(ki_store *store, ki_object_list *out_list);
KI_API KI_NODISCARD int ki_store_keys(ki_store *store, ki_str_list *out_keys);
KI_API KI_NODISCARD int ki_store_by_index(ki_store *store, const char *index, ki_str value,
                                          ki_object_list *out_list);
KI_API KI_NODISCARD int ki_store_index_keys(ki_store *store, const char *index, ki_str value,
                                            ki_str_list *out_keys);
KI_API KI_NODISCARD int ki_store_index_values(ki_store *store, const char *index, ki_str_list *out_values);

/** Called for one object; borrowed for the call. Returns 0 to go on, anything else to stop. */
typedef int (*ki_walk_cb)(const ki_object *object, void *user);

/**
 * Calls for every object, or for those under one value of an index, without a lock and without memory. A
 * key that is there from beginning to end is seen once, with an object that it had meanwhile; one that
 * comes or goes may or may not be seen.
 *
 * Returns: 0, or what the callback has stopped with; KI_ERR_NOT_FOUND for an unknown index.
 * Threads: any; the callback runs inside a read section, which lasts for the whole walk.
 */
KI_API int ki_store_walk(ki_store *store, ki_walk_cb callback, void *user);
KI_API int ki_store_walk_index(ki_store *store, const char *index, ki_str value, ki_walk_cb callback,
                               void *user);

/** How many objects, and the bytes that they take, without what they unescape later. */
KI_API size_t ki_store_count(const ki_store *store);
KI_API size_t ki_store_bytes(const ki_store *store);

/** How often an index function has failed, or has said something else about an object than before. */
KI_API uint64_t ki_store_index_failures(const ki_store *store);

KI_EXTERN_C_END

#endif
