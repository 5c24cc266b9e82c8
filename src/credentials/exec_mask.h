/* SPDX-License-Identifier: Apache-2.0 */
/* exec_mask - removes secrets that a plug-in was given from its output.
 *
 *   From:     credentials/exec_plugin.c, before the output is put into an error
 *   To:       util/text/mask.h
 *   Locks:    none; the environment must not change meanwhile.
 *   Not here: tokens that plug-ins have returned (credentials/authorization.h).
 */
#ifndef KI_CREDENTIALS_EXEC_MASK_H
#define KI_CREDENTIALS_EXEC_MASK_H

#include "config/config.h"

/* Shorter values of exec.env may be any word, and are only masked if their names mark them as secret. */
#define KI_EXEC_MASK_VALUE_BYTES_MIN 8

/* Masks the values of exec.env, and arguments and environment variables whose names mark them as secret:
 * "--client-secret=…", "--token …", $AWS_SESSION_TOKEN. Does not mask the names of files with secrets.
 * Returns the new length. */
size_t ki_exec_mask(const ki_config_exec *exec, char *text, size_t len);

#endif
