/* SPDX-License-Identifier: Apache-2.0 */
/* store - the content, its readers and its writer.
 *
 *   From:     dispatch, in batches; the public calls of <kinformer/store.h>
 *   To:       cache/content.h
 *   Locks:    write_mu: one writer at a time, from its first change to the end of its grace period.
 *             mu: the content does not change while it is held; the writer holds it per batch, list and its
 *             kind per call. Order: write_mu, mu. Never waits for readers while mu is held, but when memory
 *             is out. Index functions run under both, inside a read section, where calls that would wait
 *             for the store are refused.
 *   Not here: deciding what is applied; telling anyone.
 *
 * Readers without a lock look at `keyer` and `content` only, which lie apart from what the writer and the
 * locks touch.
 */
#ifndef KI_CACHE_STORE_H
#define KI_CACHE_STORE_H

#include <kinformer/store.h>

#include "cache/content.h"
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
    _Atomic size_t count;
    _Atomic size_t bytes;
    _Atomic uint64_t index_failures;
    bool is_sealed; /* constant once shared: written by batches alone, not by the public calls */
};

/* The order of walks comes from this seed, not from the system: for simulations. While it is empty, and
 * nobody else knows it. */
void ki_store_use_seed(ki_store *store, uint64_t seed);

/* Makes it a store that users may read only. */
void ki_store_seal(ki_store *store);

/* A batch: what is put and removed between begin and end is one change to list and its kind. Never inside a
 * read section. The end may wait for readers, when enough memory waits for them. */
void ki_store_batch_begin(ki_store *store) KI_ACQUIRE(store->write_mu) KI_ACQUIRE(store->mu);
void ki_store_batch_end(ki_store *store) KI_RELEASE(store->mu) KI_RELEASE(store->write_mu);

/* As ki_store_put() and ki_store_remove(). `out_former` may be NULL; otherwise it gets a new reference to
 * the object that was there, or NULL. A put fails without an effect; a remove fails only with
 * KI_ERR_NOT_FOUND. */
KI_NODISCARD int ki_store_batch_put(ki_store *store, const ki_object *object, ki_object **out_former)
    KI_REQUIRES(store->mu) KI_REQUIRES(store->write_mu);
KI_NODISCARD int ki_store_batch_remove(ki_store *store, ki_str key, ki_object **out_former)
    KI_REQUIRES(store->mu) KI_REQUIRES(store->write_mu);

/* The same in steps, for who has to look at what is there first. What a put or remove has taken the place of,
 * the caller gives to let_go, when it is done with it: ki_place.object, unless that was put again. */
ki_place ki_store_batch_seek(ki_store *store, ki_str key, uint64_t hash) KI_REQUIRES(store->mu);
KI_NODISCARD int ki_store_batch_put_at(ki_store *store, const ki_object *object, const ki_place *place)
    KI_REQUIRES(store->mu) KI_REQUIRES(store->write_mu);
void ki_store_batch_remove_at(ki_store *store, const ki_place *place) KI_REQUIRES(store->mu)
    KI_REQUIRES(store->write_mu);
void ki_store_batch_let_go(ki_store *store, ki_object *former) KI_REQUIRES(store->write_mu);

/* Some steps before a key is sought, and some fewer: its places are fetched from memory while others are
 * dealt with. `object` is what will be put there, or NULL. */
void ki_store_batch_expect_hash(ki_store *store, uint64_t hash) KI_REQUIRES(store->mu);
void ki_store_batch_expect(ki_store *store, uint64_t hash, const ki_object *object) KI_REQUIRES(store->mu);

/* The hash that the store has for a key, for who keeps it. */
static inline const ki_hash_key *ki_store_hash_key(const ki_store *store)
{
    return &store->keyer.secret;
}

/* Waits for readers, if memory waits for them: for a writer that is idle. Never inside a read section. */
void ki_store_flush(ki_store *store) KI_EXCLUDES(store->write_mu);

/* The same for a writer that comes by when it has done what there was: once something has waited for a while.
 * `*due_ms` is the writer's note of when to come by at the latest; UINT64_MAX: nothing waits. */
void ki_store_flush_when_due(ki_store *store, uint64_t now_ms, uint64_t *due_ms) KI_EXCLUDES(store->write_mu);

/* The content that readers see, for the writer and for readers in a section. */
static inline ki_content *ki_store_content(const ki_store *store)
{
    /* Acquire: a content was complete before it was published. */
    return atomic_load_explicit(&((ki_store *)store)->content, memory_order_acquire);
}

#endif
