/* SPDX-License-Identifier: Apache-2.0 */
/* The table "call × thread" of docs/threading.md, cell by cell, in each mode. A cell that deadlocks is ended
 * by the alarm, which fails the test. The library's loops start the threads with ki_thread_start(). */
#include <kinformer/log.h>
#include <string.h>
#include <unistd.h>

#include "support/informer/threading_calls.h"
#include "support/patience.h"
#include "support/unit.h"

/* ---- the table --------------------------------------------------------------------------------------- */

typedef enum outcome { WORKS, WAITS, REQUEST, REFUSED, NOTHING } outcome;

typedef struct row {
    const char *name;
    int (*call)(stage *s);
    int (*has_happened)(stage *s);
    outcome outcomes[COLUMNS];
    int is_of_factory; /* its handler belongs to an informer of the factory */
} row;

#define ALWAYS(outcome)                                                                                      \
    {                                                                                                        \
        outcome, outcome, outcome, outcome                                                                   \
    }

static const row rows[] = {
    {"get, peek, walk", call_read_without_waiting, stage_has_nothing_to_show, ALWAYS(WORKS), 0},
    {"list, keys, by_index", call_read_lists, stage_has_nothing_to_show, {WORKS, WORKS, WORKS, REFUSED}, 0},
    {"add_handler", call_add_handler, stage_is_late_synced, ALWAYS(WORKS), 0},
    {"add_index", call_add_index, stage_has_index, {WORKS, WORKS, WORKS, REFUSED}, 0},
    {"start", call_start, stage_is_fresh_synced, ALWAYS(WORKS), 0},
    {"stop", call_stop, stage_is_informer_stopped, {WAITS, REQUEST, REQUEST, REQUEST}, 0},
    {"free", call_free_informer, stage_is_informer_gone, {WAITS, REQUEST, REQUEST, REQUEST}, 0},
    {"wait_for_sync", call_wait_for_sync, stage_has_nothing_to_show, {WAITS, REFUSED, REFUSED, REFUSED}, 0},
    {"wait_for_version",
     call_wait_for_version,
     stage_has_nothing_to_show,
     {WAITS, REFUSED, REFUSED, REFUSED},
     0},
    {"retry_now, read_status, age_ms", call_ask_informer, stage_has_nothing_to_show, ALWAYS(WORKS), 0},
    {"remove", call_remove_handler, stage_is_handler_gone, ALWAYS(REQUEST), 0},
    {"remove_and_wait",
     call_remove_handler_and_wait,
     stage_is_handler_gone,
     {WAITS, REQUEST, REFUSED, REFUSED},
     0},
    {"has_synced, read_stats", call_ask_registration, stage_has_nothing_to_show, ALWAYS(WORKS), 0},
    {"registration: call_wait_for_sync",
     call_wait_for_handler,
     stage_has_nothing_to_show,
     {WAITS, REFUSED, REFUSED, REFUSED},
     0},
    {"delta queue: push, replace, resync", call_fill_queue, stage_has_nothing_to_show, ALWAYS(WORKS), 0},
    {"delta queue: pop with a timeout",
     call_pop_waiting,
     stage_has_nothing_to_show,
     {WORKS, REFUSED, REFUSED, REFUSED},
     0},
    {"delta queue: pop at once",
     call_pop_at_once,
     stage_has_nothing_to_show,
     {WORKS, WORKS, WORKS, REFUSED},
     0},
    {"factory: informer, call_start, read_pending", call_use_factory, stage_is_factory_synced, ALWAYS(WORKS),
     1},
    {"factory: call_stop",
     call_stop_factory,
     stage_is_factory_stopped,
     {WAITS, REQUEST, REQUEST, REQUEST},
     1},
    {"factory: free", call_free_factory, stage_is_factory_gone, {WAITS, REQUEST, REQUEST, REQUEST}, 1},
    {"factory: remove", call_remove_from_factory, stage_is_one_gone, {WAITS, REQUEST, REQUEST, REQUEST}, 1},
    {"factory: call_wait_for_sync",
     call_wait_for_factory,
     stage_has_nothing_to_show,
     {WAITS, REFUSED, REFUSED, REFUSED},
     1},
    {"client: call_dispatch",
     call_dispatch,
     stage_has_nothing_to_show,
     {WORKS, REFUSED, REFUSED, REFUSED},
     0},
    {"client: free", call_free_client, stage_is_client_gone, {WAITS, REQUEST, REQUEST, REQUEST}, 0},
    {"store: put, remove, replace, add_index, check",
     call_write_store,
     stage_has_nothing_to_show,
     {WORKS, WORKS, WORKS, REFUSED},
     0},
    {"store: free", call_free_store, stage_is_store_gone, {WAITS, WAITS, WAITS, NOTHING}, 0},
};

/* ---- running all cells ------------------------------------------------------------------------------- */

static atomic_int frees_refused; /* those logged */

static void count_refused_frees(const ki_log_record *record, void *user)
{
    (void)user;
    frees_refused += strstr(record->message, "cannot be freed") != NULL;
}

static int is_done(stage *s)
{
    return s->armed.is_done;
}

/* Causes the callback of that place. */
static void go_to(stage *s, place where)
{
    s->armed.place = (int)where;
    switch (where) {
    case PLACE_OUTSIDE:
        stage_visit(s, where);
        break;
    case PLACE_READ_SECTION:
        ki_read_lock();
        stage_visit(s, where);
        ki_read_unlock();
        break;
    case PLACE_WATCH_ERROR_HANDLER:
    case PLACE_STATUS_HANDLER:
        local_source_cut(s->rig.source);
        break;
    case PLACE_ON_RELEASE:
        ki_registration_remove(s->leaver_registration);
        break;
    default:
        (void)local_source_put(s->rig.source, "a", "n0", 7);
        break;
    }
}

static int expected_code(const row *r, const stage *s, outcome expected)
{
    if (r->call == call_dispatch && s->mode == KI_MODE_THREADS && expected != REFUSED)
        return KI_ERR_INVALID;
    return expected == REFUSED ? KI_ERR_WOULD_DEADLOCK : 0;
}

/* Returns whether the call also has no effect a little later. */
static int stays_undone(const row *r, stage *s)
{
    for (int i = 0; i < 5; i++)
        stage_pump(s);
    return !r->has_happened(s);
}

static void check_cell(const row *r, place where, int mode)
{
    stage *s = test_malloc(sizeof(*s));
    int refused_before = frees_refused;
    outcome expected = r->outcomes[stage_places[where].column];
    stage_init(s, mode, r->is_of_factory);
    s->armed.call = r->call;
    go_to(s, where);
    if (!stage_pump_until(s, is_done))
        fail_msg("%s in %s, mode %d: not called", r->name, stage_places[where].name, mode);
    if (s->armed.rc != expected_code(r, s, expected))
        fail_msg("%s in %s, mode %d: returned %d", r->name, stage_places[where].name, mode, s->armed.rc);
    if (expected == WAITS && !r->has_happened(s))
        fail_msg("%s in %s, mode %d: did not wait", r->name, stage_places[where].name, mode);
    int is_undone =
        expected == NOTHING || (expected == REFUSED && r->has_happened != stage_has_nothing_to_show);
    if (is_undone && !stays_undone(r, s))
        fail_msg("%s in %s, mode %d: took effect", r->name, stage_places[where].name, mode);
    if (expected < REFUSED && !stage_pump_until(s, r->has_happened))
        fail_msg("%s in %s, mode %d: had no effect", r->name, stage_places[where].name, mode);
    if (frees_refused != refused_before + (expected == NOTHING))
        fail_msg("%s in %s, mode %d: not as expected in the log", r->name, stage_places[where].name, mode);
    stage_fini(s);
    test_free(s);
}

static void check_table(int mode)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        for (int where = 0; where < PLACE_COUNT; where++)
            check_cell(&rows[i], (place)where, mode);
}

static void every_cell_holds_with_threads(void **state)
{
    (void)state;
    check_table(KI_MODE_THREADS);
}

static void every_cell_holds_with_handlers_on_a_loop(void **state)
{
    (void)state;
    check_table(KI_MODE_HANDLERS_ON_LOOP);
}

static void every_cell_holds_on_an_event_loop(void **state)
{
    (void)state;
    check_table(KI_MODE_EVENT_LOOP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cell_holds_on_an_event_loop),
        cmocka_unit_test(every_cell_holds_with_handlers_on_a_loop),
        cmocka_unit_test(every_cell_holds_with_threads),
    };
    ki_set_log(count_refused_frees, KI_LOG_ERROR, NULL);
    (void)alarm(WATCHDOG_SECONDS);
    return RUN_TESTS(tests);
}
