/* SPDX-License-Identifier: Apache-2.0 */
/* A server that does anything, with many seeds: no request is for a version older than what was received, and
 * the reflector recovers once the server behaves. */
#include <stdio.h>
#include <string.h>

#include "support/failing_allocator.h"
#include "support/reflector/reflector_run.h"
#include "support/unit.h"
#include "util/random.h"

enum { SEEDS = 300, STEPS = 400 };

typedef struct chaos {
    reflector_run run;
    ki_random random;
    ki_resource_version received; /* after the last step */
    uint64_t newest;              /* the server's version */
} chaos;

static uint64_t below(chaos *test, uint64_t bound)
{
    return ki_random_below(&test->random, bound);
}

/* A request is for the newest version or for the version received;
 * version 0 is requested only before anything was received. */
static void check_request(scripted_source *source, const ki_list_options *options, void *user)
{
    chaos *test = user;
    (void)source;
    ki_str known = ki_resource_version_str(&test->run.reflector.version);
    ki_str asked = options->resource_version;
    if (asked.len == 0) {
        assert_true(!options->watch || options->send_initial_events);
        return;
    }
    if (known.len == 0)
        assert_true(ki_str_equal(asked, KI_STR("0")) && !options->watch);
    else
        assert_true(ki_str_equal(asked, known));
}

/* The version never goes back, except when the history is another one. */
static void check_version(chaos *test)
{
    const ki_resource_version *now = &test->run.reflector.version;
    if (ki_resource_version_is_set(now))
        assert_false(ki_resource_version_is_newer(&test->received, now) &&
                     strstr(test->run.changes.text, "RESET") == NULL);
    ki_resource_version_copy(&test->received, now);
    text_log_clear(&test->run.changes);
    text_log_clear(&test->run.errors);
    text_log_clear(&test->run.source.requests);
}

static void send(chaos *test, const char *format)
{
    char text[600];
    unsigned long long version = test->newest += below(test, 3);
    if (below(test, 20) == 0)
        version = below(test, version + 1); /* an old version */
    snprintf(text, sizeof(text), format, version);
    scripted_body(&test->run.source, text);
}

static void answer_badly(chaos *test)
{
    static const char *const bodies[] = {LIST("%1$llu", "", POD("a", "5")),
                                         LIST("%1$llu", "t", POD("a", "5")),
                                         LIST_METADATA_LAST("%1$llu", POD("b", "6")),
                                         "{\"kind\":\"PodList\",",
                                         EVENT("ADDED", POD("b", "%1$llu")),
                                         EVENT("MODIFIED", POD("b", "%1$llu")),
                                         EVENT("DELETED", POD("b", "%1$llu")),
                                         EVENT("ADDED", "{\"metadata\":{\"name\":\"x\"}}"),
                                         BOOKMARK("%1$llu"),
                                         END_OF_LIST("%1$llu"),
                                         EVENT("ERROR", STATUS("410", "Expired")),
                                         EVENT("ERROR", STATUS("500", "InternalError")),
                                         EVENT("ERROR", TOO_LARGE),
                                         STATUS("403", "Forbidden"),
                                         "]",
                                         "{\"type\":"};
    static const int codes[] = {200, 200, 302, 400, 401, 403, 404, 410, 422, 429, 500, 504};
    scripted_source *source = &test->run.source;
    switch (below(test, 6)) {
    case 0:
        scripted_head(source, codes[below(test, sizeof(codes) / sizeof(codes[0]))], (uint32_t)below(test, 5));
        break;
    case 1:
        scripted_end(source);
        break;
    case 2:
        scripted_cut(source, (ki_reason)below(test, KI_REASON_OTHER + 1));
        break;
    default:
        send(test, bodies[below(test, sizeof(bodies) / sizeof(bodies[0]))]);
        break;
    }
}

static void answer_probe_badly(chaos *test)
{
    if (below(test, 2) == 0)
        scripted_probe_cut(&test->run.source, KI_REASON_CONNECTION_LOST);
    else
        scripted_probe_whole(&test->run.source,
                             below(test, 2) == 0 ? LIST("4", "", "") : LIST("999999", "", ""));
}

static void step(chaos *test)
{
    reflector_run *run = &test->run;
    if (run->source.probe != NULL && below(test, 3) == 0)
        answer_probe_badly(test);
    else if (run->source.answer != NULL && below(test, 3) != 0)
        answer_badly(test);
    else if (below(test, 40) == 0)
        ki_reflector_retry_now(&run->reflector);
    else if (below(test, 60) == 0)
        run->refuse_after = 1;
    else if (below(test, 40) == 0)
        run->is_full = 1;
    else
        reflector_run_wait_ms(run, below(test, 4) == 0 ? below(test, 200 * 1000) : below(test, 2000));
    if (run->is_full && below(test, 4) == 0) {
        run->is_full = 0;
        ki_reflector_resume(&run->reflector);
    }
}

/* Answers correctly until there is nothing left to say. */
static void answer_well(chaos *test)
{
    scripted_source *source = &test->run.source;
    char text[300];
    unsigned long long version = test->newest + 1000;
    for (int i = 0; i < 100 && source->answer != NULL; i++) {
        int is_list = test->run.reflector.doing == KI_STEP_LIST;
        if (is_list)
            snprintf(text, sizeof(text), LIST("%llu", "", ""), version);
        else
            snprintf(text, sizeof(text), END_OF_LIST("%llu"), version);
        scripted_body(source, text);
        if (!is_list)
            break;
        scripted_end(source);
    }
}

static int is_well(reflector_run *run)
{
    ki_informer_status status = reflector_run_status(run);
    return status.phase == KI_PHASE_WATCHING && status.reason == KI_REASON_NONE;
}

static void recover(chaos *test)
{
    reflector_run *run = &test->run;
    run->is_full = 0;
    run->refuse_after = 0;
    ki_reflector_resume(&run->reflector);
    for (int i = 0; i < 300 && !is_well(run); i++) {
        reflector_run_wait_ms(run, 4000);
        if (run->source.probe != NULL)
            scripted_probe_whole(&run->source, LIST("999999", "", ""));
        if (run->source.answer != NULL)
            answer_well(test);
    }
    assert_true(is_well(run));
}

static void run_seed(uint64_t seed)
{
    static chaos test;
    ki_resource_version_clear(&test.received);
    test.newest = 100;
    ki_random_init(&test.random, seed);
    reflector_run_init(&test.run);
    test.run.informer.watch_list = (ki_watch_list)below(&test, 3);
    test.run.source.at_once = check_request;
    test.run.source.user = &test;
    reflector_run_start(&test.run, below(&test, 4) == 0 ? "50" : "");
    for (int i = 0; i < STEPS; i++) {
        step(&test);
        check_version(&test);
    }
    recover(&test);
    reflector_run_fini(&test.run);
}

static uint64_t seed_at_work; /* 0: no run */

static void a_server_may_do_anything(void **state)
{
    (void)state;
    for (seed_at_work = 1; seed_at_work <= SEEDS; seed_at_work++)
        run_seed(seed_at_work);
    seed_at_work = 0;
    assert_int_equal(failing_allocator_live_count(), 0);
}

/* Prints the seed of a failed run. */
static int teardown(void **state)
{
    if (seed_at_work != 0)
        fprintf(stderr, "seed %llu\n", (unsigned long long)seed_at_work);
    return failing_allocator_teardown(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_server_may_do_anything, failing_allocator_setup, teardown),
    };
    return RUN_TESTS(tests);
}
