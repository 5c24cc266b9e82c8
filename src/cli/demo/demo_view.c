/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/demo/demo_view.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* LATEST_LINES: faults and changes each get a third of the remaining rows, but at most this many; events get
 * the rest. LATEST_TITLES: the rows of titles and separators. */
enum { LATEST_LINES = 4, LATEST_TITLES = 5 };

#define BOLD "\033[1m"
#define DIM "\033[2m"
#define GREEN "\033[32m"
#define YELLOW "\033[33m"
#define PLAIN "\033[0m"

/* ---- the latest lines ---------------------------------------------------------------------------------- */

void cli_demo_lines_add(cli_demo_lines *lines, const char *text)
{
    snprintf(lines->texts[lines->count++ % CLI_DEMO_LINES], CLI_DEMO_LINE_BYTES, "%s", text);
}

const char *cli_demo_lines_at(const cli_demo_lines *lines, size_t n, size_t index)
{
    uint64_t kept = lines->count < CLI_DEMO_LINES ? lines->count : CLI_DEMO_LINES;
    uint64_t shown = kept < n ? kept : n;
    return index < shown ? lines->texts[(lines->count - shown + index) % CLI_DEMO_LINES] : "";
}

/* ---- text clipped to the screen --------------------------------------------------------------------- */

typedef struct drawing {
    char *out;
    size_t len;
    size_t bytes;
    uint32_t columns; /* of the screen */
    uint32_t rows;    /* left, including the current one */
    uint32_t column;  /* the next column to write */
    int is_colored;
} drawing;

static void put_bytes(drawing *canvas, const char *text, size_t n)
{
    assert(canvas->len < canvas->bytes);
    if (n >= canvas->bytes - canvas->len)
        n = canvas->bytes - canvas->len - 1;
    memcpy(canvas->out + canvas->len, text, n);
    canvas->len += n;
    canvas->out[canvas->len] = 0;
}

/* All text is ASCII: one byte per column. */
static void put_text(drawing *canvas, const char *text)
{
    assert(canvas->column <= canvas->columns);
    size_t space = canvas->rows == 0 ? 0 : canvas->columns - canvas->column;
    size_t n = strlen(text);
    n = n < space ? n : space;
    put_bytes(canvas, text, n);
    canvas->column += (uint32_t)n;
}

static void put(drawing *canvas, const char *style, const char *format, ...) KI_PRINTF(3, 4);

static void put(drawing *canvas, const char *style, const char *format, ...)
{
    char text[512];
    va_list arguments;
    int is_styled = canvas->is_colored && style[0] != 0 && canvas->rows > 0;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (is_styled)
        put_bytes(canvas, style, strlen(style));
    put_text(canvas, text);
    if (is_styled)
        put_bytes(canvas, PLAIN, strlen(PLAIN));
}

/* The last row has no line end, so that the terminal does not scroll. */
static void end_line(drawing *canvas)
{
    if (canvas->rows > 1)
        put_bytes(canvas, "\n", 1);
    canvas->rows -= canvas->rows > 0 ? 1 : 0;
    canvas->column = 0;
}

/* ---- the parts ----------------------------------------------------------------------------------------- */

static void draw_title(drawing *canvas, const cli_demo_view *view)
{
    put(canvas, BOLD, "kinformer demo");
    put(canvas, "", "   %s   seed %llu   %llu s   ", view->url, (unsigned long long)view->seed,
        (unsigned long long)(view->elapsed_ms / 1000));
    put(canvas, DIM, "Ctrl-C compares caches and exits");
    end_line(canvas);
    end_line(canvas);
}

static void draw_phase(drawing *canvas, const cli_demo_view_informer *informer)
{
    char text[64];
    const char *name = ki_phase_name(informer->phase);
    if (informer->phase == KI_PHASE_BACKING_OFF)
        snprintf(text, sizeof(text), "%s %.1fs", name, (double)informer->retry_ms / 1000);
    else
        snprintf(text, sizeof(text), "%s", name);
    put(canvas, informer->phase == KI_PHASE_WATCHING ? GREEN : YELLOW, "%-17s", text);
}

static void draw_informers(drawing *canvas, const cli_demo_view *view)
{
    put(canvas, BOLD, "%-13s%-17s%8s%9s%6s%8s%8s%8s", "INFORMER", "PHASE", "OBJECTS", "EVENTS/S", "QUEUE",
        "BACKLOG", "WATCHES", "EXPIRED");
    end_line(canvas);
    for (size_t i = 0; i < CLI_DEMO_FOLLOWED; i++) {
        const cli_demo_view_informer *informer = &view->informers[i];
        put(canvas, "", "%-13s", informer->name);
        draw_phase(canvas, informer);
        put(canvas, "", "%8llu%9.1f%6llu%8llu%8llu%8llu", (unsigned long long)informer->objects,
            informer->events_per_second, (unsigned long long)informer->queued,
            (unsigned long long)informer->backlog, (unsigned long long)informer->watches,
            (unsigned long long)informer->expired);
        end_line(canvas);
    }
    end_line(canvas);
}

static void draw_cluster(drawing *canvas, const cli_demo_view *view)
{
    put(canvas, "", "cache          %llu pods running, %llu starting, %llu crashing",
        (unsigned long long)view->running, (unsigned long long)view->starting,
        (unsigned long long)view->crashing);
    end_line(canvas);
    put(canvas, "", "node index     %s has the most pods of %llu nodes: %llu", view->busiest_node,
        (unsigned long long)view->nodes, (unsigned long long)view->busiest_pods);
    end_line(canvas);
    put(canvas, "", "writes         %llu, %.1f/s", (unsigned long long)view->writes, view->writes_per_second);
    end_line(canvas);
    end_line(canvas);
}

/* Always draws `n` lines, so that nothing below them moves. */
static void draw_lines(drawing *canvas, const char *title, const cli_demo_lines *lines, size_t n)
{
    put(canvas, BOLD, "%s", title);
    end_line(canvas);
    for (size_t i = 0; i < n; i++) {
        put(canvas, "", "  %s", cli_demo_lines_at(lines, n, i));
        end_line(canvas);
    }
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void draw_latest(drawing *canvas, const cli_demo_view *view)
{
    char title[96];
    snprintf(title, sizeof(title), "FAULTS%s%s%s", view->next[0] != 0 ? "   (next: " : "", view->next,
             view->next[0] != 0 ? ")" : "");
    size_t space = canvas->rows > LATEST_TITLES ? canvas->rows - LATEST_TITLES : 0;
    size_t troubles = smaller((space + 2) / 3, LATEST_LINES);
    size_t happenings = smaller((space + 1) / 3, LATEST_LINES);
    draw_lines(canvas, title, &view->troubles, troubles);
    end_line(canvas);
    draw_lines(canvas, "CLUSTER", &view->happenings, happenings);
    end_line(canvas);
    draw_lines(canvas, "HANDLERS", &view->events, smaller(space - troubles - happenings, CLI_DEMO_LINES));
}

size_t cli_demo_view_draw(const cli_demo_view *view, const cli_demo_screen *screen,
                          char out[CLI_DEMO_VIEW_BYTES])
{
    drawing canvas = {.out = out,
                      .bytes = CLI_DEMO_VIEW_BYTES,
                      .columns = screen->columns,
                      .rows = screen->rows,
                      .is_colored = screen->is_colored};
    out[0] = 0;
    draw_title(&canvas, view);
    draw_informers(&canvas, view);
    draw_cluster(&canvas, view);
    draw_latest(&canvas, view);
    return canvas.len;
}

/* ---- one line ------------------------------------------------------------------------------------------ */

size_t cli_demo_view_summarize(const cli_demo_view *view, char *out, size_t bytes)
{
    drawing line = {.out = out, .bytes = bytes, .columns = (uint32_t)bytes, .rows = 1};
    uint64_t queued = 0;
    uint64_t backlog = 0;
    double events = 0;
    out[0] = 0;
    for (size_t i = 0; i < CLI_DEMO_FOLLOWED; i++) {
        const cli_demo_view_informer *informer = &view->informers[i];
        put(&line, "", "%s%s %llu", i > 0 ? ", " : "", informer->name, (unsigned long long)informer->objects);
        if (informer->phase != KI_PHASE_WATCHING)
            put(&line, "", " %s", ki_phase_name(informer->phase));
        queued += informer->queued;
        backlog += informer->backlog;
        events += informer->events_per_second;
    }
    put(&line, "", "; %.1f events/s, queue %llu, backlog %llu", events, (unsigned long long)queued,
        (unsigned long long)backlog);
    return line.len;
}
