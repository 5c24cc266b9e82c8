/* SPDX-License-Identifier: Apache-2.0 */
/* path - builds file names; the results are freed with ki_secret_free().
 *
 *   From:     config/load.c, config/kubeconfig.c, config/in_cluster.c, config/kubeconfig_fields.c,
 *             config/select.c
 *   Locks:    none; plain functions.
 *   Not here: opening files (util/file.h).
 */
#ifndef KI_CONFIG_PATH_H
#define KI_CONFIG_PATH_H

#include <kinformer/common.h>

/* A copy of `path` if it begins with '/', else of `dir` and `path` with one '/' between them (none if `dir`
 * is empty). NULL when out of memory. */
KI_NODISCARD char *ki_path_join(ki_str dir, ki_str path);

/* The same with the current working directory, so that a later chdir() has no effect. NULL when out of
 * memory. */
KI_NODISCARD char *ki_path_absolute(ki_str path);

/* The part before the last '/', at least "/"; for an absolute path. */
ki_str ki_path_dir(ki_str path);

#endif
