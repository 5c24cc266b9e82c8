/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of feeds in the table "call × thread" of docs/threading.md, in each mode. A cell that deadlocks is
 * ended by the alarm. The library's loops start the threads with ki_thread_start(). */
#include <kinformer.h>
#include <unistd.h>

#include "support/armed_call.h"
#include "support/aside.h"
#include "support/informer/informer_rig.h"
#include "support/patience.h"
#include "support/unit.h"

typedef enum place { OUTSIDE, ON_CHANGE, TRANSFORM, ON_ERROR, READ_SECTION, PLACES } place;

struct stage {
    local_rig rig; /* its informer is not started */
    ki_feed *feed;
    int mode;
    armed_call armed;
    atomic_int releases;
};

static void visit(stage *s, place here)
{
    armed_call_visit(&s->armed, s, (int)here);
}

static int on_change(const ki_change *change, void *user)
{
    (void)change;
    visit(user, ON_CHANGE);
    return 0;
}

static int transform(const ki_object **object, void *user)
{
    (void)object;
    visit(user, TRANSFORM);
    return 0;
}

static void on_error(const ki_informer_error *error, void *user)
{
    (void)error;
    visit(user, ON_ERROR);
}

static void on_release(void *user)
{
    stage *s = user;
    s->releases++;
}

static int pump_until(stage *s, int (*is_so)(stage *s))
{
    for (int i = 0; i < HANG_MS && !is_so(s); i++)
        if (s->mode == KI_MODE_THREADS || ki_client_dispatch(s->rig.client, 1) == 0)
            aside_pause(1);
    return is_so(s);
}

static int is_synced(stage *s)
{
    return ki_feed_has_synced(s->feed);
}

/* From then on there is a watch that can be cut. */
static int is_watching(stage *s)
{
    ki_informer_status status;
    ki_feed_read_status(s->feed, &status);
    return is_synced(s) && status.phase == KI_PHASE_WATCHING;
}

static void stage_init(stage *s, int mode)
{
    *s = (stage){.mode = mode, .armed.place = -1};
    local_rig_init(&s->rig, (ki_client_options){.mode = (ki_mode)mode});
    const ki_feed_options options = {
        .informer = {.transform = transform, .transform_user = s, .backoff_ms = 10},
        .on_change = on_change,
        .on_error = on_error,
        .on_release = on_release,
        .user = s};
    s->feed = ki_feed_new(s->rig.client, &KI_CORE_V1_SECRETS, &options, NULL);
    assert_non_null(s->feed);
    assert_int_equal(ki_feed_start(s->feed, NULL), 0);
    assert_true(pump_until(s, is_watching));
}

static void stage_fini(stage *s)
{
    ki_feed_free(s->feed);
    local_rig_fini(&s->rig);
    assert_int_equal(s->releases, 1);
}

/* ---- calls and their effects ------------------------------------------------------------------------- */

static int use(stage *s)
{
    ki_informer_status status;
    ki_feed_resume(s->feed);
    ki_feed_retry_now(s->feed);
    ki_feed_read_status(s->feed, &status);
    return ki_feed_has_synced(s->feed) ? ki_feed_start(s->feed, NULL) : KI_ERR_NOT_FOUND;
}

static int stop(stage *s)
{
    ki_feed_stop(s->feed);
    return 0;
}

static int free_feed(stage *s)
{
    ki_feed *feed = s->feed;
    s->feed = NULL;
    ki_feed_free(feed);
    return 0;
}

static int wait_for_sync(stage *s)
{
    return ki_feed_wait_for_sync(s->feed, HANG_MS, NULL);
}

static int is_stopped(stage *s)
{
    ki_informer_status status;
    ki_feed_read_status(s->feed, &status);
    return status.phase == KI_PHASE_STOPPED;
}

static int is_gone(stage *s)
{
    return s->releases == 1;
}

static int is_done(stage *s)
{
    return s->armed.is_done;
}

typedef struct row {
    const char *name;
    int (*call)(stage *s);
    int (*has_happened)(stage *s);
    int is_refused; /* except outside callbacks and read sections */
} row;

static const row rows[] = {{"start, resume, retry_now, has_synced", use, is_synced, 0},
                           {"stop", stop, is_stopped, 0},
                           {"free", free_feed, is_gone, 0},
                           {"wait_for_sync", wait_for_sync, is_synced, 1}};

/* ---- running all cells ------------------------------------------------------------------------------- */

static void go_to(stage *s, place where)
{
    s->armed.place = (int)where;
    if (where == READ_SECTION)
        ki_read_lock();
    if (where == OUTSIDE || where == READ_SECTION)
        visit(s, where);
    if (where == READ_SECTION)
        ki_read_unlock();
    if (where == ON_ERROR)
        local_source_cut(s->rig.source);
    else if (where == ON_CHANGE || where == TRANSFORM)
        (void)local_source_put(s->rig.source, "a", "n0", 7);
}

static void check_cell(const row *r, place where, int mode)
{
    stage s;
    stage_init(&s, mode);
    s.armed.call = r->call;
    go_to(&s, where);
    if (!pump_until(&s, is_done))
        fail_msg("%s in place %d, mode %d: not called", r->name, (int)where, mode);
    if (s.armed.rc != (r->is_refused && where != OUTSIDE ? KI_ERR_WOULD_DEADLOCK : 0))
        fail_msg("%s in place %d, mode %d: returned %d", r->name, (int)where, mode, s.armed.rc);
    if (where == OUTSIDE && !r->has_happened(&s))
        fail_msg("%s outside, mode %d: did not wait", r->name, mode);
    if (!pump_until(&s, r->has_happened))
        fail_msg("%s in place %d, mode %d: had no effect", r->name, (int)where, mode);
    stage_fini(&s);
}

static void every_cell_of_a_feed_holds_in_each_mode(void **state)
{
    (void)state;
    for (int mode = KI_MODE_THREADS; mode <= KI_MODE_EVENT_LOOP; mode++)
        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
            for (int where = 0; where < PLACES; where++)
                check_cell(&rows[i], (place)where, mode);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_cell_of_a_feed_holds_in_each_mode)};
    (void)alarm(WATCHDOG_SECONDS);
    return RUN_TESTS(tests);
}
