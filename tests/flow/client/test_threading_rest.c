/* SPDX-License-Identifier: Apache-2.0 */
/* The rows for single calls in the table "call × thread" of docs/threading.md, in each mode, over real
 * sockets (support/client/scripted_http.c). If a cell deadlocks, the alarm ends the program. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "flow/support/rest_world.h"
#include "support/armed_call.h"
#include "support/unit.h"

typedef enum place { OUTSIDE, ON_ANSWER, HANDLER, ON_ERROR, READ_SECTION, PLACES } place;

struct stage {
    rest_world w;
    ki_informer *maps;    /* its handler is called */
    ki_informer *secrets; /* its error handler is called */
    armed_call armed;
    told_answer told;
};

static void visit(stage *s, place here)
{
    armed_call_visit(&s->armed, s, (int)here);
}

static void on_add(const ki_event *event, void *user)
{
    (void)event;
    visit(user, HANDLER);
}

static void on_error(ki_informer *informer, const ki_informer_error *error, void *user)
{
    (void)informer;
    (void)error;
    visit(user, ON_ERROR);
}

static void on_answer(const ki_rest_answer *answer, void *user)
{
    (void)answer;
    visit(user, ON_ANSWER);
}

/* ---- the server ---------------------------------------------------------------------------------------- */

#define MAP                                                                                                  \
    "{\"kind\":\"ConfigMapList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"9\"},\"items\":"  \
    "[{\"metadata\":{\"namespace\":\"web\",\"name\":\"a\",\"resourceVersion\":\"7\"}}]}"

static scripted_next serve(scripted_connection *c, const scripted_request *r, void *user)
{
    if (strstr(r->target, "/secrets") != NULL) {
        (void)scripted_answer(c, "500 Internal Server Error", "", "{}");
    } else if (strstr(r->target, "watch=true") != NULL) {
        if (scripted_begin(c, "200 OK"))
            scripted_wait_for_end(c);
        return SCRIPTED_CLOSE;
    } else if (strstr(r->target, "/configmaps") != NULL) {
        (void)scripted_answer(c, "200 OK", "", MAP);
    } else {
        return rest_world_echo(c, r, user);
    }
    return SCRIPTED_KEEP;
}

/* ---- setup --------------------------------------------------------------------------------------------- */

static void stage_init(stage *s, int mode)
{
    *s = (stage){.w = {.mode = mode}, .armed.place = -1};
    rest_world_init(&s->w, serve, NULL);
    ki_informer_options options = {.watch_list = KI_WATCH_LIST_NEVER, .backoff_ms = 10, .backoff_max_ms = 20};
    s->maps = ki_informer_new(s->w.client, &KI_CORE_V1_CONFIGMAPS, &options, NULL);
    s->secrets = ki_informer_new(s->w.client, &KI_CORE_V1_SECRETS, &options, NULL);
    assert_non_null(s->maps);
    assert_non_null(s->secrets);
    assert_int_equal(ki_informer_set_error_handler(s->secrets, on_error, s), 0);
    assert_non_null(ki_informer_add_handler(s->maps, &(ki_handler){.on_add = on_add, .user = s}, NULL));
}

static void stage_fini(stage *s)
{
    ki_informer_free(s->maps);
    ki_informer_free(s->secrets);
    rest_world_fini(&s->w);
}

static bool wait_for(stage *s, atomic_int *flag)
{
    uint64_t deadline_ms = rest_world_now_ms() + HANG_MS;
    while (*flag == 0 && rest_world_now_ms() < deadline_ms)
        rest_world_live(&s->w);
    return *flag != 0;
}

static void go_to(stage *s, place where)
{
    s->armed.place = (int)where;
    if (where == READ_SECTION)
        ki_read_lock();
    if (where == OUTSIDE || where == READ_SECTION)
        visit(s, where);
    if (where == READ_SECTION)
        ki_read_unlock();
    if (where == HANDLER)
        assert_int_equal(ki_informer_start(s->maps, NULL), 0);
    if (where == ON_ERROR)
        assert_int_equal(ki_informer_start(s->secrets, NULL), 0);
    if (where == ON_ANSWER) {
        ki_rest_request get = rest_request(KI_REST_GET);
        get.on_answer = on_answer;
        get.user = s;
        assert_int_equal(ki_rest_begin(s->w.client, &get, NULL, NULL), 0);
    }
}

/* ---- the rows ------------------------------------------------------------------------------------------ */

static int begin(stage *s)
{
    ki_rest_request get = rest_request_heard(KI_REST_GET, &s->told);
    return ki_rest_begin(s->w.client, &get, NULL, NULL);
}

static int begin_and_cancel(stage *s)
{
    uint64_t id = 0;
    ki_rest_request get = rest_request_heard(KI_REST_GET, &s->told);
    int rc = ki_rest_begin(s->w.client, &get, &id, NULL);
    ki_rest_cancel(s->w.client, id);
    return rc;
}

static int run(stage *s)
{
    ki_rest_request get = rest_request(KI_REST_GET);
    int rc = ki_rest_run(s->w.client, &get, NULL, NULL);
    s->told.times = 1;
    return rc;
}

static int set_token(stage *s)
{
    s->told.times = 1;
    return ki_client_set_token(s->w.client, "another");
}

static int let_pass(const ki_write *write, ki_error *why, void *user)
{
    (void)write;
    (void)why;
    (void)user;
    return 0;
}

static int set_gate(stage *s)
{
    s->told.times = 1;
    return ki_client_set_write_gate(s->w.client, let_pass, NULL);
}

static int conflict_once(ki_error *err, void *user)
{
    int *count = user;
    (void)err;
    return (*count)++ == 0 ? KI_ERR_CONFLICT : 0;
}

static int retry(stage *s)
{
    int count = 0;
    s->told.times = 1;
    return ki_retry_on_conflict(s->w.client, conflict_once, NULL, &count);
}

typedef struct row {
    const char *name;
    int (*call)(stage *s);
    int is_refused; /* in all places except outside callbacks */
} row;

static const row rows[] = {
    {"begin", begin, 0},         {"cancel", begin_and_cancel, 0}, {"run", run, 1},
    {"set_token", set_token, 0}, {"set_write_gate", set_gate, 0}, {"retry_on_conflict", retry, 1}};

static void check_cell(const row *r, place where, int mode)
{
    stage s;
    stage_init(&s, mode);
    s.armed.call = r->call;
    go_to(&s, where);
    if (!wait_for(&s, &s.armed.is_done))
        fail_msg("%s in place %d, mode %d: not called", r->name, (int)where, mode);
    if (s.armed.rc != (r->is_refused && where != OUTSIDE ? KI_ERR_WOULD_DEADLOCK : 0))
        fail_msg("%s in place %d, mode %d: returned %d", r->name, (int)where, mode, s.armed.rc);
    if (!wait_for(&s, &s.told.times))
        fail_msg("%s in place %d, mode %d: nothing happened", r->name, (int)where, mode);
    stage_fini(&s);
    assert_int_equal(s.told.times, 1);
}

static void every_cell_of_a_call_is_true_in_each_mode(void **state)
{
    (void)state;
    for (int mode = 0; mode < REST_MODES; mode++)
        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
            for (int where = 0; where < PLACES; where++)
                check_cell(&rows[i], (place)where, mode);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_cell_of_a_call_is_true_in_each_mode)};
    (void)alarm(WATCHDOG_SECONDS);
    return RUN_TESTS(tests);
}
