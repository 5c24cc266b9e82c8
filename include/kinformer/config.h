/* SPDX-License-Identifier: Apache-2.0 */
/* config - the server and the credentials, loaded separately from the client that uses them.
 *
 * A program that drops its privileges, changes its root directory or clears its environment (nginx, postgres)
 * loads the configuration first and makes clients from it afterwards, in any number of child processes:
 *
 *     ki_config *config = ki_config_new(&(ki_client_options){.kubeconfig = "/etc/kube/config"}, &err);
 *     ... fork(); setuid(); chroot() ...
 *     ki_client *client = ki_client_new(&(ki_client_options){.config = config}, &err);
 */
#ifndef KI_CONFIG_H
#define KI_CONFIG_H

#include <kinformer/client.h>

KI_EXTERN_C_BEGIN

/**
 * Loads the configuration that ki_client_new() would load with these options. Only the options for the server
 * and the credentials are used. NULL: defaults. All files are read now: kubeconfigs, certificate authorities,
 * client certificate and key, the token file.
 *
 * A client checks these files for changes, and so picks up new certificates and tokens. While it cannot read
 * them, it uses their content as loaded by this call; the program can then renew the token with
 * ki_client_set_token(). Exec plug-ins are started by the client, with its privileges and in its root
 * directory.
 *
 * Returns:   a configuration to free, or NULL with KI_ERR_CONFIG (which file, line and field),
 *            KI_ERR_INVALID, KI_ERR_NO_MEMORY. Nothing is sent, and no thread started.
 * Ownership: the caller frees it, at any time: clients copy it.
 * Threads:   any; the environment must not change during the call. A configuration is never modified, so
 *            several threads, and children of fork(), may use the same one.
 */
KI_API KI_NODISCARD ki_config *ki_config_new(const ki_client_options *options, ki_error *err);

/** Wipes the secrets from memory and frees the configuration. NULL is allowed. */
KI_API void ki_config_free(ki_config *config);

KI_EXTERN_C_END

#endif
