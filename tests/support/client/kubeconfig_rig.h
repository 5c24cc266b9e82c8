/* SPDX-License-Identifier: Apache-2.0 */
/* Reads kubeconfigs from memory, for tests. */
#ifndef KI_TESTS_SUPPORT_CLIENT_KUBECONFIG_RIG_H
#define KI_TESTS_SUPPORT_CLIENT_KUBECONFIG_RIG_H

#include "config/load.h"

/* The name of the file. */
#define KUBECONFIG_NAME "/etc/kube/config"

/* The beginning of most texts: the context c with the cluster k and the user u. */
#define KUBECONFIG_HEAD "current-context: c\ncontexts:\n- name: c\n  context: {cluster: k, user: u}\n"
#define KUBECONFIG_CLUSTER "clusters:\n- name: k\n  cluster: {server: https://k:6443}\n"

/* Turns the text of a file into a configuration. `config` must be freed with ki_config_fini(),
 * even after an error. */
int kubeconfig_resolve(ki_config *config, const char *text, const ki_config_overrides *overrides,
                       ki_error *err);

/* Reads `text` and frees it; it must be refused, with `message` in the error. */
void kubeconfig_assert_too_much(char *text, const char *message);

/* `before`, then `count` times `format` with a number. Free the result with free(). */
char *kubeconfig_repeat(const char *before, const char *format, int count);

#endif
