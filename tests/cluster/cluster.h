/* SPDX-License-Identifier: Apache-2.0 */
/* cluster - the control plane that scripts/test_cluster.sh has started, as tests see it.
 *
 *   From:     tests of this folder
 *   To:       /bin/sh, with kubectl in its path; tests/cluster/controlplane.sh
 *   Not here: starting it for the first time, and ending it.
 */
#ifndef KI_TESTS_CLUSTER_CLUSTER_H
#define KI_TESTS_CLUSTER_CLUSTER_H

#include <jansson.h>
#include <kinformer/client.h>

/* Runs a line of /bin/sh and returns its exit status; from any thread. */
int cluster_try(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Like cluster_try(), but the test fails unless the status is 0. */
void cluster_run(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Runs it and parses its output as JSON; NULL if it fails. The caller frees the result with json_decref(). */
json_t *cluster_read(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Runs controlplane.sh with these arguments: "start" or "kill" and a part,
 * such as "etcd" or "kube-apiserver". */
void cluster_control(const char *what);

/* Creates `count` config maps with this many bytes of data each, named PREFIX-0 and so on,
 * with the label app=PREFIX. */
void cluster_make_config_maps(const char *ns, const char *prefix, int count, int data_bytes);

/* A client of the user "admin", who may do everything, or "bob", who may do what he is granted.
 * `options` may be NULL. */
ki_client *cluster_client(const char *user, const ki_client_options *options);

#endif
