/* SPDX-License-Identifier: Apache-2.0 */
/* in_cluster - the configuration of a pod: the address of the API server, and a service account.
 *
 *   From:     config/load.c, if there is no kubeconfig
 *   To:       $KUBERNETES_SERVICE_HOST and _PORT; the files token, ca.crt and namespace
 *   Locks:    none.
 *   Not here: reading the token again (credentials/credentials.c).
 */
#ifndef KI_CONFIG_IN_CLUSTER_H
#define KI_CONFIG_IN_CLUSTER_H

#include "config/config.h"

#define KI_IN_CLUSTER_DIR "/var/run/secrets/kubernetes.io/serviceaccount"

/* `dir` is KI_IN_CLUSTER_DIR, except in tests. Without ca.crt the system's certificates are used, which is
 * logged as an error. Returns 0; KI_ERR_NOT_FOUND if this is not a pod with a service account;
 * KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_in_cluster_load(ki_config *out_config, const char *dir, ki_error *err);

#endif
