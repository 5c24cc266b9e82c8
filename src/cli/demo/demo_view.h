/* SPDX-License-Identifier: Apache-2.0 */
/* demo_view - the display of the demo as text: a screen for a terminal, or one line.
 *
 *   From:     cli/demo/demo.c, which fills in the view; also cli/demo/demo_end.c, cli/demo/demo_followers.c,
 *             cli/demo/demo_show.c
 *   To:       cli/demo/demo_terminal.c
 *   Locks:    none.
 *   Not here: cursor movements, terminals.
 */
#ifndef KI_CLI_DEMO_DEMO_VIEW_H
#define KI_CLI_DEMO_DEMO_VIEW_H

#include <kinformer/informer.h>

enum {
    CLI_DEMO_LINES = 12,
    CLI_DEMO_LINE_BYTES = 160,
    CLI_DEMO_VIEW_BYTES = 16 * 1024,
    CLI_DEMO_FOLLOWED = 4
};

/* The latest lines of a kind. A zeroed struct is empty. */
typedef struct cli_demo_lines {
    char texts[CLI_DEMO_LINES][CLI_DEMO_LINE_BYTES];
    uint64_t count; /* of all lines ever added */
} cli_demo_lines;

void cli_demo_lines_add(cli_demo_lines *lines, const char *text);

/* Line `index` of the last `n` lines, 0 being the oldest; "" if there is none. */
const char *cli_demo_lines_at(const cli_demo_lines *lines, size_t n, size_t index);

typedef struct cli_demo_view_informer {
    const char *name;
    ki_phase phase;
    uint64_t retry_ms;
    uint64_t objects;
    double events_per_second;
    uint64_t queued;
    uint64_t backlog;
    uint64_t watches;
    uint64_t expired; /* how many times the resource version had expired */
} cli_demo_view_informer;

/* Borrows its strings. */
typedef struct cli_demo_view {
    const char *url;
    uint64_t seed;
    uint64_t elapsed_ms;
    uint64_t writes;
    double writes_per_second;
    uint64_t running;
    uint64_t starting;
    uint64_t crashing;
    uint64_t nodes;
    const char *busiest_node;
    uint64_t busiest_pods;
    const char *next; /* "restart in 4 s"; "" if there are no more faults */
    cli_demo_view_informer informers[CLI_DEMO_FOLLOWED];
    cli_demo_lines troubles;
    cli_demo_lines happenings;
    cli_demo_lines events;
} cli_demo_view;

typedef struct cli_demo_screen {
    uint32_t columns;
    uint32_t rows;
    int is_colored;
} cli_demo_screen;

/* Draws lines that fit on the screen, separated by '\n'. Returns the number of bytes; a NUL follows them. */
size_t cli_demo_view_draw(const cli_demo_view *view, const cli_demo_screen *screen,
                          char out[CLI_DEMO_VIEW_BYTES]);

/* Writes the state as one line, without a line end. Returns the same as cli_demo_view_draw(). */
size_t cli_demo_view_summarize(const cli_demo_view *view, char *out, size_t bytes);

#endif
