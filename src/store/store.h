/* SPDX-License-Identifier: Apache-2.0 */
/* store - the content, its readers and its writer.
 *
 *   From:     dispatch, in batches; the public calls of <kinformer/store.h>
 *   To:       store/content.h
 *   Locks:    write_mu: one writer at a time. mu: the content does not change while it is held; the writer
 *             holds it per batch, list, keys and so on per call. Order: write_mu, mu. No wait for readers
 *             while one is held. Index functions run under both, inside a read section, where calls that
 *             would wait for the store are refused.
 *   Not here: deciding what is applied; notifying handlers.
 *
 * Both locks are taken around a fork(), so that every store is consistent in a child, which can read and
 * write it.
 *
 * Readers delay only a writer of the same store, and only when the memory that waits for them has reached its
 * limit. Writers on shared threads, io or dispatch, check whether there is room and try again later; the
 * public calls wait.
 *
 * Readers without a lock use `keyer` and `content` only, which are on other cache lines than what the writer
 * and the locks touch.
 */
#ifndef KI_STORE_STORE_H
#define KI_STORE_STORE_H

#include <kinformer/store.h>

#include "store/content.h"
#include "util/fork.h"
#include "util/log.h"
#include "util/thread.h"

#define KI_STORE_RETIRED_BYTES_MAX ((size_t)16 << 20)

struct ki_store {
    ki_keyer keyer;
    _Atomic(ki_content *) content;
    char apart[64];
    ki_mutex write_mu;
    ki_mutex mu;
    ki_reclaim reclaim;     /* guarded by write_mu, as the next */
    uint64_t failures_told; /* of index functions */
    struct ki_projection
        *projection;  /* what objects are made with, from an informer or a feed; NULL: unknown */
    uint64_t closing; /* the grace period after its last use; 0: it is in use */
    _Atomic size_t count;
    _Atomic size_t bytes;
    _Atomic uint64_t index_failures;
    bool is_sealed;         /* constant once shared: written only by batches, not by the public calls */
    const ki_log_sink *log; /* constant once shared; NULL: that of the process */
    ki_fork_hook fork_hook;
};

/* Takes the order of walks from this seed, not from the system: for simulations. While it is empty and not
 * shared. */
void ki_store_use_seed(ki_store *store, uint64_t seed);

/* Sets what objects are made with from now on; takes a reference of its own. */
void ki_store_set_projection(ki_store *store, struct ki_projection *projection) KI_EXCLUDES(store->write_mu);

/* As ki_store_add_index_path(), which also logs the error. */
KI_NODISCARD int ki_store_try_index_path(ki_store *store, const char *name, const char *path, ki_error *err)
    KI_EXCLUDES(store->write_mu);

/* Calls a function for the path of each index that has one, with the writer excluded. Returns 0, or the value
 * that the function stopped with. */
KI_NODISCARD int ki_store_visit_index_paths(ki_store *store, int (*visit)(const char *path, void *user),
                                            void *user) KI_EXCLUDES(store->write_mu);

/* Makes it read-only for users, and sets its log, which must outlive it. */
void ki_store_seal(ki_store *store, const ki_log_sink *log);

/* A batch: for list, keys and so on, everything between begin and end is one change. Never inside a read
 * section. Does not check for room. */
void ki_store_batch_begin(ki_store *store) KI_ACQUIRE(store->write_mu) KI_ACQUIRE(store->mu);
void ki_store_batch_end(ki_store *store) KI_RELEASE(store->mu) KI_RELEASE(store->write_mu);

/* As ki_store_put() and ki_store_remove(). `out_former` may be NULL; otherwise it gets a new reference to
 * the object that was there, or NULL. Both fail without an effect, a remove with KI_ERR_NOT_FOUND or
 * KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_store_batch_put(ki_store *store, const ki_object *object, ki_object **out_former)
    KI_REQUIRES(store->mu) KI_REQUIRES(store->write_mu);
KI_NODISCARD int ki_store_batch_remove(ki_store *store, ki_str key, ki_object **out_former)
    KI_REQUIRES(store->mu) KI_REQUIRES(store->write_mu);

/* The same in steps, for a caller that must see the stored object first. The caller passes the replaced or
 * removed object, ki_place.object, to let_go when it is done with it, unless that was put again. Room for
 * that is reserved before a remove; a put does so itself. */
KI_NODISCARD int ki_store_batch_reserve(ki_store *store) KI_REQUIRES(store->write_mu);
ki_place ki_store_batch_seek(ki_store *store, ki_str key, uint64_t hash) KI_REQUIRES(store->mu);
KI_NODISCARD int ki_store_batch_put_at(ki_store *store, const ki_object *object, const ki_place *place)
    KI_REQUIRES(store->mu) KI_REQUIRES(store->write_mu);
void ki_store_batch_remove_at(ki_store *store, const ki_place *place) KI_REQUIRES(store->mu)
    KI_REQUIRES(store->write_mu);
void ki_store_batch_let_go(ki_store *store, ki_object *former) KI_REQUIRES(store->write_mu);

/* Called some steps ahead of a search, the second fewer: prefetch the slots of a key while others are
 * processed. `object` is what will be put there, or NULL. */
void ki_store_batch_expect_hash(ki_store *store, uint64_t hash) KI_REQUIRES(store->mu);
void ki_store_batch_expect(ki_store *store, uint64_t hash, const ki_object *object) KI_REQUIRES(store->mu);

/* The store's hash of a key, for callers that keep it. */
static inline const ki_hash_key *ki_store_hash_key(const ki_store *store)
{
    return &store->keyer.secret;
}

/* As the public calls, for a writer that must not wait for readers: it checks for room itself.
 * ki_store_remove_at_once() may fail with KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_store_put_at_once(ki_store *store, const ki_object *object) KI_EXCLUDES(store->write_mu);
KI_NODISCARD int ki_store_remove_at_once(ki_store *store, ki_str key) KI_EXCLUDES(store->write_mu);
KI_NODISCARD int ki_store_replace_at_once(ki_store *store, ki_object *const *objects, size_t count)
    KI_EXCLUDES(store->write_mu);

/* Whether the writer may continue. Otherwise memory that waits for readers has reached its limit, or there is
 * no memory to record more of it: the writer checks again after KI_STORE_ROOM_MS. Never inside a read
 * section. */
bool ki_store_has_room(ki_store *store) KI_EXCLUDES(store->write_mu);

#define KI_STORE_ROOM_MS 10

/* Frees what readers can no longer see; an idle writer calls it. Does so once something has waited for a
 * while. `*due_ms` is when the writer must call it again; UINT64_MAX: nothing waits. */
void ki_store_flush_when_due(ki_store *store, uint64_t now_ms, uint64_t *due_ms) KI_EXCLUDES(store->write_mu);

/* The store is no longer used except by sections that have begun. Returns whether these have ended, so that
 * ki_store_free() does not wait; otherwise call it again. */
bool ki_store_close(ki_store *store);

/* Shared by the files of the store. The end of every change: releases write_mu, and then logs failures of
 * index functions. */
void ki_store_end_writing(ki_store *store) KI_RELEASE(store->write_mu);
void ki_store_publish_numbers(ki_store *store, const ki_content *content) KI_REQUIRES(store->write_mu);

/* The content that readers see, for the writer and for readers in a section. */
static inline ki_content *ki_store_content(const ki_store *store)
{
    /* Acquire: a content was complete before it was published. */
    return atomic_load_explicit(&((ki_store *)store)->content, memory_order_acquire);
}

#endif
