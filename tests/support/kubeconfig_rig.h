/* SPDX-License-Identifier: Apache-2.0 */
/* Kubeconfigs read from memory, for tests. */
#ifndef KI_TEST_KUBECONFIG_RIG_H
#define KI_TEST_KUBECONFIG_RIG_H

#include "config/load.h"

/* What the file is called. */
#define KUBECONFIG_NAME "/etc/kube/config"

/* Five lines and three that most texts begin with: the context c of the cluster k and the user u. */
#define KUBECONFIG_HEAD "current-context: c\ncontexts:\n- name: c\n  context: {cluster: k, user: u}\n"
#define KUBECONFIG_CLUSTER "clusters:\n- name: k\n  cluster: {server: https://k:6443}\n"

/* All that happens between the text of a file and a configuration. `config` is for ki_config_fini() then,
 * also after an error. */
int kubeconfig_resolve(ki_config *config, const char *text, const ki_config_overrides *overrides,
                       ki_error *err);

/* Reads `text`, which it frees: it has to be refused, with `message` in what is said. */
void kubeconfig_assert_too_much(char *text, const char *message);

/* `before` and then `count` times `format` with a number, for free(). */
char *kubeconfig_repeat(const char *before, const char *format, int count);

#endif
