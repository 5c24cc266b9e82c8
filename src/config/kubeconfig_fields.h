/* SPDX-License-Identifier: Apache-2.0 */
/* kubeconfig_fields - the fields of an entry, read into a ki_config by tables.
 *
 *   From:     config/kubeconfig.c (all entries, to check them), config/select.c (the chosen ones)
 *   To:       util/yaml/yaml_tree.h, util/base64.h
 *   Locks:    none.
 *   Not here: which entry is chosen; combinations of fields (config/validate.c).
 */
#ifndef KI_CONFIG_KUBECONFIG_FIELDS_H
#define KI_CONFIG_KUBECONFIG_FIELDS_H

#include "config/kubeconfig.h"

/* Each reads its entry into `config`, where these fields are NULL. Returns 0; KI_ERR_CONFIG for a field of
 * a wrong type; KI_ERR_NO_MEMORY. Fields read before a failure stay in `config`. */
KI_NODISCARD int ki_kubeconfig_read_cluster(ki_config *config, const ki_kubeconfig_entry *entry,
                                            ki_error *err);
KI_NODISCARD int ki_kubeconfig_read_context(ki_config *config, const ki_kubeconfig_entry *entry,
                                            ki_error *err);
KI_NODISCARD int ki_kubeconfig_read_user(ki_config *config, const ki_kubeconfig_entry *entry, ki_error *err);

/* KI_ERR_CONFIG with "file:line: clusters[0].cluster.server: " before the message; the line is the field's
 * if it exists, else the entry's. `field` may be nested: "exec.command". Without an entry the message
 * begins with the field. */
int ki_kubeconfig_fail_field(ki_error *err, const ki_kubeconfig_entry *entry, const char *field,
                             const char *format, ...) KI_PRINTF(4, 5);

/* The cluster's extension "client.authentication.k8s.io/exec" as JSON, for exec plug-ins; NULL if there is
 * none. */
KI_NODISCARD int ki_kubeconfig_read_exec_extension(const ki_kubeconfig_entry *entry, char **out_json,
                                                   ki_error *err);

#endif
