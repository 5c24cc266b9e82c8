/* SPDX-License-Identifier: Apache-2.0 */
/* http_informer - a client of bench_http's server, and an informer of pods.
 *
 *   From:     the roles of bench_http
 *   To:       the library, through its public calls
 *   Not here: what is measured.
 */
#ifndef BENCH_HTTP_INFORMER_H
#define BENCH_HTTP_INFORMER_H

#include <kinformer.h>
#include <stdbool.h>

enum { HTTP_TIMEOUT_MS = 600000 };

/* Connects to the server at that port of the loopback interface, without a kubeconfig. On failure prints a
 * message and returns NULL. */
ki_client *http_client_new(unsigned port, size_t handler_threads);

/* The same over TLS, without verifying the server. */
ki_client *http_client_new_tls(unsigned port);

/* Makes an informer that lists in pages and then watches; it is not started. `ns` "" means all namespaces. On
 * failure prints a message and returns NULL. */
ki_informer *http_informer_new(ki_client *client, const char *ns);

/* Starts it and waits for the first list. */
bool http_informer_sync(ki_informer *informer);

#endif
