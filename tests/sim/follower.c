/* SPDX-License-Identifier: Apache-2.0 */
/* One informer with random options, and the calls that a program makes to it. */
#include <inttypes.h>
#include <stdio.h>

#include "informer/registration.h"
#include "run.h"

/* ---- options ----------------------------------------------------------------------------------------- */

static int transform(const ki_object **object, void *user)
{
    sim_follower *follower = user;
    if (follower->run->is_settling || !sim_chance(follower->run, follower->refusing))
        return 0;
    sim_run_trace(follower->run, "%s: refuses %s @%.*s", follower->name, ki_object_key(*object),
                  KI_STR_ARGS(ki_object_resource_version(*object)));
    return KI_ERR_INVALID;
}

static void on_watch_error(ki_informer *informer, const ki_informer_error *error, void *user)
{
    sim_follower *follower = user;
    (void)informer;
    sim_run_trace(follower->run, "%s: %s %s, again in %" PRIu64 " ms: %s", follower->name,
                  ki_reason_name(error->reason), error->key, error->retry_ms, error->error->message);
}

static void plan_objects(sim_follower *follower)
{
    static const char *const of_value[] = {"/spec/value", NULL};
    static const char *const of_labels[] = {"/metadata/labels", NULL};
    static const char *const labels[] = {"/metadata/labels", NULL};
    sim_run *run = follower->run;
    ki_informer_options *options = &follower->options;
    switch (sim_below(run, 6)) {
    case 0:
        options->keep = of_value;
        break;
    case 1:
        options->keep = of_labels;
        break;
    case 2:
        options->drop = labels;
        break;
    default:
        break;
    }
    options->deliver_unchanged = sim_chance(run, 0.2);
    if (run->plan.server.faults.huge_item > 0)
        options->object_bytes_max = 32 * 1024;
    if (sim_chance(run, 0.2)) {
        follower->refusing = 0.3;
        run->plan.touches = true;
    }
    options->transform = transform;
    options->transform_user = follower;
}

void sim_follower_plan(sim_follower *follower)
{
    static const int64_t pages[] = {0, -1, 1, 3, 10};
    static const size_t queues[] = {0, 1, 5, 30};
    static const size_t bytes[] = {0, 0, 500, 8000};
    sim_run *run = follower->run;
    ki_informer_options *options = &follower->options;
    plan_objects(follower);
    options->page_size = pages[sim_below(run, 5)];
    options->watch_list = (ki_watch_list)sim_below(run, 3);
    options->queue_items_max = queues[sim_below(run, 4)];
    options->queue_bytes_max = bytes[sim_below(run, 4)];
    options->resync_ms = sim_chance(run, 0.4) ? 1000 + sim_below(run, 30000) : 0;
    options->mutations = sim_chance(run, 0.2) ? KI_MUTATIONS_REPORT : KI_MUTATIONS_IGNORE;
    options->list_watch = &follower->source;
}

void sim_follower_open(sim_follower *follower)
{
    sim_run *run = follower->run;
    ki_error err = {0};
    (void)snprintf(follower->name, sizeof(follower->name), "informer%" PRIu32, follower->number);
    follower->source = sim_server_list_watch(run->server);
    follower->options.name = follower->name;
    sim_follower_plan(follower);
    follower->informer = ki_informer_new(run->client, &KI_CORE_V1_PODS, &follower->options, &err);
    if (follower->informer == NULL) {
        sim_run_fail(run, "%s: %s", follower->name, err.message);
        return;
    }
    (void)ki_informer_set_error_handler(follower->informer, on_watch_error, follower);
    sim_run_trace(run, "%s: page %d, watch_list %d, queue %zu, %zu bytes, resync %" PRIu64 "%s%s",
                  follower->name, (int)follower->options.page_size, follower->options.watch_list,
                  follower->options.queue_items_max, follower->options.queue_bytes_max,
                  follower->options.resync_ms, follower->options.keep != NULL ? ", keeps some" : "",
                  follower->refusing > 0 ? ", refuses" : "");
    for (uint64_t count = 1 + sim_below(run, run->plan.is_long ? 4 : 2); count > 0; count--)
        sim_witness_join(follower);
}

/* ---- how far it has got ------------------------------------------------------------------------------ */

static uint64_t number_of(const ki_resource_version *version)
{
    return sim_number(ki_resource_version_str(version));
}

/* While it runs, the version that it has received counts;
 * the applied version may be from the previous history. */
uint64_t sim_follower_version(const sim_follower *follower)
{
    const ki_informer *informer = follower->informer;
    if (informer == NULL)
        return 0;
    bool is_under_way = informer->life.stage == KI_STAGE_RUNNING && !informer->life.begin_is_asked;
    return number_of(is_under_way ? &informer->life.reflector.version : &informer->apply.version);
}

typedef struct newest {
    uint64_t version;
} newest;

static int look_at(const ki_object *object, void *user)
{
    newest *n = user;
    uint64_t version = sim_number(ki_object_resource_version(object));
    if (version > n->version)
        n->version = version;
    return 0;
}

static void look_at_queue(const ki_list *queue, newest *n)
{
    for (const ki_list_node *node = ki_list_first(queue); node != NULL; node = ki_list_next(queue, node)) {
        const ki_delta_entry *entry = KI_CONTAINER_OF(node, ki_delta_entry, node);
        for (uint32_t i = 0; i < entry->count; i++)
            if (entry->deltas[i].object != NULL)
                (void)look_at(entry->deltas[i].object, n);
    }
}

/* A list that is in progress, or that was abandoned, may have brought objects that are newer than the version
 * up to which the store is complete. */
bool sim_follower_is_sound(const sim_follower *follower)
{
    newest n = {0};
    const ki_informer *informer = follower->informer;
    if (informer == NULL)
        return true;
    if (informer->life.reflector.doing == KI_STEP_LIST || informer->life.reflector.doing == KI_STEP_STREAM ||
        (informer->life.reflector.next != KI_STEP_NONE && informer->life.reflector.next != KI_STEP_WATCH))
        return false;
    if (informer->life.stage != KI_STAGE_RUNNING && informer->life.stage != KI_STAGE_STOPPED)
        return false;
    if (follower->is_stopped && informer->life.stage == KI_STAGE_RUNNING)
        return false; /* about to stop, and to drop what it has received */
    (void)ki_store_walk(informer->store, look_at, &n);
    look_at_queue(&informer->fifo.queue, &n);
    return n.version <= sim_follower_version(follower);
}

bool sim_follower_may_repeat(const sim_follower *follower, uint64_t from, uint64_t applied)
{
    for (uint32_t i = 0; i < follower->stops && i < SIM_STOPS_MAX; i++)
        if (from > follower->lost[i].after && applied <= follower->lost[i].until)
            return true;
    return follower->stops > SIM_STOPS_MAX;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static void check_reason(sim_follower *follower)
{
    ki_informer_status status;
    ki_informer_read_status(follower->informer, &status);
    if (status.phase == KI_PHASE_BACKING_OFF && (status.reason == KI_REASON_NONE || status.message[0] == 0))
        sim_run_fail(follower->run, "%s: backs off without giving a reason", follower->name);
}

void sim_follower_look(sim_follower *follower)
{
    size_t count = 0;
    if (follower->informer == NULL)
        return;
    check_reason(follower);
    const ki_list *queue = &follower->informer->fifo.queue;
    for (const ki_list_node *node = ki_list_first(queue); node != NULL; node = ki_list_next(queue, node))
        count += KI_CONTAINER_OF(node, ki_delta_entry, node)->count;
    follower->deltas_max = larger(follower->deltas_max, count);
    follower->items_max = larger(follower->items_max, follower->informer->fifo.items);
    follower->bytes_max = larger(follower->bytes_max, follower->informer->fifo.bytes);
    for (uint32_t i = 0; i < follower->witness_count; i++) {
        sim_witness *witness = &follower->witnesses[i];
        ki_registration_stats stats = {0};
        if (witness->registration == NULL)
            continue;
        ki_registration_read_stats(witness->registration, &stats);
        witness->high_water = stats.backlog_high_water;
    }
}

/* ---- calls ------------------------------------------------------------------------------------------- */

void sim_follower_start(sim_follower *follower)
{
    sim_run *run = follower->run;
    ki_error err = {0};
    if (follower->informer == NULL)
        return;
    sim_run_trace(run, "%s: start", follower->name);
    if (follower->is_stopped && follower->stops > 0 && follower->stops <= SIM_STOPS_MAX)
        follower->lost[follower->stops - 1] = (sim_stretch){
            .after = number_of(&follower->informer->apply.version), .until = sim_world_version(run->world)};
    follower->is_stopped = false;
    if (ki_informer_start(follower->informer, &err) < 0)
        sim_run_fail(run, "%s: %s", follower->name, err.message);
}

/* Does not stop an informer that has not noticed a new history yet: stopping drops the received version, so
 * it could never notice it. */
static void stop(sim_follower *follower, bool is_inside)
{
    sim_run *run = follower->run;
    if (sim_follower_version(follower) > sim_world_version(run->world))
        return;
    sim_run_trace(run, "%s: stop", follower->name);
    follower->is_stopped = true;
    follower->stops++;
    follower->start_ns = ki_clock_now_ns(&run->clock) + sim_below(run, 4) * sim_below(run, 20) * SIM_NS_PER_S;
    run->is_waiting |= !is_inside;
    ki_informer_stop(follower->informer);
    run->is_waiting &= is_inside;
    if (!is_inside && follower->informer->life.stage != KI_STAGE_STOPPED)
        sim_run_fail(run, "%s: has not stopped", follower->name);
}

void sim_follower_free(sim_follower *follower)
{
    ki_informer *informer = follower->informer;
    if (informer == NULL)
        return;
    sim_run_trace(follower->run, "%s: free", follower->name);
    sim_follower_look(follower);
    follower->informer = NULL;
    for (uint32_t i = 0; i < follower->witness_count; i++)
        follower->witnesses[i].registration = NULL;
    ki_informer_free(informer);
}

static void check_refusals(sim_follower *follower)
{
    ki_error err = {0};
    if (ki_client_dispatch(follower->run->client, KI_BUDGET_NONE) != KI_ERR_WOULD_DEADLOCK ||
        ki_informer_wait_for_sync(follower->informer, 1, &err) != KI_ERR_WOULD_DEADLOCK)
        sim_run_fail(follower->run, "%s: waits inside a callback", follower->name);
}

static void remove_one(sim_follower *follower, sim_witness *own)
{
    sim_run *run = follower->run;
    if (follower->witness_count == 0)
        return;
    sim_witness *witness = &follower->witnesses[sim_below(run, follower->witness_count)];
    if (own != NULL && sim_chance(run, 0.5))
        witness = own;
    bool waits = own == NULL && sim_chance(run, 0.5);
    run->is_waiting |= waits;
    sim_witness_leave(witness, waits);
    run->is_waiting &= !waits;
}

void sim_follower_deed(sim_follower *follower, sim_witness *own)
{
    sim_run *run = follower->run;
    if (follower->informer == NULL)
        return;
    switch (sim_below(run, 16)) {
    case 0:
        if (sim_chance(run, 0.1) && !run->is_waiting)
            sim_follower_free(follower);
        break;
    case 1:
    case 2:
    case 3:
        stop(follower, own != NULL);
        break;
    case 4:
    case 5:
        sim_run_trace(run, "%s: retry", follower->name);
        ki_informer_retry_now(follower->informer);
        break;
    case 6:
    case 7:
    case 8:
        remove_one(follower, own);
        break;
    case 9:
        if (own != NULL)
            check_refusals(follower);
        break;
    default:
        sim_witness_join(follower);
        break;
    }
}
