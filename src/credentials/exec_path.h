/* SPDX-License-Identifier: Apache-2.0 */
/* exec_path - finds a program that is named without a path.
 *
 *   From:     credentials/exec_process.c
 *   To:       $PATH
 *   Locks:    none; the environment must not change meanwhile.
 *   Not here: names with a path, which are used as they are.
 */
#ifndef KI_CREDENTIALS_EXEC_PATH_H
#define KI_CREDENTIALS_EXEC_PATH_H

#include <kinformer/common.h>

/* Searches the absolute directories in $PATH; /bin and /usr/bin if it is not set. Entries that are empty, "."
 * or relative depend on the working directory and are skipped, as in Go. A name with a '/' is only checked.
 * Returns 0, or an errno: ENOENT if no such program was found, EACCES, ENAMETOOLONG. */
KI_NODISCARD int ki_exec_path_find(const char *name, char *out_path, size_t bytes);

#endif
