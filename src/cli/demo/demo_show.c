/* SPDX-License-Identifier: Apache-2.0 */
/* What the demo shows, and when. */
#include <stdio.h>

#include "cli/demo/demo.h"
#include "cli/demo/demo_terminal.h"
#include "cli/moment.h"

enum { FRAME_MS = 200, STATUS_MS = 1000, MEASURE_MS = 1000 };

void cli_demo_write(cli_demo *demo, const char *line)
{
    cli_output_put_text(demo->output, line);
    cli_output_put_text(demo->output, "\n");
    cli_output_flush(demo->output);
}

void cli_demo_say(cli_demo *demo, cli_demo_lines *kept, const char *line)
{
    char text[CLI_DEMO_LINE_BYTES * 2];
    snprintf(text, sizeof(text), "%6.1fs  %s", (double)(cli_moment_now_ms() - demo->began_ms) / 1000, line);
    if (kept != NULL)
        cli_demo_lines_add(kept, text);
    if (!demo->is_screen)
        cli_demo_write(demo, text);
}

static void measure(cli_demo *demo, uint64_t now_ms)
{
    uint64_t elapsed_ms = now_ms - demo->measured_ms;
    if (elapsed_ms < MEASURE_MS)
        return;
    cli_demo_followers_measure(&demo->followers, elapsed_ms);
    demo->view.writes_per_second =
        (double)(demo->view.writes - demo->measured_writes) * 1000 / (double)elapsed_ms;
    demo->measured_writes = demo->view.writes;
    demo->measured_ms = now_ms;
}

static void fill_in(cli_demo *demo, uint64_t now_ms)
{
    demo->view.url = ki_apiserver_url(demo->server);
    demo->view.seed = (uint64_t)demo->flags->seed;
    demo->view.elapsed_ms = now_ms - demo->began_ms;
    demo->view.next = demo->next;
    cli_demo_trouble_describe_next(&demo->trouble, now_ms, demo->next, sizeof(demo->next));
    cli_demo_followers_show(&demo->followers, &demo->view, demo->node);
}

static void draw(cli_demo *demo)
{
    static char picture[CLI_DEMO_VIEW_BYTES];
    cli_demo_screen screen = cli_demo_terminal_read_screen(demo->output);
    (void)cli_demo_view_draw(&demo->view, &screen, picture);
    cli_demo_terminal_draw(demo->output, picture);
}

void cli_demo_show(cli_demo *demo, uint64_t now_ms)
{
    measure(demo, now_ms);
    if (now_ms < demo->frame_ms)
        return;
    demo->frame_ms = now_ms + (demo->is_screen ? FRAME_MS : STATUS_MS);
    demo->said = 0;
    fill_in(demo, now_ms);
    if (demo->is_screen) {
        draw(demo);
    } else {
        char line[CLI_DEMO_LINE_BYTES];
        (void)cli_demo_view_summarize(&demo->view, line, sizeof(line));
        cli_demo_say(demo, NULL, line);
    }
}
