/* SPDX-License-Identifier: Apache-2.0 */
/* Several informers with tiny queues and backlogs of every kind, each in the hands of a monkey: handlers come
 * and go, it is stopped, started, freed and made anew, from outside and from its own handlers, while the
 * server changes, replaces, cuts and forgets; with delays wherever a lock is given away (support/delays.c).
 * In the end every informer has what the server has. The threads are the library's, and those that
 * support/aside.c starts with ki_thread_start(). */
#include <kinformer/factory.h>
#include <kinformer/resources.h>
#include <stdio.h>

#include "support/aside.h"
#include "support/local_source.h"
#include "support/patience.h"
#include "support/require.h"
#include "support/store_check.h"
#include "support/unit.h"
#include "util/random.h"

enum { RACE_MS = 2500, MONKEYS = 3, HANDLERS = 4, KEYS = 8 };

struct monkey;

/* A handler, which may be told to do something from inside. */
typedef struct guest {
    struct monkey *monkey;
    ki_registration *registration; /* NULL: none; the monkey's */
    atomic_int inside;
    atomic_bool stops; /* its informer, once */
} guest;

typedef struct monkey {
    aside thread;
    struct jungle *jungle;
    ki_random random;
    ki_informer *informer;
    guest guests[HANDLERS];
    atomic_int added;
    atomic_int released;
} monkey;

typedef struct jungle {
    local_source *source;
    ki_client *client;
    monkey monkeys[MONKEYS];
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
                                                            .overflow = (int)below(m, 3),
                                                            .split_replaced = (int)below(m, 2),
                                                            .backlog_items_max = 1 + below(m, 3),
                                                            .backlog_bytes_max = bytes[below(m, 3)],
                                                            .user = g},
                                              NULL);
    require(g->registration != NULL);
}

/* A guest is waited for before it is used again. */
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
    require(ki_informer_start(m->informer, NULL) == 0);
}

static void renew_informer(monkey *m)
{
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

/* ---- the server -------------------------------------------------------------------------------------- */

/* What is deleted and put again is another object: its UID differs. */
static void change(jungle *j)
{
    ki_random random;
    ki_random_init(&random, 77);
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

static void assert_caught_up(monkey *m)
{
    char version[24];
    ki_error err = {0};
    snprintf(version, sizeof(version), "%llu", (unsigned long long)local_source_version(m->jungle->source));
    assert_int_equal(ki_informer_start(m->informer, NULL), 0);
    int rc = ki_informer_wait_for_version(m->informer, ki_str_of(version), HANG_MS, &err);
    assert_string_equal(err.message, "");
    assert_int_equal(rc, 0);
    assert_int_equal(local_source_differences(m->jungle->source, ki_informer_store(m->informer)), 0);
    assert_int_equal(store_check(ki_informer_store(m->informer), NULL), 0);
}

static void jungle_init(jungle *j)
{
    *j = (jungle){.source = local_source_new()};
    j->client = ki_client_new(
        &(ki_client_options){.source = local_source_open, .source_user = j->source, .handler_threads = 3},
        NULL);
    assert_non_null(j->client);
    local_source_attach(j->source, j->client);
    for (int i = 0; i < MONKEYS; i++) {
        monkey *m = &j->monkeys[i];
        m->jungle = j;
        ki_random_init(&m->random, (uint64_t)i + 1);
        for (int k = 0; k < HANDLERS; k++)
            m->guests[k].monkey = m;
        make_informer(m);
    }
}

static void monkeys_leave_the_caches_right(void **state)
{
    (void)state;
    static jungle j;
    jungle_init(&j);
    for (int i = 0; i < MONKEYS; i++)
        aside_start(&j.monkeys[i].thread, go_wild, &j.monkeys[i]);
    change(&j);
    j.is_over = true;
    for (int i = 0; i < MONKEYS; i++) {
        assert_true(aside_ends_within(&j.monkeys[i].thread, HANG_MS));
        aside_join(&j.monkeys[i].thread);
    }
    for (int i = 0; i < MONKEYS; i++)
        assert_caught_up(&j.monkeys[i]);
    ki_client_free(j.client);
    for (int i = 0; i < MONKEYS; i++) {
        ki_informer_free(j.monkeys[i].informer);
        assert_int_equal(j.monkeys[i].added, j.monkeys[i].released);
    }
    assert_int_equal(local_source_released(j.source), local_source_opened(j.source));
    local_source_free(j.source);
    assert_int_equal(failures, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(monkeys_leave_the_caches_right),
    };
    return RUN_TESTS(tests);
}
