/* SPDX-License-Identifier: Apache-2.0 */
/* load - from files, environment and overrides to one ki_config: the parts of ki_config_load().
 *
 *   From:     config/load.c and what it consists of: config/select.c, config/check_files.c, config/validate.c
 *   To:       config/kubeconfig.h, config/in_cluster.h; the result is a ki_config (config/config.h)
 *   Locks:    none; the environment must not change meanwhile.
 *   Not here: the fields of files (config/kubeconfig_fields.h).
 */
#ifndef KI_CONFIG_LOAD_H
#define KI_CONFIG_LOAD_H

#include "config/config.h"
#include "config/kubeconfig.h"

/* The origin of a ki_config, for messages; NULL if not from a kubeconfig, or overridden. */
typedef struct ki_config_origin {
    const ki_kubeconfig_entry *cluster;
    const ki_kubeconfig_entry *user;
    const ki_kubeconfig_entry *server;        /* as `cluster`, unless the server is overridden */
    const ki_kubeconfig_entry *tls_name;      /* likewise for the TLS server name */
    const ki_kubeconfig_entry *trust;         /* likewise for the certificate authority */
    const ki_kubeconfig_entry *authorization; /* as `user`, unless a token or a user name is given */
    const ki_kubeconfig_entry *certificate;   /* likewise for the client's certificate and key */
    const ki_kubeconfig_entry *impersonation; /* likewise for all of `as` */
} ki_config_origin;

/* Chooses context, cluster and user and reads them into `config`, which is empty; it must be freed on
 * failure, too. Returns 0, KI_ERR_CONFIG, KI_ERR_NO_MEMORY, like all below. */
KI_NODISCARD int ki_config_select(ki_config *config, const ki_kubeconfig *kubeconfig,
                                  const ki_config_overrides *overrides, ki_config_origin *out_origin,
                                  ki_error *err);

/* Applies the overrides. */
KI_NODISCARD int ki_config_override(ki_config *config, const ki_config_overrides *overrides,
                                    ki_config_origin *origin);

/* Refuses invalid values and combinations; completes the server's address. */
KI_NODISCARD int ki_config_validate(ki_config *config, const ki_config_origin *origin, ki_error *err);

/* Refuses invalid certificates, keys and tokens, in files or inline. */
KI_NODISCARD int ki_config_check_files(const ki_config *config, const ki_config_origin *origin,
                                       ki_error *err);

/* ki_config_load() with another directory for the files of a pod. */
KI_NODISCARD int ki_config_load_with(ki_config *out_config, const ki_config_overrides *overrides,
                                     const char *pod_dir, ki_error *err);

#endif
