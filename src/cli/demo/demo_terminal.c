/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/demo/demo_terminal.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* The alternate screen, without a cursor; drawing begins at the upper left. */
#define ENTER "\033[?1049h\033[?25l\033[H\033[2J"
#define LEAVE "\033[?25h\033[?1049l"
#define HOME "\033[H"
#define CLEAR_LINE "\033[K"
#define CLEAR_BELOW "\033[J"

enum { COLUMNS_DEFAULT = 80, ROWS_DEFAULT = 24, COLUMNS_MAX = 400, ROWS_MAX = 100 };

static volatile sig_atomic_t entered_fd = -1;
static int resize_fd = -1;

int cli_demo_terminal_can(int fd)
{
    const char *kind = getenv("TERM");
    return isatty(fd) && kind != NULL && kind[0] != 0 && strcmp(kind, "dumb") != 0;
}

/* ---- signals ------------------------------------------------------------------------------------------- */

static void ring(void)
{
    uint64_t one = 1;
    (void)!write(resize_fd, &one, sizeof(one));
}

static void on_resize(int number)
{
    (void)number;
    int saved = errno;
    ring();
    errno = saved;
}

/* Ctrl-Z: restores the shell's screen before the program stops, and the program's own when it continues. */
static void on_rest(int number)
{
    int saved = errno;
    struct sigaction usual = {.sa_handler = SIG_DFL};
    struct sigaction ours = {0};
    sigset_t set;
    (void)!write((int)entered_fd, LEAVE, sizeof(LEAVE) - 1);
    (void)sigaction(number, &usual, &ours);
    (void)raise(number);
    sigemptyset(&set);
    sigaddset(&set, number);
    (void)pthread_sigmask(SIG_UNBLOCK, &set, NULL); /* the program stops here */
    (void)pthread_sigmask(SIG_BLOCK, &set, NULL);
    (void)sigaction(number, &ours, NULL);
    (void)!write((int)entered_fd, ENTER, sizeof(ENTER) - 1);
    ring();
    errno = saved;
}

static void handle(int number, void (*function)(int number))
{
    struct sigaction action = {.sa_handler = function, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    (void)sigaction(number, &action, NULL);
}

/* ---- the screen ---------------------------------------------------------------------------------------- */

int cli_demo_terminal_enter(cli_output *output)
{
    resize_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    cli_output_put_text(output, ENTER);
    cli_output_flush(output);
    entered_fd = output->fd;
    handle(SIGWINCH, on_resize);
    handle(SIGTSTP, on_rest);
    return resize_fd;
}

static uint32_t limit(unsigned value, uint32_t otherwise, uint32_t max)
{
    if (value == 0)
        return otherwise;
    return value < max ? value : max;
}

cli_demo_screen cli_demo_terminal_read_screen(const cli_output *output)
{
    uint64_t rung = 0;
    struct winsize size = {0};
    const char *no_color = getenv("NO_COLOR");
    (void)!read(resize_fd, &rung, sizeof(rung));
    if (ioctl(output->fd, TIOCGWINSZ, &size) < 0)
        size = (struct winsize){0};
    /* CLEAR_LINE would erase the end of a line that fills the last column. */
    return (cli_demo_screen){.columns = limit(size.ws_col, COLUMNS_DEFAULT, COLUMNS_MAX) - 1,
                             .rows = limit(size.ws_row, ROWS_DEFAULT, ROWS_MAX),
                             .is_colored = no_color == NULL || no_color[0] == 0};
}

/* Clears the rest of each line after its end, so that nothing of a longer previous line is left. */
void cli_demo_terminal_draw(cli_output *output, const char *picture)
{
    cli_output_put_text(output, HOME);
    for (const char *line = picture;;) {
        size_t n = strcspn(line, "\n");
        cli_output_put(output, (ki_str){line, n});
        cli_output_put_text(output, CLEAR_LINE);
        if (line[n] == 0)
            break;
        cli_output_put_text(output, "\r\n");
        line += n + 1;
    }
    cli_output_put_text(output, CLEAR_BELOW);
    cli_output_flush(output);
}

void cli_demo_terminal_leave(cli_output *output)
{
    if (entered_fd < 0)
        return;
    handle(SIGTSTP, SIG_DFL);
    handle(SIGWINCH, SIG_DFL);
    cli_output_put_text(output, LEAVE);
    cli_output_flush(output);
    entered_fd = -1;
    (void)close(resize_fd);
    resize_fd = -1;
}

void cli_demo_terminal_abandon(void)
{
    if (entered_fd >= 0)
        (void)!write((int)entered_fd, LEAVE, sizeof(LEAVE) - 1);
}
