/* SPDX-License-Identifier: Apache-2.0 */
/* signals - SIGINT and SIGTERM end the program with 0 within a second, whatever it is doing.
 *
 *   From:     cli/cmd_*.c that run for long
 *   To:       a descriptor to poll; when the end takes too long, _exit()
 *   Locks:    none.
 */
#ifndef KI_CLI_SIGNALS_H
#define KI_CLI_SIGNALS_H

#include <kinformer/common.h>
#include <kinformer/error.h>

/* Installs the handlers, once; also makes writing to a closed pipe an error instead of a signal. Returns a
 * descriptor that becomes readable with the first signal, or KI_ERR_SYSTEM. */
KI_NODISCARD int cli_signals_install(ki_error *err);

/* After this the end may take its time: the first signal is only noticed, a second one ends the program at
 * once, with CLI_EXIT_FAILED, after `words`, which calls only what is safe inside a signal handler. */
void cli_signals_be_patient(void (*words)(void));

/* 1 when a signal has come. */
int cli_signals_is_stopped(void);

/* Descriptors 0, 1 and 2 that are closed are opened, so that no other file gets their number; writing to
 * such a stdout fails. To be called before anything is opened. */
void cli_signals_guard_descriptors(void);

#endif
