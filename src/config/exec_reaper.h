/* SPDX-License-Identifier: Apache-2.0 */
/* exec_reaper - children that were killed and have not ended yet: nobody waits for them, none is forgotten.
 *
 *   From:     config/exec_process.c
 *   To:       waitpid(2)
 *   Locks:    none; one table of the process, whose places are taken and given back atomically.
 *   Not here: killing them; when to look again (config/exec_plugin.c).
 *
 * A child that is killed ends at once, unless the kernel is inside something that cannot be interrupted,
 * as with a file system that does not answer. The loop must not hang with it.
 */
#ifndef KI_CONFIG_EXEC_REAPER_H
#define KI_CONFIG_EXEC_REAPER_H

#include <stdbool.h>
#include <sys/types.h>

#define KI_EXEC_LEFT_MAX 64

/* Any thread. When there are KI_EXEC_LEFT_MAX already this one stays until the program ends. */
void ki_exec_reaper_add(pid_t pid);

/* Any thread. Takes leave of those that have ended. Returns whether none is left. */
bool ki_exec_reaper_run(void);

#endif
