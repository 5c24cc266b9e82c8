/* SPDX-License-Identifier: Apache-2.0 */
/* store - the content, its readers and its writer.
 *
 *   From:     informer/ (dispatch, in batches), feed/, handler/, store/store_list.c, store/store_read.c; the
 *             public calls of <kinformer/store.h>
 *   To:       store/content.h; store/reclaim.h (objects that were replaced or removed)
 *   Locks:    write_mu: one writer at a time. mu: the content does not change while it is held; the writer
 *             holds it for a batch, ki_store_list(), ki_store_keys() and the like for a call. Order:
 *             write_mu, mu. No wait for readers while one is held. Index functions run under both, inside a
 *             read section, where calls that would wait for the store are refused.
 *   Not here: deciding what is applied; notifying handlers.
 *
 * Both locks are taken around a fork(), so that every store is consistent in a child, which can read and
 * write it.
 *
 * Readers delay only a writer of the same store, and only when the memory that waits for them has reached its
 * limit. Writers on shared threads, io or dispatch, check whether the limit is reached, and then try again
 * later; the public calls wait.
 *
 * Readers without a lock use only `keyer` and `content`. These are not on a cache line that the writer or the
 * locks change.
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
    ki_reclaim reclaim;     /* guarded by write_mu, like failures_told */
    uint64_t failures_told; /* the number of index failures at the last log line */
    struct ki_projection
        *projection;  /* what objects are made with, from an informer or a feed; NULL: unknown */
    uint64_t closing; /* the grace period after the last use of the store; 0: it is in use */
    _Atomic size_t count;
    _Atomic size_t bytes;
    _Atomic uint64_t index_failures;
    bool is_sealed;         /* constant once shared: written only by batches, not by the public calls */
    const ki_log_sink *log; /* constant once shared; NULL: that of the process */
    ki_fork_hook fork_hook;
};

/* For simulations: the order of walks depends on this seed, not on random bytes.
 * Call it while the store is empty and not shared. */
void ki_store_use_seed(ki_store *store, uint64_t seed);

/* Sets the projection with which objects are made from now on. Adds a reference. */
void ki_store_set_projection(ki_store *store, struct ki_projection *projection) KI_EXCLUDES(store->write_mu);

/* Like ki_store_add_index_path(), but returns the error in `err` and does not log it. */
KI_NODISCARD int ki_store_try_index_path(ki_store *store, const char *name, const char *path, ki_error *err)
    KI_EXCLUDES(store->write_mu);

/* Calls a function for the path of each index that has one, with the writer excluded. Returns 0, or the value
 * that the function stopped with. */
KI_NODISCARD int ki_store_visit_index_paths(ki_store *store, int (*visit)(const char *path, void *user),
                                            void *user) KI_EXCLUDES(store->write_mu);

/* Makes the store read-only for the public calls, and sets its log, which must outlive the store. */
void ki_store_seal(ki_store *store, const ki_log_sink *log);

/* A batch: calls that take `mu` (list, keys and so on) see everything between begin and end as one change.
 * Never begin one inside a read section. Does not check the limit. */
void ki_store_batch_begin(ki_store *store) KI_ACQUIRE(store->write_mu) KI_ACQUIRE(store->mu);
void ki_store_batch_end(ki_store *store) KI_RELEASE(store->mu) KI_RELEASE(store->write_mu);

/* Like ki_store_put() and ki_store_remove(). `out_former` may be NULL; otherwise it is set to a new reference
 * to the former object, or to NULL. If they fail, they have no effect.
 * A remove fails with KI_ERR_NOT_FOUND or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_store_batch_put(ki_store *store, const ki_object *object, ki_object **out_former)
    KI_REQUIRES(store->mu) KI_REQUIRES(store->write_mu);
KI_NODISCARD int ki_store_batch_remove(ki_store *store, ki_str key, ki_object **out_former)
    KI_REQUIRES(store->mu) KI_REQUIRES(store->write_mu);

/* The same in steps, for a caller that must see the stored object first. When the caller no longer needs the
 * replaced or removed object, ki_place.object, it passes it to ki_store_batch_let_go(), unless the same
 * object was put again. The caller calls ki_store_batch_reserve() before a remove;
 * a put reserves a place itself. */
KI_NODISCARD int ki_store_batch_reserve(ki_store *store) KI_REQUIRES(store->write_mu);
ki_place ki_store_batch_seek(ki_store *store, ki_str key, uint64_t hash) KI_REQUIRES(store->mu);
KI_NODISCARD int ki_store_batch_put_at(ki_store *store, const ki_object *object, const ki_place *place)
    KI_REQUIRES(store->mu) KI_REQUIRES(store->write_mu);
void ki_store_batch_remove_at(ki_store *store, const ki_place *place) KI_REQUIRES(store->mu)
    KI_REQUIRES(store->write_mu);
void ki_store_batch_let_go(ki_store *store, ki_object *former) KI_REQUIRES(store->write_mu);

/* Prefetch the slots of a key while other keys are processed. Call ki_store_batch_expect_hash() some steps
 * before the search, and ki_store_batch_expect() fewer steps before it.
 * `object` is the object that will be put, or NULL. */
void ki_store_batch_expect_hash(ki_store *store, uint64_t hash) KI_REQUIRES(store->mu);
void ki_store_batch_expect(ki_store *store, uint64_t hash, const ki_object *object) KI_REQUIRES(store->mu);

/* The secret with which the store hashes keys, for callers that keep hashes. */
static inline const ki_hash_key *ki_store_hash_key(const ki_store *store)
{
    return &store->keyer.secret;
}

/* Like the public calls, for a writer that must not wait for readers; it calls ki_store_has_space() itself.
 * ki_store_remove_at_once() may fail with KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_store_put_at_once(ki_store *store, const ki_object *object) KI_EXCLUDES(store->write_mu);
KI_NODISCARD int ki_store_remove_at_once(ki_store *store, ki_str key) KI_EXCLUDES(store->write_mu);
KI_NODISCARD int ki_store_replace_at_once(ki_store *store, ki_object *const *objects, size_t count)
    KI_EXCLUDES(store->write_mu);

/* Whether the writer may continue. If not, the memory that waits for readers has reached its limit, or there
 * is no memory to record more of it; then check again after KI_STORE_SPACE_MS.
 * Never call it inside a read section. */
bool ki_store_has_space(ki_store *store) KI_EXCLUDES(store->write_mu);

#define KI_STORE_SPACE_MS 10

/* Called by an idle writer: frees memory that readers can no longer see, once it has waited for a while. Sets
 * `*due_ms` to the time of the next call; UINT64_MAX: nothing waits. */
void ki_store_flush_when_due(ki_store *store, uint64_t now_ms, uint64_t *due_ms) KI_EXCLUDES(store->write_mu);

/* Call it when only read sections that have begun before may still use the store. Returns whether these have
 * ended, so that ki_store_free() does not wait; otherwise call it again later. */
bool ki_store_close(ki_store *store);

/* For the files of the store only. Ends every change: releases write_mu,
 * then logs failures of index functions. */
void ki_store_end_writing(ki_store *store) KI_RELEASE(store->write_mu);
void ki_store_publish_numbers(ki_store *store, const ki_content *content) KI_REQUIRES(store->write_mu);

/* The content that readers see. For the writer, and for readers in a section. */
static inline ki_content *ki_store_content(const ki_store *store)
{
    /* Acquire: a content was complete before it was published. */
    return atomic_load_explicit(&((ki_store *)store)->content, memory_order_acquire);
}

#endif
