/* SPDX-License-Identifier: Apache-2.0 */
/* The public calls that write to a store, and the same calls for writers that must not wait (…_at_once). Both
 * put or remove one object in a batch (store/store.c). When there is no space, the public calls wait without
 * a lock, so that writers that must not wait are not blocked. */
#include <assert.h>
#include <kinformer/error.h>

#include "store/store.h"
#include "util/error.h"
#include "util/loop/rcu.h"

static void lock_with_space(ki_store *store) KI_ACQUIRE(store->write_mu)
{
    ki_mutex_lock(&store->write_mu);
    for (unsigned round = 0; !ki_reclaim_has_space(&store->reclaim); round++) {
        ki_mutex_unlock(&store->write_mu);
        ki_rcu_rest(round);
        ki_mutex_lock(&store->write_mu);
    }
}

/* Like ki_store_batch_begin(), once there is space. */
static void begin_with_space(ki_store *store) KI_ACQUIRE(store->write_mu) KI_ACQUIRE(store->mu)
{
    lock_with_space(store);
    ki_mutex_lock(&store->mu);
}

/* ---- one object ---------------------------------------------------------------------------------------- */

int ki_store_put(ki_store *store, const ki_object *object)
{
    if (store == NULL || object == NULL || store->is_sealed)
        return KI_ERR_INVALID;
    if (ki_rcu_is_reading())
        return KI_ERR_WOULD_DEADLOCK;
    begin_with_space(store);
    int rc = ki_store_batch_put(store, object, NULL);
    ki_store_batch_end(store);
    return rc;
}

int ki_store_put_at_once(ki_store *store, const ki_object *object)
{
    ki_store_batch_begin(store);
    int rc = ki_store_batch_put(store, object, NULL);
    ki_store_batch_end(store);
    return rc;
}

/* Space is reserved, so this does not fail with KI_ERR_NO_MEMORY. */
int ki_store_remove(ki_store *store, ki_str key)
{
    if (store == NULL || store->is_sealed)
        return KI_ERR_INVALID;
    if (ki_rcu_is_reading())
        return KI_ERR_WOULD_DEADLOCK;
    begin_with_space(store);
    int rc = ki_store_batch_remove(store, key, NULL);
    ki_store_batch_end(store);
    return rc;
}

int ki_store_remove_at_once(ki_store *store, ki_str key)
{
    assert(key.ptr != NULL || key.len == 0);
    ki_store_batch_begin(store);
    int rc = ki_store_batch_remove(store, key, NULL);
    ki_store_batch_end(store);
    return rc;
}

/* ---- all of them --------------------------------------------------------------------------------------- */

static int fresh_content(ki_store *store, ki_object *const *objects, size_t count, ki_content **out_content)
    KI_REQUIRES(store->write_mu)
{
    KI_ASSERT_HELD(store->write_mu);
    const ki_content *model = ki_store_content(store);
    ki_content *content = ki_content_new(&store->keyer);
    if (content == NULL)
        return KI_ERR_NO_MEMORY;
    int rc = ki_content_fill(content, model, objects, count);
    if (rc < 0) {
        ki_content_free(content);
        return rc;
    }
    content->index_failures += model->index_failures;
    *out_content = content;
    return 0;
}

/* Release: the content is complete before readers can find it. */
static void publish_content(ki_store *store, ki_content *content) KI_REQUIRES(store->write_mu)
{
    KI_ASSERT_HELD(store->write_mu);
    ki_mutex_lock(&store->mu);
    atomic_store_explicit(&store->content, content, memory_order_release);
    ki_store_publish_numbers(store, content);
    ki_mutex_unlock(&store->mu);
}

static bool is_usable(ki_object *const *objects, size_t count)
{
    if (objects == NULL)
        return count == 0;
    for (size_t i = 0; i < count; i++)
        if (objects[i] == NULL)
            return false;
    return true;
}

static void free_content(void *content)
{
    ki_content_free(content);
}

/* Builds the new content while readers use the old one, even those that hold mu. */
static int replace(ki_store *store, ki_object *const *objects, size_t count) KI_REQUIRES(store->write_mu)
{
    KI_ASSERT_HELD(store->write_mu);
    ki_content *fresh = NULL;
    int rc = fresh_content(store, objects, count, &fresh);
    if (rc < 0)
        return rc;
    ki_content *former = ki_store_content(store);
    publish_content(store, fresh);
    ki_reclaim_whole(&store->reclaim, &former->retired, former->bytes, free_content);
    return 0;
}

int ki_store_replace_at_once(ki_store *store, ki_object *const *objects, size_t count)
{
    assert(store != NULL);
    ki_mutex_lock(&store->write_mu);
    int rc = replace(store, objects, count);
    ki_store_end_writing(store);
    return rc;
}

int ki_store_replace(ki_store *store, ki_object *const *objects, size_t count)
{
    if (store == NULL || store->is_sealed || !is_usable(objects, count))
        return KI_ERR_INVALID;
    if (ki_rcu_is_reading())
        return KI_ERR_WOULD_DEADLOCK;
    lock_with_space(store);
    int rc = replace(store, objects, count);
    ki_store_end_writing(store);
    return rc;
}
