/* SPDX-License-Identifier: Apache-2.0 */
/* The end of the demonstration, with caches that are correct, and with one that is not. */
#include <kinformer/apiserver.h>
#include <kinformer/resources.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/demo/demo.h"
#include "cli/failure.h"
#include "cli/moment.h"
#include "support/patience.h"
#include "support/unit.h"
#include "util/clock.h"

static cli_output output;
static cli_demo demo;
static int ends[2]; /* the two ends of the pipe that is written to */

static void put_pod(const char *name, const char *color)
{
    char json[256];
    ki_error err = {0};
    snprintf(json, sizeof(json),
             "{\"metadata\":{\"name\":\"%s\",\"labels\":{\"color\":\"%s\"}},"
             "\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"c:1\"}]}}",
             name, color);
    if (ki_apiserver_put(demo.server, &KI_CORE_V1_PODS, json, &err) < 0)
        fail_msg("%s", err.message);
}

static int set_up(void **state)
{
    (void)state;
    ki_error err = {0};
    static const cli_demo_flags flags = {.pods = 2};
    assert_int_equal(pipe(ends), 0);
    cli_output_init(&output, ends[1], NULL);
    demo = (cli_demo){.flags = &flags, .output = &output};
    demo.server = ki_apiserver_start(NULL, &err);
    assert_non_null(demo.server);
    put_pod("a", "red");
    put_pod("b", "red");
    demo.client = ki_client_new(
        &(ki_client_options){.mode = KI_MODE_HANDLERS_ON_LOOP, .server = ki_apiserver_url(demo.server)},
        &err);
    assert_non_null(demo.client);
    assert_int_equal(cli_demo_followers_start(&demo.followers, demo.client, &demo.view.events, &err), 0);
    uint64_t deadline_ms = ki_clock_now_ms(ki_clock_real()) + HANG_MS;
    while (!cli_demo_followers_have_synced(&demo.followers)) {
        struct pollfd client = {.fd = ki_client_fd(demo.client), .events = POLLIN};
        assert_true(ki_clock_now_ms(ki_clock_real()) < deadline_ms);
        (void)poll(&client, 1, 10);
        assert_true(ki_client_dispatch(demo.client, KI_BUDGET_NONE) >= 0);
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    cli_demo_followers_fini(&demo.followers);
    ki_client_free(demo.client);
    ki_apiserver_free(demo.server);
    (void)close(ends[0]);
    return 0;
}

/* Returns the output, which fits into a pipe. */
static const char *written(void)
{
    static char text[8192];
    (void)close(ends[1]);
    ssize_t n = read(ends[0], text, sizeof(text) - 1);
    text[n > 0 ? n : 0] = 0;
    return text;
}

static void expect(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("it does not say \"%s\": %s", part, text);
}

static void caches_that_are_current_are_equal(void **state)
{
    (void)state;
    assert_int_equal(cli_demo_finish(&demo), CLI_EXIT_OK);
    const char *text = written();
    expect(text, "compared with the server's lists: 2 pods, 0 nodes, 0 deployments, 0 replicasets\n");
    expect(text, "\nequal: ");
}

static void a_cache_that_lags_behind_is_reported_with_its_keys(void **state)
{
    (void)state;
    ki_error err = {0};
    ki_informer_stop(demo.followers.items[CLI_DEMO_PODS].informer);
    put_pod("b", "blue");
    put_pod("c", "red");
    assert_int_equal(ki_apiserver_delete(demo.server, &KI_CORE_V1_PODS, "default", "a", &err), 0);
    assert_int_equal(cli_demo_finish(&demo), CLI_EXIT_FAILED);
    const char *text = written();
    expect(text, "  pods default/a: the cache has ");
    expect(text, ", the server has nothing\n");
    expect(text, "  pods default/b: the cache has ");
    expect(text, "  pods default/c: the cache has nothing, the server has ");
    expect(text, "NOT EQUAL: 3 objects differ\n");
    assert_null(strstr(text, "\nequal"));
}

static void a_handler_that_differs_from_the_cache_is_reported(void **state)
{
    (void)state;
    demo.followers.items[CLI_DEMO_PODS].objects++;
    assert_int_equal(cli_demo_finish(&demo), CLI_EXIT_FAILED);
    expect(written(), "  pods the handler has seen 3 objects, the cache holds 2\n");
}

static void do_nothing(const char *line, void *user)
{
    (void)line;
    (void)user;
}

static int unanswered_count(void)
{
    int count = 0;
    for (size_t i = 0; i < CLI_DEMO_FOLLOWED; i++) {
        ki_informer_status status = {0};
        ki_informer_read_status(demo.followers.items[i].informer, &status);
        count += status.is_unanswered && status.phase != KI_PHASE_WATCHING;
    }
    return count;
}

/* The fault cuts connections of another server, so it does not cut the watches that are being requested. */
static void a_watch_that_is_requested_during_a_fault_ends_the_recovery(void **state)
{
    (void)state;
    ki_error err = {0};
    const ki_fault stall = {.on = KI_FAULT_WATCH, .action = KI_FAULT_STALL};
    ki_apiserver *other = ki_apiserver_start(NULL, &err);
    assert_non_null(other);
    assert_int_equal(ki_apiserver_fault(demo.server, &stall, &err), 0);
    ki_apiserver_cut(demo.server, 1);
    uint64_t deadline_ms = ki_clock_now_ms(ki_clock_real()) + HANG_MS;
    while (unanswered_count() < CLI_DEMO_FOLLOWED)
        assert_true(ki_clock_now_ms(ki_clock_real()) < deadline_ms);
    demo.trouble = (cli_demo_trouble){
        .server = other, .followers = &demo.followers, .period_ms = 1000, .say = do_nothing};
    assert_int_equal(cli_demo_trouble_tick(&demo.trouble, cli_moment_now_ms(), &err), 0);
    assert_true(demo.trouble.is_recovering);
    ki_apiserver_clear_faults(demo.server);
    assert_int_equal(cli_demo_finish(&demo), CLI_EXIT_OK);
    expect(written(), "\nequal: ");
    ki_apiserver_free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(caches_that_are_current_are_equal, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_cache_that_lags_behind_is_reported_with_its_keys, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_handler_that_differs_from_the_cache_is_reported, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_watch_that_is_requested_during_a_fault_ends_the_recovery, set_up,
                                        tear_down),
    };
    return RUN_TESTS(tests);
}
