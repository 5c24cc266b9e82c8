/* SPDX-License-Identifier: Apache-2.0 */
/* Adds indexes to a store. Readers continue and writers are excluded while an index is built; then it is
 * published with one pointer. */
#include <assert.h>
#include <kinformer/error.h>

#include "store/store.h"
#include "util/error.h"
#include "util/loop/rcu.h"

static int add(ki_store *store, const char *name, const ki_index_function *function)
    KI_REQUIRES(store->write_mu)
{
    KI_ASSERT_HELD(store->write_mu);
    ki_content *content = ki_store_content(store);
    int rc = ki_content_add_index(content, ki_str_of(name), function);
    ki_store_publish_numbers(store, content);
    return rc;
}

/* The function may free the store's informer. The read section keeps the store alive until failures have been
 * logged. */
int ki_store_add_index(ki_store *store, const char *name, ki_index_cb callback, void *user)
{
    if (store == NULL || name == NULL || callback == NULL)
        return KI_ERR_INVALID;
    if (ki_rcu_is_reading())
        return KI_ERR_WOULD_DEADLOCK;
    ki_index_function function = {.callback = callback, .user = user};
    ki_rcu_read_lock();
    ki_mutex_lock(&store->write_mu);
    int rc = add(store, name, &function);
    ki_store_end_writing(store);
    ki_rcu_read_unlock();
    return rc;
}

/* ---- paths ------------------------------------------------------------------------------------------- */

static int add_path(ki_store *store, const char *name, ki_object_path *path, ki_error *err)
    KI_REQUIRES(store->write_mu)
{
    KI_ASSERT_HELD(store->write_mu);
    ki_index_function function = {.path = path};
    if (ki_object_kept_lacks(store->projection, ki_object_path_text(path)))
        return ki_fail(err, KI_ERR_INVALID, "adding the index \"%s\": `keep` and `drop` do not keep \"%s\"",
                       name, ki_object_path_text(path));
    int rc = add(store, name, &function);
    if (rc == KI_ERR_INVALID)
        return ki_fail(err, rc, "adding the index \"%s\": the name is already in use", name);
    return rc < 0 ? ki_fail(err, rc, "adding the index \"%s\": %s", name, ki_error_text(rc)) : 0;
}

int ki_store_try_index_path(ki_store *store, const char *name, const char *path, ki_error *err)
{
    ki_error why = {0};
    if (store == NULL || name == NULL)
        return ki_fail(err, KI_ERR_INVALID, "adding an index: no %s given", store == NULL ? "store" : "name");
    if (ki_rcu_is_reading())
        return ki_fail(err, KI_ERR_WOULD_DEADLOCK, "adding the index \"%s\" in a read section", name);
    ki_object_path *compiled = ki_object_path_new(path, &why);
    if (compiled == NULL)
        return ki_fail(err, why.code, "adding the index \"%s\": %s", name, why.message);
    ki_mutex_lock(&store->write_mu);
    int rc = add_path(store, name, compiled, err);
    ki_store_end_writing(store);
    ki_object_path_unref(compiled);
    return rc;
}

int ki_store_add_index_path(ki_store *store, const char *name, const char *path)
{
    ki_error err = {0};
    int rc = ki_store_try_index_path(store, name, path, &err);
    if (rc < 0)
        ki_log_to(store == NULL ? NULL : store->log, KI_LOG_ERROR, "store", KI_LOG_NO_FIELDS, "%s",
                  err.message);
    return rc;
}

int ki_store_visit_index_paths(ki_store *store, int (*visit)(const char *path, void *user), void *user)
{
    assert(store != NULL && visit != NULL);
    int rc = 0;
    ki_mutex_lock(&store->write_mu);
    const ki_index *index = ki_content_first_index(ki_store_content(store));
    for (; index != NULL && rc == 0; index = ki_content_next_index(index))
        if (index->function.path != NULL)
            rc = visit(ki_object_path_text(index->function.path), user);
    ki_mutex_unlock(&store->write_mu);
    return rc;
}

void ki_store_set_projection(ki_store *store, struct ki_projection *projection)
{
    assert(store != NULL);
    ki_mutex_lock(&store->write_mu);
    struct ki_projection *former = store->projection;
    store->projection = ki_object_kept_ref(projection);
    ki_store_content(store)->projection = projection;
    ki_mutex_unlock(&store->write_mu);
    ki_object_kept_unref(former);
}
