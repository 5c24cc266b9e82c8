/* SPDX-License-Identifier: Apache-2.0 */
/* Making a store, and writing to it in batches. */
#include "store/store.h"

#include <assert.h>
#include <inttypes.h>

#include "util/alloc.h"
#include "util/error.h"
#include "util/loop/rcu.h"

/* How long memory waits before an idle writer checks for readers, and the time between such checks. */
enum { FLUSH_MS = 1000 };

/* ---- fork ------------------------------------------------------------------------------------------- */

KI_NO_THREAD_SAFETY_ANALYSIS
static void on_fork(ki_fork_hook *hook, ki_fork_phase phase)
{
    ki_store *store = KI_CONTAINER_OF(hook, ki_store, fork_hook);
    if (phase == KI_FORK_PREPARE) {
        ki_mutex_lock(&store->write_mu);
        ki_mutex_lock(&store->mu);
    } else {
        ki_mutex_unlock(&store->mu);
        ki_mutex_unlock(&store->write_mu);
    }
}

/* ---- making and freeing ---------------------------------------------------------------------------- */

static ki_content *first_content(const ki_keyer *keyer)
{
    ki_index_function function = {.field = ki_object_namespace};
    ki_content *content = ki_content_new(keyer);
    if (content != NULL && ki_content_add_index(content, KI_STR(KI_INDEX_NAMESPACE), &function) < 0) {
        ki_content_free(content);
        return NULL;
    }
    return content;
}

/* There must be no readers. */
static void destroy(ki_store *store)
{
    ki_fork_remove(&store->fork_hook);
    ki_reclaim_fini_unread(&store->reclaim);
    ki_content_free(ki_store_content(store));
    ki_object_kept_unref(store->projection);
    ki_mutex_fini(&store->mu);
    ki_mutex_fini(&store->write_mu);
    ki_free(store);
}

ki_store *ki_store_new(const ki_store_options *options, ki_error *err)
{
    static const ki_store_options defaults = {0};
    if (options == NULL)
        options = &defaults;
    if (ki_fork_check(err) < 0)
        return NULL;
    ki_store *store = ki_calloc(1, sizeof(ki_store));
    if (store == NULL) {
        (void)ki_fail_no_memory(err);
        return NULL;
    }
    store->keyer.key = options->key;
    store->keyer.user = options->user;
    if (ki_hash_key_init(&store->keyer.secret) < 0) {
        (void)ki_fail_no_random(err);
        ki_free(store);
        return NULL;
    }
    ki_content *content = first_content(&store->keyer);
    if (content == NULL) {
        (void)ki_fail_no_memory(err);
        ki_free(store);
        return NULL;
    }
    atomic_init(&store->content, content);
    ki_mutex_init(&store->write_mu);
    ki_mutex_init(&store->mu);
    ki_reclaim_init(&store->reclaim, options->retired_bytes_max == 0 ? KI_STORE_RETIRED_BYTES_MAX
                                                                     : options->retired_bytes_max);
    store->fork_hook = (ki_fork_hook){.order = KI_FORK_STORES, .run = on_fork};
    if (ki_rcu_begin() < 0 || ki_fork_add(&store->fork_hook) < 0) {
        (void)ki_fail_no_memory(err);
        destroy(store);
        return NULL;
    }
    return store;
}

void ki_store_use_seed(ki_store *store, uint64_t seed)
{
    assert(ki_store_count(store) == 0);
    ki_hash_key_init_seeded(&store->keyer.secret, seed);
}

void ki_store_seal(ki_store *store, const ki_log_sink *log)
{
    assert(store != NULL);
    store->is_sealed = true;
    store->log = log;
}

bool ki_store_close(ki_store *store)
{
    assert(store != NULL);
    if (store->closing == 0)
        store->closing = ki_rcu_begin_grace();
    return ki_rcu_has_passed(store->closing);
}

void ki_store_free(ki_store *store)
{
    if (store == NULL)
        return;
    if (ki_rcu_is_reading()) { /* the call would wait for itself; a leak is better */
        ki_log_to(store->log, KI_LOG_ERROR, "store", KI_LOG_NO_FIELDS,
                  "a store cannot be freed inside a read section: it is leaked");
        return;
    }
    /* Wait for readers that use objects without a reference. */
    if (!ki_store_close(store))
        ki_rcu_wait(store->closing);
    destroy(store);
}

/* ---- batches --------------------------------------------------------------------------------------- */

void ki_store_batch_begin(ki_store *store)
{
    assert(!ki_rcu_is_reading());
    ki_mutex_lock(&store->write_mu);
    ki_mutex_lock(&store->mu);
}

/* Logs the first, second, fourth, eighth failure and so on,
 * because a function may fail for every object each time. */
static bool is_worth_a_line(uint64_t failures, uint64_t told)
{
    uint64_t mark = 1;
    while (mark <= failures / 2)
        mark *= 2;
    return failures > 0 && mark > told;
}

static void log_miss(const ki_store *store, const ki_index_miss *miss)
{
    ki_log_to(store->log, KI_LOG_WARNING, "store", KI_LOG_FIELDS({"index", ki_str_of(miss->index)}),
              "the index function looks for %s, which `keep` and `drop` remove from every object",
              miss->path);
}

/* The log callback belongs to the program, so it is called without a lock. */
void ki_store_end_writing(ki_store *store)
{
    assert(store != NULL);
    ki_content *content = ki_store_content(store);
    uint64_t failures = content->index_failures;
    ki_index_failure last;
    ki_index_miss miss = {.path = ""};
    if (content->miss.path[0] != 0) {
        miss = content->miss;
        content->miss.path[0] = 0;
    }
    bool is_told = is_worth_a_line(failures, store->failures_told);
    if (is_told) {
        last = content->failure;
        store->failures_told = failures;
    }
    ki_reclaim_settle(&store->reclaim);
    ki_mutex_unlock(&store->write_mu);
    if (is_told)
        ki_log_to(store->log, KI_LOG_WARNING, "store",
                  KI_LOG_FIELDS({"index", ki_str_of(last.index)}, {"key", ki_str_of(last.key)}),
                  "index functions have failed %" PRIu64 " times in all, the last one: %s", failures,
                  last.what);
    if (miss.path[0] != 0)
        log_miss(store, &miss);
}

void ki_store_batch_end(ki_store *store)
{
    assert(store != NULL);
    ki_mutex_unlock(&store->mu);
    ki_store_end_writing(store);
}

/* Relaxed: these numbers are only reported, and order nothing. */
void ki_store_publish_numbers(ki_store *store, const ki_content *content)
{
    KI_ASSERT_HELD(store->write_mu);
    assert(store != NULL);
    atomic_store_explicit(&store->count, content->objects.count, memory_order_relaxed);
    atomic_store_explicit(&store->bytes, content->bytes, memory_order_relaxed);
    atomic_store_explicit(&store->index_failures, content->index_failures, memory_order_relaxed);
}

/* `former` is no longer reachable; NULL means that there was none. */
static void let_go(ki_store *store, ki_object *former, ki_object **out_former) KI_REQUIRES(store->write_mu)
{
    KI_ASSERT_HELD(store->write_mu);
    if (out_former != NULL)
        *out_former = ki_object_ref(former);
    ki_store_batch_let_go(store, former);
}

int ki_store_batch_put(ki_store *store, const ki_object *object, ki_object **out_former)
{
    KI_ASSERT_HELD(store->mu);
    KI_ASSERT_HELD(store->write_mu);
    assert(store != NULL);
    ki_content *content = ki_store_content(store);
    ki_object *former = NULL;
    int rc = ki_store_batch_reserve(store);
    if (rc == 0)
        rc = ki_content_put(content, object, &store->reclaim, &former);
    if (rc < 0)
        return rc;
    ki_store_publish_numbers(store, content);
    let_go(store, former, out_former);
    return 0;
}

int ki_store_batch_remove(ki_store *store, ki_str key, ki_object **out_former)
{
    KI_ASSERT_HELD(store->mu);
    KI_ASSERT_HELD(store->write_mu);
    assert(store != NULL);
    assert(key.ptr != NULL || key.len == 0);
    ki_content *content = ki_store_content(store);
    ki_object *former = NULL;
    int rc = ki_store_batch_reserve(store);
    if (rc == 0)
        rc = ki_content_remove(content, key, &store->reclaim, &former);
    if (rc < 0)
        return rc;
    ki_store_publish_numbers(store, content);
    let_go(store, former, out_former);
    return 0;
}

ki_place ki_store_batch_seek(ki_store *store, ki_str key, uint64_t hash)
{
    KI_ASSERT_HELD(store->mu);
    assert(hash == ki_keyer_hash(&store->keyer, key));
    return ki_content_seek(ki_store_content(store), key, hash);
}

int ki_store_batch_reserve(ki_store *store)
{
    KI_ASSERT_HELD(store->write_mu);
    assert(store != NULL);
    return ki_reclaim_reserve(&store->reclaim);
}

int ki_store_batch_put_at(ki_store *store, const ki_object *object, const ki_place *place)
{
    KI_ASSERT_HELD(store->mu);
    KI_ASSERT_HELD(store->write_mu);
    assert(store != NULL);
    ki_content *content = ki_store_content(store);
    int rc = ki_store_batch_reserve(store);
    if (rc == 0)
        rc = ki_content_put_at(content, object, place, &store->reclaim);
    if (rc == 0)
        ki_store_publish_numbers(store, content);
    return rc;
}

void ki_store_batch_remove_at(ki_store *store, const ki_place *place)
{
    KI_ASSERT_HELD(store->mu);
    KI_ASSERT_HELD(store->write_mu);
    assert(store != NULL);
    ki_content *content = ki_store_content(store);
    ki_content_remove_at(content, place, &store->reclaim);
    ki_store_publish_numbers(store, content);
}

void ki_store_batch_let_go(ki_store *store, ki_object *former)
{
    KI_ASSERT_HELD(store->write_mu);
    assert(store != NULL);
    if (former != NULL)
        ki_reclaim_object(&store->reclaim, former);
}

void ki_store_batch_expect_hash(ki_store *store, uint64_t hash)
{
    KI_ASSERT_HELD(store->mu);
    ki_content_expect_hash(ki_store_content(store), hash);
}

void ki_store_batch_expect(ki_store *store, uint64_t hash, const ki_object *object)
{
    KI_ASSERT_HELD(store->mu);
    ki_content_expect(ki_store_content(store), hash, object);
}

/* ---- released memory ----------------------------------------------------------------------------------- */

bool ki_store_has_space(ki_store *store)
{
    assert(store != NULL);
    ki_mutex_lock(&store->write_mu);
    bool has_space = ki_reclaim_has_space(&store->reclaim);
    ki_mutex_unlock(&store->write_mu);
    return has_space;
}

void ki_store_flush_when_due(ki_store *store, uint64_t now_ms, uint64_t *due_ms)
{
    assert(store != NULL);
    ki_mutex_lock(&store->write_mu);
    bool is_due = now_ms >= *due_ms;
    if (is_due)
        (void)ki_reclaim_poll(&store->reclaim);
    if (ki_reclaim_is_empty(&store->reclaim))
        *due_ms = UINT64_MAX;
    else if (is_due || *due_ms == UINT64_MAX)
        *due_ms = now_ms + FLUSH_MS;
    ki_mutex_unlock(&store->write_mu);
}
