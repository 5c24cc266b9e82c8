/* SPDX-License-Identifier: Apache-2.0 */
/* signals - SIGINT and SIGTERM end the program with 0 within a second, whatever it is doing; so does a
 * deadline, with CLI_EXIT_TIMEOUT.
 *
 *   From:     long-running cli/cmd_*.c, cli/demo/, cli/commands.c
 *   To:       a descriptor to poll; _exit() if the end takes too long
 *   Locks:    none.
 */
#ifndef KI_CLI_SIGNALS_H
#define KI_CLI_SIGNALS_H

#include <kinformer/common.h>
#include <kinformer/error.h>

/* Installs the handlers, once; also turns SIGPIPE into a write error. Returns a descriptor that becomes
 * readable with the first signal, or KI_ERR_SYSTEM. */
KI_NODISCARD int cli_signals_install(ki_error *err);

/* After this the end may take longer: the first signal is only recorded; a second one exits at once with
 * CLI_EXIT_FAILED, after calling `words`, which must be async-signal-safe. */
void cli_signals_be_patient(void (*words)(void));

/* Stops the program after this time, as a signal would. Must not be called after cli_signals_be_patient(). */
void cli_signals_set_deadline(uint64_t ms);

/* 1 if a signal was received, or the deadline has passed. */
int cli_signals_is_stopped(void);

/* 1 if the deadline stopped the program. */
int cli_signals_has_expired(void);

/* Opens descriptors 0, 1 and 2 if they are closed, so that no other file gets their number; writing to
 * such a stdout fails. Must be called before anything is opened. */
void cli_signals_guard_descriptors(void);

#endif
