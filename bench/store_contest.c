/* SPDX-License-Identifier: Apache-2.0 */
#include "store_contest.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "bench.h"
#include "store/content.h"
#include "store/store.h"
#include "util/thread.h"

/* Readers look up only these keys, so that locks are compared and not the machine's memory;
 * the writer updates all objects. */
enum { HOT_KEYS = 512, KEY_BYTES = 64 };

/* The state that all threads of a run share. */
struct arena {
    const struct store_contest *contest;
    ki_store *store;
    ki_keyer keyer;
    ki_content *content; /* the table under the rwlock */
    ki_reclaim reclaim;
    pthread_rwlock_t lock;
    atomic_bool is_over;
    atomic_bool has_failed;
    atomic_ullong lookups;
    atomic_ullong updates;
};

struct reader {
    struct arena *arena;
    ki_thread thread;
    ki_str keys[HOT_KEYS];
    char text[HOT_KEYS][KEY_BYTES];
};

const char *store_contestant_name(enum store_contestant contestant)
{
    static const char *const names[STORE_CONTESTANTS] = {"kinformer get", "kinformer peek",
                                                         "pthread_rwlock, reference", "pthread_rwlock, look"};
    return names[contestant];
}

/* ---- the four contestants -------------------------------------------------------------------------- */

static bool look(const ki_object *object, ki_str key)
{
    return object != NULL && ki_object_key_str(object).len == key.len;
}

static bool look_up(struct arena *arena, ki_str key)
{
    bool is_found = false;
    ki_object *object = NULL;
    switch (arena->contest->contestant) {
    case STORE_GET:
        object = ki_store_get_key(arena->store, key);
        is_found = look(object, key);
        (void)ki_object_unref(object);
        break;
    case STORE_PEEK:
        ki_read_lock();
        is_found = look(ki_store_peek_key(arena->store, key), key);
        ki_read_unlock();
        break;
    case RWLOCK_GET:
        pthread_rwlock_rdlock(&arena->lock);
        object = ki_object_ref(ki_content_find(arena->content, key));
        pthread_rwlock_unlock(&arena->lock);
        is_found = look(object, key);
        (void)ki_object_unref(object);
        break;
    default:
        pthread_rwlock_rdlock(&arena->lock);
        is_found = look(ki_content_find(arena->content, key), key);
        pthread_rwlock_unlock(&arena->lock);
        break;
    }
    return is_found;
}

static bool update(struct arena *arena, const ki_object *object)
{
    if (arena->store != NULL) {
        return ki_store_put(arena->store, object) == 0;
    }
    ki_object *former = NULL;
    pthread_rwlock_wrlock(&arena->lock);
    int rc = ki_content_put(arena->content, object, &arena->reclaim, &former);
    pthread_rwlock_unlock(&arena->lock);
    (void)ki_object_unref(former);
    return rc == 0;
}

/* ---- threads --------------------------------------------------------------------------------------- */

static void choose_keys(struct reader *reader, uint64_t seed)
{
    const struct store_pods *pods = &reader->arena->contest->versions[0];
    for (int i = 0; i < HOT_KEYS; i++) {
        const ki_object *object = pods->objects[store_pods_next(&seed) % pods->count];
        int len = snprintf(reader->text[i], KEY_BYTES, "%s", ki_object_key(object));
        reader->keys[i] = (ki_str){reader->text[i], (size_t)len};
    }
}

static void read_keys(void *user)
{
    struct reader *reader = user;
    struct arena *arena = reader->arena;
    unsigned long long lookups = 0;
    while (!atomic_load_explicit(&arena->is_over, memory_order_relaxed)) {
        for (int i = 0; i < HOT_KEYS; i++) {
            if (!look_up(arena, reader->keys[i])) {
                atomic_store(&arena->has_failed, true);
            }
        }
        lookups += HOT_KEYS;
    }
    atomic_fetch_add(&arena->lookups, lookups);
}

/* Makes the updates that are due by the clock, then sleeps a little. */
static void write_updates(struct arena *arena)
{
    const struct store_contest *contest = arena->contest;
    const struct timespec little = {0, 200000};
    double start = bench_now_seconds();
    double elapsed = 0;
    uint64_t random = 1;
    unsigned long long done = 0;
    while (elapsed < contest->seconds) {
        while ((double)done < elapsed * STORE_CONTEST_UPDATES_A_SECOND && elapsed < contest->seconds) {
            for (int i = 0; i < 20; i++) {
                uint64_t number = store_pods_next(&random);
                const struct store_pods *pods = &contest->versions[number >> 40 & 1];
                if (!update(arena, pods->objects[number % pods->count])) {
                    atomic_store(&arena->has_failed, true);
                }
            }
            done += 20;
            elapsed = bench_now_seconds() - start;
        }
        nanosleep(&little, NULL);
        elapsed = bench_now_seconds() - start;
    }
    atomic_store(&arena->updates, done);
}

static bool run_threads(struct arena *arena, double *out_seconds)
{
    static struct reader readers[STORE_CONTEST_READERS_MAX];
    bool is_started = true;
    for (int i = 0; i < arena->contest->readers; i++) {
        readers[i].arena = arena;
        choose_keys(&readers[i], (uint64_t)i + 77);
        ki_thread_options options = {.name = "reader", .run = read_keys, .user = &readers[i]};
        is_started &= ki_thread_start(&readers[i].thread, &options, NULL) == 0;
    }
    double start = bench_now_seconds();
    write_updates(arena);
    atomic_store(&arena->is_over, true);
    *out_seconds = bench_now_seconds() - start;
    for (int i = 0; i < arena->contest->readers; i++) {
        ki_thread_join(&readers[i].thread);
    }
    return is_started && !atomic_load(&arena->has_failed);
}

/* ---- a run ----------------------------------------------------------------------------------------- */

/* The same table and the same index, with a lock around them. */
static bool init_content(struct arena *arena)
{
    const ki_index_function function = {.field = ki_object_namespace};
    ki_hash_key_init_seeded(&arena->keyer.secret, 1);
    ki_reclaim_init_private(&arena->reclaim);
    arena->content = ki_content_new(&arena->keyer);
    return arena->content != NULL &&
           ki_content_add_index(arena->content, KI_STR(KI_INDEX_NAMESPACE), &function) == 0;
}

static bool fill(struct arena *arena)
{
    const struct store_pods *pods = &arena->contest->versions[0];
    bool is_filled = true;
    for (size_t i = 0; i < pods->count && is_filled; i++) {
        is_filled = update(arena, pods->objects[i]);
    }
    return is_filled;
}

bool store_contest_run(const struct store_contest *contest, struct store_contest_result *out_result)
{
    struct arena arena = {.contest = contest};
    double seconds = 0;
    pthread_rwlock_init(&arena.lock, NULL);
    bool is_done = true;
    if (contest->contestant == STORE_GET || contest->contestant == STORE_PEEK) {
        arena.store = ki_store_new(NULL, NULL);
        is_done = arena.store != NULL;
    } else {
        is_done = init_content(&arena);
    }
    is_done = is_done && fill(&arena) && run_threads(&arena, &seconds);
    if (is_done) {
        out_result->lookups_a_second =
            (double)atomic_load(&arena.lookups) / seconds / (double)contest->readers;
        out_result->updates_a_second = (double)atomic_load(&arena.updates) / seconds;
    }
    ki_store_free(arena.store);
    ki_content_free(arena.content);
    pthread_rwlock_destroy(&arena.lock);
    return is_done;
}
