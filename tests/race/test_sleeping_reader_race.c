/* SPDX-License-Identifier: Apache-2.0 */
/* The library's threads work beside readers that stay in a read section: informers of the same client and of
 * another one receive everything, a stop returns, and a free waits without delaying other threads. */
#include <kinformer.h>
#include <unistd.h>

#include "informer/informer.h"
#include "support/aside.h"
#include "support/informer/heard.h"
#include "support/informer/informer_rig.h"
#include "support/patience.h"
#include "support/require.h"
#include "support/sleeper.h"
#include "support/unit.h"

enum { ROUNDS = 40, LIMIT = 2000 };

typedef struct follower {
    ki_informer *informer;
    heard heard;
} follower;

static void follow(follower *f, ki_client *client)
{
    heard_init(&f->heard);
    f->informer = ki_informer_new(client, &KI_CORE_V1_PODS, NULL, NULL);
    assert_non_null(f->informer);
    ki_handler handler = heard_handler(&f->heard);
    assert_non_null(ki_informer_add_handler(f->informer, &handler, NULL));
    assert_int_equal(ki_informer_start(f->informer, NULL), 0);
    assert_int_equal(ki_informer_wait_for_sync(f->informer, HANG_MS, NULL), 0);
}

static void unfollow(follower *f)
{
    ki_informer_free(f->informer);
    assert_int_equal(atomic_load(&f->heard.wrongs), 0);
    heard_fini(&f->heard);
}

/* Makes changes that reach these followers while a reader stays in its section. */
static void change_and_hear(local_source *source, follower *followers, size_t count)
{
    int before[4];
    for (size_t i = 0; i < count; i++)
        before[i] = atomic_load(&followers[i].heard.updates);
    for (int round = 0; round < ROUNDS; round++) {
        (void)local_source_put(source, "a", "n0", round);
        for (size_t i = 0; i < count; i++)
            assert_true(heard_wait(&followers[i].heard, &followers[i].heard.updates, before[i] + round + 1));
    }
}

static void limit(ki_store *store)
{
    ki_mutex_lock(&store->write_mu);
    store->reclaim.bytes_max = LIMIT;
    ki_mutex_unlock(&store->write_mu);
}

static void free_informer(void *user)
{
    ki_informer_free(user);
}

static void readers_that_stay_delay_no_informer_but_the_one_with_a_full_store(void **state)
{
    (void)state;
    local_rig one;
    local_rig two;
    follower followers[2];
    follower full;
    sleeper s;
    local_rig_init(&one, (ki_client_options){.mode = KI_MODE_THREADS});
    local_rig_init(&two, (ki_client_options){.mode = KI_MODE_THREADS});
    follow(&full, one.client);
    follow(&followers[0], one.client);
    follow(&followers[1], two.client);
    limit(full.informer->store);
    sleeper_begin(&s, ki_informer_store(full.informer));
    change_and_hear(one.source, followers, 1);
    change_and_hear(two.source, &followers[1], 1);
    ki_informer_stop(followers[0].informer);
    sleeper_end(&s);
    assert_int_equal(ki_informer_start(followers[0].informer, NULL), 0);
    change_and_hear(one.source, followers, 1);
    while (local_source_differences(one.source, ki_informer_store(full.informer)) > 0)
        aside_pause(1);
    unfollow(&full);
    unfollow(&followers[0]);
    unfollow(&followers[1]);
    local_rig_fini(&one);
    local_rig_fini(&two);
}

static void a_free_waits_for_the_reader_and_delays_no_other_thread(void **state)
{
    (void)state;
    local_rig rig;
    follower goes;
    follower stays;
    sleeper s;
    aside freeing;
    local_rig_init(&rig, (ki_client_options){.mode = KI_MODE_THREADS});
    follow(&goes, rig.client);
    follow(&stays, rig.client);
    sleeper_begin(&s, ki_informer_store(goes.informer));
    aside_start(&freeing, free_informer, goes.informer);
    change_and_hear(rig.source, &stays, 1);
    assert_false(atomic_load(&freeing.is_done));
    sleeper_end(&s);
    assert_true(aside_ends_within(&freeing, HANG_MS));
    aside_join(&freeing);
    heard_fini(&goes.heard);
    unfollow(&stays);
    local_rig_fini(&rig);
}

/* Reads in sections of different lengths. An object that it has peeked at stays intact,
 * however often it changes meanwhile. */
typedef struct peeker {
    aside thread;
    const ki_store *store;
    atomic_bool is_over;
} peeker;

static void peek_for_long(void *user)
{
    peeker *p = user;
    for (unsigned n = 0; !atomic_load(&p->is_over); n++) {
        ki_read_lock();
        const ki_object *object = ki_store_peek(p->store, KI_STR("a"), KI_STR("n0"));
        require(object != NULL);
        if (n % 16 == 0)
            (void)usleep(500);
        require(ki_object_key_str(object).len == 4);
        require(ki_object_json(object).ptr[0] == '{');
        ki_read_unlock();
    }
}

static void a_peeked_object_lives_to_the_end_of_the_section(void **state)
{
    (void)state;
    enum { PEEKERS = 3 };
    local_rig rig;
    follower f;
    peeker peekers[PEEKERS];
    local_rig_init(&rig, (ki_client_options){.mode = KI_MODE_THREADS});
    follow(&f, rig.client);
    limit(f.informer->store);
    for (size_t i = 0; i < PEEKERS; i++) {
        peekers[i].store = ki_informer_store(f.informer);
        atomic_init(&peekers[i].is_over, false);
        aside_start(&peekers[i].thread, peek_for_long, &peekers[i]);
    }
    for (int round = 0; round < 5 * ROUNDS; round++)
        (void)local_source_put(rig.source, "a", "n0", round);
    while (local_source_differences(rig.source, ki_informer_store(f.informer)) > 0)
        aside_pause(1);
    for (size_t i = 0; i < PEEKERS; i++) {
        atomic_store(&peekers[i].is_over, true);
        aside_join(&peekers[i].thread);
    }
    unfollow(&f);
    local_rig_fini(&rig);
}

int main(void)
{
    (void)alarm(WATCHDOG_SECONDS);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readers_that_stay_delay_no_informer_but_the_one_with_a_full_store),
        cmocka_unit_test(a_free_waits_for_the_reader_and_delays_no_other_thread),
        cmocka_unit_test(a_peeked_object_lives_to_the_end_of_the_section),
    };
    return RUN_TESTS(tests);
}
