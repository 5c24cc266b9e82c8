/* SPDX-License-Identifier: Apache-2.0 */
/* The output of the demonstration: text that fits. */
#include <stdio.h>
#include <string.h>

#include "cli/demo/demo_view.h"
#include "support/unit.h"

static char out[CLI_DEMO_VIEW_BYTES];

static cli_demo_view sample(void)
{
    cli_demo_view view = {.url = "http://127.0.0.1:40123",
                          .seed = 7,
                          .elapsed_ms = 12345,
                          .writes = 601,
                          .writes_per_second = 50.1,
                          .running = 1987,
                          .starting = 12,
                          .crashing = 14,
                          .nodes = 43,
                          .busiest_node = "worker-07",
                          .busiest_pods = 61,
                          .next = "restart in 4 s",
                          .informers = {{.name = "pods",
                                         .phase = KI_PHASE_WATCHING,
                                         .objects = 2013,
                                         .events_per_second = 48.2,
                                         .queued = 3,
                                         .backlog = 4,
                                         .watches = 5,
                                         .expired = 6},
                                        {.name = "nodes", .phase = KI_PHASE_BACKING_OFF, .retry_ms = 800},
                                        {.name = "deployments", .phase = KI_PHASE_STREAMING_LIST},
                                        {.name = "replicasets", .phase = KI_PHASE_LISTING}}};
    for (int i = 0; i < 30; i++) {
        char line[CLI_DEMO_LINE_BYTES];
        snprintf(line, sizeof(line), "trouble %d, which is described with a good many words, more than fit",
                 i);
        cli_demo_lines_add(&view.troubles, line);
        snprintf(line, sizeof(line), "happening %d", i);
        cli_demo_lines_add(&view.happenings, line);
        snprintf(line, sizeof(line), "event %d", i);
        cli_demo_lines_add(&view.events, line);
    }
    return view;
}

/* The width of the widest line as a terminal counts it, and the number of lines. */
typedef struct extent {
    uint32_t columns;
    uint32_t rows;
} extent;

static extent measure(const char *text)
{
    extent whole = {.rows = 1};
    uint32_t column = 0;
    for (const char *at = text; *at != 0; at++) {
        if (*at == '\033') {
            at = strchr(at, 'm');
            assert_non_null(at);
        } else if (*at == '\n') {
            whole.rows++;
            column = 0;
        } else {
            assert_in_range((unsigned char)*at, ' ', '~');
            column++;
        }
        whole.columns = column > whole.columns ? column : whole.columns;
    }
    return whole;
}

/* ---- the screen ---------------------------------------------------------------------------------------- */

static void the_screen_shows_the_state_of_each_informer(void **state)
{
    (void)state;
    cli_demo_view view = sample();
    size_t n = cli_demo_view_draw(&view, &(cli_demo_screen){80, 40, 0}, out);
    assert_int_equal(n, strlen(out));
    assert_non_null(
        strstr(out, "pods         WATCHING             2013     48.2     3       4       5       6\n"));
    assert_non_null(strstr(out, "nodes        BACKING_OFF 0.8s "));
    assert_non_null(strstr(out, "deployments  STREAMING_LIST "));
    assert_non_null(strstr(out, "1987 pods running, 12 starting, 14 crashing"));
    assert_non_null(strstr(out, "worker-07 has the most pods of 43 nodes: 61"));
    assert_non_null(strstr(out, "601, 50.1/s"));
    assert_non_null(strstr(out, "(next: restart in 4 s)"));
    assert_non_null(strstr(out, "http://127.0.0.1:40123   seed 7   12 s"));
}

static void the_output_never_exceeds_the_screen(void **state)
{
    (void)state;
    cli_demo_view view = sample();
    for (uint32_t columns = 0; columns < 160; columns += 7)
        for (uint32_t rows = 1; rows < 60; rows++)
            for (int is_colored = 0; is_colored < 2; is_colored++) {
                size_t n = cli_demo_view_draw(&view, &(cli_demo_screen){columns, rows, is_colored}, out);
                extent whole = measure(out);
                assert_int_equal(n, strlen(out));
                assert_true(whole.columns <= columns);
                assert_true(whole.rows <= rows);
            }
}

static void a_larger_screen_shows_more_and_the_newest_comes_last(void **state)
{
    (void)state;
    cli_demo_view view = sample();
    (void)cli_demo_view_draw(&view, &(cli_demo_screen){80, 24, 0}, out);
    assert_int_equal(measure(out).rows, 24);
    assert_non_null(strstr(out, "event 29"));
    assert_non_null(strstr(out, "happening 29"));
    assert_non_null(strstr(out, "trouble 29"));
    assert_null(strstr(out, "event 20"));
    (void)cli_demo_view_draw(&view, &(cli_demo_screen){80, 60, 0}, out);
    assert_non_null(strstr(out, "event 20"));
    assert_true(strstr(out, "event 20") < strstr(out, "event 29"));
}

static void colours_are_used_only_by_option(void **state)
{
    (void)state;
    cli_demo_view view = sample();
    (void)cli_demo_view_draw(&view, &(cli_demo_screen){80, 40, 0}, out);
    assert_null(strchr(out, '\033'));
    (void)cli_demo_view_draw(&view, &(cli_demo_screen){80, 40, 1}, out);
    assert_non_null(strstr(out, "\033[32mWATCHING"));
    assert_non_null(strstr(out, "\033[33mBACKING_OFF"));
}

static void lines_below_do_not_move_if_there_are_few_lines(void **state)
{
    (void)state;
    cli_demo_view view = sample();
    (void)cli_demo_view_draw(&view, &(cli_demo_screen){80, 40, 0}, out);
    uint32_t rows = measure(out).rows;
    view.troubles = view.happenings = view.events = (cli_demo_lines){0};
    (void)cli_demo_view_draw(&view, &(cli_demo_screen){80, 40, 0}, out);
    assert_int_equal(measure(out).rows, rows);
}

/* ---- the summary --------------------------------------------------------------------------------------- */

static void a_summary_is_one_line_and_names_the_phase_of_those_not_watching(void **state)
{
    (void)state;
    cli_demo_view view = sample();
    char line[256];
    size_t n = cli_demo_view_summarize(&view, line, sizeof(line));
    assert_int_equal(n, strlen(line));
    assert_string_equal(
        line, "pods 2013, nodes 0 BACKING_OFF, deployments 0 STREAMING_LIST, replicasets 0 LISTING; "
              "48.2 events/s, queue 3, backlog 4");
}

static void a_summary_does_not_exceed_its_buffer(void **state)
{
    (void)state;
    cli_demo_view view = sample();
    char line[256];
    for (size_t bytes = 1; bytes < 160; bytes++) {
        memset(line, 'x', sizeof(line));
        size_t n = cli_demo_view_summarize(&view, line, bytes);
        assert_true(n < bytes);
        assert_int_equal(line[n], 0);
        assert_int_equal(line[bytes], 'x');
    }
}

/* ---- the latest lines ---------------------------------------------------------------------------------- */

static void the_latest_lines_are_kept(void **state)
{
    (void)state;
    cli_demo_lines lines = {0};
    assert_string_equal(cli_demo_lines_at(&lines, 3, 0), "");
    cli_demo_lines_add(&lines, "a");
    assert_string_equal(cli_demo_lines_at(&lines, 3, 0), "a");
    assert_string_equal(cli_demo_lines_at(&lines, 3, 1), "");
    for (char c = 'b'; c <= 'z'; c++)
        cli_demo_lines_add(&lines, (char[]){c, 0});
    assert_string_equal(cli_demo_lines_at(&lines, 3, 0), "x");
    assert_string_equal(cli_demo_lines_at(&lines, 3, 2), "z");
    assert_string_equal(cli_demo_lines_at(&lines, 3, 3), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_screen_shows_the_state_of_each_informer),
        cmocka_unit_test(the_output_never_exceeds_the_screen),
        cmocka_unit_test(a_larger_screen_shows_more_and_the_newest_comes_last),
        cmocka_unit_test(colours_are_used_only_by_option),
        cmocka_unit_test(lines_below_do_not_move_if_there_are_few_lines),
        cmocka_unit_test(a_summary_is_one_line_and_names_the_phase_of_those_not_watching),
        cmocka_unit_test(a_summary_does_not_exceed_its_buffer),
        cmocka_unit_test(the_latest_lines_are_kept),
    };
    return RUN_TESTS(tests);
}
