/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a store without a lock. Everything that is reached inside a read section, objects and arrays alike,
 * lives until its end: the writer frees it only after a grace period. So a reference may be taken there. */
#include <kinformer/error.h>
#include <string.h>

#include "store/store.h"
#include "util/loop/rcu.h"

void ki_read_lock(void)
{
    ki_rcu_read_lock();
}

void ki_read_unlock(void)
{
    ki_rcu_read_unlock();
}

/* ---- one object ------------------------------------------------------------------------------------ */

ki_object *ki_store_get_key(ki_store *store, ki_str key)
{
    if (store == NULL)
        return NULL;
    ki_rcu_read_lock();
    ki_object *object = ki_object_ref(ki_content_find(ki_store_content(store), key));
    ki_rcu_read_unlock();
    return object;
}

ki_object *ki_store_get(ki_store *store, const char *ns, const char *name)
{
    ki_key_buffer buffer;
    return name == NULL
               ? NULL
               : ki_store_get_key(store, ki_key_buffer_join(&buffer, ki_str_of(ns), ki_str_of(name)));
}

const ki_object *ki_store_peek_key(ki_store *store, ki_str key)
{
    if (store == NULL || !ki_rcu_is_reading())
        return NULL;
    return ki_content_find(ki_store_content(store), key);
}

const ki_object *ki_store_peek(ki_store *store, const char *ns, const char *name)
{
    ki_key_buffer buffer;
    return name == NULL
               ? NULL
               : ki_store_peek_key(store, ki_key_buffer_join(&buffer, ki_str_of(ns), ki_str_of(name)));
}

/* ---- several --------------------------------------------------------------------------------------- */

typedef struct walker {
    ki_walk_cb callback;
    void *user;
} walker;

static int call(void *entry, uint32_t hash, void *user)
{
    (void)hash;
    const walker *w = user;
    return w->callback(entry, w->user);
}

static int walk_table(const ki_store *store, const ki_table *objects, walker *w)
{
    return ki_table_visit(objects, &(ki_table_walk){call, w, ki_keyer_same_key, &store->keyer});
}

int ki_store_walk(ki_store *store, ki_walk_cb callback, void *user)
{
    if (store == NULL || callback == NULL)
        return KI_ERR_INVALID;
    walker w = {callback, user};
    ki_rcu_read_lock();
    int rc = walk_table(store, &ki_store_content(store)->objects, &w);
    ki_rcu_read_unlock();
    return rc;
}

/* Inside a read section. */
static int walk_posting(const ki_store *store, const char *index_name, ki_str value, walker *w)
{
    const ki_index *index = ki_content_find_index(ki_store_content(store), ki_str_of(index_name));
    if (index == NULL)
        return KI_ERR_NOT_FOUND;
    const ki_posting *posting = ki_index_find(index, value, &store->keyer);
    return posting == NULL ? 0 : walk_table(store, &posting->objects, w);
}

int ki_store_walk_index(ki_store *store, const char *index, ki_str value, ki_walk_cb callback, void *user)
{
    if (store == NULL || index == NULL || callback == NULL)
        return KI_ERR_INVALID;
    walker w = {callback, user};
    ki_rcu_read_lock();
    int rc = walk_posting(store, index, value, &w);
    ki_rcu_read_unlock();
    return rc;
}

static int keep_newest(const ki_object *object, void *user)
{
    const ki_object **best = user;
    int order = 0;
    if (*best == NULL || (ki_resource_version_compare(ki_object_resource_version(object),
                                                      ki_object_resource_version(*best), &order) == 0 &&
                          order > 0))
        *best = object;
    return 0;
}

const ki_object *ki_store_peek_one(ki_store *store, const char *index, ki_str value)
{
    if (store == NULL || index == NULL || !ki_rcu_is_reading())
        return NULL;
    const ki_object *best = NULL;
    walker w = {keep_newest, &best};
    (void)walk_posting(store, index, value, &w);
    return best;
}

/* ---- numbers --------------------------------------------------------------------------------------- */

/* Relaxed, in all three: the number may be outdated, and orders nothing. */
size_t ki_store_count(const ki_store *store)
{
    return store == NULL ? 0 : atomic_load_explicit(&((ki_store *)store)->count, memory_order_relaxed);
}

size_t ki_store_bytes(const ki_store *store)
{
    return store == NULL ? 0 : atomic_load_explicit(&((ki_store *)store)->bytes, memory_order_relaxed);
}

uint64_t ki_store_index_failures(const ki_store *store)
{
    return store == NULL ? 0
                         : atomic_load_explicit(&((ki_store *)store)->index_failures, memory_order_relaxed);
}
