/* SPDX-License-Identifier: Apache-2.0 */
/* watch_notes - what is said on stderr of one resource: what it is doing, what went wrong, what can be
 * done about it.
 *
 *   From:     cli/watch.c
 *   To:       cli/notices.c
 *   Locks:    none.
 */
#ifndef KI_CLI_WATCH_NOTES_H
#define KI_CLI_WATCH_NOTES_H

#include "cli/watch.h"

void cli_watch_note_status(cli_follower *follower, uint64_t now_ms, const ki_informer_status *status);
void cli_watch_note_synced(cli_follower *follower, uint64_t now_ms, const char *version);

/* `status` is that of the informer when the error came. */
void cli_watch_note_error(cli_follower *follower, uint64_t now_ms, const ki_watch_error *error,
                          const ki_informer_status *status);

/* Says what waits, and that there is still no watch: a minute after a loss, then ever more seldom. */
void cli_watch_note_tick(cli_follower *follower, uint64_t now_ms);

/* When cli_watch_note_tick() has something to do; UINT64_MAX: never. */
uint64_t cli_watch_note_due_ms(const cli_follower *follower);

#endif
