/* SPDX-License-Identifier: Apache-2.0 */
/* One controller over one informer in virtual time. The server changes objects, cuts connections and refuses
 * requests, the controller is stopped, started and run, memory runs out now and then, and the reconciles do
 * everything that is allowed: they write, fail, return for later, end later.
 *
 * No key is on two workers at once; no reconcile begins while the controller is stopped; none sees a cache
 * that is older than its own write, unless the wait has timed out; none begins before the time that the
 * server asked for. When the faults have ended, the last reconcile of every key has seen the final state:
 * none was lost; and every key that asked for another run has had one at that time or later.
 *
 *   sim_controller [SEED] */
#include <inttypes.h>
#include <kinformer/alloc.h>
#include <kinformer/controller.h>
#include <kinformer/key.h>
#include <kinformer/resources.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/client.h"
#include "support/chance.h"
#include "support/sim/sim_server.h"
#include "support/store/store_objects.h"
#include "util/units.h"

enum {
    KEYS = 30,
    PENDING_MAX = 8,
    STEPS = 120,
    EXPECT_MS = 2000,
    BACKOFF_MS_MAX = 2000,
    CALM_MS = 120000,
    TURNS_MAX = 100000,
    SEEDS_DEFAULT = 1000
};

typedef struct key_state {
    int running;
    uint64_t seen; /* the version in the store when its last reconcile began; 0: the object did not exist */
    uint64_t written;       /* by its last reconcile; 0: nothing to wait for */
    uint32_t written_epoch; /* of the world */
    uint64_t expected_until_ns;
    uint64_t not_before_ns;
    uint64_t owed_ns; /* a reconcile has requested another run, then or later; 0: none has */
} key_state;

typedef struct pending {
    ki_request *request;
    uint32_t key;
} pending;

typedef struct life {
    uint64_t seed;
    ki_random random;
    ki_clock clock;
    sim_world *world;
    sim_server *server;
    ki_client *client;
    ki_informer *informer;
    ki_controller *controller;
    key_state keys[KEYS];
    pending pending[PENDING_MAX];
    size_t pending_count;
    size_t workers;
    bool is_stopped;
    bool is_stop_pending; /* the next run returns at once */
    bool is_calm;
    bool has_storms; /* memory may run out */
    uint64_t reconciles;
    uint64_t waits; /* reconciles after a write of their own */
    char failure[200];
} life;

/* ---- memory ------------------------------------------------------------------------------------------ */

static struct {
    ki_random random;
    double chance; /* that an allocation fails */
    uint64_t failed;
    int64_t live;
} memory;

static bool fails(void)
{
    bool is_failing = memory.chance > 0 && random_fraction(&memory.random) < memory.chance;
    memory.failed += is_failing;
    return is_failing;
}

static void *take(size_t bytes, void *user)
{
    (void)user;
    void *block = fails() ? NULL : malloc(bytes);
    memory.live += block != NULL;
    return block;
}

static void *take_again(void *block, size_t bytes, void *user)
{
    if (block == NULL)
        return take(bytes, user);
    return fails() ? NULL : realloc(block, bytes);
}

static void give(void *block, void *user)
{
    (void)user;
    memory.live -= block != NULL;
    free(block);
}

/* ---- the reconcile function -------------------------------------------------------------------------- */

static uint32_t below(life *l, uint32_t bound)
{
    return (uint32_t)(ki_random_next(&l->random) % bound);
}

#define CHECK(l, condition, ...)                                                                             \
    do {                                                                                                     \
        if (!(condition) && (l)->failure[0] == 0)                                                            \
            snprintf((l)->failure, sizeof((l)->failure), __VA_ARGS__);                                       \
    } while (0)

static uint64_t stored_version(life *l, ki_request *request)
{
    ki_object *object = ki_store_get_key(ki_informer_store(l->informer), ki_request_key(request));
    uint64_t version = object == NULL ? 0 : store_object_version(object);
    ki_object_unref(object);
    return version;
}

/* An object that does not exist was deleted after it was written. */
static void check_own_write(life *l, uint32_t key)
{
    key_state *k = &l->keys[key];
    if (k->written == 0)
        return;
    l->waits++;
    bool is_excused =
        ki_clock_now_ns(&l->clock) >= k->expected_until_ns || k->written_epoch != sim_world_epoch(l->world);
    bool is_seen = k->seen >= k->written;
    for (size_t i = sim_world_history_count(l->world); i-- > 0 && k->seen == 0 && !is_seen;) {
        const sim_record *record = sim_world_history_record(l->world, i);
        if (record->version < k->written)
            break;
        is_seen = record->key == key && record->type == SIM_DELETED;
    }
    CHECK(l, is_excused || is_seen, "key %" PRIu32 " saw %" PRIu64 " after having written %" PRIu64, key,
          k->seen, k->written);
    k->written = 0;
}

static void write_something(life *l, ki_request *request, uint32_t key)
{
    if (sim_world_object(l->world, key) == NULL)
        return;
    sim_world_update(l->world, key);
    uint64_t version = sim_world_version(l->world);
    double chance = memory.chance;
    memory.chance = 0;
    ki_object *written = store_object("a", "w", version, "");
    memory.chance = chance;
    int rc = ki_request_expect(request, l->informer, written);
    ki_object_unref(written);
    CHECK(l, rc == 0 || rc == KI_ERR_NO_MEMORY, "expect: %d", rc);
    if (rc < 0)
        return;
    key_state *k = &l->keys[key];
    k->written = version;
    k->written_epoch = sim_world_epoch(l->world);
    k->expected_until_ns = ki_clock_now_ns(&l->clock) + ki_ns_of_ms(EXPECT_MS);
}

/* Of several delays of a key, only the earliest counts. One that has ended during a reconcile has ended. */
static void owe(life *l, uint32_t key, uint64_t owed_ns)
{
    key_state *k = &l->keys[key];
    bool is_delayed = k->owed_ns > ki_clock_now_ns(&l->clock);
    k->owed_ns = is_delayed ? ki_ns_min(k->owed_ns, owed_ns) : owed_ns;
}

/* The limiter. */
static int back_off(ki_str text, uint64_t *out_delay_ns, void *user)
{
    life *l = user;
    ki_str ns, name;
    ki_key_split(text, &ns, &name);
    uint32_t key = sim_world_key(l->world, ns, name);
    *out_delay_ns = ki_ns_of_ms(1 + below(l, BACKOFF_MS_MAX));
    owe(l, key, ki_ns_max(ki_clock_now_ns(&l->clock) + *out_delay_ns, l->keys[key].not_before_ns));
    return 0;
}

static ki_result choose(life *l, uint32_t key)
{
    ki_error err = {.code = KI_ERR_HTTP, .message = "no"};
    uint32_t after_ms = 1 + below(l, 3000);
    switch (l->is_calm ? 0 : below(l, 8)) {
    case 0:
    case 1:
        return ki_done();
    case 2:
        owe(l, key, ki_clock_now_ns(&l->clock) + ki_ns_of_ms(after_ms));
        return ki_requeue_after(after_ms);
    case 3:
        return ki_give_up(&err);
    case 4:
        err.retry_after_ms = after_ms;
        l->keys[key].not_before_ns = ki_clock_now_ns(&l->clock) + ki_ns_of_ms(after_ms);
        return ki_retry(&err);
    default:
        return ki_retry(&err);
    }
}

static ki_result reconcile(ki_request *request, void *user)
{
    life *l = user;
    uint32_t key = sim_world_key(l->world, ki_request_namespace(request), ki_request_name(request));
    key_state *k = &l->keys[key];
    uint64_t now_ns = ki_clock_now_ns(&l->clock);
    l->reconciles++;
    CHECK(l, k->running == 0, "key %" PRIu32 " is on two workers", key);
    CHECK(l, !l->is_stopped, "key %" PRIu32 " began while stopped", key);
    CHECK(l, l->pending_count < l->workers, "more reconciles at once than workers");
    CHECK(l, l->has_storms || now_ns >= k->not_before_ns,
          "key %" PRIu32 " began earlier than the server allows", key);
    k->seen = stored_version(l, request);
    k->not_before_ns = 0;
    if (now_ns >= k->owed_ns)
        k->owed_ns = 0;
    check_own_write(l, key);
    if (!l->is_calm && below(l, 2) == 0)
        write_something(l, request, key);
    if (!l->is_calm && below(l, 4) == 0) {
        k->running = 1;
        l->pending[l->pending_count++] = (pending){request, key};
        return ki_later();
    }
    ki_result result = choose(l, key);
    if (below(l, 4) != 0)
        return result;
    ki_request_finish(request, result);
    return ki_later();
}

static void finish_one(life *l)
{
    if (l->pending_count == 0)
        return;
    size_t i = below(l, (uint32_t)l->pending_count);
    pending p = l->pending[i];
    l->pending[i] = l->pending[--l->pending_count];
    l->keys[p.key].running = 0;
    ki_request_finish(p.request, choose(l, p.key));
}

/* ---- a life ------------------------------------------------------------------------------------------ */

static void run(life *l, uint64_t ms)
{
    uint64_t until_ns = ki_clock_now_ns(&l->clock) + ki_ns_of_ms(ms);
    for (int turns = 0; turns < TURNS_MAX; turns++) {
        sim_server_step(l->server);
        (void)ki_client_dispatch(l->client, KI_BUDGET_NONE);
        uint64_t next_ns = ki_ns_min(sim_server_next_ns(l->server), ki_loop_next_ns(l->client->handlers));
        if (next_ns <= ki_clock_now_ns(&l->clock))
            continue;
        if (next_ns > until_ns) {
            ki_clock_set_now_ns(&l->clock, until_ns);
            return;
        }
        ki_clock_set_now_ns(&l->clock, next_ns);
    }
    CHECK(l, false, "the loop never rests");
}

static void start(life *l)
{
    ki_error err = {0};
    l->is_stopped = l->is_stop_pending = false;
    int rc = ki_controller_start(l->controller, &err);
    CHECK(l, rc == 0, "start: %.150s", err.message);
}

/* In virtual time a run that is not stopped returns when there is nothing to do. */
static void start_by_run(life *l)
{
    ki_error err = {0};
    ki_controller_status status;
    bool is_ended = l->is_stop_pending;
    if (!is_ended)
        l->is_stopped = false;
    l->is_stop_pending = false;
    int rc = ki_controller_run(l->controller, &err);
    CHECK(l, rc == 0, "run: %.150s", err.message);
    ki_controller_read_status(l->controller, &status);
    CHECK(l, status.is_running != is_ended, "a run after %s stop", is_ended ? "an early" : "no");
}

static void stop(life *l)
{
    ki_error err = {0};
    int rc = ki_controller_stop(l->controller, &err);
    l->is_stopped = l->is_stop_pending = true;
    CHECK(l, rc == (l->pending_count == 0 ? 0 : KI_ERR_TIMEOUT), "stop: %d with %zu running", rc,
          l->pending_count);
}

static void start_or_stop(life *l)
{
    uint32_t choice = l->is_stopped ? below(l, 3) : 0;
    if (choice == 0)
        stop(l);
    else if (choice == 1)
        start(l);
    else
        start_by_run(l);
}

static void act(life *l)
{
    switch (below(l, 8)) {
    case 0:
        start_or_stop(l);
        break;
    case 1:
    case 2:
    case 3:
        finish_one(l);
        break;
    case 4:
        sim_server_cut_all(l->server);
        break;
    case 5:
        memory.chance = l->has_storms && below(l, 2) == 0 ? 0.3 + 0.7 * random_fraction(&l->random) : 0;
        break;
    default:
        sim_world_mutate(l->world);
    }
    run(l, below(l, 3) == 0 ? below(l, 2000) : below(l, 20));
}

static void make(life *l)
{
    ki_error err = {0};
    sim_faults faults = {.eager = 0.3,
                         .limit_ignored = 0.1,
                         .short_watch = 0.05,
                         .refuse = 0.05,
                         .http_500 = 0.05,
                         .cut_between = 0.03,
                         .cut_in_event = 0.02,
                         .watch_list_refused = 0.2};
    ki_clock_init_virtual(&l->clock, 1000 * KI_NS_PER_MS, 1);
    l->world = sim_world_new(&(sim_world_options){.seed = l->seed, .namespaces = 3, .names = KEYS / 3});
    for (uint32_t key = 0; key < KEYS / 2; key++)
        sim_world_create(l->world, key);
    l->server = sim_server_new(&(sim_server_options){.world = l->world,
                                                     .clock = &l->clock,
                                                     .calls = &sim_library_calls,
                                                     .seed = l->seed,
                                                     .faults = faults,
                                                     .latency_ns_max = ki_ns_of_ms(below(l, 100)),
                                                     .piece_bytes_max = 1 + below(l, 2000)});
    ki_list_watch source = sim_server_list_watch(l->server);
    l->client = ki_client_new_simulated(&(ki_client_options){.mode = KI_MODE_EVENT_LOOP}, &l->clock,
                                        l->seed + 1, &err);
    l->informer = ki_informer_new(l->client, &KI_CORE_V1_PODS,
                                  &(ki_informer_options){.list_watch = &source, .backoff_ms = 50}, &err);
    ki_limiter_functions limiter = {.when = back_off, .user = l};
    l->workers = 1 + below(l, PENDING_MAX);
    l->controller =
        ki_controller_new(l->client,
                          &(ki_controller_options){.name = "sim",
                                                   .reconcile = reconcile,
                                                   .workers = l->workers,
                                                   .limiter = ki_limiter_new_custom(&limiter, &err),
                                                   .expect_timeout_ms = EXPECT_MS,
                                                   .user = l},
                          &err);
    CHECK(l, ki_controller_watch(l->controller, l->informer, NULL) == 0, "watch");
    CHECK(l, ki_informer_start(l->informer, &err) == 0, "informer: %.150s", err.message);
    start(l);
}

static void calm_down(life *l)
{
    memory.chance = 0;
    l->is_calm = true;
    sim_server_set_faults(l->server, &(sim_faults){0});
    if (l->is_stopped)
        start(l);
    while (l->pending_count > 0)
        finish_one(l);
    run(l, CALM_MS);
}

static void judge(life *l)
{
    for (uint32_t key = 0; key < KEYS; key++) {
        const sim_record *record = sim_world_object(l->world, key);
        uint64_t version = record == NULL ? 0 : record->version;
        CHECK(l, l->keys[key].seen == version,
              "key %" PRIu32 ": the last reconcile saw %" PRIu64 ", the world has %" PRIu64, key,
              l->keys[key].seen, version);
        CHECK(l, l->has_storms || l->keys[key].owed_ns == 0,
              "key %" PRIu32 ": no reconcile at %" PRIu64 " ns, or later", key, l->keys[key].owed_ns);
    }
}

static void run_life(life *l, uint64_t seed)
{
    *l = (life){.seed = seed, .has_storms = seed % 2 == 0};
    ki_random_init(&l->random, seed);
    ki_random_init(&memory.random, seed);
    make(l);
    for (int i = 0; i < STEPS && l->failure[0] == 0; i++)
        act(l);
    if (l->failure[0] == 0)
        calm_down(l);
    judge(l);
    while (l->pending_count > 0)
        finish_one(l);
    ki_controller_free(l->controller);
    ki_informer_free(l->informer);
    ki_client_free(l->client);
    CHECK(l, memory.live == 0, "%" PRId64 " blocks were not freed", memory.live);
    sim_server_free(l->server);
    sim_world_free(l->world);
}

int main(int argc, char **argv)
{
    static life l;
    const char *seeds = getenv("KI_SIM_SEEDS");
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1, reconciles = 0, waits = 0;
    uint64_t last = argc > 1 ? first : seeds == NULL ? SEEDS_DEFAULT : strtoull(seeds, NULL, 10) / 5;
    if (ki_set_allocator(&(ki_allocator){.allocate = take, .reallocate = take_again, .release = give}) < 0)
        return 1;
    for (uint64_t seed = first; seed <= last; seed++) {
        run_life(&l, seed);
        reconciles += l.reconciles;
        waits += l.waits;
        if (l.failure[0] != 0) {
            printf("seed %" PRIu64 ": %s\n", seed, l.failure);
            return 1;
        }
    }
    printf("%" PRIu64 " lives, %" PRIu64 " reconciles, %" PRIu64 " after a write, %" PRIu64
           " allocations failed\n",
           last - first + 1, reconciles, waits, memory.failed);
    return argc > 1 || (waits > 10 * last && memory.failed > 10 * last) ? 0 : 1;
}
