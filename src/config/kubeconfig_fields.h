/* SPDX-License-Identifier: Apache-2.0 */
/* kubeconfig_fields - the fields of an entry, read into a ki_config by tables.
 *
 *   From:     config/kubeconfig.c (all entries, to check them), config/select.c (the chosen ones)
 *   To:       util/yaml/yaml_tree.h, util/text/base64.h
 *   Locks:    none.
 *   Not here: which entry is chosen; combinations of fields (config/validate.c).
 */
#ifndef KI_CONFIG_KUBECONFIG_FIELDS_H
#define KI_CONFIG_KUBECONFIG_FIELDS_H

#include "config/kubeconfig.h"

/* Each function reads its entry into `config`, where these fields must be NULL. Returns 0; KI_ERR_CONFIG for
 * a field of a wrong type; KI_ERR_NO_MEMORY. Fields that were read before a failure stay in `config`. */
KI_NODISCARD int ki_kubeconfig_read_cluster(ki_config *config, const ki_kubeconfig_entry *entry,
                                            ki_error *err);
KI_NODISCARD int ki_kubeconfig_read_context(ki_config *config, const ki_kubeconfig_entry *entry,
                                            ki_error *err);
KI_NODISCARD int ki_kubeconfig_read_user(ki_config *config, const ki_kubeconfig_entry *entry, ki_error *err);

/* Sets KI_ERR_CONFIG with "file:line: clusters[0].cluster.server: " before the message. The line is that of
 * the field if it exists, else that of the entry. `field` may be nested: "exec.command". Without an entry the
 * message begins with the field. */
#define ki_kubeconfig_fail_field(err, entry, field, ...)                                                     \
    (ki_error_set((err), KI_ERR_CONFIG, 0, __VA_ARGS__), ki_kubeconfig_fail_at_field((err), (entry), (field)))

/* Puts the same text before the message of `err`, which may be NULL. Returns KI_ERR_CONFIG. */
int ki_kubeconfig_fail_at_field(ki_error *err, const ki_kubeconfig_entry *entry, const char *field);

/* Returns the cluster's extension "client.authentication.k8s.io/exec" as JSON, for exec plug-ins; NULL if
 * there is none. */
KI_NODISCARD int ki_kubeconfig_read_exec_extension(const ki_kubeconfig_entry *entry, char **out_json,
                                                   ki_error *err);

#endif
