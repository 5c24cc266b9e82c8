/* SPDX-License-Identifier: Apache-2.0 */
/* load - from files, environment and overrides to one ki_config: the parts of ki_config_load().
 *
 *   From:     config/load.c and its parts: config/select.c, config/check_files.c, config/validate.c
 *   To:       config/kubeconfig.h, config/in_cluster.h; the result is a ki_config (config/config.h)
 *   Locks:    none; the environment must not change meanwhile.
 *   Not here: the fields of files (config/kubeconfig_fields.h).
 */
#ifndef KI_CONFIG_LOAD_H
#define KI_CONFIG_LOAD_H

#include "config/config.h"
#include "config/kubeconfig.h"

/* The entries that a ki_config comes from, for messages; NULL if not from a kubeconfig, or if overridden. */
typedef struct ki_config_origin {
    const ki_kubeconfig_entry *cluster;
    const ki_kubeconfig_entry *user;
    const ki_kubeconfig_entry *server;        /* like `cluster`; NULL if the server is overridden */
    const ki_kubeconfig_entry *tls_name;      /* like `cluster`; NULL if the server or its TLS name is */
    const ki_kubeconfig_entry *trust;         /* like `cluster`; NULL if any trust setting is */
    const ki_kubeconfig_entry *authorization; /* like `user`; NULL if a token or a user name is given */
    const ki_kubeconfig_entry *certificate;   /* like `user`; NULL if the certificate or key is given */
    const ki_kubeconfig_entry *impersonation; /* like `user`; NULL if impersonation is given */
} ki_config_origin;

/* Chooses context, cluster and user and reads them into `config`, which must be empty, and must be freed even
 * after a failure. Returns 0, KI_ERR_CONFIG or KI_ERR_NO_MEMORY, like all functions below. */
KI_NODISCARD int ki_config_select(ki_config *config, const ki_kubeconfig *kubeconfig,
                                  const ki_config_overrides *overrides, ki_config_origin *out_origin,
                                  ki_error *err);

/* Applies the overrides. */
KI_NODISCARD int ki_config_override(ki_config *config, const ki_config_overrides *overrides,
                                    ki_config_origin *origin);

/* Rejects invalid values and combinations, and completes the server's address. */
KI_NODISCARD int ki_config_validate(ki_config *config, const ki_config_origin *origin, ki_error *err);

/* Rejects invalid certificates, keys and tokens, in files or inline. */
KI_NODISCARD int ki_config_check_files(const ki_config *config, const ki_config_origin *origin,
                                       ki_error *err);

/* ki_config_load() with another directory for the files of a pod. */
KI_NODISCARD int ki_config_load_with(ki_config *out_config, const ki_config_overrides *overrides,
                                     const char *pod_dir, ki_error *err);

#endif
