/* SPDX-License-Identifier: Apache-2.0 */
/* exec_info - the input of an exec plug-in: $KUBERNETES_EXEC_INFO and the rest of its environment.
 *
 *   From:     credentials/exec_plugin.c
 *   To:       config/config.h; the environment of the process
 *   Locks:    none; the environment must not change meanwhile.
 *   Not here: starting it.
 */
#ifndef KI_CREDENTIALS_EXEC_INFO_H
#define KI_CREDENTIALS_EXEC_INFO_H

#include "config/config.h"

/* Writes the ExecCredential with its spec as JSON, for ki_secret_free(). It includes the cluster if the
 * configuration of the plug-in asks for it. Returns 0, KI_ERR_CONFIG or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_exec_info_write(const ki_config *config, bool is_interactive, char **out_json,
                                    ki_error *err);

/* The environment of a plug-in: that of this process, then exec.env, then KUBERNETES_EXEC_INFO. Of variables
 * with the same name, the last one counts. For ki_secret_free_list(); NULL when out of memory. */
KI_NODISCARD char **ki_exec_environment_new(const ki_config_exec *exec, const char *info);

#endif
