/* SPDX-License-Identifier: Apache-2.0 */
/* path - names of files made of other names; all are texts of their own, for ki_secret_free().
 *
 *   From:     config/load.c, config/kubeconfig.c
 *   Locks:    none; plain functions.
 *   Not here: opening files (util/file.h).
 */
#ifndef KI_CONFIG_PATH_H
#define KI_CONFIG_PATH_H

#include <kinformer/common.h>

/* `path` itself when it begins with '/', else `dir`, a '/' and `path`. NULL: no memory. */
KI_NODISCARD char *ki_path_join(ki_str dir, ki_str path);

/* The same, against the folder that the process is in now, so that a later chdir() changes nothing. NULL: no
 * memory. */
KI_NODISCARD char *ki_path_absolute(ki_str path);

/* What stands before the last '/', "/" at the least; for an absolute path. */
ki_str ki_path_dir(ki_str path);

#endif
