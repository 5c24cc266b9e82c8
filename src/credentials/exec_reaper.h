/* SPDX-License-Identifier: Apache-2.0 */
/* exec_reaper - reaps killed children later, without waiting for them.
 *
 *   From:     credentials/exec_process.c, credentials/exec_plugin.c
 *   To:       waitpid(2)
 *   Locks:    none; one table per process with atomic entries.
 *   Not here: killing them; when to poll again (credentials/exec_plugin.c).
 *
 * A killed child ends at once, unless it is in an uninterruptible system call, for example on a file system
 * that does not respond. The loop must not hang with it.
 */
#ifndef KI_CREDENTIALS_EXEC_REAPER_H
#define KI_CREDENTIALS_EXEC_REAPER_H

#include <stdbool.h>
#include <sys/types.h>

#define KI_EXEC_LEFT_MAX 64

/* Any thread. If the table already has KI_EXEC_LEFT_MAX children, this one stays a zombie until the program
 * ends. */
void ki_exec_reaper_add(pid_t pid);

/* Any thread. Reaps the children that have ended. Returns whether none is left. */
bool ki_exec_reaper_run(void);

#endif
