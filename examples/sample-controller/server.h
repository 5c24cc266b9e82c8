/* SPDX-License-Identifier: Apache-2.0 */
/* server - /metrics and /healthz, one connection at a time. */
#ifndef SAMPLE_SERVER_H
#define SAMPLE_SERVER_H

#include <kinformer/metrics.h>

/* Listens at "127.0.0.1:9090", "[::1]:9090" or ":9090". Returns a descriptor, or -1 with `err`. */
int server_listen(const char *address, ki_error *err);

/* Answers one request at a descriptor that is readable. Takes at most two seconds. */
void server_answer(int listener, ki_metrics *metrics);

#endif
