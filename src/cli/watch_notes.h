/* SPDX-License-Identifier: Apache-2.0 */
/* watch_notes - status messages for one resource on stderr: its state, its errors, and advice.
 *
 *   From:     cli/watch.c, cli/cmd_watch.c
 *   To:       cli/notices.c
 *   Locks:    none.
 */
#ifndef KI_CLI_WATCH_NOTES_H
#define KI_CLI_WATCH_NOTES_H

#include "cli/watch.h"

void cli_watch_note_status(cli_follower *follower, uint64_t now_ms, const ki_informer_status *status);
void cli_watch_note_synced(cli_follower *follower, uint64_t now_ms, const char *version);

/* `status` is the status of the informer at the time of the error. */
void cli_watch_note_error(cli_follower *follower, uint64_t now_ms, const ki_informer_error *error,
                          const ki_informer_status *status);

/* Prints waiting lines, and reminders that there is still no watch: a minute after a loss, then less and
 * less often. */
void cli_watch_note_tick(cli_follower *follower, uint64_t now_ms);

/* Reports every resource that has not synced within --timeout, and why. Returns 1 if the server has forbidden
 * one of them. */
int cli_watch_note_unsynced(const cli_watch *watch);

/* When cli_watch_note_tick() has something to do; UINT64_MAX for never. */
uint64_t cli_watch_note_due_ms(const cli_follower *follower);

#endif
