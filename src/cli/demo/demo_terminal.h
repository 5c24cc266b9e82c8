/* SPDX-License-Identifier: Apache-2.0 */
/* demo_terminal - a screen of its own that is drawn over, again and again, and left as it was found.
 *
 *   From:     cli/demo/demo.c
 *   To:       cli/output.c
 *   Locks:    none. One at a time: what leaves the screen when the program is ended is one for the whole of
 *             it.
 *   Not here: what is drawn.
 *
 * Nothing is erased before it is drawn over, so nothing flickers.
 */
#ifndef KI_CLI_DEMO_DEMO_TERMINAL_H
#define KI_CLI_DEMO_DEMO_TERMINAL_H

#include "cli/demo/demo_view.h"
#include "cli/output.h"

/* 1 when the descriptor is a terminal that can move its cursor. */
int cli_demo_terminal_can(int fd);

/* Changes to the screen, and notices from then on when its size changes. Returns a descriptor that is
 * readable after that, or -1 without one. */
int cli_demo_terminal_enter(cli_output *output);

/* Reads how large it is; forgets that it had changed. 80 times 24 when it does not say. NO_COLOR is
 * honoured. */
cli_demo_screen cli_demo_terminal_read_screen(const cli_output *output);

/* Lines as cli_demo_view_draw() gives them. */
void cli_demo_terminal_draw(cli_output *output, const char *picture);

/* Back to what was there before. Does nothing twice. */
void cli_demo_terminal_leave(cli_output *output);

/* The same at once; may be called inside a signal handler. */
void cli_demo_terminal_abandon(void);

#endif
