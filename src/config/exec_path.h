/* SPDX-License-Identifier: Apache-2.0 */
/* exec_path - which file a program is that is named without a path.
 *
 *   From:     config/exec_process.c
 *   To:       $PATH
 *   Locks:    none; the environment must not change meanwhile.
 *   Not here: names with a path, which are used as they are.
 */
#ifndef KI_CONFIG_EXEC_PATH_H
#define KI_CONFIG_EXEC_PATH_H

#include <kinformer/common.h>

/* Looks in the folders of $PATH that have an absolute name, and in /bin and /usr/bin when it is not set. What
 * is empty, "." or relative depends on where the program happens to stand: such folders are left out, as Go's
 * programs do it. A name with a '/' is checked alone. Returns 0, or an errno: ENOENT when there is none,
 * EACCES, ENAMETOOLONG. */
KI_NODISCARD int ki_exec_path_find(const char *name, char *out_path, size_t bytes);

#endif
