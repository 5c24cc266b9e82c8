/* SPDX-License-Identifier: Apache-2.0 */
/* Apply compared with a plain model of the rules: with meaningless input, and with a consistent server whose
 * objects must all be stored in the end. A failing seed is printed; KI_SEED=<seed> runs it alone. */
#include <string.h>

#include "support/failing_allocator.h"
#include "support/informer/apply_model.h"
#include "support/seeds.h"
#include "support/unit.h"
#include "util/random.h"

enum { SEEDS = 3000, STEPS = 100, LOG_MAX = 2 * STEPS };

static apply_model model; /* too large for a stack */

static unsigned below(ki_random *random, unsigned bound)
{
    return (unsigned)ki_random_below(random, bound);
}

static int one_in(ki_random *random, unsigned n)
{
    return below(random, n) == 0;
}

static void begin(uint64_t seed, ki_random *out_random)
{
    ki_random_init(out_random, seed);
    apply_model_init(&model, seed);
    model.is_text = one_in(out_random, 4);
    model.is_projected = one_in(out_random, 3);
}

static void finish(void)
{
    apply_model_settle(&model);
    apply_model_fini(&model);
    if (failing_allocator_live_count() != 0)
        fail_msg("KI_SEED=%llu: %zu blocks were not freed", (unsigned long long)model.seed,
                 failing_allocator_live_count());
}

/* ---- random input ------------------------------------------------------------------------------------- */

typedef struct noise {
    ki_random random;
    unsigned clock;
    uint32_t lists;
    uint32_t list; /* the list under way; 0: none */
    int is_doubtful;
} noise;

/* Mostly the next version, sometimes an old one. */
static unsigned some_version(noise *n)
{
    return one_in(&n->random, 4) ? 1 + below(&n->random, n->clock) : ++n->clock;
}

static model_state some_state(noise *n, unsigned version)
{
    return (model_state){version, 1 + below(&n->random, 2), below(&n->random, 3)};
}

static void noise_event(noise *n)
{
    static const ki_change_type types[] = {KI_CHANGE_ADDED, KI_CHANGE_UPDATED, KI_CHANGE_DELETED};
    model_delta delta = {.type = types[below(&n->random, 3)], .state = some_state(n, some_version(n))};
    delta.is_unseen = delta.type == KI_CHANGE_DELETED && one_in(&n->random, 6);
    apply_model_push(&model, below(&n->random, MODEL_KEYS), delta);
}

static void noise_item(noise *n)
{
    model_delta delta = {.type = one_in(&n->random, 5) ? KI_CHANGE_SEEN : KI_CHANGE_REPLACED,
                         .list = n->list,
                         .is_doubtful = n->is_doubtful,
                         .state = some_state(n, 1 + below(&n->random, n->clock))};
    if (one_in(&n->random, 8))
        delta.type = KI_CHANGE_DELETED;
    apply_model_push(&model, below(&n->random, MODEL_KEYS), delta);
}

static void noise_list(noise *n)
{
    if (n->list == 0) {
        n->list = ++n->lists;
        n->is_doubtful = one_in(&n->random, 2);
    } else {
        if (!one_in(&n->random, 4))
            apply_model_push_marker(&model, KI_CHANGE_LIST_END, n->list, some_version(n));
        n->list = 0;
    }
}

static void noise_stop(noise *n)
{
    if (one_in(&n->random, 2)) {
        apply_model_drop(&model, below(&n->random, 4));
        return;
    }
    apply_model_begin_history(&model, n->lists + 1);
    n->clock = 1 + below(&n->random, n->clock);
    n->list = 0;
}

static void noise_step(noise *n)
{
    unsigned choice = below(&n->random, 40);
    if (choice == 0)
        noise_stop(n);
    else if (choice == 1)
        apply_model_push_marker(&model, KI_CHANGE_SYNC, 0, 0);
    else if (choice == 2)
        apply_model_push_marker(&model, KI_CHANGE_BOOKMARK, 0, some_version(n));
    else if (choice < 8)
        noise_list(n);
    else if (choice < 12)
        apply_model_settle(&model);
    else if (choice < 25 && n->list != 0)
        noise_item(n);
    else
        noise_event(n);
}

static void run_noise(uint64_t seed)
{
    noise n = {.clock = 1};
    begin(seed, &n.random);
    for (int i = 0; i < STEPS; i++)
        noise_step(&n);
    finish();
}

static void any_input_is_applied_by_the_rules(void **state)
{
    (void)state;
    for_each_seed(SEEDS, run_noise);
}

/* ---- a server ----------------------------------------------------------------------------------------- */

typedef struct change {
    ki_change_type type;
    unsigned key;
    model_state state;
} change;

typedef enum phase { EMPTY, LISTING, WATCHING } phase;

typedef struct server {
    ki_random random;
    unsigned clock;
    model_state objects[MODEL_KEYS]; /* version 0: none */
    change log[LOG_MAX];
    size_t log_len;
    /* of the client that lists and watches */
    phase phase;
    uint32_t lists;
    model_state snapshot[MODEL_KEYS];
    unsigned snapshot_version;
    int is_doubtful; /* the version of the snapshot comes at its end */
    unsigned next_item;
    size_t next_change;
} server;

static void server_change(server *s)
{
    unsigned key = below(&s->random, MODEL_KEYS);
    model_state *object = &s->objects[key];
    change *c = &s->log[s->log_len++];
    c->key = key;
    if (object->version == 0) {
        c->type = KI_CHANGE_ADDED;
        *object = (model_state){++s->clock, s->clock, below(&s->random, 2)};
        c->state = *object;
    } else if (one_in(&s->random, 3)) {
        c->type = KI_CHANGE_DELETED;
        c->state = *object;
        c->state.version = ++s->clock;
        *object = (model_state){0};
    } else {
        c->type = KI_CHANGE_UPDATED;
        object->version = ++s->clock;
        object->value = below(&s->random, 2);
        c->state = *object;
    }
}

/* Restores a backup: fewer objects, at old versions, some with another UID. */
static void server_restore(server *s)
{
    s->clock = 1 + below(&s->random, s->clock);
    s->log_len = 0;
    for (unsigned key = 0; key < MODEL_KEYS; key++) {
        model_state *object = &s->objects[key];
        if (one_in(&s->random, 2))
            *object = (model_state){0};
        else if (object->version != 0 && (one_in(&s->random, 2) || object->version > s->clock))
            object->version = 1 + below(&s->random, s->clock);
        if (object->version != 0 && one_in(&s->random, 4))
            object->uid += 1000;
    }
    apply_model_begin_history(&model, s->lists + 1);
    s->phase = EMPTY;
}

static void list_begin(server *s)
{
    s->phase = LISTING;
    s->lists++;
    memcpy(s->snapshot, s->objects, sizeof(s->snapshot));
    s->snapshot_version = s->clock;
    s->is_doubtful = one_in(&s->random, 2);
    s->next_item = 0;
    s->next_change = s->log_len;
}

static void list_go_on(server *s)
{
    if (s->next_item == MODEL_KEYS) {
        apply_model_push_marker(&model, KI_CHANGE_LIST_END, s->lists, s->snapshot_version);
        s->phase = WATCHING;
        return;
    }
    unsigned key = s->next_item++;
    if (s->snapshot[key].version != 0)
        apply_model_push(&model, key,
                         (model_delta){.type = KI_CHANGE_REPLACED,
                                       .list = s->lists,
                                       .is_doubtful = s->is_doubtful,
                                       .state = s->snapshot[key]});
}

static void watch_go_on(server *s)
{
    if (s->next_change == s->log_len)
        return;
    const change *c = &s->log[s->next_change++];
    apply_model_push(&model, c->key, (model_delta){.type = c->type, .state = c->state});
}

static void go_on(server *s)
{
    if (s->phase == EMPTY)
        list_begin(s);
    else if (s->phase == LISTING)
        list_go_on(s);
    else
        watch_go_on(s);
}

/* Stops and starts from the version up to which the store is complete. */
static void start_over(server *s)
{
    apply_model_drop(&model, below(&s->random, 4));
    s->phase = model.complete == 0 || s->phase == EMPTY ? EMPTY : WATCHING;
    for (s->next_change = 0;
         s->next_change < s->log_len && s->log[s->next_change].state.version <= model.complete;)
        s->next_change++;
}

static void server_step(server *s)
{
    unsigned choice = below(&s->random, 60);
    if (choice == 0)
        start_over(s);
    else if (choice == 1 && one_in(&s->random, 2))
        server_restore(s);
    else if (choice < 4)
        s->phase = EMPTY; /* a list was cut, or a watch has expired */
    else if (choice == 4 && s->phase == WATCHING && s->next_change == s->log_len)
        apply_model_push_marker(&model, KI_CHANGE_BOOKMARK, 0, s->clock);
    else if (choice == 5)
        apply_model_push_marker(&model, KI_CHANGE_SYNC, 0, 0);
    else if (choice < 8)
        apply_model_settle(&model);
    else if (choice < 24)
        server_change(s);
    else
        go_on(s);
}

static void check_converged(server *s)
{
    for (unsigned key = 0; key < MODEL_KEYS; key++) {
        const model_object *object = &model.objects[key];
        MODEL_CHECK(&model, object->is_there == (s->objects[key].version != 0));
        if (!object->is_there)
            continue;
        MODEL_CHECK(&model, object->state.version == s->objects[key].version);
        MODEL_CHECK(&model, object->state.uid == s->objects[key].uid);
    }
}

static void run_server(uint64_t seed)
{
    static server s;
    memset(&s, 0, sizeof(s));
    s.clock = 1;
    begin(seed, &s.random);
    model.is_coherent = 1;
    for (int i = 0; i < STEPS; i++)
        server_step(&s);
    while (s.phase != WATCHING || s.next_change < s.log_len)
        go_on(&s);
    apply_model_settle(&model);
    check_converged(&s);
    finish();
}

static void the_store_ends_equal_to_the_server_after_cuts_and_resets(void **state)
{
    (void)state;
    for_each_seed(SEEDS, run_server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(any_input_is_applied_by_the_rules),
        WITH_MEMORY_CHECK(the_store_ends_equal_to_the_server_after_cuts_and_resets),
    };
    return RUN_TESTS(tests);
}
