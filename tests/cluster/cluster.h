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

/* The same; the test fails unless the status is 0. */
void cluster_run(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What it prints, as JSON to be given back with json_decref(); NULL when it fails. */
json_t *cluster_read(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "start", "kill" and a part: "etcd", "kube-apiserver"; as controlplane.sh takes it. */
void cluster_control(const char *what);

/* Makes `count` config maps with this many bytes of data, named PREFIX-0 and so on,
 * with the label app=PREFIX. */
void cluster_make_config_maps(const char *ns, const char *prefix, int count, int data_bytes);

/* A client of the user "admin", who may do all, or "bob", who may do what he is granted. `options` may be
 * NULL. */
ki_client *cluster_client(const char *user, const ki_client_options *options);

#endif
