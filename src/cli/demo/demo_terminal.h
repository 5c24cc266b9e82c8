/* SPDX-License-Identifier: Apache-2.0 */
/* demo_terminal - a live view on the alternate screen, which is restored at the end.
 *
 *   From:     cli/demo/demo.c, cli/demo/cmd_demo.c, cli/demo/demo_end.c, cli/demo/demo_show.c
 *   To:       cli/output.c
 *   Locks:    none. One at a time: the state for restoring the screen is global.
 *   Not here: what is drawn.
 *
 * Nothing is erased before it is overwritten, so nothing flickers.
 */
#ifndef KI_CLI_DEMO_DEMO_TERMINAL_H
#define KI_CLI_DEMO_DEMO_TERMINAL_H

#include "cli/demo/demo_view.h"
#include "cli/output.h"

/* 1 if the descriptor is a terminal with cursor movement. */
int cli_demo_terminal_can(int fd);

/* Switches to the screen, and watches for changes of its size. Returns a descriptor that becomes readable
 * after a change, or -1 if there is none. */
int cli_demo_terminal_enter(cli_output *output);

/* Reads the size and clears the change. 80 by 24 if it is unknown. NO_COLOR is honoured. */
cli_demo_screen cli_demo_terminal_read_screen(const cli_output *output);

/* Draws the lines of cli_demo_view_draw(). */
void cli_demo_terminal_draw(cli_output *output, const char *picture);

/* Restores the previous screen. Calling it twice is allowed. */
void cli_demo_terminal_leave(cli_output *output);

/* Restores the screen immediately; may be called in a signal handler. */
void cli_demo_terminal_abandon(void);

#endif
