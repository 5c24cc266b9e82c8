/* SPDX-License-Identifier: Apache-2.0 */
/* Several informers with tiny queues and backlogs of every kind are used at random: handlers are added and
 * removed, and the informer is stopped, started, freed and created again, by its thread and by its own
 * handlers, while the server changes objects, cuts connections and drops its history; with delays after
 * unlocks (support/delays.c). In the end every informer has the server's objects, everything is freed in any
 * order, and each handler was released once. The same runs beside a thread that forks: children read what
 * they inherit and free it. Threads are the library's, and those that support/aside.c starts with
 * ki_thread_start(). */
#include <kinformer/factory.h>
#include <kinformer/resources.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/aside.h"
#include "support/patience.h"
#include "support/reflector/local_source.h"
#include "support/require.h"
#include "support/store/store_check.h"
#include "support/unit.h"
#include "util/random.h"

enum { RACE_MS = 2500, MONKEYS = 3, HANDLERS = 4, KEYS = 8, CHILD_SECONDS = 60 };

/* The objects that are freed at the end: the informers and the client. */
enum { THINGS = MONKEYS + 1, ORDERS = 24 };

struct monkey;

/* A handler; it may be told to stop its informer. */
typedef struct guest {
    struct monkey *monkey;
    ki_registration *registration; /* NULL: not registered; used by the monkey's thread */
    atomic_int inside;
    atomic_bool stops; /* stops its informer in the next event */
} guest;

typedef struct monkey {
    aside thread;
    struct jungle *jungle;
    ki_random random;
    ki_informer *informer;
    _Atomic(ki_informer *) inherited; /* for children: the informer, or NULL while it is being freed */
    guest guests[HANDLERS];
    atomic_int added;
    atomic_int released;
} monkey;

typedef struct jungle {
    local_source *source;
    ki_client *client;
    monkey monkeys[MONKEYS];
    aside forker;
    int forks;
    atomic_bool is_over;
} jungle;

static uint32_t below(monkey *m, uint32_t bound)
{
    return (uint32_t)ki_random_below(&m->random, bound);
}

/* ---- handlers ---------------------------------------------------------------------------------------- */

static void on_event(const ki_event *event, void *user)
{
    guest *g = user;
    require(atomic_fetch_add(&g->inside, 1) == 0);
    require(event->object != NULL);
    if (atomic_exchange(&g->stops, false)) {
        ki_informer_stop(g->monkey->informer);
        (void)!ki_informer_start(g->monkey->informer, NULL);
    }
    g->inside--;
}

static void on_release(void *user)
{
    guest *g = user;
    g->monkey->released++;
}

static void add_handler(monkey *m, guest *g)
{
    static const size_t bytes[] = {0, 1, 700};
    m->added++;
    g->stops = below(m, 4) == 0;
    g->registration = ki_informer_add_handler(m->informer,
                                              &(ki_handler){.on_add = on_event,
                                                            .on_update = on_event,
                                                            .on_delete = on_event,
                                                            .on_release = on_release,
                                                            .overflow = (ki_overflow)below(m, 3),
                                                            .split_replaced = (int)below(m, 2),
                                                            .backlog_items_max = 1 + below(m, 3),
                                                            .backlog_bytes_max = bytes[below(m, 3)],
                                                            .user = g},
                                              NULL);
    require(g->registration != NULL);
}

/* Waits for the removal before the guest is used again. */
static void toggle_handler(monkey *m, guest *g)
{
    if (g->registration == NULL) {
        add_handler(m, g);
        return;
    }
    require(ki_registration_remove_and_wait(g->registration) == 0);
    g->registration = NULL;
}

/* ---- informers --------------------------------------------------------------------------------------- */

static void make_informer(monkey *m)
{
    ki_informer_options options = {.queue_items_max = 1 + below(m, 4),
                                   .queue_bytes_max = below(m, 2) == 0 ? 0 : 600,
                                   .backoff_ms = 1,
                                   .resync_ms = 1000};
    m->informer = ki_informer_new(m->jungle->client, &KI_CORE_V1_PODS, &options, NULL);
    require(m->informer != NULL);
    m->inherited = m->informer;
    require(ki_informer_start(m->informer, NULL) == 0);
}

static void renew_informer(monkey *m)
{
    m->inherited = NULL;
    ki_informer_free(m->informer);
    for (int i = 0; i < HANDLERS; i++)
        m->guests[i].registration = NULL;
    require(m->added == m->released);
    make_informer(m);
}

static void read_store(monkey *m)
{
    ki_object_list list = {0};
    require(ki_store_list(ki_informer_store(m->informer), &list) == 0);
    require(list.count <= KEYS);
    ki_object_list_fini(&list);
}

static void act(monkey *m)
{
    switch (below(m, 12)) {
    case 0:
        renew_informer(m);
        break;
    case 1:
    case 2:
        ki_informer_stop(m->informer);
        break;
    case 3:
        (void)!ki_informer_wait_for_sync(m->informer, 3, NULL);
        break;
    case 4:
        ki_informer_retry_now(m->informer);
        break;
    case 5:
    case 6:
        read_store(m);
        break;
    default:
        toggle_handler(m, &m->guests[below(m, HANDLERS)]);
        break;
    }
    require(ki_informer_start(m->informer, NULL) == 0);
}

static void go_wild(void *user)
{
    monkey *m = user;
    while (!m->jungle->is_over) {
        act(m);
        if (below(m, 4) == 0)
            aside_pause(1);
    }
}

/* ---- children ---------------------------------------------------------------------------------------- */

static int count_object(const ki_object *object, void *user)
{
    size_t *count = user;
    *count += object != NULL;
    return 0;
}

/* Sanitizer allocators do not handle their locks at a fork,
 * so under a sanitizer a child allocates nothing. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static int read_more(const ki_store *store)
{
    (void)store;
    return 0;
}
#else
static int read_more(const ki_store *store)
{
    ki_object_list list = {0};
    if (ki_store_list(store, &list) != 0 || list.count > KEYS || store_check(store, NULL) != 0)
        return 3;
    ki_object_list_fini(&list);
    ki_client *own = ki_client_new(&(ki_client_options){.no_cluster = 1}, NULL);
    if (own == NULL)
        return 4;
    ki_client_free(own);
    return 0;
}
#endif

static int read_and_free(ki_informer *informer)
{
    size_t count = 0;
    const ki_store *store = ki_informer_store(informer);
    ki_store_walk(store, count_object, &count);
    if (count > KEYS || count != ki_store_count(store))
        return 1;
    if (ki_informer_wait_for_sync(informer, HANG_MS, NULL) != KI_ERR_FORKED)
        return 2;
    int rc = read_more(store);
    ki_informer_stop(informer);
    ki_informer_free(informer);
    return rc;
}

static int be_a_child(jungle *j)
{
    int rc = 0;
    for (int i = 0; i < MONKEYS && rc == 0; i++) {
        ki_informer *informer = j->monkeys[i].inherited;
        rc = informer == NULL ? 0 : read_and_free(informer);
    }
    ki_client_free(j->client);
    return rc;
}

/* Signals are blocked on the thread that forks, and so in the child. */
static void fork_on(void *user)
{
    jungle *j = user;
    for (; !j->is_over; j->forks++) {
        int status = 0;
        pid_t child = fork();
        require(child >= 0);
        if (child == 0) {
            sigset_t none;
            (void)sigemptyset(&none);
            (void)sigprocmask(SIG_SETMASK, &none, NULL);
            (void)alarm(CHILD_SECONDS);
            (void)syscall(SYS_exit_group, be_a_child(j));
        }
        require(waitpid(child, &status, 0) == child);
        require(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
}

/* ---- the server -------------------------------------------------------------------------------------- */

/* A deleted object that is put again gets a different UID. */
static void change(jungle *j, uint64_t seed)
{
    ki_random random;
    ki_random_init(&random, 77 + seed);
    for (int i = 1; i * 2 < RACE_MS; i++) {
        char name[8];
        snprintf(name, sizeof(name), "n%u", (unsigned)ki_random_below(&random, KEYS));
        if (ki_random_below(&random, 3) == 0)
            (void)local_source_delete(j->source, "a", name);
        (void)local_source_put(j->source, "a", name, i);
        if (i % 50 == 0)
            local_source_cut(j->source);
        if (i % 130 == 0)
            local_source_forget(j->source);
        aside_pause(2);
    }
}

/* A handler that was told to stop its informer may still be doing so; then the informer is started again. */
static int catch_up(monkey *m, ki_str version, ki_error *err)
{
    int rc = KI_ERR_STOPPED;
    for (int i = 0; i < HANDLERS; i++)
        m->guests[i].stops = false;
    for (int i = 0; i <= HANDLERS && rc == KI_ERR_STOPPED; i++) {
        for (int k = 0; k < HANDLERS; k++)
            while (m->guests[k].inside > 0)
                aside_pause(1);
        *err = (ki_error){0};
        require(ki_informer_start(m->informer, NULL) == 0);
        rc = ki_informer_wait_for_version(m->informer, version, HANG_MS, err);
    }
    return rc;
}

static void assert_caught_up(monkey *m)
{
    char version[24];
    ki_error err = {0};
    snprintf(version, sizeof(version), "%llu", (unsigned long long)local_source_version(m->jungle->source));
    int rc = catch_up(m, ki_str_of(version), &err);
    assert_string_equal(err.message, "");
    assert_int_equal(rc, 0);
    assert_int_equal(local_source_differences(m->jungle->source, ki_informer_store(m->informer)), 0);
    assert_int_equal(store_check(ki_informer_store(m->informer), NULL), 0);
}

static void jungle_init(jungle *j, uint64_t seed)
{
    *j = (jungle){.source = local_source_new()};
    j->client = local_source_client(j->source, (ki_client_options){.handler_threads = 3});
    for (int i = 0; i < MONKEYS; i++) {
        monkey *m = &j->monkeys[i];
        m->jungle = j;
        ki_random_init(&m->random, seed * MONKEYS + (uint64_t)i + 1);
        for (int k = 0; k < HANDLERS; k++)
            m->guests[k].monkey = m;
        make_informer(m);
    }
}

/* ---- the end ----------------------------------------------------------------------------------------- */

static void free_thing(jungle *j, int thing)
{
    if (thing == MONKEYS)
        ki_client_free(j->client);
    else
        ki_informer_free(j->monkeys[thing].informer);
}

typedef struct freeing {
    aside thread;
    jungle *jungle;
    int thing;
} freeing;

static void free_aside(void *user)
{
    const freeing *f = user;
    free_thing(f->jungle, f->thing);
}

/* Frees everything in the n-th order, one after the other or each on its own thread. */
static void free_all(jungle *j, int n, bool is_at_once)
{
    int left[THINGS];
    freeing frees[THINGS];
    for (int i = 0; i < THINGS; i++)
        left[i] = i;
    for (int i = 0, count = THINGS; count > 0; i++, count--) {
        int at = n % count;
        n /= count;
        frees[i] = (freeing){.jungle = j, .thing = left[at]};
        left[at] = left[count - 1];
        if (is_at_once)
            aside_start(&frees[i].thread, free_aside, &frees[i]);
        else
            free_thing(j, frees[i].thing);
    }
    for (int i = 0; i < THINGS && is_at_once; i++)
        aside_join(&frees[i].thread);
}

static void jungle_fini(jungle *j, uint64_t seed)
{
    free_all(j, (int)(seed % ORDERS), seed % 2 == 0);
    for (int i = 0; i < MONKEYS; i++)
        assert_int_equal(j->monkeys[i].added, j->monkeys[i].released);
    assert_int_equal(local_source_released(j->source), local_source_opened(j->source));
    local_source_free(j->source);
    assert_int_equal(failures, 0);
}

static void end_within_time(aside *thread)
{
    assert_true(aside_ends_within(thread, HANG_MS));
    aside_join(thread);
}

static void run_jungle(bool has_forks)
{
    static jungle j;
    const char *given = getenv("KI_MONKEY_SEED"); /* for a different run */
    uint64_t seed = given == NULL ? 0 : strtoull(given, NULL, 10);
    jungle_init(&j, seed);
    for (int i = 0; i < MONKEYS; i++)
        aside_start(&j.monkeys[i].thread, go_wild, &j.monkeys[i]);
    if (has_forks)
        aside_start(&j.forker, fork_on, &j);
    change(&j, seed);
    j.is_over = true;
    if (has_forks)
        end_within_time(&j.forker);
    for (int i = 0; i < MONKEYS; i++)
        end_within_time(&j.monkeys[i].thread);
    assert_true(!has_forks || j.forks > 0);
    for (int i = 0; i < MONKEYS; i++)
        assert_caught_up(&j.monkeys[i]);
    jungle_fini(&j, seed);
}

static void caches_are_right_after_random_use(void **state)
{
    (void)state;
    run_jungle(false);
}

static void caches_are_right_after_random_use_beside_forks(void **state)
{
    (void)state;
    run_jungle(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(caches_are_right_after_random_use),
        cmocka_unit_test(caches_are_right_after_random_use_beside_forks),
    };
    return RUN_TESTS(tests);
}
