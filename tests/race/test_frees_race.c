/* SPDX-License-Identifier: Apache-2.0 */
/* Informers, feeds, a factory and a client that several threads and all callbacks use: they add and remove
 * handlers, start, stop and wait, and drop an object at a random moment. The last user frees it, wherever
 * that happens: on a thread, in a callback, in a read section, in an index function. This runs in all modes,
 * with delays (support/delays.c) and with forks in between. In the end nothing is left, and every handler was
 * released once. The threads are those that support/aside.c starts with ki_thread_start(). Set KI_FREES_MS
 * for a longer run and KI_FREES_SEED for a different one. */
#include <kinformer/factory.h>
#include <kinformer/feed.h>
#include <kinformer/resources.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/aside.h"
#include "support/patience.h"
#include "support/process.h"
#include "support/reflector/local_source.h"
#include "support/require.h"
#include "support/unit.h"
#include "util/clock.h"
#include "util/random.h"

enum { RACE_MS = 2000, MODES = 3, INFORMERS = 3, FEEDS = 3, HANDS = 3, CHILD_SECONDS = 60, ACTS = 40 };

/* Everything that is freed: informers, then feeds, the factory, the client. */
enum { FACTORY = INFORMERS + FEEDS, CLIENT, THINGS };

/* How far the seeds of two runs are apart, and those of two rounds of a run. */
enum { SEEDS = 1000000, SEEDS_OF_ROUND = 100 };

typedef struct world {
    local_source *source;
    ki_client *client;
    ki_informer *informers[INFORMERS];
    ki_feed *feeds[FEEDS];
    ki_factory *factory;
    ki_store *store;
    ki_delta_queue *queue;
    atomic_int users[THINGS];     /* calls that use it, plus 1 for the world; the last user frees it */
    atomic_bool given_up[THINGS]; /* by the world */
    atomic_int added;
    atomic_int released;
    atomic_int feeds_released;
    atomic_uint seed;
    int mode;
    atomic_bool is_over;
} world;

static uint32_t below(world *w, uint32_t bound)
{
    static _Thread_local ki_random random;
    static _Thread_local bool is_seeded;
    if (!is_seeded)
        ki_random_init(&random, ++w->seed);
    is_seeded = true;
    return (uint32_t)ki_random_below(&random, bound);
}

/* ---- using and freeing ------------------------------------------------------------------------------- */

static _Thread_local bool is_dispatcher;

static void free_thing(world *w, int thing)
{
    if (thing < INFORMERS)
        ki_informer_free(w->informers[thing]);
    else if (thing < FACTORY)
        ki_feed_free(w->feeds[thing - INFORMERS]);
    else if (thing == FACTORY)
        ki_factory_free(w->factory);
    else
        ki_client_free(w->client);
}

static bool take(world *w, int thing)
{
    int users = w->users[thing];
    while (users > 0)
        if (atomic_compare_exchange_weak(&w->users[thing], &users, users + 1))
            return true;
    return false;
}

static void drop(world *w, int thing)
{
    if (--w->users[thing] == 0)
        free_thing(w, thing);
}

/* Without library threads, only the dispatching thread may free the client. */
static void give_up(world *w, int thing)
{
    if (thing == CLIENT && w->mode != KI_MODE_THREADS && !is_dispatcher)
        return;
    if (!atomic_exchange(&w->given_up[thing], true))
        drop(w, thing);
}

/* ---- callbacks --------------------------------------------------------------------------------------- */

static void act(world *w);

static void maybe(void *user)
{
    world *w = user;
    if (below(w, 12) == 0)
        act(w);
}

static void on_event(const ki_event *event, void *user)
{
    require(event->object != NULL);
    maybe(user);
}

static int filter(const ki_object *object, void *user)
{
    (void)object;
    maybe(user);
    return 1;
}

static void on_release(void *user)
{
    world *w = user;
    maybe(w);
    w->released++;
}

static int transform(const ki_object **object, void *user)
{
    (void)object;
    maybe(user);
    return 0;
}

static void on_watch_error(ki_informer *informer, const ki_informer_error *error, void *user)
{
    (void)informer;
    (void)error;
    maybe(user);
}

static void on_status(ki_informer *informer, const ki_informer_status *status, void *user)
{
    (void)informer;
    (void)status;
    maybe(user);
}

static int index_function(const ki_object *object, ki_index_emit *emit, void *user)
{
    (void)object;
    maybe(user);
    return ki_index_emit_value(emit, ki_str_of("all"));
}

static int on_change(const ki_change *change, void *user)
{
    (void)change;
    maybe(user);
    return below(user, 8) == 0;
}

static int process(const ki_deltas *deltas, void *user)
{
    (void)deltas;
    maybe(user);
    return 0;
}

static void on_error(const ki_informer_error *error, void *user)
{
    (void)error;
    maybe(user);
}

static void on_feed_release(void *user)
{
    world *w = user;
    maybe(w);
    w->feeds_released++;
}

static int on_walk(const ki_object *object, void *user)
{
    (void)object;
    maybe(user);
    return 0;
}

/* ---- acts -------------------------------------------------------------------------------------------- */

static void add_handler(world *w, ki_informer *informer)
{
    ki_handler handler = {.on_add = on_event,
                          .on_update = on_event,
                          .on_delete = on_event,
                          .on_synced = maybe,
                          .on_batch_end = maybe,
                          .on_release = on_release,
                          .filter = filter,
                          .overflow = (ki_overflow)below(w, 3),
                          .backlog_items_max = 1 + below(w, 3),
                          .user = w};
    w->added++;
    ki_registration *registration = ki_informer_add_handler(informer, &handler, NULL);
    require(registration != NULL);
    if (below(w, 3) == 0)
        ki_registration_remove(registration);
    else if (below(w, 3) == 0 && ki_registration_remove_and_wait(registration) < 0)
        ki_registration_remove(registration);
}

static void use_informer(world *w, ki_informer *informer)
{
    switch (below(w, 8)) {
    case 0:
        ki_informer_stop(informer);
        break;
    case 1:
        (void)!ki_informer_wait_for_sync(informer, 1, NULL);
        break;
    case 2:
        ki_informer_retry_now(informer);
        break;
    case 3:
        (void)ki_store_walk(ki_informer_store(informer), on_walk, w);
        break;
    case 4:
        (void)ki_informer_add_index(informer, "late", index_function, w);
        break;
    case 5:
        add_handler(w, informer);
        break;
    default:
        (void)!ki_informer_start(informer, NULL);
        break;
    }
}

static void use_feed(world *w, ki_feed *feed)
{
    switch (below(w, 5)) {
    case 0:
        ki_feed_stop(feed);
        break;
    case 1:
        (void)!ki_feed_wait_for_sync(feed, 1, NULL);
        break;
    case 2:
        ki_feed_resume(feed);
        break;
    default:
        (void)!ki_feed_start(feed, NULL);
        break;
    }
}

static void use_factory(world *w)
{
    ki_informer *made =
        ki_factory_informer(w->factory, below(w, 2) == 0 ? &KI_CORE_V1_NODES : &KI_CORE_V1_SERVICES, NULL);
    switch (below(w, 5)) {
    case 0:
        ki_factory_stop(w->factory);
        break;
    case 1:
        (void)!ki_factory_wait_for_sync(w->factory, 1, NULL);
        break;
    case 2:
        (void)made; /* never removed, because other threads may use it */
        break;
    default:
        (void)!ki_factory_start(w->factory, NULL);
        break;
    }
}

static void use_client(world *w)
{
    if (below(w, 2) == 0)
        (void)!ki_client_post(w->client, maybe, w);
    else
        (void)ki_client_timeout_ms(w->client);
}

static void use(world *w, int thing)
{
    if (thing < INFORMERS)
        use_informer(w, w->informers[thing]);
    else if (thing < FACTORY)
        use_feed(w, w->feeds[thing - INFORMERS]);
    else if (thing == FACTORY)
        use_factory(w);
    else
        use_client(w);
}

static void act(world *w)
{
    static _Thread_local int depth;
    int thing = (int)below(w, THINGS);
    if (depth > 3 || !take(w, thing))
        return;
    depth++;
    if (below(w, 25) == 0)
        give_up(w, thing);
    else
        use(w, thing);
    if (below(w, 10) == 0) {
        ki_read_lock();
        drop(w, thing);
        ki_read_unlock();
    } else {
        drop(w, thing);
    }
    depth--;
}

/* ---- threads ----------------------------------------------------------------------------------------- */

static void be_a_hand(void *user)
{
    world *w = user;
    while (!w->is_over) {
        act(w);
        (void)local_source_put(w->source, "a", below(w, 2) == 0 ? "x" : "y", (int)below(w, 100));
        if (below(w, 20) == 0)
            (void)local_source_delete(w->source, "a", "x");
        if (below(w, 20) == 0)
            local_source_cut(w->source);
        if (below(w, 4) == 0)
            aside_pause(1);
    }
}

static int be_a_child(world *w, int thing)
{
    if (thing < INFORMERS) {
        if (ki_informer_wait_for_sync(w->informers[thing], HANG_MS, NULL) != KI_ERR_FORKED)
            return 1;
        (void)ki_store_walk(ki_informer_store(w->informers[thing]), NULL, NULL);
        ki_informer_stop(w->informers[thing]);
    }
    free_thing(w, thing);
    return 0;
}

static void fork_once(world *w)
{
    int thing = (int)below(w, THINGS);
    int status = 0;
    if (!take(w, thing))
        return;
    pid_t child = fork();
    require(child >= 0);
    if (child == 0) {
        (void)alarm(CHILD_SECONDS);
        (void)syscall(SYS_exit_group, be_a_child(w, thing));
    }
    require(waitpid(child, &status, 0) == child);
    require(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    drop(w, thing);
}

/* The main thread: it dispatches in the modes that need it, and ends the round. */
static void run_main(world *w)
{
    is_dispatcher = true;
    for (int i = 0; i < ACTS || !w->given_up[CLIENT]; i++) {
        if (!w->given_up[CLIENT] && w->mode != KI_MODE_THREADS)
            (void)ki_client_dispatch(w->client, 1);
        else
            aside_pause(1);
        if (i % 8 == 3)
            fork_once(w);
        if (i > ACTS && below(w, 3) == 0)
            give_up(w, CLIENT);
        else
            act(w);
    }
}

/* ---- a round ----------------------------------------------------------------------------------------- */

static uint64_t number_of(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text == NULL ? otherwise : strtoull(text, NULL, 10);
}

static void make_informer(world *w, int i)
{
    ki_informer_options options = {.queue_items_max = 2, .backoff_ms = 1};
    w->informers[i] = ki_informer_new(w->client, &KI_CORE_V1_PODS, &options, NULL);
    assert_non_null(w->informers[i]);
    assert_int_equal(ki_informer_set_transform(w->informers[i], transform, w), 0);
    assert_int_equal(ki_informer_set_error_handler(w->informers[i], on_watch_error, w), 0);
    assert_int_equal(ki_informer_set_status_handler(w->informers[i], on_status, w), 0);
    assert_int_equal(ki_informer_add_index(w->informers[i], "all", index_function, w), 0);
}

/* Makes one feed for each kind of destination. */
static void make_feed(world *w, int i)
{
    ki_feed_options options = {.informer = {.backoff_ms = 1},
                               .on_change = i == 0 ? on_change : NULL,
                               .store = i == 1 ? w->store : NULL,
                               .queue = i == 2 ? w->queue : NULL,
                               .process = i == 2 ? process : NULL,
                               .on_error = on_error,
                               .on_release = on_feed_release,
                               .user = w};
    w->feeds[i] = ki_feed_new(w->client, &KI_CORE_V1_PODS, &options, NULL);
    assert_non_null(w->feeds[i]);
}

static void world_init(world *w, int mode)
{
    static unsigned rounds;
    *w = (world){.source = local_source_new(), .mode = mode};
    w->seed = (unsigned)number_of("KI_FREES_SEED", 0) * SEEDS + ++rounds * SEEDS_OF_ROUND;
    w->client = local_source_client(w->source, (ki_client_options){.mode = (ki_mode)mode});
    w->store = ki_store_new(NULL, NULL);
    w->queue = ki_delta_queue_new(&(ki_delta_queue_options){.items_max = 4}, NULL);
    for (int i = 0; i < INFORMERS; i++)
        make_informer(w, i);
    for (int i = 0; i < FEEDS; i++)
        make_feed(w, i);
    w->factory = ki_factory_new(w->client, NULL);
    assert_true(w->store != NULL && w->queue != NULL && w->factory != NULL);
    for (int i = 0; i < THINGS; i++)
        w->users[i] = 1;
}

/* An object that was freed in a read section may need a library thread and a moment to go away. */
static void world_fini(world *w, int threads)
{
    for (int i = 0; i < THINGS; i++)
        give_up(w, i);
    assert_true(process_has_threads(threads));
    assert_int_equal(w->feeds_released, FEEDS);
    assert_int_equal(w->released, w->added);
    assert_int_equal(local_source_released(w->source), local_source_opened(w->source));
    local_source_free(w->source);
    ki_store_free(w->store);
    ki_delta_queue_free(w->queue);
    assert_int_equal(failures, 0);
}

static void run_round(int mode)
{
    static world w;
    aside hands[HANDS] = {0};
    int threads = process_idle_threads();
    int descriptors = process_descriptors();
    world_init(&w, mode);
    for (int i = 0; i < HANDS; i++)
        aside_start(&hands[i], be_a_hand, &w);
    run_main(&w);
    w.is_over = true;
    for (int i = 0; i < HANDS; i++) {
        if (!aside_ends_within(&hands[i], HANG_MS))
            fail_msg("mode %d: a thread hangs", mode);
        aside_join(&hands[i]);
    }
    world_fini(&w, threads);
    assert_int_equal(process_descriptors(), descriptors);
}

static void the_last_user_frees_it(void **state)
{
    (void)state;
    uint64_t until_ms = ki_clock_now_ms(ki_clock_real()) + number_of("KI_FREES_MS", RACE_MS);
    int rounds = 0;
    for (; ki_clock_now_ms(ki_clock_real()) < until_ms; rounds++)
        run_round(rounds % MODES);
    assert_true(rounds > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_user_frees_it),
    };
    return RUN_TESTS(tests);
}
