/* SPDX-License-Identifier: Apache-2.0 */
/* exec_mask - takes what a plug-in was given in confidence out of what it says.
 *
 *   From:     config/exec_plugin.c, before its words become an error
 *   To:       util/mask.h
 *   Locks:    none; the environment must not change meanwhile.
 *   Not here: tokens that plug-ins have returned (config/authorization.h).
 */
#ifndef KI_CONFIG_EXEC_MASK_H
#define KI_CONFIG_EXEC_MASK_H

#include "config/config.h"

/* Values of exec.env that are shorter may be any word, unless their names say that they are secret. */
#define KI_EXEC_MASK_VALUE_BYTES_MIN 8

/* Masks the values of exec.env, and those arguments and variables of the environment whose names say that
 * they are secret: "--client-secret=…", "--token …", $AWS_SESSION_TOKEN. Not the names of files with secrets
 * in them. Returns the new length. */
size_t ki_exec_mask(const ki_config_exec *exec, char *text, size_t len);

#endif
