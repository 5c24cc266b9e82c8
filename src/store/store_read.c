/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a store without a lock. Objects and arrays that are reached inside a read section live until its
 * end, because the writer frees them only after a grace period. So a reference may be taken there. */
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

ki_object *ki_store_get_key(const ki_store *store, ki_str key)
{
    if (store == NULL)
        return NULL;
    ki_rcu_read_lock();
    ki_object *object = ki_object_ref(ki_content_find(ki_store_content(store), key));
    ki_rcu_read_unlock();
    return object;
}

ki_object *ki_store_get(const ki_store *store, ki_str ns, ki_str name)
{
    ki_key_buffer buffer;
    return ki_store_get_key(store, ki_key_buffer_join(&buffer, ns, name));
}

const ki_object *ki_store_peek_key(const ki_store *store, ki_str key)
{
    if (store == NULL || !ki_rcu_is_reading())
        return NULL;
    return ki_content_find(ki_store_content(store), key);
}

const ki_object *ki_store_peek(const ki_store *store, ki_str ns, ki_str name)
{
    ki_key_buffer buffer;
    return ki_store_peek_key(store, ki_key_buffer_join(&buffer, ns, name));
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

int ki_store_walk(const ki_store *store, ki_walk_cb callback, void *user)
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

int ki_store_walk_index(const ki_store *store, const char *index, ki_str value, ki_walk_cb callback,
                        void *user)
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

/* Inside a read section. */
static const ki_object *find_one(const ki_store *store, const char *index, ki_str value)
{
    const ki_object *best = NULL;
    walker w = {keep_newest, &best};
    (void)walk_posting(store, index, value, &w);
    return best;
}

const ki_object *ki_store_peek_one(const ki_store *store, const char *index, ki_str value)
{
    return store == NULL || index == NULL || !ki_rcu_is_reading() ? NULL : find_one(store, index, value);
}

ki_object *ki_store_get_one(const ki_store *store, const char *index, ki_str value)
{
    if (store == NULL || index == NULL)
        return NULL;
    ki_rcu_read_lock();
    ki_object *object = ki_object_ref(find_one(store, index, value));
    ki_rcu_read_unlock();
    return object;
}

/* ---- copies ---------------------------------------------------------------------------------------- */

static int fail_invalid(ki_fields *fields)
{
    return ki_object_copy_fields(NULL, fields); /* zeroes the texts */
}

static int copy_found(const ki_object *object, ki_fields *fields)
{
    if (object != NULL)
        return ki_object_copy_fields(object, fields);
    int rc = fail_invalid(fields);
    return fields == NULL ? rc : KI_ERR_NOT_FOUND;
}

int ki_store_copy_key(const ki_store *store, ki_str key, ki_fields *fields)
{
    if (store == NULL)
        return fail_invalid(fields);
    ki_rcu_read_lock();
    int rc = copy_found(ki_content_find(ki_store_content(store), key), fields);
    ki_rcu_read_unlock();
    return rc;
}

int ki_store_copy_one(const ki_store *store, const char *index, ki_str value, ki_fields *fields)
{
    if (store == NULL || index == NULL)
        return fail_invalid(fields);
    ki_rcu_read_lock();
    int rc = copy_found(find_one(store, index, value), fields);
    ki_rcu_read_unlock();
    return rc;
}

/* ---- with a pointer and a length ------------------------------------------------------------------- */

ki_object *ki_store_get_key_n(const ki_store *store, const char *key, size_t key_len)
{
    return ki_store_get_key(store, ki_str_from(key, key_len));
}

ki_object *ki_store_get_one_n(const ki_store *store, const char *index, const char *value, size_t value_len)
{
    return ki_store_get_one(store, index, ki_str_from(value, value_len));
}

const ki_object *ki_store_peek_key_n(const ki_store *store, const char *key, size_t key_len)
{
    return ki_store_peek_key(store, ki_str_from(key, key_len));
}

const ki_object *ki_store_peek_one_n(const ki_store *store, const char *index, const char *value,
                                     size_t value_len)
{
    return ki_store_peek_one(store, index, ki_str_from(value, value_len));
}

int ki_store_copy_key_n(const ki_store *store, const char *key, size_t key_len, ki_fields *fields)
{
    return ki_store_copy_key(store, ki_str_from(key, key_len), fields);
}

int ki_store_copy_one_n(const ki_store *store, const char *index, const char *value, size_t value_len,
                        ki_fields *fields)
{
    return ki_store_copy_one(store, index, ki_str_from(value, value_len), fields);
}

/* ---- numbers --------------------------------------------------------------------------------------- */

/* Relaxed, in all three functions: the number may be outdated, and orders nothing. */
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
